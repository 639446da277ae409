"""Sessions in which a store comes as a delta (sections 3.3, 3.4, 5.1 and 5.2), or could have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cases.columns import rows
from cases.delta import EDIT, LAST, LENGTHS, LITERAL, PART, REST, SAME, SKIP, numbers, piece, row_group, stored
from cases.dialogues import DONE, FOR_PRODUCER, NEXT, NEXT_INSTALLED, Turn, dialogue, gives_up, refuses
from cases.packed_answers import answering
from cases.packed_messages import differing
from cases.store_rows import segment
from cases.streams import Frames, blocks, ended, installed, part_frame
from encoder import segment as s
from encoder.piece import Pieces, binary, joined, text
from encoder.samples import (
    CORE_DATA_STORE, HELLO_MEMBERS, PHOTO, RECIPES_STORE, Content, Members, content_of, core_data_manifest, manifest, receipt,
)  # fmt: skip
from encoder.sqlite_file import StoreFile, Table, schema_digest
from encoder.store_pages import Item, Rows, Store, written
from encoder.store_stream import items
from encoder.vector import Detail, Vector
from encoder.wire import ANSWER, CONSUMER, DATA, DELTA, END, HELLO, MANIFEST, RECEIPT, data, frame, message, padded, preamble

COVERS = "3.3, 3.4, 5.1, 5.2, 6, delta"
SQL = "CREATE TABLE Recipe(id INTEGER PRIMARY KEY, name TEXT NOT NULL)"
DISHES: Rows = [(1, [None, "Borscht"]), (2, [None, "Dal"]), (3, [None, "Eintopf"])]


def pages(rows: Rows) -> Store:
    return Store([Item("table", "Recipe", SQL, rows)])


def store_of(rows: Rows) -> StoreFile:
    return StoreFile(joined(written(pages(rows))), 512, 0, 0, schema_digest([Table("Recipe", SQL, [])]))


OLDER, BASE = store_of(DISHES[:2]), store_of(DISHES)
CHANGED: Rows = [DISHES[0], (2, [None, "Dosa"]), DISHES[2]]
NEW = store_of(CHANGED)
FRONT = numbers(0, SAME, 0, PART, 0)
EDITED = s.parts(s.constant(1), numbers(1, 1, 1), s.raw(b"\1", "way 0: whole"), s.plain(8, s.lengths([b"Dosa"])))
FROM_BASE = stored(FRONT, numbers(LAST | REST | EDIT, 1), EDITED)
"""NEW over BASE: a row in which the name changes."""
FROM_OLDER = stored(FRONT, numbers(LAST | LITERAL | LENGTHS, 1), s.constant(1), s.constant(2), row_group(CHANGED[1:], True))
"""NEW over OLDER: the first row stays, two are new."""


@dataclass(frozen=True)
class Held:
    """A generation that the consumer holds."""

    store: StoreFile
    name: str = "Recipes"

    @property
    def content(self) -> Content:
        return content_of(manifest(self.store, self.name))

    @property
    def turns(self) -> tuple[Turn, Turn]:
        """No turns: its content, and its store."""
        return (("held", [text(self.content.json)]), ("base", [binary(self.store.data, "the store")]))


CURRENT, KEPT, DRINKS = Held(BASE), Held(OLDER), Held(OLDER, "Drinks")
TAKES: Members = HELLO_MEMBERS | {"encodings": ["delta", "columns"]}


def says_hello(*holds: Members, **more: object) -> Turn:
    return ("consumer", [preamble(role=CONSUMER), message(HELLO, TAKES | {"holds": list(holds)} | more)])


def now(held: Held, *kept: Held) -> Members:
    """An element of `holds`."""
    short = {"kept": [each.content.id.hex()[:8] for each in kept]} if kept else {}
    return {"name": held.name, "manifest": held.content.id.hex(), **short}


def offers(store: StoreFile, over: Held | None = CURRENT, name: str = "Recipes", first: bool = True) -> Turn:
    members = manifest(store, name)
    return ("producer", [*([preamble()] if first else []), differing(over.content, members) if over else message(MANIFEST, members)])


def wants(base: StoreFile | None = BASE, *encodings: str, part: int = 0) -> Turn:
    want: Members = {"part": part} | ({"encodings": list(encodings)} if encodings else {}) | ({"base": base.digest} if base else {})
    return ("consumer", [message(ANSWER, {"wants": [want]})])


def wants_each(*wants: Members) -> Turn:
    return ("consumer", [message(ANSWER, {"wants": list(wants)})])


def now_of(content: Content) -> Members:
    """An element of `holds` that names what is current alone."""
    return {"name": "Recipes", "manifest": content.id.hex()}


def delta(*segments: Pieces, anew: bool = False, ends: bool = True) -> Frames:
    """Part 0 as a delta."""
    found = [joined(each) for each in segments]
    frames = [part_frame(0, DELTA, anew=anew)]
    return [*frames, *(frame(DATA, data(binary(each, f"a segment of {len(each)} bytes"), ends and at == len(found) - 1)) for at, each in enumerate(found))]


def sends(*frames: Pieces) -> Turn:
    return ("producer", [*frames, frame(END)])


def received(store: StoreFile, generation: int = 3, name: str = "Recipes") -> Turn:
    return ("consumer", [message(RECEIPT, receipt(store, generation=generation, name=name))])


HOLDING = (*KEPT.turns, *CURRENT.turns)
START = (*HOLDING, says_hello(now(CURRENT, KEPT)), offers(NEW))
GOOD = delta(FROM_BASE)
IN_COLUMNS = joined(segment(items(pages(CHANGED))))
NOT_IT = stored(numbers(0))
"""A delta of nothing: it makes the base."""
NO_SEGMENT = binary(b"this is no segment")
THERE = installed(NEW.data)


def good(name: str, about: str, *turns: Turn, shipments: list[Detail] | None = None, ends: list[Detail] | None = None) -> Vector:
    return dialogue(f"delta_{name}", about, ends or DONE, *turns, shipments=THERE if shipments is None else shipments, covers=COVERS)


def vectors() -> Iterator[Vector]:
    yield from whole()
    yield from bases()
    yield from others()
    yield from anew()
    yield from unproven()
    yield from several()


def whole() -> Iterator[Vector]:
    yield good("installed", "What changed since the store that is current", *START, wants(), sends(*GOOD), received(NEW))
    answer: Members = {"wants": [{"part": 0, "base": BASE.digest}]}
    short = [("consumer", [answering(kind, members, content_of(manifest(NEW)), CURRENT.content)]) for kind, members in ((ANSWER, answer), (RECEIPT, receipt(NEW, generation=3)))]
    yield good("in_short", "The same in the fewest bytes", *START, short[0], sends(*GOOD), short[1])
    two = delta(stored(FRONT, numbers(0, 0)), stored(numbers(PART, LAST | REST | EDIT, 1), EDITED))
    yield good("segments", "A delta in two segments", *START, wants(), sends(*two), received(NEW))
    yield good("wanted_alone", "A store that is wanted as a delta alone", *START, wants(BASE, "delta"), sends(*GOOD), received(NEW))
    yield good("or_columns", "A store that is wanted as a delta rather than in columns", *START, wants(BASE, "delta", "columns"), sends(*GOOD), received(NEW))
    known = (*HOLDING, says_hello(now(CURRENT, KEPT)), ("producer", [preamble(), padded(differing(CURRENT.content, manifest(NEW)))]))
    yield good("padded", "Each frame with a PADDING before it: both are a multiple of 4,096 bytes", *known, wants(), ("producer", [padded(each) for each in (*GOOD, frame(END))]), received(NEW))
    new = RECIPES_STORE.with_bytes(1023, b"?")
    held = Held(RECIPES_STORE)
    by_bytes = stored(numbers(1), piece((b"", 1023, 0), (b"?", 0, 0)))
    start = (*held.turns, says_hello(now(held)), offers(new, held))
    yield good("of_file", "A store without a canonical form, by its bytes", *start, wants(RECIPES_STORE), sends(*delta(by_bytes)), received(new, 2), shipments=installed(new.data))
    yield from external_files()


def external_files() -> Iterator[Vector]:
    older = CORE_DATA_STORE.with_bytes(len(CORE_DATA_STORE.data) - 1, b"!")
    content = content_of(core_data_manifest() | {"store": manifest(older)["store"]})
    held: tuple[Turn, Turn] = (("held", [text(content.json)]), ("base", [binary(older.data, "the store")]))
    element = now_of(content)
    offer: Turn = ("producer", [preamble(), message(MANIFEST, core_data_manifest())])
    segment = stored(numbers(1), piece((b"", len(older.data) - 1, 0), (CORE_DATA_STORE.data[-1:], 0, 0)))
    came = delta(segment)
    alone = wants(older)
    yield good("external_file_skipped", "The external file is there already; the store comes as a delta", *held, says_hello(element), offer, alone, sends(*came), received(CORE_DATA_STORE, 2), shipments=installed(CORE_DATA_STORE.data, None, b""))
    both = wants_each({"part": 0, "base": older.digest}, {"part": 1})
    there = installed(CORE_DATA_STORE.data, PHOTO, b"")
    yield good("external_file", "An external file comes after the delta", *held, says_hello(element), offer, both, sends(*came, *blocks(PHOTO, index=1)), received(CORE_DATA_STORE, 2), shipments=there)
    odd = wants_each({"part": 0}, {"part": 1, "base": older.digest})
    whole = [*blocks(CORE_DATA_STORE.data), *blocks(PHOTO, index=1)]
    yield good("base_of_external_file", "A base is named for the external file alone, and it comes in blocks all the same", *held, says_hello(element), offer, odd, sends(*whole), received(CORE_DATA_STORE, 2), shipments=there)


def bases() -> Iterator[Vector]:
    """Which store it is that a delta refers to."""
    from_older = delta(FROM_OLDER)
    yield good("of_kept", "A generation that is kept: the manifest differs from its manifest, and the store from its store", *HOLDING, says_hello(now(CURRENT, KEPT)), offers(NEW, KEPT), wants(OLDER), sends(*from_older), received(NEW))
    alone = {"name": "Recipes", "kept": now(CURRENT, KEPT)["kept"]}
    yield good("of_kept_alone", "The same, where what is current came from another device, and is not told of", *HOLDING, says_hello(alone), offers(NEW, KEPT), wants(OLDER), sends(*from_older), received(NEW))
    yield good("of_kept_manifest_of_current", "The manifest differs from that of another generation than the store does", *START, wants(OLDER), sends(*from_older), received(NEW))
    yield good("manifest_whole", "The manifest refers to nothing, and the store to what is current", *HOLDING, says_hello(now(CURRENT, KEPT)), offers(NEW, None), wants(), sends(*GOOD), received(NEW))
    yield good("base_not_told", "A base of which HELLO says nothing", *HOLDING, says_hello(), offers(NEW, None), wants(), sends(*GOOD), received(NEW))
    unchanged: Turn = ("consumer", [message(RECEIPT, receipt(BASE, "unchanged", 2))])
    yield good("unchanged", "What is current is offered, and nothing is wanted", *HOLDING, says_hello(now(CURRENT, KEPT)), offers(BASE), unchanged, shipments=ended("unchanged"))
    back = delta(stored(FRONT, numbers(LAST | REST | SKIP, 1), s.constant(2)))
    yield good("back_to_kept", "What is kept is offered: a delta that takes back", *HOLDING, says_hello(now(CURRENT, KEPT)), offers(OLDER, KEPT), wants(), sends(*back), received(OLDER), shipments=installed(OLDER.data))


def others() -> Iterator[Vector]:
    """A delta that could have come, or not, and something else that does."""
    in_blocks, in_columns = sends(*blocks(NEW.data)), sends(*rows(IN_COLUMNS))
    yield good("no_base_there", "The producer has not the base, or knows no delta, and sends columns", *START, wants(), in_columns, received(NEW))
    yield good("no_base_there_blocks", "The same, and it sends blocks", *START, wants(), in_blocks, received(NEW))
    yield good("no_base_named", "The consumer names no base, and no delta comes", *START, ("consumer", [message(ANSWER, {})]), in_columns, received(NEW))
    yield good("base_null", "The same in more words", *START, ("consumer", [message(ANSWER, {"wants": [{"part": 0, "base": None}]})]), in_columns, received(NEW))
    plain = says_hello(now(CURRENT), encodings=["columns"])
    yield good("not_in_hello", "The consumer names a base, but takes no delta", *HOLDING, plain, offers(NEW), wants(), in_columns, received(NEW))
    old = ("consumer", [preamble(role=CONSUMER), message(HELLO, HELLO_MEMBERS)])
    yield good("old_consumer", "A consumer that knows neither deltas nor columns, and tells nothing", old, offers(NEW, None), ("consumer", [message(ANSWER, {})]), in_blocks, received(NEW, 1))
    feature = "feature-not-supported"
    then = ended(f"cancelled {feature}") + NEXT_INSTALLED

    def none_left(name: str, about: str, *turns: Turn) -> Vector:
        return good(name, about, *turns, gives_up(feature), refuses(feature), *NEXT, shipments=then, ends=FOR_PRODUCER)

    yield none_left("alone_without_base", "A delta alone is wanted, and no base is named: the producer gives the shipment up, and goes on", *START, wants(None, "delta"))
    yield none_left("alone_not_in_hello", "The same where a base is named, and HELLO says nothing of deltas", *HOLDING, plain, offers(NEW), wants(BASE, "delta"))
    yield none_left("alone_not_there", "The same where the producer has not the base", *START, wants(BASE, "delta"))
    files: Turn = ("producer", [preamble(), message(MANIFEST, core_data_manifest())])
    yield none_left("of_external_file_wanted", "A delta of an external file is wanted: there is none", *HOLDING, says_hello(now(CURRENT)), files, wants(BASE, "delta", part=1))


def anew() -> Iterator[Vector]:
    """A producer that takes its delta back before END, or something else for a delta."""
    begun = delta(NO_SEGMENT, ends=False)
    yield good("then_columns", "The producer begins a delta, and goes on anew in columns", *START, wants(), sends(*begun, *rows(IN_COLUMNS, anew=True)), received(NEW))
    yield good("then_blocks", "The same in blocks", *START, wants(), sends(*begun, *blocks(NEW.data, anew=True)), received(NEW))
    yield good("then_blocks_at_once", "The same before anything of the delta has come", *START, wants(), sends(begun[0], *blocks(NEW.data, anew=True)), received(NEW))
    yield good("whole_then_columns", "The same after the last of its segments, which make the base and not the store", *START, wants(), sends(*delta(NOT_IT), *rows(IN_COLUMNS, anew=True)), received(NEW))
    yield good("after_columns", "The producer begins columns, and goes on anew with a delta", *START, wants(), sends(*rows(b"this is no segment", ends=False), *delta(FROM_BASE, anew=True)), received(NEW))
    yield good("after_blocks", "The same after blocks", *START, wants(), sends(*blocks(BASE.data), *delta(FROM_BASE, anew=True)), received(NEW))


def unproven() -> Iterator[Vector]:
    """A delta that does not make the store: the consumer asks for it in another way, and says so in no other."""
    asks_columns, asks_blocks = wants(None, "columns", "blocks"), wants(None, "blocks")
    columns, in_blocks = sends(*rows(IN_COLUMNS, anew=True)), sends(*blocks(NEW.data, anew=True))
    another = sends(*delta(NOT_IT))
    yield good("unproven", "A delta that makes another store; it comes in columns, which are liked better than blocks", *START, wants(), another, asks_columns, columns, received(NEW))
    yield good("unproven_blocks", "The same in blocks", *START, wants(), another, asks_blocks, in_blocks, received(NEW))
    yield good("unproven_columns_alone", "The same, where no other encoding is wanted", *START, wants(), another, wants(None, "columns"), columns, received(NEW))
    bad = sends(*rows(b"this is no segment", anew=True))
    yield good("unproven_twice", "Columns that do not make it either: it comes in blocks", *START, wants(), another, asks_columns, bad, asks_blocks, in_blocks, received(NEW))
    yield good("unproven_damaged", "A delta that does not decode", *START, wants(), sends(*delta(NO_SEGMENT)), asks_columns, columns, received(NEW))
    yield good("unproven_then_more", "The same with segments after what does not decode", *START, wants(), sends(*delta(NO_SEGMENT, FROM_BASE)), asks_columns, columns, received(NEW))
    yield good("unproven_base_named", "A base in the answer to END says nothing", *START, wants(), another, wants(BASE, "columns"), columns, received(NEW))
    contents = (KEPT.turns[0], CURRENT.turns[0])
    gone = (*contents, says_hello(now(CURRENT, KEPT)), offers(NEW), wants())
    yield good("unproven_base_gone", "The base cannot be read any more when it is needed", *gone, sends(*GOOD), asks_columns, columns, received(NEW))
    yield good("unproven_refused", "A consumer need not ask again", *START, wants(), another, refuses("damaged", "the delta does not make the store"), shipments=ended("refused damaged"))
    last = (asks_columns, bad, asks_blocks, sends(*blocks(BASE.data + bytes(len(NEW.data) - len(BASE.data)), anew=True)), refuses("damaged"))
    yield good("unproven_all", "Nothing makes the store: nothing is left to ask for", *START, wants(), another, *last, *NEXT, shipments=ended("refused damaged") + NEXT_INSTALLED)
    stops = (asks_columns, gives_up("stopped"), refuses("stopped"))
    yield good("unproven_cancelled", "The producer gives the shipment up when it is asked again", *START, wants(), another, *stops, *NEXT, shipments=ended("cancelled stopped") + NEXT_INSTALLED)
    members = manifest(NEW)
    members["store"] = members["store"] | {"userVersion": 8}
    foul: Turn = ("producer", [preamble(), message(MANIFEST, members)])
    start = (*HOLDING, says_hello(now(CURRENT)), foul, wants())
    yield good("bad_store", "A delta that makes the manifest's store, which is not as the manifest says", *start, sends(*GOOD), refuses("bad-store"), shipments=ended("refused bad-store"))


def several() -> Iterator[Vector]:
    """Deltas of one shipment after the other."""
    drinks = delta(FROM_OLDER)
    both = (*HOLDING, *DRINKS.turns, says_hello(now(CURRENT, KEPT), now(DRINKS)), offers(NEW), wants(), sends(*GOOD), received(NEW))
    second = (offers(NEW, DRINKS, "Drinks", first=False), wants(OLDER), sends(*drinks), received(NEW, 2, "Drinks"))
    two = THERE + installed(NEW.data, name="Drinks")
    yield good("two_stores", "Two stores, each over what is held of it", *both, *second, shipments=two)
    yield good("two_stores_and_whole", "The same, and one of which nothing is held", *both, *second, *NEXT, shipments=two + NEXT_INSTALLED)
    changed = delta(stored(FRONT, numbers(LAST | REST | SKIP, 1), s.constant(0)))
    later = store_of(CHANGED[1:])
    once_more = (offers(later, None, first=False), wants(NEW), sends(*changed), received(later, 4))
    yield good("of_the_one_before", "A base that was installed in the same session", *START, wants(), sends(*GOOD), received(NEW), *once_more, shipments=THERE + installed(later.data))
    unproven = (wants(), sends(*delta(NOT_IT)), wants(None, "blocks"), sends(*blocks(NEW.data, anew=True)), received(NEW))
    yield good("unproven_then_next", "One that is not proven leaves the next one its delta", *HOLDING, *DRINKS.turns, says_hello(now(CURRENT, KEPT), now(DRINKS)), offers(NEW), *unproven, *second, shipments=two)
    refused = (*HOLDING, *DRINKS.turns, says_hello(now(CURRENT), now(DRINKS)), offers(NEW), wants(), ("producer", GOOD[:1]), refuses("no-space"), gives_up("no-space"))
    yield good("refused_then_next", "One is refused while its delta comes", *refused, *second, shipments=ended("refused no-space") + two[2:], ends=FOR_PRODUCER)
