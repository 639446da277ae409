#!/usr/bin/env python3
"""Holds canonical copies against SQLite: section 8 of CANONICAL.md, for stores that are made here and for those named.

    python3 Protocol/prove_canonical.py [FILE ...]

Of each store: SQLite finds no fault with its canonical form, reads the same from it as from the source, and the canonical form
of the canonical form is itself; two stores with the same rows and different pasts come to the same bytes. Needs the
command line of SQLite.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True

from canonical import written  # noqa: E402
from decoder.store.no_canonical_form import NoCanonicalForm  # noqa: E402
from made_stores import made_stores  # noqa: E402


class Disproved(Exception):
    pass


def sqlite(path: Path, *commands: str) -> bytes:
    uri = f"file:{path}?immutable=1" if commands[0].startswith((".", "VACUUM")) else str(path)
    return subprocess.run(["sqlite3", uri, *commands], check=True, capture_output=True).stdout


def canonical(source: Path, folder: Path) -> Path:
    """Of the compact copy of `source`, checked."""
    compact, found, again = (folder / f"{source.stem}.{word}" for word in ("compact", "canonical", "again"))
    sqlite(source, f"VACUUM INTO '{compact}'")
    with found.open("w+b") as out:
        written(compact, out)
    with again.open("w+b") as out:
        written(found, out)
    if again.read_bytes() != found.read_bytes():
        raise Disproved("the canonical form of the canonical form is another")
    verdict = sqlite(found, "PRAGMA integrity_check").decode().strip()
    if verdict != "ok":
        raise Disproved(verdict)
    if sorted(sqlite(found, ".dump").splitlines()) != sorted(sqlite(source, ".dump").splitlines()):
        raise Disproved("another dump")
    pragmas = ["PRAGMA auto_vacuum", "PRAGMA user_version", "PRAGMA application_id", "PRAGMA encoding", "PRAGMA page_size"]
    if sqlite(found, *pragmas) != sqlite(source, *pragmas):
        raise Disproved("other settings")
    if sqlite(source, ".filectrl reserve_bytes") != sqlite(found, ".filectrl reserve_bytes"):
        raise Disproved("other reserved bytes")
    compact.unlink()
    again.unlink()
    return found


def main(files: list[Path]) -> int:
    bad = count = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in files:
            count += 1
            try:
                canonical(file, folder)
            except (Disproved, NoCanonicalForm, subprocess.CalledProcessError) as why:
                bad += 1
                print(f"{file}: {why}", file=sys.stderr)
        for store in made_stores():
            count += 1
            try:
                copies: list[bytes] = []
                for history in range(store.histories):
                    path = folder / f"{store.name}-{history}.sqlite"
                    store.make(path, history)
                    copies.append(canonical(path, folder).read_bytes())
                if len(set(copies)) != 1:
                    raise Disproved("two pasts, two canonical forms")
            except (Disproved, NoCanonicalForm, subprocess.CalledProcessError) as why:
                bad += 1
                print(f"{store.name}: {why}", file=sys.stderr)
            for path in folder.iterdir():
                path.unlink()
    print(f"{count} stores, {bad} disproved")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main([Path(argument) for argument in sys.argv[1:]]))
