"""What all full-domain methods share: nodes are checked, the best one is kept, the clock is watched."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from mahrem import check
from mahrem.errors import Infeasible, InvalidParameter
from mahrem.models import Counts, PrivacyModel
from mahrem.partition._partition import Admits, Levels, Partition, least_rows
from mahrem.partition.judging import (
    admits_together,
    admitted_classes,
    classes_left,
    standing_classes,
    with_the_rest,
)
from mahrem.partition.lattice._lattice import Grouped, Lattice, lattice_of
from mahrem.partition.lattice._lattice_judge import NodeJudge, judges_by_counts
from mahrem.partition.lattice._lattice_profits import NodeProfits
from mahrem.partition.lattice._objective import JudgedNode, Objective, ObjectiveSettings, node_figures
from mahrem.partition.lattice._objective_entries import OBJECTIVES
from mahrem.table import Hierarchy, Values
from mahrem.types import Labels, Mask, Points, Sizes

Node = tuple[int, ...]  # a level for every column

_ROUNDING = 1e-9
_NONE = np.zeros(0, np.int64)
_OF_OBJECTIVES = (
    "factor",
    "aggregate",
    "target",
    "costs",
    "attacker",
    "publisher_benefit",
    "publisher_loss",
    "attacker_gain",
    "attacker_cost",
)
_NEEDED = {
    "target": "a target: the column that is to be learnt",
    "costs": "costs: what each level of each column costs",
}
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
    classes: int  # that may stand


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
        self,
        lattice: Lattice,
        admits: Admits,
        objective: Objective,
        *,
        limit: float,
        seconds: float | None = None,
    ) -> None:
        self.lattice = lattice
        self.admits = admits
        self.minimum = max(1, admits.minimum)
        self.budget = math.floor(limit * lattice.rows + _ROUNDING)
        self._of_absent: Admits | None = getattr(admits, "of_absent", None)
        self._of_suppressed: Admits | None = getattr(admits, "of_suppressed", None)
        union = admits.plain or bool(getattr(admits, "monotone", False))
        superset = admits.plain or bool(getattr(admits, "growing", False))
        self._of_table: tuple[PrivacyModel, ...] = getattr(admits, "of_table", ())
        self.prunes = union if self.budget == 0 else superset and self._of_suppressed is None
        self._profits = NodeProfits.of(lattice, getattr(admits, "of_cells", ()))
        self.prunes &= not self._of_table and self._profits is None
        self._relative = self.budget > 0 and bool(getattr(admits, "relative", False))
        self.objective = objective
        self._by_counts = NodeJudge.of(
            lattice,
            admits,
            budget=self.budget,
            relative=self._relative,
            most=_BEYOND * self.budget if self._relative else None,
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
        admitted = self._kept_together(grouped.sizes, admitted)
        figures = node_figures(grouped.sizes, admitted)
        holds = stands and figures.refused <= self.budget and figures.kept_classes > 0
        holds = holds and self._keeps_together(grouped.sizes[admitted])
        judged = JudgedNode(grouped, admitted, figures)
        outcome = Checked(
            holds=holds,
            loss=self.objective.value(judged) if holds else math.inf,
            bound=self.objective.bound(judged),
            refused=figures.refused,
            smallest=figures.smallest,
            classes=figures.kept_classes,
        )
        self.known[node] = outcome
        self.fewest = min(self.fewest, figures.refused)
        if holds and (self.best is None or (outcome.loss, sum(node), node) < self._rank(self.best)):
            self.best, self.least = node, outcome.loss
        return outcome

    def at_least(self, node: Node) -> float:
        """Say what a node loses at least, by sizes of classes alone; infinity where it cannot hold."""
        grouped = self.lattice.classes(node)
        large = self._large(grouped)
        figures = node_figures(grouped.sizes, large)
        if figures.refused > self.budget or not figures.kept_classes:
            return math.inf
        return self.objective.at_least(JudgedNode(grouped, large, figures))

    def may_win(self, node: Node) -> bool:
        """Say whether a node may lose less than the best, by what its classes can show at all."""
        if self._by_counts is None or not self._relative or not self.objective.grows:
            return True
        grouped = self.lattice.classes(node)
        possible = self._by_counts.possible(grouped, self._large(grouped))
        figures = node_figures(grouped.sizes, possible)
        if figures.refused > self.budget or not figures.kept_classes:
            return True  # it cannot hold, which judging it says at once
        return (
            self.objective.at_least(JudgedNode(grouped, possible, figures)) < self.least - self.objective.tie
        )

    def choose(self, node: Node) -> None:
        """Take a node as the result, if it holds, whatever else was checked on the way."""
        if self.known[node].holds:
            self.best, self.least = node, self.known[node].loss

    def _rank(self, node: Node) -> tuple[float, int, Node]:
        return self.known[node].loss, sum(node), node

    def _kept_together(self, sizes: Sizes, admitted: Mask) -> Mask:
        """Refuse the smallest classes too, as few as need be, until the rest keeps what is promised of all.

        Classes of one size are refused together: which of them come first says nothing. Where what is refused
        matters to what the others promise, nothing more is.
        """
        if not self._of_table or self._relative or self._of_suppressed is not None:
            return admitted
        kept = admitted & (sizes > 0)
        refused = int(sizes[~admitted].sum())
        for least in np.unique(sizes[kept]):
            left: Mask = kept & (sizes >= least)
            if refused + int(sizes[kept & ~left].sum()) > self.budget:
                break
            if self._keeps_together(sizes[left]):
                return left
        return admitted

    def _keeps_together(self, sizes: Sizes) -> bool:
        """Say whether the classes that are shown keep what is promised of all of them."""
        if not self._of_table:
            return True
        alone = Counts(sizes, _NONE, _NONE, _NONE, np.zeros(0))
        return all(bool(model.holds(alone).all()) for model in self._of_table)

    def _large(self, grouped: Grouped) -> Mask:
        """Say which classes have rows enough and earn something: what each shows by itself."""
        large: Mask = grouped.sizes >= self.minimum
        return large if self._profits is None else large & self._profits.pays(grouped)

    def judged(self, grouped: Grouped) -> Judged:
        """Say which classes of a node may stand, and whether what is not shown may."""
        sizes = grouped.sizes
        large = self._large(grouped)
        if self.admits.plain or int(sizes[~large].sum()) > self.budget:  # hopeless, whatever else is promised
            return Judged(large, stands=True)
        if self._by_counts is not None:
            shown = self._by_counts.shown(grouped, large)
            if self._of_suppressed is None:
                return Judged(shown, stands=True)
            return self._with_the_rest(self.lattice.labels(grouped), sizes, shown)
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
        loss: What is minimised, one of :data:`OBJECTIVES`.
        suppression_limit: Share of the rows that may be suppressed.
        seconds: Time allowed, then the best node found so far stands; None for no limit.
        weights: How much each column counts, above 0; none for all alike.
        factor: Balance of suppression (0) and generalisation (1) in the loss; not said: 0.5, both alike.
        aggregate: How columns are put together: arithmetic, geometric, sum, maximum or rank; None: as usual.
        target: Values of the column that is to be learnt.
        costs: What each level of each column costs under ``loss="stated"``, never less on the way up.
        attacker: Who looks for rows under ``loss="payout"``: a prosecutor, or a journalist in a population.
        publisher_benefit: What a row earns that is shown as it is, under ``loss="payout"``; 1200 not said.
        publisher_loss: What a row costs that is found; 300 not said.
        attacker_gain: What an attacker gains from it; 300 not said.
        attacker_cost: What looking for it costs; 4 not said.

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
    weights: tuple[float, ...] = ()
    factor: float | None = None
    aggregate: str | None = None
    target: Values | None = field(default=None, repr=False)
    costs: tuple[tuple[float, ...], ...] | None = field(default=None, repr=False)
    attacker: str | None = None
    publisher_benefit: float | None = None
    publisher_loss: float | None = None
    attacker_gain: float | None = None
    attacker_cost: float | None = None
    whole_table: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check.one_of(tuple(OBJECTIVES), loss=self.loss)
        self._objective_settings()
        check.between(0, 1, suppression_limit=self.suppression_limit)
        if self.seconds is not None:
            check.at_least(0, seconds=self.seconds)

    def _objective_settings(self, minimum: int = 1) -> ObjectiveSettings:
        """Give what the objective is told; what it does not take is refused."""
        settings = {name: getattr(self, name) for name in _OF_OBJECTIVES if getattr(self, name) is not None}
        takes = OBJECTIVES[self.loss].takes
        for name in settings:
            if name not in takes:
                fits = [entry.name for entry in OBJECTIVES.values() if name in entry.takes]
                raise InvalidParameter(f"{name} is not for loss={self.loss!r}; it is for {', '.join(fits)}")
        for name in OBJECTIVES[self.loss].needs:
            if name not in settings:
                raise InvalidParameter(f"loss={self.loss!r} needs {_NEEDED[name]}")
        return ObjectiveSettings(minimum=minimum, weights=tuple(self.weights), **settings)

    def prepare(self, points: Points, admits: Admits) -> Search:
        """Get ready to check nodes of a table."""
        members: Mask | None = getattr(admits, "members", None)
        with_rows = not admits.plain and not judges_by_counts(admits)
        lattice = lattice_of(points, self.hierarchies, with_rows=with_rows, members=members)
        objective = OBJECTIVES[self.loss].load().of(lattice, self._objective_settings(max(1, admits.minimum)))
        return Search(lattice, admits, objective, limit=self.suppression_limit, seconds=self.seconds)

    @abstractmethod
    def search(self, search: Search) -> None:
        """Look at nodes in the order of the method."""

    def __call__(self, points: Points, admits: Admits) -> Partition:
        """Sort rows by the best node that was found."""
        if len(points) < max(1, admits.minimum):
            least_rows(len(points), admits)
        search = self.prepare(points, admits)
        lattice = search.lattice
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
        loss=float(search.least),
        checked=len(search.known),
        nodes=math.prod(lattice.heights),
        finished=search.finished,
    )
    return Partition(labels=numbers[labels], classes=int(shown.sum()), how=how)
