"""A shipment in a file, or what a sender has said in a session, frame by frame (Protocol/README.md 3.1 to 3.4): how its store goes."""
PREAMBLE, HEADER, CHECKSUM = 16, 5, 4  # bytes
PART, DATA, END = 0x04, 0x05, 0x06
BLOCKS, COLUMNS, DELTA = 1, 2, 3  # encodings


class NotAShipment(Exception):
    """The text says why."""


def frames(shipment):
    """Types and payloads, to the end of the file, which END must be."""
    kind = None
    with open(shipment, "rb") as file:
        file.seek(PREAMBLE)
        while header := file.read(HEADER):
            kind, size = header[0], int.from_bytes(header[1:], "big")
            payload = file.read(size)
            if len(payload) != size or len(file.read(CHECKSUM)) != CHECKSUM:
                raise NotAShipment("it ends within a frame")
            yield kind, payload
    if kind != END:
        raise NotAShipment("END is not its last frame")


def goes_by_rows(shipment):
    """Whether the store was opened last in columns, and not anew in blocks."""
    encoding = None
    for kind, payload in frames(shipment):
        if kind == PART and payload[2:6] == bytes(4):  # part 0, the store
            encoding = payload[0]
    return encoding == COLUMNS


def store_as_sent(shipment):
    """In which encoding the store was opened last, and how many bytes of data came of it since; None and 0 of one that did not come."""
    encoding, size, is_store = None, 0, False
    for kind, payload in frames(shipment):
        if kind == PART:
            is_store = payload[2:6] == bytes(4)
            encoding, size = (payload[0], 0) if is_store else (encoding, size)
        elif kind == DATA and is_store:
            size += len(payload) - 1  # without its flags
    return encoding, size
