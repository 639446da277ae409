"""Stores by their rows (section 3.4): the payload of COLUMNS, and where in a shipment it may come.

The segments here are none: no consumer makes a store of them. They are there for what happens around them.
"""

from __future__ import annotations

from collections.abc import Iterator

from cases.dialogues import (
    ACCEPTS, CONSUMER_STARTS, DONE, PRODUCER_STARTS, RECEIPT_OF_STORE, SENDS, Turn, cancel, dialogue, parts, refusal,
)  # fmt: skip
from cases.streams import FINISH, GOOD_MANIFEST, Frames, bad, blocks, one, session
from encoder.piece import Pieces
from encoder.samples import (
    CORE_DATA_STORE, HELLO_WITH_COLUMNS, PHOTO, RECIPES_STORE, core_data_manifest, receipt,
)  # fmt: skip
from encoder.vector import Vector
from encoder.wire import (
    ACCEPT, COLUMNS, CONSUMER, END, HELLO, MANIFEST, RECEIPT, SEGMENT_LIMIT, SEGMENTS_OVERHEAD,
    columns, frame, message, preamble,
)  # fmt: skip

NO_SEGMENT = b"this is no segment"
COVERS = "3.4, 6"


def rows(*segments: bytes, ends: bool = True) -> Frames:
    last = len(segments) - 1
    return [frame(COLUMNS, columns(segment, ends and index == last)) for index, segment in enumerate(segments)]


BEGUN = rows(NO_SEGMENT, ends=False)
WHOLE = rows(NO_SEGMENT, NO_SEGMENT)


def vectors() -> Iterator[Vector]:
    yield from payloads()
    yield from restarts()
    yield from wrong_places()
    yield from again()
    yield from wrong_questions()
    yield from wrong_answers()


def payloads() -> Iterator[Vector]:
    def good(name: str, about: str, payload: Pieces, size: int, is_last: bool) -> Vector:
        details = [("value.last", "true" if is_last else "false"), ("value.segment", str(size))]
        return Vector(f"columns_{name}", about, "3.4", "columns", None, details, [("", payload)])

    def wrong(name: str, about: str, payload: Pieces) -> Vector:
        return Vector(f"columns_{name}", about, "3.4", "columns", "protocol-violation", [], [("", payload)])

    yield good("first", "A piece of the rows, with more to come", columns(NO_SEGMENT), len(NO_SEGMENT), False)
    yield good("last", "The last piece of the rows", columns(NO_SEGMENT, is_last=True), len(NO_SEGMENT), True)
    yield good("one_byte", "The shortest segment", columns(b"!"), 1, False)
    yield good("at_limit", "The longest segment: 4,195,328 bytes", columns(bytes(SEGMENT_LIMIT)), SEGMENT_LIMIT, False)
    yield wrong("flag_2", "A flag that means nothing", columns(NO_SEGMENT, flags=2))
    yield wrong("flag_80", "A flag that means nothing beside the one that does", columns(NO_SEGMENT, flags=0x81))
    yield wrong("without_segment", "Flags, and no segment", columns(b"", is_last=True))
    yield wrong("empty", "A COLUMNS without a payload", [])


def restarts() -> Iterator[Vector]:
    content = RECIPES_STORE.data
    halves = blocks(content, size=512)
    yield one("columns_restart", "The store begins by its rows, and then comes once more in blocks", session(GOOD_MANIFEST, *BEGUN, *halves, FINISH), [content], covers=COVERS)
    yield one("columns_restart_after_last", "The same after the last of the rows", session(GOOD_MANIFEST, *WHOLE, *halves, FINISH), [content], covers=COVERS)
    core_data = message(MANIFEST, core_data_manifest())
    files = [*blocks(CORE_DATA_STORE.data), *blocks(PHOTO, part=1)]
    yield one("columns_restart_external_files", "The same before the external files come", session(core_data, *WHOLE, *files, FINISH), [CORE_DATA_STORE.data, PHOTO, b""], covers=COVERS)
    yield bad("columns_no_segments", "damaged", "Rows that do not come to a store, and nobody to ask for another", GOOD_MANIFEST, *WHOLE, FINISH, covers=COVERS)
    photo = blocks(PHOTO, part=1)
    yield bad("columns_no_segments_external_files", "damaged", "The same with an external file after them", core_data, *WHOLE, *photo, FINISH, covers=COVERS)
    other = RECIPES_STORE.with_bytes(1023, b"!")
    yield bad("columns_restart_wrong_digest", "damaged", "What comes after a restart counts as ever", GOOD_MANIFEST, *BEGUN, *blocks(other.data), FINISH, covers=COVERS)


