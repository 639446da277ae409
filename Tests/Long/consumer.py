"""The Python of Protocol/ as the consumer: it holds a session with `ship-store send`, and answers as chance likes."""
import dataclasses
import hashlib
import json
import os
import socket
import subprocess

import sources
from decoder import json_rules as rules
from decoder.ranges import Answers
from decoder.sides import Consumer, Producer
from decoder.waiting import Waiting, cut
from decoder.wire import ANSWER, BLOCKS, CANCEL, COMPARE, DATA, ENCODINGS, END, HELLO, MANIFEST, PART, RANGES, RECEIPT, REFUSAL, content_of, opening
from desk import Flaw
from encoded import packed
from encoder.piece import binary
from encoder.wire import PADDING, WORKING, frame, header, message
from live import CODES, LONGEST, NAMES, Cut, Link, Live, tail
from sources import Held


@dataclasses.dataclass
class Unfinished:
    """What waits of a shipment that broke off."""

    manifest: dict
    whole: dict
    waiting: Waiting | None

    @property
    def content(self):
        return rules.content(self.manifest)


class Peer:
    """What a consumer keeps from one session to the next."""

    def __init__(self, desk):
        self.desk = desk
        self.held = {}
        """Of each name its generations, the newest last."""
        self.unfinished = {}
        self.sources = sources.made(desk)
        os.mkfifo(desk.path("to"))
        os.mkfifo(desk.path("back"))

    def sides(self):
        own, theirs = Consumer(), Producer()
        for side in (own, theirs):
            sources.give(side, self.held)
            for name, each in self.unfinished.items():
                side.unfinished[rules.content_id(each.content)] = each.content
                side.waiting[name] = [each.waiting] if each.waiting else []
        return own, theirs

    def hello(self, chance):
        members = {"software": chance.choice(["python 3", "Жук 🪲", "x" * 256])}
        if chance.random() < 0.85:
            members["encodings"] = chance.sample(["columns", "delta", "blocks", "of-later"], chance.randrange(1, 5))
        holds = []
        for name in sorted({*self.held, *self.unfinished}):
            generations, element = self.held.get(name, []), {"name": name}
            if generations and chance.random() < 0.8:
                element["manifest"] = rules.content_id(generations[-1].content).hex()
            if generations[:-1] and chance.random() < 0.6:
                element["kept"] = [rules.content_id(each.content).hex()[:8] for each in generations[-2::-1]]
            if name in self.unfinished and chance.random() < 0.8:
                element["unfinished"] = rules.content_id(self.unfinished[name].content).hex()[:8]
            holds += [element] if len(element) > 1 else []
        chance.shuffle(holds)
        if holds or chance.random() < 0.5:
            members["holds"] = holds
        if chance.random() < 0.2:
            members |= {"stays": 3600, "signatures": "taken", "later": [{}, None]}
        return members


