"""Tries on one table that stays in memory: what settings would lose and leave, answered in a moment."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import polars as pl

from mahrem.disclosed import NONE, Count, Figure, of_crowd, published
from mahrem.drafts import (
    Draft,
    Prepared,
    as_told,
    crowd_of,
    draft,
    prepare,
    promise_anew,
    risk_of,
    utility_of,
)
from mahrem.errors import InvalidParameter, in_our_words
from mahrem.metrics import class_size_bins
from mahrem.partition import METHODS
from mahrem.pipeline.comparing import candidate_verdict
from mahrem.pipeline.exploring._lattice import GeneralisationLattice, lattice_of, lifting
from mahrem.pipeline.releasing import floor_of
from mahrem.recode import render
from mahrem.release import decided
from mahrem.release.decisions import Policy, policy_from, reading_of
from mahrem.report import ReportFacts
from mahrem.table import Source, open_source
from mahrem.types import Integers
from mahrem.verify import Verdict

AT_ONCE = 30_000  # rows that are tried while somebody waits
_SECONDS = 0.08  # that classes may take then, by the measured speed of the method
_VALUED = 20  # times the work where something is promised about values
_FEWEST = 500
_EXAMPLES = 3
_READ_ONCE = (
    *("delimiter", "encoding", "decimal", "thousands", "date_format", "null", "query", "table"),
    *("header", "names", "skip_rows", "skip_last"),
)
# What changes how classes are made and promised, but not the arrays they are made of.
_LATER = frozenset(
    {"k", "models", "method", "options", "strategy", "weights", "jitter", "repair", "suppression_limit"}
    | {"minimality_safe", "seed", "fraction", "language", "format", "shuffle", "accept"}
)


@dataclass(frozen=True, kw_only=True)
class ColumnTrial(ReportFacts):
    """What a quasi-identifier would lose, and what some common values would be published as."""

    gcp: Figure
    examples: tuple[tuple[str, str], ...] = ()  # a word that many share, and the cell most of them get


@dataclass(frozen=True, kw_only=True)
class Trial(ReportFacts):
    """What settings would give; nothing was published.

    Attributes:
        rows: Rows of the table; ``tried`` of them were looked at.
        loss: Share of the detail that is given up.
        highest: Risk of the person who hides worst; ``average`` that of all.
        alone: Share of the rows that would be shown which stand alone before, by all quasi-identifiers
            together, as far as their grid tells; None where it would speak of fewer people than k.
        at_risk: Share whose risk is above the usual threshold.
        sizes: Classes and rows by class size.
    """

    rows: Count
    tried: Count
    method: str
    holds: bool
    loss: Figure
    highest: Figure
    average: Figure
    at_risk: Figure
    classes: Count
    smallest: Count
    suppressed: Count
    alone: Figure | None = None
    sizes: tuple[Mapping[str, Count], ...] = ()
    columns: Mapping[str, ColumnTrial] = field(default_factory=dict)
    seconds: Figure | None = None

    @property
    def exact(self) -> bool:
        """Whether every row was tried."""
        return self.tried == self.rows


class Explorer:
    """A table in memory, ready for one try after the other.

    Args:
        source: As for :func:`mahrem.anonymize`.
        most: Keep so many rows at most, drawn at random; all of them if None.
        **reading: How the source is read, by names of settings.

    Guarantees:
        - A try of all rows gives the figures of the release that the same settings make.
        - A node of its :meth:`lattice` holds exactly when :func:`mahrem.lattice` says so of the rows kept.
        - Nothing is written, and nothing passes the gate: what may be published is for a release to say.
        - No value is shown that fewer people have than k, nor one of a column that is not made coarser.

    Example:
        >>> import mahrem as mh
        >>> explorer = Explorer(mh.demo_patients(400))
        >>> trial = explorer.attempt(quasi=["age", "zip"], rest="drop", k=5)
        >>> trial.holds, trial.exact, int(trial.smallest) >= 5
        (True, True, True)
    """

    @in_our_words
    def __init__(self, source: object, *, most: int | None = AT_ONCE, **reading: Any) -> None:
        self._reading = dict(reading)
        read = reading_of(policy_from(None, self._reading))
        opened = open_source(source, read)
        self.rows = opened.rows
        self._order: Integers = np.random.default_rng(0).permutation(self.rows)
        table = opened.take(list(opened.columns))
        if most is not None and self.rows > most:
            self._order = self._order[:most]
            table, self._order = table[np.sort(self._order)], np.argsort(np.argsort(self._order))
        self._table = table
        self._plain = type(read)(decimal=read.decimal, null=read.null)
        self._sources: dict[int, tuple[pl.DataFrame, Source]] = {}
        self._prepared: dict[tuple[int, str], Prepared] = {}
        self._opened: tuple[str, GeneralisationLattice] | None = None

    @property
    def held(self) -> int:
        """Rows that are kept."""
        return self._table.height

    @in_our_words
    def attempt(self, *, quick: bool = False, **settings: Any) -> Trial:
        """Try settings of a release.

        Args:
            quick: Try fewer rows where more would keep somebody waiting.
            **settings: As for :func:`mahrem.anonymize`.

        Raises:
            Infeasible: If the promise cannot be kept.
        """
        policy = self._policy(settings)
        if not policy.promises():
            raise InvalidParameter("k=None: no promise was asked for; say at least k")
        rows = self._rows_for(policy) if quick else self.held
        began = time.perf_counter()
        candidate = draft(self._prepare(policy, rows), policy)
        trial = self._trial(candidate, candidate_verdict(candidate), rows)
        return replace(trial, seconds=published(round(time.perf_counter() - began, 4)))

    @in_our_words
    def singling(self, *, others: tuple[str, ...] = (), **settings: Any) -> dict[str, dict[str, Any]]:
        """Say how much each column singles people out, alone and beside what others know.

        Args:
            others: Columns that are no quasi-identifiers, to be asked about as if they were.
            **settings: As for :func:`mahrem.anonymize`.

        Returns:
            By column ``alone``, the share of rows that nobody else's look like in this column, and ``adds``,
            the share that stands alone by all quasi-identifiers but not without it (of others: with it).
            Shares stand for multiples of k people; one of fewer is None.
        """
        policy = self._policy(settings)
        frame, _ = self._source(min(self.held, AT_ONCE))
        people = None if policy.subject is None else frame[policy.subject]
        floor, known = floor_of(policy), [name for name in policy.quasi if name in frame.columns]
        every = _alone(frame, known, people)
        figures: dict[str, dict[str, object]] = {}
        for name in (*known, *(name for name in others if name in frame.columns and name not in known)):
            beside = [one for one in known if one != name]
            with_it = every if name in known else _alone(frame, [*known, name], people)
            without = _alone(frame, beside, people)
            figures[name] = {
                "alone": _share(_alone(frame, [name], people), frame.height, floor),
                "adds": _share(max(with_it - without, 0), frame.height, floor),
            }
        return figures

    @in_our_words
    def lattice(self, **settings: Any) -> GeneralisationLattice:
        """Open the lattice of full-domain generalisation, as :func:`mahrem.lattice` does, on the rows kept.

        The last one stays open: what was judged in it is not judged again.

        Args:
            **settings: As for :func:`mahrem.lattice`.
        """
        policy = lifting(self._policy(settings))
        key = repr(policy)
        if self._opened is None or self._opened[0] != key:
            self._opened = key, lattice_of(self._prepare(policy, self.held), policy)
        return self._opened[1]

    def _policy(self, settings: Mapping[str, object]) -> Policy:
        policy = policy_from(None, {**self._reading, **settings})
        if policy.engine == "spark":
            raise InvalidParameter("an explorer tries on this machine; leave engine='spark' out")
        opened = policy_from(None, self._reading)
        for name in _READ_ONCE:
            if getattr(policy, name) != getattr(opened, name):
                raise InvalidParameter(f"{name} is about how a table is read: say it when it is opened")
        return decided(policy, self._source(self.held)[1])

    def _rows_for(self, policy: Policy) -> int:
        """Give how many rows are tried in a moment; settings alone decide, so that tries compare."""
        most = min(self.held, AT_ONCE)
        name = "mosaic" if policy.method == "auto" else policy.method
        times = _VALUED if any(promise.column for promise in policy.promises()) else 1
        steps = [most, *(digit * 10**power for power in (5, 4, 3, 2) for digit in (5, 2, 1))]
        fitting = (step for step in steps if METHODS[name].seconds(step) * times <= _SECONDS)
        return min(most, max(_FEWEST, next(fitting, _FEWEST)))

    def _source(self, rows: int) -> tuple[pl.DataFrame, Source]:
        if rows not in self._sources:
            table = self._table if rows == self.held else self._table[np.sort(self._order[:rows])]
            self._sources = {  # the whole and one sample: more would fill the memory
                **({self.held: self._sources[self.held]} if self.held in self._sources else {}),
                rows: (table, open_source(table, self._plain)),
            }
        return self._sources[rows]

    def _prepare(self, policy: Policy, rows: int) -> Prepared:
        """Turn the columns into arrays, unless they were turned so before."""
        early = {known.name: getattr(policy, known.name) for known in fields(policy)}
        early = {name: value for name, value in early.items() if name not in _LATER}
        key = rows, repr({**early, "sensitive": list(policy.sensitive)})
        if key in self._prepared:
            return promise_anew(self._prepared[key], policy)
        prepared = prepare(self._source(rows)[1], policy, to_publish=False)
        while len(self._prepared) >= 3:
            self._prepared.pop(next(iter(self._prepared)))
        self._prepared[key] = prepared
        return prepared

    def _trial(self, candidate: Draft, verdict: Verdict, rows: int) -> Trial:
        policy = candidate.policy
        frame, floor = self._source(rows)[0], floor_of(policy)
        verdict = as_told(verdict, policy, floor)
        utility, by_column = utility_of(candidate, verdict)
        risk = risk_of(verdict.least_hidden)
        examples = _Examples(candidate, frame, floor)
        alone, shown = _alone_in(candidate)
        return Trial(
            rows=published(self.rows),
            tried=published(self.rows if rows == self.rows else rows),
            method=candidate.method,
            holds=verdict.holds,
            loss=published(utility["gcp"]),
            highest=risk.highest or published(0.0),
            average=risk.average or published(0.0),
            at_risk=risk.share_at_risk or published(0.0),
            classes=published(len(verdict.sizes)),
            smallest=published(int(verdict.sizes.min(initial=rows))) if len(verdict.sizes) else NONE,
            suppressed=published(verdict.suppressed),
            alone=_share(alone, shown, floor),
            sizes=tuple(published(class_size_bins(verdict.sizes))),
            columns={
                name: ColumnTrial(gcp=published(by_column[name]["gcp"]), examples=examples(name))
                for name in policy.quasi
                if name in by_column
            },
        )


@dataclass(frozen=True)
class _Examples:
    """Values that many share, and what they would be published as."""

    candidate: Draft
    frame: pl.DataFrame
    floor: int

    def __call__(self, name: str) -> tuple[tuple[str, str], ...]:
        prepared = self.candidate.prepared
        if len(prepared.keep) != self.frame.height or self.candidate.cells[name].low is not None:
            return ()  # where in a range people lie is told nowhere
        if name in self.candidate.policy.suppress:
            return ()  # nor what stars hide
        shown = np.flatnonzero(prepared.keep)[~prepared.suppress]
        labels = self.candidate.partition.labels[: prepared.taking_part]
        whose = (
            np.arange(len(labels)) if prepared.subjects is None else prepared.subjects[: prepared.taking_part]
        )
        known = pl.DataFrame(
            {"value": self.frame[name][shown].cast(pl.String), "label": labels, "who": whose}
        ).filter(pl.col("label") >= 0, pl.col("value").is_not_null())
        crowds = pl.col("who").n_unique() // self.floor  # the order of exact counts would compare people
        common = known.group_by("value").agg(crowds).filter(pl.col("who") > 0)
        common = common.sort("who", "value", descending=[True, False])
        return tuple(self._pair(name, known, value) for value in common["value"].head(_EXAMPLES))

    def _pair(self, name: str, known: pl.DataFrame, value: str) -> tuple[str, str]:
        """Give a value and the cell that most rows with it show."""
        times = known.filter(pl.col("value") == value)["label"].value_counts()
        cells = render(self.candidate.cells[name], times["label"].to_numpy(), self.candidate.form, name)
        shown = [" \N{EN DASH} ".join(map(str, parts)) for parts in zip(*cells, strict=True)]
        by_cell = pl.DataFrame({"cell": shown, "rows": times["count"]}).group_by("cell").sum()
        return value, by_cell.sort("rows", "cell", descending=[True, False])["cell"][0]


def _alone_in(candidate: Draft) -> tuple[int, int]:
    """Count the rows to be shown that stand alone before, and all of them; nothing hidden has a say."""
    crowd = crowd_of(candidate)
    places = pl.DataFrame({str(place): axis.positions for place, axis in enumerate(crowd.axes)})
    subjects = candidate.prepared.subjects
    people = None if subjects is None else pl.Series(subjects[crowd.rows])
    return _alone(places, places.columns, people), places.height


def _alone(frame: pl.DataFrame, names: list[str], people: pl.Series | None) -> int:
    """Count the rows that no other person's look like in some columns."""
    if not names:
        return 0
    table = frame.select(names)
    if people is None:
        return int(table.group_by(names).len().filter(pl.col("len") == 1).height)
    who = "_" * (max(map(len, names)) + 1)
    each = table.with_columns(people.alias(who)).group_by(names)
    counted = each.agg(pl.col(who).n_unique().alias(f"{who}n"), pl.len().alias(f"{who}r"))
    return int(counted.filter(pl.col(f"{who}n") == 1)[f"{who}r"].sum())


def _share(rows: int, of: int, floor: int) -> Any:
    """Round a count of rows to multiples of ``floor``, as a share; None for fewer than may be counted."""
    if not rows or not of:
        return of_crowd(0.0)
    return of_crowd(round(floor * (rows // floor) / of, 4)) if rows >= floor else None
