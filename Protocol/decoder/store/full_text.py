"""Leaves of a full-text index that follow from the rows of a table: `COLUMNS.md` section 1.4."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from decoder.refused import Refused
from decoder.segment.work import ROW, WORD_BYTE, Work
from decoder.store.derived import LONGEST_ENTRY
from decoder.store.records import Real, Text, Value, parsed, record, varint
from decoder.store.tree_reader import Row

LONGEST_IN_GROUP = 262_144
LONGEST_LEAF = 65_535
SEPARATOR, NOTHING = 0, 1
BEFORE_TERM, BEFORE_ROWID, IN_POSITIONS = range(3)


@dataclass(frozen=True)
class Shape:
    first: int
    last: int
    columns: list[int | None]
    prefixes: list[int]
    folds: dict[int, int] = field(default_factory=dict)

    def fold(self, code: int) -> int:
        """What a character is: 0 no part of a word, 1 nothing in one, else 2 more than what stands for it."""
        if code in self.folds:
            return self.folds[code]
        if code >= 128:
            return code + 2
        return ord(chr(code).lower()) + 2 if chr(code).isalnum() else SEPARATOR


@dataclass(frozen=True)
class Posting:
    term: bytes
    rowid: int
    positions: bytes


def characters(text: bytes) -> Iterator[int | None]:
    """Code points, and None for each byte that is no part of one."""
    at = 0
    while at < len(text):
        for size in range(1, 5):
            try:
                yield ord(text[at : at + size].decode())
                at += size
                break
            except (UnicodeDecodeError, TypeError):
                continue
        else:
            yield None
            at += 1


def words(text: bytes, shape: Shape) -> Iterator[str]:
    word = ""
    for code in [*characters(text), None]:
        fold = SEPARATOR if code is None else shape.fold(code)
        if fold == SEPARATOR:
            if word:
                yield word
            word = ""
        elif fold != NOTHING:
            word += chr(fold - 2)


def content(value: Value) -> bytes:
    if isinstance(value, Text):
        return bytes(value)
    return str(value).encode() if isinstance(value, int) else b""


def postings_of(rowid: int, values: list[Value], shape: Shape) -> Iterator[Posting]:
    found: dict[bytes, list[tuple[int, int]]] = {}
    for column, place in enumerate(shape.columns):
        if place is None or place >= len(values):
            continue
        for position, word in enumerate(words(content(values[place]), shape)):
            found.setdefault(b"0" + word.encode(), []).append((column, position))
            for index, length in enumerate(shape.prefixes):
                if len(word) >= length:
                    term = bytes([0x31 + index]) + word[:length].encode()
                    found.setdefault(term, []).append((column, position))
    for term, places in found.items():
        yield Posting(term, rowid, list_of(places))


def list_of(places: list[tuple[int, int]]) -> bytes:
    found, last_column, last = b"", 0, 0
    for column, position in places:
        if column != last_column:
            found += b"\1" + varint(column)
            last_column, last = column, 0
        found += varint(position - last + 2)
        last = position
    return found


def postings(rows: Iterable[Row], shape: Shape, work: Work) -> list[Posting]:
    found: list[Posting] = []
    for rowid, payload in rows:
        if rowid is None or rowid > shape.last:
            break
        work.spend(ROW + len(payload) // 4)
        if rowid < shape.first or len(payload) > LONGEST_IN_GROUP:
            continue
        work.spend(len(shape.columns) + WORD_BYTE * (1 + len(shape.prefixes)) * len(payload))
        for posting in postings_of(rowid, parsed(payload), shape):
            work.spend(ROW + len(posting.term) + len(posting.positions))
            if len(record([posting.term, rowid, posting.positions], 4)) > LONGEST_ENTRY:
                raise Refused("damaged", "a posting that is too long")
            found.append(posting)
    return sorted(found, key=lambda each: (each.term, each.rowid))


class Leaves:
    def __init__(self, found: list[Posting]) -> None:
        self._found = found
        self._at = 0
        self._part = BEFORE_TERM

    def move(self, passed: int, part: int) -> None:
        self._at += passed
        self._part = part
        if self._at > len(self._found):
            raise Refused("damaged", "more postings than there are")

    def leaf(self, size: int) -> bytes:
        if not 4 <= size <= LONGEST_LEAF:
            raise Refused("damaged", "a leaf of a size that none has")
        made, offsets, last_offset = bytearray(2) + size.to_bytes(2, "big"), b"", 0
        term: bytes | None = None
        rowid: int | None = None
        while len(made) < size:
            if self._at == len(self._found):
                raise Refused("damaged", "a leaf behind the last posting")
            posting = self._found[self._at]
            if self._part == BEFORE_TERM:
                offsets += varint(len(made) - last_offset)
                last_offset = len(made)
                if term is not None:
                    shared = shared_by(term, posting.term)
                    made += varint(shared) + varint(len(posting.term) - shared) + posting.term[shared:]
                else:
                    made += varint(len(posting.term)) + posting.term
                term, rowid, self._part = posting.term, None, BEFORE_ROWID
            elif self._part == BEFORE_ROWID:
                if term is None and rowid is None:
                    made[:2] = len(made).to_bytes(2, "big")
                made += varint(posting.rowid - (rowid or 0)) + varint(2 * len(posting.positions))
                rowid, self._part = posting.rowid, IN_POSITIONS
            else:
                rest = posting.positions[self._part - IN_POSITIONS :][: size - len(made)]
                if not rest:
                    raise Refused("damaged", "a place behind the end of a list of positions")
                made += rest
                self._part += len(rest)
                if self._part - IN_POSITIONS == len(posting.positions):
                    self._at += 1
                    is_same = self._at < len(self._found) and self._found[self._at].term == posting.term
                    self._part = BEFORE_ROWID if is_same else BEFORE_TERM
        if len(made) != size:
            raise Refused("damaged", "a leaf that ends within a term or a rowid")
        return bytes(made) + offsets


def shared_by(first: bytes, second: bytes) -> int:
    count = 0
    while count < min(len(first), len(second)) and first[count] == second[count]:
        count += 1
    return count
