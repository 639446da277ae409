"""How the JSON of messages is packed (section 3.5)."""

from __future__ import annotations

from collections.abc import Iterator

from cases.dialogues import ANSWERS, CONSUMER_STARTS, DONE, RECEIVED, SENDS, THERE, dialogue, held, holds
from cases.streams import FINISH, blocks
from cases.streams import bad as bad_stream
from cases.streams import good as good_stream
from encoder.deflate import DeflateStream, Token, matched, wrapped
from encoder.piece import Pieces, binary, compact_json
from encoder.samples import HELD, HELLO_MEMBERS, RECIPES_STORE, Content, Members, content_of, core_data_manifest, manifest, receipt
from encoder.vector import Vector, values
from encoder.wire import (
    MANIFEST, MANIFEST_LIMIT, MESSAGE_LIMIT, RECEIPT, WINDOW,
    deflated_json, difference_json, frame, message, message_dictionary, preamble, stored_json,
)  # fmt: skip

MEMBERS = manifest()
JSON = compact_json(MEMBERS).encode()
BY_ZLIB = bytes.fromhex(
    # By deflate of zlib 1.2.13 at level 9 with the dictionary, once: dynamic Huffman codes, as real producers write them.
    "8dd3bd0a42310c86e17b711792344dd273198e6e4dd3829be028e7dead83e22f3a77f9c8f3f67c43d8f57638ceb59f82"
    "c02dcd26ca02bc40deffc535b17e729d1ebec9fdf09a34c055700803bb61ab24668aa4a4d886cca7e8debc564ec94291"
    "07217864ab01e69b47e68cf4d4007dc57b490753516221b317577dab26b90143509e130be3181d288164a9c4dec5ae83"
    "1d462411ea5ecba8d43a0c856c2d45b1cdba5e00"
)


def deflated(json: bytes) -> bytes:
    return DeflateStream().fixed(matched(json, message_dictionary())).finished()


def good(name: str, about: str, payload: Pieces, members: dict[str, object] = MEMBERS) -> Vector:
    return Vector(f"manifest_packed_{name}", about, "3.5", "manifest", None, values(members), [("", payload)])


def bad(name: str, error: str, about: str, payload: Pieces) -> Vector:
    return Vector(f"manifest_packed_{name}", about, "3.5", "manifest", error, [], [("", payload)])


def vectors() -> Iterator[Vector]:
    stream = deflated(JSON)
    yield good("stored", "The JSON as it is", stored_json(binary(JSON, "JSON")))
    yield good("deflate", "Fixed Huffman codes, with matches into the dictionary", deflated_json(stream))
    yield good("deflate_by_zlib", "Dynamic Huffman codes, with matches into the dictionary", deflated_json(BY_ZLIB))
    full = core_data_manifest()
    yield good("deflate_core_data", "A manifest with external files", deflated_json(deflated(compact_json(full).encode())), full)
    plain = DeflateStream().fixed(matched(JSON)).finished()
    yield good("deflate_no_match", "No match into the dictionary, which is there all the same", deflated_json(plain))
    first = len(message_dictionary())
    opening = DeflateStream().fixed([(2 + 26, first), *JSON[1:]]).finished()
    yield bad("deflate_first_byte", "bad-manifest", "A match that reaches the dictionary's first byte; what it comes to is no JSON", deflated_json(opening))
    before = DeflateStream().fixed([(3, first + 1), *JSON]).finished()
    yield bad("deflate_before_dictionary", "damaged", "A match that reaches one byte before the dictionary", deflated_json(before))
    yield bad("empty", "bad-manifest", "A MANIFEST without a payload", [])
    yield bad("how_3", "bad-manifest", "Packed in a way that is not known", binary(b"\3" + stream, "3, and a stream"))
    yield bad("how_json", "bad-manifest", "JSON without the byte before it", binary(JSON, "JSON"))
    yield bad("deflate_nothing", "damaged", "No stream", deflated_json(b""))
    yield bad("deflate_cut", "damaged", "The stream ends early", deflated_json(stream[:-1]))
    yield bad("deflate_trailing_byte", "damaged", "A byte after the stream", deflated_json(stream + b"\0"))
    yield bad("deflate_block_type", "damaged", "A deflate block of the reserved type 3", deflated_json(b"\7"))
    yield bad("deflate_zlib", "damaged", "A zlib stream, with its header", deflated_json(wrapped(plain, JSON)))
    yield good("deflate_at_limit", "4,194,304 bytes of JSON", deflated_json(padded(MANIFEST_LIMIT)))
    yield bad("deflate_over_limit", "protocol-violation", "4,194,305 bytes of JSON: stop there", deflated_json(padded(MANIFEST_LIMIT + 1)))
    yield from other_messages()
    yield from differences()
    payload = frame(MANIFEST, deflated_json(stream))
    yield good_stream("manifest_deflated", "A manifest that is deflated", [RECIPES_STORE.data], payload, *blocks(RECIPES_STORE.data), FINISH, covers="3.5, 6.2")


