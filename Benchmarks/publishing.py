"""What a change costs in requests and bytes that goes by way of storage, beside Litestream on the same server; and what a receiver takes that
is many changes behind."""
import contextlib
import functools
import http.server
import os
import random
import shutil
import statistics
import subprocess
import threading
import time
from dataclasses import dataclass, field

import litestream
import stores
import usage
from following import LONGEST, PEER, SETTLE, Pair, alone, check, median, p99
from storage import BUCKET, KEYS, Counter, served, since
from tables import as_multiple, ratio, table
from turn import Failed, Failures, Process, content_digest

COMMITS, PAUSE = 100, (0.5, 1.5)  # of each contender, and seconds before each
POLL = "1s"
IDLE = 60  # s
PUBLISHED, RECENT, SMALL = 1000, 100, 1  # publishes, from how many of the last a receiver comes, MB of the store
ASKED = (*range(1, RECENT + 1), 200, 300, 400, 600, 800)  # how many a receiver is behind
S3, FOLDER = "ship-store, s3", "ship-store, dir"


@dataclass
class Published(Pair):
    """Its publisher and its follower reach the storage each by a way that counts."""
    up: Counter = None
    down: Counter = None

    def memory(self): return [usage.peak(side.pid) for side in self.sides]


@dataclass
class Change:
    delay: float  # s until a reader had it
    publisher: tuple  # requests, bytes up and down, until the next commit
    follower: tuple  # the same, until the reader had it


@dataclass
class Publishing:
    """What failed is not there."""
    size: int  # MB
    changes: dict = field(default_factory=dict)  # Change, by contender
    polls: dict = field(default_factory=dict)  # of a follower in an idle minute: requests, bytes up and down
    idle: dict = field(default_factory=dict)  # the same of the publisher
    memory: dict = field(default_factory=dict)  # MiB of the publisher and of the follower
    files: tuple = None  # written into a folder for one row: their number and their bytes, medians
    chains: list = None  # Chain


@dataclass
class Chain:
    behind: int  # publishes
    requests: int
    bytes: int  # down, headers included
    direct: int  # bytes of the one delta that leads there


@contextlib.contextmanager
def counted(pair, port):
    """The pair, with a way for each of its sides."""
    with Counter(port) as up, Counter(port) as down:
        yield Published(pair.store, pair.copy, pair.app, up=up, down=down)


def homes(folder):
    """What keeps the keys, identities, memories and proxies of the user out of it."""
    return {"HOME": folder, "XDG_CONFIG_HOME": os.path.join(folder, "config"), "XDG_STATE_HOME": os.path.join(folder, "state"),
            "AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull, "AWS_CA_BUNDLE": "",
            "no_proxy": "127.0.0.1", "NO_PROXY": "127.0.0.1", **KEYS}


@contextlib.contextmanager
def ours(program, pristine, folder, port):
    with alone(pristine, folder) as bare, counted(bare, port) as pair, contextlib.ExitStack() as stack:
        place = f"s3://{BUCKET}/{os.path.basename(folder)}"

        def process(name, counter, verb, *words):
            argv = [program, verb, *words, "--endpoint-url", f"http://127.0.0.1:{counter.port}", "--identity", os.path.join(folder, f"{verb}-id"), "--quiet"]
            return Process(argv, os.path.join(folder, name), homes(folder))

        with process("first", pair.up, "send", pair.store, "--to", place) as first:
            first.end(time.monotonic() + LONGEST)
        pair.sides = [stack.enter_context(side) for side in (
            process("send", pair.up, "send", pair.store, "--to", place, "--follow", "--settle", SETTLE),
            process("receive", pair.down, "receive", "--into", os.path.dirname(pair.copy), "--from", place, "--follow", "--poll", POLL))]
        yield pair


@contextlib.contextmanager
def peer(program, pristine, folder, port):
    with alone(pristine, folder) as bare, counted(bare, port) as pair, contextlib.ExitStack() as stack:
        os.mkdir(os.path.dirname(pair.copy))

        def replica(counter):
            return {"type": "s3", "bucket": BUCKET, "path": os.path.basename(folder), "endpoint": f"http://127.0.0.1:{counter.port}",
                    "region": KEYS["AWS_REGION"], "force-path-style": True}

        environment = homes(folder)
        source = stack.enter_context(litestream.replicating(program, pair.store, replica(pair.up), litestream.DEFAULT, folder, environment))
        place = os.path.join(folder, "follower")
        os.mkdir(place)
        litestream.configured(pair.store, replica(pair.down), litestream.DEFAULT, place)
        follower = stack.enter_context(litestream.following(program, pair.store, pair.copy, litestream.DEFAULT, place, environment))
        pair.sides = [source, follower]
        yield pair


