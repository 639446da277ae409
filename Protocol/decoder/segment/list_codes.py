"""The codes of `LISTS.md` section 4, and what each takes."""

from __future__ import annotations

from enum import IntEnum

NEW, LATER, EXPLICIT, VISIT = range(4)
INTEGER, REAL, DATE, DATA, ASCII, UTF_16, ARRAY, DICTIONARY, SHARED, TABLE, UID, FLOAT, PREVIOUS = range(4, 17)
NULL, FALSE, TRUE = 17, 18, 19
INTEGERS = (INTEGER, 20, 21, 22, 23)
ANCESTOR, OF_ROW, OF_PARENT, BESIDE, BEYOND = 24, 32, 64, 96, 128


class Takes(IntEnum):
    """The streams, in their order, and nothing."""

    UID, NUMBER, SIZE, SHAPE, SHARED, REAL, ASCII, UTF_16, DATA = range(9)
    NOTHING = 9


TAKES = {code: Takes.NOTHING for code in range(BEYOND)} | {
    **dict.fromkeys(INTEGERS, Takes.NUMBER),
    EXPLICIT: Takes.UID,
    VISIT: Takes.UID,
    UID: Takes.NUMBER,
    FLOAT: Takes.NUMBER,
    REAL: Takes.REAL,
    DATE: Takes.REAL,
    DATA: Takes.DATA,
    ASCII: Takes.ASCII,
    UTF_16: Takes.UTF_16,
    ARRAY: Takes.SIZE,
    DICTIONARY: Takes.SHAPE,
    SHARED: Takes.SHARED,
}


def is_uid(code: int) -> bool:
    """In the sense of section 4, which code 14 is not."""
    return code <= VISIT or code == PREVIOUS or code >= ANCESTOR
