"""What a link that breaks costs: the bytes of all sessions of one shipment, beside the one of a shipment that nothing breaks."""
import contextlib
import os
import shutil
import threading
import time
from dataclasses import dataclass

import contenders
import stores
from contenders import SHIP_STORE
from relay import Link, Relay
from turn import Failed, Process, content_digest, free_port, wait_for_listener

CUTS = 10
SLOW = Link(250_000, 0.020)  # as between phone and watch
FAST = Link(5_000_000, 0.020)  # of the larger stores memory counts
LONGEST = 600  # s


@dataclass
class Broken:
    """One shipment that was cut again and again."""
    link: Link
    whole: int  # bytes that an uninterrupted one delivers, both ways
    sessions: list  # bytes that each session delivered, both ways; the last was not cut
    memory: tuple  # MiB: the most of a sender and of a receiver


def attempt(contender, store, folder, port, link, most):
    """One session, cut after `most` bytes, if it is not None. Gives its bytes, and the memory of both sides in MiB.

    Raises Failed where a session that was not cut fails, or one that was is over before."""
    target = free_port()
    environment = {"STORE": store, "NAME": os.path.basename(store)[:-7], "INBOX": os.path.join(folder, "inbox"),
                   "XDG_STATE_HOME": os.path.join(folder, "state")}
    places = [os.path.join(folder, role) for role in ("receiver", "sender")]
    deadline = time.monotonic() + LONGEST
    try:
        with contextlib.ExitStack() as stack:
            receiver = stack.enter_context(Process(contender.receive, places[0], {**environment, "PORT": str(target)}))
            wait_for_listener(target, receiver)
            relay = stack.enter_context(Relay(target, link, port=port))
            sender = stack.enter_context(Process(contender.send, places[1], {**environment, "PORT": str(port)}))
            over = threading.Event()

            def cut():
                while relay.delivered < most and not over.wait(0.002):
                    pass
                relay.cut()

            if most is None:
                sender.end(deadline)
                receiver.end(deadline)
            else:
                cutter = threading.Thread(target=cut)
                cutter.start()
                codes = [process.child.wait() for process in (sender, receiver)]
                over.set()
                cutter.join()
                if 0 in codes:
                    raise Failed("a session was over before it was cut")
            return relay.delivered, (sender.side().memory, receiver.side().memory)
    finally:
        for place in places:
            shutil.rmtree(place)


def broken(contender, store, folder, link):
    place, port = os.path.join(folder, "broken"), free_port()
    os.mkdir(place)
    try:
        whole, _ = attempt(contender, store, place, port, link, None)
        shutil.rmtree(os.path.join(place, "inbox"))
        shutil.rmtree(os.path.join(place, "state"), ignore_errors=True)
        found = [attempt(contender, store, place, port, link, whole // (CUTS + 1)) for _ in range(CUTS)]
        found.append(attempt(contender, store, place, port, link, None))
        if content_digest(os.path.join(place, "inbox", os.path.basename(store))) != content_digest(store):
            raise Failed("the installed store differs from the source")
        return Broken(link, whole, [count for count, _ in found], tuple(max(sides) for sides in zip(*(side for _, side in found))))
    finally:
        shutil.rmtree(place)


def measure(program, sizes, folder, say):
    """- Returns: the figures by megabytes, the first size over the slow link, and whether something failed."""
    contender, results, failed = contenders.ship_store(program, *SHIP_STORE.split()[1:]), {}, False
    for size in sizes:
        store = stores.made("phone", size, folder)
        try:
            results[size] = broken(contender, store, folder, FAST if results or failed else SLOW)
            say(f"resuming: {size} MB: {total(results[size]):,} bytes in {CUTS + 1} sessions, {results[size].whole:,} in one")
        except Failed as failure:
            failed = True
            say(f"resuming: {size} MB: FAILED: {failure}")
        os.remove(store)
    return results, failed


def total(found): return sum(found.sessions)


def figures(results):
    lines = ["| store | link | in one session | cut ten times, all sessions | beyond | memory of a sender, a receiver |",
             "|---:|---|---:|---:|---:|---:|"]
    for size, found in results.items():
        lines.append(f"| {size} MB | {found.link.rate / 1000:,g} kB/s | {found.whole:,} | {total(found):,} ({total(found) / found.whole:.4f}x) "
                     f"| {total(found) - found.whole:,} bytes | {found.memory[0]:.1f}, {found.memory[1]:.1f} MiB |")
    return lines
