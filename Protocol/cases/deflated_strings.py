"""Strings that are deflated (`COLUMNS.md` section 2, tag 11)."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from cases.lists import written
from cases.segment_vector import bad, bad_column, column_of
from encoder import segment as s
from encoder.property_lists import taken_apart
from encoder.sqlite_file import Value
from encoder.vector import Vector

CONTENT = b"dill, dill and dill; salt, salt and salt"
# Streams of zlib 1.2.13 for it, once: of level 1, and of levels 5 and above.
FAST = bytes.fromhex("4bc9ccc9d1514801920a8979296086b54271624e890e98040b82b800")
GOOD = bytes.fromhex("4bc9ccc9d1514801920a8979296086b54271624e890e98040b821800")
ADLER = bytes.fromhex("19f60de5")
CRC_AND_SIZE = bytes.fromhex("4ca872fd28000000")
RAW, ZLIB, GZIP, OTHER_GZIP, RAW_INSIDE, ZLIB_INSIDE, GZIP_INSIDE = range(7)
MOST = 1_048_576
MOST_CANDIDATES = 2_706
"""Bytes of `toss` for which fewer than 128 candidates for each are looked at; not so with one more."""


def vectors() -> Iterator[Vector]:
    yield from wrappers()
    yield from inside()
    yield from among_others()
    yield from refused()


def one(name: str, about: str, stream: bytes, way: int, content: bytes = CONTENT) -> Vector:
    return column_of(f"deflated_strings_{name}", about, [stream], s.plain(s.BLOB, s.deflated_strings(s.constant(way), s.lengths([content]))))


def wrappers() -> Iterator[Vector]:
    way = s.way_to_deflate
    yield one("raw", "A raw stream as zlib makes it at level 5", GOOD, way(5))
    yield one("raw_first", "The first of all ways: level 1, memory level 1, the largest window", FAST, way(1, 1))
    yield one("raw_last", "The last of the raw ones: level 9, memory level 9, the smallest window", GOOD, way(9, 9, 9))
    yield one("raw_nothing", "A stream of no bytes", b"\3\0", way(6), b"")
    for level, flags in [(1, 0x01), (2, 0x5E), (5, 0x5E), (6, 0x9C), (7, 0xDA), (9, 0xDA)]:
        stream = FAST if level == 1 else GOOD
        yield one(f"zlib_{level}", f"A zlib stream of level {level}", bytes([0x78, flags]) + stream + ADLER, way(level, wrapper=ZLIB))
    yield one("zlib_small_window", "A zlib stream with a window of 512 bytes", b"\x18\x95" + GOOD + ADLER, way(6, 8, 9, ZLIB))
    for level, flag in [(1, 4), (6, 0), (9, 2)]:
        for wrapper, system in [(GZIP, 3), (OTHER_GZIP, 19)]:
            stream = bytes([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, flag, system]) + (FAST if level == 1 else GOOD) + CRC_AND_SIZE
            yield one(f"gzip_{level}_system_{system}", f"A gzip stream of level {level}, from system {system}", stream, way(level, wrapper=wrapper))
    yield one("gzip_last", "The last of those for a whole string", bytes.fromhex("1f8b0800000000000213") + GOOD + CRC_AND_SIZE, 2268)


def inside() -> Iterator[Vector]:
    way = s.way_to_deflate
    zlib_stream = b"\x78\x9c" + GOOD + ADLER

    def around(name: str, about: str, strings: list[bytes], ways: list[int], contents: list[bytes], heads: list[bytes], tails: list[bytes]) -> Vector:
        numbers = s.constant(ways[0]) if len(set(ways)) == 1 else s.varints(ways)
        part = s.deflated_strings(numbers, s.lengths(contents), s.lengths(heads), s.lengths(tails))
        return column_of(f"deflated_strings_{name}", about, list(strings), s.plain(s.BLOB, part))

    def inner(name: str, about: str, string: bytes, number: int, head: bytes, tail: bytes) -> Vector:
        return around(f"inside_{name}", about, [string], [number], [CONTENT], [head], [tail])

    yield inner("raw", "A raw stream behind a byte", b"\1" + GOOD, way(5, wrapper=RAW_INSIDE), b"\1", b"")
    yield inner("raw_tail", "A raw stream before a byte", GOOD + b"\1", way(5, wrapper=RAW_INSIDE), b"", b"\1")
    sized = b"\0\0\0\x28" + zlib_stream
    yield inner("zlib", "A zlib stream behind the size of what is in it", sized, way(6, wrapper=ZLIB_INSIDE), sized[:4], b"")
    named = b"\x1f\x8b\x08\x08\x01\x02\x03\x04\0\xffdill.txt\0"
    yield inner("gzip", "A gzip stream with a name, a time and no system", named + GOOD + CRC_AND_SIZE, way(6, wrapper=GZIP_INSIDE), named, b"")
    framed = b"v1" + named
    yield inner("gzip_tail", "The same between other bytes", framed + GOOD + CRC_AND_SIZE + b"end", way(6, wrapper=GZIP_INSIDE), framed, b"end")
    last = named + GOOD + CRC_AND_SIZE
    yield inner("last", "The last of all ways", last, 3969, named, b"")
    ways = [0, way(6, wrapper=ZLIB_INSIDE), way(5), way(1, wrapper=RAW_INSIDE)]
    whole = [b"salt", b"<" + zlib_stream + b">", GOOD, b"(" + FAST + b")"]
    yield around("inside_or_not", "Streams inside strings, streams and other strings", whole, ways, [b"salt", CONTENT, CONTENT, CONTENT], [b"<", b"("], [b">", b")"])
    rest = s.deflated_strings(s.constant(way(1)), s.lengths([CONTENT]))
    both = s.deflated_strings(s.constant(way(6, wrapper=ZLIB_INSIDE)), s.lengths([CONTENT]), s.lengths([b""]), rest)
    yield column_of("deflated_strings_inside_twice", "Two streams in one string", [zlib_stream + FAST], s.plain(s.BLOB, both))


def among_others() -> Iterator[Vector]:
    way = s.way_to_deflate
    values: list[Value] = [b"salt", GOOD, b"", FAST]
    ways = s.varints([0, way(5), 0, way(1)])
    yield column_of("deflated_strings_or_not", "Strings that are not deflated stand among them", values, s.plain(s.BLOB, s.deflated_strings(ways, s.lengths([b"salt", CONTENT, b"", CONTENT]))))
    # The stream of zlib 1.2.13 at level 9 for GOOD.
    twice = bytes.fromhex("f33e79e6e4c5400fc6495c9d959a096d5b9d0a93fc3af966b0703749300000")
    inner = s.deflated_strings(s.constant(way(5)), s.lengths([CONTENT]))
    yield column_of("deflated_strings_twice", "A stream of a stream", [twice], s.plain(s.BLOB, s.deflated_strings(s.constant(way(9)), inner)))
    deflater = zlib.compressobj(9, zlib.DEFLATED, -15, 1)
    tossed = deflater.compress(toss(MOST_CANDIDATES)) + deflater.flush()
    yield one("most_candidates", "Fewer than 128 candidates for each byte are looked at, just so", tossed, way(9, 1), toss(MOST_CANDIDATES))
    # The stream of zlib 1.2.13 at level 5 for the list of {"name": "dill"}.
    stream = bytes.fromhex("4b2ac8c92c2e3130b8c8c8149297989b1a92929993c3c12dc000068c8c109a81990115880200")
    parts = s.deflated_strings(s.constant(way(5)), taken_apart([written({"name": "dill"})]).part())
    yield column_of("deflated_strings_of_lists", "A property list that is taken apart, within a stream", [stream], s.plain(s.BLOB, parts))


def refused() -> Iterator[Vector]:
    def wrong(name: str, about: str, way: int) -> Vector:
        return bad_column(f"deflated_strings_{name}", about, 1, s.plain(s.BLOB, s.deflated_strings(s.constant(way), s.lengths([CONTENT]))))

    yield wrong("way_3970", "A way that there is not", 3970)
    lone = s.deflated_strings(s.constant(s.way_to_deflate(6, wrapper=ZLIB_INSIDE)), s.lengths([CONTENT]), s.lengths([b"<"]))
    yield bad_column("deflated_strings_without_tails", "Heads, and no tails", 1, s.plain(s.BLOB, lone))
    yield wrong("way_negative", "A way below 0", -1)
    long = s.deflated_strings(s.constant(s.way_to_deflate(1)), s.lengths([bytes(MOST + 1)]))
    yield bad_column("deflated_strings_too_long", "A string of 1,048,577 bytes", 1, s.plain(s.BLOB, long))
    zeros = s.front(s.varints([0, *[MOST] * 7, 1]), s.lengths([b""], s.varints([MOST, *[0] * 8])))
    yield many("too_long_together", "8,388,609 bytes at level 1, all together", s.way_to_deflate(1), 9, zeros, MOST)
    tossed = s.deflated_strings(s.constant(s.way_to_deflate(9, 1)), s.lengths([toss(MOST_CANDIDATES + 1)]))
    yield bad_column("deflated_strings_too_many_candidates", "346,527 candidates are looked at for 2,707 bytes", 1, s.plain(s.BLOB, tossed))


def toss(size: int) -> bytes:
    """Bytes of two kinds by chance, which have many candidates and few long matches."""
    state, found = 1, bytearray()
    for _ in range(size):
        state = (state * 1_103_515_245 + 12_345) % 2**31
        found.append((state >> 16) % 2 * 32)
    return bytes(found)


def many(name: str, about: str, way: int, count: int, zeros: s.Part, size: int) -> Vector:
    """Strings of zeros, which a segment holds as one match."""
    part = s.group(count, s.constant(1), s.plain(s.BLOB, s.deflated_strings(s.constant(way), zeros)))
    pieces = s.content(part, [s.Match(1, size - 1, 1)], b"\0", text_size=size)
    return bad(f"deflated_strings_{name}", about, segment=s.stored(pieces))
