"""The two state tables of section 6, walked by one side's eyes: what it sends itself and what it receives."""

from __future__ import annotations

from decoder import json_rules as rules
from decoder.refused import Refused
from decoder.shipment import Shipment
from decoder.signature import check_form, signer
from decoder.wire import (
    ACCEPT, BLOCK, CANCEL, COLUMNS, END, HELLO, MANIFEST, RECEIPT, REFUSAL, SIGNATURE, WORKING, Frame, Reader,
    unpacked_manifest, violation,
)  # fmt: skip


class Ended(Exception):
    """The session is over for this side."""

    def __init__(self, end: str) -> None:
        super().__init__(end)
        self.end = end


class Side:
    """Walks through the turns; `own` is the side's label, every other one is the peer's."""

    def __init__(self, own: str) -> None:
        self.own = own
        self.state = "preamble"
        self.shipment: Shipment | None = None
        self.outcome: str | None = None
        self.end: str | None = None

    def walk(self, turns: list[tuple[str, bytes]]) -> None:
        ours, theirs = Reader(b""), Reader(b"")
        peer = "consumer" if self.own == "producer" else "producer"
        started: set[str] = set()
        for label, data in turns:
            is_own = label == self.own
            reader = ours if is_own else theirs
            reader.append(data)
            try:
                side = "own" if is_own else "peer"
                if side not in started and data:
                    started.add(side)
                    mode = reader.preamble(peer if is_own else self.own).mode
                    if not is_own:
                        self.greeted(mode)
                while not reader.is_at_end:
                    frame = reader.frame()
                    if frame.type == WORKING or not frame.is_known:
                        continue
                    self.sent(frame) if is_own else self.received(frame)
            except Refused as refused:
                if is_own:
                    raise AssertionError(f"{self.own} sends what may not be sent: {refused}") from refused
                self.end = f"failed {refused.code}"
            except Ended as ended:
                self.end = self.end or ended.end
        self.end = self.end or self.link_ended()

    def check_last_word(self, frame: Frame) -> None:
        code = rules.last_word(frame.payload)["code"]
        if self.end != f"failed {code}":
            raise AssertionError(f"{self.own} says {code}, but is {self.end}")

    def greeted(self, mode: str) -> None:
        raise NotImplementedError

    def sent(self, frame: Frame) -> None:
        raise NotImplementedError

    def received(self, frame: Frame) -> None:
        raise NotImplementedError

    def link_ended(self) -> str:
        raise NotImplementedError


class Producer(Side):
    def __init__(self) -> None:
        super().__init__("producer")
        self.may_send_columns = False

    def greeted(self, mode: str) -> None:
        self.state = "hello"

    def sent(self, frame: Frame) -> None:
        match self.state, frame.type:
            case _, t if t == CANCEL:
                self.check_last_word(frame)
            case "manifest", t if t == MANIFEST:
                self.shipment = Shipment(rules.manifest(unpacked_manifest(frame.payload)))
                self.state = "answer"
            case "sending", t if t == BLOCK and self.shipment:
                self.shipment.append(frame.payload)
            case "sending", t if t == COLUMNS and self.shipment and self.may_send_columns:
                self.shipment.append_rows(frame.payload)
            case "sending", t if t == END and self.shipment:
                self.shipment.complete()
                if not self.shipment.store_is_rows:
                    self.shipment.verify()
                self.state = "receipt"
            case _:
                raise violation(f"{frame.type} in state {self.state}")

    def received(self, frame: Frame) -> None:
        match self.state, frame.type:
            case _, t if t == REFUSAL:
                raise Ended(f"refused {rules.last_word(frame.payload)['code']}")
            case "hello", t if t == HELLO:
                self.may_send_columns = "sqlite-columns" in rules.hello(frame.payload)["encodings"]
                self.state = "manifest"
            case "answer", t if t == ACCEPT and self.shipment:
                acceptance = rules.accept(frame.payload)
                if acceptance.get("plainly"):
                    raise violation("asks again for what was not sent")
                self.shipment.skip(acceptance.get("skip", []))
                self.state = "sending"
            case "receipt", t if t == ACCEPT and self.shipment and self.shipment.store_is_rows:
                acceptance = rules.accept(frame.payload)
                if not acceptance.get("plainly"):
                    raise violation("ACCEPT once more")
                self.shipment.ask_again(acceptance.get("skip", []))
                self.state = "sending"
            case ("answer" | "receipt") as state, t if t == RECEIPT:
                self.receipt(frame, "unchanged" if state == "answer" else "installed")
            case _:
                raise violation(f"{frame.type} in state {self.state}")

    def receipt(self, frame: Frame, expected: str) -> None:
        receipt = rules.receipt(frame.payload)
        if receipt["outcome"] != expected:
            raise violation(receipt["outcome"])
        manifest = self.shipment.manifest if self.shipment else {}
        if receipt["name"] != manifest.get("name"):
            raise Refused("bad-manifest", "a receipt for another store")
        if receipt["sha256"] != manifest["store"]["sha256"]:
            raise Refused("damaged", "another digest")
        self.outcome = expected
        raise Ended("done")

    def link_ended(self) -> str:
        return "failed protocol-violation"


