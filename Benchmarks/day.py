#!/usr/bin/env python3
"""What a publication takes that is published once a minute for days, each time with another row: `day.py PROGRAM [--days N] [--write]`. See SCALE.md.

Each publish is a run of the program, into a folder; what lies there is then dated as if a minute had passed between two of them, so that pruning sees days.
Pruned is each hour, as `send --follow` does it. Requests are files that are written; what a publisher reads of its own is not counted."""
import argparse
import os
import sys
import tempfile
import time

import publishing
import stores
from tables import put_figures, table

HERE = os.path.dirname(os.path.abspath(__file__))
BEGIN, END = "<!-- a day, by day.py --write -->\n", "<!-- end of a day -->\n"
DAY, HOUR = 1440, 60  # publishes


def objects(desk):
    """Size and the publish that wrote it, by path."""
    return {path: (size, changed) for path, (_, changed, size) in publishing.files(os.path.join(desk.public, "objects")).items()}


def backdate(desk, written, now):
    """Gives each object its age."""
    for path, number in written.items():
        if os.path.exists(path):
            at = time.time() - (now - number) * 60
            os.utime(path, (at, at))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--days", type=int, default=3, metavar="N")
    parser.add_argument("--megabytes", type=int, default=1, metavar="N", help="of the store")
    parser.add_argument("--write", action="store_true", help="put the figures into SCALE.md")
    args = parser.parse_args()
    rows = [["day", "publishes", "files written", "MB written", "objects kept", "MB kept", "as much as so many wholes"]]
    with tempfile.TemporaryDirectory() as folder, publishing.alone(stores.made("journal", args.megabytes, folder), os.path.join(folder, "day")) as pair:
        desk, written, known = publishing.Desk(os.path.abspath(args.program), os.path.join(folder, "day"), pair.store), {}, {}
        for day in range(1, args.days + 1):
            count = size = 0
            for number in range((day - 1) * DAY, day * DAY):
                publishing.change_row(pair.app, number)
                desk.publish()
                found = objects(desk)
                new = [path for path, state in found.items() if known.get(path) != state]
                written.update(dict.fromkeys(new, number))
                head = os.path.getsize(os.path.join(desk.public, "head"))
                count, size = count + 1 + len(new), size + head + sum(found[path][0] for path in new)
                if number % HOUR == HOUR - 1:
                    backdate(desk, written, number)
                    desk.run("publish", "--prune", f"dir:{desk.public}")
                    found = objects(desk)
                known = found
                if number % 240 == 239:
                    print(f"day: {number + 1} publishes, {len(found)} objects", file=sys.stderr)
            kept = sum(state[0] for state in found.values())
            whole = os.path.join(folder, f"{day}.shipment")
            desk.run("send", pair.store, "--no-remember", "--to", whole)
            rows.append([str(day), f"{DAY:,}", f"{count:,}", f"{size / 1e6:.1f}", f"{len(found):,}", f"{kept / 1e6:.1f}", f"{kept / os.path.getsize(whole):.1f}"])
    text = "\n".join(table(rows)) + "\n"
    print(text, end="")
    if args.write:
        put_figures(os.path.join(HERE, "SCALE.md"), BEGIN, END, text)


if __name__ == "__main__":
    main()
