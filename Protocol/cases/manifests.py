"""The JSON of MANIFEST as a whole (section 4): each vector is a good manifest with one thing changed."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any

from encoder.piece import Pieces, compact_json, document, text
from encoder.samples import EMPTY_UUID, PHOTO_UUID, Members, core_data_manifest, manifest
from encoder.table_rows import EMPTY_TABLE
from encoder.vector import Vector, values
from encoder.wire import stored_json

BAD = "bad-manifest"


def good(name: str, about: str, members: Members, known: Members | None = None, covers: str = "4", payload: Pieces | None = None) -> Vector:
    """`known` is what a reader knows of the members, if not all; `payload` the bytes, if written otherwise."""
    details = values(members if known is None else known)
    return Vector(f"manifest_{name}", about, covers, "manifest", None, details, [("", stored_json(payload or document(members)))])


def bad(name: str, about: str, payload: Members | Pieces, covers: str = "4", error: str = BAD) -> Vector:
    pieces = document(payload) if isinstance(payload, dict) else payload
    return Vector(f"manifest_{name}", about, covers, "manifest", error, [], [("", stored_json(pieces))])


def changed(path: str, value: Any, base: Members | None = None) -> Members:
    members: Any = copy.deepcopy(manifest() if base is None else base)
    *folders, last = path.split(".")
    inner = members
    for folder in folders:
        inner = inner[int(folder)] if isinstance(inner, list) else inner[folder]
    inner[last] = value
    return members


def without(path: str, base: Members | None = None) -> Members:
    members: Any = copy.deepcopy(manifest() if base is None else base)
    *folders, last = path.split(".")
    inner = members
    for folder in folders:
        inner = inner[int(folder)] if isinstance(inner, list) else inner[folder]
    del inner[last]
    return members


def vectors() -> Iterator[Vector]:
    yield from whole()
    yield from json_rules()
    yield from missing_and_null()
    yield from wrong_types()
    yield from requires()


def whole() -> Iterator[Vector]:
    yield good("minimal", "The required members alone", manifest())
    full = core_data_manifest(
        missingExternalFiles=[{"folder": "_FBF", "name": PHOTO_UUID}],
        metadata={"app.version": "4.2", "note": "caf\u00e9, \u6599\u7406"},
        tables={"ZRECIPE": {"rows": 2, "digest": "0123456789abcdef" * 2}, "ACHANGE": {"rows": 0, "digest": EMPTY_TABLE}},
        omissions={
            "history": True,
            "tables": ["ZDRAFT", "ZTHUMBNAIL"],
            "externalFiles": [{"folder": "_FBF", "name": EMPTY_UUID, "size": 90_000_000}],
        },
        requires=[],
    )
    yield good("full", "Every member there is", full)
    more = manifest() | {"colour": "green", "origin": {"sha256": None}, "Name": "not the name"}
    more = changed("store.colour", [1, 2, {"three": 4.5}], more)
    more = changed("producer.host", "phone", more)
    yield good("unknown_members", "Members that are not known are passed over, nested ones too; names are told apart by case", more, manifest())
    known = core_data_manifest()
    more = changed("externalFiles.0.colour", "green", changed("coreData.modelName", "Recipes", known))
    yield good("unknown_members_core_data", "The same in coreData and in externalFiles", more, known, covers="4.6")
    empty = manifest(externalFiles=[], missingExternalFiles=[], metadata={}, omissions={}, requires=[])
    yield good("empty_is_absent", "Empty arrays, an empty metadata and empty omissions are as good as absent ones", empty, manifest())
    members = manifest()
    yield good("other_order", "The order of members means nothing", dict(reversed(members.items())))
    spaced = text("\r\n\t " + compact_json(members).replace(":{", " :\n\t{ ") + " \n")
    yield good("white_space", "White space wherever RFC 8259 allows it, after the value too", members, payload=spaced)
    escaped = compact_json(members).replace('"name"', r'"n\u0061me"').replace("Recipes", r"Recip\u0065s").replace("ship-store 1.0.0", r"ship\/store")
    known = changed("producer.software", "ship/store", members)
    yield good("escapes", "Escapes in strings and in names of members", known, payload=text(escaped))
    pair = compact_json(members).replace("ship-store 1.0.0", r"pot \ud83c\udf72")
    known = changed("producer.software", "pot \U0001f372", members)
    yield good("surrogate_pair", "A character outside of the first plane, escaped", known, payload=text(pair))


def nested(levels: int) -> Members:
    """A manifest that is `levels` deep, its own object being level 1."""
    value: Any = 0
    for _ in range(levels - 1):
        value = [value]
    return manifest(deep=value)


def json_rules() -> Iterator[Vector]:
    right = compact_json(manifest())
    yield good("depth_32", "32 levels, the outermost object being the first", nested(32), manifest())
    yield bad("depth_33", "33 levels, in a member that is not known", nested(33))
    deep = [*text(right[:-1] + ',"deep":'), *text("[" * 160_000), *text("]" * 160_000), *text("}")]
    yield bad("depth_160001", "160,001 levels: a reader that recurses must not run out of stack", deep)
    yield good("brackets_in_string", "Brackets in a string are no levels", manifest(note='["' + "[{" * 40), manifest())
    yield bad("empty_payload", "No bytes at all", [])
    yield bad("array", "An array instead of an object", text("[" + right + "]"))
    yield bad("string", "A string instead of an object", text('"Recipes"'))
    yield bad("null", "null instead of an object", text("null"))
    yield bad("cut", "The JSON ends early", text(right[:-1]))
    yield bad("trailing_bytes", "A byte after the value", text(right + "}"))
    yield bad("two_values", "A second value after the first", text(right + "\n" + right))
    yield bad("trailing_nul", "A zero byte after the value", text(right + "\0"))
    yield bad("trailing_comma", "A comma too many", text(right[:-1] + ",}"))
    yield bad("comment", "JSON has no comments", text(right[:-1] + "/* made by hand */}"))
    yield bad("single_quotes", "JSON has no single quotes", text(right.replace('"name"', "'name'")))
    yield bad("raw_newline_in_string", "A control character in a string that is not escaped", text(right.replace("1.0.0", "1.0.0\n")))
    yield bad("invalid_utf8", "A byte that is no UTF-8", text(right.encode().replace(b"1.0.0", b"1.0.0\xff")))
    yield bad("invalid_utf8_unknown_member", "A byte that is no UTF-8 in a member that is not known", text(b'{"x":"\xc3",' + right[1:].encode()))
    yield bad("overlong_utf8", "A slash in two bytes", text(right.encode().replace(b"1.0.0", b"1.0.0\xc0\xaf")))
    yield bad("byte_order_mark", "A byte order mark before the value", text(b"\xef\xbb\xbf" + right.encode()))
    yield bad("utf16", "UTF-16 instead of UTF-8", text(right.encode("utf-16-le")))


REQUIRED = [
    "name", "createdAt", "producer", "producer.software", "producer.sqlite", "store",
    "store.size", "store.sha256", "store.pageSize", "store.pageCount", "store.textEncoding",
    "store.applicationID", "store.userVersion", "store.schemaSHA256",
]  # fmt: skip
REQUIRED_CORE_DATA = [
    "coreData.entityVersionHashes",
    "externalFiles.0.folder", "externalFiles.0.name", "externalFiles.0.size", "externalFiles.0.sha256",
    "missingExternalFiles.0.folder", "missingExternalFiles.0.name",
]  # fmt: skip


def slug(path: str) -> str:
    """`externalFiles.0.folder` as `external_files_folder`, for file systems that do not tell upper case from lower."""
    return re.sub("[A-Z]", lambda letter: "_" + letter[0].lower(), path.replace(".0", "").replace(".", "_").replace("ID", "Id").replace("SHA", "Sha"))


def missing_and_null() -> Iterator[Vector]:
    yield bad("no_members", "An empty object", {})
    for path in REQUIRED:
        yield bad(f"without_{slug(path)}", f"{path} is missing", without(path))
    base = core_data_manifest(missingExternalFiles=[{"folder": "_FBF", "name": PHOTO_UUID}])
    for path in REQUIRED_CORE_DATA:
        yield bad(f"without_{slug(path)}", f"{path} is missing", without(path, base), covers="4.6")
    yield bad("null_required", "null stands for an absent member, and name must be there", changed("name", None))
    yield bad("null_store_size", "null stands for an absent member, and store.size must be there", changed("store.size", None))
    nulls = manifest(identity=None, coreData=None, externalFiles=None, missingExternalFiles=None, metadata=None, tables=None, omissions=None, requires=None)
    yield good("null_optional", "null stands for an absent member", nulls, manifest())


def wrong_types() -> Iterator[Vector]:
    wrong: list[tuple[str, Any]] = [
        ("name", 7), ("createdAt", 1_795_201_445), ("producer", "ship-store 1.0.0"), ("store", []),
        ("store.size", "1024"), ("store.size", 1024.5), ("store.size", True), ("store.sha256", 0),
        ("store.pageSize", [512]), ("store.pageCount", {}), ("store.textEncoding", 1),
        ("store.userVersion", "7"), ("identity", 5), ("coreData", []), ("externalFiles", {}),
        ("missingExternalFiles", "none"), ("metadata", []), ("requires", "delta"),
        ("tables", []), ("omissions", []), ("omissions", True),
    ]  # fmt: skip
    kinds = {int: "a number", str: "a string", float: "a number with a fraction", bool: "a boolean", list: "an array", dict: "an object"}
    for path, value in wrong:
        kind = kinds[type(value)]
        name = kind.removeprefix("a ").removeprefix("an ").replace(" ", "_")
        yield bad(f"{slug(path)}_is_{name}", f"{path} is {kind}", changed(path, value))
    yield bad("requires_holds_number", "An element of requires is a number", manifest(requires=[1]))
    yield bad("external_files_holds_string", "An element of externalFiles is a string", core_data_manifest(externalFiles=[PHOTO_UUID]), covers="4.6")


def requires() -> Iterator[Vector]:
    feature = "feature-not-supported"
    yield bad("requires_unknown", "A feature that nobody knows", manifest(requires=["time-travel"]), covers="4, 8", error=feature)
    for name in ("delta", "resume", "several-stores"):
        key = name.replace("-", "_")
        yield bad(f"requires_{key}", "A feature that is reserved, but not in version 1", manifest(requires=[name]), covers="4, 8", error=feature)
    yield bad("requires_64", "64 features are not too many, but not known", manifest(requires=[f"f-{number}" for number in range(64)]), covers="4, 8", error=feature)
    yield bad("requires_65", "65 features are too many", manifest(requires=[f"f-{number}" for number in range(65)]), covers="4, 8")
    yield bad("requires_empty_label", "A feature without a name", manifest(requires=[""]), covers="4, 8")
