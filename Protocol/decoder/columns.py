"""From the segments of a part in `columns` to the store that they stand for (`COLUMNS.md`)."""

from __future__ import annotations

import io

from decoder.segment.segment import Segment
from decoder.store.stream import StreamDecoder


def store_of(segments: list[bytes], size: int) -> bytes:
    """The store of `size` bytes that the segments stand for."""
    out = io.BytesIO()
    StreamDecoder((Segment(data) for data in segments), size).write(out)
    return out.getvalue()
