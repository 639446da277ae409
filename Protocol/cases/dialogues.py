"""Whole two-way sessions (section 6), turn by turn.

A turn is what one side sends before the other one's next turn matters. Where a side fails, only that side's end is
stated: what the other one makes of it is its own affair.
"""

from __future__ import annotations

from collections.abc import Iterator

from cases.streams import CORE_DATA_MANIFEST, EMPTY_MANIFEST, GOOD_MANIFEST, blocks, ended, error_of, installed, part_frame
from encoder.deflate import compressed
from encoder.piece import Pieces, binary, text
from encoder.samples import (
    CORE_DATA_STORE, EMPTY_STORE, HELD, HELLO_MEMBERS, HELLO_WITH_COLUMNS, PHOTO, PHOTO_UUID, RECIPES_STORE,
    Content, Members, core_data_manifest, external, manifest, receipt, word,
)  # fmt: skip
from encoder.vector import Detail, Vector
from encoder.wire import (
    ANSWER, ASKABLE, CANCEL, COLUMNS, CONSUMER, DATA, END, HELLO, MANIFEST, NEWEST, PADDING, QUESTION, RECEIPT, REFUSAL, STAY, STORED,
    WORKING, ZLIB,
    block, data, frame, message, preamble,
)  # fmt: skip

Turn = tuple[str, list[Pieces]]

GREETING = message(HELLO, HELLO_MEMBERS)
CONSUMER_STARTS: Turn = ("consumer", [preamble(role=CONSUMER), GREETING])
TAKES_COLUMNS: Turn = ("consumer", [preamble(role=CONSUMER), message(HELLO, HELLO_WITH_COLUMNS)])
PRODUCER_STARTS: Turn = ("producer", [preamble(), GOOD_MANIFEST])
CORE_DATA_STARTS: Turn = ("producer", [preamble(), CORE_DATA_MANIFEST])
ANSWERS: Turn = ("consumer", [message(ANSWER, {})])
STORE_IN_BLOCKS = blocks(RECIPES_STORE.data, size=512)
SENDS: Turn = ("producer", [*STORE_IN_BLOCKS, frame(END)])
HALF: Turn = ("producer", STORE_IN_BLOCKS[:2])
OTHER_HALF: Turn = ("producer", [STORE_IN_BLOCKS[2], frame(END)])
RECEIPT_OF_STORE = message(RECEIPT, receipt())
RECEIVED: Turn = ("consumer", [RECEIPT_OF_STORE])
OPENING = (CONSUMER_STARTS, PRODUCER_STARTS, ANSWERS)

NEXT_OFFERED: Turn = ("producer", [EMPTY_MANIFEST])
NEXT_SENT: Turn = ("producer", [*blocks(EMPTY_STORE.data), frame(END)])
NEXT_RECEIVED: Turn = ("consumer", [message(RECEIPT, receipt(EMPTY_STORE, name="Empty"))])
NEXT = (NEXT_OFFERED, ANSWERS, NEXT_SENT, NEXT_RECEIVED)
"""A second store."""
NEXT_INSTALLED = installed(EMPTY_STORE.data, name="Empty")
THIRD_STORE = RECIPES_STORE.with_bytes(1023, b"?")
THIRD_MANIFEST = message(MANIFEST, manifest(THIRD_STORE, "Drinks"))
THIRD = (
    ("producer", [THIRD_MANIFEST]), ANSWERS, ("producer", [*blocks(THIRD_STORE.data), frame(END)]),
    ("consumer", [message(RECEIPT, receipt(THIRD_STORE, name="Drinks"))]),
)  # fmt: skip
THIRD_INSTALLED = installed(THIRD_STORE.data, name="Drinks")
THERE = installed(RECIPES_STORE.data)

NEEDS = message(MANIFEST, manifest(requires=["time-travel"]))
VIOLATION = "protocol-violation"
DONE = [("producer", "done"), ("consumer", "done")]
FOR_PRODUCER, FOR_CONSUMER = DONE[:1], DONE[1:]


def holds(content: Content) -> Turn:
    """The consumer names what it holds."""
    hello = HELLO_MEMBERS | {"holds": [{"name": "Recipes", "manifest": content.id.hex()}]}
    return ("consumer", [preamble(role=CONSUMER), message(HELLO, hello)])


def held(content: Content) -> Turn:
    """No turn: the content of the manifest that the consumer holds."""
    return ("held", [text(content.json)])


def refusal(code: str, why: str, ends: str | None = None) -> Pieces:
    return message(REFUSAL, word(code, why, ends))


def cancel(code: str, why: str, ends: str | None = None) -> Pieces:
    return message(CANCEL, word(code, why, ends))


def refuses(code: str, why: str = "not this one") -> Turn:
    """The shipment alone."""
    return ("consumer", [refusal(code, why, "shipment")])


def gives_up(code: str, why: str = "not this one") -> Turn:
    return ("producer", [cancel(code, why, "shipment")])


def wants(*parts: int | tuple[int, list[str]]) -> Turn:
    """Parts, some of them in encodings that are named."""
    found = [{"part": each} if isinstance(each, int) else {"part": each[0], "encodings": each[1]} for each in parts]
    return ("consumer", [message(ANSWER, {"wants": found})])


def dialogue(name: str, about: str, ends: list[Detail], *turns: Turn, shipments: list[Detail] | None = None, covers: str = "6") -> Vector:
    last: list[Turn] = [("producer", [frame(END)])] if any(end == "done" for _, end in ends) else []
    sections = [(side, [piece for pieces in frames for piece in pieces]) for side, frames in [*turns, *last]]
    error = error_of(ends, shipments or [])
    return Vector(f"dialogue_{name}", about, covers, "dialogue", error, ends + (shipments or []), sections)


