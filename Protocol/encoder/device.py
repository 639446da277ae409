"""A device: a P-256 key, its certificate (X.509, as DER) and its signatures (FIPS 186-5).

The nonces are those of RFC 6979, so that signatures are the same each time. It is not constant-time: its secrets are written
down here.
"""

from __future__ import annotations

import hashlib
import hmac

P = 2**256 - 2**224 + 2**192 + 2**96 - 1
N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
G = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)
Point = tuple[int, int] | None


def added(left: Point, right: Point) -> Point:
    if left is None or right is None:
        return left or right
    (x1, y1), (x2, y2) = left, right
    if x1 == x2 and (y1 + y2) % P == 0:
        return None
    slope = (3 * x1 * x1 - 3) * pow(2 * y1, -1, P) if left == right else (y2 - y1) * pow(x2 - x1, -1, P)
    x3 = (slope * slope - x1 - x2) % P
    return x3, (slope * (x1 - x3) - y1) % P


def times(scalar: int, point: Point) -> Point:
    result: Point = None
    while scalar:
        if scalar & 1:
            result = added(result, point)
        point = added(point, point)
        scalar >>= 1
    return result


def nonce(key: int, digest: bytes) -> int:
    """RFC 6979 section 3.2."""
    secret = key.to_bytes(32, "big") + (int.from_bytes(digest, "big") % N).to_bytes(32, "big")
    v, k = b"\1" * 32, b"\0" * 32
    for mark in (b"\0", b"\1"):
        k = hmac.digest(k, v + mark + secret, "sha256")
        v = hmac.digest(k, v, "sha256")
    while True:
        v = hmac.digest(k, v, "sha256")
        if 1 <= int.from_bytes(v, "big") < N:
            return int.from_bytes(v, "big")
        k = hmac.digest(k, v + b"\0", "sha256")
        v = hmac.digest(k, v, "sha256")


def der(tag: int, *contents: bytes) -> bytes:
    content = b"".join(contents)
    length = len(content)
    if length < 128:
        return bytes([tag, length]) + content
    size = (length.bit_length() + 7) // 8
    return bytes([tag, 0x80 | size]) + length.to_bytes(size, "big") + content


def number(value: int) -> bytes:
    return der(0x02, value.to_bytes(value.bit_length() // 8 + 1, "big"))


EC_KEY = der(0x06, bytes.fromhex("2A8648CE3D0201"))
P_256 = der(0x06, bytes.fromhex("2A8648CE3D030107"))
ED25519 = der(0x06, bytes.fromhex("2B6570"))
ECDSA_SHA_256 = der(0x30, der(0x06, bytes.fromhex("2A8648CE3D040302")))
NAME = der(0x30, der(0x31, der(0x30, der(0x06, bytes.fromhex("550403")), der(0x0C, b"ship-store device"))))
VALIDITY = der(0x30, der(0x17, b"700101000000Z"), der(0x18, b"99991231235959Z"))


class Device:
    def __init__(self, seed: str, serial: int = 1) -> None:
        self.key = int.from_bytes(hashlib.sha256(seed.encode()).digest(), "big") % (N - 1) + 1
        public = times(self.key, G)
        assert public is not None
        point = b"\4" + b"".join(coordinate.to_bytes(32, "big") for coordinate in public)
        self.certificate = self.certified(der(0x30, EC_KEY, P_256), point, serial)

    def certified(self, algorithm: bytes, public_key: bytes, serial: int = 1) -> bytes:
        """A certificate of any key, signed with this one."""
        spki = der(0x30, algorithm, der(0x03, b"\0", public_key))
        version = der(0xA0, number(2))
        content = der(0x30, version, number(serial), ECDSA_SHA_256, NAME, VALIDITY, NAME, spki)
        r, s = self.signed(content)
        return der(0x30, content, ECDSA_SHA_256, der(0x03, b"\0", der(0x30, number(r), number(s))))

    @property
    def id(self) -> bytes:
        return hashlib.sha256(self.certificate).digest()

    def signed(self, content: bytes) -> tuple[int, int]:
        digest = hashlib.sha256(content).digest()
        k = nonce(self.key, digest)
        point = times(k, G)
        assert point is not None
        r = point[0] % N
        return r, pow(k, -1, N) * (int.from_bytes(digest, "big") + r * self.key) % N


DOMAIN = b"ship-store one-way shipment v1"


def signed_content(payload: bytes, producer: bytes, version: int = 1, mode: int = 1, domain: bytes = DOMAIN) -> bytes:
    """README.md section 3.6."""
    return domain + bytes([version, mode]) + producer + len(payload).to_bytes(8, "big") + payload