class Consumer(Side):
    def __init__(self) -> None:
        super().__init__("consumer")
        self.is_one_way = False
        self.takes_columns = True
        self.signature: bytes | None = None
        self.signer: str | None = None

    def greeted(self, mode: str) -> None:
        self.is_one_way = mode == "one-way"
        self.state = "manifest"

    def sent(self, frame: Frame) -> None:
        match self.state, frame.type:
            case _, t if t == HELLO:
                self.takes_columns = "sqlite-columns" in rules.hello(frame.payload)["encodings"]
            case _, t if t == REFUSAL:
                self.check_last_word(frame)
            case "answering", t if t == ACCEPT and self.shipment:
                acceptance = rules.accept(frame.payload)
                if acceptance.get("plainly"):
                    raise violation("nothing can come again")
                self.shipment.skip(acceptance.get("skip", []))
                self.state = "receiving"
            case "answering", t if t == RECEIPT:
                self.receipt(frame, "unchanged")
            case "unmade", t if t == ACCEPT and self.shipment:
                acceptance = rules.accept(frame.payload)
                if not acceptance.get("plainly"):
                    raise violation("an answer to no question")
                self.shipment.ask_again(acceptance.get("skip", []))
                self.state = "receiving"
            case "installed", t if t == RECEIPT:
                self.receipt(frame, "installed")
            case _:
                raise violation(f"{frame.type} in state {self.state}")

    def receipt(self, frame: Frame, expected: str) -> None:
        receipt = rules.receipt(frame.payload)
        manifest = self.shipment.manifest if self.shipment else {}
        facts = (receipt["outcome"], receipt["name"], receipt["sha256"])
        if facts != (expected, manifest["name"], manifest["store"]["sha256"]):
            raise violation("a receipt that is not true")
        self.outcome = expected
        raise Ended("done")

    def received(self, frame: Frame) -> None:
        match self.state, frame.type:
            case ("manifest" | "signed manifest" | "answering" | "receiving"), t if t == CANCEL:
                raise Ended(f"cancelled {rules.last_word(frame.payload)['code']}")
            case "manifest", t if t == SIGNATURE:
                check_form(frame.payload)
                if not self.is_one_way:
                    raise violation("a signature in two-way mode")
                self.signature, self.state = frame.payload, "signed manifest"
            case ("manifest" | "signed manifest"), t if t == MANIFEST:
                manifest = rules.manifest(unpacked_manifest(frame.payload))
                if self.signature is not None:
                    if "counter" not in manifest:
                        raise Refused("bad-manifest", "signed, and without a counter")
                    self.signer = signer(self.signature, 1, frame.payload)
                self.shipment = Shipment(manifest)
                self.state = "receiving" if self.is_one_way else "answering"
            case "receiving", t if t == BLOCK and self.shipment:
                self.shipment.append(frame.payload)
            case "receiving", t if t == COLUMNS and not self.takes_columns:
                raise Refused("feature-not-supported", "sqlite-columns")
            case "receiving", t if t == COLUMNS and self.shipment:
                self.shipment.append_rows(frame.payload)
            case "receiving", t if t == END and self.shipment:
                self.shipment.complete()
                self.state = self.verified(self.shipment)
            case _:
                raise violation(f"{frame.type} in state {self.state}")

    def verified(self, shipment: Shipment) -> str:
        """What a one-way consumer has nobody to ask for, a two-way one asks for once more."""
        try:
            if shipment.store_is_rows:
                shipment.make_store()
        except Refused:
            if self.is_one_way:
                raise
            return "unmade"
        shipment.verify()
        return "complete" if self.is_one_way else "installed"

    def link_ended(self) -> str:
        return "done" if self.state == "complete" else "failed protocol-violation"
