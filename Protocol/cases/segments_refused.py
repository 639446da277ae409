"""Segments that are refused (`COLUMNS.md` section 2): each limit, and each check that the text demands."""

from __future__ import annotations

from collections.abc import Iterator

from cases.segment_vector import bad, bad_column
from cases.segments import dictionary, nested_hex, nested_runs
from encoder import segment as s
from encoder.piece import Piece, Pieces
from encoder.vector import Vector

ONE = s.plain(s.INTEGER, s.constant(1))
X = s.plain(s.TEXT, s.terminated([b"x"]))


def vectors() -> Iterator[Vector]:
    yield from forms()
    yield from matches()
    yield from leftovers()
    yield from groups()
    yield from columns()
    yield from classes()
    yield from integers()
    yield from reals()
    yield from strings()
    yield from work()


def forms() -> Iterator[Vector]:
    chunk = s.content(s.chunk(b"dill"))
    yield bad("no_bytes", "A segment of no bytes", asks="nothing", segment=[])
    yield bad("form_8", "A form that there is not", asks="chunk", segment=[Piece(b"\10", "form 8"), *chunk])
    yield bad("no_content", "A form, and nothing else", asks="nothing", segment=[Piece(b"\0", "form 0")])
    yield bad("cut_in_sizes", "It ends within the sizes of its areas", asks="nothing", segment=[Piece(b"\0\0\0\0", "form 0, three sizes")])
    yield bad("deflate_cut", "A deflate stream that does not end", asks="chunk", segment=s.deflated(chunk, cut=1))
    yield bad("deflate_trailing_byte", "A byte after the deflate stream", asks="chunk", segment=s.deflated(chunk, more=b"\0"))
    size = len(b"".join(piece.data for piece in chunk))
    yield bad("deflate_more_than_declared", "More content than declared", asks="chunk", segment=s.deflated(chunk, size - 1))
    yield bad("deflate_less_than_declared", "Less content than declared", asks="chunk", segment=s.deflated(chunk, size + 1))
    yield bad("deflate_no_stream", "No deflate stream", asks="chunk", segment=[Piece(b"\1\x06", "form 1, 6 bytes"), Piece(b"\x07", "a block of a type that there is not")])
    yield bad("content_size_over_limit", "8,388,609 bytes of content", asks="nothing", segment=[Piece(b"\1" + s.varint(8_388_609), "form 1, 8388609 bytes"), Piece(b"\3\0", "an empty stream")])
    yield bad("content_size_2_63", "2^63 bytes of content", asks="nothing", segment=[Piece(b"\1" + s.varint(2**63), "form 1, 2^63 bytes"), Piece(b"\3\0", "an empty stream")])
    long: Pieces = [Piece(bytes(1_048_576)) for _ in range(4)]
    yield bad("encoded_over_limit", "4,195,329 bytes of segment", asks="nothing", segment=[Piece(b"\0", "form 0"), *long, Piece(bytes(1024))])
    yield bad("varint_11_bytes", "A varint of eleven bytes", s.raw(b"\x80" * 10 + b"\0"), asks="number")
    yield bad("varint_2_64", "A varint of 2^64", s.raw(b"\x80" * 9 + b"\2"), asks="number")
    yield bad("varint_cut", "A varint that does not end", s.raw(b"\x80"), asks="number")
    yield bad("control_size_over_content", "A control area that is longer than the content", asks="chunk", segment=s.stored(s.content(s.chunk(b"dill"), control_size=7)))
    yield bad("numbers_size_over_content", "A numbers area that is longer than the content", asks="chunk", segment=s.stored(s.content(s.chunk(b"dill"), numbers_size=7)))
    yield bad("numbers_size_2_64", "A numbers area whose size makes others wrap", asks="chunk", segment=s.stored(s.content(s.chunk(b"dill"), numbers_size=2**64 - 1)))
    yield bad("text_size_over_limit", "A text area of 8,388,609 bytes", asks="nothing", segment=s.stored(s.content(s.parts(), [s.Match(0, 8_388_609, 1)], b"", text_size=8_388_609)))
    yield bad("text_size_less", "A text area that is declared too short", asks="chunk", segment=s.stored(s.content(s.chunk(b"dill"), text_size=3)))
    yield bad("text_size_more", "A text area that is declared too long", asks="chunk", segment=s.stored(s.content(s.chunk(b"dill"), text_size=5)))


