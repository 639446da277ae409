"""What stores of many tables cost, each table of one row and one index: CPU of each command, as a multiple of SQLite's `VACUUM INTO`."""
import contextlib
import os
import shutil
import sqlite3
import time

from turn import Failed, Process

ALONE = "VACUUM INTO alone"
LONGEST = 300  # seconds


def make(path, tables):
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("BEGIN")
        for number in range(tables):
            database.execute(f"CREATE TABLE t{number} (id INTEGER PRIMARY KEY, v TEXT)")
            database.execute(f"CREATE INDEX x{number} ON t{number} (v)")
            database.execute(f"INSERT INTO t{number} (v) VALUES (?)", (f"row of table {number}",))
        database.execute("COMMIT")


def commands(program, source, folder):
    """In order: each may need what the one before it made."""
    shipment, inbox = os.path.join(folder, "shipment"), os.path.join(folder, "inbox")
    return {
        ALONE: ["sqlite3", source, f"PRAGMA synchronous = OFF; VACUUM INTO '{os.path.join(folder, 'vacuumed.sqlite')}'"],
        "copy": [program, "copy", source, "--to", os.path.join(folder, "copied"), "--quiet"],
        "send to a file": [program, "send", source, "--to", shipment, "--no-remember", "--quiet"],
        "receive from it": [program, "receive", "--into", inbox, "--from", shipment, "--quiet"],
        "inspect": [program, "inspect", source],
        "verify": [program, "verify", source],
    }


def measure(program, sizes, runs, folder, say):
    """CPU seconds by command, by the number of tables: the least of the runs."""
    found, failed = {}, False
    for tables in sizes:
        source = os.path.join(folder, f"{tables}.sqlite")
        make(source, tables)
        least = {}
        for _ in range(runs):
            place = os.path.join(folder, "run")
            os.mkdir(place)
            for name, argv in commands(program, source, place).items():
                try:
                    with Process(argv, os.path.join(place, f"of {name}"), {}) as process:
                        process.end(time.monotonic() + LONGEST)
                    cpu = process.side().cpu
                except Failed as failure:
                    failed = True
                    say(f"schemas: {name}: FAILED: {failure}")
                    continue
                least[name] = min(cpu, least.get(name, cpu))
            shutil.rmtree(place)
        os.remove(source)
        found[tables] = least
        say(f"schemas: {tables:,} tables: " + ", ".join(f"{name} {cpu:.2f} s" for name, cpu in least.items()))
    return found, failed


def figures(found):
    """A row for each command, a column for each number of tables."""
    lines = ["| CPU, x of `VACUUM INTO` | " + " | ".join(f"{tables:,} tables" for tables in found) + " |", "|---" * (len(found) + 1) + "|"]
    names = list(next(iter(found.values())))
    for name in names:
        cells = [f"{least[name]:.2f} s, {least[name] / max(least[ALONE], 0.01):.1f}" if name in least and ALONE in least else "-" for least in found.values()]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines
