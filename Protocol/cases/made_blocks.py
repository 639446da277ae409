"""Strings that are blocks of Snappy and LZ4 (`BLOCKS.md`)."""

from __future__ import annotations

from collections.abc import Iterator

from cases.segment_vector import Given, bad, bad_column, column_of, good
from encoder import segment as s
from encoder.sqlite_file import Value
from encoder.vector import Vector

NOTHING = s.parts()
NONE, SIZED, MARKED, INSIDE, MEASURED_INSIDE = range(5)
LZ4 = 8
SMALL_LZ4, STREAM_LZ4 = 3, 4
CONTENT = b"dill, dill and dill; salt, salt and salt"
# Blocks for it, once: of the crate snap 1.1, and of lz4 1.9.4; and a frame of the latter, with its checksums.
SNAPPY_BLOCK = bytes.fromhex("281464696c6c2c2001060c20616e640509503b2073616c742c2073616c7420616e642073616c74")
LZ4_BLOCK = bytes.fromhex("6064696c6c2c2006004120616e640900713b2073616c742c06009020616e642073616c74")
LZ4_FRAME = bytes.fromhex("04224d186c4028000000000000008f24000000") + LZ4_BLOCK + bytes.fromhex("000000008264af3c")
HEAD_OF_FRAME, TAIL_OF_FRAME = LZ4_FRAME[:15], LZ4_FRAME[-8:]
SIZE = b"\x28\0\0\0"
SALT = b"salt and salt, salt and dill, salt and dill."
"""The parser 0 takes: 9 literals and 4 bytes from 9 before; 1, and 5 from 6; 5 from 15; 4, and 15 from 15; and 1."""
MOST = 1_048_576

# What the parsers make of `spoken()`; 0 and 3 and 4 are those of the crate snap 1.1, of lz4 1.9.4, and of a stream of it.
BEGIN_SNAPPY = "c80118666c6f75722c2005075020616e64207468796d652c2064696c6c2c206567670515"
END_SNAPPY = "1462757474657209432820616e642073616c742c20"
BEGIN_LZ4 = "71666c6f75722c200700f10620616e64207468796d652c2064696c6c2c206567671500526c65656b2c1b0001100052637265616d2500081000"
SPOKEN = [
    BEGIN_SNAPPY + "106c65656b2c091b051010637265616d09252e10000d3c11360d0f0c73616c740d3d0933002c0d500156053f057e111c320d000123111909"
    "0c" + END_SNAPPY,
    BEGIN_SNAPPY + "106c65656b2c091b051010637265616d09252e10000d3c04656709360d0f0c73616c740d3d0933002c0d500156053f04666c05850974320d"
    "000123363500" + END_SNAPPY,
    BEGIN_SNAPPY + "146c65656b2c20051b051010637265616d09252e1000052119360d0f0c73616c740d3d0933002c0d500156053f0066098500640574320d00"
    "0123363500" + END_SNAPPY,
    BEGIN_LZ4 + "033c00043600030f004573616c741c00025800025000000600013f00017e00041c00090d00002300041900020c00626275747465720e00b020"
    "616e642073616c742c20",
    BEGIN_LZ4 + "033c00043600030f004573616c741c00025800025000416c65656b3f00017e00041c00090d00022900083500626275747465721a00b020616e"
    "642073616c742c20",
    BEGIN_SNAPPY + "106c65656b2c091b051010637265616d09252e10000d3c11360d0f0c73616c740d3d0933042c2009500106053f057e111c320d0001231119"
    "090c146275747465720943053d095f",
    BEGIN_SNAPPY + "106c65656b2c091b051010637265616d09252e1000052119360d0f0c73616c74151c0133002c0d5001060529057e111c320d000123360c00"
    "14627574746572090e053d095f",
    BEGIN_LZ4 + "033c00043600030f004373616c743d00023300222c205000000600013f00017e00041c00090d00002300041900020c00626275747465724300"
    "b020616e642073616c742c20",
    BEGIN_LZ4 + "012100063600030f004573616c741c00003300132c5000000600012900017e00041c00090d000023000a0c00626275747465720e00b020616e"
    "642073616c742c20",
]  # fmt: skip


def vectors() -> Iterator[Vector]:
    yield from compressors()
    yield from wrappers()
    yield from forms()
    yield from corrected()
    yield from refused()


def one(name: str, about: str, block: bytes, way: int, content: bytes, corrections: list[tuple[int, int, int, int]] | None = None) -> Vector:
    part = s.blocks(s.constant(way), s.lengths([content]), s.constant(len(corrections or [])), corrections=corrections)
    return column_of(f"strings_blocks_{name}", about, [block], s.plain(s.BLOB, part))


