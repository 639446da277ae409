#!/usr/bin/env python3
"""Writes `vectors.json`: what `../TRUST.md` and `../PAIRING.md` say, as bytes.

    python3 Protocol/Pairing/generate.py           write them anew
    python3 Protocol/Pairing/generate.py --check   exit with 1 if they differ

It follows the two pages, draft-irtf-cfrg-cpace-21, RFC 7748 and RFC 9380 alone, with the standard library only, and shares
nothing with the product's code. It is not constant-time: its secrets are written down here.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import sys
from pathlib import Path

FILE = Path(__file__).resolve().parent / "vectors.json"
PAGE = FILE.parent.parent / "PAIRING.md"
P = 2**255 - 19
J = 486662
DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
MAGIC = bytes.fromhex("8950414952 0D0A1A")


# --- ids, TRUST.md section 1


def times_a(value: int) -> int:
    value <<= 1
    return value ^ 0b100101 if value & 32 else value


def id_text(digest: bytes) -> str:
    number = int.from_bytes(digest, "big") << 4
    values = [number >> 5 * (51 - index) & 31 for index in range(52)]
    groups = []
    for group in range(13):
        digits = values[4 * group : 4 * group + 4]
        check = group
        for place, digit in enumerate(digits, start=1):
            for _ in range(place):
                digit = times_a(digit)
            check ^= digit
        groups.append("".join(DIGITS[value] for value in [*digits, check]))
    return "-".join(groups)


# --- X25519 [RFC 7748 section 5] and Elligator 2 [RFC 9380 section 6.7.1]


def x25519(scalar: bytes, point: bytes) -> bytes:
    k = int.from_bytes(scalar, "little") & ~7 & (2**255 - 1) | 2**254
    u = int.from_bytes(point, "little") & (2**255 - 1)
    x2, z2, x3, z3, swap = 1, 0, u, 1, 0
    for bit in reversed(range(255)):
        now = k >> bit & 1
        if swap ^ now:
            x2, x3, z2, z3 = x3, x2, z3, z2
        swap = now
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        da, cb, aa, bb = d * a % P, c * b % P, a * a % P, b * b % P
        x3, z3 = (da + cb) ** 2 % P, u * (da - cb) ** 2 % P
        x2, z2 = aa * bb % P, (aa - bb) * (aa + 121665 * (aa - bb)) % P
    if swap:
        x2, z2 = x3, z3
    return (x2 * pow(z2, P - 2, P) % P).to_bytes(32, "little")


def elligator2(u: int) -> int:
    x1 = -J * pow(1 + 2 * u * u, P - 2, P) % P
    gx1 = (x1**3 + J * x1 * x1 + x1) % P
    return x1 if pow(gx1, (P - 1) // 2, P) in (0, 1) else (-x1 - J) % P


# --- CPace [draft-irtf-cfrg-cpace-21]


def leb128(number: int) -> bytes:
    out = bytearray()
    while True:
        out.append(number & 127 | (128 if number > 127 else 0))
        number >>= 7
        if not number:
            return bytes(out)


def lv_cat(*parts: bytes) -> bytes:
    return b"".join(leb128(len(part)) + part for part in parts)


def generator(prs: bytes, ci: bytes, sid: bytes) -> bytes:
    zeros = max(0, 127 - len(lv_cat(prs)) - len(lv_cat(b"CPace255")))
    digest = hashlib.sha512(lv_cat(b"CPace255", prs, bytes(zeros), ci, sid)).digest()[:32]
    return elligator2(int.from_bytes(digest, "little") & (2**255 - 1)).to_bytes(32, "little")


# --- PAIRING.md


def pairing(code: str, name: str, seed: str, role: str) -> dict[str, str]:
    return run(code, name, seed, role)[0]


def example() -> str:
    """The worked example of section 6, as the page has it."""
    messages, values = run("482913", "w", "pairing 2")
    shown = {key: messages[key] for key in ("code", "initiator", "responder", "sid", "ya", "yb")} | values
    shown |= {key: messages[key] for key in ("start", "answer", "proof", "welcome")}
    lines = []
    for key, value in shown.items():
        pieces = [value[at : at + 96] for at in range(0, len(value), 96)]
        lines += [f"    {key if not place else '':10}{piece}" for place, piece in enumerate(pieces)]
    return "\n".join(lines) + "\n"


def run(code: str, name: str, seed: str, role: str = "sender") -> tuple[dict[str, str], dict[str, str]]:
    """The messages of a pairing with what went into them, and what was worked out on the way."""

    def bytes_for(what: str, count: int) -> bytes:
        return hashlib.sha512(f"{seed} {what}".encode()).digest()[:count]

    initiator, responder = bytes_for("initiator", 32), bytes_for("responder", 32)
    sid, ya, yb = bytes_for("sid", 16), bytes_for("ya", 32), bytes_for("yb", 32)
    purpose = {"sender": b"ship-store pairing", "receiver": b"ship-store pairing to receive"}[role]
    g = generator(code.encode(), lv_cat(purpose, initiator, responder), sid)
    share_a, share_b = x25519(ya, g), x25519(yb, g)
    secret = x25519(ya, share_b)
    assert secret == x25519(yb, share_a)
    isk = hashlib.sha512(
        lv_cat(b"CPace255_ISK", sid, secret) + lv_cat(share_a, b"") + lv_cat(share_b, b"")
    ).digest()
    key = hashlib.sha512(b"CPaceMac" + sid + isk).digest()
    tag_a, tag_b = (hmac.new(key, lv_cat(share, b""), hashlib.sha512).digest() for share in (share_a, share_b))
    named = bytes([len(name.encode())]) + name.encode()
    values = {"g": g.hex(), "Ya": share_a.hex(), "Yb": share_b.hex(), "K": secret.hex(), "ISK": isk.hex(), "key": key.hex()}
    messages = {
        "code": code,
        "initiatorIs": role,
        "initiator": initiator.hex(),
        "responder": responder.hex(),
        "sid": sid.hex(),
        "ya": ya.hex(),
        "yb": yb.hex(),
        "name": name,
        "start": (MAGIC + b"\x01" + sid + share_a).hex(),
        "answer": (b"\x00" + share_b + tag_b).hex(),
        "proof": (tag_a + named).hex(),
        "welcome": (b"\x00" + named).hex(),
    }
    return messages, values


def check_drafts_vectors() -> None:
    """Appendix B.1 of the draft, so that the code above is known to be right."""
    ci, sid = b"\x0bA_initiator\x0bB_responder", bytes.fromhex("7e4b4791d6a8ef019b936c79fb7f2c57")
    g = generator(b"Password", ci, sid)
    assert g.hex() == "d04bf6d41f6a289632a2e929fa29bebd51092512a7829fdde7d314b62f05a73f"
    ya = bytes.fromhex("21b4f4bd9e64ed355c3eb676a28ebedaf6d8f17bdc365995b319097153044080")
    assert x25519(ya, g).hex() == "1d13c89278cdadd826f6d8d7f887701430f8380ddc17611cdd6dc989ce0c9f32"


def text() -> str:
    check_drafts_vectors()
    digests = [bytes(32), b"\xff" * 32] + [hashlib.sha256(bytes([number])).digest() for number in range(6)]
    content = {
        "ids": [{"sha256": digest.hex(), "text": id_text(digest)} for digest in digests],
        "pairings": [
            pairing(code, name, f"pairing {number}", "sender" if number < 12 else "receiver")
            for number, (code, name) in enumerate(
                [("000000", "phone"), ("999999", "Anna\u2019s watch"), ("482913", "w"), ("104729", "x" * 64)] * 4
            )
        ],
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def main() -> int:
    if sys.argv[1:] == ["--check"]:
        is_same = FILE.exists() and FILE.read_text(encoding="utf-8") == text()
        print("Pairing/vectors.json: as generated" if is_same else "Pairing/vectors.json: differs")
        is_right = example() in PAGE.read_text(encoding="utf-8")
        print("PAIRING.md: its example is right" if is_right else f"PAIRING.md: its example is not\n{example()}")
        return 0 if is_same and is_right else 1
    FILE.write_text(text(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