def vectors() -> Iterator[Vector]:
    yield from good()
    yield from stays()
    yield from questions()
    yield from wanted()
    yield from versions_and_roles()
    yield from refused()
    yield from several()
    yield from given_up()
    yield from consumer_fails()
    yield from producer_fails()


def byte_by_byte() -> Vector:
    """The session that stands in README.md section 11."""
    starts: Turn = ("producer", [preamble(), EMPTY_MANIFEST])
    return dialogue("byte_by_byte", "A store of one page, from the first preamble to the receipt", DONE, CONSUMER_STARTS, starts, ANSWERS, NEXT_SENT, NEXT_RECEIVED, shipments=NEXT_INSTALLED, covers="11")


def good() -> Iterator[Vector]:
    yield byte_by_byte()
    yield dialogue("installed", "A shipment is installed", DONE, *OPENING, SENDS, RECEIVED, shipments=THERE)
    unchanged: Turn = ("consumer", [message(RECEIPT, receipt(outcome="unchanged", generation=4))])
    yield dialogue("unchanged", "What is current already is not sent again", DONE, held(HELD), holds(HELD), PRODUCER_STARTS, unchanged, shipments=ended("unchanged"))
    yield dialogue("unchanged_then_installed", "The next store is sent", DONE, held(HELD), holds(HELD), PRODUCER_STARTS, unchanged, *NEXT, shipments=ended("unchanged") + NEXT_INSTALLED)
    later = frame(0x90, text("of a later version"))
    busy = [frame(WORKING), later]
    yield dialogue(
        "optional_frames", "WORKING and optional frames that are not known, everywhere, from both sides", DONE,
        ("consumer", [preamble(role=CONSUMER), *busy, GREETING, *busy]),
        ("producer", [preamble(), *busy, GOOD_MANIFEST, *busy]),
        ("consumer", [*busy, *ANSWERS[1], *busy]),
        ("producer", [*(each for piece in STORE_IN_BLOCKS for each in (piece, *busy)), frame(END), *busy]),
        ("consumer", [*busy, RECEIPT_OF_STORE, *busy]),
        ("producer", [*busy, EMPTY_MANIFEST]), *NEXT[1:],
        shipments=THERE + NEXT_INSTALLED,
    )  # fmt: skip
    more = [frame(PADDING, binary(bytes(30), "zeros")), frame(PADDING)]
    yield dialogue(
        "padding", "PADDING everywhere, from both sides, though one of them may not know it", DONE,
        ("consumer", [preamble(role=CONSUMER), *more, GREETING, *more]),
        ("producer", [preamble(), *more, GOOD_MANIFEST]),
        ("consumer", [*more, *ANSWERS[1], *more]),
        ("producer", [*(each for piece in STORE_IN_BLOCKS for each in (*more, piece)), *more, frame(END), *more]),
        ("consumer", [*more, RECEIPT_OF_STORE]),
        ("producer", [*more, EMPTY_MANIFEST]), *NEXT[1:],
        shipments=THERE + NEXT_INSTALLED, covers="3.7, 6",
    )  # fmt: skip
    first: Turn = ("producer", [preamble()])
    yield dialogue("producer_first", "Neither waits for the other's preamble: here the producer's comes first", DONE, first, CONSUMER_STARTS, ("producer", [GOOD_MANIFEST]), ANSWERS, SENDS, RECEIVED, shipments=THERE)
    working: Turn = ("producer", [preamble(), frame(WORKING), frame(WORKING), GOOD_MANIFEST])
    yield dialogue("working_before_manifest", "The producer takes its copy, and says that it is at work", DONE, CONSUMER_STARTS, working, ANSWERS, SENDS, RECEIVED, shipments=THERE, covers="6, 6.3")


def stays() -> Iterator[Vector]:
    """A producer that stays between two shipments (section 6.5)."""
    covers = "5.7, 6.5"
    waits: Turn = ("consumer", [preamble(role=CONSUMER), message(HELLO, HELLO_MEMBERS | {"stays": 60})])

    def stay(seconds: int) -> Pieces:
        return frame(STAY, binary(seconds.to_bytes(4, "big"), f"{seconds} s"))

    idle = [frame(WORKING)]
    first: Turn = ("producer", [preamble(), stay(10), GOOD_MANIFEST])
    later: Turn = ("producer", [*idle, *NEXT_OFFERED[1]])
    yield dialogue("stays", "Both sides say between two shipments that they are there", DONE, waits, first, ANSWERS, SENDS, RECEIVED, ("consumer", idle), ("producer", idle), ("consumer", idle), later, *NEXT[1:], shipments=THERE + NEXT_INSTALLED, covers=covers)
    again: Turn = ("producer", [stay(3600), *NEXT_OFFERED[1]])
    yield dialogue("stays_later", "The producer says so after the first shipment, and again", DONE, waits, PRODUCER_STARTS, ANSWERS, SENDS, RECEIVED, ("producer", [stay(1)]), again, *NEXT[1:], shipments=THERE + NEXT_INSTALLED, covers=covers)
    for name, payload in ("short", bytes(3)), ("zero", bytes(4)), ("too_long", (3601).to_bytes(4, "big")):
        broken = frame(STAY, binary(payload, "no interval"))
        yield dialogue(f"stays_{name}", "A payload that is no interval", [("consumer", "failed bad-manifest")], waits, ("producer", [preamble(), broken]), covers=covers)
    yield dialogue("stays_in_shipment", "STAY has no place in a shipment", [("consumer", f"failed {VIOLATION}")], waits, ("producer", [preamble(), GOOD_MANIFEST]), ANSWERS, ("producer", [*STORE_IN_BLOCKS[:1], stay(10)]), ("consumer", [refusal(VIOLATION, "STAY", None)]), covers=covers)


