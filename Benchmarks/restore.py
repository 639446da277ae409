"""How long a restore of a kept copy over a live store takes, beside `sqlite3 .backup` (the state before, kept) and
`.restore`; and how long an app that has the store open waits meanwhile for a commit."""
import glob
import os
import shutil
import sqlite3
import subprocess
import time
from dataclasses import dataclass

from committing import Committing
from tables import table
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


MODES = ("WAL", "DELETE", "TRUNCATE", "PERSIST")
AT_REST = 2.0  # seconds for which an app is looked at before its store is restored


@dataclass
class Wait:
    without: float  # the longest commit in seconds, while nothing else happens
    during: float   # and while the store is restored
    restore: float  # how long that took, in seconds


def take_wait(program, copy, store, mode):
    """One restore under an app that goes on committing."""
    with Committing(store, mode) as app:
        time.sleep(0.5)
        app.took()
        time.sleep(AT_REST)
        without = max(app.took(), default=0.0)
        start = time.monotonic()
        done = subprocess.run([program, "restore", copy, "--over", store, "--quiet", "--busy-timeout", "60"],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        took = time.monotonic() - start
        if done.returncode:
            raise Failed(f"exit code {done.returncode}: {done.stderr.strip()[-300:]}")
        during, commits = 0.0, 0
        while commits < 2:  # one that still waits is counted once it is done
            time.sleep(0.05)
            found = app.took()
            during, commits = max([during, *found]), len(found) if during else 0
        return Wait(without, during, took)


def measure_waits(program, source, runs, folder, say):
    """Restores under an app in each journal mode, by mode; none for one that failed."""
    kept = os.path.join(folder, "kept-for-waits")
    made = subprocess.run([program, "copy", source, "--keep-in", kept, "--quiet"], check=True, capture_output=True, text=True)
    copy, before = made.stdout.strip(), os.path.join(folder, "before-waits.sqlite")
    edited(source, before)
    waits, failed = {mode: [] for mode in MODES}, False
    for _ in range(runs):
        for mode in MODES:
            place = os.path.join(folder, "waits")
            os.mkdir(place)
            store = os.path.join(place, "journal.sqlite")
            shutil.copyfile(before, store)
            os.sync()
            try:
                waits[mode].append(take_wait(program, copy, store, mode))
                say(f"restore under an app, {mode}: its longest commit {waits[mode][-1].during:.3f} s")
            except Failed as failure:
                waits[mode], failed = [], True
                say(f"restore under an app, {mode}: FAILED: {failure}")
            finally:
                shutil.rmtree(place)
    return waits, failed


def waits_as_table(waits):
    rows = [["journal mode", "longest commit without, ms", "while restoring, ms", "the restore, ms"]]
    for mode, turns in waits.items():
        rows.append([mode, *(f"{1000 * max(getattr(turn, name) for turn in turns):,.0f}" if turns else "failed"
                             for name in ("without", "during", "restore"))])
    return table(rows)
