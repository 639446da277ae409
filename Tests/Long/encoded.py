"""What the Python of Protocol/ makes of messages and of stores that chance has made."""
import hashlib
import sqlite3
import time
import zlib

from cases.delta import JUMPS, LAST, LENGTHS, LITERAL, PART, SAME, SKIP, delta_content, numbers
from cases.store_rows import part
from decoder.delta.base import Base
from decoder.store.records import Text, parsed
from decoder.store.settings import settings_of_any
from decoder.tables import contents
from encoder import segment as s
from encoder.piece import binary, compact_json, joined
from encoder.store_pages import Item, Layout, Store
from encoder.store_record import RawRecord
from encoder.store_stream import items
from encoder.wire import (
    BLOCK_LIMIT, STORED, WINDOW, ZLIB, ZLIB_WINDOW, answer_json, block, deflated_json, difference_json, frame, message_dictionary, stored_json,
)


def deflated(json, window, chance):
    packer = zlib.compressobj(chance.randrange(10), zlib.DEFLATED, -15, zdict=window[-WINDOW:])
    return packer.compress(json) + packer.flush()


def packed(kind, members, chance, answered=None, differs_from=None):
    """The JSON in any of the forms of README.md 3.5; `answered`: what an answer may refer to; `differs_from`: a content, and its id."""
    json = compact_json(members).encode()
    ways = [stored_json(binary(json, "JSON")), deflated_json(deflated(json, message_dictionary(), chance))]
    if answered is not None:
        ways.append(answer_json(deflated(json, message_dictionary() + answered, chance)))
    if differs_from is not None:
        name, content = differs_from
        ways.append(difference_json(name, deflated(json, message_dictionary() + content, chance)))
    return frame(kind, chance.choice(ways))


def store_of(data):
    """The store that a canonical file is, by its rows."""
    base, settings = Base(data), settings_of_any(data)
    rows = [parsed(record) for _, record in base.rows(0, settings)]
    schema = [[bytes(value).decode(settings.codec) if isinstance(value, Text) else value for value in row] for row in rows]
    trees = iter(range(1, len(base.trees)))
    items = []
    for kind, name, table, root, sql in schema:
        place = next(trees) if root else None
        rows = [(rowid, RawRecord(record)) for rowid, record in base.rows(place, settings)] if place else None
        items.append(Item(kind, name, sql, rows, table, root, place is not None and rows is not None and is_table(base, place)))
    return Store(items, settings.page_size, settings.reserved, settings.has_pointer_maps, settings.incremental_vacuum, settings.codec,
                 settings.schema_format, settings.cache_size, settings.user_version, settings.application_id)


def is_table(base, place):
    return base.trees[place].is_table and base.has_rowids(place)


def grouped(rows):
    """A row group of records as they are."""
    records = [content for _, content in rows]
    rowids = s.varints([rowid for rowid, _ in rows]) if rows[0][0] is not None else None
    return s.group(len(rows), s.varints(list(map(len, records))), *(s.text(each) for each in records), rowids=rowids, row_wise=True)


def segment_of(content, form, chance):
    """Stored, or deflated."""
    if chance.random() < 0.5:
        return bytes([0]) + content
    packer = zlib.compressobj(chance.randrange(10), zlib.DEFLATED, -15)
    return bytes([form]) + s.varint(len(content)) + packer.compress(content) + packer.flush()


def blocks_of(data, chance):
    size, found = min(BLOCK_LIMIT, chance.choice([len(data), 4096, 10_000, 65_536])), []
    for offset in range(0, len(data), size):
        content, form = data[offset:offset + size], chance.choice([STORED, ZLIB, ZLIB_WINDOW] if offset else [STORED, ZLIB])
        window = {"zdict": data[max(0, offset - WINDOW):offset]} if form == ZLIB_WINDOW else {}
        packer = zlib.compressobj(chance.randrange(10), **window)
        found.append(joined(block(len(content), form, content if form == STORED else packer.compress(content) + packer.flush())))
    return found