def questions() -> Iterator[Vector]:
    """A consumer that asks what the newest state of a store is (section 6.6)."""
    covers = "5.8, 6.6"
    waits: Turn = ("consumer", [preamble(role=CONSUMER), message(HELLO, HELLO_MEMBERS | {"stays": 60})])
    stay = frame(STAY, binary((10).to_bytes(4, "big"), "10 s"))

    def asks(nonce: int, name: bytes = b"Recipes") -> Turn:
        return "consumer", [frame(QUESTION, binary(nonce.to_bytes(8, "big"), "nonce") + binary(name, "name"))]

    def answer(nonce: int, content: bytes = HELD.id) -> Pieces:
        return frame(NEWEST, binary(nonce.to_bytes(8, "big"), "nonce") + binary(content, "id of a content"))

    first: Turn = ("producer", [preamble(), stay, frame(ASKABLE), GOOD_MANIFEST])
    start = (waits, first, ANSWERS, SENDS, RECEIVED)
    both = THERE + NEXT_INSTALLED
    later: Turn = ("producer", [answer(1), *NEXT_OFFERED[1]])
    yield dialogue("question", "The consumer asks, and the producer has nothing newer", DONE, *start, asks(1), later, *NEXT[1:], shipments=both, covers=covers)
    yield dialogue("question_of_next", "A question is answered by the shipment that follows", DONE, *start, asks(1), ("producer", [answer(1, bytes(16)), *NEXT_OFFERED[1]]), *NEXT[1:], shipments=both, covers=covers)
    yield dialogue("question_crosses", "A question crosses the next manifest, and nothing answers it", DONE, *start, NEXT_OFFERED, asks(1), *NEXT[1:], shipments=both, covers=covers)
    stale: Turn = ("producer", [answer(7), answer(1), answer(1), *NEXT_OFFERED[1]])
    yield dialogue("question_stale", "Answers to no open question say nothing", DONE, *start, asks(1), stale, *NEXT[1:], shipments=both, covers=covers)
    yield dialogue("question_elsewhere", "A question about a store that the producer does not know is passed over", DONE, *start, asks(1, b"Other"), *NEXT, shipments=both, covers=covers)
    for name, payload in ("nameless", bytes(8)), ("short", bytes(7)), ("bad_name", bytes(8) + b"../x"), ("not_utf8", bytes(8) + b"a\xffb"):
        broken: Turn = ("consumer", [frame(QUESTION, binary(payload, "no question"))])
        yield dialogue(f"question_{name}", "A question that names no store", [("producer", "failed bad-manifest")], *start, broken, shipments=THERE, covers=covers)
    plain: Turn = ("producer", [preamble(), stay, GOOD_MANIFEST])
    yield dialogue("question_unasked", "The producer has not said that it answers", [("producer", f"failed {VIOLATION}")], waits, plain, ANSWERS, SENDS, RECEIVED, asks(1), shipments=THERE, covers=covers)
    for name, piece in ("askable", frame(ASKABLE)), ("newest", answer(1)):
        yield dialogue(f"question_{name}_in_shipment", "It has no place in a shipment", [("consumer", f"failed {VIOLATION}")], waits, first, ANSWERS, ("producer", [*STORE_IN_BLOCKS[:1], piece]), ("consumer", [refusal(VIOLATION, name.upper(), None)]), covers=covers)
    cut = frame(NEWEST, binary(bytes(23), "no answer"))
    yield dialogue("question_newest_short", "NEWEST has 24 bytes", [("consumer", "failed bad-manifest")], waits, ("producer", [preamble(), stay, frame(ASKABLE), cut]), covers=covers)


