"""The place of the decoder of segments: what the rows in COLUMNS come to."""

from __future__ import annotations

from decoder.refused import Refused


def store_of(segments: list[bytes], size: int) -> bytes:
    """The store of `size` bytes that the segments stand for."""
    raise Refused("damaged", f"none of {len(segments)} segments for {size} bytes decodes")
