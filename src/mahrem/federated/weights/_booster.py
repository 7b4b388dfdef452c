"""A client of boosting: follows the trees that were agreed on, and sums its rows in their cells."""

from __future__ import annotations

import hmac
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mahrem.arrays.counting import add_cells, count_cells
from mahrem.errors import InvalidInput
from mahrem.federated.sums import LARGEST_ROWS, to_fixed
from mahrem.federated.weights._boosting import BENDS, STEEPEST, Bins, Growth, SharedForest, shares_of
from mahrem.types import Floats, Integers

Noise = Callable[[int, int], Floats]  # (level, how many) -> what is added to the sums of a level


def cell_sensitivity(columns: int, classes: int) -> float:
    """Say how far one row more or less moves the sums of a level, in L2.

    A row lies in one node, counts in as many cells as there are columns, and in the whole of the node; each
    time its gradient and its curvature, of every output.

    Example:
        >>> round(cell_sensitivity(14, 2), 3)
        4.33
    """
    slope, bend = (1.0, STEEPEST**2) if classes == 2 else (2.0, STEEPEST)  # squared, of all outputs together
    return math.sqrt((columns + 1) * (slope + BENDS**2 * bend))


@dataclass
class Booster:
    """A client's side: where its rows stand in trees that it grows itself, and the sums of their gradients.

    The server shows the sums over all clients, and each client makes the cuts from them. So it answers the
    next level of the tree that is growing, or the first of the next tree, and nothing else; each once.

    Args:
        bins: The rows.
        labels: Their classes.
        classes: How many there are.
        growth: How cuts are chosen.
        depth: Levels of a tree.
        trees: How many were agreed on.
        noise: What is added to the sums of each level; None where they leave as they are.

    Guarantees:
        - With noise one row more or less moves the sums of a level by at most :func:`cell_sensitivity`,
          whatever sums the server shows.
    """

    bins: Bins = field(repr=False)
    labels: Integers = field(repr=False)
    classes: int
    growth: Growth = field(repr=False)
    depth: int
    trees: int
    noise: Noise | None = field(default=None, repr=False)
    _weight: Floats = field(init=False, repr=False)
    _scores: Floats = field(init=False, repr=False)
    _growing: SharedForest | None = field(default=None, repr=False)
    _at: tuple[int, int] = (0, 0)  # tree and level that were asked for last

    def __post_init__(self) -> None:
        self._weight = np.ones(len(self.bins))
        if self.noise is not None:  # a row in more cells than there are columns counts less in each
            counts = np.zeros(len(self.bins), np.int64)
            count_cells(self.bins, self.growth.bins.cell, counts)
            most = len(self.growth.bins.schema.columns)
            self._weight = np.sqrt(np.minimum(1.0, most / np.maximum(counts, 1)))

    @property
    def outputs(self) -> int:
        """How many scores a row has."""
        return 1 if self.classes == 2 else self.classes

    def numbers(self, body: Mapping[str, Any]) -> Integers:
        """Give the sums of one level: gradients and curvatures, by output, node and cell.

        Raises:
            InvalidInput: If another level is asked for than comes next, or trees that were not agreed on.
        """
        tree, level = int(body["tree"]), int(body["level"])
        if "forest-feature" in body:
            self._begin(tree, level, SharedForest.of_body(body, "forest"))
        else:
            self._follow(tree, level, body)
        self._at = tree, level
        sums = self._sums(level)
        if self.noise is not None:
            sums += self.noise(level, sums.size)
        return to_fixed(sums, LARGEST_ROWS)

    def _begin(self, tree: int, level: int, forest: SharedForest) -> None:
        """Begin a run, or go on with one after the trees it has."""
        forest.refuse_wrong(self.growth.bins, self.depth, self.trees * self.outputs)
        if level or not 1 <= tree <= self.trees or len(forest) != (tree - 1) * self.outputs:
            raise InvalidInput(f"tree={tree}, level={level}: {self.trees} trees of their own were agreed on")
        self._scores = np.zeros((len(self.bins), self.outputs))
        self._scores += forest.scores(self.bins, self.outputs)
        self._growing = SharedForest.empty(self.outputs, self.depth)

    def _follow(self, tree: int, level: int, body: Mapping[str, Any]) -> None:
        """Grow the tree from the sums over all clients, and refuse another one."""
        last, depth = self._at
        wanted = (last, depth + 1) if depth + 1 < self.depth else (last + 1, 0)
        if self._growing is None or (tree, level) != wanted or tree > self.trees:
            raise InvalidInput(
                f"tree={tree}, level={level}: {self.trees} trees of depth {self.depth} were agreed on, level "
                "by level, each once; another question is refused"
            )
        growing = self.growth.grown(self._growing, depth, np.asarray(body["totals"], np.int64))
        if not hmac.compare_digest(growing.digest(), bytes(body["grown"])):
            raise InvalidInput("the server's tree is not the one that its sums give; it is refused")
        if level == 0:
            self._scores += growing.scores(self.bins, self.outputs)
            growing = SharedForest.empty(self.outputs, self.depth)
        self._growing = growing

    def _sums(self, level: int) -> Floats:
        growing = self._growing or SharedForest.empty(self.outputs, self.depth)
        slopes, bends = self._derivatives()
        bins, first, many = self.growth.bins, 2**level - 1, 2**level
        sums = np.zeros((self.outputs, many, 2 * (bins.cells + 1)))
        for output in range(self.outputs):
            node = growing.places(output, self.bins, level) - first
            amounts = np.column_stack([slopes[:, output], BENDS * bends[:, output]])
            add_cells(self.bins, bins.cell, node, amounts, self._weight, sums[output])
        return sums.ravel()

    def _derivatives(self) -> tuple[Floats, Floats]:
        share = shares_of(self._scores)[:, -self.outputs :]
        right = self.labels[:, None] == np.arange(self.classes)[None, -self.outputs :]
        return share - right, share * (1 - share)
