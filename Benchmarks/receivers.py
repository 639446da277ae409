#!/usr/bin/env python3
"""One sender that listens, and many receivers that follow it; one that is too slow for what changes; and one that passes on, all over TLS.

    receivers.py PROGRAM [COUNT] [MEGABYTES]    prints the figures; run.py --receivers writes them down
"""
import contextlib
import os
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field

import kinds
from following import seen
from relay import Link, Relay
from tables import as_multiple, table
from turn import Failed, Failures
from usage import cpu, resident

SIZE = 20  # MB
CHANGES, PAUSE = 12, 1.5  # of each field, and s between two
SLOW, SLOWEST = 3, Link(4_000, 0)  # how many receivers, and behind what: they count for nothing but the load
LONGEST = 300  # s
BEHIND_SIZE, BEHIND_LINK = 4, Link(30_000, 0.050)  # MB; of a receiver that is behind
BEHIND_EVERY, BEHIND_CHANGES = 7, 3  # s between two changes, and how many: all of them come while it is
FOLLOW = ("--follow", "--settle", "50ms")


@dataclass
class Load:
    """Medians of the changes, of as many receivers."""
    receivers: int
    slow: int
    last: float  # s until the last of those that are not slow has a change
    cpu: float  # s of the sender's
    memory: int  # bytes of the sender's at the end


@dataclass
class Behind:
    """A first shipment over a slow line, until the receiver has the newest state."""
    seconds: float
    bytes: int  # both ways, with what was cut
    generations: int  # that were installed


@dataclass
class Receivers:
    """What failed is not there."""
    loads: list = field(default_factory=list)
    behind: dict = field(default_factory=dict)  # Behind, by what happens
    hops: dict = field(default_factory=dict)  # medians in s until a change is there, by what is passed


class House:
    """Devices with a key each, and their programs, which end with it."""

    def __init__(self, program, folder, megabytes):
        self.program, self.folder, self.programs = program, folder, []
        self.environment = os.environ | {"XDG_STATE_HOME": self.path("state"), "TMPDIR": folder}
        self.store = self.path("store.db")
        kinds.generate("recipes", self.store, megabytes, 1)
        self.app, self.number = sqlite3.connect(self.store, isolation_level=None), 0
        self.app.execute("PRAGMA journal_mode = WAL")
        self.app.execute("CREATE TABLE bench_mark(value INTEGER)")
        self.app.execute("INSERT INTO bench_mark VALUES (0)")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for each in self.programs:
            self.end(each)
        self.app.close()

    def path(self, name): return os.path.join(self.folder, name)

    def run(self, *arguments, device=None):
        command = [self.program, *arguments, *(["--identity", self.path(f"id-{device}")] if device else [])]
        result = subprocess.run(command, env=self.environment, capture_output=True, text=True)
        if result.returncode:
            raise Failed(f"{arguments[0]}: exit code {result.returncode}: {result.stderr.strip()[-300:]}")
        return result.stdout

    def trust(self, device, by, role):
        own = self.run("identity", "--quiet", device=device).split()[0]
        self.run("trust", own, "--role", role, "--name", f"{device}-{role}", "-q", device=by)

    def start(self, *arguments, device):
        """- Returns: the program, and the port on which it listens, if it does."""
        command = [self.program, *arguments, "--identity", self.path(f"id-{device}")]
        child = subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.programs.append(child)
        port = None
        if "--listen" in arguments:
            port = next((int(line.rpartition(":")[2]) for line in child.stderr if line.startswith("listening on ")), None)
        threading.Thread(target=child.stderr.read, daemon=True).start()
        return child, port

    def end(self, child):
        child.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(20)
        child.kill()
        child.wait()

    def change(self):
        self.number += 1
        self.app.execute("UPDATE bench_mark SET value = ?", (self.number,))

    def arrives(self, inboxes, since):
        """- Returns: seconds until the last of them has the newest change."""
        missing, known = set(inboxes), {}
        while missing := {each for each in missing if not self.is_there(each, known)}:
            if time.monotonic() - since > LONGEST:
                raise Failed(f"{len(missing)} receivers do not have a change after {LONGEST} s")
            time.sleep(0.002 if len(inboxes) == 1 else 0.02)
        return time.monotonic() - since

    def is_there(self, inbox, known):
        """Whether a reader sees the newest change. It looks again once another generation is current: to open fifty stores takes long."""
        try:
            current = os.readlink(f"{inbox}/.ship-store/store/current")
        except OSError:
            return False
        if known.get(inbox) == current:
            return False
        known[inbox] = current
        return seen(f"{inbox}/store.sqlite", "SELECT value FROM bench_mark") == self.number

    def changes(self, inboxes, after=lambda: None):
        """- Returns: of each change the seconds until the last has it. The first counts for nothing, as some may still connect."""
        took = []
        for _ in range(CHANGES + 1):
            start = time.monotonic()
            self.change()
            took.append(self.arrives(inboxes, start))
            time.sleep(0.3)
            after()
            time.sleep(PAUSE)
        return took[1:]


