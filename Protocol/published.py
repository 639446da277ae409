#!/usr/bin/env python3
"""Reads a publication (PUBLISHED.md): says what is published, and whether it is what it says.

    python3 Protocol/published.py PLACE                     what the head says
    python3 Protocol/published.py PLACE --check             reads every object too, and takes every step
    python3 Protocol/published.py PLACE --into DIR          follows: DIR remembers, and has the stores as DIR/NAME/COUNTER/NAME.sqlite

PLACE is a folder or a URL of http or https. `--key FILE` has the key of a recipient, in 64 digits of `0-9a-f`, where it is encrypted. `--of-all N` is the
place of who follows where a state is rolled out, 0 to 9,999. `--publisher ID`, of 64 digits, refuses heads of other devices, `--at TIME` says when now is.
The signature of a head is verified, and who has signed it is told; whether to trust them is not known here.

The exit status is 0 if all is right, 65 if something is not, 77 if the head is not for us (another publisher or publication, an older
number), 79 if it has expired, and 72 if nothing is published. It holds whole stores in memory, and shares nothing with the product's code.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

sys.dont_write_bytecode = True

from decoder import json_rules as rules  # noqa: E402
from decoder.followed import Copy, Published, former_heads, stores  # noqa: E402
from decoder.place import Missing, Place, certificates, head_of, place  # noqa: E402
from decoder.publication import ALL, Head, is_for  # noqa: E402
from decoder.publication import head as decoded_head  # noqa: E402
from decoder.refused import Refused  # noqa: E402
from decoder.sealed import Encrypted  # noqa: E402
from decoder.way import Held, cost, is_way, way  # noqa: E402
from unpack import write  # noqa: E402

WRONG, NOTHING, NOT_FOR_US, EXPIRED = 65, 72, 77, 79
READINGS = 3
"""Of the head, where an object is missing."""
Members = rules.Members


class Ended(Exception):
    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class Memory:
    """What a follower keeps of one place."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.path = folder / "followed.json" if folder else None
        self.members: dict[str, Any] = {"stores": {}}
        if self.path and self.path.exists():
            self.members = json.loads(self.path.read_text(encoding="utf-8"))

    def judge(self, at: Place, file: bytes, head: Head) -> None:
        """PUBLISHED.md 4 and 8."""
        publication, number, digest = head.members["publication"], head.members["number"], hashlib.sha256(file).hexdigest()
        publisher = self.members.get("publisher", head.publisher)
        if head.publisher != publisher and digest != self.members.get("last"):
            if head.publisher in self.members["former"]:
                self.check_number(number)
            former = former_heads(at, head, publisher)
            if not former or former[-1].publisher != publisher:
                raise Ended(NOT_FOR_US, f"another publisher than before: {head.publisher}")
            self.check_number(former[-1].members["number"])
            self.members["former"] = [each.publisher for each in former] + self.members["former"]
        if self.members.get("publication", publication) != publication:
            raise Ended(NOT_FOR_US, f"another publication than before: {publication}")
        self.check_number(number)
        if digest != self.members.get("last"):
            self.members |= {"publisher": head.publisher, "publication": publication, "number": number, "last": None}
            self.members.setdefault("former", [])
            if "next" in head.members:
                self.members |= {"publisher": head.members["next"], "former": [head.publisher, *self.members["former"]], "last": digest}
        self.keep()

    def check_number(self, number: int) -> None:
        if number < self.members.get("number", 0):
            raise Ended(NOT_FOR_US, f"an older head: number {number} after {self.members['number']}")

    def keep(self) -> None:
        if self.path:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            new = self.path.with_suffix(".new")
            new.write_text(json.dumps(self.members, indent=2) + "\n", encoding="utf-8")
            new.replace(self.path)

    def held(self, published: Published) -> Held:
        store = self.members["stores"].get(published.name)
        if not store:
            return Held()
        is_base = store["publisher"] == published.publisher or store["content"] == published.members["newest"]
        return Held(store["content"] if is_base else None, store["counter"])

    def copy(self, name: str) -> Copy | None:
        store = self.members["stores"].get(name)
        if not store or not self.folder:
            return None
        return Copy(store["manifest"], (self.folder / name / str(store["counter"]) / f"{name}.sqlite").read_bytes())

    def install(self, name: str, found: Copy, publisher: str) -> None:
        assert self.folder is not None and found.shipment is not None
        counter = found.manifest["counter"]
        write(found.shipment, self.folder / name / str(counter))
        self.members["stores"][name] = {"content": found.content, "counter": counter, "manifest": found.manifest, "publisher": publisher}
        self.keep()


