"""A small deflate encoder (RFC 1951) in zlib's wrapping (RFC 1950).

It is here so that the vectors do not depend on which zlib is installed: only stored blocks and fixed Huffman codes,
and one plain way of finding matches.
"""

from __future__ import annotations

import struct
import zlib

LENGTH_BASES = [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258]  # fmt: skip
LENGTH_EXTRA = [0] * 8 + [1] * 4 + [2] * 4 + [3] * 4 + [4] * 4 + [5] * 4 + [0]
DISTANCE_BASES = [1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577]  # fmt: skip
DISTANCE_EXTRA = [0, 0] + [bits for bits in range(14) for _ in range(2)]
LONGEST_MATCH, SHORTEST_MATCH, WINDOW = 258, 3, 32_768

Token = int | tuple[int, int]
"""A literal byte, or a match as (length, distance)."""


class DeflateStream:
    """Blocks of one deflate stream, written one after the other."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._bits = 0
        self._count = 0

    def stored(self, data: bytes, last: bool = True) -> DeflateStream:
        if len(data) > 65_535:
            raise ValueError("a stored block holds 65,535 bytes at most")
        self._put(1 if last else 0, 1)
        self._put(0, 2)
        self._align()
        self._bytes += struct.pack("<HH", len(data), len(data) ^ 0xFFFF) + data
        return self

    def fixed(self, tokens: list[Token], last: bool = True) -> DeflateStream:
        self._put(1 if last else 0, 1)
        self._put(1, 2)
        for token in tokens:
            if isinstance(token, int):
                self._symbol(token)
            else:
                self._match(*token)
        self._symbol(256)
        return self

    def finished(self) -> bytes:
        self._align()
        return bytes(self._bytes)

    def _put(self, value: int, count: int) -> None:
        self._bits |= value << self._count
        self._count += count
        while self._count >= 8:
            self._bytes.append(self._bits & 0xFF)
            self._bits >>= 8
            self._count -= 8

    def _align(self) -> None:
        if self._count:
            self._put(0, 8 - self._count)

    def _code(self, code: int, length: int) -> None:
        """Huffman codes go most significant bit first."""
        for shift in reversed(range(length)):
            self._put(code >> shift & 1, 1)

    def _symbol(self, symbol: int) -> None:
        if symbol < 144:
            self._code(0x30 + symbol, 8)
        elif symbol < 256:
            self._code(0x190 + symbol - 144, 9)
        elif symbol < 280:
            self._code(symbol - 256, 7)
        else:
            self._code(0xC0 + symbol - 280, 8)

    def _match(self, length: int, distance: int) -> None:
        index = max(i for i, base in enumerate(LENGTH_BASES) if base <= length)
        self._symbol(257 + index)
        self._put(length - LENGTH_BASES[index], LENGTH_EXTRA[index])
        index = max(i for i, base in enumerate(DISTANCE_BASES) if base <= distance)
        self._code(index, 5)
        self._put(distance - DISTANCE_BASES[index], DISTANCE_EXTRA[index])


def matched(data: bytes, dictionary: bytes = b"") -> list[Token]:
    """Greedy: at each place the match with the last earlier place that begins with the same three bytes."""
    window = dictionary + data
    seen: dict[bytes, int] = {}
    for place in range(len(dictionary)):
        seen[window[place : place + SHORTEST_MATCH]] = place
    tokens: list[Token] = []
    place = len(dictionary)
    while place < len(window):
        earlier = seen.get(window[place : place + SHORTEST_MATCH], -1)
        length = 0
        if 0 <= earlier and place - earlier <= WINDOW:
            longest = min(LONGEST_MATCH, len(window) - place)
            while length < longest and window[earlier + length] == window[place + length]:
                length += 1
        step = length if length >= SHORTEST_MATCH else 1
        tokens.append((length, place - earlier) if step > 1 else window[place])
        for passed in range(place, place + step):
            seen[window[passed : passed + SHORTEST_MATCH]] = passed
        place += step
    return tokens


def zlib_header(dictionary: bytes | None = None) -> bytes:
    """CMF 0x78 (deflate, 32 KiB), FLG with FLEVEL 2 and its check bits; DICTID where there is a dictionary."""
    flags = 0x80 if dictionary is None else 0xA0
    flags += 31 - (0x7800 + flags) % 31
    identifier = b"" if dictionary is None else struct.pack(">I", zlib.adler32(dictionary))
    return bytes([0x78, flags]) + identifier


def wrapped(deflated: bytes, data: bytes, dictionary: bytes | None = None, flip: int = 0) -> bytes:
    """A zlib stream. `flip` makes the Adler-32 wrong."""
    return zlib_header(dictionary) + deflated + struct.pack(">I", zlib.adler32(data) ^ flip)


def compressed(data: bytes, dictionary: bytes | None = None, flip: int = 0) -> bytes:
    tokens = matched(data, dictionary or b"")
    return wrapped(DeflateStream().fixed(tokens).finished(), data, dictionary, flip)
