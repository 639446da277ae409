"""The figures as Markdown: a table for each store, and the figures to reach with whether they are."""
import ctypes
import os
import platform
import statistics
import subprocess
import time

from contenders import GZIP, PIGZ


def wall(turn): return turn.wall
def sent(turn): return turn.bytes
def sender_memory(turn): return turn.sender.memory
def receiver_memory(turn): return turn.receiver.memory


# Store, what, measure, at most, in which unit or as a multiple of which contender.
GOALS = [
    ("1 MB", "wall time", wall, 1.0, GZIP),
    ("20 MB", "wall time", wall, 1.0, PIGZ),
    ("200 MB", "wall time", wall, 1.0, PIGZ),
    ("1 MB", "bytes", sent, 1.0, GZIP),
    ("20 MB", "bytes", sent, 1.0, GZIP),
    ("200 MB", "bytes", sent, 1.0, GZIP),
    ("200 MB", "sender's memory", sender_memory, 64, None),
    ("200 MB", "receiver's memory", receiver_memory, 64, None),
]


READ_COST = 1.05  # x of a bare DatabaseQueue
SWAP_P99 = 50  # ms
RESTORE = 1.5  # x of sqlite3


def median(turns, measure):
    return statistics.median(map(measure, turns))


def ratio(turns, others, measure):
    """The median of the ratios turn by turn: both of a pair met the machine in the same state. None without pairs."""
    if not turns or not others or len(turns) != len(others):
        return None
    return statistics.median(measure(turn) / measure(other) for turn, other in zip(turns, others))


def as_multiple(value):
    return "–" if value is None else f"{value:.2f}x"


def table(lines):
    head, *rows = lines
    return ["| " + " | ".join(cells) + " |" for cells in [head, ["---"] + ["---:"] * (len(head) - 1), *rows]]


def figures(by_contender):
    rows = [["", "wall s", "min–max", "to gzip", "to pigz", "bytes", "to gzip", "CPU s", "MiB sender", "MiB receiver"]]
    gzip, pigz = by_contender.get(GZIP), by_contender.get(PIGZ)
    for name, turns in by_contender.items():
        if not turns:
            rows.append([name, "failed"] + ["–"] * 8)
            continue
        walls = [turn.wall for turn in turns]
        rows.append([
            name, f"{median(turns, wall):.3f}", f"{min(walls):.3f}–{max(walls):.3f}",
            as_multiple(ratio(turns, gzip, wall)), as_multiple(ratio(turns, pigz, wall)),
            f"{median(turns, sent):,.0f}", as_multiple(ratio(turns, gzip, sent)),
            f"{median(turns, lambda turn: turn.sender.cpu + turn.receiver.cpu):.2f}",
            f"{median(turns, sender_memory):.0f}", f"{median(turns, receiver_memory):.0f}",
        ])
    return table(rows)


def restore_figures(turns):
    rows = [["", "wall s", "min–max", "to sqlite3"]]
    for name, mine in turns.items():
        walls = [turn.wall for turn in mine]
        rows.append([name, f"{median(mine, wall):.3f}", f"{min(walls):.3f}–{max(walls):.3f}",
                     as_multiple(ratio(mine, turns["sqlite3"], wall))] if mine else [name, "failed", "–", "–"])
    return table(rows)


def read_figures(figures):
    rows = [["a read", "coordinator µs", "bare DatabaseQueue µs", "ratio"]]
    rows += [[each["read"], f"{each['coordinator']:.1f}", f"{each['bareQueue']:.1f}", as_multiple(each["ratio"])]
             for each in figures["reads"]]
    swap = figures["swap"]
    return [*table(rows), "", f"From the receipt until a waiting reader in another process has read the new generation, over "
            f"{swap['swaps']} swaps: median {swap['median']:.1f} ms, p99 {swap['p99']:.1f} ms, longest "
            f"{swap['longest']:.1f} ms. (Below 0: before the receipt was there.)"]


def verdict(value, limit):
    return "not measured" if value is None else "reached" if value <= limit else "NOT reached"


def goals(results, restores, reads):
    rows = [["to reach", "at most", "measured", ""]]
    for store, what, measure, limit, peer in GOALS:
        by_contender = results.get(store, {})
        turns = by_contender.get("ship-store")
        if peer:
            value, unit = ratio(turns, by_contender.get(peer), measure), f"x of {peer}"
        else:
            value, unit = (median(turns, measure) if turns else None), " MiB"
        shown = "–" if value is None else f"{value:.3f}x" if peer else f"{value:.1f} MiB"
        rows.append([f"{store}: {what}", f"{limit:g}{unit}", shown, verdict(value, limit)])
    if restores:
        value = ratio(restores["ship-store"], restores["sqlite3"], wall)
        rows.append(["a restore", f"{RESTORE:g}x of sqlite3", "–" if value is None else f"{value:.3f}x",
                     verdict(value, RESTORE)])
    if reads:
        value, p99 = max(each["ratio"] for each in reads["reads"]), reads["swap"]["p99"]
        rows.append(["a read, the dearest", f"{READ_COST:g}x of a bare DatabaseQueue", f"{value:.3f}x",
                     verdict(value, READ_COST)])
        rows.append(["from the receipt to another process, p99", f"{SWAP_P99} ms", f"{p99:.1f} ms",
                     verdict(p99, SWAP_P99)])
    return table(rows)


def machine():
    def first_line(*argv):
        return subprocess.run(argv, capture_output=True, text=True).stdout.partition("\n")[0]

    zlib = ctypes.CDLL("libz.so.1")
    zlib.zlibVersion.restype = ctypes.c_char_p
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    kernel = f"{platform.system()} {platform.release().partition('-')[0]}"
    return (f"{os.cpu_count()} cores ({platform.machine()}), {memory:.0f} GiB, {kernel}, "
            f"SQLite {first_line('sqlite3', '--version').split()[0]}, zlib {zlib.zlibVersion().decode()}, "
            f"{time.strftime('%Y-%m-%d', time.gmtime())}")


def report(results, restores, reads, args):
    link = args.link
    speed = f"{link.rate:,} bytes/s, {link.delay * 1000:g} ms each way" if link else "loopback at full speed"
    lines = [f"{machine()}; {speed}; medians of {args.runs} turns.", ""]
    for store, by_contender in results.items():
        lines += [f"### {store}", "", *figures(by_contender), ""]
    if restores:
        lines += [f"### A restore over a live store of {args.restore} MB", "", *restore_figures(restores), ""]
    if reads:
        lines += ["### Readers", "", *read_figures(reads), ""]
    return "\n".join(lines + ["### Figures to reach", "", *goals(results, restores, reads)]) + "\n"
