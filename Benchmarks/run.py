#!/usr/bin/env python3
"""Weighs shipments; ships and restores live stores with ship-store and with what one would do by hand, in turns, and
compares; measures what the codec takes, and what readers pay. See README.md."""
import argparse
import contextlib
import dataclasses
import os
import shutil
import signal
import subprocess
import sys
import tempfile

import bytes as weighing
import checks
import codec
import contenders
import copying
import deltas
import following
import pairs
import publishing
import readers
import receivers
import restore
import resuming
import schemas
import sessions
import stores
from relay import Link
from report import report
from selfcheck import check_frames, check_harness
from tables import put_figures
from turn import Failed, Failures, content_digest, take_turn

HERE = os.path.dirname(os.path.abspath(__file__))
STORES = [sys.executable, os.path.join(HERE, "stores.py")]
SLOW_LINK = Link(250_000, 0.020)  # as between phone and watch
MOST_SLOW_RUNS = 3
README = os.path.join(HERE, "README.md")
BEGIN, END = "<!-- figures, by run.py --write -->\n", "<!-- end of figures -->\n"


def link(text):
    rate, _, milliseconds = text.partition(":")
    try:
        parsed = Link(int(rate), float(milliseconds or 0) / 1000)
    except ValueError:
        raise argparse.ArgumentTypeError("not BYTES_PER_S:MS") from None
    if parsed.rate <= 0 or parsed.delay < 0:
        raise argparse.ArgumentTypeError("the rate is above 0, the delay not below")
    return parsed


def options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="*", type=int, default=[1, 20, 200], metavar="MB", help="stores to generate")
    parser.add_argument("--store", action="append", default=[], metavar="PATH", help="one more store; is copied")
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="turns of each contender (default: 5)")
    parser.add_argument("--only", action="append", metavar="NAME", help="contenders whose name contains this")
    parser.add_argument("--program", default=os.path.join(HERE, "../.build/release/ship-store"), metavar="PATH")
    parser.add_argument("--slow", type=int, metavar="MB", help="also ship a store of this size over a slow link")
    parser.add_argument("--bytes", nargs="*", metavar="PATH", help="also weigh shipments of these stores, or of made-up ones")
    parser.add_argument("--codec", metavar="PATH", help="also run this build of codec-bench, over the same stores")
    parser.add_argument("--restore", type=int, metavar="MB", help="also restore a store of this size, beside sqlite3")
    parser.add_argument("--sessions", action="store_true", help="also what sessions cost beside the stores in them")
    parser.add_argument("--resuming", nargs="+", type=int, default=[], metavar="MB", help="also what a link that breaks ten times costs, for stores of these sizes; the first over a slow one")
    parser.add_argument("--deltas", nargs="+", type=int, default=[], metavar="MB", help="also what changes cost, of stores of these sizes; the first with every change")
    parser.add_argument("--pairs", nargs="*", default=[], metavar="PATH", help="also what a version of a store costs after another: an older one and a newer one, and so on")
    parser.add_argument("--checks", type=int, metavar="MB", help="also check a received store of this size")
    parser.add_argument("--copying", nargs="*", type=int, default=[], metavar="MB", help="also take copies of stores of these sizes; one of 1,000 MB or more has visits, 4 million of 1,100 MB")
    parser.add_argument("--schemas", nargs="*", type=int, default=[], metavar="TABLES", help="also run each command on stores of so many tables")
    parser.add_argument("--readers", metavar="PATH", help="also run this build of serving-bench")
    parser.add_argument("--following", type=int, metavar="MB", help="also follow a store of this size, beside Litestream")
    parser.add_argument("--receivers", type=int, metavar="COUNT", help="also serve so many receivers at once, one that is behind, and one to which another passes on")
    parser.add_argument("--publishing", type=int, metavar="MB", help="also publish a store of this size, beside Litestream")
    parser.add_argument("--peers", default=os.path.join(HERE, "../.build/peers/bin"), metavar="FOLDER", help="where litestream and moto_server are (default: .build/peers/bin)")
    parser.add_argument("--link", type=link, metavar="BYTES_PER_S:MS", help="slow the link down; delay one way")
    parser.add_argument("--timeout", type=float, default=900, metavar="S", help="longest turn (default: 900 s)")
    parser.add_argument("--write", action="store_true", help="put the figures into README.md")
    args = parser.parse_args()
    if len(args.pairs) % 2:
        parser.error("--pairs: an older version without a newer one")
    return args


