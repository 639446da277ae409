"""Catalogs of publications (PUBLISHED.md 3)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from cases.heads import CHANGE, FIRST, LARGEST, MOST_STEPS, NEW_WHOLE, PUBLICATION, SECOND, WHOLE, step, without
from encoder import publication as p
from encoder.deflate import DeflateStream
from encoder.piece import Piece, Pieces, binary, compact_json, document, joined, text
from encoder.samples import Members
from encoder.vector import Vector, values

COVERS = "published 3"


def listed(counter: int = 3, content: bytes = CHANGE, base: str | None = FIRST, to: str = SECOND, **more: Any) -> Members:
    return step(counter, content, base, to, sha256=hashlib.sha256(content).hexdigest()) | more


def said(*steps: Any, whole: Any = None, leaps: Any = (), skips: Any = (), **more: Any) -> Members:
    """Of steps, those after the whole."""
    return {"name": "Recipes", "whole": A_WHOLE if whole is None else whole, "leaps": list(leaps), "skips": list(skips), "steps": list(steps)} | more


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


BEFORE = {"sha256": hashlib.sha256(b"the catalog before").hexdigest(), "size": 321}


def id_of_number(number: int) -> str:
    return f"{number:02}" * 16


def chain(*numbers: int, start: str = FIRST) -> list[Members]:
    """Steps from one content to the next."""
    ids = [start, *(id_of_number(number) for number in numbers)]
    return [listed(number, bytes([number % 256]) * number * 10, base, to) for number, base, to in zip(numbers, ids, ids[1:])]


def good() -> Iterator[Vector]:
    yield whole("whole", "A whole", said())
    yield whole("before", "A whole that was made anew, and the catalog before", said(listed(3, CHANGE, SECOND, FIRST), before=BEFORE))
    yield whole("steps", "A skip, and single steps beside it", said(*chain(2, 3), skips=[listed(3, NEW_WHOLE, FIRST, id_of_number(3))], before=BEFORE))
    leaps, skips = chain(10, 20), chain(21, 23, 29, start=id_of_number(20))
    yield whole("leaps", "Leaps and skips", said(*chain(25, 27, start=id_of_number(23)), leaps=leaps, skips=skips, before=BEFORE))
    yield whole("landmark", "A landmark: the skip to it is among the steps", said(*chain(15, start=id_of_number(14)), leaps=[listed(15, NEW_WHOLE, FIRST, id_of_number(15))], before=BEFORE))
    yield whole("steps_same_number", "Two steps to one content with one number", said(listed(3, NEW_WHOLE, id_of_number(9)), skips=[listed(3)]))
    yield whole("deflated", "The same as in `catalog_leaps`, with matches in the dictionary", said(leaps=leaps, skips=skips), file=p.deflated(joined(document(said(leaps=leaps, skips=skips)))))
    yield whole("nulls", "null stands for an absent member", said(whole=A_WHOLE | {"from": None}, before=None), known=said())
    yield whole("unknown_members", "Members that are not known are passed over", said(whole=A_WHOLE | {"colour": 1.5}, before=BEFORE | {"colour": None}, colour={"a": []}), known=said(before=BEFORE))
    ways = [
        listed(2, b"2" * 300, FIRST, "02" * 16), listed(3, b"3" * 200, "02" * 16, "03" * 16), listed(5, b"5" * 900, "02" * 16, "05" * 16),
        listed(6, b"6" * 100, "03" * 16, "05" * 16), listed(9, b"9" * 250, "05" * 16, "08" * 16),
        listed(11, b"11" * 50, "08" * 16, FIRST), listed(12, b"12" * 400, "03" * 16, "0c" * 16), listed(13, b"13" * 40, FIRST, "0c" * 16),
    ]  # fmt: skip
    yield whole("ways", "Several ways, of which one is the shortest, and a content that comes again", said(*ways))


def largest() -> Iterator[Vector]:
    highest = listed(2**64 - 1, size=LARGEST)
    yield whole("largest_numbers", "The largest numbers", said(highest))
    many = chain(*range(2, MOST_STEPS + 2))
    yield none("257_steps", "257 steps, with the whole", p.deflated(joined(document(said(*many)))))
    yield none("257_leaps", "257 steps of all kinds together", p.deflated(joined(document(said(*many[200:], leaps=many[:100], skips=many[100:200])))))
    json = compact_json(said())
    for size, name in ((p.LARGEST_CATALOG, "at_limit"), (p.LARGEST_CATALOG + 1, "over_limit")):
        blocks = -(-size // (p.LONGEST_STORED_BLOCK + 5))
        file = p.stored(text(json.ljust(size - 5 * blocks)))
        assert len(joined(file)) == size
        about = f"A catalog of {size:,} bytes, with white space at the end"
        yield whole(name, about, said(), file=file) if size == p.LARGEST_CATALOG else none(name, about, file)
    for size, name in ((p.LARGEST_CONTENT, "inflated_at_limit"), (p.LARGEST_CONTENT + 1, "inflated_over_limit")):
        file, about = p.deflated(json.ljust(size).encode()), f"A JSON of {size:,} bytes, with white space at the end"
        yield whole(name, about, said(), file=file) if size == p.LARGEST_CONTENT else none(name, about, file)


def no_stream() -> Iterator[Vector]:
    json = document(said())
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
    json = compact_json(said())
    yield bad("json_text", "No JSON", "steps")
    yield bad("json_array", "An array instead of an object", f"[{json}]")
    yield bad("json_cut", "The JSON ends early", json[:-1])
    yield bad("json_trailing_byte", "A byte after the object", json + "!")
    yield bad("json_invalid_utf8", "A byte that is no UTF-8", json[:-1].encode() + b',"x":"\xff"}')
    yield bad("json_member_twice", "A member stands twice", json[:-1] + ',"name":"Recipes"}')
    yield bad("json_depth_33", "33 levels", json[:-1] + ',"x":' + "[" * 32 + "]" * 32 + "}")


def members() -> Iterator[Vector]:
    for name in said():
        yield bad(f"without_{name}", f"{name} is missing", without(said(), name))
    yield bad("name_path", "A store's name that is a path", said(name="../Recipes"))
    for name in ("leaps", "skips", "steps"):
        yield bad(f"{name}_null", f"{name} is null", said() | {name: None})
        yield bad(f"{name}_is_object", f"{name} is an object", said() | {name: listed()})
        yield bad(f"{name}_with_whole", f"A whole among {name}", said() | {name: [listed(3, NEW_WHOLE, None)]})
    yield bad("whole_null", "whole is null", said() | {"whole": None})
    yield bad("whole_over_something", "The whole begins at a content", said(whole=listed()))
    yield bad("leaps_from_elsewhere", "The first leap does not begin at the whole's content", said(leaps=chain(10, start=SECOND)))
    yield bad("leaps_apart", "A leap does not begin where the one before it ends", said(leaps=chain(10) + chain(20, start=id_of_number(11))))
    yield bad("leaps_same_number", "Two leaps with one number", said(leaps=chain(10) + [chain(10)[0] | {"from": id_of_number(10), "to": id_of_number(20)}]))
    yield bad("skips_from_whole", "The first skip begins at the whole's content, and not at the last landmark", said(leaps=chain(10), skips=chain(12)))
    yield bad("skips_before_leaps", "A skip has a lower number than the last leap", said(leaps=chain(10), skips=chain(9, start=id_of_number(10))))
    yield bad("before_is_digest", "The catalog before by its digest alone", said(before=PUBLICATION))
    yield bad("before_size_0", "A catalog before of no bytes", said(before=BEFORE | {"size": 0}))
    yield bad("before_too_large", "A catalog before that is too large", said(before=BEFORE | {"size": p.LARGEST_CATALOG + 1}))


def steps() -> Iterator[Vector]:
    for name in ("to", "from", "counter", "size", "sha256"):
        yield bad(f"step_without_{name}", f"{name} of a step is missing", said(without(listed(), name)))
    for name, about, value in (
        ("sha256_null", "The digest is null", {"sha256": None}), ("sha256_63_digits", "A digest that is too short", {"sha256": PUBLICATION[1:]}),
        ("sha256_upper_case", "A digest in upper case", {"sha256": PUBLICATION.upper()}), ("sha256_id", "An id where a digest belongs", {"sha256": FIRST}),
        ("sha256_path", "A digest that is a path", {"sha256": "../" + PUBLICATION[3:]}),
        ("from_to_itself", "From a content to itself", {"from": SECOND}), ("from_digest", "A digest where an id belongs", {"from": PUBLICATION}),
        ("to_63_digits", "Not as long as an id", {"to": PUBLICATION[1:]}), ("counter_0", "Counters begin at 1", {"counter": 0}),
        ("counter_2_64", "A counter above the highest", {"counter": 2**64}), ("size_0", "A shipment of no bytes", {"size": 0}),
        ("size_too_large", "A size above the largest", {"size": LARGEST + 1}), ("size_fraction", "A size with a fraction", {"size": 1.5}),
    ):  # fmt: skip
        yield bad(f"step_{name}", about, said(listed(**value)))
    yield bad("step_null", "null in an array", said(None))
    yield bad("steps_falling", "Numbers that fall", said(listed(3), listed(2, NEW_WHOLE, id_of_number(9))))
