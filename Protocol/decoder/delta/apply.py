"""From the segments of a delta and its base to the file that they make (`DELTA.md`)."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import astuple

from decoder.delta.areas import DeltaAreas
from decoder.delta.base import Base
from decoder.delta.trees import Items, Trees, pieces, signed_of
from decoder.segment.limits import damaged
from decoder.segment.work import PAGE_OF_FILE, Work
from decoder.store.canonical_file import Later, TreeRows, write_canonical
from decoder.store.no_canonical_form import NoCanonicalForm
from decoder.store.records import Text, parsed, record
from decoder.store.schema import checked
from decoder.store.settings import Settings, checked_settings

IS_FILE, OTHER_TREES, OTHER_SETTINGS = 1, 2, 4
MOST_TREES = 65_536
NAME = 8


def result_of(segments: list[bytes], base: bytes, size: int) -> bytes:
    """The file of `size` bytes."""
    if not segments:
        raise damaged("a delta of nothing")
    try:
        if is_file(segments[0]):
            work = Work()
            items = Items(segments, None, work)
            items.now.number()
            work.pay_base(len(base))
            return whole(items, base, page_size_of(base), size)
        return store(segments, Base(base), size)
    except NoCanonicalForm as why:
        raise damaged(str(why)) from why


def file_of(segments: list[bytes], files: Mapping[str, bytes], size: int) -> bytes:
    """An external file of `size` bytes. `files`: those of the base, by their SHA-256."""
    if not segments:
        raise damaged("a delta of nothing")
    work = Work()
    items = Items(segments, None, work)
    if items.now.number() != IS_FILE:
        raise damaged("a delta of an external file that makes none")
    name = items.now.reading.control.take(NAME).hex()
    source = next((content for digest, content in files.items() if digest.startswith(name)), None)
    if source is None:
        raise damaged("the base has no such file")
    work.pay_base(len(source))
    return whole(items, source, PAGE_OF_FILE, size)


def page_size_of(base: bytes) -> int:
    size = int.from_bytes(base[16:18], "big")
    return 65_536 if size == 1 else size


def whole(items: Items, source: bytes, page_size: int, size: int) -> bytes:
    found = pieces(items, source, page_size, size)
    if items.tag() is not None:
        raise damaged("items after the last byte")
    return found


def is_file(segment: bytes) -> bool:
    return segment[:1] != b"\2" and DeltaAreas(segment, None, Work()).control.varint() == IS_FILE


def store(segments: list[bytes], base: Base, size: int) -> bytes:
    work = Work()
    work.pay_base(len(base.data))
    items = Items(segments, base, work)
    flags = items.now.number()
    if flags not in (0, OTHER_TREES, OTHER_SETTINGS, OTHER_TREES | OTHER_SETTINGS):
        raise damaged("flags that mean nothing")
    settings = settings_of(items, base.settings) if flags & OTHER_SETTINGS else base.settings
    count = len(base.trees) - 1 + (signed_of(items.now) if flags & OTHER_TREES else 0)
    if not 0 <= count <= MOST_TREES:
        raise damaged("a number of trees that cannot be")
    trees = Trees(items, base, settings)
    schema = checked([(rowid or 0, parsed(payload)) for rowid, payload in rooted(trees, settings)], settings)
    if sum(1 for row in schema if row.root) != count:
        raise damaged("another number of trees")
    table = Text("table".encode(settings.codec))
    places: dict[object, int] = {}

    indexed = {row.table_name for row in schema if row.root and row.kind != table}
    trees.places = [bytes(row.name) if row.kind == table and isinstance(row.name, Text) else None for row in schema if row.root]

    def tree(place: int) -> TreeRows | Later:
        row = schema[place]
        name = bytes(row.name) if isinstance(row.name, Text) else b""
        if row.kind == table:
            return trees.table(name, row.name in indexed, size // settings.page_size)
        number = places.get(row.table_name, 0)
        places[row.table_name] = number + 1
        return TreeRows(*trees.tree(False, name, number))

    out = io.BytesIO()
    pages = write_canonical(out, settings, schema, tree, size // settings.page_size)
    trees.check_end()
    if pages * settings.page_size != size:
        raise damaged("another size than the manifest says")
    return out.getvalue()


def rooted(trees: Trees, settings: Settings) -> list[tuple[int | None, bytes]]:
    """The rows of sqlite_schema with roots that differ, as they will."""
    page, found = 1, []
    for rowid, payload in trees.tree(True, None)[1]:
        values = parsed(payload)
        if len(values) == 5 and isinstance(values[3], int) and values[3]:
            page = settings.geometry.after(page)
            values[3] = page
        found.append((rowid, record(values, settings.schema_format)))
    return found


def settings_of(items: Items, base: Settings) -> Settings:
    numbers = [int(number) for number in astuple(base)]
    changed = items.now.number()
    if changed >= 2 ** len(numbers):
        raise damaged("a setting that there is not")
    for place in range(len(numbers)):
        if changed >> place & 1:
            numbers[place] = items.now.number()
    if numbers[4] > 1 or any(number >= 2**32 for number in numbers):
        raise damaged("a setting out of its limits")
    page_size, reserved, schema_format, cache_size, auto_vacuum, *rest = numbers
    settings = Settings(page_size, reserved, schema_format, cache_size, auto_vacuum == 1, *rest)
    checked_settings(settings)
    return settings


