"""Archives that were taken apart (`LISTS.md` sections 4 and 5): each way to say a UID."""

from __future__ import annotations

import plistlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from cases.lists import lists, whole_list, written
from encoder.property_lists import taken_apart
from encoder.taken_lists import (
    ANCESTOR, ARRAY, ASCII, BESIDE, DICTIONARY, EXPLICIT, INTEGER, LATER, NEW, NULL, OF_PARENT, OF_ROW, PREVIOUS, SHARED, TABLE,
    TRUE, UID, VISIT, TakenLists,
)  # fmt: skip
from encoder.vector import Vector

ARCHIVE, ARCHIVE_ANEW = 2, 4


def vectors() -> Iterator[Vector]:
    yield from plain()
    yield from numbers()
    yield from rows()
    yield from anew()


def archive(table: list[Any], *uids: int) -> bytes:
    """An array of the table and UIDs; in it UIDs are numbers in sets of one."""
    known: dict[int, plistlib.UID] = {}

    def with_uids(value: Any) -> Any:
        if isinstance(value, set):
            number = next(iter(value))
            return known.setdefault(number, plistlib.UID(number))
        if isinstance(value, list):
            return [with_uids(each) for each in value]
        return {key: with_uids(each) for key, each in value.items()} if isinstance(value, dict) else value

    return written([with_uids(table), *(with_uids({uid}) for uid in uids)])


def plain() -> Iterator[Vector]:
    classes = {"$classname": "Herb", "$classes": ["Herb", "NSObject"]}
    objects = ["$null", {"name": plistlib.UID(2), "$class": plistlib.UID(3)}, "dill", classes]
    whole = written({"$version": 100_000, "$objects": objects, "$archiver": "NSKeyedArchiver", "$top": {"root": plistlib.UID(1)}})
    taken = TakenLists(
        [ARCHIVE],
        [[ASCII], [DICTIONARY], [INTEGER], [TABLE], [ASCII], [DICTIONARY], [NEW], [DICTIONARY], [NEW], [ASCII], [NEW], [DICTIONARY], [ASCII], [ARRAY], [SHARED, ASCII]],
        tables=[4], names=[b"$version", b"$objects", b"$archiver", b"$top", b"root", b"name", b"$class", b"$classname", b"$classes"],
        shapes=[([0, 1, 2, 3], [0, 1, 2, 3]), ([4], [0]), ([5, 6], [0, 1]), ([7, 8], [0, 1])], shape_numbers=[0, 1, 2, 3],
        numbers=[100_000], sizes=[2], shared=[12], ascii=[b"$null", b"NSKeyedArchiver", b"dill", b"Herb", b"NSObject"],
    )  # fmt: skip
    yield lists("archive", "An archive, each of its elements visited when it is new", [whole], taken)
    yield lists("archive_simply", "The same as a simple producer takes it apart", [whole], taken_apart([whole]))
    yield lists("archive_empty", "An archive whose table has no elements", [archive([])], TakenLists([ARCHIVE], [[ARRAY], [TABLE]], tables=[0], sizes=[1]))
    unnamed = TakenLists([ARCHIVE], [[INTEGER, NULL, TRUE], [ARRAY], [TABLE]], tables=[3], sizes=[1], numbers=[5])
    yield lists("archive_rest", "Elements to which no UID leads", [archive([5, None, True])], unnamed)
    late = TakenLists([ARCHIVE], [[NULL, DICTIONARY], [ARRAY], [TABLE], [NEW], [TRUE]], tables=[3], names=[b"n"], shapes=[([0], [0])], sizes=[1], shape_numbers=[0])
    yield lists("archive_rest_named", "An element that is visited in the end is not new any more", [archive([None, {"n": {2}}, True])], late)
    naming = TakenLists([ARCHIVE], [[ARRAY, NULL], [LATER], [TABLE]], tables=[2], sizes=[1])
    yield lists("archive_table_alone", "The table is the list", [written([[plistlib.UID(1)], None])], naming)
    own = TakenLists([ARCHIVE], [[NULL, DICTIONARY], [ARRAY], [TABLE], [ANCESTOR]], tables=[2], names=[b"n"], shapes=[([0], [0])], sizes=[1], shape_numbers=[0])
    yield lists("archive_rest_row", "A row to which no UID leads, but one of its own", [archive([None, {"n": {1}}])], own)
    within = TakenLists([ARCHIVE], [[NEW, TRUE], [NULL], [TABLE]], tables=[3])
    yield lists("archive_uid_as_element", "An element that is a UID itself", [written([plistlib.UID(1), None, True])], within)
    apart = whole_list([b"\xa1\1", b"\xa2\2\3", b"\x51k", b"\xd1\4\5", b"\x51k", b"\0"])
    key = TakenLists([ARCHIVE], [[ASCII, DICTIONARY], [ARRAY], [TABLE], [NULL]], tables=[2], names=[b"k"], shapes=[([0], [0])], sizes=[1], shape_numbers=[0], ascii=[b"k"])
    yield lists("archive_key_after_text", "In an archive a key is another object than a text that came before", [apart], key)


