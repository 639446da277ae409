"""Sessions in which an external file comes as a delta (sections 3.4 and 5.2, `DELTA.md` 2 and 7), or could have."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from cases.delta import numbers, piece, preset, stored
from cases.delta_sessions import COVERS, delta, good, now_of, received, says_hello, sends, wants_each
from cases.dialogues import VIOLATION, Turn, dialogue, refusal, refuses
from cases.resumed import Stream, broke_off, unfinished, want, whole
from cases.streams import Frames, blocks, ended, installed, part_frame
from encoder import segment as s
from encoder.piece import Pieces, binary, joined, text
from encoder.samples import CORE_DATA_STORE, EMPTY_UUID, PHOTO_UUID, Members, content_of, core_data_manifest, core_data_store, external, manifest
from encoder.segment import Part
from encoder.vector import Vector
from encoder.wire import DATA, DELTA, MANIFEST, SEGMENTS_OVERHEAD, data, frame, message, preamble

OLD_UUID = "7A6B5C4D-3E2F-4A1B-9C8D-7E6F5A4B3C2D"
NEW = b" ".join(b"%d bottles" % number for number in range(50))
AT, END = 150, 500
OLD = NEW[:AT] + b"an older one" + NEW[AT:END]
MANIFEST_OF_NEW = core_data_manifest(externalFiles=[external("_EXTERNAL_DATA", PHOTO_UUID, NEW), external("_EXTERNAL_DATA", EMPTY_UUID, b"")])
OLDER = core_data_store(OLD_UUID)
"""The store where the first row's photo was another one."""
CONTENT = content_of(
    core_data_manifest() | {"store": manifest(OLDER)["store"], "externalFiles": [external("_EXTERNAL_DATA", OLD_UUID, OLD), external("_EXTERNAL_DATA", EMPTY_UUID, b"")]}
)
HELD: tuple[Turn, ...] = (
    ("held", [text(CONTENT.json)]),
    ("base", [binary(OLDER.data, "the store")]),
    ("file", [binary(OLD, "an external file")]),
    ("file", []),
)  # fmt: skip
OFFER: Turn = ("producer", [preamble(), message(MANIFEST, MANIFEST_OF_NEW)])
BOTH: tuple[Members, ...] = ({"part": 0, "base": OLDER.digest}, {"part": 1, "base": OLDER.digest})
START = (*HELD, says_hello(now_of(CONTENT)), OFFER, wants_each(*BOTH))
STORE = blocks(CORE_DATA_STORE.data)
GOT = received(CORE_DATA_STORE, 2)
THERE = installed(CORE_DATA_STORE.data, NEW, b"")


def named(content: bytes = OLD) -> Part:
    """The beginning: the result is a file, and what it is made of."""
    return s.parts(numbers(1), s.raw(hashlib.sha256(content).digest()[:8], "of the source's SHA-256"))


FRONT, MIDDLE, REST = (b"", AT, 0), (b"", END - AT, 12), (NEW[END:], 0, 0)
CHANGED = stored(named(), piece(FRONT, MIDDLE, REST))
"""NEW over OLD: twelve bytes go, and some come at the end."""
NOT_IT = stored(named(), piece((b"", len(OLD), 0), (bytes(len(NEW) - len(OLD)), 0, 0)))


def of_file(*segments: Pieces, anew: bool = False, ends: bool = True) -> Frames:
    """Part 1 as a delta."""
    found = [joined(each) for each in segments]
    last = len(found) - 1
    return [part_frame(1, DELTA, anew=anew), *(frame(DATA, data(binary(each, f"a segment of {len(each)} bytes"), ends and at == last)) for at, each in enumerate(found))]


IN_BLOCKS = blocks(NEW, index=1, anew=True)
ASKS = wants_each({"part": 1, "encodings": ["blocks"]})
AGAIN = (ASKS, sends(*IN_BLOCKS), GOT)


