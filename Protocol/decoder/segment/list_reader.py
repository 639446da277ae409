"""One list after the other, from its codes (`LISTS.md` sections 4 and 5)."""

from __future__ import annotations

from collections.abc import Generator

from decoder.segment import list_codes as codes
from decoder.segment import list_objects as objects
from decoder.segment.limits import LIST, damaged
from decoder.segment.list_codes import Takes
from decoder.segment.list_objects import Array, Dictionary, Leaf, Object
from decoder.segment.list_places import REST, TOP, Contexts, Row, Slot, column
from decoder.segment.list_streams import Streams

DEEPEST = 65_536
ALONE = {codes.NULL: b"\x00", codes.FALSE: b"\x08", codes.TRUE: b"\x09"}
Reads = Generator[Slot, Object, Object]
"""Asks for what stands in a slot, gets it, and gives an object in the end."""


class ListReader:
    """Of one list. `table_size` is None if it is no archive."""

    def __init__(self, streams: Streams, contexts: Contexts, table_size: int | None) -> None:
        self._streams, self._contexts = streams, contexts
        self._table = None if table_size is None else Array()
        self._is_named = [False] * (table_size or 0)
        self._elements: list[Object | None] = [None] * (table_size or 0)
        self._is_visited = [False] * (table_size or 0)
        self._lowest = 0
        self._has_table = False
        self._open = self._visits = self._codes = 0
        self._shared: list[Leaf] = []
        self._keys: dict[int, Leaf] = {}
        self._texts: dict[bytes, Leaf] = {}
        self._alone: dict[tuple[int, int], Leaf] = {}

    def top(self) -> Object:
        if self._elements:
            self._visit_rest(0)
        top = self._run(Slot(TOP))
        for number in range(len(self._elements)):
            if not self._is_visited[number]:
                self._visit_rest(number)
        if self._table is not None:
            if not self._has_table:
                raise damaged("an archive without its table")
            self._table.elements = [each for each in self._elements if each is not None]
        return top

    def _visit_rest(self, number: int) -> None:
        self._is_named[number] = self._is_visited[number] = True
        self._visits += 1
        self._opens()
        self._elements[number] = self._run(Slot(REST, element=number))
        self._open -= 1
        self._visits -= 1

    def _run(self, slot: Slot) -> Object:
        """What stands there; each object that is being read is one level of the stack."""
        stack = [self._object(slot)]
        found: Object | None = None
        while stack:
            try:
                asked = next(stack[-1]) if found is None else stack[-1].send(found)
            except StopIteration as end:
                stack.pop()
                found = end.value
            else:
                stack.append(self._object(asked))
                found = None
        if found is None:
            raise TypeError("a slot without an object")
        return found

    def _opens(self) -> None:
        self._open += 1
        if self._open > DEEPEST:
            raise damaged("too much within one another")

    def _object(self, slot: Slot) -> Reads:
        context = self._contexts.number(slot.context)
        code = self._streams.code(context)
        self._codes += 1
        if self._codes > LIST:
            raise damaged("more objects than a list can have")
        if codes.is_uid(code):
            return (yield from self._uid(slot, context, code))
        if code == codes.ARRAY:
            return (yield from self._array(slot, context))
        if code == codes.DICTIONARY:
            return (yield from self._dictionary(slot, context))
        slot.stands(None)
        if code == codes.TABLE:
            return self._whole_table()
        return self._leaf(context, code)

    def _uid(self, slot: Slot, context: int, code: int) -> Reads:
        if self._table is None:
            raise damaged("a UID that leads somewhere in what is no archive")
        number = self._number(slot, context, code)
        self._contexts.last_uid[context] = number
        slot.stands(number)
        is_element = number < len(self._elements)
        if is_element:
            self._is_named[number] = True
        if code in (codes.NEW, codes.VISIT):
            if not is_element or self._is_visited[number]:
                raise damaged("an element that there is not, or that was visited")
            self._is_visited[number] = True
            self._visits += 1
            self._opens()
            place = None if slot.beside is None else len(slot.beside) - 1
            self._elements[number] = yield Slot(("target", context), slot.row, element=number, place=place)
            self._open -= 1
            self._visits -= 1
        return self._one(codes.UID, number)

    def _number(self, slot: Slot, context: int, code: int) -> int:
        before = self._contexts.last_uid.get(context, 0)
        if code in (codes.NEW, codes.LATER):
            return self._lowest_unnamed()
        if code == codes.PREVIOUS:
            return before
        if code in (codes.EXPLICIT, codes.VISIT):
            return number_of_32_bits(before + self._streams.integer(Takes.UID, context))
        found: int | list[int | None] | None = None
        row = slot.row
        if code < codes.OF_ROW:
            for _ in range(code - codes.ANCESTOR):
                row = row and row.parent
            found = row and row.uid
        elif code < codes.OF_PARENT:
            found = column(row, code - codes.OF_ROW)
        elif code < codes.BESIDE:
            found = column(row and row.parent, code - codes.OF_PARENT)
        else:
            elements = column(row and row.parent, code - codes.BESIDE)
            if row and row.place is not None and isinstance(elements, list) and row.place < len(elements):
                found = elements[row.place]
        if not isinstance(found, int):
            raise damaged("a UID that does not stand where it should")
        return found

    def _lowest_unnamed(self) -> int:
        while self._lowest < len(self._is_named) and self._is_named[self._lowest]:
            self._lowest += 1
        if self._lowest == len(self._is_named):
            raise damaged("one more element than there are")
        return self._lowest

    def _array(self, slot: Slot, context: int) -> Reads:
        size = self._streams.integer(Takes.SIZE, context)
        if not 0 <= size <= self._streams.code_count:
            raise damaged("an array of a size that cannot be")
        found = Array()
        beside: list[int | None] | None = None if slot.column is None else []
        slot.stands(beside)
        self._opens()
        for _ in range(size):
            place = None if beside is None else len(beside)
            found.elements.append((yield Slot(("elements", context), slot.row, beside=beside, place=place)))
        self._open -= 1
        return found

    def _dictionary(self, slot: Slot, context: int) -> Reads:
        number = self._streams.integer(Takes.SHAPE, context)
        if not 0 <= number < len(self._streams.shapes):
            raise damaged("a shape that there is not")
        shape = self._streams.shapes[number]
        slot.stands(None)
        self._opens()
        keys = [self._key(name) for name in shape.keys]
        row = Row(slot.element, slot.row, slot.place)
        values: dict[int, Object] = {}
        for place in shape.order:
            values[place] = yield Slot(("column", number, place), row, column=row.columns)
        self._open -= 1
        return Dictionary(keys, [values[place] for place in range(len(keys))])

    def _key(self, name: int) -> Leaf:
        if name not in self._keys:
            content = self._streams.names[name]
            before = self._texts.get(content) if self._table is None else None
            self._keys[name] = before or self._sharable(objects.text(objects.ASCII, content))
        return self._keys[name]

    def _whole_table(self) -> Array:
        if self._table is None or self._has_table or self._visits:
            raise damaged("a table that there is not, or twice, or within itself")
        self._has_table = True
        return self._table

    def _leaf(self, context: int, code: int) -> Leaf:
        streams = self._streams
        match code:
            case codes.NULL | codes.FALSE | codes.TRUE:
                return self._one(code, 0)
            case _ if code in codes.INTEGERS:
                return self._one(code, streams.integer(Takes.NUMBER, context))
            case codes.UID:
                return self._one(code, number_of_32_bits(streams.integer(Takes.NUMBER, context)))
            case codes.REAL:
                return self._sharable(Leaf(b"\x23" + streams.content(Takes.REAL, context)))
            case codes.DATE:
                return self._sharable(Leaf(b"\x33" + streams.content(Takes.REAL, context)))
            case codes.FLOAT:
                number = number_of_32_bits(streams.integer(Takes.NUMBER, context))
                return self._sharable(Leaf(b"\x22" + number.to_bytes(4, "big")))
            case codes.DATA:
                return self._sharable(objects.text(objects.DATA, streams.content(Takes.DATA, context)))
            case codes.ASCII:
                content = streams.content(Takes.ASCII, context)
                leaf = self._sharable(objects.text(objects.ASCII, content))
                self._texts.setdefault(content, leaf)
                return leaf
            case codes.UTF_16:
                return self._sharable(objects.text(objects.UTF_16, streams.content(Takes.UTF_16, context)))
        number = streams.integer(Takes.SHARED, context)
        if not 0 <= number < len(self._shared):
            raise damaged("a shared object that there is not")
        return self._shared[number]

    def _sharable(self, leaf: Leaf) -> Leaf:
        self._shared.append(leaf)
        return leaf

    def _one(self, code: int, number: int) -> Leaf:
        """Of those that are equal."""
        if (code, number) not in self._alone:
            made = objects.uid if code == codes.UID else objects.integer
            self._alone[code, number] = Leaf(ALONE[code], True) if code in ALONE else made(number)
        return self._alone[code, number]


def number_of_32_bits(value: int) -> int:
    if not 0 <= value < 2**32:
        raise damaged("a number of more than 32 bits")
    return value
