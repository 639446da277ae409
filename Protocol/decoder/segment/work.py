"""What it costs to decode a part, and what pays for it (`COLUMNS.md` 2, "Work"; `DELTA.md` 8)."""

from __future__ import annotations

from decoder.segment.limits import damaged

FREE = 268_435_456
PER_BYTE = 128
PER_BYTE_OF_BASE = 32
ITEM = 256
ENCODING = 16
ROW = 16
STEP = 64
WORD_BYTE = 4
DEFLATED_STREAM = 1_024
DEFLATED_BYTE = 8
INFLATING = 256
PAGE_OF_FILE = 4_096


def move(page_size: int) -> int:
    return 256 + page_size // 16


class Work:
    def __init__(self) -> None:
        self._left = FREE

    def spend(self, units: int) -> None:
        self._left -= units
        if self._left < 0:
            raise damaged("more work than anything pays for")

    def reads(self, payload: bytes) -> None:
        """A row."""
        self.spend(ROW + len(payload) // 4)

    def makes(self, entry: bytes) -> None:
        """An entry of an index."""
        self.spend(ROW + len(entry))

    def pay(self, size: int) -> None:
        """For bytes that have come, or were made."""
        self._left += size * PER_BYTE

    def pay_base(self, size: int) -> None:
        self._left += size * PER_BYTE_OF_BASE
