"""What all full-domain methods share: nodes are checked, the best one is kept, the clock is watched."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from mahrem import check
from mahrem.errors import Infeasible
from mahrem.partition._lattice import Grouped, Lattice, lattice_of
from mahrem.partition._lattice_loss import LOSSES, NodeFigures, node_figures, penalties_of
from mahrem.partition._partition import Admits, Levels, Partition, least_rows
from mahrem.partition._standing import (
    admits_together,
    admitted_classes,
    classes_left,
    standing_classes,
    with_the_rest,
)
from mahrem.table import Hierarchy
from mahrem.types import Labels, Mask, Points, Sizes

Node = tuple[int, ...]  # a level for every column

_ROUNDING = 1e-9
_BEYOND = 4  # times the rows that may be suppressed: what leaves out more is not hoped to come back


class TimeIsUp(Exception):
    """The time allowed is over; the best node so far stands."""


class Checked(NamedTuple):
    """What came of one node."""

    holds: bool
    loss: float  # infinite where it does not hold
    bound: float  # no node above loses less
    refused: int
    smallest: int  # rows of the smallest class that may stand; 0 without one


class Judged(NamedTuple):
    """Which classes of a node are shown, and whether what is not shown may be left out."""

    shown: Mask
    stands: bool


class Search:
    """Checks nodes for a method and remembers the best.

    A node holds when the rows of its refused classes are at most ``budget``, some class may stand, and what
    is not shown keeps the promises as well. Only rows of the table count, never people of a population.
    ``prunes`` says that whatever lies above a node that holds, holds: so it is when unions of admitted
    classes are admitted and no row may be suppressed, or when every superset of an admitted class is and
    nothing is asked of what is suppressed.
    """

    def __init__(
        self, lattice: Lattice, admits: Admits, *, loss: str, limit: float, seconds: float | None
    ) -> None:
        self.lattice = lattice
        self.admits = admits
        self.minimum = max(1, admits.minimum)
        self.budget = math.floor(limit * lattice.rows + _ROUNDING)
        self._of_absent: Admits | None = getattr(admits, "of_absent", None)
        self._of_suppressed: Admits | None = getattr(admits, "of_suppressed", None)
        union = admits.plain or bool(getattr(admits, "monotone", False))
        superset = admits.plain or bool(getattr(admits, "growing", False))
        self.prunes = union if self.budget == 0 else superset and self._of_suppressed is None
        self._relative = self.budget > 0 and bool(getattr(admits, "relative", False))
        self._loss = LOSSES[loss]
        self.penalties = (
            penalties_of(lattice, by_level=loss == "precision") if loss in {"ncp", "precision"} else None
        )
        self._stop = None if seconds is None else time.perf_counter() + seconds
        self.known: dict[Node, Checked] = {}
        self.best: Node | None = None
        self.least = math.inf  # loss of the best
        self.fewest = lattice.rows  # refused rows, over all nodes; hopeless ones are not judged to the end
        self.finished = True

    def check(self, node: Node) -> Checked:
        """Group and judge a node, once."""
        if node in self.known:
            return self.known[node]
        if self._stop is not None and self.known and time.perf_counter() > self._stop:
            raise TimeIsUp
        grouped = self.lattice.classes(node)
        admitted, stands = self.judged(grouped)
        figures = self._figures(grouped, admitted)
        holds = stands and figures.refused <= self.budget and figures.kept_classes > 0
        if holds and figures.refused and self.penalties is not None:
            lost = self.penalties.of_classes(self.lattice, grouped, ~admitted)
            figures = figures._replace(refused_penalty=lost)
        outcome = Checked(
            holds=holds,
            loss=self._loss.value(figures) if holds else math.inf,
            bound=self._loss.bound(figures),
            refused=figures.refused,
            smallest=figures.smallest,
        )
        self.known[node] = outcome
        self.fewest = min(self.fewest, figures.refused)
        if holds and (self.best is None or (outcome.loss, sum(node), node) < self._rank(self.best)):
            self.best, self.least = node, outcome.loss
        return outcome

    def choose(self, node: Node) -> None:
        """Take a node as the result, if it holds, whatever else was checked on the way."""
        if self.known[node].holds:
            self.best, self.least = node, self.known[node].loss

    def _rank(self, node: Node) -> tuple[float, int, Node]:
        return self.known[node].loss, sum(node), node

    def _figures(self, grouped: Grouped, admitted: Mask) -> NodeFigures:
        return node_figures(
            grouped.sizes,
            admitted,
            columns=len(grouped.levels),
            minimum=self.minimum,
            penalty=0.0 if self.penalties is None else self.penalties.of_node(grouped.levels),
        )

    def judged(self, grouped: Grouped) -> Judged:
        """Say which classes of a node may stand, and whether what is not shown may."""
        sizes = grouped.sizes
        large: Mask = sizes >= self.minimum
        if self.admits.plain or int(sizes[~large].sum()) > self.budget:  # hopeless, whatever else is promised
            return Judged(large, stands=True)
        labels = self.lattice.labels(grouped)
        if self._of_absent is not None and not admits_together(labels, sizes == 0, self._of_absent):
            return Judged(large, stands=False)
        if self._relative:
            most = _BEYOND * self.budget
            shown = standing_classes(labels, sizes, large, self.admits, most=most)  # type: ignore[arg-type]
        else:
            shown = admitted_classes(labels, large, self.admits)
        return self._with_the_rest(labels, sizes, shown)

    def _with_the_rest(self, labels: Labels, sizes: Sizes, shown: Mask) -> Judged:
        """Make what is not shown a class that may stand; every round shows less, so it ends."""
        while self._of_suppressed is not None and sizes[~shown].any():
            left = with_the_rest(labels, sizes, shown, self._of_suppressed, self.budget)
            if left is None:
                return Judged(shown, stands=False)
            shown = classes_left(labels, sizes, left, self.admits) if self._relative else left  # type: ignore[arg-type]
            if shown.sum() == left.sum():
                break
        return Judged(shown, stands=True)


@dataclass(frozen=True, kw_only=True)
class FullDomain(ABC):
    """What all full-domain methods share: whole columns are lifted to a level, the best node counts.

    The top of the lattice is checked first: it is cheap, and under monotone promises it holds if any does.
    Missing values are -1 and a value of their own below the root.

    Args:
        hierarchies: One for each column; a column without one gets a grid over its scaled axis.
        loss: What is minimised, ``"ncp"``, ``"dm"``, ``"precision"`` or ``"classes"``.
        suppression_limit: Share of the rows that may be suppressed.
        seconds: Time allowed, then the best node found so far stands; None for no limit.

    ``whole_table`` says that levels are about the whole table: rows that miss values are not sorted apart.

    Raises:
        Infeasible: If no node that was looked at holds; ``reached`` is what the best comes to.
        InvalidParameter: If a setting does not fit.

    Guarantees:
        - Labels are ``0 .. c-1`` and none is empty; suppressed rows, at most the share allowed, have -1.
        - ``admits`` accepts every class.
        - With ``members``, only their rows count in a loss and against the limit; other rows lie in the class
          of their cells, or have -1 where none of the table does or it is suppressed.
        - Two rows that are not suppressed share a class exactly when all their cells are the same node.
    """

    hierarchies: tuple[Hierarchy | None, ...] = ()
    loss: str = "ncp"
    suppression_limit: float = 0.0
    seconds: float | None = None
    whole_table: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check.one_of(tuple(LOSSES), loss=self.loss)
        check.between(0, 1, suppression_limit=self.suppression_limit)
        if self.seconds is not None:
            check.at_least(0, seconds=self.seconds)

    @abstractmethod
    def search(self, search: Search) -> None:
        """Look at nodes in the order of the method."""

    def __call__(self, points: Points, admits: Admits) -> Partition:
        """Sort rows by the best node that was found."""
        if len(points) < max(1, admits.minimum):
            least_rows(len(points), admits)
        members: Mask | None = getattr(admits, "members", None)
        lattice = lattice_of(points, self.hierarchies, with_rows=not admits.plain, members=members)
        search = Search(lattice, admits, loss=self.loss, limit=self.suppression_limit, seconds=self.seconds)
        if not search.check(lattice.top).holds and search.prunes:
            least_rows(len(points), admits)
        try:
            self.search(search)
        except TimeIsUp:
            search.finished = False
        if search.best is None:
            reason = _nothing(search, self.suppression_limit)
            raise Infeasible(reason, reached=search.fewest / lattice.rows)
        return _partition(search, search.best)


def _nothing(search: Search, limit: float) -> str:
    rows = search.lattice.rows
    tried = "no node of the lattice holds" if search.finished else "the time was over before a node held"
    return (
        f"suppression_limit={limit:g}: {tried}; the best of {len(search.known):,} would suppress at least "
        f"{search.fewest:,} of {rows:,} rows, {search.fewest / rows:.4f}; raise the limit or ask for less"
    )


def _partition(search: Search, node: Node) -> Partition:
    lattice = search.lattice
    grouped = lattice.classes(node)
    labels = lattice.labels(grouped)
    shown, _ = search.judged(grouped)
    numbers = np.where(shown, np.cumsum(shown) - 1, -1)
    how = Levels(
        levels=node,
        loss=search.least,
        checked=len(search.known),
        nodes=math.prod(lattice.heights),
        finished=search.finished,
    )
    return Partition(labels=numbers[labels], classes=int(shown.sum()), how=how)
