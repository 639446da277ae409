"""From the segments of a part in `columns` to the store that they stand for (`COLUMNS.md`)."""

from __future__ import annotations

import io

from decoder.segment.earlier import Earlier
from decoder.segment.segment import Segment
from decoder.segment.work import Work
from decoder.store.stream import StreamDecoder


def store_of(segments: list[bytes], size: int) -> bytes:
    """The store of `size` bytes that the segments stand for."""
    out, work = io.BytesIO(), Work()
    earlier = Earlier(out, work)
    StreamDecoder((Segment(data, work, earlier=earlier.bytes_of) for data in segments), size, work).write(out, earlier.begins)
    return out.getvalue()
