"""Figures as Markdown, and how they are compared."""
import statistics


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
