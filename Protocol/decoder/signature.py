"""Section 3.6: who signed a one-way shipment. ECDSA as in FIPS 186-5 section 6.4.2, in projective coordinates."""

from __future__ import annotations

import hashlib

from decoder.refused import Refused

VALUE_SIZE = 64
LONGEST_CERTIFICATE = 4096
FIELD = 0xFFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
BASE = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
    1,
)
P_256_KEY = bytes.fromhex("301306072A8648CE3D020106082A8648CE3D030107")
"""AlgorithmIdentifier of a public key on P-256 [RFC 5480 section 2.1]."""


def bad(why: str) -> Refused:
    return Refused("bad-signature", why)


def doubled(point: tuple[int, int, int]) -> tuple[int, int, int]:
    x, y, z = point
    if z == 0 or y == 0:
        return 1, 1, 0
    square = y * y % FIELD
    middle = 4 * x * square % FIELD
    slope = 3 * (x - z * z) * (x + z * z) % FIELD
    new_x = (slope * slope - 2 * middle) % FIELD
    return new_x, (slope * (middle - new_x) - 8 * square * square) % FIELD, 2 * y * z % FIELD


def summed(one: tuple[int, int, int], other: tuple[int, int, int]) -> tuple[int, int, int]:
    if one[2] == 0 or other[2] == 0:
        return other if one[2] == 0 else one
    (x1, y1, z1), (x2, y2, z2) = one, other
    u1, u2 = x1 * z2 * z2 % FIELD, x2 * z1 * z1 % FIELD
    s1, s2 = y1 * z2**3 % FIELD, y2 * z1**3 % FIELD
    if u1 == u2:
        return doubled(one) if s1 == s2 else (1, 1, 0)
    h, r = u2 - u1, s2 - s1
    x = (r * r - h**3 - 2 * u1 * h * h) % FIELD
    return x, (r * (u1 * h * h - x) - s1 * h**3) % FIELD, h * z1 * z2 % FIELD


def multiple(scalar: int, point: tuple[int, int, int]) -> tuple[int, int, int]:
    result = (1, 1, 0)
    for bit in bin(scalar)[2:]:
        result = doubled(result)
        if bit == "1":
            result = summed(result, point)
    return result


class Elements:
    """What is in a value of DER, one after the other [X.690 section 8.1]."""

    def __init__(self, data: bytes) -> None:
        self.rest = data

    def next(self, tag: int) -> bytes:
        """The content of the next element."""
        if len(self.rest) < 2 or self.rest[0] != tag:
            raise bad("no certificate")
        size, start = self.rest[1], 2
        if size >= 0x80:
            start += size & 0x7F
            size = int.from_bytes(self.rest[2:start], "big")
        content, self.rest = self.rest[start : start + size], self.rest[start + size :]
        if len(content) != size:
            raise bad("no certificate")
        return content


def public_key(certificate: bytes) -> tuple[int, int, int]:
    outer = Elements(certificate)
    content = Elements(Elements(outer.next(0x30)).next(0x30))
    if outer.rest:
        raise bad("bytes behind the certificate")
    for tag in (0xA0, 0x02, 0x30, 0x30, 0x30, 0x30):
        content.next(tag)
    info = content.next(0x30)
    if not info.startswith(P_256_KEY):
        raise bad("a key of another kind")
    point = Elements(info[len(P_256_KEY) :]).next(0x03)
    x, y = int.from_bytes(point[2:34], "big"), int.from_bytes(point[34:], "big")
    if len(point) != 66 or point[:2] != b"\0\4" or max(x, y) >= FIELD or (y * y - x**3 + 3 * x - B) % FIELD:
        raise bad("no point of the curve")
    return x, y, 1


def completed(payload: bytes, certificate: bytes) -> bytes:
    """The payload with its certificate: the one that came last, if it has none."""
    if len(payload) == VALUE_SIZE:
        payload += certificate
    if len(payload) <= VALUE_SIZE:
        raise Refused("protocol-violation", "a signature without a certificate")
    return payload


def signer(payload: bytes, version: int, manifest: bytes) -> str:
    """The id of the device that signed, in hexadecimal; both payloads are those of their frames."""
    value, certificate = payload[:VALUE_SIZE], payload[VALUE_SIZE:]
    return signer_of(b"ship-store one-way shipment v1" + bytes([version, 1]), manifest, value, certificate)


def signer_of(fixed: bytes, signed: bytes, value: bytes, certificate: bytes) -> str:
    """The same of a value that is of `fixed`, the device's id, and `signed` with its size before it."""
    key = public_key(certificate)
    device = hashlib.sha256(certificate)
    content = fixed + device.digest() + len(signed).to_bytes(8, "big") + signed
    r, s = int.from_bytes(value[:32], "big"), int.from_bytes(value[32:], "big")
    if not (0 < r < ORDER and 0 < s < ORDER):
        raise bad("numbers out of range")
    inverse = pow(s, -1, ORDER)
    digest = int.from_bytes(hashlib.sha256(content).digest(), "big")
    x, _, z = summed(multiple(digest * inverse % ORDER, BASE), multiple(r * inverse % ORDER, key))
    if z == 0 or x * pow(z, -2, FIELD) % FIELD % ORDER != r:
        raise bad("not what was signed")
    return device.hexdigest()
