"""Strings in base64 (`COLUMNS.md` section 2, tag 18)."""

from __future__ import annotations

from base64 import standard_b64encode, urlsafe_b64encode

from decoder.segment.arrays import Inner
from decoder.segment.limits import damaged

FOR_URLS, WITHOUT_PADDING = 1, 2


def base64(inner: Inner, count: int) -> list[bytes]:
    form = inner.byte()
    if form > FOR_URLS | WITHOUT_PADDING:
        raise damaged("a form of base64 that there is not")
    found: list[bytes] = []
    for string in inner.strings(count):
        inner.puts_together((len(string) + 2) // 3 * 4)
        digits = urlsafe_b64encode(string) if form & FOR_URLS else standard_b64encode(string)
        found.append(digits.rstrip(b"=") if form & WITHOUT_PADDING else digits)
    return found
