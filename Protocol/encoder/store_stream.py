"""A store as items (`COLUMNS.md` section 1): what goes into segments, in order."""

from __future__ import annotations

from dataclasses import dataclass

from encoder.sqlite_file import ENCODINGS
from encoder.store_pages import Layout, Rows, Store

SETTINGS, ROWS, LONG_ROW, CHUNK, TABLE, ENTRIES, DERIVED, END, LATER, LEAVES = range(10)
LONGEST_IN_GROUP = 262_144
LONGEST_CHUNK = 1_048_576

BINARY, NOCASE, RTRIM = 0, 2, 4
DESCENDING = 1


def column(place: int, order: int = BINARY) -> int:
    """A value of an entry: number `place` of the row's record, from 0."""
    return place + 1 << 3 | order


ROWID = 0


@dataclass(frozen=True)
class Group:
    """Rows as a row group holds them: rowids, or None, and records."""

    rowids: list[int] | None
    records: list[bytes]


Put = int | bytes | Group
"""A number, a chunk or a row group."""
Item = list[Put]


def settings(store: Store, trees: int) -> Item:
    signed = [store.cache_size, store.user_version, store.incremental, store.application_id]
    cache_size, user_version, incremental, application = (value % 2**32 for value in signed)
    return [
        SETTINGS, store.page_size, store.reserved, store.schema_format, cache_size, int(store.auto_vacuum),
        ENCODINGS[store.encoding], user_version, incremental, application, trees,
    ]  # fmt: skip


def items(store: Store) -> list[Item]:
    layout = Layout(store, is_canonical=True)
    trees = list(layout.written_items())
    found = [settings(store, len(trees)), *tree(layout, layout.schema_rows())]
    for each in trees:
        if each.derived is not None:
            found.append([DERIVED, len(each.derived), *each.derived])
        else:
            found += [[TABLE if each.is_table else ENTRIES], *tree(layout, each.rows or [])]
    return [*found, [END]]


def tree(layout: Layout, rows: Rows) -> list[Item]:
    """Runs of rows, and long rows between them."""
    found: list[Item] = []
    run: list[tuple[int | None, bytes]] = []
    for rowid, values in rows:
        content = layout.encoded(values)
        if len(content) <= LONGEST_IN_GROUP:
            run.append((rowid, content))
            continue
        found += [group(run)] if run else []
        run = []
        found.append([LONG_ROW, *([] if rowid is None else [zigzag(rowid)]), len(content)])
        found += [[CHUNK, content[at : at + LONGEST_CHUNK]] for at in range(0, len(content), LONGEST_CHUNK)]
    return found + ([group(run)] if run else [])


def group(rows: list[tuple[int | None, bytes]]) -> Item:
    rowids = [rowid for rowid, _ in rows if rowid is not None]
    return [ROWS, Group(rowids or None, [content for _, content in rows])]


def zigzag(value: int) -> int:
    return 2 * value if value >= 0 else -2 * value - 1
