#!/usr/bin/env python3
"""Draws the figures of README.md: bytes by store, wall time and memory by size and link, as SVG files beside it.

It reads the tables that run.py has written there, so that pictures and figures are never of two runs. Needs matplotlib;
`make pictures` sees to that."""
import os
import re
import sys

import matplotlib
from matplotlib import pyplot

from tables import number, tables

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "pictures")
# Told apart by their lightness as well, for those who do not see colours, and on light and dark pages.
OURS, PEERS = "#d9480f", ["#1c7ed6", "#2b8a3e", "#9c36b5", "#868e96"]
# Stand-ins, which the finished file replaces by what suits the page.
INK, PALE = "#010203", "#040506"
STYLE = """<style>
svg { --ink: #24292f; --pale: #d0d7de; }
@media (prefers-color-scheme: dark) { svg { --ink: #e6edf3; --pale: #444c56; } }
</style>"""

matplotlib.use("svg")
pyplot.rcParams.update({
    "svg.fonttype": "none", "svg.hashsalt": "ship-store", "font.family": "sans-serif", "font.size": 10,
    "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": PALE, "xtick.color": INK, "ytick.color": INK,
    "grid.color": PALE, "legend.frameon": False, "axes.spines.top": False, "axes.spines.right": False,
})


def save(figure, name, title):
    os.makedirs(FOLDER, exist_ok=True)
    path = os.path.join(FOLDER, name + ".svg")
    figure.savefig(path, transparent=True, bbox_inches="tight", metadata={"Date": None, "Title": title})
    pyplot.close(figure)
    with open(path) as file:
        svg = file.read()
    svg = svg.replace(INK, "var(--ink)").replace(PALE, "var(--pale)")
    svg = re.sub(r"(<svg [^>]*>)", lambda match: match[1] + STYLE, svg, count=1)
    with open(path, "w") as file:
        file.write("\n".join(line.rstrip() for line in svg.splitlines()) + "\n")
    print(f"drew {os.path.relpath(path)}", file=sys.stderr)


def draw_bytes(rows):
    rows = [row for row in rows if not row[""].startswith("**all") and not row[""].startswith("**the same")]
    rows.sort(key=lambda row: (row[""].startswith("**"), -number(row["to zlib -9"])))
    columns = [("xz -9e", PEERS[0], "s"), ("brotli -q 11", PEERS[1], "^"), ("zstd -19 --long", PEERS[2], "D")]
    figure, axes = pyplot.subplots(figsize=(8, 0.36 * len(rows) + 1.4))
    places = range(len(rows))[::-1]
    axes.barh(places, [number(row["to zlib -9"]) for row in rows], height=0.62, color=OURS, label="ship-store")
    for name, color, mark in columns:
        axes.plot([number(row[name]) for row in rows], places, mark, color=color, markersize=6, label=name)
    axes.axvline(1, color=INK, linewidth=1, label="zlib -9")
    axes.set_yticks(places, [row[""].strip("*") for row in rows])
    axes.set_xlim(0, 1.05)
    axes.set_xlabel("bytes of a whole shipment, as a multiple of zlib -9 (less is better)")
    axes.grid(axis="x")
    axes.set_axisbelow(True)
    handles, labels = axes.get_legend_handles_labels()
    first = sorted(range(len(labels)), key=lambda index: labels[index] != "ship-store")
    axes.legend([handles[i] for i in first], [labels[i] for i in first], loc="lower center", bbox_to_anchor=(0.4, 1), ncols=5)
    save(figure, "bytes", "Bytes by store")


def draw_panels(panels, name, title, columns, label):
    """One panel for each table, one bar for each contender and column."""
    heights = [len(rows) for _, rows in panels]
    figure, all_axes = pyplot.subplots(
        len(panels), figsize=(8, 0.3 * sum(heights) * len(columns) ** 0.5 + 0.9 * len(panels)),
        gridspec_kw={"height_ratios": [height + 1 for height in heights], "hspace": 0.55}, squeeze=False)
    for axes, (heading, rows) in zip(all_axes.flat, panels):
        places = range(len(rows))[::-1]
        for index, (column, shade) in enumerate(columns):
            height = 0.7 / len(columns)
            middles = [place + 0.35 - height * (index + 0.5) for place in places]
            values = [number(row.get(column)) or 0 for row in rows]
            colors = [OURS if row[""].startswith("ship-store") else PEERS[3] for row in rows]
            bars = axes.barh(middles, values, height=height * 0.92, color=colors, alpha=shade)
            axes.bar_label(bars, [f"{value:g}" for value in values], padding=3, fontsize=8, color=INK)
        axes.set_yticks(places, [row[""] for row in rows])
        axes.set_title(heading, loc="left", fontsize=10, fontweight="bold")
        axes.margins(x=0.12)
        axes.grid(axis="x")
        axes.set_axisbelow(True)
    all_axes.flat[-1].set_xlabel(label)
    save(figure, name, title)


def main():
    with open(os.path.join(HERE, "README.md")) as file:
        found = tables(file.read())
    if rows := found.get("Bytes of a whole shipment"):
        draw_bytes(rows)
    journeys = [(heading, rows) for heading, rows in found.items() if rows and "wall s" in rows[0] and "bytes" in rows[0]]
    if journeys:
        draw_panels(journeys, "wall-time", "Wall time by size and link", [("wall s", 1)],
                    "seconds from the sender's start to an installed, synced, checked copy (less is better)")
        draw_panels(journeys, "memory", "Memory by size and link", [("MiB sender", 1), ("MiB receiver", 0.55)],
                    "MiB resident at most: the sender's, and paler the receiver's (less is better)")
    if not found:
        sys.exit("README.md has no figures: `make bench` writes them")


if __name__ == "__main__":
    main()
