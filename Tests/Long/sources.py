"""Stores that chance makes and changes, and what their copies must be."""
import dataclasses
import io
import os
import sqlite3

import stores
from decoder import json_rules as rules
from decoder.store.canonical_file import canonical_copy
from desk import add_texts, digest, random_store

NAMES = ("First", "Large", "Recipes")


def made(desk):
    """One of each name; the last has external files."""
    folder = desk.path("versions")
    if not os.path.exists(folder):
        stores.make(folder)
    return [Source(desk, name) for name in NAMES]


@dataclasses.dataclass
class Held:
    """A generation."""

    manifest: dict
    store: bytes
    files: dict

    @property
    def content(self):
        return rules.content(self.manifest)


class Source:
    """A store that the program ships, and what its copies must be."""

    def __init__(self, desk, name):
        self.name, self.path, self.version = name, desk.path(f"{name}.sqlite"), 0
        self.versions = desk.path("versions")

    def change(self, chance):
        if self.name == "Recipes":
            self.version = chance.randrange(1, stores.VERSIONS + 1)
            self.path = os.path.join(self.versions, str(self.version), "Recipes.sqlite")
        elif not os.path.exists(self.path) or os.path.getsize(self.path) > 1_000_000 or chance.random() < 0.25:
            random_store(self.path, chance)
            if self.name == "Large":  # Less than 64 KiB do not wait.
                database = sqlite3.connect(self.path)
                database.execute("CREATE TABLE large (content)")
                rows = [(chance.randbytes(chance.choice([300, 20_000, 90_000])),) for _ in range(chance.randrange(4, 12))]
                database.executemany("INSERT INTO large VALUES (?)", rows)
                database.commit()
                database.close()
        elif chance.random() < 0.7:
            self.edit(chance)

    def edit(self, chance):
        database = sqlite3.connect(self.path)
        tables = [name for name, in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        if "found_data" in tables and chance.random() < 0.5:
            try:
                add_texts(database, chance)
            except sqlite3.Error:
                pass  # Its index has lost rows.
        for _ in range(chance.choice([1, 1, 3])):
            table, every = chance.choice(tables), chance.choice([1, 2, 7, 50])
            try:
                database.execute(chance.choice([
                    f"DELETE FROM {table} WHERE rowid % {every} = 1", f"UPDATE {table} SET c0 = {chance.randrange(1000)} WHERE rowid % {every} = 1",
                    f"INSERT INTO {table} SELECT * FROM {table} LIMIT 40", f"INSERT INTO {table} (c0) VALUES ('{'new ' * every}')",
                    f"CREATE TABLE IF NOT EXISTS more{every} (c0)", f"PRAGMA user_version = {every}"]))
            except sqlite3.Error:
                pass  # A table WITHOUT ROWID.
        database.commit()
        database.close()

    def copy(self, folder):
        """The store's canonical form, by the Python alone."""
        path = os.path.join(folder, "compact.sqlite")
        database = sqlite3.connect(self.path)
        database.execute("VACUUM INTO ?", (path,))
        database.close()
        with open(path, "rb") as file:
            out = io.BytesIO()
            canonical_copy(file.read(), out)
        os.unlink(path)
        return out.getvalue()

    def files(self):
        folder = os.path.join(os.path.dirname(self.path), ".Recipes_SUPPORT", "_EXTERNAL_DATA")
        return {digest(os.path.join(folder, name)) for name in os.listdir(folder)} if self.name == "Recipes" else set()


def give(side, held):
    """Gives a side the generations of each name."""
    for generations in held.values():
        side.held |= {rules.content_id(each.content): each.content for each in generations}
        side.generations += [(each.manifest, None) for each in generations]
        side.stores |= {each.manifest["store"]["sha256"]: each.store for each in generations}
        side.external |= {each.manifest["store"]["sha256"]: each.files for each in generations}
