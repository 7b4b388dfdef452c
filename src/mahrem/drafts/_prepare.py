"""From a source and a policy to arrays: roles, kinds, missing values, codes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mahrem.contents import sketch_table
from mahrem.drafts._coarse_axes import coarse_axis
from mahrem.drafts._rewritten import RewrittenSource, coded_texts, rewritten
from mahrem.errors import InvalidInput, InvalidParameter, MahremError, spelled
from mahrem.models import COUNTED, Counts, Promise, counts_of, judge, refuse_unreachable
from mahrem.release import notes_of_several_rows, refuse_giving_away
from mahrem.release.decisions import (
    Policy,
    column_of,
    hierarchies_of,
    reading_of,
    refuse_beyond_limit,
    roles_of,
)
from mahrem.table import (
    EVERY,
    Axis,
    Column,
    Kind,
    Missing,
    Numbers,
    Role,
    Source,
    Values,
    encode_quasi,
    encode_sensitive,
    open_source,
    read_kind,
)
from mahrem.table.cells import all_whole, as_text
from mahrem.table.columns import apply_missing
from mahrem.table.reading import texts_of
from mahrem.threads import in_parallel, meanwhile
from mahrem.types import Codes, Integers, Mask, Points
from mahrem.words import Note, warn_of

if TYPE_CHECKING:
    from mahrem.release.decisions import Automatic
    from mahrem.verify import Coarseness


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A table ready to be partitioned.

    Of the rows of the source some are dropped; of the rest some are suppressed (they will show nothing);
    the others take part, first in the arrays, then the people of the population who are not in the table.
    """

    source: Source
    promises: tuple[Promise, ...]
    columns: Mapping[str, Column]  # quasi-identifiers and sensitive columns
    leave_out: tuple[str, ...]  # columns that are not published
    keep: Mask = field(repr=False)  # (rows of the source,) not dropped
    suppress: Mask = field(repr=False)  # (published rows,) show nothing
    axes: tuple[Axis, ...] = field(repr=False)  # (taking part + others of the population,)
    values: Mapping[str, Values] = field(repr=False)  # the same; others of the population carry code -1
    subjects: Codes | None = field(repr=False)  # the same
    population: pl.DataFrame | None = field(repr=False)  # quasi-identifiers of everyone
    automatic: Automatic | None = field(repr=False, default=None)  # groupings that were learnt

    @property
    def rows(self) -> int:
        """Rows that will be published, the suppressed ones included."""
        return len(self.suppress)

    @property
    def rewritten(self) -> Mapping[str, Coarseness]:
        """Published columns that were made coarser row by row, and how coarse they are."""
        return self.source.claims if isinstance(self.source, RewrittenSource) else {}

    @property
    def taking_part(self) -> int:
        """Published rows that show something."""
        return int(self.rows - self.suppress.sum())

    @cached_property
    def members(self) -> Mask | None:
        """Which rows of the arrays will be published; None when there is no population beside them."""
        stacked = len(self.axes[0].positions)
        return None if self.population is None else np.arange(stacked) < self.taking_part

    def points(self) -> Points:
        """All quasi-identifiers, scaled so that widths compare."""
        points = np.empty((len(self.axes[0].positions), len(self.axes)))

        def place(column: int) -> None:
            points[:, column] = self.axes[column].scaled()

        in_parallel(place, range(len(self.axes)), rows=len(points))
        return points

    def absent(self) -> Mask:
        """Which values are missing."""
        return np.column_stack([np.isnan(axis.positions) for axis in self.axes])

    def membership(self) -> Values:
        """Who is in the release (1) and who is only in the population (0), as a column."""
        inside = np.ones(len(self.axes[0].positions), np.bool_) if self.members is None else self.members
        return Values("membership", inside.astype(np.int32), 2)


def prepare(given: object, policy: Policy, *, to_publish: bool = True) -> Prepared:
    """Read what the policy names and turn it into arrays; what is to be published passes the gate first."""
    if to_publish:
        with prepared_at_gate(given, policy) as prepared:
            return prepared
    frame, taken, _ = _read(given, policy)
    return _as_arrays(frame, taken)


