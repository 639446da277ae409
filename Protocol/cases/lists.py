"""Property lists that were taken apart (`LISTS.md`), without archives.

What comes out is written by Python's own `plistlib`, or by hand where that writes no such list.
"""

from __future__ import annotations

import plistlib
import struct
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from cases.segment_vector import column_of
from encoder import segment as s
from encoder.property_lists import taken_apart
from encoder.sqlite_file import Value
from encoder.taken_lists import (
    ARRAY, ASCII, DATA, DATE, DICTIONARY, FALSE, FLOAT, INTEGER, INTEGERS, NULL, REAL, SHARED, TRUE, UID, UTF_16, TakenLists,
)  # fmt: skip
from encoder.vector import Vector

LOW, HIGH = -(2**63), 2**63 - 1
PLAIN, PLAIN_ANEW = 1, 3
IN_ORDER = [0, 1]


def vectors() -> Iterator[Vector]:
    yield from kinds()
    yield from shared()
    yield from counts()
    yield from several()


def written(value: Any) -> bytes:
    """By `plistlib`, which makes one object of texts, numbers, dates and data that are equal."""
    return plistlib.dumps(value, fmt=plistlib.FMT_BINARY, sort_keys=False)


def whole_list(objects: list[bytes], offset_size: int = 1, reference_size: int = 1) -> bytes:
    """A binary property list of these objects; references as they are."""
    body, offsets = b"bplist00", b""
    for each in objects:
        offsets += len(body).to_bytes(offset_size, "big")
        body += each
    trailer = bytes(6) + bytes([offset_size, reference_size]) + struct.pack(">QQQ", len(objects), 0, len(body))
    return body + offsets + trailer


def lists(name: str, about: str, expected: list[bytes], taken: TakenLists) -> Vector:
    values: list[Value] = [*expected]
    return replace(column_of(f"lists_{name}", about, values, s.plain(s.BLOB, taken.part())), covers="lists")


def array(elements: list[int], kind: int = PLAIN, **streams: Any) -> TakenLists:
    """One array, of the codes."""
    return TakenLists([kind], [[ARRAY], elements], sizes=[len(elements), *streams.pop("sizes", [])], **streams)


def deeper(levels: int, strings: s.Part) -> s.Part:
    """The strings, so many encodings deeper."""
    return strings if levels == 0 else s.deflated_strings(s.constant(0), deeper(levels - 1, strings))


def kinds() -> Iterator[Vector]:
    herb = TakenLists(
        [PLAIN], [[DICTIONARY], [ASCII], [ARRAY], [INTEGER]], names=[b"name", b"n"], shapes=[([0, 1], IN_ORDER)],
        shape_numbers=[0], ascii=[b"dill"], sizes=[1], numbers=[1000],
    )  # fmt: skip
    yield lists("dictionary", "A dictionary with a text and an array", [written({"name": "dill", "n": [1000]})], herb)
    herb.shapes = [([0, 1], [1, 0])]
    herb.contexts = [[DICTIONARY], [ARRAY], [INTEGER], [ASCII]]
    yield lists("visiting_order", "The same, whose second column is read first; the list is the same", [written({"name": "dill", "n": [1000]})], herb)
    everything = [None, False, True, 5, 1.5, datetime(2001, 1, 1, 0, 1), b"\0\xff", "dill", "cr\u00eape", plistlib.UID(7), [], {}]
    codes = [NULL, FALSE, TRUE, INTEGER, REAL, DATE, DATA, ASCII, UTF_16, UID, ARRAY, DICTIONARY]
    streams = {
        "numbers": [5, 7], "sizes": [0], "reals": [struct.pack(">d", 1.5), struct.pack(">d", 60)], "data": [b"\0\xff"],
        "ascii": [b"dill"], "utf_16": ["cr\u00eape".encode("utf-16-be")], "shapes": [([], [])], "shape_numbers": [0],
    }  # fmt: skip
    yield lists("every_kind", "An object of every kind", [written(everything)], array(codes, **streams))
    yield lists("alone", "A list of one object, that is neither array nor dictionary", [written(True)], TakenLists([PLAIN], [[TRUE]]))
    numbers = [0, 2**8 - 1, 2**8, 2**16 - 1, 2**16, 2**32 - 1, 2**32, -1, HIGH, LOW]
    yield lists("integers", "Integers of every size", [written(numbers)], array([INTEGER] * len(numbers), numbers=numbers))
    numbers = [0, 2**8 - 1, 2**8, 2**16 - 1, 2**16, 2**32 - 1]
    uids = [plistlib.UID(number) for number in numbers]
    yield lists("uids", "UIDs of every size, in what is no archive", [written(uids)], array([UID] * len(numbers), numbers=numbers))
    halves = [0x3F000000, 0x7FC00001]
    floats = whole_list([b"\xa2\1\2", *(b"\x22" + half.to_bytes(4, "big") for half in halves)])
    yield lists("floats", "Reals of 32 bits, one of them no number", [floats], array([FLOAT, FLOAT], numbers=halves))
    nan = b"\x7f\xf4\0\0\0\0\0\1"
    yield lists("real_not_a_number", "A real whose bits stay as they are", [whole_list([b"\xa1\1", b"\x23" + nan])], array([REAL], reals=[nan]))


