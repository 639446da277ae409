"""What a change costs: bytes of a whole session, beside what others make of the two files; time, and memory."""
import contextlib
import dataclasses
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from dataclasses import dataclass

import changes
import contenders
import stores
from bytes import run, vacuumed
from contenders import BY_ROWS, NO_BASE, OVER_TLS, SHIP_STORE
from relay import Link, Relay
from tables import as_multiple, median, ratio, table
from turn import Failed, Failures, Process, Side, content_digest, free_port, wait_for_listener

GENERATIONS = 3  # that the receiver holds
SLOW = Link(250_000, 0.020)  # as between phone and watch
LONGEST = 600  # s
# $OLD and $NEW are vacuumed files; what is made of them goes to $PATCH.
PEERS = {
    "xdelta3 -9": ["xdelta3", "-9", "-e", "-f", "-A=", "-s", "$OLD", "$NEW", "$PATCH"],
    "zstd -19 --patch-from": ["zstd", "-19", "--long=27", "-q", "-f", "--patch-from=$OLD", "$NEW", "-o", "$PATCH"],
    "bsdiff": ["bsdiff", "$OLD", "$NEW", "$PATCH"],
}


@dataclass
class Shipment:
    bytes: int  # on the line, both ways, TCP's and IP's own left out
    wall: float  # seconds, from the sender's start until both sides have ended
    seconds: float  # from the sender's start until it has its receipt, and ends
    sender: Side
    receiver: Side


@dataclass
class Deltas:
    """What failed is not there."""
    size: int  # MB of the store that saw all changes
    bytes: dict  # by change, by contender or peer
    whole: dict  # bytes of a whole shipment, by contender
    rows: dict  # by megabytes: pairs of shipments, of one row that changed and of all, as two lists
    slow: list  # shipments of one row over the slow link
    other: list = dataclasses.field(default_factory=list)  # pairs: bytes of a store with other rows than the one that is held, and of it to nobody's inbox
    adopted: int = None  # bytes of the first session after a copy from a bundle of which 1 % has changed


class Desk:
    """A sender and a receiver that go on from shipment to shipment: what one remembers, and what the other holds, is theirs alone."""

    def __init__(self, contender, folder):
        self.contender, self.folder, self.count = contender, folder, 0
        self.inbox = os.path.join(folder, "inbox")
        os.makedirs(self.inbox)

    def ship(self, store, link=None, options=(), record=None):
        """Raises Failed where a side fails, or what is installed has another content than the store."""
        self.count += 1
        name, port = os.path.basename(store)[:-7], free_port()
        environment = {"STORE": store, "NAME": name, "INBOX": self.inbox}
        places = {role: os.path.join(self.folder, f"{role}-{self.count}") for role in ("receiver", "sender")}
        states = {role: {"XDG_STATE_HOME": os.path.join(self.folder, f"{role}-state")} for role in places}
        os.sync()  # what the one before left to write is not this one's
        with contextlib.ExitStack() as stack:
            receive = [*self.contender.receive, "--keep", str(GENERATIONS)]
            receiver = stack.enter_context(
                Process(receive, places["receiver"], {**environment, **states["receiver"], "PORT": str(port)}))
            wait_for_listener(port, receiver)
            relay = stack.enter_context(Relay(port, link, record))
            began = time.monotonic()
            send = [*self.contender.send, *options]
            sender = stack.enter_context(
                Process(send, places["sender"], {**environment, **states["sender"], "PORT": str(relay.port)}))
            sender.end(began + LONGEST)
            seconds = time.monotonic() - began
            receiver.end(began + LONGEST)
            found = Shipment(relay.bytes, time.monotonic() - began, seconds, sender.side(), receiver.side())
        for place in places.values():
            shutil.rmtree(place)
        if content_digest(os.path.join(self.inbox, name + ".sqlite")) != content_digest(store):
            raise Failed("the installed store differs from the source")
        return found

    def hold(self, store):
        """Until the receiver has as many generations as it keeps, of which the last is the store as it is now. Gives the first shipment."""
        whole = self.ship(store)
        for _ in range(GENERATIONS - 1):
            nudge(store)
            self.ship(store)
        if len(self.generations()) != GENERATIONS:
            raise Failed(f"{len(self.generations())} generations are held instead of {GENERATIONS}")
        return whole

    def generations(self):
        return [json.loads(line) for line in self.run("list", "--into", self.inbox, "--json").splitlines()]

    def run(self, *arguments):
        """Another command of the program, on the sender's side or the receiver's."""
        environment = {**os.environ, "XDG_STATE_HOME": os.path.join(self.folder, "sender-state")}
        done = subprocess.run([self.contender.receive[0], *arguments], env=environment, capture_output=True, text=True)
        if done.returncode:
            raise Failed(f"{arguments[0]}: exit code {done.returncode}: {done.stderr.strip()[-300:]}")
        return done.stdout