@contextmanager
def prepared_at_gate(given: object, policy: Policy) -> Iterator[Prepared]:
    """Prepare a table that is to be published; it passes the gate while others work on it.

    Guarantees:
        - The block ends without an error only if the table passed.
        - What the gate refuses is said before all else that went wrong in the block.
    """
    frame, taken, plain = _read(given, policy)
    with meanwhile(lambda: _pass_gate(taken, plain), rows=frame.height) as passed:
        try:
            prepared = _as_arrays(frame, taken)
            del frame
            yield prepared
        finally:
            notes = passed()
    for note in notes:
        warn_of(note)


def _read(given: object, policy: Policy) -> tuple[pl.DataFrame, _Taken, list[str]]:
    """Read the columns that promises speak of; gives which others are published as they are, too."""
    # A lazy frame warns when it is asked for its columns, which is how a source is recognised.
    if isinstance(given, pl.LazyFrame) or not isinstance(given, Source):
        given = open_source(given, reading_of(policy))
    if policy.master is not None:
        raise InvalidParameter("master is for a cluster; say engine='spark', or leave it out")
    leave_out = roles_of(given.columns, policy)
    _refuse_formats_of_no_text(given, policy)
    source, policy = rewritten(given, policy)
    quasi, sensitive = list(policy.quasi), list(policy.sensitive)
    frame, coded = _taken_coded(source, [*quasi, *sensitive], policy)
    others = [name for name in source.columns if name not in {*quasi, *sensitive, *leave_out}]
    looks_beyond = policy.missing is Missing.DROP_ANY and bool(others)
    outcome = apply_missing(frame, policy.missing, other=source.take(others) if looks_beyond else None)
    suppress = outcome.suppress[outcome.keep]
    refuse_beyond_limit(float(suppress.mean()) if len(suppress) else 0.0, policy)
    taken = _Taken(source, policy, leave_out, outcome.keep, suppress, coded)
    return frame, taken, [name for name in others if name not in policy.pseudonym]


@dataclass(frozen=True)
class _Taken:
    """A source of which is known what will be published."""

    source: Source
    policy: Policy  # as it speaks of this source
    leave_out: tuple[str, ...]
    keep: Mask  # (rows of the source,)
    suppress: Mask  # (rows that are kept,)
    coded: frozenset[str] = frozenset()  # columns of text that come as categories

    @property
    def taking_part(self) -> Mask:
        """``(rows of the source,)`` that are kept and show something."""
        part = self.keep.copy()
        part[self.keep] = ~self.suppress
        return part


def _taken_coded(source: Source, names: Sequence[str], policy: Policy) -> tuple[pl.DataFrame, frozenset[str]]:
    """Read columns, those of text as categories where they came so; gives which these are, too."""
    coded = coded_texts(source, names) if policy.population is None else {}
    read = source.take([name for name in names if name not in coded])
    columns = [coded[name] if name in coded else read[name] for name in names]
    return pl.DataFrame(columns), frozenset(coded)


def _pass_gate(taken: _Taken, plain: Sequence[str]) -> tuple[Note, ...]:
    """Refuse what gives people away, and give what to warn of; ``plain`` columns stay as they are."""
    source, policy = taken.source, taken.policy
    named = [*policy.quasi, *policy.sensitive]
    if EVERY not in policy.accept:
        frame, coded = _taken_coded(source, [*named, *plain], policy)
        kept = frame if taken.keep.all() else frame.filter(pl.Series(taken.keep))
        sketch = sketch_table(kept, texts=coded)
        refuse_giving_away(sketch, policy, named=(*named, *policy.insensitive))
    left_out = [name for name in policy.identifier if name in taken.leave_out]
    if not left_out or policy.subject is not None:
        return ()
    return notes_of_several_rows(source.take([*left_out, *named]), policy)