def matches() -> Iterator[Vector]:
    def bad_match(name: str, about: str, size: int, plan: list[s.Match], literals: bytes, count: int | None = None) -> Vector:
        part = s.chunk(b"", size)
        pieces = s.content(part, plan, literals, text_size=size, match_count=count)
        return bad(f"match_{name}", about, asks="chunk", segment=s.stored(pieces))

    far = len(dictionary())
    yield bad_match("before_dictionary", "A match that begins before the dictionary", 8, [s.Match(0, 8, far + 1)], b"")
    yield bad_match("before_dictionary_later", "The same after literals", 12, [s.Match(4, 8, far + 5)], b"dill")
    yield bad_match("distance_2_64", "A distance of 2^64", 8, [s.Match(0, 8, 2**64)], b"")
    yield bad_match("too_long", "A match that goes over the end of the area", 8, [s.Match(0, 9, 1)], b"")
    yield bad_match("length_wraps", "A length that wraps at 64 bits", 8, [s.Match(0, 2**64 + 7, 1)], b"")
    yield bad_match("too_short", "A match that leaves the area too short", 9, [s.Match(0, 8, 1)], b"")
    yield bad_match("literals_missing", "More literals before a match than there are", 13, [s.Match(5, 8, 1)], b"dill")
    yield bad_match("literals_left", "Literals that are left over", 12, [s.Match(4, 8, 1)], b"dill!")
    yield bad_match("count_over_limit", "1,048,577 matches", 8, [s.Match(0, 8, 1)], b"", 1_048_577)
    yield bad_match("count_over_content", "More matches than the content has", 8, [s.Match(0, 8, 1)], b"", 100)


def leftovers() -> Iterator[Vector]:
    yield bad("left_control", "Control bytes that nobody asks for", s.parts(s.number(1), s.number(2)), asks="number")
    yield bad("left_numbers", "Numbers that nobody asks for", s.parts(s.number(1), lambda areas: areas.put_numbers(16, b"\1", "left over")), asks="number")
    yield bad("left_text", "Text that nobody asks for", s.parts(s.number(1), s.text(b"x", "left over")), asks="number")
    yield bad("left_group", "A group that nobody asks for", s.parts(s.number(1), s.group(1, s.constant(0))), asks="number")


def groups() -> Iterator[Vector]:
    yield bad("chunk_over_limit", "A chunk of 1,048,577 bytes", s.chunk(bytes(1_048_577)), asks="chunk")
    yield bad("chunk_over_area", "A chunk that is longer than the text area", s.chunk(b"dill", 5), asks="chunk")
    yield bad("rows_over_limit", "1,048,577 rows", s.group(1_048_577, s.constant(0)))
    yield bad("rows_2_64", "2^64 - 1 rows", s.group(2**64 - 1, s.constant(0)))
    yield bad("rows_in_all_over_limit", "1,048,577 rows in two groups", s.parts(s.group(1_048_576, s.constant(0)), s.group(1, s.constant(0))), asks="rows rows")
    yield bad("group_flags", "A flag that means nothing", s.group(1, s.constant(0), flags=8))
    yield bad("group_cut", "A group that ends after its flags", s.group(1))
    yield bad("row_wise_size_0", "A record of no bytes", s.group(2, s.varints([1, 0]), s.text(b"x"), row_wise=True))
    yield bad("row_wise_size_negative", "A record of less than no bytes", s.group(2, s.varints([2, -1]), s.text(b"x"), row_wise=True))
    yield bad("row_wise_over_area", "Records that are longer than the text area", s.group(2, s.varints([1, 2]), s.text(b"xy"), row_wise=True))
    text = [s.Match(1, 4_194_304, 1)]
    part = s.group(1, s.constant(4_194_305), row_wise=True)
    yield bad("group_over_limit", "Records of 4,194,305 bytes", segment=s.stored(s.content(part, text, b"x", text_size=4_194_305)))
    third = s.group(1, s.constant(2_097_152), row_wise=True)
    part = s.parts(third, third, third, s.chunk(b"", 1))
    text = [s.Match(1, 6_291_456, 1)]
    pieces = s.content(part, text, b"x", text_size=6_291_457)
    yield bad("content_over_limit", "Records and chunks of 6,291,457 bytes", asks="rows rows rows chunk", segment=s.stored(pieces))
    yield bad("columns_negative", "A row of less than no columns", s.group(2, s.varints([1, -1]), ONE))
    yield bad("columns_32768", "A row of 32,768 columns", s.group(1, s.constant(32_768), s.raw(b"\1" * 32_768, "plain columns of NULL")))


