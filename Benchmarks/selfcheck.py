"""Seeds faults on purpose, and measures what is known: figures of a harness that misses these are worth nothing."""
import os
import socket
import sys
import time

import contenders
import frames
from relay import Relay
from turn import Failed, Process, take_turn


def check_harness(store, digest, folder):
    check_comparison(store, digest, folder)
    check_memory(folder)
    check_count()


def check_comparison(store, digest, folder):
    try:
        take_turn(contenders.FORGETFUL, store, digest, os.path.join(folder, "turn"), None, 60)
    except Failed as failure:
        if "differs" in str(failure):
            return
        raise
    sys.exit("self-check: a copy without its last row passed for the whole store")


def check_memory(folder):
    script = "import sys; sys.stdout.write(str(len(b'x' * (int(sys.argv[1]) << 20))))"
    for mebibytes in (0, 100):
        argv = [sys.executable, "-S", "-c", script, str(mebibytes)] if mebibytes else ["true"]
        with Process(argv, os.path.join(folder, f"memory-{mebibytes}"), {}) as process:
            process.end(time.monotonic() + 30)
            measured = process.side().memory
        if not mebibytes <= measured <= mebibytes + 25 or (not mebibytes and measured > 8):
            sys.exit(f"self-check: a process of {mebibytes} MiB was measured as {measured:.0f} MiB")


def check_count():
    with socket.create_server(("127.0.0.1", 0)) as server, Relay(server.getsockname()[1]) as relay:
        with socket.create_connection(("127.0.0.1", relay.port)) as near:
            far, _ = server.accept()
            with far:
                far.sendall(bytes(1000))
                near.sendall(bytes(200_000))
                near.shutdown(socket.SHUT_WR)
                while far.recv(1 << 16):
                    pass
                near.recv(1000, socket.MSG_WAITALL)
        if relay.bytes != 201_000:
            sys.exit(f"self-check: of 201000 bytes {relay.bytes} were counted")


def check_frames(folder):
    """Shipments that go by rows, that were taken back, and that end too early are told from each other, and what came of the store."""
    def shipment(*items):
        path = os.path.join(folder, "frames")
        with open(path, "wb") as file:
            file.write(bytes(frames.PREAMBLE))
            for kind, payload in items:
                file.write(bytes([kind]) + len(payload).to_bytes(4, "big") + payload + bytes(frames.CHECKSUM))
        return path

    def part(index, encoding):
        return frames.PART, bytes([encoding, 0]) + index.to_bytes(4, "big") + bytes(8)

    columns, end = part(0, frames.COLUMNS), (frames.END, b"")
    store, other = part(0, frames.BLOCKS), part(1, frames.BLOCKS)
    data = frames.DATA, bytes(101)
    wrong = [items for items, by_rows in (
        ((columns, columns, other, end), True), ((columns, store, end), False), ((store, end), False),
    ) if frames.goes_by_rows(shipment(*items)) != by_rows]
    try:
        frames.goes_by_rows(shipment(columns))
    except frames.NotAShipment:
        pass
    else:
        wrong.append((columns,))
    wrong += [items for items, sent in (
        ((columns, data, data, other, data, end), (frames.COLUMNS, 200)), ((columns, data, store, data, end), (frames.BLOCKS, 100)),
        ((other, data, end), (None, 0)),
    ) if frames.store_as_sent(shipment(*items)) != sent]
    if wrong:
        sys.exit(f"self-check: taken for something else: {wrong}")
