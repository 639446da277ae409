#!/usr/bin/env python3
"""Counts what a reader of Sources has to hold in mind: files, their lengths, and types.

    .ci/shape.py            the figures
    .ci/shape.py --modules  the same, module by module
    .ci/shape.py --short    the files that are too short, too

A type is a declaration of a struct, class, actor, enum or protocol, wherever it stands; an error type is one that conforms to Error.
"""

import argparse
import re
import statistics
from collections.abc import Iterable
from pathlib import Path

SHORT, LONG = 35, 400  # lines
TYPE = re.compile(
    r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|fileprivate|private|final|indirect)\s+)*"
    r"(?:struct|class|actor|enum|protocol)\s+([A-Z]\w*)([^{]*)",
    re.MULTILINE,
)
COMMENT = re.compile(r"^\s*//.*$", re.MULTILINE)
TEXT = re.compile(r'"""(?:.|\n)*?"""')


class Shape:
    """The figures of some files."""

    def __init__(self, files: Iterable[Path]) -> None:
        self.lengths: dict[Path, int] = {}
        self.types: list[str] = []
        self.errors: list[str] = []
        for file in sorted(files):
            text = file.read_text()
            self.lengths[file] = text.count("\n")
            for name, rest in TYPE.findall(TEXT.sub('""', COMMENT.sub("", text))):
                self.types.append(name)
                if re.search(r"\bError\b", rest):
                    self.errors.append(name)

    def __str__(self) -> str:
        lengths = list(self.lengths.values())
        short, long = (sum(test(length) for length in lengths) for test in (lambda length: length < SHORT, lambda length: length > LONG))
        return (
            f"{len(lengths)} files, {sum(lengths)} lines, median {statistics.median(lengths or [0]):g}, {short} under {SHORT}, {long} over {LONG}; "
            f"{len(self.types)} types, {len(self.errors)} of errors"
        )


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--modules", action="store_true")
    parser.add_argument("--short", action="store_true")
    arguments = parser.parse_args()
    sources = Path(__file__).parent.parent / "Sources"
    files = sorted(sources.rglob("*.swift"))
    if arguments.modules:
        for module in sorted({file.relative_to(sources).parts[0] for file in files}):
            print(f"{module}: {Shape((sources / module).rglob('*.swift'))}")
    shape = Shape(files)
    print(shape)
    if arguments.short:
        for file, length in shape.lengths.items():
            if length < SHORT:
                print(f"{length:4} {file.relative_to(sources)}")


if __name__ == "__main__":
    main()
