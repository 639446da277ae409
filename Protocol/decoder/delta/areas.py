"""From the bytes of a delta's segment to its three areas (`DELTA.md` section 3)."""

from __future__ import annotations

import zlib
from itertools import zip_longest

from decoder.delta.base import LONGEST_HELD, Base
from decoder.segment import limits
from decoder.segment.area import Area
from decoder.segment.content import Areas, dictionary, expanded
from decoder.segment.limits import damaged
from decoder.segment.work import INFLATING, Work, move
from decoder.store.records import Real, Text, parsed

MOST_RUNS = 16
MOST_ROWS = 1_048_576
DICTIONARY = 1_048_576
HISTORY = 32_768
SHORTEST_DEFLATED = 64
LONGEST_INFLATED = 1_048_576


class DeltaAreas(Areas):
    def __init__(self, segment: bytes, base: Base | None, work: Work) -> None:
        whole, preset = content(segment, base, work)
        control, numbers, matches = (whole.varint() for _ in range(3))
        if matches > limits.MATCHES:
            raise damaged("too many matches")
        self.control = Area(whole.take(control))
        self.numbers = Area(whole.take(numbers))
        if not matches:
            text = whole.rest
            work.spend(len(text))
        else:
            size = whole.varint()
            if size > limits.TEXT:
                raise damaged("a text area that is too long")
            work.spend(size)
            literals, lengths, distances = ([whole.varint() for _ in range(matches)] for _ in range(3))
            text = expanded(Area(whole.rest), list(zip(literals, lengths, distances)), size, dictionary() + preset)
        if len(text) > limits.TEXT:
            raise damaged("a text area that is too long")
        self.text = Area(text)


def content(segment: bytes, base: Base | None, work: Work) -> tuple[Area, bytes]:
    work.pay(len(segment))
    if not segment or len(segment) > limits.ENCODED or segment[0] > 2:
        raise damaged("a segment of no bytes, of too many, or of no form")
    head = Area(segment[1:])
    if segment[0] == 0:
        work.spend(len(segment) - 1)
        return head, b""
    preset = b""
    if segment[0] == 2:
        count = head.varint()
        if count > MOST_RUNS or base is None:
            raise damaged("too many runs, or no base")
        runs = [(head.varint(), head.varint(), head.varint()) for _ in range(count)]
        preset = preset_of(runs, base, work)
    size = head.varint()
    if size > limits.CONTENT:
        raise damaged("too much content")
    work.spend(size)
    inflater = zlib.decompressobj(-15, preset[-HISTORY:]) if preset else zlib.decompressobj(-15)
    try:
        found = inflater.decompress(head.rest, size + 1)
    except zlib.error as error:
        raise damaged(str(error)) from error
    if len(found) != size or not inflater.eof or inflater.unused_data:
        raise damaged("a deflate stream of another size")
    return Area(found), preset


def preset_of(runs: list[tuple[int, int, int]], base: Base, work: Work) -> bytes:
    found = b""
    for tree, first, count in runs:
        work.spend(move(base.settings.page_size))
        rows = base.stored(tree)
        if first > len(rows) or count > MOST_ROWS:
            raise damaged("rows that the base has not")
        found = (found + run_of([payload for _, payload in rows[first : first + count]], work))[-DICTIONARY:]
    return found


def run_of(records: list[bytes], work: Work) -> bytes:
    columns: list[list[bytes]] = []
    size = 0
    for payload in records:
        if size > DICTIONARY:
            break
        work.reads(payload if len(payload) <= LONGEST_HELD else b"")
        if len(payload) > LONGEST_HELD:
            continue
        strings: list[list[bytes]] = []
        for value in parsed(payload):
            strings.append([])
            if not isinstance(value, bytes) or isinstance(value, Real):
                continue
            string = bytes(value)
            if not isinstance(value, Text) and size <= DICTIONARY:
                string = inflated(string, work)
            strings[-1].append(string + b"\0")
            size += len(string) + 1
        columns = [one + other for one, other in zip_longest(columns, strings, fillvalue=[])]
    return b"".join(string for column in columns for string in column)


def inflated(blob: bytes, work: Work) -> bytes:
    """What the blob stands for, or itself."""
    if len(blob) < SHORTEST_DEFLATED:
        return blob
    inflater, found = zlib.decompressobj(-15), b""
    work.spend(INFLATING)
    try:
        # Byte by byte where the stream breaks a rule: what came before that counts.
        rest, step = blob, LONGEST_INFLATED + 1
        while step and not inflater.eof and len(found) <= LONGEST_INFLATED:
            before = inflater.copy()
            try:
                more = inflater.decompress(rest, min(step, LONGEST_INFLATED + 1 - len(found)))
            except zlib.error:
                inflater, step = before, step // 2
                continue
            found += more
            rest = inflater.unconsumed_tail
            if not more:
                break
        work.spend(len(found))
        if not step:
            return blob
    except zlib.error:
        return blob
    is_whole = inflater.eof and not inflater.unused_data and len(found) <= LONGEST_INFLATED
    return found if is_whole else blob