def compressors() -> Iterator[Vector]:
    for parser, block in enumerate(SPOKEN):
        form = LZ4 if parser in (3, 4, 7, 8) else 0
        yield one(f"parser_{parser}", f"What the parser {parser} takes", bytes.fromhex(block), s.way_to_block(parser, form), spoken())
    # Once of the crate snap 1.1 and of lz4 1.9.4: they skip more and more bytes that are like no others.
    rough = noise(150) + noise(150)[:40] + bytes(12)
    block = bytes.fromhex("ca01f095") + noise(150) + bytes.fromhex("9e96002c") + bytes(12)
    yield one("skipped_snappy", "Noise, of which Snappy skips some", block, s.way_to_block(0), rough)
    rough = noise(300) + noise(300)[:40] + bytes(12)
    block = bytes.fromhex("ffff1e") + noise(300) + bytes.fromhex("2c0115c0") + bytes(12)
    yield one("skipped_lz4", "Noise, of which LZ4 skips some", block, s.way_to_block(SMALL_LZ4, LZ4), rough)
    yield one("empty_snappy", "A block of Snappy of nothing", b"\0", s.way_to_block(0), b"")
    yield one("empty_lz4", "A block of LZ4 of nothing", b"\0", s.way_to_block(SMALL_LZ4, LZ4), b"")
    yield long("long_snappy", "66,000 bytes, of which Snappy knows nothing any more after 65,536", 0, long_snappy())
    # Once of lz4 1.9.4.
    yield long("long_lz4", "66,000 bytes of LZ4, as one piece", STREAM_LZ4, bytes.fromhex("2f61620200") + b"\xff" * 258 + bytes.fromhex("b8506261626162"), LZ4)


def long(name: str, about: str, parser: int, block: bytes, form: int = 0, corrections: list[tuple[int, int, int, int]] | None = None) -> Vector:
    """66,000 bytes, `abab...`, which a segment holds as one match."""
    part = s.blocks(
        s.constant(s.way_to_block(parser, form)), s.lengths([b"ab" * 33_000]), s.constant(len(corrections or [])), corrections=corrections
    )  # fmt: skip
    pieces = s.content(s.group(1, s.constant(1), s.plain(s.BLOB, part)), [s.Match(2, 65_998, 2)], b"ab", text_size=66_000)
    return good(f"strings_blocks_{name}", about, Given().rows([[block]]), segment=s.stored(pieces))


def long_snappy(second: bytes = b"") -> bytes:
    """Once of the crate snap 1.1: each piece is two literals and a copy."""
    first = literal(b"ab") + copy(64, 2) * 1023 + copy(62, 2)
    return s.varint(66_000) + first + (second or literal(b"ab") + copy(64, 2) * 7 + copy(14, 2))


def wrappers() -> Iterator[Vector]:
    def around(name: str, about: str, strings: list[Value], ways: list[int], contents: list[bytes], heads: list[bytes], tails: list[bytes]) -> Vector:
        counts = s.constant(0) if any(ways) else NOTHING
        inside = [s.lengths(heads), s.lengths(tails)] if heads else []
        part = s.blocks(s.varints(ways), s.lengths(contents), counts, *inside)
        return column_of(f"strings_blocks_{name}", about, strings, s.plain(s.BLOB, part))

    way, lz4 = s.way_to_block(0), s.way_to_block(SMALL_LZ4, LZ4)
    yield around("snappy", "A block of Snappy", [SNAPPY_BLOCK], [way], [CONTENT], [], [])
    yield around("lz4", "A block of LZ4", [LZ4_BLOCK], [lz4], [CONTENT], [], [])
    yield around("sized", "A block of LZ4 behind the size of its content", [SIZE + LZ4_BLOCK], [lz4 + 81 * SIZED], [CONTENT], [], [])
    yield around("marked", "A block of LZ4 as Mozilla writes it", [b"mozLz40\0" + SIZE + LZ4_BLOCK], [lz4 + 81 * MARKED], [CONTENT], [], [])
    yield around("inside", "A block of Snappy between a head and a tail", [b"v1" + SNAPPY_BLOCK + b"."], [way + 81 * INSIDE], [CONTENT], [b"v1"], [b"."])
    yield around("frame", "A frame of LZ4", [LZ4_FRAME], [lz4 + 81 * MEASURED_INSIDE], [CONTENT], [HEAD_OF_FRAME], [TAIL_OF_FRAME])
    yield around("last_way", "The last of all ways", [last_way()], [405], [CONTENT], [b"<"], [b">"])
    yield around("none", "No block at all", [b"salt", b""], [0, 0], [b"salt", b""], [], [])
    ways = [0, way + 81 * INSIDE, lz4, lz4 + 81 * MEASURED_INSIDE, 0]
    strings: list[Value] = [b"salt", b"(" + SNAPPY_BLOCK, LZ4_BLOCK, LZ4_FRAME, b""]
    yield around("or_not", "Blocks, blocks inside strings, and other strings", strings, ways, [b"salt", CONTENT, CONTENT, CONTENT, b""],
                 [b"(", HEAD_OF_FRAME], [b"", TAIL_OF_FRAME])  # fmt: skip
    inner = s.blocks(s.constant(way), s.lengths([CONTENT]), s.constant(0))
    twice = s.varint(len(SNAPPY_BLOCK)) + literal(SNAPPY_BLOCK)
    yield column_of("strings_blocks_twice", "A block of a block", [twice], s.plain(s.BLOB, s.blocks(s.constant(way), inner, s.constant(0))))