def padded(size: int, json: bytes = JSON) -> bytes:
    """The JSON with white space at its end."""
    spaces = size - len(json)
    tokens: list[Token] = [*json, 0x20, *[(258, 1)] * ((spaces - 1) // 258), *[0x20] * ((spaces - 1) % 258)]
    return DeflateStream().fixed(tokens).finished()


def other_messages() -> Iterator[Vector]:
    """HELLO, ANSWER and RECEIPT are packed in the same way; nothing but a manifest may be a difference."""
    messages: dict[str, tuple[str, Members]] = {
        "hello": ("5.1", HELLO_MEMBERS | {"encodings": ["columns"], "holds": [{"name": "Recipes", "manifest": HELD.id.hex()}]}),
        "answer": ("5.2", {"wants": [{"part": 0, "encodings": ["blocks"]}]}),
        "receipt": ("5.3", receipt()),
    }
    for kind, (section, members) in messages.items():
        covers = f"3.5, {section}"

        def good_one(name: str, about: str, payload: Pieces) -> Vector:
            return Vector(f"{kind}_packed_{name}", about, covers, kind, None, values(members), [("", payload)])

        def bad_one(name: str, error: str, about: str, payload: Pieces) -> Vector:
            return Vector(f"{kind}_packed_{name}", about, covers, kind, error, [], [("", payload)])

        json = compact_json(members).encode()
        stream = deflated(json)
        yield good_one("deflate", "Deflated, with matches into the dictionary", deflated_json(stream))
        yield bad_one("deflate_cut", "damaged", "The stream ends early", deflated_json(stream[:-1]))
        yield bad_one("deflate_trailing_byte", "damaged", "A byte after the stream", deflated_json(stream + b"\0"))
        yield bad_one("empty", "bad-manifest", "No payload", [])
        yield bad_one("how_json", "bad-manifest", "JSON without the byte before it", binary(json, "JSON"))
        yield bad_one("how_2", "bad-manifest", "A difference, which nothing but a manifest may be", difference_json(HELD.id, stream))
    json = compact_json(messages["answer"][1]).encode()
    at_limit, over_limit = (deflated_json(padded(MESSAGE_LIMIT + more, json)) for more in (0, 1))
    yield Vector("answer_packed_at_limit", "262,144 bytes of JSON", "3.5", "answer", None, values(messages["answer"][1]), [("", at_limit)])
    yield Vector("answer_packed_over_limit", "262,145 bytes of JSON: stop there", "3.5", "answer", "protocol-violation", [], [("", over_limit)])


def after(base: Content, members: Members) -> bytes:
    """A stream whose window begins as the dictionary and the base's content."""
    window = (message_dictionary() + base.json)[-WINDOW:]
    return DeflateStream().fixed(matched(compact_json(members).encode(), window)).finished()


def differing(base: Content, members: Members) -> Pieces:
    return frame(MANIFEST, difference_json(base.id, after(base, members)))


def differences() -> Iterator[Vector]:
    """Manifests that refer to what the consumer has said that it holds."""
    covers = "3.5, 4.11, 5.1, 6"
    later = MEMBERS | {"createdAt": "2026-11-21T07:00:00Z", "counter": 12}
    unchanged = ("consumer", [message(RECEIPT, receipt(outcome="unchanged", generation=4))])
    same = ("producer", [preamble(), differing(HELD, later)])
    yield dialogue(
        "difference_unchanged", "All that is new is when and as which shipment it was made", DONE, held(HELD), holds(HELD), same, unchanged,
        shipments=[("shipment", "Recipes unchanged")], covers=covers,
    )  # fmt: skip
    other = content_of(manifest(metadata={"model": "3"}))
    changed = ("producer", [preamble(), differing(other, later)])
    yield dialogue(
        "difference_installed", "A manifest that differs from what is held in more than that", DONE, held(other), holds(other), changed, ANSWERS, SENDS,
        RECEIVED, shipments=THERE, covers=covers,
    )  # fmt: skip
    long = content_of(manifest(metadata={f"key-{number}": f"{number} " * 200 for number in range(64)}))
    assert len(long.json) > WINDOW
    far = ("producer", [preamble(), differing(long, later)])
    yield dialogue(
        "difference_from_long", "What is held is longer than a window: its last 32,768 bytes are", DONE, held(long), holds(long), far, ANSWERS, SENDS,
        RECEIVED, shipments=THERE, covers=covers,
    )  # fmt: skip
    failed = [("consumer", "failed bad-manifest")]
    yield dialogue("difference_from_another", "A base that the consumer did not name", failed, held(other), holds(other), same, covers=covers)
    yield dialogue("difference_from_nothing", "A base, where the consumer has named none", failed, CONSUMER_STARTS, same, covers=covers)
    short = ("producer", [preamble(), frame(MANIFEST, difference_json(HELD.id[:15], b""))])
    yield dialogue("difference_short_id", "The payload ends inside the id", failed, held(HELD), holds(HELD), short, covers=covers)
    damaged = [("consumer", "failed damaged")]
    cut = ("producer", [preamble(), frame(MANIFEST, difference_json(HELD.id, after(HELD, later)[:-1]))])
    yield dialogue("difference_cut", "The stream ends early", damaged, held(HELD), holds(HELD), cut, covers=covers)
    before = DeflateStream().fixed([(3, len(message_dictionary() + HELD.json) + 1), *JSON]).finished()
    too_far = ("producer", [preamble(), frame(MANIFEST, difference_json(HELD.id, before))])
    yield dialogue("difference_before_dictionary", "A match that reaches one byte before the dictionary", damaged, held(HELD), holds(HELD), too_far, covers=covers)
    yield bad_stream("difference_one_way", "bad-manifest", "One way nobody has named a base", differing(HELD, later), *blocks(RECIPES_STORE.data), FINISH)
