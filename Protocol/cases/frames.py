"""Whole frames (section 3.2): lengths, checksums, optional frames, and where a stream may not end."""

from __future__ import annotations

from collections.abc import Iterator

from encoder.deflate import compressed
from encoder.piece import Pieces, binary, document, joined
from encoder.samples import EMPTY_STORE, HELLO_MEMBERS, manifest, receipt, word
from encoder.vector import Detail, Vector
from encoder.wire import (
    ANSWER, ASKABLE, CANCEL, COMPARE, DATA, END, HELLO, LIMITS, MANIFEST, NAMES, NEWEST, PADDING, PART, QUESTION, RANGES, RECEIPT, REFUSAL, SIGNATURE, STAY,
    WORKING, ZLIB,
    block, data, frame, part, signature, stored_json,
)  # fmt: skip

PAYLOADS: dict[int, Pieces] = {
    HELLO: stored_json(document(HELLO_MEMBERS)),
    MANIFEST: stored_json(document(manifest(EMPTY_STORE, "Empty"))),
    ANSWER: stored_json(document({"wants": []})),
    PART: part(0),
    DATA: data(block(512, ZLIB, compressed(EMPTY_STORE.data))),
    END: [],
    RECEIPT: stored_json(document(receipt(EMPTY_STORE))),
    REFUSAL: document(word("busy", "try again in a minute")),
    CANCEL: document(word("stopped", "stopped by SIGTERM")),
    SIGNATURE: signature(bytes(range(64)), b"a certificate"),
    COMPARE: binary(bytes(range(16)), "the producer's nonce"),
    RANGES: [],
    WORKING: [],
    STAY: binary(bytes([0, 0, 0, 60]), "60 s"),
    ASKABLE: [],
    QUESTION: binary(bytes(range(8)), "nonce") + binary(b"Recipes", "name"),
    NEWEST: binary(bytes(range(8)), "nonce") + binary(bytes(16), "id of a content"),
}


def good(name: str, about: str, frames: list[tuple[int, Pieces]]) -> Vector:
    details: list[Detail] = []
    sections: Pieces = []
    for kind, payload in frames:
        key = "frame" if kind in LIMITS else "passed-over"
        details.append((key, f"0x{kind:02X} {len(joined(payload))}"))
        sections += frame(kind, payload)
    return Vector(f"frame_{name}", about, "3.2", "frames", None, details, [("", sections)])


def bad(name: str, error: str, about: str, pieces: Pieces) -> Vector:
    return Vector(f"frame_{name}", about, "3.2", "frames", error, [], [("", pieces)])


def cut(pieces: Pieces, length: int) -> Pieces:
    return binary(joined(pieces)[:length], "cut")


def vectors() -> Iterator[Vector]:
    for kind, payload in PAYLOADS.items():
        name = NAMES[kind]
        yield good(name.lower(), f"One {name}", [(kind, payload)])
        yield bad(f"{name.lower()}_crc", "damaged", f"One {name} with a wrong CRC-32", frame(kind, payload, flip=0x8000_0000))
    turned = frame(ANSWER, PAYLOADS[ANSWER])
    yield bad("bit_in_payload", "damaged", "A bit of the payload is turned over", [*turned[:3], *document({"wantz": []}), turned[-1]])
    yield bad("crc_little_endian", "damaged", "The CRC-32 in the wrong byte order", [*turned[:-1], *binary(turned[-1].data[::-1], "CRC-32, little-endian")])
    payload_only = frame(END)[:2] + [frame(ANSWER, PAYLOADS[ANSWER])[-1]]
    yield bad("crc_of_another", "damaged", "The CRC-32 of another frame", payload_only)

    greeting = binary(b"later", "what a later version says")
    yield good("several", "One frame after the other, nothing between", [(WORKING, []), (ANSWER, PAYLOADS[ANSWER]), (END, [])])
    yield good("empty_payload", "A frame of a known type may be empty as far as frames go; its message is judged later", [(ANSWER, [])])
    yield good("optional_80", "An optional frame that is not known is passed over", [(0x80, greeting), (END, [])])
    yield good("optional_ff", "The last of the optional types", [(WORKING, []), (0xFF, greeting), (END, [])])
    yield good("optional_empty", "An optional frame that is not known may be empty", [(0x90, []), (END, [])])
    yield good("optional_at_limit", "An optional frame of 65,536 bytes", [(0xC0, binary(bytes(65_536), "65,536 bytes")), (END, [])])
    yield bad("optional_crc", "damaged", "The CRC-32 of an optional frame counts too", frame(0x80, greeting, flip=1) + frame(END))
    yield bad("optional_over_limit", "protocol-violation", "An optional frame of 65,537 bytes", frame(0x80, binary(bytes(65_537), "65,537 bytes")))
    yield good("padding", "Padding is passed over, whatever it says", [(PADDING, binary(bytes(100), "zeros")), (PADDING, greeting), (END, [])])
    yield good("padding_empty", "Padding may be empty", [(PADDING, []), (END, [])])
    yield good("padding_at_limit", "Padding of 65,536 bytes", [(PADDING, binary(bytes(65_536), "zeros")), (END, [])])
    yield bad("padding_over_limit", "protocol-violation", "Padding of 65,537 bytes", frame(PADDING, binary(bytes(65_537), "zeros")))
    yield bad("padding_crc", "damaged", "The CRC-32 of padding counts too", frame(PADDING, greeting, flip=1) + frame(END))
    yield bad("required_7f", "unknown-frame", "A required frame that is not known", frame(0x7F, greeting) + frame(END))
    yield bad("type_0", "unknown-frame", "Type 0 is never used", frame(0x00, greeting))
    yield bad("working_with_payload", "protocol-violation", "WORKING has no payload", frame(WORKING, greeting))
    yield bad("stay_over_limit", "protocol-violation", "STAY has 4 bytes", frame(STAY, greeting))
    yield bad("askable_with_payload", "protocol-violation", "ASKABLE has no payload", frame(ASKABLE, greeting))
    yield bad("question_over_limit", "protocol-violation", "QUESTION has 136 bytes at most", frame(QUESTION, binary(bytes(8) + b"a" * 129, "a long name")))
    yield bad("newest_over_limit", "protocol-violation", "NEWEST has 24 bytes", frame(NEWEST, binary(bytes(25), "25 bytes")))
    yield bad("end_with_payload", "protocol-violation", "END has no payload", frame(END, greeting))

    early = "protocol-violation"
    whole = frame(ANSWER, PAYLOADS[ANSWER])
    length = len(joined(whole))
    yield bad("cut_in_header", early, "The link ends inside the length", cut(whole, 4))
    yield bad("cut_after_header", early, "The link ends after the header", cut(whole, 5))
    yield bad("cut_in_payload", early, "The link ends inside the payload", cut(whole, 9))
    yield bad("cut_before_crc", early, "The link ends before the CRC-32", cut(whole, length - 4))
    yield bad("cut_in_crc", early, "The link ends one byte before the end of the frame", cut(whole, length - 1))
    yield bad("cut_optional", early, "An optional frame has to be whole as well", frame(END) + cut(frame(0x80, greeting), 8))
