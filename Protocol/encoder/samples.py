"""What the vectors ship: three stores, their external files, and the manifests and messages that go with them."""

from __future__ import annotations

import base64
import hashlib
import json
import plistlib
from dataclasses import dataclass
from typing import Any

from encoder.sqlite_file import StoreFile, Table, store_file

Members = dict[str, Any]

CREATED_AT = "2026-11-20T19:04:05Z"
STORE_UUID = "7B3C8A52-0D2E-4F61-9A77-51C0E84D2F10"
PHOTO_UUID = "1F0C5D3A-6B7E-4C28-8E21-90AB34CD56EF"
EMPTY_UUID = "2E9D4B81-33F0-4A5C-B7D6-0A1B2C3D4E5F"
RECIPE_HASH = hashlib.sha256(b"Recipe, version 1").digest()
PRODUCER_LABELS = {"software": "ship-store 1.0.0", "sqlite": "3.40.1"}

EMPTY_STORE = store_file([], page_size=512)

RECIPES_TABLE = Table(
    "Recipe",
    "CREATE TABLE Recipe(id INTEGER PRIMARY KEY, name TEXT NOT NULL)",
    [(1, [None, "Borscht"]), (2, [None, "Cr\u00eape"]), (3, [None, "Dal"])],
)

RECIPES_STORE = store_file([RECIPES_TABLE], page_size=512, application_id=0x53484950, user_version=7)


def external_photo() -> bytes:
    """40,000 bytes that deflate well, with matches right at the far end of the window."""
    row = bytes(range(200))
    return b"".join(row[turn:] + row[:turn] for turn in range(200))


PHOTO = external_photo()


def core_data_store(photo: str = PHOTO_UUID) -> StoreFile:
    """`photo`: the file to which the first row refers."""
    properties = plistlib.dumps(
        {"NSStoreModelVersionHashes": {"Recipe": RECIPE_HASH}, "NSStoreType": "SQLite"},
        fmt=plistlib.FMT_BINARY,
    )
    tables = [
        Table(
            "Z_METADATA",
            "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
            [(1, [None, STORE_UUID, properties])],
        ),
        Table(
            "Z_PRIMARYKEY",
            "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
            [(1, [None, "Recipe", 0, 2])],
        ),
        Table(
            "ZRECIPE",
            "CREATE TABLE ZRECIPE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR, ZPHOTO BLOB )",
            [
                (1, [None, 1, 1, "Borscht", b"\x02" + photo.encode() + b"\0"]),
                (2, [None, 1, 1, "Dal", b"\x02" + EMPTY_UUID.encode() + b"\0"]),
            ],
        ),
    ]
    return store_file(tables, page_size=1024)


CORE_DATA_STORE = core_data_store()


def store_members(store: StoreFile) -> Members:
    return {
        "size": len(store.data),
        "sha256": store.digest,
        "pageSize": store.page_size,
        "pageCount": len(store.data) // store.page_size,
        "textEncoding": "UTF-8",
        "applicationID": store.application_id,
        "userVersion": store.user_version,
        "schemaSHA256": store.schema_digest,
    }


def manifest(store: StoreFile = RECIPES_STORE, name: str = "Recipes", **more: Any) -> Members:
    """The required members, then `more`."""
    return {
        "name": name,
        "createdAt": CREATED_AT,
        "producer": PRODUCER_LABELS,
        "store": store_members(store),
        **more,
    }


def external(folder: str, name: str, content: bytes) -> Members:
    return {
        "folder": folder,
        "name": name,
        "size": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


CORE_DATA: Members = {"entityVersionHashes": {"Recipe": base64.b64encode(RECIPE_HASH).decode()}}
EXTERNAL_FILES = [
    external("_EXTERNAL_DATA", PHOTO_UUID, PHOTO),
    external("_EXTERNAL_DATA", EMPTY_UUID, b""),
]


def core_data_manifest(**more: Any) -> Members:
    members: Members = {"identity": STORE_UUID, "coreData": CORE_DATA, "externalFiles": EXTERNAL_FILES}
    return manifest(CORE_DATA_STORE, **(members | more))


@dataclass(frozen=True)
class Content:
    """What a manifest says but for its circumstances (section 4.11)."""

    json: bytes

    @property
    def id(self) -> bytes:
        return hashlib.sha256(self.json).digest()[:16]


def content_of(manifest: Members) -> Content:
    """Of the manifests here, in which nothing stands that would have to be left out but this."""
    kept = {key: value for key, value in manifest.items() if key not in ("createdAt", "producer", "counter")}
    return Content(json.dumps(kept, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode())


HELD = content_of(manifest())

HELLO_MEMBERS: Members = {"software": "ship-store 1.0.0"}
HELLO_WITH_COLUMNS: Members = HELLO_MEMBERS | {"encodings": ["columns", "blocks"]}


def receipt(
    store: StoreFile = RECIPES_STORE, outcome: str = "installed", generation: int = 1, name: str = "Recipes"
) -> Members:
    return {"name": name, "generation": generation, "sha256": store.digest, "outcome": outcome}


def word(code: str, message: str, ends: str | None = None) -> Members:
    """The members of REFUSAL and of CANCEL."""
    return {"code": code, "message": message} | ({"ends": ends} if ends else {})