def last_way() -> bytes:
    """The parser 8 takes the same of `CONTENT` as LZ4 does."""
    return b"<" + len(LZ4_BLOCK).to_bytes(4, "little") + LZ4_BLOCK + b">"


def forms() -> Iterator[Vector]:
    text = b"ab" * 34 + noise(70)
    last = noise(70)
    run = bytes([60 << 2, 69]) + last
    pieces = literal(last[:60]) + literal(last[60:])
    copies = {0: copy(60, 2) + near(6, 2), 1: copy(64, 2) + copy(2, 2), 2: copy(60, 2) + copy(6, 2), 3: copy(64, 2) + copy(2, 2)}
    for form in range(8):
        block = s.varint(len(text)) + literal(b"ab") + copies[form & 3] + (pieces if form & 4 else run)
        yield one(f"form_{form}", f"A copy of 66 bytes and 70 literals in the form {form}", block, s.way_to_block(0, form), text)
    text = b"ab" * 37 + noise(20)
    for form, rest in [(0, near(8, 2)), (2, copy(8, 2))]:
        block = s.varint(len(text)) + literal(b"ab") + copy(64, 2) + rest + literal(noise(20))
        yield one(f"form_{form}_72", f"A copy of 72 bytes in the form {form}", block, s.way_to_block(0, form), text)
    far = noise(2048) + noise(2048)[:8] + bytes(16)
    block = s.varint(len(far)) + bytes([61 << 2, *(2047).to_bytes(2, "little")]) + noise(2048) + copy(8, 2048) + literal(bytes(16))
    yield one("far", "A copy of 8 bytes from 2,048 before, and 2,048 literals", block, s.way_to_block(0), far, [(0, 2048, 8, 2048), (0, 16, 0, 0)])


def corrected() -> Iterator[Vector]:
    def fixed(name: str, about: str, corrections: list[tuple[int, int, int, int]], *elements: bytes) -> Vector:
        return one(f"corrected_{name}", about, s.varint(len(SALT)) + b"".join(elements), s.way_to_block(0), SALT, corrections)

    first = literal(SALT[:9]) + near(4, 9)
    second = literal(SALT[13:14]) + near(5, 6)
    third, fourth, end = near(5, 15), literal(SALT[24:28]) + copy(15, 15), literal(SALT[43:])
    rest = third + fourth + end
    yield fixed("nothing", "As it is predicted", [], first, second, rest)
    yield fixed("later", "The first match is not taken, but the next with what the table has", [(0, 15, 0, 0), (0, 0, 5, 15)],
                literal(SALT[:15]), near(4, 6), near(5, 15), fourth, end)  # fmt: skip
    yield fixed("shorter", "The second match is shorter", [(1, 1, 4, 0), (0, 1, 5, 15)], first,
                literal(SALT[13:14]) + near(4, 6), literal(SALT[18:19]), near(5, 15), literal(SALT[24:28]), copy(15, 15), end)  # fmt: skip
    yield fixed("elsewhere", "The second match is from elsewhere", [(1, 2, 0, 15)], first, literal(SALT[13:15]), near(9, 15), fourth, end)
    yield fixed("end", "There is no match any more after the first", [(1, len(SALT) - 13, 0, 0)], first, literal(SALT[13:]))
    yield fixed("whole", "There is no match at all", [(0, len(SALT), 0, 0)], literal(SALT))
    second_piece = literal(b"ab") + copy(64, 2) + bytes([61 << 2, *(397).to_bytes(2, "little")]) + b"ab" * 199
    yield long("corrected_second_piece", "The second piece has a shorter match, and no other: the end of the first counts as an item", 0,
               long_snappy(second_piece), corrections=[(2, 2, 64, 0), (0, 398, 0, 0)])  # fmt: skip


