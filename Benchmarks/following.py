"""How far a follower is behind a store, and what it costs that somebody follows: beside Litestream, whose replica is a folder here."""
import contextlib
import math
import os
import random
import shutil
import sqlite3
import statistics
import time
from dataclasses import dataclass, field

import contenders
import litestream
import stores
import usage
from committing import Committing
from contenders import OVER_TLS, SHIP_STORE
from deltas import SLOW
from relay import Link, Relay
from tables import as_multiple, ratio, table
from turn import Failed, Failures, Process, content_digest, free_port, wait_for_listener

SETTLE = "50ms"
COMMITS, PAUSE = 150, (0.5, 1.5)  # of each contender, and seconds between two rounds of all
READ, ROW = 0.002, 250  # s between two looks of the waiting reader, and the row that it reads
IDLE = 120  # s
AT_WORK, APART = 30, 0.05  # s that an app commits, and between two commits
SLICES = 2  # of each contender, in turns
RATE, WINDOW, LIMITED = 100_000, 10, 30  # bytes a second, s over which they are counted, s in all
LONGEST = 120  # s
CHANGES, LARGER, MANY = 10, 10, 10  # commits of which the cost is counted, of how much larger a store too, and stores of one sender
SLOWER = Link(30_000, 0.300)
PEER, PEER_FAST, FAST = "Litestream", "Litestream at 50 ms", "50ms"
ALONE = "nobody follows"
OVER_SLOW, OVER_SLOWER = (f"{SHIP_STORE} at {link.rate / 1000:g} kB/s" for link in (SLOW, SLOWER))


@dataclass
class Pair:
    """A store that an app has open, and a copy that follows it."""
    store: str
    copy: str
    app: sqlite3.Connection
    sides: list = field(default_factory=list)  # their processes
    relay: Relay = None
    number: int = 5  # what the app has committed last

    def cpu(self): return sum(usage.cpu(side.pid) for side in self.sides)
    def wakeups(self): return {thread: count for side in self.sides for thread, count in usage.wakeups(side.pid).items()}
    def bytes(self): return self.relay.bytes if self.relay else 0

    def delay(self):
        """Seconds from a commit until a waiting reader has read it from the copy."""
        self.number += 1
        self.app.execute("UPDATE entry SET stars = ? WHERE id = ?", (self.number, ROW))
        start = time.monotonic()
        while seen(self.copy, f"SELECT stars FROM entry WHERE id = {ROW}") != self.number:
            if time.monotonic() - start > LONGEST:
                raise Failed(f"a commit has not arrived after {LONGEST} s")
            time.sleep(READ)
        return time.monotonic() - start


@dataclass
class Idle:
    """Of both sides together, a minute."""
    cpu: float  # s
    wakeups: float
    bytes: float


@dataclass
class App:
    took: list = field(default_factory=list)  # seconds of each commit
    log: int = 0  # bytes of the largest -wal


@dataclass
class Cost:
    """Of one row, in the mean: seconds of the processor, of both sides, and bytes that each writes to its disk."""
    size: int  # bytes of the store
    cpu: float
    source: float
    receiver: float


@dataclass
class Following:
    """What failed is not there."""
    size: int  # MB
    delays: dict  # seconds of each commit, by contender
    cpu: dict  # seconds of both sides for one of them
    idle: dict  # Idle
    apps: dict  # App
    limited: float = None  # the most bytes a second
    costs: dict = field(default_factory=dict)  # Cost, by MB
    many: float = None  # bytes of memory of a sender of several stores, between two shipments


