"""ANSWER and RECEIPT that refer to the manifest that they answer (section 3.5)."""

from __future__ import annotations

from collections.abc import Iterator

from cases.dialogues import (
    CONSUMER_STARTS, DONE, NEXT_INSTALLED, NEXT_OFFERED, NEXT_SENT, PRODUCER_STARTS, SENDS, THERE, Turn, cancel, dialogue, held, holds,
)  # fmt: skip
from cases.packed_messages import differing, padded
from encoder.deflate import DeflateStream, Token, matched
from encoder.piece import Pieces, compact_json, text
from encoder.samples import EMPTY_STORE, HELD, HELLO_MEMBERS, RECIPES_STORE, Content, Members, content_of, manifest, receipt
from encoder.vector import Vector, values
from encoder.wire import (
    ANSWER, CONSUMER, HELLO, MESSAGE_LIMIT, RECEIPT, WINDOW, answer_json, deflated_json, frame, message, message_dictionary, preamble,
)  # fmt: skip

WANTS: Members = {"wants": [{"part": 0, "base": RECIPES_STORE.digest}]}
OTHER = content_of(manifest(metadata={"model": "3"}))
LONG = content_of(manifest(metadata={f"key-{number}": f"{number} " * 200 for number in range(64)}))
MESSAGES: dict[str, tuple[str, Members]] = {"answer": ("5.2", WANTS), "receipt": ("5.3", receipt())}


def window(answered: Content, base: Content | None = None) -> bytes:
    return (message_dictionary() + (base.json if base else b"") + answered.json)[-WINDOW:]


def packed(members: Members, answered: Content = HELD, base: Content | None = None) -> bytes:
    """A stream whose window begins as all that an answer may refer to."""
    return DeflateStream().fixed(matched(compact_json(members).encode(), window(answered, base))).finished()


def answering(kind: int, members: Members, answered: Content = HELD, base: Content | None = None) -> Pieces:
    return frame(kind, answer_json(packed(members, answered, base)))


def vectors() -> Iterator[Vector]:
    for kind in MESSAGES:
        yield from payloads(kind)
    how_3 = answer_json(packed(HELLO_MEMBERS))
    yield Vector("hello_packed_how_3", "A HELLO that would answer something", "3.5, 5.1", "hello", "bad-manifest", [], [("", how_3)])
    yield from sessions()


def payloads(kind: str) -> Iterator[Vector]:
    section, members = MESSAGES[kind]
    json = compact_json(members).encode()
    stream = packed(members)

    def one(name: str, error: str | None, about: str, payload: Pieces, answered: Content | None = HELD, base: Content | None = None) -> Vector:
        sections = [("", payload)]
        sections += [("held", text(base.json))] if base else []
        sections += [("content", text(answered.json))] if answered else []
        return Vector(f"{kind}_packed_over_{name}", about, f"3.5, {section}", kind, error, [] if error else values(members), sections)

    def tokens(*first: Token) -> Pieces:
        return answer_json(DeflateStream().fixed([*first, *json]).finished())

    far = len(message_dictionary() + HELD.json)
    yield one("manifest", None, "With matches into the manifest that is answered", answer_json(stream))
    yield one("manifest_and_base", None, "With matches into what the manifest differs from as well", answer_json(packed(members, HELD, OTHER)), HELD, OTHER)
    yield one("manifest_no_match", None, "Without any match", answer_json(DeflateStream().fixed([*json]).finished()))
    yield one("manifest_long", None, "The manifest is longer than a window: its last 32,768 bytes are", answer_json(packed(members, LONG)), LONG)
    yield one("manifest_long_base", None, "What it differs from is longer than a window: its last bytes and the manifest are", answer_json(packed(members, HELD, LONG)), HELD, LONG)
    yield one("manifest_not_looked_at", None, "The manifest is there, and the message refers to the dictionary alone", deflated_json(DeflateStream().fixed([*json]).finished()))
    yield one("nothing", "bad-manifest", "There is no manifest that it could answer", answer_json(stream), None)
    yield one("manifest_first_byte", "bad-manifest", "A match that reaches the dictionary's first byte; what it comes to is no JSON", tokens((3, far)))
    yield one("manifest_before_dictionary", "damaged", "A match that reaches one byte before the dictionary", tokens((3, far + 1)))
    yield one("manifest_cut", "damaged", "The stream ends early", answer_json(stream[:-1]))
    yield one("manifest_trailing_byte", "damaged", "A byte after the stream", answer_json(stream + b"\0"))
    yield one("manifest_no_stream", "damaged", "No stream", answer_json(b""))
    yield one("manifest_block_type", "damaged", "A deflate block of the reserved type 3", answer_json(b"\7"))
    yield one("manifest_at_limit", None, "262,144 bytes of JSON", answer_json(padded(MESSAGE_LIMIT, json)))
    yield one("manifest_over_limit", "protocol-violation", "262,145 bytes of JSON: stop there", answer_json(padded(MESSAGE_LIMIT + 1, json)))
    how_4 = answer_json(stream)
    how_4[0] = type(how_4[0])(b"\4", "4, which is not known")
    yield one("manifest_how_4", "bad-manifest", "Packed in a way that is not known", how_4)


