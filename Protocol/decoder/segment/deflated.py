"""Strings that are the content of deflate streams."""

from __future__ import annotations

from decoder.deflater.stream import deflate, gzip_stream, zlib_stream
from decoder.deflater.symbols import EFFORTS
from decoder.segment.limits import damaged
from decoder.segment.reading import Reading

WAYS = 4 * 567
RAW, ZLIB, GZIP, OTHER_GZIP = range(4)


def deflated(reading: Reading, ways: list[int], contents: list[bytes]) -> list[bytes]:
    found: list[bytes] = []
    for way, content in zip(ways, contents):
        found.append(stream(reading, way - 1, content) if way else content)
        reading.puts_together(len(found[-1]))
    return found


def stream(reading: Reading, way: int, content: bytes) -> bytes:
    if not 0 <= way < WAYS:
        raise damaged("a way to deflate that there is not")
    level, memory_level, window_bits = way % 9 + 1, way // 9 % 9 + 1, 15 - way // 81 % 7
    reading.deflates(len(content), EFFORTS[level].chain)
    match way // 567:
        case 0:
            return deflate(content, level, memory_level, window_bits)
        case 1:
            return zlib_stream(content, level, memory_level, window_bits)
        case wrapper:
            flags = {9: 2, 1: 4}.get(level, 0)
            head = bytes([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, flags, 3 if wrapper == 2 else 19])
            return gzip_stream(head, content, level, memory_level, window_bits)
