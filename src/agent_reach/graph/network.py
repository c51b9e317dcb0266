"""The trusted part of a graph as adjacency lists, and the walks over it: hops, costs, strongly connected groups.

Every walk is iterative, so that no cycle, self-loop or long chain can hang it or exhaust the stack.
"""

from __future__ import annotations

import heapq
import itertools
from collections import deque
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from agent_reach.graph.assemble import EdgeTable
from agent_reach.graph.options import GraphOptions

INFINITE = float("inf")


class Network:
    """Nodes 0..n-1 with the trusted edges between entries and tools; `removed` nodes and partitions are left out.

    `left` and `right` are arrays of the ends of each edge, by source; `out` lists the targets of each node and `cost` the
    prices of the same edges (1 / score, dearer where slow).
    """

    def __init__(self, table: EdgeTable, options: GraphOptions, removed: Collection[int] = ()) -> None:
        import numpy as np

        self.size = table.entry_count + table.tool_count
        self.entries = range(table.entry_count)
        source, target = np.asarray(table.source), np.asarray(table.target)
        score = np.asarray(table.score)
        present = np.zeros(len(table.nodes), dtype=bool)
        present[: self.size] = True
        present[list(removed)] = False
        kept = np.flatnonzero(
            np.asarray(table.trusted, dtype=bool) & (score > 0) & present[source] & present[target]
        )
        kept = kept[_order(source[kept], self.size)]
        price = 1.0 / score[kept]
        unit = options.latency_unit * 1000
        slow = {place: latency for place in table.counts if (latency := table.latency(place)) is not None}
        if slow:
            price *= [max(1.0, slow.get(place, 0.0) / unit) for place in kept.tolist()]
        self.left, self.right = source[kept], target[kept]
        self.out: list[list[int]] = _rows(self.left, self.right, self.size)
        self.cost: list[list[float]] = _rows(self.left, price, self.size)

    def into(self) -> list[list[int]]:
        """The nodes from which an edge leads to each node."""
        order = _order(self.right, self.size)
        return _rows(self.right[order], self.left[order], self.size)

    def hops_from(self, starts: Iterable[int]) -> list[int]:
        """Fewest hops from any of the starts; -1 where no path leads."""
        found = [-1] * self.size
        queue: deque[int] = deque()
        for start in starts:
            if found[start] < 0:
                found[start] = 0
                queue.append(start)
        missing = self.size - len(queue)
        out = self.out
        while queue and missing:
            node = queue.popleft()
            further = found[node] + 1
            for target in out[node]:
                if found[target] < 0:
                    found[target] = further
                    queue.append(target)
                    missing -= 1
        return found

    def costs_from(self, starts: Iterable[int]) -> tuple[list[float], list[int]]:
        """Least cost from any of the starts (`inf` where no path leads) and the node before on that path (-1: none)."""
        found = [INFINITE] * self.size
        before = [-1] * self.size
        heap: list[tuple[float, int]] = []
        for start in starts:
            if found[start]:
                found[start] = 0.0
                heap.append((0.0, start))
        heapq.heapify(heap)
        missing = self.size - len(heap)
        dearest = INFINITE
        out, cost = self.out, self.cost
        least = min((min(prices) for prices in cost if prices), default=INFINITE)
        while heap:
            price, node = heapq.heappop(heap)
            if price + least >= dearest:
                break
            if price > found[node]:
                continue
            for target, step in zip(out[node], cost[node], strict=True):
                total = price + step
                known = found[target]
                if total < known:
                    found[target] = total
                    before[target] = node
                    heapq.heappush(heap, (total, target))
                    missing -= known == INFINITE
            if not missing and dearest == INFINITE:
                # Every node has a price now, so no step from here on can better one that is above the dearest of them.
                dearest = max(found)
        return found, before


