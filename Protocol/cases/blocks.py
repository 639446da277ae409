"""Payloads of BLOCK (section 3.3), each with the place where the consumer stands when it comes."""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterator

from encoder.deflate import DeflateStream, Token, compressed, matched, wrapped, zlib_header
from encoder.piece import Pieces, binary, joined
from encoder.vector import Vector
from encoder.wire import (
    BLOCK_LIMIT, DELTA, ENCODED_LIMIT, STORED, WINDOW, ZLIB, ZLIB_WINDOW, block,
)  # fmt: skip

DATA = b"Borscht, beetroot, beef, beetroot again; Borscht keeps for three days. " * 4
EARLIER = b"Dal keeps for two days; Borscht, beetroot, beef. "
CUBES = " ".join(str(number**3) for number in range(120)).encode()
CUBES_BY_ZLIB = bytes.fromhex(
    # zlib.compress(CUBES, 9) of zlib 1.2.13, once: dynamic Huffman codes, as real producers write them.
    "78da25d2d91542310845d156288179e8bf314f9e5f2e3501b2b92a262b3ed229e6256e2d9121652ee327a6aa62112636"
    "ce41bbe174a6444c49eab5e419e7375c7aeb64df8df3e686762e55ad8712eb74a8a6874d4d8b5d6fbc82e5e2197bd47d"
    "57fde64cc2a757a22e46e24253d2f775ecae96d22e7ae68e0b47ec18ffdded3d3799d45d992b1dd9b24d397b6fbb89a0"
    "af324a8899d6391fd379efe9ff877a1783a7b63279ee0ea3d7e4d3e97e4f66f8c6c8287c54b9a2b4b856cc3dbcef05de"
    "b7261e984046e504addd60c3ee11f096842e54a743827fe0e374e93dfe57250a0720261c457cd406f0727f16f661f02b"
    "92596884e464619968c5bd05be2af56a9b5459e05963b30319d4296df9583a5a31eda27b4068892aff5fdf8bc0ab32c5"
    "34c0ce36b2abc957d9d0c2766b9ecb6e0eba67de13726986ee8dfafd43f4f12aa3e9170ca603581984ec4198fb88a1fe"
    "026267fa901d3cc2c89437309bb3d3174af2f85f57c3f7ed2bcfdfc2080901657156f9e24697b7b3629d70b31e6bc26a"
    "0d31e04660adee07a3809395"
)


def dictionary_of_full_length() -> tuple[Pieces, bytes]:
    """40,000 bytes, of which the last 32,768 begin with something that is nowhere else."""
    first = b"This is the first byte of the window that counts. "
    return [
        *binary(b"X" * (40_000 - WINDOW), "before the window"),
        *binary(first, "the window begins"),
        *binary(bytes(WINDOW - len(first)), "the rest of the window"),
    ], first


class Place:
    """Where the consumer stands: the part, how much of it is there, and its size."""

    def __init__(self, part: int = 0, offset: int = 0, size: int = 4096, before: Pieces | None = None) -> None:
        self.details = [("next-part", str(part)), ("next-offset", str(offset)), ("part-size", str(size))]
        self.before = before or []

    def sections(self, payload: Pieces) -> list[tuple[str, Pieces]]:
        return ([("before", self.before)] if self.before else []) + [("", payload)]


START = Place()
LATER = Place(offset=len(EARLIER), before=binary(EARLIER, "the part up to here"))


def good(name: str, about: str, place: Place, payload: Pieces, decoded: bytes) -> Vector:
    details = place.details + [
        ("decoded-size", str(len(decoded))),
        ("decoded-sha256", hashlib.sha256(decoded).hexdigest()),
    ]
    return Vector(f"block_{name}", about, "3.3", "block", None, details, place.sections(payload))


def bad(name: str, error: str, about: str, payload: Pieces, place: Place = START) -> Vector:
    return Vector(f"block_{name}", about, "3.3", "block", error, place.details, place.sections(payload))


def encoded(stream: bytes, size: int = len(DATA), encoding: int = ZLIB, offset: int = 0, part: int = 0) -> Pieces:
    return block(part, offset, size, encoding, stream)


