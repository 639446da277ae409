"""Sections 5, 7 and 8 of `DEFLATE.md`: from symbols to the bytes of a stream.

Bits are digits of a string, in the order of the stream, until they become bytes.
"""

from __future__ import annotations

from binascii import crc32
from typing import NamedTuple

from decoder.deflater.codes import code_lengths, codes
from decoder.deflater.symbols import Block, Symbol, blocks

END_OF_BLOCK, LITERALS, DISTANCES = 256, 286, 30
LONGEST_CODE, LONGEST_LENGTH_CODE = 15, 7
LENGTH_EXTRA = [0] * 8 + [bits for bits in range(1, 6) for _ in range(4)] + [0]
DISTANCE_EXTRA = [0, 0] + [bits for bits in range(14) for _ in range(2)]
REPEAT, ZEROS, MANY_ZEROS = 16, 17, 18
ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
FIXED_LENGTHS = [8] * 144 + [9] * 112 + [7] * 24 + [8] * 8
FIXED_DISTANCE_LENGTHS = [5] * DISTANCES
ADLER = 65_521


def number(value: int, count: int) -> str:
    return f"{value:0{count}b}"[::-1] if count else ""


def expanded(extra: list[int]) -> list[tuple[int, str]]:
    """For each value, from the smallest on, its code and its extra bits."""
    return [(code, number(value, bits)) for code, bits in enumerate(extra) for value in range(1 << bits)]


LENGTH_CODES = [(257 + code, bits) for code, bits in expanded(LENGTH_EXTRA)][: 258 - 3] + [(285, "")]
"""By length less 3."""
DISTANCE_CODES = expanded(DISTANCE_EXTRA)
"""By distance less 1."""


class Counted(NamedTuple):
    """How often each code is in a block, and the bits that codes of certain lengths take there, with their extra bits."""

    literals: list[int]
    distances: list[int]

    def size(self, lengths: list[int], distance_lengths: list[int]) -> int:
        bits = sum(count * length for count, length in zip(self.literals, lengths))
        bits += sum(count * length for count, length in zip(self.distances, distance_lengths))
        bits += sum(count * extra for count, extra in zip(self.literals[257:], LENGTH_EXTRA))
        return bits + sum(count * extra for count, extra in zip(self.distances, DISTANCE_EXTRA))


def counted(symbols: list[Symbol]) -> Counted:
    literals, distances = [0] * LITERALS, [0] * DISTANCES
    for symbol in symbols:
        if isinstance(symbol, int):
            literals[symbol] += 1
        else:
            literals[LENGTH_CODES[symbol[0] - 3][0]] += 1
            distances[DISTANCE_CODES[symbol[1] - 1][0]] += 1
    literals[END_OF_BLOCK] = 1
    return Counted(literals, distances)


def trimmed(lengths: list[int]) -> list[int]:
    return lengths[: max(symbol for symbol, length in enumerate(lengths) if length) + 1]


def runs(lengths: list[int]) -> list[tuple[int, str]]:
    """Codes for code lengths, each with its extra bits (section 7)."""
    found: list[tuple[int, str]] = []
    at, before = 0, -1
    while at < len(lengths):
        length = lengths[at]
        most = 138 if length == 0 else 6 if length == before else 7
        count = 1
        while count < most and at + count < len(lengths) and lengths[at + count] == length:
            count += 1
        at += count
        if length == 0 and count >= 11:
            found.append((MANY_ZEROS, number(count - 11, 7)))
        elif length == 0 and count >= 3:
            found.append((ZEROS, number(count - 3, 3)))
        elif length and count >= (3 if length == before else 4):
            if length != before:
                found.append((length, ""))
                count -= 1
            found.append((REPEAT, number(count - 3, 2)))
        else:
            found += [(length, "")] * count
        before = length
    return found