def _order(nodes: Any, size: int) -> Any:
    """The places of an array of nodes below `size` in stable order; numbers of two bytes are sorted by radix, far faster."""
    import numpy as np

    return np.argsort(nodes.astype(np.min_scalar_type(size)), kind="stable")


def _rows(nodes: Any, values: Any, size: int) -> list[list[Any]]:
    """The values of each node as lists; `nodes` is in order."""
    import numpy as np

    ends = np.cumsum(np.bincount(nodes, minlength=size)).tolist()
    flat = values.tolist()
    return [flat[start:end] for start, end in itertools.pairwise([0, *ends])]


def strong_groups(out: Sequence[Sequence[int]]) -> list[list[int]]:
    """Strongly connected groups of two nodes or more (Tarjan 1972, iterative), each sorted, largest first."""
    size = len(out)
    number = [-1] * size
    low = [0] * size
    on_stack = bytearray(size)
    stack: list[int] = []
    groups: list[list[int]] = []
    counter = 0
    for root in range(size):
        if number[root] >= 0:
            continue
        work = [(root, iter(out[root]))]
        number[root] = low[root] = counter
        counter += 1
        stack.append(root)
        on_stack[root] = 1
        while work:
            node, targets = work[-1]
            for target in targets:
                if number[target] < 0:
                    number[target] = low[target] = counter
                    counter += 1
                    stack.append(target)
                    on_stack[target] = 1
                    work.append((target, iter(out[target])))
                    break
                if on_stack[target] and number[target] < low[node]:
                    low[node] = number[target]
            else:
                work.pop()
                if work and low[node] < low[work[-1][0]]:
                    low[work[-1][0]] = low[node]
                if low[node] == number[node]:
                    group = []
                    while True:
                        member = stack.pop()
                        on_stack[member] = 0
                        group.append(member)
                        if member == node:
                            break
                    if len(group) > 1:
                        groups.append(sorted(group))
    return sorted(groups, key=lambda group: (-len(group), group[0]))


def dominators(
    out: Sequence[Sequence[int]], into: Sequence[Sequence[int]], starts: Sequence[int]
) -> list[int]:
    """The immediate dominator of each node from a virtual root over the starts: -1 the root itself, -2 unreachable.

    `out` lists the targets and `into` the sources of the edges at each node.

    Cooper, Harvey, Kennedy: A simple, fast dominance algorithm (2001).
    """
    size = len(out)
    root = size
    order = _postorder(out, starts, root)
    position = [-1] * (size + 1)
    for place, node in enumerate(order):
        position[node] = place
    order.reverse()
    above = {start: [root, *into[start]] for start in starts}
    parent = [-1] * (size + 1)
    parent[root] = root
    # Nothing lies above the root, nor above the only start: a node that meets there is settled.
    top = starts[0] if len(set(starts)) == 1 else root
    changed = True
    while changed:
        changed = False
        for node in order:
            if node == root:
                continue
            chosen = -1
            for candidate in above[node] if node in above else into[node]:
                if candidate == chosen or parent[candidate] < 0:
                    continue
                if chosen < 0:
                    chosen = candidate
                    if chosen == top:
                        break
                    continue
                left = candidate
                while left != chosen:
                    if position[left] < position[chosen]:
                        left = parent[left]
                    else:
                        chosen = parent[chosen]
                if chosen in (top, root):
                    break
            if parent[node] != chosen:
                parent[node] = chosen
                changed = True
    return [
        -2 if parent[node] < 0 else (-1 if parent[node] == root else parent[node]) for node in range(size)
    ]


def _postorder(out: Sequence[Sequence[int]], starts: Sequence[int], root: int) -> list[int]:
    seen = bytearray(len(out) + 1)
    seen[root] = 1
    order: list[int] = []
    work = [(root, iter(starts))]
    while work:
        node, targets = work[-1]
        for target in targets:
            if not seen[target]:
                seen[target] = 1
                work.append((target, iter(out[target])))
                break
        else:
            order.append(node)
            work.pop()
    return order
