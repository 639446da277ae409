"""PUBLISHED.md 2 and 3: reads heads and catalogs."""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from decoder import json_rules as rules
from decoder.json_rules import Members, array, digest, integer, label, members, no, pattern, store_name, timestamp
from decoder.refused import Refused
from decoder.signature import LONGEST_CERTIFICATE, VALUE_SIZE, signer_of
from decoder.wire import DICTIONARY

WORDS = (Path(__file__).resolve().parent.parent / "publication-dictionary.txt").read_text(encoding="ascii").splitlines()
WINDOW = DICTIONARY + b"".join(bytes.fromhex(line) if re.fullmatch("[0-9a-f]+", line) else line.encode() for line in WORDS)
MAGIC, OUR_VERSION = b"SHIPHEAD", 1
SIGNED_BEFORE = b"ship-store publication head v1"
ID_SIZE = 32
FIELDS = len(MAGIC) + 1 + ID_SIZE + VALUE_SIZE
MARK, CODES, AGAIN, FIRST_AGAIN = 0x22, {b"!": 16, b"#": 32, b"$": 64}, b"%", 0x30
LARGEST_HEAD, LARGEST_CONTENT = 262_144, 1_048_576
LARGEST_CATALOG = LARGEST_BUNDLE = 65_536
MOST_STORES, MOST_STEPS, MOST_FORMER, MOST_STATES, MOST_STAGES, ALL = 1024, 256, 16, 4, 16, 10_000

content_id = pattern("[0-9a-f]{32}")
number = integer(1, 2**64 - 1)
STEP = {"to": content_id, "counter": number, "size": integer(1, rules.LARGEST_STORE)}
FROM = {"from": content_id}
SIGNATURE = {"signature": pattern("[0-9a-f]{128}")}


def with_shipment_in_head(value: Any) -> Members:
    step: Members = members(STEP, FROM | {"sha256": digest} | SIGNATURE)(value)
    if "sha256" in step:
        raise no("the shipment of a step in a head stands in the head")
    return step


def single(value: Any) -> Members:
    step: Members = members(STEP | FROM, {"sha256": digest} | SIGNATURE)(value)
    if "sha256" in step and "signature" in step:
        raise no("a signature beside an object, which has its own")
    return step


def steps(step: rules.Rule) -> rules.Rule:
    def rule(value: Any) -> list[Members]:
        found: list[Members] = array(step, MOST_STEPS)(value)
        if any(later["counter"] < earlier["counter"] for earlier, later in zip(found, found[1:])):
            raise no("numbers that fall")
        if any(each["to"] == each.get("from") for each in found):
            raise no("a step that leads nowhere")
        return found

    return rule


def rollout(value: Any) -> list[Members]:
    found: list[Members] = array(members({"share": integer(1, ALL), "since": timestamp}), MOST_STAGES)(value)
    if not found:
        raise no("no stages")
    if any(later["share"] <= earlier["share"] or later["since"] < earlier["since"] for earlier, later in zip(found, found[1:])):
        raise no("stages that do not rise")
    return found


STORE = members(
    {"name": store_name, "newest": content_id, "counter": number, "asOf": timestamp, "size": integer(0, rules.LARGEST_STORE), "steps": steps(with_shipment_in_head)},
    {"catalog": members({"sha256": digest, "size": integer(1, LARGEST_CATALOG)}), "rollout": rollout},
)
HALTED = members({"name": store_name, "since": timestamp})
HEAD = members({
    "publication": digest, "number": number, "software": label, "issued": timestamp, "expires": timestamp,
    "halted": array(HALTED, MOST_STORES), "stores": array(STORE, MOST_STORES),
}, {"next": digest, "sealing": members({"keys": digest, "recipients": digest}), "before": members({"sha256": digest, "size": integer(1, LARGEST_HEAD)})})  # fmt: skip
CATALOG_LINK = members({"sha256": digest, "size": integer(1, LARGEST_CATALOG), "counter": number})
LINKED = members(STEP | FROM | {"sha256": digest, "catalog": CATALOG_LINK})
CATALOG = members(
    {"name": store_name, "leaps": steps(LINKED), "skips": steps(LINKED), "steps": steps(single)},
    {
        "whole": members(STEP | {"sha256": digest}, FROM), "before": CATALOG_LINK,
        "bundle": members({"sha256": digest, "size": integer(1, LARGEST_BUNDLE)}),
    },
)  # fmt: skip


