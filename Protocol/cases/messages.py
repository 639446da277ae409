"""The JSON of HELLO, ACCEPT, RECEIPT, REFUSAL and CANCEL (section 5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from encoder.piece import Pieces, compact_json, document, text
from encoder.samples import HELLO_MEMBERS, HELLO_WITH_COLUMNS, RECIPES_STORE, Members, receipt, word
from encoder.vector import Vector, values

SECTIONS = {"hello": "5.1", "accept": "5.2", "receipt": "5.3", "refusal": "5.4", "cancel": "5.5"}


def good(kind: str, name: str, about: str, members: Members, known: Members | None = None) -> Vector:
    details = values(members if known is None else known)
    return Vector(f"{kind}_{name}", about, SECTIONS[kind], kind, None, details, [("", document(members))])


def bad(kind: str, name: str, about: str, payload: Members | Pieces) -> Vector:
    pieces = document(payload) if isinstance(payload, dict) else payload
    return Vector(f"{kind}_{name}", about, SECTIONS[kind], kind, "bad-manifest", [], [("", pieces)])


def vectors() -> Iterator[Vector]:
    yield from hellos()
    yield from accepts()
    yield from receipts()
    for kind in ("refusal", "cancel"):
        yield from last_words(kind)


def hello(**more: Any) -> Members:
    return HELLO_MEMBERS | more


def held(**more: Any) -> Members:
    return {"name": "Recipes", "generation": 7, "sha256": RECIPES_STORE.digest} | more


def hellos() -> Iterator[Vector]:
    yield good("hello", "minimal", "The required members alone", hello())
    full = hello(features=["delta", "time-travel"], holds=[held(), held(name="Drinks", generation=1)])
    yield good("hello", "full", "Every member there is", full)
    more = hello(colour="green", holds=[held(colour="green")])
    yield good("hello", "unknown_members", "Members that are not known are passed over", more, hello(holds=[held()]))
    yield good("hello", "columns", "A consumer that takes a store by its rows", HELLO_WITH_COLUMNS)
    yield good("hello", "more_encodings", "Encodings that the producer does not know, in another order", hello(encodings=["delta", "zlib-window", "x", "zlib", "stored"]))
    yield good("hello", "empty_is_absent", "Empty arrays are as good as absent ones", hello(features=[], holds=None), hello())
    for encoding in ("stored", "zlib", "zlib-window"):
        others = [name for name in HELLO_MEMBERS["encodings"] if name != encoding]
        slug = encoding.replace("-", "_")
        yield bad("hello", f"lacks_{slug}", f"Every consumer decodes {encoding}", hello(encodings=others))
    for member in HELLO_MEMBERS:
        yield bad("hello", f"without_{member}", f"{member} is missing", {key: value for key, value in hello().items() if key != member})
    for member in held():
        yield bad("hello", f"holds_without_{member}", f"{member} is missing", hello(holds=[{key: value for key, value in held().items() if key != member}]))
    yield good("hello", "encodings_64", "64 encodings", hello(encodings=[*HELLO_MEMBERS["encodings"], *(f"e{number}" for number in range(61))]))
    yield bad("hello", "encodings_65", "65 encodings", hello(encodings=[*HELLO_MEMBERS["encodings"], *(f"e{number}" for number in range(62))]))
    yield bad("hello", "features_65", "65 features", hello(features=[f"f{number}" for number in range(65)]))
    yield bad("hello", "software_empty", "An empty label", hello(software=""))
    yield bad("hello", "encodings_is_string", "encodings is a string", hello(encodings="zlib"))
    yield bad("hello", "holds_generation_0", "Generations are numbered from 1", hello(holds=[held(generation=0)]))
    most = hello(holds=[held(generation=9_007_199_254_740_991)])
    yield good("hello", "holds_generation_2_53_less_1", "The highest generation", most)
    yield bad("hello", "holds_generation_2_53", "A generation above the highest", hello(holds=[held(generation=2**53)]))
    yield bad("hello", "software_nul", "A label with U+0000", hello(software="ship\0store"))
    yield bad("hello", "holds_generation_fraction", "A generation with a fraction", hello(holds=[held(generation=1.5)]))
    yield bad("hello", "holds_name", "A store's name that is a path", hello(holds=[held(name="../Recipes")]))
    yield bad("hello", "holds_digest", "A digest in upper case", hello(holds=[held(sha256=RECIPES_STORE.digest.upper())]))
    yield bad("hello", "depth_33", "33 levels", text(compact_json(hello())[:-1] + ',"x":' + "[" * 32 + "]" * 32 + "}"))
    yield bad("hello", "not_json", "No JSON", text("hello"))
    yield bad("hello", "trailing_bytes", "A byte after the value", text(compact_json(hello()) + "!"))
    yield bad("hello", "empty_payload", "No bytes at all", [])


def accepts() -> Iterator[Vector]:
    yield good("accept", "empty", "Nothing to skip", {})
    yield good("accept", "skip", "Parts to skip, rising", {"skip": [0, 2, 16_384]})
    yield good("accept", "skip_null", "null stands for an absent member", {"skip": None})
    yield good("accept", "unknown_members", "Members that are not known are passed over", {"from": 12, "skip": [1]}, {"skip": [1]})
    yield good("accept", "plainly", "The store is to come again", {"skip": [1, 2], "plainly": True})
    yield good("accept", "plainly_false", "It is not, said at length", {"plainly": False}, {})
    yield bad("accept", "plainly_number", "plainly is a number", {"plainly": 1})
    yield bad("accept", "plainly_string", "plainly is a string", {"plainly": "true"})
    yield bad("accept", "skip_falling", "Indexes that fall", {"skip": [2, 1]})
    yield bad("accept", "skip_twice", "One index twice", {"skip": [1, 1]})
    yield bad("accept", "skip_negative", "A negative index", {"skip": [-1]})
    yield bad("accept", "skip_fraction", "An index with a fraction", {"skip": [0.5]})
    yield bad("accept", "skip_string", "An index that is a string", {"skip": ["1"]})
    yield bad("accept", "skip_is_number", "skip is a number", {"skip": 1})
    yield bad("accept", "skip_2_64", "An index above what 64 bits hold", {"skip": [2**64 + 1]})
    yield bad("accept", "array", "An array instead of an object", text("[1]"))
    yield bad("accept", "empty_payload", "No bytes at all", [])
    yield bad("accept", "invalid_utf8", "A byte that is no UTF-8", text(b'{"x":"\xff"}'))


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
    yield bad(kind, "message_1025_bytes", "A message of 1,025 bytes", word("busy", "m" * 1025))
    yield bad(kind, "without_code", "code is missing", {"message": "later"})
    yield bad(kind, "without_message", "message is missing", {"code": "busy"})
    yield bad(kind, "message_nul", "A message with U+0000", word("busy", "later\0"))
    yield bad(kind, "code_nul", "A code with U+0000", word("busy\0", "later"))
    yield bad(kind, "code_empty", "An empty code", word("", "later"))
    yield bad(kind, "code_257_bytes", "A code of 257 bytes", word("c" * 257, "later"))
    yield bad(kind, "code_is_number", "A code that is a number", {"code": 75, "message": "later"})
