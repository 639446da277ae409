"""Stores in columns (sections 3.3, 3.4 and 5.2): parts that come anew, and parts that are wanted once more.

Some of the segments here are none: no consumer makes a store of them. They are there for what happens around them.
"""

from __future__ import annotations

from collections.abc import Iterator

from cases.dialogues import (
    ANSWERS, DONE, FOR_PRODUCER, NEXT, NEXT_INSTALLED, VIOLATION, Turn, cancel, dialogue, gives_up, refusal, refuses, wants,
)  # fmt: skip
from cases.dialogues import TAKES_COLUMNS as STARTS
from cases.store_rows import segment
from cases.streams import (
    CORE_DATA_MANIFEST, EMPTY_MANIFEST, FINISH, Frames, as_shipped, blocks, ended, installed, part_frame, stream,
)  # fmt: skip
from cases.streams import bad as bad_stream
from cases.streams import good as good_stream
from cases.streams import refused as refused_stream
from encoder.piece import Pieces, binary, joined
from encoder.samples import CORE_DATA_STORE, EMPTY_STORE, HELLO_MEMBERS, PHOTO, manifest, receipt
from encoder.sqlite_file import StoreFile, Table, schema_digest
from encoder.store_pages import Item, Store, written
from encoder.store_stream import items
from encoder.vector import Detail, Vector
from encoder.wire import (
    ANSWER, COLUMNS, CONSUMER, DATA, END, HELLO, MANIFEST, RECEIPT, SEGMENT_LIMIT, SEGMENTS_OVERHEAD, WORKING,
    data, frame, message, preamble,
)  # fmt: skip

COVERS = "3.3, 3.4, 6"
NO_SEGMENT = b"this is no segment"
SQL = "CREATE TABLE Recipe(id INTEGER PRIMARY KEY, name TEXT NOT NULL)"
PAGES = Store([Item("table", "Recipe", SQL, [(1, [None, "Borscht"]), (2, [None, "Dal"])])])
STORE = StoreFile(joined(written(PAGES)), 512, 0, 0, schema_digest([Table("Recipe", SQL, [])]))
"""In its canonical form, so that it can be made of columns."""
SEGMENT = joined(segment(items(PAGES)))
SEGMENTS = [joined(segment([item])) for item in items(PAGES)]
STORE_MANIFEST = message(MANIFEST, manifest(STORE))


def rows(*segments: bytes, ends: bool = True, anew: bool = False) -> Frames:
    """Part 0 in columns."""
    last = len(segments) - 1
    frames = [part_frame(0, COLUMNS, anew=anew)]
    for index, each in enumerate(segments):
        content = binary(each, f"a segment of {len(each)} bytes")
        frames.append(frame(DATA, data(content, ends and index == last)))
    return frames


GOOD = rows(SEGMENT)
BEGUN = rows(NO_SEGMENT, ends=False)
WHOLE = rows(NO_SEGMENT, NO_SEGMENT)
IN_BLOCKS = blocks(STORE.data, size=512)
ANEW = blocks(STORE.data, size=512, anew=True)
CORE_ANEW = blocks(CORE_DATA_STORE.data, anew=True)
THERE = installed(STORE.data)


def vectors() -> Iterator[Vector]:
    yield from whole()
    yield from anew()
    yield from wrong_places()
    yield from again()
    yield from wrong_questions()
    yield from wrong_answers()


def whole() -> Iterator[Vector]:
    def good(name: str, about: str, *frames: Pieces) -> Vector:
        return good_stream(f"columns{name}", about, [STORE.data], STORE_MANIFEST, *frames, FINISH, covers=COVERS)

    yield good("", "A store in columns", *GOOD)
    yield good("_several_segments", "A segment for each item", *rows(*SEGMENTS))
    opening, *pieces = rows(*SEGMENTS)
    yield good("_optional_frames", "WORKING between all of them", opening, *(each for piece in pieces for each in (frame(WORKING), piece)))
    both = THERE + installed(EMPTY_STORE.data, name="Empty")
    second = [EMPTY_MANIFEST, *blocks(EMPTY_STORE.data), FINISH]
    yield stream("columns_then_blocks", "A store in columns, and after it one in blocks", "done", both, STORE_MANIFEST, *GOOD, FINISH, *second, covers="3.4, 6")
    facts = as_shipped(STORE, userVersion=8)[:1]
    yield refused_stream("columns_bad_store", "bad-store", "The columns make the manifest's store, which is not as the manifest says", *facts, *GOOD, FINISH, covers="3.4, 4.4")


