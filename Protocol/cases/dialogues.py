"""Whole two-way sessions (section 6), turn by turn.

A turn is what one side sends before the other one's next turn matters. Where a side fails, only that side's end is
stated: what the other one makes of it is its own affair.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from cases.streams import GOOD_MANIFEST, blocks
from encoder.piece import Pieces, text
from encoder.samples import (
    CORE_DATA_STORE, HELLO_MEMBERS, PHOTO, RECIPES_STORE, Members, core_data_manifest, manifest, receipt, word,
)  # fmt: skip
from encoder.vector import Detail, Vector
from encoder.wire import (
    ACCEPT, BLOCK, CANCEL, CONSUMER, END, HELLO, MANIFEST, RECEIPT, REFUSAL, STORED, WORKING,
    block, frame, message, preamble,
)  # fmt: skip

Turn = tuple[str, list[Pieces]]

GREETING = message(HELLO, HELLO_MEMBERS)
CONSUMER_STARTS: Turn = ("consumer", [preamble(role=CONSUMER), GREETING])
PRODUCER_STARTS: Turn = ("producer", [preamble(), GOOD_MANIFEST])
ACCEPTS: Turn = ("consumer", [message(ACCEPT, {})])
SENDS: Turn = ("producer", [*blocks(RECIPES_STORE.data, size=512), frame(END)])
RECEIPT_OF_STORE = message(RECEIPT, receipt())


def refusal(code: str, why: str) -> Pieces:
    return message(REFUSAL, word(code, why))


def cancel(code: str, why: str) -> Pieces:
    return message(CANCEL, word(code, why))


def dialogue(name: str, about: str, ends: list[Detail], *turns: Turn, error: str | None = None, details: list[Detail] | None = None, covers: str = "6") -> Vector:
    sections = [(side, [piece for pieces in frames for piece in pieces]) for side, frames in turns]
    return Vector(f"dialogue_{name}", about, covers, "dialogue", error, ends + (details or []), sections)


DONE = [("producer", "done"), ("consumer", "done")]


def parts(*contents: bytes | None) -> list[Detail]:
    """What the consumer has in the end; None is a part that it skipped."""
    lines: list[Detail] = []
    for index, content in enumerate(contents):
        if content is None:
            lines.append(("part", f"{index} skipped"))
        else:
            lines.append(("part", f"{index} {len(content)} {hashlib.sha256(content).hexdigest()}"))
    return lines


def vectors() -> Iterator[Vector]:
    yield from good()
    yield from versions_and_roles()
    yield from refused()
    yield from consumer_fails()
    yield from producer_fails()


def good() -> Iterator[Vector]:
    store = parts(RECIPES_STORE.data)
    yield dialogue("installed", "A shipment is installed", DONE, CONSUMER_STARTS, PRODUCER_STARTS, ACCEPTS, SENDS, ("consumer", [RECEIPT_OF_STORE]), details=[("outcome", "installed"), *store])
    knows = HELLO_MEMBERS | {"holds": [{"name": "Recipes", "generation": 4, "sha256": RECIPES_STORE.digest}]}
    unchanged = message(RECEIPT, receipt(outcome="unchanged", generation=4))
    yield dialogue("unchanged", "What is current already is not sent again", DONE, ("consumer", [preamble(role=CONSUMER), message(HELLO, knows)]), PRODUCER_STARTS, ("consumer", [unchanged]), details=[("outcome", "unchanged")])
    core_data = message(MANIFEST, core_data_manifest())
    core_receipt = message(RECEIPT, receipt(CORE_DATA_STORE))
    sends = [*blocks(CORE_DATA_STORE.data, size=1024), frame(END)]
    yield dialogue("skip", "The consumer has an external file already, and its blocks are not sent", DONE, CONSUMER_STARTS, ("producer", [preamble(), core_data]), ("consumer", [message(ACCEPT, {"skip": [1]})]), ("producer", sends), ("consumer", [core_receipt]), details=[("outcome", "installed"), *parts(CORE_DATA_STORE.data, None, b"")], covers="3.3, 5.2, 6")
    everything = message(ACCEPT, {"skip": [0, 1, 2]})
    yield dialogue("skip_everything", "The consumer has every part, but no generation of just these: END follows at once", DONE, CONSUMER_STARTS, ("producer", [preamble(), core_data]), ("consumer", [everything]), ("producer", [frame(END)]), ("consumer", [core_receipt]), details=[("outcome", "installed"), *parts(None, None, None)], covers="3.3, 5.2, 6")
    later = frame(0x90, text("of a later version"))
    busy = [frame(WORKING), later]
    yield dialogue(
        "optional_frames", "WORKING and optional frames that are not known, everywhere, from both sides", DONE,
        ("consumer", [preamble(role=CONSUMER), *busy, GREETING, *busy]),
        ("producer", [preamble(), *busy, GOOD_MANIFEST, *busy]),
        ("consumer", [*busy, *ACCEPTS[1], *busy]),
        ("producer", [*blocks(RECIPES_STORE.data, size=512), *busy, frame(END), *busy]),
        ("consumer", [*busy, RECEIPT_OF_STORE]),
        details=[("outcome", "installed"), *store],
    )  # fmt: skip
    first: Turn = ("producer", [preamble()])
    yield dialogue("producer_first", "Neither waits for the other's preamble: here the producer's comes first", DONE, first, CONSUMER_STARTS, ("producer", [GOOD_MANIFEST]), ACCEPTS, SENDS, ("consumer", [RECEIPT_OF_STORE]), details=[("outcome", "installed"), *store])


def versions_and_roles() -> Iterator[Vector]:
    store = parts(RECIPES_STORE.data)
    newer = ("consumer", [preamble(3, 1, CONSUMER), GREETING])
    yield dialogue("newer_consumer", "A consumer that speaks versions 1 to 3 goes on in version 1", DONE, newer, PRODUCER_STARTS, ACCEPTS, SENDS, ("consumer", [RECEIPT_OF_STORE]), details=[("outcome", "installed"), *store], covers="3.1, 6")
    error = "version-not-supported"
    yield dialogue("consumer_too_new", "A consumer that speaks version 2 alone", [("producer", f"failed {error}")], ("consumer", [preamble(2, 2, CONSUMER), GREETING]), ("producer", [preamble(), cancel(error, "the consumer speaks version 2 alone")]), error=error, covers="3.1, 7")
    yield dialogue("producer_too_new", "A producer that speaks versions 2 to 3", [("consumer", f"failed {error}")], CONSUMER_STARTS, ("producer", [preamble(3, 2)]), ("consumer", [refusal(error, "the producer speaks version 2 at least")]), error=error, covers="3.1, 7")
    violation = "protocol-violation"
    yield dialogue("two_producers", "Two producers meet", [("producer", f"failed {violation}")], ("producer", [preamble()]), ("other producer", [preamble()]), ("producer", [cancel(violation, "the other side is a producer too")]), error=violation, covers="3.1")
    yield dialogue("two_consumers", "Two consumers meet", [("consumer", f"failed {violation}")], CONSUMER_STARTS, ("other consumer", CONSUMER_STARTS[1]), ("consumer", [refusal(violation, "the other side is a consumer too")]), error=violation, covers="3.1")


def refused() -> Iterator[Vector]:
    def one(name: str, code: str, about: str, *turns: Turn) -> Vector:
        return dialogue(name, about, [("producer", f"refused {code}")], *turns, error=code, covers="5.4, 6.1")

    yield one("refused_at_once", "busy", "The consumer refuses after the preamble", CONSUMER_STARTS, ("producer", [preamble()]), ("consumer", [refusal("busy", "try again in a minute")]))
    yield one("refused_without_hello", "not-trusted", "The consumer refuses instead of a HELLO", ("producer", [preamble()]), ("consumer", [preamble(role=CONSUMER), refusal("not-trusted", "this producer is not known here")]))
    yield one("refused_manifest", "no-space", "The consumer refuses the manifest", CONSUMER_STARTS, PRODUCER_STARTS, ("consumer", [refusal("no-space", "there is no room: free 12 MB and send again")]))
    for code, about, why in [
        ("wrong-model", "The consumer's reader cannot open a store of this model", "the model differs: Photo is another, Tag is missing"),
        ("wrong-schema", "The consumer's reader does not take this schema", "user_version is 8, not 5 to 7"),
        ("too-large", "The shipment is larger than the consumer's operator allows", "the store has 20000000 bytes; at most 10000000 are allowed"),
        ("rolled-back", "The consumer's operator went back from this very store", "generation 7 was rolled back; --allow-again there lifts that"),
        ("other-store", "The consumer holds another store under that name", "another store is there under the name Recipes"),
    ]:  # fmt: skip
        yield one(f"refused_{code.replace('-', '_')}", code, about, CONSUMER_STARTS, PRODUCER_STARTS, ("consumer", [refusal(code, why)]))
    half: Turn = ("producer", SENDS[1][:1])
    yield one("refused_among_blocks", "no-space", "The consumer refuses while blocks come", CONSUMER_STARTS, PRODUCER_STARTS, ACCEPTS, half, ("consumer", [refusal("no-space", "the disk is full")]))
    yield one("refused_after_end", "bad-store", "The consumer refuses when it has verified", CONSUMER_STARTS, PRODUCER_STARTS, ACCEPTS, SENDS, ("consumer", [frame(WORKING), refusal("bad-store", "quick_check found damage")]))
    yield one("refused_probe_failed", "probe-failed", "The store does not answer as the consumer's operator demands", CONSUMER_STARTS, PRODUCER_STARTS, ACCEPTS, SENDS, ("consumer", [frame(WORKING), refusal("probe-failed", "the probe SELECT count(*) FROM recipe gave 0")]))
    yield one("refused_unknown_code", "full-moon", "A refusal for a reason that has no known code", CONSUMER_STARTS, PRODUCER_STARTS, ("consumer", [refusal("full-moon", "not tonight")]))


def consumer_fails() -> Iterator[Vector]:
    def one(name: str, code: str, about: str, *turns: Turn, word: str = "failed") -> Vector:
        return dialogue(name, about, [("consumer", f"{word} {code}")], *turns, error=code, covers="6.2")

    violation = "protocol-violation"
    half: Turn = ("producer", SENDS[1][:1])
    says = ("consumer", [refusal(violation, "a frame out of order")])
    yield one("cancelled", "stopped", "The producer gives up among its blocks", CONSUMER_STARTS, PRODUCER_STARTS, ACCEPTS, ("producer", [*half[1], cancel("stopped", "stopped by SIGTERM")]), word="cancelled")
    yield one("cancelled_instead_of_manifest", "bad-store", "The producer gives up before its manifest", CONSUMER_STARTS, ("producer", [preamble(), frame(WORKING), cancel("bad-store", "quick_check found damage in the copy")]), word="cancelled")
    core_data = message(MANIFEST, core_data_manifest())
    sends: Turn = ("producer", [*blocks(CORE_DATA_STORE.data), *blocks(PHOTO, part=1), frame(END)])
    yield one("block_of_skipped_part", violation, "A block of a part that the consumer skips", CONSUMER_STARTS, ("producer", [preamble(), core_data]), ("consumer", [message(ACCEPT, {"skip": [1]})]), sends, says)
    yield one("manifest_twice", violation, "A second manifest instead of blocks", CONSUMER_STARTS, PRODUCER_STARTS, ACCEPTS, ("producer", [GOOD_MANIFEST]), says)
    yield one("block_instead_of_manifest", violation, "A block before the manifest", CONSUMER_STARTS, ("producer", [preamble(), *blocks(RECIPES_STORE.data)]), says)
    yield one("producer_leaves", violation, "The link ends among the blocks", CONSUMER_STARTS, PRODUCER_STARTS, ACCEPTS, half)
    yield one("requires_feature", "feature-not-supported", "A manifest that requires what the consumer does not know", CONSUMER_STARTS, ("producer", [preamble(), message(MANIFEST, manifest(requires=["time-travel"]))]), ("consumer", [refusal("feature-not-supported", "time-travel")]))
    unknown = frame(BLOCK, block(0, 0, 1024, 9, b"what is this"))
    yield one("unknown_encoding", "feature-not-supported", "A block in an encoding that is not in the registry", CONSUMER_STARTS, PRODUCER_STARTS, ACCEPTS, ("producer", [unknown]), ("consumer", [refusal("feature-not-supported", "encoding 9")]))
    damage = [block(0, 0, 1024, STORED, RECIPES_STORE.with_bytes(1023, b"!").data)]
    yield one("wrong_digest", "damaged", "The store is not the one of the manifest", CONSUMER_STARTS, PRODUCER_STARTS, ACCEPTS, ("producer", [frame(BLOCK, damage[0]), frame(END)]), ("consumer", [refusal("damaged", "the store's SHA-256 is another")]))


def producer_fails() -> Iterator[Vector]:
    def one(name: str, code: str, about: str, *turns: Turn) -> Vector:
        return dialogue(name, about, [("producer", f"failed {code}")], *turns, error=code, covers="6.1")

    violation, bad_message = "protocol-violation", "bad-manifest"
    says = ("producer", [cancel(violation, "a frame out of order")])
    opens: Turn = ("producer", [preamble()])

    def after_end(name: str, code: str, about: str, members: Members) -> Vector:
        return one(name, code, about, CONSUMER_STARTS, PRODUCER_STARTS, ACCEPTS, SENDS, ("consumer", [message(RECEIPT, members)]))

    no_zlib = message(HELLO, HELLO_MEMBERS | {"encodings": ["stored"]})
    yield one("hello_lacks_zlib", bad_message, "A consumer that does not decode what every consumer decodes", opens, ("consumer", [preamble(role=CONSUMER), no_zlib]), ("producer", [cancel(bad_message, "encodings lacks zlib")]))
    yield one("hello_twice", violation, "HELLO instead of an answer to the manifest", CONSUMER_STARTS, PRODUCER_STARTS, ("consumer", [GREETING]), says)
    yield one("accept_before_manifest", violation, "ACCEPT instead of HELLO", opens, ("consumer", [preamble(role=CONSUMER), *ACCEPTS[1]]), says)
    yield one("accept_twice", violation, "ACCEPT again among the blocks", CONSUMER_STARTS, PRODUCER_STARTS, ACCEPTS, ("producer", SENDS[1][:1]), ACCEPTS, says)
    yield one("accept_no_such_part", bad_message, "A part to skip that the manifest does not have", CONSUMER_STARTS, PRODUCER_STARTS, ("consumer", [message(ACCEPT, {"skip": [1]})]), ("producer", [cancel(bad_message, "there is no part 1")]))
    yield one("installed_without_blocks", violation, "A receipt that says installed before any block was sent", CONSUMER_STARTS, PRODUCER_STARTS, ("consumer", [RECEIPT_OF_STORE]), says)
    yield one("receipt_before_end", violation, "A receipt that says installed before END was sent", CONSUMER_STARTS, PRODUCER_STARTS, ACCEPTS, ("producer", SENDS[1][:1]), ("consumer", [RECEIPT_OF_STORE]), says)
    yield after_end("unchanged_after_end", violation, "A receipt that says unchanged after all parts were sent", receipt(outcome="unchanged"))
    yield after_end("receipt_of_another_store", bad_message, "A receipt with another name than the manifest's", receipt() | {"name": "Drinks"})
    yield after_end("receipt_of_another_digest", "damaged", "A receipt with another digest than the manifest's", receipt(CORE_DATA_STORE))
    yield one("consumer_sends_block", violation, "A consumer that sends blocks", CONSUMER_STARTS, PRODUCER_STARTS, ("consumer", blocks(RECIPES_STORE.data)), says)
    yield one("consumer_leaves", violation, "The link ends before the receipt: nobody knows whether it is installed", CONSUMER_STARTS, PRODUCER_STARTS, ACCEPTS, SENDS)
    yield one("consumer_leaves_in_receipt", violation, "The link ends inside the receipt", CONSUMER_STARTS, PRODUCER_STARTS, ACCEPTS, SENDS, ("consumer", [RECEIPT_OF_STORE[:-1]]))
    yield one("unknown_frame", "unknown-frame", "A required frame that is not known", opens, ("consumer", [preamble(role=CONSUMER), frame(0x7F)]), ("producer", [cancel("unknown-frame", "frame 0x7F")]))
    yield one("damaged_hello", "damaged", "A HELLO with a wrong CRC-32", opens, ("consumer", [preamble(role=CONSUMER), message(HELLO, HELLO_MEMBERS, flip=1)]), ("producer", [cancel("damaged", "a CRC-32 is wrong")]))