def columns() -> Iterator[Vector]:
    yield bad_column("column_no_kinds", "A tag without kinds", 1, s.plain(0))
    yield bad_column("column_tag_84", "A tag that there is not", 1, s.parts(s.raw(b"\x84", "tag 84"), s.constant(1)))
    yield bad_column("column_kind_not_in_tag", "A kind that the tag has not", 2, s.plain(s.NULL | s.INTEGER, s.varints([0, 3]), s.terminated([b"x"])))
    yield bad_column("column_kind_5", "A kind that there is not", 2, s.plain(s.NULL | s.INTEGER, s.varints([0, 5])))
    yield bad_column("column_kind_negative", "A kind below 0", 2, s.plain(s.NULL | s.INTEGER, s.varints([0, -1])))
    yield bad_column("column_whole_reals_and_integers", "Integers beside whole reals", 2, s.plain(s.INTEGER | s.REAL | s.WHOLE_REALS, s.varints([1, 2]), s.constant(1), s.real_bytes([2.0])))
    kinds = s.plain(s.NULL | s.INTEGER, s.varints([0, 1]), s.constant(3))
    yield bad_column("column_kinds_of_one", "Kinds of another column for a single kind", 2, kinds, s.plain(s.INTEGER | s.KINDS_OF, s.reference_to(0), s.constant(1)))
    yield bad_column("column_kinds_of_itself", "Kinds of the same column", 2, s.plain(s.NULL | s.INTEGER | s.KINDS_OF, s.reference_to(0)))
    yield bad_column("column_kinds_of_later", "Kinds of a column that there is not", 2, kinds, s.plain(s.NULL | s.INTEGER | s.KINDS_OF, s.reference_to(2**63)))
    yield bad_column("column_kinds_others", "Kinds of another column that the tag has not", 2, kinds, s.plain(s.NULL | s.TEXT | s.KINDS_OF, s.reference_to(0), s.terminated([b"x"])))
    short = s.group(2, s.varints([2, 1]), kinds, s.plain(s.NULL | s.INTEGER | s.KINDS_OF, s.reference_to(0)))
    yield bad("column_kinds_in_short", "Kinds of another column in one that not every row has", short)
    inner = s.plain(s.NULL | s.INTEGER | s.KINDS_OF, s.reference_to(0), s.constant(3))
    yield bad_column("column_kinds_in_dictionary", "Kinds of another column within a dictionary", 2, kinds, s.dictionary_column(2, inner, s.varints([0, 1])))
    yield bad_column("column_missing", "A column that is not there", 1, ONE, s.parts())


