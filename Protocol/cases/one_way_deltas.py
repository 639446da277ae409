"""Deltas one way: the manifest says what they refer to (sections 3.3, 3.4 and 4.12)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cases.columns import rows
from cases.delta import LAST, REST, SKIP, numbers, piece, stored
from cases.delta_sessions import (
    BASE, CHANGED, CURRENT, DRINKS, FRONT, FROM_BASE, FROM_OLDER, GOOD, HOLDING, IN_COLUMNS, KEPT, NEW, NO_SEGMENT, NOT_IT, OLDER, delta, now, says_hello, store_of,
)  # fmt: skip
from cases.dialogues import Turn, dialogue, refusal
from cases.manifests import bad as bad_manifest
from cases.manifests import good as good_manifest
from cases.signatures import PHONE, STRANGER, value
from cases.streams import EMPTY_MANIFEST, FINISH, Frames, blocks, ended, error_of, installed, part_frame, session
from encoder import segment as s
from encoder.device import Device, signed_content
from encoder.piece import Pieces, binary, document, joined, text
from encoder.samples import CORE_DATA_STORE, EMPTY_STORE, EXTERNAL_FILES, PHOTO, Members, content_of, core_data_manifest, manifest
from encoder.sqlite_file import StoreFile
from encoder.vector import Detail, Vector
from encoder.wire import BLOCKS, DELTA, MANIFEST, SIGNATURE, frame, message, preamble, signature, stored_json

COVERS = "3.3, 3.4, 4.12, 6.2"
VIOLATION = "protocol-violation"


def over(store: StoreFile = NEW, base: StoreFile = BASE, name: str = "Recipes", **more: Any) -> Members:
    return manifest(store, name, base={"sha256": base.digest}, **more)


def offered(store: StoreFile = NEW, base: StoreFile = BASE, name: str = "Recipes") -> Pieces:
    return message(MANIFEST, over(store, base, name))


def signed(device: Device, members: Members, as_sent: Members | None = None, certificate: bytes | None = None) -> Frames:
    """SIGNATURE and MANIFEST."""
    payload = joined(stored_json(document(members)))
    own = frame(SIGNATURE, signature(value(device, signed_content(payload, device.id)), device.certificate if certificate is None else certificate))
    return [own, message(MANIFEST, as_sent or members)]


def stream(
    name: str, about: str, end: str, shipments: list[Detail], *frames: Pieces, holds: tuple[Turn, ...] = HOLDING, of: tuple[Device | None, ...] = (), covers: str = COVERS
) -> Vector:
    ends: list[Detail] = [("consumer", end)]
    known: list[Detail] = [("held-from", device.id.hex() if device else "unknown") for device in of]
    last = [FINISH] if end == "done" else []
    sections = [(label, [piece for pieces in content for piece in pieces]) for label, content in holds]
    return Vector(f"stream_{name}", about, covers, "stream", error_of(ends, shipments), ends + known + shipments, [*sections, ("", session(*frames, *last))])


THERE = installed(NEW.data)
MANIFEST_OVER = offered()


def vectors() -> Iterator[Vector]:
    yield from members()
    yield from whole()
    yield from senders()
    yield from missing()
    yield from unproven()
    yield from violations()
    yield from two_way()


def members() -> Iterator[Vector]:
    digest = BASE.digest
    yield good_manifest("base", "A one-way shipment over a store", over(), covers="4, 4.12")
    yield good_manifest("base_counter", "The same with a number", over(counter=7), covers="4, 4.12")
    yield good_manifest("base_of_itself", "A base that is the store itself", over(BASE), covers="4, 4.12")
    content: Members = {"sha256": digest, "content": content_of(manifest(BASE)).id.hex()}
    yield good_manifest("base_content", "A base whose external files do not come again", manifest(base=content), covers="4, 4.12")
    yield good_manifest("base_content_null", "null stands for an absent member", manifest(base=content | {"content": None}), manifest(base={"sha256": digest}), covers="4, 4.12")
    yield good_manifest("base_null", "null stands for an absent member", manifest(base=None), manifest(), covers="4, 4.12")
    unknown = manifest(base={"sha256": digest, "size": "large"})
    yield good_manifest("base_unknown_members", "Members of a base that are not known are passed over", unknown, manifest(base={"sha256": digest}), covers="4, 4.12")
    for name, about, found in (
        ("is_digest", "A base that is no object", digest), ("is_empty", "A base without a digest", {}), ("digest_null", "The digest is null", {"sha256": None}),
        ("63_digits", "A digest that is too short", {"sha256": digest[1:]}), ("66_digits", "A digest that is too long", {"sha256": digest + "00"}),
        ("upper_case", "A digest in upper case", {"sha256": digest.upper()}), ("id", "An id in its place", {"sha256": digest[:32]}),
        ("content_31_digits", "An id of a content that is too short", {"sha256": digest, "content": "0" * 31}), ("content_upper_case", "One in upper case", {"sha256": digest, "content": "A" * 32}),
        ("content_digest", "A digest in its place", {"sha256": digest, "content": digest}), ("content_alone", "A content without a digest", {"content": "0" * 32}),
        ("is_number", "A digest that is a number", {"sha256": 1}), ("is_array", "Two bases", [{"sha256": digest}, {"sha256": OLDER.digest}]), ("false", "No base, as a boolean", False),
    ):  # fmt: skip
        yield bad_manifest(f"base_{name}", about, manifest(base=found), covers="4, 4.12")
    own = content_of(manifest())
    yield Vector("content_base", "What a delta refers to does not count", "4.11", "content", None, [("id", own.id.hex())], [("", document(manifest(base={"sha256": digest}))), ("content", text(own.json))])


def whole() -> Iterator[Vector]:
    def good(name: str, about: str, *frames: Pieces, shipments: list[Detail] | None = None, holds: tuple[Turn, ...] = HOLDING) -> Vector:
        return stream(f"base_{name}", about, "done", shipments or THERE, *frames, FINISH, holds=holds)

    yield good("delta", "What changed since the store that is current", MANIFEST_OVER, *GOOD)
    later = store_of(CHANGED[1:])
    yield good("of_kept", "What changed since a generation that is kept", offered(base=OLDER), *delta(FROM_OLDER))
    yield good("blocks", "A base is named, and blocks come", MANIFEST_OVER, *blocks(NEW.data))
    yield good("columns", "A base is named, and columns come", MANIFEST_OVER, *rows(IN_COLUMNS))
    yield good("whole", "No base is named, and what is held does not matter", message(MANIFEST, manifest(NEW)), *rows(IN_COLUMNS))
    yield good("then_columns", "The producer begins a delta, and goes on anew in columns", MANIFEST_OVER, *delta(NO_SEGMENT, ends=False), *rows(IN_COLUMNS, anew=True))
    yield good("then_blocks", "The same in blocks, after a delta that makes another store", MANIFEST_OVER, *delta(NOT_IT), *blocks(NEW.data, anew=True))
    yield good("after_blocks", "The producer begins blocks, and goes on anew with a delta", MANIFEST_OVER, *blocks(BASE.data), *delta(FROM_BASE, anew=True))
    yield good("unchanged", "What is current, as a delta of nothing", offered(BASE), *delta(NOT_IT), shipments=ended("unchanged"))
    changed = delta(stored(FRONT, numbers(LAST | REST | SKIP, 1), s.constant(0)))
    both = THERE + installed(later.data)
    second = [offered(later, NEW), *changed]
    yield good("of_the_one_before", "A base that came in the shipment before", MANIFEST_OVER, *GOOD, FINISH, *second, shipments=both)
    yield good("of_the_first_one", "The first shipment has no base, and the second is over it", message(MANIFEST, manifest(NEW)), *blocks(NEW.data), FINISH, *second, shipments=both, holds=())
    drinks = [offered(NEW, OLDER, "Drinks"), *delta(FROM_OLDER)]
    yield good("two_stores", "Two stores, each over what is held of it", MANIFEST_OVER, *GOOD, FINISH, *drinks, shipments=THERE + installed(NEW.data, name="Drinks"), holds=(*HOLDING, *DRINKS.turns))
    yield from external_files()


def external_files() -> Iterator[Vector]:
    older = CORE_DATA_STORE.with_bytes(len(CORE_DATA_STORE.data) - 1, b"!")
    content = content_of(core_data_manifest() | {"store": manifest(older)["store"]})
    holds: tuple[Turn, ...] = (("held", [text(content.json)]), ("base", [binary(older.data, "the store")]))
    segment = stored(numbers(1), piece((b"", len(older.data) - 1, 0), (CORE_DATA_STORE.data[-1:], 0, 0)))
    members = core_data_manifest(base={"sha256": older.digest})
    frames = [message(MANIFEST, members), *delta(segment), *blocks(PHOTO, index=1)]
    yield stream("base_external_files", "A store as a delta; its external files come whole", "done", installed(CORE_DATA_STORE.data, PHOTO, b""), *frames, FINISH, holds=holds)
    of_file = [message(MANIFEST, members), *delta(segment), part_frame(1, DELTA), *blocks(PHOTO, index=1)[1:]]
    yield stream("base_delta_of_external_file", "A delta of an external file", f"failed {VIOLATION}", [], *of_file, FINISH, holds=holds)
    there = installed(CORE_DATA_STORE.data, PHOTO, b"")
    offer = message(MANIFEST, core_data_manifest(base={"sha256": older.digest, "content": content.id.hex()}))
    yield stream("base_has_external_files", "A store as a delta; the base has its external files, and they do not come", "done", there, offer, *delta(segment), FINISH, holds=holds)
    yield stream("base_has_external_files_blocks", "The same, and the store comes in blocks", "done", there, offer, *blocks(CORE_DATA_STORE.data), FINISH, holds=holds)
    yield stream("base_has_external_file_sent", "One comes although the base has it", f"failed {VIOLATION}", [], offer, *delta(segment), *blocks(PHOTO, index=1), FINISH, holds=holds)
    other = content_of(core_data_manifest(externalFiles=EXTERNAL_FILES[1:]) | {"store": manifest(older)["store"]})
    some = message(MANIFEST, core_data_manifest(base={"sha256": older.digest, "content": other.id.hex()}))
    without: tuple[Turn, ...] = (("held", [text(other.json)]), holds[1])
    yield stream("base_has_other_external_files", "The base has not the one that comes", "done", there, some, *delta(segment), *blocks(PHOTO, index=1), FINISH, holds=without)
    yield stream("base_of_other_content", "A base with other external files than the manifest says", "done", ended("refused missing-base"), some, *delta(segment), *blocks(PHOTO, index=1), FINISH, holds=holds)


NUMBERED = over(counter=1)
BY_PHONE = installed(NEW.data, signer=PHONE.id.hex())


def senders() -> Iterator[Vector]:
    """A base comes from the device that has sent the delta."""
    of_older = delta(FROM_OLDER)
    own, older = (PHONE, PHONE), over(base=OLDER, counter=2)
    yield stream("signed_base", "A signed delta over what the same device has sent", "done", BY_PHONE, *signed(PHONE, NUMBERED), *GOOD, FINISH, of=own)
    yield stream("signed_base_of_kept", "The same over a generation that is kept", "done", BY_PHONE, *signed(PHONE, older), *of_older, FINISH, of=own)
    lines = ended("refused missing-base", signer=PHONE.id.hex())
    for name, about, device in (("another", "another device has sent before it", STRANGER), ("unknown", "came from a device that is not known", None)):
        what = f"A signed delta over what {about}, though it is kept"
        yield stream(f"base_of_{name}_device", what, "done", lines, *signed(PHONE, older), *of_older, FINISH, of=(device, PHONE))
    yield stream("base_over_own_device", "A signed delta over what the same device has sent, where another one has sent what is kept beside it", "done", BY_PHONE, *signed(PHONE, NUMBERED), *GOOD, FINISH, of=(STRANGER, PHONE))
    first = [*signed(PHONE, manifest(BASE, counter=1)), *blocks(BASE.data), FINISH]
    lines = installed(BASE.data, signer=PHONE.id.hex())
    yield stream("signed_base_of_the_one_before", "A signed delta over the signed shipment before", "done", lines + BY_PHONE, *first, *signed(PHONE, over(counter=2)), *GOOD, FINISH, holds=())
    forged = signed(PHONE, NUMBERED, over(base=OLDER, counter=1))
    yield stream("signed_other_base", "The base is another one than was signed", "failed bad-signature", [], *forged, *of_older, FINISH, of=own, covers="3.6, 4.12")
    added = signed(PHONE, manifest(NEW, counter=1), NUMBERED)
    yield stream("signed_base_added", "A base that was not there when it was signed", "failed bad-signature", [], *added, *GOOD, FINISH, of=own, covers="3.6, 4.12")


def missing() -> Iterator[Vector]:
    """The consumer has not what the delta refers to."""
    lines = ended("refused missing-base")

    def one(name: str, about: str, *frames: Pieces, holds: tuple[Turn, ...] = HOLDING, more: list[Detail] | None = None) -> Vector:
        return stream(f"base_{name}", about, "done", lines + (more or []), *frames, FINISH, holds=holds)

    yield one("missing", "Nothing is held", MANIFEST_OVER, *GOOD, holds=())
    yield one("missing_other_held", "Another generation of the store is held", MANIFEST_OVER, *GOOD, holds=KEPT.turns)
    yield one("missing_other_name", "The base is held under another name", offered(NEW, OLDER), *delta(FROM_OLDER), holds=DRINKS.turns)
    yield one("missing_new", "The base is what the delta makes", offered(NEW, NEW), *delta(FROM_BASE))
    yield one("missing_blocks", "Blocks would come: the manifest decides", MANIFEST_OVER, *blocks(NEW.data), holds=())
    yield one("missing_violation", "What is passed over is held to layouts alone", MANIFEST_OVER, part_frame(7, DELTA, position=9), *GOOD[1:], holds=())
    next_one = [FINISH, EMPTY_MANIFEST, *blocks(EMPTY_STORE.data)]
    yield one("missing_then_next", "The next shipment is installed", MANIFEST_OVER, *GOOD, *next_one, holds=(), more=installed(EMPTY_STORE.data, name="Empty"))
    whole_one = [FINISH, message(MANIFEST, manifest(NEW)), *blocks(NEW.data)]
    yield one("missing_then_whole", "The same store whole is installed after it", MANIFEST_OVER, *GOOD, *whole_one, holds=(), more=THERE)
    refused = [message(MANIFEST, manifest(BASE)), *blocks(NEW.data), FINISH, MANIFEST_OVER, *GOOD, FINISH]
    yield stream("base_of_one_refused", "The base was to come in the shipment before, which is damaged", "done", ended("refused damaged") + lines, *refused, holds=())


def unproven() -> Iterator[Vector]:
    """One way there is nobody to ask for another encoding."""

    def one(name: str, about: str, *frames: Pieces, holds: tuple[Turn, ...] = HOLDING, more: list[Detail] | None = None) -> Vector:
        return stream(f"base_{name}", about, "done", ended("refused damaged") + (more or []), *frames, FINISH, holds=holds)

    yield one("unproven", "A delta that makes another store", MANIFEST_OVER, *delta(NOT_IT))
    yield one("unproven_damaged", "A delta that does not decode", MANIFEST_OVER, *delta(NO_SEGMENT))
    yield one("unproven_cut", "A delta of which the last segment is missing, and the one before is flagged", MANIFEST_OVER, *delta(stored(FRONT, numbers(0, 0))))
    yield one("unproven_then_columns", "Columns after it, which do not make it either", MANIFEST_OVER, *delta(NOT_IT), *rows(b"this is no segment", anew=True))
    yield one("unproven_then_next", "The next shipment is installed", MANIFEST_OVER, *delta(NOT_IT), FINISH, EMPTY_MANIFEST, *blocks(EMPTY_STORE.data), more=installed(EMPTY_STORE.data, name="Empty"))
    contents = (KEPT.turns[0], CURRENT.turns[0])
    yield one("unproven_gone", "The base is held, and cannot be read when it is needed", MANIFEST_OVER, *GOOD, holds=contents)
    members = over()
    members["store"] = members["store"] | {"userVersion": 8}
    yield stream("base_bad_store", "A delta that makes the manifest's store, which is not as the manifest says", "done", ended("refused bad-store"), message(MANIFEST, members), *GOOD, FINISH)


def violations() -> Iterator[Vector]:
    def wrong(name: str, about: str, *frames: Pieces, offer: Pieces = MANIFEST_OVER, code: str = VIOLATION) -> Vector:
        return stream(f"base_{name}", about, f"failed {code}", [], offer, *frames, FINISH)

    rest = GOOD[1:]
    whole_one = message(MANIFEST, manifest(NEW))
    yield wrong("not_named", "A delta over what is current, and the manifest names no base", *GOOD, offer=whole_one)
    yield wrong("position", "Another position than 0: one way nothing goes on", part_frame(0, DELTA, position=5), *rest)
    yield wrong("twice", "A delta anew after a delta", GOOD[0], *delta(FROM_BASE, anew=True))
    yield wrong("anew_at_first", "A delta anew, and nothing before it", *delta(FROM_BASE, anew=True))
    yield wrong("without_anew", "A delta after columns, and not anew", *rows(IN_COLUMNS), *GOOD)
    second = [*GOOD, FINISH, message(MANIFEST, manifest(NEW, "Drinks")), *GOOD]
    yield stream("base_of_shipment_before", "A base is of one manifest alone: the next one names none", f"failed {VIOLATION}", THERE, MANIFEST_OVER, *second, FINISH, holds=(*HOLDING, *DRINKS.turns))
    yield wrong("is_empty", "A base without a digest", *GOOD, offer=message(MANIFEST, manifest(NEW, base={})), code="bad-manifest")


def two_way() -> Iterator[Vector]:
    says: Turn = ("consumer", [refusal("bad-manifest", "it names a base")])
    offers: Turn = ("producer", [preamble(), MANIFEST_OVER])
    yield dialogue("base_in_manifest", "Two-way the consumer names the base, and no manifest does", [("consumer", "failed bad-manifest")], *HOLDING, says_hello(now(CURRENT, KEPT)), offers, says, covers="4.12")
    first = says_hello()
    yield dialogue("base_in_manifest_not_held", "The same where nothing is held", [("consumer", "failed bad-manifest")], first, offers, says, covers="4.12")
