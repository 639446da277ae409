"""Where the codes of lists stand: contexts, rows and slots (`LISTS.md` sections 2 and 4)."""

from __future__ import annotations

from dataclasses import dataclass, field

TOP, REST = ("top",), ("rest",)
Held = list["int | list[int | None] | None"]


@dataclass
class Row:
    uid: int | None
    parent: Row | None
    place: int | None
    columns: Held = field(default_factory=list)
    """In the visiting order, as far as they are read: a UID, what the elements of an array are, or something else."""


@dataclass
class Slot:
    """Where a code stands."""

    context: tuple[object, ...]
    row: Row | None = None
    column: Held | None = None
    """The columns of the row, if it is the next one of them."""
    beside: list[int | None] | None = None
    """The elements before it, if it is one of an array in a column."""
    element: int | None = None
    """What is read here is this element of the table."""
    place: int | None = None
    """Of a dictionary that is made here."""

    def stands(self, uid: int | list[int | None] | None) -> None:
        if self.column is not None:
            self.column.append(uid)
        if self.beside is not None:
            self.beside.append(uid if isinstance(uid, int) else None)


class Contexts:
    """Their numbers, and in each the UID that was made last."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[object, ...], int] = {}
        self.last_uid: dict[int, int] = {}

    def number(self, context: tuple[object, ...]) -> int:
        return self._numbers.setdefault(context, len(self._numbers))


def column(row: Row | None, place: int) -> int | list[int | None] | None:
    return row.columns[place] if row and place < len(row.columns) else None
