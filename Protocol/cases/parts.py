"""Payloads of PART and of DATA (section 3.3), by their layout alone: what may come where, streams and dialogues show."""

from __future__ import annotations

from collections.abc import Iterator

from encoder.piece import Pieces, binary, joined
from encoder.vector import Detail, Vector
from encoder.wire import BLOCKS, COLUMNS, DELTA, SEGMENT_LIMIT, data, part


def vectors() -> Iterator[Vector]:
    yield from parts()
    yield from pieces_of_data()


def opened(name: str, about: str, encoding: int = BLOCKS, anew: bool = False, index: int = 0, position: int = 0) -> Vector:
    details: list[Detail] = [("value.encoding", str(encoding)), ("value.anew", "true" if anew else "false")]
    details += [("value.part", str(index)), ("value.position", str(position))]
    payload = part(index, encoding, anew, position)
    return Vector(f"part_{name}", about, "3.3", "part", None, details, [("", payload)])


def parts() -> Iterator[Vector]:
    def wrong(name: str, about: str, payload: Pieces) -> Vector:
        return Vector(f"part_{name}", about, "3.3", "part", "protocol-violation", [], [("", payload)])

    yield opened("blocks", "The store in blocks")
    yield opened("columns", "The store in columns", COLUMNS)
    yield opened("external_file", "The last of the external files that there can be", index=16_384)
    yield opened("anew", "The store in blocks, all that came of it before being void", anew=True)
    yield opened("number_highest", "The highest number that a part could have", index=0xFFFF_FFFF)
    yield opened("encoding_0", "Encoding 0, of which there is none; that is not for the layout to say", 0)
    yield opened("encoding_255", "Encoding 255, which nobody knows", 255)
    yield opened("position", "A position, as of what goes on where a shipment broke off", DELTA, position=2**40)
    yield opened("position_highest", "The highest position", 4, position=2**64 - 1)
    yield opened("delta", "The store as a delta from another one", DELTA)
    yield opened("delta_anew", "The same after another encoding", DELTA, anew=True)
    whole = joined(part(0)) + bytes(32)
    for length in (0, 1, 13, 15, 46):
        yield wrong(f"{length}_bytes", f"{length} bytes, which is not its length", binary(whole[:length], "PART, cut"))
    yield wrong("flag_2", "A flag that means nothing", part(0, flags=2))
    yield wrong("flag_80", "A flag that means nothing beside the one that does", part(0, flags=0x81))


def pieces_of_data() -> Iterator[Vector]:
    def good(name: str, about: str, content: bytes, is_last: bool = False) -> Vector:
        details = [("value.last", "true" if is_last else "false"), ("value.size", str(len(content)))]
        payload = data(binary(content, f"{len(content)} bytes of data"), is_last)
        return Vector(f"data_{name}", about, "3.3", "data", None, details, [("", payload)])

    def wrong(name: str, about: str, payload: Pieces) -> Vector:
        return Vector(f"data_{name}", about, "3.3", "data", "protocol-violation", [], [("", payload)])

    content = b"some of a part"
    yield good("first", "Data with more to come", content)
    yield good("last", "The last data of a part", content, is_last=True)
    yield good("one_byte", "The shortest data", b"!")
    yield good("at_limit", "The longest data: 4,195,328 bytes", bytes(SEGMENT_LIMIT))
    yield wrong("flag_2", "A flag that means nothing", data(binary(content), flags=2))
    yield wrong("flag_80", "A flag that means nothing beside the one that does", data(binary(content), flags=0x81))
    yield wrong("nothing", "Flags, and no data", data([], is_last=True))
    yield wrong("empty", "A DATA without a payload", [])
