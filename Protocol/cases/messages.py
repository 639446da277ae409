"""The JSON of HELLO, ANSWER, RECEIPT, REFUSAL and CANCEL (section 5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from encoder.piece import Pieces, compact_json, document, text
from encoder.samples import HELD, HELLO_MEMBERS, HELLO_WITH_COLUMNS, RECIPES_STORE, Members, receipt, word
from encoder.vector import Vector, values
from encoder.wire import ANSWER, CANCEL, HELLO, RECEIPT, REFUSAL, payload_of

SECTIONS = {"hello": "5.1", "answer": "5.2", "receipt": "5.3", "refusal": "5.4", "cancel": "5.5"}
FRAMES = {"hello": HELLO, "answer": ANSWER, "receipt": RECEIPT, "refusal": REFUSAL, "cancel": CANCEL}


def good(kind: str, name: str, about: str, members: Members, known: Members | None = None) -> Vector:
    stated = members if known is None else known
    # What an absent member means is stated too.
    details = values({"ends": "session"} | stated if kind in ("refusal", "cancel") else stated)
    return Vector(f"{kind}_{name}", about, SECTIONS[kind], kind, None, details, [("", payload_of(FRAMES[kind], document(members)))])


def bad(kind: str, name: str, about: str, payload: Members | Pieces) -> Vector:
    pieces = document(payload) if isinstance(payload, dict) else payload
    return Vector(f"{kind}_{name}", about, SECTIONS[kind], kind, "bad-manifest", [], [("", payload_of(FRAMES[kind], pieces))])


def vectors() -> Iterator[Vector]:
    yield from hellos()
    yield from answers()
    yield from receipts()
    for kind in ("refusal", "cancel"):
        yield from last_words(kind)


def hello(**more: Any) -> Members:
    return HELLO_MEMBERS | more


def held(**more: Any) -> Members:
    return {"name": "Recipes", "manifest": HELD.id.hex()} | more


def hellos() -> Iterator[Vector]:
    yield good("hello", "minimal", "The required members alone", hello())
    full = hello(encodings=["columns", "blocks"], holds=[held(), held(name="Drinks")])
    yield good("hello", "full", "Every member there is", full)
    more = hello(colour="green", features=["time-travel"], holds=[held(colour="green")])
    yield good("hello", "unknown_members", "Members that are not known are passed over", more, hello(holds=[held()]))
    yield good("hello", "columns", "A consumer that takes a store by its rows", HELLO_WITH_COLUMNS)
    yield good("hello", "more_encodings", "Encodings that the producer does not know, in another order", hello(encodings=["columns-over-base", "x", "blocks", "columns", "x"]))
    yield good("hello", "empty_is_absent", "Empty arrays are as good as absent ones", hello(encodings=[], holds=None), hello())
    for member in HELLO_MEMBERS:
        yield bad("hello", f"without_{member}", f"{member} is missing", {key: value for key, value in hello().items() if key != member})
    for member in held():
        yield bad("hello", f"holds_without_{member}", f"{member} is missing", hello(holds=[{key: value for key, value in held().items() if key != member}]))
    yield good("hello", "encodings_64", "64 encodings", hello(encodings=[f"e{number}" for number in range(64)]))
    yield bad("hello", "encodings_65", "65 encodings", hello(encodings=[f"e{number}" for number in range(65)]))
    yield bad("hello", "encoding_empty", "An encoding with an empty name", hello(encodings=[""]))
    yield bad("hello", "encoding_is_number", "An encoding by its number", hello(encodings=[1]))
    yield bad("hello", "software_empty", "An empty label", hello(software=""))
    yield bad("hello", "encodings_is_string", "encodings is a string", hello(encodings="blocks"))
    yield bad("hello", "software_nul", "A label with U+0000", hello(software="ship\0store"))
    yield bad("hello", "holds_name", "A store's name that is a path", hello(holds=[held(name="../Recipes")]))
    yield bad("hello", "holds_manifest_upper_case", "An id in upper case", hello(holds=[held(manifest=HELD.id.hex().upper())]))
    yield bad("hello", "holds_manifest_30_digits", "An id that is too short", hello(holds=[held(manifest=HELD.id.hex()[2:])]))
    yield bad("hello", "holds_manifest_64_digits", "An id that is too long", hello(holds=[held(manifest=HELD.id.hex() * 2)]))
    yield bad("hello", "depth_33", "33 levels", text(compact_json(hello())[:-1] + ',"x":' + "[" * 32 + "]" * 32 + "}"))
    yield bad("hello", "not_json", "No JSON", text("hello"))
    yield bad("hello", "trailing_bytes", "A byte after the value", text(compact_json(hello()) + "!"))
    yield bad("hello", "empty_payload", "No JSON at all", [])


def answers() -> Iterator[Vector]:
    yield good("answer", "empty", "All parts, in all encodings that both sides know", {})
    yield good("answer", "nothing", "No part at all: an empty wants is not an absent one", {"wants": []})
    yield good("answer", "wants_null", "null stands for an absent member", {"wants": None})
    some = [{"part": 0, "encodings": ["columns", "blocks"]}, {"part": 2}, {"part": 16_384, "encodings": ["blocks"]}]
    yield good("answer", "wants", "Parts, rising", {"wants": some})
    yield good("answer", "encodings_null", "null stands for an absent member here too", {"wants": [{"part": 1, "encodings": None}]})
    yield good("answer", "encodings_unknown", "Encodings that the producer does not know", {"wants": [{"part": 0, "encodings": ["x", "columns-over-base"]}]})
    more = {"from": 12, "wants": [{"part": 1, "from": 4096}]}
    yield good("answer", "unknown_members", "Members that are not known are passed over", more, {"wants": [{"part": 1}]})
    names = [f"e{number}" for number in range(65)]
    yield good("answer", "encodings_64", "64 encodings", {"wants": [{"part": 0, "encodings": names[:64]}]})
    yield bad("answer", "encodings_65", "65 encodings", {"wants": [{"part": 0, "encodings": names}]})
    yield bad("answer", "encodings_empty", "A part in no encoding", {"wants": [{"part": 0, "encodings": []}]})
    yield bad("answer", "encodings_is_string", "encodings is a string", {"wants": [{"part": 0, "encodings": "blocks"}]})
    yield bad("answer", "encoding_is_number", "An encoding by its number", {"wants": [{"part": 0, "encodings": [1]}]})
    yield bad("answer", "encoding_empty", "An encoding with an empty name", {"wants": [{"part": 0, "encodings": [""]}]})
    yield bad("answer", "encoding_257_bytes", "An encoding with a name of 257 bytes", {"wants": [{"part": 0, "encodings": ["e" * 257]}]})
    for name, about, parts in (
        ("falling", "Parts that fall", [2, 1]), ("twice", "One part twice", [1, 1]), ("negative", "A negative part", [-1]),
        ("fraction", "A part with a fraction", [0.5]), ("string", "A part that is a string", ["1"]),
        ("null", "A part that is null", [None]), ("2_64", "A part above what 64 bits hold", [2**64 + 1]),
    ):  # fmt: skip
        yield bad("answer", f"part_{name}", about, {"wants": [{"part": part} for part in parts]})
    yield bad("answer", "without_part", "part is missing", {"wants": [{"encodings": ["blocks"]}]})
    yield bad("answer", "want_is_number", "A part that is no object", {"wants": [1]})
    yield bad("answer", "want_null", "null in an array", {"wants": [None]})
    yield bad("answer", "wants_is_object", "wants is an object", {"wants": {"part": 1}})
    yield bad("answer", "array", "An array instead of an object", text("[1]"))
    yield bad("answer", "empty_payload", "No JSON at all", [])
    yield bad("answer", "invalid_utf8", "A byte that is no UTF-8", text(b'{"x":"\xff"}'))


def receipts() -> Iterator[Vector]:
    yield good("receipt", "installed", "A shipment is installed", receipt())
    yield good("receipt", "unchanged", "It was installed already", receipt(outcome="unchanged", generation=41))
    yield good("receipt", "unknown_members", "Members that are not known are passed over", receipt() | {"seconds": 1.25}, receipt())
    for member in receipt():
        yield bad("receipt", f"without_{member}", f"{member} is missing", {key: value for key, value in receipt().items() if key != member})
    yield bad("receipt", "outcome_other", "An outcome that is none", receipt(outcome="postponed"))
    yield bad("receipt", "outcome_upper_case", "An outcome in upper case", receipt(outcome="INSTALLED"))
    yield bad("receipt", "generation_0", "Generations are numbered from 1", receipt(generation=0))
    yield good("receipt", "generation_2_53_less_1", "The highest generation", receipt(generation=9_007_199_254_740_991))
    yield bad("receipt", "generation_2_53", "A generation above the highest", receipt(generation=2**53))
    yield bad("receipt", "generation_string", "A generation that is a string", receipt() | {"generation": "1"})
    yield bad("receipt", "digest_short", "A digest of 63 digits", receipt() | {"sha256": RECIPES_STORE.digest[1:]})
    yield bad("receipt", "name_leading_dot", "A name that breaks its rule", receipt() | {"name": ".Recipes"})


def last_words(kind: str) -> Iterator[Vector]:
    yield good(kind, "known_code", "A code of section 7", word("no-space", "there is no room: free 12 MB and send again"))
    yield good(kind, "unknown_code", "A code that is not known: the reason is in the message", word("full-moon", "not tonight"))
    yield good(kind, "message_empty", "A message may be empty", word("stopped", ""))
    yield good(kind, "message_1024_bytes", "A message of 1,024 bytes in 512 characters", word("busy", "\u00e9" * 512))
    yield good(kind, "unknown_members", "Members that are not known are passed over", word("busy", "later") | {"seconds": 5}, word("busy", "later"))
    for ends in ("shipment", "session"):
        yield good(kind, f"ends_{ends}", f"The {ends} is over", word("busy", "later", ends))
    yield good(kind, "ends_null", "null stands for an absent member: the session is over", word("busy", "later") | {"ends": None}, word("busy", "later"))
    yield bad(kind, "ends_other", "Something else is over", word("busy", "later", "world"))
    yield bad(kind, "ends_upper_case", "The shipment is over, in upper case", word("busy", "later", "SHIPMENT"))
    yield bad(kind, "ends_is_boolean", "ends is a boolean", word("busy", "later") | {"ends": True})
    yield bad(kind, "message_1025_bytes", "A message of 1,025 bytes", word("busy", "m" * 1025))
    yield bad(kind, "without_code", "code is missing", {"message": "later"})
    yield bad(kind, "without_message", "message is missing", {"code": "busy"})
    yield bad(kind, "message_nul", "A message with U+0000", word("busy", "later\0"))
    yield bad(kind, "code_nul", "A code with U+0000", word("busy\0", "later"))
    yield bad(kind, "code_empty", "An empty code", word("", "later"))
    yield bad(kind, "code_257_bytes", "A code of 257 bytes", word("c" * 257, "later"))
    yield bad(kind, "code_is_number", "A code that is a number", {"code": 75, "message": "later"})
