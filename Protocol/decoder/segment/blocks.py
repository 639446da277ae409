"""Strings that are blocks of Snappy or LZ4, or hold one (`BLOCKS.md`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from decoder.segment.limits import damaged
from decoder.segment.reading import Reading

FORMS, LZ4 = 9, 8
WRAPPERS = 5
ALONE, SIZED, MARKED, INSIDE, MEASURED_INSIDE = range(WRAPPERS)
MARK = b"mozLz40\0"
FARTHEST = 65_535
CORRECTED = 8
"""Content has at most one correction for so many of its bytes."""
SHORT = 60


@dataclass(frozen=True)
class Parser:
    block: int | None
    """Bytes of a block; `None` for one block."""
    multiplier: int | None
    """`None` where positions are found by their four bytes."""
    bits: int
    fits: bool = False
    """Whether small blocks have fewer entries."""
    masks: bool = False
    """Whether the number of an entry is the lowest of the hash's bits, rather than the highest."""
    hashed: int = 4
    shift: int | None = None
    grows: bool = False
    margin: int = 3
    cut: int = 0
    goes_back: bool = False
    enters: int | None = None
    """How far before the end of a match; `None` for all of it, and 0 for nothing."""


SNAPPY = 0x1E35A7BD
PARSERS = [
    Parser(65_536, SNAPPY, 14, fits=True, shift=5, grows=True, margin=15, enters=1),
    Parser(65_536, SNAPPY, 14, fits=True, masks=True, shift=5, grows=True, margin=15, enters=1),
    Parser(65_536, SNAPPY, 15, fits=True, masks=True, shift=5, grows=True, margin=15, enters=1),
    Parser(None, 2_654_435_761, 13, shift=6, margin=11, cut=5, goes_back=True, enters=2),
    Parser(None, 889_523_592_379, 12, hashed=5, shift=6, margin=11, cut=5, goes_back=True, enters=2),
    Parser(None, None, 0, enters=0),
    Parser(None, None, 0, enters=None),
    Parser(None, None, 0, margin=11, cut=5, enters=0),
    Parser(None, None, 0, margin=11, cut=5, enters=None),
]
WAYS = len(PARSERS) * FORMS * WRAPPERS


def wrapper_of(way: int) -> int:
    if not 0 <= way <= WAYS:
        raise damaged("a way to make a block that there is not")
    return (way - 1) // (len(PARSERS) * FORMS) if way else ALONE


def way_is_known(way: int) -> bool:
    """Whether it is the way of a block."""
    wrapper_of(way)
    return way != 0


def check_counts(reading: Reading, counts: list[int], sizes: list[int]) -> None:
    for count, size in zip(counts, sizes):
        reading.deflates(size)
        if not 0 <= count <= size // CORRECTED:
            raise damaged("a number of corrections that cannot be")


def inside(ways: list[int]) -> int:
    """How many have a head and a tail."""
    return sum(wrapper_of(way) >= INSIDE for way in ways)


@dataclass(frozen=True)
class Correction:
    before: int
    """Items that are as predicted, since the last correction."""
    literals: int
    length: int
    distance: int


def blocks(
    reading: Reading, ways: list[int], contents: list[bytes], found: list[list[Correction]],
    heads: list[bytes], tails: list[bytes],
) -> list[bytes]:  # fmt: skip
    strings: list[bytes] = []
    corrections, around = iter(found), iter(zip(heads, tails))
    for way, content in zip(ways, contents):
        if way:
            wrapper, rest = divmod(way - 1, len(PARSERS) * FORMS)
            form, parser = divmod(rest, len(PARSERS))
            made = made_again(content, PARSERS[parser], form, next(corrections))
            head, tail = next(around) if wrapper >= INSIDE else (b"", b"")
            between = {
                SIZED: len(content).to_bytes(4, "little"),
                MARKED: MARK + len(content).to_bytes(4, "little"),
                MEASURED_INSIDE: len(made).to_bytes(4, "little"),
            }.get(wrapper, b"")
            content = head + between + made + tail
        reading.puts_together(len(content))
        strings.append(content)
    return strings


def made_again(content: bytes, parser: Parser, form: int, corrections: list[Correction]) -> bytes:
    size = parser.block or max(1, len(content))
    left = list(corrections)
    out = bytearray()
    if form != LZ4:
        number = len(content)
        while number > 0x7F:
            out.append(number & 0x7F | 0x80)
            number >>= 7
        out.append(number)
    for start in range(0, max(1, len(content)), size):
        block = content[start : start + size]
        place = 0
        for literals, length, distance in Parse(block, parser, left).items():
            run = block[place : place + literals]
            if form == LZ4:
                out += lz4(run, length, distance)
            else:
                out += snappy(run, length, distance, form)
            place += literals + length
    if left:
        raise damaged("a correction behind the end")
    return bytes(out)


