"""The trees of a result, one after the other (`DELTA.md` sections 2, 4, 6 and 7)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from decoder.delta.areas import DeltaAreas
from decoder.delta.base import LONGEST_HELD, Base
from decoder.delta.edits import Edits
from decoder.segment import limits
from decoder.segment.area import wrapped
from decoder.segment.integers import integers
from decoder.segment.limits import damaged
from decoder.segment.segment import Segment
from decoder.segment.work import ITEM, ROW, STEP, Work, move
from decoder.store.canonical_file import Later, TreeRows
from decoder.store.derived import KeyPart, derived, key_part
from decoder.store.leaf_items import LeafItems
from decoder.store.records import parsed, record
from decoder.store.settings import Settings
from decoder.store.tree_reader import Row

SAME, PART, DERIVED, MERGED, PIECE, LATER, LEAVES = range(7)
EDIT, LITERAL, SKIP, LONG = range(4)
MOST_EVENTS = 262_144
MOST_MERGED = MOST_LATER = 64
MOST_PARTS_OF_ENTRY = 32_767


class Items:
    """The items of all segments, of which the first has been read up to its items."""

    def __init__(self, segments: list[bytes], base: Base | None, work: Work) -> None:
        self.work = work
        self._rest = list(segments)
        self._base = base
        self.now = self._next()

    def _next(self) -> Segment:
        if not self._rest:
            raise damaged("a delta that is cut")
        return Segment(b"", self.work, DeltaAreas(self._rest.pop(0), self._base, self.work))

    def tag(self) -> int | None:
        """Of the next item; None after the last."""
        while self.now.is_at_end():
            if not self._rest:
                return None
            self.now = self._next()
        self.work.spend(ITEM)
        return self.now.number()


def checked_count(columns: int) -> int:
    if columns > limits.COLUMNS:
        raise damaged("too many columns")
    return columns


def signed_of(segment: Segment) -> int:
    return segment.reading.control.signed()


def shape_of(segment: Segment, is_utf_8: bool) -> list[KeyPart]:
    count = segment.number()
    if not 1 <= count <= MOST_PARTS_OF_ENTRY:
        raise damaged("an entry of no values, or of too many")
    return [key_part(segment.number(), is_utf_8) for _ in range(count)]


@dataclass
class Event:
    copies: int
    kind: int
    count: int = 1
    jump: int = 0
    shift: int = 0


@dataclass
class Part:
    is_last: bool
    copies_rest: bool
    events: list[Event]
    edits: Edits | None
    literals: list[Row]


def part_of(segment: Segment) -> Part:
    reading = segment.reading
    flags = segment.number()
    kind = flags >> 6
    if flags >= 512 or kind > 4 or flags & 3 == 2:
        raise damaged("flags of a part that mean nothing")
    count = segment.number()
    if count > MOST_EVENTS:
        raise damaged("too many events")
    part = Part(bool(flags & 1), bool(flags & 2), [], None, [])
    if not count:
        return part
    copies = integers(reading, count, 0)
    kinds = [kind - 1] * count if kind else integers(reading, count, 0)
    events = [Event(*each) for each in zip(copies, kinds)]
    if any(not 0 <= event.copies < 2**32 or not 0 <= event.kind <= LONG for event in events):
        raise damaged("an event that cannot be")
    if any(event.kind == LONG for event in events[:-1]) or (events[-1].kind == LONG and part.is_last):
        raise damaged("something after a long row")
    with_rows = [event for event in events if event.kind in (EDIT, LITERAL)]
    if flags & 4:
        for event, length in zip(with_rows, integers(reading, len(with_rows), 0)):
            event.count = length
    numbers = [sum(event.count for event in with_rows if event.kind == kind) for kind in (EDIT, LITERAL)]
    if any(event.count < 1 for event in with_rows) or numbers[0] > MOST_EVENTS or numbers[1] > limits.ROWS:
        raise damaged("rows that are none, or too many")
    for event, jump in zip(events, integers(reading, count, 0) if flags & 8 else [0] * count):
        event.jump = jump + (1 if event.kind == SKIP else 0)
        if abs(jump) >= 2**32:
            raise damaged("a jump too far")
    for event, shift in zip(events, integers(reading, count, 0) if flags & 16 else [0] * count):
        event.shift = shift
    if numbers[0]:
        part.edits = Edits(reading, numbers[0], bool(flags & 32))
    if numbers[1]:
        part.literals = segment.rows()
        if len(part.literals) != numbers[1]:
            raise damaged("another number of literal rows")
    part.events = events
    return part


@dataclass
class Changes:
    """Rows of a table that go, that come, and that become others: what merged indexes follow from."""

    pairs: list[tuple[Row | None, Row | None]] = field(default_factory=list)

    def goes(self, rows: list[Row]) -> None:
        self.pairs += [(row, None) for row in rows]


class Trees:
    def __init__(self, items: Items, base: Base, settings: Settings) -> None:
        self.items, self.base, self.settings = items, base, settings
        self._tag = items.tag()
        self._same = 0
        self._changes = Changes()
        self._work = items.work
        self._merged: dict[int, list[KeyPart]] = {}
        self.rows_of_table: list[Row] = []
        self.places: list[bytes | None] = []
        """The names of the tables, by the places of all trees from 1 on; None for an index."""
        self._rows_of: dict[bytes | None, list[Row]] = {}
        """Of each table with rowids that has ended and does not come later, by its name."""
        self._later: set[bytes] = set()

    def table(self, name: bytes, is_indexed: bool, most: int) -> TreeRows | Later:
        """The next table. One that comes later, on at most so many pages, is asked for again."""
        if self._tag == LATER and not self._same and name not in self._later:
            pages = self.items.now.number()
            if is_indexed or len(self._later) == MOST_LATER or pages > most:
                raise damaged("a tree that comes later and has an index, or a 65th one, or too many pages")
            self._later.add(name)
            self._tag = self.items.tag()
            return Later(pages)
        has_rowids, rows = self.tree(True, name)
        if has_rowids and name not in self._later:
            self._rows_of[name] = rows
        return TreeRows(has_rowids, rows)

    def _content(self, place: int) -> list[Row] | None:
        return self._rows_of.get(self.places[place - 1]) if 1 <= place <= len(self.places) else None

    def check_end(self) -> None:
        if self._tag is not None or self._same:
            raise damaged("items after the last tree")

    def tree(self, is_table: bool, name: bytes | None, place: int = 0) -> tuple[bool, list[Row]]:
        """The next tree: whether it has rowids, and its rows. `name` is None for that of sqlite_schema; `place` is that of an index
        among those of its table."""
        if is_table:
            self._changes, self._merged = Changes(), {}
        if not self._same and self._tag == SAME:
            self._same = self.items.now.number() + 1
            self._tag = self.items.tag()
        if self._same or self._tag is None:
            self._same = max(0, self._same - 1)
            found = self._base_of(0, is_table, name)
            if found is None:
                raise damaged("no base")
            rows = self.base.rows(found, self.settings)
            self._work.spend(ITEM)
            for _, payload in rows:
                self._work.reads(payload)
                self._work.pay(len(payload))
            return self.base.has_rowids(found), self._kept(is_table, rows)
        if self._tag == PART:
            return self._by_parts(is_table, name)
        if is_table:
            raise damaged("a table that follows from nothing")
        if self._tag == DERIVED:
            shape = shape_of(self.items.now, self.settings.text_encoding < 2)
            entries = derived(self.rows_of_table, shape, self.settings.schema_format, self._work)
            self._work.pay(sum(map(len, entries)))
        elif self._tag == MERGED and place in self._merged:
            entries = self._merge(name, self._merged.pop(place))
        else:
            raise damaged("an item where it does not belong")
        self._tag = self.items.tag()
        return False, [(None, entry) for entry in entries]

    def _kept(self, is_table: bool, rows: list[Row]) -> list[Row]:
        if is_table:
            self.rows_of_table = rows
        return rows

    def _base_of(self, kind: int, is_table: bool, name: bytes | None) -> int | None:
        if kind == 0:
            return 0 if name is None else self.base.named(is_table, name, self.settings)
        if kind == 1:
            return self.items.now.number()
        return None

    def _merge(self, name: bytes | None, shape: list[KeyPart]) -> list[bytes]:
        found = self._base_of(0, False, name)
        entries = [payload for _, payload in self.base.rows(found or 0, self.settings)]
        gone, new = [], []
        for pair in self._changes.pairs:
            old_entry, new_entry = (self._entry_of(row, shape) for row in pair)
            if old_entry != new_entry:
                gone += old_entry
                new += new_entry
        places = [KeyPart(part.is_descending, part.collation, place) for place, part in enumerate(shape)]
        left = list(entries)
        for entry in left:
            self._work.reads(entry)
        for entry in gone:
            if entry not in left:
                raise damaged("an entry that goes and is not there")
            left.remove(entry)
        self._work.pay(sum(map(len, left + new)))
        # Entries that are sorted here are none that are made.
        return derived([(None, entry) for entry in new + left], places, self.settings.schema_format, Work())

    def _entry_of(self, row: Row | None, shape: list[KeyPart]) -> list[bytes]:
        entries = derived([row], shape, self.settings.schema_format, Work()) if row else []
        for entry in entries:
            self._work.makes(entry)
        return entries

    # Parts

    def _by_parts(self, is_table: bool, name: bytes | None) -> tuple[bool, list[Row]]:
        flags = self.items.now.number()
        if flags >= 32:
            raise damaged("flags of a tree that mean nothing")
        found = self._base_of(flags & 3, is_table, name)
        has_rowids = flags & 3 == 2 if found is None else self.base.has_rowids(found)
        columns = self._map() if flags & 16 else None
        if columns is not None and (found is None or name is None):
            raise damaged("a map of columns of no rows")
        if (name is None and not (has_rowids and flags & 3 == 0)) or (has_rowids and not is_table):
            raise damaged("a tree of another kind")
        if flags & 8:
            self._announce(is_table and name is not None)
        made = Making(
            [] if found is None else self.base.rows(found, self.settings, columns), has_rowids, bool(flags & 4),
            self._changes if flags & 8 else None, self.settings, self._work, self.base.settings.page_size,
        )  # fmt: skip
        made.has_base = found is not None
        made.stored = [] if found is None else self.base.stored(found)
        made.is_mapped = columns is not None
        leaves = LeafItems(lambda: self.items.now.number(), self._content, self._work, self.settings.schema_format)
        can_have_leaves = has_rowids and name is not None and not flags & 8 and self.settings.text_encoding < 2
        is_last = False
        while not is_last:
            if self._tag == LEAVES and can_have_leaves:
                for rowid, payload in leaves.rows():
                    made.take(rowid, payload)
                self._tag = self.items.tag()
                continue
            if self._tag != PART:
                raise damaged("a tree that is cut")
            part = part_of(self.items.now)
            is_last = part.is_last
            made.carry_out(part)
            self._tag = None
            if part.events and part.events[-1].kind == LONG:
                self._long(made, part.events[-1])
            self._tag = self.items.tag()
        return has_rowids, self._kept(is_table, made.rows)

    def _map(self) -> list[int | None]:
        numbers = [self.items.now.number() for _ in range(checked_count(self.items.now.number()))]
        there = [number for number in numbers if number]
        if len(set(there)) < len(there) or any(number > limits.COLUMNS for number in there):
            raise damaged("a column that comes twice, or that no row has")
        return [number - 1 if number else None for number in numbers]

    def _announce(self, is_right: bool) -> None:
        count, last = self.items.now.number(), -1
        if count > MOST_MERGED or not is_right:
            raise damaged("too many merged indexes, or of no table")
        for _ in range(count):
            place = self.items.now.number()
            if place <= last:
                raise damaged("merged indexes out of order")
            self._merged[place] = shape_of(self.items.now, self.settings.text_encoding < 2)
            last = place

    def _long(self, made: Making, event: Event) -> None:
        size, has_source = self.items.now.number(), self.items.now.number()
        if has_source > 1 or not (0 if has_source else LONGEST_HELD) < size < 2**31:
            raise damaged("a long row that is none")
        source = made.begin_long(event, bool(has_source))
        content = pieces(self.items, source, self.base.settings.page_size, size)
        if record(parsed(content), self.settings.schema_format) != content:
            raise damaged("a record that is not canonical")
        made.put(content)


def pieces(items: Items, source: bytes, page_size: int, size: int) -> bytes:
    """Section 7. A record is not empty, and so begins with a piece."""
    content, end = bytearray(), 0
    while len(content) < size:
        if items.tag() != PIECE:
            raise damaged("bytes that are cut")
        for _ in range(items.now.number()):
            items.work.spend(STEP)
            length = items.now.number()
            content += items.now.reading.areas.text.take(length)
            items.work.pay(length)
            copied = items.now.number()
            if copied:
                items.work.spend(move(page_size))
                items.work.pay(copied)
                start = end + signed_of(items.now)
                end = start + copied
                if start < 0 or end > len(source):
                    raise damaged("a copy from outside")
                content += source[start:end]
            if len(content) > size:
                raise damaged("more bytes than were to come")
    return bytes(content)


class Making:
    """A tree that is being made."""

    def __init__(
        self, base: list[Row], has_rowids: bool, counts: bool, changes: Changes | None, settings: Settings, work: Work,
        page_size: int,
    ) -> None:  # fmt: skip
        self._base, self._has_rowids, self._counts = base, has_rowids, counts
        self._changes, self._settings = changes, settings
        self._work, self._page_size = work, page_size
        self.has_base = True
        self.rows: list[Row] = []
        self.stored: list[Row] = []
        self.is_mapped = False
        self._place = self._shift = self._pending = self._last = 0
        self._next: int | None = None

    def carry_out(self, part: Part) -> None:
        literals = iter(part.literals)
        for event in part.events:
            self._copy(event.copies)
            self._jump(event)
            for _ in range(event.count if event.kind in (EDIT, LITERAL) else 0):
                if event.kind == LITERAL:
                    self._literal(*next(literals))
                elif part.edits:
                    self._edit(part.edits)
        if part.copies_rest and not self.has_base:
            raise damaged("rows that stay, of no base")
        if part.copies_rest:
            self._copy(len(self._base) - self._place)
        elif part.is_last and self._changes:
            self._go(len(self._base))

    def _taken(self) -> Row:
        if self._place >= len(self._base):
            raise damaged("a row that the base has not")
        self._place += 1
        self._work.reads(self._base[self._place - 1][1])
        return self._base[self._place - 1]

    def _go(self, place: int) -> None:
        """The rows up to a place go."""
        rows = self._base[self._place : place]
        for _, payload in rows:
            self._work.reads(payload)
        if self._changes:
            self._changes.goes(rows)
        self._place = place

    def _copy(self, count: int) -> None:
        for _ in range(count):
            old, payload = self._taken()
            if self.is_mapped and len(payload) > LONGEST_HELD:
                raise damaged("a long row that stays, of other columns")
            rowid = self._rebased(old)
            if self._changes and self._has_rowids and rowid != old:
                self._changes.pairs.append(((old, payload), (rowid, payload)))
            self._put(rowid, payload)

    def _jump(self, event: Event) -> None:
        if self._counts or event.kind in (LITERAL, LONG):
            self._pending = wrapped(self._pending + event.shift)
        else:
            self._shift = wrapped(self._shift + event.shift)
        if event.jump:
            most = move(self._page_size)
            self._work.spend(most if event.jump < 0 else min(most, STEP + ROW * event.jump))
        place = self._place + event.jump
        if not 0 <= place <= len(self._base) or (self._changes and event.jump < 0):
            raise damaged("a jump out of the tree, or back")
        if self._changes:
            self._go(place)
        self._place = place

    def _edit(self, edits: Edits) -> None:
        old, payload = self._taken()
        if len(payload) > LONGEST_HELD:
            raise damaged("a long row that is edited")
        new = record(edits.apply(parsed(payload)), self._settings.schema_format)
        if len(new) > LONGEST_HELD:
            raise damaged("a row that is too long")
        rowid = self._rebased(old)
        if self._changes:
            self._changes.pairs.append(((old, payload), (rowid, new)))
        self._put(rowid, new)

    def _literal(self, rowid: int | None, payload: bytes) -> None:
        if len(payload) > LONGEST_HELD or record(parsed(payload), self._settings.schema_format) != payload:
            raise damaged("a literal row that is too long, or not canonical")
        if rowid is None:
            rowid = self._following()
        if self._changes:
            self._changes.pairs.append((None, (rowid if self._has_rowids else None, payload)))
        self._put(rowid, payload)

    def begin_long(self, event: Event, has_source: bool) -> bytes:
        if self._changes:
            raise damaged("a long row in a table with merged indexes")
        if not has_source:
            self._next = self._following()
            return b""
        old, _ = self._taken()
        self._next = wrapped((self._rebased(old) or 0) + self._pending)
        self._pending = 0
        return self.stored[self._place - 1][1]

    def put(self, payload: bytes) -> None:
        """Its pieces have been paid for."""
        self._put(self._next, payload, False)

    def take(self, rowid: int | None, payload: bytes) -> None:
        """A row that has all that it is."""
        self._put(rowid, payload)

    def _rebased(self, rowid: int | None) -> int | None:
        return self._following() if self._counts else wrapped((rowid or 0) + self._shift)

    def _following(self) -> int:
        found, self._pending = wrapped(self._last + 1 + self._pending), 0
        return found

    def _put(self, rowid: int | None, payload: bytes, pays: bool = True) -> None:
        if self._has_rowids and (rowid is None or (self.rows and rowid <= (self.rows[-1][0] or 0))):
            raise damaged("rowids that do not rise")
        self._last = rowid or 0
        self._work.pay(len(payload) if pays else 0)
        self.rows.append((rowid if self._has_rowids else None, payload))