def vectors() -> Iterator[Vector]:
    yield from made()
    yield from unproven()
    yield from refused()


def file(name: str, about: str, *turns: Turn) -> Vector:
    return good(f"file_{name}", about, *turns, shipments=THERE)


def made() -> Iterator[Vector]:
    yield file("changed", "What changed of an external file since the one to which the row referred before", *START, sends(*STORE, *of_file(CHANGED)), GOT)
    two = of_file(stored(named(), piece(FRONT)), stored(piece(MIDDLE, REST)))
    yield file("segments", "A delta of an external file in two segments; the second goes on where the copy before ended", *START, sends(*STORE, *two), GOT)
    late = of_file(stored(named()), stored(piece(FRONT, MIDDLE, REST)))
    yield file("named_alone", "A segment that names the source alone", *START, sends(*STORE, *late), GOT)
    yield file("in_blocks", "A base is named, and the external file comes in blocks", *START, sends(*STORE, *blocks(NEW, index=1)), GOT)
    yield file("then_blocks", "The producer begins a delta, and goes on anew in blocks", *START, sends(*STORE, *of_file(binary(b"this is no segment"), ends=False), *IN_BLOCKS), GOT)
    yield file("then_delta", "The producer begins blocks, and goes on anew with a delta", *START, sends(*STORE, *blocks(NEW, index=1, size=200)[:-1], *of_file(CHANGED, anew=True)), GOT)
    by_name = (*HELD, says_hello(now_of(CONTENT)), OFFER, wants_each({"part": 0}, {"part": 1, "encodings": ["delta"], "base": OLDER.digest}))
    yield file("wanted_alone", "An external file that is wanted as a delta alone", *by_name, sends(*STORE, *of_file(CHANGED)), GOT)


    sent = content_of(MANIFEST_OF_NEW)
    store_came = (*HELD, unfinished(sent), whole(CORE_DATA_STORE.data))
    hello = says_hello(now_of(CONTENT) | broke_off(sent))
    there = installed(None, NEW, b"")
    alone = (*store_came, hello, OFFER, wants_each(BOTH[1]), sends(*of_file(CHANGED)), GOT)
    yield good("external_file_alone", "The store came whole in a session that broke off: the external file comes as a delta, over what is held with another store", *alone, shipments=there)
    segments = [joined(stored(named(), piece(FRONT))), joined(stored(piece(MIDDLE, REST)))]
    stream = Stream(DELTA, segments, 1, bytes.fromhex(OLDER.digest))
    at = stream.within(1, 4)
    goes_on = (*store_came, *stream.waits(at), hello, OFFER, wants_each(want(stream, at, base=OLDER)), sends(*stream.frames(at)), GOT)
    yield good("file_resumed", "A delta of an external file goes on where it broke off", *goes_on, shipments=there)


