#!/usr/bin/env python3
"""Takes the shipments out of a file: all that a producer sends in one-way mode.

    python3 Protocol/unpack.py FILE --into DIR [--base STORE]...

The store becomes DIR/NAME.sqlite, external files go to DIR/.NAME_SUPPORT; if there are several shipments, those of each go
to a folder of their own in DIR: 1, 2 and so on, in their order. All is done after every check of README.md 10 that is about
bytes. A signature is verified, and who signed is told; whether to trust them is not known here. Nothing that is there is
written over. What is refused, and where the session fails, is told, and the exit status is then 65; the other shipments are
there all the same. It holds all of them in memory.

A store may come as a delta over another one (README.md 4.12), which is then given with `--base`, or came in the same file before it. It is known by its SHA-256.
Where it is not there the shipment is refused (`missing-base`), and the digest is told that it needs.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from pathlib import Path

sys.dont_write_bytecode = True

from decoder.shipment import Shipment  # noqa: E402
from decoder.sides import Consumer  # noqa: E402


def write(shipment: Shipment, folder: Path) -> list[Path]:
    name = shipment.manifest["name"]
    paths = [folder / f"{name}.sqlite"]
    for file in shipment.manifest.get("externalFiles", []):
        paths.append(folder / f".{name}_SUPPORT" / file["folder"] / file["name"])
    for path, content in zip(paths, shipment.contents):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(content)
    return paths


def main() -> int:
    parser = argparse.ArgumentParser(description="Takes the shipments out of a file.")
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--into", type=Path, required=True, metavar="DIR")
    parser.add_argument("--base", type=Path, action="append", default=[], metavar="STORE", help="a store that a delta may refer to")
    arguments = parser.parse_args()
    consumer = Consumer()
    for path in arguments.base:
        store = path.read_bytes()
        consumer.give(hashlib.sha256(store).hexdigest(), store)
    consumer.walk([("producer", arguments.file.read_bytes())])
    for number, outcome in enumerate(consumer.outcomes, start=1):
        if not outcome.is_installed:
            print(f"{arguments.file}: {outcome.shipment.name} {outcome.end}", file=sys.stderr)
            if outcome.end == "refused missing-base":
                print(f"--base with the store of SHA-256 {outcome.shipment.manifest['base']['sha256']} is needed", file=sys.stderr)
            continue
        if outcome.signer:
            print(f"{outcome.shipment.name} is signed by {outcome.signer}", file=sys.stderr)
        folder = arguments.into / str(number) if len(consumer.outcomes) > 1 else arguments.into
        for path, line in zip(write(outcome.shipment, folder), outcome.shipment.lines()):
            print(line, path)
    if consumer.end != "done":
        print(f"{arguments.file}: {consumer.end}", file=sys.stderr)
    is_whole = all(outcome.end in ("installed", "unchanged") for outcome in consumer.outcomes)
    return 0 if consumer.end == "done" and is_whole else 65


if __name__ == "__main__":
    sys.exit(main())
