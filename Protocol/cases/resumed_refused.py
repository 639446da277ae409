"""Shipments that go on in a way that breaks a rule of sections 3.3, 3.5, 5.1 and 5.2."""

from __future__ import annotations

from collections.abc import Iterator

from cases.delta_sessions import BASE, HOLDING, KEPT, NEW, OLDER, now, offers, says_hello, sends
from cases.delta_sessions import CURRENT as HELD
from cases.dialogues import VIOLATION, Turn, cancel, dialogue, gives_up, refusal, refuses
from cases.resumed import (
    AS_DELTA, AS_ROWS, COVERS, ELEMENT, FILES, FILES_ELEMENT, FIRST, IN_BLOCKS, PICTURE, SENT, SENT_FILES, Stream, answers, broke_off, over_unfinished, start,
    start_first, unfinished, want, whole,
)  # fmt: skip
from cases.streams import FINISH, GOOD_MANIFEST, blocks, part_frame
from cases.streams import bad as bad_stream
from encoder.deflate import DeflateStream, matched
from encoder.piece import Pieces, binary, compact_json
from encoder.samples import CORE_DATA_STORE, RECIPES_STORE, Members, manifest
from encoder.vector import Vector
from encoder.wire import (
    ANSWER, BLOCKS, COLUMNS, DATA, DELTA, MANIFEST, SEGMENTS_OVERHEAD, data, difference_json, frame, message, message_dictionary, preamble,
)  # fmt: skip

WITHIN, AT, THERE, ROWS_AT = IN_BLOCKS.within(1, 40), IN_BLOCKS.after(2), AS_DELTA.within(0, 6), AS_ROWS.within(1, 5)
WITHIN_REST = IN_BLOCKS.rest(WITHIN)
REST = IN_BLOCKS.pieces[1][40:]


def vectors() -> Iterator[Vector]:
    yield from by_consumer()
    yield from rests()
    yield from sizes()
    yield from manifests()
    yield from by_producer()


def wrong(name: str, about: str, *turns: Turn, code: str = VIOLATION) -> Vector:
    """What the consumer finds wrong."""
    says: Turn = ("consumer", [refusal(code, "that was not wanted")])
    return dialogue(f"resumed_{name}", about, [("consumer", f"failed {code}")], *turns, says, covers=COVERS)


