"""The shape of a b-tree: which cell goes to which page, before any page has a number.

No size depends on a number, so a whole level is cut into pages before the next one. `CANONICAL.md` section 6 tells the
same as it goes, page by page; `emissions` says in which order that takes pages.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from encoder.sqlite_file import varint


@dataclass(frozen=True)
class Room:
    """`fullest`: how many bytes of a page may be taken, less than `usable` where pages are to be loose."""

    usable: int
    fullest: int

    def local(self, size: int, is_table: bool) -> int:
        """FF 1.6, cell payload overflow pages: how much of a payload of `size` bytes stays in the cell."""
        u = self.usable
        x = u - 35 if is_table else (u - 12) * 64 // 255 - 23
        m = (u - 12) * 32 // 255 - 23
        k = m + (size - m) % (u - 4)
        return size if size <= x else k if k <= x else m


@dataclass(eq=False)
class Entry:
    """A row: of a table with its rowid, of an index without."""

    rowid: int | None
    record: bytes
    chain: list[int] = field(default_factory=list)
    """Numbers of its overflow pages, once they are given."""


@dataclass(eq=False)
class Node:
    entries: list[Entry] = field(default_factory=list)
    """Of an interior page of a table, the last entry of each child but the last."""
    children: list[Node] = field(default_factory=list)
    number: int = 0


@dataclass
class Level:
    nodes: list[Node]
    moved: bool
    """Whether the last page was empty at the end, and took an entry from the one before."""


@dataclass
class Plan:
    is_table: bool
    room: Room
    levels: list[Level]

    @property
    def root(self) -> Node:
        return self.levels[-1].nodes[0]

    def cell_size(self, entry: Entry, is_interior: bool) -> int:
        if self.is_table and is_interior:
            return 4 + len(varint(entry.rowid or 0))
        size, kept = len(entry.record), self.room.local(len(entry.record), self.is_table)
        key = varint(entry.rowid or 0) if self.is_table else b""
        length = len(varint(size)) + len(key) + kept + (4 if kept < size else 0) + (4 if is_interior else 0)
        return max(4, length)

    def taken(self, node: Node) -> int:
        is_interior = bool(node.children)
        return (12 if is_interior else 8) + sum(2 + self.cell_size(entry, is_interior) for entry in node.entries)

    def fits(self, node: Node, entry: Entry) -> bool:
        taken = self.taken(node) + 2 + self.cell_size(entry, bool(node.children))
        return taken <= (self.room.usable if len(node.entries) < 2 else self.room.fullest)


def planned(is_table: bool, entries: list[Entry], room: Room) -> Plan:
    plan = Plan(is_table, room, [])
    level, separators = table_leaves(plan, entries) if is_table else index_leaves(plan, entries)
    plan.levels.append(level)
    while len(level.nodes) > 1:
        level, separators = interior(plan, level.nodes, separators)
        plan.levels.append(level)
    return plan


def table_leaves(plan: Plan, entries: list[Entry]) -> tuple[Level, list[Entry]]:
    nodes = [Node()]
    for entry in entries:
        if not plan.fits(nodes[-1], entry):
            nodes.append(Node())
        nodes[-1].entries.append(entry)
    return Level(nodes, False), [node.entries[-1] for node in nodes[:-1]]


def index_leaves(plan: Plan, entries: list[Entry]) -> tuple[Level, list[Entry]]:
    nodes: list[Node] = [Node()]
    separators: list[Entry] = []
    for entry in entries:
        if plan.fits(nodes[-1], entry):
            nodes[-1].entries.append(entry)
        else:
            separators.append(entry)
            nodes.append(Node())
    moved = len(nodes) > 1 and not nodes[-1].entries
    if moved:
        nodes[-1].entries.append(separators.pop())
        separators.append(nodes[-2].entries.pop())
    return Level(nodes, moved), separators


def interior(plan: Plan, below: list[Node], separators: list[Entry]) -> tuple[Level, list[Entry]]:
    nodes = [Node(children=[below[0]])]
    above: list[Entry] = []
    for child, separator in zip(below[1:], separators):
        if plan.fits(nodes[-1], separator):
            nodes[-1].entries.append(separator)
            nodes[-1].children.append(child)
        else:
            above.append(separator)
            nodes.append(Node(children=[child]))
    moved = len(nodes) > 1 and not nodes[-1].entries
    if moved:
        nodes[-1].children.insert(0, nodes[-2].children.pop())
        nodes[-1].entries.append(above.pop())
        above.append(nodes[-2].entries.pop())
    return Level(nodes, moved), above


def emissions(plan: Plan) -> Iterator[Node | Entry]:
    """What takes pages, in order: an entry for its overflow pages, and each node but the root."""
    leaves = plan.levels[0]
    follow = followers(plan)

    def emitted(node: Node) -> Iterator[Node]:
        if node is not plan.root:
            yield node
            for later in follow.get(id(node), []):
                yield from emitted(later)

    for index, leaf in enumerate(leaves.nodes):
        before = leaves.nodes[index - 1] if index and not plan.is_table else None
        is_last = index == len(leaves.nodes) - 1
        for place, entry in enumerate(leaf.entries):
            if not (is_last and leaves.moved):
                yield entry
            if place == 0 and before and not (is_last and leaves.moved):
                yield from emitted(before)
        if not plan.is_table and not is_last:
            yield from separators_after(plan, leaf, leaves, index)
        if is_last and leaves.moved and before:
            yield from emitted(before)
        if plan.is_table or is_last:
            yield from emitted(leaf)


def separators_after(plan: Plan, leaf: Node, leaves: Level, index: int) -> Iterator[Entry]:
    """The entry between two leaves; where the last one moved, the two entries after the leaf before it."""
    yield separator_above(plan, leaf)
    if leaves.moved and index == len(leaves.nodes) - 2:
        yield leaves.nodes[-1].entries[0]


def separator_above(plan: Plan, leaf: Node) -> Entry:
    """Of a leaf that is not the last: it stands where the branches to it and to the leaf after it part."""
    node: Node = leaf
    for level in plan.levels[1:]:
        parent = next(each for each in level.nodes if node in each.children)
        at = parent.children.index(node)
        if at < len(parent.entries):
            return parent.entries[at]
        node = parent
    raise ValueError("the last leaf has no separator")


def followers(plan: Plan) -> dict[int, list[Node]]:
    """By the identity of a node: the pages of the level above that are emitted right after it.

    A page goes when the next one of its level gets its first cell; the last but one, where the last took from it,
    at the end.
    """
    found: dict[int, list[Node]] = {}
    for level in plan.levels[1:]:
        for index, node in enumerate(level.nodes[:-1]):
            following = level.nodes[index + 1]
            at_end = level.moved and following is level.nodes[-1]
            found.setdefault(id(following.children[-1 if at_end else 0]), []).append(node)
        found.setdefault(id(level.nodes[-1].children[-1]), []).append(level.nodes[-1])
    return found
