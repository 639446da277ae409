"""Whole one-way sessions (sections 2, 3 and 6), as a consumer reads them from a pipe or a file."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from typing import Any

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
    ANSWER, BLOCKS, CANCEL, CONSUMER, DATA, DELTA, END, HELLO, MANIFEST, ONE_WAY, PADDING, PART, RECEIPT,
    REFUSAL, STORED, WINDOW, WORKING, ZLIB, ZLIB_WINDOW, block, data, frame, message, part, preamble,
)  # fmt: skip

Frames = list[Pieces]

START = preamble(mode=ONE_WAY)
GOOD_MANIFEST = message(MANIFEST, manifest())
EMPTY_MANIFEST = message(MANIFEST, manifest(EMPTY_STORE, "Empty"))
CORE_DATA_MANIFEST = message(MANIFEST, core_data_manifest())
FINISH = frame(END)
"""Of a shipment, and then of the session."""
SEVERAL = "1, 6"


def part_frame(index: int = 0, encoding: int = BLOCKS, **fields: Any) -> Pieces:
    return frame(PART, part(index, encoding, **fields))


def block_frame(content: bytes, offset: int, size: int, form: int = ZLIB, last: bool | None = None, flip: int = 0) -> Pieces:
    """One DATA; it is flagged where the content ends, unless told otherwise."""
    piece = content[offset : offset + size]
    if form == ZLIB:
        encoded = compressed(piece)
    elif form == ZLIB_WINDOW:
        encoded = compressed(piece, content[max(0, offset - WINDOW) : offset])
    else:
        encoded = piece
    is_last = offset + len(piece) == len(content) if last is None else last
    return frame(DATA, data(block(len(piece), form, encoded), is_last), flip)


def blocks(content: bytes, index: int = 0, size: int | None = None, forms: tuple[int, ...] = (ZLIB,), anew: bool = False) -> Frames:
    """PART, then blocks of `size` bytes; each form once, the last one for all that follow."""
    size = size or len(content)
    frames: Frames = [part_frame(index, anew=anew)]
    for number, offset in enumerate(range(0, len(content), size)):
        frames.append(block_frame(content, offset, size, forms[min(number, len(forms) - 1)]))
    return frames


def session(*frames: Pieces, start: Pieces | None = None) -> Pieces:
    return [piece for pieces in (START if start is None else start, *frames) for piece in pieces]


def installed(*contents: bytes | None, name: str = "Recipes", signer: str | None = None) -> list[Detail]:
    """A shipment that is, and its parts; None is a part that was not wanted."""
    lines: list[Detail] = [("shipment", f"{name} installed")] + ([("signer", signer)] if signer else [])
    for index, content in enumerate(contents):
        told = "skipped" if content is None else f"{len(content)} {hashlib.sha256(content).hexdigest()}"
        lines.append(("part", f"{index} {told}"))
    return lines


def ended(how: str, name: str = "Recipes", signer: str | None = None) -> list[Detail]:
    """A shipment that is not installed: `refused CODE`, `cancelled CODE` or `unchanged`."""
    return [("shipment", f"{name} {how}")] + ([("signer", signer)] if signer else [])


def error_of(ends: list[Detail], shipments: list[Detail]) -> str | None:
    """The code of the session, if it does not end well, else of the first shipment that does not."""
    words = [end.split() for _, end in ends] + [line.split()[1:] for key, line in shipments if key == "shipment"]
    return next((codes[0] for _, *codes in words if codes), None)


def stream(name: str, about: str, end: str, shipments: list[Detail], *frames: Pieces, covers: str = "3, 6.2", start: Pieces | None = None) -> Vector:
    ends = [("consumer", end)]
    last = [FINISH] if end == "done" else []
    sections = [("", session(*frames, *last, start=start))]
    return Vector(f"stream_{name}", about, covers, "stream", error_of(ends, shipments), ends + shipments, sections)


def good(name: str, about: str, contents: list[bytes], *frames: Pieces, covers: str = "3, 6.2", store: str = "Recipes") -> Vector:
    return stream(name, about, "done", installed(*contents, name=store), *frames, covers=covers)


def bad(name: str, error: str, about: str, *frames: Pieces, covers: str = "3, 6.2", start: Pieces | None = None, before: list[Detail] | None = None) -> Vector:
    """The session fails; `before` are the shipments that had ended."""
    return stream(name, about, f"failed {error}", before or [], *frames, covers=covers, start=start)


def refused(name: str, error: str, about: str, *frames: Pieces, covers: str = "3, 6.2") -> Vector:
    """The shipment alone is refused."""
    return stream(name, about, "done", ended(f"refused {error}"), *frames, covers=covers)


def vectors() -> Iterator[Vector]:
    yield from whole()
    yield from several()
    yield from cancelled()
    yield from out_of_order()
    yield from wrong_parts()
    yield from wrong_places()
    yield from damaged()
    yield from ended_early()
    yield from bad_stores()


def whole() -> Iterator[Vector]:
    recipes = RECIPES_STORE.data
    yield good("tables", "What is told of the table is so", [recipes], *telling(tables={"Recipe": table_members(RECIPES_TABLE)}), covers="4.8")
    yield good("empty_store", "A store without tables, in one stored block", [EMPTY_STORE.data], EMPTY_MANIFEST, *blocks(EMPTY_STORE.data, forms=(STORED,)), FINISH, store="Empty")
    yield good("one_block", "A store in one block", [recipes], GOOD_MANIFEST, *blocks(recipes), FINISH)
    four = blocks(recipes, size=300, forms=(ZLIB, STORED, ZLIB_WINDOW))
    yield good("several_blocks", "A store in four blocks of each form; blocks need not end where pages do", [recipes], GOOD_MANIFEST, *four, FINISH)
    bytewise = [part_frame(), *(block_frame(recipes, at, 1, STORED) for at in range(3)), block_frame(recipes, 3, len(recipes), ZLIB_WINDOW)]
    yield good("tiny_blocks", "Blocks of one byte", [recipes], GOOD_MANIFEST, *bytewise, FINISH)
    files = [
        *blocks(CORE_DATA_STORE.data, size=1024, forms=(ZLIB, ZLIB_WINDOW)),
        *blocks(PHOTO, index=1, size=36_000, forms=(ZLIB, ZLIB_WINDOW)),
    ]
    contents = [CORE_DATA_STORE.data, PHOTO, b""]
    yield good("external_files", "A Core Data store with two external files, the second of size 0, so that it does not come", contents, CORE_DATA_MANIFEST, *files, FINISH, covers="3, 4.6, 6.2")
    lacking = core_data_manifest(
        externalFiles=[external("_EXTERNAL_DATA", EMPTY_UUID, b"")],
        missingExternalFiles=[{"folder": "_EXTERNAL_DATA", "name": PHOTO_UUID}],
    )
    yield good("missing_external_file", "A Core Data store one of whose external files was not there", [CORE_DATA_STORE.data, b""], message(MANIFEST, lacking), *blocks(CORE_DATA_STORE.data), FINISH, covers="3, 4.6, 6.2")
    optional = frame(0x80, text("a later version's")), frame(WORKING), frame(0xFF)
    woven = [*optional, GOOD_MANIFEST, *optional, *(piece for each in four for piece in (each, optional[1]))]
    yield good("optional_frames", "WORKING and optional frames that are not known, everywhere, after END too", [recipes], *woven, *optional, FINISH, *optional)
    zeros = frame(PADDING, binary(bytes(30), "zeros"))
    yield good("padding", "PADDING between all frames, after END too", [recipes], *(each for piece in (GOOD_MANIFEST, *four, FINISH) for each in (zeros, piece)), zeros, covers="3.7, 6.2")
    more = message(MANIFEST, manifest(origin="none", colour=["green"]))
    yield good("unknown_members", "A manifest with members that are not known", [recipes], more, *blocks(recipes), FINISH)


def several() -> Iterator[Vector]:
    """One shipment after the other (section 6)."""
    recipes, empty = RECIPES_STORE.data, EMPTY_STORE.data
    first = [GOOD_MANIFEST, *blocks(recipes), FINISH]
    second = [EMPTY_MANIFEST, *blocks(empty), FINISH]
    both = installed(recipes) + installed(empty, name="Empty")
    yield stream("two_shipments", "Two stores, one after the other", "done", both, *first, *second, covers=SEVERAL)
    optional = frame(0x80, text("a later version's")), frame(WORKING)
    yield stream("two_shipments_apart", "The same with WORKING and optional frames between them", "done", both, *first, *optional, *second, *optional, covers=SEVERAL)
    third = [CORE_DATA_MANIFEST, *blocks(CORE_DATA_STORE.data), *blocks(PHOTO, index=1), FINISH]
    three = installed(CORE_DATA_STORE.data, PHOTO, b"") + installed(empty, name="Empty")
    yield stream("parts_begin_again", "Parts are counted from 0 in each shipment, and nothing that came before is left", "done", three, *third, *second, covers=SEVERAL)
    yield stream("same_twice", "The shipment before once more: it is taken like any other, and makes no new generation", "done", installed(recipes) + ended("unchanged"), *first, *first, covers="5.3, 6")
    newer = RECIPES_STORE.with_bytes(1023, b"?")
    update = [message(MANIFEST, manifest(newer)), *blocks(newer.data), FINISH]
    yield stream("store_twice", "Another copy of the store before, under its name", "done", installed(recipes) + installed(newer.data), *first, *update, covers=SEVERAL)
    damage = [GOOD_MANIFEST, *blocks(RECIPES_STORE.with_bytes(1023, b"!").data), FINISH]
    yield stream("damaged_then_good", "One byte of the first store is another; the second is installed", "done", ended("refused damaged") + installed(empty, name="Empty"), *damage, *second, covers=SEVERAL)
    wrong = [GOOD_MANIFEST, part_frame(), frame(DATA, data(block(1024, ZLIB, compressed(recipes, flip=1)))), FINISH]
    yield stream("adler_then_good", "The first store does not decode; the second is installed", "done", ended("refused damaged") + installed(empty, name="Empty"), *wrong, *second, covers=SEVERAL)
    schema = as_shipped(RECIPES_STORE, schemaSHA256="0" * 64)
    yield stream("bad_store_then_good", "The first store is not as its manifest says; the second is installed", "done", ended("refused bad-store") + installed(empty, name="Empty"), *schema, *second, covers=SEVERAL)
    yield stream("good_then_damaged", "The second store is damaged; the first stays installed", "done", installed(empty, name="Empty") + ended("refused damaged"), *second, *damage, covers=SEVERAL)
    needs = [message(MANIFEST, manifest(requires=["time-travel"])), *blocks(recipes), FINISH]
    yield stream("requires_feature_then_good", "The first store requires what is not known, and is passed over; the second is installed", "done", ended("refused feature-not-supported") + installed(empty, name="Empty"), *needs, *second, covers="4, 6, 8")
    passed = [needs[0], *third[1:]]
    yield stream("passed_over_unjudged", "What is passed over is not looked at: these parts are another manifest's", "done", ended("refused feature-not-supported") + installed(empty, name="Empty"), *passed, *second, covers="6.2")
    stops = message(CANCEL, word("stopped", "the store is locked", "shipment"))
    yield stream("passed_over_cancelled", "The producer gives up a shipment that is passed over", "done", ended("refused feature-not-supported") + installed(empty, name="Empty"), *needs[:2], stops, *second, covers="5.5, 6.2")
    yield bad("passed_over_manifest", "protocol-violation", "A manifest before the END of what is passed over", *needs[:2], *second, covers="6.2", before=ended("refused feature-not-supported"))
    yield bad("passed_over_link_ends", "protocol-violation", "The link ends while a shipment is passed over", *needs[:2], covers="6.2", before=ended("refused feature-not-supported"))
    before = installed(recipes)
    yield bad("second_in_disorder", "protocol-violation", "The second shipment is in disorder; the first stays installed", *first, EMPTY_MANIFEST, FINISH, covers=SEVERAL, before=before)
    yield bad("second_ends_early", "protocol-violation", "The link ends within the second shipment; the first stays installed", *first, *second[:-1], covers=SEVERAL, before=before)
    yield bad("second_bad_manifest", "bad-manifest", "The second manifest breaks a rule; the first stays installed", *first, message(MANIFEST, manifest(name="../Recipes")), *second[1:], covers=SEVERAL, before=before)
    yield bad("second_wrong_crc", "damaged", "A wrong CRC-32 in the second shipment; the first stays installed", *first, *second[:-1], frame(END, flip=1), covers=SEVERAL, before=before)


def cancelled() -> Iterator[Vector]:
    def given_up(name: str, about: str, code: str, shipments: list[Detail], *frames: Pieces, covers: str = "5.5, 6.2") -> Vector:
        return stream(name, about, f"cancelled {code}", shipments, *frames, covers=covers)

    last_word = message(CANCEL, word("stopped", "stopped by SIGTERM"))
    recipes = RECIPES_STORE.data
    half, complete = blocks(recipes, size=512)[:2], blocks(recipes)
    yield given_up("cancel_before_manifest", "The producer gives up before its manifest", "stopped", [], last_word)
    yield given_up("cancel_in_blocks", "The producer gives up among its blocks", "stopped", [], GOOD_MANIFEST, *half, last_word)
    yield given_up("cancel_instead_of_end", "The producer gives up when all parts are complete", "stopped", [], GOOD_MANIFEST, *complete, last_word)
    other = message(CANCEL, word("full-moon", "not tonight"))
    yield given_up("cancel_unknown_code", "The producer gives up for a reason that has no known code", "full-moon", [], GOOD_MANIFEST, other, covers="5.5, 6.2, 7")
    said = message(CANCEL, word("stopped", "stopped by SIGTERM", "session"))
    yield given_up("cancel_session", "The same as without a word on what is over", "stopped", [], GOOD_MANIFEST, said)
    yield given_up("cancel_after_end", "The producer gives up after END: the shipment stays installed", "stopped", installed(recipes), GOOD_MANIFEST, *complete, FINISH, last_word)
    second = [EMPTY_MANIFEST, *blocks(EMPTY_STORE.data), FINISH]
    yield given_up("cancel_second", "The producer gives up in the second shipment: the first stays installed", "stopped", installed(recipes), GOOD_MANIFEST, *complete, FINISH, *second[:2], last_word)
    stops = message(CANCEL, word("bad-store", "quick_check found damage in the copy", "shipment"))
    then = ended("cancelled bad-store") + installed(EMPTY_STORE.data, name="Empty")
    yield stream("cancel_shipment", "The producer gives one shipment up, and goes on with the next", "done", then, GOOD_MANIFEST, *half, stops, *second, covers="5.5, 6")
    yield stream("cancel_shipment_at_once", "The same right after the manifest", "done", then, GOOD_MANIFEST, stops, *second, covers="5.5, 6")
    yield stream("cancel_shipment_alone", "A shipment that is given up, and nothing after it", "done", ended("cancelled bad-store"), GOOD_MANIFEST, *half, stops, covers="5.5, 6")
    yield good("cancel_shipment_between", "What is given up after END was a shipment before: it stays installed", [recipes], GOOD_MANIFEST, *complete, FINISH, stops, covers="5.5, 6.2")
    yield bad("cancel_shipment_of_none", "protocol-violation", "A shipment is given up, and there was none", stops, covers="5.5, 6.2")
    yield bad("cancel_damaged", "bad-manifest", "A CANCEL that ends neither", GOOD_MANIFEST, message(CANCEL, word("stopped", "", "world")), covers="5.5")


def out_of_order() -> Iterator[Vector]:
    violation = "protocol-violation"
    recipes = RECIPES_STORE.data
    complete = blocks(recipes)
    opening, first, second = blocks(recipes, size=512)
    there = installed(recipes)
    yield bad("end_before_manifest", violation, "END comes first", FINISH)
    yield bad("part_before_manifest", violation, "A part comes first", *complete, GOOD_MANIFEST, FINISH)
    yield bad("two_manifests", violation, "A second manifest after the first", GOOD_MANIFEST, GOOD_MANIFEST, *complete, FINISH)
    yield bad("manifest_among_blocks", violation, "A manifest among the blocks", GOOD_MANIFEST, opening, first, GOOD_MANIFEST, second, FINISH)
    yield bad("end_without_parts", violation, "END before the first part", GOOD_MANIFEST, FINISH)
    yield bad("end_before_last_block", violation, "END while a part is open", GOOD_MANIFEST, opening, first, FINISH)
    yield bad("end_after_opening", violation, "END while a part is open of which nothing has come", GOOD_MANIFEST, opening, FINISH)
    yield bad("end_before_last_part", violation, "END before an external file has come", CORE_DATA_MANIFEST, *blocks(CORE_DATA_STORE.data), FINISH)
    yield bad("no_last_end", violation, "END of the shipment, and none of the session: the shipment stays installed", GOOD_MANIFEST, *complete, FINISH, before=there)
    yield bad("end_three_times", violation, "Something after END of the session", GOOD_MANIFEST, *complete, FINISH, FINISH, FINISH, before=there)
    yield bad("manifest_after_last", violation, "One more shipment after END of the session", GOOD_MANIFEST, *complete, FINISH, FINISH, EMPTY_MANIFEST, *blocks(EMPTY_STORE.data), FINISH, before=there)
    yield bad("preamble_after_last", violation, "Two streams, one behind the other", GOOD_MANIFEST, *complete, FINISH, FINISH, START, EMPTY_MANIFEST, *blocks(EMPTY_STORE.data), FINISH, FINISH, before=there)
    yield bad("part_after_end", violation, "A part after END", GOOD_MANIFEST, *complete, FINISH, *complete, before=there)
    yield bad("data_after_end", violation, "DATA after END", GOOD_MANIFEST, *complete, FINISH, complete[1], before=there)
    yield bad("bytes_after_end", violation, "The beginning of an optional frame after the last END, and nothing more: the shipment before stays installed", GOOD_MANIFEST, *complete, FINISH, binary(b"\x81\x00", "WORKING, cut"), before=there)
    yield bad("text_after_end", "unknown-frame", "Text after the last END", GOOD_MANIFEST, *complete, FINISH, text("That was it."), before=there)
    yield bad("preamble_after_end", violation, "Two streams, one behind the other: a second preamble is no frame that could be", GOOD_MANIFEST, *complete, FINISH, START, before=there)
    yield bad("hello_from_producer", violation, "HELLO is the consumer's", message(HELLO, HELLO_MEMBERS), GOOD_MANIFEST, *complete, FINISH)
    yield bad("answer_from_producer", violation, "ANSWER is the consumer's", GOOD_MANIFEST, message(ANSWER, {}), *complete, FINISH)
    yield bad("receipt_from_producer", violation, "RECEIPT is the consumer's", GOOD_MANIFEST, *complete, message(RECEIPT, receipt()))
    yield bad("refusal_from_producer", violation, "REFUSAL is the consumer's", GOOD_MANIFEST, *complete, message(REFUSAL, word("busy", "later")))
    yield bad("consumer_preamble", violation, "What a consumer sends, read as a shipment", message(HELLO, HELLO_MEMBERS), start=preamble(role=CONSUMER))
    yield bad("required_frame", "unknown-frame", "A required frame that is not known, among the blocks", GOOD_MANIFEST, opening, first, frame(0x7F), second, FINISH)
    yield bad("working_with_payload", violation, "WORKING has no payload", GOOD_MANIFEST, frame(WORKING, text("...")), *complete, FINISH)
    newer = preamble(2, 2, mode=ONE_WAY)
    yield bad("version_2", "version-not-supported", "A shipment in version 2", GOOD_MANIFEST, *complete, FINISH, covers="3.1", start=newer)
    needs = message(MANIFEST, manifest(requires=["time-travel"]))
    yield refused("requires_feature", "feature-not-supported", "A shipment that requires what is not known", needs, *complete, FINISH, covers="4, 8")
    bad_name = message(MANIFEST, manifest(name="../Recipes"))
    yield bad("bad_manifest", "bad-manifest", "A manifest with a name that is a path", bad_name, *complete, FINISH, covers="4.2, 5.4")


def wrong_parts() -> Iterator[Vector]:
    """What PART may not say (section 3.3)."""
    violation, feature = "protocol-violation", "feature-not-supported"
    recipes = RECIPES_STORE.data
    opening, first, second = blocks(recipes, size=512)

    def wrong(name: str, about: str, *frames: Pieces, error: str = violation) -> Vector:
        return bad(f"part_{name}", error, about, *frames, FINISH, covers="3.3, 6.2")

    yield wrong("missing", "DATA before a part is open", GOOD_MANIFEST, first, opening, first, second)
    yield wrong("over", "DATA after the last of its part", GOOD_MANIFEST, *blocks(recipes), first)
    yield wrong("opened_twice", "A part that is opened again as it was", GOOD_MANIFEST, opening, opening, first, second)
    yield wrong("opened_again_later", "The same after some of it has come", GOOD_MANIFEST, opening, first, opening, second)
    yield wrong("opened_again_complete", "The same after all of it has come", GOOD_MANIFEST, *blocks(recipes), *blocks(recipes))
    yield wrong("anew_at_first", "A part of which nothing has come, anew", GOOD_MANIFEST, *blocks(recipes, anew=True))
    yield wrong("anew_in_same_encoding", "A part anew in the encoding in which it came", GOOD_MANIFEST, opening, first, *blocks(recipes, anew=True))
    yield wrong("position", "Another position than 0", GOOD_MANIFEST, part_frame(position=512), first, second)
    yield wrong("cut", "A PART of 13 bytes", GOOD_MANIFEST, frame(PART, binary(joined(part(0))[:13], "PART, cut")), first, second)
    yield wrong("flags", "A flag that means nothing", GOOD_MANIFEST, part_frame(flags=2), first, second)
    yield wrong("data_flags", "A flag of DATA that means nothing", GOOD_MANIFEST, opening, frame(DATA, data(block(512, STORED, recipes[:512]), flags=2)), second)
    yield wrong("no_data", "DATA without data", GOOD_MANIFEST, opening, frame(DATA, data([], is_last=False)), first, second)
    for number in (0, 4, 255):
        yield wrong(f"encoding_{number}", f"Encoding {number}, which is not known", GOOD_MANIFEST, part_frame(encoding=number), first, second, error=feature)
    later = part_frame(encoding=4, position=1)
    yield wrong("encoding_later", "Of an encoding that is not known the position is not looked at", GOOD_MANIFEST, later, first, second, error=feature)
    yield wrong("delta", "A delta, of which nobody has named a base one way", GOOD_MANIFEST, part_frame(encoding=DELTA), first, second)
    yield wrong("delta_anew", "A delta after blocks, anew", GOOD_MANIFEST, opening, first, part_frame(encoding=DELTA, anew=True), second)
    yield wrong("of_no_file", "A part that the manifest does not have", GOOD_MANIFEST, *blocks(recipes), *blocks(b"!", index=1))
    yield wrong("number_highest", "The highest number that a part could have", GOOD_MANIFEST, part_frame(0xFFFF_FFFF), first, second)
    store, photo = blocks(CORE_DATA_STORE.data), blocks(PHOTO, index=1)
    yield wrong("swapped", "The external file before the store", CORE_DATA_MANIFEST, *photo, *store)
    yield wrong("left_out", "The part after the next one", CORE_DATA_MANIFEST, *store, *blocks(b"!", index=2))
    yield wrong("of_size_0", "A part of size 0", CORE_DATA_MANIFEST, *store, *photo, *blocks(b"!", index=2))
    yield wrong("earlier", "A part once more after the next one", CORE_DATA_MANIFEST, *store, *photo, *blocks(CORE_DATA_STORE.data, anew=True))
    yield wrong("while_open", "The next part while one is open", CORE_DATA_MANIFEST, store[0], block_frame(CORE_DATA_STORE.data, 0, 1024), *photo)


def wrong_places() -> Iterator[Vector]:
    """Blocks that do not make up their part."""
    violation = "protocol-violation"
    content = RECIPES_STORE.data
    opening, first, second = blocks(content, size=512)
    yield refused("blocks_swapped", "damaged", "The second block first: they have no places of their own", GOOD_MANIFEST, opening, block_frame(content, 512, 512, last=False), block_frame(content, 0, 512, last=True), FINISH)
    yield bad("block_after_last", violation, "A block after the one that is flagged", GOOD_MANIFEST, *blocks(content), frame(DATA, data(block(1, STORED, b"!"))), FINISH)
    yield bad("block_over_part_size", violation, "The last block is one byte too long", GOOD_MANIFEST, opening, first, frame(DATA, data(block(513, STORED, content[512:] + b"!"))), FINISH)
    yield bad("block_last_too_early", violation, "The first of two blocks is flagged as the last", GOOD_MANIFEST, opening, block_frame(content, 0, 512, last=True), FINISH)
    yield bad("block_last_not_flagged", violation, "The last block is not flagged", GOOD_MANIFEST, opening, first, block_frame(content, 512, 512, last=False), FINISH)
    store = blocks(CORE_DATA_STORE.data)
    next_part = block(2, ZLIB_WINDOW, compressed(PHOTO[:2], CORE_DATA_STORE.data))
    yield bad("window_across_parts", violation, "The window does not reach into the part before", CORE_DATA_MANIFEST, *store, part_frame(1), frame(DATA, data(next_part, is_last=False)), FINISH, covers="3.4, 6.2")


def damaged() -> Iterator[Vector]:
    error = "damaged"
    content = RECIPES_STORE.data
    complete = blocks(content)
    yield bad("crc_of_preamble", error, "A wrong CRC-32 in the preamble", GOOD_MANIFEST, *complete, FINISH, start=preamble(mode=ONE_WAY, flip=1))
    yield bad("crc_of_manifest", error, "A wrong CRC-32 in MANIFEST", message(MANIFEST, manifest(), flip=1), *complete, FINISH)
    yield bad("crc_of_part", error, "A wrong CRC-32 in PART", GOOD_MANIFEST, frame(PART, part(0), flip=1), complete[1], FINISH)
    yield bad("crc_of_data", error, "A wrong CRC-32 in DATA", GOOD_MANIFEST, complete[0], block_frame(content, 0, 1024, flip=1), FINISH)
    yield bad("crc_of_end", error, "A wrong CRC-32 in END, all else being whole", GOOD_MANIFEST, *complete, frame(END, flip=1))
    yield bad("crc_of_optional", error, "A wrong CRC-32 in an optional frame that is not known, after END", GOOD_MANIFEST, *complete, FINISH, frame(0x80, flip=1), before=installed(content))
    wrong = frame(DATA, data(block(1024, ZLIB, compressed(content, flip=1))))
    yield refused("adler", error, "A wrong Adler-32 in a block", GOOD_MANIFEST, complete[0], wrong, FINISH)
    first = frame(DATA, data(block(512, ZLIB, compressed(content[:512], flip=1)), is_last=False))
    yield refused("adler_then_more", error, "The same in the first of two blocks: the second is passed over", GOOD_MANIFEST, complete[0], first, block_frame(content, 512, 512), FINISH)
    short = frame(DATA, data(block(1024, STORED, content[:-1])))
    yield refused("stored_too_short", error, "A stored block of one byte less than it says", GOOD_MANIFEST, complete[0], short, FINISH)
    other = RECIPES_STORE.with_bytes(1023, b"!")
    yield refused("sha256_of_store", error, "One byte of the store is another: every CRC-32 is right, the SHA-256 is not", GOOD_MANIFEST, *blocks(other.data), FINISH, covers="4.4, 10")
    store = blocks(CORE_DATA_STORE.data)
    photo = blocks(PHOTO[:-1] + b"!", index=1)
    yield refused("sha256_of_external_file", error, "One byte of an external file is another", CORE_DATA_MANIFEST, *store, *photo, FINISH, covers="4.6, 10")
    files = core_data_manifest(externalFiles=[external("_EXTERNAL_DATA", PHOTO_UUID, PHOTO), external("_EXTERNAL_DATA", EMPTY_UUID, b"") | {"sha256": "0" * 64}])
    yield refused("sha256_of_empty_file", error, "The digest of an empty external file counts too", message(MANIFEST, files), *store, *blocks(PHOTO, index=1), FINISH, covers="4.6, 10")
    text_mode = joined(session(GOOD_MANIFEST, *complete, FINISH)).replace(b"\r\n", b"\n")
    yield raw("text_mode", "A shipment that went through a text mode", binary(text_mode, "each CR LF became LF"), covers="3.1")


def raw(name: str, about: str, pieces: Pieces, covers: str = "3, 6.2") -> Vector:
    """Bytes that are a protocol violation."""
    error = "protocol-violation"
    return Vector(f"stream_{name}", about, covers, "stream", error, [("consumer", f"failed {error}")], [("", pieces)])


def ended_early() -> Iterator[Vector]:
    halves = blocks(RECIPES_STORE.data, size=512)
    lengths = [0]
    for each in (START, GOOD_MANIFEST, *halves, FINISH):
        lengths.append(lengths[-1] + len(joined(each)))
    after_preamble, after_manifest, after_opening, after_first, after_blocks, complete = lengths[1:]
    places = {
        "nothing": (0, "nothing at all"),
        "in_preamble": (after_preamble - 1, "the preamble but for its last byte"),
        "after_preamble": (after_preamble, "the preamble, before any shipment"),
        "in_manifest": (after_manifest - 100, "most of the manifest"),
        "after_manifest": (after_manifest, "the manifest"),
        "in_part": (after_opening - 6, "most of PART"),
        "after_part": (after_opening, "PART, before its data"),
        "after_first_block": (after_first, "the first of two blocks"),
        "in_data_header": (after_first + 3, "three bytes of the second DATA's header"),
        "in_data": (after_blocks - 5, "the second DATA but for its last byte and its CRC-32"),
        "before_end": (after_blocks, "all parts, but not END"),
        "in_end": (complete - 1, "all but the last byte of END"),
    }
    pieces = session(GOOD_MANIFEST, *halves, FINISH)
    for name, (length, about) in places.items():
        yield raw(f"early_{name}", f"The link ends after {about}", cut(pieces, length))


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
        return refused(f"store_{name}", error, about, *frames, covers="4.4, 7")

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
        return refused(f"store_{name}", "bad-store", about, *telling(**more), covers=covers)

    yield one_bad("tables_rows", "Another number of rows than the table has", tables={"Recipe": right | {"rows": 4}})
    yield one_bad("tables_digest", "Another digest than that of the table's rows", tables={"Recipe": right | {"digest": EMPTY_TABLE}})
    yield one_bad("tables_none", "The table is not told of, though all of them are", tables={})
    yield one_bad("tables_more", "A table that is not there", tables={"Recipe": right, "recipes": right})
    yield one_bad("tables_case", "The table's name in another case", tables={"recipe": right})
    yield one_bad("tables_omitted", "A table with rows that is said to have been emptied", "4.9, 7", omissions={"tables": ["Recipe"]})
