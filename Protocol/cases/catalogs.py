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
    return without(step(counter, content, base, to, sha256=hashlib.sha256(content).hexdigest()), "signature") | more


def said(*steps: Any, leaps: Any = (), skips: Any = (), **more: Any) -> Members:
    """Of a landmark; of steps those beside its way."""
    return {"name": "Recipes", "whole": A_WHOLE, "leaps": list(leaps), "skips": list(skips), "steps": list(steps)} | more


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
    yield from chains()
    yield from links()
    yield from steps()


BEFORE = {"sha256": hashlib.sha256(b"the catalog before").hexdigest(), "size": 321, "counter": 1}


def id_of_number(number: int) -> str:
    return f"{number:02}" * 16


def chain(*numbers: int, start: str = FIRST) -> list[Members]:
    """Steps from one content to the next."""
    ids = [start, *(id_of_number(number) for number in numbers)]
    return [listed(number, bytes([number % 256]) * number * 10, base, to) for number, base, to in zip(numbers, ids, ids[1:])]


def link(counter: int) -> Members:
    return {"sha256": hashlib.sha256(f"a catalog {counter}".encode()).hexdigest(), "size": 300 + counter, "counter": counter}


def linked(before: int, *numbers: int, start: str | None = None) -> list[Members]:
    """The same, each from a catalog, the first from that with the number `before`."""
    first = (FIRST if before == 1 else id_of_number(before)) if start is None else start
    return [step | {"catalog": link(number)} for step, number in zip(chain(*numbers, start=first), (before, *numbers))]


def common(*steps: Any, skips: Any = (), leap: Any = None, **more: Any) -> Members:
    """Of a content that is no landmark, three skips after one."""
    found = said(*steps, leaps=[leap or linked(20, 29)[0]], skips=list(skips) or linked(20, 21, 23, 29)) | more
    return without(found, "whole")


LANDMARK = {"leaps": linked(1, 10, 20), "skips": linked(10, 12, 15, 20)}
"""With two leaps, and the skips along the second one."""
BUNDLED = [without(each, "sha256") for each in chain(25, 27, start=id_of_number(23))]
BUNDLE = {"sha256": hashlib.sha256(b"a bundle").hexdigest(), "size": 520}


def good() -> Iterator[Vector]:
    yield whole("whole", "A whole", said())
    yield whole("before", "A whole that was made anew, the catalog before, and the skip from there", said(listed(3, CHANGE, SECOND, FIRST), before=BEFORE))
    yield whole("landmark", "A landmark: two leaps, and the skips along the second one", said(*chain(17, 18, start=id_of_number(15)), **LANDMARK))
    yield whole("leap", "The last landmark, and the leap from there", common(*chain(25, 27, start=id_of_number(23))))
    yield whole("leaps", "Two leaps from the last landmark", common() | {"leaps": linked(20, 23, 29)})
    yield whole("leaps_before", "A leap to the last landmark from the one before, and the leap from there", common() | {"leaps": linked(10, 20, 29)})
    yield whole("leap_is_skip", "The catalog right after a landmark: the skip is the leap", common(skips=linked(20, 29)))
    yield whole("bundle", "Single steps whose shipments are in one object", common(*BUNDLED, bundle=BUNDLE))
    last_signed = [BUNDLED[0], BUNDLED[1] | {"signature": "5f" * 64}]
    yield whole("bundle_last_signed", "The last of its steps has a signature", common(*last_signed, bundle=BUNDLE))
    mixed = [*chain(22, 24, start=id_of_number(21)), *BUNDLED[:1], *chain(28, start=id_of_number(27))]
    yield whole("bundle_and_objects", "One that is in a bundle between two that are not", common(*mixed, bundle=BUNDLE | {"size": 250}))
    yield whole("steps_same_number", "Two steps to one content with one number", said(listed(3), listed(3, NEW_WHOLE, id_of_number(9))))
    deflated = p.deflated(joined(document(common(*BUNDLED, bundle=BUNDLE))))
    yield whole("deflated", "The same as in `catalog_bundle`, with matches in the dictionary", common(*BUNDLED, bundle=BUNDLE), file=deflated)
    nulls = said(listed(3)) | {"before": None, "bundle": None} | {"whole": A_WHOLE | {"from": None}}
    yield whole("nulls", "null stands for an absent member", nulls, known=said(listed(3)))
    odd = common(*BUNDLED[:1], leap=linked(20, 29)[0] | {"colour": 1.5}, bundle=BUNDLE | {"size": 250, "colour": 1}, colour={"a": []}) | {"whole": None}
    yield whole("unknown_members", "Members that are not known are passed over", odd, known=common(*BUNDLED[:1], bundle=BUNDLE | {"size": 250}))
    ways = [
        listed(2, b"2" * 300, FIRST, "02" * 16), listed(3, b"3" * 200, "02" * 16, "03" * 16), listed(5, b"5" * 900, "02" * 16, "05" * 16),
        listed(6, b"6" * 100, "03" * 16, "05" * 16), listed(9, b"9" * 250, "05" * 16, "08" * 16),
        listed(11, b"11" * 50, "08" * 16, FIRST), listed(12, b"12" * 400, "03" * 16, "0c" * 16), listed(13, b"13" * 40, FIRST, "0c" * 16),
    ]  # fmt: skip
    yield whole("ways", "Several ways, of which one is the shortest, and a content that comes again", said(*ways))