def wanted() -> Iterator[Vector]:
    """What the consumer wants of a shipment (section 5.2)."""
    covers = "3.3, 5.2, 6"
    core_receipt: Turn = ("consumer", [message(RECEIPT, receipt(CORE_DATA_STORE))])
    store, photo = blocks(CORE_DATA_STORE.data, size=1024), blocks(PHOTO, index=1)
    start = (CONSUMER_STARTS, CORE_DATA_STARTS)

    def one(name: str, about: str, answer: Turn, frames: list[Pieces], *contents: bytes | None, starts: Turn = CONSUMER_STARTS) -> Vector:
        sends: Turn = ("producer", [*frames, frame(END)])
        return dialogue(f"wants_{name}", about, DONE, starts, CORE_DATA_STARTS, answer, sends, core_receipt, shipments=installed(*contents), covers=covers)

    there, known = CORE_DATA_STORE.data, [*store, *photo]
    yield one("everything", "All parts, but for the one of size 0", ANSWERS, known, there, PHOTO, b"")
    yield one("everything_by_name", "All parts, each by its number", wants(0, 1), known, there, PHOTO, b"")
    yield one("store_alone", "The consumer has an external file already, which does not come", wants(0), store, there, None, b"")
    yield one("external_file_alone", "The consumer has the store already, which does not come", wants(1), photo, None, PHOTO, b"")
    yield one("nothing", "The consumer has every part, but no generation of just these: END follows at once", wants(), [], None, None, b"")
    yield one("first_liked", "The first encoding that the producer can take is the one that it takes", wants((0, ["x", "rows-of-tomorrow", "blocks"]), (1, ["columns", "blocks"])), known, there, PHOTO, b"", starts=TAKES_COLUMNS)
    yield one("absent_encodings", "Encodings for one part, none for another", wants((0, ["blocks"]), 1), known, there, PHOTO, b"")

    def none_left(name: str, about: str, answer: Turn, starts: Turn = CONSUMER_STARTS) -> Vector:
        feature = "feature-not-supported"
        return dialogue(f"wants_{name}", about, FOR_PRODUCER, starts, CORE_DATA_STARTS, answer, gives_up(feature), refuses(feature), *NEXT, shipments=ended(f"cancelled {feature}") + NEXT_INSTALLED, covers="5.2, 5.5, 6")

    yield none_left("unknown_encoding", "An encoding alone that the producer does not know: it gives the shipment up, and goes on", wants((0, ["rows-of-tomorrow"])))
    yield none_left("columns_of_external_file", "An external file in columns, which are of the store alone", wants((0, ["blocks"]), (1, ["columns"])), TAKES_COLUMNS)
    yield none_left("columns_not_in_hello", "Columns, of which HELLO says nothing: not both sides know them", wants((0, ["columns"]), 1))

    def bad(name: str, code: str, about: str, answer: Turn) -> Vector:
        says: Turn = ("producer", [cancel(code, "an ANSWER that cannot be")])
        return dialogue(f"wants_{name}", about, [("producer", f"failed {code}")], *start, answer, says, covers="5.2, 6.1")

    yield bad("no_such_part", "bad-manifest", "A part that the manifest does not have", wants(0, 1, 3))
    yield bad("part_of_size_0", "bad-manifest", "A part of size 0", wants(0, 1, 2))
    yield bad("falling", "bad-manifest", "Parts that fall", wants(1, 0))

    def wrong(name: str, about: str, answer: Turn, *frames: Pieces, starts: Turn = CONSUMER_STARTS, code: str = VIOLATION) -> Vector:
        says: Turn = ("consumer", [refusal(code, "that was not wanted")])
        return dialogue(name, about, [("consumer", f"failed {code}")], starts, CORE_DATA_STARTS, answer, ("producer", [*frames, frame(END)]), says, covers="3.3, 5.2, 6.2")

    yield wrong("unwanted_part", "A part that the consumer does not want", wants(0), *store, *photo)
    yield wrong("unwanted_store", "The store, which the consumer does not want", wants(1), *store, *photo)
    yield wrong("unwanted_anything", "A part, where the consumer wants nothing", wants(), *store)
    yield wrong("unwanted_encoding", "Columns, where the consumer wants blocks", wants((0, ["blocks"]), 1), part_frame(0, COLUMNS), starts=TAKES_COLUMNS)
    yield wrong("unwanted_encoding_anew", "Columns, where the consumer wants blocks, after the blocks", wants((0, ["blocks"]), 1), *store, part_frame(0, COLUMNS, anew=True), starts=TAKES_COLUMNS)
    yield wrong("external_file_in_columns", "An external file in columns, which are of the store alone", ANSWERS, *store, part_frame(1, COLUMNS), starts=TAKES_COLUMNS)
    yield wrong("columns_not_taken", "Columns for a consumer that does not take them", ANSWERS, part_frame(0, COLUMNS), code="feature-not-supported")
    yield wrong("end_without_wanted_part", "END before a part that the consumer wants", wants(0, 1), *store)


def versions_and_roles() -> Iterator[Vector]:
    newer: Turn = ("consumer", [preamble(3, 1, CONSUMER), GREETING])
    yield dialogue("newer_consumer", "A consumer that speaks versions 1 to 3 goes on in version 1", DONE, newer, PRODUCER_STARTS, ANSWERS, SENDS, RECEIVED, shipments=THERE, covers="3.1, 6")
    error = "version-not-supported"
    yield dialogue("consumer_too_new", "A consumer that speaks version 2 alone", [("producer", f"failed {error}")], ("consumer", [preamble(2, 2, CONSUMER), GREETING]), ("producer", [preamble(), cancel(error, "the consumer speaks version 2 alone")]), covers="3.1, 7")
    yield dialogue("producer_too_new", "A producer that speaks versions 2 to 3", [("consumer", f"failed {error}")], CONSUMER_STARTS, ("producer", [preamble(3, 2)]), ("consumer", [refusal(error, "the producer speaks version 2 at least")]), covers="3.1, 7")
    yield dialogue("two_producers", "Two producers meet", [("producer", f"failed {VIOLATION}")], ("producer", [preamble()]), ("other producer", [preamble()]), ("producer", [cancel(VIOLATION, "the other side is a producer too")]), covers="3.1")
    yield dialogue("two_consumers", "Two consumers meet", [("consumer", f"failed {VIOLATION}")], CONSUMER_STARTS, ("other consumer", CONSUMER_STARTS[1]), ("consumer", [refusal(VIOLATION, "the other side is a consumer too")]), covers="3.1")


