"""The rows of `sqlite_schema` (FF 2.6) and the trees that they name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from decoder.store.no_canonical_form import NoCanonicalForm
from decoder.store.records import Text, Value
from decoder.store.settings import Settings


@dataclass(frozen=True)
class SchemaRow:
    rowid: int
    values: list[Value]

    @property
    def kind(self) -> Value:
        return self.values[0]

    @property
    def name(self) -> Value:
        return self.values[1]

    @property
    def table_name(self) -> Value:
        return self.values[2]

    @property
    def root(self) -> int:
        """0 where the row names no tree."""
        value = self.values[3]
        return value if isinstance(value, int) else 0


def checked(rows: Iterable[tuple[int, list[Value]]], settings: Settings) -> list[SchemaRow]:
    found = [SchemaRow(rowid, values) for rowid, values in rows]
    table, index = Text("table".encode(settings.codec)), Text("index".encode(settings.codec))
    for row in found:
        if len(row.values) != 5:
            raise NoCanonicalForm("a row of sqlite_schema that has not five columns")
        *words, root, sql = row.values
        if not all(isinstance(word, Text) for word in words) or not isinstance(sql, Text | None):
            raise NoCanonicalForm("a row of sqlite_schema with a column of another type")
        if not isinstance(root, int | None):
            raise NoCanonicalForm("a row of sqlite_schema whose root is no number")
        if row.root and row.kind not in (table, index):
            raise NoCanonicalForm("a tree that is neither a table's nor an index's")
    roots = [row.root for row in found if row.root]
    if len(set(roots)) != len(roots):
        raise NoCanonicalForm("two rows of sqlite_schema with one root")
    tables = [row.name for row in found if row.root and row.kind == table]
    for row in found:
        if row.root and row.kind == index and tables.count(row.table_name) != 1:
            raise NoCanonicalForm("an index whose table is not there, or there twice")
    return found


def order_of_writing(rows: list[SchemaRow], settings: Settings) -> list[int]:
    """Indexes into `rows`: each table that has a tree, followed by its indexes (section 4)."""
    table = Text("table".encode(settings.codec))
    of_table: dict[Value, list[int]] = {}
    for place, row in enumerate(rows):
        if row.root and row.kind != table:
            of_table.setdefault(row.table_name, []).append(place)
    order: list[int] = []
    for place, row in enumerate(rows):
        if row.root and row.kind == table:
            order += [place, *of_table.get(row.name, [])]
    return order
