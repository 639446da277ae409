"""What waits of a shipment that broke off (sections 3.3 and 6.4)."""

from __future__ import annotations

from dataclasses import dataclass

from decoder.json_rules import Members

SIZE = 4
"""Of the size before the data of each DATA in a stream."""


@dataclass(frozen=True)
class Waiting:
    """A stream of the part that was open."""

    file: Members
    """What the manifest said of the part; its size and SHA-256 count."""
    encoding: int
    base: str
    """Digest; empty where the encoding has none."""
    stream: bytes

    def is_of(self, file: Members) -> bool:
        return (self.file["size"], self.file["sha256"]) == (file["size"], file["sha256"])


def cut(stream: bytes) -> tuple[list[bytes], bytes, int] | None:
    """The data of each DATA that is whole, those of the one that is not, and how many bytes of these are missing.

    None where the stream ends at what is no position.
    """
    whole: list[bytes] = []
    while stream:
        size, stream = int.from_bytes(stream[:SIZE], "big"), stream[SIZE:]
        if not stream:
            return None
        if len(stream) < size:
            return whole, stream, size - len(stream)
        whole.append(stream[:size])
        stream = stream[size:]
    return whole, b"", 0
