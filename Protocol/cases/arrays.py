"""Strings that hold arrays of numbers (`COLUMNS.md` section 2, tag 13)."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from cases.segment_vector import bad_column, column_of
from encoder import segment as s
from encoder.vector import Vector

NOTHING = s.parts()
LINE = [(1.5, -2.0), (3.25, 4.0), (5.0, 0.5)]
HIGH = 2**63 - 1
MOST = 1_048_576


def vectors() -> Iterator[Vector]:
    yield from layouts()
    yield from places()
    yield from matches()
    yield from refused()


def good(name: str, about: str, strings: list[bytes], part: s.Part) -> Vector:
    return column_of(f"strings_arrays_{name}", about, list(strings), s.plain(s.BLOB, part))


def points(pairs: list[tuple[float, float]], order: str = "<") -> bytes:
    return b"".join(struct.pack(order + "dd", *pair) for pair in pairs)


def column(values: list[float]) -> s.Part:
    return s.bits(s.varints([s.pattern_of(value) for value in values]))


def columns(pairs: list[tuple[float, float]]) -> list[s.Part]:
    return [column([x for x, _ in pairs]), column([y for _, y in pairs])]


def one(width: int, fields: int, count: int, *literals: s.Part, rest: bytes = b"", gap: int = 0, **more: object) -> s.Part:
    """One array in one string."""
    return s.arrays(width, fields, s.constant(1), s.constant(gap), s.constant(count), s.lengths([rest]), *literals, **more)  # type: ignore[arg-type]


def layouts() -> Iterator[Vector]:
    for is_big, order in [(False, "<"), (True, ">")]:
        name = "big" if is_big else "little"
        yield good(f"reals_{name}", f"Points of two reals, {name}-endian, behind a head and before a tail", [b"head" + points(LINE, order) + b"!"],
                   one(8, 2, 3, *columns(LINE), rest=b"head!", gap=4, is_big_endian=is_big))  # fmt: skip
        for width, letter in [(2, "h"), (4, "i")]:
            least, most = -(1 << 8 * width - 1), (1 << 8 * width - 1) - 1
            values = [least, -1, 0, 1, most]
            packed = struct.pack(f"{order}5{letter}", *values)
            yield good(f"integers_{8 * width}_{name}", f"Integers of {8 * width} bits, {name}-endian", [packed], one(width, 1, 5, s.varints(values), is_big_endian=is_big))
    wide = list(range(16))
    yield good("fields_16", "Sixteen fields", [struct.pack("<16h", *wide)], one(2, 16, 1, *(s.constant(value) for value in wide)))
    decimals = [(48.1, 11.5), (48.2, 11.6)]
    rounded = [s.decimal(1, s.varints([481, 482])), s.decimal(1, s.varints([115, 116]))]
    yield good("decimals", "Reals in decimal", [points(decimals)], one(8, 2, 2, *rounded))


def places() -> Iterator[Vector]:
    first, second = LINE[:2], LINE[2:]
    strings = [b"none", b"a" + points(first) + b"bc" + points(second), b"", points(LINE) + points([])]
    part = s.arrays(
        8, 2, s.varints([0, 2, 0, 2]), s.varints([1, 2, 0, 0]), s.varints([2, 1, 3, 0]), s.lengths([b"none", b"abc", b"", b""]),
        *columns(LINE + LINE),
    )  # fmt: skip
    yield good("several", "Strings with two arrays, with an empty one, and without one", strings, part)
    none = s.arrays(8, 1, s.constant(0), NOTHING, NOTHING, s.lengths([b"x", b"y"]))
    yield good("none", "No arrays at all", [b"x", b"y"], none)
    empty = s.arrays(2, 1, s.constant(MOST), s.constant(0), s.constant(0), s.lengths([b"x"]))
    yield good("most", "As many arrays as there may be, all of them empty", [b"x"], empty)
    many = list(range(-10, 10))
    yield good("many", "Twenty numbers", [struct.pack("<20i", *many)], one(4, 1, 20, s.deltas(many)))


def matches() -> Iterator[Vector]:
    def matched(name: str, about: str, whole: list[int], literals: list[int], found: list[tuple[int, int, int]]) -> Vector:
        part = one(4, 1, len(whole), s.varints(literals) if literals else NOTHING, matches=found)
        return good(f"match_{name}", about, [struct.pack(f"<{len(whole)}i", *whole)], part)

    yield matched("forwards", "Three elements again, from four before", [1, 2, 3, 4, 1, 2, 3, 5], [1, 2, 3, 4, 5], [(4, 3, 6)])
    yield matched("backwards", "Three elements again, from the last one on backwards", [1, 2, 3, 3, 2, 1, 4], [1, 2, 3, 4], [(3, 3, 1)])
    yield matched("over_itself", "One element five times", [7, 7, 7, 7, 7], [7], [(1, 4, 0)])
    yield matched("two", "Two matches, nothing between them and nothing after them", [1, 2, 1, 2, 2, 1], [1, 2], [(2, 2, 2), (0, 2, 1)])
    yield matched("backwards_from_first", "The first element, backwards", [5, 6, 5], [5, 6], [(2, 1, 3)])


def refused() -> Iterator[Vector]:
    def bad(name: str, about: str, part: s.Part) -> Vector:
        return bad_column(f"strings_arrays_{name}", about, 1, s.plain(s.BLOB, part))

    three = s.varints([1, 2, 3])
    for width in (0, 1, 3, 9, 0x48):
        yield bad(f"width_{width}", f"Numbers of {width} bytes", one(width, 1, 3, three))
    for fields in (0, 17):
        yield bad(f"fields_{fields}", f"{fields} fields", one(2, fields, 1, *[s.constant(1)] * fields))
    yield bad("number_negative", "Fewer than no arrays", s.arrays(2, 1, s.constant(-1), NOTHING, NOTHING, s.lengths([b""])))
    yield bad("number_over_limit", "1,048,577 arrays", s.arrays(2, 1, s.constant(MOST + 1), s.constant(0), s.constant(0), s.lengths([b""])))
    yield bad("gap_negative", "A gap below 0", one(2, 1, 3, three, gap=-1))
    yield bad("gap_beyond", "A gap that is longer than the rest", one(2, 1, 3, three, rest=b"x", gap=2))
    yield bad("count_negative", "Fewer than no elements", one(2, 1, -1))
    yield bad("count_wraps", "Numbers of elements that wrap", s.arrays(2, 1, s.constant(3), s.constant(0), s.constant(HIGH), s.lengths([b""])))
    yield bad("elements_over_limit", "4,194,305 elements", one(2, 1, 4_194_305, s.constant(0)))
    zeros = s.bits(s.constant(0))
    yield bad("bytes_over_limit", "Elements of 33,554,448 bytes", one(8, 2, 2_097_153, zeros, zeros))
    yield bad("together_over_limit", "Elements and a rest of 33,554,433 bytes", one(8, 1, 4_194_304, zeros, rest=b"x"))
    yield bad("integer_16", "An integer that has more than two bytes", one(2, 1, 1, s.constant(32_768)))
    yield bad("integer_16_negative", "The same below 0", one(2, 1, 1, s.constant(-32_769)))
    yield bad("integer_32", "An integer that has more than four bytes", one(4, 1, 1, s.constant(2**31)))

    def mismatched(name: str, about: str, count: int, literals: s.Part, found: list[tuple[int, int, int]], **more: int) -> Vector:
        return bad(f"match_{name}", about, one(2, 1, count, literals, matches=found, **more))

    yield mismatched("none_there", "More matches than elements", 1, NOTHING, [], match_count=2)
    # The first follows one literal, and each has one element.
    found = [s.runs(2, s.varints([1, 0]), s.varints([0, MOST - 1])), s.constant(0), s.constant(0)]
    yield bad("match_over_limit", "1,048,577 matches", one(2, 1, MOST + 2, *found, s.constant(7), match_count=MOST + 1))
    yield mismatched("of_nothing", "A match of no elements", 3, three, [(3, 0, 0)])
    yield mismatched("longer", "A match that is longer than all elements", 3, NOTHING, [(0, 4, 0)])
    yield mismatched("literals", "More literals before a match than there are", 4, three, [(4, 1, 0)])
    yield mismatched("literals_negative", "Fewer than no literals before a match", 4, three, [(-1, 1, 0)])
    yield mismatched("source_negative", "A source below 0", 4, three, [(3, 1, -1)])
    yield mismatched("before_first", "A copy of what is before the first element", 4, three, [(3, 1, 6)])
    yield mismatched("backwards_beyond", "Backwards, over the first element", 7, three, [(3, 4, 1)])
    yield mismatched("first", "A match before any element", 1, NOTHING, [(0, 1, 0)])
    yield bad("cut", "No literals for two fields", one(8, 2, 3, columns(LINE)[0]))
    held = s.arrays(2, 1, s.constant(0), NOTHING, NOTHING, s.holding(0, s.constant(0), s.lengths([b""])))
    yield bad_column("strings_arrays_holding", "A rest that refers to a column", 1, s.plain(s.TEXT, s.lengths([b"x"])), s.plain(s.TEXT, held))
