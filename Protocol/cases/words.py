"""Literals in which bytes stand for words (`COLUMNS.md` section 2, "Words")."""

from __future__ import annotations

from collections.abc import Iterator

from cases.segment_vector import Given, bad, good
from encoder import segment as s
from encoder.piece import Piece, Pieces
from encoder.vector import Vector

TEXT = b"salt and pepper, pepper and salt"
CODES = b"\x01\x7f\xfe\xff"
"""Two for a word alone, one for pairs, and the one for the byte after it."""
WORDS = [b" and ", b"pepper", b"salt", b"saltpetre"]
CODED = b"\xfe\x01\x01\x7f, \x7f\x01\xfe\x01"


def segment(text: bytes, literals: bytes, form: int = 4, matches: list[s.Match] | None = None) -> Pieces:
    whole = s.content(s.chunk(text), matches, literals)
    return s.deflated(whole, form=form) if form & 1 else s.stored(whole, form)


def vectors() -> Iterator[Vector]:
    yield from spelled()
    yield from refused()


def spelled() -> Iterator[Vector]:
    def of(name: str, about: str, text: bytes, literals: bytes, **more: object) -> Vector:
        return good(f"words_{name}", about, Given().chunk(text), segment=segment(text, literals, **more))  # type: ignore[arg-type]

    plain = s.coded(CODED, CODES, 2, WORDS, [(0, len(CODED))])
    yield of("some", "Two words of one byte, and one of two", TEXT, plain)
    yield of("deflated", "The same, deflated", TEXT, plain, form=5)
    yield of("none", "No words and no spans", TEXT, s.coded(TEXT, b"\0", 0, [], []))
    yield of("spans", "Three spans, one of nothing, and bytes behind them that would be codes", b"\x01" + TEXT * 2 + b"\xff",
             s.coded(b"\x01" + CODED * 2 + b"\xff", CODES, 2, WORDS, [(1, len(CODED)), (0, 0), (0, len(CODED))]))  # fmt: skip
    yield of("themselves", "Bytes that are codes, each after the last code", CODES, s.coded(b"".join(bytes([255, code]) for code in CODES), CODES, 2, WORDS, [(0, 8)]))
    yield of("empty", "An empty word", b"", s.coded(b"\x01", CODES, 2, [b"", b"x"], [(0, 1)]))
    numbers = [0, 1, 255, 256, 64_770]
    every = [b"%d" % number if number in numbers else b"" for number in range(254 * 255 + 1)]
    pairs = b"".join(bytes([(number - 1) // 255 + 1, (number - 1) % 255 + 1]) if number else b"\0" for number in numbers)
    yield of("all_codes", "All bytes are codes", b"".join(every[number] for number in numbers), s.coded(pairs, bytes(range(256)), 1, every, [(0, len(pairs))]))
    yield of("matches", "A match among the literals", TEXT + b"salt and p", plain, matches=[s.Match(32, 10, 32)])


def refused() -> Iterator[Vector]:
    def of(name: str, about: str, literals: bytes, size: int = len(TEXT)) -> Vector:
        return bad(f"words_{name}", about, asks="chunk", segment=segment(b"x" * size, literals))

    spans = [(0, len(CODED))]
    yield of("cut_in_codes", "It ends within the codes", bytes(31))
    yield of("no_codes", "No code", s.coded(TEXT, b"", 0, [], []))
    yield of("all_alone", "As many words of one byte as there are codes", s.coded(CODED, CODES, 4, WORDS, spans))
    yield of("cut_in_words", "Fewer words than declared", s.coded(b"", CODES, 2, WORDS, [], word_count=40))
    yield of("over_limit", "65,026 words", s.coded(TEXT, CODES, 2, [b""] * 65_026, []))
    yield of("bytes_over_limit", "Words of 1,048,577 bytes", s.coded(TEXT, CODES, 2, [b"x" * 1_048_576, b"x"], [], prefixes=[0, 1]))
    yield of("prefix_too_long", "A word that begins with more than the word before has", s.coded(TEXT, CODES, 2, [b"a", b"abc"], [], prefixes=[0, 2]))
    yield of("first_prefix", "A first word that begins like one before", s.coded(TEXT, CODES, 2, [b"abc"], [], prefixes=[1]))
    yield of("none_there", "A word that there is not", s.coded(CODED, CODES, 2, WORDS[:2], spans))
    yield of("none_alone", "A word of one byte that there is not", s.coded(b"\x7f", CODES, 2, WORDS[:1], [(0, 1)]), 6)
    yield of("pair_zero", "A second byte that is zero", s.coded(CODED.replace(b"\xfe\x01", b"\xfe\0"), CODES, 2, WORDS, spans))
    yield of("pair_cut", "A span that ends within a code", s.coded(CODED, CODES, 2, WORDS, [(0, len(CODED) - 1)]))
    yield of("escape_cut", "A span that ends with the last code", s.coded(TEXT + b"\xff", CODES, 2, WORDS, [(0, len(TEXT) + 1)]))
    yield of("spans_over_limit", "8,193 spans", s.coded(TEXT, CODES, 2, WORDS, [(0, 0)] * 8193))
    yield of("span_too_long", "A span of more bytes than there are", s.coded(CODED, CODES, 2, WORDS, [(0, len(CODED) + 1)]))
    yield of("span_2_63", "A span of 2^63 bytes", s.coded(CODED, CODES, 2, WORDS, [(2**63, 0)]))
    yield of("longer", "Literals that are longer than the text", s.coded(CODED, CODES, 2, WORDS, spans), len(TEXT) - 1)
    yield of("shorter", "Literals that are shorter than the text", s.coded(CODED, CODES, 2, WORDS, spans), len(TEXT) + 1)
    yield of("word_longer", "A word that is longer than the text", s.coded(b"\x01", CODES, 2, WORDS, [(0, 1)]), 4)
    small = [Piece(b"\4" + s.varint(0) * 4, "form 4, four sizes"), Piece(bytes(3))]
    yield bad("words_cut", "It ends before its words", asks="nothing", segment=small)
