"""Literals in which bytes stand for words (`COLUMNS.md` section 2, "Words")."""

from __future__ import annotations

from decoder.segment import limits
from decoder.segment.area import Area
from decoder.segment.limits import damaged
from decoder.segment.work import Work

WORDS_OF_PAIR = 255


def literals(content: Area, size: int, work: Work) -> bytes:
    """`size`: of the text area, which they cannot be longer than."""
    bits = content.take(32)
    codes = {byte: number for number, byte in enumerate(byte for byte in range(256) if bits[byte // 8] >> byte % 8 & 1)}
    alone = content.byte()
    if alone >= len(codes):
        raise damaged("no code for bytes that are codes")
    words = words_of(content, work)
    count = content.varint()
    if count > limits.WORD_SPANS:
        raise damaged("too many spans")
    spans = [(content.varint(), content.varint()) for _ in range(count)]
    found = bytearray()
    for plain, coded in spans:
        found += content.take(plain)
        area = Area(content.take(coded))
        while not area.is_at_end:
            byte = area.byte()
            number = codes.get(byte)
            if number is None:
                found.append(byte)
            elif number < alone:
                found += word(words, number)
            elif number == len(codes) - 1:
                found.append(area.byte())
            else:
                second = area.byte()
                if not second:
                    raise damaged("a code of two bytes whose second is zero")
                found += word(words, alone + WORDS_OF_PAIR * (number - alone) + second - 1)
            if len(found) > size:
                raise damaged("literals that are longer than the text")
    return bytes(found + content.rest)


def words_of(content: Area, work: Work) -> list[bytes]:
    count = content.varint()
    if count > limits.WORDS:
        raise damaged("too many words")
    prefixes = [content.varint() for _ in range(count)]
    words: list[bytes] = []
    total = 0
    for prefix in prefixes:
        last = words[-1] if words else b""
        rest = content.up_to_zero()
        if prefix > len(last):
            raise damaged("a word that begins with more than the word before has")
        total += prefix + len(rest)
        if total > limits.WORD_BYTES:
            raise damaged("words that are too long together")
        work.spend(16 + prefix + len(rest))
        words.append(last[:prefix] + rest)
    return words


def word(words: list[bytes], number: int) -> bytes:
    if number >= len(words):
        raise damaged("a word that there is not")
    return words[number]
