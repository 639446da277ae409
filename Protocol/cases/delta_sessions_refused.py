"""Deltas that break a rule of sections 3.3, 3.4 and 5.2."""

from __future__ import annotations

from collections.abc import Iterator

from cases.columns import rows
from cases.delta_sessions import (
    BASE, COVERS, CURRENT, FROM_BASE, GOOD, HOLDING, IN_COLUMNS, KEPT, NEW, NOT_IT, START, THERE, delta, now, offers, says_hello, sends, wants,
)  # fmt: skip
from cases.dialogues import DONE, VIOLATION, Turn, cancel, dialogue, refusal
from cases.streams import blocks, part_frame
from encoder.deflate import DeflateStream, matched
from encoder.piece import Pieces, binary, compact_json
from encoder.samples import manifest, receipt
from encoder.vector import Vector
from encoder.wire import (
    ANSWER, BLOCKS, COLUMNS, DELTA, MANIFEST, PART, RECEIPT, SEGMENT_LIMIT, SEGMENTS_OVERHEAD, difference_json, frame, message, message_dictionary, part,
    preamble,
)  # fmt: skip


def vectors() -> Iterator[Vector]:
    yield from by_consumer()
    yield from sizes()
    yield from manifests()
    yield from by_producer()


def wrong(name: str, about: str, *turns: Turn, code: str = VIOLATION) -> Vector:
    """What the consumer finds wrong."""
    says: Turn = ("consumer", [refusal(code, "that was not wanted")])
    return dialogue(f"delta_{name}", about, [("consumer", f"failed {code}")], *turns, says, covers=COVERS)


def by_consumer() -> Iterator[Vector]:
    first, *rest = GOOD

    def opened(name: str, about: str, answer: Turn, opening: Pieces, *frames: Pieces, code: str = VIOLATION) -> Vector:
        return wrong(name, about, *START, answer, sends(opening, *(frames or rest)), code=code)

    everything: Turn = ("consumer", [message(ANSWER, {})])
    yield opened("not_offered", "A delta over what is current, and the answer names no base", everything, first)
    yield opened("not_offered_by_name", "A delta, which is wanted by its name, and no base is named", wants(None, "delta", "columns"), first)
    yield opened("unwanted", "A delta, where columns are wanted and a base is named", wants(BASE, "columns"), first)
    yield opened("position", "Another position than 0", wants(), part_frame(0, DELTA, position=1))
    yield opened("anew_at_first", "A delta anew, and nothing before it", wants(), part_frame(0, DELTA, anew=True))
    plain = says_hello(now(CURRENT), encodings=["columns"])
    yield wrong("not_taken", "A delta for a consumer that does not take them, though it names a base", *HOLDING, plain, offers(NEW), wants(), sends(*GOOD), code="feature-not-supported")
    yield opened("twice", "A delta anew after a delta", wants(), first, *delta(FROM_BASE, anew=True))
    yield opened("twice_after_columns", "A delta, columns, and a delta once more", wants(), first, *rows(IN_COLUMNS, anew=True), *delta(FROM_BASE, anew=True))
    yield opened("without_anew", "A delta after columns, and not anew", wants(), *rows(IN_COLUMNS), *GOOD)
    yield opened("then_columns_without_anew", "Columns after a delta, and not anew", wants(), *GOOD, *rows(IN_COLUMNS))
    yield opened("after_last", "A segment after the last one", wants(), *GOOD, GOOD[1])
    yield opened("without_last", "END before the last of the segments", wants(), *delta(FROM_BASE, ends=False))
    asked = (*START, wants(), sends(*delta(NOT_IT)), wants(None, "columns", "blocks"))
    yield wrong("again", "The delta once more instead of the columns that were asked for", *asked, sends(*delta(FROM_BASE, anew=True)))
    yield wrong("again_without_anew", "The columns that were asked for, and not anew", *asked, sends(*rows(IN_COLUMNS)))
    named = (*START, wants(), sends(*blocks(BASE.data)), wants(BASE, "columns"))
    yield wrong("again_base_named", "A delta where columns are asked for, and a base is named", *named, sends(*delta(FROM_BASE, anew=True)))


