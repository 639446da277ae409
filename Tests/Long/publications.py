"""A publication and its receivers, at random: changes, one or two publishers, looks, halts, rollouts, prunes, recipients, damage and kills.

A model says what may be: each copy is one state that was to be published, none is older than one that its receiver had, and where nothing is in
the way it is the newest. What was acknowledged as published comes to a receiver that has nothing, and nothing is left behind.
"""
import contextlib
import functools
import os
import re
import shutil
import signal
import subprocess
import time

import stores
from changing import NAMES, change, damaged, state
from desk import CRASHES, LONGEST, Flaw
from receivers import Receiver, files, mark, served

GRACES = ["0s", "0s", "1s", "1h"]
PERMITTED = range(5)  # the user versions that some receivers take
REFUSED, OTHER = 65, 73  # a state that is damaged or not permitted, and another store or one that is held
# Of a command, whatever lies there; 70 and 74 are none of them.
STATUSES = {"send": {0, 64, 65, 66, 73, 75, 76, 77}, "receive": {0, 65, 66, 72, 73, 75, 76, 77}, "publish": {0, 64, 65, 66, 75, 76, 77},
            "rollback": {0, 64, 65, 66, 73, 75}, "forget": {0, 66, 75}, "identity": {0}, "verify": {0}, "status": {0}}
LEFT = re.compile(r"/\.ship-store-|/\.forgotten|/staging/.|\.new$")