def anew() -> Iterator[Vector]:
    """A producer that takes back what it has sent."""

    def good(name: str, about: str, *frames: Pieces) -> Vector:
        return good_stream(f"anew_{name}", about, [STORE.data], STORE_MANIFEST, *frames, FINISH, covers=COVERS)

    yield good("blocks_for_columns", "The store begins in columns, and comes anew in blocks", *BEGUN, *ANEW)
    yield good("at_once", "The same before any segment has come", BEGUN[0], *ANEW)
    yield good("after_last", "The same after the last of the segments", *WHOLE, *ANEW)
    yield good("columns_for_blocks", "The store begins in blocks, and comes anew in columns", *IN_BLOCKS[:2], *rows(SEGMENT, anew=True))
    yield good("columns_after_last_block", "The same after the last of the blocks", *IN_BLOCKS, *rows(SEGMENT, anew=True))
    damaged = blocks(STORE.with_bytes(600, b"!").data)
    yield good("for_damaged", "The blocks before were of another store: what is void is not judged", *damaged, *rows(SEGMENT, anew=True))
    contents = [CORE_DATA_STORE.data, PHOTO, b""]
    yield good_stream("anew_external_files", "The same before the external files come", contents, CORE_DATA_MANIFEST, *WHOLE, *CORE_ANEW, *blocks(PHOTO, index=1), FINISH, covers=COVERS)

    def refused(name: str, about: str, *frames: Pieces) -> Vector:
        return refused_stream(name, "damaged", about, *frames, FINISH, covers=COVERS)

    yield refused("columns_no_segments", "Columns that do not make a store, and nobody to ask for another", STORE_MANIFEST, *WHOLE)
    yield refused("columns_no_segments_external_files", "The same with an external file after them", CORE_DATA_MANIFEST, *WHOLE, *blocks(PHOTO, index=1))
    yield refused("columns_of_another_store", "Columns that make another store", message(MANIFEST, manifest(EMPTY_STORE)), *GOOD)
    yield refused("columns_without_end", "Columns of which the last segment is missing, and the one before is flagged", STORE_MANIFEST, *rows(*SEGMENTS[:-1]))
    yield refused("columns_and_more", "A segment after the item that ends the store", STORE_MANIFEST, *rows(SEGMENT, SEGMENT))
    yield refused("anew_wrong_digest", "What comes anew counts as ever", STORE_MANIFEST, *BEGUN, *blocks(STORE.with_bytes(600, b"!").data, anew=True))
    most = len(STORE.data) + SEGMENTS_OVERHEAD
    yield refused("columns_longest", "Segments that are 1,048,576 bytes longer than the store, though they make none", STORE_MANIFEST, *rows(bytes(most - 1), b"!"))
    next_one = [EMPTY_MANIFEST, *blocks(EMPTY_STORE.data), FINISH]
    two = ended("refused damaged") + installed(EMPTY_STORE.data, name="Empty")
    yield stream("columns_no_segments_then_good", "Columns that do not make a store; the next store is installed", "done", two, STORE_MANIFEST, *WHOLE, FINISH, *next_one, covers="3.4, 6")


