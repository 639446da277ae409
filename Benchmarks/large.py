#!/usr/bin/env python3
"""A whole shipment through Ceph on loopback, beside `rclone copy` of the same store, gzipped: `large.py PROGRAM [--at FOLDER] [--megabytes 200] [--runs 5]`.

Both put one store there, and take it from there again, in turns. Of the peer is measured what one would type, gzip -6 and rclone, and rclone alone. FOLDER has
rclone and a `python` with boto3; Ceph is the system's (`make test-storage` installs all of them). Prints the medians as rows for README.md."""
import argparse
import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import publishing
import stores
from tables import table

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Tests/Storage")
sys.path.append(TESTS)

import ceph  # noqa: E402

# There is a module of that name here, too.
found = importlib.util.spec_from_file_location("tests_of_storage", os.path.join(TESTS, "storage.py"))
storage = importlib.util.module_from_spec(found)
found.loader.exec_module(storage)


def timed(words, environment, output=None):
    start = time.monotonic()
    done = subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, stdout=output or subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.returncode}: {done.stderr[-400:]}")
    return time.monotonic() - start


def turns(program, rclone, store, engine, folder, args):
    """Seconds, by what was done."""
    taken = {}
    server, environment = f"http://127.0.0.1:{engine.port}", {**os.environ, **publishing.homes(folder), "AWS_ACCESS_KEY_ID": engine.key, "AWS_SECRET_ACCESS_KEY": engine.secret}
    copying = [rclone, "copyto", "--config", os.devnull, "--s3-provider=Other", f"--s3-endpoint={server}", f"--s3-access-key-id={engine.key}", f"--s3-secret-access-key={engine.secret}", "--s3-no-check-bucket"]
    packed, got = os.path.join(folder, "store.gz"), os.path.join(folder, "got.gz")

    def take(name, *commands):
        taken.setdefault(name, []).append([timed(words, environment, output) for words, output in commands])

    for number in range(args.runs):
        place = ["s3://bucket/" + str(number), "--endpoint-url", server, "--quiet"]
        take("ship-store up", ([program, "send", store, "--no-remember", "--level", args.level, "--to", *place], None))
        take("ship-store down", ([program, "receive", "--into", os.path.join(folder, f"inbox{number}"), "--from", *place], None))
        with open(packed, "wb") as file:
            take("rclone up", (["gzip", "-6c", store], file), ([*copying, packed, f":s3:bucket/{number}.gz"], None))
        with open(os.path.join(folder, "got"), "wb") as file:
            take("rclone down", ([*copying, f":s3:bucket/{number}.gz", got], None), (["gzip", "-dc", got], file))
        os.remove(got)
    return taken


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--at", metavar="FOLDER", type=Path)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--level", default="auto", help="as of `send`")
    args = parser.parse_args()
    engines = storage.Programs(args.at)
    if missing := ceph.missing() + engines.missing("rclone") + engines.missing("ceph"):
        sys.exit(f"missing: {', '.join(missing)}")
    with tempfile.TemporaryDirectory() as folder, storage.cluster(engines, Path(folder)) as engine:
        store = stores.made("journal", args.megabytes, folder)
        taken = turns(os.path.abspath(args.program), engines["rclone"], store, engine, folder, args)
    rows = [[f"a whole shipment of {args.megabytes} MB through Ceph", "ship-store s", "gzip -6 and rclone s", "x", "rclone alone s", "x"]]
    for way in ("up", "down"):
        ours = statistics.median(sum(each) for each in taken[f"ship-store {way}"])
        both = statistics.median(sum(each) for each in taken[f"rclone {way}"])
        alone = statistics.median(each[1 if way == "up" else 0] for each in taken[f"rclone {way}"])
        rows.append([way, f"{ours:.2f}", f"{both:.2f}", f"{ours / both:.2f}x", f"{alone:.2f}", f"{ours / alone:.2f}x"])
    print("\n".join(table(rows)))


if __name__ == "__main__":
    main()
