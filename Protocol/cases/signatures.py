"""Signed one-way shipments (section 3.6), and counters (section 4)."""

from __future__ import annotations

from collections.abc import Iterator

from cases.dialogues import CONSUMER_STARTS, dialogue, refusal
from cases.manifests import bad as bad_manifest
from cases.manifests import good as good_manifest
from cases.streams import FINISH, blocks, one, session
from encoder.device import ED25519, N, Device, der, signed_content
from encoder.piece import Pieces, binary, document, joined, text
from encoder.samples import RECIPES_STORE, Members, manifest, word
from encoder.vector import Vector
from encoder.wire import CANCEL, MANIFEST, SIGNATURE, WORKING, frame, message, preamble, signature, stored_manifest

COVERS = "3.6, 6.2"
PHONE = Device("phone")
STRANGER = Device("stranger")
RECERTIFIED = Device("phone", serial=2)
"""The phone's key in another certificate: another device."""

MEMBERS = manifest(counter=1)
PAYLOAD = joined(stored_manifest(document(MEMBERS)))
STORE = blocks(RECIPES_STORE.data)
SIGNED: Pieces = message(MANIFEST, MEMBERS)


def value(device: Device, content: bytes) -> bytes:
    return b"".join(part.to_bytes(32, "big") for part in device.signed(content))


GOOD_VALUE = value(PHONE, signed_content(PAYLOAD, PHONE.id))


def signed(payload_value: bytes = GOOD_VALUE, certificate: bytes = PHONE.certificate) -> Pieces:
    return frame(SIGNATURE, signature(payload_value, certificate))


def good(name: str, about: str, *frames: Pieces) -> Vector:
    vector = one(f"signed_{name}" if name else "signed", about, session(*frames), [RECIPES_STORE.data], covers=COVERS)
    vector.details.append(("signer", PHONE.id.hex()))
    return vector


def bad(name: str, error: str, about: str, *frames: Pieces, cancelled: bool = False) -> Vector:
    return one(f"signed_{name}", about, session(*frames), error=error, covers=COVERS, cancelled=cancelled)


def wrong(name: str, about: str, signature_frame: Pieces, members: Pieces = SIGNED) -> Vector:
    return bad(name, "bad-signature", about, signature_frame, members, *STORE, FINISH)


def vectors() -> Iterator[Vector]:
    yield from whole()
    yield from forged()
    yield from out_of_place()
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
        ("another_manifest", "The signature of another shipment of the device", signed_content(joined(stored_manifest(document(manifest(counter=2)))), PHONE.id)),
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
    yield bad("without_certificate", violation, "64 bytes: no certificate", frame(SIGNATURE, binary(GOOD_VALUE)), SIGNED, *STORE, FINISH)
    yield bad("empty", violation, "No signature", frame(SIGNATURE), SIGNED, *STORE, FINISH)
    yield bad("twice", violation, "Two signatures", signed(), signed(), SIGNED, *STORE, FINISH)
    yield bad("after_manifest", violation, "The signature after the manifest", SIGNED, signed(), *STORE, FINISH)
    yield bad("after_end", violation, "The signature after END", SIGNED, *STORE, FINISH, signed())
    yield bad("without_manifest", violation, "A block after the signature", signed(), *STORE, FINISH)
    yield bad("ends", violation, "The link ends after the signature", signed())
    yield bad("crc", "damaged", "A wrong CRC-32 in SIGNATURE", frame(SIGNATURE, signature(GOOD_VALUE, PHONE.certificate), flip=1), SIGNED, *STORE, FINISH)
    last_word = message(CANCEL, word("stopped", "stopped by SIGTERM"))
    yield bad("cancelled", "stopped", "The producer gives up after the signature", signed(), last_word, cancelled=True)
    unnumbered = manifest()
    covered = signed_content(joined(stored_manifest(document(unnumbered))), PHONE.id)
    yield bad("without_counter", "bad-manifest", "A signed manifest has a counter", signed(value(PHONE, covered)), message(MANIFEST, unnumbered), *STORE, FINISH)
    ends = [("consumer", f"failed {violation}")]
    yield dialogue("signature", "In two-way mode nobody signs", ends, CONSUMER_STARTS, ("producer", [preamble(), signed(), SIGNED]), ("consumer", [refusal(violation, "a signature")]), error=violation, covers="3.6, 6.2")


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
    yield one("counter", "A shipment that has a number, and is not signed", session(SIGNED, *STORE, FINISH), [RECIPES_STORE.data], covers="4, 6.2")