def wrong_places() -> Iterator[Vector]:
    def wrong(name: str, about: str, *frames: Pieces, before: list[Detail] | None = None) -> Vector:
        return bad_stream(name, VIOLATION, about, *frames, covers=COVERS, before=before)

    yield wrong("columns_before_manifest", "Columns come first", *WHOLE, STORE_MANIFEST, FINISH)
    yield wrong("columns_without_anew", "Columns after blocks, and not anew", STORE_MANIFEST, *IN_BLOCKS[:2], *WHOLE, FINISH)
    yield wrong("columns_without_anew_after_last", "The same after the last block", STORE_MANIFEST, *IN_BLOCKS, *WHOLE, FINISH)
    yield wrong("blocks_without_anew", "Blocks after columns, and not anew", STORE_MANIFEST, *BEGUN, *IN_BLOCKS, FINISH)
    yield wrong("columns_anew_at_first", "Columns anew, and nothing before them", STORE_MANIFEST, *rows(SEGMENT, anew=True), FINISH)
    yield wrong("columns_twice", "Columns anew after columns", STORE_MANIFEST, *BEGUN, *rows(SEGMENT, anew=True), FINISH)
    yield wrong("anew_twice", "Columns, blocks, and columns once more", STORE_MANIFEST, *BEGUN, *ANEW[:2], *rows(SEGMENT, anew=True), FINISH)
    yield wrong("columns_after_last", "A segment after the last one", STORE_MANIFEST, *WHOLE, BEGUN[1], FINISH)
    yield wrong("columns_after_end", "Columns after END", STORE_MANIFEST, *IN_BLOCKS, FINISH, *BEGUN, before=THERE)
    yield wrong("columns_without_last", "END before the last of the segments", STORE_MANIFEST, *BEGUN, FINISH)
    store, photo = blocks(CORE_DATA_STORE.data), blocks(PHOTO, index=1)
    yield wrong("columns_without_last_then_next_part", "The next part before the last of the segments", CORE_DATA_MANIFEST, *BEGUN, *photo, FINISH)
    yield wrong("anew_after_next_part", "The store anew after the next part has come", CORE_DATA_MANIFEST, *store, *photo, *rows(SEGMENT, anew=True), FINISH)
    yield wrong("anew_in_next_part", "The store anew while the next part comes", CORE_DATA_MANIFEST, *WHOLE, photo[0], *CORE_ANEW, FINISH)
    yield wrong("anew_of_external_file", "An external file anew: there is no other encoding of it", CORE_DATA_MANIFEST, *store, *photo, *blocks(PHOTO, index=1, anew=True), FINISH)
    yield wrong("columns_of_external_file", "An external file in columns", CORE_DATA_MANIFEST, *store, part_frame(1, COLUMNS), *photo[1:], FINISH)
    most = len(STORE.data) + SEGMENTS_OVERHEAD
    yield wrong("columns_longer_than_store", "Segments that are 1,048,577 bytes longer than the store", STORE_MANIFEST, *rows(bytes(most), b"!"), FINISH)
    yield wrong("columns_longest_segment", "The longest segment, of a store that is too small for it", STORE_MANIFEST, *rows(bytes(SEGMENT_LIMIT)), FINISH)


OFFERS: Turn = ("producer", [preamble(), STORE_MANIFEST])
OFFERS_FILES: Turn = ("producer", [preamble(), CORE_DATA_MANIFEST])
SENDS_NONE: Turn = ("producer", [*WHOLE, frame(END)])
OPENING = (STARTS, OFFERS, ANSWERS, SENDS_NONE)
ASKS = wants((0, ["blocks"]))
SENDS_ANEW: Turn = ("producer", [*ANEW, frame(END)])
RECEIVED: Turn = ("consumer", [message(RECEIPT, receipt(STORE))])
FILES: Turn = ("producer", [*WHOLE, *blocks(PHOTO, index=1), frame(END)])
STORE_ANEW: Turn = ("producer", [*CORE_ANEW, frame(END)])
FILES_RECEIVED: Turn = ("consumer", [message(RECEIPT, receipt(CORE_DATA_STORE))])


