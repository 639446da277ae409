"""Sessions in which a shipment goes on where an earlier one broke off (sections 3.3, 5.1, 5.2 and 6.4)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from cases.delta import EDIT, LAST, PART, REST, SKIP, numbers, stored
from cases.delta_sessions import (
    BASE, CHANGED, CURRENT, DISHES, DRINKS, EDITED, FRONT, HOLDING, KEPT, NEW, NOT_IT, OLDER, now, offers, pages, received, says_hello,
    sends, store_of,
)  # fmt: skip
from cases.dialogues import DONE, FOR_PRODUCER, NEXT, NEXT_INSTALLED, Turn, cancel, dialogue, gives_up, refuses
from cases.packed_answers import answering
from cases.packed_messages import differing
from cases.store_rows import segment
from cases.streams import Frames, blocks, ended, installed, part_frame
from encoder import segment as s
from encoder.deflate import compressed
from encoder.piece import Pieces, binary, joined, text
from encoder.samples import CORE_DATA_STORE, PHOTO, Content, Members, content_of, core_data_manifest, manifest, receipt
from encoder.sqlite_file import StoreFile
from encoder.store_stream import items
from encoder.vector import Detail, Vector
from encoder.wire import (
    ANSWER, BLOCKS, COLUMNS, DATA, DELTA, ENCODING_NAMES, RECEIPT, WORKING, ZLIB, ZLIB_WINDOW, block, data, frame, message, part, preamble,
)  # fmt: skip

COVERS = "3.3, 5.1, 5.2, 6, 6.4"


@dataclass(frozen=True)
class Stream:
    """A part in one encoding, as the data of each DATA."""

    encoding: int
    pieces: list[bytes] = field(default_factory=list)
    index: int = 0
    base: bytes = b""

    @property
    def bytes(self) -> bytes:
        return b"".join(len(each).to_bytes(4, "big") + each for each in self.pieces)

    def after(self, count: int) -> int:
        """The position after so many DATA."""
        return sum(4 + len(each) for each in self.pieces[:count])

    def within(self, number: int, size: int) -> int:
        """The position after `size` bytes of the data of a DATA."""
        return self.after(number) + 4 + size

    def goes_on(self, position: int) -> Members:
        """`from` of ANSWER."""
        digest = hashlib.sha256(self.bytes[:position]).hexdigest()
        return {"encoding": ENCODING_NAMES[self.encoding], "position": position, "sha256": digest}

    def waits(self, position: int | None = None) -> tuple[Turn, ...]:
        """No turns: how the part was opened, and what came of it up to a position."""
        stream = self.bytes[:position]
        over: tuple[Turn, ...] = (("over", [binary(self.base, "the base")]),) if self.base else ()
        return (("opening", [part(self.index, self.encoding)]), *over, ("stream", [binary(stream, f"{len(stream)} bytes of the stream")]))

    def opened(self, position: int = 0, anew: bool = False) -> Pieces:
        return part_frame(self.index, self.encoding, anew=anew, position=position)

    def rest(self, position: int = 0) -> Frames:
        frames: Frames = []
        end = 0
        for number, each in enumerate(self.pieces):
            end += 4 + len(each)
            left = each[max(0, len(each) - (end - position)) :] if end > position else b""
            note = f"{len(left)} bytes of data" if len(left) == len(each) else f"the rest of {len(each)} bytes of data"
            frames += [frame(DATA, data(binary(left, note), number == len(self.pieces) - 1))] if left else []
        return frames

    def frames(self, position: int = 0, anew: bool = False) -> Frames:
        return [self.opened(position, anew), *self.rest(position)]


def in_blocks(content: bytes, size: int, *forms: int, index: int = 0) -> Stream:
    pieces: list[bytes] = []
    for number, at in enumerate(range(0, len(content), size)):
        form = forms[min(number, len(forms) - 1)] if forms else ZLIB
        piece = content[at : at + size]
        encoded = compressed(piece, content[max(0, at - 32_768) : at]) if form == ZLIB_WINDOW else compressed(piece)
        pieces.append(joined(block(len(piece), form, encoded)))
    return Stream(BLOCKS, pieces, index)


IN_BLOCKS = in_blocks(NEW.data, 300)
AS_ROWS = Stream(COLUMNS, [joined(segment([item])) for item in items(pages(CHANGED))])
AS_DELTA = Stream(
    DELTA, [joined(stored(FRONT, numbers(0, 0))), joined(stored(numbers(PART, LAST | REST | EDIT, 1), EDITED))], base=bytes.fromhex(BASE.digest)
)
"""NEW over BASE, in two segments."""


def unfinished(content: Content) -> Turn:
    """No turn: the content of the manifest of what broke off."""
    return ("unfinished", [text(content.json)])


def whole(content: bytes) -> Turn:
    """No turn: a part of it that is complete."""
    return ("whole", [binary(content, "a part that is complete")])


def broke_off(content: Content) -> Members:
    return {"unfinished": content.id.hex()[:8]}


SENT = content_of(manifest(NEW))
"""Of the manifest of what broke off."""
ELEMENT = now(CURRENT, KEPT) | broke_off(SENT)
FIRST: Members = {"name": "Recipes"} | broke_off(SENT)


def want(stream: Stream, position: int | None, *encodings: str, base: StoreFile | None = None) -> Members:
    """An element of `wants`."""
    members: Members = {"part": stream.index} | ({"encodings": list(encodings)} if encodings else {}) | ({"base": base.digest} if base else {})
    return members | ({"from": stream.goes_on(position)} if position is not None else {})


def answers(*wants: Members) -> Turn:
    return ("consumer", [message(ANSWER, {"wants": list(wants)})])


def over_unfinished(members: Members, content: Content = SENT) -> Turn:
    """A manifest that differs from that of what broke off."""
    return ("producer", [preamble(), differing(content, members)])


def start(stream: Stream, position: int | None = None) -> tuple[Turn, ...]:
    """NEW broke off at a position, over BASE, and is offered once more."""
    return (*HOLDING, unfinished(SENT), *stream.waits(position), says_hello(ELEMENT), over_unfinished(manifest(NEW)))


def start_first(stream: Stream, position: int | None = None) -> tuple[Turn, ...]:
    """The same where nothing is held."""
    return (unfinished(SENT), *stream.waits(position), says_hello(FIRST), over_unfinished(manifest(NEW)))


THERE = installed(NEW.data)
GOT, GOT_FIRST = received(NEW), received(NEW, 1)


def good(name: str, about: str, *turns: Turn, shipments: list[Detail] | None = None, ends: list[Detail] | None = None) -> Vector:
    return dialogue(f"resumed_{name}", about, ends or DONE, *turns, shipments=THERE if shipments is None else shipments, covers=COVERS)


def vectors() -> Iterator[Vector]:
    yield from positions()
    yield from manifests()
    yield from declined()
    yield from anew()
    yield from several_parts()
    yield from several_shipments()


def positions() -> Iterator[Vector]:
    def went_on(name: str, about: str, stream: Stream, position: int, base: StoreFile | None = None, kept: int | None = None) -> Vector:
        begins = start(stream, kept or position) if base else start_first(stream, kept or position)
        return good(name, about, *begins, answers(want(stream, position, base=base)), sends(*stream.frames(position)), GOT if base else GOT_FIRST)

    yield went_on("blocks", "A store goes on after its second block", IN_BLOCKS, IN_BLOCKS.after(2))
    yield went_on("blocks_within", "A store goes on within a block", IN_BLOCKS, IN_BLOCKS.within(1, 40))
    yield went_on("blocks_within_fields", "The same within the fields before the block's bytes", IN_BLOCKS, IN_BLOCKS.within(1, 3))
    yield went_on("first_byte", "One byte of the first block has come", IN_BLOCKS, IN_BLOCKS.within(0, 1))
    yield went_on("last_byte", "All but the last byte of the store has come", IN_BLOCKS, len(IN_BLOCKS.bytes) - 1)
    yield went_on("last_byte_of_block", "All but the last byte of the first block has come", IN_BLOCKS, IN_BLOCKS.after(1) - 1)
    yield went_on("last_block", "A store goes on within its last block: what is left of it is flagged", IN_BLOCKS, IN_BLOCKS.within(3, 10))
    yield went_on("position_earlier", "A consumer has more than it says", IN_BLOCKS, IN_BLOCKS.within(1, 40), kept=IN_BLOCKS.within(2, 7))
    windows = in_blocks(NEW.data, 300, ZLIB, ZLIB_WINDOW)
    yield went_on("window", "The window of a block reaches into what came before", windows, windows.after(2))
    yield went_on("window_within", "The same where the block itself had begun", windows, windows.within(2, 8))
    yield went_on("columns", "Columns go on after a segment", AS_ROWS, AS_ROWS.after(1))
    yield went_on("columns_within", "Columns go on within a segment", AS_ROWS, AS_ROWS.within(1, 5))
    yield went_on("delta", "A delta goes on after a segment", AS_DELTA, AS_DELTA.after(1), BASE)
    yield went_on("delta_within", "A delta goes on within its first segment", AS_DELTA, AS_DELTA.within(0, 6), BASE)
    yield went_on("delta_within_last", "A delta goes on within its last segment", AS_DELTA, AS_DELTA.within(1, 1), BASE)
    at = IN_BLOCKS.within(1, 40)
    begins = start_first(IN_BLOCKS, at)
    yield good("wanted_alone", "The encoding in which it came is wanted alone", *begins, answers(want(IN_BLOCKS, at, "blocks")), sends(*IN_BLOCKS.frames(at)), GOT_FIRST)
    liked = answers(want(IN_BLOCKS, at, "columns", "rows-of-tomorrow", "blocks"))
    yield good("liked_less", "The encoding in which it came is not the one that the consumer likes best", *begins, liked, sends(*IN_BLOCKS.frames(at)), GOT_FIRST)
    at = AS_DELTA.within(1, 3)
    named = answers(want(AS_DELTA, at, "delta", "columns", base=BASE))
    yield good("delta_by_name", "A delta goes on, which is wanted by its name", *start(AS_DELTA, at), named, sends(*AS_DELTA.frames(at)), GOT)
    short = [("consumer", [answering(kind, members, content_of(manifest(NEW)), SENT)]) for kind, members in ((ANSWER, {"wants": [want(AS_DELTA, at, base=BASE)]}), (RECEIPT, receipt(NEW, generation=3)))]
    yield good("in_short", "The same in the fewest bytes", *start(AS_DELTA, at), short[0], sends(*AS_DELTA.frames(at)), short[1])
    opening, *rest = IN_BLOCKS.frames(IN_BLOCKS.within(1, 40))
    woven = [opening, *(each for piece in rest for each in (frame(WORKING), piece))]
    yield good("working", "WORKING before the rest of a block", *begins, answers(want(IN_BLOCKS, IN_BLOCKS.within(1, 40))), sends(*woven), GOT_FIRST)


def manifests() -> Iterator[Vector]:
    """What a shipment is offered as that broke off."""
    at = IN_BLOCKS.within(1, 40)
    waits = (unfinished(SENT), *IN_BLOCKS.waits(at))
    goes_on = (answers(want(IN_BLOCKS, at)), sends(*IN_BLOCKS.frames(at)), GOT_FIRST)
    yield good("manifest_whole", "The manifest refers to nothing", *waits, says_hello(FIRST), offers(NEW, None), *goes_on)
    newer = manifest(NEW, metadata={"model": "3"}, counter=8) | {"createdAt": "2026-11-21T07:00:00Z"}
    yield good("manifest_newer", "The same store in a newer manifest, with more in it, which differs from that of what broke off", *waits, says_hello(FIRST), over_unfinished(newer), *goes_on)
    over_current: Turn = ("producer", [preamble(), differing(CURRENT.content, newer)])
    now_held = (*HOLDING, *waits, says_hello(ELEMENT), over_current, answers(want(IN_BLOCKS, at, base=BASE)), sends(*IN_BLOCKS.frames(at)), GOT)
    yield good("manifest_over_current", "A manifest that differs from that of what is current", *now_held)
    yield good("not_told", "A consumer says in HELLO nothing of what waits, and in ANSWER from where it goes on", *waits, says_hello(), offers(NEW, None), *goes_on)
    everything = (answers({"part": 0}), sends(*blocks(NEW.data)), GOT_FIRST)
    yield good("not_wanted_from", "A consumer has lost what waits since HELLO, and wants all of it", unfinished(SENT), says_hello(FIRST), over_unfinished(manifest(NEW)), *everything)
    yield good("between_parts", "Nothing waits of a part that is open", unfinished(SENT), says_hello(FIRST), over_unfinished(manifest(NEW)), *everything)
    other = store_of(CHANGED[1:])
    got: Turn = ("consumer", [message(RECEIPT, receipt(other))])
    yield good("another_copy", "Another store than the one that broke off: nothing of it goes on, but its manifest is a difference", *waits, says_hello(FIRST), over_unfinished(manifest(other)), answers({"part": 0}), sends(*blocks(other.data)), got, shipments=installed(other.data))
    unchanged: Turn = ("consumer", [message(RECEIPT, receipt(BASE, "unchanged", 2))])
    yield good("back_to_current", "The store is again what is current", *HOLDING, *waits, says_hello(ELEMENT), offers(BASE), unchanged, shipments=ended("unchanged"))


def declined() -> Iterator[Vector]:
    """A producer that does not go on where it could, or cannot."""
    at = IN_BLOCKS.within(1, 40)
    begins = (*start_first(IN_BLOCKS, at), answers(want(IN_BLOCKS, at)))
    yield good("declined", "The producer opens the part at 0, in the same encoding and other blocks", *begins, sends(*blocks(NEW.data)), GOT_FIRST)
    yield good("declined_same", "The same in the same blocks", *begins, sends(*IN_BLOCKS.frames()), GOT_FIRST)
    yield good("declined_columns", "The producer opens the part at 0 in another encoding", *begins, sends(*AS_ROWS.frames()), GOT_FIRST)
    there = AS_DELTA.within(1, 3)
    over = (*start(AS_DELTA, there), answers(want(AS_DELTA, there, base=BASE)))
    yield good("declined_delta", "A delta at 0 in place of the one that broke off", *over, sends(*AS_DELTA.frames()), GOT)
    yield good("declined_delta_columns", "Columns in its place", *over, sends(*AS_ROWS.frames()), GOT)
    columns = AS_ROWS.within(1, 5)
    base: Turn = answers(want(AS_ROWS, columns, base=BASE))
    yield good("declined_for_delta", "A delta in place of columns that broke off", *start(AS_ROWS, columns), base, sends(*AS_DELTA.frames()), GOT)
    damaged = Stream(BLOCKS, [IN_BLOCKS.pieces[0][:-1] + b"!", *IN_BLOCKS.pieces[1:]])
    yield good("declined_another_digest", "What waits is not what the producer has sent", *start_first(damaged, at), answers(want(damaged, at)), sends(*IN_BLOCKS.frames()), GOT_FIRST)
    older = Stream(DELTA, AS_DELTA.pieces, base=bytes.fromhex(OLDER.digest))
    over_older = (answers(want(older, there, base=OLDER)), sends(*AS_ROWS.frames()), GOT)
    yield good("declined_another_base", "A delta that came over another base than the one that the producer has", *start(older, there), *over_older)

    def odd(name: str, about: str, position: int, size: int | None = None) -> Vector:
        digest = hashlib.sha256(IN_BLOCKS.bytes[:size]).hexdigest()
        says = answers({"part": 0, "from": {"encoding": "blocks", "position": position, "sha256": digest}})
        return good(f"declined_{name}", about, says_hello(FIRST), offers(NEW, None), says, sends(*IN_BLOCKS.frames()), GOT_FIRST, ends=FOR_PRODUCER)

    end = len(IN_BLOCKS.bytes)
    yield odd("within_size", "A position within the size of a DATA's data, which is none", IN_BLOCKS.after(1) + 2, IN_BLOCKS.after(1) + 2)
    yield odd("after_size", "A position right after a size, which is none", IN_BLOCKS.after(1) + 4, IN_BLOCKS.after(1) + 4)
    yield odd("at_end", "The end of the stream, which is no position", end)
    yield odd("beyond_end", "A position beyond the end of the stream", end + 1)
    yield odd("highest_position", "The highest position that there is", 2**53 - 1)
    unknown = answers({"part": 0, "encodings": ["rows-of-tomorrow", "blocks"], "from": AS_ROWS.goes_on(5) | {"encoding": "rows-of-tomorrow"}})
    yield good("declined_unknown_encoding", "What waits came in an encoding that is wanted by its name, and that the producer does not know", says_hello(FIRST), offers(NEW, None), unknown, sends(*IN_BLOCKS.frames()), GOT_FIRST, ends=FOR_PRODUCER)
    null = answers({"part": 0, "from": None})
    yield good("from_null", "null stands for an absent member", says_hello(FIRST), offers(NEW, None), null, sends(*IN_BLOCKS.frames()), GOT_FIRST)


def anew() -> Iterator[Vector]:
    """A part that went on, and does not become what it should."""
    at, there, rows_at = IN_BLOCKS.within(1, 40), AS_DELTA.within(0, 6), AS_ROWS.within(1, 5)
    begins = (*start_first(IN_BLOCKS, at), answers(want(IN_BLOCKS, at)))
    over = (*start(AS_DELTA, there), answers(want(AS_DELTA, there, base=BASE)))
    as_rows = AS_ROWS.frames(anew=True)
    yield good("then_columns", "The producer begins anew in columns after the rest of the store has come", *begins, sends(*IN_BLOCKS.frames(at), *as_rows), GOT_FIRST)
    yield good("then_columns_at_once", "The same before anything has come after PART", *begins, sends(IN_BLOCKS.opened(at), *as_rows), GOT_FIRST)
    yield good("delta_then_columns", "A delta goes on, and the producer begins anew in columns", *over, sends(*AS_DELTA.frames(there)[:2], *as_rows), GOT)
    yield good("delta_then_blocks", "The same in blocks", *over, sends(AS_DELTA.opened(there), *IN_BLOCKS.frames(anew=True)), GOT)
    odd = Stream(COLUMNS, [joined(segment([items(pages(CHANGED))[0]])), b"this is no segment"])
    rest = (*start_first(odd, rows_at), answers(want(odd, rows_at)), sends(*odd.frames(rows_at)))
    asks = answers({"part": 0, "encodings": ["blocks"]})
    again = (asks, sends(*IN_BLOCKS.frames(anew=True)), GOT_FIRST)
    yield good("unproven", "Columns that go on do not make the store: the consumer wants it in blocks", *rest, *again)
    nothing = Stream(DELTA, [joined(NOT_IT)], base=AS_DELTA.base)
    two = (*start(nothing, 5), answers(want(nothing, 5, base=BASE)), sends(*nothing.frames(5)))
    yield good("unproven_delta", "A delta that goes on makes another store: it comes in columns", *two, answers({"part": 0, "encodings": ["columns", "blocks"]}), sends(*as_rows), GOT)
    other = in_blocks(store_of(DISHES).data.ljust(len(NEW.data), b"\0"), 300)
    wrong = (*start_first(other, at), answers(want(other, at)), sends(*other.frames(at)))
    in_columns = (answers({"part": 0, "encodings": ["columns"]}), sends(*as_rows), GOT_FIRST)
    yield good("unproven_blocks", "Blocks that go on are of another store: it comes in columns", *wrong, *in_columns)
    says_more = answers({"part": 0, "encodings": ["blocks"], "from": IN_BLOCKS.goes_on(at)})
    yield good("unproven_from", "`from` in the answer to END says nothing: the part comes from its beginning", *rest, says_more, *again[1:])
    twice = (*start_first(odd, rows_at), answers(want(odd, rows_at)), sends(*odd.frames(rows_at)), asks)
    yield good("unproven_refused", "Blocks that are not the store's either", *twice, sends(*other.frames(anew=True)), refuses("damaged"), shipments=ended("refused damaged"))
    yield good("cancelled", "The producer gives up what goes on", *begins, ("producer", IN_BLOCKS.frames(at)[:2]), gives_up("stopped"), refuses("stopped"), *NEXT, shipments=ended("cancelled stopped") + NEXT_INSTALLED)
    half: Turn = ("producer", [IN_BLOCKS.opened(at), *IN_BLOCKS.rest(at)[:1]])
    ends_early = [("consumer", "failed protocol-violation")]
    yield good("broke_off_again", "The link ends where a part goes on", *begins, half, shipments=[], ends=ends_early)
    stops: Turn = ("producer", [cancel("stopped", "stopped by SIGTERM")])
    yield good("cancelled_session", "The producer is stopped where a part goes on", *begins, half, stops, shipments=[], ends=[("consumer", "cancelled stopped")])
    yield good("refused", "The consumer refuses what goes on", *begins, ("producer", IN_BLOCKS.frames(at)[:2]), refuses("no-space"), gives_up("no-space"), *NEXT, shipments=ended("refused no-space") + NEXT_INSTALLED, ends=FOR_PRODUCER)


FILES = core_data_manifest()
SENT_FILES = content_of(FILES)
FILES_ELEMENT: Members = {"name": "Recipes"} | broke_off(SENT_FILES)
PICTURE = in_blocks(PHOTO, 36_000, ZLIB, ZLIB_WINDOW, index=1)
GOT_FILES: Turn = ("consumer", [message(RECEIPT, receipt(CORE_DATA_STORE))])


def several_parts() -> Iterator[Vector]:
    at = PICTURE.within(1, 20)
    offered = over_unfinished(FILES, SENT_FILES)
    hello = says_hello(FILES_ELEMENT)
    waits = (unfinished(SENT_FILES), whole(CORE_DATA_STORE.data), *PICTURE.waits(at), hello)
    here = installed(None, PHOTO, b"")
    yield good("external_file", "The store came whole and is not wanted; the external file goes on", *waits, offered, answers(want(PICTURE, at)), sends(*PICTURE.frames(at)), GOT_FILES, shipments=here)
    after = PICTURE.after(1)
    yield good("external_file_at_block", "The same after a block", unfinished(SENT_FILES), whole(CORE_DATA_STORE.data), *PICTURE.waits(after), hello, offered, answers(want(PICTURE, after)), sends(*PICTURE.frames(after)), GOT_FILES, shipments=here)
    none = (unfinished(SENT_FILES), whole(CORE_DATA_STORE.data), hello, offered, answers({"part": 1}), sends(*PICTURE.frames()), GOT_FILES)
    yield good("external_file_not_begun", "The store came whole, and nothing of the external file", *none, shipments=here)
    all_there = (unfinished(SENT_FILES), whole(CORE_DATA_STORE.data), whole(PHOTO), hello, offered, answers(), sends(), GOT_FILES)
    yield good("all_there", "All parts came whole: none is wanted", *all_there, shipments=installed(None, None, b""))
    store = in_blocks(CORE_DATA_STORE.data, 1024)
    within = store.within(2, 9)
    both = (unfinished(SENT_FILES), *store.waits(within), hello, offered, answers(want(store, within), {"part": 1}), sends(*store.frames(within), *PICTURE.frames()), GOT_FILES)
    yield good("store_then_external_file", "The store goes on, and the external file comes after it", *both, shipments=installed(CORE_DATA_STORE.data, PHOTO, b""))
    renamed = CORE_DATA_STORE.with_bytes(CORE_DATA_STORE.data.index(b"Borscht"), b"Bortsch")
    members = FILES | {"store": manifest(renamed)["store"]}
    got: Turn = ("consumer", [message(RECEIPT, receipt(renamed))])
    new_store = (*waits, over_unfinished(members, SENT_FILES), answers({"part": 0}, want(PICTURE, at)), sends(*blocks(renamed.data), *PICTURE.frames(at)), got)
    yield good("external_file_of_another_copy", "Another copy of the store, which comes from its beginning; the external file is the same, and goes on", *new_store, shipments=installed(renamed.data, PHOTO, b""))
    declines = (*waits, offered, answers(want(PICTURE, at)), sends(*blocks(PHOTO, index=1)), GOT_FILES)
    yield good("external_file_declined", "The external file comes from its beginning all the same", *declines, shipments=here)
    says = answers({"part": 1, "encodings": ["columns", "blocks"], "from": PICTURE.goes_on(at)})
    yield good("external_file_by_name", "Encodings that are not for the part say nothing", *waits, offered, says, sends(*PICTURE.frames(at)), GOT_FILES, shipments=here)


def several_shipments() -> Iterator[Vector]:
    """What broke off, and what comes after it."""
    at, there = IN_BLOCKS.within(1, 40), AS_DELTA.within(0, 6)
    later = store_of(CHANGED[1:])
    changed = Stream(DELTA, [joined(stored(FRONT, numbers(LAST | REST | SKIP, 1), s.constant(0)))], base=bytes.fromhex(NEW.digest))
    over_new: Turn = ("producer", [differing(SENT, manifest(later))])
    second = (over_new, answers({"part": 0, "base": NEW.digest}), sends(*changed.frames()), received(later, 4))
    both = THERE + installed(later.data)
    first = (*start(AS_DELTA, there), answers(want(AS_DELTA, there, base=BASE)), sends(*AS_DELTA.frames(there)), GOT)
    yield good("then_newer", "What broke off goes on; then comes the newest copy, as a delta over it", *first, *second, shipments=both)
    in_whole = (over_new, answers({"part": 0, "base": BASE.digest}), sends(*blocks(later.data)), received(later))
    yield good("replayed_then_newer", "What broke off is refused, as something newer has come: the newest copy comes all the same", *start(AS_DELTA, there), refuses("replayed"), *in_whole, shipments=ended("refused replayed") + installed(later.data))
    drinks = content_of(manifest(NEW, "Drinks"))
    waits = (*HOLDING, unfinished(SENT), *AS_DELTA.waits(there), *DRINKS.turns, unfinished(drinks), *IN_BLOCKS.waits(at))
    hello = says_hello(ELEMENT, now(DRINKS) | broke_off(drinks))
    one = (over_unfinished(manifest(NEW)), answers(want(AS_DELTA, there, base=BASE)), sends(*AS_DELTA.frames(there)), GOT)
    offered: Turn = ("producer", [differing(drinks, manifest(NEW, "Drinks"))])
    two = (offered, answers(want(IN_BLOCKS, at)), sends(*IN_BLOCKS.frames(at)), received(NEW, 2, "Drinks"))
    yield good("two_stores", "Shipments of two stores broke off, and go on", *waits, hello, *one, *two, shipments=THERE + installed(NEW.data, name="Drinks"))
    yield good("then_next", "A store comes after it of which nothing waits", *start_first(IN_BLOCKS, at), answers(want(IN_BLOCKS, at)), sends(*IN_BLOCKS.frames(at)), GOT_FIRST, *NEXT, shipments=THERE + NEXT_INSTALLED)