def unproven() -> Iterator[Vector]:
    """A delta that does not make the file, which comes in blocks then."""

    def asks(name: str, about: str, *segments: Pieces) -> Vector:
        return file(name, about, *START, sends(*STORE, *of_file(*segments)), *AGAIN)

    yield asks("unproven", "A delta that makes another file", NOT_IT)
    yield asks("damaged", "A delta that does not decode", binary(b"this is no segment"))
    yield asks("damaged_then_more", "The same with segments after what does not decode", binary(b"this is no segment"), CHANGED)
    source = stored(named(b"held by nobody"), piece(FRONT, MIDDLE, REST))
    yield asks("no_such_source", "A source that the base has not", source)
    yield asks("store_as_source", "The store of the base as the source", stored(named(OLDER.data), piece((NEW, 0, 0))))
    yield asks("name_cut", "The name of the source is cut", stored(numbers(1), s.raw(hashlib.sha256(OLD).digest()[:7], "seven bytes")))
    yield asks("with_rows", "A delta of rows", stored(numbers(0)))
    yield asks("other_flags", "Flags of which one is not for files", stored(numbers(3), s.raw(hashlib.sha256(OLD).digest()[:8], "of the source's SHA-256"), piece((NEW, 0, 0))))
    yield asks("not_a_piece", "An item that is no piece", stored(named(), numbers(0, 0)))
    yield asks("after_rows", "A segment after rows of the base, of which there are none", preset([], b"", named(), piece(FRONT, MIDDLE, REST)))
    yield asks("copy_before", "A copy from before the source", stored(named(), piece((b"", AT, -1), MIDDLE, REST)))
    yield asks("copy_beyond", "A copy from beyond the source", stored(named(), piece((b"", len(OLD) + 1, 0), (NEW[len(OLD) + 1 :], 0, 0))))
    yield asks("too_long", "Bytes after the last one of the file", stored(named(), piece(FRONT, MIDDLE, (NEW[END:] + b"!", 0, 0))))
    yield asks("too_long_by_copy", "The same by a copy", stored(named(), piece(FRONT, MIDDLE, (NEW[END:], 1, 0))))
    yield asks("after_last", "A piece after the last byte of the file", stored(named(), piece(FRONT, MIDDLE, REST), piece()))
    yield asks("too_short", "A file that is cut", stored(named(), piece(FRONT, MIDDLE)))
    yield asks("nothing", "A segment of a name, and no piece", stored(named()))
    two = (wants_each({"part": 0, "encodings": ["columns", "blocks"]}, {"part": 1, "encodings": ["blocks"]}), sends(*blocks(CORE_DATA_STORE.data, anew=True), *IN_BLOCKS), GOT)
    odd = delta(binary(b"this is no segment"))
    yield file("both_unproven", "Neither the store nor the external file is made by its delta", *START, sends(*odd, *of_file(NOT_IT)), *two)
    alone = (wants_each({"part": 0, "encodings": ["columns", "blocks"]}), sends(*blocks(CORE_DATA_STORE.data, anew=True)), GOT)
    yield file("proven", "The external file is made by its delta, and the store is not: it alone comes again", *START, sends(*odd, *of_file(CHANGED)), *alone)
    foul = (ASKS, sends(*blocks(OLD + bytes(len(NEW) - len(OLD)), index=1, anew=True)), refuses("damaged"))
    yield good("file_unproven_all", "Nothing makes the external file", *START, sends(*STORE, *of_file(NOT_IT)), *foul, shipments=ended("refused damaged"))
    contents = HELD[:2]
    gone = (*contents, says_hello(now_of(CONTENT)), OFFER, wants_each(*BOTH))
    yield file("source_gone", "The source cannot be read any more when it is needed", *gone, sends(*STORE, *of_file(CHANGED)), *AGAIN)


def refused() -> Iterator[Vector]:
    def wrong(name: str, about: str, *turns: Turn) -> Vector:
        says: Turn = ("consumer", [refusal(VIOLATION, "that was not wanted")])
        return dialogue(f"delta_file_{name}", about, [("consumer", f"failed {VIOLATION}")], *turns, says, covers=COVERS)

    start = (*HELD, says_hello(now_of(CONTENT)), OFFER)
    yield wrong("not_offered", "A delta of an external file, and no base is named for it", *start, wants_each(BOTH[0], {"part": 1}), sends(*STORE, *of_file(CHANGED)))
    yield wrong("unwanted", "A delta of an external file that is wanted in blocks, though a base is named", *start, wants_each(BOTH[0], BOTH[1] | {"encodings": ["blocks"]}), sends(*STORE, *of_file(CHANGED)))
    yield wrong("again", "The delta once more instead of the blocks that were asked for", *START, sends(*STORE, *of_file(NOT_IT)), ASKS, sends(*of_file(CHANGED, anew=True)))
    most = len(NEW) + SEGMENTS_OVERHEAD
    yield wrong("longer_than_file", "Segments that are 1,048,577 bytes longer than the file", *START, sends(*STORE, *of_file(binary(bytes(most)), binary(b"!"))))