def take_changes(pairs, found, say):
    """Of each pair in turns."""
    dice, counts = random.Random(2), {}
    for name, pair in pairs.items():
        pair.delay()
    time.sleep(3)
    for name, pair in pairs.items():
        counts[name] = pair.up.counts()
    for number in range(COMMITS):
        taken = {}
        for name, pair in pairs.items():
            time.sleep(dice.uniform(*PAUSE))  # before each: both look once a second, and one of them may not be right behind the other
            before = pair.down.counts()
            delay = pair.delay()
            taken[name] = delay, since(before, pair.down.counts())
        for name, pair in pairs.items():
            before, counts[name] = counts[name], pair.up.counts()
            found.changes.setdefault(name, []).append(Change(taken[name][0], since(before, counts[name]), taken[name][1]))
        if number % 10 == 9:
            say(f"publishing: commit {number + 1} of {COMMITS}: " + ", ".join(f"{name} {changes[-1]}" for name, changes in found.changes.items()))


def take_idle(pairs, found, say):
    time.sleep(5)
    before = {name: (pair.up.counts(), pair.down.counts()) for name, pair in pairs.items()}
    time.sleep(IDLE)
    for name, pair in pairs.items():
        found.idle[name], found.polls[name] = (tuple(each * 60 / IDLE for each in since(early, side.counts()))
                                               for early, side in zip(before[name], (pair.up, pair.down)))
        found.memory[name] = [peak / 2**20 for peak in pair.memory()]
        say(f"publishing: idle, {name}: follower {found.polls[name]}, publisher {found.idle[name]}, memory {found.memory[name]}")


