"""What a consumer tells of the rows of its store (`RANGES.md`): requests, and the answers to them."""

from __future__ import annotations

from collections.abc import Iterator

from cases.canonical import index, keyed, table
from cases.delta import JUMPS, LAST, LITERAL, REST, numbers, row_group, stored
from cases.delta_sessions import CHANGED, DISHES, FRONT, GOOD, NEW, START, THERE, delta, pages, received, sends, wants
from cases.dialogues import DONE, FOR_CONSUMER, FOR_PRODUCER, NEXT, NEXT_INSTALLED, VIOLATION, Turn, cancel, dialogue, gives_up, refusal, refuses
from cases.streams import blocks, ended
from encoder import segment as s
from encoder.piece import Pieces, binary
from encoder.ranges import Ranges, asked
from encoder.store_pages import Rows, Store, written
from encoder.vector import Detail, Vector
from encoder.wire import COMPARE, RANGES, frame, preamble

COVERS = "ranges"
OURS, THEIRS = bytes(range(16)), bytes(range(16, 32))
"""The nonces of the producer and the consumer."""
ROWS: Rows = [(key * 3, [None, f"dish {key}", key % 7]) for key in range(1, 90)]
STORE = Store([
    table("recipe", "id INTEGER PRIMARY KEY, name, stars", ROWS), index("by_stars", "recipe", "stars", [(None, [key % 7, key * 3]) for key in range(1, 90)]),
    keyed([[f"key {number:02}", number] for number in range(40)], "k PRIMARY KEY, v"), table("long", "a", [(1, ["x" * 300_000]), (-5, [b"y" * 700])]),
    table("none", "a", []),
], user_version=7)  # fmt: skip
STORE.items[1].rows = sorted(STORE.items[1].rows or [], key=lambda row: list(row[1]))
STORE.items[3].rows = sorted(STORE.items[3].rows or [], key=lambda row: row[0] or 0)


class Search:
    """Requests and the answers to them, one after the other."""

    def __init__(self, store: Store = STORE) -> None:
        self.ranges = Ranges(store, OURS, THEIRS)
        self.sections: list[tuple[str, Pieces]] = [
            ("base", written(store)), ("nonce", binary(THEIRS)), ("request", binary(OURS, "the producer's nonce")), ("answer", self.ranges.first()),
        ]  # fmt: skip
        self.lists = [[(0, len(rows))] for rows in self.ranges.trees]

    def ask(self, *trees: tuple[int, int, list[tuple[int, int, bool]]]) -> Search:
        answer: Pieces = []
        lists: list[list[tuple[int, int]]] = [[] for _ in self.lists]
        for tree, level, parts in trees:
            end = 0
            for gap, count, is_counted in parts:
                first, end = end + gap, end + gap + count
                start, stop = self.lists[tree][first][0], self.lists[tree][end - 1][1]
                if is_counted:
                    answer += binary(s.varint(stop - start), "rows")
                else:
                    found = self.ranges.cut(tree, start, stop, level)
                    answer += self.ranges.told(tree, found)
                    lists[tree] += found
        self.lists = lists
        self.sections += [("request", asked(*trees)), ("answer", answer)]
        return self

    def vector(self, name: str, about: str) -> Vector:
        return Vector(f"ranges_{name}", about, COVERS, "ranges", None, [], self.sections)

    def refused(self, name: str, about: str, request: Pieces) -> Vector:
        return Vector(f"ranges_{name}", about, COVERS, "ranges", "damaged", [], [*self.sections, ("request", request)])


def vectors() -> Iterator[Vector]:
    yield from told()
    yield from refused()
    yield from sessions()


def told() -> Iterator[Vector]:
    yield Search().vector("trees", "The trees of a store: their names, rows and digests")
    for encoding in ("utf-16-le", "utf-16-be"):
        store = Store([table("t", "a,b", ROWS[:20])], encoding=encoding, auto_vacuum=True)
        yield Search(store).ask((1, 0, [(0, 1, False)])).vector(encoding.replace("-", ""), "Names and records in the store's encoding")
    yield Search(Store([], application_id=-1)).vector("empty", "A store without tables")
    one = [(0, 1, False)]
    yield Search().ask((1, 1, one)).vector("level_1", "Ranges of some four rows")
    yield Search().ask((0, 0, one), (1, 0, one), (2, 0, one), (3, 0, one), (4, 0, one), (5, 0, one)).vector("rows", "Each row, of each kind of tree, and of none")
    count = len(Search().ask((1, 1, one)).lists[1])
    deeper = Search().ask((1, 2, one), (3, 1, one))
    deeper.ask((1, 1, [(1, 1, False), (0, 1, True)]), (3, 0, [(2, 2, False)]))
    deeper.ask((1, 0, [(0, 1, False)]))
    yield deeper.vector("deeper", "Ever smaller ranges, of some of those of the last answer")
    yield Search().ask((1, 1, one)).ask((1, 0, [(0, 2, True), (1, count - 3, True)])).vector("counted", "Only the numbers of rows")
    yield Search().ask((1, 16, one)).vector("level_16", "The highest level: one range, most likely")
    yield Search().ask((1, 3, [])).vector("no_parts", "A tree of which nothing is asked")
    yield Search().ask().vector("nothing", "A request that names no tree")