def classes() -> Iterator[Vector]:
    two = s.plain(s.INTEGER, s.varints([7, 8]))
    leader = s.dictionary_column(2, two, s.varints([0, 1, 1]))
    plain = s.plain(s.INTEGER, s.varints([1, 2, 3]))
    yield bad_column("dictionary_more_than_rows", "More values than rows", 1, s.dictionary_column(2, two, s.constant(0)))
    yield bad_column("dictionary_size_2_63", "2^63 values", 1, s.dictionary_column(2**63, two, s.constant(0)))
    yield bad_column("dictionary_empty", "A dictionary of no values", 1, s.dictionary_column(0, s.plain(s.INTEGER), s.constant(0)))
    yield bad_column("dictionary_index", "An index of nothing", 2, s.dictionary_column(2, two, s.varints([0, 2])))
    yield bad_column("dictionary_index_negative", "An index below 0", 2, s.dictionary_column(2, two, s.varints([0, -1])))
    yield bad_column("dictionary_in_dictionary", "A dictionary within a dictionary", 2, s.dictionary_column(2, s.dictionary_column(2, two, s.varints([0, 1])), s.varints([0, 1])))
    yield bad("dictionary_in_short", "A dictionary in a column that not every row has", s.group(3, s.varints([2, 1, 2]), plain, s.dictionary_column(2, two, s.varints([0, 1]))))
    refers_to_kinds = s.plain(s.INTEGER | s.NULL | s.KINDS_OF, s.reference_to(0), s.constant(1))
    yield bad_column("determined_kinds", "An inner column that takes the kinds of another", 3, leader, s.determined(0, refers_to_kinds))
    yield bad_column("determined_reference", "An inner column that refers to another", 3, leader, s.determined(0, s.plain(s.INTEGER, s.reference(0, s.constant(1)))))
    yield bad_column("predicted_reference", "The same in a predicted one", 3, leader, s.predicted(0, 2, s.plain(s.INTEGER, s.reference(0, s.constant(1))), s.varints([1, 2, 0])))
    yield bad_column("determined_by_plain", "Determined by a column without classes", 3, plain, s.determined(0, plain))
    yield bad_column("determined_by_itself", "Determined by itself", 3, s.determined(0, plain))
    yield bad_column("determined_by_later", "Determined by a column that there is not", 3, leader, s.determined(2**64 - 1, two))
    yield bad_column("predicted_by_plain", "Predicted by a column without classes", 3, plain, s.predicted(0, 2, two, s.varints([1, 2, 2])))
    yield bad_column("predicted_first", "Nothing came before", 3, leader, s.predicted(0, 2, two, s.varints([1, 0, 2])))
    yield bad_column("predicted_class", "A class that has no value", 3, leader, s.predicted(0, 2, two, s.varints([1, 3, 0])))
    yield bad_column("predicted_negative", "A code below 0", 3, leader, s.predicted(0, 2, two, s.varints([1, -1, 0])))
    yield bad_column("predicted_more_than_rows", "More values than rows", 3, leader, s.predicted(0, 4, s.plain(s.INTEGER, s.constant(1)), s.varints([1, 2, 0])))
    yield bad_column("copy_of_plain", "A copy of a column without classes", 3, plain, s.copy(0))
    yield bad_column("copy_of_itself", "A copy of itself", 3, s.copy(0))


def bad_integers(name: str, about: str, count: int, part: s.Part) -> Vector:
    return bad_column(f"integers_{name}", about, count, s.plain(s.INTEGER, part))


