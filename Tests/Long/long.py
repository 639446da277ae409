#!/usr/bin/env python3
"""Runs the built program for minutes against what a seed makes, and counts.

    Tests/Long/long.py PROGRAM hostile    stores with damaged pages and hostile schemas whose digests are right, through a receiver
    Tests/Long/long.py PROGRAM copies     copies of a store that 8 processes write to, with checkpoints, VACUUM and changes of the schema
    Tests/Long/long.py PROGRAM peer       one-way shipments of random stores, each written by one implementation and read by the other
    Tests/Long/long.py PROGRAM dialogue   two-way sessions, of which one side is held by the other implementation, as a model chooses
    Tests/Long/long.py PROGRAM paths      the same commands by plain paths, and by odd ones that lead to the same places
    Tests/Long/long.py PROGRAM together   several random commands at once, some of which are told to end or killed
    Tests/Long/long.py PROGRAM publications
                                          a publication and its receivers, with changes, halts, rollouts, prunes, recipients, damage and kills

The other implementation is the one in Protocol/, in Python. `--seed` repeats what a run has made; how processes meet is not repeated.
"""
import argparse
import hashlib
import multiprocessing
import os
import random
import shutil
import sqlite3
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "PowerCuts"), os.path.join(HERE, "..", "..", "Protocol")]
sys.dont_write_bytecode = True
from cases.streams import FINISH, blocks, session  # noqa: E402
from damage import STRUCTURES, UNREADABLE, bytes_of_page, damaged, facts, schema_damaged  # noqa: E402
from decoder.sides import Consumer  # noqa: E402
from desk import Desk, Flaw, digest, random_store  # noqa: E402
from dialogue import dialogue  # noqa: E402
from encoder.piece import joined  # noqa: E402
from encoder.wire import MANIFEST, STORED, ZLIB, ZLIB_WINDOW, message, padded  # noqa: E402
from paths import paths  # noqa: E402
from publications import publications  # noqa: E402
from together import together  # noqa: E402

PATIENCE = 5  # seconds that a look at a damaged store may take
WRITERS = 8


def query(path, *statements):
    database = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    try:
        return [database.execute(statement).fetchall() for statement in statements]
    finally:
        database.close()


def shipped(manifest, content, chance):
    """A shipment in blocks, as an encoder may write it."""
    size = chance.choice([len(content), 4096, 10_000, 65_536])
    forms = tuple(chance.choice([STORED, ZLIB, ZLIB_WINDOW]) for _ in range(3))
    # The first has no window.
    frames = blocks(content, size=size, forms=(chance.choice([STORED, ZLIB]), *forms))
    if chance.random() < 0.3:
        frames = [padded(each) for each in frames]
    return joined(session(message(MANIFEST, manifest), *frames, FINISH, FINISH))


def rich_store(path, chance):
    """A random store with what SQLite has beside plain tables, as SQLite has written it."""
    database = sqlite3.connect(random_store(path, chance), isolation_level=None)
    database.executescript(f"""
        CREATE TABLE w (a TEXT, b INT, c BLOB, PRIMARY KEY (b, a)) WITHOUT ROWID;
        CREATE TABLE g (c0 INT CHECK (c0 >= 0), c1 TEXT, d AS (c0 * 2), e AS (upper(c1)) STORED);
        CREATE INDEX gd ON g (d, lower(c1)) WHERE c0 > 3;
        CREATE VIEW v AS SELECT * FROM g; CREATE TRIGGER gt AFTER INSERT ON g BEGIN DELETE FROM w; END;
        CREATE VIRTUAL TABLE f USING fts5(x); CREATE VIRTUAL TABLE r USING rtree(a, b, c);
        WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) INSERT INTO g (c0, c1) SELECT i, 'word ' || i FROM n;
        INSERT INTO w SELECT c1, c0, zeroblob(c0 * 9) FROM g; INSERT INTO f SELECT c1 FROM g; INSERT INTO r SELECT c0, c0, c0 + 1 FROM g;
        ANALYZE; PRAGMA auto_vacuum = {chance.randrange(3)}; VACUUM; DELETE FROM w WHERE b % 3 = 0;""")
    database.close()
    return path


WAYS = {"page": [bytes_of_page], "structure": STRUCTURES, "schema": [], "both": STRUCTURES}


def unsound(path):
    """What SQLite says of a store that was installed; nothing if it is sound, or takes long to look at."""
    database = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    end = time.monotonic() + PATIENCE
    database.text_factory = bytes
    database.set_progress_handler(lambda: time.monotonic() > end, 100_000)
    try:
        database.execute("PRAGMA trusted_schema = OFF")
        answer = database.execute("PRAGMA integrity_check").fetchall()
        return None if answer == [(b"ok",)] else answer
    except UNREADABLE as error:
        return None if "interrupted" in str(error) else error
    finally:
        database.close()


