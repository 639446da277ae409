"""Binary property lists that were taken apart (`LISTS.md`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from decoder.segment.limits import damaged
from decoder.segment.list_objects import written
from decoder.segment.list_reader import Contexts, ListReader
from decoder.segment.list_streams import Streams

if TYPE_CHECKING:
    from decoder.segment.strings import Deeper

ARCHIVE, EACH_ANEW = 1, 2


def property_lists(source: Deeper, count: int) -> list[bytes]:
    """And what is among them that was not taken apart."""
    kinds = source.integers(count)
    if not all(0 <= kind <= 4 for kind in kinds):
        raise damaged("a kind of lists that there is not")
    plain = iter(source.strings(kinds.count(0)))
    if not any(kinds):
        return together(source, list(plain))
    streams = Streams(source, sum(kind > 0 and (kind - 1) & ARCHIVE for kind in kinds))
    contexts = Contexts()
    found: list[bytes] = []
    for kind in kinds:
        if kind == 0:
            found += together(source, [next(plain)])
            continue
        table_size = streams.table_size() if (kind - 1) & ARCHIVE else None
        top = ListReader(streams, contexts, table_size).top()
        found += together(source, [written(top, bool((kind - 1) & EACH_ANEW))])
    streams.check_end()
    return found


def together(source: Deeper, strings: list[bytes]) -> list[bytes]:
    source.puts_together(sum(map(len, strings)))
    return strings