def integers() -> Iterator[Vector]:
    yield bad_integers("tag_11", "A tag that there is not", 1, s.raw(b"\x0b", "tag 11"))
    yield bad_integers("cut", "Varints that are cut", 3, s.varints([1, 2]))
    yield bad_integers("cut_many", "Varints that are cut, in the numbers area", 20, s.varints(list(range(19))))
    yield bad_integers("planes_0", "No planes", 1, s.planes(0, 0, [1]))
    yield bad_integers("planes_9", "Nine planes", 1, s.parts(s.planes(9, 0, [1]), s.raw(bytes(9))))
    yield bad_integers("planes_cut", "Planes that are cut", 2, s.parts(s.raw(b"\4\2\0", "planes of 2 bytes"), s.raw(b"\1\2\3")))
    yield bad_integers("delta_planes_0", "No planes", 1, s.delta_planes(0, [1]))
    yield bad_integers("delta_planes_9", "Nine planes", 1, s.parts(s.delta_planes(9, [1]), s.raw(bytes(9))))
    yield bad_integers("runs_too_many", "More runs than numbers", 1, s.runs(2, s.constant(1), s.constant(0)))
    yield bad_integers("runs_none", "No runs", 1, s.runs(0, s.parts(), s.parts()))
    yield bad_integers("runs_short", "Runs that are too short", 4, s.runs(2, s.constant(1), s.varints([1, 0])))
    yield bad_integers("runs_long", "Runs that are too long", 4, s.runs(2, s.constant(1), s.varints([1, 2])))
    yield bad_integers("runs_negative", "A run of no numbers", 4, s.runs(2, s.constant(1), s.varints([4, -1])))
    yield bad_integers("runs_wrap", "Lengths whose sum wraps at 64 bits", 4, s.runs(4, s.constant(1), s.varints([2**63 - 1, 2**63 - 1, 2, 1])))
    for bits in (0, 3, 8):
        yield bad_integers(f"packed_{bits}_bits", "A number of bits that cannot be", 1, s.packed(bits, 0, [0]))
    yield bad_integers("packed_cut", "Bits that are cut", 9, s.parts(s.raw(b"\7\1\0", "packed, 1 bit"), s.raw(b"\xff")))
    yield bad_integers("dictionary_too_many", "More values than numbers", 1, s.dictionary(2, s.constant(1), s.constant(0)))
    yield bad_integers("dictionary_index", "An index of nothing", 2, s.dictionary(2, s.constant(1), s.varints([0, 2])))
    yield bad_integers("dictionary_index_negative", "An index below 0", 2, s.dictionary(2, s.constant(1), s.varints([0, -1])))
    yield bad_integers("reference_without_rowids", "A reference to rowids that are not there", 1, s.reference(0, s.constant(1)))
    yield bad_integers("following_without_rowids", "The same of those that follow", 1, s.following(0, s.constant(1)))
    yield bad_integers("reference_to_itself", "A reference to the same column", 1, s.reference(1, s.constant(1)))
    plain = s.plain(s.INTEGER, s.varints([1, 2]))
    refers = s.reference(1, s.constant(1))
    yield bad_column("integers_reference_to_nothing", "A reference to a column that there is not", 2, plain, s.plain(s.INTEGER, s.reference(2**64 - 1, s.constant(1))))
    mixed = s.plain(s.INTEGER | s.NULL, s.varints([0, 1]), s.constant(1))
    yield bad_column("integers_reference_to_others", "A reference to a column that has not only integers", 2, mixed, s.plain(s.INTEGER, refers))
    yield bad_column("integers_reference_in_mixed", "A reference in a column that has not only integers", 2, plain, s.plain(s.INTEGER | s.NULL, s.constant(1), refers))
    yield bad_column("integers_reference_within", "A reference within another encoding", 2, plain, s.plain(s.INTEGER, s.runs(2, refers, s.constant(0))))
    yield bad_column("integers_reference_in_reference", "A reference within a reference", 2, plain, s.plain(s.INTEGER, s.reference(1, refers)))
    yield bad_column("integers_reference_in_dictionary", "A reference in a column within a dictionary", 2, plain, s.dictionary_column(2, s.plain(s.INTEGER, refers), s.varints([0, 1])))
    yield bad_column("integers_reference_in_reals", "A reference among the bit patterns of reals", 2, plain, s.plain(s.REAL, s.bits(refers)))
    yield bad("integers_reference_in_rowids", "Rowids that refer to rowids", s.group(2, s.constant(0), rowids=s.reference(0, s.constant(1))))
    yield bad("integers_reference_in_short", "A reference in a column that not every row has", s.group(2, s.varints([2, 1]), plain, s.plain(s.INTEGER, refers)))
    yield bad_integers("depth_8", "Encodings within encodings, at depth 8", 1, nested_runs(8))