def _as_arrays(frame: pl.DataFrame, taken: _Taken) -> Prepared:
    """Turn the columns that promises speak of into arrays."""
    source, policy, taking_part = taken.source, taken.policy, taken.taking_part
    quasi = list(policy.quasi)
    part = frame if taking_part.all() else frame.filter(pl.Series(taking_part))
    if part.height == 0:
        raise InvalidInput(f"source={source.label!r} has no rows to publish")

    if policy.population is not None and policy.delta_presence is None and not policy.counted:
        using = ", ".join(("delta_presence", *COUNTED))
        raise InvalidParameter(f"population is only used by {using}; say one of them too")
    if policy.trajectory_k is not None and not policy.pseudonym:
        raise InvalidParameter(
            f"trajectory_k={policy.trajectory_k} speaks of rows that are tied together; name what ties them: "
            f"{spelled('pseudonym', {'COL': 'KEYFILE'})}"
        )
    population = beside = None
    if policy.population is not None:
        from mahrem.release.decisions import others_of, population_of

        population = population_of(policy, part.select(quasi))
        beside = others_of(part.select(quasi), population)
    coded = taken.coded if part.height == frame.height else frozenset()
    if len(coded) < len(taken.coded):  # not every category is left
        part = part.with_columns(pl.col(sorted(taken.coded)).cast(pl.String))
    columns, axes, values = _encoded(part, beside, policy, coded)
    axes = tuple(coarse_axis(coded_ends(axis, policy), policy) for axis in axes)
    prepared = Prepared(
        source=source,
        promises=policy.promises(),
        columns=columns,
        leave_out=taken.leave_out,
        keep=taken.keep,
        suppress=taken.suppress,
        axes=axes,
        values=values,
        subjects=_subjects(source, policy, taking_part, 0 if beside is None else beside.height),
        population=population,
    )
    if policy.automatic is not None:
        from mahrem.release.decisions import learn_groups

        prepared = replace(
            prepared, automatic=learn_groups(source, taking_part, axes, columns, policy.automatic, policy)
        )
    _refuse_infeasible(prepared)
    return prepared


def promise_anew(prepared: Prepared, policy: Policy) -> Prepared:
    """Give a prepared table other promises, as if it had been prepared under a policy that makes them.

    Args:
        prepared: A table prepared under a policy that differs in promises and in how classes are made alone.
        policy: The policy that counts now.
    """
    refuse_beyond_limit(float(prepared.suppress.mean()) if prepared.rows else 0.0, policy)
    anew = replace(prepared, promises=policy.promises())
    _refuse_infeasible(anew)
    return anew


def _refuse_formats_of_no_text(source: Source, policy: Policy) -> None:
    """Refuse a format of dates where values did not come as text: it would do nothing."""
    named = [name for name in policy.date_format if name != EVERY]
    if not named or source.textual:
        return
    for name, kind in source.take(named).schema.items():
        if kind != pl.String:
            raise InvalidParameter(f"date_format.{name} is about text, and column={name!r} came as {kind}")


def _encoded(
    part: pl.DataFrame, beside: pl.DataFrame | None, policy: Policy, coded: frozenset[str]
) -> tuple[dict[str, Column], tuple[Axis, ...], dict[str, Values]]:
    """Turn columns into numbers, several at a time; after the table's rows come the others'.

    Of ``coded`` columns each text is looked at once.
    """
    hierarchies = hierarchies_of(policy)

    def encode_one(series: pl.Series) -> tuple[Column, Axis | Values]:
        if series.name in policy.quasi:
            stacked = series if beside is None else pl.concat([series, beside[series.name]])
            column, read = column_of(policy, stacked, Role.QUASI, hierarchies)
            return column, encode_quasi(read, column, decimal=policy.decimal)
        column, series = column_of(policy, series, Role.SENSITIVE, hierarchies)
        values = encode_sensitive(series, column, decimal=policy.decimal)
        return column, _padded(values, 0 if beside is None else beside.height)

    def encode(name: str) -> tuple[Column, Axis | Values]:
        if name not in coded:
            return encode_one(part[name])
        texts, numbers = each_text(part[name])
        try:
            column, once = encode_one(texts)
        except MahremError:  # it counts rows, which each text alone does not tell
            return encode_one(part[name].cast(pl.String))
        if isinstance(once, Axis):
            return column, replace(once, positions=once.positions[numbers])
        return column, replace(once, codes=once.codes[numbers])

    encoded = in_parallel(encode, part.columns, rows=part.height)
    columns = {column.name: column for column, _ in encoded}
    axes = tuple(axis for _, axis in encoded if isinstance(axis, Axis))
    return columns, axes, {values.name: values for _, values in encoded if isinstance(values, Values)}


