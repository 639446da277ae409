"""Two-way sessions between the program and the Python of Protocol/, in both roles, as a seeded model chooses."""
import consumer


def dialogue(desk, chance):
    receiving = consumer.Peer(desk)
    while True:
        for done in consumer.session(receiving, chance) or ["nothing"]:
            yield done
