"""Signed one-way shipments (section 3.6), and counters (section 4)."""

from __future__ import annotations

from collections.abc import Iterator

from cases.dialogues import ANSWERS, CONSUMER_STARTS, DONE, RECEIVED, SENDS, Turn, dialogue, refusal
from cases.manifests import bad as bad_manifest
from cases.manifests import good as good_manifest
from cases.streams import EMPTY_MANIFEST, FINISH, blocks, ended, installed, stream
from cases.streams import good as good_stream
from encoder.device import ED25519, N, Device, der, signed_content
from encoder.piece import Pieces, binary, document, joined, text
from encoder.samples import EMPTY_STORE, HELLO_MEMBERS, RECIPES_STORE, Members, manifest, word
from encoder.vector import Detail, Vector
from encoder.wire import CANCEL, CONSUMER, HELLO, MANIFEST, SIGNATURE, WORKING, frame, message, preamble, signature, stored_json

COVERS = "3.6, 6.2"
PHONE = Device("phone")
STRANGER = Device("stranger")
RECERTIFIED = Device("phone", serial=2)
"""The phone's key in another certificate: another device."""

MEMBERS = manifest(counter=1)
PAYLOAD = joined(stored_json(document(MEMBERS)))
STORE = blocks(RECIPES_STORE.data)
SIGNED: Pieces = message(MANIFEST, MEMBERS)


def value(device: Device, content: bytes) -> bytes:
    return b"".join(part.to_bytes(32, "big") for part in device.signed(content))


GOOD_VALUE = value(PHONE, signed_content(PAYLOAD, PHONE.id))


def signed(payload_value: bytes = GOOD_VALUE, certificate: bytes = PHONE.certificate) -> Pieces:
    return frame(SIGNATURE, signature(payload_value, certificate))


THERE = installed(RECIPES_STORE.data, signer=PHONE.id.hex())


def good(name: str, about: str, *frames: Pieces) -> Vector:
    return stream(f"signed_{name}" if name else "signed", about, "done", THERE, *frames, covers=COVERS)


def bad(name: str, error: str, about: str, *frames: Pieces, end: str = "failed", before: list[Detail] | None = None) -> Vector:
    return stream(f"signed_{name}", about, f"{end} {error}", before or [], *frames, covers=COVERS)


def wrong(name: str, about: str, signature_frame: Pieces, members: Pieces = SIGNED) -> Vector:
    return bad(name, "bad-signature", about, signature_frame, members, *STORE, FINISH)


def vectors() -> Iterator[Vector]:
    yield from whole()
    yield from forged()
    yield from out_of_place()
    yield from passed_on()
    yield from several()
    yield from counters()


def whole() -> Iterator[Vector]:
    yield good("", "A shipment that its device has signed", signed(), SIGNED, *STORE, FINISH)
    optional = frame(0x80, text("a later version's"))
    yield good("optional_frames", "Optional frames between the signature and the manifest", frame(WORKING), signed(), frame(WORKING), optional, SIGNED, *STORE, FINISH)
    r, s = GOOD_VALUE[:32], int.from_bytes(GOOD_VALUE[32:], "big")
    yield good("other_s", "The order of the curve less s in the place of s: as good, and nothing depends on it", signed(r + (N - s).to_bytes(32, "big")), SIGNED, *STORE, FINISH)


def forged() -> Iterator[Vector]:
    for name, at in (("r", 31), ("s", 63)):
        turned = bytearray(GOOD_VALUE)
        turned[at] ^= 1
        yield wrong(f"{name}_turned", f"A bit of {name} is turned over", signed(bytes(turned)))
    yield wrong("zeros", "r and s are 0", signed(bytes(64)))
    order = N.to_bytes(32, "big")
    yield wrong("r_is_order", "r is the order of the curve", signed(order + GOOD_VALUE[32:]))
    yield wrong("s_is_order", "s is the order of the curve", signed(GOOD_VALUE[:32] + order))
    yield wrong("by_another_key", "Signed with another device's key", signed(value(STRANGER, signed_content(PAYLOAD, PHONE.id))))
    yield wrong("another_certificate", "Another device's certificate in the place of the signer's", signed(certificate=STRANGER.certificate))
    yield wrong("same_key_another_certificate", "Another certificate of the very key: the id is what is trusted, and what is signed", signed(certificate=RECERTIFIED.certificate))
    for name, about, content in (
        ("another_manifest", "The signature of another shipment of the device", signed_content(joined(stored_json(document(manifest(counter=2)))), PHONE.id)),
        ("json_alone", "What is signed is the payload, not the JSON in it", signed_content(PAYLOAD[1:], PHONE.id)),
        ("payload_alone", "The payload alone, without what stands before it", PAYLOAD),
        ("two_way", "A signature for the other mode", signed_content(PAYLOAD, PHONE.id, mode=2)),
        ("version_2", "A signature for another version", signed_content(PAYLOAD, PHONE.id, version=2)),
        ("another_domain", "A signature that was made for something else", signed_content(PAYLOAD, PHONE.id, domain=b"ship-store two-way shipments v1"[:30])),
        ("another_id", "A signature over another id than the certificate's", signed_content(PAYLOAD, STRANGER.id)),
    ):  # fmt: skip
        yield wrong(name, about, signed(value(PHONE, content)))
    turned = bytearray(PHONE.certificate)
    turned[-1] ^= 1
    yield wrong("certificate_turned", "A bit of the certificate is turned over, where nothing depends on it but the id", signed(certificate=bytes(turned)))
    yield wrong("bytes_behind_certificate", "A byte behind the certificate", signed(certificate=PHONE.certificate + b"\0"))
    yield wrong("certificate_cut", "Half of a certificate", signed(certificate=PHONE.certificate[:150]))
    yield wrong("no_certificate", "Text in the place of the certificate", signed(certificate=b"trust me"))
    yield wrong("longest_certificate", "4,096 bytes that are no certificate", signed(certificate=b"\x30\x82\x0f\xfc" + bytes(4092)))
    other_key = PHONE.certified(der(0x30, ED25519), bytes(range(32)))
    content = signed_content(PAYLOAD, PHONE.id)
    yield wrong("key_of_another_kind", "A certificate of an Ed25519 key", signed(value(PHONE, content), other_key))