def by_consumer() -> Iterator[Vector]:
    """Positions that are not the one that is named, or not there."""
    begins = (*start_first(IN_BLOCKS, IN_BLOCKS.within(2, 3)), answers(want(IN_BLOCKS, WITHIN)))

    def opened(name: str, about: str, *frames: Pieces) -> Vector:
        return wrong(name, about, *begins, sends(*frames))

    yield opened("one_less", "A position that is one less", IN_BLOCKS.opened(WITHIN - 1), *IN_BLOCKS.rest(WITHIN - 1))
    yield opened("one_more", "A position that is one more", IN_BLOCKS.opened(WITHIN + 1), *IN_BLOCKS.rest(WITHIN + 1))
    yield opened("at_block_before", "The end of the block before, which the consumer has too", *IN_BLOCKS.frames(IN_BLOCKS.after(1)))
    yield opened("at_other_position", "A position that the consumer could have named, and did not", *IN_BLOCKS.frames(AT))
    yield opened("highest_position", "The highest position", part_frame(0, BLOCKS, position=2**64 - 1), *WITHIN_REST)
    yield opened("in_columns", "The position that is named, in another encoding", part_frame(0, COLUMNS, position=WITHIN), *AS_ROWS.rest())
    yield opened("anew_at_first", "The position that is named, anew, and nothing before it", IN_BLOCKS.opened(WITHIN, anew=True), *WITHIN_REST)
    yield opened("anew", "The position that is named, anew after another encoding", *AS_ROWS.frames()[:2], IN_BLOCKS.opened(WITHIN, anew=True), *WITHIN_REST)
    yield opened("without_anew", "The same, and not anew", *AS_ROWS.frames()[:2], IN_BLOCKS.opened(WITHIN), *WITHIN_REST)
    yield opened("twice", "The same encoding twice, from its beginning at last", *IN_BLOCKS.frames(WITHIN)[:2], *IN_BLOCKS.frames(anew=True))
    yield opened("then_columns_without_anew", "Columns after what goes on, and not anew", *IN_BLOCKS.frames(WITHIN), *AS_ROWS.frames())
    yield opened("then_columns_at_position", "Columns anew after what goes on, at the same position", *IN_BLOCKS.frames(WITHIN), AS_ROWS.opened(WITHIN, anew=True), *AS_ROWS.rest())
    silent = (*start_first(IN_BLOCKS, WITHIN), answers({"part": 0}))
    yield wrong("not_named", "A position where ANSWER names none, though the consumer has told in HELLO of what waits", *silent, sends(*IN_BLOCKS.frames(WITHIN)))
    everything: Turn = ("consumer", [message(ANSWER, {})])
    yield wrong("everything_wanted", "The same where everything is wanted", *start_first(IN_BLOCKS, WITHIN), everything, sends(*IN_BLOCKS.frames(WITHIN)))
    yield wrong("delta_for_columns", "A delta at the position that is named of columns", *start(AS_ROWS, ROWS_AT), answers(want(AS_ROWS, ROWS_AT, base=BASE)), sends(AS_DELTA.opened(ROWS_AT), *AS_DELTA.rest()))
    offered = over_unfinished(FILES, SENT_FILES)
    at = PICTURE.within(1, 20)
    waits = (unfinished(SENT_FILES), whole(CORE_DATA_STORE.data), *PICTURE.waits(at), says_hello(FILES_ELEMENT), offered)
    both = (*waits, answers({"part": 0}, want(PICTURE, at)))
    yield wrong("another_part", "The position that is named of another part", *both, sends(part_frame(0, BLOCKS, position=at), *blocks(CORE_DATA_STORE.data)[1:], *PICTURE.frames(at)))
    yield wrong("not_next_part", "A part goes on before the one that comes first", *both, sends(*PICTURE.frames(at), *blocks(CORE_DATA_STORE.data)))
    yield wrong("unwanted_part", "The store, which is not wanted, and then what goes on", *waits, answers(want(PICTURE, at)), sends(*blocks(CORE_DATA_STORE.data), *PICTURE.frames(at)))
    odd = Stream(COLUMNS, [AS_ROWS.pieces[0], b"this is no segment"])
    asked = answers({"part": 0, "encodings": ["blocks"], "from": IN_BLOCKS.goes_on(WITHIN)})
    again = (*start_first(odd, ROWS_AT), answers(want(odd, ROWS_AT)), sends(*odd.frames(ROWS_AT)), asked)
    yield wrong("again", "What is asked for after END goes on, at a position of which ANSWER says nothing there", *again, sends(IN_BLOCKS.opened(WITHIN, anew=True), *WITHIN_REST))
    whole_file = {"part": 0, "encodings": ["blocks"]}, {"part": 1, "encodings": ["blocks"], "from": PICTURE.goes_on(at)}
    late = (*waits, answers({"part": 0}), sends(*odd.frames()), answers(*whole_file))
    frames = (*blocks(CORE_DATA_STORE.data, anew=True), *PICTURE.frames(at))
    yield wrong("after_all", "The same of a part that is wanted after END alone, so that nothing of it has come in this shipment", *late, sends(*frames))
    first = (*start_first(IN_BLOCKS, WITHIN), answers(want(IN_BLOCKS, WITHIN)), ("producer", IN_BLOCKS.frames(WITHIN)[:2]), refuses("no-space"), gives_up("no-space"))
    after = (offers(NEW, None, first=False), answers({"part": 0}), sends(*IN_BLOCKS.frames(WITHIN)))
    says: Turn = ("consumer", [refusal(VIOLATION, "that was not wanted")])
    yield dialogue("resumed_next_shipment", "A position that was named in the shipment before", [("consumer", f"failed {VIOLATION}")], *first, *after, says, shipments=[("shipment", "Recipes refused no-space")], covers=COVERS)
    recipes = blocks(RECIPES_STORE.data, size=512)
    yield bad_stream("resumed", VIOLATION, "One way nothing goes on", GOOD_MANIFEST, part_frame(0, BLOCKS, position=1), *recipes[1:], FINISH, covers="3.3")


    return message(ANSWER, {})


