"""Publications that are encrypted (PUBLISHED.md 9). Everything that a vector may want to be wrong is an argument."""

from __future__ import annotations

import hashlib
import hmac

from encoder.piece import Piece, Pieces, binary
from sealing import encrypted, expanded, extracted, public, sealed_to

HEAD_MAGIC, KEYS_MAGIC = b"SHIPSEAL", b"SHIPKEYS"
PURPOSE, FORMER = b"ship-store publication keys v1", b"ship-store former keys v1"
PIECE = 65_536


def drawn(seed: str) -> bytes:
    """Bytes that nobody could guess."""
    return hashlib.sha256(seed.encode()).digest()


def derived(secret: bytes, purpose: str, name: bytes = b"") -> bytes:
    return expanded(extracted(b"", secret), f"ship-store publication {purpose} v1".encode() + name, 32)


def name_of(secret: bytes, content: bytes) -> bytes:
    return hmac.digest(derived(secret, "name"), hashlib.sha256(content).digest(), "sha256")


def keys(
    secret: bytes, recipients: list[bytes], former: list[bytes] = [], publisher: bytes = b"", magic: bytes = KEYS_MAGIC, version: int = 1,
    count: int | None = None, purpose: bytes = PURPOSE,
) -> Pieces:  # fmt: skip
    """`recipients` and `publisher`: their private keys."""
    count = len(recipients) if count is None else count
    pieces = [Piece(magic, "magic"), Piece(bytes([version]), f"version {version}"), Piece(bytes([count]), f"{count} recipients")]
    for number, key in enumerate(sorted(recipients, key=public)):
        sealed = sealed_to(public(key), secret, purpose, drawn(f"once {number}"))
        pieces += [*binary(sealed[:32], "an encapsulated key"), *binary(sealed[32:], "the secret, encrypted")]
    if former:
        sealed = sealed_to(public(publisher), b"".join(former), FORMER, drawn("once before"))
        pieces += [*binary(sealed[:32], "an encapsulated key"), *binary(sealed[32:], "the secrets before, encrypted")]
    return pieces


def head(
    secret: bytes, file: bytes, keys: bytes, magic: bytes = HEAD_MAGIC, version: int = 1, nonce: bytes = drawn("nonce")[:12], authenticated: bytes = b"",
) -> Pieces:  # fmt: skip
    """`keys`: the SHA-256 of the object with the keys."""
    fields = magic + bytes([version]) + keys + nonce
    sealed = encrypted(derived(secret, "head"), nonce, file, authenticated or fields)
    return [
        Piece(magic, "magic"), Piece(bytes([version]), f"version {version}"), *binary(keys, "the keys"), *binary(nonce, "nonce"),
        *binary(sealed[:-16], "a head, encrypted"), *binary(sealed[-16:], "tag"),
    ]  # fmt: skip


def pieces_of(secret: bytes, content: bytes, name: bytes) -> list[bytes]:
    """Each piece of an object, encrypted."""
    key = derived(secret, "object", name)
    starts = range(0, max(1, len(content)), PIECE)
    return [encrypted(key, number.to_bytes(11, "big") + bytes([at == starts[-1]]), content[at : at + PIECE]) for number, at in enumerate(starts)]