def numbers() -> Iterator[Vector]:
    def one(name: str, about: str, codes: list[int], uids: list[int], result: list[int], **changes: Any) -> Vector:
        """A table of null, 11, 12 and 13, of which UIDs say those that are visited."""
        taken = TakenLists([ARCHIVE], [[NULL], [ARRAY], [TABLE, *codes], [INTEGER] * 3], tables=[4], sizes=[len(codes) + 1], uids=uids, numbers=[11, 12, 13])
        return lists(f"archive_{name}", about, [archive([None, 11, 12, 13], *result)], replace(taken, **changes))

    yield one("new", "New ones, one after the other", [NEW] * 3, [], [1, 2, 3])
    yield one("visit", "Visited in another order", [VISIT] * 3, [3, -1, -1], [3, 2, 1], numbers=[13, 12, 11])
    yield one("later", "Named now and visited later", [LATER, LATER, VISIT, NEW, VISIT], [-1, -1], [1, 2, 1, 3, 2], numbers=[11, 13, 12])
    yield one("explicit", "Explicit ones, of which two name no element", [NEW, EXPLICIT, EXPLICIT, EXPLICIT, NEW, NEW], [-1, 2**32 - 1, 4 - 2**32 + 1], [1, 0, 2**32 - 1, 4, 2, 3])
    yield one("explicit_names", "What an explicit one names is not new", [EXPLICIT, NEW, VISIT, NEW], [2, 1], [2, 1, 2, 3], numbers=[11, 12, 13])
    yield one("previous", "The one before, and 0 if there was none", [PREVIOUS, NEW, PREVIOUS, VISIT, PREVIOUS, NEW], [2], [0, 1, 1, 3, 3, 2], numbers=[11, 13, 12])
    rest = [[NULL, INTEGER, INTEGER], [ARRAY], [TABLE, NEW], [INTEGER]]
    yield one("rest_later", "Two that are visited in the end", [NEW], [], [1], contexts=rest, numbers=[12, 13, 11])
    leads_nowhere = [[NULL], [ARRAY], [TABLE, UID, NEW, NEW, NEW], [INTEGER] * 3]
    yield one("uid_nowhere", "A UID that leads nowhere does not name its element", [UID, NEW, NEW, NEW], [], [1, 1, 2, 3], contexts=leads_nowhere, numbers=[1, 11, 12, 13])
    both = TakenLists([ARCHIVE, ARCHIVE], [[NULL, NULL], [ARRAY, ARRAY], [TABLE, NEW, TABLE, PREVIOUS, EXPLICIT], [TRUE], ], tables=[2, 1], sizes=[2, 3], uids=[1])
    yield lists("archives", "In the second list the UID before is that of the first one", [archive([None, True], 1), archive([None], 1, 2)], both)


