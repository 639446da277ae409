"""The store of a phone's app, in WAL mode and at rest: notes, messages, measurements, thumbnails; keys with gaps, as rows have been
deleted. No text comes twice, so that nothing is found in a base but what is there.
"""
from words import Words


class Phone(Words):
    SCHEMA = """
        CREATE TABLE notebook(id INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, name TEXT NOT NULL);
        CREATE TABLE note(id INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, notebook INTEGER REFERENCES notebook, title TEXT,
            body TEXT, written REAL, changed REAL, is_pinned INTEGER);
        CREATE TABLE message(id INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, room INTEGER, author TEXT, body TEXT, sent REAL,
            is_read INTEGER, answers TEXT);
        CREATE TABLE reading(id INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, kind INTEGER, began REAL, ended REAL, value REAL,
            device INTEGER);
        CREATE TABLE thumbnail(uuid TEXT PRIMARY KEY, note TEXT, width INTEGER, height INTEGER, jpeg BLOB) WITHOUT ROWID;
        CREATE TABLE preference(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
        CREATE INDEX note_by_notebook ON note(notebook, changed DESC);
        CREATE INDEX message_by_room ON message(room, sent);
        CREATE INDEX reading_by_kind ON reading(kind, began);
        CREATE INDEX thumbnail_by_note ON thumbnail(note);
        """
    GAPS = {"note": 14, "message": 16, "reading": 53}  # one key in so many is passed over

    def __init__(self, seed):
        super().__init__(seed)
        self.place, self.moment, self.pulse = 0, 700_000_000.0, 70.0
        self.keys = dict.fromkeys(self.GAPS, 0)
        self.authors = [f"+46{self.random.randrange(10**8, 10**9)}" for _ in range(80)]

    def text(self, count):
        """Of words that have not been spoken in this order before."""
        if self.place + count > len(self.spoken):
            self.random.shuffle(self.spoken)
            self.place = 0
        self.place += count
        return " ".join(self.spoken[self.place - count:self.place]).capitalize() + "."

    def key(self, table):
        self.keys[table] += 2 if self.random.random() < 1 / self.GAPS[table] else 1
        return self.keys[table]

    def first(self):
        return {
            "notebook": [(None, self.uuid(), self.text(2)) for _ in range(12)],
            "preference": [(f"org.example.phone.preference{number}", self.text(3)) for number in range(60)],
        }

    def batch(self):
        """About 200 KB of rows."""
        draw, rows, now = self.random, {name: [] for name in ("note", "message", "reading", "thumbnail")}, self.moment
        for _ in range(12):
            now += draw.uniform(10, 2000)
            rows["note"].append((
                self.key("note"), self.uuid(), draw.randrange(1, 13), self.text(draw.randrange(2, 7)),
                self.text(max(1, min(3000, int(draw.lognormvariate(5.4, 0.8))))), now, now, int(draw.random() < 0.05)))
            if draw.random() < 0.28:
                rows["thumbnail"].append((
                    self.uuid(), rows["note"][-1][1], 160, 120, self.picture(int(draw.lognormvariate(9, 0.5)))))
        for _ in range(200):
            now += draw.expovariate(1 / 60)
            answered = rows["message"][-1][1] if rows["message"] and draw.random() < 0.1 else None
            rows["message"].append((
                self.key("message"), self.uuid(), draw.randrange(1, 60), draw.choice(self.authors),
                self.text(min(400, 1 + int(draw.lognormvariate(2.5, 0.9)))), round(now, 3), int(draw.random() < 0.9), answered))
        began = self.moment
        for _ in range(480):
            kind = draw.choice((1, 1, 1, 2, 3, 3, 7))
            self.pulse += draw.gauss(0, 2) + (70 - self.pulse) * 0.05
            value = {1: round(self.pulse, 1), 3: float(draw.randrange(1, 400))}.get(kind, draw.random() * 3)
            rows["reading"].append((
                self.key("reading"), self.uuid(), kind, round(began, 2), round(began + draw.choice((0, 0, 5, 60)), 2), value,
                draw.randrange(1, 4)))
            began += draw.uniform(2, 20)
        self.moment = max(now, began)
        return rows
