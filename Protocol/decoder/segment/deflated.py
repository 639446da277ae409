"""Strings that are the content of deflate streams."""

from __future__ import annotations

from decoder.deflater.stream import deflate, gzip_stream, zlib_stream
from decoder.deflater.symbols import candidates
from decoder.segment.limits import CANDIDATES, damaged
from decoder.segment.reading import Reading

WAYS = 7 * 567
RAW, ZLIB, GZIP, OTHER_GZIP, RAW_INSIDE, ZLIB_INSIDE, GZIP_INSIDE = range(7)


def inside(ways: list[int]) -> int:
    """How many have a head and a tail."""
    if not all(0 <= way <= WAYS for way in ways):
        raise damaged("a way to deflate that there is not")
    return sum(way > RAW_INSIDE * 567 for way in ways)


def deflated(
    reading: Reading, ways: list[int], contents: list[bytes], heads: list[bytes], tails: list[bytes]
) -> list[bytes]:
    found: list[bytes] = []
    around = iter(zip(heads, tails))
    for way, content in zip(ways, contents):
        head, tail = next(around) if way > RAW_INSIDE * 567 else (b"", b"")
        found.append(stream(reading, way - 1, content, head) + tail if way else content)
        reading.puts_together(len(found[-1]))
    return found


def stream(reading: Reading, way: int, content: bytes, head: bytes) -> bytes:
    level, memory_level, window_bits = way % 9 + 1, way // 9 % 9 + 1, 15 - way // 81 % 7
    reading.deflates(len(content))
    if candidates(content, level, memory_level, window_bits) > CANDIDATES * len(content):
        raise damaged("too many candidates for matches")
    match way // 567:
        case 0 | 4:
            return head + deflate(content, level, memory_level, window_bits)
        case 1 | 5:
            return head + zlib_stream(content, level, memory_level, window_bits)
        case 2 | 3 as wrapper:
            flags = {9: 2, 1: 4}.get(level, 0)
            head = bytes([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, flags, 3 if wrapper == 2 else 19])
    return gzip_stream(head, content, level, memory_level, window_bits)
