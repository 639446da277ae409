"""Segments (`COLUMNS.md` section 2), put together by hand.

Whoever writes one names every encoding. A part of a segment is a function that appends to its areas. Everything that
a vector may want to be wrong is an argument.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from dataclasses import dataclass, field

from encoder.deflate import DeflateStream, matched
from encoder.piece import Piece, Pieces, joined

FEW = 16
"""From so many numbers on they go to the numbers area."""


@dataclass
class Areas:
    control: Pieces = field(default_factory=list)
    numbers: Pieces = field(default_factory=list)
    text: Pieces = field(default_factory=list)

    def put(self, data: bytes, note: str = "") -> None:
        if data:
            self.control.append(Piece(data, note))

    def put_numbers(self, count: int, data: bytes, note: str = "") -> None:
        if data:
            (self.numbers if count >= FEW else self.control).append(Piece(data, note))

    def put_text(self, data: bytes, note: str = "") -> None:
        if data:
            self.text.append(Piece(data, note))


Part = Callable[[Areas], None]


def varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def signed(value: int) -> bytes:
    return varint((value << 1 ^ value >> 63) & 2**64 - 1)


def raw(data: bytes, note: str = "") -> Part:
    return lambda areas: areas.put(data, note)


def parts(*each: Part) -> Part:
    def write(areas: Areas) -> None:
        for part in each:
            part(areas)

    return write


def number(value: int) -> Part:
    return raw(varint(value), f"number {value}")


def chunk(data: bytes, size: int | None = None) -> Part:
    declared = len(data) if size is None else size
    return parts(raw(varint(declared), f"chunk of {declared} bytes"), lambda areas: areas.put_text(data, "chunk"))


@dataclass(frozen=True)
class Match:
    literals: int
    length: int
    distance: int


def content(
    part: Part, matches: list[Match] | None = None, literals: bytes | None = None, text_size: int | None = None,
    control_size: int | None = None, numbers_size: int | None = None, match_count: int | None = None, has_runs: bool = False,
) -> Pieces:  # fmt: skip
    """Where there are matches, `literals` is what they leave of the text area."""
    areas, matches = Areas(), matches or []
    part(areas)
    control, numbers, text = (len(joined(each)) for each in (areas.control, areas.numbers, areas.text))
    sizes = [
        (control if control_size is None else control_size, "bytes of control"),
        (numbers if numbers_size is None else numbers_size, "bytes of numbers"),
        (text if text_size is None else text_size, "bytes of text"),
        (len(matches) if match_count is None else match_count, "matches"),
    ]
    columns = [
        ([match.literals for match in matches], "literals before each match"),
        ([match.length - 8 for match in matches], "lengths of matches, less 8"),
        (distances_of(matches, has_runs), "distances of matches, less 1"),
    ]
    left = areas.text if literals is None else [Piece(literals, "literals")] if literals else []
    return [
        *(Piece(varint(size), f"{size} {what}") for size, what in sizes),
        *areas.control,
        *(Piece(b"".join(map(varint, column)), what) for column, what in columns if column),
        *areas.numbers,
        *left,
    ]


@dataclass(frozen=True)
class Run:
    page: int
    offset: int
    length: int
    is_chain: bool = False


def page_runs(found: list[Run], count: int | None = None) -> Pieces:
    """What a content with runs begins with."""
    steps = [run.page - before for run, before in zip(found, [0, *(run.page for run in found)])]
    columns = [
        (b"".join(map(signed, steps)), "first pages, each less the one before"),
        (b"".join(varint(run.offset << 1 | run.is_chain) for run in found), "offsets, and whether they are of overflow pages"),
        (b"".join(varint(run.length - 1) for run in found), "lengths, less 1"),
    ]
    declared = len(found) if count is None else count
    return [Piece(varint(declared), f"{declared} runs"), *(Piece(data, what) for data, what in columns if data)]


def coded(
    text: bytes, codes: bytes, alone: int, words: list[bytes], spans: list[tuple[int, int]], word_count: int | None = None,
    span_count: int | None = None, prefixes: list[int] | None = None,
) -> bytes:  # fmt: skip
    """The literals of a content with words: `text` in the content, of which the spans are the lengths."""
    bits = bytearray(32)
    for code in codes:
        bits[code // 8] |= 1 << code % 8
    shared = [len(os.path.commonprefix([word, before])) for word, before in zip(words, [b"", *words])]
    shared = shared if prefixes is None else prefixes
    return b"".join([
        bits, bytes([alone]), varint(len(words) if word_count is None else word_count), *map(varint, shared),
        *(word[size:] + b"\0" for word, size in zip(words, shared)), varint(len(spans) if span_count is None else span_count),
        *(varint(plain) + varint(coded) for plain, coded in spans), text,
    ])  # fmt: skip


def distances_of(matches: list[Match], has_runs: bool) -> list[int]:
    """Less 1; with runs each less the one before, as a signed number."""
    distances = [match.distance - 1 for match in matches]
    if not has_runs:
        return distances
    return [step << 1 ^ step >> 63 for step in (distance - before for distance, before in zip(distances, [0, *distances]))]


def stored(pieces: Pieces, form: int = 0) -> Pieces:
    return [Piece(bytes([form]), f"form {form}: stored"), *pieces]


def deflated(pieces: Pieces, size: int | None = None, cut: int = 0, more: bytes = b"", form: int = 1) -> Pieces:
    data = joined(pieces)
    declared = len(data) if size is None else size
    packed = DeflateStream().fixed(matched(data)).finished()
    return [
        Piece(bytes([form]), f"form {form}: deflated"), Piece(varint(declared), f"{declared} bytes of content"),
        Piece(packed[: len(packed) - cut] + more, "deflate stream"),
    ]  # fmt: skip


# Row groups


def group(
    count: int, *rest: Part, rowids: Part | None = None, legacy: bool = False, row_wise: bool = False, flags: int = 0
) -> Part:
    """`rest`: the sizes or widths, then what follows them."""
    bits = flags | bool(rowids) | 2 * legacy | 4 * row_wise
    front = parts(raw(varint(count), f"{count} rows"), raw(bytes([bits]), f"flags {bits}"))
    return parts(front, *([rowids] if rowids else []), *rest)


def text(data: bytes, note: str = "") -> Part:
    return lambda areas: areas.put_text(data, note)


# Columns

NULL, INTEGER, REAL, TEXT, BLOB = 1, 2, 4, 8, 16
WHOLE_REALS, KINDS_OF = 0x20, 0x40


def plain(kinds: int, *rest: Part) -> Part:
    """`rest`: the kinds where there are several, then integers, reals, texts, blobs."""
    return parts(raw(bytes([kinds]), f"plain column {kinds:02x}"), *rest)


def reference_to(column: int) -> Part:
    return raw(varint(column), f"column {column}")


def dictionary_column(size: int, values: Part, indexes: Part) -> Part:
    return parts(raw(b"\x80", "dictionary"), raw(varint(size), f"{size} values"), values, indexes)


def determined(column: int, values: Part) -> Part:
    return parts(raw(b"\x81", "determined"), reference_to(column), values)


def predicted(column: int, size: int, values: Part, codes: Part) -> Part:
    return parts(raw(b"\x82", "predicted"), reference_to(column), raw(varint(size), f"{size} values"), values, codes)


def copy(column: int) -> Part:
    return parts(raw(b"\x83", "copy"), reference_to(column))


# Integers


def constant(value: int) -> Part:
    return parts(raw(b"\0", "constant"), raw(signed(value), str(value)))


def arithmetic(first: int, step: int) -> Part:
    return parts(raw(b"\1", "arithmetic"), raw(signed(first) + signed(step), f"{first}, steps of {step}"))


def varints(values: list[int]) -> Part:
    data = b"".join(map(signed, values))
    return parts(raw(b"\2", "varints"), lambda areas: areas.put_numbers(len(values), data, "varints"))


def wrapped(value: int) -> int:
    return (value + 2**63) % 2**64 - 2**63


def deltas(values: list[int]) -> Part:
    steps = [wrapped(value - before) for value, before in zip(values, [0, *values])]
    data = b"".join(map(signed, steps))
    return parts(raw(b"\3", "deltas"), lambda areas: areas.put_numbers(len(values), data, "deltas"))


def in_planes(values: list[int], width: int) -> bytes:
    whole = [value.to_bytes(width, "big") for value in values]
    return b"".join(bytes(each[plane] for each in whole) for plane in range(width))


def planes(width: int, base: int, values: list[int]) -> Part:
    data = in_planes([(value - base) % 2**64 for value in values], width) if 1 <= width <= 8 else b""
    front = parts(raw(b"\4", "planes"), raw(bytes([width]), f"{width} planes"), raw(signed(base), f"base {base}"))
    return parts(front, lambda areas: areas.put_numbers(len(values), data, "planes"))


def delta_planes(width: int, values: list[int]) -> Part:
    steps = [wrapped(value - before) for value, before in zip(values, [0, *values])]
    data = in_planes([(step << 1 ^ step >> 63) & 2**64 - 1 for step in steps], width) if 1 <= width <= 8 else b""
    front = parts(raw(b"\5", "delta planes"), raw(bytes([width]), f"{width} planes"))
    return parts(front, lambda areas: areas.put_numbers(len(values), data, "delta planes"))


def runs(size: int, values: Part, lengths: Part) -> Part:
    return parts(raw(b"\6", "runs"), raw(varint(size), f"{size} runs"), values, lengths)


def packed(bits: int, base: int, values: list[int]) -> Part:
    whole = sum((value - base) << place * bits for place, value in enumerate(values))
    data = whole.to_bytes((len(values) * bits + 7) // 8, "little")
    front = parts(raw(b"\7", "packed"), raw(bytes([bits]), f"{bits} bits"), raw(signed(base), f"base {base}"))
    return parts(front, lambda areas: areas.put_numbers(len(values), data, "packed bits"))


def dictionary(size: int, values: Part, indexes: Part) -> Part:
    return parts(raw(b"\x08", "dictionary"), raw(varint(size), f"{size} values"), values, indexes)


def reference(name: int, rest: Part) -> Part:
    return parts(raw(b"\x09", "reference"), raw(varint(name), "rowids" if name == 0 else f"column {name - 1}"), rest)


def following(name: int, rest: Part) -> Part:
    return parts(raw(b"\x0a", "following"), raw(varint(name), "rowids" if name == 0 else f"column {name - 1}"), rest)


# Reals


def bits(values: Part) -> Part:
    return parts(raw(b"\0", "bits"), values)


def xor(values: Part) -> Part:
    return parts(raw(b"\1", "xor"), values)


def decimal(power: int, values: Part) -> Part:
    return parts(raw(b"\2", "decimal"), raw(bytes([power]), f"divided by 10^{power}"), values)


def mostly_decimal(power: int, gaps: Part, count: int, numbers: Part, others: Part) -> Part:
    front = parts(raw(b"\4", "mostly decimal"), raw(bytes([power]), f"divided by 10^{power}"))
    return parts(front, raw(varint(count), f"{count} others"), gaps, numbers, others)


def real_bytes(values: list[float]) -> Part:
    data = b"".join(struct.pack(">d", value) for value in values)
    return parts(raw(b"\3", "bytes"), lambda areas: areas.put_numbers(len(values), data, "binary64"))


def pattern_of(value: float) -> int:
    found: int = struct.unpack(">q", struct.pack(">d", value))[0]
    return found


# Strings


def lengths(values: list[bytes], sizes: Part | None = None) -> Part:
    return parts(
        raw(b"\0", "lengths"),
        sizes or varints([len(value) for value in values]),
        *(text(value, "string") for value in values),
    )


def terminated(values: list[bytes]) -> Part:
    return parts(raw(b"\1", "terminated"), *(text(value + b"\0", "string") for value in values))


def transposed(values: list[bytes], length: int | None = None) -> Part:
    size = len(values[0]) if length is None else length
    data = b"".join(bytes(value[place] for value in values) for place in range(len(values[0])))
    front = parts(raw(b"\2", "transposed"), raw(varint(size), f"{size} bytes each"))
    return parts(front, lambda areas: areas.put_numbers(len(values), data, "transposed"))


def identifiers(values: list[bytes], is_upper: bool) -> Part:
    tag = raw(b"\3" if is_upper else b"\4", "UUID, A-F" if is_upper else "UUID, a-f")
    return parts(tag, lambda areas: areas.put_numbers(len(values), b"".join(values), "UUIDs"))


def hexadecimal(is_upper: bool, values: Part) -> Part:
    return parts(raw(b"\5" if is_upper else b"\6", "hex, A-F" if is_upper else "hex, a-f"), values)


def front(kept: Part, rests: Part) -> Part:
    return parts(raw(b"\7", "front"), kept, rests)


def dictionary_of_strings(values: Part, count: int, indexes: Part) -> Part:
    return parts(raw(b"\x08", "dictionary"), raw(varint(count), f"{count} strings"), values, indexes)


def holding(column: int, places: Part, rests: Part) -> Part:
    return parts(raw(b"\x09", "holding"), reference_to(column), places, rests)


def arrays(
    width: int, fields: int, numbers: Part, gaps: Part, counts: Part, rests: Part, *columns: Part,
    matches: list[tuple[int, int, int]] | None = None, match_count: int | None = None, is_big_endian: bool = False,
) -> Part:  # fmt: skip
    """`columns`: the literals, field by field. `matches`: the literals before each, its length, and its source."""
    found = matches or []
    count = len(found) if match_count is None else match_count
    order = "big" if is_big_endian else "little"
    head = raw(bytes([width | 0x80 * is_big_endian, fields]), f"elements of {fields} numbers of {width} bytes, {order}-endian")
    lists = [[run for run, _, _ in found], [length - 1 for _, length, _ in found], [source for _, _, source in found]]
    told = parts(raw(varint(count), f"{count} matches"), *(varints(each) for each in lists if each))
    return parts(raw(b"\x0d", "arrays"), head, numbers, gaps, counts, rests, told, *columns)


def decimals(fields: list[tuple[int, int]], rests: Part, *numbers: Part, count: int | None = None) -> Part:
    """`fields`: the digits of the fraction, at most and at least, or at least in all. `numbers`: those of each field."""
    found = len(fields) if count is None else count
    head = parts(raw(b"\x0f", "decimals"), raw(bytes([found]), f"{found} fields"))
    spellings = [raw(bytes([most + 16 * least]), f"{most} digits behind the point at most, {least} at least") for most, least in fields]
    return parts(head, *spellings, rests, *numbers)


def digits(forms: list[int | tuple[int, int, bytes]], rests: Part, *runs: Part, count: int | None = None) -> Part:
    """`forms`: one for each field; with lines the form, the length of a line, and what stands between two. `runs`: those of each field."""
    found = len(forms) if count is None else count
    return parts(raw(b"\x0c", "digits"), raw(bytes([found]), f"{found} fields"), *map(digit_form, forms), rests, *runs)


def digit_form(form: int | tuple[int, int, bytes]) -> Part:
    if isinstance(form, int):
        return raw(bytes([form]), f"form {form}")
    number, length, ending = form
    return parts(raw(bytes([number]), f"form {number}"), raw(bytes([length, len(ending)]), f"lines of {length}"), raw(ending, "between lines"))


def utf16(order: int, texts: Part) -> Part:
    """`order`: 0 little-endian, 1 big-endian."""
    named = ["little-endian", "big-endian"][order] if order < 2 else f"order {order}"
    return parts(raw(b"\x10", "UTF-16"), raw(bytes([order]), named), texts)


def deflated_strings(ways: Part, contents: Part, *around: Part) -> Part:
    """`around`: the heads and the tails of streams that stand inside strings."""
    return parts(raw(b"\x0b", "deflated strings"), ways, contents, *around)


def way_to_deflate(level: int, memory_level: int = 8, window_bits: int = 15, wrapper: int = 0) -> int:
    """The number for it; wrapper 0 raw, 1 zlib, 2 and 3 gzip, 4 to 6 raw, zlib and gzip inside a string."""
    return 1 + level - 1 + 9 * (memory_level - 1) + 81 * (15 - window_bits) + 567 * wrapper


def blocks(
    ways: Part, contents: Part, counts: Part, *around: Part, corrections: list[tuple[int, int, int, int]] | None = None
) -> Part:
    """`corrections`: items before each, its literals, length and distance. `around`: heads and tails."""
    fields = [varints(list(each)) for each in zip(*(corrections or []))]
    return parts(raw(b"\x0e", "blocks"), ways, contents, counts, *fields, *around)


def way_to_block(parser: int, form: int = 0, wrapper: int = 0) -> int:
    """The number for it. Form 8 is LZ4. Wrapper 1 a size, 2 Mozilla's, 3 inside a string, 4 inside, behind its size."""
    return 1 + parser + 9 * form + 81 * wrapper
