"""The figures as Markdown: a table for each store, and the figures to reach with whether they are."""
import ctypes
import os
import platform
import subprocess
import time

import bytes as weighing
import checks
import codec
import copying
import deltas
import following
import goals
import pairs
import publishing
import receivers
import restore
import resuming
import schemas
import sessions
from contenders import GZIP, PIGZ, ZSTD_19
from goals import receiver_memory, sender_memory, sent, wall
from tables import as_multiple, median, ratio, table


def figures(by_contender):
    """Beside the first two that were measured of those whom one compares with."""
    peers = [name for name in (ZSTD_19, GZIP, PIGZ) if name in by_contender][:2]
    to_peers = [f"to {peer.partition(' -')[0]}" for peer in peers]
    rows = [["", "wall s", "min–max", *to_peers, "bytes", *to_peers[:1], "CPU s", "MiB sender", "MiB receiver"]]
    for name, turns in by_contender.items():
        if not turns:
            rows.append([name, "failed"] + ["–"] * (len(rows[0]) - 2))
            continue
        walls = [turn.wall for turn in turns]
        rows.append([
            name, f"{median(turns, wall):.3f}", f"{min(walls):.3f}–{max(walls):.3f}",
            *(as_multiple(ratio(turns, by_contender[peer], wall)) for peer in peers),
            f"{median(turns, sent):,.0f}",
            *(as_multiple(ratio(turns, by_contender[peer], sent)) for peer in peers[:1]),
            f"{median(turns, lambda turn: turn.sender.cpu + turn.receiver.cpu):.2f}",
            f"{median(turns, sender_memory):.0f}", f"{median(turns, receiver_memory):.0f}",
        ])
    return table(rows)


def figures_beside(peer, turns, title):
    rows = [["", "wall s", "min–max", title]]
    for name, mine in turns.items():
        walls = [turn.wall for turn in mine]
        rows.append([name, f"{median(mine, wall):.3f}", f"{min(walls):.3f}–{max(walls):.3f}",
                     as_multiple(ratio(mine, turns[peer], wall))] if mine else [name, "failed", "–", "–"])
    return table(rows)


def read_figures(figures):
    rows = [["a read", "coordinator µs", "bare DatabaseQueue µs", "ratio"]]
    rows += [[each["read"], f"{each['coordinator']:.1f}", f"{each['bareQueue']:.1f}", as_multiple(each["ratio"])]
             for each in figures["reads"]]
    swap = figures["swap"]
    return [*table(rows), "", f"From the receipt until a waiting reader in another process has read the new generation, over "
            f"{swap['swaps']} swaps: median {swap['median']:.1f} ms, p99 {swap['p99']:.1f} ms, longest "
            f"{swap['longest']:.1f} ms. (Below 0: before the receipt was there.)"]


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


def speed(link):
    return f"{link.rate:,} bytes/s, {link.delay * 1000:g} ms each way" if link else "loopback at full speed"


def report(measured, args):
    """- Parameter measured: What run.py has measured; what it has not is None, or empty."""
    lines, reached = [f"{machine()}.", ""], []
    if measured.weighed:
        lines += ["### Bytes of a whole shipment", "", *weighing.figures(measured.weighed), ""]
        reached += goals.of_bytes(measured.weighed)
    if measured.codec:
        lines += ["### The codec's time, on one core", "", f"Medians of {args.runs} turns, of more for small stores.",
                  "", *codec.figures(measured.codec), ""]
        reached += goals.of_codec(measured.codec)
    for title, shipped in measured.shipped.items():
        count = max(map(len, shipped.turns.values()), default=0)
        lines += [f"### {title}", "", f"Over {speed(shipped.link)}; medians of {count} turns.", "", *figures(shipped.turns), ""]
    reached += goals.of_shipping(measured.shipped)
    if measured.restores:
        lines += [f"### A restore over a live store of {args.restore} MB", "", *figures_beside("sqlite3", measured.restores, "to sqlite3"), ""]
        reached += goals.of_restores(measured.restores)
    if measured.waits:
        lines += ["What an app waits for one commit while its store is restored, the longest of all turns; it commits every few "
                  "milliseconds.", "", *restore.waits_as_table(measured.waits), ""]
    if measured.sessions:
        lines += ["### Sessions", "", *sessions.figures(measured.sessions), ""]
        reached += goals.of_sessions(measured.sessions)
    if measured.deltas:
        lines += [f"### What a change costs, of {measured.deltas.size} MB", "", *deltas.figures(measured.deltas), ""]
        reached += goals.of_deltas(measured.deltas)
    if measured.resumed:
        lines += ["### A link that breaks", "", *resuming.figures(measured.resumed), ""]
        reached += goals.of_resuming(measured.resumed)
    if measured.following:
        lines += [f"### Following a store of {measured.following.size} MB", "", *following.figures(measured.following), ""]
        reached += goals.of_following(measured.following)
    if measured.receivers:
        lines += ["### Many receivers", "", *receivers.figures(measured.receivers), ""]
        reached += goals.of_receivers(measured.receivers)
    if measured.publishing:
        lines += [f"### Publishing a store of {measured.publishing.size} MB", "", *publishing.figures(measured.publishing), ""]
        reached += goals.of_publishing(measured.publishing)
    if measured.pairs:
        lines += ["### What a version costs after another", "", *pairs.figures(measured.pairs), ""]
        reached += goals.of_pairs(measured.pairs)
    if measured.checks:
        lines += [f"### Checks of a received store of {args.checks} MB", "",
                  *figures_beside(checks.ALONE, measured.checks, "to those two"), ""]
        reached += goals.of_checks(measured.checks)
    for size, turns in measured.copies.items():
        lines += [f"### Taking a copy of {size:,} MB", "", *figures_beside(copying.ALONE, turns, "to VACUUM INTO"), ""]
    reached += goals.of_copies(measured.copies)
    if measured.schemas:
        lines += ["### Many tables", "", *schemas.figures(measured.schemas), ""]
    if measured.reads:
        lines += ["### Readers", "", *read_figures(measured.reads), ""]
        reached += goals.of_readers(measured.reads)
    return "\n".join(lines + ["### Figures to reach", "", *goals.as_table(reached)]) + "\n"
