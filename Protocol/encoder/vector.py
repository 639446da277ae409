"""One vector, and its text: the grammar is in `Vectors/README.md`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from encoder.piece import Piece, Pieces

BYTES_A_LINE = 16
Detail = tuple[str, str]


@dataclass
class Vector:
    name: str
    about: str
    covers: str
    kind: str
    error: str | None = None
    details: list[Detail] = field(default_factory=list)
    sections: list[tuple[str, Pieces]] = field(default_factory=list)

    def rendered(self) -> str:
        fields: list[Detail] = [
            ("name", self.name),
            ("about", self.about),
            ("covers", self.covers),
            ("kind", self.kind),
            ("expect", "error" if self.error else "ok"),
        ]
        if self.error:
            fields.append(("error", self.error))
        lines = [f"{key}: {value}".rstrip() for key, value in fields + self.details]
        return "\n".join(lines + self.rendered_sections()) + "\n"

    def rendered_sections(self) -> list[str]:
        """Each with an empty line before it."""
        lines: list[str] = []
        for label, pieces in self.sections:
            lines += ["", f"bytes {label}:" if label else "bytes:"]
            for piece in pieces:
                lines += piece_lines(piece)
        return lines


def piece_lines(piece: Piece) -> list[str]:
    chunks = [piece.data[at : at + BYTES_A_LINE] for at in range(0, len(piece.data), BYTES_A_LINE)]
    lines: list[str] = []
    at = 0
    while at < len(chunks):
        times = 1
        while at + times < len(chunks) and chunks[at + times] == chunks[at]:
            times += 1
        note = printable(chunks[at]) if piece.is_text else (piece.note if at == 0 else "")
        lines.append(hex_line(chunks[at], times, note))
        at += times
    return lines


def hex_line(chunk: bytes, times: int, note: str) -> str:
    line = chunk.hex(" ").upper()
    if times > 1:
        line += f" * {times}"
    return f"{line}  # {note}" if note else line


def printable(chunk: bytes) -> str:
    return "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in chunk).strip()


MAPS = ("value.coreData.entityVersionHashes", "value.metadata", "value.tables")
"""Objects whose members have names of the writer's choice: they are counted."""


def values(members: dict[str, Any], path: str = "value") -> list[Detail]:
    """The members as flat lines: `value.store.size: 512`; null, false, empty arrays and an empty metadata give none.

    An empty `wants` gives one, for it is not an absent one.
    """
    lines: list[Detail] = []
    for key, value in members.items():
        lines += value_lines(f"{path}.{key}", value)
    return lines


def value_lines(path: str, value: Any) -> list[Detail]:
    if value is None or value is False:
        return []
    if isinstance(value, list):
        lines = [(f"{path}.count", str(len(value)))] if value or path == "value.wants" else []
        for index, element in enumerate(value):
            lines += value_lines(f"{path}.{index}", element)
        return lines
    if isinstance(value, dict):
        counted = path in MAPS and (value or path != "value.metadata")
        lines = [(f"{path}.count", str(len(value)))] if counted else []
        return lines + values(value, path)
    return [(path, "true" if value is True else str(value))]