def sessions() -> Iterator[Vector]:
    covers = "3.5, 5.2, 5.3, 6"
    everything: Members = {"wants": [{"part": 0}]}
    answers: Turn = ("consumer", [answering(ANSWER, everything)])
    received: Turn = ("consumer", [answering(RECEIPT, receipt())])
    yield dialogue("packed_answers", "ANSWER and RECEIPT refer to the manifest", DONE, CONSUMER_STARTS, PRODUCER_STARTS, answers, SENDS, received, shipments=THERE, covers=covers)
    then: Turn = ("producer", [preamble(), differing(OTHER, manifest())])
    both = [("consumer", [answering(kind, members, HELD, OTHER)]) for kind, members in ((ANSWER, everything), (RECEIPT, receipt()))]
    yield dialogue("packed_answers_over_difference", "ANSWER and RECEIPT refer to the manifest, and to what that differs from", DONE, held(OTHER), holds(OTHER), then, both[0], SENDS, both[1], shipments=THERE, covers=covers)
    empty = content_of(manifest(EMPTY_STORE, "Empty"))
    next_one = [("consumer", [answering(kind, members, empty)]) for kind, members in ((ANSWER, everything), (RECEIPT, receipt(EMPTY_STORE, name="Empty")))]
    each = (then, both[0], SENDS, both[1], NEXT_OFFERED, next_one[0], NEXT_SENT, next_one[1])
    yield dialogue("packed_answers_to_each", "Each refers to its own manifest, whatever came before", DONE, held(OTHER), holds(OTHER), *each, shipments=THERE + NEXT_INSTALLED, covers=covers)
    unchanged: Turn = ("consumer", [answering(RECEIPT, receipt(outcome="unchanged", generation=4), HELD, HELD)])
    same: Turn = ("producer", [preamble(), differing(HELD, manifest())])
    yield dialogue("packed_unchanged", "What is current already: all that is said of it is known", DONE, held(HELD), holds(HELD), same, unchanged, shipments=[("shipment", "Recipes unchanged")], covers=covers)
    yield from wrong_sessions(then, covers)


def wrong_sessions(differs: Turn, covers: str) -> Iterator[Vector]:
    def fails(name: str, code: str, about: str, *turns: Turn) -> Vector:
        says: Turn = ("producer", [cancel(code, "an ANSWER that cannot be")])
        return dialogue(f"packed_answer_{name}", about, [("producer", f"failed {code}")], *turns, says, covers=covers)

    def answers(stream: bytes) -> Turn:
        return ("consumer", [frame(ANSWER, answer_json(stream))])

    start = (CONSUMER_STARTS, PRODUCER_STARTS)
    stream = packed({"wants": [{"part": 0}]})
    yield fails("cut", "damaged", "The stream ends early", *start, answers(stream[:-1]))
    yield fails("trailing_byte", "damaged", "A byte after the stream", *start, answers(stream + b"\0"))
    far = len(message_dictionary() + HELD.json) + 1
    beyond = DeflateStream().fixed([(3, far), *b"{}"]).finished()
    yield fails("before_dictionary", "damaged", "A match that reaches one byte before the dictionary", *start, answers(beyond))
    within = (held(OTHER), holds(OTHER), differs, answers(beyond))
    yield fails("not_json", "bad-manifest", "The same reaches into the dictionary where the manifest differs from another one; what it comes to is no JSON", *within)
    hello: Turn = ("consumer", [preamble(role=CONSUMER), frame(HELLO, answer_json(packed(HELLO_MEMBERS)))])
    yield fails("instead_of_hello", "bad-manifest", "A HELLO that would answer a manifest", ("producer", [preamble()]), hello)