def wrong_places() -> Iterator[Vector]:
    def wrong(name: str, about: str, *frames: Pieces) -> Vector:
        return bad(f"columns_{name}", "protocol-violation", about, *frames, covers=COVERS)

    halves, whole = blocks(RECIPES_STORE.data, size=512), blocks(RECIPES_STORE.data)
    yield wrong("before_manifest", "Rows come first", *WHOLE, GOOD_MANIFEST, FINISH)
    yield wrong("after_block", "Rows after a block of the store", GOOD_MANIFEST, halves[0], *WHOLE, FINISH)
    yield wrong("after_blocks", "Rows after all blocks of the store", GOOD_MANIFEST, *whole, *WHOLE, FINISH)
    yield wrong("after_last", "Rows after the last of the rows", GOOD_MANIFEST, *WHOLE, *BEGUN, FINISH)
    yield wrong("after_restart", "Rows after the store has begun again", GOOD_MANIFEST, *BEGUN, halves[0], *WHOLE, FINISH)
    yield wrong("after_end", "Rows after END", GOOD_MANIFEST, *whole, FINISH, *BEGUN)
    yield wrong("without_last", "END before the last of the rows", GOOD_MANIFEST, *BEGUN, FINISH)
    yield wrong("then_second_block", "A block that goes on where the rows may have ended", GOOD_MANIFEST, *BEGUN, halves[1], FINISH)
    core_data = message(MANIFEST, core_data_manifest())
    store, photo = blocks(CORE_DATA_STORE.data), blocks(PHOTO, part=1)
    yield wrong("without_last_then_next_part", "The next part before the last of the rows", core_data, *BEGUN, *photo, FINISH)
    yield wrong("after_next_part", "Rows after the next part has begun", core_data, *store, *photo, *WHOLE, FINISH)
    most = len(RECIPES_STORE.data) + SEGMENTS_OVERHEAD
    yield wrong("longer_than_store", "Segments that are 1,048,577 bytes longer than the store", GOOD_MANIFEST, *rows(bytes(most), b"!"), FINISH)


STARTS: Turn = ("consumer", [preamble(role=CONSUMER), message(HELLO, HELLO_WITH_COLUMNS)])
SENDS_ROWS: Turn = ("producer", [*WHOLE, frame(END)])
PLAINLY = message(ACCEPT, {"plainly": True})
ASKS: Turn = ("consumer", [PLAINLY])
OPENING = (STARTS, PRODUCER_STARTS, ACCEPTS, SENDS_ROWS)


def again() -> Iterator[Vector]:
    store = [("outcome", "installed"), *parts(RECIPES_STORE.data)]
    ends: Turn = ("consumer", [RECEIPT_OF_STORE])
    yield dialogue("columns_again", "A store that cannot be made from its rows comes again in blocks", DONE, *OPENING, ASKS, SENDS, ends, details=store, covers=COVERS)
    restarted: Turn = ("producer", [*WHOLE, *SENDS[1]])
    yield dialogue("columns_restart", "The producer takes its rows back before END", DONE, STARTS, PRODUCER_STARTS, ACCEPTS, restarted, ends, details=store, covers=COVERS)
    core_data = ("producer", [preamble(), message(MANIFEST, core_data_manifest())])
    files: Turn = ("producer", [*WHOLE, *blocks(PHOTO, part=1), frame(END)])
    keeps: Turn = ("consumer", [message(ACCEPT, {"skip": [1, 2], "plainly": True})])
    store_alone: Turn = ("producer", [*blocks(CORE_DATA_STORE.data), frame(END)])
    installed: Turn = ("consumer", [message(RECEIPT, receipt(CORE_DATA_STORE))])
    contents = [("outcome", "installed"), *parts(CORE_DATA_STORE.data, PHOTO, b"")]
    yield dialogue("columns_again_external_files", "The external files that came with it are kept", DONE, STARTS, core_data, ACCEPTS, files, keeps, store_alone, installed, details=contents, covers=COVERS)
    skips: Turn = ("consumer", [message(ACCEPT, {"skip": [1]})])
    contents = [("outcome", "installed"), *parts(CORE_DATA_STORE.data, None, b"")]
    yield dialogue("columns_again_skip", "Parts that the consumer has already stay skipped", DONE, STARTS, core_data, skips, SENDS_ROWS, keeps, store_alone, installed, details=contents, covers=COVERS)
    yield dialogue("columns_refused", "A consumer need not ask again", [("producer", "refused damaged")], *OPENING, ("consumer", [refusal("damaged", "the rows do not come to the store")]), error="damaged", covers=COVERS)


