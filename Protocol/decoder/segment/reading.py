"""What the parts of a segment's decoder hand on to each other."""

from __future__ import annotations

from dataclasses import dataclass, field

from decoder.segment import limits
from decoder.segment.content import Areas
from decoder.segment.limits import damaged
from decoder.segment.work import DEFLATED_BYTE, DEFLATED_STREAM, ENCODING, Work
from decoder.store.records import Text, Value


class Reading:
    """The areas, and the work that was done: a few bytes can stand for many."""

    def __init__(self, areas: Areas, work: Work) -> None:
        self.areas = areas
        self.work = work
        self.control = areas.control
        self._values = 0
        self._string_bytes = 0
        self._deflated = 0

    def begins(self, count: int) -> None:
        self._values += count
        if self._values > limits.VALUES:
            raise damaged("too many values")
        self.work.spend(ENCODING + count)

    def puts_together(self, size: int) -> None:
        self._string_bytes += size
        if self._string_bytes > limits.STRING_BYTES:
            raise damaged("too long strings")
        self.work.spend(size)

    def deflates(self, size: int) -> None:
        self._deflated += size
        if size > limits.DEFLATED or self._deflated > limits.ALL_DEFLATED:
            raise damaged("too much to deflate")
        self.work.spend(DEFLATED_STREAM + size * DEFLATED_BYTE)


def check_depth(depth: int) -> None:
    if depth > limits.DEPTH:
        raise damaged("too many encodings within encodings")


@dataclass
class Column:
    values: list[Value]
    is_whole: bool
    classes: list[int] | None = None
    class_count: int = 0

    def kinds(self) -> list[int]:
        return [kind_of(value) for value in self.values]


def kind_of(value: Value) -> int:
    """0 NULL, 1 integer, 2 real, 3 text, 4 blob."""
    if value is None:
        return 0
    if isinstance(value, int):
        return 1
    if isinstance(value, Text):
        return 3
    return 4 if type(value) is bytes else 2


@dataclass
class Group:
    """As much of a row group as is decoded: what columns may refer to."""

    rows: int
    rowids: list[int] | None
    columns: list[Column] = field(default_factory=list)

    def whole(self, place: int) -> Column:
        if place >= len(self.columns) or not self.columns[place].is_whole:
            raise damaged("a reference to no earlier column, or to one that is not whole")
        return self.columns[place]

    def integers(self, name: int) -> list[int]:
        """0 names the rowids, *j* + 1 column *j*."""
        if name == 0:
            if self.rowids is None:
                raise damaged("a reference to rowids that are not there")
            return self.rowids
        found = [value for value in self.whole(name - 1).values if isinstance(value, int)]
        if len(found) != self.rows:
            raise damaged("a reference to a column that has not only integers")
        return found

    def texts(self, place: int) -> list[bytes]:
        found: list[bytes] = [value for value in self.whole(place).values if isinstance(value, Text)]
        if len(found) != self.rows:
            raise damaged("a reference to a column that has not only texts")
        return found

    def with_classes(self, place: int) -> Column:
        if place >= len(self.columns) or self.columns[place].classes is None:
            raise damaged("a reference to a column without classes")
        return self.columns[place]
