"""Vectors of the kind `segment`: its bytes, what the reader asks for, and what it gets."""

from __future__ import annotations

from dataclasses import dataclass, field

from encoder.piece import Pieces, binary
from encoder.segment import Part, constant, content, group, parts, stored
from encoder.sqlite_file import Value
from encoder.store_record import RawRecord, record
from encoder.vector import Detail, Vector

COVERS = "columns 2"
Row = list[Value] | RawRecord


@dataclass
class Given:
    """What a sound segment gives."""

    details: list[Detail] = field(default_factory=list)
    sections: list[tuple[str, Pieces]] = field(default_factory=list)
    asks: list[str] = field(default_factory=list)

    def number(self, value: int) -> Given:
        self.asks.append("number")
        self.details.append(("number", str(value)))
        return self

    def chunk(self, data: bytes) -> Given:
        self.asks.append("chunk")
        self.details.append(("chunk", str(len(data))))
        self.sections.append(("chunk", binary(data)))
        return self

    def rows(self, rows: list[Row], rowids: list[int] | None = None, schema_format: int = 4) -> Given:
        self.asks.append("rows")
        self.details.append(("rows", str(len(rows))))
        if rowids is not None:
            self.details.append(("rowids", " ".join(map(str, rowids))))
        records = [
            row.content if isinstance(row, RawRecord) else record(row, schema_format=schema_format) for row in rows
        ]
        self.sections.append(("records", [piece for each in records for piece in binary(each, "record")]))
        return self


def good(name: str, about: str, given: Given, part: Part | None = None, segment: Pieces | None = None) -> Vector:
    pieces = segment if segment is not None else stored(content(part or parts()))
    details = [("asks", " ".join(given.asks) or "nothing"), *given.details]
    return Vector(f"segment_{name}", about, COVERS, "segment", None, details, [("", pieces), *given.sections])


def bad(name: str, about: str, part: Part | None = None, asks: str = "rows", segment: Pieces | None = None) -> Vector:
    pieces = segment if segment is not None else stored(content(part or parts()))
    return Vector(f"segment_{name}", about, COVERS, "segment", "damaged", [("asks", asks)], [("", pieces)])


def column_of(name: str, about: str, values: list[Value], part: Part) -> Vector:
    """One group of one column."""
    rows: list[Row] = [[value] for value in values]
    return good(name, about, Given().rows(rows), group(len(values), constant(1), part))


def bad_column(name: str, about: str, count: int, *columns: Part, rowids: Part | None = None) -> Vector:
    return bad(name, about, group(count, constant(len(columns)), *columns, rowids=rowids))
