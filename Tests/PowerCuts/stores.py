"""Versions of one store, whose content says which version it is, down to the last byte."""
import hashlib
import os
import plistlib
import shutil
import sqlite3
import subprocess
import uuid

VERSIONS = 6


def photo(version):
    return f"{version:08X}-0000-4000-8000-000000000000"


def _photo_content(version):
    return b"".join(hashlib.sha256(f"photo {version} {i}".encode()).digest() for i in range(600))


def _rows(version):
    return [(key, hashlib.sha256(f"{key} {version if key % 4 == 0 else 1}".encode()).hexdigest() * 4)
            for key in range(1, 60 + 10 * version)]


def make(folder, name="Recipes"):
    """Makes `folder`/VERSION/`name`.sqlite with its external files, for each version."""
    for version in range(1, VERSIONS + 1):
        place = os.path.join(folder, str(version))
        photos = os.path.join(place, f".{name}_SUPPORT", "_EXTERNAL_DATA")
        os.makedirs(photos)
        database = sqlite3.connect(os.path.join(place, f"{name}.sqlite"))
        database.executescript(f"""
            PRAGMA user_version = {version};
            CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT);
            CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
            CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
            INSERT INTO Z_PRIMARYKEY VALUES (1, 'Photo', 0, 0);
            CREATE TABLE ZPHOTO (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZDATA BLOB);""")
        properties = {"NSStoreModelVersionHashes": {"Photo": bytes(32)}, "NSStoreType": "SQLite",
                      "NSStoreModelVersionIdentifiers": [""], "NSPersistenceFrameworkVersion": 1414}
        database.execute("INSERT INTO Z_METADATA VALUES (1, ?, ?)", (
            str(uuid.uuid5(uuid.NAMESPACE_URL, name)).upper(), plistlib.dumps(properties, fmt=plistlib.FMT_BINARY)))
        database.executemany("INSERT INTO note VALUES (?, ?)", _rows(version))
        for key in range(1, version + 1):
            database.execute("INSERT INTO ZPHOTO VALUES (?, 1, 1, ?)", (key, b"\x02" + photo(key).encode() + b"\0"))
            with open(os.path.join(photos, photo(key)), "wb") as file:
                file.write(_photo_content(key))
        database.commit()
        database.close()


def make_with_shipments(folder, program):
    """Makes the versions of a store, shipments of them, each of which says what has changed since the one before, and two identities."""
    make(folder)

    def run(*arguments):
        return subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True, check=True,
                              env={**os.environ, "HOME": folder, "XDG_STATE_HOME": f"{folder}/.state"}).stdout
    for version in range(1, VERSIONS + 1):
        shutil.rmtree(f"{folder}/app", ignore_errors=True)
        shutil.copytree(f"{folder}/{version}", f"{folder}/app")
        run("send", "app/Recipes.sqlite", "--to", f"./whole{version}.shipment")
        since = ["--since", f"whole{version - 1}.shipment"] if version > 1 else []
        run("send", "app/Recipes.sqlite", *since, "--to", f"./{version}.shipment")
    for number in (1, 2):
        with open(f"{folder}/id{number}", "w") as file:
            file.write(run("identity", "--identity", f".identity{number}"))


def version(path, live=False):
    """The version that a store is of, whole; 0 if there is none.

    Raises ValueError for one that is not whole. A live one is opened as its app would open it, a served one is only read."""
    if not os.path.exists(path):
        return 0
    name = os.path.basename(path).split(".")[0]
    try:
        database = sqlite3.connect(f"file:{path}?mode={'rw' if live else 'ro'}", uri=True)
        try:
            state = database.execute("PRAGMA integrity_check").fetchall()
            found = database.execute("PRAGMA user_version").fetchone()[0]
            rows = database.execute("SELECT * FROM note ORDER BY id").fetchall()
            photos = [cell[1:37].decode() for cell, in database.execute("SELECT ZDATA FROM ZPHOTO ORDER BY Z_PK")]
        finally:
            database.close()
    except sqlite3.Error as error:
        raise ValueError(f"{path}: {error}") from error
    if state != [("ok",)]:
        raise ValueError(f"{path}: {state}")
    if rows != _rows(found) or photos != [photo(key) for key in range(1, found + 1)]:
        raise ValueError(f"{path} is not all of version {found}")
    for key in range(1, found + 1):
        file = os.path.join(os.path.dirname(path), f".{name}_SUPPORT", "_EXTERNAL_DATA", photo(key))
        try:
            with open(file, "rb") as content:
                whole = content.read() == _photo_content(key)
        except OSError as error:
            raise ValueError(f"{path}: {error}") from error
        if not whole:
            raise ValueError(f"{file} is not what was written")
    return found