def refused() -> Iterator[Vector]:
    def wrong(name: str, about: str, part: s.Part, *more: s.Part) -> Vector:
        return bad_column(f"strings_blocks_{name}", about, 1, *more, s.plain(s.BLOB, part))

    def made(way: int, *corrections: tuple[int, int, int, int], content: bytes = SALT, count: int | None = None) -> s.Part:
        counts = s.constant(len(corrections) if count is None else count)
        return s.blocks(s.constant(way), s.lengths([content]), counts, corrections=list(corrections))

    way = s.way_to_block(0)
    yield wrong("way_406", "A way that there is not", made(406))
    yield wrong("way_negative", "A way below 0", made(-1))
    yield wrong("count_negative", "Fewer than no corrections", made(way, count=-1))
    yield wrong("count_over_limit", "Six corrections for 44 bytes", made(way, *[(0, 5, 4, 1)] * 6))
    yield wrong("without_tails", "A head, and no tail",
                s.blocks(s.constant(s.way_to_block(0, wrapper=INSIDE)), s.lengths([CONTENT]), s.constant(0), s.lengths([b"<"])))  # fmt: skip
    size = len(SALT)
    for name, about, correction in [
        ("left", "A correction behind the end", (5, 0, 0, 0)),
        ("before_negative", "Fewer than no items before a correction", (-1, 9, 0, 0)),
        ("literals_negative", "Fewer than no literals", (0, -1, 4, 1)),
        ("literals_beyond", "More literals than are left", (0, size + 1, 0, 0)),
        ("length_negative", "A length below 0", (0, 9, -1, 9)),
        ("length_beyond", "A match that goes beyond the end", (0, 9, size - 8, 9)),
        ("length_none", "No byte that is alike", (0, 9, 0, 8)),
        ("distance_negative", "A distance below 0", (0, 9, 4, -1)),
        ("distance_beyond", "A match from before the beginning", (0, 9, 4, 10)),
        ("candidate_none", "A candidate that the table does not have", (0, 5, 4, 0)),
        ("match_at_end", "A match at the end", (0, size, 0, 1)),
    ]:
        yield wrong(name, about, made(way, correction))
    yield wrong("match_first", "A match before any byte", made(way, (0, 0, 4, 0)))
    yield wrong("lz4_of_3", "A match of three bytes in LZ4", made(s.way_to_block(SMALL_LZ4, LZ4), (0, 9, 3, 9)))
    yield too_far()
    yield many("too_long", "1,048,577 bytes", 1, MOST + 1, s.lengths([bytes(1)], s.constant(MOST + 1)))
    zeros = s.front(s.varints([0, *[MOST] * 7, 1]), s.lengths([b""], s.varints([MOST, *[0] * 8])))
    yield many("too_long_together", "8,388,609 bytes, all together", 9, MOST, zeros)


def too_far() -> Vector:
    part = s.blocks(
        s.constant(s.way_to_block(STREAM_LZ4, LZ4)), s.lengths([b"ab" * 33_000]), s.constant(1), corrections=[(0, 65_998, 2, 65_536)]
    )  # fmt: skip
    pieces = s.content(s.group(1, s.constant(1), s.plain(s.BLOB, part)), [s.Match(2, 65_998, 2)], b"ab", text_size=66_000)
    return bad("strings_blocks_too_far", "A distance of 65,536", segment=s.stored(pieces))


def many(name: str, about: str, count: int, size: int, zeros: s.Part) -> Vector:
    """Strings of zeros, which a segment holds as one match."""
    part = s.group(count, s.constant(1), s.plain(s.BLOB, s.blocks(s.constant(s.way_to_block(0)), zeros, s.constant(0))))
    pieces = s.content(part, [s.Match(1, size - 1, 1)], b"\0", text_size=size)
    return bad(f"strings_blocks_{name}", about, segment=s.stored(pieces))


# Elements of Snappy.


def literal(data: bytes) -> bytes:
    """Up to 60 bytes."""
    return bytes([len(data) - 1 << 2]) + data


def copy(length: int, distance: int) -> bytes:
    """In three bytes."""
    return bytes([length - 1 << 2 | 2]) + distance.to_bytes(2, "little")


def near(length: int, distance: int) -> bytes:
    """In two bytes."""
    return bytes([distance >> 8 << 5 | length - 4 << 2 | 1, distance & 255])


# Content by chance.


def noise(size: int) -> bytes:
    state, found = 1, bytearray()
    for _ in range(size):
        state = (state * 1_103_515_245 + 12_345) % 2**31
        found.append(state >> 16 & 255)
    return bytes(found)


def spoken() -> bytes:
    words = [b"dill", b"salt", b"butter", b"flour", b"leek", b"thyme", b"egg", b"cream"]
    state, found = 3, b""
    while len(found) < 200:
        state = (state * 1_103_515_245 + 12_345) % 2**31
        found += words[(state >> 16) % 8] + (b", " if state >> 20 & 3 else b" and ")
    return found[:200]
