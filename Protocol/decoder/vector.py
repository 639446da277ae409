"""Reads the text of vectors, strictly by the grammar in `Vectors/README.md`."""

from __future__ import annotations

import re
from dataclasses import dataclass

FIELD = re.compile(r"(?P<key>[A-Za-z][^ :#]*):(?: (?P<value>\S(?:.*\S)?))?")
SECTION = re.compile(r"bytes(?: (?P<label>[a-z]+(?: [a-z]+)*))?:")
LINE = re.compile(r"(?P<hex>[0-9A-F]{2}(?: [0-9A-F]{2})*)(?: \* (?P<times>[1-9][0-9]*))?(?:  # \S(?:.*\S)?)?")
FIRST_KEYS = ["name", "about", "covers", "kind", "expect"]
KINDS = {
    "preamble", "header", "frames", "part", "data", "block", "manifest", "hello", "answer", "receipt", "refusal", "cancel",
    "content", "holdings", "tables", "stream", "dialogue", "canonical", "deflate", "delta", "segment", "rows", "head", "catalog", "ranges", "sealed", "short",
}  # fmt: skip


class BrokenVector(Exception):
    pass


@dataclass(frozen=True)
class Vector:
    kind: str
    error: str | None
    details: list[tuple[str, str]]
    sections: list[tuple[str, bytes]]

    def detail(self, key: str) -> str:
        found = self.all(key)
        if len(found) != 1:
            raise BrokenVector(f"{key}: {len(found)} lines instead of one")
        return found[0]

    def all(self, key: str) -> list[str]:
        return [value for each, value in self.details if each == key]

    def values(self) -> list[str]:
        return sorted(f"{key}: {value}" for key, value in self.details if key.startswith("value."))

    def section(self, label: str) -> bytes | None:
        return next((data for each, data in self.sections if each == label), None)


SEPARATOR = "\n\n\n"
"""Between two vectors: the end of a line, and two empty lines."""


def texts_of(content: str) -> dict[str, str]:
    """The vectors of a file, by name."""
    texts: dict[str, str] = {}
    for text in content.removesuffix("\n").split(SEPARATOR):
        name = text.partition("\n")[0].removeprefix("name: ")
        if name in texts:
            raise BrokenVector(f"{name} comes twice")
        texts[name] = text + "\n"
    return texts


def parsed(name: str, content: str) -> Vector:
    if not content.endswith("\n") or content.endswith("\n\n") or "\r" in content:
        raise BrokenVector("lines end in LF, the last one too, and none is empty at the end")
    head, *bodies = content[:-1].split("\n\n")
    fields = [parsed_field(line) for line in head.split("\n")]
    if [key for key, _ in fields[: len(FIRST_KEYS)]] != FIRST_KEYS:
        raise BrokenVector(f"the first fields are {', '.join(FIRST_KEYS)}")
    stated, _, _, kind, expect = (value for _, value in fields[: len(FIRST_KEYS)])
    rest = fields[len(FIRST_KEYS) :]
    if stated != name or kind not in KINDS or expect not in ("ok", "error"):
        raise BrokenVector("name, kind or expect is wrong")
    error = None
    if expect == "error":
        if not rest or rest[0][0] != "error":
            raise BrokenVector("error comes after expect")
        error = rest.pop(0)[1]
    if not bodies:
        raise BrokenVector("no bytes")
    return Vector(kind, error, rest, [parsed_section(body.split("\n")) for body in bodies])


def parsed_field(line: str) -> tuple[str, str]:
    match = FIELD.fullmatch(line)
    if not match:
        raise BrokenVector(f"no field: {line}")
    return match["key"], match["value"] or ""


def parsed_section(lines: list[str]) -> tuple[str, bytes]:
    match = SECTION.fullmatch(lines[0])
    if not match:
        raise BrokenVector(f"no section: {lines[0]}")
    data = bytearray()
    for line in lines[1:]:
        bytes_of_line = LINE.fullmatch(line)
        if not bytes_of_line:
            raise BrokenVector(f"no bytes: {line}")
        data += bytes.fromhex(bytes_of_line["hex"]) * int(bytes_of_line["times"] or 1)
    return match["label"] or "", bytes(data)