def vectors() -> Iterator[Vector]:
    yield from stored()
    yield from deflated()
    yield from windowed()
    yield from broken_streams()
    yield from broken_windows()
    yield from wrong_fields()
    yield from wrong_places()


def stored() -> Iterator[Vector]:
    yield good("stored", "Encoding 0", START, block(0, 0, len(DATA), STORED, DATA), DATA)
    yield good("stored_one_byte", "The smallest block", START, block(0, 0, 1, STORED, b"S"), b"S")
    most = bytes(BLOCK_LIMIT)
    yield good("stored_at_limit", "The largest decoded size: 1,048,576", Place(size=2 * BLOCK_LIMIT), block(0, 0, BLOCK_LIMIT, STORED, most), most)
    yield bad("stored_too_short", "damaged", "Encoding 0 with one byte less than declared", block(0, 0, len(DATA), STORED, DATA[:-1]))
    yield bad("stored_too_long", "damaged", "Encoding 0 with one byte more than declared", block(0, 0, len(DATA), STORED, DATA + b"!"))
    last = Place(part=2, offset=4000, size=4000 + len(DATA))
    yield good("stored_at_end_of_part", "The block that completes a part", last, block(2, 4000, len(DATA), STORED, DATA), DATA)


def deflated() -> Iterator[Vector]:
    yield good("zlib", "Encoding 1, fixed Huffman codes with matches", START, encoded(compressed(DATA)), DATA)
    yield good("zlib_dynamic", "Encoding 1 as zlib writes it: dynamic Huffman codes", START, encoded(CUBES_BY_ZLIB, len(CUBES)), CUBES)
    plain = DeflateStream().stored(DATA).finished()
    yield good("zlib_not_compressed", "Encoding 1 around a stored deflate block", START, encoded(wrapped(plain, DATA)), DATA)
    several = DeflateStream().stored(DATA[:50], last=False).fixed(list(DATA[50:90]), last=False)
    several.stored(b"", last=False).fixed(matched(DATA[90:], DATA[:90]))
    yield good("zlib_several_deflate_blocks", "One zlib stream may have many deflate blocks, empty ones too", START, encoded(wrapped(several.finished(), DATA)), DATA)
    small = b"\x18\x19" + compressed(DATA)[2:]
    yield good("zlib_small_window", "The zlib header may say a smaller window: 512 bytes", START, encoded(small), DATA)
    most = bytes(BLOCK_LIMIT)
    yield good("zlib_encoded_at_limit", "A payload of 1,049,617 bytes, the longest that a BLOCK may have", Place(size=2 * BLOCK_LIMIT), encoded(longest_stream(most), BLOCK_LIMIT), most)


