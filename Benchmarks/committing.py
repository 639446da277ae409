"""An app that commits a small change every few milliseconds: `committing.py STORE MODE`, MODE as SQLite's journal modes.

For each line on its standard input it says in one line of JSON how many commits there were since the last one, the longest
time that one took in seconds, and how many failed. An app waits for 5 s by default; this one waits longer, to measure.
"""
import json
import sqlite3
import sys
import threading
import time


def main():
    path, mode = sys.argv[1:]
    store = sqlite3.connect(path, timeout=120, isolation_level=None)
    store.execute(f"PRAGMA journal_mode = {mode}").fetchall()
    lock, figures, ended = threading.Lock(), {"commits": 0, "longest": 0.0, "failed": 0}, threading.Event()

    def answer():
        for _ in sys.stdin:
            with lock:
                print(json.dumps(figures), flush=True)
                figures.update(commits=0, longest=0.0, failed=0)
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
            figures.update(commits=figures["commits"] + 1 - failed, longest=max(figures["longest"], took),
                           failed=figures["failed"] + failed)
        ended.wait(0.005)
    store.close()


main()