def largest() -> Iterator[Vector]:
    highest = listed(2**64 - 1, size=LARGEST, catalog={"sha256": PUBLICATION, "size": p.LARGEST_CATALOG, "counter": 2**64 - 2})
    yield whole("largest_numbers", "The largest numbers", common(leap=highest, skips=[highest]))
    many = chain(*range(2, MOST_STEPS + 2))
    yield none("257_steps", "257 steps, with the whole", p.deflated(joined(document(said(*many)))))
    some = linked(1, *range(2, 120))
    yield none("257_leaps", "257 steps of all kinds together", p.deflated(joined(document(said(*many[: 256 - 119], leaps=some, skips=some[-1:])))))
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
    yield none("stream_before_dictionary", "A match that reaches back to before the dictionary", binary(DeflateStream().fixed([(8, len(p.dictionary()) + 1)]).finished(), "a match"), "damaged")
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
        yield bad(f"{name}_null", f"{name} is null", common() | {name: None})
        yield bad(f"{name}_is_object", f"{name} is an object", common() | {name: linked(20, 29)[0]})
    yield bad("steps_with_whole", "A whole among steps", said(listed(3, NEW_WHOLE, None)))
    yield bad("whole_over_something", "The whole begins at a content", said(whole=listed()))
    yield bad("whole_without_object", "The whole has no object", said(whole=without(A_WHOLE, "sha256")))
    yield bad("before_is_digest", "The catalog before by its digest alone", said(before=PUBLICATION))
    yield bad("before_size_0", "A catalog before of no bytes", said(before=BEFORE | {"size": 0}))
    yield bad("before_too_large", "A catalog before that is too large", said(before=BEFORE | {"size": p.LARGEST_CATALOG + 1}))
    yield bad("before_counter_0", "A catalog before without a number", said(before=BEFORE | {"counter": 0}))
    yield bad("before_without_counter", "A catalog before whose number is missing", said(before=without(BEFORE, "counter")))
    yield bad("before_and_skips", "A catalog before, beside the skip from there", common(before=link(23)))
    yield bad("bundle_missing", "A step without an object, and no bundle", common(*BUNDLED))
    yield bad("signature_beside_object", "A signature of a step that has an object", common(*[each | {"signature": "5f" * 64} for each in chain(25, start=id_of_number(23))]))
    yield bad("bundle_of_nothing", "A bundle, and no step without an object", common(*chain(25, start=id_of_number(23)), bundle=BUNDLE))
    yield bad("bundle_is_digest", "The bundle by its digest alone", common(*BUNDLED, bundle=PUBLICATION))
    yield bad("bundle_size_0", "A bundle of no bytes", common(bundle=BUNDLE | {"size": 0}))
    yield bad("bundle_too_large", "A bundle that is too large", common(*BUNDLED, bundle=BUNDLE | {"size": p.LARGEST_CATALOG + 1}))


