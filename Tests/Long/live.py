"""A live two-way session with the program, and two walks beside it: of what this side may send, and of what the program may."""
import os
import select
import time

from decoder.refused import Refused
from decoder.sides import Consumer, Ended
from decoder import json_rules as rules
from decoder.wire import CANCEL, ENCODINGS, END, HELLO, PREAMBLE_SIZE, RECEIPT, REFUSAL, WORKING, Reader, unpacked, unpacked_answer
from desk import Flaw
from encoder.piece import joined
from encoder.wire import frame, preamble

LONGEST = 30  # seconds of a dialogue
WORKING_EACH = 1  # second in which this side has said nothing, while it reads
STATUSES = {
    76: ("version-not-supported", "unknown-frame", "protocol-violation", "feature-not-supported"),
    65: ("damaged", "bad-manifest", "bad-store", "wrong-model", "wrong-schema", "probe-failed"),
    73: ("too-large", "no-space", "cannot-install", "held", "rolled-back", "other-store"),
    72: ("missing-base",), 75: ("busy", "timed-out", "stopped"), 77: ("not-trusted", "bad-signature", "replayed"),
}
NAMES = {number: name for name, number in ENCODINGS.items()}
CODES = [code for codes in STATUSES.values() for code in codes] + ["of-a-later-version"]


def status_of(code):
    """README.md 7."""
    return next((status for status, codes in STATUSES.items() if code in codes), 69)


class Cut(Exception):
    """This side has read as much as it wants to."""


class Gone(Exception):
    """The program has ended its direction."""


class Link:
    """Two descriptors; it reads by as many bytes at once as chance likes."""

    def __init__(self, reader, writer, chance):
        self.reader, self.writer = reader, writer
        self.at_once = chance.choice([1, 3, 100, 4096, 65_536, 65_536, 65_536])
        self.end = time.monotonic() + LONGEST
        self.buffer = b""
        self.left = None
        """Bytes that are still read, or written; None for all."""
        self.left_to_write = None
        self.unsent = 0
        """Of what was written last."""
        self.silent_since = None
        """When this side has last written; None before its preamble, and once it has ended its direction."""

    def has_more(self):
        return bool(self.buffer) or bool(select.select([self.reader], [], [], 0)[0])

    def is_readable(self):
        """Whether the program has said something within a second; this side says that it is there (README.md 6.3)."""
        if time.monotonic() > self.end:
            raise Flaw(f"the program has not come to an end after {LONGEST} s")
        if self.silent_since and time.monotonic() > self.silent_since + WORKING_EACH:
            self.write(joined(frame(WORKING)))
        return bool(select.select([self.reader], [], [], WORKING_EACH)[0])

    def ended(self):
        """This side has closed what it writes to."""
        self.silent_since = None

    def fill(self, count):
        while len(self.buffer) < count:
            if self.left == 0:
                raise Cut
            while not self.is_readable():
                pass
            try:
                found = os.read(self.reader, min(self.at_once, self.left or self.at_once))
            except ConnectionResetError:
                found = b""
            if not found:
                raise Gone
            self.left = self.left if self.left is None else self.left - len(found)
            self.buffer += found

    def taken(self, count):
        self.fill(count)
        found, self.buffer = self.buffer[:count], self.buffer[count:]
        return found

    def frame(self):
        self.fill(5)
        return self.taken(9 + int.from_bytes(self.buffer[1:5], "big"))

    def write(self, data):
        self.unsent, self.silent_since = len(data), time.monotonic()
        most = len(data) if self.left_to_write is None else min(len(data), self.left_to_write)
        try:
            while self.unsent > len(data) - most:
                if not select.select([], [self.writer], [], max(0, self.end - time.monotonic()))[1]:
                    raise Flaw(f"the program has taken nothing more for up to {LONGEST} s")
                self.unsent -= os.write(self.writer, data[len(data) - self.unsent:most][:65_536])
        except (BrokenPipeError, ConnectionResetError):
            pass  # What it has said before is still to be read.
        if self.left_to_write is not None:
            self.left_to_write -= most
            if most < len(data):
                raise Cut


