"""From the bytes of a segment to its three areas."""

from __future__ import annotations

import re
import zlib
from functools import cache
from itertools import accumulate
from pathlib import Path

from decoder.segment import limits
from decoder.segment.area import Area, unzigzagged, wrapped
from decoder.segment.earlier import Reading, no_bytes, runs_of
from decoder.segment.limits import damaged
from decoder.segment.words import literals as spelled
from decoder.segment.work import Work

DICTIONARY = Path(__file__).resolve().parent.parent.parent / "columns-dictionary.txt"
SHORTEST_MATCH = 8
DEFLATED, RUNS, WORDS = 1, 2, 4


@cache
def dictionary() -> bytes:
    """As the head of the file says."""
    lines = [line for line in DICTIONARY.read_bytes().split(b"\n") if not line.startswith(b"#")]
    return re.sub(rb"\\(\\|[0-9a-f]{2})", lambda found: unescaped(found[1]), b"".join(lines))


def unescaped(digits: bytes) -> bytes:
    return b"\\" if digits == b"\\" else bytes.fromhex(digits.decode())


def content(segment: bytes, work: Work) -> bytes:
    work.pay(len(segment))
    if not segment or len(segment) > limits.ENCODED:
        raise damaged("a segment of no bytes, or of too many")
    if segment[0] > DEFLATED | RUNS | WORDS:
        raise damaged("a form of segments that there is not")
    if not segment[0] & DEFLATED:
        found = segment[1:]
        if len(found) > limits.CONTENT:
            raise damaged("too much content")
        work.spend(len(found))
        return found
    packed = Area(segment[1:])
    size = packed.varint()
    if size > limits.CONTENT:
        raise damaged("too much content")
    work.spend(size)
    inflater = zlib.decompressobj(wbits=-15)
    try:
        found = inflater.decompress(packed.rest, size + 1)
    except zlib.error as error:
        raise damaged(str(error)) from error
    if len(found) != size or not inflater.eof or inflater.unused_data:
        raise damaged("a deflate stream that is not as long as it should be, or does not end with the segment")
    return found


class Areas:
    """Control, numbers and text."""

    def __init__(self, segment: bytes, work: Work, earlier: Reading = no_bytes) -> None:
        whole = Area(content(segment, work))
        before, has_runs = dictionary(), segment[0] & RUNS
        if has_runs:
            before += earlier(runs_of(whole))
        control, numbers, text, matches = (whole.varint() for _ in range(4))
        if text > limits.TEXT or matches > limits.MATCHES:
            raise damaged("a text area that is too long, or too many matches")
        self.control = Area(whole.take(control))
        literals, lengths, distances = ([whole.varint() for _ in range(matches)] for _ in range(3))
        if has_runs:
            distances = [wrapped(distance) for distance in accumulate(map(unzigzagged, distances))]
            if any(distance < 0 for distance in distances):
                raise damaged("a match that reaches too far")
        self.numbers = Area(whole.take(numbers))
        work.spend(text)
        left = spelled(whole, text, work) if segment[0] & WORDS else whole.rest
        self.text = Area(expanded(Area(left), list(zip(literals, lengths, distances)), text, before))

    def numbers_for(self, count: int) -> Area:
        return self.numbers if count >= 16 else self.control

    @property
    def is_at_end(self) -> bool:
        """Of control; then nothing may be left elsewhere."""
        if self.control.is_at_end and not (self.numbers.is_at_end and self.text.is_at_end):
            raise damaged("something that nobody asks for")
        return self.control.is_at_end


def expanded(
    literals: Area, matches: list[tuple[int, int, int]], size: int, before: bytes | None = None
) -> bytes:
    before = dictionary() if before is None else before
    found = bytearray(before)
    for literal, length, distance in matches:
        length, distance = length + SHORTEST_MATCH, distance + 1
        found += literals.take(literal)
        if distance > len(found) or len(found) + length > len(before) + size:
            raise damaged("a match that reaches too far, or is too long")
        start = len(found) - distance
        while length:
            piece = found[start : start + length]
            found += piece
            start += len(piece)
            length -= len(piece)
    found += literals.rest
    if len(found) != len(before) + size:
        raise damaged("a text area of another size")
    return bytes(found[len(before) :])
