"""Puts parts together from blocks, and verifies them as section 10 says."""

from __future__ import annotations

import hashlib
import sqlite3
import tempfile
from pathlib import Path

from decoder.columns import store_of
from decoder.json_rules import Members
from decoder.refused import Refused
from decoder.store.no_canonical_form import NoCanonicalForm
from decoder.tables import contents
from decoder.wire import Place, decoded_block, segment, violation

TEXT_ENCODINGS = {"UTF-8": 1, "UTF-16le": 2, "UTF-16be": 3}


SEGMENTS_OVERHEAD = 1_048_576


class Shipment:
    def __init__(self, manifest: Members) -> None:
        self.manifest = manifest
        self.files = [manifest["store"], *manifest.get("externalFiles", [])]
        self.contents = [bytearray() for _ in self.files]
        self.skipped: set[int] = set()
        self.segments: list[bytes] = []
        self.rows = "possible"
        """The store's rows: possible, coming, complete, over."""
        self.store_is_rows = False

    def skip(self, indexes: list[int]) -> None:
        if any(index >= len(self.files) for index in indexes):
            raise Refused("bad-manifest", "no such part")
        self.skipped = set(indexes)

    def ask_again(self, indexes: list[int]) -> None:
        """The consumer wants the store once more, in blocks, and keeps all else."""
        if indexes != list(range(1, len(self.files))):
            raise Refused("bad-manifest", "it asks again for more than the store")
        self.contents[0] = bytearray()
        self.rows, self.store_is_rows = "over", False

    def _place(self) -> Place | None:
        for index, (file, content) in enumerate(zip(self.files, self.contents)):
            is_there = self.store_is_rows if index == 0 else False
            if index not in self.skipped and not is_there and len(content) < file["size"]:
                return Place(index, len(content), file["size"])
        return None

    def append(self, payload: bytes) -> None:
        is_restart = payload[:12] == bytes(12) and self.rows in ("coming", "complete")
        if is_restart:
            self.store_is_rows = False
        place = self._place()
        if place is None:
            raise violation("a block after the last one")
        if self.rows == "coming" and not is_restart:
            raise violation("a block among the rows")
        content = self.contents[place.part]
        content += decoded_block(payload, place, bytes(content))
        self.rows = "over"

    def append_rows(self, payload: bytes) -> None:
        content, is_last = segment(payload)
        if self.rows not in ("possible", "coming") or 0 in self.skipped:
            raise violation("rows where none may come")
        self.segments.append(content)
        if sum(map(len, self.segments)) > self.files[0]["size"] + SEGMENTS_OVERHEAD:
            raise violation("more rows than the store can have")
        self.rows, self.store_is_rows = ("complete", True) if is_last else ("coming", False)

    def complete(self) -> None:
        if self.rows == "coming" or self._place() is not None:
            raise violation("END before all parts are complete")

    def make_store(self) -> None:
        """From its rows; it is the manifest's, or damaged."""
        store = store_of(self.segments, self.files[0]["size"])
        if hashlib.sha256(store).hexdigest() != self.files[0]["sha256"]:
            raise Refused("damaged", "SHA-256 of the store that was made from its rows")
        self.contents[0] = bytearray(store)

    def verify(self) -> None:
        for index, (file, content) in enumerate(zip(self.files, self.contents)):
            if index not in self.skipped and hashlib.sha256(content).hexdigest() != file["sha256"]:
                raise Refused("damaged", f"SHA-256 of part {index}")
        if 0 not in self.skipped:
            verify_store(bytes(self.contents[0]), self.manifest["store"])
            verify_tables(bytes(self.contents[0]), self.manifest)

    def lines(self) -> list[str]:
        return [
            f"{index} skipped" if index in self.skipped else f"{index} {file['size']} {file['sha256']}"
            for index, file in enumerate(self.files)
        ]


def verify_store(data: bytes, facts: Members) -> None:
    """Section 4.4: what the file says of itself against the manifest, then SQLite's own check."""
    if not data.startswith(b"SQLite format 3\0") or data[18:20] != b"\1\1":
        raise Refused("bad-store", "no database in rollback-journal mode")
    declared = int.from_bytes(data[16:18], "big")
    pages = int.from_bytes(data[28:32], "big")
    encoding = int.from_bytes(data[56:60], "big")
    user_version = int.from_bytes(data[60:64], "big", signed=True)
    application = int.from_bytes(data[68:72], "big", signed=True)
    of_the_file = (65_536 if declared == 1 else declared, pages, encoding, user_version, application)
    of_the_manifest = (
        facts["pageSize"], facts["pageCount"], TEXT_ENCODINGS[facts["textEncoding"]],
        facts["userVersion"], facts["applicationID"],
    )  # fmt: skip
    if of_the_file != of_the_manifest:
        raise Refused("bad-store", f"{of_the_file} instead of {of_the_manifest}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.sqlite"
        path.write_bytes(data)
        verify_with_sqlite(path, facts)


def verify_tables(data: bytes, manifest: Members) -> None:
    """Sections 4.8 and 4.9."""
    stated, emptied = manifest.get("tables"), manifest.get("omissions", {}).get("tables", [])
    if stated is None and not emptied:
        return
    try:
        found = contents(data)
    except NoCanonicalForm as why:
        raise Refused("bad-store", str(why)) from why
    if stated is not None and found != {name: (table["rows"], table["digest"]) for name, table in stated.items()}:
        raise Refused("bad-store", "tables")
    if any(name not in found or found[name][0] for name in emptied):
        raise Refused("bad-store", "omissions")


def verify_with_sqlite(path: Path, facts: Members) -> None:
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)
    try:
        if connection.execute("PRAGMA quick_check").fetchall() != [("ok",)]:
            raise Refused("bad-store", "quick_check")
        rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()
    except sqlite3.DatabaseError as error:
        raise Refused("bad-store", str(error)) from error
    finally:
        connection.close()
    own = [[(column or "").encode() for column in row] for row in rows if not row[1].startswith("sqlite_")]
    text = b"".join(column + b"\0" for row in sorted(own, key=lambda row: row[:2]) for column in row)
    if hashlib.sha256(text).hexdigest() != facts["schemaSHA256"]:
        raise Refused("bad-store", "schema digest")
