"""Strings that are texts in UTF-16 (`COLUMNS.md` section 2, tag 16)."""

from __future__ import annotations

from decoder.segment.arrays import Inner
from decoder.segment.limits import damaged

CODECS = ["utf-16-le", "utf-16-be"]
"""By order."""


def utf16(inner: Inner, count: int) -> list[bytes]:
    order = inner.byte()
    if order >= len(CODECS):
        raise damaged("an order of bytes that there is not")
    found: list[bytes] = []
    for string in inner.strings(count):
        try:
            text = string.decode()
        except UnicodeDecodeError:
            raise damaged("a text that is not UTF-8") from None
        inner.puts_together(sum(4 if character > "\uffff" else 2 for character in text))
        found.append(text.encode(CODECS[order]))
    return found
