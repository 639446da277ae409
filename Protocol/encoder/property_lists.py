"""Takes binary property lists apart (`LISTS.md`), in a simple way: columns in the order of their keys, elements as soon as they are come to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from encoder import taken_lists as t
from encoder.binary_list import CannotTakeApart, Parsed, parsed_objects
from encoder.taken_lists import TakenLists

Context = tuple[Any, ...]


@dataclass
class Row:
    uid: int | None
    parent: Row | None
    place: int | None
    columns: list[Any] = field(default_factory=list)


@dataclass
class Slot:
    context: Context
    object: int
    row: Row | None = None
    holder: list[Any] | None = None
    """Where a UID is put: the columns of the row, or an array in a column."""
    is_column: bool = False
    place: int | None = None
    uid: int | None = None


class Taker:
    """Streams by context, for all lists of a column."""

    def __init__(self) -> None:
        self.kinds: list[int] = []
        self.plain: list[bytes] = []
        self.tables: list[int] = []
        self.names: dict[bytes, int] = {}
        self.shapes: dict[tuple[bytes, ...], int] = {}
        self.contexts: dict[Context, int] = {}
        self.streams: dict[str, list[list[Any]]] = {}
        self.last_uid: dict[Context, int] = {}

    def put(self, context: Context, code: int, stream: str | None = None, value: Any = None) -> None:
        number = self.contexts.setdefault(context, len(self.contexts))
        for name, taken in [("codes", code)] + ([(stream, value)] if stream else []):
            lists = self.streams.setdefault(name, [])
            lists += [[] for _ in range(number + 1 - len(lists))]
            lists[number].append(taken)

    def shape(self, keys: tuple[bytes, ...]) -> int:
        for key in keys:
            self.names.setdefault(key, len(self.names))
        return self.shapes.setdefault(keys, len(self.shapes))

    def taken(self) -> TakenLists:
        def stream(name: str) -> list[Any]:
            return [value for values in self.streams.get(name, []) for value in values]

        shapes = [([self.names[key] for key in keys], list(range(len(keys)))) for keys in self.shapes]
        return TakenLists(
            self.kinds, self.streams.get("codes", []), self.plain, self.tables, list(self.names), shapes, stream("uids"),
            stream("numbers"), stream("sizes"), stream("shapes"), stream("shared"), stream("reals"), stream("ascii"),
            stream("utf-16"), stream("data"),
        )  # fmt: skip


class ListTaker:
    """One list."""

    def __init__(self, taker: Taker, data: bytes) -> None:
        self.taker = taker
        self.objects, self.top = parsed_objects(data)
        self.table = self.table_object()
        self.elements = list(self.objects[self.table].members) if self.table is not None else []
        self.is_named = [False] * len(self.elements)
        self.is_visited = [False] * len(self.elements)
        self.numbers: dict[int, int] = {}
        """Of shared objects."""
        self.keys: dict[bytes, int] = {}
        self.integers: dict[int, list[int]] = {}
        """The objects of each."""
        self.stack: list[Slot] = []

    def table_object(self) -> int | None:
        top = self.objects[self.top]
        found = {self.objects[key].value: value for key, value in zip(top.keys, top.members)}
        table = found.get(b"$objects")
        is_archive = b"$archiver" in found and table is not None and self.objects[table].kind == "array"
        return table if is_archive else None

    @property
    def kind(self) -> int:
        once = [(each.kind, each.value) for each in self.objects if each.kind in ("uid", "scalar")]
        return 1 + (self.table is not None) + 2 * (len(set(once)) < len(once))

    def run(self) -> None:
        if self.elements:
            self.visit_rest(0)
        self.drain(Slot(("top",), self.top))
        for number in range(len(self.elements)):
            if not self.is_visited[number]:
                self.visit_rest(number)

    def visit_rest(self, number: int) -> None:
        self.is_named[number] = self.is_visited[number] = True
        self.drain(Slot(("rest",), self.elements[number], uid=number))

    def drain(self, slot: Slot) -> None:
        self.stack = [slot]
        while self.stack:
            self.take(self.stack.pop())

    def take(self, slot: Slot) -> None:
        found = self.objects[slot.object]
        if slot.object == self.table:
            self.stands(slot, None)
            self.taker.put(slot.context, t.TABLE)
        elif found.kind == "uid" and self.table is not None:
            self.take_uid(slot, found.value)
        elif found.kind == "array":
            self.take_array(slot, found)
        elif found.kind == "dictionary":
            self.take_dictionary(slot, found)
        else:
            self.stands(slot, None)
            self.take_leaf(slot, found)

    def stands(self, slot: Slot, what: Any) -> None:
        if slot.holder is not None:
            slot.holder.append(what)

    def take_uid(self, slot: Slot, number: int) -> None:
        taker, context = self.taker, slot.context
        last = taker.last_uid.get(context, 0)
        is_new = number < len(self.elements) and not self.is_visited[number]
        if False in self.is_named and self.is_named.index(False) == number:
            taker.put(context, t.NEW)
        elif is_new:
            taker.put(context, t.VISIT, "uids", number - last)
        elif (code := self.candidate(slot.row, number, last if context in taker.last_uid else 0)) is not None:
            taker.put(context, code)
        else:
            taker.put(context, t.EXPLICIT, "uids", number - last)
        taker.last_uid[context] = number
        self.stands(slot, number)
        if is_new:
            self.is_named[number] = self.is_visited[number] = True
            place = len(slot.holder) - 1 if slot.holder is not None and not slot.is_column else None
            self.stack.append(Slot(("target", context), self.elements[number], slot.row, place=place, uid=number))

    def candidate(self, row: Row | None, number: int, last: int) -> int | None:
        """The lowest code that makes this UID."""
        if last == number:
            return t.PREVIOUS
        up, code = row, t.ANCESTOR
        while up and code < t.OF_ROW:
            if up.uid == number:
                return code
            up, code = up.parent, code + 1
        parent = row.parent if row else None
        for base, held in [(t.OF_ROW, row), (t.OF_PARENT, parent)]:
            columns = held.columns[:32] if held else []
            if number in columns:
                return base + columns.index(number)
        if row and parent and row.place is not None:
            for place, column in enumerate(parent.columns[:32]):
                if isinstance(column, list) and column[row.place : row.place + 1] == [number]:
                    return t.BESIDE + place
        return None

    def take_array(self, slot: Slot, found: Parsed) -> None:
        self.taker.put(slot.context, t.ARRAY, "sizes", len(found.members))
        holder: list[Any] | None = [] if slot.is_column else None
        self.stands(slot, holder)
        context = ("elements", slot.context)
        for place, member in reversed(list(enumerate(found.members))):
            self.stack.append(Slot(context, member, slot.row, holder, place=None if holder is None else place))

    def take_dictionary(self, slot: Slot, found: Parsed) -> None:
        keys = tuple(self.objects[key].value for key in found.keys)
        if any(self.objects[key].kind != "ascii" for key in found.keys):
            raise CannotTakeApart("a key that is no text in ASCII")
        shape = self.taker.shape(keys)
        self.taker.put(slot.context, t.DICTIONARY, "shapes", shape)
        self.stands(slot, None)
        for key, name in zip(found.keys, keys):
            if self.keys.setdefault(name, key) != key:
                raise CannotTakeApart("two objects for one key")
            self.numbers.setdefault(key, len(self.numbers))
        row = Row(slot.uid, slot.row, slot.place)
        for place, member in reversed(list(enumerate(found.members))):
            self.stack.append(Slot(("column", shape, place), member, row, row.columns, is_column=True))

    def take_leaf(self, slot: Slot, found: Parsed) -> None:
        put, context = self.taker.put, slot.context
        match found.kind:
            case "scalar":
                return put(context, found.value)
            case "uid":
                return put(context, t.UID, "numbers", found.value)
            case "integer":
                equal = self.integers.setdefault(found.value, [])
                equal += [] if slot.object in equal else [slot.object]
                if len(equal) > len(t.INTEGERS):
                    raise CannotTakeApart("too many objects for one integer")
                return put(context, t.INTEGERS[equal.index(slot.object)], "numbers", found.value)
        if slot.object in self.numbers:
            return put(context, t.SHARED, "shared", self.numbers[slot.object])
        self.numbers[slot.object] = len(self.numbers)
        match found.kind:
            case "float":
                put(context, t.FLOAT, "numbers", found.value)
            case "real" | "date":
                put(context, t.REAL if found.kind == "real" else t.DATE, "reals", found.value)
            case "data":
                put(context, t.DATA, "data", found.value)
            case kind:
                put(context, t.ASCII if kind == "ascii" else t.UTF_16, kind, found.value)


def taken_apart(lists: list[bytes]) -> TakenLists:
    """Those that begin with the marker of lists are sound ones."""
    taker = Taker()
    for data in lists:
        if not data.startswith(b"bplist00"):
            taker.kinds.append(0)
            taker.plain.append(data)
            continue
        one = ListTaker(taker, data)
        taker.kinds.append(one.kind)
        if one.table is not None:
            taker.tables.append(len(one.elements))
        one.run()
    return taker.taken()
