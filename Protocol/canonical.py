#!/usr/bin/env python3
"""The canonical form of a compact copy: prints its SHA-256, its size in bytes and the file's name.

    python3 Protocol/canonical.py FILE [--write OUT]
    python3 Protocol/canonical.py FILE FILE ...

FILE is a database without free pages in rollback-journal mode, as `VACUUM INTO` makes it. This is written from
CANONICAL.md alone and shares nothing with the product's code.
"""

from __future__ import annotations

import argparse
import hashlib
import mmap
import sys
import tempfile
from pathlib import Path
from typing import BinaryIO

sys.dont_write_bytecode = True

from decoder.store.canonical_file import canonical_copy  # noqa: E402
from decoder.store.no_canonical_form import NoCanonicalForm  # noqa: E402


def written(path: Path, out: BinaryIO) -> tuple[str, int]:
    """The digest and the size of the canonical form of `path`, which is in `out` afterwards."""
    with path.open("rb") as file:
        if path.stat().st_size == 0:
            raise NoCanonicalForm("an empty file")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            canonical_copy(data, out)  # type: ignore[arg-type]
    out.flush()
    out.seek(0)
    digest, size = hashlib.sha256(), 0
    while chunk := out.read(1 << 20):
        digest.update(chunk)
        size += len(chunk)
    return digest.hexdigest(), size


def main() -> int:
    parser = argparse.ArgumentParser(description="The canonical form of compact copies.")
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--write", type=Path, metavar="OUT", help="where to write it; with one FILE only")
    arguments = parser.parse_args()
    if arguments.write and len(arguments.files) > 1:
        parser.error("--write takes one FILE")
    status = 0
    for path in arguments.files:
        out = arguments.write.open("w+b") if arguments.write else tempfile.TemporaryFile()
        try:
            digest, size = written(path, out)
            print(digest, size, path)
        except NoCanonicalForm as why:
            print(f"{path}: no canonical form: {why}", file=sys.stderr)
            status = 1
        finally:
            out.close()
    return status


if __name__ == "__main__":
    sys.exit(main())
