#!/usr/bin/env python3
"""Takes a shipment out of a file: all that a producer sends in one-way mode.

    python3 Protocol/unpack.py SHIPMENT --into DIR

The store becomes DIR/NAME.sqlite, external files go to DIR/.NAME_SUPPORT, both after every check of README.md 10 that
is about bytes. A signature is verified, and who signed is told; whether to trust them is not known here. Nothing that is
there is written over. It holds the whole shipment in memory.
"""

from __future__ import annotations

import argparse
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
    parser = argparse.ArgumentParser(description="Takes a shipment out of a file.")
    parser.add_argument("shipment", type=Path, metavar="SHIPMENT")
    parser.add_argument("--into", type=Path, required=True, metavar="DIR")
    arguments = parser.parse_args()
    consumer = Consumer()
    consumer.walk([("producer", arguments.shipment.read_bytes())])
    if consumer.end != "done" or consumer.shipment is None:
        print(f"{arguments.shipment}: {consumer.end}", file=sys.stderr)
        return 65
    if consumer.signer:
        print("signed by", consumer.signer, file=sys.stderr)
    for path, line in zip(write(consumer.shipment, arguments.into), consumer.shipment.lines()):
        print(line, path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
