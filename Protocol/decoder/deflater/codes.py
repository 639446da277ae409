"""Section 6 of `DEFLATE.md`: Huffman codes from frequencies."""

from __future__ import annotations


def code_lengths(frequencies: list[int], longest: int) -> list[int]:
    """For each symbol; 0 for those without a code."""
    used = [symbol for symbol, frequency in enumerate(frequencies) if frequency]
    greatest = used[-1] if used else -1
    while len(used) < 2:
        greatest = greatest + 1 if greatest < 2 else 0
        used.append(greatest)
    inner = len(frequencies)
    weights = [frequency or 1 for frequency in frequencies]
    heights = [0] * inner
    parents = [0] * (inner + len(used) - 1)
    heap = Heap(used, weights, heights)
    taken: list[int] = []
    for node in range(inner, len(parents)):
        first, second = heap.taken(), heap.least
        taken += [first, second]
        parents[first] = parents[second] = node
        weights.append(weights[first] + weights[second])
        heights.append(max(heights[first], heights[second]) + 1)
        heap.replace_least(node)
    return limited([*taken, heap.least], parents, inner, longest)


class Heap:
    """The first of the two below a place, and the place itself, win where weight and height are the same."""

    def __init__(self, nodes: list[int], weights: list[int], heights: list[int]) -> None:
        self._nodes, self._weights, self._heights = nodes, weights, heights
        for place in reversed(range(len(nodes) // 2)):
            self._sift(place)

    @property
    def least(self) -> int:
        return self._nodes[0]

    def taken(self) -> int:
        least, final = self._nodes[0], self._nodes.pop()
        self.replace_least(final)
        return least

    def replace_least(self, node: int) -> None:
        self._nodes[0] = node
        self._sift(0)

    def _rank(self, node: int) -> tuple[int, int]:
        return self._weights[node], self._heights[node]

    def _sift(self, place: int) -> None:
        nodes = self._nodes
        node = nodes[place]
        rank = self._rank(node)
        while (below := 2 * place + 1) < len(nodes):
            if below + 1 < len(nodes) and self._rank(nodes[below + 1]) <= self._rank(nodes[below]):
                below += 1
            if rank <= self._rank(nodes[below]):
                break
            nodes[place] = nodes[below]
            place = below
        nodes[place] = node


def limited(taken: list[int], parents: list[int], inner: int, longest: int) -> list[int]:
    """Lengths of the symbols, from the nodes in the order in which they were taken, the root last."""
    depths = [0] * len(parents)
    counts = [0] * (longest + 1)
    too_deep = 0
    for node in reversed(taken[:-1]):
        depth = depths[parents[node]] + 1
        if depth > longest:
            depth = longest
            too_deep += 1
        depths[node] = depth
        if node < inner:
            counts[depth] += 1
    if not too_deep:
        return depths[:inner]
    while too_deep > 0:
        depth = longest - 1
        while not counts[depth]:
            depth -= 1
        counts[depth] -= 1
        counts[depth + 1] += 2
        counts[longest] -= 1
        too_deep -= 2
    lengths = [0] * inner
    leaves = iter(node for node in taken if node < inner)
    for length in reversed(range(1, longest + 1)):
        for _ in range(counts[length]):
            lengths[next(leaves)] = length
    return lengths


def codes(lengths: list[int]) -> list[str]:
    """The code of each symbol as RFC 1951 3.2.2 gives it, as digits in the order of the stream."""
    found = [""] * len(lengths)
    code = 0
    for length in range(1, max(lengths) + 1):
        code <<= 1
        for symbol, own in enumerate(lengths):
            if own == length:
                found[symbol] = f"{code:0{length}b}"
                code += 1
    return found
