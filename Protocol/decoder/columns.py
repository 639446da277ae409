"""From the segments of a part in `columns` to the store that they stand for (`COLUMNS.md`)."""

from __future__ import annotations

import io

from decoder.segment.segment import Segment
from decoder.segment.work import Work
from decoder.store.stream import StreamDecoder


def store_of(segments: list[bytes], size: int) -> bytes:
    """The store of `size` bytes that the segments stand for."""
    out, work = io.BytesIO(), Work()
    StreamDecoder((Segment(data, work) for data in segments), size, work).write(out)
    return out.getvalue()
