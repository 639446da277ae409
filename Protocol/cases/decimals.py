"""Strings that hold decimal numbers (`COLUMNS.md` section 2, tag 15)."""

from __future__ import annotations

from collections.abc import Iterator

from cases.segment_vector import bad_column, column_of
from encoder import segment as s
from encoder.vector import Vector

NOTHING = s.parts()
LEAST, MOST = -(2**63), 2**63 - 1


def vectors() -> Iterator[Vector]:
    yield from spelled()
    yield from places()
    yield from refused()


def good(name: str, about: str, strings: list[str], part: s.Part) -> Vector:
    return column_of(f"strings_decimals_{name}", about, list(strings), s.plain(s.TEXT, part))


def spelled() -> Iterator[Vector]:
    def field(name: str, about: str, most: int, least: int, numbers: dict[int, str]) -> Vector:
        rest = b" ".join([b"\x0e"] * len(numbers))
        part = s.decimals([(most, least)], s.lengths([rest]), s.varints(list(numbers)))
        return good(f"spelled_{name}", about, [" ".join(numbers.values())], part)

    yield field("whole", "Integers", 0, 0, {0: "0", 7: "7", -10: "-10", LEAST: str(LEAST), MOST: str(MOST)})
    yield field("fixed", "Two digits behind the point", 2, 2, {0: "0.00", 5: "0.05", -5: "-0.05", 1250: "12.50", -100: "-1.00"})
    yield field("shortest", "At least one digit, at most six", 6, 1, {0: "0.0", 1: "0.000001", -1500000: "-1.5", 2000000: "2.0", 12345678: "12.345678"})
    yield field("without_point", "A point only before digits", 3, 0, {0: "0", 1000: "1", 1200: "1.2", -1: "-0.001", -12000: "-12"})
    longest = {LEAST: "-9223.372036854775808", MOST: "9223.372036854775807", 1: "0.000000000000001"}
    yield field("15_digits", "Fifteen digits, all of them", 15, 15, longest)
    yield field("zeros", "Two digits at least", 0, 2, {0: "00", 7: "07", 59: "59", 100: "100", -5: "-05", LEAST: str(LEAST)})
    yield field("zeros_before", "Two digits at least before the point, three behind it", 3, 5, {0: "00.000", 5120: "05.120", -1: "-00.001", 100000: "100.000"})
    yield field("zeros_15", "Fifteen digits at least, fourteen behind the point", 14, 15, {0: "0.00000000000000", 1: "0.00000000000001"})
    yield field("15_or_none", "Fifteen digits, or none", 15, 0, {**longest, 10**15: "1", 0: "0"})


def places() -> Iterator[Vector]:
    line = s.decimals([(6, 1), (6, 1)], s.lengths([b"[[\x0e, \x0f], [\x0e, \x0f]]", b"none", b"[\x0e, \x0f]"]), s.deltas([8125000, 8126000, -1]), s.deltas([50000000, 50000001, 0]))
    yield good("points", "Points of two fields, and a string of none", ["[[8.125, 50.0], [8.126, 50.000001]]", "none", "[-0.000001, 0.0]"], line)
    yield good("between", "Digits of the rest before and behind a number", ["x1-12.53e-7"], s.decimals([(1, 1)], s.lengths([b"x1-1\x0e3e-7"]), s.varints([25])))
    marks = bytes(range(13, 29))
    fourteen = s.decimals([(0, 0)] * 14, s.lengths([marks]), *(s.constant(each) for each in range(1, 15)))
    yield good("fields_14", "Fourteen fields, and the bytes before and behind their marks", ["\r" + "".join(map(str, range(1, 15))) + "\x1c"], fourteen)
    yield good("fields_1", "A byte that no field has", ["5\x0f"], s.decimals([(0, 0)], s.lengths([b"\x0e\x0f"]), s.constant(5)))
    yield good("none", "No numbers at all", ["x", ""], s.decimals([(2, 1)], s.lengths([b"x", b""])))
    twenty = [1000 + 37 * place for place in range(20)]
    text = ",".join(f"{number / 100:.2f}" for number in twenty)
    yield good("many", "Twenty numbers", [text], s.decimals([(2, 2)], s.terminated([b",".join([b"\x0e"] * 20)]), s.planes(2, 1000, twenty)))
    inner = s.decimals([(1, 1)], s.lengths([b"\x0e\x0f"]), s.constant(15))
    yield good("nested", "Rests that hold numbers themselves", ["1.57"], s.decimals([(0, 0), (0, 0)], inner, NOTHING, s.constant(7)))


def refused() -> Iterator[Vector]:
    def bad(name: str, about: str, part: s.Part, count: int = 1) -> Vector:
        return bad_column(f"strings_decimals_{name}", about, count, s.plain(s.TEXT, part))

    one = s.lengths([b"\x0e"])
    yield bad("fields_0", "No field", s.decimals([], one))
    yield bad("fields_15", "Fifteen fields", s.decimals([(0, 0)] * 15, one, s.constant(1)))
    yield bad("cut", "Two numbers, and integers of none", s.decimals([(0, 0)], s.lengths([b"\x0e\x0e"])))
    yield bad("left_over", "More numbers than stand in the rests", s.decimals([(0, 0)], one, s.varints([1, 2])))
    yield bad("fields_cut", "The spelling of one field of two", s.decimals([(0, 0)], NOTHING, count=2))
    held = s.decimals([(0, 0)], s.holding(0, s.constant(0), s.lengths([b"x"])))
    yield bad_column("strings_decimals_holding", "A rest that refers to a column", 1, s.plain(s.TEXT, s.lengths([b"x"])), s.plain(s.TEXT, held))
    # 20 bytes each: four rests of half a million numbers are more than may be put together.
    rests = s.lengths([b"\x0e" * 450_000] * 4)
    yield bad("together_over_limit", "Numbers of 36,000,000 bytes", s.decimals([(0, 0)], rests, s.constant(LEAST)), 4)
    deep = one
    for _ in range(8):
        deep = s.decimals([(0, 0)], deep, NOTHING)
    yield bad("deep", "Eight of them within one another", deep)
