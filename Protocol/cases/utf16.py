"""Strings that are texts in UTF-16 (`COLUMNS.md` section 2, tag 16)."""

from __future__ import annotations

from collections.abc import Iterator

from cases.segment_vector import bad_column, column_of
from encoder import segment as s
from encoder.vector import Vector

LITTLE, BIG = "utf-16-le", "utf-16-be"
TEXTS = ["text", "\u00e9t\u00e9, \u0416", "\u6f22\u5b57", "\U0001f6a2!", ""]
EDGES = ["\u007f\u0080\u07ff\u0800", "\ud7ff\ue000\ufffe\uffff", "\U00010000\U0010ffff", "\ufeffmarked", "\0a\0"]


def vectors() -> Iterator[Vector]:
    yield from written()
    yield from refused()


def plain(texts: list[str]) -> s.Part:
    return s.lengths([text.encode() for text in texts])


def written() -> Iterator[Vector]:
    def good(name: str, about: str, codec: str, texts: list[str], part: s.Part) -> Vector:
        order = [LITTLE, BIG].index(codec)
        return column_of(
            f"strings_utf16_{name}", about, [text.encode(codec) for text in texts], s.plain(s.BLOB, s.utf16(order, part))
        )

    yield good("little", "Characters of one to four bytes, and an empty text", LITTLE, TEXTS, plain(TEXTS))
    yield good("big", "The same, big-endian", BIG, TEXTS, plain(TEXTS))
    yield good("edges", "The first and last characters of each size, a byte order mark, and U+0000", LITTLE, EDGES, plain(EDGES))
    twenty = [f"{place} \u00d7 2" for place in range(20)]
    yield good("many", "Twenty texts, each with a zero at its end", BIG, twenty, s.terminated([text.encode() for text in twenty]))
    run = s.digits([1], s.lengths([b"/\1?"]), s.lengths([b"\xde\xad\xbe\xef"]))
    yield good("digits", "A text that holds a run of digits", LITTLE, ["/deadbeef?"], run)
    fronted = s.front(s.varints([0, 1]), s.lengths(["\u00e9".encode(), b"\xa8"]))
    yield good("front", "A character whose first byte the text before has", LITTLE, ["\u00e9", "\u00e8"], fronted)
    yield good("nested", "A text that is UTF-16 and UTF-8: U+0000 and U+0061", LITTLE, ["\0a"], s.utf16(1, s.lengths([b"a"])))


def refused() -> Iterator[Vector]:
    def bad(name: str, about: str, part: s.Part, count: int = 1, order: int = 0) -> Vector:
        return bad_column(f"strings_utf16_{name}", about, count, s.plain(s.BLOB, s.utf16(order, part)))

    yield bad("order", "An order that there is not", s.lengths([b"x"]), order=2)
    yield bad_column("strings_utf16_no_order", "Nothing after the tag", 1, s.plain(s.BLOB, s.raw(b"\x11", "UTF-16")))
    for name, about, data in (
        ("follower", "A byte that can only follow others", b"a\x80"),
        ("cut_2", "The first byte of two", b"a\xc3"),
        ("cut_3", "The first two bytes of three", b"\xe2\x82"),
        ("cut_4", "The first three bytes of four", b"\xf0\x9f\x9a"),
        ("cut_by", "The first two bytes of three, and another character", b"\xe2\x82a"),
        ("long_2", "U+007F in two bytes", b"\xc1\xbf"),
        ("long_3", "U+07FF in three bytes", b"\xe0\x9f\xbf"),
        ("long_4", "U+FFFF in four bytes", b"\xf0\x8f\xbf\xbf"),
        ("surrogate_high", "U+D800", b"\xed\xa0\x80"),
        ("surrogate_low", "U+DFFF", b"\xed\xbf\xbf"),
        ("surrogates", "A pair of surrogates, in three bytes each", b"\xed\xa0\xbd\xed\xba\xa2"),
        ("beyond", "U+110000", b"\xf4\x90\x80\x80"),
        ("five", "A character of five bytes", b"\xf8\x88\x80\x80\x80"),
        ("ff", "A byte that no character has", b"\xff"),
    ):
        yield bad(name, about, s.lengths([b"text", data]), 2)
    yield bad("between", "A character of which each of two strings has a part", s.lengths([b"\xc3", b"\xa9"]), 2)
    held = s.plain(s.TEXT, s.lengths([b"x"]))
    part = s.utf16(0, s.holding(0, s.constant(0), s.lengths([b"x"])))
    yield bad_column("strings_utf16_holding", "A text that refers to a column", 1, held, s.plain(s.BLOB, part))
    # 400,000 bytes each, and 800,000 in UTF-16: in all more than may be put together.
    many = s.front(s.varints([0, *[400_000] * 29]), s.lengths([b"a" * 400_000, *[b""] * 29]))
    yield bad("together_over_limit", "Texts of 12,000,000 bytes, which become 24,000,000", many, 30)
    deep = s.lengths([b"x"])
    for _ in range(7):
        deep = s.utf16(0, deep)
    yield bad("deep", "Eight of them within one another", deep)
