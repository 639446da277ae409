"""PUBLISHED.md 4: which steps bring a follower from what it holds to what is published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from decoder.json_rules import Members

LARGEST_LEAP = 4_294_967_296
HIGHEST = 2**64 - 1
ADDED = 16_384
"""Bytes that a step counts for beside its own."""


@dataclass(frozen=True)
class Held:
    content: str | None = None
    number: int = 0
    """The highest that it has accepted."""


def leads_on(step: Members, held: Held) -> bool:
    """Whether a follower that holds this may take the step (PUBLISHED.md 4, TRUST.md 4)."""
    is_over_it = step.get("from") in (None, held.content)
    return is_over_it and held.number < step["counter"] <= held.number + LARGEST_LEAP and step["counter"] < HIGHEST


def after(step: Members) -> Held:
    return Held(step["to"], step["counter"])


def cost(steps: Sequence[Members], added: int = ADDED) -> int:
    return sum(step["size"] + added for step in steps)


def way(steps: Sequence[Members], newest: str, held: Held, added: int = ADDED) -> list[Members] | None:
    """The cheapest, or none; of several as cheap any. Of the steps in their order, each way ends at the least cost."""
    found: list[list[Members]] = []
    for step in sorted(steps, key=lambda step: step["counter"]):
        before = [[]] if leads_on(step, held) else []
        before += [way for way in found if leads_on(step, after(way[-1]))]
        if before:
            found.append([*min(before, key=lambda way: cost(way, added)), step])
    return min((way for way in found if way[-1]["to"] == newest), key=lambda way: cost(way, added), default=None)


def is_way(steps: Sequence[Members], newest: str, held: Held) -> bool:
    for step in steps:
        if not leads_on(step, held):
            return False
        held = after(step)
    return held.content == newest
