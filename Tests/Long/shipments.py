"""What a producer has shipped, and what a receiver may hold of it."""
import base64
import dataclasses
import hashlib
import os
import uuid

import sources
from decoder import json_rules as rules
from decoder.sides import Consumer, Producer
from encoded import manifest_of
from sources import Held


class Stream:
    """What has gone of a part in one encoding, as `Waiting` has it."""

    def __init__(self, file, encoding, base, datas, sent):
        self.file, self.encoding, self.base, self.datas, self.sent = file, encoding, base, datas, sent

    @property
    def stream(self):
        return b"".join(len(each).to_bytes(4, "big") + each for each in self.datas)[:self.sent]

    def is_of(self, file):
        return (self.file["size"], self.file["sha256"]) == (file["size"], file["sha256"])

    def rest(self, position):
        """What is to go from a position on."""
        left, at = [], 0
        for each in self.datas:
            start, at = at + 4, at + 4 + len(each)
            if position < at:
                left.append(each[max(0, position - start):])
        return left


@dataclasses.dataclass
class Sent:
    """A shipment that broke off, and what the program may have kept of it, and of those before."""

    held: Held
    streams: list


class Peer:
    def __init__(self, desk):
        self.desk, self.held, self.unfinished, self.number = desk, {}, {}, {}
        self.sources = sources.made(desk)

    def sides(self):
        own, theirs = Producer(), Consumer()
        for side in (own, theirs):
            sources.give(side, self.held)
            for name, broken in self.unfinished.items():
                side.unfinished |= {rules.content_id(each.held.content): each.held.content for each in broken}
                side.waiting[name] = [stream for each in broken for stream in each.streams]
        return own, theirs

    def made(self, source, chance):
        """A shipment of a store as it is now."""
        content = source.copy(self.desk.folder)
        manifest, files = manifest_of(source.name, source.path, content, chance), {}
        if source.name == "Recipes":
            folder = os.path.join(os.path.dirname(source.path), ".Recipes_SUPPORT", "_EXTERNAL_DATA")
            manifest["externalFiles"] = []
            for name in chance.sample(sorted(os.listdir(folder)), len(os.listdir(folder))):
                with open(os.path.join(folder, name), "rb") as file:
                    found = file.read()
                files[hashlib.sha256(found).hexdigest()] = found
                told = {"folder": "_EXTERNAL_DATA", "name": name, "size": len(found), "sha256": hashlib.sha256(found).hexdigest()}
                manifest["externalFiles"].append(told)
            manifest["coreData"] = {"entityVersionHashes": {"Photo": base64.b64encode(bytes(32)).decode()}}
            manifest["identity"] = str(uuid.uuid5(uuid.NAMESPACE_URL, "Recipes")).upper()
        return Held(manifest, content, files)


def is_other_store(before, after):
    """README.md 4.10, for stores that have a table's name in common."""
    if before.get("identity"):
        return before["identity"] != after.get("identity")

    def is_empty(manifest):
        return bool(manifest.get("tables")) and not any(table["rows"] for table in manifest["tables"].values())
    return is_empty(after) and not is_empty(before)
