"""Stores of other kinds than the journal, each with what is special in it: SCHEMA is a store's schema, `batch` its next rows,
by table. All are in WAL mode, and at rest. That of a phone is in phone.py."""
import json
import plistlib
import sqlite3
import uuid

from phone import Phone
from words import Words


class Recipes(Words):
    """As Core Data makes one: Z_ tables, keys in 16 bytes, seconds since 2001, archived objects, a history."""

    SCHEMA = """
        CREATE TABLE Z_METADATA(Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
        CREATE TABLE Z_PRIMARYKEY(Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
        CREATE TABLE Z_MODELCACHE(Z_CONTENT BLOB);
        CREATE TABLE ZRECIPE(Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZRATING INTEGER, ZAUTHOR INTEGER,
            ZCREATED TIMESTAMP, ZCHANGED TIMESTAMP, ZDURATION FLOAT, ZTITLE VARCHAR, ZNOTES VARCHAR, ZIDENTIFIER BLOB,
            ZSTYLE BLOB);
        CREATE TABLE ZINGREDIENT(Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZORDER INTEGER, ZRECIPE INTEGER,
            ZAMOUNT FLOAT, ZUNIT VARCHAR, ZNAME VARCHAR);
        CREATE TABLE Z_2TAGS(Z_2RECIPES INTEGER, Z_4TAGS INTEGER, PRIMARY KEY(Z_2RECIPES, Z_4TAGS));
        CREATE TABLE ATRANSACTION(Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAUTHORTS INTEGER,
            ZTIMESTAMP FLOAT);
        CREATE TABLE ACHANGE(Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, ZENTITY INTEGER,
            ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB);
        CREATE INDEX Z_Recipe_byCreated ON ZRECIPE(ZCREATED COLLATE BINARY ASC);
        CREATE INDEX Z_Recipe_byIdentifier ON ZRECIPE(ZIDENTIFIER COLLATE BINARY ASC);
        CREATE INDEX ZRECIPE_ZAUTHOR_INDEX ON ZRECIPE(ZAUTHOR);
        CREATE INDEX ZINGREDIENT_ZRECIPE_INDEX ON ZINGREDIENT(ZRECIPE);
        CREATE INDEX Z_2TAGS_Z_4TAGS_INDEX ON Z_2TAGS(Z_4TAGS, Z_2RECIPES);
        CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE(ZTRANSACTIONID);
        CREATE INDEX Z_ACHANGE_byEntity ON ACHANGE(ZENTITY, ZENTITYPK);
        """
    ENTITIES = ("Author", "Recipe", "Ingredient", "Tag")

    def __init__(self, seed):
        super().__init__(seed)
        self.moment, self.recipes, self.transactions = 700_000_000.0, 0, 0

    def first(self):
        metadata = {
            "NSStoreType": "SQLite", "NSStoreModelVersionIdentifiers": [""], "NSStoreModelVersionHashesVersion": 3,
            "NSStoreModelVersionHashes": {name: self.random.randbytes(32) for name in self.ENTITIES},
        }
        return {
            "Z_METADATA": [(1, self.uuid(), plistlib.dumps(metadata, fmt=plistlib.FMT_BINARY))],
            "Z_PRIMARYKEY": [(number + 1, name, 0, 1_000_000) for number, name in enumerate(self.ENTITIES)],
            "Z_MODELCACHE": [(self.random.randbytes(6000),)],
        }

    def style(self):
        """An object as NSKeyedArchiver writes it."""
        uid, draw = plistlib.UID, self.random
        objects = ["$null", {"$class": uid(3), "red": round(draw.random(), 3), "name": uid(2), "alpha": 1.0},
                   draw.choice(("accent", "plain", "festive")),
                   {"$classname": "Style", "$classes": ["Style", "NSObject"]}]
        return plistlib.dumps({"$version": 100_000, "$archiver": "NSKeyedArchiver", "$top": {"root": uid(1)},
                               "$objects": objects}, fmt=plistlib.FMT_BINARY)

    def batch(self):
        draw, rows = self.random, {name: [] for name in ("ZRECIPE", "ZINGREDIENT", "Z_2TAGS", "ATRANSACTION", "ACHANGE")}
        for _ in range(50):
            self.recipes += 1
            self.moment += draw.expovariate(1 / 4000)
            key = uuid.UUID(self.uuid()).bytes
            rows["ZRECIPE"].append((
                self.recipes, 2, draw.randrange(1, 5), draw.choice((None, 3, 4, 5)), draw.randrange(1, 40), self.moment,
                self.moment + draw.expovariate(1 / 90_000), draw.randrange(5, 120) * 60.0, self.text(draw.randrange(2, 6)),
                self.text(draw.randrange(5, 60)), key, self.style() if draw.random() < 0.3 else None))
            for order in range(draw.randrange(3, 12)):
                rows["ZINGREDIENT"].append((
                    None, 3, 1, order, self.recipes, draw.choice((0.5, 1.0, 2.0, 100.0, 250.0)),
                    draw.choice(("g", "ml", "tbsp", None)), self.text(draw.randrange(1, 3))))
            rows["Z_2TAGS"] += [(self.recipes, tag) for tag in draw.sample(range(1, 60), draw.randrange(4))]
            self.transactions += 1
            rows["ATRANSACTION"].append((self.transactions, 16002, 1, 1, self.moment))
            rows["ACHANGE"] += [(None, 16001, 1, draw.randrange(3), 2, self.recipes, self.transactions, columns)
                                for columns in draw.choices((None, b"\x0c", b"\x81\x02"), k=draw.randrange(1, 5))]
        return rows