def longest_stream(data: bytes) -> bytes:
    """A zlib stream of exactly 1,049,600 bytes: stored deflate blocks, then as many empty ones as it takes."""
    stream = DeflateStream()
    for at in range(0, len(data), 65_535):
        stream.stored(data[at : at + 65_535], last=False)
    missing = ENCODED_LIMIT - 6 - len(data) - 5 * -(-len(data) // 65_535)
    for _ in range(missing % 5):  # an empty fixed block before an empty stored one: 6 bytes instead of 5
        stream.fixed([], last=False).stored(b"", last=False)
    for left in reversed(range((missing - 6 * (missing % 5)) // 5)):
        stream.stored(b"", last=left == 0)
    return wrapped(stream.finished(), data)


def windowed() -> Iterator[Vector]:
    stream = compressed(DATA, EARLIER)
    yield good("zlib_window", "Encoding 2: the dictionary is all of the part before the block", LATER, encoded(stream, encoding=ZLIB_WINDOW, offset=len(EARLIER)), DATA)
    before, first = dictionary_of_full_length()
    whole = joined(before)
    tokens: list[Token] = [(len(first), WINDOW), *b"and that was it"]
    data = first + b"and that was it"
    stream = wrapped(DeflateStream().fixed(tokens).finished(), data, whole[-WINDOW:])
    place = Place(offset=40_000, size=65_536, before=before)
    yield good("zlib_window_full", "Encoding 2: of 40,000 bytes the last 32,768 are the dictionary, and a match reaches its first byte", place, block(0, 40_000, len(data), ZLIB_WINDOW, stream), data)
    far = wrapped(DeflateStream().fixed(tokens).finished(), data, whole)
    yield bad("zlib_window_dictionary_too_long", "damaged", "Encoding 2 with a DICTID of all 40,000 bytes before the block", block(0, 40_000, len(data), ZLIB_WINDOW, far), place)
    exact = Place(offset=WINDOW, size=65_536, before=before[1:])
    stream = wrapped(DeflateStream().fixed(tokens).finished(), data, whole[-WINDOW:])
    yield good("zlib_window_exact", "Encoding 2 with exactly 32,768 bytes before the block", exact, block(0, WINDOW, len(data), ZLIB_WINDOW, stream), data)
    external = Place(part=1, offset=len(EARLIER), before=binary(EARLIER, "part 1 up to here"))
    yield good("zlib_window_external_file", "Encoding 2 in another part: the dictionary is of that part", external, encoded(compressed(DATA, EARLIER), encoding=ZLIB_WINDOW, offset=len(EARLIER), part=1), DATA)
    unused = compressed(b"0123456789", EARLIER)
    yield good("zlib_window_unused", "Encoding 2 without a match into the dictionary", LATER, encoded(unused, 10, ZLIB_WINDOW, len(EARLIER)), b"0123456789")


def broken_streams() -> Iterator[Vector]:
    stream = compressed(DATA)
    yield bad("zlib_adler", "damaged", "A wrong Adler-32", encoded(compressed(DATA, flip=1)))
    yield bad("zlib_trailing_byte", "damaged", "A byte after the zlib stream", encoded(stream + b"\0"))
    yield bad("zlib_two_streams", "damaged", "A second zlib stream after the first", encoded(compressed(DATA[:100]) + compressed(DATA[100:])))
    yield bad("zlib_ends_early", "damaged", "The zlib stream ends before its last deflate block", encoded(stream[:40]))
    yield bad("zlib_without_adler", "damaged", "The zlib stream ends before its Adler-32", encoded(stream[:-4]))
    yield bad("zlib_adler_cut", "damaged", "The zlib stream ends inside its Adler-32", encoded(stream[:-1]))
    yield bad("zlib_more_than_declared", "damaged", "Inflates to one byte more than declared", encoded(stream, len(DATA) - 1))
    yield bad("zlib_less_than_declared", "damaged", "Inflates to one byte less than declared", encoded(stream, len(DATA) + 1))
    zeros: list[Token] = [0, *[(258, 1)] * 254]
    bomb = wrapped(DeflateStream().fixed(zeros).finished(), bytes(1 + 254 * 258))
    yield bad("zlib_bomb", "damaged", "Declares 512 bytes and inflates to 65,533: stop at the 513th", encoded(bomb, 512))
    yield bad("zlib_nothing", "damaged", "A zlib stream of no bytes at all", encoded(compressed(b""), 1))
    yield bad("zlib_raw_deflate", "damaged", "Deflate without zlib's wrapping", encoded(stream[2:-4]))
    trailer = struct.pack("<II", zlib.crc32(DATA), len(DATA))
    gzip = b"\x1f\x8b\x08" + bytes(6) + b"\xff" + stream[2:-4] + trailer
    yield bad("zlib_gzip", "damaged", "gzip's wrapping instead of zlib's", encoded(gzip))
    yield bad("zlib_header_check", "damaged", "Wrong check bits in the zlib header", encoded(b"\x78\x02" + stream[2:]))
    yield bad("zlib_method", "damaged", "A compression method that is not deflate", encoded(b"\x77\x09" + stream[2:]))
    reserved = zlib_header() + b"\x07" + stream[-4:]
    yield bad("zlib_deflate_block_type", "damaged", "A deflate block of the reserved type 3", encoded(reserved))
    too_far = wrapped(DeflateStream().fixed([*DATA[:10], (10, 11), *DATA[20:]]).finished(), DATA)
    yield bad("zlib_match_too_far", "damaged", "A match that reaches before the first byte", encoded(too_far))


def broken_windows() -> Iterator[Vector]:
    offset = len(EARLIER)
    stream = compressed(DATA, EARLIER)
    yield bad("zlib_with_dictionary", "damaged", "Encoding 1 with FDICT", encoded(stream, offset=offset), LATER)
    plain = compressed(DATA)
    yield bad("zlib_window_without_dictionary", "damaged", "Encoding 2 without FDICT", encoded(plain, encoding=ZLIB_WINDOW, offset=offset), LATER)
    other = stream[:2] + b"\0\0\0\1" + stream[6:]
    yield bad("zlib_window_dictid", "damaged", "Encoding 2 with the DICTID of another dictionary", encoded(other, encoding=ZLIB_WINDOW, offset=offset), LATER)
    yield bad("zlib_window_adler", "damaged", "Encoding 2 with a wrong Adler-32", encoded(compressed(DATA, EARLIER, flip=1), encoding=ZLIB_WINDOW, offset=offset), LATER)
    yield bad("zlib_window_at_start", "protocol-violation", "Encoding 2 at offset 0, where there is no window", encoded(compressed(DATA, b""), encoding=ZLIB_WINDOW))


def wrong_fields() -> Iterator[Vector]:
    violation, feature = "protocol-violation", "feature-not-supported"
    for number, about in [(3, "Encoding 3, not in the registry"), (16, "Encoding 16, not in the registry"), (9, "Encoding 9, not in the registry"), (255, "Encoding 255, not in the registry")]:
        yield bad(f"encoding_{number}", feature, about, encoded(DATA, encoding=number))
    yield bad("encoding_delta", feature, "Encoding 32 is reserved", encoded(DATA, encoding=DELTA))
    yield bad("size_0", violation, "Decoded size 0", encoded(compressed(b""), 0))
    over = Place(size=2 * BLOCK_LIMIT)
    yield bad("size_over_limit", violation, "Decoded size 1,048,577", block(0, 0, BLOCK_LIMIT + 1, STORED, bytes(BLOCK_LIMIT + 1)), over)
    yield bad("size_4_gib", violation, "Decoded size 4,294,967,295: nothing may be allocated for it", encoded(compressed(DATA), 0xFFFF_FFFF), over)
    yield bad("nothing_encoded", violation, "17 bytes: no encoded bytes", encoded(b""))
    yield bad("cut_in_fields", violation, "16 bytes: not even an encoding", binary(joined(encoded(b""))[:16], "BLOCK payload, cut"))
    yield bad("empty", violation, "A BLOCK without a payload", [])


def wrong_places() -> Iterator[Vector]:
    violation = "protocol-violation"
    here = Place(part=1, offset=512, size=1024)

    def at(part: int, offset: int, size: int = 512) -> Pieces:
        return block(part, offset, size, STORED, bytes(size))

    yield good("next_in_order", "The block that is expected, for comparison with the next ones", here, at(1, 512), bytes(512))
    yield bad("gap", violation, "It begins one byte after the end of the one before", at(1, 513, 511), here)
    yield bad("overlap", violation, "It begins one byte before the end of the one before", at(1, 511), here)
    yield bad("repeated", violation, "The block before once more", at(1, 0), here)
    yield bad("offset_over_2_63", violation, "An offset that is negative where integers are signed", at(1, 0xFFFF_FFFF_FFFF_FE00), here)
    yield bad("offset_wraps", violation, "Offset and size together wrap around to 0", at(1, 0xFFFF_FFFF_FFFF_FFFF, 1), here)
    yield bad("over_part_size", violation, "It ends one byte after the end of the part", at(1, 512, 513), here)
    yield bad("earlier_part", violation, "A part that is complete", at(0, 512), here)
    yield bad("later_part", violation, "The next part before this one is complete", at(2, 0), here)
    yield bad("part_over_2_31", violation, "A part that no manifest can have", at(0xFFFF_FFFF, 512), here)