def nested_decimals(depth: int) -> s.Part:
    return s.mostly_decimal(0, s.constant(0), 1, s.parts(), nested_decimals(depth - 1)) if depth else s.real_bytes([0.5])


def reals() -> Iterator[Vector]:
    yield bad_column("reals_tag_5", "A tag that there is not", 1, s.plain(s.REAL, s.parts(s.raw(b"\5", "tag 5"), s.raw(bytes(8)))))
    yield bad_column("reals_decimal_16", "A power of ten that is too high", 1, s.plain(s.REAL, s.decimal(16, s.constant(1))))
    one, other = s.constant(7), s.real_bytes([0.5])
    for name, about, part in [
        ("power_16", "A power of ten that is too high", s.mostly_decimal(16, s.constant(0), 1, one, other)),
        ("more_others", "More others than reals", s.mostly_decimal(1, s.constant(0), 3, s.parts(), other)),
        ("gap_negative", "Another before the first decimal", s.mostly_decimal(1, s.constant(-1), 1, one, other)),
        ("gap_too_far", "Another after more decimals than there are", s.mostly_decimal(1, s.constant(2), 1, one, other)),
        ("without_others", "Others that are cut", s.mostly_decimal(1, s.constant(0), 1, one, s.raw(b"\3", "bytes"))),
    ]:
        yield bad_column(f"reals_mostly_decimal_{name}", about, 2, s.plain(s.REAL, part))
    yield bad_column("reals_mostly_decimal_depth_8", "Mostly decimals within mostly decimals, at depth 8", 1, s.plain(s.REAL, nested_decimals(8)))
    yield bad_column("reals_cut", "Reals that are cut", 1, s.plain(s.REAL, s.parts(s.raw(b"\3", "bytes"), s.raw(bytes(7)))))


def bad_strings(name: str, about: str, count: int, part: s.Part) -> Vector:
    return bad_column(f"strings_{name}", about, count, s.plain(s.TEXT, part))


