"""The members of a manifest one by one (sections 4.1 to 4.9)."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

from cases.manifests import bad, changed, good
from encoder.samples import (
    CORE_DATA, EMPTY_UUID, PHOTO_UUID, RECIPES_STORE, STORE_UUID, Members, core_data_manifest, external, manifest,
)  # fmt: skip
from encoder.vector import Vector

LARGEST_STORE = 281_474_976_579_584


def vectors() -> Iterator[Vector]:
    yield from names()
    yield from times_and_labels()
    yield from store()
    yield from core_data()
    yield from external_files()
    yield from metadata()
    yield from tables()
    yield from omissions()


def names() -> Iterator[Vector]:
    right = {
        "one_letter": ("R", "One character"),
        "128": ("n" * 128, "128 characters"),
        "every_character": ("_A-Z.a-z_0-9", "Each kind of character that a name may have"),
        "digit_first": ("2026-recipes", "A digit first"),
        "dots_inside": ("recipes..v2.", "Dots, but not first"),
        "ends_in_wal_without_hyphen": ("drywal.shm_journal", "What looks like a reserved ending, but has no hyphen"),
        "reserved_inside": ("a-wal-b", "A reserved ending that is not at the end"),
        "device_of_windows": ("CON", "A device's name on another system, where it is that system's affair"),
    }
    for key, (value, about) in right.items():
        yield good(f"name_{key}", about, manifest(name=value), covers="4.2")
    wrong = {
        "empty": ("", "No characters"),
        "129": ("n" * 129, "129 characters"),
        "slash": ("a/b", "A slash"),
        "backslash": ("a\\b", "A backslash"),
        "dot": (".", "This folder"),
        "dot_dot": ("..", "The folder above"),
        "leading_dot": (".Recipes", "A dot first"),
        "leading_hyphen": ("-Recipes", "A hyphen first, which command lines take for an option"),
        "traversal": ("../Recipes", "A path out of the inbox"),
        "absolute": ("/etc/passwd", "An absolute path"),
        "nul": ("Recipes\0", "A zero byte"),
        "newline": ("Recipes\n", "A line feed at the end"),
        "space": ("My Recipes", "A space"),
        "unicode": ("Rezepte\u00e4", "A letter outside of ASCII"),
        "unicode_digit": ("\u0663", "A digit outside of ASCII"),
        "combining": ("Cre\u0301pe", "A combining character after an ASCII letter"),
        "wal": ("Recipes-wal", "A reserved ending"),
        "shm": ("Recipes-shm", "A reserved ending"),
        "journal": ("Recipes-journal", "A reserved ending"),
        "wal_upper_case": ("Recipes-WAL", "A reserved ending in upper case"),
        "journal_mixed_case": ("Recipes-Journal", "A reserved ending in mixed case"),
        "only_wal": ("-wal", "A reserved ending and nothing else"),
    }
    for key, (value, about) in wrong.items():
        yield bad(f"name_{key}", about, manifest(name=value), covers="4.2")


def times_and_labels() -> Iterator[Vector]:
    yield good("time_leap_day", "29 February in a leap year", manifest() | {"createdAt": "2028-02-29T23:59:59Z"})
    wrong_times = {
        "fraction": ("2026-11-20T19:04:05.123Z", "A fraction of a second"),
        "offset": ("2026-11-20T19:04:05+00:00", "An offset instead of Z"),
        "no_zone": ("2026-11-20T19:04:05", "No zone"),
        "lower_case": ("2026-11-20t19:04:05z", "Lower case letters"),
        "space": ("2026-11-20 19:04:05Z", "A space instead of T"),
        "date_only": ("2026-11-20", "A date alone"),
        "month_13": ("2026-13-20T19:04:05Z", "Month 13"),
        "day_0": ("2026-11-00T19:04:05Z", "Day 0"),
        "february_29": ("2026-02-29T19:04:05Z", "29 February in a year that is no leap year"),
        "hour_24": ("2026-11-20T24:00:00Z", "Hour 24"),
        "minute_60": ("2026-11-20T19:60:05Z", "Minute 60"),
        "sign": ("2026-11-20T19:04:+5Z", "A sign among the digits"),
        "trailing": ("2026-11-20T19:04:05Z ", "A space at the end"),
        "empty": ("", "An empty string"),
    }
    for key, (value, about) in wrong_times.items():
        yield bad(f"time_{key}", about, manifest() | {"createdAt": value})
    yield good("label_256_bytes", "A label of 256 bytes in 128 characters", changed("producer.software", "\u00e9" * 128), covers="4.3")
    yield bad("label_258_bytes", "A label of 258 bytes, although in 129 characters", changed("producer.software", "\u00e9" * 129), covers="4.3")
    yield bad("label_257_bytes", "A label of 257 bytes", changed("producer.sqlite", "3" * 257), covers="4.3")
    yield bad("label_empty", "An empty label", changed("producer.software", ""), covers="4.3")
    yield bad("label_nul", "A label with U+0000", changed("producer.software", "ship\0store"), covers="4.3")
    yield bad("identity_nul", "An identity with U+0000", manifest(identity="7B3C\0"), covers="4.3")
    yield bad("identity_empty", "An empty identity", manifest(identity=""), covers="4.3")
    yield good("identity", "An identity that is no UUID", manifest(identity="kitchen"))


def sized(size: int, page_size: int, pages: int) -> Members:
    return changed("store.size", size, changed("store.pageSize", page_size, changed("store.pageCount", pages)))


def store() -> Iterator[Vector]:
    yield good("largest_store", "The largest store that SQLite can have", sized(LARGEST_STORE, 65_536, 4_294_967_294), covers="4.4")
    yield good("smallest_store", "One page of 512 bytes", sized(512, 512, 1), covers="4.4")
    sizes = {
        "size_above_limit": (LARGEST_STORE + 65_536, 65_536, 4_294_967_295, "One page more than SQLite can have"),
        "size_not_a_product": (1025, 512, 2, "A size that is not page size x page count"),
        "size_of_fewer_pages": (512, 512, 2, "A size that is not page size x page count"),
        "size_0": (0, 512, 0, "No pages"),
        "page_count_negative": (-512, 512, -1, "A negative number"),
        "product_wraps": (0, 65_536, 2**48, "A product that is 0 in 64 bits"),
        "page_count_2_63": (512, 512, 2**63 - 1, "A product that does not fit 64 bits"),
        "size_2_63": (2**63, 65_536, 2**47, "A number above what signed 64 bits hold"),
        "size_2_64": (2**64 + 1024, 512, 2, "A number above what 64 bits hold"),
        "page_size_0": (0, 0, 2, "Page size 0"),
        "page_size_256": (512, 256, 2, "Page size 256"),
        "page_size_1000": (2000, 1000, 2, "A page size that is no power of two"),
        "page_size_1": (65_536, 1, 65_536, "The number by which SQLite's header stands for 65,536"),
        "page_size_131072": (131_072, 131_072, 1, "Page size 131,072"),
    }
    for key, (size, page_size, pages, about) in sizes.items():
        yield bad(key, about, sized(size, page_size, pages), covers="4.4")
    digest = RECIPES_STORE.digest
    digests = {
        "upper_case": (digest.upper(), "A digest in upper case"),
        "short": (digest[:-1], "A digest of 63 digits"),
        "long": (digest + "0", "A digest of 65 digits"),
        "empty": ("", "An empty digest"),
        "other_letter": ("g" + digest[1:], "A letter that is no digit of base 16"),
        "prefixed": ("sha256:" + digest, "A digest with its algorithm before it"),
    }
    for key, (value, about) in digests.items():
        yield bad(f"digest_{key}", about, changed("store.sha256", value), covers="4.1")
    yield bad("schema_digest_upper_case", "A schema digest in upper case", changed("store.schemaSHA256", RECIPES_STORE.schema_digest.upper()), covers="4.1")
    for encoding in ("UTF-16le", "UTF-16be"):
        yield good(f"text_{encoding.lower().replace('-', '')}", f"Text in {encoding}", changed("store.textEncoding", encoding), covers="4.4")
    for key, value in {"lower_case": "utf-8", "utf16": "UTF-16", "empty": ""}.items():
        yield bad(f"text_{key}", "A text encoding that is none", changed("store.textEncoding", value), covers="4.4")
    lowest = changed("store.applicationID", -(2**31), changed("store.userVersion", -(2**31)))
    highest = changed("store.applicationID", 2**31 - 1, changed("store.userVersion", 2**31 - 1))
    yield good("signed_32_lowest", "The lowest numbers of 32 bits", lowest, covers="4.4")
    yield good("signed_32_highest", "The highest numbers of 32 bits", highest, covers="4.4")
    yield bad("application_id_2_31", "One more than signed 32 bits hold", changed("store.applicationID", 2**31), covers="4.4")
    yield bad("user_version_too_low", "One less than signed 32 bits hold", changed("store.userVersion", -(2**31) - 1), covers="4.4")


def hashes(**entities: str) -> Members:
    return core_data_manifest(externalFiles=[], coreData={"entityVersionHashes": entities})


def core_data() -> Iterator[Vector]:
    right = CORE_DATA["entityVersionHashes"]["Recipe"]
    yield good("core_data_no_entities", "A model without entities", hashes(), covers="4.6")
    yield good("core_data_entity_unicode", "An entity's name is a label", hashes(**{"Men\u00fc": right}), covers="4.6")
    yield bad("core_data_empty_object", "coreData is an object without its required member", manifest(coreData={}), covers="4.6")
    yield bad("core_data_entity_nul", "The name of an entity with U+0000", hashes(**{"Recipe\0": right}), covers="4.6")
    yield bad("core_data_entity_empty", "An entity without a name", hashes(**{"": right}), covers="4.6")
    yield bad("core_data_entity_257", "An entity's name of 257 bytes", hashes(**{"E" * 257: right}), covers="4.6")
    wrong = {
        "31_bytes": (base64.b64encode(bytes(31)).decode(), "A hash of 31 bytes"),
        "33_bytes": (base64.b64encode(bytes(33)).decode(), "A hash of 33 bytes"),
        "unpadded": (right.rstrip("="), "Base64 without its padding"),
        "url_alphabet": (base64.urlsafe_b64encode(b"\xfb" * 32).decode(), "Base64 in the alphabet for URLs"),
        "line_feed": (right[:20] + "\n" + right[20:], "Base64 in two lines"),
        "hexadecimal": (base64.b64decode(right).hex(), "Base 16 instead of base 64"),
        "empty": ("", "An empty hash"),
    }
    for key, (value, about) in wrong.items():
        yield bad(f"core_data_hash_{key}", about, hashes(Recipe=value), covers="4.6")
    number = core_data_manifest(coreData={"entityVersionHashes": {"Recipe": 1}})
    yield bad("core_data_hash_is_number", "A hash that is a number", number, covers="4.6")


def files(*names: str, folder: str = "_EXTERNAL_DATA") -> Members:
    return core_data_manifest(externalFiles=[external(folder, name, b"") for name in names])


def external_files() -> Iterator[Vector]:
    in_fbf = external("_FBF", PHOTO_UUID, b"")
    in_data = external("_EXTERNAL_DATA", PHOTO_UUID, b"")
    yield good("external_lower_case", "A UUID in lower case", files(PHOTO_UUID.lower()), covers="4.6")
    yield good("external_other_folder", "The other folder", files(PHOTO_UUID, folder="_FBF"), covers="4.6")
    yield good("external_same_name_two_folders", "One name in both folders: two files", core_data_manifest(externalFiles=[in_data, in_fbf]), covers="4.6")
    yield good("external_largest", "The largest size", changed("externalFiles.0.size", LARGEST_STORE, files(PHOTO_UUID)), covers="4.6")
    yield good("external_missing_only", "Every external file is missing", core_data_manifest(externalFiles=[], missingExternalFiles=[{"folder": "_EXTERNAL_DATA", "name": STORE_UUID}]), covers="4.6")
    wrong_names = {
        "traversal": ("../../" + PHOTO_UUID[6:], "A path out of the folder, as long as a UUID"),
        "slash": (PHOTO_UUID[:9] + "/" + PHOTO_UUID[10:], "A slash among the digits"),
        "no_hyphens": (PHOTO_UUID.replace("-", ""), "A UUID without its hyphens"),
        "hyphens_elsewhere": ("1F0C-5D3A6B7E-4C28-8E21-90AB34CD56EF", "Hyphens in the wrong places"),
        "braces": ("{" + PHOTO_UUID + "}", "A UUID in braces"),
        "not_hexadecimal": ("G" + PHOTO_UUID[1:], "A letter that is no digit of base 16"),
        "unicode_digit": ("\uff11" + PHOTO_UUID[1:], "A full-width digit"),
        "trailing_nul": (PHOTO_UUID + "\0", "A zero byte at the end"),
        "empty": ("", "No name"),
        "dot_dot": ("..", "The folder above"),
    }
    for key, (value, about) in wrong_names.items():
        yield bad(f"external_name_{key}", about, files(value), covers="4.6")
    yield bad("external_folder_other", "A folder that is neither of the two", files(PHOTO_UUID, folder="_OTHER"), covers="4.6")
    yield bad("external_folder_traversal", "A folder that is a path", files(PHOTO_UUID, folder="_EXTERNAL_DATA/.."), covers="4.6")
    yield bad("external_folder_lower_case", "A folder in lower case", files(PHOTO_UUID, folder="_external_data"), covers="4.6")
    yield bad("external_size_negative", "A negative size", changed("externalFiles.0.size", -1, files(PHOTO_UUID)), covers="4.6")
    yield bad("external_size_above_limit", "A size above the limit", changed("externalFiles.0.size", LARGEST_STORE + 1, files(PHOTO_UUID)), covers="4.6")
    yield bad("external_digest_upper_case", "A digest in upper case", changed("externalFiles.0.sha256", "A" * 64, files(PHOTO_UUID)), covers="4.6")
    yield bad("external_twice", "One file twice", files(PHOTO_UUID, EMPTY_UUID, PHOTO_UUID), covers="4.6")
    yield bad("external_twice_in_other_case", "One file twice, once in lower case", files(PHOTO_UUID, PHOTO_UUID.lower()), covers="4.6")
    missing = [{"folder": "_EXTERNAL_DATA", "name": PHOTO_UUID}]
    yield bad("external_there_and_missing", "A file that is there and missing", core_data_manifest(missingExternalFiles=missing), covers="4.6")
    yield bad("external_missing_twice", "One missing file twice", core_data_manifest(externalFiles=[], missingExternalFiles=missing * 2), covers="4.6")
    yield bad("external_missing_name", "A missing file whose name is a path", core_data_manifest(externalFiles=[], missingExternalFiles=[{"folder": "_FBF", "name": "../x"}]), covers="4.6")
    yield bad("external_without_core_data", "External files, but no coreData", manifest(externalFiles=[in_data]), covers="4.6")
    yield bad("external_missing_without_core_data", "Missing external files, but no coreData", manifest(missingExternalFiles=missing), covers="4.6")


def metadata() -> Iterator[Vector]:
    right: dict[str, tuple[dict[str, Any], str]] = {
        "64_members": ({f"key{number}": str(number) for number in range(64)}, "64 members"),
        "key_64": ({"k" * 64: "v"}, "A key of 64 characters"),
        "key_every_character": ({".A-z_0": "v"}, "Each kind of character that a key may have; a dot may be first"),
        "value_empty": ({"note": ""}, "An empty value"),
        "value_1024_bytes": ({"note": "\u00e9" * 512}, "A value of 1,024 bytes in 512 characters"),
    }
    for key, (value, about) in right.items():
        yield good(f"metadata_{key}", about, manifest(metadata=value), covers="4.7")
    wrong: dict[str, tuple[dict[str, Any], str]] = {
        "65_members": ({f"key{number}": str(number) for number in range(65)}, "65 members"),
        "key_empty": ({"": "v"}, "An empty key"),
        "key_65": ({"k" * 65: "v"}, "A key of 65 characters"),
        "key_space": ({"a key": "v"}, "A space in a key"),
        "key_unicode": ({"cl\u00e9": "v"}, "A letter outside of ASCII in a key"),
        "key_slash": ({"a/b": "v"}, "A slash in a key"),
        "value_1025_bytes": ({"note": "v" * 1025}, "A value of 1,025 bytes"),
        "value_1026_bytes": ({"note": "\u00e9" * 513}, "A value of 1,026 bytes, although in 513 characters"),
        "value_number": ({"note": 7}, "A value that is a number"),
        "value_object": ({"note": {}}, "A value that is an object"),
    }
    for key, (value, about) in wrong.items():
        yield bad(f"metadata_{key}", about, manifest(metadata=value), covers="4.7")


DIGEST = "0123456789abcdef" * 2
"""Of a table."""


def described(**members: Any) -> Members:
    """A manifest with one table, of which `members` are told."""
    return manifest(tables={"Recipe": {"rows": 3, "digest": DIGEST} | members})


def tables() -> Iterator[Vector]:
    table = {"rows": 3, "digest": DIGEST}
    yield good("tables_none", "A store without tables, of which all is told", manifest(tables={}), covers="4.8")
    yield good("tables_name_256", "A table's name is a label, of up to 256 bytes", manifest(tables={"\u00e9" * 128: table}), covers="4.8")
    yield good("tables_name_odd", "A table's name may be almost anything", manifest(tables={"../table.metadata": table}), covers="4.8")
    yield good("tables_rows_highest", "The highest number of rows", described(rows=2**63 - 1), covers="4.8")
    more = manifest(tables={"Recipe": table | {"bytes": 4096}})
    yield good("tables_unknown_member", "A member of a table that is not known is passed over", more, manifest(tables={"Recipe": table}), covers="4.8")
    wrong: dict[str, tuple[Members, str]] = {
        "name_empty": (manifest(tables={"": table}), "A table without a name"),
        "name_257": (manifest(tables={"t" * 257: table}), "A table's name of 257 bytes"),
        "name_nul": (manifest(tables={"Recipe\0": table}), "A table's name with U+0000"),
        "null": (manifest(tables={"Recipe": None}), "null instead of an object"),
        "rows_negative": (described(rows=-1), "A negative number of rows"),
        "rows_2_63": (described(rows=2**63), "A number above what signed 64 bits hold"),
        "rows_text": (described(rows="3"), "A number that is a string"),
        "without_rows": (manifest(tables={"Recipe": {"digest": DIGEST}}), "rows is missing"),
        "without_digest": (manifest(tables={"Recipe": {"rows": 3}}), "digest is missing"),
        "digest_upper_case": (described(digest=DIGEST.upper()), "A digest in upper case"),
        "digest_31": (described(digest=DIGEST[1:]), "A digest of 31 digits"),
        "digest_33": (described(digest=DIGEST + "0"), "A digest of 33 digits"),
        "digest_16": (described(digest=DIGEST[:16]), "A digest of 16 digits"),
        "digest_other_letter": (described(digest="g" + DIGEST[1:]), "A letter that is no digit of base 16"),
        "digest_number": (described(digest=12345678901234567890123456789012), "A digest that is a number"),
    }
    for key, (value, about) in wrong.items():
        yield bad(f"tables_{key}", about, value, covers="4.8")


def omitting(**members: Any) -> Members:
    return core_data_manifest(externalFiles=[], omissions=members)


def omitted(name: str = PHOTO_UUID, folder: str = "_EXTERNAL_DATA", size: Any = 7) -> Members:
    return {"folder": folder, "name": name, "size": size}


def omissions() -> Iterator[Vector]:
    yield good("omissions_history", "The history alone", omitting(history=True), covers="4.9")
    yield good("omissions_history_false", "A history that is there is nothing to tell", omitting(history=False), core_data_manifest(externalFiles=[]), covers="4.9")
    yield good("omissions_tables", "A table's rows, of a store that Core Data did not make", manifest(omissions={"tables": ["log"]}), covers="4.9")
    yield good("omissions_external_file", "A file that is not shipped", omitting(externalFiles=[omitted(size=LARGEST_STORE)]), covers="4.9")
    yield good("omissions_null", "null stands for an absent member", omitting(history=None, tables=None, externalFiles=None), core_data_manifest(externalFiles=[]), covers="4.9")
    yield good("omissions_unknown_member", "A member that is not known is passed over", omitting(history=True, indexes=["i"]), omitting(history=True), covers="4.9")
    here, missing = external("_EXTERNAL_DATA", PHOTO_UUID, b""), {"folder": "_EXTERNAL_DATA", "name": PHOTO_UUID}
    wrong: dict[str, tuple[Members, str]] = {
        "history_number": (omitting(history=1), "A number instead of a boolean"),
        "history_text": (omitting(history="true"), "A string instead of a boolean"),
        "table_empty": (omitting(tables=[""]), "A table without a name"),
        "table_nul": (omitting(tables=["log\0"]), "A table's name with U+0000"),
        "table_null": (omitting(tables=[None]), "null among the tables"),
        "tables_object": (omitting(tables={"log": 3}), "An object instead of an array"),
        "file_without_size": (omitting(externalFiles=[missing]), "The size of a file is missing"),
        "file_without_name": (omitting(externalFiles=[{"folder": "_FBF", "size": 7}]), "The name of a file is missing"),
        "file_size_negative": (omitting(externalFiles=[omitted(size=-1)]), "A negative size"),
        "file_size_above_limit": (omitting(externalFiles=[omitted(size=LARGEST_STORE + 1)]), "A size above the limit"),
        "file_name_traversal": (omitting(externalFiles=[omitted("../x")]), "A name that is a path"),
        "file_folder_other": (omitting(externalFiles=[omitted(folder="_OTHER")]), "A folder that is neither of the two"),
        "file_twice": (omitting(externalFiles=[omitted(), omitted(PHOTO_UUID.lower())]), "One file twice, once in lower case"),
        "file_there": (core_data_manifest(externalFiles=[here], omissions={"externalFiles": [omitted()]}), "A file that is there and left out"),
        "file_missing": (core_data_manifest(externalFiles=[], missingExternalFiles=[missing], omissions={"externalFiles": [omitted()]}), "A file that is missing and left out"),
        "file_without_core_data": (manifest(omissions={"externalFiles": [omitted()]}), "A file that is left out, but no coreData"),
    }
    for key, (value, about) in wrong.items():
        yield bad(f"omissions_{key}", about, value, covers="4.9")