def seen(path, query):
    """The first value; None where there is no store yet, or none that can be read: a peer may be writing to it."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as store:
            return store.execute(query).fetchone()[0]
    except sqlite3.Error:
        return None


@contextlib.contextmanager
def alone(pristine, folder):
    """A pair without a follower, in a folder that is gone afterwards."""
    os.mkdir(folder)
    try:
        store = stores.copied(pristine, folder)
        with contextlib.closing(sqlite3.connect(store, isolation_level=None)) as app:
            app.execute("SELECT count(*) FROM sqlite_schema").fetchone()
            yield Pair(store, os.path.join(folder, "inbox", os.path.basename(store)), app)
    finally:
        shutil.rmtree(folder)


@contextlib.contextmanager
def ours(contender, pristine, folder, link=None, options=()):
    """The first shipment does not go over the link."""
    with alone(pristine, folder) as pair, contextlib.ExitStack() as stack:
        port = free_port()
        environment = {"STORE": pair.store, "INBOX": os.path.dirname(pair.copy), "XDG_STATE_HOME": os.path.join(folder, "state")}

        def process(name, argv, port):
            return Process(argv, os.path.join(folder, name), {**environment, "PORT": str(port)})

        receiver = stack.enter_context(process("receive", [word for word in contender.receive if word != "--once"], port))
        wait_for_listener(port, receiver)
        with process("first", contender.send, port) as first:
            first.end(time.monotonic() + LONGEST)
        pair.relay = stack.enter_context(Relay(port, link))
        send = [*contender.send, "--follow", "--settle", SETTLE, *options]
        pair.sides = [stack.enter_context(process("send", send, pair.relay.port)), receiver]
        yield pair


@contextlib.contextmanager
def peer(program, pristine, folder, interval):
    with alone(pristine, folder) as pair:
        os.mkdir(os.path.dirname(pair.copy))
        replica = {"type": "file", "path": os.path.join(folder, "replica")}
        with litestream.replicating(program, pair.store, replica, interval, folder, {}) as source, \
                litestream.following(program, pair.store, pair.copy, interval, folder, {}) as follower:
            pair.sides = [source, follower]
            yield pair


def take_delays(pairs, found, say):
    """Of each pair in turns; the first commit counts for nothing, as some may still connect."""
    dice = random.Random(1)
    for pair in pairs.values():
        pair.delay()
    before = {name: pair.cpu() for name, pair in pairs.items()}
    for number in range(COMMITS):
        for name, pair in pairs.items():
            found.delays.setdefault(name, []).append(pair.delay())
        if number % 10 == 9:
            say(f"following: commit {number + 1} of {COMMITS}: " + ", ".join(f"{name} {took[-1]:.3f} s" for name, took in found.delays.items()))
        time.sleep(dice.uniform(*PAUSE))
    found.cpu = {name: (pair.cpu() - before[name]) / COMMITS for name, pair in pairs.items()}


def take_idle(pairs, found, say):
    """Of all pairs in the same time."""
    time.sleep(10)  # what came last is over
    before = {name: (pair.cpu(), pair.wakeups(), pair.bytes()) for name, pair in pairs.items()}
    time.sleep(IDLE)
    for name, pair in pairs.items():
        cpu, threads, count = before[name]
        woken = sum(late - threads.get(thread, 0) for thread, late in pair.wakeups().items())
        found.idle[name] = Idle(*(each * 60 / IDLE for each in (pair.cpu() - cpu, woken, pair.bytes() - count)))
        say(f"following: idle, {name}: {found.idle[name]}")


def check(pairs):
    """Raises Failed where a copy differs from its store once nothing changes any more."""
    for name, pair in pairs.items():
        if content_digest(pair.copy) != content_digest(pair.store):
            raise Failed(f"{name}: the copy differs from the store")


def take_app(pair, into):
    """What an app's commits take that the pair follows, if anybody does."""
    with Committing(pair.store, "WAL", APART) as app:
        time.sleep(2)
        app.took()
        time.sleep(AT_WORK)
        into.took += app.took()
    # It never gets smaller as long as an app has the store open.
    into.log = max(into.log, os.path.getsize(pair.store + "-wal"))


