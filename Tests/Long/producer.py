"""The Python of Protocol/ as the producer: it holds a session with `ship-store receive`, and sends as chance likes."""
import hashlib
import subprocess

from cases.streams import part_frame
from decoder import json_rules as rules
from decoder.shipment import SAME
from decoder.wire import ANSWER, BLOCKS, CANCEL, COLUMNS, DATA, DELTA, ENCODINGS, END, HELLO, MANIFEST, PART, RECEIPT, REFUSAL, STAY
from desk import Flaw, digest
from encoded import blocks_of, columns_of, delta_of, packed
from encoder.piece import binary
from encoder.wire import PADDING, WORKING, data, frame, header, message, padded, part
from live import CODES, LONGEST, NAMES, Cut, Link, Live, tail
from shipments import Sent, Stream, is_other_store
from sources import Held


class Dialogue:
    def __init__(self, peer, live, close, chance, plan, replaced):
        self.peer, self.live, self.chance, self.plan, self.replaced = peer, live, chance, plan, replaced
        self.own, self.link, self.close = live.own, live.link, close
        self.done, self.streams, self.held, self.answered = [], [], None, b""

    def say(self, pieces, **how):
        if self.chance.random() < 0.05:
            pieces = [*frame(self.chance.choice([WORKING, PADDING, 0xF0])), *pieces]
        elif self.chance.random() < 0.02:
            pieces = padded(pieces)
        self.live.say(pieces, **how)

    def run(self, sources):
        try:
            self.live.greet()
            self.live.is_greeted()
            self.greeted(self.live.hear())
            for source in sources:
                if self.own.end or self.live.theirs.end:
                    break
                self.ship(source)
            if self.live.theirs.end:
                return self.wait_for_end()
            self.live.say(frame(END))
        except Cut:
            self.done.append("cut")
            self.break_off()
        self.close()
        self.link.ended()
        self.wait_for_end()

    def wait_for_end(self):
        """The program has failed, or is to find the end of the link."""
        if self.live.theirs.end is None and self.own.state != "ended":
            self.live.theirs.end = self.live.theirs.link_ended()
        self.own.end = self.own.end or "over"
        last = None
        while (found := self.live.hear()) is not None:
            last = found
        failed = (self.live.theirs.end or "done").startswith("failed")
        if failed and (last is None or last.type != REFUSAL) and "cut" not in self.done:
            raise Flaw(f"the program has not said that it is {self.live.theirs.end}")

    def greeted(self, found):
        """What the program says that it holds, against what it has said that it has installed."""
        if found is None or found.type != HELLO:
            raise Flaw("the program does not greet")
        hello = self.live.said
        for each in hello.get("holds", []):
            generations, broken = self.peer.held.get(each["name"], []), self.peer.unfinished.get(each["name"], [])
            ids = [rules.content_id(held.content).hex() for held in generations]
            if each.get("manifest") != (ids[-1] if ids else None):
                raise Flaw(f"of {each['name']} the program names {each}, and {ids} was installed")
            if any(not any(name.startswith(kept) for name in ids[:-1]) for kept in each.get("kept", [])):
                raise Flaw(f"of {each['name']} the program keeps {each}, and {ids} was installed")
            if "unfinished" in each and not any(rules.content_id(one.held.content).hex().startswith(each["unfinished"]) for one in broken):
                raise Flaw(f"of {each['name']} nothing is unfinished")
        if {each["name"] for each in hello.get("holds", []) if "manifest" in each} != {name for name in self.peer.held if self.peer.held[name]}:
            raise Flaw(f"the program names {hello}, and holds {[*self.peer.held]}")

    # One shipment

    def ship(self, source):
        chance, broken = self.chance, self.peer.unfinished.get(source.name)
        if broken and chance.random() < 0.7:
            held = broken[-1].held
        elif self.peer.held.get(source.name) and chance.random() < 0.15:
            held = chance.choice(self.peer.held[source.name])
        else:
            source.change(chance)
            held = self.peer.made(source, chance)
        self.held, self.streams = held, []
        manifest = self.offered_of(held)
        if self.breaks(0.4):
            return self.break_a_rule()
        known = [(name, content) for name, content in {**self.own.named, **{rules.content_id(c): c for _, c in self.own.told}}.items()]
        self.say(packed(MANIFEST, manifest, chance, differs_from=chance.choice(known) if known else None))
        if self.live.theirs.end:
            return
        if self.breaks(0.3):
            return self.break_a_rule(is_answered=False)
        before = self.peer.held.get(source.name, [])
        is_same = bool(before) and all((before[-1].manifest.get(key) or None) == (manifest.get(key) or None) for key in SAME)
        found = self.hears()
        if found is None:
            return
        if found.type == REFUSAL:
            return self.was_refused(before, manifest, is_same)
        if self.may_be_other(before, manifest, is_same) or (found.type == RECEIPT) != is_same or manifest.get("requires"):
            raise Flaw(f"the program takes {manifest['name']} with frame {found.type}; it is the same: {is_same}")
        if found.type == RECEIPT:
            return self.done.append("unchanged")
        self.content(held)

    def hears(self):
        found = self.live.hear()
        if found is None and not self.live.theirs.end:
            raise Flaw("the program has ended the link")
        return found

    def offered_of(self, held):
        """The manifest, or one that is not true."""
        chance, manifest = self.chance, dict(held.manifest)
        if self.plan != "lie":
            return manifest
        self.plan = "well"
        store, way = dict(manifest["store"]), chance.randrange(6)
        if way == 0:
            store["sha256"] = hashlib.sha256(b"another").hexdigest()
        elif way == 1:
            store["userVersion"] ^= 1
        elif way == 2 and manifest.get("tables"):
            manifest["tables"] = {name: each | {"rows": each["rows"] + 1} for name, each in manifest["tables"].items()}
        elif way == 3:
            manifest["requires"] = ["time-travel"]
        elif way == 4:
            store["schemaSHA256"] = "0" * 64
        else:
            store["textEncoding"] = "UTF-16be"
        self.done.append("lied")
        manifest["store"] = store
        return manifest

    def may_be_other(self, before, manifest, is_same):
        return bool(before) and not is_same and is_other_store(before[-1].manifest, manifest) and manifest["name"] not in self.replaced

    def was_refused(self, before, manifest, is_same):
        code = self.live.said["code"]
        if self.live.said["ends"] == "session":
            return
        allowed = "feature-not-supported" if manifest.get("requires") else "other-store" if self.may_be_other(before, manifest, is_same) else None
        if code != allowed:
            raise Flaw(f"the program refuses {manifest['name']} for {self.live.said}")
        self.done.append(f"refused {code}")

    def content(self, held):
        chance, current = self.chance, self.own.current
        self.answered = rules.content(current.manifest)
        contents = [held.store, *(held.files[file["sha256"]] for file in current.files[1:])]
        held_before = self.peer.held.get(current.name, [])
        kept = {hashlib.sha256(content).hexdigest() for each in held_before for content in (each.store, *each.files.values())}
        whole = {stream.file["sha256"] for stream in self.went(current.name)}
        for place, file in enumerate(current.files):
            if file["size"] and place not in current.wanted and file["sha256"] not in kept | whole:
                raise Flaw(f"the program does not want part {place}, which it has not")
            if file["size"] and place not in current.wanted:
                # It has it, and verifies it as if it had come.
                self.live.theirs.current.contents[place], self.live.theirs.current.opened[place] = bytearray(contents[place]), set()
        if self.plan == "cut" and chance.random() < 0.8:
            self.link.left_to_write = int(2 ** (chance.random() * 19))
        while True:
            for place in sorted(current.wanted):
                if self.own.state == "sending" and not self.live.theirs.end and not self.part(current, place, contents[place]):
                    return
            if self.breaks(0.3):
                return self.break_a_rule()
            if self.own.state != "sending":
                return
            if self.plan == "cut" and chance.random() < 0.5:
                self.link.left_to_write = 0
            self.say(frame(END))
            found = self.hears()
            if found is None or self.live.theirs.end:
                return
            if self.own.state != "sending":
                break
            self.done.append("asked again")
        if found.type == REFUSAL:
            self.ends(current.name)
            return self.done.append(f"refused {self.live.said['code']}")
        self.installed(current, held)

    def went(self, name):
        """What has gone of shipments of a store that broke off, since one was installed."""
        return [stream for each in self.peer.unfinished.get(name, []) for stream in each.streams]

    def ends(self, name):
        """Nothing of the shipment waits any more."""
        broken = self.peer.unfinished.pop(name, [])
        self.peer.unfinished[name] = [each for each in broken if each.held.content != self.answered]

    def installed(self, current, held):
        receipt = self.live.said
        self.peer.unfinished.pop(current.name, None)
        if receipt["generation"] <= self.peer.number.get(current.name, 0):
            raise Flaw(f"generation {receipt['generation']} does not follow")
        self.peer.number[current.name] = receipt["generation"]
        if digest(self.peer.desk.path(f"inbox/{current.name}.sqlite")) != hashlib.sha256(held.store).hexdigest():
            raise Flaw(f"{current.name} is served as something else")
        generations = self.peer.held.setdefault(current.name, [])
        generations.append(Held(current.manifest, held.store, held.files))
        self.own.stores[current.files[0]["sha256"]] = held.store
        for side in (self.own, self.live.theirs):
            side.stores[current.files[0]["sha256"]] = held.store
            side.external[current.files[0]["sha256"]] = held.files
        ways = {NAMES[one] for ways in current.opened.values() for one in ways}
        self.done.append("installed " + "+".join(sorted(ways) or ["nothing"]))

    # One part

    def part(self, current, place, content):
        """Sends it in an encoding that is wanted, or begins it in one and goes on anew in another; whether the shipment goes on."""
        chance, base = self.chance, current.bases.get(place)
        fitting = [each for each in sorted(current.wanted[place]) if each == BLOCKS or place == 0]
        made, position = self.resumed(current, place), 0
        if made:
            position = current.goes_on[place]["position"]
            self.done.append("resumed")
        else:
            made = self.first_made(fitting, content, base)
        others = [each for each in fitting if made and each != made[0]]
        is_begun = bool(others) and chance.random() < 0.1
        if made and not self.sends(current, place, *made, position, is_begun):
            return False
        if not made or is_begun:
            made = self.first_made(others, content, base)
            if not made:
                return self.give_up()
            self.done.append("began anew")
            return self.sends(current, place, *made, 0, False)
        return True

    def first_made(self, fitting, content, base):
        order = self.chance.sample(fitting, len(fitting))
        return next((made for made in (self.encoded(encoding, content, base) for encoding in order) if made), None)

    def encoded(self, encoding, content, base):
        chance = self.chance
        if encoding == COLUMNS:
            return encoding, columns_of(content, chance)
        if encoding == DELTA:
            found = delta_of(content, self.own.stores[base], chance) if base in self.own.stores else None
            return (encoding, found) if found else None
        return encoding, blocks_of(content, chance)

    def resumed(self, current, place):
        """What goes on where an earlier session broke off."""
        told = current.goes_on.get(place)
        if told is None:
            return None
        encoding = ENCODINGS[told["encoding"]]
        base = current.bases.get(place, "") if encoding == DELTA else ""
        for each in self.went(current.name):
            found = each.stream[:told["position"]]
            if each.is_of(current.files[place]) and (each.encoding, each.base) == (encoding, base) and len(found) == told["position"]:
                if hashlib.sha256(found).hexdigest() == told["sha256"]:
                    return (encoding, each.datas) if self.chance.random() < 0.85 else None
        raise Flaw(f"what the program says that it has of {current.name} has not gone: {told}")

    def sends(self, current, place, encoding, datas, position, is_begun):
        chance = self.chance
        stream = Stream(current.files[place], encoding, current.bases.get(place, "") if encoding == DELTA else "", [*datas], position)
        self.streams = [*self.streams, stream]
        self.say(part_frame(place, encoding, anew=place in current.opened, position=position))
        rest = stream.rest(position)
        for number, content in enumerate(rest):
            if self.link.has_more() and (found := self.hears()):
                return self.was_refused_amid(found)
            if self.live.theirs.end or self.breaks(0.1):
                self.break_a_rule()
                return False
            if self.plan == "cancel" and chance.random() < 0.3:
                return self.give_up()
            if is_begun and number == len(rest) - 1:
                return True
            told = content
            if self.plan == "damage" and chance.random() < 0.5:
                self.plan, at = "well", chance.randrange(len(content))
                told = content[:at] + bytes([content[at] ^ 1 << chance.randrange(8)]) + content[at + 1:]
                stream.datas[len(datas) - len(rest) + number] = datas[len(datas) - len(rest) + number][:-len(content)] + told
                self.done.append("damaged")
            begun = frame(DATA, data(binary(content), number == len(rest) - 1))
            before, stream.sent = stream.sent, stream.sent + len(content) + (0 if number == 0 and position else 4)
            try:
                self.live.say(frame(DATA, data(binary(told), number == len(rest) - 1)), owns=begun)
            except Cut:
                gone = len(content) - max(0, self.link.unsent - 4)
                stream.sent = max(before, stream.sent - len(content) + gone) if gone > 0 else before
                raise
            if self.live.theirs.end:
                return False
        return True

    def was_refused_amid(self, found):
        if found.type != REFUSAL:
            raise Flaw(f"the program says {found.type} while it is sent something")
        if self.live.said["ends"] == "shipment":
            if "damaged" not in self.done or self.live.said["code"] != "damaged":
                raise Flaw(f"the program refuses what it is sent: {self.live.said}")
            self.done.append("refused amid")
            self.ends(self.own.current.name)
            self.say(message(CANCEL, {"code": "damaged", "message": "as you say", "ends": "shipment"}))
        return False

    # What goes wrong

    def give_up(self):
        chance, code, name = self.chance, self.chance.choice(CODES), self.own.current.name
        self.plan = "well"
        if chance.random() < 0.3:
            self.done.append("cancelled the session")
            self.live.say(message(CANCEL, {"code": code, "message": "later"}), is_right=False)
            if code in ("timed-out", "stopped"):
                self.break_off()
            return False
        self.done.append("cancelled")
        self.say(message(CANCEL, {"code": code, "message": "no", "ends": "shipment"}))
        self.ends(name)
        self.hears()
        return False

    def breaks(self, share):
        return self.plan == "break" and self.chance.random() < share

    def break_a_rule(self, is_answered=True):
        if self.live.theirs.end:
            return
        current = self.own.current
        ways = [
            message(ANSWER, {}, flip=1), frame(0x0D), frame(0), message(ANSWER, {}), message(HELLO, {"software": "x"}), header(MANIFEST, 4_194_306),
            header(0x90, 65_537), frame(CANCEL, binary(b"{}")), frame(DATA, data(binary(b"x"), flags=2)), frame(DATA, binary(b"\1")),
            frame(PART, binary(bytes(13))), message(CANCEL, {"code": "busy", "message": "", "ends": "soon"}),
        ]
        if current and is_answered and self.own.state == "sending":
            ways += [frame(PART, part(0, flags=2)), frame(PART, part(9999)), frame(PART, part(0, 9)), message(MANIFEST, self.held.manifest)]
            ways += [frame(PART, part(current.left[0], position=2**40))] if current.left and not current.is_open else []
            ways += [frame(END)] if current.left or current.is_open else [frame(DATA, data(binary(b"x")))]
        elif not current:
            ways += [frame(STAY, binary(b"abc")), frame(MANIFEST), frame(MANIFEST, binary(b"\3x")), frame(MANIFEST, binary(b"\1x")),
                     frame(MANIFEST, binary(b"\2" + bytes(16) + b"x")), message(MANIFEST, {**self.held.manifest, "name": "-"})]
        self.plan = "well"
        self.done.append("broke a rule")
        self.live.say(self.chance.choice(ways), is_right=False)
        if not self.live.theirs.end:
            raise Flaw("the model has broken no rule")

    def break_off(self):
        current = self.own.current
        if current and self.own.state in ("sending", "receipt"):
            self.peer.unfinished.setdefault(current.name, []).append(Sent(Held(current.manifest, self.held.store, self.held.files), self.streams))


