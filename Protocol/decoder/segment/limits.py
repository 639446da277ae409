"""What a segment may not go beyond, and the one way in which this package says no."""

from __future__ import annotations

from decoder.refused import Refused

ENCODED = 4_195_328
CONTENT = 8_388_608
TEXT = 8_388_608
MATCHES = 1_048_576
RUNS = 65_536
RUN_BYTES = 4_194_304
WORDS = 65_025
WORD_BYTES = 1_048_576
WORD_SPANS = 8_192
"""Of literals, each of bytes as they are and of coded ones."""
CHUNK = 1_048_576
GROUP = 4_194_304
"""Records of one group."""
RECORDS_AND_CHUNKS = 6_291_456
ROWS = 1_048_576
COLUMNS = 32_767
VALUES = 67_108_864
STRING_BYTES = 33_554_432
ARRAYS = 1_048_576
"""In the strings of one encoding; and matches of their elements."""
ELEMENTS = 4_194_304
DECIMAL_FIELDS = 14
"""In the strings of one encoding."""
DIGIT_FIELDS = 8
DEPTH = 7
LIST = 1_048_576
"""A property list that was taken apart."""
DEFLATED = 1_048_576
"""A string that is deflated."""
ALL_DEFLATED = 8_388_608
CANDIDATES = 128
"""Looked at for each byte of a string that is deflated."""


def damaged(why: str) -> Refused:
    return Refused("damaged", why)
