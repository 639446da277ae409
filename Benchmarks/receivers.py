#!/usr/bin/env python3
"""One sender that listens, and many receivers that follow it over TLS: `receivers.py PROGRAM [COUNT] [MEGABYTES] [SLOW]`.

A row of the store changes again and again. Each change is measured from the commit until every receiver's copy has it, and by what it costs the
sender's processor. SLOW of the receivers are behind a line of 4 kB/s; they count for nothing but the load. It prints the same for one
receiver, and the ratios.
"""
import os
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import kinds
from following import seen
from usage import cpu, resident

CHANGES = 8


class Line:
    """A line of so many bytes a second to each receiver behind it."""

    def __init__(self, port, rate):
        import socket
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, args=(port, rate), daemon=True).start()

    def serve(self, port, rate):
        import socket

        def copy(source, target, rate):
            try:
                while data := source.recv(4096):
                    if rate:
                        time.sleep(len(data) / rate)
                    target.sendall(data)
                target.shutdown(socket.SHUT_WR)
            except OSError:
                pass

        while True:
            near, _ = self.listener.accept()
            far = socket.create_connection(("127.0.0.1", port))
            far.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            threading.Thread(target=copy, args=(near, far, None), daemon=True).start()
            threading.Thread(target=copy, args=(far, near, rate), daemon=True).start()


def measure(program, folder, count, megabytes, slow=0):
    """The medians of the longest times until a change is everywhere, and of the sender's seconds for it; and its memory at the end."""
    store = os.path.join(folder, "store.db")
    kinds.generate("recipes", store, megabytes, 1)
    app = sqlite3.connect(store, isolation_level=None)
    app.execute("PRAGMA journal_mode = WAL")
    app.execute("CREATE TABLE bench_mark(value INTEGER)")
    app.execute("INSERT INTO bench_mark VALUES (0)")
    environment = os.environ | {"XDG_STATE_HOME": os.path.join(folder, "state"), "TMPDIR": folder}

    def run(*arguments):
        return subprocess.run([program, *arguments], env=environment, check=True, capture_output=True, text=True).stdout

    def identity(name):
        return os.path.join(folder, "id-" + name)

    sender_id = run("identity", "--identity", identity("sender"), "--quiet").split()[0]
    for number in range(count):
        device = run("identity", "--identity", identity(str(number)), "--quiet").split()[0]
        run("trust", device, "--identity", identity("sender"), "--role", "receiver", "--name", f"r{number}", "-q")
        run("trust", sender_id, "--identity", identity(str(number)), "--role", "sender", "-q")
    sender = subprocess.Popen(
        [program, "send", store, "--listen", "127.0.0.1:0", "--follow", "--settle", "50ms", "--identity", identity("sender"),
         "--max-connections", str(max(64, count))],
        env=environment, stderr=subprocess.PIPE, text=True)
    port = next(int(line.rpartition(":")[2]) for line in sender.stderr if line.startswith("listening on "))
    threading.Thread(target=sender.stderr.read, daemon=True).start()
    line = Line(port, 4000)
    receivers, inboxes = [], [os.path.join(folder, f"in-{number}") for number in range(count)]
    try:
        for number, inbox in enumerate(inboxes):
            # The first copy comes to one after the other, and over no slow line.
            run("receive", "--into", inbox, "--from", f"127.0.0.1:{port}", "--identity", identity(str(number)), "-q")
            way = line.port if number < slow else port
            receivers.append(subprocess.Popen(
                [program, "receive", "--into", inbox, "--from", f"127.0.0.1:{way}", "--follow", "--quiet", "--identity",
                 identity(str(number))], env=environment, stderr=subprocess.DEVNULL))
        counted = inboxes[slow:]
        longest, seconds = [], []
        for change in range(CHANGES + 1):
            before, start = cpu(sender.pid), time.monotonic()
            app.execute("UPDATE bench_mark SET value = ?", (change + 1,))
            missing = set(counted)
            while missing:
                if time.monotonic() - start > 120:
                    raise SystemExit(f"{len(missing)} of {count} receivers do not have it after two minutes")
                missing = {inbox for inbox in missing if seen(f"{inbox}/store.sqlite", "SELECT value FROM bench_mark") != change + 1}
                time.sleep(0.02)
            # The first time some may still connect.
            if change:
                longest.append(time.monotonic() - start)
                time.sleep(0.3)
                seconds.append(cpu(sender.pid) - before)
            time.sleep(1.5)
        return statistics.median(longest), statistics.median(seconds), resident(sender.pid)
    finally:
        for process in receivers + [sender]:
            process.send_signal(signal.SIGINT)
        for process in receivers + [sender]:
            process.wait()
        app.close()


def main():
    program = os.path.abspath(sys.argv[1])
    count, megabytes, slow = ([int(each) for each in sys.argv[2:]] + [50, 20, 3][len(sys.argv) - 2:])[:3]
    results = []
    for receivers, slowly in ((1, 0), (count, 0), (count, slow)):
        with tempfile.TemporaryDirectory() as folder:
            results.append(measure(program, folder, receivers, megabytes, slowly))
        wall, seconds, memory = results[-1]
        print(f"{receivers} receivers, {slowly} of them slow: the last has a change after {wall:.2f} s; sender: {seconds:.2f} s of "
              f"the processor, {memory / 2**20:.0f} MiB", flush=True)
    one, many, slowed = results
    print(f"processor, x of one receiver: {many[1] / one[1]:.1f}")
    print(f"memory for each further receiver: {(many[2] - one[2]) / 2**20 / max(1, count - 1):.2f} MiB")
    print(f"time until the last has it, x of without slow ones: {slowed[0] / many[0]:.2f}")


main()
