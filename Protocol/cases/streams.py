"""Whole one-way sessions (sections 2, 3 and 6), as a consumer reads them from a pipe or a file."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator

from encoder.deflate import compressed
from encoder.piece import Pieces, binary, joined, text
from encoder.samples import (
    CORE_DATA_STORE, EMPTY_STORE, EMPTY_UUID, HELLO_MEMBERS, PHOTO, PHOTO_UUID, RECIPES_STORE, RECIPES_TABLE,
    Members, core_data_manifest, external, manifest, receipt, store_members, word,
)  # fmt: skip
from encoder.sqlite_file import StoreFile
from encoder.table_rows import EMPTY_TABLE, table_members
from encoder.vector import Detail, Vector
from encoder.wire import (
    BLOCK, CANCEL, CONSUMER, END, HELLO, MANIFEST, ONE_WAY, RECEIPT, STORED, WINDOW, WORKING, ZLIB, ZLIB_WINDOW,
    block, frame, message, preamble,
)  # fmt: skip

Frames = list[Pieces]

START = preamble(mode=ONE_WAY)
GOOD_MANIFEST = message(MANIFEST, manifest())
FINISH = frame(END)


def block_frame(content: bytes, part: int, offset: int, size: int, encoding: int, flip: int = 0) -> Pieces:
    piece = content[offset : offset + size]
    if encoding == ZLIB:
        encoded = compressed(piece)
    elif encoding == ZLIB_WINDOW:
        encoded = compressed(piece, content[max(0, offset - WINDOW) : offset])
    else:
        encoded = piece
    return frame(BLOCK, block(part, offset, len(piece), encoding, encoded), flip)


def blocks(content: bytes, part: int = 0, size: int | None = None, encodings: tuple[int, ...] = (ZLIB,)) -> Frames:
    """Blocks of `size` bytes; each encoding once, the last one for all that follow."""
    size = size or len(content)
    frames: Frames = []
    for number, offset in enumerate(range(0, len(content), size)):
        frames.append(block_frame(content, part, offset, size, encodings[min(number, len(encodings) - 1)]))
    return frames


def session(*frames: Pieces, start: Pieces | None = None) -> Pieces:
    return [piece for pieces in (START if start is None else start, *frames) for piece in pieces]


def outcome(code: str | None, cancelled: bool) -> Detail:
    if code is None:
        return ("consumer", "done")
    return ("consumer", f"{'cancelled' if cancelled else 'failed'} {code}")


def one(name: str, about: str, pieces: Pieces, parts: list[bytes] | None = None, error: str | None = None, covers: str = "3, 6.2", cancelled: bool = False) -> Vector:
    details = [outcome(error, cancelled)]
    for index, content in enumerate(parts or []):
        details.append(("part", f"{index} {len(content)} {hashlib.sha256(content).hexdigest()}"))
    return Vector(f"stream_{name}", about, covers, "stream", error, details, [("", pieces)])


def bad(name: str, error: str, about: str, *frames: Pieces, covers: str = "3, 6.2", start: Pieces | None = None) -> Vector:
    return one(name, about, session(*frames, start=start), error=error, covers=covers)


def vectors() -> Iterator[Vector]:
    yield from good()
    yield from cancelled()
    yield from out_of_order()
    yield from wrong_places()
    yield from damaged()
    yield from ended_early()
    yield from bad_stores()


def good() -> Iterator[Vector]:
    recipes = RECIPES_STORE.data
    empty = message(MANIFEST, manifest(EMPTY_STORE, "Empty"))
    yield one("tables", "What is told of the table is so", session(*telling(tables={"Recipe": table_members(RECIPES_TABLE)})), [RECIPES_STORE.data], covers="4.8")
    yield one("empty_store", "A store without tables, in one stored block", session(empty, *blocks(EMPTY_STORE.data, encodings=(STORED,)), FINISH), [EMPTY_STORE.data])
    yield one("one_block", "A store in one block", session(GOOD_MANIFEST, *blocks(recipes), FINISH), [recipes])
    several = blocks(recipes, size=300, encodings=(ZLIB, STORED, ZLIB_WINDOW))
    yield one("several_blocks", "A store in four blocks of each encoding; blocks need not end where pages do", session(GOOD_MANIFEST, *several, FINISH), [recipes])
    bytewise = blocks(recipes[:3], size=1, encodings=(STORED,)) + [block_frame(recipes, 0, 3, len(recipes), ZLIB_WINDOW)]
    yield one("tiny_blocks", "Blocks of one byte", session(GOOD_MANIFEST, *bytewise, FINISH), [recipes])
    files = [
        *blocks(CORE_DATA_STORE.data, size=1024, encodings=(ZLIB, ZLIB_WINDOW)),
        *blocks(PHOTO, part=1, size=36_000, encodings=(ZLIB, ZLIB_WINDOW)),
    ]
    parts = [CORE_DATA_STORE.data, PHOTO, b""]
    yield one("external_files", "A Core Data store with two external files, the second of size 0 and so without blocks", session(message(MANIFEST, core_data_manifest()), *files, FINISH), parts, covers="3, 4.6, 6.2")
    lacking = core_data_manifest(
        externalFiles=[external("_EXTERNAL_DATA", EMPTY_UUID, b"")],
        missingExternalFiles=[{"folder": "_EXTERNAL_DATA", "name": PHOTO_UUID}],
    )
    yield one("missing_external_file", "A Core Data store one of whose external files was not there", session(message(MANIFEST, lacking), *blocks(CORE_DATA_STORE.data), FINISH), [CORE_DATA_STORE.data, b""], covers="3, 4.6, 6.2")
    optional = frame(0x80, text("a later version's")), frame(WORKING), frame(0xFF)
    woven = [*optional, GOOD_MANIFEST, *optional, *(piece for pair in zip(several, [optional[1]] * 4) for piece in pair)]
    yield one("optional_frames", "WORKING and optional frames that are not known, everywhere, after END too", session(*woven, *optional, FINISH, *optional), [recipes])
    more = message(MANIFEST, manifest(origin="none", colour=["green"]))
    yield one("unknown_members", "A manifest with members that are not known", session(more, *blocks(recipes), FINISH), [recipes])


def cancelled() -> Iterator[Vector]:
    last_word = message(CANCEL, word("stopped", "stopped by SIGTERM"))
    first = blocks(RECIPES_STORE.data, size=512)[0]
    yield one("cancel_before_manifest", "The producer gives up before its manifest", session(last_word), error="stopped", covers="5.5, 6.2", cancelled=True)
    yield one("cancel_in_blocks", "The producer gives up among its blocks", session(GOOD_MANIFEST, first, last_word), error="stopped", covers="5.5, 6.2", cancelled=True)
    complete = blocks(RECIPES_STORE.data)
    yield one("cancel_instead_of_end", "The producer gives up when all parts are complete", session(GOOD_MANIFEST, *complete, last_word), error="stopped", covers="5.5, 6.2", cancelled=True)
    other = message(CANCEL, word("full-moon", "not tonight"))
    yield one("cancel_unknown_code", "The producer gives up for a reason that has no known code", session(GOOD_MANIFEST, other), error="full-moon", covers="5.5, 6.2, 7", cancelled=True)


def out_of_order() -> Iterator[Vector]:
    violation = "protocol-violation"
    whole = blocks(RECIPES_STORE.data)
    halves = blocks(RECIPES_STORE.data, size=512)
    yield bad("end_before_manifest", violation, "END comes first", FINISH)
    yield bad("block_before_manifest", violation, "A block comes first", *whole, GOOD_MANIFEST, FINISH)
    yield bad("two_manifests", violation, "A second manifest after the first", GOOD_MANIFEST, GOOD_MANIFEST, *whole, FINISH)
    yield bad("manifest_among_blocks", violation, "A manifest among the blocks", GOOD_MANIFEST, halves[0], GOOD_MANIFEST, halves[1], FINISH)
    yield bad("end_without_blocks", violation, "END before the first block", GOOD_MANIFEST, FINISH)
    yield bad("end_before_last_block", violation, "END before the last block", GOOD_MANIFEST, halves[0], FINISH)
    first_part = blocks(CORE_DATA_STORE.data)
    yield bad("end_before_last_part", violation, "END before an external file has come", message(MANIFEST, core_data_manifest()), *first_part, FINISH)
    yield bad("end_twice", violation, "END twice", GOOD_MANIFEST, *whole, FINISH, FINISH)
    yield bad("manifest_after_end", violation, "A second shipment in one session", GOOD_MANIFEST, *whole, FINISH, GOOD_MANIFEST, *whole, FINISH)
    late = message(CANCEL, word("stopped", "stopped by SIGTERM"))
    yield bad("cancel_after_end", violation, "The producer gives up after END, which is too late", GOOD_MANIFEST, *whole, FINISH, late, covers="5.5, 6.2")
    yield bad("bytes_after_end", violation, "The beginning of an optional frame after END, and nothing more", GOOD_MANIFEST, *whole, FINISH, binary(b"\x81\x00", "WORKING, cut"))
    yield bad("hello_from_producer", violation, "HELLO is the consumer's", message(HELLO, HELLO_MEMBERS), GOOD_MANIFEST, *whole, FINISH)
    yield bad("receipt_from_producer", violation, "RECEIPT is the consumer's", GOOD_MANIFEST, *whole, message(RECEIPT, receipt()))
    yield bad("consumer_preamble", violation, "What a consumer sends, read as a shipment", message(HELLO, HELLO_MEMBERS), start=preamble(role=CONSUMER))
    yield bad("required_frame", "unknown-frame", "A required frame that is not known, among the blocks", GOOD_MANIFEST, halves[0], frame(0x7F), halves[1], FINISH)
    yield bad("working_with_payload", violation, "WORKING has no payload", GOOD_MANIFEST, frame(WORKING, text("...")), *whole, FINISH)
    newer = preamble(2, 2, mode=ONE_WAY)
    yield bad("version_2", "version-not-supported", "A shipment in version 2", GOOD_MANIFEST, *whole, FINISH, covers="3.1", start=newer)
    needs = message(MANIFEST, manifest(requires=["time-travel"]))
    yield bad("requires_feature", "feature-not-supported", "A shipment that requires what is not known", needs, *whole, FINISH, covers="4, 8")
    bad_name = message(MANIFEST, manifest(name="../Recipes"))
    yield bad("bad_manifest", "bad-manifest", "A manifest with a name that is a path", bad_name, *whole, FINISH, covers="4.2")


def wrong_places() -> Iterator[Vector]:
    violation = "protocol-violation"
    halves = blocks(RECIPES_STORE.data, size=512)
    whole = blocks(RECIPES_STORE.data)
    content = RECIPES_STORE.data
    yield bad("gap", violation, "The second block begins one byte too late", GOOD_MANIFEST, halves[0], block_frame(content, 0, 513, 511, ZLIB), FINISH)
    yield bad("overlap", violation, "The second block begins one byte too early", GOOD_MANIFEST, halves[0], block_frame(content, 0, 511, 513, ZLIB), FINISH)
    yield bad("block_twice", violation, "The first block twice", GOOD_MANIFEST, halves[0], *halves, FINISH)
    yield bad("blocks_swapped", violation, "The second block first", GOOD_MANIFEST, *reversed(halves), FINISH)
    yield bad("block_after_last", violation, "A block after the last part is complete", GOOD_MANIFEST, *whole, frame(BLOCK, block(0, 1024, 1, STORED, b"!")), FINISH)
    yield bad("block_over_part_size", violation, "The last block is one byte too long", GOOD_MANIFEST, frame(BLOCK, block(0, 0, 1025, STORED, content + b"!")), FINISH)
    yield bad("block_of_no_part", violation, "A block of a part that the manifest does not have", GOOD_MANIFEST, *whole, frame(BLOCK, block(1, 0, 1, STORED, b"!")), FINISH)
    core_data = message(MANIFEST, core_data_manifest())
    store, photo = blocks(CORE_DATA_STORE.data), blocks(PHOTO, part=1)
    yield bad("parts_swapped", violation, "The external file before the store", core_data, *photo, *store, FINISH)
    yield bad("part_skipped", violation, "A block of the part after the next one", core_data, *store, frame(BLOCK, block(2, 0, 1, STORED, b"!")), FINISH)
    yield bad("block_of_empty_part", violation, "A block for a part of size 0", core_data, *store, *photo, frame(BLOCK, block(2, 0, 1, STORED, b"!")), FINISH)
    next_part = block(1, 0, 2, ZLIB_WINDOW, compressed(PHOTO[:2], CORE_DATA_STORE.data))
    yield bad("window_across_parts", violation, "The window does not reach into the part before", core_data, *store, frame(BLOCK, next_part), FINISH)


def damaged() -> Iterator[Vector]:
    error = "damaged"
    content = RECIPES_STORE.data
    whole = blocks(content)
    yield bad("crc_of_preamble", error, "A wrong CRC-32 in the preamble", GOOD_MANIFEST, *whole, FINISH, start=preamble(mode=ONE_WAY, flip=1))
    yield bad("crc_of_manifest", error, "A wrong CRC-32 in MANIFEST", message(MANIFEST, manifest(), flip=1), *whole, FINISH)
    yield bad("crc_of_block", error, "A wrong CRC-32 in BLOCK", GOOD_MANIFEST, block_frame(content, 0, 0, 1024, ZLIB, flip=1), FINISH)
    yield bad("crc_of_end", error, "A wrong CRC-32 in END, all else being whole", GOOD_MANIFEST, *whole, frame(END, flip=1))
    yield bad("crc_of_optional", error, "A wrong CRC-32 in an optional frame that is not known, after END", GOOD_MANIFEST, *whole, FINISH, frame(0x80, flip=1))
    wrong = compressed(content, flip=1)
    yield bad("adler", error, "A wrong Adler-32 in a block", GOOD_MANIFEST, frame(BLOCK, block(0, 0, 1024, ZLIB, wrong)), FINISH)
    other = RECIPES_STORE.with_bytes(1023, b"!")
    yield bad("sha256_of_store", error, "One byte of the store is another: every CRC-32 is right, the SHA-256 is not", GOOD_MANIFEST, *blocks(other.data), FINISH, covers="4.4, 10")
    core_data = message(MANIFEST, core_data_manifest())
    store = blocks(CORE_DATA_STORE.data)
    photo = blocks(PHOTO[:-1] + b"!", part=1)
    yield bad("sha256_of_external_file", error, "One byte of an external file is another", core_data, *store, *photo, FINISH, covers="4.6, 10")
    files = core_data_manifest(externalFiles=[external("_EXTERNAL_DATA", PHOTO_UUID, PHOTO), external("_EXTERNAL_DATA", EMPTY_UUID, b"") | {"sha256": "0" * 64}])
    yield bad("sha256_of_empty_file", error, "The digest of an empty external file counts too", message(MANIFEST, files), *store, *blocks(PHOTO, part=1), FINISH, covers="4.6, 10")
    text_mode = joined(session(GOOD_MANIFEST, *whole, FINISH)).replace(b"\r\n", b"\n")
    yield one("text_mode", "A shipment that went through a text mode", binary(text_mode, "each CR LF became LF"), error="protocol-violation", covers="3.1")


def ended_early() -> Iterator[Vector]:
    halves = blocks(RECIPES_STORE.data, size=512)
    lengths = [0]
    for pieces in (START, GOOD_MANIFEST, *halves, FINISH):
        lengths.append(lengths[-1] + len(joined(pieces)))
    after_preamble, after_manifest, after_first, after_blocks, whole = lengths[1:]
    places = {
        "nothing": (0, "nothing at all"),
        "in_preamble": (after_preamble - 1, "the preamble but for its last byte"),
        "after_preamble": (after_preamble, "the preamble"),
        "in_manifest": (after_manifest - 100, "most of the manifest"),
        "after_manifest": (after_manifest, "the manifest"),
        "after_first_block": (after_first, "the first of two blocks"),
        "in_block_header": (after_first + 3, "three bytes of the second block's header"),
        "in_block": (after_blocks - 5, "the second block but for its last byte and its CRC-32"),
        "before_end": (after_blocks, "all blocks, but not END"),
        "in_end": (whole - 1, "all but the last byte of END"),
    }
    stream = session(GOOD_MANIFEST, *halves, FINISH)
    for name, (length, about) in places.items():
        yield one(f"early_{name}", f"The link ends after {about}", cut(stream, length), error="protocol-violation")


def cut(pieces: Pieces, length: int) -> Pieces:
    kept: Pieces = []
    for piece in pieces:
        data = piece.data[:length]
        length -= len(data)
        kept += [type(piece)(data, piece.note, piece.is_text)] if data else []
    return kept


def telling(**more: object) -> Frames:
    """The recipes, and what more the manifest says of them."""
    return [message(MANIFEST, manifest(**more)), *blocks(RECIPES_STORE.data), FINISH]


def as_shipped(store: StoreFile, **facts: object) -> Frames:
    """The store with its true size and digest, but with `facts` that it does not bear out."""
    members: Members = manifest(store)
    members["store"] = store_members(store) | facts
    return [message(MANIFEST, members), *blocks(store.data), FINISH]


def bad_stores() -> Iterator[Vector]:
    error = "bad-store"
    store = RECIPES_STORE

    def one_bad(name: str, about: str, frames: Frames) -> Vector:
        return bad(f"store_{name}", error, about, *frames, covers="4.4, 7")

    yield one_bad("in_wal_mode", "Bytes 18 and 19 are 2: a WAL file beside it would be read", as_shipped(store.with_bytes(18, b"\2\2")))
    yield one_bad("write_version_2", "Byte 18 alone is 2", as_shipped(store.with_bytes(18, b"\2")))
    yield one_bad("not_sqlite", "No SQLite database, but with the right digest", as_shipped(store.with_bytes(0, b"Recipes format 3")))
    yield one_bad("zeros", "A file of zero bytes", as_shipped(store.with_bytes(0, bytes(1024))))
    yield one_bad("page_size", "The manifest says one page of 1,024 bytes, the file two of 512", as_shipped(store, pageSize=1024, pageCount=1))
    grown = store.with_bytes(28, struct.pack(">I", 3))
    yield one_bad("page_count", "The file's header says three pages, there are two", as_shipped(grown))
    yield one_bad("user_version", "Another user_version than the file's", as_shipped(store, userVersion=8))
    yield one_bad("application_id", "Another application_id than the file's", as_shipped(store, applicationID=0))
    yield one_bad("text_encoding", "Another text encoding than the file's", as_shipped(store, textEncoding="UTF-16le"))
    yield one_bad("schema", "Another schema digest than the file's", as_shipped(store, schemaSHA256="0" * 64))
    yield one_bad("table_page", "The table's page is no b-tree page", as_shipped(store.with_bytes(512, b"\xee")))
    yield from bad_tables()


def bad_tables() -> Iterator[Vector]:
    right = table_members(RECIPES_TABLE)

    def one_bad(name: str, about: str, covers: str = "4.8, 7", **more: object) -> Vector:
        return bad(f"store_{name}", "bad-store", about, *telling(**more), covers=covers)

    yield one_bad("tables_rows", "Another number of rows than the table has", tables={"Recipe": right | {"rows": 4}})
    yield one_bad("tables_digest", "Another digest than that of the table's rows", tables={"Recipe": right | {"digest": EMPTY_TABLE}})
    yield one_bad("tables_none", "The table is not told of, though all of them are", tables={})
    yield one_bad("tables_more", "A table that is not there", tables={"Recipe": right, "recipes": right})
    yield one_bad("tables_case", "The table's name in another case", tables={"recipe": right})
    yield one_bad("tables_omitted", "A table with rows that is said to have been emptied", "4.9, 7", omissions={"tables": ["Recipe"]})
