#!/usr/bin/env python3
"""Holds canonical copies against SQLite: section 8 of CANONICAL.md, for stores that are made here and for those named.

    python3 Protocol/prove_canonical.py [FILE ...]
    python3 Protocol/prove_canonical.py --large     four stores over 1 GiB: minutes, and 4 GiB for temporary files

Of each store: SQLite finds no fault with its canonical form, reads the same from it as from the source, and the canonical
form of the canonical form is itself; two stores with the same rows and different pasts come to the same bytes. Needs
the command line of SQLite.
"""

from __future__ import annotations

import filecmp
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True

from canonical import written  # noqa: E402
from decoder.store.no_canonical_form import NoCanonicalForm  # noqa: E402
from made_stores import MadeStore, large_stores, made_stores  # noqa: E402

LARGE = 2**30


class Disproved(Exception):
    pass


def sqlite(path: Path, *commands: str) -> bytes:
    uri = f"file:{path}?immutable=1" if commands[0].startswith((".", "VACUUM")) else str(path)
    return subprocess.run(["sqlite3", uri, *commands], check=True, capture_output=True).stdout


def told(path: Path) -> list[bytes]:
    """What SQLite reads, in the order of bytes; of large stores where each row begins and ends."""
    if path.stat().st_size < LARGE:
        return sorted(sqlite(path, ".dump").splitlines())
    ends = "SELECT id, length(body), hex(substr(body, 1, 9)), hex(substr(body, -9)) FROM t"
    return sqlite(path, ".schema", ends, "SELECT * FROM after").splitlines()


def canonical(source: Path, folder: Path, is_legacy: bool = False) -> Path:
    """Of the compact copy of `source`, checked; a legacy one keeps schema format 1 on the way."""
    compact, found, again = (folder / f"{source.stem}.{word}" for word in ("compact", "canonical", "again"))
    sqlite(source, f".dbconfig legacy_file_format {'on' if is_legacy else 'off'}", f"VACUUM INTO '{compact}'")
    with found.open("w+b") as out:
        written(compact, out)
    with again.open("w+b") as out:
        written(found, out)
    if not filecmp.cmp(again, found, shallow=False):
        raise Disproved("the canonical form of the canonical form is another")
    verdict = sqlite(found, "PRAGMA integrity_check").decode().strip()
    if verdict != "ok":
        raise Disproved(verdict[:1000])
    if told(found) != told(source):
        raise Disproved("another dump")
    pragmas = [
        "PRAGMA auto_vacuum",
        "PRAGMA user_version",
        "PRAGMA application_id",
        "PRAGMA encoding",
        "PRAGMA page_size",
    ]
    if sqlite(found, *pragmas) != sqlite(source, *pragmas):
        raise Disproved("other settings")
    if sqlite(source, ".filectrl reserve_bytes") != sqlite(found, ".filectrl reserve_bytes"):
        raise Disproved("other reserved bytes")
    compact.unlink()
    again.unlink()
    return found


def prove(store: MadeStore, folder: Path) -> None:
    copies: list[Path] = []
    for history in range(store.histories):
        path = folder / f"{store.name}-{history}.sqlite"
        store.make(path, history)
        copies.append(canonical(path, folder, all(store.legacy)))
    if any(not filecmp.cmp(copies[0], copy, shallow=False) for copy in copies[1:]):
        raise Disproved("two pasts, two canonical forms")


def main(arguments: list[str]) -> int:
    complaints: list[str] = []
    stores = list(large_stores()) if arguments == ["--large"] else list(made_stores())
    files = [Path(argument) for argument in arguments if argument != "--large"]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        trials: list[tuple[str, Callable[[], object]]] = []
        trials += [(str(file), partial(canonical, file, folder)) for file in files]
        trials += [(store.name, partial(prove, store, folder)) for store in stores]
        for name, trial in trials:
            try:
                trial()
            except (Disproved, NoCanonicalForm, subprocess.CalledProcessError) as why:
                complaints.append(f"{name}: {why}")
            for path in folder.iterdir():
                path.unlink()
    for line in complaints:
        print(line, file=sys.stderr)
    print(f"{len(files) + len(stores)} stores, {len(complaints)} disproved")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
