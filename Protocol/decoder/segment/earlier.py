"""Bytes of pages that earlier segments have filled (`COLUMNS.md` 2, "Runs")."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

from decoder.segment import limits
from decoder.segment.area import Area, unzigzagged
from decoder.segment.limits import damaged
from decoder.segment.work import Work, move
from decoder.store.pages import Pages

NUMBER_OF_NEXT = 4
"""Bytes with which an overflow page begins."""


@dataclass(frozen=True)
class Run:
    page: int
    offset: int
    length: int
    is_chain: bool


Reading = Callable[[list[Run]], bytes]


def runs_of(content: Area) -> list[Run]:
    count = content.varint()
    if not 1 <= count <= limits.RUNS:
        raise damaged("no runs, or too many")
    steps, places, lengths = ([content.varint() for _ in range(count)] for _ in range(3))
    page, found = 0, []
    for step, place, length in zip(steps, places, lengths):
        page += unzigzagged(step)
        found.append(Run(page, place >> 1, length + 1, place & 1 == 1))
    if sum(run.length for run in found) > limits.RUN_BYTES:
        raise damaged("runs of too many bytes")
    return found


def no_bytes(_: list[Run]) -> bytes:
    raise damaged("runs, but no pages")


class Earlier:
    """The pages of a store that is being written; `begins` tells which, once `sqlite_schema` is complete."""

    def __init__(self, out: BinaryIO, work: Work) -> None:
        self._out = out
        self._work = work
        self._pages: Pages | None = None
        self._roots = 0

    def begins(self, pages: Pages, highest_root: int) -> None:
        self._pages, self._roots = pages, highest_root

    def bytes_of(self, runs: list[Run]) -> bytes:
        if self._pages is None:
            raise damaged("runs, but no pages yet")
        geometry, found = self._pages.geometry, bytearray()
        self._work.spend(sum(run.length for run in runs))
        for run in runs:
            skipped = NUMBER_OF_NEXT if run.is_chain else 0
            page, offset, left = run.page, run.offset, run.length
            if page <= self._roots or not skipped <= offset < geometry.usable:
                raise damaged("a run that begins where none can")
            while left:
                if page > self._pages.highest or not geometry.holds_content(page) or self._pages.is_kept(page):
                    raise damaged("a run of what is not there yet")
                self._work.spend(move(geometry.page_size))
                self._out.seek((page - 1) * geometry.page_size + offset)
                found += self._out.read(min(left, geometry.usable - offset))
                left -= min(left, geometry.usable - offset)
                page, offset = geometry.after(page), skipped
        return bytes(found)
