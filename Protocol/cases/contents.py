"""What counts of a manifest, and in which bytes (section 4.11)."""

from __future__ import annotations

from collections.abc import Iterator

from encoder.piece import document, text
from encoder.samples import PHOTO_UUID, EMPTY_STORE, Members, content_of, core_data_manifest, manifest
from encoder.vector import Vector


def vector(name: str, about: str, members: Members, counted: Members | None = None) -> Vector:
    """`counted`: the members that have to be there, where those that are given are not just these and the circumstances."""
    content = content_of(members if counted is None else counted)
    sections = [("", document(members)), ("content", text(content.json))]
    return Vector(f"content_{name}", about, "4.11", "content", None, [("id", content.id.hex())], sections)


def vectors() -> Iterator[Vector]:
    yield vector("minimal", "The required members alone", manifest())
    yield vector("circumstances", "When, by which program and as which shipment it was made does not count", manifest(createdAt="2027-01-01T00:00:00Z", producer={"software": "another", "sqlite": "3.51.0"}, counter=2**64 - 1))
    row = {"rows": 3, "digest": "0123456789abcdef" * 2}
    yield vector("core_data", "A Core Data store with external files", core_data_manifest(missingExternalFiles=[{"folder": "_FBF", "name": PHOTO_UUID.lower()}], tables={"ZRECIPE": row}))
    said = {"history": True, "tables": ["b", "a"], "externalFiles": []}
    left_out = {"history": True, "tables": ["b", "a"]}
    yield vector("omissions", "Omissions, in the order in which they are told; an empty array is left out", manifest(omissions=said), manifest(omissions=left_out))
    empty = {"externalFiles": [], "missingExternalFiles": [], "metadata": {}, "requires": [], "identity": None, "omissions": {"history": False, "tables": []}}
    yield vector("empty", "What is as good as absent is left out", manifest(**empty), manifest())
    yield vector("no_tables", "No tables is not as good as saying nothing of them", manifest(EMPTY_STORE, tables={}))
    unknown = manifest(colour="green") | {"store": manifest()["store"] | {"shape": [1.5, {"a": None}]}}
    yield vector("unknown_members", "Members that are not known do not count", unknown, manifest())
    odd = "\"\\/\b\t\n\f\r\x01\x1f\x7f\u00e9\u2028\U0001f355"
    yield vector("escapes", "What has to be escaped, and what has not", manifest(identity=odd, metadata={"key": odd}))
    names = ["b", "a", "B", "\uffe6", "\U0001f355", "e\u0301", "z", "\u00ea", "a b", "aa", "\"", "\n"]
    yield vector("order", "Names are sorted by their bytes, and not by UTF-16", manifest(tables={name: row for name in names}))
    numbers = {"applicationID": -(2**31), "userVersion": 2**31 - 1}
    of_store = manifest() | {"store": manifest()["store"] | numbers, "tables": {"t": row | {"rows": 2**63 - 1}}}
    yield vector("numbers", "The largest numbers, and negative ones", of_store)