def nudge(path):
    store = sqlite3.connect(path)
    store.execute(f"PRAGMA user_version = {store.execute('PRAGMA user_version').fetchone()[0] + 1}")
    store.close()


@contextlib.contextmanager
def desk(contender, folder):
    """One that is gone afterwards."""
    place = os.path.join(folder, "desk")
    try:
        yield Desk(contender, place)
    finally:
        shutil.rmtree(place)


@contextlib.contextmanager
def app(pristine, folder, held_open):
    """The path of a copy that an app has open; gone afterwards, with its -wal."""
    place = os.path.join(folder, "app")
    os.mkdir(place)
    try:
        path = shutil.copyfile(pristine, os.path.join(place, "phone.sqlite"))
        with held_open(path):
            yield path
    finally:
        shutil.rmtree(place)


def check(name, desk):
    """What the digest of the content does not show."""
    if name == changes.METADATA:
        [current] = [each for each in desk.generations() if each["isCurrent"]]
        key, _, value = changes.META.partition("=")
        if current.get("metadata") != {key: value}:
            raise Failed("the metadata has not come")


def check_comparison(contender, pristine, folder, held_open):
    """A sender that ships the store as it was before has to be noticed."""
    with app(pristine, folder, held_open) as path, desk(contender, folder) as at:
        stale = os.path.join(at.folder, os.path.basename(path))
        shutil.copyfile(pristine, stale)
        changes.change(changes.ONE_ROW, path)
        at.contender = dataclasses.replace(contender, send=[stale if word == "$STORE" else word for word in contender.send])
        try:
            at.ship(path)
        except Failed as failure:
            if "differs" in str(failure):
                return
            raise
    sys.exit("self-check: the store of before passed for the one that changed")


def weigh(name, contender, pristine, folder, held_open):
    """Bytes of the session after a change, and those of the whole shipment that came first."""
    with app(pristine, folder, held_open) as path, desk(contender, folder) as at:
        whole = at.hold(path)
        changes.change(name, path)
        found = at.ship(path, options=changes.options(name))
        check(name, at)
    return found.bytes, whole.bytes


def differences(old, new, folder):
    """Bytes of what the peers that are there make of two files."""
    sizes, patch = {}, os.path.join(folder, "patch")
    for peer, argv in PEERS.items():
        if shutil.which(argv[0]):
            words = {"$OLD": old, "$NEW": new, "$PATCH": patch, "--patch-from=$OLD": f"--patch-from={old}"}
            run(*(words.get(word, word) for word in argv))
            sizes[peer] = os.path.getsize(patch)
            os.remove(patch)
    return sizes


def weigh_peers(name, pristine, folder):
    old, new, path = (os.path.join(folder, each) for each in ("old.sqlite", "new.sqlite", "changed.sqlite"))
    shutil.copyfile(pristine, path)
    vacuumed(path, old)
    changes.change(name, path)
    vacuumed(path, new)
    sizes = differences(old, new, folder)
    for each in old, new, path:
        os.remove(each)
    return sizes


def pairs(contender, pristine, folder, runs, held_open, say):
    """Of one row that changed, beside the same store as a whole, to somebody who holds nothing: in turns."""
    found = [], []
    with app(pristine, folder, held_open) as path, desk(contender, folder) as at:
        at.hold(path)
        for number in range(runs):
            changes.change(changes.ONE_ROW, path)
            for turn in (0, 1) if number % 2 else (1, 0):
                if turn:
                    place = os.path.join(folder, "other")
                    os.mkdir(place)
                    with desk(contender, place) as other:
                        found[1].append(other.ship(path))
                    os.rmdir(place)
                else:
                    found[0].append(at.ship(path))
            say(f"deltas: {changes.ONE_ROW}: {found[0][-1].wall:.3f} s, {found[0][-1].bytes:,} bytes; whole: {found[1][-1].wall:.3f} s")
    return found


def slowly(contender, pristine, folder, runs, held_open, say):
    found = []
    with app(pristine, folder, held_open) as path, desk(contender, folder) as at:
        at.hold(path)
        for _ in range(runs):
            changes.change(changes.ONE_ROW, path)
            found.append(at.ship(path, SLOW))
            say(f"deltas: {changes.ONE_ROW} at {SLOW.rate / 1000:g} kB/s: {found[-1].seconds:.3f} s")
    return found


OTHER = {"other rows in the same tables": "phone", "other tables": "recipes"}
BUNDLED = "1 % updated"


def other_stores(contender, size, pristine, folder, held_open):
    """Bytes of a store that has nothing in common with the one that is held under its name, and of it where nothing is held."""
    for what, kind in OTHER.items():
        place = os.path.join(folder, "other")
        os.mkdir(place)
        path = stores.made(kind, size, place, seed=2)
        path = shutil.move(path, os.path.join(place, os.path.basename(pristine)))
        counts = []
        for held in (pristine, None):
            with desk(contender, folder) as at:
                if held:
                    at.ship(held)
                    at.contender = dataclasses.replace(contender, receive=[*contender.receive, "--replace", os.path.basename(path)[:-7]])
                counts.append(at.ship(path).bytes)
        yield what, *counts
        shutil.rmtree(place)