def shared() -> Iterator[Vector]:
    yield lists("shared", "A text that stands there once", [written(["dill", "salt", "dill", "salt"])], array([ASCII, ASCII, SHARED, SHARED], ascii=[b"dill", b"salt"], shared=[0, 1]))
    both = whole_list([b"\xa2\1\2", b"\x51x", b"\x51x"])
    yield lists("equal_texts", "Equal texts that stand there twice", [both], array([ASCII, ASCII], ascii=[b"x", b"x"]))
    values = [1.5, b"\1", datetime(2001, 1, 1), "\u00e9"]
    streams = {"reals": [struct.pack(">d", 1.5), bytes(8)], "data": [b"\1"], "utf_16": ["\u00e9".encode("utf-16-be")]}
    codes = [REAL, DATA, DATE, UTF_16, *[SHARED] * 4]
    yield lists("shared_every_kind", "A real, data, a date and a text, each twice", [written([*values, *values])], array(codes, shared=[0, 1, 2, 3], **streams))
    half = b"\x22\x3f\0\0\0"
    yield lists("shared_float", "A real of 32 bits, twice", [whole_list([b"\xa2\1\1", half])], array([FLOAT, SHARED], numbers=[0x3F000000], shared=[0]))
    own = TakenLists([PLAIN], [[DICTIONARY], [SHARED], [SHARED]], names=[b"a", b"b"], shapes=[([0, 1], IN_ORDER)], shape_numbers=[0], shared=[1, 0])
    yield lists("shared_keys", "Keys as values", [written({"a": "b", "b": "a"})], own)
    late = TakenLists([PLAIN], [[ARRAY], [ASCII, ASCII, DICTIONARY, SHARED], [NULL]], names=[b"k"], shapes=[([0], [0])], sizes=[4], shape_numbers=[0], ascii=[b"x", b"k"], shared=[1])
    yield lists("key_after_text", "A key that is a text which came before", [written(["x", "k", {"k": None}, "k"])], late)
    first = TakenLists([PLAIN], [[ARRAY], [ASCII, ASCII, DICTIONARY], [NULL]], names=[b"k"], shapes=[([0], [0])], sizes=[3], shape_numbers=[0], ascii=[b"k", b"k"])
    made = whole_list([b"\xa3\1\2\3", b"\x51k", b"\x51k", b"\xd1\1\4", b"\0"])
    yield lists("key_after_texts", "A key that is the first of two equal texts", [made], first)
    twice = TakenLists([PLAIN], [[ARRAY], [DICTIONARY] * 3, [NULL, TRUE], [FALSE]], names=[b"k", b"l"], shapes=[([0], [0]), ([1], [0])], sizes=[3], shape_numbers=[0, 1, 0])
    yield lists("keys_again", "Dictionaries that share their keys", [written([{"k": None}, {"l": False}, {"k": True}])], twice)
    yield lists("integers_equal", "Equal integers are one object", [written([7, 8, 7])], array([INTEGER] * 3, numbers=[7, 8, 7]))
    apart = whole_list([b"\xaa\1\2\3\4\5\1\2\3\4\5", *[b"\x10\7"] * 5])
    yield lists("integers_apart", "Equal integers of five codes are five objects", [apart], array([*INTEGERS] * 2, numbers=[7] * 10))
    once = whole_list([b"\xa8\1\2\3\4\1\2\3\4", b"\x80\1", b"\0", b"\x08", b"\x09"])
    codes = [UID, NULL, FALSE, TRUE] * 2
    yield lists("once", "UIDs, nulls, falses and trues, each once", [once], array(codes, numbers=[1, 1]))
    anew = whole_list([b"\xa8\1\2\3\4\1\2\3\4", *[b"\x80\1", b"\0", b"\x08", b"\x09"] * 2])
    yield lists("anew", "The same, and each stands there once more", [anew], array(codes, PLAIN_ANEW, numbers=[1, 1]))


