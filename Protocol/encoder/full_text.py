"""The leaves of a full-text index (`COLUMNS.md` 1.4), from postings that are written out."""

from __future__ import annotations

from dataclasses import dataclass

from encoder.sqlite_file import varint

Place = tuple[int, int]
"""A column, and a position in it."""


@dataclass(frozen=True)
class Posting:
    term: bytes
    rowid: int
    places: list[Place]

    @property
    def positions(self) -> bytes:
        found = b""
        for column in sorted({column for column, _ in self.places}):
            found += b"\1" + varint(column) if column else b""
            last = 0
            for position in sorted(position for each, position in self.places if each == column):
                found += varint(position - last + 2)
                last = position
        return found


class Leaf:
    """`begins`: the number of the posting that it begins with, and which part of it is before."""

    def __init__(self, begins: tuple[int, int] = (0, 0)) -> None:
        self.begins = begins
        self.body = b""
        self.first_rowid = 0
        self.terms: list[int] = []
        self.term = b""
        self.rowid: int | None = None

    @property
    def size(self) -> int:
        return 4 + len(self.body)

    def bytes(self) -> bytes:
        offsets = b"".join(varint(each - before) for before, each in zip([0, *self.terms], self.terms))
        return self.first_rowid.to_bytes(2, "big") + self.size.to_bytes(2, "big") + self.body + offsets

    def begin(self, term: bytes) -> None:
        shared = 0
        if self.terms:
            while term[:shared + 1] == self.term[:shared + 1] and shared < min(len(term), len(self.term)):
                shared += 1
        self.terms.append(self.size)
        self.body += (varint(shared) if len(self.terms) > 1 else b"") + varint(len(term) - shared) + term[shared:]
        self.term, self.rowid = term, None

    def add(self, posting: Posting) -> None:
        if not self.terms and self.rowid is None:
            self.first_rowid = self.size
        self.body += varint(posting.rowid - (self.rowid or 0)) + varint(2 * len(posting.positions))
        self.rowid = posting.rowid


def leaves(postings: list[Posting], most: int) -> list[Leaf]:
    """Each leaf ends as soon as it has `most` bytes: after a term or a rowid, or among positions."""
    found = [Leaf()]
    term = b""

    def current(posting: int, part: int) -> Leaf:
        if found[-1].size >= most:
            found.append(Leaf((posting, part)))
        return found[-1]

    for number, posting in enumerate(sorted(postings, key=lambda each: (each.term, each.rowid))):
        if posting.term != term:
            term = posting.term
            current(number, 0).begin(term)
        current(number, 1).add(posting)
        done, positions = 0, posting.positions
        while done < len(positions):
            leaf = current(number, 2 + done)
            more = positions[done : done + most - leaf.size]
            leaf.body += more
            done += len(more)
    return found