class Kitchen:
    """The folder of a round: a publisher, which has two memories, its stores, and receivers."""

    def __init__(self, desk, chance, address):
        self.desk, self.chance, self.root = desk, chance, desk.path("kitchen")
        self.site, self.log, self.heads = os.path.join(self.root, "site"), [], []
        os.makedirs(os.path.join(self.root, "tmp"), 0o700)
        self.history = {name: [] for name in NAMES}  # the states that were to be published, each with its user version
        self.newest = {}  # the states that may be the newest published ones; one if it was acknowledged
        self.replaced, self.halted, self.rolled, self.flipped = set(), set(), set(), {}
        self.is_clean = True  # nothing of the publication was damaged since all was published
        self.recipients, self.is_unsure = None, False  # for whom it is encrypted, if that is sure
        self.tampered = False  # whether its head was changed, so that it is not sure what is halted
        places = ["dir:site", "dir:site", f"{address}/kitchen/site"]
        self.receivers = [Receiver(os.path.join(self.root, f"inbox{each}"), chance.choice(places), chance.random() < 0.4)
                          for each in range(chance.randrange(2, 5))]
        for name in NAMES:
            self.change(name)

    def store(self, name):
        return os.path.join(self.root, "live", name, f"{name}.sqlite")

    def change(self, name):
        if change(self.store(name), self.desk.path("versions"), self.chance):
            self.replaced.add(name)

    # Commands

    def start(self, device, *words, memory="state"):
        self.log.append(re.sub(r"(-[A-Z0-9]{5}){12}", "…", " ".join([device, *words])))
        values = {**self.desk.values, "TMPDIR": os.path.join(self.root, "tmp"), "XDG_CONFIG_HOME": os.path.join(self.root, device),
                  "XDG_STATE_HOME": os.path.join(self.root, memory)}
        program = subprocess.Popen([self.desk.program, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=values,
                                   cwd=self.root)
        program.line = len(self.log) - 1
        return program

    def end(self, program, may=None, is_killed=False):
        try:
            out, errors = program.communicate(timeout=LONGEST)
        except subprocess.TimeoutExpired as error:
            raise Flaw(f"{program.args[1]} is not done after {LONGEST} s") from error
        finally:
            program.kill()
        status, verb = program.returncode, program.args[1]
        self.log[program.line] += f" -> {status}"
        if not (is_killed and status == -signal.SIGKILL):
            if status not in (may or STATUSES[verb]) or any(words in errors for words in CRASHES):
                raise Flaw(f"{verb} ended with {status}: {errors.decode(errors='replace')[-600:]}")
            if status != 0 and b"error: " not in errors:
                raise Flaw(f"{verb} ended with {status}, and does not say why: {errors}")
        return status, errors, out

    def run(self, device, *words, may=None, kill=0.0):
        """Runs a command, or kills it. Returns its status, and what it said."""
        program = self.start(device, *words, memory=self.chance.choice(["state", "state", "other-state"]))
        if is_killed := self.chance.random() < kill:
            time.sleep(self.chance.random() ** 2 * 0.1)
            program.kill()
        return self.end(program, may, is_killed)

    def key(self, receiver):
        return self.run(receiver.name, "identity", "--encryption-key")[2].decode().strip()

    # The publisher

    def order(self, names, *more):
        """The words by which stores are sent; what they are now may be published from here on."""
        for name in names:
            now = state(self.store(name))
            self.history[name].append(now)
            self.newest[name] = self.newest.get(name, {None}) | {now}
            if self.tampered:
                self.halted.discard(name)
        keys = [word for each in self.recipients or [] for word in ("--encrypt-to", self.keys[each])]
        replacing = ["--replace"] if self.replaced & set(names) and "--no-remember" not in more else []
        return ["send", *(f"live/{name}/{name}.sqlite" for name in names), "--to", "dir:site", *keys, *more, *replacing]

    @functools.cached_property
    def keys(self):
        return {each.name: self.key(each) for each in self.receivers}

    def sent(self, names, status, errors=b""):
        """Notes what was published, or was not."""
        if status != 0:
            if status > 0 and self.is_clean and status != 75 and not (status == 64 and self.is_unsure):
                raise Flaw(f"nothing was in the way of {names}: {errors.decode()}")
            return
        if len(names) == len(NAMES):
            self.is_unsure = False
        for name in names:
            self.newest[name] = {self.history[name][-1]}
        self.replaced -= set(names)
        try:
            with open(os.path.join(self.site, "head"), "rb") as file:
                self.heads.append(file.read())
        except FileNotFoundError as error:
            raise Flaw(f"{names} were published, and there is no head") from error

    def send(self, kill=0.1):
        names = self.chance.sample(NAMES, self.chance.choice([1, 1, 2, 3]))
        for name in names:
            if self.chance.random() < 0.8:
                self.change(name)
        more = self.chance.choice([[], [], [], ["--plain"], ["--level", "9"], ["--no-remember"], ["--meta", f"a={len(self.log)}"]])
        if self.chance.random() < 0.1:
            more = [*more, "--rollout", self.chance.choice(["50%", "1%,30%:1h"])]
            self.rolled |= set(names)
        status, errors, _ = self.run("publisher", *self.order(names, *more), kill=kill)
        self.sent(names, status, errors)
        if status == 0 and self.chance.random() < 0.3:
            self.try_new(names)
        return f"send {status}"

    def send_two(self):
        names, others = [self.chance.sample(NAMES, self.chance.randrange(1, 3)) for _ in range(2)]
        for name in {*names, *others}:
            self.change(name)
        programs = [self.start("publisher", *self.order(each), memory=memory) for each, memory in [(names, "state"), (others, "other-state")]]
        ended = [self.end(each) for each in programs]
        for each, (status, errors, _) in zip([names, others], ended):
            self.sent(each, status, errors)
        return f"two send {sorted(status for status, _, _ in ended)}"

    def send_anew(self):
        """To other recipients, or from now on to some; all stores go."""
        self.recipients = sorted(self.chance.sample([each.name for each in self.receivers], self.chance.randrange(1, len(self.receivers))))
        self.log.append(f"for {self.recipients}")
        self.is_unsure = True
        status, errors, _ = self.run("publisher", *self.order(NAMES), kill=0.1)
        self.sent(NAMES, status, errors)
        return f"send to others {status}"

    def publish(self):
        """Prunes, or halts, resumes or releases some stores."""
        names = self.chance.sample(NAMES, self.chance.choice([0, 1, 2]))
        way = self.chance.choice(["--prune", "--prune", "--halt", "--resume", "--release"])
        words = [way, "dir:site"] + (["--grace", self.chance.choice(GRACES)] if way == "--prune" else names)
        status, errors, _ = self.run("publisher", "publish", *words, kill=0.15)
        if status > 0 and self.is_clean and not (status == 66 and b"published" in errors):
            raise Flaw(f"nothing was in the way of {way}: {errors}")
        # Without names these are the stores that are there.
        names = set(names) or {name for name in NAMES if way != "--halt" or None not in self.newest.get(name, {None})}
        if way == "--halt" and status <= 0:
            self.halted |= names
            self.tampered = self.tampered or status < 0  # it may have come to pass, or not
        if way == "--resume" and status == 0:
            self.halted -= names
        if way == "--release" and status == 0:
            self.rolled -= names
        return f"publish {way} {status}"

    def damage_publication(self):
        """What a place may do, and a disk."""
        objects = os.path.join(self.site, "objects")
        ways = ["delete", "cut", "flip"]
        self.is_clean = False
        for receiver in self.receivers:
            receiver.lost |= set(NAMES)
        if self.chance.random() < 0.3:
            path, self.tampered = os.path.join(self.site, "head"), True
            self.newest.clear()
            ways.append("old")
        elif names := sorted(os.listdir(objects)):
            path = os.path.join(objects, self.chance.choice(names))
        if not os.path.exists(path):
            return "nothing damaged"
        way = self.chance.choice(ways)
        self.log.append(f"{way} {os.path.relpath(path, self.root)}")
        if way == "delete":
            os.unlink(path)
            return "publication deleted"
        with open(path, "rb") as file:
            before = file.read()
        after = self.chance.choice(self.heads) if way == "old" else damaged(before, way, self.chance)
        with open(path, "wb") as file:
            file.write(after)
        if way == "flip" and path.startswith(objects):
            self.flipped[path] = self.flipped.get(path, (before,))[0], after
        return f"publication {way}"

    # The receivers

    def look(self, receiver, *more, kill=0.1, allowed=None):
        """Has a receiver look, and checks what it holds then."""
        may_replace = self.chance.random() < 0.5
        words = ["receive", "--into", receiver.name, "--from", receiver.place, *more]
        is_particular = receiver.is_particular and allowed is None
        words += [word for name in NAMES if may_replace for word in ("--replace", name)]
        words += ["--user-version", f"{PERMITTED[0]}..{PERMITTED[-1]}"] if is_particular else []
        before = dict(receiver.held)
        status, errors, _ = self.run(receiver.name, *words, kill=kill)
        receiver.check(self.history, self.newest)
        for name in NAMES:
            if receiver.held.get(name) not in (before.get(name), None):
                if name in receiver.kept_back:
                    raise Flaw(f"{receiver.name} has gone on with {name}, which was rolled back")
                if name in self.halted and not self.tampered:
                    raise Flaw(f"{receiver.name} has taken {name}, which is halted")
                if is_particular and receiver.held[name][1] not in PERMITTED:
                    raise Flaw(f"{receiver.name} has taken {name} of another user version")
        if status >= 0:
            self.judge(receiver, status, errors, is_particular)
        return f"look {status}"

    def judge(self, receiver, status, errors, is_particular):
        """Whether a look that came to its end has come to what it was to come to."""
        is_recipient = self.recipients is None or receiver.name in self.recipients
        if not is_recipient or not self.is_clean or self.is_unsure:
            return
        reasons = set()  # why this look may have failed
        for name, newest in self.newest.items():
            if name in receiver.damaged or name in receiver.lost or name in self.rolled or is_particular and any(
                    each and each[1] not in PERMITTED for each in newest):
                reasons |= {REFUSED, OTHER}
            elif name in receiver.kept_back or status == OTHER:
                reasons.add(OTHER)
            elif name not in self.halted and not receiver.has(name, newest):
                raise Flaw(f"{receiver.name} ended with {status}, and holds {receiver.held.get(name)} of {name}, not {newest}: {errors.decode()}")
        if status not in {0, *reasons}:
            raise Flaw(f"{receiver.name} ended with {status}, though nothing was in the way: {errors.decode()}")

    def damage_copy(self):
        """Damages what is current at a receiver."""
        receiver, name = self.chance.choice(self.receivers), self.chance.choice(NAMES)
        path, depot = (os.path.join(receiver.folder, *more) for more in [[f"{name}.sqlite"], [".ship-store", name, "current"]])
        if not os.path.exists(path) or name in receiver.damaged:
            return "no copy damaged"
        way = self.chance.choice(["cut", "flip", "flip", "delete", "name", "manifest", "link", "generation"])
        self.log.append(f"{way} of {receiver.name} {name}")
        real = os.path.realpath(path)
        os.chmod(os.path.dirname(real), 0o700)
        if way in ("cut", "flip"):
            os.chmod(real, 0o600)
            with open(real, "rb") as file:
                content = damaged(file.read(), way, self.chance)
            with open(real, "wb") as file:
                file.write(content)
        elif way == "generation":
            shutil.rmtree(os.path.dirname(real))
        else:
            os.unlink({"delete": real, "name": path, "manifest": os.path.join(depot, "manifest.json"), "link": depot}[way])
        receiver.damaged[name], receiver.is_whole = mark(path), False
        if way in ("manifest", "link", "generation"):
            receiver.lost.add(name)  # it waits for `forget`
        return f"copy {way}"

    def go_back(self):
        receiver, name = self.chance.choice(self.receivers), self.chance.choice(NAMES)
        before = receiver.held.get(name)
        way = self.chance.choice(["rollback", "rollback", "rollback", "--allow-again", "forget"])
        words = ["forget", name] if way == "forget" else ["rollback", name, *([way] if way.startswith("-") else [])]
        status = self.run(receiver.name, *words, "--into", receiver.name, kill=0.15)[0]
        if way == "forget" and status <= 0 and not os.path.lexists(os.path.join(receiver.folder, f"{name}.sqlite")):
            receiver.clear(name)
        elif way == "rollback" and status <= 0:
            receiver.least.pop(name, None)
            receiver.left.setdefault(name, set()).add(before)
            if status < 0 or not receiver.is_whole:  # it may be held, or what it builds on is damaged
                receiver.lost.add(name)
            if status == 0:
                receiver.kept_back.add(name)
        elif way == "--allow-again" and status <= 0:
            receiver.kept_back.discard(name)
        if name not in receiver.damaged or way == "rollback" and status == 0:
            receiver.check(self.history, self.newest)
            if way != "rollback" and receiver.held.get(name) not in (before, None):
                raise Flaw(f"{words} has changed {name}")
        return f"{way} {status}"

    def follow(self):
        """A receiver follows while something is published."""
        receiver = self.chance.choice(self.receivers)
        program = self.start(receiver.name, "receive", "--into", receiver.name, "--from", receiver.place, "--follow", "--poll", "1s")
        time.sleep(self.chance.random() * 0.3)
        outcome = self.send(kill=0)
        time.sleep(self.chance.random() * 1.5)
        # It goes on from state to state also where it is killed.
        is_killed = self.chance.random() < 0.3
        program.send_signal(signal.SIGKILL if is_killed else signal.SIGTERM)
        status = self.end(program, is_killed=is_killed)[0]
        receiver.check(self.history, self.newest)
        return f"followed {status}, {outcome}"

    def try_new(self, names):
        """What was acknowledged comes to who has nothing: here to the device that publishes, for whom it is always encrypted."""
        new = Receiver(os.path.join(self.root, "new"), "dir:site", False)
        status, errors, _ = self.run("publisher", "receive", "--into", new.name, "--from", new.place)
        new.check(self.history, self.newest)
        for name in set(names) - self.halted - self.rolled:
            if {new.held.get(name)} != self.newest[name] and not self.flipped and not self.tampered:
                raise Flaw(f"what was published of {name} does not come to a new receiver ({status}): {errors.decode()}")
        shutil.rmtree(new.folder, ignore_errors=True)

    # The end

    def settle(self):
        """Takes away what is in the way, publishes all, and has all receivers look: all hold the newest, and nothing else is there."""
        for path, (before, after) in self.flipped.items():
            with contextlib.suppress(FileNotFoundError), open(path, "r+b") as file:
                if file.read() == after:
                    file.seek(0)
                    file.write(before)
        self.flipped.clear()
        status, errors, _ = self.run("publisher", *self.order(NAMES))
        if status in (65, 66, 75, 76, 77) and (self.tampered or b"or the keys" in errors):  # which are an object, and nowhere else
            os.unlink(os.path.join(self.site, "head"))  # as PUBLISHING.md says
            status, errors, _ = self.run("publisher", *self.order(NAMES))
        if status != 0:
            raise Flaw(f"what was damaged cannot be published anew: {errors.decode()}")
        self.sent(NAMES, status)
        for way in ["--resume", "--release"]:
            self.run("publisher", "publish", way, "dir:site", may={0})
        if self.chance.random() < 0.5:
            self.run("publisher", "publish", "--prune", "dir:site", "--grace", "0s", may={0})
        self.halted, self.rolled, self.tampered, self.is_clean = set(), set(), False, True
        self.try_new(NAMES)
        outcomes = [outcome for receiver in self.receivers for outcome in self.finish(receiver)]
        left = [path for path in files(self.root) if LEFT.search(path) and "/inbox" not in path] + os.listdir(os.path.join(self.root, "tmp"))
        left += [name for name in os.listdir(self.site) if name not in ("head", "objects")]
        left += [name for name in os.listdir(os.path.join(self.site, "objects")) if not re.fullmatch("[0-9a-f]{64}", name)]
        if left:
            raise Flaw(f"{left} are left")
        return outcomes

    def finish(self, receiver):
        if self.recipients is not None and receiver.name not in self.recipients:
            return
        replacing = [word for name in NAMES for word in ("--replace", name)]
        for name in NAMES:
            self.run(receiver.name, "rollback", name, "--allow-again", "--into", receiver.name)
            receiver.kept_back.discard(name)
        self.look(receiver, *replacing, kill=0, allowed=True)
        for name in NAMES:
            is_newest = receiver.held.get(name) in self.newest[name] if name in receiver.lost else receiver.has(name, self.newest[name])
            if not is_newest or name in receiver.damaged:
                if name not in receiver.lost:
                    raise Flaw(f"{receiver.name} holds {receiver.held.get(name)} of {name}, and not {self.newest[name]}")
                self.run(receiver.name, "forget", name, "--into", receiver.name, may={0, 66})
                receiver.clear(name)
                yield "forgotten"
        self.look(receiver, *replacing, kill=0, allowed=True)
        if any(not receiver.has(name, self.newest[name]) or name in receiver.damaged for name in NAMES):
            raise Flaw(f"{receiver.name} holds {receiver.held}, and not {self.newest}; damaged: {receiver.damaged}")
        if receiver.is_whole:
            self.run(receiver.name, "verify", receiver.name)
        self.run(receiver.name, "status", "--into", receiver.name)
        if left := [path for path in files(receiver.folder) if LEFT.search(path)]:
            raise Flaw(f"{left} are left")
        yield "newest"


def publications(desk, chance):
    stores.make(desk.path("versions"))
    with served(desk.folder) as address:
        while True:
            seed = chance.getrandbits(32)
            chance.seed(seed)
            kitchen = Kitchen(desk, chance, address)
            try:
                yield kitchen.send(kill=0)
                for _ in range(chance.choice([1, 1, 2, 3])):
                    for _ in range(chance.randrange(5, 25)):
                        yield chance.choices([
                            kitchen.send, lambda: kitchen.look(chance.choice(kitchen.receivers)), kitchen.publish, kitchen.send_two, kitchen.go_back,
                            kitchen.damage_copy, kitchen.damage_publication, kitchen.send_anew, kitchen.follow], [9, 9, 3, 1, 2, 2, 1, 0.3, 0.3])[0]()
                    yield kitchen.settle()
            except Flaw as flaw:
                lines = "\n    ".join(kitchen.log)
                raise Flaw(f"round {seed}: {flaw}\n    {lines}") from flaw
            shutil.rmtree(kitchen.root)