def refused() -> Iterator[Vector]:
    one = [(0, 1, False)]
    fresh = Search()
    fresh.sections = fresh.sections[:2]
    yield fresh.refused("nonce_15", "A nonce of 15 bytes", binary(OURS[:15]))
    yield fresh.refused("nonce_17", "A nonce of 17 bytes", binary(OURS + b"!"))
    yield Search().refused("no_such_tree", "A tree that there is not", asked((6, 0, one)))
    yield Search().refused("level_17", "A level above the highest", asked((1, 17, one)))
    yield Search().ask((1, 2, one)).refused("same_level", "The level of the last request", asked((1, 2, one)))
    yield Search().refused("no_such_range", "A range that there is not", asked((1, 0, [(1, 1, False)])))
    yield Search().refused("ranges_past_the_end", "More ranges than there are", asked((1, 0, [(0, 2, True)])))
    yield Search().ask((1, 1, one)).refused("forgotten", "A tree that the last request did not name", asked((3, 0, one)))
    yield Search().refused("cut", "A request that ends early", asked((1, 0, one))[:-1])
    yield Search().refused("trailing_byte", "A byte after the request", [*asked((1, 0, one)), *binary(b"\0")])
    yield Search().refused("empty_request", "No bytes", [])


ASKED = Ranges(pages(DISHES), OURS, THEIRS)
ASKS: Turn = ("producer", [frame(COMPARE, binary(OURS, "the producer's nonce"))])
TELLS: Turn = ("consumer", [frame(RANGES, ASKED.first())])
DEEPER: tuple[Turn, Turn] = (
    ("producer", [frame(COMPARE, asked((1, 0, [(0, 1, False)])))]), ("consumer", [frame(RANGES, ASKED.told(1, ASKED.cut(1, 0, 3, 0)))]),
)  # fmt: skip
LEVELS = [(
    ("producer", [frame(COMPARE, asked((1, level, [(0, 1, False)])))]), ("consumer", [frame(RANGES, ASKED.told(1, ASKED.cut(1, 0, 3, level)[:1]))]),
) for level in range(15, 7, -1)]  # fmt: skip
"""Requests that are right in any search: the first range of ever lower levels."""
EIGHT = (ASKS, TELLS, *(turn for each in LEVELS[:7] for turn in each))
TELLS_NOTHING: Turn = ("consumer", [frame(RANGES)])
REPLACED = delta(stored(FRONT, numbers(LAST | REST | LITERAL | JUMPS, 1), s.constant(1), s.constant(1), row_group(CHANGED[1:2], True)))
"""A row of the base is passed over, and another one is in its place."""
IN_BLOCKS = sends(*blocks(NEW.data))


def sessions() -> Iterator[Vector]:
    def session(name: str, about: str, *turns: Turn, shipments: list[Detail] | None = None, ends: list[Detail] = DONE) -> Vector:
        return dialogue(f"compared_{name}", about, ends, *START, wants(), *turns, shipments=THERE if shipments is None else shipments, covers=COVERS)

    yield session("delta", "The producer asks what is in the base, and sends what is not", ASKS, TELLS, *DEEPER, sends(*REPLACED), received(NEW))
    yield session("and_blocks", "The producer asks, and sends blocks all the same", ASKS, TELLS, IN_BLOCKS, received(NEW))
    yield session("nothing", "The consumer compares nothing", ASKS, TELLS_NOTHING, IN_BLOCKS, received(NEW))
    yield session("eight_times", "As often as a producer may ask", *EIGHT, IN_BLOCKS, received(NEW))
    yield session("refused", "The consumer refuses the shipment instead of an answer", ASKS, refuses("no-space"), gives_up("no-space"), *NEXT, shipments=ended("refused no-space") + NEXT_INSTALLED)
    yield session("crossing", "The consumer refuses the shipment before it has heard the question", refuses("no-space"), ASKS, gives_up("no-space"), *NEXT, shipments=ended("refused no-space") + NEXT_INSTALLED, ends=FOR_CONSUMER)
    yield session("given_up", "The producer gives up before the answer has come", ASKS, gives_up("stopped"), TELLS_NOTHING, refuses("stopped"), *NEXT, shipments=ended("cancelled stopped") + NEXT_INSTALLED, ends=FOR_PRODUCER)
    yield from wrong_sessions()


def wrong_sessions() -> Iterator[Vector]:
    def by_consumer(name: str, about: str, *turns: Turn) -> Vector:
        says: Turn = ("consumer", [refusal(VIOLATION, "that was not wanted")])
        return dialogue(f"compared_{name}", about, [("consumer", f"failed {VIOLATION}")], *turns, says, covers=COVERS)

    def by_producer(name: str, about: str, *turns: Turn, shipments: list[Detail] | None = None) -> Vector:
        says: Turn = ("producer", [cancel(VIOLATION, "that was not asked")])
        return dialogue(f"compared_{name}", about, [("producer", f"failed {VIOLATION}")], *turns, says, shipments=shipments, covers=COVERS)

    first = GOOD[0]
    yield by_consumer("nine_times", "The ninth question", *START, wants(), *EIGHT, LEVELS[7][0])
    yield by_consumer("without_base", "A question where the answer names no base", *START, wants(None, "columns"), ASKS)
    yield by_consumer("after_part", "A question after a part was opened", *START, wants(), ("producer", [first]), ASKS)
    yield by_consumer("before_manifest", "A question where there is no shipment", *START[:-1], ("producer", [preamble()]), ASKS)
    yield by_producer("not_asked", "An answer to no question", *START, wants(), TELLS_NOTHING)
    yield by_producer("answered_twice", "Two answers to one question", *START, wants(), ASKS, TELLS_NOTHING, TELLS_NOTHING)
    yield by_producer("between", "An answer between two shipments", *START, wants(), IN_BLOCKS, received(NEW), TELLS_NOTHING, shipments=THERE)
