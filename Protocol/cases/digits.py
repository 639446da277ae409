"""Strings that hold runs of digits (`COLUMNS.md` section 2, tag 12)."""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode
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
    yield good("lower", "A run, two UUIDs, and strings of none", lower, s.digits([3, 1], rests, *held))
    upper = ["/a?h=00DEADBEEF&n=1", f'{{"id":"{SPELLED.upper()}","of":"{SPELLED.upper()}"}}', "none", ""]
    yield good("upper", "The same in A to F", upper, s.digits([2, 0], rests, *held))
    beside = s.digits([1], s.lengths([b"a\1c2.d\2", b"x\1"]), s.lengths([b"\x0b", b""]))
    yield good("beside", "Digits of the rest beside a run, a byte that no field has, and a run of no bytes", ["a0bc2.d\2", "x"], beside)
    yield good("none", "No runs at all", ["x", ""], s.digits([0], s.lengths([b"x", b""])))
    twenty = [bytes([place, 2 * place, 255 - place, 7]) for place in range(20)]
    many = s.digits([1], s.terminated([b"\1."] * 20), s.transposed(twenty))
    yield good("many", "Twenty runs of one length", [f"{each.hex()}." for each in twenty], many)
    inner = s.digits([0], s.lengths([b"\1-"]), s.lengths([b"\xab"]))
    yield good("nested", "Rests that are made so themselves", ["AB-"], s.digits([1], inner))
    made = s.digits([1], s.lengths([b"\1"]), s.lengths([b"\x61"]))
    yield good("of_digits", "Bytes of a run that are digits of another", ["3631"], s.digits([1], s.lengths([b"\1"]), made))
    eight = s.digits([1] * 8, s.lengths([bytes(range(8, 0, -1))]), *(s.lengths([bytes([each])]) for each in range(1, 9)))
    yield good("fields_8", "Eight fields", ["0807060504030201"], eight)
    yield from in_base64()


def in_base64() -> Iterator[Vector]:
    held = [b"", b"\xff", b"\xff\xef", b"\xfb\xef\xbe", b"dill, salt"]
    marks = s.lengths([b"\1"] * len(held))
    for form, name, about in (
        (4, "standard", "With plus and slash, and padding"),
        (5, "urls", "With minus and underscore, and padding"),
        (6, "standard_open", "With plus and slash, without padding"),
        (7, "urls_open", "With minus and underscore, without padding"),
    ):
        texts = [encoded(each, form) for each in held]
        yield good(f"base64_{name}", about, texts, s.digits([form], marks, s.lengths(held)))
        for length, ending in ((1, b"\n"), (3, b"\1, "), (4, b"\r\n"), (255, b"-" * 16)):
            part = s.digits([(form + 4, length, ending)], marks, s.lengths(held))
            lined = [ending.decode().join(text[place : place + length] for place in range(0, len(text), length)) for text in texts]
            yield good(f"base64_{name}_{length}", f"{about}, in lines of {length}", lined, part)
    rests = s.lengths([b"\1.\1.\2", b"none", b"data:,\1"])
    token = s.digits([7, 5], rests, s.lengths([b'{"a":1}', b'{"b":2}', b"dill"]), s.lengths([b"\xff\xfe"]))
    yield good("base64_within", "Three runs in a text", ["eyJhIjoxfQ.eyJiIjoyfQ.__4=", "none", "data:,ZGlsbA"], token)
    twice = s.digits([4], s.lengths([b"\1"]), s.digits([7], s.lengths([b"\1"]), s.lengths([b"dill"])))
    yield good("base64_nested", "Base64 of base64", [encoded(b"ZGlsbA", 4)], twice)


def encoded(value: bytes, form: int) -> str:
    text = (urlsafe_b64encode if form & 1 else b64encode)(value).decode()
    return text.rstrip("=") if form & 2 else text


def refused() -> Iterator[Vector]:
    def bad(name: str, about: str, part: s.Part, count: int = 1) -> Vector:
        return bad_column(f"strings_digits_{name}", about, count, s.plain(s.TEXT, part))

    one = s.lengths([b"\1"])
    yield bad("fields_0", "No field", s.digits([], one))
    yield bad("fields_9", "Nine fields", s.digits([1] * 9, one, one))
    yield bad("fields_cut", "The form of one field of two", s.digits([1], s.parts(), count=2))
    yield bad("form", "A form of runs that there is not", s.digits([12], one, one))
    yield bad("cut", "Two marks, and one run", s.digits([1], s.lengths([b"\1\1"]), one))
    yield bad("left_over", "More runs than marks", s.digits([1], one, s.lengths([b"a", b"b"])))
    yield bad("uuid_15", "A UUID of 15 bytes", s.digits([3], one, s.lengths([ID[:15]])))
    yield bad("uuid_17", "A UUID of 17 bytes", s.digits([3], one, s.lengths([ID + b"x"])))
    yield bad("line_0", "Lines of no digits", s.digits([(8, 0, b"x")], one, one))
    yield bad("ending_0", "Nothing between two lines", s.digits([(8, 4, b"")], one, one))
    yield bad("ending_17", "17 bytes between two lines", s.digits([(8, 4, b"-" * 17)], one, one))
    ending = s.parts(s.raw(b"\x0c\1", "digits of one field"), s.raw(b"\x08\4\4\r\n", "lines, cut"))
    yield bad("ending_cut", "Less between two lines than there should be", ending)
    for name, about, rests, held in (
        ("holding", "A rest that refers to a column", s.holding(0, s.constant(0), s.lengths([b"x"])), s.parts()),
        ("holding_run", "A run that refers to a column", one, s.holding(0, s.constant(0), s.lengths([b"x"]))),
    ):
        part = s.plain(s.TEXT, s.digits([1], rests, held))
        yield bad_column(f"strings_digits_{name}", about, 1, s.plain(s.TEXT, s.lengths([b"x"])), part)
    # 36 bytes each: a million UUIDs are more than may be put together.
    many = s.digits([3], s.lengths([b"\1" * 500_000] * 2), s.transposed([ID] * 1_000_000))
    yield bad("together_over_limit", "UUIDs of 36,000,000 bytes", many, 2)
    # 68 bytes for each three.
    long = s.digits([(8, 1, b"-" * 16)], s.lengths([b"\1"] * 2), s.lengths([bytes(750_000)] * 2))
    yield bad("lines_over_limit", "Base64 of 2,000,000 digits, and 32,000,000 bytes between them", long, 2)
    deep = one
    for _ in range(8):
        deep = s.digits([1], deep)
    yield bad("deep", "Eight of them within one another", deep)
