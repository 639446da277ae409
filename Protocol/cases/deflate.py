"""`DEFLATE.md`: streams as zlib makes them, and what has to be known to make them again.

These streams alone come from the zlib of Python, of 1.2.11 to 1.3.1: it is the one that the page describes.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator
from itertools import count

from encoder.piece import Piece, Pieces, binary, joined, text
from encoder.vector import Vector

RAW, ZLIB, GZIP = "raw", "zlib", "gzip"
CHAINS = {1: 4, 2: 8, 3: 32, 4: 16, 5: 32, 6: 128, 7: 256, 8: 1024, 9: 4096}
GOOD = {5: 8, 6: 8, 7: 8, 8: 32, 9: 32}
NICE = {1: 8, 2: 16, 3: 32, 4: 16, 5: 32, 6: 128, 7: 128, 8: 258, 9: 258}
LAZY = {1: 4, 2: 5, 3: 6, 4: 4, 5: 16, 6: 16, 7: 32, 8: 128, 9: 258}
GREEDY = (1, 2, 3)
MARGIN = 262
RECIPE = b"Peel the beetroot, cut the beetroot into cubes; peel and cut the carrots. Fry the onions, then the carrots, then the beetroot. "
CUBES = " ".join(str(number**3) for number in range(100, 160))
GZIP_HEAD = 10


def vector(
    name: str, about: str, covers: str, content: Pieces, level: int = 6, memory: int = 8, window: int = 15,
    wrapping: str = RAW, head: bytes | None = None,
) -> Vector:  # fmt: skip
    """`head`: of a gzip stream, where it is not the one that zlib writes."""
    stream = made(joined(content), level, memory, window, wrapping)
    details = [("level", str(level)), ("memory-level", str(memory)), ("window-bits", str(window)), ("wrapping", wrapping)]
    sections = [("content", content)]
    if wrapping == GZIP:
        written, head = stream[:GZIP_HEAD], head or stream[:GZIP_HEAD]
        stream = head + stream[len(written) :]
        sections.append(("head", binary(head)))
    sections.append(("stream", binary(stream)))
    return Vector(f"deflate_{name}", about, covers, "deflate", None, details, sections)


def made(data: bytes, level: int, memory: int, window: int, wrapping: str) -> bytes:
    bits = {RAW: -window, ZLIB: window, GZIP: window + 16}[wrapping]
    deflater = zlib.compressobj(level, zlib.DEFLATED, bits, memory)
    return deflater.compress(data) + deflater.flush()


def noise(size: int) -> bytes:
    """The same everywhere, and no deflater makes it smaller."""
    digests = (hashlib.sha256(str(number).encode()).digest() for number in count())
    data = b""
    while len(data) < size:
        data += next(digests)
    return data[:size]


def strided(values: int, rounds: int) -> bytes:
    """Each value once a round, and no three of them in the same order twice."""
    return bytes(number * stride % values for stride in (1, 5, 11)[:rounds] for number in range(values))


def zeros(size: int) -> Pieces:
    return binary(bytes(size))


def vectors() -> Iterator[Vector]:
    yield from levels()
    yield from windows()
    yield from parsing()
    yield from memory_levels()
    yield from block_ends()
    yield from forms()
    yield from wrappings()


def levels() -> Iterator[Vector]:
    for level in range(1, 10):
        about = f"Level {level}: a longer match is the last candidate that is looked at, and the next one that is not"
        chains = chain(b"-abcde", CHAINS[level]) + chain(b"-klmno", CHAINS[level] + 1)
        if level in GOOD:
            about += "; the same where the match before is good, and where it is almost good"
            fourth = CHAINS[level] // 4
            for letters, length, place in [
                (b"pqrs", GOOD[level], fourth), (b"tuvw", GOOD[level], fourth + 1), (b"fghi", GOOD[level] - 1, fourth + 1),
            ]:  # fmt: skip
                chains += good(letters, length, place)
        yield vector(f"level_{level}_chain", about, "2.4", chains, level)
        about = f"Level {level}: lengths of *nice* and *lazy*, and of one less; what is longer stands there too"
        lengths = nice(b"ab", NICE[level]) + nice(b"cd", NICE[level] - 1)
        if level in GREEDY:
            lengths += entered(b"efghijklmno", LAZY[level]) + entered(b"pqrstuvwxyz", LAZY[level] + 1)
        else:
            lengths += improved(b"efg", LAZY[level]) + improved(b"hij", LAZY[level] - 1)
        yield vector(f"level_{level}_lengths", about, "2.4, 3.1" if level in GREEDY else "2.4, 3.2", lengths, level)


def chain(letters: bytes, place: int) -> Pieces:
    """The letters but for the first, and again: the candidate at that place, behind those that have three bytes alone."""
    first, rest = letters[:1], letters[1:]
    if place <= CHAINS[3] + 1:
        between = b"".join(rest[:3] + bytes([0x80 + number]) for number in range(place - 1))
    else:
        between = (rest[:3] + b"#") * (place - 1)
    return [Piece(first + rest + b"!"), *binary(between), Piece(b"?" + rest + b"?!")]


def good(letters: bytes, length: int, place: int) -> Pieces:
    """A match of this length, and a longer one at its second byte: the candidate at that place."""
    rest = bytes(length - 3)
    held, longer = letters[:3] + rest, letters[1:3] + rest + letters[3:] * 3
    between = (letters[1:3] + b"\0#") * (place - 2)
    return [*binary(b"<" + longer + b">"), *binary(between), *binary(b"[" + held + b"]" + letters[:1] + longer + b"{}")]


def nice(letters: bytes, length: int) -> Pieces:
    """A match of this length, before which there is a longer one."""
    far = zeros(258 - len(letters))
    near = zeros(length - len(letters))
    return [Piece(b"<" + letters), *far, Piece(b">[" + letters), *near, Piece(b"]?" + letters), *far, Piece(b"{}")]


def improved(letters: bytes, length: int) -> Pieces:
    """A match of this length, and one longer by two at its second byte."""
    short, long = zeros(length - len(letters)), zeros(length - len(letters) + 3)
    return [
        Piece(b"<" + letters[1:]), *long, Piece(b">[" + letters), *short, Piece(b"]?" + letters), *long, Piece(b"{}"),
    ]  # fmt: skip


def entered(letters: bytes, length: int) -> Pieces:
    """A match of this length, and then what stands in its middle, once before it."""
    text = letters[:length]
    return binary(text + b"0" + text + b"1" + text[1:] + b"1" + text[1:] + b"0?")


def windows() -> Iterator[Vector]:
    for bits in (9, 10, 12, 15):
        size = 1 << bits
        far = size - MARGIN
        content = [
            *zeros(size), *apart(b"abc", far), *apart(b"def", far + 1),
            *twice(b"ghi", far), *twice(b"jkl", far - 1), *zeros(size), *binary(RECIPE),
        ]  # fmt: skip
        about = f"Window bits {bits}: matches at the distance D, and one farther; the second candidate at D, and one nearer"
        yield vector(f"window_{bits}", about, "2.1, 2.3", content, 6, 8, bits)
    at = 2 * 512 - MARGIN
    mark = binary(b"XYZ")
    for name, end, about in [
        ("base_near_end", 262, "Near the end of the content a position that becomes the base is no candidate"),
        ("base_far_from_end", 263, "The same position, and one byte more of content: it is a candidate"),
    ]:
        content = [*zeros(512), *mark, *zeros(at - 512 - 3), *mark, *zeros(end - 3 - 1)]
        yield vector(name, about, "2.1, 2.3", content, 6, 8, 9)
    content = binary(b"abcdeXabcdeYabcde")
    yield vector("position_0", "Position 0 is no candidate, position 1 is one", "2.3", content)
    content = binary(b"abcdXabceYabcdZ")
    yield vector("position_0_second", "Position 0 is no candidate behind another one either", "2.3", content)
    yield vector("text_in_small_window", "Text, and a base that moves", "2.1, 2.3", [*text(RECIPE), *zeros(700), *text(RECIPE), *zeros(300), *text(RECIPE)], 9, 9, 9)


def apart(letters: bytes, distance: int) -> Pieces:
    return [Piece(letters), *zeros(distance - len(letters)), Piece(letters)]


def twice(letters: bytes, distance: int) -> Pieces:
    """The longer of two candidates at this distance."""
    return [
        Piece(letters + b"!"), *zeros(distance - 10), Piece(letters + b"?.."), Piece(letters + b"!"),
    ]  # fmt: skip


def parsing() -> Iterator[Vector]:
    for name, level, distance, about in [
        ("three_at_4096", 6, 4096, "A match of three bytes at distance 4096"),
        ("three_at_4097", 6, 4097, "A match of three bytes at distance 4097: none"),
        ("three_at_4097_greedy", 3, 4097, "Greedy parsing takes a match of three bytes at any distance"),
    ]:
        yield vector(name, about, "3.1" if level in GREEDY else "3.2", [*binary(b"-"), *apart(b"abc", distance)], level)
    yield vector("four_at_4097", "A match of four bytes at distance 4097", "3.2", [*binary(b"-"), *apart(b"abcd", 4097)])
    yield vector("nothing", "No content", "3, 4, 5", [], 9)
    yield vector("one_byte", "One byte, which is held back to the end", "3.2", binary(b"a"))
    yield vector("three_bytes_left", "A match of the last three bytes", "2.2", binary(b"-abc+abc"))
    yield vector("two_bytes_left", "The last two bytes are no match", "2.2", binary(b"-abc+ab"))


def memory_levels() -> Iterator[Vector]:
    for memory in range(1, 10):
        bits = memory + 7
        step = (bits + 2) // 3
        top = bits - 2 * step
        content: Pieces = []
        for letters, others in [(b"abcde", 3), (b"klmno", 4)]:
            content += colliding(letters, others, 0, 1, 1 << step)
            content += colliding(letters.upper(), others, 1 << top, 0, 0)
        about = f"Memory level {memory}: three candidates with the hash of others hide nothing at level 1, four do"
        yield vector(f"memory_level_{memory}", about, "2.2, 2.3", content, 1, memory)


def colliding(letters: bytes, others: int, first: int, second: int, third: int) -> Pieces:
    """The letters, other ones whose first three have the same hash, the letters again."""
    other = bytes([letters[0] ^ first, letters[1] ^ second, letters[2] ^ third])
    between = b"".join(bytes([0xF0 + number]) + other + bytes([0xE0 + number]) for number in range(others))
    return binary(b"!" + letters + between + b"?" + letters + b".")


def block_ends() -> Iterator[Vector]:
    """With memory level 1 a block has 127 symbols, with 2 it has 255."""
    yield vector("matches_fill_block", "A block that matches fill, in greedy parsing; an empty one behind it", "4", zeros(2 + 125 * 258), 1, 1)
    yield vector("matches_fill_block_lazy", "The same in lazy parsing", "4", zeros(2 + 125 * 258), 4, 1)
    for most in (126, 127, 128):
        content = binary(noise(most))
        yield vector(f"literals_{most}", f"{most} literals, greedily", "4", content, 1, 1)
        yield vector(f"literals_{most}_lazy", f"{most} literals, the last one held back to the end", "4", content, 4, 1)
    yield vector("longer_block", "More than 64 KiB, and a block of 255 symbols", "4", [*zeros(70_000), *binary(RECIPE), *binary(noise(200))], 5, 2)
    yield vector("not_at_hand", "Of three blocks the last but one would be smaller if it were stored, but the window has moved on", "4, 5", binary(noise(770)), 6, 2, 9)
    for level, name in [(6, "lazy"), (1, "greedy")]:
        yield vector(f"moved_at_the_end_{name}", "The window moves on in the step in which the content ends", "2.1, 4, 5", binary(noise(762)), level, 9, 9)
    yield vector("at_hand", "One byte less: the block is stored", "2.1, 4, 5", binary(noise(761)), 6, 9, 9)


def forms() -> Iterator[Vector]:
    yield vector("fixed", "A block with the fixed codes", "5", text(RECIPE[:40]))
    yield vector("own_codes", "A block with codes of its own", "5, 6, 7", text(CUBES))
    yield vector("stored", "A stored block", "5", binary(noise(100)))
    yield vector("all_forms", "Blocks of several forms, a stored one in the middle of a byte", "5", [*text(RECIPE + RECIPE[3:90]), *binary(noise(260)), *text(RECIPE)], 6, 1)
    letters = strided(64, 3)
    for distance in (1, 2, 3):
        tail = binary(b"\xFD\xFE\xFF"[:distance] * 200)
        yield vector(f"one_distance_{distance}", f"Codes of its own, and {distance} as the one distance: another one is there to make two", "6", [*binary(letters), *tail])
    yield vector("no_distance", "Codes of its own, and no distance: two are there", "6, 7", binary(letters))
    yield vector("run_of_fewer", "Runs of equal code lengths behind one of the same length", "7", binary(strided(26, 2)))
    yield vector("runs_apart", "Equal code lengths at the end of one code and at the beginning of the other", "7", binary(bytes(byte % 2 for byte in noise(81))))
    for high, about in [(14, "The fixed codes take one byte less than a stored block"), (15, "The fixed codes take as much as a stored block: it is stored")]:
        yield vector(f"fixed_or_stored_{high}", about, "5", binary(bytes(range(48, 64)) + bytes(range(144, 144 + high))))
    for size in (44, 45, 46):
        yield vector(f"fixed_or_own_{size}", "About as many bytes with the fixed codes as with its own", "5", text(CUBES[:size]))
    content = bytes(byte % 5 if other % 3 else byte for byte, other in zip(noise(119), noise(6000)[::7]))
    yield vector("code_lengths_too_long", "A code for code lengths that is over its limit of 7", "6, 7", binary(content))


def wrappings() -> Iterator[Vector]:
    for level, window in [(1, 15), (2, 9), (5, 15), (6, 12), (7, 14), (9, 15)]:
        yield vector(f"zlib_{level}_{window}", f"Level {level} and window bits {window} in zlib's wrapping", "8.2", text(RECIPE), level, 8, window, ZLIB)
    yield vector("zlib_nothing", "No content in zlib's wrapping", "8.2", [], 6, 8, 15, ZLIB)
    yield vector("gzip", "gzip's wrapping", "8.3", text(RECIPE), 6, 8, 15, GZIP)
    head = bytes.fromhex("1F8B0808000000000003") + b"recipe.txt\0"
    yield vector("gzip_with_name", "gzip's wrapping with a name", "8.3", text(RECIPE), 9, 8, 15, GZIP, head)
