"""The two state tables of section 6, walked by one side's eyes: what it sends itself and what it receives."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from itertools import accumulate

from decoder import json_rules as rules
from decoder.refused import Refused
from decoder.shipment import Shipment
from decoder.signature import VALUE_SIZE, completed, signer
from decoder.waiting import Waiting
from decoder.wire import (
    ANSWER, ASKABLE, BLOCKS, CANCEL, COLUMNS, COMPARE, DATA, DELTA, ENCODINGS, END, HELLO, MANIFEST, NEWEST, PART, QUESTION, RANGES, RECEIPT, REFUSAL,
    SIGNATURE, STAY, WORKING,
    Frame, Opening, Reader, content_of, opening, unpacked, unpacked_answer, unpacked_manifest, violation,
)  # fmt: skip


TOLD_AT_MOST = 262_144
"""Bytes of contents that receipts have told, which both sides keep (section 5.3)."""


class Ended(Exception):
    """The session is over for this side."""

    def __init__(self, end: str) -> None:
        super().__init__(end)
        self.end = end


@dataclass(frozen=True)
class Outcome:
    """How a shipment ended."""

    shipment: Shipment
    end: str
    signer: str | None = None

    @property
    def is_installed(self) -> bool:
        return self.end == "installed"

    def lines(self) -> list[tuple[str, str]]:
        found = [("shipment", f"{self.shipment.name} {self.end}")]
        found += [("signer", self.signer)] if self.signer else []
        return found + ([("part", line) for line in self.shipment.lines()] if self.is_installed else [])


class Side:
    """Walks through the turns; `own` is the side's label, every other one is the peer's."""

    def __init__(self, own: str) -> None:
        self.own = own
        self.state = "preamble"
        self.takes = {BLOCKS}
        self.current: Shipment | None = None
        """The one that is under way."""
        self.outcomes: list[Outcome] = []
        self.end: str | None = None
        self.code: str | None = None
        """Why this side has to end the shipment, or the other one has."""
        self.held: dict[bytes, bytes] = {}
        """What the consumer holds: contents of manifests, by their ids."""
        self.unfinished: dict[bytes, bytes] = {}
        """The same of what broke off, and waits."""
        self.opening: Opening | None = None
        self.opened_over = ""
        """How the part of it was opened of which a stream waits."""
        self.waiting: dict[str, list[Waiting]] = {}
        """Streams that wait, by the names of their stores."""
        self.named: dict[bytes, bytes] = {}
        """Of both, what its HELLO has told the producer of."""
        self.told: list[tuple[str, bytes]] = []
        """What its receipts have: the names of stores and the contents, the newest first (section 5.3)."""
        self.is_one_way = False
        self.peer_stays = False
        """Whether the consumer waits for a producer that stays (section 6.5)."""
        self.takes_signatures = False
        """Whether SIGNATURE may come in two-way mode (section 6.7)."""
        self.signature: bytes | None = None
        """What came or went before the next manifest."""
        self.certificate = b""
        """That of the last SIGNATURE, which the next one may leave out."""
        self.is_askable = False
        """Whether the producer answers questions (section 6.6)."""
        self.senders: list[str | None] = []
        """Which device has sent what is held, if that is known: of each that is still to be told, or of none."""
        self.generations: list[tuple[rules.Members, str | None]] = []
        """What the manifest of each generation says that is held, and which device has sent it; the current one of a store is the last."""
        self.stores: dict[str, bytes] = {}
        """What it can read of the stores that it holds, by their SHA-256."""
        self.external: dict[str, dict[str, bytes]] = {}
        """The same of the external files of each of these stores."""
        self.answered: bytes | None = None
        """What an answer may refer to (section 3.5)."""

    def takes_signature(self, payload: bytes) -> None:
        self.signature = completed(payload, self.certificate)
        self.certificate = self.signature[VALUE_SIZE:]

    def walk(self, turns: list[tuple[str, bytes]]) -> None:
        ours, theirs = Reader(b""), Reader(b"")
        peer = "consumer" if self.own == "producer" else "producer"
        started: set[str] = set()
        base = ""
        for label, data in turns:
            if label == "held":
                self.held[rules.content_id(data)] = data
                self.generations.append((json.loads(data), self.senders.pop(0) if self.senders else None))
                continue
            if label == "base":
                base = hashlib.sha256(data).hexdigest()
                self.stores[base] = data
                continue
            if label == "file":
                self.external.setdefault(base, {})[hashlib.sha256(data).hexdigest()] = data
                continue
            if label in ("unfinished", "whole", "opening", "over", "stream"):
                self.waits(label, data)
                continue
            is_own = label == self.own
            if self.end and not is_own:
                continue
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

    def waits(self, label: str, data: bytes) -> None:
        """A part of what broke off."""
        if label == "unfinished":
            self.unfinished[rules.content_id(data)] = data
            return
        manifest = json.loads(list(self.unfinished.values())[-1])
        files = [manifest["store"], *manifest.get("externalFiles", [])]
        if label == "whole":
            if hashlib.sha256(data).hexdigest() not in [file["sha256"] for file in files]:
                raise AssertionError("no part of what broke off")
        elif label == "opening":
            self.opening, self.opened_over = opening(data), ""
        elif label == "over":
            self.opened_over = data.hex()
        else:
            assert self.opening is not None
            found = Waiting(files[self.opening.part], self.opening.encoding, self.opened_over, data)
            self.waiting.setdefault(manifest["name"], []).append(found)

    def greeting(self, payload: bytes) -> None:
        hello = rules.hello(unpacked(payload))
        self.takes = encodings_of(hello)
        self.peer_stays = "stays" in hello
        self.takes_signatures = hello.get("signatures") in ("taken", "wanted")
        holds = hello.get("holds", [])
        named = [store["manifest"] for store in holds if "manifest" in store] + [each for store in holds for each in store.get("kept", [])]
        broken = [store["unfinished"] for store in holds if "unfinished" in store]
        self.named = {id: content for id, content in self.held.items() if id.hex().startswith(tuple(named))}
        self.named |= {id: content for id, content in self.unfinished.items() if id.hex().startswith(tuple(broken))}

    def manifest_of(self, payload: bytes) -> rules.Members:
        named = self.named | {rules.content_id(content): content for _, content in self.told}
        if self.signature is not None and payload[:1] == b"\2":
            raise Refused("bad-manifest", "signed, and a difference")
        manifest = rules.manifest(unpacked_manifest(payload, named))
        if "base" in manifest and not self.is_one_way:
            if self.signature is None:
                raise Refused("bad-manifest", "the consumer names the base")
            del manifest["base"]
        base = named[payload[1:17]] if payload[:1] == b"\2" else b""
        self.answered = base + rules.content(manifest)
        return manifest

    def answer(self, frame: Frame) -> rules.Members:
        return rules.answer(unpacked_answer(frame.payload, self.answered))

    def tells(self, name: str, content: bytes) -> None:
        self.told = [(name, content), *(told for told in self.told if told[0] != name)]
        sizes = accumulate(len(content) for _, content in self.told)
        self.told = [told for told, size in zip(self.told, sizes, strict=True) if size <= TOLD_AT_MOST]

    def lines(self) -> list[tuple[str, str]]:
        return [line for outcome in self.outcomes for line in outcome.lines()]

    def over(self, end: str, state: str = "between") -> None:
        """The shipment that is under way has its outcome."""
        assert self.current is not None
        self.outcomes.append(Outcome(self.current, end, self.signed_by()))
        self.current, self.state = None, state

    def signed_by(self) -> str | None:
        return None

    def check_session_word(self, code: str) -> None:
        if self.end != f"failed {code}":
            raise AssertionError(f"{self.own} says {code}, but is {self.end}")

    def check_code(self, code: str) -> None:
        if code != self.code:
            raise AssertionError(f"{self.own} says {code} instead of {self.code}")

    def greeted(self, mode: str) -> None:
        raise NotImplementedError

    def sent(self, frame: Frame) -> None:
        raise NotImplementedError

    def received(self, frame: Frame) -> None:
        raise NotImplementedError

    def link_ended(self) -> str:
        raise NotImplementedError


def last_word(frame: Frame) -> tuple[str, bool]:
    """The code, and whether the session is over."""
    word = rules.last_word(frame.payload)
    return word["code"], word["ends"] == "session"


def check_interval(payload: bytes) -> None:
    """Section 5.7."""
    if len(payload) != 4 or not 1 <= int.from_bytes(payload, "big") <= 3600:
        raise Refused("bad-manifest", "STAY with another payload")


def check_question(payload: bytes) -> None:
    """Section 5.8."""
    if len(payload) < 9:
        raise Refused("bad-manifest", "a question that names no store")
    rules.store_name(payload[8:].decode("ascii", "replace"))


def check_newest(payload: bytes) -> None:
    """Section 5.8."""
    if len(payload) != 24:
        raise Refused("bad-manifest", "NEWEST with another payload")


def encodings_of(hello: rules.Members) -> set[int]:
    return {BLOCKS} | {ENCODINGS[name] for name in hello.get("encodings", []) if name in ENCODINGS}


class Producer(Side):
    def __init__(self) -> None:
        super().__init__("producer")
        self.is_compared = False
        """Whether a RANGES may still come after CANCEL."""

    def greeted(self, mode: str) -> None:
        self.state = "hello"

    def sent(self, frame: Frame) -> None:
        if frame.type == CANCEL:
            return self.gives_up(*last_word(frame))
        match self.state, frame.type:
            case "between", t if t == SIGNATURE and self.takes_signatures and self.signature is None:
                self.takes_signature(frame.payload)
            case "between", t if t == MANIFEST:
                manifest = self.manifest_of(frame.payload)
                self.signature = None
                self.current = Shipment(manifest, self.takes, waiting=self.waiting.get(manifest["name"], []))
                self.state = "answer"
            case "sending", t if t == COMPARE and self.current:
                self.current.compare(frame.payload)
                self.state = "comparing"
            case "sending", t if t == PART and self.current:
                self.current.open(opening(frame.payload))
            case "sending", t if t == DATA and self.current:
                self.current.append(*content_of(frame.payload))
            case "sending", t if t == END and self.current:
                self.current.complete()
                self.state = "receipt"
            case "between", t if t == END and self.outcomes:
                self.state = "ended"
            case "between", t if t == STAY and self.peer_stays:
                check_interval(frame.payload)
            case "between", t if t == ASKABLE and self.peer_stays:
                self.is_askable = True
            case "between", t if t == NEWEST and self.is_askable:
                check_newest(frame.payload)
            case _:
                raise violation(f"{frame.type} in state {self.state}")

    def gives_up(self, code: str, is_session: bool) -> None:
        if is_session:
            return self.check_session_word(code)
        match self.state:
            case "answer" | "sending" | "comparing":
                self.is_compared = self.state == "comparing"
                self.code, self.state = code, "last word"
            case "unable":
                self.check_code(code)
                self.state = "last word"
            case "refused":
                self.check_code(code)
                self.over(f"refused {code}")
            case _:
                raise violation(f"CANCEL in state {self.state}")

    def received(self, frame: Frame) -> None:
        if self.state == "ended":
            return
        if frame.type == REFUSAL:
            return self.refused(*last_word(frame))
        match self.state, frame.type:
            case _, t if t == QUESTION and self.is_askable:
                check_question(frame.payload)
            case "hello", t if t == HELLO:
                self.greeting(frame.payload)
                self.state = "between"
            case "answer", t if t == ANSWER and self.current:
                self.can_send(self.current.want(self.answer(frame)))
            case "receipt", t if t == ANSWER and self.current:
                self.can_send(self.current.want_again(self.answer(frame)))
            case "comparing", t if t == RANGES and self.current:
                self.state = "sending"
            case "last word", t if t == RANGES and self.is_compared:
                self.is_compared = False
            case "last word", t if t == ANSWER:
                self.answer(frame)
            case ("answer" | "last word"), t if t == RECEIPT:
                self.receipt(frame, "unchanged")
            case "receipt", t if t == RECEIPT:
                self.receipt(frame, "installed")
            case _:
                raise violation(f"{frame.type} in state {self.state}")

    def can_send(self, can: bool) -> None:
        self.state = "sending" if can else "unable"
        self.code = None if can else "feature-not-supported"

    def refused(self, code: str, is_session: bool) -> None:
        if is_session:
            raise Ended(f"refused {code}")
        match self.state:
            case "answer" | "receipt":
                self.over(f"refused {code}")
            case "sending" | "comparing":
                self.code, self.state = code, "refused"
            case "last word":
                self.over(f"cancelled {self.code}")
            case _:
                raise violation("a shipment is refused, and none is under way")

    def receipt(self, frame: Frame, expected: str) -> None:
        receipt = rules.receipt(unpacked_answer(frame.payload, self.answered))
        if receipt["outcome"] != expected:
            raise violation(receipt["outcome"])
        manifest = self.current.manifest if self.current else {}
        if receipt["name"] != manifest.get("name"):
            raise Refused("bad-manifest", "a receipt for another store")
        if receipt["sha256"] != manifest["store"]["sha256"]:
            raise Refused("damaged", "another digest")
        if expected == "installed":
            self.tells(manifest["name"], rules.content(manifest))
        self.over(expected)

    def link_ended(self) -> str:
        return "done" if self.state == "ended" else "failed protocol-violation"


class Consumer(Side):
    def __init__(self) -> None:
        super().__init__("consumer")
        self.given: set[str] = set()
        """Digests of stores that a person has said may be a base, whoever sends."""
        self.takes = {BLOCKS, COLUMNS, DELTA}
        self.signer: str | None = None

    def greeted(self, mode: str) -> None:
        self.is_one_way = mode == "one-way"
        self.state = "between"

    def signed_by(self) -> str | None:
        # In two-way mode the producer's side of a vector says the same.
        return self.signer if self.is_one_way else None

    def give(self, digest: str, store: bytes) -> None:
        self.given.add(digest)
        self.stores[digest] = store

    def sent(self, frame: Frame) -> None:
        match self.state, frame.type:
            case _, t if t == HELLO:
                self.greeting(frame.payload)
            case _, t if t == REFUSAL:
                self.refuses(*last_word(frame))
            case _, t if t == QUESTION and self.is_askable:
                check_question(frame.payload)
            case "comparing", t if t == RANGES and self.current:
                self.state = "receiving"
            case "answering", t if t == ANSWER and self.current:
                self.wants(self.answer(frame))
            case "unmade", t if t == ANSWER and self.current:
                self.current.want_again(self.answer(frame))
                self.state = "receiving"
            case "answering", t if t == RECEIPT:
                self.receipt(frame, "unchanged")
            case "installed", t if t == RECEIPT:
                self.receipt(frame, "installed")
            case _:
                raise violation(f"{frame.type} in state {self.state}")

    def wants(self, answer: rules.Members) -> None:
        assert self.current is not None
        self.current.want(answer)
        for part, goes_on in self.current.goes_on.items():
            self.current.stream_to(part, goes_on)
        stores = {json.loads(content)["store"]["sha256"] for content in self.held.values()}
        if not stores.issuperset(self.current.bases.values()):
            raise violation("a base that is not held")
        self.state = "receiving"

    def refuses(self, code: str, is_session: bool) -> None:
        if is_session:
            return self.check_session_word(code)
        match self.state:
            case "answering":
                self.over(f"refused {code}")
            case "receiving" | "comparing":
                self.over(f"refused {code}", "passing over")
            case "refusing" | "unmade":
                self.check_code(code)
                self.over(f"refused {code}")
            case "cancelled":
                self.check_code(code)
                self.over(f"cancelled {code}")
            case _:
                raise violation(f"REFUSAL in state {self.state}")

    def receipt(self, frame: Frame, expected: str) -> None:
        receipt = rules.receipt(unpacked_answer(frame.payload, self.answered))
        manifest = self.current.manifest if self.current else {}
        facts = (receipt["outcome"], receipt["name"], receipt["sha256"])
        if facts != (expected, manifest["name"], manifest["store"]["sha256"]):
            raise violation("a receipt that is not true")
        if self.current and expected == "installed":
            content = rules.content(manifest)
            self.held[rules.content_id(content)] = content
            self.tells(manifest["name"], content)
            if 0 in self.current.opened:
                self.stores[receipt["sha256"]] = bytes(self.current.contents[0])
            came = {file["sha256"]: bytes(self.current.contents[part]) for part, file in enumerate(self.current.files) if part in self.current.opened}
            self.external.setdefault(receipt["sha256"], {}).update(came)
        self.over(expected)

    def received(self, frame: Frame) -> None:
        match self.state, frame.type:
            case state, t if t == CANCEL and state != "ended":
                self.given_up(*last_word(frame))
            case "between", t if t == SIGNATURE:
                self.takes_signature(frame.payload)
                if not self.is_one_way and not self.takes_signatures:
                    raise violation("a signature in two-way mode")
                self.state = "signed manifest"
            case ("between" | "signed manifest"), t if t == MANIFEST:
                self.offered(frame.payload)
            case "between", t if t == STAY and not self.is_one_way:
                check_interval(frame.payload)
            case "between", t if t == ASKABLE and not self.is_one_way:
                self.is_askable = True
            case "between", t if t == NEWEST and not self.is_one_way:
                check_newest(frame.payload)
            case "receiving", t if t == COMPARE and self.current and not self.is_one_way:
                self.current.compare(frame.payload)
                self.state = "comparing"
            case "passing over", t if t == COMPARE and not self.is_one_way:
                pass
            case "receiving", t if t == PART and self.current:
                self.current.open(opening(frame.payload))
            case "receiving", t if t == DATA and self.current:
                self.current.append(*content_of(frame.payload))
            case "receiving", t if t == END and self.current:
                self.current.complete()
                self.finish(self.current)
            case "passing over", t if t == PART:
                opening(frame.payload)
            case "passing over", t if t == DATA:
                content_of(frame.payload)
            case "passing over", t if t == END:
                self.state = "between"
            case "between", t if t == END and self.outcomes:
                self.state = "ended"
                if not self.is_one_way:
                    raise Ended("done")
            case _:
                raise violation(f"{frame.type} in state {self.state}")

    def offered(self, payload: bytes) -> None:
        manifest = self.manifest_of(payload)
        self.signer = None
        if self.signature is not None:
            if "counter" not in manifest:
                raise Refused("bad-manifest", "signed, and without a counter")
            self.signer, self.signature = signer(self.signature, 1, payload), None
        self.current = Shipment(manifest, self.takes, self.stores, self.waiting.get(manifest["name"], []), self.external)
        self.state = "receiving" if self.is_one_way else "answering"
        try:
            rules.check_features(manifest)
            held = self.base_of(manifest)
        except Refused as refused:
            return self.refuse(refused, "passing over")
        if self.is_one_way:
            self.current.want_all(held)

    def base_of(self, manifest: rules.Members) -> rules.Members | None:
        """Section 4.12: the manifest of the base, if its content is named."""
        base = manifest.get("base")
        if base is None:
            return None
        there = [held for held, device in self.generations if (held["name"], device, held["store"]["sha256"]) == (manifest["name"], self.signer, base["sha256"])]
        if "content" in base:
            there = [held for held in there if rules.content_id(rules.content(held)).hex() == base["content"]]
        if not there and ("content" in base or base["sha256"] not in self.given):
            raise Refused("missing-base", base["sha256"])
        return there[-1] if "content" in base else None

    def refuse(self, refused: Refused, state: str = "between") -> None:
        """The shipment alone: where there is somebody to tell, they are told first."""
        if self.is_one_way:
            self.over(f"refused {refused.code}", state)
        else:
            self.code, self.state = refused.code, "refusing"

    def finish(self, shipment: Shipment) -> None:
        fault = shipment.unmade()
        if fault is not None:
            self.refuse(fault)
            if not self.is_one_way:
                self.state = "unmade"
            return
        try:
            shipment.verify()
        except Refused as refused:
            return self.refuse(refused)
        if self.is_one_way:
            held = [held for held, _ in self.generations if held["name"] == shipment.name]
            is_unchanged = bool(held) and shipment.is_same_as(held[-1])
            if not is_unchanged:
                self.generations.append((shipment.manifest, self.signer))
                self.stores[shipment.files[0]["sha256"]] = bytes(shipment.contents[0])
            self.over("unchanged" if is_unchanged else "installed")
        else:
            self.state = "installed"

    def given_up(self, code: str, is_session: bool) -> None:
        if is_session:
            raise Ended(f"cancelled {code}")
        match self.state:
            case "between" | "signed manifest" | "passing over":
                self.state, self.signature = "between", None
            case "answering" | "receiving" | "comparing":
                self.code, self.state = code, "cancelled"
                if self.is_one_way:
                    self.over(f"cancelled {code}")
            case _:
                raise violation(f"CANCEL in state {self.state}")

    def link_ended(self) -> str:
        return "done" if self.state == "ended" else "failed protocol-violation"