def read_head(at: Encrypted, arguments: argparse.Namespace, memory: Memory) -> tuple[bytes, Head]:
    file = head_of(at)
    if file is None:
        raise Ended(NOTHING, "nothing is published")
    head = decoded_head(file, certificates(at))
    if head.members.get("sealing", {}).get("keys") != at.keys:
        raise Refused("bad-manifest", "it is encrypted with other keys than its publisher says")
    if arguments.publisher not in (None, head.publisher):
        raise Ended(NOT_FOR_US, f"published by {head.publisher}")
    memory.judge(at, file, head)
    if head.members["expires"] <= arguments.at:
        raise Ended(EXPIRED, f"what is published has expired at {head.members['expires']}")
    return file, head


def tell(file: bytes, head: Head) -> None:
    members = head.members
    print(f"publication {members['publication']}\npublisher {head.publisher}\nnumber {members['number']}")
    print(f"issued {members['issued']}, expires {members['expires']}, by {members['software']}, {len(file)} bytes")
    if "next" in members:
        print(f"from here on {members['next']} publishes")
    for halted in members["halted"]:
        print(f"{halted['name']} is halted since {halted['since']}")
    for store in members["stores"]:
        if "rollout" in store:
            print(f"{store['name']} is rolled out: " + ", ".join(f"{stage['share'] / 100}% from {stage['since']} on" for stage in store["rollout"]))
        catalog = f"a catalog of {store['catalog']['size']} bytes" if "catalog" in store else "no catalog"
        print(f"{store['name']}: {store['newest']}, number {store['counter']}, {store['size']} bytes; {catalog}, steps in the head: {len(store['steps'])}")


def faults(store: Published) -> Iterator[str]:
    """Of all steps, which are taken in their order, from nothing on."""
    copies: dict[str, Copy] = {}
    untaken: list[Members] = []
    steps, newest = store.steps(), store.members["newest"]
    last = next(store.catalogs(), None)
    known = [step for step, _ in store.in_head]
    if last is not None:
        known += last.all_steps() + (store.catalog(last.landmark).way if last.landmark else [])
    removed: list[Members] = []
    for step in steps:
        what = f"the step with number {step['counter']} from {step.get('from', 'nothing')}"
        try:
            found = store.taken(step, copies.get(step.get("from", "")))
        except Refused as refused:
            yield f"{what}: {refused}"
            continue
        except Missing:
            # A publisher may remove what is not needed to begin, and not to go on from what the other steps bring (PUBLISHED.md 3).
            if step in known:
                raise
            removed.append(step)
            continue
        if found is None:
            untaken.append(step)
            continue
        before = copies.setdefault(found.content, found)
        if before.store != found.store:
            yield f"{what}: another store than a step before with the same content"
    print(f"{store.name}: steps: {len(steps)}, of which {len(untaken)} are over what no step brings, and {len(removed)} removed; contents: {len(copies)}")
    steps = [step for step in steps if step not in removed]
    for held in [Held(), *(Held(content, copy.manifest["counter"]) for content, copy in copies.items())]:
        if held.content == newest:
            continue
        found_way = way(steps, newest, held)
        if found_way is None and held.content is None:
            yield "no way from nothing"
        elif found_way is None:
            yield f"no way from {held.content}, which came with number {held.number}"
        elif not is_way(found_way, newest, held):
            yield f"no right way from {held.content}"
    for later, earlier in pairwise(store.catalogs()):
        if later.before is not None and later.before["counter"] != earlier.end["counter"]:
            yield f"the catalog with number {earlier.end['counter']} is called {later.before['counter']}"
    if last is not None and way(known, newest, Held()) is None:
        yield "no way from nothing in the last catalog and that of its landmark"
    first = way(steps, newest, Held()) or []
    print(f"{store.name}: from nothing in steps of {' + '.join(str(step['size']) for step in first)} bytes, which count as {cost(first)}")
    if newest in copies and copies[newest].manifest["store"]["size"] != store.members["size"]:
        yield "the store is not as large as the head says"
    if [step["counter"] for step in steps if step["to"] == newest and step["counter"] != store.members["counter"]]:
        print(f"{store.name}: {newest} has come before, with another number")
    if not any((step["to"], step["counter"]) == (newest, store.members["counter"]) for step in steps):
        yield "no step with the number of the newest content brings it"


