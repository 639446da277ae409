"""An app that numbers its commits: `writer.py STORE`. The store has a table `app_log(n INTEGER PRIMARY KEY)`.

It says `begun` after its first commit, and commits the next number every few milliseconds until it reads a line. Then it
commits once more, and says in one line of JSON which numbers SQLite has told it are committed, the last of them, if that last
one succeeded, and what failed.
"""

import json
import sqlite3
import sys
import threading


def main():
    db = sqlite3.connect(sys.argv[1], timeout=20, isolation_level=None)
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.readline(), ended.set()), daemon=True).start()
    committed, failures, last = [], [], None
    number = db.execute("SELECT coalesce(max(n), 0) FROM app_log").fetchone()[0]

    def commit():
        nonlocal number
        number += 1
        try:
            db.execute("INSERT INTO app_log VALUES (?)", (number,))
            committed.append(number)
            return number
        except sqlite3.Error as error:
            failures.append(str(error))
            return None

    commit()
    print("begun", flush=True)
    while not ended.wait(0.003) and not failures:
        commit()
    if not failures:
        last = commit()
    print(json.dumps({"committed": committed, "last": last, "failures": failures}), flush=True)
    db.close()


main()
