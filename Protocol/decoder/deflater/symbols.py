"""Sections 2 to 4 of `DEFLATE.md`: from content to symbols, cut into blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

SHORTEST_MATCH, LONGEST_MATCH = 3, 258
MARGIN = 262
"""So near the end of the window a step begins only where the content ends there too."""
FARTHEST_OF_THREE = 4096

Symbol = int | tuple[int, int]
"""A literal byte, or a match as (length, distance)."""


class Effort(NamedTuple):
    good: int
    lazy: int
    nice: int
    chain: int


EFFORTS = {
    1: Effort(4, 4, 8, 4), 2: Effort(4, 5, 16, 8), 3: Effort(4, 6, 32, 32),
    4: Effort(4, 4, 16, 16), 5: Effort(8, 16, 32, 32), 6: Effort(8, 16, 128, 128), 7: Effort(8, 32, 128, 256),
    8: Effort(32, 128, 258, 1024), 9: Effort(32, 258, 258, 4096),
}  # fmt: skip
GREEDY = (1, 2, 3)


@dataclass(frozen=True)
class Block:
    symbols: list[Symbol]
    content: bytes | None
    """None where a part of it is before the base."""
    is_last: bool


class Window:
    """The base, and which positions have been entered (sections 2.1 to 2.4)."""

    def __init__(self, data: bytes, effort: Effort, memory_level: int, window: int) -> None:
        self.base = 0
        self._data = data
        self._effort = effort
        self._size = window
        self.looked_at = 0
        """Candidates, in all."""
        self._farthest = window - MARGIN
        bits = memory_level + 7
        shift, mask = (bits + 2) // 3, (1 << bits) - 1
        self._hashes = [(a << 2 * shift ^ b << shift ^ c) & mask for a, b, c in zip(data, data[1:], data[2:])]
        self._last = [0] * (1 << bits)
        """By hash, the position entered last; 0, which never is a candidate, where there is none."""
        self._before = [0] * len(data)
        """By position, the one of its hash that was entered before it."""

    def step(self, at: int) -> None:
        end = min(len(self._data), self.base + 2 * self._size)
        if end - at < MARGIN and at - self.base >= 2 * self._size - MARGIN:
            self.base += self._size

    def enter(self, first: int, end: int) -> None:
        hashes, last, before = self._hashes, self._last, self._before
        for position in range(first, min(end, len(hashes))):
            value = hashes[position]
            before[position] = last[value]
            last[value] = position

    def longest(self, at: int, best: int) -> tuple[int, int] | None:
        """The match at `at`, as length and distance, if one is longer than `best`."""
        data, before, effort = self._data, self._before, self._effort
        longest = min(LONGEST_MATCH, len(data) - at)
        if best >= longest or longest < SHORTEST_MATCH:
            return None
        candidate = self._last[self._hashes[at]]
        if candidate <= self.base or at - candidate > self._farthest:
            return None
        chain = effort.chain // 4 if best >= effort.good else effort.chain
        nice = min(effort.nice, longest)
        limit = max(self.base, at - self._farthest)
        found, wanted, final = 0, data[at : at + best + 1], data[at + best]
        while True:
            self.looked_at += 1
            if data[candidate + best] == final and data[candidate : candidate + best + 1] == wanted:
                best += 1
                while best < longest and data[candidate + best] == data[at + best]:
                    best += 1
                found = candidate
                if best >= nice:
                    break
                wanted, final = data[at : at + best + 1], data[at + best]
            candidate = before[candidate]
            chain -= 1
            if candidate <= limit or chain == 0:
                break
        return (best, at - found) if found else None


def greedy(data: bytes, window: Window, longest_entered: int) -> Iterator[tuple[Symbol, int]]:
    """Symbols, each with the end of the bytes that it stands for (section 3.1)."""
    at = 0
    while at < len(data):
        window.step(at)
        match = window.longest(at, SHORTEST_MATCH - 1)
        length = match[0] if match else 1
        window.enter(at, at + (length if length <= longest_entered else 1))
        symbol = match or data[at]
        at += length
        yield symbol, at
    window.step(at)


def lazy(data: bytes, window: Window, longest_improved: int) -> Iterator[tuple[Symbol, int]]:
    """The same for section 3.2."""
    at, is_held, held = 0, False, None
    while at < len(data):
        window.step(at)
        length = held[0] if held else SHORTEST_MATCH - 1
        match = window.longest(at, length) if length < longest_improved else None
        if match and match[0] == SHORTEST_MATCH and match[1] > FARTHEST_OF_THREE:
            match = None
        if held and not match:
            end = at - 1 + length
            window.enter(at, end)
            at, is_held = end, False
            yield held, at
        else:
            window.enter(at, at + 1)
            if is_held:
                yield data[at - 1], at
            at, is_held = at + 1, True
        held = match
    window.step(at)
    if is_held:
        yield data[-1], at


def blocks(data: bytes, level: int, memory_level: int, window_bits: int) -> Iterator[Block]:
    """Section 4."""
    effort = EFFORTS[level]
    window = Window(data, effort, memory_level, 1 << window_bits)
    parsed = greedy if level in GREEDY else lazy
    most = (1 << memory_level + 6) - 1
    symbols: list[Symbol] = []
    start = end = 0
    for symbol, end in parsed(data, window, effort.lazy):
        symbols.append(symbol)
        # A byte that is held back to the end fills no block.
        if len(symbols) == most and (level in GREEDY or end < len(data) or isinstance(symbol, tuple)):
            yield Block(symbols, data[start:end] if start >= window.base else None, False)
            symbols, start = [], end
    yield Block(symbols, data[start:] if start >= window.base else None, True)


def candidates(data: bytes, level: int, memory_level: int, window_bits: int) -> int:
    """How many are looked at, in all."""
    window = Window(data, EFFORTS[level], memory_level, 1 << window_bits)
    for _ in (greedy if level in GREEDY else lazy)(data, window, EFFORTS[level].lazy):
        pass
    return window.looked_at