def adopted(contender, pristine, folder, held_open):
    """Bytes of the first session to a receiver that has adopted a copy which came with its app, and of which 1 % has changed since."""
    with app(pristine, folder, held_open) as path, desk(contender, folder) as at:
        name = os.path.basename(path)[:-7]
        base = os.path.join(at.folder, f"{name}.base.sqlite")
        at.run("copy", path, "--to", at.folder, "--as", os.path.basename(base))
        at.run("adopt", base, "--into", at.inbox)
        at.run("bases", "--add", base, path)
        changes.change(BUNDLED, path)
        return at.ship(path).bytes


def measure(program, sizes, runs, folder, held_open, say):
    """- Returns: the figures, and whether something failed."""
    field = [*(contenders.ship_store(program, *name.split()[1:]) for name in (SHIP_STORE, BY_ROWS, NO_BASE)),
             contenders.over_tls(program, os.path.join(folder, "devices"))]
    deltas, failures = Deltas(sizes[0], {name: {} for name in changes.CHANGES}, {}, {}, []), Failures("deltas", say)
    for size in sizes:
        pristine = stores.made("phone", size, folder)
        if size == sizes[0]:
            check_comparison(field[0], pristine, folder, held_open)
            for name in changes.CHANGES:
                for contender in field:
                    with failures.told(f"{name}, {contender.name}"):
                        found, deltas.whole[contender.name] = weigh(name, contender, pristine, folder, held_open)
                        deltas.bytes[name][contender.name] = found
                        say(f"deltas: {name}, {contender.name}: {found:,} bytes")
                with failures.told(f"{name}, peers"):
                    deltas.bytes[name] |= weigh_peers(name, pristine, folder)
            with failures.told("nothing in common"):
                deltas.other = list(other_stores(field[2], size, pristine, folder, held_open))
                say(f"deltas: nothing in common: {deltas.other}")
            with failures.told("adopted"):
                deltas.adopted = adopted(field[1], pristine, folder, held_open)
                say(f"deltas: adopted, {BUNDLED}: {deltas.adopted:,} bytes")
            with failures.told("over the slow link"):
                deltas.slow = slowly(field[0], pristine, folder, min(runs, 3), held_open, say)
        with failures.told(f"{size} MB"):
            deltas.rows[size] = pairs(field[0], pristine, folder, runs, held_open, say)
        os.remove(pristine)
    return deltas, failures.some


def wall(shipment): return shipment.wall
def seconds(shipment): return shipment.seconds


def memory(shipments):
    """MiB of the side that takes more, or None without shipments."""
    return max((max(each.sender.memory, each.receiver.memory) for each in shipments), default=None)


def figures(deltas):
    shown = [SHIP_STORE, BY_ROWS, NO_BASE, OVER_TLS, *PEERS]
    rows = [["change", *shown]]
    for name, found in deltas.bytes.items():
        rows.append([name, *(f"{found[each]:,}" if each in found else "–" for each in shown)])
    rows.append(["the whole store", *(f"{deltas.whole[each]:,}" if each in deltas.whole else "–" for each in shown)])
    times = [["one row of", "s", "the whole s", "ratio", "bytes", "MiB sender", "MiB receiver"]]
    for size, (ones, wholes) in deltas.rows.items():
        times.append([
            f"{size} MB", f"{median(ones, wall):.3f}", f"{median(wholes, wall):.3f}", as_multiple(ratio(ones, wholes, wall)),
            f"{median(ones, lambda each: each.bytes):,.0f}", f"{median(ones, lambda each: each.sender.memory):.0f}",
            f"{median(ones, lambda each: each.receiver.memory):.0f}"])
    if deltas.slow:
        times.append([f"{deltas.size} MB at {SLOW.rate / 1000:g} kB/s", f"{median(deltas.slow, seconds):.3f}", "–", "–",
                      f"{median(deltas.slow, lambda each: each.bytes):,.0f}",
                      f"{median(deltas.slow, lambda each: each.sender.memory):.0f}",
                      f"{median(deltas.slow, lambda each: each.receiver.memory):.0f}"])
    firsts = [["a first session", "bytes", "beside", "bytes", "x"]]
    firsts += [[f"the receiver holds {what}", f"{some:,}", "it holds nothing", f"{none:,}", as_multiple(some / none, 4)] for what, some, none in deltas.other]
    if deltas.adopted and (known := deltas.bytes.get(BUNDLED, {}).get(BY_ROWS)):
        firsts.append([f"it has adopted a copy, {BUNDLED} since", f"{deltas.adopted:,}", "it had it from the sender", f"{known:,}",
                       as_multiple(deltas.adopted / known)])
    return [*table(rows), "", *table(times), *(["", *table(firsts)] if firsts[1:] else [])]
