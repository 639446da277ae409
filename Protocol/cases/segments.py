"""Sound segments (`COLUMNS.md` section 2): one for each encoding, and each at its edges."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator

from cases.segment_vector import Given, Row, column_of, good
from encoder import segment as s
from encoder.sqlite_file import Value
from encoder.store_record import RawRecord, record
from encoder.vector import Vector

FEW, MANY = 5, 20
"""Below and from 16 on numbers come from another area."""
LOW, HIGH = -(2**63), 2**63 - 1


def vectors() -> Iterator[Vector]:
    yield from forms()
    yield from matches()
    yield from groups()
    yield from integers()
    yield from references()
    yield from reals()
    yield from strings()
    yield from columns()
    yield from depths()


def forms() -> Iterator[Vector]:
    hello = s.parts(s.number(7), s.chunk(b"dill and caraway, dill and salt"))
    given = Given().number(7).chunk(b"dill and caraway, dill and salt")
    yield good("stored", "Form 0: content as it is", given, hello)
    yield good("deflated", "Form 1: one raw deflate stream", given, segment=s.deflated(s.content(hello)))
    yield good("nothing", "A segment without anything", Given())
    numbers = [0, 1, 127, 128, 16_383, 16_384, 2**63, 2**64 - 1]
    given = Given()
    for value in numbers:
        given.number(value)
    yield good("numbers", "Numbers of every length", given, s.parts(*map(s.number, numbers)))
    long = s.raw(b"\x80" * 9 + b"\x01", "2^63") , s.raw(b"\x85\x80\x00", "5, longer than it need be")
    yield good("varint_longer", "A varint may be longer than it need be, up to ten bytes", Given().number(2**63).number(5), s.parts(*long))
    yield good("chunks", "Chunks, one of them empty, and numbers between them", Given().chunk(b"").number(0).chunk(b"x" * 40).chunk(b"y"),
               s.parts(s.chunk(b""), s.number(0), s.chunk(b"x" * 40), s.chunk(b"y")))  # fmt: skip
    yield good("chunk_at_limit", "The longest chunk: 1,048,576 bytes", Given().chunk(b"d" * 2**20), s.chunk(b"d" * 2**20))


    third = RawRecord(b"r" * 2_097_152)
    part = s.parts(*[s.group(1, s.constant(2_097_152), row_wise=True)] * 3)
    pieces = s.content(part, [s.Match(1, 6_291_455, 1)], b"r", text_size=6_291_456)
    yield good("content_at_limit", "Records and chunks of 6,291,456 bytes", Given().rows([third]).rows([third]).rows([third]), segment=s.stored(pieces))


def matches() -> Iterator[Vector]:
    plan = [s.Match(9, 8, 9), s.Match(8, 15, 17)]
    made = bytearray(b"paprika, ")
    made += made[0:8]
    made += b" pepper,"
    for _ in range(15):
        made.append(made[-17])
    made += b"."
    part = s.chunk(bytes(made))
    yield good("matches", "Matches between literals", Given().chunk(bytes(made)), segment=s.stored(s.content(part, plan, b"paprika,  pepper,.")))
    run = b"ab" * 30
    yield good("match_of_itself", "A match that overlaps itself", Given().chunk(run), segment=s.stored(s.content(s.chunk(run), [s.Match(2, 58, 2)], b"ab")))
    words = dictionary()
    end, start = words[-12:], words[:20]
    both = end + b"!" + start
    plan = [s.Match(0, 12, 12), s.Match(1, 20, len(words) + 13)]
    yield good("match_in_dictionary", "Matches in the dictionary, to its first byte", Given().chunk(both), segment=s.stored(s.content(s.chunk(both), plan, b"!")))
    plan = [s.Match(0, 8, 3)]
    made = bytearray(words)
    for _ in range(8):
        made.append(made[-3])
    across = bytes(made[len(words):])
    yield good("match_over_the_start", "A match that begins in the dictionary and goes on in the area", Given().chunk(across), segment=s.stored(s.content(s.chunk(across), plan, b"")))


def dictionary() -> bytes:
    """What `columns-dictionary.txt` gives."""
    from pathlib import Path

    found = bytearray()
    for line in (Path(__file__).resolve().parent.parent / "columns-dictionary.txt").read_bytes().split(b"\n"):
        if line[:1] == b"#":
            continue
        at = 0
        while at < len(line):
            if line[at : at + 1] != b"\\":
                found.append(line[at])
                at += 1
            elif line[at + 1 : at + 2] == b"\\":
                found += b"\\"
                at += 2
            else:
                found.append(int(line[at + 1 : at + 3], 16))
                at += 3
    return bytes(found)


def groups() -> Iterator[Vector]:
    yield good("group_empty", "No rows, and nothing else of them", Given().rows([]).number(1), s.parts(s.raw(b"\0", "0 rows"), s.number(1)))
    rows: list[Row] = [[1, "x"], [2, "y"], [3, None]]
    two = s.plain(s.TEXT | s.NULL, s.varints([3, 3, 0]), s.terminated([b"x", b"y"]))
    columns = [s.plain(s.INTEGER, s.arithmetic(1, 1)), two]
    yield good("group_rowids", "Rowids, and two columns", Given().rows(rows, [LOW, -1, HIGH]),
               s.group(3, s.constant(2), *columns, rowids=s.varints([LOW, -1, HIGH])))  # fmt: skip
    yield good("group_no_columns", "Rows without columns", Given().rows([[], []]), s.group(2, s.constant(0)))
    short: list[Row] = [[1], [2, 9.5, None], [], [3, 1.5]]
    parts = [s.varints([1, 3, 0, 2]), s.plain(s.INTEGER, s.varints([1, 2, 3])), s.plain(s.REAL, s.real_bytes([9.5, 1.5])), s.plain(s.NULL)]
    yield good("group_of_several_widths", "Rows with fewer columns than others", Given().rows(short), s.group(4, *parts))
    both: list[Row] = [[0, 1, 2]]
    whole = [s.plain(s.INTEGER, s.constant(value)) for value in range(3)]
    yield good("group_legacy", "0 and 1 as integers of one byte", Given().rows(both, schema_format=1), s.group(1, s.constant(3), *whole, legacy=True))
    odd: list[Row] = [RawRecord(b"\x02\x0a"), RawRecord(record([5, "x"])), RawRecord(b"!")]
    sizes = [2, len(record([5, "x"])), 1]
    yield good("group_row_wise", "Records back to back, whatever they are", Given().rows(odd, [1, 2, 3]),
               s.group(3, s.varints(sizes), *(s.text(row.content, "record") for row in odd if isinstance(row, RawRecord)), rowids=s.arithmetic(1, 1), row_wise=True))  # fmt: skip
    several = s.parts(s.group(1, s.constant(1), s.plain(s.NULL)), s.number(4), s.group(1, s.constant(1), s.plain(s.TEXT, s.lengths([b"t"]))), s.chunk(b"c"))
    yield good("groups", "Several groups, numbers and chunks", Given().rows([[None]]).number(4).rows([["t"]]).chunk(b"c"), several)
    wide: list[Row] = [[None] * 200]
    yield good("group_wide", "A header of records that takes two bytes to say its size", Given().rows(wide), s.group(1, s.constant(200), *[s.plain(s.NULL)] * 200))


def integers() -> Iterator[Vector]:
    def both(name: str, about: str, make: list[tuple[list[int], s.Part]]) -> Iterator[Vector]:
        for values, part in make:
            size = "few" if len(values) < 16 else "many"
            yield column_of(f"integers_{name}_{size}", about, list(values), s.plain(s.INTEGER, part))

    yield column_of("integers_constant", "The same number in every row", [-7] * MANY, s.plain(s.INTEGER, s.constant(-7)))
    rising = [wrapped(HIGH - 3 + 2 * place) for place in range(FEW)]
    yield column_of("integers_arithmetic", "Steps, that wrap at 64 bits", list(rising), s.plain(s.INTEGER, s.arithmetic(HIGH - 3, 2)))
    odd = [LOW, HIGH, 0, -1, 1, 2**47, -(2**23)]
    spread = odd + [place * place * 977 - 5000 for place in range(MANY)]
    yield from both("varints", "Each by itself", [(odd, s.varints(odd)), (spread, s.varints(spread))])
    yield from both("deltas", "Each told from the one before; sums wrap at 64 bits", [(odd, s.deltas(odd)), (spread, s.deltas(spread))])
    for width, base, step in [(1, -100, 11), (3, 10**9, 70_001), (8, HIGH - 5, 3)]:
        few, many = ([wrapped(base + place * step) for place in range(count)] for count in (FEW, MANY))
        yield from both(f"planes_{width}", "Bytes of the same place side by side; the sum wraps at 64 bits", [(few, s.planes(width, base, few)), (many, s.planes(width, base, many))])
    small = [place * 9 - place % 3 * 20 for place in range(MANY)]
    yield from both("delta_planes_1", "Steps in planes", [(small[:FEW], s.delta_planes(1, small[:FEW])), (small, s.delta_planes(1, small))])
    yield from both("delta_planes_8", "Steps in planes, of every size", [(odd, s.delta_planes(8, odd)), (spread, s.delta_planes(8, spread))])
    yield column_of("integers_runs", "Runs", [4, 4, 4, -1, 7, 7], s.plain(s.INTEGER, s.runs(3, s.varints([4, -1, 7]), s.varints([2, 0, 1]))))
    for bits in (1, 2, 4):
        few, many = ([-3 + place * 7 % (1 << bits) for place in range(count)] for count in (FEW, MANY + 1))
        yield from both(f"packed_{bits}", "A few bits each", [(few, s.packed(bits, -3, few)), (many, s.packed(bits, -3, many))])
    yield column_of("integers_packed_wraps", "A base and bits that wrap at 64 bits", [HIGH, LOW], s.plain(s.INTEGER, s.parts(s.raw(b"\7\1", "packed, 1 bit"), s.raw(s.signed(HIGH)), s.raw(b"\2", "bits 0 and 1"))))
    yield column_of("integers_dictionary", "Indexes of values", [10**12, -5, -5, 10**12], s.plain(s.INTEGER, s.dictionary(2, s.varints([10**12, -5]), s.packed(1, 0, [0, 1, 1, 0]))))


def wrapped(value: int) -> int:
    return s.wrapped(value)


def references() -> Iterator[Vector]:
    rowids = [3, 4, 9]
    rows: list[Row] = [[5, 15], [6, 16], [11, HIGH]]
    first = s.plain(s.INTEGER, s.reference(0, s.constant(2)))
    second = s.plain(s.INTEGER, s.reference(1, s.varints([10, 10, HIGH - 11])))
    yield good("integers_reference", "Told from the rowid, and from the column before", Given().rows(rows, rowids), s.group(3, s.constant(2), first, second, rowids=s.varints(rowids)))
    wraps = s.plain(s.INTEGER, s.reference(0, s.constant(1)))
    yield good("integers_reference_wraps", "A sum that wraps at 64 bits", Given().rows([[LOW]], [HIGH]), s.group(1, s.constant(1), wraps, rowids=s.constant(HIGH)))
    keys, counts = [1, 2, 1, 1, 2], [1, 1, 2, 3, 2]
    rows = [[key, count] for key, count in zip(keys, counts)]
    columns = [s.plain(s.INTEGER, s.varints(keys)), s.plain(s.INTEGER, s.following(1, s.constant(1)))]
    yield good("integers_following", "One more than in the last row of the same key", Given().rows(rows), s.group(5, s.constant(2), *columns))
    values: list[Row] = [[8, 9], [7, 8], [8, 9]]
    columns = [s.dictionary_column(2, s.plain(s.INTEGER, s.varints([8, 7])), s.varints([0, 1, 0])), s.plain(s.INTEGER, s.reference(1, s.constant(1)))]
    yield good("integers_reference_to_dictionary", "The column that is named may be of any encoding", Given().rows(values), s.group(3, s.constant(2), *columns))


def reals() -> Iterator[Vector]:
    odd = [0.1, -0.0, math.inf, -math.inf, 5e-324, 1.0, 2.0**47]
    patterns = [s.pattern_of(value) for value in odd]
    nan = 0x7FF4000000000001
    yield column_of("reals_bits", "Bit patterns, whole numbers among them", list(odd), s.plain(s.REAL, s.bits(s.varints(patterns))))
    not_a_number = RawRecord(b"\x02\x07" + struct.pack(">Q", nan))
    yield good("reals_not_a_number", "A bit pattern stays as it is", Given().rows([not_a_number]), s.group(1, s.constant(1), s.plain(s.REAL, s.bits(s.constant(nan)))))
    steps = [one ^ other for one, other in zip(patterns, [0, *patterns])]
    yield column_of("reals_xor", "Each told from the one before", list(odd), s.plain(s.REAL, s.xor(s.varints(steps))))
    for power, numbers in [(0, [5, -3]), (1, [1, -25, 0]), (15, [123_456_789_012_345_678, 1, -1]), (3, [2**53 + 1, HIGH, LOW])]:
        values = [float(number) / 10.0**power for number in numbers]
        yield column_of(f"reals_decimal_{power}", "A number, rounded to binary64, divided by a power of ten", list(values), s.plain(s.REAL, s.decimal(power, s.varints(numbers))))
    yield from mostly_decimal_reals(odd)
    few, many = odd[:FEW], [place / 7 for place in range(MANY)]
    yield column_of("reals_bytes_few", "Eight bytes each", list(few), s.plain(s.REAL, s.real_bytes(few)))
    yield column_of("reals_bytes_many", "Eight bytes each, from the numbers area", list(many), s.plain(s.REAL, s.real_bytes(many)))
    edge = 2.0**47
    whole = [0.0, 1.0, -3.0, edge - 1, 1 - edge, edge, -edge, -0.0, 0.5, math.inf]
    stored: list[Value] = [0, 1, -3, 2**47 - 1, 1 - 2**47, *whole[5:]]
    yield column_of("reals_whole", "Whole numbers are integers in the record, but not -0.0, and not from 2^47 on", stored, s.plain(s.REAL | s.WHOLE_REALS, s.real_bytes(whole)))
    mixed: list[Value] = [None, 2, 2.5, "x"]
    yield column_of("reals_whole_among_others", "The same beside NULL and text", mixed,
                    s.plain(s.NULL | s.REAL | s.TEXT | s.WHOLE_REALS, s.varints([0, 2, 2, 3]), s.decimal(1, s.varints([20, 25])), s.terminated([b"x"])))  # fmt: skip


def mostly_decimal_reals(odd: list[float]) -> Iterator[Vector]:
    two = s.varints([125, -7])
    for name, gaps, values in [
        ("between", [0, 1], [odd[0], 1.25, odd[2], -0.07]),
        ("first", [0, 0], [odd[0], odd[2], 1.25, -0.07]),
        ("last", [2, 0], [1.25, -0.07, odd[0], odd[2]]),
    ]:
        others = s.real_bytes([odd[0], odd[2]])
        yield column_of(f"reals_mostly_decimal_{name}", "Two decimals, and two others", list(values), s.plain(s.REAL, s.mostly_decimal(2, s.varints(gaps), 2, two, others)))
    nothing = s.parts()
    yield column_of("reals_mostly_decimal_all", "Decimals, and no others", [1.25, -0.07], s.plain(s.REAL, s.mostly_decimal(2, nothing, 0, two, nothing)))
    yield column_of("reals_mostly_decimal_none", "No decimals", [0.1, math.inf], s.plain(s.REAL, s.mostly_decimal(15, s.constant(0), 2, nothing, s.real_bytes([0.1, math.inf]))))
    within = s.mostly_decimal(3, s.varints([1]), 1, s.varints([125]), s.real_bytes([math.inf]))
    yield column_of("reals_mostly_decimal_twice", "Others of which most are decimals of another power", [0.125, 1.5, math.inf, 2.5],
                    s.plain(s.REAL, s.mostly_decimal(1, s.varints([0, 1]), 2, s.varints([15, 25]), within)))  # fmt: skip


UUIDS = [bytes(range(place, place + 16)) for place in range(MANY)]


def with_hyphens(value: bytes) -> str:
    digits = value.hex()
    return "-".join([digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]])


def strings() -> Iterator[Vector]:
    words = [b"dill", b"", b"caraway \xff\0", b"salt"]
    texts: list[Value] = ["dill", "", "salt"]
    for name, kind in [("texts", s.TEXT), ("blobs", s.BLOB)]:
        values: list[Value] = list(words) if kind == s.BLOB else texts
        found = words if kind == s.BLOB else [b"dill", b"", b"salt"]
        yield column_of(f"strings_lengths_{name}", "Lengths, and the bytes back to back", values, s.plain(kind, s.lengths(found)))
    yield column_of("strings_terminated", "Up to a zero byte each", texts, s.plain(s.TEXT, s.terminated([b"dill", b"", b"salt"])))
    for count in (FEW, MANY):
        found = [f"K{place:03}".encode() for place in range(count)]
        yield column_of(f"strings_transposed_{'few' if count < 16 else 'many'}", "First the first bytes of all", list(found), s.plain(s.BLOB, s.transposed(found)))
        for is_upper in (True, False):
            shown: list[Value] = [with_hyphens(value).upper() if is_upper else with_hyphens(value) for value in UUIDS[:count]]
            yield column_of(f"strings_uuid_{'upper' if is_upper else 'lower'}_{'few' if count < 16 else 'many'}", "UUIDs", shown, s.plain(s.TEXT, s.identifiers(UUIDS[:count], is_upper)))
    yield column_of("strings_transposed_empty", "Strings of no bytes", ["", ""], s.plain(s.TEXT, s.transposed([b"", b""])))
    for is_upper in (True, False):
        shown = [value.hex().upper() if is_upper else value.hex() for value in words]
        yield column_of(f"strings_hex_{'upper' if is_upper else 'lower'}", "Hexadecimal digits", shown, s.plain(s.TEXT, s.hexadecimal(is_upper, s.lengths(words))))
    paths: list[Value] = ["/a/dill", "/a/dill/seed", "/a/dock", "b", ""]
    yield column_of("strings_front", "The beginning of the string before", paths, s.plain(s.TEXT, s.front(s.varints([0, 7, 4, 0, 0]), s.terminated([b"/a/dill", b"/seed", b"ock", b"b", b""]))))
    salted: list[Value] = ["salt", "", "salt", "dill"]
    three = s.terminated([b"salt", b"", b"dill"])
    yield column_of("strings_dictionary", "Different strings, and which of them each is", salted, s.plain(s.TEXT, s.dictionary_of_strings(three, 3, s.varints([0, 1, 0, 2]))))
    one = s.dictionary_of_strings(s.lengths([b"same"]), 1, s.constant(0))
    yield column_of("strings_dictionary_of_one", "One string for all", [b"same"] * 20, s.plain(s.BLOB, one))
    unused = s.dictionary_of_strings(s.terminated([b"never", b"x"]), 2, s.constant(1))
    yield column_of("strings_dictionary_unused", "A string that no row has", ["x", "x"], s.plain(s.TEXT, unused))
    yield from held()


def held() -> Iterator[Vector]:
    names = [b"dill", b"", b"salt"]
    rows: list[Row] = [["dill", b"<dill>"], ["", b"none"], ["salt", b"more salt"]]
    columns = [s.plain(s.TEXT, s.terminated(names)), s.plain(s.BLOB, s.holding(0, s.varints([2, 0, 6]), s.terminated([b"<>", b"none", b"more "])))]
    yield good("strings_holding", "The text of another column within the string, at its place or not at all", Given().rows(rows), s.group(3, s.constant(2), *columns))
    rows = [["a", "b", "-b=a"], ["c", "d", "d-=c"]]
    nested = s.holding(0, s.varints([4, 4]), s.holding(1, s.varints([2, 1]), s.terminated([b"-=", b"-="])))
    columns = [s.plain(s.TEXT, s.terminated([b"a", b"c"])), s.plain(s.TEXT, s.terminated([b"b", b"d"])), s.plain(s.TEXT, nested)]
    yield good("strings_holding_within_holding", "Once more, at depth 1", Given().rows(rows), s.group(2, s.constant(3), *columns))


def columns() -> Iterator[Vector]:
    every: list[Value] = [None, 5, 0.5, "text", b"blob", None, 6]
    kinds = s.varints([0, 1, 2, 3, 4, 0, 1])
    rest = [s.varints([5, 6]), s.bits(s.constant(s.pattern_of(0.5))), s.terminated([b"text"]), s.lengths([b"blob"])]
    yield column_of("column_every_kind", "Values of every kind", every, s.plain(31, kinds, *rest))
    yield column_of("column_absent_kind", "A kind that the tag has and no value", [None, None], s.plain(s.NULL | s.TEXT, s.constant(0)))
    rows: list[Row] = [["x", 1], [None, None], ["y", 2]]
    first = s.plain(s.NULL | s.TEXT, s.varints([3, 0, 3]), s.terminated([b"x", b"y"]))
    yield good("column_kinds_twice", "Two columns of several kinds", Given().rows(rows), s.group(3, s.constant(2), first, s.plain(s.NULL | s.INTEGER, s.varints([1, 0, 1]), s.varints([1, 2]))))
    rows = [["x", "1"], [None, None], ["y", "2"]]
    yield good("column_kinds_of_another", "The kinds are those of an earlier column", Given().rows(rows), s.group(3, s.constant(2), first, s.plain(s.NULL | s.TEXT | s.KINDS_OF, s.reference_to(0), s.terminated([b"1", b"2"]))))
    turned: list[Row] = [[2, 7], [2.5, 0.5]]
    columns = [s.plain(s.REAL | s.WHOLE_REALS, s.real_bytes([2.0, 2.5])), s.plain(s.INTEGER | s.REAL | s.KINDS_OF, s.reference_to(0), s.constant(7), s.real_bytes([0.5]))]
    yield good("column_kinds_as_turned_out", "A whole real counts as the integer that it turned out to be", Given().rows(turned), s.group(2, s.constant(2), *columns))
    words = s.plain(s.TEXT | s.NULL, s.varints([3, 0]), s.terminated([b"dill"]))
    classes = s.dictionary_column(2, words, s.packed(1, 0, [0, 1, 1, 0]))
    rows = [["dill"], [None], [None], ["dill"]]
    yield good("column_dictionary", "Values, and which of them", Given().rows(rows), s.group(4, s.constant(1), classes))
    rows = [["dill", 7], [None, 8], [None, 8], ["dill", 7]]
    yield good("column_determined", "What an earlier column determines", Given().rows(rows), s.group(4, s.constant(2), classes, s.determined(0, s.plain(s.INTEGER, s.varints([7, 8])))))
    rows = [["dill", "a"], [None, "b"], [None, "b"], ["dill", "c"]]
    codes = s.varints([1, 2, 0, 3])
    yield good("column_predicted", "What the last row of the same class had, or another", Given().rows(rows), s.group(4, s.constant(2), classes, s.predicted(0, 3, s.plain(s.TEXT, s.terminated([b"a", b"b", b"c"])), codes)))
    rows = [["dill", "dill"], [None, None], [None, None], ["dill", "dill"]]
    yield good("column_copy", "The values of an earlier column", Given().rows(rows), s.group(4, s.constant(2), classes, s.copy(0)))
    rows = [["dill", 7, 7, "p"], [None, 8, 8, "q"], [None, 8, 8, "q"], ["dill", 7, 7, "p"]]
    chain = [classes, s.determined(0, s.plain(s.INTEGER, s.varints([7, 8]))), s.copy(1), s.determined(2, s.plain(s.TEXT, s.terminated([b"p", b"q"])))]
    yield good("column_chain", "Classes go on from column to column", Given().rows(rows), s.group(4, s.constant(4), *chain))
    rows = [["dill", "a", "x"], [None, "b", "y"], [None, "b", "y"], ["dill", "c", "z"]]
    chain = [classes, s.predicted(0, 3, s.plain(s.TEXT, s.terminated([b"a", b"b", b"c"])), codes), s.determined(1, s.plain(s.TEXT, s.terminated([b"x", b"y", b"z"])))]
    yield good("column_classes_of_predicted", "The classes of a predicted column are its own", Given().rows(rows), s.group(4, s.constant(3), *chain))


def nested_runs(depth: int) -> s.Part:
    """One integer, at the bottom of `depth` runs."""
    return s.constant(42) if depth == 0 else s.runs(1, nested_runs(depth - 1), s.constant(0))


def nested_hex(depth: int) -> s.Part:
    return s.lengths([b"\x42"]) if depth == 0 else s.hexadecimal(False, nested_hex(depth - 1))


def hex_of(depth: int) -> bytes:
    return b"\x42" if depth == 0 else hex_of(depth - 1).hex().encode()


def depths() -> Iterator[Vector]:
    yield column_of("depth_7", "Encodings within encodings, down to depth 7", [42], s.plain(s.INTEGER, nested_runs(7)))
    yield column_of("depth_7_strings", "Strings of hex are two deeper, and lengths one more", [hex_of(3)], s.plain(s.BLOB, nested_hex(3)))