def chains() -> Iterator[Vector]:
    leaps, skips = LANDMARK["leaps"], LANDMARK["skips"]
    yield bad("leaps_none", "Neither a whole nor a leap", common() | {"leaps": [], "skips": []})
    yield bad("leaps_without_skips", "A leap and no skip", said(leaps=leaps))
    yield bad("skips_without_leaps", "A skip and no leap", said(skips=skips))
    yield bad("skips_none", "The leap from a landmark, and no skip", common() | {"skips": []})
    yield bad("leaps_from_elsewhere", "The first leap does not begin at the whole's content", said(leaps=linked(1, 10, start=SECOND), skips=linked(1, 10, start=SECOND)))
    yield bad("leaps_from_other_number", "The first leap begins at a catalog with another number than the whole's", said(leaps=linked(2, 10, start=FIRST), skips=linked(2, 10, start=FIRST)))
    yield bad("leaps_apart", "A leap does not begin where the one before it ends", said(leaps=leaps[:1] + linked(10, 20, start=id_of_number(11)), skips=linked(10, 20, start=id_of_number(11))))
    yield bad("leaps_other_number", "A leap begins at a catalog with another number than that of the leap before it", said(leaps=leaps[:1] + linked(11, 20, start=id_of_number(10)), skips=linked(11, 20, start=id_of_number(10))))
    yield bad("skips_apart", "A skip does not begin where the one before it ends", common(skips=linked(20, 21) + linked(21, 29, start=id_of_number(22))))
    yield bad("skips_other_number", "A skip begins at a catalog with another number than that of the skip before it", common(skips=linked(20, 21) + linked(22, 29, start=id_of_number(21))))
    yield bad("skips_from_elsewhere", "The first skip begins at another content than the leap", common(skips=linked(20, 29, start=SECOND)))
    yield bad("skips_from_other_catalog", "The first skip begins at another catalog than the leap", common(skips=[linked(20, 29)[0] | {"catalog": link(20) | {"size": 7}}]))
    yield bad("skips_along_earlier_leap", "The skips of a landmark end where the first leap does", said(leaps=leaps, skips=linked(1, 10)))
    yield bad("skips_to_elsewhere", "The last skip ends at another content than the leap", common(skips=[linked(20, 29)[0] | {"to": SECOND}]))
    yield bad("skips_to_other_number", "The last skip ends with another number than the leap", common(skips=[linked(20, 29)[0] | {"counter": 28}]))


def links() -> Iterator[Vector]:
    step = linked(20, 29)[0]
    for name, about, catalog in (
        ("null", "The catalog is null", None), ("digest", "The catalog by its digest alone", PUBLICATION), ("size_0", "A catalog of no bytes", link(20) | {"size": 0}),
        ("too_large", "A catalog that is too large", link(20) | {"size": p.LARGEST_CATALOG + 1}), ("without_counter", "A catalog whose number is missing", without(link(20), "counter")),
        ("counter_0", "A catalog without a number", link(20) | {"counter": 0}), ("counter_2_64", "A number above the highest", link(20) | {"counter": 2**64}),
        ("same_counter", "A catalog with the number of the step", link(29)), ("later", "A catalog with a higher number than the step", link(30)),
        ("sha256_id", "An id where a digest belongs", link(20) | {"sha256": FIRST}),
    ):  # fmt: skip
        wrong = step | {"catalog": catalog}
        yield bad(f"link_{name}", about, common(leap=wrong, skips=[wrong]))
    for name in ("from", "sha256", "catalog"):
        yield bad(f"linked_without_{name}", f"{name} of a leap is missing", common(leap=without(step, name), skips=[without(step, name)]))


def steps() -> Iterator[Vector]:
    for name in ("to", "from", "counter", "size"):
        yield bad(f"step_without_{name}", f"{name} of a step is missing", said(without(listed(), name)))
    for name, about, value in (
        ("sha256_63_digits", "A digest that is too short", {"sha256": PUBLICATION[1:]}),
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