def refused() -> Iterator[Vector]:
    def session(name: str, code: str, about: str, *turns: Turn, shipments: list[Detail] | None = None) -> Vector:
        return dialogue(name, about, [("producer", f"refused {code}")], *turns, shipments=shipments, covers="5.4, 6.1")

    def one(name: str, code: str, about: str, *turns: Turn) -> Vector:
        """The shipment alone is refused."""
        return dialogue(name, about, FOR_PRODUCER, *turns, shipments=ended(f"refused {code}"), covers="5.4, 6.1")

    yield session("refused_at_once", "busy", "The consumer refuses after the preamble", CONSUMER_STARTS, ("producer", [preamble()]), ("consumer", [refusal("busy", "try again in a minute")]))
    yield session("refused_without_hello", "not-trusted", "The consumer refuses instead of a HELLO", ("producer", [preamble()]), ("consumer", [preamble(role=CONSUMER), refusal("not-trusted", "this producer is not known here")]))
    ends: Turn = ("consumer", [refusal("not-trusted", "the right to send was taken back")])
    yield session("refused_session_at_manifest", "not-trusted", "The consumer ends the session when it is offered a store", CONSUMER_STARTS, PRODUCER_STARTS, ends)
    yield session("refused_session_among_blocks", "not-trusted", "The same while a part comes", *OPENING, HALF, ends)
    yield session("refused_session_after_end", "not-trusted", "The same instead of a receipt", *OPENING, SENDS, ends)
    yield session("refused_session_between", "not-trusted", "The same after a receipt: the shipment before stays installed", *OPENING, SENDS, RECEIVED, ends, shipments=THERE)
    yield session("refused_session_in_second", "not-trusted", "The same in the midst of the second shipment", *OPENING, SENDS, RECEIVED, *NEXT[:2], ("producer", blocks(EMPTY_STORE.data)), ends, shipments=THERE)
    said: Turn = ("consumer", [refusal("stopped", "stopped by SIGTERM", "session")])
    yield session("refused_session_by_name", "stopped", "The consumer says that the session is over, which a REFUSAL says that does not say what is", CONSUMER_STARTS, PRODUCER_STARTS, said)
    yield one("refused_manifest", "no-space", "The consumer refuses the manifest", CONSUMER_STARTS, PRODUCER_STARTS, refuses("no-space", "there is no room: free 12 MB and send again"))
    for code, about, why in [
        ("wrong-model", "The consumer's reader cannot open a store of this model", "the model differs: Photo is another, Tag is missing"),
        ("wrong-schema", "The consumer's reader does not take this schema", "user_version is 8, not 5 to 7"),
        ("too-large", "The shipment is larger than the consumer's operator allows", "the store has 20000000 bytes; at most 10000000 are allowed"),
        ("held", "The consumer's operator went back to an older generation, and holds the store there", "Recipes is held at generation 6; --release there lifts that"),
        ("rolled-back", "The consumer's operator went back from this very store", "generation 7 was rolled back; --allow-again there lifts that"),
        ("other-store", "The consumer holds another store under that name", "another store is there under the name Recipes"),
        ("not-trusted", "The producer may not send this store", "this device may send other stores alone"),
        ("replayed", "The manifest has no number, and the consumer wants one", "there is no counter"),
        ("cannot-install", "The consumer's file system fails", "the inbox cannot be written to"),
        ("busy", "Another shipment of the store comes in", "Recipes is coming in from another producer"),
    ]:  # fmt: skip
        yield one(f"refused_{code.replace('-', '_')}", code, about, CONSUMER_STARTS, PRODUCER_STARTS, refuses(code, why))
    full = refuses("no-space", "the disk is full")
    yield one("refused_among_blocks", "no-space", "The consumer refuses while a part comes", *OPENING, HALF, full, gives_up("no-space"))
    yield one("refused_before_parts", "no-space", "The consumer refuses before anything of a part has come", *OPENING, full, gives_up("no-space"))
    yield one("refused_after_end", "bad-store", "The consumer refuses when it has verified", *OPENING, SENDS, ("consumer", [frame(WORKING), *refuses("bad-store", "quick_check found damage")[1]]))
    yield one("refused_probe_failed", "probe-failed", "The store does not answer as the consumer's operator demands", *OPENING, SENDS, refuses("probe-failed", "the probe SELECT count(*) FROM recipe gave 0"))
    yield one("refused_unknown_code", "full-moon", "A refusal for a reason that has no known code", CONSUMER_STARTS, PRODUCER_STARTS, refuses("full-moon", "not tonight"))


