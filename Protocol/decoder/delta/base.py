"""The base: its trees by their numbers, and its rows as the result has them (`DELTA.md` section 1)."""

from __future__ import annotations

from dataclasses import dataclass

from decoder.segment.limits import damaged
from decoder.store.no_canonical_form import NoCanonicalForm
from decoder.store.records import Text, Value, parsed, record
from decoder.store.schema import SchemaRow, checked
from decoder.store.settings import Settings, settings_of_any
from decoder.store.tree_reader import Row, TreeReader

LONGEST_HELD = 262_144


@dataclass(frozen=True)
class Tree:
    is_table: bool
    name: bytes
    root: int


class Base:
    def __init__(self, data: bytes) -> None:
        self.data = data
        try:
            self.settings = settings_of_any(data)
            rows = [(rowid or 0, parsed(payload)) for rowid, payload in self._reader().rows(1)]
            schema = [row for row in checked(rows, self.settings) if row.root]
        except NoCanonicalForm as why:
            raise damaged(f"the base: {why}") from why
        self.trees = [Tree(True, b"", 1), *(self._tree(row) for row in schema)]

    def _reader(self) -> TreeReader:
        return TreeReader(self.data, self.settings.geometry)

    def _tree(self, row: SchemaRow) -> Tree:
        name = bytes(row.name) if isinstance(row.name, Text) else b""
        return Tree(row.kind == Text("table".encode(self.settings.codec)), name, row.root)

    def has_rowids(self, tree: int) -> bool:
        return self._reader().has_rowids(self._known(tree).root)

    def _known(self, tree: int) -> Tree:
        if tree >= len(self.trees):
            raise damaged("a tree that the base has not")
        return self.trees[tree]

    def stored(self, tree: int) -> list[Row]:
        """As they stand there."""
        try:
            return list(self._reader().rows(self._known(tree).root))
        except NoCanonicalForm as why:
            raise damaged(f"the base: {why}") from why

    def rows(self, tree: int, result: Settings, columns: list[int | None] | None = None) -> list[Row]:
        """As the result has them. `columns`: the map of columns."""
        if columns is not None:
            return [(rowid, mapped(payload, columns, result)) for rowid, payload in self.rows(tree, result)]
        is_other = result.codec != self.settings.codec or (result.schema_format == 4) != (self.settings.schema_format == 4)
        if tree and not is_other:
            return self.stored(tree)
        return [(rowid, self._changed(payload, tree == 0, result)) for rowid, payload in self.stored(tree)]

    def _changed(self, payload: bytes, is_schema: bool, result: Settings) -> bytes:
        values = [self._transcoded(value, result) for value in parsed(payload)]
        if is_schema and isinstance(values[3], int) and values[3] != 0:
            values[3] = 1
        return record(values, result.schema_format)

    def _transcoded(self, value: Value, result: Settings) -> Value:
        if not isinstance(value, Text) or result.codec == self.settings.codec:
            return value
        try:
            return Text(bytes(value).decode(self.settings.codec).encode(result.codec))
        except UnicodeError:
            return value

    def named(self, is_table: bool, name: bytes, result: Settings) -> int:
        """The number of the tree that has a name in the result."""
        for place, tree in enumerate(self.trees):
            if place and tree.is_table == is_table and self._transcoded(Text(tree.name), result) == name:
                return place
        raise damaged("a tree that the base has not")


def mapped(payload: bytes, columns: list[int | None], result: Settings) -> bytes:
    """A long row stays as it is: it cannot be taken."""
    if len(payload) > LONGEST_HELD:
        return payload
    values = parsed(payload)
    return record([None if at is None or at >= len(values) else values[at] for at in columns], result.schema_format)
