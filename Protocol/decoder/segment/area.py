"""An area of a segment, read from front to back."""

from __future__ import annotations

from decoder.segment.limits import damaged

SIGN = 2**63
WHOLE = 2**64


def wrapped(value: int) -> int:
    """Signed, at 64 bits."""
    return (value + SIGN) % WHOLE - SIGN


def unzigzagged(value: int) -> int:
    return value >> 1 if value & 1 == 0 else -(value >> 1) - 1


class Area:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def is_at_end(self) -> bool:
        return self._at == len(self._data)

    @property
    def rest(self) -> bytes:
        return self._data[self._at :]

    def take(self, count: int) -> bytes:
        if count < 0 or count > len(self._data) - self._at:
            raise damaged("an area that is too short")
        self._at += count
        return self._data[self._at - count : self._at]

    def up_to_zero(self) -> bytes:
        end = self._data.find(b"\0", self._at)
        if end < 0:
            raise damaged("a string without an end")
        found = self._data[self._at : end]
        self._at = end + 1
        return found

    def byte(self) -> int:
        return self.take(1)[0]

    def varint(self) -> int:
        value = 0
        for place in range(10):
            byte = self.byte()
            if place == 9 and byte > 1:
                break
            value |= (byte & 0x7F) << 7 * place
            if byte < 0x80:
                return value
        raise damaged("a varint of more than 64 bits")

    def signed(self) -> int:
        return unzigzagged(self.varint())