def hostile(desk, chance):
    """Damages one page after the other of a store, its structures or its schema, and lets a receiver have it."""
    sources = []
    for number in range(6):
        path = (random_store if number < 3 else rich_store)(desk.path(f"source{number}.sqlite"), random.Random(number))
        desk.run("send", path, "--name", "Recipes", "--no-remember", "--to", f"./source{number}.shipment")
        manifest = desk.manifest(f"source{number}.shipment")
        consumer = Consumer()
        with open(desk.path(f"source{number}.shipment"), "rb") as file:
            consumer.walk([("producer", file.read())])
        sources.append((bytes(consumer.outcomes[0].shipment.contents[0]), manifest))
        if number >= 3:
            with open(path, "rb") as file:
                sources.append((file.read(), manifest))
    served = desk.path("inbox/Recipes.sqlite")
    desk.run("receive", "--into", "inbox", "--from", "source0.shipment")
    current = digest(served)
    page = 0
    while True:
        content, manifest = chance.choice(sources)
        way = chance.choice(list(WAYS))
        if way in ("schema", "both"):
            content = schema_damaged(content, chance, desk.path("damaged.sqlite"))
        if WAYS[way]:
            content = damaged(content, page % (len(content) // manifest["store"]["pageSize"]) + 1, chance, WAYS[way])
            page += 1
        manifest = {**manifest, "store": {**manifest["store"], **facts(content, desk.path("damaged.sqlite"))},
                    "createdAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
        if chance.random() < 0.7:
            manifest.pop("tables", None)  # says nothing of them
        is_sent = way == "schema" and chance.random() < 0.4  # by its rows, from which the receiver makes a store
        if is_sent:
            with open(desk.path("damaged.sqlite"), "wb") as file:
                file.write(content)
            status, _ = desk.run("send", "damaged.sqlite", "--name", "Recipes", "--no-remember", "--to", "./damaged.shipment", may=(0, 65))
            if status != 0:
                yield "schema not sent"
                continue
        else:
            with open(desk.path("damaged.shipment"), "wb") as file:
                file.write(shipped(manifest, content, chance))
        status, _ = desk.run("receive", "--into", "inbox", "--from", "damaged.shipment", "--replace", "Recipes",
                             "--check-seconds", str(PATIENCE), may=(0, 65, 73, 76))
        if status == 0:
            current = digest(served)
            if current != manifest["store"]["sha256"] and not is_sent:
                raise Flaw("something else was installed than was sent")
            if flaw := unsound(served):
                raise Flaw(f"a damaged store was installed: {flaw}")
        elif digest(served) != current:
            raise Flaw("a refused store has changed what is served")
        yield f"{way}{' by its rows' if is_sent else ''} {'installed' if status == 0 else 'refused'}"


def bank(path):
    database = sqlite3.connect(path)
    database.executescript("""
        PRAGMA journal_mode = WAL;
        CREATE TABLE account (id INTEGER PRIMARY KEY, balance INT, note TEXT);
        CREATE INDEX account_balance ON account (balance);
        WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400) INSERT INTO account SELECT i, 1000, hex(randomblob(50)) FROM n;
        CREATE TABLE one (stamp INT); INSERT INTO one VALUES (0);
        CREATE TABLE two (stamp INT, columns INT); INSERT INTO two VALUES (0, 3);""")
    database.close()


def write(path, number, seed, end):
    """Transfers; one of the writers checkpoints, one vacuums, one changes the schema."""
    chance = random.Random(f"{seed} writer {number}")
    database = sqlite3.connect(path, timeout=30, isolation_level=None)
    while not end.is_set():
        try:
            database.execute("BEGIN IMMEDIATE")
            amount, pair = chance.randrange(100), [chance.randrange(1, 401) for _ in range(2)]
            database.execute("UPDATE account SET balance = balance - ?, note = ? WHERE id = ?", (amount, "n" * chance.randrange(300), pair[0]))
            database.execute("UPDATE one SET stamp = stamp + 1")
            database.execute("UPDATE account SET balance = balance + ? WHERE id = ?", (amount, pair[1]))
            if number == 0 and chance.random() < 0.2:
                [(columns,)] = database.execute("SELECT columns FROM two").fetchall()
                change = f"ADD COLUMN c{columns} INT" if columns < 6 and chance.random() < 0.6 or columns == 3 else f"DROP COLUMN c{columns - 1}"
                database.execute(f"ALTER TABLE account {change}")
                database.execute("UPDATE two SET columns = ?", (columns + (1 if change.startswith("ADD") else -1),))
            database.execute("UPDATE two SET stamp = stamp + 1")
            database.execute("COMMIT")
            if number == 1 and chance.random() < 0.2:
                database.execute(f"PRAGMA wal_checkpoint({chance.choice(['PASSIVE', 'RESTART', 'TRUNCATE'])})")
            if number == 2 and chance.random() < 0.05:
                database.execute("VACUUM")
        except sqlite3.OperationalError:
            if database.in_transaction:
                database.execute("ROLLBACK")
        time.sleep(chance.random() * 0.02)


def copies(desk, chance):
    store = desk.path("Bank.sqlite")
    bank(store)
    end = multiprocessing.Event()
    writers = [multiprocessing.Process(target=write, args=(store, number, chance.random(), end), daemon=True) for number in range(WRITERS)]
    for writer in writers:
        writer.start()
    last = -1
    try:
        while True:
            desk.run("copy", store, "--to", "out", "--as", "Copy.sqlite", "--busy-timeout", "30")
            found = query(desk.path("out/Copy.sqlite"), "SELECT sum(balance), count(*) FROM account", "SELECT stamp FROM one",
                          "SELECT stamp, columns FROM two", "PRAGMA integrity_check", "SELECT count(*) FROM pragma_table_info('account')")
            [[sums], [(one,)], [(two, columns)], state, [(seen,)]] = found
            if sums != (400_000, 400) or one != two or columns != seen or state != [("ok",)] or one < last:
                raise Flaw(f"a copy does not add up: {found}, after {last}")
            shutil.rmtree(desk.path("out"))
            yield "anew" if one > last else "unchanged"
            last = one
    finally:
        end.set()
        for writer in writers:
            writer.join()


def peer(desk, chance):
    """What the program writes the peer reads, and what the peer writes of it the program reads."""
    served = desk.path("inbox/Store.sqlite")
    before = None
    while True:
        store = random_store(desk.path("Store.sqlite"), chance)
        options = chance.choice([[], ["--plain"], ["--pad"], ["--sign"]]) + chance.choice([[], ["--level", str(chance.randrange(1, 10))]])
        # What a device has signed is no base for what none has, and an inbox keeps few generations.
        is_delta = before and "--sign" not in options and chance.random() < 0.4
        if is_delta:
            options += ["--since", "whole.shipment"]
        desk.run("send", store, "--no-remember", "--to", "./new.shipment", *options)
        consumer = Consumer()
        if before:
            consumer.give(hashlib.sha256(before).hexdigest(), before)
        with open(desk.path("new.shipment"), "rb") as file:
            consumer.walk([("producer", file.read())])
        if consumer.end != "done" or not all(each.is_installed for each in consumer.outcomes):
            raise Flaw(f"with {options} the peer says {consumer.end}, {[each.end for each in consumer.outcomes]}")
        shipment = consumer.outcomes[0].shipment
        content = bytes(shipment.contents[0])
        desk.run("receive", "--into", "inbox", "--from", "new.shipment", "--unsigned", "--replace", "Store")
        if digest(served) != hashlib.sha256(content).hexdigest():
            raise Flaw(f"with {options} the two have read different stores")
        yield "read by the peer"
        manifest = {key: value for key, value in shipment.manifest.items() if key not in ("counter", "base")}
        desk.run("receive", "--into", "other", "--from", "-", "--replace", "Store", content=shipped(manifest, content, chance))
        if digest(desk.path("other/Store.sqlite")) != digest(served):
            raise Flaw("what the peer has written was read as another store")
        yield "written by the peer"
        before = None if is_delta or "--sign" in options else content
        os.rename(desk.path("new.shipment"), desk.path("whole.shipment"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("kind", choices=["hostile", "copies", "peer", "dialogue", "paths", "together", "publications"])
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--count", type=int, help="end after so many, if that is earlier")
    options = parser.parse_args()
    work = tempfile.mkdtemp(prefix="long-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    desk = Desk(os.path.abspath(options.program), os.path.join(work, "desk"))
    started = time.monotonic()
    count, found, flaw = 0, {}, None
    kinds = {"hostile": hostile, "copies": copies, "peer": peer, "dialogue": dialogue, "paths": paths, "together": together,
             "publications": publications}
    rounds = kinds[options.kind](desk, random.Random(f"{options.seed} {options.kind}"))
    try:
        for outcomes in rounds:
            count += 1
            for outcome in [outcomes] if isinstance(outcomes, str) else outcomes:
                found[outcome] = found.get(outcome, 0) + 1
            if time.monotonic() - started > 60 * options.minutes or count == options.count:
                break
    except Flaw as error:
        flaw = error
    finally:
        rounds.close()
    told = ", ".join(f"{times} {outcome}" for outcome, times in sorted(found.items()))
    print(f"long: {options.kind}: {count} ({told}), {1 if flaw else 0} wrong, in {(time.monotonic() - started) / 60:.1f} minutes, "
          f"SEED={options.seed}")
    if flaw:
        print(f"long: {flaw}\nlong: what it was done with is in {work}")
        return 1
    shutil.rmtree(work)
    return 0


if __name__ == "__main__":
    sys.exit(main())
