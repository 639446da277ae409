"""Figures as Markdown, written and read, and how they are compared."""
import os
import re
import statistics
import sys


def median(turns, measure):
    return statistics.median(map(measure, turns))


def ratio(turns, others, measure):
    """The median of the ratios turn by turn: both of a pair met the machine in the same state. None without pairs."""
    if not turns or not others or len(turns) != len(others):
        return None
    return statistics.median(measure(turn) / measure(other) for turn, other in zip(turns, others))


def as_multiple(value, digits=2):
    return "–" if value is None else f"{value:.{digits}f}x"


def table(lines):
    head, *rows = lines
    return ["| " + " | ".join(cells) + " |" for cells in [head, ["---"] + ["---:"] * (len(head) - 1), *rows]]


def tables(text):
    """By the heading above each: its rows, as dictionaries of cells by column, of several tables one after the other."""
    found, heading, head = {}, None, None
    for line in text.splitlines():
        if line.startswith("### "):
            heading, head = line[4:], None
        elif not line.startswith("|"):
            head = None
        elif heading:
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if head is None:
                head = cells
            elif not cells[0].startswith("---"):
                found.setdefault(heading, []).append(dict(zip(head, cells)))
    return found


def number(text):
    """A cell's figure, without what stands around it; None for a dash and the like."""
    match = re.fullmatch(r"([\d,.]+)x?", text or "")
    return float(match[1].replace(",", "")) if match else None


def put_figures(path, begin, end, text):
    """Puts the text in the place of what stands between two marks."""
    with open(path) as file:
        before, first, rest = file.read().partition(begin)
    _, last, after = rest.partition(end)
    if not first or not last:
        sys.exit(f"{os.path.basename(path)} has lost the marks between which the figures stand")
    with open(path, "w") as file:
        file.write(before + first + "\n" + text + "\n" + last + after)
