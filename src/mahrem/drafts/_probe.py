"""The red team at release time: cheap attacks on some classes of a draft."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mahrem.attacks import Finding, clopper_pearson, disclosed_findings
from mahrem.attacks.on_releases import (
    Downcoding,
    Homogeneity,
    Linkage,
    ReleaseTarget,
    RuledOut,
    SinglingOut,
    Skewness,
)
from mahrem.disclosed import of_crowd, published
from mahrem.drafts._crowd import Crowd
from mahrem.drafts._draft import Draft
from mahrem.drafts._risk import hides_whose
from mahrem.matching import as_words, read_people, read_published
from mahrem.partition import METHODS
from mahrem.report import ReportFinding, ReportTeam
from mahrem.table import Axis, Leaves, Moments, Words
from mahrem.table.cells import as_text
from mahrem.types import Integers

if TYPE_CHECKING:
    from mahrem.attacks.on_releases import Company, Minimality

_ROWS = 10_000
_TRIALS = 500
_SENSITIVE = 5
_KEPT = ("column", "known", "noise", "promised")  # details that are no counts

Attack = Callable[[], Finding]


def probe(draft: Draft, crowd: Crowd, *, floor: int) -> ReportTeam:
    """Attack what a draft publishes, knowing the original as far as a report may.

    A large release is attacked on whole classes. Somebody who has all classes finds more rows that fit, so
    linkage is overstated there and never understated.

    Args:
        draft: What will be published.
        crowd: The rows it shows.
        floor: How many people a figure must stand for.

    Guarantees:
        - Rates stand for multiples of ``floor`` people; one of fewer is hidden, and ``below`` says the line.
    """
    some = crowd.sample_classes(_ROWS)
    if not len(some.labels):
        return ReportTeam()
    some = some.arranged(_shown(draft, some))
    names, axes = list(some.values)[:_SENSITIVE], some.axes
    quasi = [axis.name for axis in axes]
    trees = {axis.name: axis.domain.hierarchy for axis in axes if isinstance(axis.domain, Leaves)}
    subjects = draft.prepared.subjects
    shown = _shown(draft, some)
    release = read_published(
        shown,
        quasi=quasi,
        sensitive=names,
        hierarchies=trees,
        people=None if subjects is None else subjects[some.rows].astype(np.int64),
    )
    if not len(release.sizes):  # every class shows nothing at all
        return ReportTeam()

    def attacks() -> Iterator[Attack]:
        for name in names:
            yield lambda name=name: Homogeneity(column=name)(release)  # type: ignore[misc]
            yield lambda name=name: Skewness(column=name, shuffles=2)(release)  # type: ignore[misc]
            yield lambda name=name: RuledOut(column=name)(release)  # type: ignore[misc]
        if crowd.coarse:  # who people are is not known well enough to look for them
            return
        people = read_people(shown.with_columns(*map(_values, axes)), release)
        for attack in _on_choices(draft, names):
            yield lambda attack=attack: attack(release, people)  # type: ignore[misc]
        anybody = ReleaseTarget(release=release, people=people).shown_people
        columns = len(quasi)
        for known in sorted({columns, (columns + 1) // 2}, reverse=True):
            yield lambda known=known: Linkage(known=known, trials=_TRIALS)(release, anybody)  # type: ignore[misc]
        yield lambda: Linkage(noise=0.1, trials=_TRIALS)(release, anybody)
        yield lambda: SinglingOut(trials=_TRIALS)(release, anybody)
        yield lambda: Downcoding(trials=100)(release, people)

    return ReportTeam(
        rows=published(len(some.labels)),
        sampled=len(some.labels) < len(crowd.labels),
        findings=tuple(
            _guarded(_in_crowds(finding, floor) if hides_whose(draft.policy) else finding, floor)
            for finding in disclosed_findings((attack() for attack in attacks()), floor)
        ),
    )


def _shown(draft: Draft, some: Crowd) -> pl.DataFrame:
    """Give what is published of rows: their cells, sensitive values by number, and what stays as it is."""
    own = draft.partition.labels[some.rows]
    cells = [draft.cells[axis.name].text.gather(own).alias(axis.name) for axis in some.axes]
    codes = {name: pl.Series(name, some.values[name]).cast(pl.String) for name in some.values}
    codes |= {series.name: series for series in _plain(draft, some.rows)}
    return pl.DataFrame([*cells, *codes.values()])


def _plain(draft: Draft, rows: Integers) -> Iterator[pl.Series]:
    """Give the columns that are published as they are, in some of the rows taking part."""
    prepared, policy = draft.prepared, draft.policy
    with_role = {*prepared.leave_out, *policy.quasi, *policy.sensitive, *policy.pseudonym}
    names = [name for name in prepared.source.columns if name not in with_role]
    if names:
        kept = prepared.source.take(names).filter(pl.Series(prepared.keep))
        shown = kept.filter(pl.Series(~prepared.suppress))[rows]
        yield from (series.cast(pl.String) for series in shown if as_words(series.dtype))


def _on_choices(draft: Draft, names: Sequence[str]) -> Iterator[Minimality | Company]:
    """Look at cuts and members where values had a say in them; levels of whole columns are not cut."""
    if draft.method not in METHODS or METHODS[draft.method].full_domain:  # a recipe cuts nothing either
        return
    from mahrem.attacks.on_releases import Company, Minimality

    for name in names:
        promised = [promise.model for promise in draft.prepared.promises if promise.column == name]
        if promised:
            least = max(2, *(math.ceil(getattr(model, "l", 2)) for model in promised))
            yield Minimality(k=draft.policy.k or 1, l=least, column=name)
            yield Company(column=name, trials=_TRIALS)


def _in_crowds(finding: Finding, floor: int) -> Finding:
    """Count those who were tried in multiples of ``floor``, where whose rows are whose is hidden."""
    if finding.skipped is not None or not finding.trials:
        return finding
    trials = max(finding.trials // floor * floor, floor)
    share = finding.baseline or 0.0
    return replace(
        finding,
        trials=trials,
        successes=min(finding.successes, trials),
        baseline=min(floor * round(share * finding.trials / floor) / trials, 1.0),
    )


def _guarded(finding: Finding, floor: int) -> ReportFinding:
    """Round what was found to multiples of ``floor`` people, and hide what stands for fewer."""
    details = {name: value for name, value in finding.details.items() if name in _KEPT}
    shown = ReportFinding.read({**finding.as_dict(), "details": details})
    if finding.skipped is not None or not finding.trials:
        return shown
    people = min(floor * round(finding.successes / floor), finding.trials)
    if finding.successes and not people:
        below = of_crowd(round(min(1.0, floor / finding.trials), 3))
        return replace(shown, successes=None, rate=None, interval=None, below=below)
    low, high = (round(end, 3) for end in clopper_pearson(people, finding.trials))
    baseline = round(finding.baseline or 0.0, 3)
    return replace(
        shown,
        successes=of_crowd(people),
        rate=of_crowd(round(people / finding.trials, 3)),
        baseline=of_crowd(baseline),
        interval=of_crowd((low, high)),
        alarming=low > baseline,
    )


def _values(axis: Axis) -> pl.Series:
    """Give values as text that reads as their cells do."""
    domain = axis.domain
    known = pl.Series(axis.name, axis.positions).fill_nan(None)
    if isinstance(domain, Moments):
        return as_text(domain.typed(known))
    if isinstance(domain, Words | Leaves):
        labels = domain.labels if isinstance(domain, Words) else domain.hierarchy.labels[0]
        return pl.Series(axis.name, labels, dtype=pl.String).gather(known.cast(pl.UInt32))
    return known.cast(pl.String)
