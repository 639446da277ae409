"""PUBLISHED.md 9: reads a publication that is encrypted."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass

from decoder.json_rules import no
from decoder.place import Place
from decoder.publication import LARGEST_HEAD
from decoder.refused import Refused
from sealing import TAG, Wrong, decrypted, expanded, extracted, opened_by

HEAD_MAGIC, KEYS_MAGIC, OUR_VERSION = b"SHIPSEAL", b"SHIPKEYS", 1
FIELDS, ENTRY, PIECE, MOST_RECIPIENTS, MOST_FORMER = 53, 80, 65_536, 101, 16
LARGEST_KEYS = 10 + MOST_RECIPIENTS * ENTRY + 48 + 32 * MOST_FORMER


def damaged(why: str) -> Refused:
    return Refused("damaged", why)


@dataclass(frozen=True)
class Secret:
    bytes: bytes

    def key(self, purpose: str, name: bytes = b"") -> bytes:
        return expanded(extracted(b"", self.bytes), f"ship-store publication {purpose} v1".encode() + name, 32)

    def name(self, digest: str) -> str:
        return hmac.digest(self.key("name"), bytes.fromhex(digest), "sha256").hex()

    def head(self, file: bytes) -> bytes:
        fields = file[:FIELDS]
        try:
            return decrypted(self.key("head"), fields[41:], file[FIELDS:], fields)
        except Wrong as wrong:
            raise damaged("the head is not what was encrypted") from wrong

    def object(self, name: str, sealed: bytes, is_whole: bool = True) -> bytes:
        """`is_whole`: whether nothing comes after it."""
        key, found = self.key("object", bytes.fromhex(name)), b""
        pieces = [sealed[at : at + PIECE + TAG] for at in range(0, len(sealed), PIECE + TAG)] or [b""]
        for number, piece in enumerate(pieces):
            is_last = is_whole and number == len(pieces) - 1
            try:
                found += decrypted(key, number.to_bytes(11, "big") + bytes([is_last]), piece)
            except Wrong as wrong:
                raise damaged(f"the object {name} is not what was encrypted") from wrong
        return found


def keys_of(file: bytes) -> bytes:
    """The name of the object with the keys of an encrypted head."""
    if len(file) > LARGEST_HEAD:
        raise no("too long")
    if file[8:9] not in (b"", bytes([OUR_VERSION])):
        raise Refused("version-not-supported", f"version {file[8]}")
    if len(file) <= FIELDS:
        raise damaged("it ends within its fields")
    return file[9:41]


def secret(keys: bytes, key: bytes) -> Secret | None:
    """None if `key` is no recipient's."""
    if len(keys) > LARGEST_KEYS or not keys.startswith(KEYS_MAGIC):
        raise no("no keys")
    if keys[8:9] not in (b"", bytes([OUR_VERSION])):
        raise Refused("version-not-supported", f"version {keys[8]}")
    count = keys[9] if len(keys) > 9 else 0
    if not 1 <= count <= MOST_RECIPIENTS or len(keys) < 10 + count * ENTRY:
        raise no("fewer keys than it says")
    for at in range(10, 10 + count * ENTRY, ENTRY):
        try:
            return Secret(opened_by(key, keys[at : at + ENTRY], b"ship-store publication keys v1"))
        except Wrong:
            pass
    return None


class Encrypted:
    """A place of which some is encrypted; the rest is as it lies there."""

    def __init__(self, place: Place, key: bytes | None) -> None:
        self.place, self.key = place, key
        self.secret: Secret | None = None
        self.keys: str | None = None
        """The digest of the keys of the last head."""

    def read(self, name: str, most: int) -> bytes | None:
        if name == "head":
            return self.head(most)
        if self.secret is None:
            return self.place.read(name, most)
        found_name = self.secret.name(name.removeprefix("objects/"))
        limit = (most // PIECE + 1) * (PIECE + TAG)
        sealed = self.place.read(f"objects/{found_name}", limit)
        if sealed is None:
            return None
        return self.secret.object(found_name, sealed[:limit], len(sealed) <= limit)

    def head(self, most: int) -> bytes | None:
        file = self.place.read("head", most)
        self.secret = self.keys = None
        if file is None or not file.startswith(HEAD_MAGIC):
            return file
        name = keys_of(file).hex()
        keys = self.place.read(f"objects/{name}", LARGEST_KEYS)
        if keys is None or hashlib.sha256(keys).hexdigest() != name:
            raise damaged("the keys are missing, or others")
        if self.key is None or (found := secret(keys, self.key)) is None:
            raise Refused("not-trusted", "it is encrypted, and not for this key")
        self.secret, self.keys = found, name
        return found.head(file)
