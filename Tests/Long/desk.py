"""A folder with the program in it, and random stores."""
import hashlib
import json
import os
import sqlite3
import subprocess

LONGEST = 60  # seconds that a command may take
CRASHES = [b"Fatal error", b"AddressSanitizer", b"the process that checked the store"]  # the last one was to say what it found


class Flaw(Exception):
    """What must not be."""


class Desk:
    """A folder, and the program in it."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        os.makedirs(os.path.join(folder, "tmp"), 0o700)
        self.values = {**os.environ, "HOME": folder, "TMPDIR": self.path("tmp"), "XDG_STATE_HOME": self.path("state"),
                       "XDG_CONFIG_HOME": self.path("config")}

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, *arguments, content=b"", may=(0,)):
        """Returns the exit status and what was written."""
        try:
            done = subprocess.run([self.program, *arguments], input=content, capture_output=True, env=self.values, cwd=self.folder, timeout=LONGEST)
        except subprocess.TimeoutExpired as error:
            raise Flaw(f"{' '.join(arguments)} is not done after {LONGEST} s") from error
        if done.returncode not in may or any(words in done.stderr for words in CRASHES):
            raise Flaw(f"{' '.join(arguments)} exited with {done.returncode}: {done.stderr.decode(errors='replace')[-400:]}")
        return done.returncode, done.stdout

    def manifest(self, shipment):
        return json.loads(self.run("inspect", shipment, "--json")[1])["manifest"]


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def add_texts(database, chance):
    """To a table and its full-text index."""
    for _ in range(chance.randrange(40)):
        text = " ".join(chance.choice(["salt", "herbs", "Éclair", "Жук", "a-b", f"w{chance.randrange(90)}", "日本"]) for _ in range(chance.randrange(20)))
        row = database.execute("INSERT INTO texts (c0) VALUES (?)", (text,)).lastrowid
        database.execute("INSERT OR REPLACE INTO found (rowid, c0) VALUES (?, ?)", (row, text))
        if chance.random() < 0.1:
            database.commit()


def random_store(path, chance):
    if os.path.exists(path):
        os.unlink(path)
    database = sqlite3.connect(path)
    database.execute(f"PRAGMA page_size = {chance.choice([512, 1024, 4096, 8192])}")
    database.execute(f"PRAGMA user_version = {chance.randrange(1000)}")

    def value():
        return chance.choice([
            None, chance.randrange(-5, 5), chance.getrandbits(62) - (1 << 61), chance.random(), "", "word " * chance.randrange(30),
            chance.randbytes(chance.choice([0, 3, 40, 3000])), f"{chance.getrandbits(40):x}", "Жук 🪲" * chance.randrange(3)])
    for table in range(chance.randrange(1, 5)):
        columns = chance.randrange(1, 6)
        types = [chance.choice(["INT", "TEXT", "BLOB", "REAL", ""]) for _ in range(columns)]
        key = ", PRIMARY KEY (c0, c1)) WITHOUT ROWID" if columns > 1 and chance.random() < 0.2 else ")"
        database.execute(f"CREATE TABLE t{table} ({', '.join(f'c{n} {kind}' for n, kind in enumerate(types))}{key}")
        if chance.random() < 0.5:
            database.execute(f"CREATE INDEX i{table} ON t{table} (c{chance.randrange(columns)})")
        for row in range(chance.choice([0, 1, 20, 300])):
            values = [value() for _ in range(columns)]
            if key != ")":
                values[:2] = [row, f"{row}"]
            database.execute(f"INSERT INTO t{table} VALUES ({', '.join('?' * columns)})", values)
    if chance.random() < 0.4:
        content = chance.choice(["", ", content = 'texts', content_rowid = 'id'"])
        database.execute("CREATE TABLE texts (id INTEGER PRIMARY KEY, c0)")
        database.execute(f"CREATE VIRTUAL TABLE found USING fts5(c0{content})")
        add_texts(database, chance)
    database.commit()
    database.close()
    return path
