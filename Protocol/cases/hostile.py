"""What only somebody hostile would send: names that mean something elsewhere, JSON that readers disagree on, lengths that
lie, streams that swell. Each breaks a rule of sections 3 to 6, and is refused before anything is made of it."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from cases.frames import bad as bad_frame
from cases.manifests import bad, changed
from cases.messages import bad as bad_message
from cases.streams import GOOD_MANIFEST, bad as bad_stream, blocks, installed
from encoder.deflate import DeflateStream
from encoder.piece import Pieces, binary, compact_json, text
from encoder.samples import HELLO_MEMBERS, PHOTO_UUID, RECIPES_STORE, core_data_manifest, external, manifest, receipt, word
from encoder.vector import Vector
from encoder.wire import (
    ANSWER, DATA, END, HELLO, MANIFEST, PART, RECEIPT, REFUSAL, deflated_json, frame, header, part, stored_json,
)  # fmt: skip

RIGHT = compact_json(manifest())
TABLE = '{"rows":0,"digest":"0123456789abcdef0123456789abcdef"}'


def vectors() -> Iterator[Vector]:
    yield from store_names()
    yield from file_names()
    yield from other_names()
    yield from json()
    yield from twice()
    yield from numbers()
    yield from types()
    yield from packing()
    yield from lengths()
    yield from sessions()


def store_names() -> Iterator[Vector]:
    wrong = {
        "tilde": ("~", "A home folder"),
        "tilde_user": ("~root", "Another's home folder"),
        "variable": ("$HOME", "A variable of a shell"),
        "backquotes": ("`id`", "A command in a command"),
        "semicolon": ("a;id", "A second command"),
        "glob": ("*", "Every file"),
        "percent": ("Recipes%2e%2e%2fx", "A path in the escapes of URLs"),
        "question_mark": ("Recipes?mode=rwc", "A parameter of one of SQLite's URIs"),
        "hash_mark": ("Recipes#x", "A fragment of a URI"),
        "colon": ("Recipes:stream", "A second stream of a file on another system"),
        "drive": ("C:Recipes", "A drive of another system"),
        "unc": ("\\\\host\\share", "A share of another host"),
        "proc": ("/proc/self/fd/3", "What the reader has open"),
        "dots_and_slash": ("..a/../b", "Dots and slashes"),
        "trailing_slash": ("Recipes/", "A slash at the end"),
        "escape": ("\x1b[2J", "What clears a terminal"),
        "carriage_return": ("Recipes\rx", "A carriage return"),
        "tab": ("Recipes\tx", "A tab"),
        "delete": ("Recipes\x7f", "The control character at the end of ASCII"),
        "nul_then_ending": ("Recipes\0.txt", "A zero byte, after which C reads nothing"),
        "full_width_dots": ("\uff0e\uff0e", "Dots that are folded to ASCII by some"),
        "full_width_slash": ("a\uff0fb", "A slash that is folded to ASCII by some"),
        "division_slash": ("a\u2215b", "What looks like a slash"),
        "one_dot_leader": ("\u2024\u2024", "What looks like dots"),
        "right_to_left": ("Recipes\u202egnp.sqlite", "What is shown backwards"),
        "zero_width": ("Rec\u200bipes", "What is not seen"),
        "soft_hyphen": ("Rec\u00adipes", "What is seldom seen"),
        "byte_order_mark": ("\ufeffRecipes", "A byte order mark first"),
        "cyrillic": ("R\u0435cipes", "A letter that looks like one of ASCII"),
        "kelvin": ("\u212a", "What is k in lower case"),
        "long_s": ("Recipe\u017f", "What is S in upper case"),
        "wal_kelvin": ("Recipes-\u0217al", "A reserved ending with another letter"),
        "emoji": ("\U0001f372", "A character outside of the first plane"),
        "no_character": ("\uffff", "What is no character"),
        "65536": ("n" * 65_536, "65,536 characters"),
        "4_mib_less": ("n" * 4_000_000, "4,000,000 characters"),
    }
    for key, (value, about) in wrong.items():
        yield bad(f"name_{key}", about, manifest(name=value), covers="4.2")


def in_folder(name: str, folder: str = "_EXTERNAL_DATA") -> dict[str, Any]:
    return core_data_manifest(externalFiles=[external(folder, name, b"")])


def file_names() -> Iterator[Vector]:
    digits = PHOTO_UUID
    wrong = {
        "nul_inside": (digits[:35] + "\0", "36 characters, the last one a zero byte"),
        "newline": (digits[:35] + "\n", "36 characters, the last one a line feed"),
        "dots_as_digits": ("../.." + digits[5:], "Dots and a slash in the place of digits"),
        "backslash": ("..\\..\\" + digits[6:], "Backslashes in the place of digits"),
        "absolute": ("/" + digits[1:], "A slash first"),
        "combining": (digits[:35] + "5\u0301", "A combining character after the last digit"),
        "hyphens_unicode": (digits.replace("-", "\u2010"), "Hyphens outside of ASCII"),
        "37": (digits + "0", "37 characters"),
        "35": (digits[:-1], "35 characters"),
        "manifest": ("manifest.json", "The name of the consumer's own file"),
        "long": ("A" * 65_536, "65,536 characters"),
    }
    for key, (value, about) in wrong.items():
        yield bad(f"external_name_{key}", about, in_folder(value), covers="4.6")
    folders = {
        "empty": ("", "No folder"),
        "dot": (".", "This folder"),
        "dot_dot": ("..", "The folder above"),
        "absolute": ("/tmp", "An absolute path"),
        "nul": ("_FBF\0", "A zero byte at the end"),
        "inside": ("_FBF/x", "A folder inside one of the two"),
        "trailing_slash": ("_FBF/", "A slash at the end"),
    }
    for key, (value, about) in folders.items():
        yield bad(f"external_folder_{key}", about, in_folder(digits, value), covers="4.6")
    number = changed("externalFiles.0.name", 7, in_folder(digits))
    yield bad("external_name_is_number", "A name that is a number", number, covers="4.6")
    number = changed("externalFiles.0.folder", 0, in_folder(digits))
    yield bad("external_folder_is_number", "A folder that is a number", number, covers="4.6")
    missing = [{"folder": "..", "name": digits}]
    up = core_data_manifest(externalFiles=[], missingExternalFiles=missing)
    yield bad("external_missing_folder", "A missing file in the folder above", up, covers="4.6")


def other_names() -> Iterator[Vector]:
    yield bad("metadata_key_nul", "A key with a zero byte", manifest(metadata={"a\0": "v"}), covers="4.7")
    yield bad("metadata_key_escape", "A key that clears a terminal", manifest(metadata={"\x1b[2J": "v"}), covers="4.7")
    yield bad("metadata_key_full_width", "A key outside of ASCII that is folded to it by some", manifest(metadata={"\uff41": "v"}), covers="4.7")
    table = {"rows": 0, "digest": "0123456789abcdef"}
    yield bad("tables_name_4096", "A table's name of 4,096 bytes", manifest(tables={"T" * 4096: table}), covers="4.8")
    yield bad("omissions_tables_2049", "2,049 tables that were left out", manifest(omissions={"tables": [f"T{number}" for number in range(2049)]}), covers="4.9")


def inserted(more: str) -> Pieces:
    """The manifest with another member at its end."""
    return text(RIGHT[:-1] + "," + more + "}")


def json() -> Iterator[Vector]:
    yield bad("object_depth_33", "33 levels of objects", inserted('"x":' + '{"x":' * 32 + "0" + "}" * 32))
    yield bad("depth_only_open", "4,000,000 brackets that are never closed", text("[" * 4_000_000))
    yield bad("depth_mixed", "Arrays and objects by turns, 40 levels", inserted('"x":' + '[{"x":' * 20 + "0" + "}]" * 20))
    yield bad("closed_by_other", "An array that is closed as an object", inserted('"x":[1}'))
    yield bad("surrogate_in_utf8", "Half of a character in UTF-8", text(RIGHT.encode().replace(b"1.0.0", b"\xed\xa0\x80")))
    yield bad("utf8_above_10ffff", "What is above U+10FFFF", text(RIGHT.encode().replace(b"1.0.0", b"\xf4\x90\x80\x80")))
    yield bad("utf8_cut", "A character whose bytes end early", text(RIGHT.encode().replace(b"1.0.0", b"\xe2\x82")))
    yield bad("slash_overlong", "A slash in two bytes of UTF-8", text(RIGHT.encode().replace(b'"Recipes"', b'"..\xc0\xafx"')))
    yield bad("escape_unknown", "An escape that is none", inserted('"x":"\\x41"'))
    yield bad("escape_nul_in_name", "An escaped zero byte in the store's name", text(RIGHT.replace('"Recipes"', '"Recipes\\u0000"')), covers="4.2")
    yield bad("escape_slash_in_name", "An escaped slash in the store's name", text(RIGHT.replace('"Recipes"', '"..\\/x"')), covers="4.2")
    yield bad("not_a_number", "NaN is no JSON", inserted('"x":NaN'))
    yield bad("infinity", "Infinity is no JSON", inserted('"x":-Infinity'))
    yield bad("number_hexadecimal", "A number in base 16", inserted('"x":0x10'))
    yield bad("number_leading_zero", "A number with a zero first", inserted('"x":007'))
    yield bad("number_plus", "A number with a plus", inserted('"x":+1'))
    yield bad("number_dot_first", "A number that begins with its point", inserted('"x":.5'))
    yield bad("truth_in_capitals", "TRUE is no JSON", inserted('"x":TRUE'))
    yield bad("utf32", "UTF-32", text(RIGHT.encode("utf-32-le")))
    yield bad("form_feed", "A form feed between members", inserted('\f"x":1'))
    yield bad("no_colon", "A member without its colon", inserted('"x" 1'))


def twice() -> Iterator[Vector]:
    """Members that one reader takes from their first place, and another one from their last."""
    other = '"Drinks"'
    yield bad("twice_name", "A store's name, and another one", inserted(f'"name":{other}'))
    yield bad("twice_name_first", "Another name before the right one", text('{"name":' + other + "," + RIGHT[1:]))
    yield bad("twice_name_equal", "The same name twice", inserted('"name":"Recipes"'))
    yield bad("twice_name_escaped", "A name whose second member is written with an escape", inserted('"n\\u0061me":' + other))
    yield bad("twice_name_escaped_first", "A name whose first member is written with escapes", text('{"\\u006E\\u0061\\u006d\\u0065":' + other + "," + RIGHT[1:]))
    yield bad("twice_name_null", "A name, and null in its place", inserted('"name":null'))
    yield bad("twice_in_store", "store.sha256 twice", text(RIGHT.replace('"sha256":', f'"sha256":"{"0" * 64}","sha256":', 1)), covers="4, 4.4")
    yield bad("twice_requires", "An empty list, and one that asks for something", inserted('"requires":[],"requires":["time-travel"]'))
    yield bad("twice_counter", "Two numbers", inserted('"counter":1,"counter":2'))
    yield bad("twice_metadata_key", "A pair of metadata twice", inserted('"metadata":{"a":"1","a":"2"}'), covers="4, 4.7")
    yield bad("twice_table", "A table twice", inserted('"tables":{"t":' + TABLE + ',"\\u0074":' + TABLE + "}"), covers="4, 4.8")
    yield bad("twice_unknown", "A member that is not known twice", inserted('"x":1,"x":2'))
    yield bad("twice_inside_unknown", "A member twice in an object that is not known", inserted('"x":[{"y":1,"y":1}]'))
    yield bad("surrogate_high", "The first half of a character, escaped", inserted('"identity":"\\ud83c"'))
    yield bad("surrogate_low", "The second half of a character, escaped", inserted('"identity":"\\udf72"'))
    yield bad("surrogate_turned", "The two halves of a character in the wrong order", inserted('"identity":"\\udf72\\ud83c"'))
    yield bad("surrogate_high_twice", "The first half of a character twice", inserted('"identity":"\\ud83c\\ud83c\\udf72"'))
    yield bad("surrogate_then_letter", "The first half of a character, then a letter", inserted('"identity":"\\ud83cA"'))
    yield bad("surrogate_in_member", "Half of a character in the name of a table", inserted('"tables":{"\\udf72":' + TABLE + "}"), covers="4, 4.8")
    yield bad("surrogate_unknown_member", "Half of a character in a member that is not known", inserted('"x":["\\ud83c"]'))
    hello = compact_json(HELLO_MEMBERS)
    yield bad_message("hello", "twice_software", "software twice", text(hello[:-1] + ',"software":"x"}'))
    yield bad_message("hello", "surrogate_high", "Half of a character", text(hello[:-1] + ',"x":"\\ud83c"}'))
    yield bad_message("answer", "twice_wants", "wants twice", text('{"wants":[],"wants":[{"part":1}]}'))
    yield bad_message("answer", "twice_part_escaped", "part twice, once with an escape", text('{"wants":[{"part":0,"p\\u0061rt":1}]}'))
    yield bad_message("receipt", "twice_outcome", "Two outcomes", text(compact_json(receipt())[:-1] + ',"outcome":"unchanged"}'))
    for kind in ("refusal", "cancel"):
        yield bad_message(kind, "twice_ends", "Both are over", text('{"code":"busy","message":"later","ends":"shipment","ends":"session"}'))
        yield bad_message(kind, "twice_code", "Two codes", text('{"code":"busy","message":"later","code":"damaged"}'))
        yield bad_message(kind, "surrogate_low", "Half of a character", text('{"code":"busy","message":"\\udf72"}'))


def numbers() -> Iterator[Vector]:
    wrong = {
        "2_128": (2**128, "A number of 39 digits"),
        "10_4000": (10**4000, "A number of 4,001 digits"),
        "lowest": (-(2**63), "The lowest number of 64 bits"),
        "below_lowest": (-(2**63) - 1, "Less than 64 bits hold"),
    }
    for key, (value, about) in wrong.items():
        yield bad(f"size_{key}", about, changed("store.size", value), covers="4.4")
        yield bad(f"page_count_{key}", about, changed("store.pageCount", value), covers="4.4")
    for key, number in {"exponent": "1e999", "exponent_small": "1e-999", "fraction": "1024.5"}.items():
        yield bad(f"size_{key}", f"The number {number}", text(RIGHT.replace('"size":1024', f'"size":{number}')), covers="4.4")


def types() -> Iterator[Vector]:
    for member, value in {
        "name": ["Recipes"], "createdAt": 1_795_201_445, "producer": None, "store": "Recipes.sqlite", "identity": {}, "metadata": "a=b",
        "tables": True, "requires": {"delta": True}, "externalFiles": {"0": {}}, "coreData": 1,
    }.items():  # fmt: skip
        kind = type(value).__name__.lower()
        yield bad(f"type_{member.lower()}_{kind}", f"{member} is of another type", manifest() | {member: value})


def packing() -> Iterator[Vector]:
    zeros = DeflateStream().fixed([0, *[(258, 1)] * 17_000]).finished()
    yield bad_packed("bomb", "protocol-violation", f"{len(zeros)} bytes that come to 4,386,001", zeros)
    spaces = DeflateStream().fixed([0x20, *[(258, 1)] * 16_000]).finished()
    yield bad_packed("bomb_below_limit", "bad-manifest", "4,128,001 spaces, and no JSON", spaces)
    yield bad_packed("distance_too_far", "damaged", "A match from far before the dictionary", DeflateStream().fixed([(258, 32_768)]).finished())
    yield bad_packed("all_ones", "damaged", "1,000 bytes of ones", b"\xff" * 1000)
    yield bad_packed("stored_length_lies", "damaged", "A stored block whose length and its complement differ", b"\x01\xff\xff\xff\xff")
    yield bad_packed("stored_block_cut", "damaged", "A stored block of 65,535 bytes, of which one comes", b"\x01\xff\xff\x00\x00{")


def bad_packed(name: str, error: str, about: str, stream: bytes) -> Vector:
    return Vector(f"manifest_packed_deflate_{name}", about, "3.5", "manifest", error, [], [("", deflated_json(stream))])


def lengths() -> Iterator[Vector]:
    broken = "protocol-violation"
    for kind, name in ((HELLO, "hello"), (MANIFEST, "manifest"), (ANSWER, "answer"), (PART, "part"), (DATA, "data"), (RECEIPT, "receipt"), (REFUSAL, "refusal"), (END, "end")):  # fmt: skip
        yield bad_frame(f"{name}_4_gib", broken, "A length of 4,294,967,295, and nothing after it", header(kind, 0xFFFF_FFFF))
        yield bad_frame(f"{name}_2_gib", broken, "A length that is negative in signed 32 bits", header(kind, 0x8000_0000))
    yield bad_frame("length_less", "damaged", "A length of one byte less than the payload", shorter(ANSWER, b'{"wants":[]}', -1))
    yield bad_frame("length_more", "damaged", "A length of one byte more, over the CRC-32's first", shorter(ANSWER, b'{"wants":[]}', 1) + frame(END))
    yield bad_frame("length_little_endian", broken, "A length in the wrong byte order", [*header(ANSWER, struct.unpack("<I", struct.pack(">I", 12))[0]), *text('{"wants":[]}')])
    yield bad_frame("optional_4_gib", broken, "An optional frame of 4,294,967,295 bytes", header(0x80, 0xFFFF_FFFF))
    yield bad_frame("nothing_but_zeros", "unknown-frame", "Zeros", binary(bytes(64), "zeros"))
    yield bad_frame("nothing_but_ones", broken, "Ones: an optional frame that is too long", binary(b"\xff" * 64, "ones"))
    yield bad_frame("http", "unknown-frame", "A request of another protocol", text("GET / HTTP/1.1\r\nHost: a\r\n\r\n"))


def shorter(kind: int, payload: bytes, by: int) -> Pieces:
    right = frame(kind, text(payload))
    return [*header(kind, len(payload) + by), *right[2:]]


def sessions() -> Iterator[Vector]:
    broken = "protocol-violation"
    store = RECIPES_STORE.data
    manifest_of = lambda members: frame(MANIFEST, stored_json(text(compact_json(members))))  # noqa: E731
    yield bad_stream("hostile_manifest_after_block", broken, "Another name in the middle", GOOD_MANIFEST, *blocks(store, size=512)[:2], manifest_of(manifest(name="Other")), frame(END))
    yield bad_stream("hostile_traversal", "bad-manifest", "A path in a manifest, and then all that belongs to it", manifest_of(manifest(name="../../x")), *blocks(store), frame(END))
    yield bad_stream("hostile_external_traversal", "bad-manifest", "A path in the name of an external file", manifest_of(in_folder("../../" + PHOTO_UUID[6:])), *blocks(store), frame(END))
    yield bad_stream("hostile_end_first", broken, "END before anything", frame(END))
    yield bad_stream("hostile_end_at_once", broken, "END right after the manifest", GOOD_MANIFEST, frame(END))
    yield bad_stream("hostile_part_2_32", broken, "A part that no manifest names", GOOD_MANIFEST, frame(PART, part(0xFFFF_FFFF)))
    yield bad_stream("hostile_receipt", broken, "The consumer's own word", GOOD_MANIFEST, frame(RECEIPT, stored_json(text(compact_json(receipt())))))
    yield bad_stream("hostile_more_after_end", broken, "A part after END", GOOD_MANIFEST, *blocks(store), frame(END), *blocks(store)[:1], before=installed(store))
    for kind in ("refusal", "cancel"):
        yield bad_message(kind, "message_is_array", "A message that is an array", {"code": "busy", "message": ["later"]})
        yield bad_message(kind, "deep", "33 levels", text(compact_json(word("busy", "later"))[:-1] + ',"x":' + "[" * 32 + "]" * 32 + "}"))
    for key, name in {"nul": "Recipes\0", "unicode": "R\u0435cipes", "wal": "Recipes-WAL", "129": "n" * 129}.items():
        yield bad_message("receipt", f"name_{key}", "A name that breaks its rule", receipt() | {"name": name})
