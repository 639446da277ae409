"""Puts parts together from what comes of them (sections 3.3, 3.4 and 5.2), and verifies them as section 10 says."""

from __future__ import annotations

import hashlib
import sqlite3
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from decoder.columns import store_of
from decoder.delta.apply import file_of, result_of
from decoder.json_rules import Members
from decoder.refused import Refused
from decoder.store.no_canonical_form import NoCanonicalForm
from decoder.tables import contents
from decoder.waiting import Waiting, cut
from decoder.wire import BLOCKS, COLUMNS, DELTA, ENCODINGS, Opening, block, decoded, violation

TEXT_ENCODINGS = {"UTF-8": 1, "UTF-16le": 2, "UTF-16be": 3}
SEGMENTS_OVERHEAD = 1_048_576
MOST_REQUESTS = 8
SAME = (
    "name", "store", "identity", "coreData", "externalFiles", "missingExternalFiles", "omissions", "metadata",
)  # fmt: skip
"""Section 5.3: what two manifests of one and the same shipment have in common."""
NO_STORES: Mapping[str, bytes] = MappingProxyType({})
NO_FILES: Mapping[str, Mapping[str, bytes]] = MappingProxyType({})


class Shipment:
    def __init__(
        self, manifest: Members, takes: set[int], stores: Mapping[str, bytes] = NO_STORES, waiting: Sequence[Waiting] = (),
        external: Mapping[str, Mapping[str, bytes]] = NO_FILES,
    ) -> None:  # fmt: skip
        """`takes`: the encodings that both sides know; `stores`: what the consumer can read of what it holds, by its SHA-256;
        `waiting`: the streams that it has of shipments of this store that broke off; `external`: of each of those stores what it
        can read of its external files, by their SHA-256."""
        self.manifest = manifest
        self.stores = stores
        self.external = external
        self.waiting = waiting
        self.goes_on: dict[int, Members] = {}
        """From where parts may go on: `from` of those that are wanted."""
        self.begun, self.missing = b"", 0
        """Data of which the rest is to come, and the size of that."""
        self.bases: dict[int, str] = {}
        """Of each part the store to which a delta refers, or to whose external files."""
        self.files = [manifest["store"], *manifest.get("externalFiles", [])]
        self.contents = [bytearray() for _ in self.files]
        self.segments: dict[int, list[bytes]] = {}
        """Of the parts that came last in an encoding that has any."""
        self.ways: dict[int, tuple[int, str | None]] = {}
        """In which encoding these came, and over which base."""
        self.takes = takes
        self.wanted: dict[int, set[int]] = {}
        """What is still to come or has come since the last END, and in which encodings it may."""
        self.left_out: set[int] = set()
        """Parts that the base has."""
        self.left: list[int] = []
        """Parts that are wanted and were not opened yet."""
        self.opened: dict[int, set[int]] = {}
        """In which encodings each part was opened, ever."""
        self.last: Opening | None = None
        """What was opened last since the last END."""
        self.is_open = False
        self.asked = 0
        """How often the producer has asked what is in the base."""
        self.offset = 0
        self.faults: dict[int, Refused] = {}
        """Parts of which something did not decode."""

    @property
    def name(self) -> str:
        return self.manifest["name"]

    def is_same_as(self, other: Members) -> bool:
        """`other`: a manifest, or its content."""
        return all((self.manifest.get(key) or None) == (other.get(key) or None) for key in SAME)

    def fitting(self, part: int) -> set[int]:
        return self.takes & ({BLOCKS} | ({COLUMNS} if part == 0 else set()) | ({DELTA} if part in self.bases else set()))

    def want_all(self, base: Members | None) -> None:
        """One way, where the manifest says what a delta may refer to, and whose external files do not come: `base`, if it names the content."""
        there = [(file["size"], file["sha256"]) for file in (base or {}).get("externalFiles", [])]
        self.left_out = {part for part, file in enumerate(self.files) if part and file["size"] and (file["size"], file["sha256"]) in there}
        wants = [{"part": part} for part, file in enumerate(self.files) if file["size"] and part not in self.left_out]
        wants[0] |= {"base": self.manifest["base"]["sha256"]} if "base" in self.manifest else {}
        self.want({"wants": wants})

    def want(self, answer: Members) -> bool:
        """The answer to MANIFEST; whether each part that is wanted can come."""
        sizes = [file["size"] for file in self.files]
        absent = [{"part": part} for part, size in enumerate(sizes) if size]
        wants = answer.get("wants", absent)
        if any(want["part"] >= len(sizes) or sizes[want["part"]] == 0 for want in wants):
            raise Refused("bad-manifest", "there is no such part, or nothing of it to come")
        self.bases = {want["part"]: want["base"] for want in wants if want.get("base")}
        self.wanted = {}
        for want in wants:
            fitting = self.fitting(want["part"])
            if "from" in want and "encodings" not in want and ENCODINGS.get(want["from"]["encoding"]) not in fitting:
                raise Refused("bad-manifest", "what would go on is not wanted")
            if "encodings" in want:
                fitting &= {ENCODINGS[name] for name in want["encodings"] if name in ENCODINGS}
            self.wanted[want["part"]] = fitting
        self.goes_on = {want["part"]: want["from"] for want in wants if "from" in want}
        self.left = list(self.wanted)
        self.last, self.is_open = None, False
        return all(self.wanted.values())

    def want_again(self, answer: Members) -> bool:
        """The answer to END."""
        wants = answer.get("wants")
        if not wants or any("encodings" not in want for want in wants):
            raise violation("it does not say what it wants, and how")
        for want in wants:
            named = {ENCODINGS[name] for name in want["encodings"] if name in ENCODINGS}
            if DELTA in named:
                raise violation("it wants once more what needs a base")
            if named & self.opened.get(want["part"], set()):
                raise violation("it wants what has come")
        can = self.want(answer)
        self.goes_on = {}
        return can

    def stream_to(self, part: int, goes_on: Members) -> bytes:
        """What waits of the part up to where `from` says."""
        encoding = ENCODINGS[goes_on["encoding"]]
        base = self.bases.get(part, "") if encoding == DELTA else ""
        for each in self.waiting:
            found = each.stream[: goes_on["position"]]
            is_there = each.is_of(self.files[part]) and (each.encoding, each.base) == (encoding, base) and len(found) == goes_on["position"]
            if is_there and hashlib.sha256(found).hexdigest() == goes_on["sha256"] and cut(found):
                return found
        raise AssertionError(f"nothing waits of part {part} that `from` could mean")

    def open(self, opening: Opening) -> None:
        part, encoding = opening.part, opening.encoding
        if encoding not in self.takes:
            raise Refused("feature-not-supported", f"encoding {encoding}")
        goes_on = self.goes_on.get(part)
        if opening.position and (goes_on is None or opening.position != goes_on["position"] or encoding != ENCODINGS.get(goes_on["encoding"])):
            raise violation("a position that `from` has not, or not in this encoding")
        is_again = self.last is not None and part == self.last.part
        if not is_again and (self.is_open or self.left[:1] != [part]):
            raise violation("not the next part")
        before = self.opened.setdefault(part, set())
        if encoding not in self.wanted[part] or encoding in before:
            raise violation("not wanted in this encoding, or not once more")
        if opening.anew != bool(before) or (opening.anew and opening.position):
            raise violation("anew where it does not belong, or not where it does")
        before.add(encoding)
        self.left = self.left if is_again else self.left[1:]
        self.last, self.is_open = opening, True
        self.contents[part], self.offset = bytearray(), 0
        self.begun, self.missing = b"", 0
        self.segments.pop(part, None)
        if encoding in (COLUMNS, DELTA):
            self.segments[part], self.ways[part] = [], (encoding, self.bases.get(part))
        self.faults.pop(part, None)
        if opening.position and goes_on:
            found = cut(self.stream_to(part, goes_on))
            assert found is not None
            for data in found[0]:
                self.append(data, False)
            self.begun, self.missing = found[1:]

    def compare(self, request: bytes) -> None:
        """`RANGES.md` 1; `request` is for whoever answers."""
        self.asked += 1
        if self.opened or 0 not in self.bases or self.asked > MOST_REQUESTS:
            raise violation("a question about the base where none may come")

    def append(self, data: bytes, is_last: bool) -> None:
        if not self.is_open or self.last is None:
            raise violation("no part is open")
        if self.missing and len(data) != self.missing:
            raise violation("not the rest of what had begun")
        data, self.begun, self.missing = self.begun + data, b"", 0
        part = self.last.part
        size = self.files[part]["size"]
        if self.last.encoding in (COLUMNS, DELTA):
            self.segments[part].append(data)
            if sum(map(len, self.segments[part])) > size + SEGMENTS_OVERHEAD:
                raise violation("more than the part can have")
        else:
            found = block(data, is_last, self.offset, size)
            self.offset += found.size
            if part not in self.faults:
                try:
                    self.contents[part] += decoded(found, bytes(self.contents[part]))
                except Refused as fault:
                    self.faults[part] = fault
        self.is_open = not is_last

    def complete(self) -> None:
        if self.is_open or self.left:
            raise violation("END before all parts are complete")

    def unmade(self) -> Refused | None:
        """What is wrong with what came of the parts."""
        for part, segments in self.segments.items():
            try:
                self.contents[part] = bytearray(self.made_of(part, segments))
            except Refused as fault:
                self.faults[part] = fault
        for part, (file, content) in enumerate(zip(self.files, self.contents)):
            came = part in self.opened or file["size"] == 0
            if part in self.faults:
                return self.faults[part]
            if came and hashlib.sha256(content).hexdigest() != file["sha256"]:
                return Refused("damaged", f"SHA-256 of part {part}")
        return None

    def made_of(self, part: int, segments: list[bytes]) -> bytes:
        size = self.files[part]["size"]
        encoding, over = self.ways[part]
        if encoding == COLUMNS:
            return store_of(segments, size)
        if part > 0:
            return file_of(segments, self.external.get(over or "", {}), size)
        base = self.stores.get(over or "")
        if base is None:
            raise Refused("damaged", "the base cannot be read")
        return result_of(segments, base, size)

    def verify(self) -> None:
        if 0 in self.opened:
            verify_store(bytes(self.contents[0]), self.manifest["store"])
            verify_tables(bytes(self.contents[0]), self.manifest)

    def lines(self) -> list[str]:
        return [
            f"{part} skipped" if part not in self.opened and file["size"] and part not in self.left_out else f"{part} {file['size']} {file['sha256']}"
            for part, file in enumerate(self.files)
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