def session(peer, chance):
    """Returns what this side has done."""
    desk, names = peer.desk, chance.sample(peer.sources, chance.choice([1, 1, 1, 2, 3]))
    replaced = [source.name for source in names if chance.random() < 0.2]
    options = [option for name in replaced for option in ("--replace", name)] + chance.choice([[], [], ["--keep", "1"], ["--keep", "5"]])
    process = subprocess.Popen([desk.program, "receive", "--into", "inbox", "--from", "-", *options], cwd=desk.folder, env=desk.values,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    plan = chance.choice(["well"] * 4 + ["break", "cut", "cut", "cut", "cancel", "damage", "lie", "lie"])
    live = Live(Link(process.stdout.fileno(), process.stdin.fileno(), chance), *peer.sides())
    dialogue, flaw = Dialogue(peer, live, process.stdin.close, chance, plan, replaced), None
    try:
        dialogue.run(names)
    except Flaw as error:
        flaw = error
        process.kill()
    process.stdin.close()
    try:
        status = process.wait(LONGEST)
    except subprocess.TimeoutExpired:
        status, flaw = None, Flaw(f"the program has not ended after {LONGEST} s")
        process.kill()
        process.wait()
    words = process.stderr.read()
    for pipe in (process.stdout, process.stderr):
        pipe.close()
    expected = live.expected(live.theirs.outcomes)
    if flaw is None and status != expected:
        flaw = Flaw(f"exit status {status}, and by the walk of the program {expected}: {live.theirs.end}, "
                    f"{[each.end for each in live.theirs.outcomes]}")
    if flaw:
        raise Flaw(f"{flaw}; the peer ({plan}): {', '.join(dialogue.done)}; the program with {options}: {tail(words)}")
    return [f"sender: {each}" for each in dialogue.done]
