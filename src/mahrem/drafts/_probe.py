"""The red team at release time: cheap attacks on some classes of a draft, within a time limit."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from mahrem.attacks import Finding, not_done
from mahrem.attacks.on_releases import (
    Downcoding,
    Homogeneity,
    Linkage,
    Minimality,
    RuledOut,
    SinglingOut,
    Skewness,
)
from mahrem.drafts._draft import Draft
from mahrem.matching import read_people, read_published
from mahrem.partition import METHODS
from mahrem.report import ReportFinding, ReportTeam
from mahrem.table import Axis, Leaves, Moments, Words
from mahrem.table.cells import as_text
from mahrem.types import Floats, Integers
from mahrem.words import Note

_ROWS = 10_000
_TRIALS = 500
_SENSITIVE = 5
_KEPT = ("column", "known", "noise", "promised")  # details that are no counts

Attack = Callable[[], Finding]


def probe(draft: Draft, *, floor: int, seconds: float = 2.0) -> ReportTeam:
    """Attack what a draft publishes, knowing the original.

    A large release is attacked on whole classes drawn at random. Somebody who has all classes finds more rows
    that fit, so linkage is overstated there and never understated.

    Args:
        draft: What will be published.
        floor: Successes below this are hidden.
        seconds: When no further attack is begun.

    Guarantees:
        - A finding with more than 0 and fewer than ``floor`` successes gives no rate, only ``below``.
    """
    rows = _sample(draft)
    if not len(rows):
        return ReportTeam()
    names = list(draft.prepared.values)[:_SENSITIVE]
    codes = {
        name: pl.Series(name, draft.prepared.values[name].codes[rows]).cast(pl.String).replace("-1", None)
        for name in names
    }
    labels = draft.partition.labels[rows]
    axes = draft.prepared.axes
    shown = [draft.cells[axis.name].text.gather(labels).alias(axis.name) for axis in axes]
    quasi = [axis.name for axis in axes]
    trees = {axis.name: axis.domain.hierarchy for axis in axes if isinstance(axis.domain, Leaves)}
    subjects = draft.prepared.subjects
    release = read_published(
        pl.DataFrame([*shown, *codes.values()]),
        quasi=quasi,
        sensitive=names,
        hierarchies=trees,
        people=None if subjects is None else subjects[rows].astype(np.int64),
    )
    if not len(release.sizes):  # every class shows nothing at all
        return ReportTeam()
    people = read_people(pl.DataFrame([*(_values(axis, rows) for axis in axes), *codes.values()]), release)

    def attacks() -> Iterator[tuple[str, Attack]]:
        for name in names:
            yield "homogeneity", lambda name=name: Homogeneity(column=name)(release)  # type: ignore[misc]
            yield "skewness", lambda name=name: Skewness(column=name, shuffles=2)(release)  # type: ignore[misc]
            yield "ruled-out", lambda name=name: RuledOut(column=name)(release)  # type: ignore[misc]
        for attack in _minimality(draft, names):
            yield "minimality", lambda attack=attack: attack(release, people)  # type: ignore[misc]
        columns = len(quasi)
        for known in sorted({columns, (columns + 1) // 2}, reverse=True):
            yield "linkage", lambda known=known: Linkage(known=known, trials=_TRIALS)(release, people)  # type: ignore[misc]
        yield "linkage", lambda: Linkage(noise=0.1, trials=_TRIALS)(release, people)
        yield "singling-out", lambda: SinglingOut(trials=_TRIALS)(release, people)
        yield "downcoding", lambda: Downcoding(trials=100)(release, people)

    began = time.monotonic()
    findings = [
        attack() if time.monotonic() - began < seconds else not_done(name, Note("skipped.time"))
        for name, attack in attacks()
    ]
    return ReportTeam(
        rows=len(rows),
        sampled=len(rows) < int((draft.labels >= 0).sum()),
        findings=tuple(_guarded(finding, floor) for finding in findings),
    )


def _minimality(draft: Draft, names: Sequence[str]) -> Iterator[Minimality]:
    """Play the method again where values had a say in its cuts; levels of whole columns are not cut."""
    if draft.method not in METHODS or METHODS[draft.method].full_domain:  # a recipe cuts nothing either
        return
    for name in names:
        promised = [promise.model for promise in draft.prepared.promises if promise.column == name]
        if promised:
            least = max(2, *(math.ceil(getattr(model, "l", 2)) for model in promised))
            yield Minimality(k=draft.policy.k or 1, l=least, column=name)


def _guarded(finding: Finding, floor: int) -> ReportFinding:
    shown = ReportFinding.read(finding.as_dict())
    if not 0 < finding.successes < floor:
        return shown
    details = {name: value for name, value in finding.details.items() if name in _KEPT}
    below = min(1.0, floor / finding.trials)
    return replace(shown, successes=None, rate=None, interval=None, below=below, details=details)


def _sample(draft: Draft) -> Integers:
    """Draw whole classes until there are enough rows; their places among the rows taking part."""
    labels = draft.partition.labels[: draft.prepared.taking_part]
    if len(labels) <= _ROWS:
        return np.flatnonzero(labels >= 0)
    order = np.random.default_rng(0).permutation(draft.partition.classes)
    sizes = np.bincount(labels[labels >= 0], minlength=draft.partition.classes)
    enough = int(np.searchsorted(np.cumsum(sizes[order]), _ROWS)) + 1
    chosen = np.zeros(draft.partition.classes + 1, np.bool_)  # the last place is label -1
    chosen[order[:enough]] = True
    return np.flatnonzero(chosen[labels])


def _values(axis: Axis, rows: Integers) -> pl.Series:
    """Give the values of some rows as text that reads as their cells do."""
    positions: Floats = axis.positions[rows]
    domain = axis.domain
    known = pl.Series(axis.name, positions).fill_nan(None)
    if isinstance(domain, Moments):
        return as_text(domain.typed(known))
    if isinstance(domain, Words | Leaves):
        labels = domain.labels if isinstance(domain, Words) else domain.hierarchy.labels[0]
        return pl.Series(axis.name, labels, dtype=pl.String).gather(known.cast(pl.UInt32))
    return known.cast(pl.String)
