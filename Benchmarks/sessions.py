"""What a session costs beside the stores in it: of a store that has not changed, the bytes; of many small stores, the time of
one session of all beside that of a session for each."""
import json
import os
import shutil
import sqlite3
import statistics
import subprocess
import threading
import time
from dataclasses import dataclass

import stores
from relay import Relay
from tables import table
from turn import Failed, content_digest

STORES, STORE_SIZE = 100, 0.1  # MB
GENERATIONS = 3  # that the receiver holds of the store that does not change
ONE, EACH = "one session", "one after the other"


@dataclass
class Sessions:
    unchanged: int  # bytes on the line, both ways, TCP's and IP's own left out
    many: dict  # walls of the turns, by way: ONE, EACH


class Receiver:
    """`ship-store receive` on a free port."""

    def __init__(self, program, inbox):
        self.argv = [program, "receive", "--into", inbox, "--listen", "127.0.0.1:0", "--keep", str(GENERATIONS), "--json"]

    def __enter__(self):
        self.process = subprocess.Popen(self.argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        for line in self.process.stdout:
            if (event := json.loads(line))["event"] == "listening":
                # What it says must not wait for a reader.
                threading.Thread(target=self.process.stdout.read, daemon=True).start()
                return int(event["address"].rsplit(":", 1)[1])
        raise Failed("the receiver does not listen")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def send(program, paths, port):
    done = subprocess.run([program, "send", *paths, "--to", f"127.0.0.1:{port}", "--quiet"], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)
    if done.returncode:
        raise Failed(f"exit code {done.returncode}: {done.stderr.strip()[-300:]}")


def change(path):
    store = sqlite3.connect(path)
    store.execute(f"PRAGMA user_version = {store.execute('PRAGMA user_version').fetchone()[0] + 1}")
    store.close()


def unchanged(program, folder):
    path = stores.made("journal", 1, folder)
    with Receiver(program, os.path.join(folder, "inbox")) as port:
        for _ in range(GENERATIONS):
            send(program, [path], port)
            change(path)
        send(program, [path], port)
        with Relay(port) as relay:
            send(program, [path], relay.port)
            return relay.bytes


def many(program, folder, runs, say):
    first = stores.made("settings", STORE_SIZE, folder)
    paths = [shutil.copyfile(first, os.path.join(folder, f"store{number}.sqlite")) for number in range(STORES)]
    digest = content_digest(first)
    turns = {ONE: [], EACH: []}
    for number in range(runs):
        for way in (ONE, EACH) if number % 2 else (EACH, ONE):
            # One for each turn: what is removed between them makes new files dear for minutes (ext4 passes over inodes that
            # were freed a short time ago, one by one).
            inbox = os.path.join(folder, f"{'one' if way == ONE else 'each'}{number}")
            with Receiver(program, inbox) as port:
                start = time.monotonic()
                for some in [paths] if way == ONE else [[path] for path in paths]:
                    send(program, some, port)
                turns[way].append(time.monotonic() - start)
            for path in paths:
                if content_digest(os.path.join(inbox, os.path.basename(path))) != digest:
                    raise Failed(f"{os.path.basename(path)} is not what was sent")
            say(f"{STORES} stores, {way}: {turns[way][-1]:.3f} s")
    return turns


def measure(program, runs, folder, say):
    """- Returns: the figures, or None where something failed, and whether something did."""
    try:
        return Sessions(unchanged(program, folder), many(program, folder, runs, say)), False
    except Failed as failure:
        say(f"sessions: FAILED: {failure}")
        return None, True


def figures(sessions):
    rows = [["what", "takes"], ["a store that has not changed, its whole session", f"{sessions.unchanged} bytes"]]
    for way, turns in sessions.many.items():
        rows.append([f"{STORES} stores of {STORE_SIZE * 1000:g} kB, {way}", f"{statistics.median(turns):.2f} s"])
    return table(rows)
