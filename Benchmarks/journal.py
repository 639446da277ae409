"""A travel journal: in WAL mode, with free pages, its last commits in the -wal."""
import os
import sqlite3

from words import Words

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


class Journal(Words):
    """Rows as they come from use, with drifting positions."""

    def __init__(self, seed):
        super().__init__(seed)
        self.moment, self.latitude, self.longitude = 720_000_000.0, 59.33, 18.07

    def day(self):
        """About 40 KB of rows, table by table."""
        draw, entries, tracks, pictures = self.random, [], [], []
        for _ in range(12):
            words = min(900, 1 + int(draw.lognormvariate(4.2, 0.8)))
            entries.append((None, self.uuid(), draw.randrange(1, 200), self.text(draw.randrange(2, 7)),
                            self.text(words), self.moment, draw.randrange(6)))
            if draw.random() < 0.15:
                jpeg = self.picture(int(draw.lognormvariate(8.7, 0.5)))
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


def generate(path, megabytes, seed):
    """Leaves the store open: a close would checkpoint it."""
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
    return store
