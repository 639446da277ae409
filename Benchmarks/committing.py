"""An app that commits a small change again and again: `committing.py STORE MODE [SECONDS]`, MODE as SQLite's journal modes, SECONDS between
two commits (5 ms if none are named).

For each line on its standard input it says in one line of JSON how many seconds each commit since the last one took, and how many failed.
An app waits for 5 s by default; this one waits longer, to measure.
"""
import json
import os
import sqlite3
import subprocess
import sys
import threading
import time

from turn import Failed


class Committing:
    """That app, as a process of its own. Leaving it ends it."""

    def __init__(self, store, mode, pause=0.005):
        self.argv = [sys.executable, os.path.abspath(__file__), store, mode, str(pause)]

    def __enter__(self):
        self.process = subprocess.Popen(self.argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def took(self):
        """The seconds of each commit since the last call. Raises Failed where one failed."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        found = json.loads(self.process.stdout.readline())
        if found["failed"]:
            raise Failed(f"{found['failed']} commits failed")
        return found["took"]


def commit(path, mode, pause):
    store = sqlite3.connect(path, timeout=120, isolation_level=None)
    store.execute(f"PRAGMA journal_mode = {mode}").fetchall()
    lock, figures, ended = threading.Lock(), {"took": [], "failed": 0}, threading.Event()

    def answer():
        for _ in sys.stdin:
            with lock:
                print(json.dumps(figures), flush=True)
                figures.update(took=[], failed=0)
        ended.set()

    threading.Thread(target=answer, daemon=True).start()
    number = 0
    while not ended.is_set():
        number += 1
        start = time.monotonic()
        try:
            store.execute("UPDATE entry SET stars = stars + 1 WHERE id = ?", (number % 500 + 1,))
            failed = 0
        except sqlite3.Error:
            failed = 1
        took = time.monotonic() - start
        with lock:
            figures["failed"] += failed
            if not failed:
                figures["took"].append(took)
        ended.wait(pause)
    store.close()


if __name__ == "__main__":
    path, mode, *pause = sys.argv[1:]
    commit(path, mode, float(*pause or [0.005]))
