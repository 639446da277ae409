#!/usr/bin/env python3
"""Ships and restores live stores with ship-store and with what one would do by hand, in turns, and compares; measures what
readers pay. See README.md."""
import argparse
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import contenders
import readers
import restore
from relay import Link
from report import report
from selfcheck import check_harness
from turn import Failed, content_digest, take_turn

HERE = os.path.dirname(os.path.abspath(__file__))
STORES = [sys.executable, os.path.join(HERE, "stores.py")]
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
    parser.add_argument("--restore", type=int, metavar="MB", help="also restore a store of this size, beside sqlite3")
    parser.add_argument("--readers", metavar="PATH", help="also run this build of serving-bench")
    parser.add_argument("--link", type=link, metavar="BYTES_PER_S:MS", help="slow the link down; delay one way")
    parser.add_argument("--timeout", type=float, default=900, metavar="S", help="longest turn (default: 900 s)")
    parser.add_argument("--write", action="store_true", help="put the figures into README.md")
    return parser.parse_args()


def say(text):
    print(text, file=sys.stderr, flush=True)


def chosen(args):
    """The contenders to measure; says which cannot be."""
    for each in contenders.all_of_them(os.path.abspath(args.program)):
        if args.only and not any(part in each.name for part in args.only):
            continue
        if missing := each.missing():
            say(f"left out: {each.name} (missing: {', '.join(map(os.path.basename, missing))})")
            continue
        yield each


def stores(args, folder):
    """Makes the stores one after the other; gives the title and the path of each."""
    for size in args.sizes:
        path = os.path.join(folder, f"journal-{size}.sqlite")
        subprocess.run([*STORES, "generate", path, str(size)], check=True)
        yield f"{size} MB", path
    for source in args.store:
        stem = os.path.splitext(os.path.basename(source))[0]
        path = os.path.join(folder, re.sub(r"[^A-Za-z0-9._-]", "_", stem) + ".sqlite")
        shutil.copyfile(source, path)
        if os.path.exists(source + "-wal"):
            shutil.copyfile(source + "-wal", path + "-wal")
        support = os.path.join(os.path.dirname(source), f".{stem}_SUPPORT")
        if os.path.isdir(support):
            shutil.copytree(support, os.path.join(folder, f".{os.path.basename(path)[:-7]}_SUPPORT"))
        yield os.path.basename(source), path


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


def measure(title, path, digest, field, args, folder):
    """The turns of each contender; none for one that failed: its figures would be of less work."""
    turns = {each.name: [] for each in field}
    failed = set()
    for number in range(args.runs):
        for each in field[number % len(field):] + field[:number % len(field)]:  # nobody is always the first
            if each.name in failed:
                continue
            try:
                turn = take_turn(each, path, digest, os.path.join(folder, "turn"), args.link, args.timeout)
            except Failed as failure:
                failed.add(each.name)
                turns[each.name] = []
                say(f"{title}: {each.name}: FAILED: {failure}")
                continue
            turns[each.name].append(turn)
            say(f"{title}: {each.name}: {turn.wall:.3f} s, {turn.bytes:,} bytes")
    return turns, bool(failed)


def write(text):
    with open(README) as file:
        before, begin, rest = file.read().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit("README.md has lost the marks between which the figures stand")
    with open(README, "w") as file:
        file.write(before + begin + "\n" + text + "\n" + end + after)


def main():
    args = options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    for program in ("time", "sqlite3", "nc", "gzip"):
        if not shutil.which(program):
            sys.exit(f"{program} is missing: `make bench` installs it")
    field, results, any_failed = list(chosen(args)), {}, False
    with tempfile.TemporaryDirectory(prefix="bench-of-ship-store-") as folder:
        trial = os.path.join(folder, "trial.sqlite")
        subprocess.run([*STORES, "generate", trial, "1"], check=True)
        with held_open(trial):
            check_harness(trial, content_digest(trial), folder)
        for title, path in stores(args, folder):
            with held_open(path):
                results[title], failed = measure(title, path, content_digest(path), field, args, folder)
                any_failed |= failed
        restores = None
        if args.restore:
            path = os.path.join(folder, "restored.sqlite")
            subprocess.run([*STORES, "generate", path, str(args.restore)], check=True)
            restores, failed = restore.measure(os.path.abspath(args.program), path, args.runs, folder, held_open, say)
            any_failed |= failed
        reads = readers.measure(args.readers, say) if args.readers else None
    text = report(results, restores, reads, args)
    print(text, end="")
    if args.write:
        write(text)
    sys.exit(any_failed)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
