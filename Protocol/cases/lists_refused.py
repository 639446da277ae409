"""Property lists that are refused (`LISTS.md`): each limit, and each check that the text demands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from cases.lists import PLAIN, array, deeper
from cases.lists_archives import ARCHIVE
from cases.segment_vector import bad_column
from encoder import segment as s
from encoder.taken_lists import (
    ANCESTOR, ARRAY, ASCII, BESIDE, DATA, DICTIONARY, EXPLICIT, FLOAT, INTEGER, LATER, NEW, NULL, OF_PARENT, OF_ROW, PREVIOUS,
    REAL, SHARED, TABLE, TRUE, UID, UTF_16, VISIT, TakenLists,
)  # fmt: skip
from encoder.vector import Vector

HERB = TakenLists([PLAIN], [[DICTIONARY], [NULL], [TRUE]], names=[b"a", b"b"], shapes=[([0, 1], [0, 1])], shape_numbers=[0])
"""A sound one: each vector breaks it at one place."""
TABLED = TakenLists([ARCHIVE], [[NULL], [ARRAY], [TABLE, NEW], [DICTIONARY], [NEW], [TRUE]], tables=[3], names=[b"a"], shapes=[([0], [0])], sizes=[2], shape_numbers=[0])
"""Null, a dictionary, and true."""


def vectors() -> Iterator[Vector]:
    yield from streams()
    yield from shapes()
    yield from objects()
    yield from archives()
    yield from rows()
    yield from sizes()


def refused(name: str, about: str, taken: TakenLists | s.Part, count: int = 1) -> Vector:
    part = taken.part() if isinstance(taken, TakenLists) else taken
    return replace(bad_column(f"lists_{name}", about, count, s.plain(s.BLOB, part)), covers="lists")


def streams() -> Iterator[Vector]:
    yield refused("kind_5", "A kind of lists that there is not", replace(HERB, kinds=[5]))
    yield refused("kind_negative", "A kind below 0", replace(HERB, kinds=[-1]))
    yield refused("code_left", "A code that is left over", replace(HERB, contexts=[[DICTIONARY], [NULL], [TRUE, TRUE]]))
    yield refused("context_left", "A context that is left over", replace(HERB, contexts=[*HERB.contexts, [NULL]]))
    yield refused("code_missing", "A code that is missing", replace(HERB, kinds=[PLAIN, PLAIN], contexts=[[DICTIONARY] * 2, [NULL], [TRUE] * 2], shape_numbers=[0, 0]), 2)
    yield refused("context_missing", "A context that is missing", replace(HERB, contexts=HERB.contexts[:2]))
    yield refused("no_codes", "A context without codes", replace(HERB, contexts=[*HERB.contexts, []]))
    yield refused("codes_negative", "Counts of codes of which one is negative", replace(HERB, code_counts=[1, 3, -1]))
    yield refused("codes_wrap", "Counts of codes that wrap at 64 bits", replace(HERB, code_counts=[2**63 - 1, 2**63 - 1, 5]))
    yield refused("code_count_over_limit", "8,388,609 codes in a few bytes", counted_codes(8_388_609))
    yield refused("contexts_over_limit", "1,048,577 contexts", replace(HERB, context_count=1_048_577))
    yield refused("contexts_2_63", "2^63 contexts", replace(HERB, context_count=2**63))
    front, one = s.parts(s.raw(b"\x0a", "property lists"), s.constant(PLAIN)), s.parts(s.raw(b"\1", "1 context"), s.constant(1), s.constant(TRUE))
    yield refused("names_over_limit", "65,537 names", s.parts(front, names(65_537), s.raw(b"\0", "no shapes"), one))
    shapes = s.parts(s.raw(s.varint(65_537), "65537 shapes"), s.constant(0))
    yield refused("shapes_over_limit", "65,537 shapes", s.parts(front, s.raw(b"\0", "no names"), shapes, one))
    shape = s.parts(s.raw(b"\1", "1 shape"), s.constant(32_768), s.arithmetic(0, 1), s.constant(0))
    yield refused("shape_of_32768", "A shape of 32,768 columns", s.parts(front, names(32_768), shape, one))
    for code in (128, -1):
        yield refused(f"code_{'128' if code > 0 else 'negative'}", "A code that there is not", replace(HERB, contexts=[[DICTIONARY], [NULL], [code]]))


def names(count: int) -> s.Part:
    """All empty."""
    return s.parts(s.raw(s.varint(count), f"{count} names"), s.lengths([], s.constant(0)))


def counted_codes(count: int) -> s.Part:
    """An array of nulls, each stream in as few bytes as it takes."""
    return s.parts(
        s.raw(b"\x0a", "property lists"), s.constant(PLAIN), s.raw(b"\0\0", "no names, no shapes"), s.raw(b"\2", "2 contexts"),
        s.varints([1, count - 1]), s.runs(2, s.varints([ARRAY, NULL]), s.varints([0, count - 2])), s.constant(count - 1),
    )  # fmt: skip


def shapes() -> Iterator[Vector]:
    def shape(name: str, about: str, keys: list[int], order: list[int], **changes: Any) -> Vector:
        return refused(f"shape_{name}", about, replace(HERB, shapes=[(keys, order)], **changes))

    yield shape("key_twice", "A key that stands there twice", [0, 0], [0, 1])
    yield shape("key_without_name", "A key without a name", [0, 2], [0, 1])
    yield shape("key_negative", "A key below 0", [0, -1], [0, 1])
    yield shape("column_twice", "A column that is visited twice", [0, 1], [1, 1])
    yield shape("column_beyond", "A column that there is not", [0, 1], [0, 2])
    yield shape("column_negative", "A column below 0", [0, 1], [-1, 1])
    front = s.parts(s.raw(b"\x0a", "property lists"), s.constant(PLAIN), s.raw(b"\1", "1 name"), s.lengths([b"a"]))
    yield refused("shape_negative", "A shape of less than no columns", s.parts(front, s.raw(b"\1", "1 shape"), s.constant(-1)))
    yield refused("shapes_of_1048577", "Shapes of 1,048,577 columns, all together", s.parts(front, s.raw(s.varint(33), "33 shapes"), s.runs(2, s.varints([32_767, 33]), s.varints([31, 0]))))
    yield refused("name_not_ascii", "A name that is not ASCII", replace(HERB, names=[b"a", b"b", b"\x80"]))
    yield refused("shape_beyond", "A dictionary of a shape that there is not", replace(HERB, shape_numbers=[1]))
    yield refused("shape_number_negative", "A dictionary of a shape below 0", replace(HERB, shape_numbers=[-1]))


def objects() -> Iterator[Vector]:
    yield refused("array_longer", "An array that is longer than there are codes", replace(array([NULL, NULL]), sizes=[3]))
    yield refused("array_2_62", "An array of 2^62 elements", replace(array([NULL, NULL]), sizes=[2**62]))
    yield refused("array_shorter", "An array that leaves a code over", replace(array([NULL, NULL]), sizes=[1]))
    yield refused("array_negative", "An array of less than nothing", TakenLists([PLAIN], [[ARRAY]], sizes=[-1]))
    yield refused("shared_beyond", "A shared object that there is not yet", array([SHARED, ASCII], ascii=[b"x"], shared=[0]))
    yield refused("shared_negative", "A shared object below 0", array([ASCII, SHARED], ascii=[b"x"], shared=[-1]))
    yield refused("shared_integer", "An integer is no shared object", array([INTEGER, SHARED], numbers=[5], shared=[0]))
    other = TakenLists([PLAIN, PLAIN], [[ASCII, SHARED]], ascii=[b"x"], shared=[0])
    yield refused("shared_of_another", "A shared object of another list", other, 2)
    yield refused("ascii_128", "A text in ASCII with another byte", array([ASCII], ascii=[b"\x80"]))
    yield refused("utf_16_odd", "A text in UTF-16 of three bytes", array([UTF_16], utf_16=[b"\0x\0"]))
    for name, code in [("uid", UID), ("float", FLOAT)]:
        yield refused(f"{name}_2_32", f"A {name} of 33 bits", array([code], numbers=[2**32]))
        yield refused(f"{name}_negative", f"A {name} below 0", array([code], numbers=[-1]))


def archives() -> Iterator[Vector]:
    def table(name: str, about: str, codes: list[int], visited: list[int], **changes: Any) -> Vector:
        """Elements are null, and two more."""
        contexts = [[NULL], [ARRAY], [TABLE, *codes]] + ([visited] if visited else [])
        return refused(name, about, replace(TakenLists([ARCHIVE], contexts, tables=[3], sizes=[len(codes) + 1]), **changes))

    for code in (NEW, LATER, EXPLICIT, VISIT, TABLE, PREVIOUS, ANCESTOR, OF_ROW, OF_PARENT, BESIDE):
        yield refused(f"code_{code}_in_no_archive", "A code of archives in a list that is none", array([code], uids=[0] * (code in (EXPLICIT, VISIT))))
    yield table("new_beyond", "A new element, and none is left", [NEW, NEW, NEW], [TRUE] * 3)
    yield table("later_beyond", "The same, to be visited later", [NEW, NEW, LATER], [TRUE] * 2)
    yield table("visited_twice", "An element that is visited twice", [NEW, VISIT, NEW], [TRUE] * 3, uids=[0])
    yield table("visited_first", "The first element is visited already", [VISIT, NEW, NEW], [TRUE] * 3, uids=[0])
    itself = replace(TABLED, contexts=[[NULL], [ARRAY], [TABLE, NEW], [DICTIONARY], [VISIT], [DICTIONARY]], tables=[2], shape_numbers=[0, 0], uids=[1])
    yield refused("visited_within_itself", "An element that is visited within itself", itself)
    yield table("visit_beyond", "An element that there is not", [NEW, NEW, VISIT], [TRUE] * 3, uids=[1])
    yield table("explicit_negative", "A UID below 0", [NEW, NEW, EXPLICIT], [TRUE] * 2, uids=[-3])
    yield table("explicit_2_32", "A UID of 33 bits", [NEW, NEW, EXPLICIT], [TRUE] * 2, uids=[2**32 - 2])
    yield table("explicit_wraps", "A UID that wraps at 64 bits", [NEW, NEW, EXPLICIT], [TRUE] * 2, uids=[2**63 - 1])
    yield table("element_missing", "An element without a code", [NEW], [TRUE])
    yield refused("table_missing", "An archive without its table", replace(TABLED, contexts=[[NULL], [ARRAY], [NULL, NEW], *TABLED.contexts[3:]]))
    yield table("table_twice", "A table that stands there twice", [NEW, NEW, TABLE], [TRUE] * 2)
    yield table("table_within_itself", "A table within an element", [NEW, NEW], [TRUE, TABLE])
    own = TakenLists([ARCHIVE], [[TABLE], [NULL]], tables=[1])
    yield refused("table_as_element", "A table that is an element of its own, and nothing else", own)
    yield refused("table_size_negative", "A table of less than nothing", replace(TABLED, tables=[-1]))
    yield refused("table_size_2_62", "A table of 2^62 elements", replace(TABLED, tables=[2**62]))
    yield refused("table_size_more", "A table of one more than there are", replace(TABLED, tables=[4]))


def rows() -> Iterator[Vector]:
    def in_column(name: str, about: str, code: int, *, order: list[int] | None = None, first: int = NEW) -> Vector:
        """A row of two columns, of which the second has the code."""
        contexts = [[NULL], [ARRAY], [TABLE, NEW], [DICTIONARY], [first], [TRUE], [code]]
        if first != NEW:
            contexts.remove([TRUE])
        taken = replace(TABLED, contexts=contexts, tables=[3 if first == NEW else 2], names=[b"a", b"b"], shapes=[([0, 1], order or [0, 1])])
        return refused(f"row_{name}", about, taken)

    yield in_column("ancestor_beyond", "A parent that there is not", ANCESTOR + 1)
    yield in_column("column_itself", "A column that is not read yet", OF_ROW + 1)
    yield in_column("column_beyond", "A column that there is not", OF_ROW + 2)
    yield in_column("column_without_uid", "A column without a UID", OF_ROW, first=NULL)
    yield in_column("column_of_no_parent", "A column of a parent that there is not", OF_PARENT)
    yield in_column("beside_no_parent", "Beside a row without a parent", BESIDE)
    for name, code in [("ancestor", ANCESTOR), ("column", OF_ROW)]:
        none = TakenLists([ARCHIVE], [[NULL], [ARRAY], [TABLE, code]], tables=[1], sizes=[2])
        yield refused(f"row_{name}_of_none", "A row that there is not", none)
    no_element = TakenLists([ARCHIVE], [[NULL], [DICTIONARY], [TABLE], [ANCESTOR]], tables=[1], names=[b"a", b"b"], shapes=[([0, 1], [0, 1])], shape_numbers=[0])
    yield refused("row_without_uid", "A row that is no element, and so has no UID", no_element)

    # Element 1 has a column b with an array, and c with one whose elements are rows.
    beside = TakenLists(
        [ARCHIVE], [[NULL], [ARRAY], [TABLE, NEW], [DICTIONARY], [ARRAY], [NEW, TRUE], [NULL], [ARRAY], [NULL, DICTIONARY], [BESIDE]],
        tables=[3], names=[b"b", b"c", b"x"], shapes=[([0, 1], [0, 1]), ([2], [0])], sizes=[2, 2, 2], shape_numbers=[0, 1],
    )  # fmt: skip
    yield refused("row_beside_no_uid", "No UID stands beside", beside)
    shorter = replace(beside, contexts=[*beside.contexts[:5], [NEW], *beside.contexts[6:]], sizes=[2, 1, 2])
    yield refused("row_beside_beyond", "The array beside is shorter", shorter)
    yield refused("row_beside_column", "A column that is no array", replace(beside, contexts=[*beside.contexts[:4], [NEW], [NULL], *beside.contexts[7:]], sizes=[2, 2]))
    itself = replace(beside, contexts=[*beside.contexts[:9], [BESIDE + 1]])
    yield refused("row_beside_itself", "The array of the rows, in which no UID stands", itself)
    deeper = [*beside.contexts[:5], [NEW, NEW], [NULL, TRUE], [ARRAY], [ARRAY], [NULL, DICTIONARY], [BESIDE]]
    yield refused("row_beside_deeper", "Rows in an array within an array have no place", replace(beside, contexts=deeper, tables=[4], sizes=[2, 2, 1, 2]))


def sizes() -> Iterator[Vector]:
    most = 1_048_576
    yield refused("over_limit", "A list of 1,048,577 bytes", TakenLists([PLAIN], [[DATA]], data=[bytes(most - 49)]))
    yield refused("codes_over_limit", "An array of 1,048,577 nulls, in a few bytes", counted_codes(most + 2))
    front = s.parts(s.raw(b"\x0a", "property lists"), s.constant(PLAIN), s.raw(b"\0\0", "no names, no shapes"))
    deep = s.parts(front, s.raw(s.varint(65_537), "65537 contexts"), s.constant(1), s.constant(ARRAY), s.runs(2, s.varints([1, 0]), s.varints([65_535, 0])))
    yield refused("arrays_over_limit", "65,537 arrays within one another", deep)
    # 32,769 elements within one another, each visited and a dictionary.
    yield refused("elements_over_limit", "32,769 dictionaries that are visited within one another", chain_part(32_769))
    alone = TakenLists([PLAIN], [[TRUE]]).part()
    yield refused("depth_8", "What lists are made of at depth 8", deeper(7, alone))
    bits = s.parts(s.raw(b"\x0a", "property lists"), s.constant(PLAIN), s.raw(b"\0\0\1", "1 context"), s.constant(1), s.constant(REAL), s.bits(s.constant(0)))
    yield refused("real_depth_8", "The bits of reals at depth 8", deeper(6, bits))
    holding = s.holding(0, s.constant(1), s.terminated([b"x"]))
    part = s.parts(s.raw(b"\x0a", "property lists"), s.constant(0), holding)
    columns = s.plain(s.TEXT, s.terminated([b"x"])), s.plain(s.BLOB, part)
    yield replace(bad_column("lists_holding", "Strings in lists refer to no column", 1, *columns), covers="lists")


def chain_part(size: int) -> s.Part:
    """Elements of one column, each of which leads to the next; the last one leads to itself. Each code stands for a run."""
    codes = [(NULL, 1), (ARRAY, 1), (TABLE, 1), (NEW, 1), (DICTIONARY, 1), (NEW, size - 1), (ANCESTOR, 1), (DICTIONARY, size - 1)]
    runs = s.runs(len(codes), s.varints([code for code, _ in codes]), s.varints([count - 1 for _, count in codes]))
    return s.parts(
        s.raw(b"\x0a", "property lists"), s.constant(ARCHIVE), s.constant(size + 1), s.raw(b"\1", "1 name"), s.lengths([b"n"]),
        s.raw(b"\1", "1 shape"), s.constant(1), s.constant(0), s.constant(0), s.raw(b"\6", "6 contexts"),
        s.varints([1, 1, 2, 1, size, size - 1]), runs, s.constant(2), s.constant(0),
    )  # fmt: skip