class Log(Words):
    """A wide table that is only ever added to, with many indexes, a partial one and one of an expression among them."""

    SCHEMA = """
        CREATE TABLE event(id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, level INTEGER, process TEXT,
            pid INTEGER, thread INTEGER, subsystem TEXT, category TEXT, session TEXT, message TEXT, file TEXT, line INTEGER,
            function TEXT, duration REAL, memory INTEGER, cpu REAL, battery REAL, network TEXT, address TEXT, status INTEGER,
            code INTEGER, sent INTEGER, received INTEGER, extra TEXT);
        CREATE INDEX event_at ON event(at);
        CREATE INDEX event_process ON event(process, at);
        CREATE INDEX event_session ON event(session);
        CREATE INDEX event_kind ON event(subsystem, category, level DESC);
        CREATE INDEX event_errors ON event(at) WHERE level > 3;
        CREATE INDEX event_folded ON event(lower(category));
        """

    def __init__(self, seed):
        super().__init__(seed)
        self.at, self.session = 1_700_000_000_000_000, self.uuid()

    def first(self):
        self.processes = [(self.text(1)[:-1].lower(), pid) for pid in range(300, 900, 37)]
        return {}

    def batch(self):
        draw, rows = self.random, []
        for _ in range(500):
            self.at += int(draw.expovariate(1 / 70_000))
            if draw.random() < 0.01:
                self.session = self.uuid()
            process, pid = draw.choice(self.processes)
            status = draw.choice((200, 200, 200, 204, 304, 404, None))
            extra = json.dumps({"retry": draw.randrange(3), "queue": process, "ok": status == 200}) if status else None
            rows.append((
                None, self.at, draw.choice((0, 1, 1, 1, 2, 4)), process, pid, draw.randrange(1, 60_000),
                f"org.example.{process}", draw.choice(("Network", "storage", "View", "sync")), self.session,
                self.text(draw.randrange(3, 14)), f"Sources/{process}.swift", draw.randrange(1, 900), f"{process}(_:)",
                round(draw.expovariate(9), 6), draw.randrange(20_000, 90_000) * 4096, round(draw.random() * 80, 1),
                round(1 - len(rows) / 5000, 3), draw.choice(("wifi", "cell", None)),
                f"192.168.1.{draw.randrange(2, 80)}", status, 0, draw.randrange(4000), draw.randrange(90_000), extra))
        return {"event": rows}


