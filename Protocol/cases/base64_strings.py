"""Strings in base64 (`COLUMNS.md` section 2, tag 18)."""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator

from cases.segment_vector import bad_column, column_of
from encoder import segment as s
from encoder.vector import Vector

BYTES = [b"", b"\xff", b"\xff\xef", b"\xfb\xef\xbe", b"dill, salt"]


def vectors() -> Iterator[Vector]:
    yield from written()
    yield from refused()


def written() -> Iterator[Vector]:
    for form, name, about in (
        (0, "standard", "With plus and slash, and padding"),
        (1, "urls", "With minus and underscore, and padding"),
        (2, "standard_open", "With plus and slash, without padding"),
        (3, "urls_open", "With minus and underscore, without padding"),
    ):
        encoded = [(urlsafe_b64encode if form & 1 else b64encode)(each) for each in BYTES]
        texts = [each.rstrip(b"=") if form & 2 else each for each in encoded]
        yield column_of(f"strings_base64_{name}", about, list(texts), s.plain(s.BLOB, s.base64(form, s.lengths(BYTES))))
    twenty = [bytes([place, 2 * place, 255 - place]) for place in range(20)]
    many = s.base64(0, s.transposed(twenty))
    yield column_of("strings_base64_many", "Twenty of one length", [b64encode(each) for each in twenty], s.plain(s.BLOB, many))
    twice = s.base64(0, s.base64(3, s.lengths([b"dill"])))
    yield column_of("strings_base64_nested", "Base64 of base64", [b64encode(b"ZGlsbA")], s.plain(s.BLOB, twice))


def refused() -> Iterator[Vector]:
    yield bad_column("strings_base64_form", "A form that there is not", 1, s.plain(s.BLOB, s.base64(4, s.lengths([b"x"]))))
    yield bad_column("strings_base64_no_form", "Nothing after the tag", 1, s.plain(s.BLOB, s.raw(b"\x12", "base64")))
    yield bad_column("strings_base64_no_strings", "Nothing after the form", 1, s.plain(s.BLOB, s.raw(b"\x12\0", "base64")))
    held = s.plain(s.TEXT, s.lengths([b"dill"]))
    holding = s.base64(0, s.holding(0, s.constant(0), s.lengths([b"x"])))
    yield bad_column("strings_base64_holding", "A string that refers to a column", 1, held, s.plain(s.BLOB, holding))
    part = s.lengths([b"x"])
    for _ in range(8):
        part = s.base64(0, part)
    yield bad_column("strings_base64_depth_8", "Base64 within base64, at depth 8", 1, s.plain(s.BLOB, part))