def each_text(coded: pl.Series) -> tuple[pl.Series, Integers]:
    """Give the different texts of a column of categories, and which of them each row has.

    A missing one is there where a row has none.
    """
    texts, numbers = texts_of(coded), coded.to_physical()
    if not numbers.null_count():
        return texts, numbers.to_numpy()
    return texts.extend_constant(None, 1), numbers.fill_null(len(texts)).to_numpy()


def coded_ends(axis: Axis, policy: Policy) -> Axis:
    """Put values beyond a declared end on that end: no cut can tell them apart then."""
    low, high = policy.bottom.get(axis.name), policy.top.get(axis.name)
    if low is None and high is None:
        return axis
    if not isinstance(axis.domain, Numbers):
        setting = "top" if high is not None else "bottom"
        raise InvalidParameter(f"{setting}.{axis.name} is for columns of numbers without a hierarchy")
    ends = -np.inf if low is None else low, np.inf if high is None else high
    positions = np.clip(axis.positions, *ends)
    known = positions[~np.isnan(positions)]
    # The domain ends there too: a grid as wide as an outlier would tell of it.
    first, last = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    return replace(axis, positions=positions, domain=Numbers(first, last, all_whole(known)))


def plain_text(source: Source, names: Sequence[str], policy: Policy) -> pl.DataFrame:
    """Read columns as text that compares with cells: dates as ISO days, numbers with a point."""
    read = []
    for series in source.take(list(names)):
        values = series
        if series.dtype == pl.String and series.name not in policy.hierarchy:
            kind, typed = read_kind(series, decimal=policy.decimal)
            declared = policy.kind.get(series.name, kind)
            if declared is kind and (kind is Kind.DATE or (kind is Kind.NUMERIC and policy.decimal == ",")):
                values = typed.alias(series.name)
        read.append(as_text(values))
    return pl.DataFrame(read)


def subjects_of(source: Source, policy: Policy) -> Codes | None:
    """Number the people behind the rows of a source."""
    if policy.subject is None:
        return None
    from mahrem.table.columns import as_people

    people = as_people(source.take([policy.subject]).to_series())
    # Rows without a person count as one person: claiming more would promise too much.
    codes = (people.rank("dense").cast(pl.Int32) - 1).fill_null(people.n_unique())
    return codes.to_numpy().astype(np.int32)


def _subjects(source: Source, policy: Policy, part: Mask, extra: int) -> Codes | None:
    people = subjects_of(source, policy)
    return None if people is None else np.concatenate([people[part], np.full(extra, -1, np.int32)])


def _padded(values: Values, extra: int) -> Values:
    if extra == 0:
        return values
    codes = np.concatenate([values.codes, np.full(extra, -1, np.int32)])
    return replace(values, codes=codes)


def _refuse_infeasible(prepared: Prepared) -> None:
    """The whole table as one class is the best that can be done under a monotone model."""
    for promise in prepared.promises:
        outcome = judge(promise, *_as_one_class(prepared, promise))
        refuse_unreachable(promise, outcome, of_people=prepared.subjects is not None)


def _as_one_class(prepared: Prepared, promise: Promise) -> Iterator[Counts]:
    """Count what a promise speaks of as if the whole table were one class, in every reading."""
    if promise.model.of_members:
        readings: tuple[Values, ...] = (prepared.membership(),)
    elif promise.column is not None:
        readings = prepared.values[promise.column].readings
    else:
        nobody = np.empty(0, np.int64)
        yield Counts(np.array([people_taking_part(prepared)]), nobody, nobody, nobody, np.empty(0))
        return
    for values in readings:
        labels = np.zeros(len(values.codes), np.int64)
        if prepared.subjects is not None and promise.column is not None:
            from mahrem.models import people_counts
            from mahrem.models.people import PeopleHoldings, holdings_of

            held = holdings_of(labels, prepared.subjects, values.codes, 1, values.size)
            counts = people_counts(
                PeopleHoldings(held, held), np.array([people_taking_part(prepared)]), values.ancestors
            )
        else:
            counts = counts_of(labels, values.codes, 1, values.size, ancestors=values.ancestors)
        yield replace(counts, missing=values.missing)


def people_taking_part(prepared: Prepared) -> int:
    """Count everybody who takes part; rows, where nobody says who is who."""
    if prepared.subjects is None:
        return prepared.taking_part
    known = prepared.subjects[prepared.subjects >= 0]
    return int(np.count_nonzero(np.bincount(known)))