def rests() -> Iterator[Vector]:
    """Data that are not the rest of what had begun."""
    begins = (*start_first(IN_BLOCKS, WITHIN), answers(want(IN_BLOCKS, WITHIN)))
    opening = IN_BLOCKS.opened(WITHIN)

    def rest(name: str, about: str, *pieces: Pieces) -> Vector:
        return wrong(f"rest_{name}", about, *begins, sends(opening, *pieces))

    def one(content: bytes, last: bool = False) -> Pieces:
        return frame(DATA, data(binary(content, f"{len(content)} bytes of data"), last))

    after = IN_BLOCKS.rest(AT)
    yield rest("short", "The rest of a block, less a byte", one(REST[:-1]), *after)
    yield rest("long", "The rest of a block, and a byte", one(REST + b"!"), *after)
    yield rest("in_two", "The rest of a block in two DATA", one(REST[:5]), one(REST[5:]), *after)
    yield rest("whole", "The whole block once more", one(IN_BLOCKS.pieces[1]), *after)
    yield rest("with_next", "The rest of a block and the next one in one DATA", one(REST + IN_BLOCKS.pieces[2]), *IN_BLOCKS.rest(IN_BLOCKS.after(3)))
    yield rest("left_out", "The block after the one that had begun", *after)
    yield rest("none", "END instead of the rest")
    yield rest("last", "The rest of a block that is not the last one is flagged", one(REST, True))
    yield rest("empty", "A DATA without data before the rest", one(b""), *WITHIN_REST)
    last = IN_BLOCKS.within(3, 10)
    ends = (*start_first(IN_BLOCKS, last), answers(want(IN_BLOCKS, last)), sends(IN_BLOCKS.opened(last), one(IN_BLOCKS.pieces[3][10:])))
    yield wrong("rest_not_last", "The rest of the last block is not flagged", *ends)
    at_end = (*start_first(IN_BLOCKS, AT), answers(want(IN_BLOCKS, AT)))
    yield wrong("from_beginning", "All blocks at a position that is not their first one's", *at_end, sends(IN_BLOCKS.opened(AT), *IN_BLOCKS.rest()))
    yield wrong("gap", "A block is left out after what waits", *at_end, sends(IN_BLOCKS.opened(AT), *IN_BLOCKS.rest(IN_BLOCKS.after(3))))
    yield wrong("at_end_short", "END where a part goes on, and nothing of it has come", *at_end, sends(IN_BLOCKS.opened(AT)))
    rows = (*start_first(AS_ROWS, ROWS_AT), answers(want(AS_ROWS, ROWS_AT)))
    segment = AS_ROWS.pieces[1][5:]
    yield wrong("rest_of_segment_short", "The rest of a segment, less a byte", *rows, sends(AS_ROWS.opened(ROWS_AT), one(segment[:-1]), *AS_ROWS.rest(AS_ROWS.after(2))))
    yield wrong("rest_of_segment_long", "The rest of a segment, and a byte", *rows, sends(AS_ROWS.opened(ROWS_AT), one(segment + b"!"), *AS_ROWS.rest(AS_ROWS.after(2))))
    over = (*start(AS_DELTA, THERE), answers(want(AS_DELTA, THERE, base=BASE)))
    yield wrong("rest_of_delta_short", "The rest of a segment of a delta, less a byte", *over, sends(AS_DELTA.opened(THERE), one(AS_DELTA.pieces[0][6:-1]), *AS_DELTA.rest(AS_DELTA.after(1))))
    yield wrong("rest_of_delta_long", "The rest of a segment of a delta, and a byte", *over, sends(AS_DELTA.opened(THERE), one(AS_DELTA.pieces[0][6:] + b"!"), *AS_DELTA.rest(AS_DELTA.after(1))))


def sizes() -> Iterator[Vector]:
    most = len(NEW.data) + SEGMENTS_OVERHEAD
    long = Stream(COLUMNS, [bytes(most), b"!"])
    for name, about, at in (("", "What waits is as long as segments may be; one byte follows", long.after(1)), ("_within", "The same where the segment is not complete", long.within(0, 9))):
        yield wrong(f"longer_than_store{name}", about, *start_first(long, at), answers(want(long, at)), sends(*long.frames(at)))


