"""The canonical form (`CANONICAL.md`): of rows, and of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from decoder.store.no_canonical_form import NoCanonicalForm
from decoder.store.pages import ROOT, Pages
from decoder.store.records import Text, Value, parsed, record
from decoder.store.schema import SchemaRow, checked, order_of_writing
from decoder.store.settings import Settings, settings_of
from decoder.store.tree_reader import Row, TreeReader
from decoder.store.tree_writer import Tree


@dataclass(frozen=True)
class TreeRows:
    has_rowids: bool
    rows: Iterable[Row]
    """In the order of keys, with canonical records."""


@dataclass(frozen=True)
class Later:
    """A tree that is written after all others."""

    pages: int
    """Beside its root."""


def write_canonical(
    out: BinaryIO,
    settings: Settings,
    schema: list[SchemaRow],
    tree_of: Callable[[int], TreeRows | Later],
    most: int = 2**32 - 2,
    begins: Callable[[Pages, int], None] = lambda *_: None,
) -> int:
    """Writes the file and gives its number of pages; `tree_of` gives the tree of a row of `schema`, by its index.

    It is asked for one tree after the other, in the order of section 4, and then for those that are to come later. No page above
    `most` is written.
    """
    pages = Pages(settings.geometry, out, most)
    roots = {place: pages.next() for place, row in enumerate(schema) if row.root}
    highest_root = pages.highest
    for root in roots.values():
        pages.belongs(root, ROOT, 0)
    Tree(pages, 1, has_rowids=True).write(schema_rows(schema, roots, settings))
    begins(pages, highest_root)
    kept: list[tuple[int, tuple[int, int]]] = []
    for place in order_of_writing(schema, settings):
        tree = tree_of(place)
        if isinstance(tree, Later):
            kept.append((place, pages.keep(tree.pages)))
        else:
            Tree(pages, roots[place], tree.has_rowids).write(tree.rows)
    for place, window in kept:
        tree = tree_of(place)
        if isinstance(tree, Later):
            raise NoCanonicalForm("a tree that never comes")
        pages.fill(window)
        Tree(pages, roots[place], tree.has_rowids).write(tree.rows)
        pages.check_filled()
    pages.finish()
    out.seek(0)
    out.write(settings.header(pages.highest, highest_root))
    return pages.highest


def schema_rows(schema: list[SchemaRow], roots: dict[int, int], settings: Settings) -> Iterator[Row]:
    for place, row in enumerate(schema):
        values = [*row.values[:3], roots.get(place, row.values[3]), row.values[4]]
        yield row.rowid, record(values, settings.schema_format)


def rows_with_rowids(reader: TreeReader, root: int) -> Iterator[tuple[int, list[Value]]]:
    for rowid, payload in reader.rows(root):
        if rowid is None:
            raise NoCanonicalForm("a tree without rowids where there must be some")
        yield rowid, parsed(payload)


def canonical_copy(data: bytes, out: BinaryIO) -> int:
    """Of a compact copy; the number of pages."""
    settings = settings_of(data)
    reader = TreeReader(data, settings.geometry)
    schema = checked(rows_with_rowids(reader, 1), settings)

    def tree_of(place: int) -> TreeRows:
        root = schema[place].root
        if schema[place].kind == Text("index".encode(settings.codec)) and reader.has_rowids(root):
            raise NoCanonicalForm("an index whose tree is one of a table")
        rows = ((rowid, record(parsed(payload), settings.schema_format)) for rowid, payload in reader.rows(root))
        return TreeRows(reader.has_rowids(root), rows)

    pages = write_canonical(out, settings, schema, tree_of)
    if reader.unmet():
        raise NoCanonicalForm("a page that belongs to no tree")
    return pages
