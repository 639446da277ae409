"""Catalogs of publications (PUBLISHED.md 3)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from cases.heads import CHANGE, FIRST, LARGEST, MOST_STEPS, NEW_WHOLE, PUBLICATION, SECOND, WHOLE, step, without
from encoder import publication as p
from encoder.deflate import DeflateStream
from encoder.piece import Piece, Pieces, binary, compact_json, document, joined, text
from encoder.samples import CREATED_AT, Members
from encoder.vector import Vector, values

COVERS = "published 3"


def listed(counter: int = 3, content: bytes = CHANGE, base: str | None = FIRST, to: str = SECOND, **more: Any) -> Members:
    return step(counter, content, base, to, sha256=hashlib.sha256(content).hexdigest()) | more


def gone(content: bytes = b"gone", since: str = CREATED_AT) -> Members:
    return {"sha256": hashlib.sha256(content).hexdigest(), "since": since}


def said(*steps: Any, **more: Any) -> Members:
    return {"name": "Recipes", "steps": list(steps), "gone": []} | more


A_WHOLE = listed(1, WHOLE, None, FIRST)


def whole(name: str, about: str, members: Members, known: Members | None = None, file: Pieces | None = None) -> Vector:
    pieces = p.stored(document(members)) if file is None else file
    return Vector(f"catalog_{name}", about, COVERS, "catalog", None, values(members if known is None else known), [("", pieces)])


def none(name: str, about: str, file: Pieces, error: str = "bad-manifest") -> Vector:
    return Vector(f"catalog_{name}", about, COVERS, "catalog", error, [], [("", file)])


def bad(name: str, about: str, members: Members | str | bytes) -> Vector:
    return none(name, about, p.stored(document(members) if isinstance(members, dict) else text(members)))


def vectors() -> Iterator[Vector]:
    yield from good()
    yield from largest()
    yield from no_stream()
    yield from no_json()
    yield from members()
    yield from steps()


def good() -> Iterator[Vector]:
    yield whole("whole", "A whole", said(A_WHOLE))
    yield whole("steps", "A whole, and a step over it", said(A_WHOLE, listed()))
    yield whole("wholes", "Two wholes, and a step between them", said(A_WHOLE, listed(), listed(4, NEW_WHOLE, None)))
    yield whole("steps_same_number", "Two steps to one content with one number", said(listed(3), listed(3, NEW_WHOLE, None)))
    yield whole("gone", "Objects that no step needs any more", said(A_WHOLE, gone=[gone(), gone(b"too", "2026-11-20T18:00:00Z")]))
    yield whole("nothing", "No step at all", said())
    yield whole("deflated", "The same as in `catalog_steps`, with matches in the dictionary", said(A_WHOLE, listed()), file=p.deflated(joined(document(said(A_WHOLE, listed())))))
    yield whole("nulls", "null stands for an absent member", said(A_WHOLE | {"from": None}), known=said(A_WHOLE))
    yield whole("unknown_members", "Members that are not known are passed over", said(A_WHOLE | {"colour": 1.5}, gone=[gone() | {"colour": None}], colour={"a": []}), known=said(A_WHOLE, gone=[gone()]))
    ways = [
        A_WHOLE, listed(2, b"2" * 300, FIRST, "02" * 16), listed(3, b"3" * 200, "02" * 16, "03" * 16), listed(5, b"5" * 900, "02" * 16, "05" * 16),
        listed(6, b"6" * 100, "03" * 16, "05" * 16), listed(8, b"8" * 2000, None, "08" * 16), listed(9, b"9" * 250, "05" * 16, "08" * 16),
        listed(11, b"11" * 50, "08" * 16, FIRST), listed(12, b"12" * 400, "03" * 16, "0c" * 16), listed(13, b"13" * 40, FIRST, "0c" * 16),
    ]  # fmt: skip
    yield whole("ways", "Several ways, of which one is the shortest, and a content that comes again", said(*ways))


def largest() -> Iterator[Vector]:
    highest = listed(2**64 - 1, size=LARGEST)
    yield whole("largest_numbers", "The largest numbers", said(highest))
    many = [listed(each + 1, WHOLE, None, FIRST) for each in range(MOST_STEPS + 1)]
    yield none("2049_steps", "2,049 steps", p.deflated(joined(document(said(*many)))))
    yield none("2049_gone", "2,049 objects that are gone", p.deflated(joined(document(said(A_WHOLE, gone=[gone()] * (MOST_STEPS + 1))))))
    json = compact_json(said(A_WHOLE))
    for size, name in ((p.LARGEST_CATALOG, "at_limit"), (p.LARGEST_CATALOG + 1, "over_limit")):
        blocks = -(-size // (p.LONGEST_STORED_BLOCK + 5))
        file = p.stored(text(json.ljust(size - 5 * blocks)))
        assert len(joined(file)) == size
        about = f"A catalog of {size:,} bytes, with white space at the end"
        yield whole(name, about, said(A_WHOLE), file=file) if size == p.LARGEST_CATALOG else none(name, about, file)
    for size, name in ((p.LARGEST_CATALOG, "inflated_at_limit"), (p.LARGEST_CATALOG + 1, "inflated_over_limit")):
        file, about = p.deflated(json.ljust(size).encode()), f"A JSON of {size:,} bytes, with white space at the end"
        yield whole(name, about, said(A_WHOLE), file=file) if size == p.LARGEST_CATALOG else none(name, about, file)


def no_stream() -> Iterator[Vector]:
    json = document(said(A_WHOLE))
    stream = joined(p.deflated(joined(json)))
    yield none("empty", "No bytes", [], "damaged")
    yield none("stream_cut", "The stream ends a byte early", binary(stream[:-1], "deflate, cut off"), "damaged")
    yield none("stream_without_end", "No block is the last one", [p.block_header(len(joined(json)), False), *json], "damaged")
    yield none("stream_trailing_byte", "A byte after the stream", [*p.stored(json), Piece(b"\0", "one more")], "damaged")
    yield none("stream_block_type", "A block of a type that is none", binary(b"\x07" + stream[1:], "no deflate"), "damaged")
    yield none("stream_before_dictionary", "A match that reaches back to before the dictionary", binary(DeflateStream().fixed([(8, 1224)]).finished(), "a match"), "damaged")
    yield none("json_alone", "The JSON as it is, and no stream", json, "damaged")
    yield none("stream_none", "A stream of nothing", p.stored([]))


def no_json() -> Iterator[Vector]:
    json = compact_json(said(A_WHOLE))
    yield bad("json_text", "No JSON", "steps")
    yield bad("json_array", "An array instead of an object", f"[{json}]")
    yield bad("json_cut", "The JSON ends early", json[:-1])
    yield bad("json_trailing_byte", "A byte after the object", json + "!")
    yield bad("json_invalid_utf8", "A byte that is no UTF-8", json[:-1].encode() + b',"x":"\xff"}')
    yield bad("json_member_twice", "A member stands twice", json[:-1] + ',"name":"Recipes"}')
    yield bad("json_depth_33", "33 levels", json[:-1] + ',"x":' + "[" * 32 + "]" * 32 + "}")


def members() -> Iterator[Vector]:
    for name in said():
        yield bad(f"without_{name}", f"{name} is missing", without(said(A_WHOLE), name))
    yield bad("name_path", "A store's name that is a path", said(A_WHOLE, name="../Recipes"))
    yield bad("steps_null", "steps is null", said(steps=None))
    yield bad("steps_is_object", "steps is an object", said(steps=A_WHOLE))
    yield bad("gone_null", "gone is null", said(A_WHOLE, gone=None))
    yield bad("gone_digests", "Objects by their digests alone", said(A_WHOLE, gone=[PUBLICATION]))
    yield bad("gone_element_null", "null in an array", said(A_WHOLE, gone=[None]))
    yield bad("gone_without_since", "since is missing", said(A_WHOLE, gone=[without(gone(), "since")]))
    yield bad("gone_without_sha256", "The digest is missing", said(A_WHOLE, gone=[without(gone(), "sha256")]))
    yield bad("gone_63_digits", "A digest that is too short", said(A_WHOLE, gone=[gone() | {"sha256": PUBLICATION[1:]}]))
    yield bad("gone_no_such_day", "A day that there is not", said(A_WHOLE, gone=[gone(since="2026-02-29T00:00:00Z")]))


def steps() -> Iterator[Vector]:
    for name in ("to", "counter", "size", "sha256"):
        yield bad(f"step_without_{name}", f"{name} of a step is missing", said(A_WHOLE, without(listed(), name)))
    for name, about, value in (
        ("sha256_null", "The digest is null", {"sha256": None}), ("sha256_63_digits", "A digest that is too short", {"sha256": PUBLICATION[1:]}),
        ("sha256_upper_case", "A digest in upper case", {"sha256": PUBLICATION.upper()}), ("sha256_id", "An id where a digest belongs", {"sha256": FIRST}),
        ("sha256_path", "A digest that is a path", {"sha256": "../" + PUBLICATION[3:]}),
        ("from_to_itself", "From a content to itself", {"from": SECOND}), ("from_digest", "A digest where an id belongs", {"from": PUBLICATION}),
        ("to_63_digits", "Not as long as an id", {"to": PUBLICATION[1:]}), ("counter_0", "Counters begin at 1", {"counter": 0}),
        ("counter_2_64", "A counter above the highest", {"counter": 2**64}), ("size_0", "A shipment of no bytes", {"size": 0}),
        ("size_too_large", "A size above the largest", {"size": LARGEST + 1}), ("size_fraction", "A size with a fraction", {"size": 1.5}),
    ):  # fmt: skip
        yield bad(f"step_{name}", about, said(A_WHOLE, listed(**value)))
    yield bad("step_null", "null in an array", said(A_WHOLE, None))
    yield bad("steps_falling", "Numbers that fall", said(listed(3), listed(2, WHOLE, None, FIRST)))
