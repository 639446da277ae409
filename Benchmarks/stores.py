#!/usr/bin/env python3
"""The stores that are measured: what a phone's travel journal would keep, in WAL mode, its last commits in the -wal.

  stores.py generate PATH MEGABYTES [SEED]   writes PATH and PATH-wal; the same arguments give the same rows
  stores.py hold PATH                        keeps PATH open, as its app would, until stdin ends

An open store is not checkpointed by whoever else closes it, so that its -wal stays as it is for every contender.
"""
import os
import random
import sqlite3
import sys

SCHEMA = """
CREATE TABLE place(id INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, name TEXT, latitude REAL, longitude REAL);
CREATE TABLE entry(id INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, place INTEGER REFERENCES place, title TEXT,
    body TEXT, written REAL, stars INTEGER);
CREATE TABLE track(id INTEGER PRIMARY KEY, uuid TEXT NOT NULL, moment REAL, latitude REAL, longitude REAL, height REAL,
    speed REAL, source INTEGER);
CREATE TABLE picture(uuid TEXT PRIMARY KEY, entry TEXT NOT NULL, width INTEGER, height INTEGER, thumbnail BLOB)
    WITHOUT ROWID;
CREATE TABLE setting(key TEXT PRIMARY KEY, value ANY);
CREATE INDEX entry_by_time ON entry(written DESC);
CREATE INDEX entry_by_title ON entry(title COLLATE NOCASE);
CREATE INDEX track_by_uuid ON track(uuid);
CREATE INDEX track_by_time ON track(moment) WHERE speed > 1;
CREATE INDEX picture_by_entry ON picture(entry);
CREATE TRIGGER entry_gone AFTER DELETE ON entry BEGIN DELETE FROM picture WHERE entry = old.uuid; END;
"""
TABLES = {"place": 5, "entry": 7, "track": 8, "picture": 5, "setting": 2}  # with their numbers of columns


class Journal:
    """Rows as they come from use: texts with the word frequencies of speech, random keys, drifting positions."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        parts = [c + v for c in "bdfgklmnprstvh" for v in ("a", "e", "i", "o", "u", "an", "er", "is")]
        words = ["".join(self.random.choices(parts, k=self.random.choice((1, 2, 2, 3, 4)))) for _ in range(9000)]
        weights = [1 / (rank + 3) for rank in range(len(words))]
        self.spoken = self.random.choices(words, weights, k=400_000)
        self.moment, self.latitude, self.longitude = 720_000_000.0, 59.33, 18.07

    def uuid(self):
        digits = f"{self.random.getrandbits(128):032X}"
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))

    def text(self, count):
        start = self.random.randrange(len(self.spoken) - count)
        return " ".join(self.spoken[start:start + count]).capitalize() + "."

    def day(self):
        """About 40 KB of rows, table by table."""
        draw, entries, tracks, pictures = self.random, [], [], []
        for _ in range(12):
            words = min(900, 1 + int(draw.lognormvariate(4.2, 0.8)))
            entries.append((None, self.uuid(), draw.randrange(1, 200), self.text(draw.randrange(2, 7)),
                            self.text(words), self.moment, draw.randrange(6)))
            if draw.random() < 0.15:
                jpeg = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" + draw.randbytes(int(draw.lognormvariate(8.7, 0.5)))
                pictures.append((self.uuid(), entries[-1][1], 160, 120, jpeg))
        for _ in range(110):
            self.moment += draw.expovariate(1 / 40)
            self.latitude += draw.gauss(0, 1e-4)
            self.longitude += draw.gauss(0, 2e-4)
            tracks.append((None, self.uuid(), round(self.moment, 2), round(self.latitude, 6), round(self.longitude, 6),
                           round(draw.gauss(30, 5), 1), round(abs(draw.gauss(1.2, 1)), 2), draw.randrange(3)))
        return {"entry": entries, "track": tracks, "picture": pictures}


def insert(store, rows_by_table):
    store.execute("BEGIN")
    for table, rows in rows_by_table.items():
        store.executemany(f"INSERT INTO {table} VALUES({','.join('?' * TABLES[table])})", rows)
    store.execute("COMMIT")


def generate(path, megabytes, seed=1):
    journal, goal = Journal(seed), megabytes * 1_000_000
    store = sqlite3.connect(path, isolation_level=None)
    store.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; PRAGMA cache_size=-65536;" + SCHEMA)
    insert(store, {
        "place": [(None, journal.uuid(), journal.text(2), 59.3, 18.0) for _ in range(200)],
        "setting": [(f"org.example.journal.setting{number}", journal.text(3)) for number in range(60)],
    })
    while store.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").fetchone()[0] < goal:
        insert(store, journal.day())
    # What an app clears away now and then: free pages, which a compact copy does not have.
    store.execute("DELETE FROM track WHERE id % 17 = 0")
    store.execute("DELETE FROM entry WHERE id % 23 = 5")
    store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    # The last use: at most what an automatic checkpoint, of 1000 pages, leaves in the -wal.
    store.execute("PRAGMA wal_autocheckpoint=0")
    while os.path.getsize(path + "-wal") < min(goal / 6, 3_500_000):
        insert(store, journal.day())
        store.execute("UPDATE entry SET stars = 5, body = body || ' (edited)' WHERE id % 997 = ?", (seed,))
    leave()


def hold(path):
    store = sqlite3.connect(path)
    store.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    print("open", flush=True)
    sys.stdin.read()
    leave()


def leave():
    """Ends without closing the store: a close would checkpoint it."""
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["generate", path, megabytes, *seed]: generate(path, float(megabytes), *map(int, seed))
        case ["hold", path]: hold(path)
        case _: sys.exit(__doc__)
