"""What encrypts a publication (PUBLISHED.md 9): X25519 (RFC 7748), HKDF (RFC 5869), ChaCha20-Poly1305 (RFC 8439) and HPKE in base mode (RFC 9180).

It is not constant-time: its secrets are written down in vectors, or in the hands of who runs it.
"""

from __future__ import annotations

import hmac
import struct

TAG, KEY = 16, 32
FIELD = 2**255 - 19
KEM, SUITE = b"KEM" + struct.pack(">H", 0x20), b"HPKE" + struct.pack(">HHH", 0x20, 1, 3)


class Wrong(Exception):
    """It is not what was encrypted."""


# X25519


def x25519(scalar: bytes, point: bytes) -> bytes:
    k = int.from_bytes(scalar, "little") & ~7 & (2**255 - 1) | 1 << 254
    u = int.from_bytes(point, "little") % 2**255
    (x2, z2), (x3, z3), swap = (1, 0), (u, 1), 0
    for bit in (k >> at & 1 for at in reversed(range(255))):
        if swap != bit:
            (x2, z2), (x3, z3) = (x3, z3), (x2, z2)
        swap = bit
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        aa, bb, da, cb = a * a, b * b, d * a, c * b
        x3, z3 = (da + cb) ** 2 % FIELD, u * (da - cb) ** 2 % FIELD
        x2, z2 = aa * bb % FIELD, (aa - bb) * (bb + 121666 * (aa - bb)) % FIELD
    if swap:
        x2, z2 = x3, z3
    return (x2 * pow(z2, -1, FIELD) % FIELD if z2 else 0).to_bytes(KEY, "little")


def public(key: bytes) -> bytes:
    return x25519(key, (9).to_bytes(KEY, "little"))


# HKDF


def extracted(salt: bytes, material: bytes) -> bytes:
    return hmac.digest(salt or bytes(32), material, "sha256")


def expanded(key: bytes, info: bytes, size: int) -> bytes:
    found = last = b""
    while len(found) < size:
        last = hmac.digest(key, last + info + bytes([len(found) // 32 + 1]), "sha256")
        found += last
    return found[:size]


# ChaCha20-Poly1305


def quarter(s: list[int], a: int, b: int, c: int, d: int) -> None:
    for x, y, z, bits in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        s[x] = s[x] + s[y] & 0xFFFFFFFF
        mixed = s[z] ^ s[x]
        s[z] = (mixed << bits | mixed >> (32 - bits)) & 0xFFFFFFFF


def key_stream(key: bytes, counter: int, nonce: bytes) -> bytes:
    start = [*struct.unpack("<4I", b"expand 32-byte k"), *struct.unpack("<8I", key), counter, *struct.unpack("<3I", nonce)]
    s = start.copy()
    for _ in range(10):
        for column in range(4):
            quarter(s, column, column + 4, column + 8, column + 12)
        for column in range(4):
            quarter(s, column, (column + 1) % 4 + 4, (column + 2) % 4 + 8, (column + 3) % 4 + 12)
    return struct.pack("<16I", *(one + other & 0xFFFFFFFF for one, other in zip(s, start)))


def chacha(key: bytes, nonce: bytes, data: bytes) -> bytes:
    stream = b"".join(key_stream(key, 1 + at // 64, nonce) for at in range(0, len(data), 64))[: len(data)]
    return (int.from_bytes(data, "little") ^ int.from_bytes(stream, "little")).to_bytes(len(data), "little")


def tag_of(key: bytes, nonce: bytes, sealed: bytes, beside: bytes) -> bytes:
    once = key_stream(key, 0, nonce)[:32]
    r, s = int.from_bytes(once[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF, int.from_bytes(once[16:], "little")
    padded = [part + bytes(-len(part) % 16) for part in (beside, sealed)]
    text, sum = b"".join(padded) + struct.pack("<QQ", len(beside), len(sealed)), 0
    for at in range(0, len(text), 16):
        sum = (sum + int.from_bytes(text[at : at + 16] + b"\1", "little")) * r % (2**130 - 5)
    return (sum + s & 2**128 - 1).to_bytes(TAG, "little")


def encrypted(key: bytes, nonce: bytes, data: bytes, beside: bytes = b"") -> bytes:
    sealed = chacha(key, nonce, data)
    return sealed + tag_of(key, nonce, sealed, beside)


def decrypted(key: bytes, nonce: bytes, sealed: bytes, beside: bytes = b"") -> bytes:
    if len(sealed) < TAG or not hmac.compare_digest(tag_of(key, nonce, sealed[:-TAG], beside), sealed[-TAG:]):
        raise Wrong
    return chacha(key, nonce, sealed[:-TAG])


# HPKE


def labeled(suite: bytes, salt: bytes, label: bytes, material: bytes) -> bytes:
    return extracted(salt, b"HPKE-v1" + suite + label + material)


def labeled_key(suite: bytes, key: bytes, label: bytes, info: bytes, size: int) -> bytes:
    return expanded(key, struct.pack(">H", size) + b"HPKE-v1" + suite + label + info, size)


def schedule(shared: bytes, context: bytes, info: bytes) -> tuple[bytes, bytes]:
    """The key and the nonce of the first message."""
    secret = labeled_key(KEM, labeled(KEM, b"", b"eae_prk", shared), b"shared_secret", context, 32)
    known = b"\0" + labeled(SUITE, b"", b"psk_id_hash", b"") + labeled(SUITE, b"", b"info_hash", info)
    key = labeled(SUITE, secret, b"secret", b"")
    return labeled_key(SUITE, key, b"key", known, 32), labeled_key(SUITE, key, b"base_nonce", known, 12)


def sealed_to(recipient: bytes, data: bytes, info: bytes, once: bytes) -> bytes:
    """`once`: a private key for this alone. The encapsulated key, and what is encrypted."""
    own = public(once)
    key, nonce = schedule(x25519(once, recipient), own + recipient, info)
    return own + encrypted(key, nonce, data)


def opened_by(key: bytes, sealed: bytes, info: bytes) -> bytes:
    own, rest = sealed[:KEY], sealed[KEY:]
    if len(own) < KEY:
        raise Wrong
    found, nonce = schedule(x25519(key, own), own + public(key), info)
    return decrypted(found, nonce, rest)
