"""Files that say what a consumer holds (section 5.6)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from encoder.piece import Pieces, compact_json, document, text
from encoder.samples import CORE_DATA_STORE, CREATED_AT, EMPTY_STORE, RECIPES_STORE, Members, content_of, manifest
from encoder.sqlite_file import StoreFile
from encoder.vector import Vector, values

FOR, RECEIVER = "1f" * 32, "a0" * 32
LARGEST, MOST = 262_144, 1024


def held(name: str = "Recipes", store: StoreFile = RECIPES_STORE, **more: Any) -> Members:
    return {"name": name, "manifest": content_of(manifest(store, name)).id.hex(), "store": store.digest, "size": len(store.data), **more}


def file(*holds: Any, **more: Any) -> Members:
    return {"software": "ship-store 1.0.0", "createdAt": CREATED_AT, "until": "2026-11-27T19:04:05Z", "for": FOR, "receiver": RECEIVER, "holds": list(holds)} | more


def good(name: str, about: str, members: Members, known: Members | None = None, payload: Pieces | None = None) -> Vector:
    details = values(members if known is None else known)
    return Vector(f"holdings_{name}", about, "5.6", "holdings", None, details, [("", payload or document(members))])


def bad(name: str, about: str, payload: Members | Pieces) -> Vector:
    pieces = document(payload) if isinstance(payload, dict) else payload
    return Vector(f"holdings_{name}", about, "5.6", "holdings", "bad-manifest", [], [("", pieces)])


def without(members: Members, name: str) -> Members:
    return {key: value for key, value in members.items() if key != name}


def of_size(size: int) -> Pieces:
    """White space behind the object."""
    json = compact_json(file(held()))
    return text(json + " " * (size - len(json)))


def vectors() -> Iterator[Vector]:
    yield from whole()
    yield from members()
    yield from elements()


def whole() -> Iterator[Vector]:
    yield good("one", "One store", file(held()))
    three = (held("Drinks", EMPTY_STORE), held(), held("_notes", CORE_DATA_STORE))
    yield good("several", "Three stores; capitals come before what is between them and small letters", file(*three))
    yield good("nothing", "Nothing is held of this sender", file())
    yield good("unknown_sender", "What came from senders whose device is not known", without(file(held()), "for"))
    yield good("nulls", "null stands for an absent member", file(held(), **{"for": None}, receiver=None), without(without(file(held()), "for"), "receiver"))
    yield good("unknown_members", "Members that are not known are passed over", file(held(colour="green"), colour=[1.5]), file(held()))
    yield good("until_past", "A time that is over before the file was written: that is no matter of its form", file(held(), until="2001-01-01T00:00:00Z"))
    many = [held(f"n{number:04}") for number in range(MOST + 1)]
    yield good("1024", "1,024 stores", file(*many[:-1]))
    yield bad("1025", "1,025 stores", file(*many))
    yield good("at_limit", "262,144 bytes, white space at the end", file(held()), payload=of_size(LARGEST))
    yield bad("over_limit", "262,145 bytes", of_size(LARGEST + 1))
    yield bad("not_json", "No JSON", text("holdings"))
    yield bad("packed", "Packed as a message is: a byte before the JSON", text("\0" + compact_json(file(held()))))
    yield bad("empty", "No bytes", [])
    yield bad("array", "An array instead of an object", text(compact_json([file(held())])))
    yield bad("cut", "The file ends early", text(compact_json(file(held()))[:-1]))
    yield bad("trailing_bytes", "A byte after the object", text(compact_json(file(held())) + "!"))
    yield bad("invalid_utf8", "A byte that is no UTF-8", text(compact_json(file(held()))[:-1].encode() + b',"x":"\xff"}'))
    yield bad("byte_order_mark", "A byte order mark", text("\ufeff" + compact_json(file(held()))))
    yield bad("surrogate", "Half of a character in a member that is not known", text(compact_json(file(held()))[:-1] + ',"x":"\\ud83c"}'))
    yield bad("member_twice", "A member stands twice", text(compact_json(file(held()))[:-1] + ',"until":"2026-11-28T19:04:05Z"}'))
    yield bad("depth_33", "33 levels", text(compact_json(file(held()))[:-1] + ',"x":' + "[" * 32 + "]" * 32 + "}"))


def members() -> Iterator[Vector]:
    for name in ("software", "createdAt", "until", "holds"):
        yield bad(f"without_{name}", f"{name} is missing", without(file(held()), name))
        yield bad(f"{name}_null", f"{name} is null", file(held(), **{name: None}))
    for name in ("createdAt", "until"):
        yield bad(f"{name}_without_z", f"{name} in no time zone", file(held(), **{name: CREATED_AT[:-1]}))
        yield bad(f"{name}_no_such_day", f"{name} on a day that there is not", file(held(), **{name: "2026-02-29T00:00:00Z"}))
        yield bad(f"{name}_is_number", f"{name} as a number", file(held(), **{name: 1795201445}))
    for name in ("for", "receiver"):
        yield bad(f"{name}_63_digits", f"{name} is too short", file(held(), **{name: FOR[1:]}))
        yield bad(f"{name}_upper_case", f"{name} in upper case", file(held(), **{name: FOR.upper()}))
        yield bad(f"{name}_empty", f"{name} is empty", file(held(), **{name: ""}))
        yield bad(f"{name}_for_people", f"{name} as people write it", file(held(), **{name: "ABCDE-" * 12 + "ABCDE"}))
    yield bad("software_empty", "An empty label", file(held(), software=""))
    yield bad("holds_is_object", "holds is an object", file(holds=held()))


def elements() -> Iterator[Vector]:
    for name in held():
        yield bad(f"element_without_{name}", f"{name} of a store is missing", file(without(held(), name)))
    for name, about, value in (
        ("name_path", "A store's name that is a path", {"name": "../Recipes"}), ("name_wal", "A store's name with a reserved ending", {"name": "Recipes-wal"}),
        ("manifest_8_digits", "The first digits of an id where the whole belongs", {"manifest": held()["manifest"][:8]}),
        ("manifest_upper_case", "An id in upper case", {"manifest": held()["manifest"].upper()}), ("manifest_64_digits", "A digest where an id belongs", {"manifest": FOR}),
        ("store_32_digits", "An id where a digest belongs", {"store": held()["manifest"]}), ("store_is_object", "A store that is an object", {"store": {"sha256": FOR}}),
        ("size_negative", "A negative size", {"size": -1}), ("size_fraction", "A size with a fraction", {"size": 0.5}), ("size_string", "A size that is a string", {"size": "1024"}),
        ("size_too_large", "A size above the largest", {"size": 281_474_976_579_585}), ("size_2_64", "A size above what 64 bits hold", {"size": 2**64}),
    ):  # fmt: skip
        yield bad(f"element_{name}", about, file(held() | value))
    yield good("element_size_largest", "The largest size", file(held(size=281_474_976_579_584)))
    yield bad("element_null", "null in an array", file(held(), None))
    yield bad("element_is_string", "A store by its name alone", file("Recipes"))
    yield bad("falling", "Names that fall", file(held("b"), held("a")))
    yield bad("twice", "One store twice", file(held(), held()))
    yield bad("twice_apart", "The same with another between them", file(held("a"), held("b"), held("a")))
    yield bad("not_by_bytes", "Names that rise without regard to case, and not by their bytes", file(held("a"), held("B")))
