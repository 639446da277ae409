"""Strings that hold runs of hexadecimal digits (`COLUMNS.md` section 2, tag 16)."""

from __future__ import annotations

from collections.abc import Iterator

from cases.segment_vector import bad_column, column_of
from encoder import segment as s
from encoder.vector import Vector

ID = bytes(range(0x10, 0x20))
SPELLED = "10111213-1415-1617-1819-1a1b1c1d1e1f"


def vectors() -> Iterator[Vector]:
    yield from spelled()
    yield from refused()


def good(name: str, about: str, strings: list[str], part: s.Part) -> Vector:
    return column_of(f"strings_digits_{name}", about, list(strings), s.plain(s.TEXT, part))


def spelled() -> Iterator[Vector]:
    rests = s.lengths([b"/a?h=\2&n=1", b'{"id":"\1","of":"\1"}', b"none", b""])
    held = [s.lengths([ID, ID]), s.lengths([b"\x00\xde\xad\xbe\xef"])]
    lower = ["/a?h=00deadbeef&n=1", f'{{"id":"{SPELLED}","of":"{SPELLED}"}}', "none", ""]
    yield good("lower", "A run, two UUIDs, and strings of none", lower, s.digits(False, [1, 0], rests, *held))
    upper = ["/a?h=00DEADBEEF&n=1", f'{{"id":"{SPELLED.upper()}","of":"{SPELLED.upper()}"}}', "none", ""]
    yield good("upper", "The same in A to F", upper, s.digits(True, [1, 0], rests, *held))
    beside = s.digits(False, [0], s.lengths([b"a\1c2.d\2", b"x\1"]), s.lengths([b"\x0b", b""]))
    yield good("beside", "Digits of the rest beside a run, a byte that no field has, and a run of no bytes", ["a0bc2.d\2", "x"], beside)
    yield good("none", "No runs at all", ["x", ""], s.digits(True, [0], s.lengths([b"x", b""])))
    twenty = [bytes([place, 2 * place, 255 - place, 7]) for place in range(20)]
    many = s.digits(False, [0], s.terminated([b"\1."] * 20), s.transposed(twenty))
    yield good("many", "Twenty runs of one length", [f"{each.hex()}." for each in twenty], many)
    inner = s.digits(True, [0], s.lengths([b"\1-"]), s.lengths([b"\xab"]))
    yield good("nested", "Rests that are made so themselves", ["AB-"], s.digits(False, [0], inner))
    made = s.digits(False, [0], s.lengths([b"\1"]), s.lengths([b"\x61"]))
    yield good("of_digits", "Bytes of a run that are digits of another", ["3631"], s.digits(False, [0], s.lengths([b"\1"]), made))
    eight = s.digits(False, [0] * 8, s.lengths([bytes(range(8, 0, -1))]), *(s.lengths([bytes([each])]) for each in range(1, 9)))
    yield good("fields_8", "Eight fields", ["0807060504030201"], eight)


def refused() -> Iterator[Vector]:
    def bad(name: str, about: str, part: s.Part, count: int = 1) -> Vector:
        return bad_column(f"strings_digits_{name}", about, count, s.plain(s.TEXT, part))

    one = s.lengths([b"\1"])
    case = s.parts(s.raw(b"\x10", "digits"), s.raw(b"\2", "neither A-F nor a-f"), s.raw(b"\1\0", "one field"))
    yield bad("case", "A case that there is not", s.parts(case, one, one))
    yield bad("fields_0", "No field", s.digits(False, [], one))
    yield bad("fields_9", "Nine fields", s.digits(False, [0] * 9, one, one))
    yield bad("fields_cut", "The kind of one field of two", s.digits(False, [0], s.parts(), count=2))
    yield bad("kind", "A kind of runs that there is not", s.digits(False, [2], one, one))
    yield bad("cut", "Two marks, and one run", s.digits(False, [0], s.lengths([b"\1\1"]), one))
    yield bad("left_over", "More runs than marks", s.digits(False, [0], one, s.lengths([b"a", b"b"])))
    yield bad("uuid_15", "A UUID of 15 bytes", s.digits(False, [1], one, s.lengths([ID[:15]])))
    yield bad("uuid_17", "A UUID of 17 bytes", s.digits(False, [1], one, s.lengths([ID + b"x"])))
    for name, about, rests, held in (
        ("holding", "A rest that refers to a column", s.holding(0, s.constant(0), s.lengths([b"x"])), s.parts()),
        ("holding_run", "A run that refers to a column", one, s.holding(0, s.constant(0), s.lengths([b"x"]))),
    ):
        part = s.plain(s.TEXT, s.digits(False, [0], rests, held))
        yield bad_column(f"strings_digits_{name}", about, 1, s.plain(s.TEXT, s.lengths([b"x"])), part)
    # 36 bytes each: a million UUIDs are more than may be put together.
    many = s.digits(False, [1], s.lengths([b"\1" * 500_000] * 2), s.transposed([ID] * 1_000_000))
    yield bad("together_over_limit", "UUIDs of 36,000,000 bytes", many, 2)
    deep = one
    for _ in range(8):
        deep = s.digits(False, [0], deep)
    yield bad("deep", "Eight of them within one another", deep)