def take_limit(contender, pristine, folder):
    """The most bytes a second, over any ten seconds of a whole shipment under `--limit-rate`."""
    with alone(pristine, folder) as pair, contextlib.ExitStack() as stack:
        port = free_port()
        environment = {"STORE": pair.store, "INBOX": os.path.dirname(pair.copy), "XDG_STATE_HOME": os.path.join(folder, "state")}
        receiver = stack.enter_context(Process(contender.receive, os.path.join(folder, "receive"), {**environment, "PORT": str(port)}))
        wait_for_listener(port, receiver)
        relay = stack.enter_context(Relay(port))
        send = [*contender.send, "--limit-rate", f"{RATE // 1000}k"]
        stack.enter_context(Process(send, os.path.join(folder, "send"), {**environment, "PORT": str(relay.port)}))
        counts, start = [], time.monotonic()
        while time.monotonic() - start < LIMITED:
            counts.append((time.monotonic(), relay.bytes))
            time.sleep(0.02)
        rates = [(late - early) / WINDOW for moment, early in counts
                 for late in [max(count for then, count in counts if then <= moment + WINDOW)] if moment + WINDOW <= counts[-1][0]]
        if max(rates) < RATE / 2:
            raise Failed(f"only {max(rates):,.0f} bytes a second went")
        return max(rates)


def cost(contender, size, folder):
    """Of a row of a store of that many MB, with nobody else at work."""
    pristine = stores.made("journal", size, folder)
    with ours(contender, pristine, os.path.join(folder, "cost")) as pair:
        for _ in range(3):  # until the receiver has a file to write over
            pair.delay()
        time.sleep(2)
        before = pair.cpu(), [usage.written(side.pid) for side in pair.sides]
        for _ in range(CHANGES):
            pair.delay()
            time.sleep(1)
        source, receiver = ((usage.written(side.pid) - was) / CHANGES for side, was in zip(pair.sides, before[1]))
        found = Cost(os.path.getsize(pair.copy), (pair.cpu() - before[0]) / CHANGES, source, receiver)
        check({SHIP_STORE: pair})
    os.remove(pristine)
    return found


def memory_of_many(contender, pristine, folder):
    """Bytes of a sender that follows several stores, once each of them has shipped a change."""
    with alone(pristine, folder) as pair, contextlib.ExitStack() as stack:
        port, apps, copies = free_port(), [], []
        environment = {"INBOX": os.path.dirname(pair.copy), "PORT": str(port), "XDG_STATE_HOME": os.path.join(folder, "state")}
        for number in range(MANY):
            path = os.path.join(folder, f"store{number}.sqlite")
            shutil.copyfile(pristine, path)
            apps.append(stack.enter_context(contextlib.closing(sqlite3.connect(path, isolation_level=None))))
            copies.append(os.path.join(environment["INBOX"], os.path.basename(path)))
        receive = [word for word in contender.receive if word != "--once"]
        receiver = stack.enter_context(Process(receive, os.path.join(folder, "receive"), environment))
        wait_for_listener(port, receiver)
        stores = [os.path.join(folder, f"store{number}.sqlite") for number in range(MANY)]
        send = [each for word in contender.send for each in (stores if word == "$STORE" else [word])]
        sender = stack.enter_context(Process([*send, "--follow", "--settle", SETTLE], os.path.join(folder, "send"), environment))
        for stars in (6, 7):
            start = time.monotonic()
            for app in apps:
                app.execute("UPDATE entry SET stars = ? WHERE id = ?", (stars, ROW))
            while any(seen(copy, f"SELECT stars FROM entry WHERE id = {ROW}") != stars for copy in copies):
                if time.monotonic() - start > LONGEST:
                    raise Failed(f"the commits of {MANY} stores have not arrived after {LONGEST} s")
                time.sleep(0.1)
        time.sleep(5)
        return usage.held(sender.pid)


