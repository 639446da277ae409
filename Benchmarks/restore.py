"""How long a restore of a kept copy over a live store takes, beside `sqlite3 .backup` (the state before, kept) and
`.restore`."""
import glob
import os
import shutil
import sqlite3
import subprocess
import time
from dataclasses import dataclass

from turn import Failed, content_digest


@dataclass
class Restore:
    wall: float  # seconds


def by_ship_store(program, copy, store, _):
    return [[program, "restore", copy, "--over", store, "--quiet"]]


def by_sqlite3(_, copy, store, folder):
    [file] = glob.glob(os.path.join(glob.escape(copy), "*.sqlite"))
    return [["sqlite3", store, f".backup '{folder}/before'"], ["sqlite3", store, f".restore '{file}'"]]


CONTENDERS = {"ship-store": by_ship_store, "sqlite3": by_sqlite3}


def edited(source, target):
    """A store that has gone on since the copy was taken: the state over which it is restored."""
    shutil.copyfile(source, target)
    store = sqlite3.connect(target)
    assert store.execute("PRAGMA journal_mode=WAL").fetchone() == ("wal",)
    store.execute("UPDATE entry SET body = body || ' (later)' WHERE id % 3 = 0")
    store.commit()
    store.close()


def take_turn(commands, store, expected):
    start = time.monotonic()
    for argv in commands:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode:
            raise Failed(f"exit code {done.returncode}: {done.stderr.strip()[-300:]}")
    wall = time.monotonic() - start
    if content_digest(store) != expected:
        raise Failed("the store does not have the content of the copy")
    return Restore(wall)


def measure(program, source, runs, folder, held_open, say):
    """Turns by contender; none for one that failed.

    `source` is a store at rest; `held_open` keeps a store open as its app would.
    """
    kept, before = os.path.join(folder, "kept"), os.path.join(folder, "before.sqlite")
    made = subprocess.run([program, "copy", source, "--keep-in", kept, "--quiet"], check=True, capture_output=True, text=True)
    copy, expected = made.stdout.strip(), content_digest(source)
    edited(source, before)
    turns, failed = {name: [] for name in CONTENDERS}, False
    names = list(CONTENDERS)
    for number in range(runs):
        for name in names[number % 2:] + names[:number % 2]:
            place = os.path.join(folder, "restore")
            os.mkdir(place)
            store = os.path.join(place, "journal.sqlite")
            shutil.copyfile(before, store)
            os.sync()
            try:
                with held_open(store):
                    turns[name].append(take_turn(CONTENDERS[name](program, copy, store, place), store, expected))
                say(f"restore: {name}: {turns[name][-1].wall:.3f} s")
            except Failed as failure:
                turns[name], failed = [], True
                names.remove(name)
                say(f"restore: {name}: FAILED: {failure}")
            finally:
                shutil.rmtree(place)
    return turns, failed
