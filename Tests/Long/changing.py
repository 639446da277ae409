"""Stores that change as those of apps do, and what tells one state of them from another."""
import contextlib
import hashlib
import os
import shutil
import sqlite3

import stores
from desk import Flaw, add_texts, digest, random_store

NAMES = ["Recipes", "Tea", "Wine"]  # the first one has external files


def state(path):
    """All rows of a store, its schema and its external files, as a digest, and its user version."""
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    database.text_factory = bytes
    try:
        schema = sorted(database.execute("SELECT type, name, tbl_name, sql FROM sqlite_master"), key=repr)
        tables = [name.decode() for kind, name, _, _ in schema if kind == b"table"]
        rows = [(name, sorted(map(repr, database.execute(f'SELECT * FROM "{name}"')))) for name in tables]
        [(version,)], [(application,)] = (database.execute(f"PRAGMA {name}").fetchall() for name in ["user_version", "application_id"])
    except sqlite3.DatabaseError as error:
        raise Flaw(f"{path} cannot be read: {error}") from error
    finally:
        database.close()
    folder = os.path.join(os.path.dirname(os.path.realpath(path)), f".{NAMES[0]}_SUPPORT", "_EXTERNAL_DATA")
    files = sorted((name, digest(os.path.join(folder, name))) for name in os.listdir(folder)) if os.path.exists(folder) else []
    return hashlib.sha256(repr((schema, rows, version, application, files)).encode()).hexdigest()[:16], version


def change(path, versions, chance):
    """Changes a store, as its app may. Returns whether it may be another store now."""
    name = os.path.basename(path).removesuffix(".sqlite")
    kind = chance.random()
    if name == NAMES[0] and (not os.path.exists(path) or kind < 0.4):
        shutil.rmtree(os.path.dirname(path), ignore_errors=True)
        shutil.copytree(os.path.join(versions, str(chance.randrange(1, stores.VERSIONS + 1))), os.path.dirname(path))
        return False
    if name != NAMES[0] and (not os.path.exists(path) or kind < 0.08 or os.path.getsize(path) > 2_000_000):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        random_store(path, chance)
        execute(path, f"PRAGMA user_version = {chance.randrange(7)}; ALTER TABLE t0 RENAME TO s{chance.randrange(4)}; CREATE TABLE u (c0)")
        return True
    words = chance.choice(["new ", "Жук ", "x" * 400, "0"])
    for _ in range(chance.choice([1, 1, 2, 6])):
        with contextlib.closing(sqlite3.connect(path)) as database:
            tables = [each for each, in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'Z%'")]
            # What is in the tables of a full-text index, and in that of its texts, belongs together: apps change it through the index.
            if "found" in tables and chance.random() < 0.3:
                add_texts(database, chance)
                database.commit()
            tables = [each for each in tables if each != "texts" and not each.startswith("found")]
            every, table = chance.choice([1, 2, 7, 50]), chance.choice(tables)
            column = database.execute(f"SELECT name FROM pragma_table_info('{table}') ORDER BY cid DESC").fetchone()[0]
        execute(path, chance.choice([
            f"UPDATE {table} SET {column} = '{words}{chance.randrange(99)}' WHERE rowid % {every} = 0",
            f"UPDATE {table} SET {column} = {column} || 'é' WHERE rowid = {every}",
            f"INSERT INTO {table} ({column}) VALUES ('{words * every}'), ({chance.getrandbits(50)}), (NULL)",
            f"INSERT INTO {table} ({column}) SELECT randomblob({every * 9}) FROM {table} LIMIT 60",
            f"DELETE FROM {table} WHERE rowid % {every} = 1",
            f"CREATE TABLE more{every} (c0, c1 TEXT, c2); INSERT INTO more{every} VALUES (1, 'a', NULL)",
            f"DROP TABLE more{every}", f"ALTER TABLE more{every} RENAME TO v{every}", f"DROP TABLE v{every}",
            f"ALTER TABLE {table} ADD COLUMN d{every}", f"CREATE INDEX i{table}{every} ON {table} ({column})",
            f"PRAGMA journal_mode = DELETE; PRAGMA page_size = {512 << chance.randrange(6)}; VACUUM",
            "PRAGMA journal_mode = WAL", "VACUUM", f"PRAGMA user_version = {chance.randrange(7)}"]))
    return False


def execute(path, sql):
    database = sqlite3.connect(path)
    with contextlib.suppress(sqlite3.OperationalError, sqlite3.IntegrityError):  # no such table, or one WITHOUT ROWID
        database.executescript(sql)
    database.commit()
    database.close()


def damaged(content, way, chance):
    if not content or way == "cut":
        return content[:chance.randrange(len(content))] if content else b"x"
    place = chance.randrange(len(content))
    return content[:place] + bytes([content[place] ^ (1 << chance.randrange(8))]) + content[place + 1:]