def measure(program, peer_program, size, folder, say):
    """- Returns: the figures, and whether something failed."""
    plain, pristine = contenders.ship_store(program), stores.made("journal", size, folder)
    secured = contenders.over_tls(program, os.path.join(folder, "devices"))
    found, failures = Following(size, {}, {}, {}, {}), Failures("following", say)
    ways = {
        SHIP_STORE: lambda place: ours(plain, pristine, place),
        OVER_TLS: lambda place: ours(secured, pristine, place),
        OVER_SLOW: lambda place: ours(plain, pristine, place, SLOW),
        OVER_SLOWER: lambda place: ours(plain, pristine, place, SLOWER),
        PEER: lambda place: peer(peer_program, pristine, place, litestream.DEFAULT),
        PEER_FAST: lambda place: peer(peer_program, pristine, place, FAST),
        ALONE: lambda place: alone(pristine, place),
    }

    with failures.told("commits and an idle store"), contextlib.ExitStack() as stack:
        pairs = {name: stack.enter_context(way(os.path.join(folder, f"pair-{number}")))
                 for number, (name, way) in enumerate(ways.items()) if name != ALONE}
        take_delays(pairs, found, say)
        take_idle({name: pair for name, pair in pairs.items() if name not in (OVER_SLOW, OVER_SLOWER)}, found, say)
        check(pairs)
    for turn in range(SLICES):
        for name in (ALONE, SHIP_STORE, PEER) if turn % 2 == 0 else (PEER, SHIP_STORE, ALONE):
            with failures.told(f"an app, {name}"), ways[name](os.path.join(folder, "at-work")) as pair:
                take_app(pair, found.apps.setdefault(name, App()))
                say(f"following: an app, {name}: {median(found.apps[name].took) * 1000:.2f} ms, -wal {found.apps[name].log:,} bytes")
    with failures.told("--limit-rate"):
        found.limited = take_limit(plain, pristine, os.path.join(folder, "limited"))
        say(f"following: --limit-rate: {found.limited:,.0f} bytes a second")
    for each in (size, size * LARGER):
        with failures.told(f"what a row of {each} MB costs"):
            found.costs[each] = cost(plain, each, folder)
            say(f"following: {each} MB: {found.costs[each]}")
    with failures.told("many stores"):
        found.many = memory_of_many(plain, pristine, os.path.join(folder, "many"))
        say(f"following: {MANY} stores: {found.many:,.0f} bytes of memory")
    os.remove(pristine)
    return found, failures.some


def median(values): return statistics.median(values)
def p99(values): return sorted(values)[math.ceil(len(values) * 0.99) - 1]


def figures(found):
    delays = [["a commit until a waiting reader has read it", "median s", "p99 s", "longest s", f"to {PEER}", "CPU s"]]
    for name, took in found.delays.items():
        delays.append([name, f"{median(took):.3f}", f"{p99(took):.3f}", f"{max(took):.3f}",
                       as_multiple(ratio(took, found.delays[PEER], float)), f"{found.cpu.get(name, math.nan):.3f}"])
    idle = [["an idle store, a minute", "CPU ms", "wake-ups", "bytes"]]
    for name, minute in found.idle.items():
        idle.append([name, f"{minute.cpu * 1000:.1f}", f"{minute.wakeups:,.0f}", "–" if name in (PEER, PEER_FAST) else f"{minute.bytes:,.0f}"])
    apps = [["an app's commits, 20 a second", "median ms", "p99 ms", "longest ms", "largest -wal"]]
    for name, app in found.apps.items():
        apps.append([name, *(f"{1000 * of(app.took):.2f}" for of in (median, p99, max)), f"{app.log:,}"])
    limited = f"Under `--limit-rate {RATE // 1000}k` at most {found.limited:,.0f} bytes a second go, over any {WINDOW} seconds." if found.limited else ""
    costs = [["one row, nobody else at work", "CPU s, both sides", "source writes kB", "receiver writes kB", "x of the store"]]
    for size, each in found.costs.items():
        costs.append([f"of {size} MB", f"{each.cpu:.3f}", *(f"{side / 1000:,.0f}" for side in (each.source, each.receiver)),
                      f"{each.receiver / each.size:.2f}"])
    many = f"A sender that follows {MANY} stores of {found.size} MB takes {found.many / 1048576:.1f} MiB between two shipments." if found.many else ""
    return [*table(delays), "", *table(idle), "", *table(apps), "", limited, "", *table(costs), "", many]
