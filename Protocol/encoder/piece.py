"""Bytes with a note: what every encoder here returns, so that a vector can say what each byte is."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Piece:
    """Some bytes that mean one thing together.

    A piece of text is noted line by line with the text itself, any other one once, with `note`.
    """

    data: bytes
    note: str = ""
    is_text: bool = False


Pieces = list[Piece]


def joined(pieces: Pieces) -> bytes:
    return b"".join(piece.data for piece in pieces)


def binary(data: bytes, note: str = "") -> Pieces:
    return [Piece(data, note)] if data else []


def text(content: str | bytes) -> Pieces:
    data = content.encode() if isinstance(content, str) else content
    return [Piece(data, is_text=True)] if data else []


def compact_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def document(members: dict[str, Any]) -> Pieces:
    """A JSON object without white space, one piece a member."""
    if not members:
        return text("{}")
    pieces: Pieces = []
    for index, (key, value) in enumerate(members.items()):
        opening = "{" if index == 0 else ","
        closing = "}" if index == len(members) - 1 else ""
        pieces += text(f"{opening}{compact_json(key)}:{compact_json(value)}{closing}")
    return pieces