def told(store: Published) -> list[str]:
    found: list[str] = []
    try:
        found.extend(f"{store.name}: {fault}" for fault in faults(store))
    except Refused as refused:
        found.append(f"{store.name}: {refused}")
    return found


def follow(store: Published, memory: Memory, halted: bool) -> None:
    if halted:
        print(f"{store.name}: it stays as it is")
        return
    steps = store.way(memory.held(store))
    if steps is None:
        raise Refused("missing-base", f"no step leads to what is published of {store.name}")
    copy = memory.copy(store.name)
    for step in steps:
        copy = store.taken(step, copy)
        assert copy is not None
        memory.install(store.name, copy, store.publisher)
    print(f"{store.name}: {len(steps)} steps of {sum(step['size'] for step in steps)} bytes")


def run(arguments: argparse.Namespace) -> int:
    key = bytes.fromhex(arguments.key.read_text(encoding="ascii")) if arguments.key else None
    at, memory = Encrypted(place(arguments.place), key), Memory(arguments.into)
    for readings_left in reversed(range(READINGS)):
        complaints: list[str] = []
        taken: set[str] = set()
        try:
            file, head = read_head(at, arguments, memory)
            tell(file, head)
            for store in stores(at, head):
                if arguments.check:
                    complaints += told(store)
                if arguments.into and store.name not in taken and is_for(store.members, arguments.place_of_mine, arguments.at):
                    taken.add(store.name)
                    try:
                        follow(store, memory, store.name in {each["name"] for each in head.members["halted"]})
                    except Refused as refused:
                        complaints.append(f"{store.name}: {refused}")
        except Missing as missing:
            if readings_left:
                continue
            raise Ended(WRONG, f"the object {missing} is missing") from missing
        for complaint in complaints:
            print(complaint, file=sys.stderr)
        return WRONG if complaints else 0
    return WRONG


def main() -> int:
    parser = argparse.ArgumentParser(description="Reads a publication.")
    parser.add_argument("place", metavar="PLACE", help="a folder or a URL")
    parser.add_argument("--check", action="store_true", help="read every object, and take every step")
    parser.add_argument("--into", type=Path, metavar="DIR", help="follow, and keep there what is held")
    parser.add_argument("--key", type=Path, metavar="FILE", help="has the key of a recipient, as the program keeps it in decryption.key")
    parser.add_argument("--of-all", dest="place_of_mine", type=int, metavar="N", default=ALL - 1, help="the place in rollouts, from 0 on (default: the last)")
    parser.add_argument("--publisher", metavar="ID", help="refuse heads of other devices")
    parser.add_argument("--at", metavar="TIME", default=datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"))
    arguments = parser.parse_args()
    try:
        return run(arguments)
    except Ended as ended:
        print(f"{arguments.place}: {ended}", file=sys.stderr)
        return ended.status
    except (Refused, OSError) as why:
        print(f"{arguments.place}: {why}", file=sys.stderr)
        return WRONG


if __name__ == "__main__":
    sys.exit(main())