def out_of_place() -> Iterator[Vector]:
    violation = "protocol-violation"
    yield bad("without_certificate", violation, "64 bytes: no certificate, and none before", frame(SIGNATURE, binary(GOOD_VALUE)), SIGNED, *STORE, FINISH)
    yield bad("empty", violation, "No signature", frame(SIGNATURE), SIGNED, *STORE, FINISH)
    yield bad("twice", violation, "Two signatures", signed(), signed(), SIGNED, *STORE, FINISH)
    yield bad("after_manifest", violation, "The signature after the manifest", SIGNED, signed(), *STORE, FINISH)
    yield bad("after_end", violation, "A signature after END, and no manifest", SIGNED, *STORE, FINISH, signed(), before=installed(RECIPES_STORE.data))
    yield bad("without_manifest", violation, "A part after the signature", signed(), *STORE, FINISH)
    yield bad("ends", violation, "The link ends after the signature", signed())
    yield bad("crc", "damaged", "A wrong CRC-32 in SIGNATURE", frame(SIGNATURE, signature(GOOD_VALUE, PHONE.certificate), flip=1), SIGNED, *STORE, FINISH)
    last_word = message(CANCEL, word("stopped", "stopped by SIGTERM"))
    yield bad("cancelled", "stopped", "The producer gives up after the signature", signed(), last_word, end="cancelled")
    unnumbered = manifest()
    covered = signed_content(joined(stored_json(document(unnumbered))), PHONE.id)
    yield bad("without_counter", "bad-manifest", "A signed manifest has a counter", signed(value(PHONE, covered)), message(MANIFEST, unnumbered), *STORE, FINISH)
    ends = [("consumer", f"failed {violation}")]
    yield dialogue("signature", "In two-way mode nobody signs", ends, CONSUMER_STARTS, ("producer", [preamble(), signed(), SIGNED]), ("consumer", [refusal(violation, "a signature")]), covers="3.6, 6.2")


def passed_on() -> Iterator[Vector]:
    """Two-way mode, where HELLO says that a signature may come (section 6.7)."""

    def greets(what: str) -> Turn:
        return ("consumer", [preamble(role=CONSUMER), message(HELLO, HELLO_MEMBERS | {"signatures": what})])

    def session(name: str, about: str, first: Turn, *frames: Pieces) -> Vector:
        return dialogue(f"signed_{name}", about, DONE, first, ("producer", [preamble(), *frames]), ANSWERS, SENDS, RECEIVED, shipments=installed(RECIPES_STORE.data), covers="3.6, 6.7")

    def refused(name: str, code: str, about: str, *turns: Turn) -> Vector:
        ends = [("consumer", f"failed {code}")]
        return dialogue(f"signed_{name}", about, ends, *turns, ("consumer", [refusal(code, "not so")]), covers="3.6, 6.7")

    yield session("taken", "The consumer takes what another device has signed", greets("taken"), signed(), SIGNED)
    yield session("wanted", "The consumer wants a signature, and gets one", greets("wanted"), frame(WORKING), signed(), frame(WORKING), SIGNED)
    based = manifest(counter=1, base={"sha256": "0" * 64})
    cover = signed_content(joined(stored_json(document(based))), PHONE.id)
    yield session("base_says_nothing", "What was signed for a one-way link names a base, which has no meaning here", greets("taken"), signed(value(PHONE, cover)), message(MANIFEST, based))
    violation = "protocol-violation"
    offers: Turn = ("producer", [preamble(), signed(), SIGNED])
    yield refused("of_a_later_version", violation, "The consumer says of signatures what is not known: none may come", greets("of-a-later-version"), offers)
    yield refused("twice_two_way", violation, "Two signatures", greets("taken"), ("producer", [preamble(), signed(), signed(), SIGNED]))
    bare: Turn = ("producer", [preamble(), frame(SIGNATURE, binary(GOOD_VALUE)), SIGNED])
    yield refused("without_certificate_two_way", violation, "64 bytes: no certificate, and none before", greets("taken"), bare)
    forged: Turn = ("producer", [preamble(), signed(value(STRANGER, signed_content(PAYLOAD, PHONE.id))), SIGNED])
    yield refused("forged_two_way", "bad-signature", "Who passes it on has signed it, with the device's certificate", greets("taken"), forged)
    changed: Turn = ("producer", [preamble(), signed(), message(MANIFEST, manifest(counter=2))])
    yield refused("changed_two_way", "bad-signature", "Who passes it on has changed the number", greets("taken"), changed)
    mode = signed(value(PHONE, signed_content(PAYLOAD, PHONE.id, mode=2)))
    yield refused("other_mode_two_way", "bad-signature", "In two-way mode the same is signed as in one-way mode", greets("taken"), ("producer", [preamble(), mode, SIGNED]))