def rows() -> Iterator[Vector]:
    chain = [None, *({"n": {place}} for place in (2, 3, 4, 5, 6, 7, 8, 1))]
    for code in range(8):
        table = [*chain[:-1], {"n": {8 - code}}]
        taken = TakenLists([ARCHIVE], [[NULL], [ARRAY], [TABLE, NEW], [DICTIONARY], [NEW] * 7 + [ANCESTOR + code], [DICTIONARY] * 7], tables=[9], names=[b"n"], shapes=[([0], [0])], sizes=[2], shape_numbers=[0] * 8)
        yield lists(f"archive_ancestor_{code}", f"The row, {code} parents up" if code else "The row itself", [archive(table, 1)], taken)

    # A herb, its friends and their dates: columns a (a UID), b and c (arrays).
    table: list[Any] = [None, {"a": {2}, "b": [{3}, {4}], "c": [{5}, {6}]}, True, 13, 14, {"x": {2}, "y": {3}}, {"x": {2}, "y": {4}}]
    taken = TakenLists(
        [ARCHIVE],
        [[NULL], [ARRAY], [TABLE, NEW], [DICTIONARY], [NEW], [TRUE], [ARRAY], [NEW, NEW], [INTEGER, INTEGER], [ARRAY], [NEW, NEW], [DICTIONARY] * 2, [OF_PARENT] * 2, [BESIDE + 1] * 2],
        tables=[7], names=[b"a", b"b", b"c", b"x", b"y"], shapes=[([0, 1, 2], [0, 1, 2]), ([3, 4], [0, 1])], sizes=[2, 2, 2], shape_numbers=[0, 1, 1], numbers=[13, 14],
    )  # fmt: skip
    yield lists("archive_beside", "A UID of the parent, and one beside the row", [archive(table, 1)], taken)
    turned = replace(taken, shapes=[([2, 1, 0], [2, 1, 0]), ([4, 3], [1, 0])])
    table[1] = {"c": [{5}, {6}], "b": [{3}, {4}], "a": {2}}
    table[5], table[6] = {"y": {3}, "x": {2}}, {"y": {4}, "x": {2}}
    yield lists("archive_visiting_order", "Columns are counted in the visiting order", [archive(table, 1)], turned)

    table = [None, {"a": {2}, "b": {2}, "c": [[{2}]]}, True]
    taken = TakenLists(
        [ARCHIVE], [[NULL], [ARRAY], [TABLE, NEW], [DICTIONARY], [NEW], [TRUE], [OF_ROW], [ARRAY], [ARRAY], [OF_ROW + 1]],
        tables=[3], names=[b"a", b"b", b"c"], shapes=[([0, 1, 2], [0, 1, 2])], sizes=[2, 1, 1], shape_numbers=[0],
    )  # fmt: skip
    yield lists("archive_of_row", "UIDs of the row, in a column and in arrays of it", [archive(table, 1)], taken)

    table = [None, {"a": {2}}, {"x": {2}}]
    taken = TakenLists([ARCHIVE], [[NULL], [ARRAY], [TABLE, NEW], [DICTIONARY], [NEW], [DICTIONARY], [OF_PARENT]], tables=[3], names=[b"a", b"x"], shapes=[([0], [0]), ([1], [0])], sizes=[2], shape_numbers=[0, 1])
    yield lists("archive_own_place", "A UID stands in its column before its element is visited", [archive(table, 1)], taken)

    table = [None, {"b": [{2}, {3}], "c": [{"x": {2}}, {"x": {3}}]}, True, 5]
    taken = TakenLists(
        [ARCHIVE], [[NULL], [ARRAY], [TABLE, NEW], [DICTIONARY], [ARRAY], [NEW, NEW], [TRUE, INTEGER], [ARRAY], [DICTIONARY] * 2, [BESIDE] * 2],
        tables=[4], names=[b"b", b"c", b"x"], shapes=[([0, 1], [0, 1]), ([2], [0])], sizes=[2, 2, 2], shape_numbers=[0, 1, 1], numbers=[5],
    )  # fmt: skip
    yield lists("archive_beside_directly", "Rows that stand in the array themselves", [archive(table, 1)], taken)

    # Columns 31, the last that a code can name.
    names = [f"{place:02}".encode() for place in range(33)]
    row: dict[str, Any] = {name.decode(): None for name in names[:31]}
    table = [None, row | {"31": {2}, "32": {3}}, True, {"x": {2}}]
    taken = TakenLists(
        [ARCHIVE], [[NULL], [ARRAY], [TABLE, NEW], [DICTIONARY], *[[NULL]] * 31, [NEW], [TRUE], [NEW], [DICTIONARY], [OF_PARENT + 31]],
        tables=[4], names=[*names, b"x"], shapes=[([*range(33)], [*range(33)]), ([33], [0])], sizes=[2], shape_numbers=[0, 1],
    )  # fmt: skip
    yield lists("archive_column_31", "The last column of a parent that can be told", [archive(table, 1)], taken)
    table[1]["32"], table[3:] = {2}, []
    taken = replace(taken, contexts=[*taken.contexts[:-3], [OF_ROW + 31]], tables=[3], shape_numbers=[0])
    yield lists("archive_column_31_of_row", "The last column of a row that can be told", [archive(table, 1)], taken)


def anew() -> Iterator[Vector]:
    uid = b"\x80\1"
    whole = whole_list([b"\xa4\1\4\4\4", b"\xa2\2\3", b"\0", b"\x09", uid, uid, uid])
    taken = TakenLists([ARCHIVE_ANEW], [[NULL], [ARRAY], [TABLE, NEW, PREVIOUS, EXPLICIT], [TRUE]], tables=[2], sizes=[4], uids=[0])
    yield lists("archive_anew", "UIDs that stand there again, and are not referred to", [whole], taken)
