#!/usr/bin/env python3
"""The stores that are measured: made up, or copies of a user's own.

  stores.py generate KIND PATH MEGABYTES [SEED]   writes PATH; the same arguments give the same rows
  stores.py hold PATH                             keeps PATH open, as its app would, until stdin ends

KIND is journal, recipes, log, search, pictures, settings, visits or phone. A journal leaves its last commits in PATH-wal. An open store is not
checkpointed by whoever else closes it, so that its -wal stays as it is for every contender.
"""
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import urllib.parse

import journal
import kinds

# What is measured where a user names no store: megabytes by kind.
MADE_UP = {"journal": 4, "recipes": 4, "log": 4, "search": 4, "pictures": 4, "settings": 0.1}


def generate(kind, path, megabytes, seed=1):
    if kind == "journal":
        store = journal.generate(path, megabytes, seed)
        assert store
    else:
        kinds.generate(kind, path, megabytes, seed)
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


def made(kind, megabytes, folder, seed=1):
    """The path of a new store of that kind, made by a process of its own."""
    path = os.path.join(folder, f"{kind}-{megabytes:g}.sqlite")
    subprocess.run([sys.executable, os.path.abspath(__file__), "generate", kind, path, str(megabytes), str(seed)], check=True)
    return path


def copied(source, folder):
    """The path of a copy of a user's store at rest, with its -wal and its external files."""
    stem = os.path.splitext(os.path.basename(source))[0]
    name = re.sub(r"[^A-Za-z0-9._-]", "_", stem)
    path = os.path.join(folder, name + ".sqlite")
    number = 1
    while os.path.exists(path):
        number += 1
        path = os.path.join(folder, f"{name}-{number}.sqlite")
    shutil.copyfile(source, path)
    if os.path.exists(source + "-wal"):
        shutil.copyfile(source + "-wal", path + "-wal")
    support = os.path.join(os.path.dirname(source), f".{stem}_SUPPORT")
    if os.path.isdir(support):
        shutil.copytree(support, os.path.join(folder, f".{os.path.basename(path)[:-7]}_SUPPORT"))
    return path


def chosen(paths, folder):
    """Names and paths of copies of the user's stores, or of made-up ones if there are none."""
    for source in paths:
        path = copied(source, folder)
        yield os.path.basename(path)[:-7], path
    for kind, megabytes in {} if paths else MADE_UP.items():
        yield kind, made(kind, megabytes, folder)


def most_indexed_rows(path):
    """Rows of the largest table that has an index, with which the memory that sorting may take grows."""
    store = sqlite3.connect(f"file:{urllib.parse.quote(os.path.abspath(path))}?mode=ro", uri=True)  # its -wal stays
    names = [name for name, in store.execute(
        "SELECT DISTINCT tbl_name FROM sqlite_schema WHERE type = 'index' AND rootpage <> 0")]
    counts = [store.execute('SELECT count(*) FROM "%s"' % name.replace('"', '""')).fetchone()[0] for name in names]
    store.close()
    return max(counts, default=0)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["generate", kind, path, megabytes, *seed]: generate(kind, path, float(megabytes), *map(int, seed))
        case ["hold", path]: hold(path)
        case _: sys.exit(__doc__)