def say(text):
    print(text, file=sys.stderr, flush=True)


@dataclasses.dataclass
class Shipped:
    """What it took to ship one store."""
    link: Link  # None for bare loopback
    indexed_rows: int  # of the largest table that has an index
    turns: dict  # by contender; none for one that failed: its figures would be of less work


@dataclasses.dataclass
class Measured:
    shipped: dict = dataclasses.field(default_factory=dict)  # by title
    weighed: list = None
    codec: list = None
    restores: dict = None
    waits: dict = None
    sessions: object = None  # sessions.Sessions
    deltas: object = None  # deltas.Deltas
    resumed: dict = dataclasses.field(default_factory=dict)  # resuming.Broken by megabytes
    following: object = None  # following.Following
    receivers: object = None  # receivers.Receivers
    publishing: object = None  # publishing.Publishing
    pairs: list = None
    checks: dict = None
    copies: dict = dataclasses.field(default_factory=dict)  # by megabytes
    schemas: dict = None
    reads: dict = None
    any_failed: bool = False


def present(field, only):
    """The contenders to measure, of a field of them; says which cannot be."""
    for each in field:
        if only and not any(part in each.name for part in only):
            continue
        if missing := each.missing():
            say(f"left out: {each.name} (missing: {', '.join(map(os.path.basename, missing))})")
            continue
        yield each


def journeys(args, folder):
    """Makes the stores one after the other; gives a title, the path of each, the link, who ships it, and how often."""
    program = os.path.abspath(args.program)
    field = contenders.all_of_them(program, os.path.join(folder, "devices"))
    if args.link:
        field += contenders.for_a_slow_link(program)[1:]
    for size in args.sizes:
        yield title(f"{size} MB", args.link), stores.made("journal", size, folder), args.link, field, args.runs
    for source in args.store:
        yield title(os.path.basename(source), args.link), stores.copied(source, folder), args.link, field, args.runs
    if args.slow:
        path = stores.made("journal", args.slow, place(folder, "slow"))
        # A minute each; and little but the link's own pace is in it.
        runs = min(args.runs, MOST_SLOW_RUNS)
        yield title(f"{args.slow} MB", SLOW_LINK), path, SLOW_LINK, contenders.for_a_slow_link(program), runs


def place(folder, name):
    """A new folder: stores of one size have one name."""
    path = os.path.join(folder, name)
    os.mkdir(path)
    return path


def title(name, link):
    return f"{name} at {link.rate / 1000:g} kB/s" if link else name