def manifests() -> Iterator[Vector]:
    """What a manifest may differ from (section 3.5)."""
    members = manifest(NEW)
    stream = DeflateStream().fixed(matched(compact_json(members).encode(), message_dictionary() + SENT.json)).finished()

    def offered(id: bytes) -> Turn:
        return ("producer", [preamble(), frame(MANIFEST, difference_json(id, stream))])

    waits = (*HOLDING, unfinished(SENT), *IN_BLOCKS.waits(WITHIN))
    yield wrong("manifest_not_named", "A manifest that differs from that of what broke off, of which HELLO says nothing", *waits, says_hello(now(HELD, KEPT)), offered(SENT.id), code="bad-manifest")
    yield wrong("manifest_same_start", "A manifest that differs from one that only begins as that of what broke off", *waits, says_hello(ELEMENT), offered(SENT.id[:4] + bytes(12)), code="bad-manifest")
    yield wrong("manifest_start_alone", "A manifest that names what broke off as HELLO does, by its first digits", *waits, says_hello(ELEMENT), offered(SENT.id[:4]), code="bad-manifest")
    gone = says_hello(FIRST)
    yield wrong("manifest_not_there", "A manifest that differs from what HELLO names, and nothing is there", gone, offered(SENT.id), code="bad-manifest")


def by_producer() -> Iterator[Vector]:
    """Answers that name what cannot go on."""

    def fails(name: str, about: str, *turns: Turn, code: str = "bad-manifest") -> Vector:
        says: Turn = ("producer", [cancel(code, "an ANSWER that cannot be")])
        return dialogue(f"resumed_{name}", about, [("producer", f"failed {code}")], *turns, says, covers=COVERS)

    def answered(name: str, about: str, *wants: Members, encodings: list[str] | None = None) -> Vector:
        hello = says_hello(ELEMENT) if encodings is None else says_hello(ELEMENT, encodings=encodings)
        return fails(name, about, hello, offers(NEW, None), answers(*wants))

    here, rows, changed = IN_BLOCKS.goes_on(WITHIN), AS_ROWS.goes_on(ROWS_AT), AS_DELTA.goes_on(THERE)
    yield answered("unknown_encoding", "What waits came in an encoding that the producer does not know, and the element names none", {"part": 0, "from": here | {"encoding": "rows-of-tomorrow"}})
    yield answered("unwanted_encoding", "What waits came in an encoding that the element does not name", {"part": 0, "encodings": ["columns"], "from": here})
    yield answered("not_in_hello", "What waits came in an encoding of which HELLO says nothing", {"part": 0, "from": rows}, encodings=["delta"])
    yield answered("delta_not_in_hello", "The same of a delta, with its base", {"part": 0, "base": BASE.digest, "from": changed}, encodings=["columns"])
    yield answered("delta_without_base", "A delta waits, and no base is named", {"part": 0, "from": changed})
    yield answered("delta_by_name_without_base", "The same where a delta is wanted by its name", {"part": 0, "encodings": ["delta", "columns"], "from": changed})
    files: Turn = ("producer", [preamble(), message(MANIFEST, FILES)])
    for encoding, about in (("columns", "Of an external file there are no columns"), ("delta", "Of an external file there is no delta without a base")):
        of_file: Members = {"part": 1, "from": PICTURE.goes_on(9) | {"encoding": encoding}}
        yield fails(f"{encoding}_of_external_file", about, says_hello(FILES_ELEMENT), files, answers(of_file))
    yield answered("position_0", "A position that is the beginning", {"part": 0, "from": here | {"position": 0}})
    yield answered("digest_cut", "A digest that is none", {"part": 0, "from": here | {"sha256": here["sha256"][:32]}})
    upper = {"name": "Recipes", "unfinished": "ABCDEF01"}
    said: Turn = ("producer", [preamble()])
    yield fails("hello_upper_case", "A HELLO that names what broke off in upper case", said, says_hello(upper))
    long = broke_off(SENT) | {"name": "Recipes", "unfinished": SENT.id.hex()}
    yield fails("hello_whole_id", "A HELLO that names what broke off by its whole id", said, says_hello(long))