class Parse:
    """How one block is parsed."""

    def __init__(self, block: bytes, parser: Parser, corrections: list[Correction]) -> None:
        self.block, self.parser, self.corrections = block, parser, corrections
        bits = parser.bits
        if parser.fits:
            bits = min(bits, max(8, (len(block) - 1).bit_length()))
        self.size = bits
        self.table: dict[int, int] = {}
        self.start = 0
        self.look(0)

    def items(self) -> Iterator[tuple[int, int, int]]:
        """Literals, length and distance; the last one has no length."""
        is_first = True
        while True:
            if self.corrections and self.corrections[0].before == 0:
                literals, length, distance = self.corrected(self.corrections.pop(0), is_first)
            else:
                if self.corrections:
                    first = self.corrections[0]
                    self.corrections[0] = Correction(first.before - 1, first.literals, first.length, first.distance)
                literals, length, distance = self.predicted(is_first)
            yield literals, length, distance
            if length == 0:
                return
            is_first = False
            begin = self.start + literals
            self.start = begin + length
            enters = self.parser.enters
            for place in range(begin + 1, self.start) if enters is None else [self.start - enters] if enters else []:
                if place >= 0:
                    self.look(place)

    def looked_at(self, is_first: bool) -> Iterator[tuple[int, int]]:
        """Positions, and how far it is to the next."""
        if not is_first:
            yield self.start, 1
        place, shift = self.start + 1, self.parser.shift
        count = 0 if shift is None else (1 << shift) - (0 if self.parser.grows else 1)
        while True:
            step = 1 if shift is None else max(1, count >> shift)
            count += step if self.parser.grows else 1
            yield place, step
            place += step

    def predicted(self, is_first: bool) -> tuple[int, int, int]:
        for place, step in self.looked_at(is_first):
            if place + step > len(self.block) - self.parser.margin:
                break
            found = self.look(place)
            if found is None or place - found > FARTHEST or self.block[found : found + 4] != self.block[place : place + 4]:
                continue
            length, distance = self.longest(place, found), place - found
            while self.parser.goes_back and place > self.start and found > 0 and self.block[place - 1] == self.block[found - 1]:
                place, found, length = place - 1, found - 1, length + 1
            return place - self.start, length, distance
        return len(self.block) - self.start, 0, 0

    def corrected(self, correction: Correction, is_first: bool) -> tuple[int, int, int]:
        literals, length, distance = correction.literals, correction.length, correction.distance
        begin = self.start + literals
        if literals < 0 or begin > len(self.block) or length < 0 or not 0 <= distance <= FARTHEST:
            raise damaged("a correction that cannot be")
        if begin == len(self.block):
            if length or distance:
                raise damaged("a match at the end")
            return literals, 0, 0
        for place, _ in self.looked_at(is_first):
            if place >= begin:
                break
            self.look(place)
        found = self.look(begin)
        if distance == 0:
            if found is None or not 0 < begin - found <= FARTHEST:
                raise damaged("no candidate where one is meant")
            distance = begin - found
        if distance > begin:
            raise damaged("a match before the block")
        length = length or self.longest(begin, begin - distance)
        if length == 0 or begin + length > len(self.block):
            raise damaged("a match of a length that cannot be")
        return literals, length, distance

    def longest(self, place: int, found: int) -> int:
        limit = len(self.block) - self.parser.cut - place
        length = 0
        while length < limit and self.block[found + length] == self.block[place + length]:
            length += 1
        return length

    def look(self, place: int) -> int | None:
        """Enters a position, and gives the one that was there."""
        width = self.parser.hashed
        if place + width > len(self.block):
            return None
        value = int.from_bytes(self.block[place : place + width], "little")
        entry = self.entry(value)
        found = self.table.get(entry)
        self.table[entry] = place
        return found

    def entry(self, value: int) -> int:
        parser = self.parser
        if parser.multiplier is None:
            return value
        if parser.hashed == 5:
            return (value << 24) * parser.multiplier % 2**64 >> 64 - self.size
        product = value * parser.multiplier % 2**32
        return (product >> 32 - parser.bits) % 2**self.size if parser.masks else product >> 32 - self.size


def snappy(run: bytes, length: int, distance: int, form: int) -> bytes:
    """Form: bit 0 for pieces of 64 bytes, bit 1 for no copies of two bytes, bit 2 for literals of 60 bytes at most."""
    out = bytearray()
    most = SHORT if form & 4 else max(1, len(run))
    for piece in (run[at : at + most] for at in range(0, len(run), most)):
        size = len(piece) - 1
        more = b"" if size < SHORT else size.to_bytes((size.bit_length() + 7) // 8, "little")
        out += bytes([(59 + len(more) if more else size) << 2]) + more + piece
    while length:
        piece = min(64, length) if form & 1 or length >= 68 or length <= 64 else 60
        if 4 <= piece < 12 and distance < 2048 and not form & 2:
            out += bytes([1 | piece - 4 << 2 | distance >> 8 << 5, distance & 0xFF])
        else:
            out += bytes([2 | piece - 1 << 2]) + distance.to_bytes(2, "little")
        length -= piece
    return bytes(out)


def lz4(run: bytes, length: int, distance: int) -> bytes:
    def more(value: int) -> bytes:
        return b"\xff" * ((value - 15) // 255) + bytes([(value - 15) % 255]) if value >= 15 else b""

    if 0 < length < 4:
        raise damaged("a match of LZ4 that is too short")
    match = max(0, length - 4)
    out = bytes([min(15, len(run)) << 4 | min(15, match)]) + more(len(run)) + run
    return out + distance.to_bytes(2, "little") + more(match) if length else out
