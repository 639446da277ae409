"""PUBLISHED.md 4: what a follower makes of a store that is published."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from decoder import json_rules as rules
from decoder import publication
from decoder.json_rules import Members
from decoder.place import Missing, Place, certificates, object_of
from decoder.refused import Refused
from decoder.short import whole
from decoder.shipment import Shipment
from decoder.sides import Consumer
from decoder.way import Held, way

MOST_CATALOGS = 256


@dataclass(frozen=True)
class Copy:
    """A store that the publisher has shipped."""

    manifest: Members
    store: bytes
    shipment: Shipment | None = None

    @property
    def content(self) -> str:
        return rules.content_id(rules.content(self.manifest)).hex()

    @property
    def digest(self) -> str:
        found: str = self.manifest["store"]["sha256"]
        return found


class Published:
    """A store of a head."""

    def __init__(self, place: Place, head: publication.Head, members: Members, in_head: list[tuple[Members, bytes]]) -> None:
        self.place = place
        self.publisher = head.publisher
        self.certificate = head.certificate
        self.members = members
        self.in_head = in_head
        self.read: list[publication.Catalog] = []
        """The catalogs that have been read, the last one first."""

    @property
    def name(self) -> str:
        found: str = self.members["name"]
        return found

    def catalogs(self) -> Iterator[publication.Catalog]:
        """The last one first, and at most as many as a follower reads."""
        yield from self.read
        object = self.read[-1].before if self.read else self.members.get("catalog")
        while object is not None and len(self.read) < MOST_CATALOGS:
            try:
                found = self.catalog(object)
            except Missing:
                if not self.read:
                    raise
                return
            self.read.append(found)
            yield found
            object = found.before

    def catalog(self, object: Members) -> publication.Catalog:
        found = publication.catalog(object_of(self.place, object["sha256"], object["size"]))
        if found.name != self.name:
            raise Refused("bad-manifest", f"the catalog of {self.name} is that of {found.name}")
        return found

    def steps(self, number: int = 0) -> list[Members]:
        """All that lead on from contents with this number or higher ones, the oldest first."""
        found = {(step.get("from"), step["to"], step["counter"]): step for step, _ in self.in_head}
        for catalog in self.catalogs():
            for step in catalog.all_steps():
                found.setdefault((step.get("from"), step["to"], step["counter"]), step)
            if catalog.end["counter"] <= number:
                break
        return sorted(found.values(), key=lambda step: step["counter"])

    def way(self, held: Held) -> list[Members] | None:
        """Catalogs are read only if the steps in the head do not lead there."""
        newest = self.members["newest"]
        if held.content == newest or held.number >= self.members["counter"]:
            return []
        return way([step for step, _ in self.in_head], newest, held) or way(self.steps(held.number), newest, held)

    def shipment(self, step: Members, base: Copy | None) -> bytes:
        if "sha256" in step:
            return object_of(self.place, step["sha256"], step["size"])
        for each, short in chain(self.in_head, *map(self.bundled, self.read)):
            if each is step:
                signature = bytes.fromhex(step["signature"]) if "signature" in step else None
                return whole(short, signature, self.certificate, rules.content(base.manifest) if base else None, step.get("from"))
        raise AssertionError("a step of another store")

    def bundled(self, catalog: publication.Catalog) -> Iterator[tuple[Members, bytes]]:
        if object := catalog.members.get("bundle"):
            yield from catalog.shipments(object_of(self.place, object["sha256"], object["size"]))

    def taken(self, step: Members, base: Copy | None) -> Copy | None:
        """What the step makes of its base; none where it has one and that is not given. It is what the step says all the same, if it has an object."""
        if base is None and "from" in step and "sha256" not in step:
            return None
        # What stands in a head or in a bundle is proven by the signature of the head (PUBLISHED.md 3).
        is_proven = "sha256" not in step and "signature" not in step
        consumer = Consumer()
        if base is not None and "from" in step:
            consumer.generations = [(base.manifest, None if is_proven else self.publisher)]
            consumer.stores = {base.digest: base.store}
        consumer.walk([("producer", self.shipment(step, base))])
        if consumer.end != "done" or len(consumer.outcomes) != 1:
            raise Refused("protocol-violation", f"no shipment of one store: {consumer.end}, {len(consumer.outcomes)} shipments")
        outcome = consumer.outcomes[0]
        manifest = outcome.shipment.manifest
        found = Copy(manifest, bytes(outcome.shipment.contents[0]), outcome.shipment)
        if outcome.signer != (None if is_proven else self.publisher):
            raise Refused("bad-signature", f"the shipment is signed by {outcome.signer}")
        facts = {
            "name": (manifest["name"], self.name),
            "counter": (manifest.get("counter"), step["counter"]), "content": (found.content, step["to"]),
            "whether there is a base": ("base" in manifest, "from" in step),
        }  # fmt: skip
        if base is not None and "from" in step:
            facts["base"] = (manifest.get("base", {}).get("sha256"), base.digest)
        for fact, (is_there, stated) in facts.items():
            if is_there != stated:
                raise Refused("bad-manifest", f"{fact} of the shipment is {is_there}, and not {stated}")
        if outcome.end == "refused missing-base" and base is None and "from" in step:
            return None
        if outcome.end not in ("installed", "unchanged"):
            raise Refused(outcome.end.split()[-1], f"the shipment is {outcome.end}")
        return found


def former_heads(place: Place, head: publication.Head, known: str | None = None) -> list[publication.Head]:
    """PUBLISHED.md 8: the last heads of the devices before, the last one first, up to that of a known device."""
    found: list[publication.Head] = []
    last = head
    while (object := last.members.get("before")) and len(found) < publication.MOST_FORMER and last.publisher != known:
        former = publication.head(object_of(place, object["sha256"], object["size"]), certificates(place))
        for fact, is_right in {
            "publication": former.members["publication"] == last.members["publication"],
            "number": former.members["number"] < last.members["number"], "next": former.members.get("next") == last.publisher,
        }.items():  # fmt: skip
            if not is_right:
                raise Refused("damaged", f"{fact} of the head of the device before is another one")
        found.append(former)
        last = former
    return found


def stores(place: Place, head: publication.Head) -> Iterator[Published]:
    for members, in_head in head.with_shipments():
        yield Published(place, head, members, in_head)
