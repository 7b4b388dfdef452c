"""Which classes of a node may stand, judged by what is counted in them: rows are not looked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from mahrem.arrays import counting
from mahrem.models import Counts, KAnonymity, PrivacyModel, holds_either_way
from mahrem.partition._partition import Admits
from mahrem.partition.judging import Admission, JudgedClasses, standing
from mahrem.partition.lattice._lattice import Grouped, Lattice
from mahrem.partition.lattice._lattice_values import ValuedLattice
from mahrem.types import Floats, Mask

_NONE = np.zeros(0, np.int64)
_LOOSE = 1e-6  # what is only to rule out leaves room for rounding


@dataclass(frozen=True)
class NodeJudge:
    """Judges the classes of nodes under the promises of an :class:`Admission` that counts rows.

    Guarantees:
        - What it shows is what judging the rows of the classes would show, unless more rows than ``budget``
          are left out: then it is only certain that they are.
    """

    promises: tuple[tuple[PrivacyModel, int | None], ...]  # and the column they are about
    columns: Mapping[int, ValuedLattice] = field(repr=False)
    budget: int  # rows that may be left out
    relative: bool  # classes are compared with the table that is shown
    most: int | None  # when more rows are left out, nobody minds whether the rest stands
    _last: dict[tuple[int, ...], tuple[_NodeCounts, Mask]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls, lattice: Lattice, admits: Admits, *, budget: int, relative: bool, most: int | None
    ) -> NodeJudge | None:
        """Prepare a judge; None where rows must be asked: people are counted, or others are around."""
        if not judges_by_counts(admits):
            return None
        assert isinstance(admits, Admission)  # noqa: S101 - as was asked
        known = {id(values): values for _, values in admits.promises if values is not None}
        columns = {key: ValuedLattice.of(lattice, values) for key, values in known.items()}
        promises = tuple((model, None if values is None else id(values)) for model, values in admits.promises)
        return cls(promises, columns, budget, relative, most)

    def shown(self, grouped: Grouped, large: Mask) -> Mask:
        """Say which classes of a node are shown, of those that are large enough."""
        if not self.relative:
            return large & self._counted(grouped, large).admitted()
        node, possible = self._judged(grouped, large)
        if int(grouped.sizes[~possible].sum()) > self.budget:  # whatever is taken away, these never stand
            return possible
        fewest = 0 if self.most is None else int(grouped.sizes.sum()) - self.most
        if node.compared is not None:
            return counting.stand_together(node.compared, large, fewest)
        return standing(JudgedClasses(grouped.sizes, large, node.among, fewest))

    def possible(self, grouped: Grouped, large: Mask) -> Mask:
        """Say which classes may be shown at all, whatever else is taken away: no other ever is."""
        return self._judged(grouped, large)[1] if self.relative else large

    def _judged(self, grouped: Grouped, large: Mask) -> tuple[_NodeCounts, Mask]:
        """Count a node and say which classes may stand at all; the last one is remembered."""
        if grouped.levels not in self._last:
            node = self._counted(grouped, large)
            valued_rows = {key: column.valued_rows for key, column in self.columns.items()}
            self._last.clear()
            possible = node.possible(large, self.budget, valued_rows)
            self._last[grouped.levels] = node, possible
        return self._last[grouped.levels]

    def _counted(self, grouped: Grouped, large: Mask) -> _NodeCounts:
        tally = {key: column.counts(grouped.levels, large) for key, column in self.columns.items()}
        alone = Counts(grouped.sizes, _NONE, _NONE, _NONE, np.zeros(0))
        return _NodeCounts(self.promises, tally, alone)


def judges_by_counts(admits: Admits) -> bool:
    """Say whether what is counted in classes is all that a judge asks for."""
    rows = isinstance(admits, Admission) and not admits.plain
    return rows and admits.subjects is None and admits.members is None and admits.compared is None  # type: ignore[attr-defined]


@dataclass(frozen=True)
class _NodeCounts:
    """What is counted in the classes of one node."""

    promises: tuple[tuple[PrivacyModel, int | None], ...]
    tally: Mapping[int, Counts] = field(repr=False)
    alone: Counts = field(repr=False)  # sizes, for promises that are about no column

    def admitted(self) -> Mask:
        """Judge all classes against the whole table."""
        verdicts: Mask = np.ones(self.alone.groups, np.bool_)
        for model, key in self.promises:
            verdicts &= holds_either_way(model, self.alone if key is None else self.tally[key])
        return verdicts

    def possible(self, large: Mask, budget: int, valued_rows: Mapping[int, int]) -> Mask:
        """Say which large classes may stand at all, once up to so many rows are taken away."""
        if self.compared is not None:
            return counting.possible_classes(self.compared, large, budget, _LOOSE)
        verdicts = large.copy()
        for model, key in self.promises:
            counts = self.alone if key is None else self.tally[key]
            rows = int(counts.sizes.sum()) if key is None else valued_rows[key]
            looser = model.loosened(budget / rows) if budget < rows else None
            if looser is not None:
                verdicts &= looser.holds(counts)
        return verdicts

    @cached_property
    def compared(self) -> counting.ComparedClasses | None:
        """What classes show beside how far it may lie from the table; None where more is asked.

        Classes are large enough already. With all values known the strictest reading is judged: a class that
        shows one which the table no longer has is nearest to it once nobody knows of that value, for its
        other shares rise and none of them falls below the table's.
        """
        about = [(model, key) for model, key in self.promises if not isinstance(model, KAnonymity)]
        keys = {key for _, key in about}
        allowed = [model.allowance() for model, _ in about]
        key = next(iter(keys), None)
        if len(keys) != 1 or key is None or self.tally[key].missing or self.tally[key].held is not None:
            return None
        known = [each for each in allowed if each is not None]
        if len(known) < len(allowed):
            return None
        counts = self.tally[key]
        return counting.ComparedClasses(
            counts.sizes.astype(np.int64, copy=False),
            np.concatenate([[0], counts.ends]).astype(np.int64, copy=False),
            counts.value.astype(np.int64, copy=False),
            counts.count.astype(np.int64, copy=False),
            counts.shares,
            len(counts.table),
            min(each.surplus for each in known),
            min(each.gain for each in known),
        )

    def among(self, left: Mask) -> Mask:
        """Judge all classes against the table that some of them make, however values are read."""
        readings = {key: list(_readings(counts, left)) for key, counts in self.tally.items()}
        verdicts: Mask = np.ones(self.alone.groups, np.bool_)
        for model, key in self.promises:
            for counts in [self.alone] if key is None else readings[key]:
                verdicts &= holds_either_way(model, counts)
        return verdicts


def _readings(counts: Counts, left: Mask) -> Iterator[Counts]:
    """Give the counts in the table that is left; where values no longer occur, also without these."""
    inside = left[counts.group]
    weights = counts.count[inside].astype(np.float64)
    times = np.bincount(counts.value[inside], weights=weights, minlength=len(counts.table)).astype(np.float64)
    met: Mask = times > 0
    yield counts.against(_shares(times))
    if met.all():
        return
    if not met[-1]:  # it may stand for cells without a value
        yield _only(counts, times, np.append(np.ones(len(met) - 1, np.bool_), met[-1:]))
    if not met[:-1].all():
        yield _only(counts, times, met)


def _only(counts: Counts, times: Floats, kept: Mask) -> Counts:
    """Number anew the values that are kept; the others are not counted."""
    numbers = np.cumsum(kept) - 1
    counted = kept[counts.value]
    return replace(
        counts,
        group=counts.group[counted],
        value=numbers[counts.value[counted]],
        count=counts.count[counted],
        table=_shares(times[kept]),
        ancestors=None if counts.ancestors is None else counts.ancestors[:, kept],
        missing=counts.missing and bool(kept[-1]),
    )


def _shares(times: Floats) -> Floats:
    shares: Floats = times / max(1.0, float(times.sum()))
    return shares