def several() -> Iterator[Vector]:
    """One shipment after the other."""

    def three(name: str, about: str, ends: list[Detail], how: str, *second: Turn) -> Vector:
        """The second of three has `how` as its outcome."""
        shipments = THERE + (NEXT_INSTALLED if how == "installed" else ended(how, "Empty")) + THIRD_INSTALLED
        return dialogue(f"three_{name}", about, ends, *OPENING, SENDS, RECEIVED, *second, *THIRD, shipments=shipments, covers="1, 5.4, 6")

    yield three("installed", "Three stores, one after the other", DONE, "installed", *NEXT)
    needs: Turn = ("producer", [message(MANIFEST, manifest(EMPTY_STORE, "Empty", requires=["time-travel"]))])
    yield three("second_requires_feature", "The second requires what the consumer does not know, and is refused instead of ANSWER", DONE, "refused feature-not-supported", needs, refuses("feature-not-supported", "time-travel"))
    yield three("second_busy", "The second cannot come in now", FOR_PRODUCER, "refused busy", NEXT_OFFERED, refuses("busy"))
    yield three("second_unchanged", "The second is current already", DONE, "unchanged", NEXT_OFFERED, ("consumer", [message(RECEIPT, receipt(EMPTY_STORE, "unchanged", 7, "Empty"))]))
    opened: Turn = ("producer", blocks(EMPTY_STORE.data)[:1])
    yield three("second_refused_among_parts", "The second is refused while it comes: CANCEL of the shipment follows", FOR_PRODUCER, "refused no-space", NEXT_OFFERED, ANSWERS, opened, refuses("no-space"), gives_up("no-space"))
    yield three("second_refused_after_end", "The second is refused when it has come", FOR_PRODUCER, "refused probe-failed", *NEXT[:3], refuses("probe-failed"))
    other: Turn = ("producer", [*blocks(EMPTY_STORE.with_bytes(511, b"!").data), frame(END)])
    yield three("second_damaged", "The second is not the one of its manifest", DONE, "refused damaged", NEXT_OFFERED, ANSWERS, other, refuses("damaged"))
    foul = EMPTY_STORE.with_bytes(18, b"\2\2")
    foul_offered: Turn = ("producer", [message(MANIFEST, manifest(foul, "Empty"))])
    foul_sent: Turn = ("producer", [*blocks(foul.data), frame(END)])
    yield three("second_bad_store", "The second is no sound store", DONE, "refused bad-store", foul_offered, ANSWERS, foul_sent, refuses("bad-store"))
    yield three("second_cancelled", "The producer gives the second up while it comes; the consumer has the last word", DONE, "cancelled stopped", NEXT_OFFERED, ANSWERS, opened, gives_up("stopped"), refuses("stopped"))
    there = THERE + installed(None, name="Empty") + THIRD_INSTALLED
    ends: Turn = ("producer", [frame(END)])
    yield dialogue("three_second_wants_nothing", "Of the second the consumer has all parts", DONE, *OPENING, SENDS, RECEIVED, NEXT_OFFERED, wants(), ends, NEXT_RECEIVED, *THIRD, shipments=there, covers="1, 5.2, 6")
    newer = RECIPES_STORE.with_bytes(1023, b"?")
    offered: Turn = ("producer", [message(MANIFEST, manifest(newer))])
    sent: Turn = ("producer", [*blocks(newer.data), frame(END)])
    got: Turn = ("consumer", [message(RECEIPT, receipt(newer, generation=2))])
    yield dialogue("store_twice", "Another copy of the store before, under its name", DONE, *OPENING, SENDS, RECEIVED, offered, ANSWERS, sent, got, shipments=THERE + installed(newer.data))
    again: Turn = ("producer", [GOOD_MANIFEST])
    unchanged: Turn = ("consumer", [message(RECEIPT, receipt(outcome="unchanged"))])
    yield dialogue("same_twice", "The shipment before once more: its receipt said that it is there, whatever HELLO did", DONE, *OPENING, SENDS, RECEIVED, again, unchanged, shipments=THERE + ended("unchanged"), covers="5.3, 6")
    no_space, passed = refuses("no-space", "the disk is full"), ended("refused no-space") + NEXT_INSTALLED
    until_cancel: Turn = ("producer", [STORE_IN_BLOCKS[2], cancel("no-space", "the disk is full", "shipment")])
    yield dialogue("passed_over_until_cancel", "The consumer refuses while a part comes, and passes over what is still on its way, up to CANCEL", FOR_CONSUMER, *OPENING, HALF, no_space, until_cancel, *NEXT, shipments=passed, covers="5.4, 6.2")
    yield dialogue("passed_over_until_end", "The same up to END, which crossed the REFUSAL: it gets no answer", FOR_CONSUMER, *OPENING, HALF, no_space, OTHER_HALF, *NEXT, shipments=passed, covers="5.4, 6")
    early: Turn = ("producer", [STORE_IN_BLOCKS[2], EMPTY_MANIFEST])
    says: Turn = ("consumer", [refusal(VIOLATION, "a manifest before CANCEL")])
    yield dialogue("passed_over_manifest", "A manifest before the END or the CANCEL of what is passed over", [("consumer", f"failed {VIOLATION}")], *OPENING, HALF, no_space, early, says, shipments=ended("refused no-space"), covers="5.4, 6.2")
    yield dialogue("refusal_crosses_end", "A REFUSAL while a part comes crosses END: it is the answer to it, and no CANCEL is sent", FOR_PRODUCER, *OPENING, HALF, OTHER_HALF, no_space, *NEXT, shipments=passed, covers="5.4, 6.1")
    everything = ended("refused busy") + ended("refused too-large", "Empty")
    yield dialogue("all_refused", "Each shipment is refused; the session is as good as any", FOR_PRODUCER, CONSUMER_STARTS, PRODUCER_STARTS, refuses("busy"), NEXT_OFFERED, refuses("too-large"), shipments=everything, covers="5.4, 6")


def given_up() -> Iterator[Vector]:
    """The producer gives a shipment up (section 5.5): in two-way mode the consumer has the last word of each."""
    then = ended("cancelled stopped") + NEXT_INSTALLED
    stops, said = gives_up("stopped", "the copy cannot be read"), refuses("stopped", "the copy cannot be read")
    covers = "5.5, 6"
    yield dialogue("cancelled_shipment", "The producer gives a shipment up among its blocks, and goes on with the next", DONE, *OPENING, HALF, stops, said, *NEXT, shipments=then, covers=covers)
    yield dialogue("cancelled_shipment_before_parts", "The same after ANSWER", DONE, *OPENING, stops, said, *NEXT, shipments=then, covers=covers)
    at_once = (CONSUMER_STARTS, ("producer", [*PRODUCER_STARTS[1], *stops[1]]))
    answers_first: Turn = ("consumer", [*ANSWERS[1], *said[1]])
    yield dialogue("cancelled_shipment_at_once", "The same before ANSWER, which crosses CANCEL: it says nothing about the next manifest", FOR_PRODUCER, *at_once, answers_first, *NEXT, shipments=then, covers=covers)
    yield dialogue("cancelled_shipment_unanswered", "The same, and the consumer answers CANCEL alone", FOR_PRODUCER, *at_once, said, *NEXT, shipments=then, covers=covers)
    yield dialogue("cancelled_shipment_refused", "A REFUSAL crosses CANCEL, and is the last word", FOR_PRODUCER, *OPENING, HALF, stops, refuses("no-space"), *NEXT, shipments=then, covers=covers)
    unchanged: Turn = ("consumer", [message(RECEIPT, receipt(outcome="unchanged", generation=4))])
    yield dialogue("cancelled_shipment_unchanged", "A RECEIPT crosses CANCEL, and is the last word", FOR_PRODUCER, *at_once, unchanged, *NEXT, shipments=ended("unchanged") + NEXT_INSTALLED, covers=covers)
    late: Turn = ("producer", [*stops[1], EMPTY_MANIFEST])
    yield dialogue("cancelled_shipment_after_refusal", "A CANCEL that crosses the REFUSAL of its manifest is passed over", FOR_CONSUMER, CONSUMER_STARTS, ("producer", [preamble(), NEEDS]), refuses("feature-not-supported", "time-travel"), late, *NEXT[1:], shipments=ended("refused feature-not-supported") + NEXT_INSTALLED, covers=covers)
    yield dialogue("cancelled_shipment_alone", "A shipment that is given up, and nothing after it", DONE, *OPENING, HALF, stops, said, shipments=then[:1], covers=covers)


