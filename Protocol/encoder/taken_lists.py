"""Property lists that were taken apart (`LISTS.md` section 3), as their streams.

Whoever writes them by hand gives each stream as it stands. Everything that a vector may want to be wrong is a member.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from encoder import segment as s

NEW, LATER, EXPLICIT, VISIT, INTEGER, REAL, DATE, DATA, ASCII, UTF_16, ARRAY, DICTIONARY, SHARED, TABLE, UID, FLOAT, PREVIOUS, NULL, FALSE, TRUE = range(20)  # fmt: skip
INTEGERS = (INTEGER, 20, 21, 22, 23)
ANCESTOR, OF_ROW, OF_PARENT, BESIDE = 24, 32, 64, 96


@dataclass
class TakenLists:
    kinds: list[int]
    """*m* of each string."""
    contexts: list[list[int]] = field(default_factory=list)
    """The codes of each."""
    plain: list[bytes] = field(default_factory=list)
    tables: list[int] = field(default_factory=list)
    names: list[bytes] = field(default_factory=list)
    shapes: list[tuple[list[int], list[int]]] = field(default_factory=list)
    """The names and the visiting order of each."""
    uids: list[int] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    shape_numbers: list[int] = field(default_factory=list)
    shared: list[int] = field(default_factory=list)
    reals: list[bytes] = field(default_factory=list)
    """Eight bytes each."""
    ascii: list[bytes] = field(default_factory=list)
    utf_16: list[bytes] = field(default_factory=list)
    data: s.Part | list[bytes] = field(default_factory=list)
    name_count: int | None = None
    shape_count: int | None = None
    context_count: int | None = None
    code_counts: list[int] | None = None

    def part(self) -> s.Part:
        front = s.parts(s.raw(b"\x0a", "property lists"), integers(self.kinds), strings(self.plain))
        if not any(self.kinds):
            return front
        counts = [len(codes) for codes in self.contexts] if self.code_counts is None else self.code_counts
        data = strings(self.data) if isinstance(self.data, list) else self.data
        return s.parts(
            front,
            integers(self.tables),
            counted(self.name_count, len(self.names), "names"),
            strings(self.names),
            counted(self.shape_count, len(self.shapes), "shapes"),
            integers([len(keys) for keys, _ in self.shapes]),
            integers([key for keys, _ in self.shapes for key in keys]),
            integers([column - place for _, order in self.shapes for place, column in enumerate(order)]),
            counted(self.context_count, len(counts), "contexts"),
            integers(counts),
            integers([code for codes in self.contexts for code in codes]),
            *map(integers, [self.uids, self.numbers, self.sizes, self.shape_numbers, self.shared]),
            reals(self.reals),
            *map(strings, [self.ascii, self.utf_16]),
            data,
        )


def counted(stated: int | None, count: int, what: str) -> s.Part:
    number = count if stated is None else stated
    return s.raw(s.varint(number), f"{number} {what}")


def integers(values: list[int]) -> s.Part:
    return s.varints(values) if values else s.parts()


def strings(values: list[bytes]) -> s.Part:
    return s.lengths(values) if values else s.parts()


def reals(values: list[bytes]) -> s.Part:
    tag = s.raw(b"\3", "bytes")
    return s.parts(tag, lambda areas: areas.put_numbers(len(values), b"".join(values), "binary64")) if values else s.parts()