@dataclass(frozen=True)
class Head:
    publisher: str
    """The id of the device that has signed it, in hexadecimal."""
    certificate: bytes
    members: Members
    shipments: list[bytes]
    """The frames of all steps of all stores, in their order."""

    def with_shipments(self) -> Iterator[tuple[Members, list[tuple[Members, bytes]]]]:
        """Each store, and its steps with their shipments."""
        rest = iter(self.shipments)
        for store in self.members["stores"]:
            yield store, [(step, next(rest)) for step in store["steps"]]


def head(file: bytes, certificate: Callable[[str], bytes]) -> Head:
    """`certificate` reads the object that has this name."""
    if len(file) > LARGEST_HEAD:
        raise no("too long")
    if not file.startswith(MAGIC):
        raise no("no head")
    if file[len(MAGIC) : len(MAGIC) + 1] not in (b"", bytes([OUR_VERSION])):
        raise Refused("version-not-supported", f"version {file[len(MAGIC)]}")
    if len(file) < FIELDS:
        raise Refused("damaged", "it ends within its fields")
    content = unpacked(file[FIELDS:])
    json, frames = sized(content)
    publisher = file[len(MAGIC) + 1 :][:ID_SIZE].hex()
    own = certificate(publisher)
    if len(own) > LONGEST_CERTIFICATE or hashlib.sha256(own).hexdigest() != publisher:
        raise Refused("damaged", "the publisher's certificate is another one")
    signer_of(SIGNED_BEFORE, content, file[FIELDS - VALUE_SIZE : FIELDS], own)
    known = HEAD(rules.parsed(json))
    halted = [store["name"] for store in known["halted"]]
    if any(later <= earlier for earlier, later in zip(halted, halted[1:])):
        raise no("names that do not rise")
    check_states(known["stores"])
    return Head(publisher, own, known, shorts([step for store in known["stores"] for step in store["steps"]], frames))


def check_states(stores: list[Members]) -> None:
    for newer, older in zip(stores, stores[1:]):
        if older["name"] < newer["name"]:
            raise no("names that do not rise")
        if older["name"] == newer["name"] and (older["counter"] >= newer["counter"] or "rollout" not in newer):
            raise no("numbers that do not fall, or a state for all before another one")
    if any(first["name"] == last["name"] for first, last in zip(stores, stores[MOST_STATES:])):
        raise no("too many states of a store")


def is_for(store: Members, place: int, now: str) -> bool:
    """PUBLISHED.md 10: whether a follower at this place takes it."""
    if "rollout" not in store:
        return True
    return next((stage["since"] <= now for stage in store["rollout"] if place < stage["share"]), False)


@dataclass(frozen=True)
class Catalog:
    members: Members

    @property
    def name(self) -> str:
        found: str = self.members["name"]
        return found

    @property
    def way(self) -> list[Members]:
        """From the whole, or from a landmark."""
        return [*([self.members["whole"]] if "whole" in self.members else []), *self.members["leaps"]]

    @property
    def end(self) -> Members:
        """A step that brings the catalog's content."""
        return self.way[-1]

    @property
    def before(self) -> Members | None:
        skips = self.members["skips"]
        found: Members | None = skips[-1]["catalog"] if skips else self.members.get("before")
        return found

    @property
    def landmark(self) -> Members | None:
        """The link to the catalog of the last landmark, if this is none."""
        found: Members | None = None if "whole" in self.members else self.members["skips"][0]["catalog"]
        return found

    def all_steps(self) -> list[Members]:
        return [*self.way, *self.members["skips"], *self.members["steps"]]

    def shipments(self, bundle: bytes) -> Iterator[tuple[Members, bytes]]:
        """Those of the steps that have no object of their own."""
        bundled = [step for step in self.members["steps"] if "sha256" not in step]
        if len(bundle) < ID_SIZE:
            raise Refused("damaged", "it ends within the publisher's id")
        return iter(zip(bundled, shorts(bundled, unpacked(bundle[ID_SIZE:]))))