def several() -> Iterator[Vector]:
    """Each shipment of a session has a signature of its own, or none."""
    members = manifest(EMPTY_STORE, "Empty", counter=2)
    payload = joined(stored_json(document(members)))
    own = signed(value(PHONE, signed_content(payload, PHONE.id)))
    first = [signed(), SIGNED, *STORE, FINISH]
    unsigned = [*blocks(EMPTY_STORE.data), FINISH]
    second = [message(MANIFEST, members), *unsigned]
    empty = installed(EMPTY_STORE.data, name="Empty", signer=PHONE.id.hex())
    yield stream("signed_two_shipments", "Two shipments, each with its signature", "done", THERE + empty, *first, own, *second, covers=COVERS)
    again = frame(SIGNATURE, binary(value(PHONE, signed_content(payload, PHONE.id))))
    yield stream("signed_same_certificate", "The second signature leaves the certificate out, which is the first one's", "done", THERE + empty, *first, again, *second, covers=COVERS)
    others_value = frame(SIGNATURE, binary(value(STRANGER, signed_content(payload, STRANGER.id))))
    yield bad("other_device_without_certificate", "bad-signature", "The second is of another device, and leaves its certificate out", *first, others_value, *second, before=THERE)
    stranger = signed(value(STRANGER, signed_content(payload, STRANGER.id)), STRANGER.certificate)
    others = installed(EMPTY_STORE.data, name="Empty", signer=STRANGER.id.hex())
    yield stream("signed_two_devices", "Two shipments of two devices", "done", THERE + others, *first, stranger, *second, covers=COVERS)
    without = installed(EMPTY_STORE.data, name="Empty")
    yield stream("signed_then_unsigned", "A signature is of one shipment alone: the second has none", "done", THERE + without, *first, EMPTY_MANIFEST, *unsigned, covers=COVERS)
    yield bad("second_with_first_signature", "bad-signature", "The first shipment's signature once more; the first stays installed", *first, signed(), *second, before=THERE)
    stops = message(CANCEL, word("stopped", "the store is locked", "shipment"))
    yield stream("signed_cancelled_shipment", "A shipment that is given up after its signature: what follows has none", "done", without, signed(), stops, EMPTY_MANIFEST, *unsigned, covers=COVERS)
    other = [signed(), SIGNED, *blocks(RECIPES_STORE.with_bytes(1023, b"!").data), FINISH]
    yield stream("signed_damaged_then_good", "The first shipment is signed, and its store damaged; the second is installed", "done", ended("refused damaged", signer=PHONE.id.hex()) + empty, *other, own, *second, covers=COVERS)


def counters() -> Iterator[Vector]:
    def counted(number: object) -> Members:
        return manifest(counter=number)

    yield good_manifest("counter", "The first shipment of a device", counted(1))
    yield good_manifest("counter_2_64_less_1", "The highest number: for the rules of a manifest it is one", counted(2**64 - 1))
    yield good_manifest("counter_null", "null stands for an absent member", counted(None), manifest())
    yield bad_manifest("counter_0", "Counters begin at 1", counted(0))
    yield bad_manifest("counter_negative", "A negative counter", counted(-1))
    yield bad_manifest("counter_2_64", "A counter above the highest", counted(2**64))
    yield bad_manifest("counter_fraction", "A counter with a fraction", counted(1.5))
    yield bad_manifest("counter_string", "A counter that is a string", counted("1"))
    yield good_stream("counter", "A shipment that has a number, and is not signed", [RECIPES_STORE.data], SIGNED, *STORE, FINISH, covers="4, 6.2")