@contextlib.contextmanager
def house(program, folder, megabytes=SIZE):
    place = os.path.join(folder, "house")
    os.mkdir(place)
    try:
        with House(program, place, megabytes) as found:
            yield found
    finally:
        shutil.rmtree(place)


def load(program, folder, count, slow, megabytes):
    """What a change of one row costs a sender that listens, and when the last receiver has it: of all, and then with some behind a slow line."""
    with house(program, folder, megabytes) as at, contextlib.ExitStack() as stack:
        for number in range(count):
            at.trust(str(number), "sender", "receiver")
            at.trust("sender", str(number), "sender")
        sender, port = at.start("send", at.store, "--listen", "127.0.0.1:0", *FOLLOW, "--max-connections", str(max(64, count)), device="sender")
        line = stack.enter_context(Relay(port, SLOWEST))
        inboxes = [at.path(f"in-{number}") for number in range(count)]

        def receive(number, port, *options):
            return ["receive", "--into", inboxes[number], "--from", f"127.0.0.1:{port}", "--quiet", *options]

        for number in range(count):
            # The first copy comes to one after the other, and over no slow line.
            at.run(*receive(number, port), device=str(number))
        receivers = [at.start(*receive(number, port, "--follow"), device=str(number))[0] for number in range(count)]
        for late in sorted({0, slow}):
            for number in range(late):
                at.end(receivers[number])
                at.start(*receive(number, line.port, "--follow"), device=str(number))
            used = [cpu(sender.pid)]
            took = at.changes(inboxes[slow:], after=lambda: used.append(cpu(sender.pid)))
            seconds = [end - start for start, end in zip(used[1:], used[2:])]
            yield Load(count, late, statistics.median(took), statistics.median(seconds), resident(sender.pid))


STILL, GOES_ON, CUT = "nothing changes meanwhile", "it goes on towards the state with which it began", "it is cut at each change, and connects again"


def behind(program, folder, what):
    """A receiver that is sent a first shipment, while a row changes every few seconds."""
    with house(program, folder, BEHIND_SIZE) as at, contextlib.ExitStack() as stack:
        at.trust("tablet", "phone", "receiver")
        at.trust("phone", "tablet", "sender")
        _, port = at.start("send", at.store, "--listen", "127.0.0.1:0", *FOLLOW, device="phone")
        line = stack.enter_context(Relay(port, BEHIND_LINK))

        def receive():
            return at.start("receive", "--into", at.path("inbox"), "--from", f"127.0.0.1:{line.port}", "--follow", "--keep", "100", "-q", device="tablet")[0]

        start, receiver = time.monotonic(), receive()
        for _ in range(0 if what == STILL else BEHIND_CHANGES):
            time.sleep(BEHIND_EVERY)
            at.change()
            if what == CUT:
                time.sleep(0.5)
                at.end(receiver)
                receiver = receive()
        took = at.arrives([at.path("inbox")], start)
        time.sleep(1)
        return Behind(took, line.delivered, len(at.run("list", "--into", at.path("inbox"), "--json").splitlines()))


ONE_HOP, NEAR, FAR = "one hop, nobody passes on", "the first of two hops", "two hops"


