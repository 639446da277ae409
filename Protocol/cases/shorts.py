"""Shipments as they stand in heads and bundles (PUBLISHED.md 2)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from cases.delta_sessions import BASE, GOOD, NEW
from cases.heads import FIRST, NEW_WHOLE, SECOND, SIGNATURES, canonical, differences, shipment
from cases.one_way_deltas import over, signed
from cases.signatures import PHONE
from cases.streams import FINISH, blocks, session
from encoder.piece import Pieces, binary, joined, text
from encoder.samples import Members, content_of, manifest
from encoder.vector import Detail, Vector
from encoder.wire import DATA, MANIFEST, PADDING, frame

COVERS = "published 2"
HELD = manifest(BASE)
CHANGED = over(counter=3)
SHORT = shipment(CHANGED, GOOD, HELD)
TABLES = {name: {"rows": 1, "digest": digit * 32} for name, digit in (("herb", "a"), ("recipe", "b"), ("spoon", "c"))}


def whole_file(members: Members, frames: Any, is_signed: bool = True) -> bytes:
    """With a MANIFEST in the form of a content, where it is made of differences."""
    return joined(session(*signed(PHONE, members)[0 if is_signed else 1 :], *frames, FINISH, FINISH))


def sorted_members(members: Any) -> Any:
    return json.loads(canonical(members))


def vector(
    name: str, about: str, short: bytes, error: str | None, file: bytes | None, held: Members | None, start: str | None, signature: bytes | None
) -> Vector:
    details: list[Detail] = ([("from", start)] if start else []) + ([("file", f"{len(file)} {hashlib.sha256(file).hexdigest()}")] if file else [])
    sections: list[tuple[str, Pieces]] = [("certificate", binary(PHONE.certificate, "the certificate of the head"))]
    sections += [("base", text(content_of(held).json))] if held else []
    sections += [("signature", binary(signature[:32], "r") + binary(signature[32:], "s"))] if signature else []
    return Vector(f"short_{name}", about, COVERS, "short", error, details, [*sections, ("", binary(short, "frames"))])


def good(name: str, about: str, short: bytes, file: bytes, held: Members | None = HELD, start: str | None = FIRST) -> Vector:
    return vector(name, about, short, None, file, held, start, SIGNATURES.get(short, SIGNATURES[SHORT]))


def bad(name: str, about: str, short: bytes, held: Members | None = HELD, start: str | None = FIRST) -> Vector:
    return vector(name, about, short, "bad-manifest", None, held, start, SIGNATURES.get(short, SIGNATURES[SHORT]))


def with_differences(found: bytes) -> bytes:
    """In the place of those that are right."""
    return b"".join(joined(each)[:-4] for each in (frame(MANIFEST, binary(b"\4" + found)), *GOOD, FINISH, FINISH))


def vectors() -> Iterator[Vector]:
    file = whole_file(sorted_members(CHANGED), GOOD)
    right = differences(sorted_members(json.loads(content_of(HELD).json) | {"base": {"sha256": BASE.digest}}), CHANGED)
    yield good("whole", "A whole: all of its manifest", NEW_WHOLE, whole_file(manifest(NEW, counter=4), blocks(NEW.data)), None, None)
    yield good("whole_over_held", "A whole that comes to who holds something", NEW_WHOLE, whole_file(manifest(NEW, counter=4), blocks(NEW.data)), HELD, None)
    yield good("step", "The members that differ from what is held", SHORT, file)
    unsigned = whole_file(sorted_members(CHANGED), GOOD, False)
    yield vector("step_unsigned", "Without a signature of its own: the head's proves it", SHORT, None, unsigned, HELD, FIRST, None)
    yield good("step_all", "A step with all of its manifest", shipment(CHANGED, GOOD), whole_file(CHANGED, GOOD))
    yield good("step_all_unheld", "All of its manifest: nothing has to be held for that", shipment(CHANGED, GOOD), whole_file(CHANGED, GOOD), None)
    tables = TABLES | {"recipe": {"rows": 2, "digest": "d" * 32}}
    with_tables = over(counter=3, tables=tables, metadata={"note": "\u00e9 \\ \" / \n"})
    held = manifest(BASE, tables=TABLES)
    yield good("step_tables", "One table of three is another, and there is a member that was not", shipment(with_tables, GOOD, held), whole_file(sorted_members(with_tables), GOOD), held, content_of(held).id.hex())
    spaced = json.dumps(right, indent=1).encode()
    yield good("step_spaced", "White space, and members in another order: the manifest is in the form of a content all the same", with_differences(b" " + spaced), file)
    more = json.dumps(right | {"name": "Recipes", "store": right["store"] | {"pageSize": HELD["store"]["pageSize"]}}).encode()
    yield good("step_same_members", "Members that do not differ", with_differences(more), file)
    padded = [frame(PADDING, binary(b"\0" * 3)), *GOOD]
    yield good("step_padded", "A frame that is optional, and of no known type", shipment(CHANGED, padded, HELD), whole_file(sorted_members(CHANGED), padded))

    other = manifest(NEW)
    yield bad("step_unheld", "Nothing is held", SHORT, None)
    yield bad("step_other_held", "Another content is held", SHORT, other)
    yield bad("step_other_start", "The step begins at another content than its manifest", SHORT, HELD, SECOND)
    yield bad("step_no_start", "The step of a whole", SHORT, HELD, None)
    for name, about, found in (
        ("none", "No differences", b""), ("array", "An array in their place", b"[]"), ("cut", "They end early", canonical(right)[:-1]), ("text", "No JSON", b"!"),
        ("twice", "A member stands twice", canonical(right)[:-1] + b',"counter":3}'), ("surrogate", "Half of a character", b'{"x":"\\ud83c"}'),
        ("null", "Null", canonical(right)[:-1] + b',"x":null}'), ("null_within", "Null within a member", canonical(right)[:-1] + b',"x":{"y":[null]}}'),
    ):  # fmt: skip
        yield bad(f"differences_{name}", about, with_differences(found))
    for size, about in ((len(SHORT) - 1, "before the length of the last frame"), (3, "in the first header"), (20, "in MANIFEST")):
        yield bad(f"cut_{size}", f"It ends {about}", SHORT[:size])
    again = joined(frame(MANIFEST, binary(b"\4{}")))[:-4]
    yield bad("two_manifests", "A second MANIFEST: a few bytes that would become as many as the content has", SHORT + again)
    yield bad("unknown_frame", "A frame that a reader has to know, and does not", SHORT + b"\x7f" + bytes(4))
    yield bad("frame_too_long", "A length above the limit of its type", SHORT + bytes([DATA]) + b"\xff" * 4)
