"""A segment: numbers, chunks and row groups, for whoever knows in which order to ask."""

from __future__ import annotations

from decoder.segment import limits
from decoder.segment.columns import column
from decoder.segment.content import Areas
from decoder.segment.earlier import Reading, no_bytes
from decoder.segment.integers import integers
from decoder.segment.limits import damaged
from decoder.segment.reading import Group, Reading
from decoder.segment.work import Work
from decoder.store.records import record

ROWIDS, LEGACY, ROW_WISE = 1, 2, 4
Row = tuple[int | None, bytes]


class Segment:
    def __init__(self, data: bytes, work: Work, areas: Areas | None = None, earlier: Reading = no_bytes) -> None:
        self._areas = areas or Areas(data, work, earlier)
        self._reading = Reading(self._areas, work)
        self._control = self._areas.control
        self._rows = 0
        self._size = 0

    @property
    def reading(self) -> Reading:
        return self._reading

    def is_at_end(self) -> bool:
        return self._areas.is_at_end

    def number(self) -> int:
        return self._control.varint()

    def chunk(self) -> bytes:
        size = self._control.varint()
        if size > limits.CHUNK:
            raise damaged("a chunk that is too long")
        self._count(size)
        return self._areas.text.take(size)

    def rows(self) -> list[Row]:
        count = self._control.varint()
        self._rows += count
        if self._rows > limits.ROWS:
            raise damaged("too many rows")
        if count == 0:
            return []
        flags = self._control.byte()
        if flags > 7:
            raise damaged("flags that mean nothing")
        rowids = integers(self._reading, count, 0) if flags & ROWIDS else None
        records = self._row_wise(count) if flags & ROW_WISE else self._by_column(count, rowids, bool(flags & LEGACY))
        size = sum(map(len, records))
        if size > limits.GROUP:
            raise damaged("a group of too many bytes")
        self._count(size)
        return [(rowids[place] if rowids else None, each) for place, each in enumerate(records)]

    def _count(self, size: int) -> None:
        self._size += size
        if self._size > limits.RECORDS_AND_CHUNKS:
            raise damaged("a segment of too many bytes")

    def _row_wise(self, count: int) -> list[bytes]:
        sizes = integers(self._reading, count, 0)
        if any(size < 1 for size in sizes):
            raise damaged("a record of no bytes")
        return [self._areas.text.take(size) for size in sizes]

    def _by_column(self, count: int, rowids: list[int] | None, is_legacy: bool) -> list[bytes]:
        widths = integers(self._reading, count, 0)
        least, most = min(widths), max(widths)
        if least < 0 or most > limits.COLUMNS:
            raise damaged("a number of columns that cannot be")
        group = Group(count, rowids)
        for place in range(most):
            rows = sum(width > place for width in widths)
            group.columns.append(column(self._reading, rows, group, place < least))
        sources = [iter(each.values) for each in group.columns]
        return [record([next(source) for source in sources[:width]], 1 if is_legacy else 4) for width in widths]
