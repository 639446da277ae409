"""Data of a part in `blocks` (section 3.4), each with the place where the consumer stands when it comes."""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterator

from encoder.deflate import DeflateStream, Token, compressed, matched, wrapped, zlib_header
from encoder.piece import Pieces, binary, joined
from encoder.vector import Vector
from encoder.wire import (
    BLOCK_LIMIT, ENCODED_LIMIT, STORED, WINDOW, ZLIB, ZLIB_WINDOW, block,
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
    """Where the consumer stands: how much of the part is there, and its size; and whether the DATA is flagged as the last."""

    def __init__(self, offset: int = 0, size: int = 4096, before: Pieces | None = None, last: bool = False) -> None:
        self.details = [("next-offset", str(offset)), ("part-size", str(size)), ("last", "true" if last else "false")]
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
    return Vector(f"block_{name}", about, "3.4", "block", None, details, place.sections(payload))


def bad(name: str, error: str, about: str, payload: Pieces, place: Place = START) -> Vector:
    return Vector(f"block_{name}", about, "3.4", "block", error, place.details, place.sections(payload))


def encoded(stream: bytes, size: int = len(DATA), form: int = ZLIB) -> Pieces:
    return block(size, form, stream)


def vectors() -> Iterator[Vector]:
    yield from stored()
    yield from deflated()
    yield from windowed()
    yield from broken_streams()
    yield from broken_windows()
    yield from wrong_fields()
    yield from wrong_places()


def stored() -> Iterator[Vector]:
    yield good("stored", "Form 0", START, block(len(DATA), STORED, DATA), DATA)
    yield good("stored_one_byte", "The smallest block", START, block(1, STORED, b"S"), b"S")
    most = bytes(BLOCK_LIMIT)
    yield good("stored_at_limit", "The largest decoded size: 1,048,576", Place(size=2 * BLOCK_LIMIT), block(BLOCK_LIMIT, STORED, most), most)
    yield bad("stored_too_short", "damaged", "Form 0 with one byte less than declared", block(len(DATA), STORED, DATA[:-1]))
    yield bad("stored_too_long", "damaged", "Form 0 with one byte more than declared", block(len(DATA), STORED, DATA + b"!"))
    last = Place(offset=4000, size=4000 + len(DATA), last=True)
    yield good("stored_at_end_of_part", "The block that completes a part", last, block(len(DATA), STORED, DATA), DATA)


def deflated() -> Iterator[Vector]:
    yield good("zlib", "Form 1, fixed Huffman codes with matches", START, encoded(compressed(DATA)), DATA)
    yield good("zlib_dynamic", "Form 1 as zlib writes it: dynamic Huffman codes", START, encoded(CUBES_BY_ZLIB, len(CUBES)), CUBES)
    plain = DeflateStream().stored(DATA).finished()
    yield good("zlib_not_compressed", "Form 1 around a stored deflate block", START, encoded(wrapped(plain, DATA)), DATA)
    several = DeflateStream().stored(DATA[:50], last=False).fixed(list(DATA[50:90]), last=False)
    several.stored(b"", last=False).fixed(matched(DATA[90:], DATA[:90]))
    yield good("zlib_several_deflate_blocks", "One zlib stream may have many deflate blocks, empty ones too", START, encoded(wrapped(several.finished(), DATA)), DATA)
    small = b"\x18\x19" + compressed(DATA)[2:]
    yield good("zlib_small_window", "The zlib header may say a smaller window: 512 bytes", START, encoded(small), DATA)
    most = bytes(BLOCK_LIMIT)
    yield good("zlib_encoded_at_limit", "1,049,600 encoded bytes, the most that a block may have", Place(size=2 * BLOCK_LIMIT), encoded(longest_stream(most), BLOCK_LIMIT), most)


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
    yield good("zlib_window", "Form 2: the dictionary is all of the part before the block", LATER, encoded(stream, form=ZLIB_WINDOW), DATA)
    before, first = dictionary_of_full_length()
    whole = joined(before)
    tokens: list[Token] = [(len(first), WINDOW), *b"and that was it"]
    data = first + b"and that was it"
    stream = wrapped(DeflateStream().fixed(tokens).finished(), data, whole[-WINDOW:])
    place = Place(offset=40_000, size=65_536, before=before)
    yield good("zlib_window_full", "Form 2: of 40,000 bytes the last 32,768 are the dictionary, and a match reaches its first byte", place, block(len(data), ZLIB_WINDOW, stream), data)
    far = wrapped(DeflateStream().fixed(tokens).finished(), data, whole)
    yield bad("zlib_window_dictionary_too_long", "damaged", "Form 2 with a DICTID of all 40,000 bytes before the block", block(len(data), ZLIB_WINDOW, far), place)
    exact = Place(offset=WINDOW, size=65_536, before=before[1:])
    stream = wrapped(DeflateStream().fixed(tokens).finished(), data, whole[-WINDOW:])
    yield good("zlib_window_exact", "Form 2 with exactly 32,768 bytes before the block", exact, block(len(data), ZLIB_WINDOW, stream), data)
    unused = compressed(b"0123456789", EARLIER)
    yield good("zlib_window_unused", "Form 2 without a match into the dictionary", LATER, encoded(unused, 10, ZLIB_WINDOW), b"0123456789")


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
    stream = compressed(DATA, EARLIER)
    yield bad("zlib_with_dictionary", "damaged", "Form 1 with FDICT", encoded(stream), LATER)
    plain = compressed(DATA)
    yield bad("zlib_window_without_dictionary", "damaged", "Form 2 without FDICT", encoded(plain, form=ZLIB_WINDOW), LATER)
    other = stream[:2] + b"\0\0\0\1" + stream[6:]
    yield bad("zlib_window_dictid", "damaged", "Form 2 with the DICTID of another dictionary", encoded(other, form=ZLIB_WINDOW), LATER)
    yield bad("zlib_window_adler", "damaged", "Form 2 with a wrong Adler-32", encoded(compressed(DATA, EARLIER, flip=1), form=ZLIB_WINDOW), LATER)
    yield bad("zlib_window_at_start", "protocol-violation", "Form 2 in the first block, where there is no window", encoded(compressed(DATA, b""), form=ZLIB_WINDOW))


def wrong_fields() -> Iterator[Vector]:
    violation = "protocol-violation"
    for form in (3, 16, 255):
        yield bad(f"form_{form}", violation, f"Form {form}, of which there is none", encoded(DATA, form=form))
    yield bad("size_0", violation, "Decoded size 0", encoded(compressed(b""), 0))
    over = Place(size=2 * BLOCK_LIMIT)
    yield bad("size_over_limit", violation, "Decoded size 1,048,577", block(BLOCK_LIMIT + 1, STORED, bytes(BLOCK_LIMIT + 1)), over)
    yield bad("size_4_gib", violation, "Decoded size 4,294,967,295: nothing may be allocated for it", encoded(compressed(DATA), 0xFFFF_FFFF), over)
    yield bad("encoded_over_limit", violation, "1,049,601 encoded bytes", block(BLOCK_LIMIT, STORED, bytes(ENCODED_LIMIT + 1)), over)
    yield bad("nothing_encoded", violation, "5 bytes: no encoded bytes", encoded(b""))
    yield bad("cut_in_fields", violation, "4 bytes: not even a size", binary(joined(encoded(b""))[:4], "a block, cut"))
    yield bad("one_byte", violation, "1 byte: a form", binary(b"\0", "a block, cut"))


def wrong_places() -> Iterator[Vector]:
    violation = "protocol-violation"

    def at(size: int) -> Pieces:
        return block(size, STORED, bytes(size))

    middle, last = Place(offset=512, size=1024), Place(offset=512, size=1024, last=True)
    yield good("in_the_middle", "A block that does not end the part, for comparison with the next ones", middle, at(511), bytes(511))
    yield good("completes_part", "A block that does, and is flagged", last, at(512), bytes(512))
    yield bad("over_part_size", violation, "It ends one byte after the part", at(513), middle)
    yield bad("over_part_size_last", violation, "It ends one byte after the part, and is flagged", at(513), last)
    yield bad("last_too_early", violation, "It is flagged, and ends one byte before the part", at(511), last)
    yield bad("last_not_flagged", violation, "It ends with the part, and is not flagged", at(512), middle)
    whole = Place(offset=0, size=512, last=True)
    yield good("whole_part", "A part in one block", whole, at(512), bytes(512))
    near = Place(offset=281_474_976_579_584 - 512, size=281_474_976_579_584, last=True)
    yield good("end_of_largest_part", "The last block of the largest store there can be", near, at(512), bytes(512))
    yield bad("over_largest_part", violation, "One byte beyond it", at(513), near)
