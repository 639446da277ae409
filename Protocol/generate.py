#!/usr/bin/env python3
"""Writes `Vectors/*.txt`, and the session in section 11 of `README.md`: what the pages of this folder say, as bytes.

    python3 Protocol/generate.py           write them anew
    python3 Protocol/generate.py --check   compare, and name each vector that differs, is missing or is extra

It follows these pages alone and shares nothing with the product's code. What it writes is the same everywhere: no
clock, no random numbers, its own deflate encoder and its own SQLite pages; the streams that DEFLATE.md describes are Python's zlib's,
of 1.2.11 to 1.3.1. Before anything is written or compared, a decoder that shares nothing with the encoder (`check.py`) reads every
vector and must come to what its header expects.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.dont_write_bytecode = True

from cases import (  # noqa: E402
    again, arrays, blocks, canonical, canonical_none, catalogs, columns, contents, decimals, deflate, deflated_strings, delta, delta_files, delta_full_text, delta_sessions, digits,
    delta_sessions_refused, dialogues, earlier, frames, full_text, headers, heads, holdings, hostile, lists, lists_archives, lists_refused, made_blocks, manifest_members, manifests, messages, one_way_deltas,
    packed_answers, packed_messages, parts, preambles, ranges, resumed, resumed_refused, segments, segments_refused, signatures, store_rows,
    shorts, store_rows_refused, sealed, streams, tables, utf16, words,
)  # fmt: skip
from check import problems, read  # noqa: E402
from decoder.vector import SEPARATOR  # noqa: E402
from encoder.vector import Vector  # noqa: E402

FOLDER = Path(__file__).resolve().parent / "Vectors"
FAMILIES = [
    preambles, headers, frames, parts, blocks, manifests, packed_messages, packed_answers, manifest_members, contents, tables,
    messages, streams, dialogues, signatures, columns, canonical, canonical_none, segments, segments_refused, arrays, decimals, digits, utf16, words, lists, lists_archives,
    lists_refused, deflate, deflated_strings, made_blocks, store_rows, store_rows_refused, full_text, earlier, delta, delta_files, delta_full_text, delta_sessions, delta_sessions_refused, again, resumed,
    resumed_refused, holdings, one_way_deltas, hostile, heads, shorts, catalogs, ranges, sealed,
]  # fmt: skip
PAGE = FOLDER.parent / "README.md"
STATEMENT_OF_GRAMMAR = "README.md"


def generated() -> dict[str, Vector]:
    """By name."""
    vectors: dict[str, Vector] = {}
    for family in FAMILIES:
        for vector in family.vectors():
            if vector.name in vectors:
                raise ValueError(f"two vectors are named {vector.name}")
            vectors[vector.name] = vector
    return vectors


def files(vectors: dict[str, Vector]) -> dict[str, str]:
    """The text of each file, by its name: it has the vectors of one kind, sorted by name."""
    texts: dict[str, list[str]] = {}
    for _, vector in sorted(vectors.items()):
        texts.setdefault(f"{vector.kind}.txt", []).append(vector.rendered().removesuffix("\n"))
    return {name: SEPARATOR.join(of_file) + "\n" for name, of_file in texts.items()}


def page_with_session() -> str:
    """README.md, with section 11 as it must be."""
    page = PAGE.read_text(encoding="utf-8")
    before, heading, section = page.partition("\n## 11. ")
    opening, _, rest = section.partition("\n```\n")
    _, _, behind = ("\n" + rest).partition("\n```\n")
    lines = "\n".join(dialogues.byte_by_byte().rendered_sections()[1:])
    return f"{before}{heading}{opening}\n```\n{lines}\n```\n{behind}"


def present() -> dict[str, bytes]:
    if not FOLDER.exists():
        return {}
    return {path.name: path.read_bytes() for path in FOLDER.iterdir() if path.name != STATEMENT_OF_GRAMMAR}


def differences(vectors: dict[str, Vector]) -> list[str]:
    found = read(FOLDER)
    lines = [f"{name}: missing" for name in vectors.keys() - found.keys()]
    lines += [f"{name}: extra" for name in found.keys() - vectors.keys()]
    lines += [f"{name}: differs" for name in vectors.keys() & found.keys() if found[name] != vectors[name].rendered()]
    written = {name: text.encode() for name, text in files(vectors).items()}
    if not lines and present() != written:
        lines.append("the files are not as they are written")
    if PAGE.read_text(encoding="utf-8") != page_with_session():
        lines.append("../README.md: section 11 differs")
    return sorted(lines)


def write(vectors: dict[str, Vector]) -> None:
    texts = files(vectors)
    FOLDER.mkdir(exist_ok=True)
    for name in present().keys() - texts.keys():
        (FOLDER / name).unlink()
    for name, text in texts.items():
        (FOLDER / name).write_bytes(text.encode())
    PAGE.write_bytes(page_with_session().encode())


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--check"]):
        print("usage: generate.py [--check]", file=sys.stderr)
        return 64
    vectors = generated()
    complaints = problems({name: vector.rendered() for name, vector in vectors.items()})
    if not complaints and arguments:
        complaints = differences(vectors)
    for line in complaints:
        print(line, file=sys.stderr)
    if complaints:
        return 1
    if not arguments:
        write(vectors)
    print(f"{len(vectors)} vectors {'are as generated' if arguments else 'written'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