class Search(Words):
    """Documents, and a full-text index of them."""

    SCHEMA = """
        CREATE TABLE document(id INTEGER PRIMARY KEY, path TEXT UNIQUE, title TEXT, body TEXT, changed INTEGER);
        CREATE VIRTUAL TABLE found USING fts5(title, body, content=document, content_rowid=id);
        CREATE TRIGGER document_new AFTER INSERT ON document BEGIN
            INSERT INTO found(rowid, title, body) VALUES (new.id, new.title, new.body); END;
        """

    def first(self):
        self.changed = 1_690_000_000
        return {}

    def batch(self):
        rows = []
        for _ in range(40):
            self.changed += self.random.randrange(1, 9000)
            title = self.text(3)
            path = f"/{self.text(1)[:-1].lower()}/{title[:-1].lower().replace(' ', '-')}-{self.changed}.md"
            rows.append((None, path, title, self.text(self.random.randrange(40, 500)), self.changed))
        return {"document": rows}


class Pictures(Words):
    """Mostly blobs that nothing makes smaller: thumbnails, and now and then a whole picture."""

    SCHEMA = """
        CREATE TABLE album(id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE picture(id TEXT PRIMARY KEY, album INTEGER REFERENCES album, taken REAL, width INTEGER, height INTEGER,
            thumbnail BLOB, original BLOB) WITHOUT ROWID;
        CREATE INDEX picture_taken ON picture(taken);
        """

    def first(self):
        self.taken = 720_000_000.0
        return {"album": [(None, self.text(2)) for _ in range(30)]}

    def batch(self):
        draw, rows = self.random, []
        for _ in range(20):
            self.taken += draw.expovariate(1 / 9000)
            whole = self.picture(draw.randrange(20_000, 500_000)) if draw.random() < 0.1 else None
            rows.append((self.uuid(), draw.randrange(1, 31), self.taken, 4032, 3024,
                         self.picture(int(draw.lognormvariate(8.7, 0.5))), whole))
        return {"picture": rows}


class Settings(Words):
    """A handful of keys, each with what an app keeps in JSON."""

    SCHEMA = "CREATE TABLE setting(key TEXT PRIMARY KEY, value TEXT, changed INTEGER);"

    def first(self):
        self.number = 0
        return {}

    def batch(self):
        rows = []
        for _ in range(10):
            self.number += 1
            value = {"title": self.text(2), "shown": self.random.random() < 0.5, "order": self.random.randrange(100)}
            rows.append((f"org.example.settings.{self.number:03}", json.dumps(value), 1_690_000_000 + self.number))
        return {"setting": rows}


class Visits(Words):
    """Many short rows with two indexes, for what takes its time row by row."""

    SCHEMA = """
        CREATE TABLE visit(id INTEGER PRIMARY KEY, place INTEGER, moment REAL, note TEXT);
        CREATE INDEX visit_by_place ON visit(place, moment);
        CREATE INDEX visit_by_moment ON visit(moment);
        """

    def __init__(self, seed):
        super().__init__(seed)
        self.number = 0
        self.notes = [" ".join(self.text(9) for _ in range(4))[:200] for _ in range(997)]

    def first(self):
        return self.batch()

    def batch(self):
        rows = []
        for _ in range(50_000):
            self.number += 1
            moment = 700_000_000 + self.number * 37.25
            rows.append((self.number, self.number * 7919 % 100_003, moment, f"{self.notes[self.number % 997]} {self.number}"))
        return {"visit": rows}


KINDS = {"recipes": Recipes, "log": Log, "search": Search, "pictures": Pictures, "settings": Settings,
         "visits": Visits, "phone": Phone}


def generate(kind, path, megabytes, seed):
    maker = KINDS[kind](seed)
    store = sqlite3.connect(path, isolation_level=None)
    store.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;" + maker.SCHEMA)
    rows_by_table = maker.first()
    while True:
        store.execute("BEGIN")
        for table, rows in rows_by_table.items():
            if rows:
                store.executemany(f"INSERT INTO {table} VALUES({','.join('?' * len(rows[0]))})", rows)
        store.execute("COMMIT")
        pages, size = (store.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
        if pages * size >= megabytes * 1_000_000:
            break
        rows_by_table = maker.batch()
    store.close()