def sizes() -> Iterator[Vector]:
    most = len(NEW.data) + SEGMENTS_OVERHEAD
    columns = (wants(None, "columns", "blocks"), sends(*rows(IN_COLUMNS, anew=True)))
    long = [binary(bytes(most - 1)), binary(b"!")]
    received: Turn = ("consumer", [message(RECEIPT, receipt(NEW, generation=3))])
    yield dialogue("delta_longest", "Segments that are 1,048,576 bytes longer than the store, though they make none", DONE, *START, wants(), sends(*delta(*long)), *columns, received, shipments=THERE, covers=COVERS)
    yield wrong("longer_than_store", "Segments that are 1,048,577 bytes longer than the store", *START, wants(), sends(*delta(binary(bytes(most)), binary(b"!"))))
    yield wrong("longest_segment", "The longest segment, of a store that is too small for it", *START, wants(), sends(*delta(binary(bytes(SEGMENT_LIMIT)))))


def manifests() -> Iterator[Vector]:
    """What a manifest may differ from (section 3.5), where generations are kept."""
    members = manifest(NEW)
    window = message_dictionary() + KEPT.content.json
    stream = DeflateStream().fixed(matched(compact_json(members).encode(), window)).finished()

    def offered(id: bytes) -> Turn:
        return ("producer", [preamble(), frame(MANIFEST, difference_json(id, stream))])

    short = KEPT.content.id[:4]
    yield wrong("manifest_not_named", "A manifest that differs from one that is held, and of which HELLO says nothing", *HOLDING, says_hello(now(CURRENT)), offered(KEPT.content.id), code="bad-manifest")
    yield wrong("manifest_same_start", "A manifest that differs from one that only begins as one that is kept", *HOLDING, says_hello(now(CURRENT, KEPT)), offered(short + bytes(12)), code="bad-manifest")
    yield wrong("manifest_start_alone", "A manifest that names what is kept as HELLO does, by its first digits", *HOLDING, says_hello(now(CURRENT, KEPT)), ("producer", [preamble(), frame(MANIFEST, difference_json(short, stream))]), code="bad-manifest")


def by_producer() -> Iterator[Vector]:
    def fails(name: str, about: str, *turns: Turn, code: str = VIOLATION) -> Vector:
        return dialogue(f"delta_{name}", about, [("producer", f"failed {code}")], *turns, covers=COVERS)

    leaves: Turn = ("consumer", [refusal("stopped", "whoever hears this has gone on")])
    unproven = (*START, wants(), sends(*delta(NOT_IT)))
    columns = (*START, wants(), sends(*rows(b"this is no segment")))
    yield fails("asked_again", "The consumer asks for the delta once more", *unproven, wants(BASE, "delta"), leaves)
    yield fails("asked_after_columns", "The consumer asks for a delta, which has not come, after columns", *columns, wants(BASE, "delta"), leaves)
    yield fails("asked_after_columns_without_base", "The same without a base", *columns, wants(None, "delta"), leaves)
    yield fails("asked_among_others", "The consumer asks for blocks, or for a delta", *columns, wants(BASE, "blocks", "delta"), leaves)
    yield fails("asked_for_base", "The consumer names a base after END, and no encoding", *columns, wants(BASE), leaves)
    bad: Turn = ("producer", [cancel("bad-manifest", "an ANSWER that cannot be")])
    odd: Turn = ("consumer", [message(ANSWER, {"wants": [{"part": 0, "base": BASE.digest[:32]}]})])
    yield fails("base_cut", "A base that is no digest", *START, odd, bad, code="bad-manifest")
    hello = says_hello({"name": "Recipes"})
    yield fails("holds_nothing", "A HELLO that says of a store neither what is current nor what is kept", ("producer", [preamble()]), hello, bad, code="bad-manifest")
    hello = says_hello(now(CURRENT) | {"kept": []})
    yield fails("keeps_nothing", "A HELLO that says that no generation is kept", ("producer", [preamble()]), hello, bad, code="bad-manifest")
