"""Two-way sessions between the program and the Python of Protocol/, in both roles, as a seeded model chooses."""
import consumer
import producer
import shipments


def dialogue(desk, chance):
    receiving, sending = consumer.Peer(desk), shipments.Peer(desk)
    while True:
        done = chance.choice([lambda: consumer.session(receiving, chance), lambda: producer.session(sending, chance)])()
        yield done