def consumer_fails() -> Iterator[Vector]:
    def one(name: str, code: str, about: str, *turns: Turn, word: str = "failed", shipments: list[Detail] | None = None) -> Vector:
        return dialogue(name, about, [("consumer", f"{word} {code}")], *turns, shipments=shipments, covers="6.2")

    says: Turn = ("consumer", [refusal(VIOLATION, "a frame out of order")])
    stops = cancel("stopped", "stopped by SIGTERM")
    yield one("cancelled", "stopped", "The producer gives up among its blocks", *OPENING, ("producer", [*HALF[1], stops]), word="cancelled")
    yield one("cancelled_instead_of_manifest", "bad-store", "The producer gives up before its manifest", CONSUMER_STARTS, ("producer", [preamble(), frame(WORKING), cancel("bad-store", "quick_check found damage in the copy")]), word="cancelled")
    yield one("cancelled_between", "stopped", "The producer is stopped between two shipments: the one before stays installed", *OPENING, SENDS, RECEIVED, ("producer", [stops]), word="cancelled", shipments=THERE)
    yield one("cancelled_second", "stopped", "The producer is stopped in the second shipment: the one before stays installed", *OPENING, SENDS, RECEIVED, *NEXT[:2], ("producer", [stops]), word="cancelled", shipments=THERE)
    yield one("manifest_twice", VIOLATION, "A second manifest instead of parts", *OPENING, ("producer", [GOOD_MANIFEST]), says)
    yield one("part_instead_of_manifest", VIOLATION, "A part before the manifest", CONSUMER_STARTS, ("producer", [preamble(), *STORE_IN_BLOCKS]), says)
    yield one("part_before_answer", VIOLATION, "A part before ANSWER", CONSUMER_STARTS, ("producer", [preamble(), GOOD_MANIFEST, *STORE_IN_BLOCKS]), says)
    yield one("part_after_receipt", VIOLATION, "A part after the receipt", *OPENING, SENDS, RECEIVED, ("producer", STORE_IN_BLOCKS), says, shipments=THERE)
    yield one("end_before_manifest", VIOLATION, "END of the session before any shipment", CONSUMER_STARTS, ("producer", [preamble(), frame(END)]), says)
    yield one("part_after_refusal", VIOLATION, "A part of a shipment that was refused instead of ANSWER", CONSUMER_STARTS, ("producer", [preamble(), NEEDS]), refuses("feature-not-supported"), ("producer", STORE_IN_BLOCKS), says, shipments=ended("refused feature-not-supported"))
    yield one("producer_leaves", VIOLATION, "The link ends among the blocks", *OPENING, HALF)
    yield one("producer_leaves_at_once", VIOLATION, "The link ends after the greeting, and there was no shipment", CONSUMER_STARTS, ("producer", [preamble()]))
    yield one("producer_leaves_before_parts", VIOLATION, "The link ends after ANSWER", *OPENING)
    yield one("producer_leaves_second", VIOLATION, "The link ends in the second shipment: the one before stays installed", *OPENING, SENDS, RECEIVED, *NEXT[:2], shipments=THERE)
    yield one("required_frame", "unknown-frame", "A required frame that is not known ends the session", *OPENING, SENDS, RECEIVED, ("producer", [frame(0x7F)]), ("consumer", [refusal("unknown-frame", "frame 0x7F")]), shipments=THERE)
    crc: Turn = ("producer", [*STORE_IN_BLOCKS, frame(END, flip=1)])
    yield one("damaged_frame", "damaged", "A wrong CRC-32 ends the session", *OPENING, crc, ("consumer", [refusal("damaged", "a CRC-32 is wrong")]))
    named = message(MANIFEST, manifest(name="../Recipes"))
    yield one("bad_manifest", "bad-manifest", "A manifest that breaks a rule ends the session", CONSUMER_STARTS, ("producer", [preamble(), named]), ("consumer", [refusal("bad-manifest", "the name is a path")]))
    yield one("unknown_encoding", "feature-not-supported", "A part in an encoding that is not in the registry", *OPENING, ("producer", [part_frame(0, 9)]), ("consumer", [refusal("feature-not-supported", "encoding 9")]))

    def shipment_fails(name: str, code: str, about: str, *turns: Turn) -> Vector:
        return dialogue(name, about, DONE, *turns, refuses(code), shipments=ended(f"refused {code}"), covers="5.4, 6.2")

    yield shipment_fails("requires_feature", "feature-not-supported", "A manifest that requires what the consumer does not know", CONSUMER_STARTS, ("producer", [preamble(), NEEDS]))
    other = RECIPES_STORE.with_bytes(1023, b"!").data
    yield shipment_fails("wrong_digest", "damaged", "The store is not the one of the manifest", *OPENING, ("producer", [*blocks(other, forms=(STORED,)), frame(END)]))
    wrong = frame(DATA, data(block(1024, ZLIB, compressed(RECIPES_STORE.data, flip=1))))
    yield shipment_fails("wrong_adler", "damaged", "A block that does not decode", *OPENING, ("producer", [part_frame(), wrong, frame(END)]))
    members = core_data_manifest(externalFiles=[external("_EXTERNAL_DATA", PHOTO_UUID, PHOTO) | {"sha256": "0" * 64}])
    files: Turn = ("producer", [*blocks(CORE_DATA_STORE.data), *blocks(PHOTO, index=1), frame(END)])
    yield shipment_fails("wrong_digest_of_external_file", "damaged", "An external file is not the one of the manifest: there is no other encoding in which to want it", CONSUMER_STARTS, ("producer", [preamble(), message(MANIFEST, members)]), ANSWERS, files)