def lengths_told(lengths: list[int], distance_lengths: list[int]) -> str:
    """What stands before the symbols of a block with codes of its own."""
    literals, distances = trimmed(lengths), trimmed(distance_lengths)
    told = runs(literals) + runs(distances)
    frequencies = [0] * len(ORDER)
    for code, _ in told:
        frequencies[code] += 1
    own = code_lengths(frequencies, LONGEST_LENGTH_CODE)
    ordered = [own[code] for code in ORDER]
    ordered = ordered[: max(4, len(trimmed(ordered)))]
    bits = number(len(literals) - 257, 5) + number(len(distances) - 1, 5) + number(len(ordered) - 4, 4)
    bits += "".join(number(length, 3) for length in ordered)
    of_code = codes(own)
    return bits + "".join(of_code[code] + extra for code, extra in told)


def coded(symbols: list[Symbol], lengths: list[int], distance_lengths: list[int]) -> str:
    of_literal, of_distance = codes(lengths), codes(distance_lengths)
    bits: list[str] = []
    for symbol in symbols:
        if isinstance(symbol, int):
            bits.append(of_literal[symbol])
        else:
            length, length_extra = LENGTH_CODES[symbol[0] - 3]
            distance, distance_extra = DISTANCE_CODES[symbol[1] - 1]
            bits += (of_literal[length], length_extra, of_distance[distance], distance_extra)
    return "".join(bits) + of_literal[END_OF_BLOCK]


def block_bits(block: Block, place: int) -> str:
    """The bits of a block that begins `place` bits into its byte."""
    counts = counted(block.symbols)
    lengths, distance_lengths = code_lengths(counts.literals, LONGEST_CODE), code_lengths(counts.distances, LONGEST_CODE)
    told = lengths_told(lengths, distance_lengths)
    dynamic = (3 + len(told) + counts.size(lengths, distance_lengths) + 7) // 8
    fixed = (3 + counts.size(FIXED_LENGTHS, FIXED_DISTANCE_LENGTHS) + 7) // 8
    final = "1" if block.is_last else "0"
    if block.content is not None and len(block.content) + 4 <= min(fixed, dynamic):
        size = len(block.content)
        padding = "0" * (-(place + 3) % 8)
        content = "".join(number(byte, 8) for byte in block.content)
        return final + number(0, 2) + padding + number(size, 16) + number(size ^ 0xFFFF, 16) + content
    if fixed <= dynamic:
        return final + number(1, 2) + coded(block.symbols, FIXED_LENGTHS, FIXED_DISTANCE_LENGTHS)
    return final + number(2, 2) + told + coded(block.symbols, lengths, distance_lengths)


def deflate(data: bytes, level: int, memory_level: int, window_bits: int) -> bytes:
    """The raw stream. `level` 1 to 9, `memory_level` 1 to 9, `window_bits` 9 to 15."""
    stream, bits = bytearray(), ""
    for block in blocks(data, level, memory_level, window_bits):
        bits += block_bits(block, len(bits))
        whole = len(bits) // 8 * 8
        stream += packed(bits[:whole])
        bits = bits[whole:]
    return bytes(stream + packed(bits))


def packed(bits: str) -> bytes:
    return int("0" + bits[::-1], 2).to_bytes((len(bits) + 7) // 8, "little")


def zlib_stream(data: bytes, level: int, memory_level: int, window_bits: int) -> bytes:
    """Section 8.2."""
    method = (window_bits - 8) << 4 | 8
    flags = (0 if level == 1 else 1 if level < 6 else 2 if level == 6 else 3) << 6
    flags += 31 - (method << 8 | flags) % 31
    stream = deflate(data, level, memory_level, window_bits)
    return bytes([method, flags]) + stream + adler32(data).to_bytes(4, "big")


def gzip_stream(head: bytes, data: bytes, level: int, memory_level: int, window_bits: int) -> bytes:
    """Section 8.3."""
    stream = deflate(data, level, memory_level, window_bits)
    return head + stream + crc32(data).to_bytes(4, "little") + (len(data) % 2**32).to_bytes(4, "little")


def adler32(data: bytes) -> int:
    low, high = 1, 0
    for byte in data:
        low += byte
        high += low
    return high % ADLER << 16 | low % ADLER