def counts() -> Iterator[Vector]:
    for size in (14, 15, 255, 256):
        yield lists(f"text_of_{size}", f"A text of {size} bytes", [written("t" * size)], TakenLists([PLAIN], [[ASCII]], ascii=[b"t" * size]))
    yield lists("data_of_65536", "Data of 65,536 bytes", [written(bytes(65_536))], TakenLists([PLAIN], [[DATA]], data=[bytes(65_536)]))
    yield lists("utf_16_of_15", "A text of 15 units", [written("\u00e9" * 15)], TakenLists([PLAIN], [[UTF_16]], utf_16=["\u00e9".encode("utf-16-be") * 15]))
    yield lists("texts_empty", "Texts and data of no bytes", [whole_list([b"\xa3\1\2\3", b"\x50", b"\x60", b"\x40"])], array([ASCII, UTF_16, DATA], ascii=[b""], utf_16=[b""], data=[b""]))
    yield lists("array_of_15", "An array of 15", [written([None] * 15)], array([NULL] * 15))
    names = [f"k{place:x}" for place in range(15)]
    wide = TakenLists([PLAIN], [[DICTIONARY], *[[TRUE]] * 15], names=[name.encode() for name in names], shapes=[([*range(15)], [*range(15)])], shape_numbers=[0])
    yield lists("dictionary_of_15", "A dictionary of 15 columns", [written(dict.fromkeys(names, True))], wide)
    for size in (255, 256):
        numbers = [*range(size - 1)]
        yield lists(f"objects_{size}", f"{size} objects: references of {1 if size < 256 else 2} bytes", [written(numbers)], array([INTEGER] * len(numbers), numbers=numbers))
    for size in (244, 245):
        at = size + 11
        yield lists(f"offsets_{at}", f"The offset table at {at}: offsets of {1 if at < 256 else 2} bytes", [written(b"e" * size)], TakenLists([PLAIN], [[DATA]], data=[b"e" * size]))
    longest = bytes(1_048_526)
    yield lists("longest", "A list of 1,048,576 bytes", [written(longest)], TakenLists([PLAIN], [[DATA]], data=[longest]))


def several() -> Iterator[Vector]:
    values: list[Any] = [{"n": 1, "name": "dill"}, {"n": 2, "name": "salt"}, [3, "salt"]]
    taken = TakenLists(
        [PLAIN, 0, PLAIN, 0, PLAIN], [[DICTIONARY, DICTIONARY, ARRAY], [INTEGER] * 2, [ASCII] * 2, [INTEGER, ASCII]], [b"no list", b"bplist00"],
        names=[b"n", b"name"], shapes=[([0, 1], IN_ORDER)], shape_numbers=[0, 0], sizes=[2], numbers=[1, 2, 3], ascii=[b"dill", b"salt", b"salt"],
    )  # fmt: skip
    made = [written(value) for value in values]
    yield lists("several", "Lists of one column, and strings that are none, among them", [made[0], b"no list", made[1], b"bplist00", made[2]], taken)
    yield lists("none", "Strings alone", [b"no list", b""], TakenLists([0, 0], plain=[b"no list", b""]))
    inner = written({"n": 1})
    within = taken_apart([inner]).part()
    yield lists("within_lists", "A list within the data of a list", [written([inner])], array([DATA], data=within))
    real = struct.pack(">d", 1.5)
    yield column_of("lists_depth_7", "What lists are made of at depth 7", [written(1.5)], s.plain(s.BLOB, deeper(6, TakenLists([PLAIN], [[REAL]], reals=[real]).part())))
    names = [{"unused": [1, 2, {"name": "dill", "more": {"name": ["dill"]}}]}, {"name": "caraway", "more": {}}]
    made = [written(value) for value in names]
    yield lists("nested", "Columns of one shape at several places", made, taken_apart(made))