def catalog(file: bytes) -> Catalog:
    if len(file) > LARGEST_CATALOG:
        raise no("too long")
    known: Members = CATALOG(rules.parsed(unpacked(file)))
    leaps, skips = known["leaps"], known["skips"]
    if "whole" in known:
        if "from" in known["whole"]:
            raise no("a whole that needs something")
        if leaps and not follows(leaps[0], known["whole"]):
            raise no("leaps that do not begin at the whole")
    elif not leaps:
        raise no("neither a whole nor a leap")
    if any(not follows(later, earlier) for chain in (leaps, skips) for earlier, later in zip(chain, chain[1:])):
        raise no("leaps or skips that do not follow")
    if any(step["counter"] <= step["catalog"]["counter"] for step in leaps + skips):
        raise no("a step from a catalog that is not older")
    if bool(leaps) != bool(skips):
        raise no("leaps without skips, or skips without leaps")
    if skips and not any(all(leap[member] == skips[0][member] for member in ("from", "catalog")) for leap in leaps):
        raise no("skips that begin where no leap does")
    if leaps and any(skips[-1][member] != leaps[-1][member] for member in ("to", "counter")):
        raise no("skips that end elsewhere than the last leap")
    if skips and "before" in known:
        raise no("a catalog before, beside skips")
    if any("sha256" not in step for step in known["steps"]) != ("bundle" in known):
        raise no("a bundle without steps, or steps without a bundle")
    found = Catalog(known)
    if len(found.all_steps()) > MOST_STEPS:
        raise no("too many steps")
    return found


def follows(later: Members, earlier: Members) -> bool:
    return bool(later["from"] == earlier["to"] and later["catalog"]["counter"] == earlier["counter"])


def shorts(steps: list[Members], frames: bytes) -> list[bytes]:
    """The frames of the steps whose shipments stand beside others."""
    sizes = [step["size"] for step in steps]
    if sum(sizes) != len(frames):
        raise no("more or less than the shipments of the steps")
    return list(cut(frames, sizes))


def cut(bytes: bytes, sizes: list[int]) -> Iterator[bytes]:
    start = 0
    for size in sizes:
        yield bytes[start : start + size]
        start += size


def unpacked(file: bytes) -> bytes:
    """What a stream inflates to, with what it brings behind it."""
    decoder = zlib.decompressobj(-15, zdict=WINDOW)
    try:
        text = decoder.decompress(file, LARGEST_CONTENT + 1)
    except zlib.error as error:
        raise Refused("damaged", str(error)) from error
    if len(text) > LARGEST_CONTENT:
        raise no("it inflates to too much")
    if not decoder.eof:
        raise Refused("damaged", "the stream does not end")
    return completed(text, decoder.unused_data)


def completed(text: bytes, values: bytes) -> bytes:
    found, at = bytearray(), 0
    strings: list[bytes] = []
    while at < len(text):
        mark = text.find(MARK, at)
        end = len(text) if mark < 0 else mark + 1
        found += text[at:end]
        check_length(found)
        code, at = text[end : end + 1], end
        if mark < 0 or code not in (*CODES, AGAIN, b"&"):
            code = b""
        at += len(code)
        if code in CODES:
            if len(values) < CODES[code]:
                raise Refused("damaged", "fewer bytes behind the stream than it brings")
            strings.append(values[: CODES[code]].hex().encode() + b'"')
            values = values[CODES[code] :]
        elif code == AGAIN:
            before = text[at] - FIRST_AGAIN if at < len(text) else 0
            if not 0 < before <= len(strings):
                raise Refused("damaged", "a string that has not come before")
            strings.append(strings[-before])
            at += 1
        if code in (*CODES, AGAIN):
            found += strings[-1]
            check_length(found)
    if values:
        raise Refused("damaged", "bytes behind the stream that nothing brings")
    return bytes(found)


def check_length(content: bytearray) -> None:
    if len(content) > LARGEST_CONTENT:
        raise no("it becomes too much")


def sized(content: bytes) -> tuple[bytes, bytes]:
    """What has its size before it, and what follows it."""
    end = 4 + int.from_bytes(content[:4], "big")
    if len(content) < 4 or len(content) < end:
        raise no("less than its size says")
    return content[4:end], content[end:]