class Dialogue:
    def __init__(self, peer, live, chance, plan):
        self.peer, self.live, self.chance, self.plan = peer, live, chance, plan
        self.own, self.link = live.own, live.link
        self.stream, self.whole, self.done, self.told = None, {}, [], []

    def say(self, kind, members, **how):
        answered = self.own.answered if kind in (ANSWER, RECEIPT) else None
        pieces = packed(kind, members, self.chance, answered) if kind in (HELLO, ANSWER, RECEIPT) else message(kind, members)
        if self.chance.random() < 0.1:
            pieces = [*frame(self.chance.choice([WORKING, PADDING, 0xF0])), *pieces]
        self.live.say(pieces, **how)

    def refuse(self, ends, **how):
        code = self.chance.choice(CODES)
        self.done.append(f"refused the {ends}")
        word = {"code": code, "message": self.chance.choice(["no", "", "line\n\x1b[31mred", "Ж" * 512])}
        self.say(REFUSAL, word | ({"ends": ends} if ends == "shipment" or self.chance.random() < 0.5 else {}), is_right=ends == "shipment", **how)
        if ends == "session":
            self.own.end = "refused"

    def break_a_rule(self, **how):
        chance, current = self.chance, self.own.current
        receipt = {"name": "Other", "generation": 1, "sha256": "0" * 64, "outcome": "installed"}
        manifest = current.manifest if current else {"name": "First", "store": {"sha256": "1" * 64}}
        true = {"name": manifest["name"], "generation": 1, "sha256": manifest["store"]["sha256"]}
        self.own.end = "failed"
        self.done.append("broke a rule")
        rules_of_frames = [
            message(ANSWER, {}, flip=1), frame(0x0D), frame(0), frame(END), message(HELLO, {"software": "x"}), frame(RANGES),
            frame(DATA, binary(b"\1x")), header(ANSWER, 262_146), header(0x90, 65_537), frame(REFUSAL, binary(b"{}")),
            message(REFUSAL, {"code": "", "message": "", "ends": "shipment"}),
            message(REFUSAL, {"code": "busy", "message": "x" * 1025}), message(REFUSAL, {"code": "busy", "message": "", "ends": "all"}),
        ]
        # Whether the place of a frame or its payload is looked at first is the program's affair: these are in their place.
        rules_of_messages = [
            message(ANSWER, {"wants": [{"part": 16_384}]}), message(ANSWER, {"wants": [{"part": 0, "encodings": []}]}),
            message(ANSWER, {"wants": [{"part": 0}, {"part": 0}]}), frame(ANSWER, binary(b"\x09{}")), frame(ANSWER, binary(b"\1\x4b\x4b")),
            frame(ANSWER), frame(RECEIPT, binary(b"\3")), message(RECEIPT, receipt), message(RECEIPT, true | {"outcome": "of course"}),
            message(RECEIPT, true | {"generation": 0, "outcome": "unchanged"}),
        ]
        self.live.say(chance.choice(rules_of_frames + ([] if how else rules_of_messages)), is_right=False, **how)

    def run(self):
        try:
            self.live.greet()
            self.say(HELLO, self.peer.hello(self.chance))
            self.live.is_greeted()
            while (found := self.live.hear()) is not None and self.own.end != "done":
                if not self.own.end:
                    self.step(found)
        except Cut:
            self.done.append("cut")
            self.break_off()
        return self.done

    def step(self, found):
        current, chance = self.own.current, self.chance
        if found.type == MANIFEST:
            self.stream, self.whole = None, {}
            self.offered(current)
        elif found.type == PART and current:
            begun = opening(found.payload)
            base = current.bases.get(begun.part, "") if NAMES[begun.encoding] == "delta" else ""
            prefix = current.stream_to(begun.part, current.goes_on[begun.part]) if begun.position else b""
            self.done += ["resumed"] if begun.position else []
            self.stream = Waiting(current.files[begun.part], begun.encoding, base, prefix)
        elif found.type == DATA and self.stream:
            data, is_last = content_of(found.payload)
            self.stream = dataclasses.replace(self.stream, stream=continued(self.stream.stream, data))
            if is_last and current:
                self.whole[current.last.part] = bytes(current.contents[current.last.part])
                self.stream = None
        elif found.type == COMPARE and current:
            if current.asked == 1:
                self.answers = Answers(self.own.stores[current.bases[0]], chance.randbytes(16)) if chance.random() < 0.8 else None
            self.live.say(frame(RANGES, binary(self.answers.answer(found.payload) if self.answers else b"", "ranges")))
            self.done.append("compared")
        elif found.type == CANCEL and self.own.state == "cancelled":
            if self.own.code != "feature-not-supported" or all(BLOCKS in wanted for wanted in self.live.theirs.current.wanted.values()):
                raise Flaw(f"the program has given up for {self.own.code}, and nothing was wrong")
            self.done.append("cancelled")
            self.say(REFUSAL, {"code": self.own.code, "message": "as you say", "ends": "shipment"})
        elif found.type == END and self.own.state in ("installed", "unmade", "refusing"):
            self.complete(current)
        if found.type in (PART, DATA) and self.own.state == "receiving" and self.plan == "in the middle" and chance.random() < 0.3:
            self.plan = "well"
            way = chance.choice(["shipment", "session", None])
            self.refuse(way, crosses=True) if way else self.break_a_rule(crosses=True)

    def offered(self, current):
        chance, held = self.chance, self.peer.held.get(current.name, [])
        for one in ("refuse", "end", "break"):
            if self.plan == one and chance.random() < 0.6:
                self.plan = "well"
                return {"refuse": lambda: self.refuse("shipment"), "end": lambda: self.refuse("session"), "break": self.break_a_rule}[one]()
        if held and current.is_same_as(held[-1].manifest):
            self.done.append("unchanged")
            return self.receipt(current, "unchanged", len(held))
        answer = self.answer(current, held)
        self.say(ANSWER, answer)
        if self.plan == "cut" and chance.random() < 0.7:
            self.link.left = int(2 ** (chance.random() * 19))

    def answer(self, current, held):
        chance, waits = self.chance, self.peer.unfinished.get(current.name)
        base, wants = chance.choice(held) if held and chance.random() < 0.75 else None, []
        for part, file in enumerate(current.files):
            if not file["size"]:
                continue
            known = waits.whole if waits else {}
            there = next((known[place] for place in known if hashlib.sha256(known[place]).hexdigest() == file["sha256"]), None)
            if part and there is None:
                there = next((each.files[file["sha256"]] for each in held if file["sha256"] in each.files), None)
            if there is not None and chance.random() < 0.8:
                self.whole[part] = there
                self.done.append("left out")
                continue
            want = {"part": part}
            if chance.random() < 0.3:
                want["encodings"] = chance.sample(["columns", "delta", "blocks", "of-later"], chance.randrange(1, 5))
            if base and (part == 0 or base.files):
                want["base"] = base.manifest["store"]["sha256"]
            waiting = waits.waiting if waits else None
            possible = {ENCODINGS.get(name) for name in want.get("encodings", [])} or current.takes - (set() if part == 0 else {2})
            if waiting and waiting.is_of(file) and waiting.encoding in possible and waiting.base in ("", want.get("base")):
                stream = waiting.stream[:chance.choice([len(waiting.stream), chance.randrange(1, len(waiting.stream) + 1)])]
                if len(stream) > 4 and cut(stream):
                    told = {"encoding": NAMES[waiting.encoding], "position": len(stream), "sha256": hashlib.sha256(stream).hexdigest()}
                    want["from"] = told
            wants.append(want)
        is_plain = not self.whole and all(set(want) == {"part"} for want in wants)
        return {} if is_plain and chance.random() < 0.8 else {"wants": wants}

    def complete(self, current):
        chance = self.chance
        if self.own.state != "installed" and not current.asked:
            raise Flaw(f"what the program has sent of {current.name} makes something else: {self.own.code}")
        again = [part for part, wanted in current.opened.items() if BLOCKS not in wanted]
        if again and (self.own.state == "unmade" or self.plan == "again"):
            # To a producer, a consumer that does not want to decode any longer looks as this.
            self.own.state, self.plan = "unmade", "well"
            self.done.append("asked again")
            untried = {part: ["blocks"] if part or 2 in current.opened[part] else ["columns", "blocks"] for part in sorted(again)}
            return self.say(ANSWER, {"wants": [{"part": part, "encodings": ways} for part, ways in untried.items()]})
        if self.plan in ("refuse", "end"):
            self.own.code, self.own.state = None, "answering"
            return self.refuse("shipment" if self.plan == "refuse" else "session")
        if self.plan == "break":
            return self.break_a_rule()
        if self.plan == "cut" and self.link.left is None:
            raise Cut
        contents = [bytes(content) if part in current.opened else self.whole.get(part, b"") for part, content in enumerate(current.contents)]
        for file, content in zip(current.files, contents):
            if hashlib.sha256(content).hexdigest() != file["sha256"]:
                raise Flaw("the peer has lost something of its own")
        files = {file["sha256"]: content for file, content in zip(current.files[1:], contents[1:])}
        held = self.peer.held.setdefault(current.name, [])
        held.append(Held(current.manifest, contents[0], files))
        self.own.stores[current.files[0]["sha256"]] = contents[0]
        self.peer.unfinished.pop(current.name, None)
        self.done.append("installed " + "+".join(sorted({NAMES[one] for ways in current.opened.values() for one in ways}) or ["nothing"]))
        self.receipt(current, "installed", len(held))
        self.own.external[current.files[0]["sha256"]] = files
        del held[:-4]

    def receipt(self, current, outcome, number):
        told = {"name": current.name, "generation": number, "sha256": current.files[0]["sha256"], "outcome": outcome}
        self.told.append(told)
        self.say(RECEIPT, told)

    def break_off(self):
        """Keeps what has come of the shipment that is under way, up to any byte."""
        current, part = self.own.current, self.link.buffer
        if current is None or self.own.state not in ("receiving", "installed"):
            return
        stream = self.stream
        if stream and part[:1] == bytes([DATA]) and len(part) > 6:
            size, begun = int.from_bytes(part[1:5], "big") - 1, part[6:]
            stream = dataclasses.replace(stream, stream=continued(stream.stream, begun[:size], size))
        stream = stream if stream and stream.stream else None
        if stream or self.whole:
            self.peer.unfinished[current.name] = Unfinished(current.manifest, self.whole, stream)