def hops(program, folder, megabytes):
    """When a change of one row is at the next device, and at the one to which that passes it on."""
    with house(program, folder, megabytes) as at:
        for device, by, role in (("tablet", "phone", "receiver"), ("phone", "tablet", "sender"), ("watch", "tablet", "receiver"),
                                 ("phone", "watch", "sender"), ("tablet", "watch", "relay")):
            at.trust(device, by, role)
        near, far = at.path("tablet"), at.path("watch")
        _, port = at.start("receive", "--into", near, "--listen", "127.0.0.1:0", "--relay", device="tablet")
        at.start("send", at.store, "--to", f"127.0.0.1:{port}", "--relay", *FOLLOW, "-q", device="phone")
        at.arrives([near], time.monotonic())
        found = {ONE_HOP: at.changes([near])}
        _, port = at.start("receive", "--into", far, "--listen", "127.0.0.1:0", device="watch")
        at.start("send", "--inbox", near, "--to", f"127.0.0.1:{port}", *FOLLOW, "-q", device="tablet")
        at.arrives([far], time.monotonic())
        found |= {NEAR: [], FAR: []}
        for _ in range(CHANGES):
            start = time.monotonic()
            at.change()
            found[NEAR].append(at.arrives([near], start))
            found[FAR].append(at.arrives([far], start))
            time.sleep(PAUSE)
        return {name: statistics.median(took) for name, took in found.items()}


def measure(program, count, folder, failures, megabytes=SIZE):
    found = Receivers()
    for receivers, slow in (1, 0), (count, SLOW):
        with failures.told(f"{receivers} receivers"):
            for each in load(program, folder, receivers, slow, megabytes):
                found.loads.append(each)
                failures.say(f"receivers: {each}")
    for what in STILL, GOES_ON, CUT:
        with failures.told(what):
            found.behind[what] = behind(program, folder, what)
            failures.say(f"receivers: {what}: {found.behind[what]}")
    with failures.told("hops"):
        found.hops = hops(program, folder, megabytes)
        failures.say(f"receivers: {found.hops}")
    return found


def of_loads(found):
    """The sender's processor, x of serving one; MiB for each further receiver; and the time of the others, x of without the slow ones.
    Nothing where one of them failed."""
    if len(found.loads) < 3:
        return None
    one, many, slowed = found.loads
    return many.cpu / one.cpu, (many.memory - one.memory) / 2**20 / max(1, many.receivers - 1), slowed.last / many.last


def of_hops(found): return found.hops and found.hops[FAR] / found.hops[ONE_HOP]


def figures(found):
    loads = [["receivers", "the last has a change after s", "sender's CPU s", "sender's memory MiB"]]
    loads += [[f"{each.receivers}, {each.slow} of them at {SLOWEST.rate / 1000:g} kB/s" if each.slow else str(each.receivers), f"{each.last:.2f}",
               f"{each.cpu:.2f}", f"{each.memory / 2**20:.1f}"] for each in found.loads]
    late = [[f"a first shipment of {BEHIND_SIZE} MB at {BEHIND_LINK.rate / 1000:g} kB/s", "s until it has the newest", "bytes", "generations"]]
    late += [[what, f"{each.seconds:.1f}", f"{each.bytes:,}", str(each.generations)] for what, each in found.behind.items()]
    passed = [["a change of one row, from the commit until a reader has it", "s", "x of one hop"]]
    passed += [[what, f"{took:.3f}", as_multiple(took / found.hops[ONE_HOP])] for what, took in found.hops.items()]
    return [*table(loads), "", *table(late), "", *table(passed)]


def main():
    program = os.path.abspath(sys.argv[1])
    count, megabytes = ([int(each) for each in sys.argv[2:]] + [50, SIZE][len(sys.argv) - 2:])[:2]
    failures = Failures("receivers", lambda text: print(text, file=sys.stderr, flush=True))
    with tempfile.TemporaryDirectory() as folder:
        found = measure(program, count, folder, failures, megabytes)
    print("\n".join(figures(found)))
    if shares := of_loads(found):
        print("\nCPU x of one: {:.2f}; MiB for each further one: {:.2f}; with slow ones, x of without: {:.2f}".format(*shares))
    sys.exit(failures.some)


if __name__ == "__main__":
    main()
