"""A client of a bank's store, as an app has it open all day: `bank.py reader|writer STORE`, until its input ends.

It says `open` once it has the store open, and in the end one line: how often it read or wrote, how often it met a lock, and
what does not add up, if anything.
"""

import sqlite3
import sys
import threading


def audit(db):
    """What does not add up in one state of the store, whichever of the two schemas it has."""
    db.execute("BEGIN")
    try:
        (total,) = db.execute("SELECT sum(balance) FROM account").fetchone()
        (book,) = db.execute("SELECT total FROM book").fetchone()
        (one,) = db.execute("SELECT stamp FROM one").fetchone()
        (two,) = db.execute("SELECT stamp FROM two").fetchone()
        columns = len(db.execute("SELECT * FROM account LIMIT 1").description)
        (expected,) = db.execute("SELECT columns FROM book").fetchone()
    finally:
        db.execute("ROLLBACK")
    if (total, one, columns) != (book, two, expected):
        return f"total {total} for {book}, stamps {one} and {two}, {columns} columns for {expected}"
    return None


def transfer(db, number):
    db.execute("BEGIN IMMEDIATE")
    try:
        a, b = number * 7 % 200 + 1, number * 13 % 200 + 1
        db.execute("UPDATE account SET balance = balance - 5 WHERE id = ?", (a,))
        db.execute("UPDATE account SET balance = balance + 5 WHERE id = ?", (b,))
        db.execute("UPDATE one SET stamp = stamp + 1")
        db.execute("UPDATE two SET stamp = stamp + 1")
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def main():
    role, path = sys.argv[1:]
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    db = sqlite3.connect(path, timeout=0.005, isolation_level=None)
    while True:
        try:
            db.execute("SELECT count(*) FROM sqlite_master").fetchone()
            break
        except sqlite3.OperationalError:
            continue
    print("open", flush=True)
    done, busy, flaws = 0, 0, []
    while not ended.is_set() and not flaws:
        try:
            if role == "writer":
                transfer(db, done)
            else:
                flaw = audit(db)
                flaws += [flaw] if flaw else []
            done += 1
            ended.wait(0.02)
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                flaws.append(f"{error}")
            busy += 1
        except sqlite3.DatabaseError as error:
            flaws.append(f"{error}")
    db.close()
    print(f"done {done} busy {busy} flaws {flaws}", flush=True)


main()