def wrong_questions() -> Iterator[Vector]:
    """What the producer finds wrong."""
    violation = "protocol-violation"

    def one_wrong(name: str, code: str, about: str, *turns: Turn) -> Vector:
        return dialogue(name, about, [("producer", f"failed {code}")], *turns, error=code, covers="5.2, 6.1")

    says: Turn = ("producer", [cancel(violation, "an ACCEPT out of order")])
    yield one_wrong("accept_plainly_first", violation, "The first ACCEPT asks again", STARTS, PRODUCER_STARTS, ASKS, says)
    begun: Turn = ("producer", BEGUN)
    yield one_wrong("accept_plainly_before_end", violation, "The consumer asks again before END", STARTS, PRODUCER_STARTS, ACCEPTS, begun, ASKS, says)
    yield one_wrong("accept_plainly_after_blocks", violation, "The consumer asks again for what came in blocks", STARTS, PRODUCER_STARTS, ACCEPTS, SENDS, ASKS)
    restarted: Turn = ("producer", [*WHOLE, *SENDS[1]])
    yield one_wrong("accept_plainly_after_restart", violation, "The same after rows that were taken back", STARTS, PRODUCER_STARTS, ACCEPTS, restarted, ASKS)
    yield one_wrong("accept_plainly_twice", violation, "The consumer asks again once more", *OPENING, ASKS, SENDS, ASKS)
    yield one_wrong("accept_after_end", violation, "A second ACCEPT that does not ask again", *OPENING, ACCEPTS)
    not_plainly: Turn = ("consumer", [message(ACCEPT, {"plainly": False})])
    yield one_wrong("accept_not_plainly_after_end", violation, "The same in other words", *OPENING, not_plainly)
    core_data = ("producer", [preamble(), message(MANIFEST, core_data_manifest())])
    files: Turn = ("producer", [*WHOLE, *blocks(PHOTO, part=1), frame(END)])
    for name, skip in {"nothing_skipped": None, "part_missing": [1], "store_skipped": [0, 1, 2]}.items():
        asks: Turn = ("consumer", [message(ACCEPT, {"skip": skip, "plainly": True})])
        yield one_wrong(f"accept_plainly_{name}", "bad-manifest", "The consumer asks again for something else than the store", STARTS, core_data, ACCEPTS, files, asks)


def wrong_answers() -> Iterator[Vector]:
    """What the consumer finds wrong."""
    violation = "protocol-violation"

    def one_wrong(name: str, code: str, about: str, *turns: Turn, word: str = "failed") -> Vector:
        return dialogue(name, about, [("consumer", f"{word} {code}")], *turns, error=code, covers="3.4, 6.2")

    says: Turn = ("consumer", [refusal(violation, "rows out of order")])
    yield one_wrong("columns_twice", violation, "Rows instead of the blocks that were asked for", *OPENING, ASKS, SENDS_ROWS, says)
    damaged = ("producer", [*blocks(RECIPES_STORE.with_bytes(1023, b"!").data), frame(END)])
    yield one_wrong("columns_again_wrong_digest", "damaged", "The blocks that were asked for are not the store's either", *OPENING, ASKS, damaged, ("consumer", [refusal("damaged", "the store's SHA-256 is another")]))
    yield one_wrong("columns_again_end", violation, "END instead of the blocks that were asked for", *OPENING, ASKS, ("producer", [frame(END)]), ("consumer", [refusal(violation, "the store is missing")]))
    yield one_wrong("columns_again_cancelled", "stopped", "The producer gives up when it is asked again", *OPENING, ASKS, ("producer", [cancel("stopped", "stopped by SIGTERM")]), word="cancelled")
    yield one_wrong("columns_again_leaves", violation, "The link ends when the producer is asked again", *OPENING, ASKS)
    unasked: Turn = ("consumer", [refusal("feature-not-supported", "sqlite-columns")])
    yield one_wrong("columns_unasked", "feature-not-supported", "Rows for a consumer that does not take them", CONSUMER_STARTS, PRODUCER_STARTS, ACCEPTS, ("producer", WHOLE), unasked)
    core_data = ("producer", [preamble(), message(MANIFEST, core_data_manifest())])
    late: Turn = ("producer", [*WHOLE, *blocks(PHOTO, part=1), *blocks(CORE_DATA_STORE.data), frame(END)])
    yield one_wrong("columns_restart_after_next_part", violation, "The store begins again after the next part has", STARTS, core_data, ACCEPTS, late, says)
    skips: Turn = ("consumer", [message(ACCEPT, {"skip": [0, 1, 2]})])
    yield one_wrong("columns_of_skipped_store", violation, "Rows of a store that the consumer skips", STARTS, core_data, skips, SENDS_ROWS, says)
