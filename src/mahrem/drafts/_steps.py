"""Which classes are published: as fine as promises allow, or made without a look at sensitive values.

Two things can ask for larger classes than a method makes. What a class is like must not follow from anybody's
sensitive value beyond what the promise needs (minimality), and people whose rows are tied together must hide
among others with all their rows (trajectories). Both are reached on the same public ladder of k.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from mahrem.disclosed import published
from mahrem.drafts._method import admission, partition_rows
from mahrem.drafts._prepare import Prepared, people_taking_part
from mahrem.errors import Infeasible, InvalidParameter
from mahrem.metrics import RowCounts, measure_losses
from mahrem.models import Counts, KAnonymity, Promise, judge
from mahrem.partition import METHODS, Admission, Partition
from mahrem.recode import render
from mahrem.release.decisions import Policy
from mahrem.types import Integers, Labels
from mahrem.verify import people_per_class, published_classes
from mahrem.words import Note

if TYPE_CHECKING:
    from mahrem.drafts._draft import Draft

DEARER = 0.05  # a larger share of the loss is too much to pay without being asked
_STEPS = 9  # tried without being asked: from k to four times k, beyond which it would cost too much
_SECONDS = 2.0  # that all of them may take by the measured speed of the method
_AFTER_K = 2 ** (1 / 4)

Drawn = Callable[[Partition], "Draft"]


def ladder(k: int, most: int) -> Iterator[int]:
    """Give k and what follows it by quarters of a doubling, rounded up, and at last the whole table.

    Example:
        >>> list(ladder(5, 20))
        [5, 6, 8, 9, 10, 12, 15, 17, 20]
    """
    step, last = 0, 0
    while last < most:
        now = min(most, math.ceil(k * _AFTER_K**step - 1e-9))
        if now > last:
            yield now
        step, last = step + 1, max(last, now)


@dataclass(frozen=True)
class Choice:
    """The classes of one table by one method, at every step of the ladder."""

    prepared: Prepared
    policy: Policy
    method: str
    options: dict[str, Any]
    drawn: Drawn  # recodes a partition

    def draft(self) -> Draft:
        """Give the draft to publish, and say in its notes how its classes came about."""
        if "target" in self.options and METHODS[self.method].full_domain:  # levels follow from its values
            if self.policy.minimality_safe:
                raise InvalidParameter(
                    "minimality_safe: levels chosen for a target follow from its values; leave one out"
                )
            return _noted(self._usual(), Note("warning.classes_by_values"))
        if not self._valued or self.policy.minimality_safe is False or self._keeps_sensitive:
            note = [Note("warning.classes_by_values")] if self._valued else []
            return _noted(self._usual(), *note)
        if self.policy.minimality_safe:
            safe = self._safe(None)
            if safe is None:
                raise Infeasible("minimality_safe: no classes of quasi-identifiers alone keep the promise")
            return self._noted_alone(safe[1])
        return self._cheapest()

    def _cheapest(self) -> Draft:
        """Take classes made without sensitive values where they lose little more than the usual ones.

        Which they were is not told: it hangs on values that the table hides.
        """
        if METHODS[self.method].seconds(self.prepared.taking_part) * _STEPS > _SECONDS:
            return _noted(self._usual(), Note("warning.classes_untried"))
        safe = self._safe(_STEPS if self.policy.trajectory_k is None else None)
        chosen = self._usual() if safe is None else safe[1]
        if safe is not None and safe[0] > self._least:  # else there is nothing finer, whatever the values are
            usual = self._usual()
            if self._loss(chosen) > (1 + DEARER) * self._loss(usual) + 1e-12:
                chosen = usual
        return _noted(chosen, Note("warning.classes_either", {"share": published(DEARER)}))

    def _noted_alone(self, draft: Draft) -> Draft:
        """Say that values had no say; of the step only what the smallest class shows to everybody."""
        labels, people = _looks(draft)[: self.prepared.taking_part], self.prepared.subjects
        shown = labels >= 0
        whose = np.arange(len(labels)) if people is None else people[: len(labels)]
        sizes = people_per_class(labels[shown], whose[shown], int(labels.max(initial=-1)) + 1)
        smallest = int(sizes[sizes > 0].min(initial=len(labels)))
        return _noted(draft, Note("warning.classes_alone", {"k": published(smallest)}))

    def _usual(self) -> Draft:
        """Let every promise decide; beyond the first step only for what no single class shows."""
        for k in self._ladder:
            promises = self.prepared.promises if k == self._least else self._with(k, self.prepared.promises)
            draft = self.drawn(self._partition(promises))
            if self._stands(draft):
                return draft
        if self.prepared.subjects is None and self.policy.trajectory_k is None:
            raise Infeasible(
                "no classes keep the promise: some look alike as they are published, and do not keep it "
                "together; hide fewer columns, or promise less"
            )
        raise Infeasible(
            "no classes keep the promise for people with several rows: those of one person come together in "
            "larger classes, or show how many they are; publish one row for each person, or no pseudonym"
        )

    def _safe(self, steps: int | None) -> tuple[int, Draft] | None:
        """Let quasi-identifiers alone decide, at the first step whose classes keep every promise."""
        alone = [promise for promise in self.prepared.promises if promise.column is None]
        for k in islice(self._ladder, steps):
            try:
                partition = self._partition(self._with(k, alone))
            except Infeasible:  # what is promised about the population may need the values' help
                return None
            if self._keeps(partition.labels, self._judge):
                draft = self.drawn(partition)
                if self._stands(draft):
                    return k, draft
        return None

    def _stands(self, draft: Draft) -> bool:
        """Judge what classes that look alike show together, and what tied rows show."""
        tied, gathered = self.policy.trajectory_k, self.prepared.subjects is not None and self._valued
        gathered |= self.policy.local  # classes of several passes may look alike
        # Classes that look alike are one to who reads them: such a model may refuse what it admits by itself.
        models = [promise.model for promise in self.prepared.promises]
        gathered |= any(
            not (model.monotone or model.of_table or model.of_members or model.of_cells) for model in models
        )
        together = [promise for promise in self.prepared.promises if promise.model.of_table]
        if tied is None and not gathered and not together:
            return True
        labels = _looks(draft)
        if together and not all(judge(promise, self._as_sizes(labels)).holds for promise in together):
            return False
        if gathered and not self._keeps(labels, self._judge):
            return False
        return tied is None or all(self._hides(labels, links, tied) for links in self._links())

    def _as_sizes(self, labels: Labels) -> Counts:
        """Count the people of the table in each class."""
        labels, people = labels[: self.prepared.taking_part], self.prepared.subjects
        shown = labels >= 0
        whose = np.arange(len(labels)) if people is None else people[: len(labels)]
        sizes = people_per_class(labels[shown], whose[shown], int(labels.max(initial=-1)) + 1)
        nobody = np.empty(0, np.int64)
        return Counts(sizes[sizes > 0], nobody, nobody, nobody, np.empty(0))

    def _hides(self, labels: Labels, links: Integers, least: int) -> bool:
        """Judge trajectories: so many people share each, and they keep what is promised about values."""
        from mahrem.verify import trajectories

        numbered = trajectories(labels, links)
        tied = numbered >= 0
        whose = links if self.prepared.subjects is None else self.prepared.subjects
        sizes = people_per_class(numbered[tied], whose[tied], int(numbered.max(initial=-1)) + 1)
        if sizes.min(initial=least) < least:
            return False
        about = [promise for promise in self.prepared.promises if promise.column is not None]
        people = np.where(tied, whose, -1).astype(np.int32)
        judge = replace(admission(self.prepared, about), subjects=people, compared=labels >= 0)
        return not about or self._keeps(numbered, judge)

    def _keeps(self, labels: Labels, judge: Admission) -> bool:
        """Say whether all classes keep every promise."""
        shown = labels >= 0
        rows = np.flatnonzero(shown)
        rows = rows[np.argsort(labels[rows], kind="stable")]
        ends = np.cumsum(np.bincount(labels[rows]))
        offsets = np.unique(np.concatenate([[0], ends])).astype(np.int64)
        admits = judge if shown.all() else judge.among(shown)
        return bool(admits(rows.astype(np.int32), offsets).all())

    def _links(self) -> Iterator[Integers]:
        """Number what ties rows together, for every pseudonym; others of a population are tied to nothing."""
        others = np.full(len(self.prepared.axes[0].positions) - self.prepared.taking_part, -1, np.int64)
        part = self.prepared.keep.copy()
        part[self.prepared.keep] = ~self.prepared.suppress
        for name in self.policy.pseudonym:
            names = self.prepared.source.take([name])[name].filter(pl.Series(part))
            tied = (names.cast(pl.String).rank("dense").cast(pl.Int64) - 1).fill_null(-1).to_numpy()
            yield np.concatenate([tied, others])

    def _partition(self, promises: Sequence[Promise]) -> Partition:
        judge = self._judge if promises == self.prepared.promises else self._judge_of(promises)
        return partition_rows(self.prepared, self.policy, self.method, self.options, judge)

    def _with(self, k: int, promises: Sequence[Promise]) -> tuple[Promise, ...]:
        others = (promise for promise in promises if not isinstance(promise.model, KAnonymity))
        return Promise(KAnonymity(k)), *others

    def _loss(self, draft: Draft) -> float:
        utility, _ = measure_losses(
            draft.losses,
            RowCounts(
                rows=self.prepared.rows,
                suppressed=int(draft.hidden.sum()),
                classes=draft.partition.classes,
            ),
            k=self._least,
            weights=self.policy.weights or None,
        )
        return utility["gcp"]

    @cached_property
    def _judge(self) -> Admission:
        return self._judge_of(self.prepared.promises)

    def _judge_of(self, promises: Sequence[Promise]) -> Admission:
        return admission(self.prepared, promises, keeps_sensitive=self._keeps_sensitive)

    @property
    def _keeps_sensitive(self) -> bool:
        return self.policy.suppressed == "keep-sensitive"

    @property
    def _valued(self) -> bool:
        """True when something is promised about sensitive values."""
        return any(promise.column is not None for promise in self.prepared.promises)

    @property
    def _least(self) -> int:
        """The first step: the k asked for, or what any promise needs; settings alone decide it."""
        return max([self.policy.k or 1, *(promise.model.least_rows for promise in self.prepared.promises)])

    @property
    def _ladder(self) -> Iterator[int]:
        return ladder(self._least, max(people_taking_part(self.prepared), self._least))


def _looks(draft: Draft) -> Labels:
    """Give classes that show the same one label: nobody can tell them apart."""
    every = np.arange(draft.partition.classes)
    shown = [
        series.alias(str(number))
        for number, series in enumerate(
            series for name in draft.cells for series in render(draft.cells[name], every, draft.form, name)
        )
    ]
    alike, _ = published_classes(pl.DataFrame(shown), [series.name for series in shown])
    labels = draft.partition.labels
    return np.where(labels >= 0, alike[labels], -1)


def _noted(draft: Draft, *notes: Note) -> Draft:
    return replace(draft, notes=(*draft.notes, *notes))