def again() -> Iterator[Vector]:
    def good(name: str, about: str, shipments: list[Detail], *turns: Turn) -> Vector:
        return dialogue(name, about, DONE, *turns, shipments=shipments, covers="3.3, 3.4, 5.2, 6")

    sends: Turn = ("producer", [*GOOD, frame(END)])
    yield good("columns", "A store in columns", THERE, STARTS, OFFERS, ANSWERS, sends, RECEIVED)
    yield good("columns_wanted", "A store that is wanted in columns alone", THERE, STARTS, OFFERS, wants((0, ["columns"])), sends, RECEIVED)
    yield good("columns_or_blocks", "A store that is wanted in columns rather than in blocks", THERE, STARTS, OFFERS, wants((0, ["columns", "blocks"])), sends, RECEIVED)
    yield good("columns_again", "What does not make the store is wanted again, in blocks", THERE, *OPENING, ASKS, SENDS_ANEW, RECEIVED)
    first: Turn = ("producer", [*blocks(STORE.with_bytes(600, b"!").data), frame(END)])
    in_columns: Turn = ("producer", [*rows(SEGMENT, anew=True), frame(END)])
    yield good("blocks_again", "The same the other way round", THERE, STARTS, OFFERS, ANSWERS, first, wants((0, ["columns"])), in_columns, RECEIVED)
    yield good("columns_again_or_more", "The consumer names encodings that the producer does not know as well", THERE, *OPENING, wants((0, ["x", "rows-of-tomorrow", "blocks"])), SENDS_ANEW, RECEIVED)
    taken_back: Turn = ("producer", [*WHOLE, *ANEW, frame(END)])
    yield good("columns_anew", "The producer takes its columns back before END", THERE, STARTS, OFFERS, ANSWERS, taken_back, RECEIVED)
    there = installed(CORE_DATA_STORE.data, PHOTO, b"")
    yield good("columns_again_external_files", "The external files that came with it stay", there, STARTS, OFFERS_FILES, ANSWERS, FILES, ASKS, STORE_ANEW, FILES_RECEIVED)
    alone: Turn = ("producer", [*WHOLE, frame(END)])
    kept = installed(CORE_DATA_STORE.data, None, b"")
    yield good("columns_again_unwanted", "Parts that were not wanted need not come then either", kept, STARTS, OFFERS_FILES, wants(0), alone, ASKS, STORE_ANEW, FILES_RECEIVED)
    missed: Turn = ("producer", [*blocks(PHOTO, index=1), frame(END)])
    core_blocks: Turn = ("producer", [*blocks(CORE_DATA_STORE.data), frame(END)])
    yield dialogue("wanted_after_all", "The consumer finds that it has not what it did not want: nothing of it has come, and so it does not come anew", [("producer", "done")], STARTS, OFFERS_FILES, wants(0), core_blocks, wants((1, ["blocks"])), missed, FILES_RECEIVED, shipments=there, covers="3.3, 5.2, 6")
    yield good("columns_again_then_next", "The next store comes after it", THERE + NEXT_INSTALLED, *OPENING, ASKS, SENDS_ANEW, RECEIVED, *NEXT)
    yield good("columns_refused", "A consumer need not ask again", ended("refused damaged"), *OPENING, refuses("damaged", "the columns do not make the store"))
    yield good("columns_again_refused", "Blocks that are not the store's either: nothing is left to ask for", ended("refused damaged") + NEXT_INSTALLED, *OPENING, ASKS, ("producer", [*blocks(STORE.with_bytes(600, b"!").data, anew=True), frame(END)]), refuses("damaged"), *NEXT)
    yield good("columns_again_cancelled", "The producer gives the shipment up when it is asked again", ended("cancelled stopped") + NEXT_INSTALLED, *OPENING, ASKS, gives_up("stopped"), refuses("stopped"), *NEXT)