def columns_of(data, chance):
    """Segments of a store's rows, or None where it is not taken apart here."""
    found = items(store_of(data))
    cuts = sorted(chance.sample(range(1, len(found)), min(len(found) - 1, chance.choice([0, 1, 5]))))
    runs = [found[start:end] for start, end in zip([0, *cuts], [*cuts, len(found)])]
    return [segment_of(joined(s.content(s.parts(*(part(put) for item in run for put in item)))), 1, chance) for run in runs]


def delta_of(data, base, chance):
    """Segments of a delta that keeps of each tree the rows that both begin with, or None where the schemas differ."""
    old, new = store_of(base), store_of(data)
    if [(item.kind, item.name, item.sql) for item in old.items] != [(item.kind, item.name, item.sql) for item in new.items] or not new.items:
        return None
    if (old.encoding, old.schema_format, old.auto_vacuum) != (new.encoding, new.schema_format, new.auto_vacuum):
        return None
    before, after = [[store.page_size, store.reserved, store.schema_format, store.cache_size % 2**32, int(store.auto_vacuum), 0,
                      store.user_version % 2**32, store.incremental, store.application_id % 2**32] for store in (old, new)]
    other = [place for place in range(9) if before[place] != after[place]]
    settings = numbers(4, sum(1 << place for place in other), *(after[place] for place in other)) if other else numbers(0)
    rows_of = {(item.kind, item.name): plain(item.rows) for item in old.items if item.rows is not None}
    segments, front = [], [settings, numbers(SAME, 0)]
    for item in Layout(new, True).written_items():
        there, rows = rows_of[item.kind, item.name], plain(item.rows)
        if there == rows:
            front.append(numbers(SAME, 0))
        else:
            kept = next((place for place, (one, other) in enumerate(zip(there, rows)) if one != other), min(len(there), len(rows)))
            more = rows[kept:]
            if more:
                front += [numbers(PART, 0, LAST | LITERAL | LENGTHS, 1), s.constant(kept), s.constant(len(more)), grouped(more)]
            else:
                front += [numbers(PART, 0, LAST | SKIP | JUMPS, 1), s.constant(kept), s.constant(-1)]
        if chance.random() < 0.5:
            segments.append(front)
            front = []
    segments += [front] if front else []
    return [segment_of(joined(delta_content(s.parts(*each))), 1, chance) for each in segments]


def plain(rows):
    return [(rowid, record.content) for rowid, record in rows]


def manifest_of(name, path, data, chance):
    """What a producer says of a store; `path`: the live one, for its schema alone."""
    settings, database = settings_of_any(data), sqlite3.connect(path)
    rows = database.execute("SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'").fetchall()
    database.close()
    text = b"".join((column or "").encode() + b"\0" for row in sorted(rows, key=lambda row: (row[0].encode(), row[1].encode())) for column in row)
    store = {
        "size": len(data), "sha256": hashlib.sha256(data).hexdigest(), "pageSize": settings.page_size, "pageCount": len(data) // settings.page_size,
        "textEncoding": {2: "UTF-16le", 3: "UTF-16be"}.get(settings.text_encoding, "UTF-8"), "applicationID": signed(settings.application_id),
        "userVersion": signed(settings.user_version), "schemaSHA256": hashlib.sha256(text).hexdigest(),
    }
    members = {"name": name, "createdAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
               "producer": {"software": "python", "sqlite": sqlite3.sqlite_version}, "store": store}
    if chance.random() < 0.8:
        members["tables"] = {table: {"rows": count, "digest": found} for table, (count, found) in contents(data).items()}
    if chance.random() < 0.1:
        members["metadata"] = {"key": "value \0 Ж"}
    if chance.random() < 0.1:
        members |= {"later": {"a": [None, True]}, "identity": None, "externalFiles": []}
    return members


def signed(value):
    return value - 2**32 if value >= 2**31 else value