class Live:
    def __init__(self, link, own, theirs):
        self.link, self.own, self.theirs = link, own, theirs
        self.role = 2 if isinstance(own, Consumer) else 1
        self.crossing = b""
        """What may cross what the program sends, and which it has not shown that it has read."""
        self.said = {}
        """The program's last message, where that is none of a producer."""

    def greet(self):
        self.link.write(joined(preamble(role=self.role)))
        self.theirs.greeted("two-way")

    def is_greeted(self):
        """Reads the program's preamble."""
        try:
            mode = Reader(self.link.taken(PREAMBLE_SIZE)).preamble(self.own.own).mode
        except Refused as why:
            raise Flaw(f"the program's preamble: {why}") from why
        if mode != "two-way":
            raise Flaw("the program does not speak in both directions")
        self.own.greeted(mode)

    def hear(self):
        """The program's next frame that says anything; None at its end."""
        while True:
            try:
                data = self.link.frame()
            except Gone:
                self.crossed()
                self.own.end = self.own.end or self.own.link_ended()
                return None
            try:
                frame = Reader(data).frame()
            except Refused as why:
                raise Flaw(f"a frame of the program's: {why}") from why
            if frame.type == WORKING or not frame.is_known:
                continue
            self.judge(frame)
            return frame

    def judge(self, frame):
        # A producer that cannot send what is wanted may give up before it has read what crosses this.
        if frame.type == CANCEL and rules.last_word(frame.payload)["code"] != "feature-not-supported":
            self.crossed()
        try:
            # Who has found a fault has sent before it what crosses this.
            if not self.theirs.end or frame.type in (CANCEL, REFUSAL):
                self.theirs.sent(frame)
        except Ended:
            pass
        except (Refused, AssertionError) as why:
            raise Flaw(f"the program ({self.theirs.state}, {self.theirs.end}) sends what it may not: {why}") from why
        if frame.type in (END, CANCEL):
            self.crossed()
        if self.own.end:
            return
        if frame.type == HELLO:
            self.said = rules.hello(unpacked(frame.payload))
        elif frame.type == RECEIPT:
            self.said = rules.receipt(unpacked_answer(frame.payload, self.own.answered))
        elif frame.type == REFUSAL:
            self.said = rules.last_word(frame.payload)
        try:
            self.own.received(frame)
        except Ended as ended:
            self.own.end = ended.end
        except Refused as why:
            raise Flaw(f"the program sends what may not come ({self.own.state}): {why}") from why

    def say(self, pieces, is_right=True, crosses=False, owns=None):
        """One frame, or optional ones and then one; `is_right`: this side may send it; `owns`: what it would have, if that is another."""
        data = joined(pieces)
        self.link.write(data)
        if is_right:
            try:
                for frame in frames(joined(owns) if owns else data):
                    self.own.sent(frame)
            except (Refused, AssertionError) as why:
                raise Flaw(f"by its own walk ({self.own.state}) the peer sends what it may not: {why}") from why
        if crosses:
            self.crossing += data
        else:
            self.arrives(data)

    def crossed(self):
        data, self.crossing = self.crossing, b""
        self.arrives(data)

    def arrives(self, data):
        if self.theirs.end:
            return
        try:
            for frame in frames(data):
                self.theirs.received(frame)
        except Refused as why:
            self.theirs.end = f"failed {why.code}"
        except Ended as ended:
            self.theirs.end = ended.end

    def counted(self, completed=()):
        """The outcomes that the program tells of: of each store the last, and none of what it has only completed first, by name."""
        outcomes, current = self.theirs.outcomes, self.theirs.current
        names = [each.shipment.name for each in outcomes] + ([current.name] if current else [])
        return [each for place, each in enumerate(outcomes)
                if each.shipment.name not in names[place + 1:] and (each.shipment.name not in completed or names.count(each.shipment.name) > 1)]

    def expected(self, outcomes):
        """The exit status of the program: of the first shipment that failed, or else of the session."""
        end = self.theirs.end or self.theirs.link_ended()
        failed = [each.end for each in outcomes if each.end not in ("installed", "unchanged")]
        words = [*failed, *([end] if end != "done" else [])]
        return status_of(words[0].split()[1]) if words else 0


def frames(data):
    reader = Reader(data)
    while not reader.is_at_end:
        frame = reader.frame()
        if frame.type != WORKING and frame.is_known:
            yield frame


def tail(words):
    """The end of what the program has said to people."""
    return words.decode(errors="replace").replace("Ж", "")[-400:]