@contextlib.contextmanager
def held_open(path):
    holder = subprocess.Popen([*STORES, "hold", path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        if holder.stdout.readline() != "open\n":
            sys.exit(f"cannot open {os.path.basename(path)}")
        yield
    finally:
        holder.kill()
        holder.communicate()


def ship(name, path, field, link, runs, args, folder, measured):
    """Takes the turns of each contender with one store."""
    digest = content_digest(path)
    turns = {each.name: [] for each in field}
    measured.shipped[name] = Shipped(link, stores.most_indexed_rows(path), turns)
    failed = set()
    for number in range(runs):
        for each in field[number % len(field):] + field[:number % len(field)]:  # nobody is always the first
            if each.name in failed:
                continue
            try:
                turn = take_turn(each, path, digest, os.path.join(folder, "turn"), link, args.timeout)
            except Failed as failure:
                failed.add(each.name)
                measured.any_failed = True
                turns[each.name] = []
                say(f"{name}: {each.name}: FAILED: {failure}")
                continue
            turns[each.name].append(turn)
            say(f"{name}: {each.name}: {turn.wall:.3f} s, {turn.bytes:,} bytes")


def ship_all(args, folder, measured):
    trial = stores.made("journal", 1, folder)
    with held_open(trial):
        check_harness(trial, content_digest(trial), folder)
    os.remove(trial)
    for name, path, link, field, runs in journeys(args, folder):
        if field := list(present(field, args.only)):
            with held_open(path):
                ship(name, path, field, link, runs, args, folder, measured)


def main():
    args = options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    weighing_needs = () if args.bytes is None else ("zstd", "xz", "brotli")
    checking_needs = ("openssl",) if args.checks else ()
    for needed in ("time", "sqlite3", "nc", "gzip", *weighing_needs, *checking_needs):
        if not shutil.which(needed):
            sys.exit(f"{needed} is missing: `make bench` installs it")
    peers = os.path.abspath(args.peers)
    for needed in ["litestream"] * bool(args.following or args.publishing) + ["moto_server"] * bool(args.publishing):
        if not os.access(os.path.join(peers, needed), os.X_OK):
            sys.exit(f"{needed} is not in {args.peers}: `make bench` installs it")
    program, measured = os.path.abspath(args.program), Measured()
    with tempfile.TemporaryDirectory(prefix="bench-of-ship-store-") as folder:
        # What is remembered of these stores, and the numbers of their shipments, are not the user's.
        os.environ |= {"XDG_STATE_HOME": place(folder, "state"), "XDG_CONFIG_HOME": place(folder, "config")}
        if args.bytes is not None or args.pairs:
            check_frames(folder)
        if args.bytes is not None:
            measured.weighed, failed = weighing.measure(program, args.bytes, say)
            measured.any_failed |= failed
        if args.codec:
            measured.codec, failed = codec.measure(os.path.abspath(args.codec), args.runs, args.bytes or [], say)
            measured.any_failed |= failed
        if args.sizes or args.store or args.slow:
            ship_all(args, folder, measured)
        if args.restore:
            path = stores.made("journal", args.restore, place(folder, "restored"))
            measured.restores, failed = restore.measure(program, path, args.runs, folder, held_open, say)
            measured.any_failed |= failed
            measured.waits, failed = restore.measure_waits(program, path, args.runs, folder, say)
            measured.any_failed |= failed
        if args.sessions:
            measured.sessions, failed = sessions.measure(program, args.runs, place(folder, "sessions"), say)
            measured.any_failed |= failed
        if args.deltas:
            measured.deltas, failed = deltas.measure(program, args.deltas, args.runs, place(folder, "deltas"), held_open, say)
            measured.any_failed |= failed
        if args.resuming:
            measured.resumed, failed = resuming.measure(program, args.resuming, place(folder, "resuming"), say)
            measured.any_failed |= failed
        if args.following:
            measured.following, failed = following.measure(
                program, os.path.join(peers, "litestream"), args.following, place(folder, "following"), say)
            measured.any_failed |= failed
        if args.receivers:
            failures = Failures("receivers", say)
            measured.receivers = receivers.measure(program, args.receivers, place(folder, "receivers"), failures)
            measured.any_failed |= failures.some
        if args.publishing:
            measured.publishing, failed = publishing.measure(program, peers, args.publishing, place(folder, "publishing"), say)
            measured.any_failed |= failed
        if args.pairs:
            paths = [os.path.abspath(path) for path in args.pairs]
            measured.pairs, failed = pairs.measure(program, paths, place(folder, "pairs"), say)
            measured.any_failed |= failed
        if args.checks:
            path = stores.made("journal", args.checks, place(folder, "to-check"))
            measured.checks, failed = checks.measure(program, path, args.runs, folder, say)
            measured.any_failed |= failed
        for size in args.copying:
            kind = "visits" if size >= 1000 else "journal"
            path = stores.made(kind, size, place(folder, f"to-copy-{size}"))
            measured.copies[size], failed = copying.measure(program, path, args.runs, folder, say)
            measured.any_failed |= failed
            os.remove(path)
        if args.schemas:
            measured.schemas, failed = schemas.measure(program, args.schemas, args.runs, place(folder, "schemas"), say)
            measured.any_failed |= failed
        if args.readers:
            measured.reads = readers.measure(args.readers, say)
    text = report(measured, args)
    print(text, end="")
    if args.write:
        put_figures(README, BEGIN, END, text)
    sys.exit(measured.any_failed)


if __name__ == "__main__":
    # Whole shipments are measured, and nobody's home is written to: what is no folder remembers nothing.
    os.environ["XDG_STATE_HOME"] = os.devnull
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