def strings() -> Iterator[Vector]:
    yield bad_strings("tag_19", "A tag that there is not", 1, s.raw(b"\x13", "tag 19"))
    yield bad_strings("lengths_negative", "A length below 0", 2, s.lengths([b"dill"], s.varints([5, -1])))
    yield bad_strings("lengths_over_area", "More than the text area has", 2, s.lengths([b"dill"], s.varints([3, 2])))
    yield bad_strings("lengths_2_62", "A length of 2^62, twice", 2, s.lengths([b"dill"], s.constant(2**62)))
    yield bad_strings("terminated_without_end", "A string without a zero byte", 2, s.parts(s.terminated([b"dill"]), s.text(b"salt")))
    yield bad_strings("transposed_over_limit", "Strings of 4,194,305 bytes", 1, s.transposed([b"x"], 4_194_305))
    yield bad_strings("transposed_cut", "Strings that are cut", 2, s.transposed([b"ab", b"cd"], 3))
    yield bad_strings("uuid_cut", "A UUID that is cut", 1, s.identifiers([bytes(15)], True))
    yield bad_strings("front_of_nothing", "A beginning of the string before the first", 1, s.front(s.constant(1), s.terminated([b"x"])))
    yield bad_strings("front_too_long", "More of the string before than there is", 2, s.front(s.varints([0, 5]), s.terminated([b"dill", b"x"])))
    yield bad_strings("front_negative", "Less than nothing of the string before", 2, s.front(s.varints([0, -1]), s.terminated([b"dill", b"x"])))
    two = s.terminated([b"a", b"b"])
    yield bad_strings("dictionary_index_beyond", "A string that the dictionary does not have", 2, s.dictionary_of_strings(two, 2, s.varints([1, 2])))
    yield bad_strings("dictionary_index_negative", "A string below the first", 2, s.dictionary_of_strings(two, 2, s.varints([0, -1])))
    yield bad_strings("dictionary_of_more", "More strings than rows", 1, s.dictionary_of_strings(two, 2, s.constant(0)))
    yield bad_strings("dictionary_of_none", "No strings, of which each is one", 1, s.dictionary_of_strings(s.parts(), 0, s.constant(0)))
    held = s.dictionary_of_strings(s.holding(0, s.constant(0), two), 2, s.varints([0, 1]))
    yield bad_column("strings_dictionary_holding", "A dictionary that refers to a column", 2, s.plain(s.TEXT, two), s.plain(s.TEXT, held))
    large = s.dictionary_of_strings(s.lengths([bytes(400_000)]), 1, s.constant(0))
    yield bad_strings("dictionary_over_limit", "Ninety strings of 400,000 bytes", 90, large)
    names = s.plain(s.TEXT, s.terminated([b"a", b"b"]))
    rest = s.terminated([b"xy", b"z"])
    yield bad_column("strings_holding_too_far", "A place beyond the end of the string", 2, names, s.plain(s.TEXT, s.holding(0, s.varints([1, 3]), rest)))
    yield bad_column("strings_holding_negative", "A place below 0", 2, names, s.plain(s.TEXT, s.holding(0, s.varints([1, -1]), rest)))
    yield bad_column("strings_holding_itself", "A string that holds its own", 2, s.plain(s.TEXT, s.holding(0, s.constant(1), rest)))
    blobs = s.plain(s.BLOB, s.lengths([b"a", b"b"]))
    yield bad_column("strings_holding_blob", "A string that holds a blob", 2, blobs, s.plain(s.TEXT, s.holding(0, s.constant(1), rest)))
    some = s.plain(s.TEXT | s.NULL, s.varints([3, 0]), s.terminated([b"a"]))
    yield bad_column("strings_holding_null", "A string that holds what is not always a text", 2, some, s.plain(s.TEXT, s.holding(0, s.constant(1), rest)))
    yield bad_column("strings_holding_in_mixed", "In a column of several kinds", 2, names, s.plain(s.TEXT | s.NULL, s.constant(3), s.holding(0, s.constant(1), rest)))
    yield bad_column("strings_holding_in_dictionary", "In a column within a dictionary", 2, names, s.dictionary_column(2, s.plain(s.TEXT, s.holding(0, s.constant(1), rest)), s.varints([0, 1])))
    yield bad_column("strings_holding_deep", "At depth 2", 2, names, s.plain(s.TEXT, s.hexadecimal(True, s.holding(0, s.constant(1), rest))))
    yield bad("strings_holding_in_short", "In a column that not every row has", s.group(2, s.varints([2, 1]), names, s.plain(s.TEXT, s.holding(0, s.constant(1), s.terminated([b"x"])))))
    yield bad_strings("depth_8", "Strings within strings, at depth 8", 1, nested_hex(4))


def work() -> Iterator[Vector]:
    copies = [s.dictionary_column(1, s.plain(s.NULL), s.constant(0)), *[s.copy(0)] * 66]
    many = 1_048_576
    yield bad("work_values", "More than 67,108,864 values in a few bytes", s.group(many, s.constant(67), *copies))
    again = s.front(s.runs(2, s.varints([0, 4_194_304]), s.varints([0, 15])), s.lengths([b""], s.runs(2, s.varints([4_194_304, 0]), s.varints([0, 15]))))
    part = s.group(17, s.constant(1), s.plain(s.TEXT, again))
    yield bad("work_strings", "Strings of 71,303,168 bytes in a few bytes", segment=s.stored(s.content(part, [s.Match(1, 4_194_303, 1)], b"x", text_size=4_194_304)))
