"""Publications that are encrypted (PUBLISHED.md 9)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from cases.heads import GOOD_HEAD
from encoder import sealed as s
from encoder.piece import Piece, Pieces, binary, joined
from encoder.vector import Detail, Vector
from sealing import public

COVERS = "published 9"
SECRET, EARLIER = s.drawn("secret"), s.drawn("secret before")
PUBLISHER, WATCH, TABLET, STRANGER = (s.drawn(name) for name in ("publisher", "watch", "tablet", "stranger"))
KEYS = s.keys(SECRET, [PUBLISHER, WATCH, TABLET])
HEAD = joined(GOOD_HEAD)
LARGEST_HEAD, MOST_RECIPIENTS = 262_144, 101


def digest(pieces: Pieces) -> bytes:
    return hashlib.sha256(joined(pieces)).digest()


def vector(name: str, about: str, key: bytes, keys: Pieces, of: str, file: Pieces, details: list[Detail], error: str | None = None) -> Vector:
    sections = [("key", binary(key, "a recipient's private key")), ("keys", keys), (of, file)]
    return Vector(f"sealed_{name}", about, COVERS, "sealed", error, details, sections)


def head(name: str, about: str, keys: Pieces = KEYS, key: bytes = WATCH, file: Pieces | None = None) -> Vector:
    pieces = s.head(SECRET, HEAD, digest(keys)) if file is None else file
    return vector(f"head_{name}", about, key, keys, "head", pieces, [("decrypted", f"{len(HEAD)} {hashlib.sha256(HEAD).hexdigest()}")])


def bad_head(name: str, about: str, file: Pieces, error: str = "damaged", keys: Pieces = KEYS) -> Vector:
    return vector(f"head_{name}", about, WATCH, keys, "head", file, [], error)


def bad_keys(name: str, about: str, keys: Pieces, error: str = "bad-manifest") -> Vector:
    return bad_head(f"keys_{name}", about, s.head(SECRET, HEAD, digest(keys)), error, keys)


def content_of(size: int) -> bytes:
    return (b"".join(s.drawn(f"content {number}") for number in range(100)) * (size // 3200 + 1))[:size]


def named(content: bytes) -> list[Detail]:
    return [("content", hashlib.sha256(content).hexdigest()), ("object-name", s.name_of(SECRET, content).hex())]


def objects(name: str, about: str, content: bytes, pieces: list[bytes] | None = None, error: str | None = None) -> Vector:
    found = s.pieces_of(SECRET, content, s.name_of(SECRET, content)) if pieces is None else pieces
    details = named(content) + ([] if error else [("decrypted", f"{len(content)} {hashlib.sha256(content).hexdigest()}")])
    file = [piece for each in found for piece in binary(each[:-16], "a piece, encrypted") + binary(each[-16:], "tag")]
    return vector(f"object_{name}", about, WATCH, KEYS, "object", file, details, error)


def vectors() -> Iterator[Vector]:
    yield from recipients()
    yield from heads()
    yield from keys()
    yield from pieces()


def recipients() -> Iterator[Vector]:
    yield head("of_several", "One of three recipients reads a head")
    yield head("of_publisher", "The publisher reads it as a recipient does", key=PUBLISHER)
    yield head("of_one", "There is one recipient, beside the publisher there is none", s.keys(SECRET, [WATCH]))
    others = [s.drawn(f"other {number}") for number in range(MOST_RECIPIENTS - 1)]
    yield head("of_most", "There are as many as there may be", s.keys(SECRET, [WATCH, *others]))
    before = s.keys(SECRET, [PUBLISHER, WATCH], [EARLIER], PUBLISHER)
    yield head("after_another_secret", "The publisher keeps a secret from before, which says nothing to others", before)
    stranger = s.head(SECRET, HEAD, digest(KEYS))
    yield vector("head_of_others", "Who is no recipient does not read it", STRANGER, KEYS, "head", stranger, [("recipient", "no")])
    other = s.keys(SECRET, [WATCH], purpose=s.FORMER)
    yield vector("head_for_another_purpose", "What was encrypted as secrets before is none", WATCH, other, "head", s.head(SECRET, HEAD, digest(other)), [("recipient", "no")])


def heads() -> Iterator[Vector]:
    good = joined(s.head(SECRET, HEAD, digest(KEYS)))
    yield bad_head("version_2", "A head of another version", s.head(SECRET, HEAD, digest(KEYS), version=2), "version-not-supported")
    yield bad_head("only_version_2", "It ends with the version, which is another one", binary(good[:8] + b"\2", "a head"), "version-not-supported")
    yield bad_head("only_fields", "It ends with its fields", binary(good[:53], "a head"))
    yield bad_head("cut", "The last byte of the tag is missing", binary(good[:-1], "a head"))
    yield bad_head("longer", "There is a byte after the tag", binary(good + b"\0", "a head"))
    yield bad_head("changed", "A byte of it is another one", binary(good[:60] + bytes([good[60] ^ 1]) + good[61:], "a head"))
    yield bad_head("other_secret", "It was encrypted with another secret", s.head(EARLIER, HEAD, digest(KEYS)))
    yield bad_head("other_nonce", "The nonce is another one than it was encrypted with", binary(good[:41] + bytes(12) + good[53:], "a head"))
    yield bad_head("fields_not_authenticated", "The fields were not authenticated", s.head(SECRET, HEAD, digest(KEYS), authenticated=b"none"))
    too_long = s.HEAD_MAGIC + b"\1" + bytes(LARGEST_HEAD + 1 - 9)
    yield bad_head("too_long", "It is a byte longer than a head may be", binary(too_long[:53], "a head") + [Piece(too_long[53:])], "bad-manifest")


def keys() -> Iterator[Vector]:
    good = joined(KEYS)
    yield bad_keys("none", "The keys are none", binary(b"nothing of this kind", "something else"))
    yield bad_keys("version_2", "Keys of another version", s.keys(SECRET, [WATCH], version=2), "version-not-supported")
    yield bad_keys("no_recipients", "There are no recipients", s.keys(SECRET, []))
    yield bad_keys("too_many", "There is a recipient more than there may be", s.keys(SECRET, [WATCH] * (MOST_RECIPIENTS + 1)))
    yield bad_keys("cut", "A byte of the last recipient's is missing", binary(good[:-1], "keys"))
    yield bad_keys("no_count", "It ends with the version", binary(good[:9], "keys"))


def pieces() -> Iterator[Vector]:
    yield objects("small", "An object of one piece", content_of(300))
    yield objects("empty", "An object of no bytes is one piece", b"")
    two = bytes(s.PIECE) + content_of(40)
    yield objects("two_pieces", "An object of two pieces", two)
    small, found = content_of(300), s.pieces_of(SECRET, two, s.name_of(SECRET, two))
    yield objects("last_missing", "The last piece is missing", two, found[:1], "damaged")
    yield objects("first_missing", "The first piece is missing", two, found[1:], "damaged")
    yield objects("of_another_name", "It was encrypted under another name", small, s.pieces_of(SECRET, small, bytes(32)), "damaged")
    yield objects("of_another_secret", "It was encrypted with another secret", small, s.pieces_of(EARLIER, small, s.name_of(SECRET, small)), "damaged")
    whole = s.pieces_of(SECRET, small, s.name_of(SECRET, small))[0]
    yield objects("cut", "A byte is missing", small, [whole[:-1]], "damaged")
    yield objects("longer", "There is a byte more", small, [whole + b"\0"], "damaged")
