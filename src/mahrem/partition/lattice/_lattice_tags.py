"""What is known of every node of a lattice, for methods that find the best one."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from mahrem.errors import InvalidParameter
from mahrem.partition.lattice._lattice_search import Checked, Node, Search
from mahrem.types import Integers, Mask

UNKNOWN, HOLDS, FAILS, DEAD = 0, 1, 2, 3
LARGEST = 4_000_000  # nodes of a lattice that can be searched to the end
_BLOCK = 4096


class Tags:
    """A mark for every node: what holds, what fails, and what need not be looked at.

    Where the search prunes, a node that holds marks everything above it and one that fails everything
    below it. Losses are bounded from below on the way up, so that a node whose bound is not below the best
    loss takes everything above it out of the search (``DEAD``), whatever is promised. Where promises are not
    monotone, or rows may be suppressed, marks alone do not tell the best: :meth:`finish` checks what is left.
    """

    def __init__(self, search: Search, *, largest: int = LARGEST) -> None:
        heights = search.lattice.heights
        nodes = math.prod(heights)
        if nodes > largest:
            raise InvalidParameter(
                f"nodes={nodes:,} of the lattice are too many to search, at most {largest:,}; "
                "use fewer columns or levels, or datafly, bottom-up or top-down"
            )
        self.search = search
        self.heights = heights
        self.state: NDArray[np.int8] = np.zeros(heights, np.int8)
        self.floor = search.objective.floors()
        steps = [np.arange(height) for height in heights]
        self.height: Integers = reduce(np.add.outer, steps) if steps else np.zeros((), np.int64)
        # Nothing above a node that holds can lose less: its mark is enough. Of other objectives the bound
        # tells; one that is paid for what attackers find loses less in larger classes.
        self._settled = search.prunes and search.budget == 0 and search.objective.monotone
        self._least = math.inf
        self._tie = search.objective.tie
        for node, outcome in search.known.items():
            self._mark(node, outcome)

    def check(self, node: Node) -> bool:
        """Check a node and mark what follows from it; True when it holds."""
        outcome = self.search.check(node)
        self._mark(node, outcome)
        return outcome.holds

    def _mark(self, node: Node, outcome: Checked) -> None:
        above = self.state[tuple(slice(level, None) for level in node)]
        if self.search.prunes:
            marked = above if outcome.holds else self.state[tuple(slice(level + 1) for level in node)]
            np.copyto(marked, HOLDS if outcome.holds else FAILS, where=marked == UNKNOWN)
        elif self.state[node] == UNKNOWN:
            self.state[node] = HOLDS if outcome.holds else FAILS
        if outcome.bound >= self.search.least - self._tie:
            np.copyto(above, DEAD, where=above != FAILS)
        if self.floor is not None and self.search.least < self._least:
            self._least = self.search.least
            worse = (self.floor >= self._least - self._tie) & (self.state != FAILS)
            np.copyto(self.state, DEAD, where=worse)

    def fails(self, node: Node) -> bool:
        """Say whether a node is known not to hold."""
        return bool(self.state[node] == FAILS)

    def unknown(self, part: tuple[slice, ...]) -> Mask:
        """Say of a part of the lattice where it is not known whether nodes hold, but worth knowing."""
        unknown: Mask = self.state[part] == UNKNOWN
        return unknown

    def wanted(self, node: Node) -> bool:
        """Say whether it is not known if a node holds, but worth knowing."""
        return bool(self.state[node] == UNKNOWN)

    def successors(self, node: Node) -> list[Node]:
        """Give the nodes one step above, those that promise least loss first."""
        upper = [
            (*node[:column], level + 1, *node[column + 1 :])
            for column, level in enumerate(node)
            if level + 1 < self.heights[column]
        ]
        return upper if self.floor is None else sorted(upper, key=self.floor.__getitem__)

    def upwards(self) -> Iterator[Node]:
        """Give the nodes worth knowing from the bottom up, on one height the most promising first."""
        by_floor = np.zeros(self.height.size) if self.floor is None else self.floor.ravel()
        places = np.lexsort((by_floor, self.height.ravel()))
        ends = np.cumsum(np.bincount(self.height.ravel()))
        for level in np.split(places, ends[:-1]):
            open_here = level[self.state.ravel()[level] == UNKNOWN]
            yield from (node for node in self._nodes(open_here) if self.wanted(node))

    def _nodes(self, places: Integers) -> list[Node]:
        if not self.heights:
            return [()] * len(places)
        levels = np.stack(np.unravel_index(places, self.heights), axis=1)
        return [tuple(node) for node in levels.tolist()]

    def finish(self) -> None:
        """Check every node that may still be the best, the most promising first."""
        if not self.search.prunes:
            self._finish_by_sizes()
            return
        ranked = (self.height if self.floor is None else self.floor).ravel()
        alive = (UNKNOWN,) if self._settled else (UNKNOWN, HOLDS)
        places = np.flatnonzero(np.isin(self.state, alive))
        places = places[np.argsort(ranked[places], kind="stable")]
        for first in range(0, len(places), _BLOCK):
            block = places[first : first + _BLOCK]
            for node in self._nodes(block[np.isin(self.state.ravel()[block], alive)]):
                if self.state[node] in alive and node not in self.search.known:
                    self.check(node)

    def _finish_by_sizes(self) -> None:
        """Check nodes in the order of what they lose at least by the sizes of their classes.

        Judging a node is dear, grouping it is not. A node waits until no other may lose less: by then one
        that holds has mostly been found, and what loses more by its sizes alone is not judged at all.
        """
        floors = None if self.floor is None else self.floor.ravel()
        ranked = self.height.ravel() if floors is None else floors
        places = np.flatnonzero(self.state.ravel() == UNKNOWN)
        places = places[np.argsort(ranked[places], kind="stable")]
        waiting: list[tuple[float, Node]] = []
        for place, node in zip(places.tolist(), self._nodes(places), strict=True):
            floor = -math.inf if floors is None else float(floors[place])
            while waiting and waiting[0][0] <= floor:
                self._check_waiting(*heapq.heappop(waiting))
            if self.wanted(node):
                least = self.search.at_least(node)
                if math.isinf(least):
                    self.check(node)  # it cannot hold, which is seen at once
                else:
                    heapq.heappush(waiting, (least, node))
        while waiting:
            self._check_waiting(*heapq.heappop(waiting))

    def _check_waiting(self, least: float, node: Node) -> None:
        if self.wanted(node) and least < self.search.least - self._tie and self.search.may_win(node):
            self.check(node)
