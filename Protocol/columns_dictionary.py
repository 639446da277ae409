#!/usr/bin/env python3
"""Writes columns-dictionary.txt into the Swift source that holds it; with --check only compares."""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
SOURCE = HERE / "columns-dictionary.txt"
TARGET = HERE.parent / "Sources/StoreEncoding/Columns/Segments/SegmentDictionary.swift"
HEAD = '''// Written by Protocol/columns_dictionary.py.

/// The dictionary that the text area of each segment may refer to, as if it stood before it.
///
/// Source: `Protocol/columns-dictionary.txt`.
extension MatchDictionary {
    static let builtInBytes: [UInt8] = characters.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }

    private static let characters = """
'''
# Swift's short forms; a quotation mark needs none in a string of several lines.
ESCAPES = {"\\": "\\", "\0": "0", "\t": "t", "\n": "n", "\r": "r"}
TAIL = '''        """
}
'''


def dictionary() -> bytes:
    """The bytes: lines without those that begin with #, \\xx being a byte, \\\\ a backslash."""
    lines = [line for line in SOURCE.read_bytes().split(b"\n") if not line.startswith(b"#")]
    return re.sub(
        rb"\\(\\|[0-9a-f]{2})", lambda m: b"\\" if m[1] == b"\\" else bytes.fromhex(m[1].decode()), b"".join(lines)
    )


def swift() -> str:
    """Each byte is the character of that number; the string's lines are wrapped, and end in a backslash."""
    lines, line = [], ""
    for byte in dictionary():
        character = chr(byte)
        if character in ESCAPES:
            piece = "\\" + ESCAPES[character]
        elif 0x20 <= byte < 0x7F:
            piece = character
        else:
            piece = f"\\u{{{byte:x}}}"
        if len(line) + len(piece) > 105 and character != " ":
            lines.append(line)
            line = ""
        line += piece
    lines.append(line)
    body = "".join(f"        {line}\\\n" for line in lines[:-1]) + f"        {lines[-1]}\n"
    return HEAD + body + TAIL


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        if TARGET.read_text() != swift():
            sys.exit(f"{TARGET.name} is not what {SOURCE.name} says: run Protocol/{pathlib.Path(__file__).name}")
    else:
        TARGET.write_text(swift())