def wrong_questions() -> Iterator[Vector]:
    """What the producer finds wrong; after END it has nothing to say, and closes."""

    leaves: Turn = ("consumer", [refusal("stopped", "whoever hears this has gone on")])

    def one(name: str, code: str, about: str, *turns: Turn) -> Vector:
        return dialogue(f"again_{name}", about, [("producer", f"failed {code}")], *turns, leaves, covers="5.2, 6.1")

    def asks(members: dict[str, object]) -> Turn:
        return ("consumer", [message(ANSWER, members)])

    says: Turn = ("producer", [cancel(VIOLATION, "an ANSWER out of order")])
    yield one("before_end", VIOLATION, "The consumer asks again before END", STARTS, OFFERS, ANSWERS, ("producer", BEGUN), ASKS, says)
    yield one("absent_wants", VIOLATION, "The consumer asks for everything once more", *OPENING, asks({}))
    yield one("null_wants", VIOLATION, "The same in other words", *OPENING, asks({"wants": None}))
    yield one("nothing", VIOLATION, "The consumer asks for nothing", *OPENING, wants())
    yield one("absent_encodings", VIOLATION, "The consumer does not say in which encoding", *OPENING, wants(0))
    yield one("same_encoding", VIOLATION, "The consumer asks for what has come", *OPENING, wants((0, ["columns"])))
    yield one("same_encoding_among_others", VIOLATION, "The consumer asks for another encoding, or for what has come", *OPENING, wants((0, ["blocks", "columns"])))
    sends: Turn = ("producer", [*IN_BLOCKS, frame(END)])
    yield one("blocks_after_blocks", VIOLATION, "The consumer asks for blocks, and they have come", STARTS, OFFERS, ANSWERS, sends, ASKS)
    taken_back: Turn = ("producer", [*WHOLE, *ANEW, frame(END)])
    yield one("after_anew", VIOLATION, "The same after columns that were taken back", STARTS, OFFERS, ANSWERS, taken_back, ASKS)
    yield one("columns_after_anew", VIOLATION, "The columns that were taken back have come too", STARTS, OFFERS, ANSWERS, taken_back, wants((0, ["columns"])))
    yield one("twice", VIOLATION, "The consumer asks again once more", *OPENING, ASKS, SENDS_ANEW, ASKS)
    files = (STARTS, OFFERS_FILES, ANSWERS, FILES)
    yield one("external_file", VIOLATION, "The consumer asks for an external file: its blocks have come, and there is no other encoding", *files, wants((1, ["blocks"])))
    yield one("store_and_external_file", VIOLATION, "The same beside the store", *files, wants((0, ["blocks"]), (1, ["blocks"])))
    yield one("no_such_part", "bad-manifest", "A part that the manifest does not have", *files, wants((0, ["blocks"]), (3, ["blocks"])))
    yield one("part_of_size_0", "bad-manifest", "A part of size 0", *files, wants((0, ["blocks"]), (2, ["blocks"])))
    feature = "feature-not-supported"
    none_left = (gives_up(feature), refuses(feature), *NEXT)
    yield dialogue("again_unknown_encoding", "An encoding alone that the producer does not know: it gives the shipment up, and goes on", FOR_PRODUCER, *OPENING, wants((0, ["rows-of-tomorrow"])), *none_left, shipments=ended(f"cancelled {feature}") + NEXT_INSTALLED, covers="5.2, 5.5, 6")
    plain = (("consumer", [preamble(role=CONSUMER), message(HELLO, HELLO_MEMBERS)]), OFFERS, ANSWERS, sends)
    yield dialogue("again_columns_not_in_hello", "Columns, of which HELLO says nothing: not both sides know them", FOR_PRODUCER, *plain, wants((0, ["columns"])), *none_left, shipments=ended(f"cancelled {feature}") + NEXT_INSTALLED, covers="5.2, 5.5, 6")


def wrong_answers() -> Iterator[Vector]:
    """What the consumer finds wrong."""

    def one(name: str, code: str, about: str, *turns: Turn, word: str = "failed") -> Vector:
        return dialogue(name, about, [("consumer", f"{word} {code}")], *turns, covers="3.3, 3.4, 6.2")

    def sends(*frames: Pieces) -> Turn:
        return ("producer", [*frames, frame(END)])

    says: Turn = ("consumer", [refusal(VIOLATION, "a part out of order")])
    asked = (*OPENING, ASKS)
    yield one("columns_twice", VIOLATION, "Columns instead of the blocks that were asked for", *asked, sends(*rows(SEGMENT, anew=True)), says)
    yield one("columns_again_without_anew", VIOLATION, "The blocks that were asked for, and not anew", *asked, sends(*IN_BLOCKS), says)
    yield one("columns_again_end", VIOLATION, "END instead of the blocks that were asked for", *asked, sends(), says)
    yield one("columns_again_data", VIOLATION, "DATA instead of a part", *asked, ("producer", ANEW[1:]), says)
    files = (STARTS, OFFERS_FILES, ANSWERS, FILES, ASKS)
    photo = blocks(PHOTO, index=1, anew=True)
    yield one("columns_again_and_more", VIOLATION, "A part that was not asked for after the one that was", *files, sends(*CORE_ANEW, *photo), says)
    late = sends(*WHOLE, *blocks(PHOTO, index=1), *CORE_ANEW)
    yield one("anew_after_next_part", VIOLATION, "The store anew after the next part has come", STARTS, OFFERS_FILES, ANSWERS, late, says)
    stops: Turn = ("producer", [cancel("stopped", "stopped by SIGTERM")])
    yield one("columns_again_stopped", "stopped", "The producer is stopped when it is asked again", *asked, stops, word="cancelled")
    yield one("columns_again_leaves", VIOLATION, "The link ends when the producer is asked again", *asked)
    yield one("columns_again_manifest", VIOLATION, "Another manifest instead of what was asked for", *asked, ("producer", [EMPTY_MANIFEST]), says)
