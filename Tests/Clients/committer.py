"""An app that changes its store now and then: `committer.py STORE MODE`, MODE as SQLite's journal modes.

It waits for a line, `write` or `read`, begins a transaction that does so, says `begun`, and on the next line writes and
commits. Then it commits again and again until its input ends, and says how many commits there were, the longest time that
one took in seconds, and what failed.
"""

import sqlite3
import sys
import threading
import time


def main():
    path, mode = sys.argv[1:3]
    db = sqlite3.connect(path, timeout=5, isolation_level=None)
    db.execute(f"PRAGMA journal_mode = {mode}").fetchall()
    db.execute("SELECT count(*) FROM tick").fetchone()
    longest, count, failures = 0.0, 0, []

    def timed(work):
        nonlocal longest, count
        start = time.monotonic()
        try:
            work()
            count += 1
        except sqlite3.Error as error:
            failures.append(f"{error} after {time.monotonic() - start:.3f} s")
            if db.in_transaction:
                db.execute("ROLLBACK")
        longest = max(longest, time.monotonic() - start)

    if sys.stdin.readline().strip() == "read":
        db.execute("BEGIN")
        db.execute("SELECT max(at) FROM tick").fetchone()
        first = ["INSERT INTO tick VALUES (0)", "COMMIT"]
    else:
        db.execute("BEGIN IMMEDIATE")
        db.execute("INSERT INTO tick VALUES (0)")
        first = ["COMMIT"]
    print("begun", flush=True)
    sys.stdin.readline()
    timed(lambda: [db.execute(statement) for statement in first])
    print(f"committed after {longest:.3f} s {failures}", flush=True)

    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    while not ended.is_set():
        timed(lambda: db.execute("INSERT INTO tick VALUES (1)"))
        ended.wait(0.005)
    db.close()
    print(f"commits {count} longest {longest:.3f} failures {failures}", flush=True)


main()