def continued(stream, data, size=None):
    """The stream with the data of a DATA, or the beginning of them."""
    _, _, missing = cut(stream)
    return stream + (b"" if missing else (size or len(data)).to_bytes(4, "big")) + data


def session(peer, chance):
    """Returns what this side has done."""
    desk, names = peer.desk, chance.sample(peer.sources, chance.choice([1, 1, 1, 2, 3]))
    for source in names:
        if source.name not in peer.unfinished or chance.random() < 0.4:
            source.change(chance)
    options = chance.choice([[], [], ["--plain"], ["--pad"], ["--no-self-check"]]) + chance.choice([[], ["--level", str(chance.randrange(1, 10))]])
    options += ["--no-remember"] if chance.random() < 0.4 else []
    is_socket = chance.random() < 0.7
    to = "unix:" + desk.path("socket") if is_socket else "exec:cat back & exec > to; cat || true"
    with socket.socket(socket.AF_UNIX) as listener:
        if is_socket:
            listener.bind(desk.path("socket"))
            listener.listen()
        process = subprocess.Popen([desk.program, "send", *(source.path for source in names), "--to", to, "--json", *options], cwd=desk.folder,
                                   env=desk.values, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            listener.settimeout(LONGEST)
            held = listener.accept()[0].detach() if is_socket else None
        except TimeoutError as error:
            process.kill()
            raise Flaw("the program does not connect") from error
    if is_socket:
        os.unlink(desk.path("socket"))
        descriptors = [held, held]
    else:
        descriptors = [os.open(desk.path("to"), os.O_RDONLY), os.open(desk.path("back"), os.O_WRONLY)]
    plan = chance.choice(["well"] * 8 + ["refuse", "end", "break", "in the middle", "in the middle", "cut", "cut", "again"])
    live = Live(Link(*descriptors, chance), *peer.sides())
    dialogue = Dialogue(peer, live, chance, plan)
    flaw = None
    try:
        dialogue.run()
    except Flaw as error:
        flaw = error
        process.kill()
    for descriptor in {*descriptors}:
        os.close(descriptor)
    try:
        written, words = process.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        flaw = Flaw(f"the program has not ended after {LONGEST} s")
        process.kill()
        written, words = process.communicate()
    if flaw:
        raise Flaw(f"{flaw}; the peer ({plan}): {', '.join(dialogue.done)}; the program with {options}: {tail(words)}")
    judge(peer, names, dialogue, process.returncode, written, words)
    return [f"receiver: {each}" for each in dialogue.done]


def judge(peer, names, dialogue, status, written, words):
    """Whether the program says what the peer has done, and has sent what is in its stores."""
    live, events = dialogue.live, [json.loads(line) for line in written.splitlines()]
    told = [each["receipt"] for each in events if each["event"] == "finished"]
    outcomes = live.counted({each["manifest"]["name"] for each in events if each["event"] == "finishing"})
    receipts = iter(dialogue.told)
    said = [(each, next(receipts)) for each in live.theirs.outcomes if each.end in ("installed", "unchanged")]
    # Whether END has gone before the link was cut is the program's affair; all that it has offered has had its last word.
    is_whole = {each["name"] for each in told} == {each.name for each in names}
    is_over = status == 0 and "cut" in dialogue.done and live.theirs.state == "between" and is_whole
    # Before it has read a last word, it may have found that it cannot send what is wanted.
    current = live.theirs.current
    has_given_up = status == 76 and current and any(BLOCKS not in wanted for wanted in current.wanted.values())
    if status != live.expected(outcomes) and not (is_over or has_given_up) or told != [receipt for each, receipt in said if each in outcomes]:
        raise Flaw(f"the peer: {', '.join(dialogue.done)}, {dialogue.told}; its walk of the program: {live.theirs.end}, "
                   f"{[each.end for each in live.theirs.outcomes]}, so status {live.expected(outcomes)}; the program: {status}, {told}: "
                   f"{tail(words)}")
    for source in names:
        if source.name not in [each["name"] for each in told]:
            continue
        newest = peer.held[source.name][-1]
        if newest.store != source.copy(peer.desk.folder) or set(newest.files) != source.files():
            raise Flaw(f"{source.name} is another store than was to go")
