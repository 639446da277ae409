"""The JSON of HELLO, ANSWER, RECEIPT, REFUSAL and CANCEL (section 5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from encoder.piece import Pieces, compact_json, document, text
from encoder.samples import HELD, HELLO_MEMBERS, HELLO_WITH_COLUMNS, RECIPES_STORE, Members, receipt, word
from encoder.vector import Vector, values
from encoder.wire import ANSWER, CANCEL, HELLO, RECEIPT, REFUSAL, payload_of

KEPT = HELD.id.hex()[:8]
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
    full = hello(encodings=["delta", "columns", "blocks"], holds=[held(kept=[KEPT, "00000000"]), held(name="Drinks")])
    yield good("hello", "full", "Every member there is", full)
    more = hello(colour="green", features=["time-travel"], holds=[held(colour="green", lost=[1])])
    yield good("hello", "unknown_members", "Members that are not known are passed over", more, hello(holds=[held()]))
    yield good("hello", "columns", "A consumer that takes a store by its rows", HELLO_WITH_COLUMNS)
    yield good("hello", "more_encodings", "Encodings that the producer does not know, in another order", hello(encodings=["rows-of-tomorrow", "x", "blocks", "columns", "x"]))
    yield good("hello", "empty_is_absent", "Empty arrays are as good as absent ones", hello(encodings=[], holds=None), hello())
    for member in HELLO_MEMBERS:
        yield bad("hello", f"without_{member}", f"{member} is missing", {key: value for key, value in hello().items() if key != member})
    yield from holds()
    for seconds in (1, 3600):
        yield good("hello", f"stays_{seconds}", "The consumer waits for a producer that stays", hello(stays=seconds))
    for seconds in (0, 3601, -1):
        yield bad("hello", f"stays_{seconds}".replace("-", "minus_"), "An interval out of its limits", hello(stays=seconds))
    for signatures in "taken", "wanted", "of-a-later-version":
        yield good("hello", f"signatures_{signatures.replace('-', '_')}", "What the consumer does with signatures", hello(signatures=signatures))
    yield bad("hello", "signatures_is_boolean", "signatures is a boolean", hello(signatures=True))
    yield bad("hello", "stays_is_boolean", "stays is a boolean", hello(stays=True))
    yield good("hello", "encodings_64", "64 encodings", hello(encodings=[f"e{number}" for number in range(64)]))
    yield bad("hello", "encodings_65", "65 encodings", hello(encodings=[f"e{number}" for number in range(65)]))
    yield bad("hello", "encoding_empty", "An encoding with an empty name", hello(encodings=[""]))
    yield bad("hello", "encoding_is_number", "An encoding by its number", hello(encodings=[1]))
    yield bad("hello", "software_empty", "An empty label", hello(software=""))
    yield bad("hello", "encodings_is_string", "encodings is a string", hello(encodings="blocks"))
    yield bad("hello", "software_nul", "A label with U+0000", hello(software="ship\0store"))
    yield bad("hello", "depth_33", "33 levels", text(compact_json(hello())[:-1] + ',"x":' + "[" * 32 + "]" * 32 + "}"))
    yield bad("hello", "not_json", "No JSON", text("hello"))
    yield bad("hello", "trailing_bytes", "A byte after the value", text(compact_json(hello()) + "!"))
    yield bad("hello", "empty_payload", "No JSON at all", [])


def holds() -> Iterator[Vector]:
    """What is held of a store: the generation that is current, others that are kept, or both."""

    def takes(name: str, about: str, element: Members, known: Members | None = None) -> Vector:
        return good("hello", f"holds_{name}", about, hello(holds=[element]), hello(holds=[element if known is None else known]))

    def refuses(name: str, about: str, element: Any) -> Vector:
        return bad("hello", f"holds_{name}", about, hello(holds=[element]))

    without = {"name": "Recipes"}
    most = [f"{number:08x}" for number in range(16)]
    yield takes("kept", "Another generation that is kept, in short", held(kept=[KEPT]))
    yield takes("kept_alone", "What is current is not told of: another device may have sent it", without | {"kept": [KEPT]})
    yield takes("kept_null", "null stands for an absent member", held(kept=None), held())
    yield takes("manifest_null", "null stands for an absent member here too", held(manifest=None, kept=[KEPT]), without | {"kept": [KEPT]})
    yield takes("kept_16", "16 generations that are kept", held(kept=most))
    yield takes("kept_twice", "One that is kept twice: the first digits of two may be the same", held(kept=[KEPT, KEPT]))
    yield takes("unfinished", "A shipment that broke off, beside all else", held(kept=[KEPT], unfinished="00c0ffee"))
    yield takes("unfinished_alone", "Nothing is held but what waits of a shipment that broke off", without | {"unfinished": KEPT})
    yield takes("unfinished_null", "null stands for an absent member here as well", held(unfinished=None), held())
    yield refuses("all_null", "All three are null", without | {"manifest": None, "kept": None, "unfinished": None})
    yield refuses("unfinished_without_name", "name is missing where a shipment broke off", {"unfinished": KEPT})
    for name, about, value in (
        ("6_digits", "First digits of what broke off that are too few", KEPT[:6]), ("10_digits", "First digits of it that are too many", HELD.id.hex()[:10]),
        ("32_digits", "A whole id of it", HELD.id.hex()), ("empty", "No digits of it", ""), ("upper_case", "First digits of it in upper case", "ABCDEF01"),
        ("no_digits", "First digits of it that are none", "recipes!"), ("is_number", "First digits of it as a number", 12345678),
        ("is_array", "Several that broke off", [KEPT]), ("is_true", "Something broke off, and it is not said what", True),
    ):  # fmt: skip
        yield refuses(f"unfinished_{name}", about, held(unfinished=value))
    yield refuses("without_name", "name is missing", {"manifest": HELD.id.hex(), "kept": [KEPT]})
    yield refuses("without_manifest", "Neither manifest nor kept nor unfinished", without)
    yield refuses("nulls", "Both are null", without | {"manifest": None, "kept": None})
    yield refuses("name", "A store's name that is a path", held(name="../Recipes"))
    yield refuses("null", "null in an array", None)
    yield refuses("manifest_upper_case", "An id in upper case", held(manifest=HELD.id.hex().upper()))
    yield refuses("manifest_30_digits", "An id that is too short", held(manifest=HELD.id.hex()[2:]))
    yield refuses("manifest_64_digits", "An id that is too long", held(manifest=HELD.id.hex() * 2))
    yield refuses("kept_empty", "No generation is kept, and it is said", held(kept=[]))
    yield refuses("kept_17", "17 generations that are kept", held(kept=[*most, KEPT]))
    yield refuses("kept_6_digits", "First digits of an id that are too few", held(kept=[KEPT[:6]]))
    yield refuses("kept_7_digits", "The same, by one", held(kept=[KEPT[:7]]))
    yield refuses("kept_10_digits", "First digits of an id that are too many", held(kept=[HELD.id.hex()[:10]]))
    yield refuses("kept_32_digits", "A whole id where its first digits belong", held(kept=[HELD.id.hex()]))
    yield refuses("kept_upper_case", "First digits in upper case", held(kept=["ABCDEF01"]))
    yield refuses("kept_no_digits", "First digits that are none", held(kept=["recipes!"]))
    yield refuses("kept_is_number", "First digits as a number", held(kept=[12345678]))
    yield refuses("kept_is_string", "kept is a string", held(kept=KEPT))
    yield refuses("kept_element_null", "null among those that are kept", held(kept=[KEPT, None]))


def answers() -> Iterator[Vector]:
    yield good("answer", "empty", "All parts, in all encodings that both sides know", {})
    yield good("answer", "nothing", "No part at all: an empty wants is not an absent one", {"wants": []})
    yield good("answer", "wants_null", "null stands for an absent member", {"wants": None})
    some = [{"part": 0, "encodings": ["columns", "blocks"]}, {"part": 2}, {"part": 16_384, "encodings": ["blocks"]}]
    yield good("answer", "wants", "Parts, rising", {"wants": some})
    yield good("answer", "encodings_null", "null stands for an absent member here too", {"wants": [{"part": 1, "encodings": None}]})
    yield good("answer", "encodings_unknown", "Encodings that the producer does not know", {"wants": [{"part": 0, "encodings": ["x", "rows-of-tomorrow"]}]})
    base = RECIPES_STORE.digest
    yield good("answer", "base", "A store that a delta may refer to", {"wants": [{"part": 0, "base": base}]})
    yield good("answer", "base_and_encodings", "The same, and in which encodings", {"wants": [{"part": 0, "encodings": ["delta", "columns"], "base": base}, {"part": 1}]})
    yield good("answer", "base_null", "null stands for an absent base", {"wants": [{"part": 0, "base": None}]}, {"wants": [{"part": 0}]})
    yield good("answer", "base_of_external_file", "A store to whose external files a delta may refer", {"wants": [{"part": 1, "base": base}]})
    for name, about, value in (
        ("63_digits", "A base that is too short", base[1:]), ("66_digits", "A base that is too long", base + "00"),
        ("upper_case", "A base in upper case", base.upper()), ("id", "The id of a content in the base's place", HELD.id.hex()),
        ("empty", "An empty base", ""), ("is_number", "A base that is a number", 1), ("is_array", "Two bases", [base, base]),
    ):  # fmt: skip
        yield bad("answer", f"base_{name}", about, {"wants": [{"part": 0, "base": value}]})
    yield bad("answer", "base_of_external_file_short", "A base of an external file that is too short", {"wants": [{"part": 1, "base": base[1:]}]})
    more = {"from": 12, "wants": [{"part": 1, "colour": 4096}]}
    yield good("answer", "unknown_members", "Members that are not known are passed over", more, {"wants": [{"part": 1}]})
    yield from goes_on()
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


def goes_on() -> Iterator[Vector]:
    """From where a part may go on."""
    base = RECIPES_STORE.digest
    start = {"encoding": "blocks", "position": 4096, "sha256": base}

    def takes(name: str, about: str, element: Members, known: Members | None = None) -> Vector:
        return good("answer", f"from_{name}", about, {"wants": [element]}, {"wants": [element if known is None else known]})

    def refuses(name: str, about: str, element: Members) -> Vector:
        return bad("answer", f"from_{name}", about, {"wants": [element]})

    def said(**more: Any) -> Members:
        return {"part": 0, "from": start | more}

    yield takes("blocks", "A store that may go on", said())
    yield takes("columns", "The same in columns", said(encoding="columns", position=1))
    yield takes("delta", "The same as a delta", said(encoding="delta") | {"base": base})
    yield takes("and_encodings", "In an encoding that is wanted among others", said(encoding="delta") | {"encodings": ["columns", "delta"], "base": base})
    yield takes("base_of_another", "A base is named, and columns may go on", said(encoding="columns") | {"base": base})
    yield takes("external_file", "An external file that may go on", said() | {"part": 16_384})
    yield takes("unknown_encoding", "In an encoding that is wanted by its name, and not known", said(encoding="rows-of-tomorrow") | {"encodings": ["rows-of-tomorrow", "blocks"]})
    yield takes("position_2_53_less_1", "The highest position", said(position=2**53 - 1))
    yield takes("null", "null stands for an absent member", {"part": 0, "from": None}, {"part": 0})
    yield takes("unknown_members", "Members that are not known are passed over", said(colour="green"), said())
    yield refuses("unwanted_encoding", "In an encoding that is not among those that are wanted", said() | {"encodings": ["columns"]})
    yield refuses("unwanted_delta", "The same as a delta, though a base is named", said(encoding="delta") | {"encodings": ["columns"], "base": base})
    yield refuses("delta_without_base", "A delta, and no base", said(encoding="delta"))
    yield refuses("delta_base_null", "A delta, and a base that is null", said(encoding="delta") | {"base": None})
    yield refuses("delta_by_name_without_base", "A delta that is wanted by its name, and no base", said(encoding="delta") | {"encodings": ["delta"]})
    for member in start:
        yield refuses(f"without_{member}", f"{member} is missing", {"part": 0, "from": {key: value for key, value in start.items() if key != member}})
        yield refuses(f"{member}_null", f"{member} is null", said(**{member: None}))
    for name, about, value in (
        ("0", "A position that is the beginning", 0), ("2_53", "A position above the highest", 2**53), ("negative", "A negative position", -1),
        ("fraction", "A position with a fraction", 0.5), ("string", "A position that is a string", "1"), ("2_64", "A position above what 64 bits hold", 2**64 + 1),
    ):  # fmt: skip
        yield refuses(f"position_{name}", about, said(position=value))
    yield refuses("digest_63_digits", "A digest that is too short", said(sha256=base[1:]))
    yield refuses("digest_upper_case", "A digest in upper case", said(sha256=base.upper()))
    yield refuses("encoding_empty", "An encoding with an empty name", said(encoding=""))
    yield refuses("encoding_is_number", "An encoding by its number", said(encoding=1))
    yield refuses("is_number", "A position without what belongs to it", {"part": 0, "from": 4096})
    yield refuses("is_array", "Two places to go on from", {"part": 0, "from": [start, start]})
    yield refuses("is_empty", "An object without members", {"part": 0, "from": {}})


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