def producer_fails() -> Iterator[Vector]:
    def one(name: str, code: str, about: str, *turns: Turn, shipments: list[Detail] | None = None) -> Vector:
        return dialogue(name, about, [("producer", f"failed {code}")], *turns, shipments=shipments, covers="6.1")

    bad_message = "bad-manifest"
    says: Turn = ("producer", [cancel(VIOLATION, "a frame out of order")])
    opens: Turn = ("producer", [preamble()])

    def after_end(name: str, code: str, about: str, members: Members) -> Vector:
        return one(name, code, about, *OPENING, SENDS, ("consumer", [message(RECEIPT, members)]))

    no_software: Turn = ("consumer", [preamble(role=CONSUMER), message(HELLO, {"encodings": ["blocks"]})])
    yield one("bad_hello", bad_message, "A HELLO that breaks a rule", opens, no_software, ("producer", [cancel(bad_message, "software is missing")]))
    yield one("hello_twice", VIOLATION, "HELLO instead of an answer to the manifest", CONSUMER_STARTS, PRODUCER_STARTS, ("consumer", [GREETING]), says)
    yield one("answer_before_manifest", VIOLATION, "ANSWER instead of HELLO", opens, ("consumer", [preamble(role=CONSUMER), *ANSWERS[1]]), says)
    yield one("answer_to_nothing", VIOLATION, "ANSWER after HELLO, with no manifest to answer", opens, CONSUMER_STARTS, ANSWERS, says)
    yield one("answer_twice", VIOLATION, "ANSWER again among the blocks", *OPENING, HALF, ANSWERS, says)
    yield one("answer_after_receipt", VIOLATION, "ANSWER after the receipt", *OPENING, SENDS, RECEIVED, ANSWERS, says, shipments=THERE)
    yield one("answer_after_refusal", VIOLATION, "ANSWER after the REFUSAL of the shipment", CONSUMER_STARTS, PRODUCER_STARTS, refuses("busy"), ANSWERS, says, shipments=ended("refused busy"))
    yield one("installed_without_parts", VIOLATION, "A receipt that says installed before any part was sent", CONSUMER_STARTS, PRODUCER_STARTS, RECEIVED, says)
    yield one("receipt_before_end", VIOLATION, "A receipt that says installed before END was sent", *OPENING, HALF, RECEIVED, says)
    yield one("receipt_twice", VIOLATION, "A receipt once more", *OPENING, SENDS, RECEIVED, RECEIVED, says, shipments=THERE)
    yield after_end("unchanged_after_end", VIOLATION, "A receipt that says unchanged after all parts were sent", receipt(outcome="unchanged"))
    yield after_end("receipt_of_another_store", bad_message, "A receipt with another name than the manifest's", receipt(name="Drinks"))
    yield after_end("receipt_of_another_digest", "damaged", "A receipt with another digest than the manifest's", receipt(CORE_DATA_STORE))
    first_receipt = (*OPENING, SENDS, RECEIVED, *NEXT[:3], RECEIVED)
    yield one("receipt_of_shipment_before", bad_message, "The receipt of the shipment before once more, for the second", *first_receipt, shipments=THERE)
    yield one("refusal_of_no_shipment", VIOLATION, "REFUSAL of a shipment before there is one", opens, CONSUMER_STARTS, refuses("busy"), says)
    yield one("refusal_instead_of_hello", VIOLATION, "REFUSAL of a shipment instead of HELLO", opens, ("consumer", [preamble(role=CONSUMER), *refuses("busy")[1]]), says)
    yield one("refusal_after_receipt", VIOLATION, "REFUSAL of a shipment that has its receipt", *OPENING, SENDS, RECEIVED, refuses("busy"), says, shipments=THERE)
    yield one("refusal_twice", VIOLATION, "REFUSAL of a shipment once more", CONSUMER_STARTS, PRODUCER_STARTS, refuses("busy"), refuses("busy"), says, shipments=ended("refused busy"))
    yield one("refusal_ends_other", bad_message, "A REFUSAL that ends neither", CONSUMER_STARTS, PRODUCER_STARTS, ("consumer", [refusal("busy", "later", "world")]), ("producer", [cancel(bad_message, "ends is neither")]))
    yield one("consumer_sends_parts", VIOLATION, "A consumer that sends parts", CONSUMER_STARTS, PRODUCER_STARTS, ("consumer", STORE_IN_BLOCKS), says)
    yield one("consumer_leaves", VIOLATION, "The link ends before the receipt: nobody knows whether it is installed", *OPENING, SENDS)
    yield one("consumer_leaves_in_receipt", VIOLATION, "The link ends inside the receipt", *OPENING, SENDS, ("consumer", [RECEIPT_OF_STORE[:-1]]))
    yield one("consumer_leaves_second", VIOLATION, "The link ends before the second receipt: the first counts", *OPENING, SENDS, RECEIVED, *NEXT[:3], shipments=THERE)
    yield one("consumer_leaves_after_cancel", VIOLATION, "The link ends before the last word on a shipment that was given up", *OPENING, HALF, gives_up("stopped"))
    yield one("unknown_frame", "unknown-frame", "A required frame that is not known", opens, ("consumer", [preamble(role=CONSUMER), frame(0x7F)]), ("producer", [cancel("unknown-frame", "frame 0x7F")]))
    yield one("damaged_hello", "damaged", "A HELLO with a wrong CRC-32", opens, ("consumer", [preamble(role=CONSUMER), message(HELLO, HELLO_MEMBERS, flip=1)]), ("producer", [cancel("damaged", "a CRC-32 is wrong")]))