class Desk:
    """A publisher of a folder, each publish a process of its own, and those who receive from it."""

    def __init__(self, program, folder, store):
        self.program, self.folder, self.store = program, folder, store
        self.public = os.path.join(folder, "public")
        self.environment = {**os.environ, **homes(folder)}

    def run(self, *words):
        done = subprocess.run([self.program, *words, "--quiet"], env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode:
            raise Failed(f"{words[0]}: exit code {done.returncode}: {done.stderr.strip()[-300:]}")

    def publish(self):
        self.run("send", self.store, "--to", f"dir:{self.public}")

    def receive(self, inbox, place):
        self.run("receive", "--into", inbox, "--from", place)


def files(folder):
    """What identifies each file there and what it has, by path."""
    found = {}
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            state = os.stat(path)
            found[path] = state.st_ino, state.st_mtime_ns, state.st_size
    return found


def take_files(program, pristine, folder):
    """The number and the bytes of the files that a change has the publisher write into a folder, as medians."""
    with alone(pristine, folder) as pair:
        desk, taken = Desk(program, folder, pair.store), []
        for number in range(21):
            pair.app.execute("UPDATE entry SET stars = ? WHERE id = 250", (number + 6,))
            before = files(desk.public)
            desk.publish()
            written = [state[2] for path, state in files(desk.public).items() if before.get(path) != state]
            if number:
                taken.append((len(written), sum(written)))
    return tuple(map(statistics.median, zip(*taken)))


@contextlib.contextmanager
def shown(folder):
    """The port of a web server that shows a folder."""
    class Quiet(http.server.SimpleHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_): pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


def change_row(app, number):
    """Another row each time, as of a store at work."""
    [(row,)] = app.execute("SELECT id FROM entry ORDER BY id LIMIT 1 OFFSET (? * 37 % (SELECT count(*) FROM entry))", (number,))
    app.execute("UPDATE entry SET stars = ?, body = body || ' And one more sentence.' WHERE id = ?", (number, row))


def take_chains(program, pristine, folder, say):
    """What a receiver takes that stopped at one of the last publishes, by how many it is behind."""
    with alone(pristine, folder) as pair, contextlib.ExitStack() as stack:
        desk = Desk(program, folder, pair.store)
        desk.publish()
        way = stack.enter_context(Counter(stack.enter_context(shown(desk.public))))
        place, inbox = f"http://127.0.0.1:{way.port}", os.path.join(folder, "inbox")
        for number in range(1, PUBLISHED + 1):
            change_row(pair.app, number)
            desk.publish()
            if (left := PUBLISHED - number) in ASKED:
                desk.receive(inbox, place)
                shutil.copytree(inbox, f"{inbox}-{left}", symlinks=True)
                desk.run("send", pair.store, "--no-remember", "--to", f"{inbox}-{left}.shipment")
            if number % 100 == 0:
                say(f"publishing: {number} of {PUBLISHED}")
        return [take_chain(desk, way, place, f"{inbox}-{behind}", behind) for behind in ASKED]


def take_chain(desk, way, place, inbox, behind):
    before = way.counts()
    desk.receive(inbox, place)
    requests, _, down = since(before, way.counts())
    direct = f"{inbox}-direct.shipment"
    desk.run("send", desk.store, "--since", f"{inbox}.shipment", "--to", direct)
    if content_digest(os.path.join(inbox, os.path.basename(desk.store))) != content_digest(desk.store):
        raise Failed(f"{behind} publishes behind: what was received differs from the source")
    return Chain(behind, requests, down, os.path.getsize(direct))


def measure(program, peers, size, folder, say):
    """- Returns: the figures, and whether something failed."""
    found, failures = Publishing(size), Failures("publishing", say)
    pristine = stores.made("journal", size, folder)

    with failures.told("over storage"), served(os.path.join(peers, "moto_server"), folder) as port, \
            ours(program, pristine, os.path.join(folder, "ours"), port) as mine, \
            peer(os.path.join(peers, "litestream"), pristine, os.path.join(folder, "peer"), port) as theirs:
        pairs = {S3: mine, PEER: theirs}
        take_changes(pairs, found, say)
        take_idle(pairs, found, say)
        check(pairs)
    with failures.told("into a folder"):
        found.files = take_files(program, pristine, os.path.join(folder, "files"))
        say(f"publishing: files written for a change: {found.files}")
    os.remove(pristine)
    small = stores.made("journal", SMALL, folder)
    with failures.told("many publishes"):
        found.chains = take_chains(program, small, os.path.join(folder, "chains"), say)
    os.remove(small)
    return found, failures.some


def requests(counts): return counts[0]
def both_ways(counts): return counts[1] + counts[2]


def of(changes, side, measure):
    """A figure of one side, of each change."""
    return [measure(getattr(change, side)) for change in changes]


def worst(chains):
    """Of those that the limit is for, if there are any."""
    chains = [each for each in chains if each.behind <= RECENT] or chains
    return max(each.bytes / each.direct for each in chains)


def figures(found):
    lines, ways = [], [f"{side}: {what}" for side in ("publisher", "follower") for what in ("requests", "up", "down")]
    if found.changes:
        rows = [["one row", "until a reader has it, median s", "p99 s", f"to {PEER}", *ways]]
        mean = [["one row, in the mean of all", *ways[:3]]]
        idle = [["nothing changes, a minute", *ways[3:], "both ways for each", ways[0], "MiB publisher", "MiB follower"]]
        for name, changes in found.changes.items():
            delays = [each.delay for each in changes]
            rows.append([name, f"{median(delays):.3f}", f"{p99(delays):.3f}", as_multiple(ratio(changes, found.changes[PEER], lambda each: each.delay)),
                         *(f"{median(of(changes, side, lambda counts: counts[number])):,.0f}" for side in ("publisher", "follower") for number in range(3))])
            mean.append([name, *(f"{statistics.mean(of(changes, 'publisher', lambda counts: counts[number])):,.1f}" for number in range(3))])
        for name, polls in found.polls.items():
            idle.append([name, *(f"{each:,.0f}" for each in polls), f"{both_ways(polls) / max(1, polls[0]):,.0f}", f"{found.idle[name][0]:,.0f}",
                         *(f"{each:.0f}" for each in found.memory[name])])
        lines += [*table(rows), "", *table(mean), "", *table(idle), ""]
    if found.files:
        lines += [f"Published into a folder, one row has {found.files[0]:g} file written, with {found.files[1]:,.0f} bytes (medians of 20).", ""]
    if found.chains:
        rows = [[f"after {PUBLISHED:,} publishes, a receiver that is behind by", "requests", "bytes", "the one delta", "median x", "worst x"]]
        for least, most in ((1, 4), (5, 16), (17, 50), (51, RECENT), (RECENT + 1, ASKED[-1])):
            if some := [each for each in found.chains if least <= each.behind <= most]:
                rows.append([f"{least} to {most}", *(f"{median([getattr(each, what) for each in some]):,.0f}" for what in ("requests", "bytes", "direct")),
                             as_multiple(median([each.bytes / each.direct for each in some])), as_multiple(worst(some))])
        lines += table(rows)
    return lines
