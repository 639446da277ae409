"""Sessions in which a store is shipped again: later manifests refer to what the session has installed (sections 3.5 and 5.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from cases.delta import LAST, REST, SKIP, numbers, stored
from cases.delta_sessions import BASE, CHANGED, CURRENT, FRONT, GOOD, NEW, TAKES, now, received, says_hello, sends, store_of, wants
from cases.dialogues import DONE, Turn, dialogue, refuses
from cases.packed_messages import differing
from cases.streams import blocks, ended, installed, part_frame
from encoder import segment as s
from encoder.deflate import DeflateStream, matched
from encoder.piece import Pieces, binary, compact_json, joined
from encoder.samples import HELLO_MEMBERS, Content, Members, content_of, manifest, receipt
from encoder.sqlite_file import StoreFile
from encoder.vector import Vector
from encoder.wire import (
    ANSWER, CONSUMER, DATA, DELTA, END, HELLO, MANIFEST, RECEIPT, data, deflated_json, frame, message, message_dictionary, preamble,
)  # fmt: skip

COVERS = "3.5, 5.1, 5.3, 6.1"
ROOM = 262_144
LAST_STORE = store_of(CHANGED[1:])
SKIPS_FIRST = stored(FRONT, numbers(LAST | REST | SKIP, 1), s.constant(0))
"""LAST_STORE over NEW: the first row goes."""
GREETS: Turn = ("consumer", [preamble(role=CONSUMER), message(HELLO, TAKES)])
GREETS_PLAINLY: Turn = ("consumer", [preamble(role=CONSUMER), message(HELLO, HELLO_MEMBERS)])
ALL: Turn = ("consumer", [message(ANSWER, {})])
LATER: Members = {"createdAt": "2026-11-21T07:00:00Z", "counter": 12}
UNCHANGED: Turn = ("consumer", [message(RECEIPT, receipt(NEW, outcome="unchanged", generation=3))])


def content(store: StoreFile, name: str = "Recipes") -> Content:
    return content_of(manifest(store, name))


def first(store: StoreFile = BASE, greets: Turn = GREETS) -> tuple[Turn, ...]:
    """A whole shipment, the first of the session."""
    return (greets, ("producer", [preamble(), message(MANIFEST, manifest(store))]), ALL, sends(*blocks(store.data)), received(store))


def whole(store: StoreFile, over: Content, name: str = "Recipes", generation: int = 4) -> tuple[Turn, ...]:
    """One whose manifest is a difference; its parts are not."""
    return (("producer", [differing(over, manifest(store, name))]), ALL, sends(*blocks(store.data)), received(store, generation, name))


def as_delta(segment: Pieces) -> Turn:
    found = joined(segment)
    return sends(part_frame(0, DELTA), frame(DATA, data(binary(found, f"a segment of {len(found)} bytes"), True)))


SECOND: tuple[Turn, ...] = (("producer", [differing(content(BASE), manifest(NEW))]), wants(BASE), sends(*GOOD), received(NEW))
THIRD: tuple[Turn, ...] = (("producer", [differing(content(NEW), manifest(LAST_STORE))]), wants(NEW), as_delta(SKIPS_FIRST), received(LAST_STORE, 4))
TWO = installed(BASE.data) + installed(NEW.data)


def vectors() -> Iterator[Vector]:
    def good(name: str, about: str, *turns: Turn, shipments: list[tuple[str, str]]) -> Vector:
        return dialogue(f"again_{name}", about, DONE, *turns, shipments=shipments, covers=COVERS)

    def bad(name: str, about: str, *turns: Turn, shipments: list[tuple[str, str]]) -> Vector:
        return dialogue(f"again_{name}", about, [("consumer", "failed bad-manifest")], *turns, shipments=shipments, covers=COVERS)

    yield good("delta", "The second shipment of a store differs from the first, and is a delta over it", *first(), *SECOND, shipments=TWO)
    yield good("delta_twice", "The third differs from the second", *first(), *SECOND, *THIRD, shipments=TWO + installed(LAST_STORE.data))
    same: Turn = ("producer", [differing(content(NEW), manifest(NEW) | LATER)])
    yield good("unchanged", "What the session has installed is offered again: it is current", *first(), *SECOND, same, UNCHANGED, shipments=TWO + ended("unchanged"))
    after_unchanged = (*first(), *SECOND, same, UNCHANGED, *THIRD)
    yield good("after_unchanged", "What has been unchanged stays what a manifest may refer to", *after_unchanged, shipments=TWO + ended("unchanged") + installed(LAST_STORE.data))
    hello = says_hello(now(CURRENT))
    over_first = (("producer", [differing(CURRENT.content, manifest(LAST_STORE))]), wants(BASE), sends(*blocks(LAST_STORE.data)), received(LAST_STORE, 4))
    over_hello = (*CURRENT.turns, hello, ("producer", [preamble(), *SECOND[0][1]]), *SECOND[1:], *over_first)
    yield good("what_hello_names", "What HELLO names stays at hand after a receipt", *over_hello, shipments=installed(NEW.data) + installed(LAST_STORE.data))
    drinks: tuple[Turn, ...] = (("producer", [message(MANIFEST, manifest(BASE, "Drinks"))]), ALL, sends(*blocks(BASE.data)), received(BASE, 1, "Drinks"))
    drunk = whole(NEW, content(BASE, "Drinks"), "Drinks", 2)
    eaten = whole(NEW, content(BASE), generation=2)
    stores = installed(BASE.data) + installed(BASE.data, name="Drinks") + installed(NEW.data) + installed(NEW.data, name="Drinks")
    yield good("two_stores", "Two stores in turns, each over its own last shipment", *first(BASE, GREETS_PLAINLY), *drinks, *eaten, *drunk, shipments=stores)
    across = (*first(), *drinks, *whole(NEW, content(BASE, "Drinks"), generation=2))
    yield good("another_store", "A manifest may differ from that of another store", *across, shipments=installed(BASE.data) + installed(BASE.data, name="Drinks") + installed(NEW.data))
    gone: Turn = ("producer", [differing(content(BASE), manifest(LAST_STORE))])
    yield bad("replaced", "Of a store the last shipment alone is kept: the one before is gone", *first(), *SECOND, gone, shipments=TWO)
    refused: tuple[Turn, ...] = (GREETS, ("producer", [preamble(), message(MANIFEST, manifest(BASE))]), refuses("busy"))
    yield bad("refused", "What was refused is not held", *refused, SECOND[0], shipments=ended("refused busy"))
    yield from room(good, bad)


Making = Callable[..., Vector]
LONG = "\1" * 1024
"""A value of metadata that takes six times its length in JSON."""


def of_size(size: int, name: str) -> Members:
    """A manifest whose content has this size."""

    def members(keys: int, filling: int) -> Members:
        fillings = {f"f{at}": "x" * max(0, min(1024, filling - 1024 * at)) for at in range(7)}
        return manifest(BASE, name, metadata=fillings | {f"k{number:02d}": LONG for number in range(keys)})

    of_a_key = len(content_of(members(2, 0)).json) - len(content_of(members(1, 0)).json)
    keys = (size - len(content_of(members(0, 0)).json)) // of_a_key
    found = members(keys, size - len(content_of(members(keys, 0)).json))
    assert len(content_of(found).json) == size
    return found


def room(good: Making, bad: Making) -> Iterator[Vector]:
    """How much both sides keep of what receipts have told."""

    def shipped(members: Members, over: Content | None = None, greets: bool = False) -> tuple[Turn, ...]:
        json = compact_json(members).encode()
        offer = differing(over, members) if over else frame(MANIFEST, deflated_json(DeflateStream().fixed(matched(json, message_dictionary())).finished()))
        turn: Turn = ("producer", [*([preamble()] if greets else []), offer])
        return (*((GREETS_PLAINLY,) if greets else ()), turn, ALL, sends(*blocks(BASE.data)), received(BASE, name=members["name"]))

    def sized(name: str) -> list[tuple[str, str]]:
        return installed(BASE.data, name=name)

    half = of_size(ROOM // 2, "Half")
    other, larger = of_size(ROOM // 2, "Other"), of_size(ROOM // 2 + 1, "Other")
    again = shipped(half | LATER, content_of(half))
    fits = (*shipped(half, greets=True), *shipped(other), again[0], ("consumer", [message(RECEIPT, receipt(BASE, outcome="unchanged", name="Half"))]))
    yield good("room", "Two contents that have 262,144 bytes together", *fits, shipments=sized("Half") + sized("Other") + [("shipment", "Half unchanged")])
    yield bad("no_room", "One byte more: the older one is gone", *shipped(half, greets=True), *shipped(larger), again[0], shipments=sized("Half") + sized("Other"))
    alone = of_size(ROOM + 1, "Alone")
    yield bad("no_room_alone", "A content that is too large is not kept", *shipped(alone, greets=True), shipped(alone | LATER, content_of(alone))[0], shipments=sized("Alone"))
    small = manifest(BASE, "Half")
    too_large = (*shipped(small, greets=True), *shipped(alone), shipped(small | LATER, content_of(small))[0])
    yield bad("no_room_for_older", "Nor is anything that is older than one for which there is no room", *too_large, shipments=sized("Half") + sized("Alone"))
    beside = (*shipped(half, greets=True), *shipped(alone), *shipped(small), shipped(small | LATER, content_of(small))[0])
    yield good(
        "room_again", "What comes after it is kept", *beside, ("consumer", [message(RECEIPT, receipt(BASE, outcome="unchanged", name="Half"))]),
        shipments=sized("Half") + sized("Alone") + sized("Half") + [("shipment", "Half unchanged")],
    )  # fmt: skip
