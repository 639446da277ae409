"""The store stream: items, and the file that they make (`COLUMNS.md` section 1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO, Protocol

from decoder.refused import Refused
from decoder.segment.work import ITEM, Work
from decoder.store.canonical_file import Later, TreeRows, write_canonical
from decoder.store.derived import derived, key_part
from decoder.store.leaf_items import LeafItems
from decoder.store.no_canonical_form import NoCanonicalForm
from decoder.store.pages import Pages
from decoder.store.records import Value, parsed, record
from decoder.store.schema import SchemaRow, checked, order_of_writing
from decoder.store.settings import Settings, checked_settings
from decoder.store.tree_reader import Row

SETTINGS, ROWS, LONG_ROW, CHUNK, TABLE, ENTRIES, DERIVED, END, LATER, LEAVES = range(10)
LONGEST_IN_GROUP = 262_144
LONGEST_OF_SCHEMA = 4_194_304
LONGEST_RECORD = 2**31 - 1
MOST_TREES = 65_536
MOST_PARTS = 32_767
MOST_LATER = 64
MOST_DERIVED = 64
"""Indexes of one table that are derived."""


class Segment(Protocol):
    """What a segment gives, in the order in which it was put in; `Refused` where something else comes next."""

    def number(self) -> int: ...

    def rows(self) -> list[Row]: ...

    def chunk(self) -> bytes: ...

    def is_at_end(self) -> bool: ...


def damaged(why: str) -> Refused:
    return Refused("damaged", why)


class Items:
    """The items of all segments; `tag` is that of the item that comes next, and `segment` has what belongs to it."""

    def __init__(self, segments: Iterable[Segment], work: Work) -> None:
        self._segments = iter(segments)
        self._work = work
        self.segment: Segment | None = None
        self.tag = END
        self.advance()

    def advance(self) -> None:
        while self.segment is None or self.segment.is_at_end():
            self.segment = next(self._segments, None)
            if self.segment is None:
                raise damaged("a stream without an end")
        self._work.spend(ITEM)
        self.tag = self.segment.number()
        if self.tag > LEAVES:
            raise damaged("an item that there is not")

    def check_end(self) -> None:
        if self.tag != END or (self.segment and not self.segment.is_at_end()) or next(self._segments, None):
            raise damaged("something after the end")

    @property
    def now(self) -> Segment:
        if self.segment is None:
            raise damaged("a stream without items")
        return self.segment


class StreamDecoder:
    """`segments` gives each segment when it is wanted; `size` is that of the file which must come out, in bytes."""

    def __init__(
        self, segments: Iterable[Segment], size: int, work: Work, told: Callable[[Settings], None] = lambda _: None
    ) -> None:
        self.items = Items(segments, work)
        self.work = work
        self.size = size
        self.settings, self.trees = self._settings()
        told(self.settings)
        self._rows_of_table: list[Row] = []
        self._derived_of_table = 0
        self._rows_of: dict[Value, list[Row]] = {}
        """Of each table that has ended and does not come later, by its name."""
        self._trees: list[SchemaRow] = []
        self._later: set[Value] = set()

    def write(self, out: BinaryIO, begins: Callable[[Pages, int], None] = lambda *_: None) -> None:
        """`begins` is told of the pages once `sqlite_schema` is complete, and of the highest root."""
        try:
            schema = checked(self._schema(), self.settings)
            self._check_roots(schema)
            self._trees = [row for row in schema if row.root]
            indexed = {row.table_name for row in schema if row.root and row.kind != schema_word("table", self.settings)}
            pages = write_canonical(
                out,
                self.settings,
                schema,
                lambda place: self._tree(schema[place], indexed),
                self.size // self.settings.page_size,
                begins,
            )
        except NoCanonicalForm as why:
            raise damaged(str(why)) from why
        self.items.check_end()
        if pages * self.settings.page_size != self.size:
            raise damaged("another size than the manifest says")

    def _settings(self) -> tuple[Settings, int]:
        if self.items.tag != SETTINGS:
            raise damaged("no settings")
        numbers = [self.items.now.number() for _ in range(10)]
        page_size, reserved, schema_format, cache_size, auto_vacuum, text_encoding, user_version, *rest = numbers
        incremental, application, trees = rest
        if auto_vacuum > 1 or trees > MOST_TREES or any(number >= 2**32 for number in numbers):
            raise damaged("a setting out of its limits")
        settings = Settings(
            page_size,
            reserved,
            schema_format,
            cache_size,
            auto_vacuum == 1,
            text_encoding,
            user_version,
            incremental,
            application,
        )
        try:
            checked_settings(settings)
        except NoCanonicalForm as why:
            raise damaged(str(why)) from why
        self.items.advance()
        return settings, trees

    def _schema(self) -> Iterator[tuple[int, list[Value]]]:
        for rowid, payload in self._rows(has_rowids=True):
            if rowid is None or len(payload) > LONGEST_OF_SCHEMA:
                raise damaged("a row of sqlite_schema that is too long")
            yield rowid, parsed(payload)

    def _check_roots(self, schema: list[SchemaRow]) -> None:
        named = [row.root for row in schema if row.root]
        expected, page = [], 1
        for _ in named:
            page = self.settings.geometry.after(page)
            expected.append(page)
        if len(named) != self.trees or named != expected:
            raise damaged("other trees, or other roots, than there must be")
        if len(order_of_writing(schema, self.settings)) != self.trees:
            raise damaged("a tree that is never written")

    def _tree(self, row: SchemaRow, indexed: set[Value]) -> TreeRows | Later:
        tag, is_table = self.items.tag, row.kind == schema_word("table", self.settings)
        if tag == LATER and is_table and row.name not in self._later:
            return self._come_later(row, indexed)
        if row.name in self._later and tag != TABLE:
            raise damaged("a tree that comes later and has no rowids")
        if tag not in ((TABLE, ENTRIES) if is_table else (ENTRIES, DERIVED)):
            raise damaged("a tree of another kind than its row says, or none")
        if tag == DERIVED:
            return TreeRows(False, self._derived())
        self.items.advance()
        rows = self._rows(has_rowids=tag == TABLE)
        return TreeRows(tag == TABLE, self._kept(rows, row, tag == TABLE) if is_table else rows)

    def _come_later(self, row: SchemaRow, indexed: set[Value]) -> Later:
        if row.name in indexed or len(self._later) == MOST_LATER:
            raise damaged("a tree that comes later and has an index, or a 65th tree that comes later")
        pages = self.items.now.number()
        if pages > self.size // self.settings.page_size:
            raise damaged("more pages than the store has")
        self._later.add(row.name)
        self.items.advance()
        return Later(pages)

    def _kept(self, rows: Iterator[Row], row: SchemaRow, has_rowids: bool) -> Iterator[Row]:
        self._rows_of_table = []
        self._derived_of_table = 0
        for each in rows:
            self._rows_of_table.append(each)
            yield each
        if has_rowids and row.name not in self._later:
            self._rows_of[row.name] = self._rows_of_table

    def _derived(self) -> Iterator[Row]:
        count = self.items.now.number()
        if not 1 <= count <= MOST_PARTS:
            raise damaged("an entry of no values, or of too many")
        parts = [key_part(self.items.now.number(), self.settings.text_encoding < 2) for _ in range(count)]
        self.items.advance()
        self._derived_of_table += 1
        if self._derived_of_table > MOST_DERIVED:
            raise damaged("a 65th derived index of one table")
        for entry in derived(self._rows_of_table, parts, self.settings.schema_format, self.work):
            self.work.pay(len(entry))
            yield None, entry

    def _rows(self, has_rowids: bool) -> Iterator[Row]:
        last: int | None = None
        leaves: LeafItems | None = None
        rows: Iterable[Row]
        while self.items.tag in (ROWS, LONG_ROW, LEAVES):
            if self.items.tag == LEAVES:
                leaves = leaves or self._leaf_items(has_rowids)
                rows = leaves.rows()
            else:
                rows = self._group() if self.items.tag == ROWS else [self._long_row(has_rowids)]
            for rowid, payload in rows:
                if (rowid is not None) != has_rowids:
                    raise damaged("rowids where none belong, or none where they do")
                if rowid is not None and last is not None and rowid <= last:
                    raise damaged("rowids that do not rise")
                last = rowid
                self.work.pay(len(payload))
                if record(parsed(payload), self.settings.schema_format) != payload:
                    raise damaged("a record that is not canonical")
                yield rowid, payload
            self.items.advance()
        if self.items.tag in (SETTINGS, CHUNK):
            raise damaged("an item where it does not belong")

    def _leaf_items(self, has_rowids: bool) -> LeafItems:
        if not has_rowids or self.settings.text_encoding > 1:
            raise damaged("leaves where none can be")
        return LeafItems(lambda: self.items.now.number(), self._content, self.work, self.settings.schema_format)

    def _content(self, place: int) -> list[Row] | None:
        """The rows of a table, by the place of its tree, if they have come."""
        if not 1 <= place <= len(self._trees) or self._trees[place - 1].kind != schema_word("table", self.settings):
            return None
        return self._rows_of.get(self._trees[place - 1].name)

    def _group(self) -> list[Row]:
        rows = self.items.now.rows()
        if any(len(payload) > LONGEST_IN_GROUP for _, payload in rows):
            raise damaged("a long row in a row group")
        return rows

    def _long_row(self, has_rowids: bool) -> Row:
        rowid: int | None = None
        if has_rowids:
            number = self.items.now.number()
            rowid = number >> 1 if number % 2 == 0 else -(number >> 1) - 1
        size = self.items.now.number()
        if not LONGEST_IN_GROUP < size <= min(self.size, LONGEST_RECORD):
            raise damaged("a long row that is none, or longer than the store")
        content = bytearray()
        while len(content) < size:
            self.items.advance()
            if self.items.tag != CHUNK:
                raise damaged("a long row that is cut")
            chunk = self.items.now.chunk()
            if not chunk or len(content) + len(chunk) > size:
                raise damaged("a chunk of no bytes, or of too many")
            content += chunk
        return rowid, bytes(content)


def schema_word(word: str, settings: Settings) -> bytes:
    return word.encode(settings.codec)
