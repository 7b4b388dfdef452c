"""Check every promise on the published table itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

import numpy as np
import polars as pl

from mahrem.errors import InvalidParameter
from mahrem.models import Counts, KAnonymity, Outcome, Promise, counts_of, judge
from mahrem.table import Column, Values, encode_sensitive
from mahrem.threads import in_parallel
from mahrem.types import Codes, Floats, Integers, Labels, Mask, Sizes
from mahrem.verify._classes import (
    SUPPRESSED,
    TEXTS,
    as_categories,
    fresh_names,
    people_per_class,
    published_classes,
    suppressed_rows,
)
from mahrem.words import Note

_TRAJECTORIES = "trajectory-k-anonymity"  # what no class shows by itself

if TYPE_CHECKING:
    from mahrem.models.people import Holdings, PeopleShares
    from mahrem.table import Hierarchy
    from mahrem.verify._presence import Presence


@dataclass(frozen=True, kw_only=True)
class Claims:
    """What a published table is said to promise, and the columns that the promises speak of.

    Args:
        quasi: Columns that make a class: rows showing the same in all of them.
        promises: What to check; a promise with a column needs that column in ``sensitive``.
        sensitive: Sensitive columns: their kind, order and hierarchy decide how values are compared.
        linked: Columns that tie the rows of one person together, such as pseudonyms.
        decimal: The sign before a number's fraction in sensitive columns of text, where it is not a point.
        trees: Hierarchies of quasi-identifiers whose labels stand in cells: whom such a cell fits.
    """

    quasi: Sequence[str]
    promises: Sequence[Promise]
    sensitive: Mapping[str, Column] = field(default_factory=dict)
    linked: Sequence[str] = ()
    decimal: str | None = None
    trees: Mapping[str, Hierarchy] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What a published table promises, in figures only."""

    rows: int
    suppressed: int  # rows that show nothing at all
    sizes: Sizes = field(repr=False)  # rows in each published class
    people: Sizes = field(repr=False)  # people in each published class; rows, where nobody says who is who
    outcomes: tuple[Outcome, ...]
    trajectories: Sizes | None = field(repr=False, default=None)  # people behind each, where rows are tied
    joined: tuple[str, ...] = ()  # sensitive columns in which several spellings were taken for one value

    @property
    def least_hidden(self) -> Sizes:
        """People among whom each is hidden: those of a trajectory where rows are tied, else of a class."""
        return self.people if self.trajectories is None else self.trajectories

    def in_crowds(self, floor: int, k: int) -> Verdict:
        """Give what may be told where nobody can see whose rows are whose.

        People of a class count in multiples of ``floor``, and never below ``k``, which all classes keep. What
        else was promised is said to be reached as far as it was asked for.
        """
        people = np.maximum(self.people // floor * floor, np.minimum(self.people, k))
        fewest = float(people.min()) if len(people) else None
        outcomes = tuple(
            replace(one, reached=fewest if one.model == KAnonymity.name else one.wanted) if one.holds else one
            for one in self.outcomes
        )
        return replace(self, people=people, outcomes=outcomes)

    @property
    def holds(self) -> bool:
        """True when every promise does."""
        return all(outcome.holds for outcome in self.outcomes)

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a reader must know about how values were compared."""
        return tuple(Note("warning.spellings", {"column": name}) for name in self.joined)


@dataclass(frozen=True)
class _Coded:
    """The values of one sensitive column, their codes, and their shares in the whole table."""

    lookup: pl.DataFrame  # value and code
    code: str  # name of the column of codes
    times: Integers  # how often each occurs in the whole table
    values: Values  # of the different spellings
    first: Integers  # a spelling of each
    held: tuple[PeopleShares | None, ...] = ()  # by people in the table, by reading, where parts show not all

    @cached_property
    def _numbers(self) -> tuple[Codes, ...]:
        """The number of each code in every reading."""
        return tuple(reading.codes[self.first] for reading in self.values.readings)

    @cached_property
    def _shares(self) -> tuple[Floats, ...]:
        """The share of each value in the whole table, in every reading."""
        added = []
        for reading, numbers in zip(self.values.readings, self._numbers, strict=True):
            times = np.zeros(reading.size)
            np.add.at(times, numbers, self.times)
            added.append(times / max(times.sum(), 1))
        return tuple(added)

    def read(self, codes: Codes) -> Iterator[_Read]:
        """Give rows in every reading of the column."""
        readings = self.values.readings
        held = self.held or (None,) * len(readings)
        for reading, numbers, shares, theirs in zip(readings, self._numbers, self._shares, held, strict=True):
            read = codes if reading is self.values else np.append(numbers, -1).astype(np.int32)[codes]
            yield _Read(read, shares, reading.ancestors, reading.missing, theirs)

    def held_by(self, people: Holdings) -> _Coded:
        """Give the same with what people show in the whole table, added up once for every reading."""
        from mahrem.models.people import PeopleShares

        held = tuple(
            PeopleShares.of(
                people.under(numbers.astype(np.int64)), reading.ancestors, missing=reading.missing
            )
            for reading, numbers in zip(self.values.readings, self._numbers, strict=True)
        )
        return replace(self, held=held)


class _Read(NamedTuple):
    """The values of some rows in one reading."""

    codes: Codes
    shares: Floats  # of each value in the whole table
    ancestors: Integers | None
    missing: bool  # the last code is that of cells that show no value
    held: PeopleShares | None  # by people in the whole table, where parts do not show all of it


@dataclass(frozen=True)
class _Promised:
    """Promises by what shows whether they hold."""

    by_class: list[Promise]
    by_cells: list[Promise]  # what the cells of a class lose
    by_person: list[Promise]
    of_people: list[Promise]  # those of both for which a population is asked
    tied: list[Promise]
    of_table: list[Promise]

    @classmethod
    def of(cls, promises: Sequence[Promise]) -> _Promised:
        """Sort promises."""
        tied = [promise for promise in promises if promise.model.name == _TRAJECTORIES]
        by_person = [promise for promise in promises if promise.model.of_members]
        by_cells = [promise for promise in promises if promise.model.of_cells]
        of_table = [promise for promise in promises if promise.model.of_table]
        apart = (*tied, *by_person, *by_cells, *of_table)
        return cls(
            by_class=[promise for promise in promises if promise not in apart],
            by_cells=by_cells,
            by_person=by_person,
            of_people=[*by_person, *(promise for promise in by_cells if promise.model.of_people)],
            tied=tied,
            of_table=of_table,
        )


@dataclass(frozen=True)
class _Part:
    """All rows of some of the classes."""

    rows: pl.DataFrame
    labels: Labels
    sizes: Sizes


def verify(
    table: pl.LazyFrame,
    claims: Claims,
    *,
    subjects: Codes | None = None,
    suppressed: Mask | Literal[False] | None = None,
    population: pl.DataFrame | None = None,
    passes: int = 0,
) -> Verdict:
    """Check promises on what is published.

    A table larger than memory is worked on in ``passes``, each time only the classes whose hash falls to that
    pass. Where its quasi-identifiers are categories, their numbers tell classes apart; else of each row only
    a hash of 128 bits and the codes of its sensitive values are held. Nothing of it is written to disk. (The
    hash has a new key each time; that two different classes of a billion share one has a chance below 1e-20.)

    Args:
        table: The published table; only the columns of the claims are read.
        claims: What to check.
        subjects: Person behind each row; every promise then counts people.
        suppressed: Rows meant to be suppressed, False for none; else those that show ``*`` in every column of
            the claims.
        population: Public table for delta-presence and k-map, raw values in the quasi-identifiers; needs
            ``passes=0``.
        passes: In how many parts to work on a table that is large; 0 takes it into memory as it is.

    Guarantees:
        - The verdict does not depend on the order of rows, on ``passes``, or on how the table was made.
        - Only rows that show nothing are ever left out of the classes, and they are counted.
    """
    quasi, sensitive, promised = claims.quasi, claims.sensitive, _Promised.of(claims.promises)
    if promised.of_people and population is None:
        raise InvalidParameter(f"population=None must be given to check {promised.of_people[0].model.name}")
    _refuse_untied(promised.tied, claims.linked)
    if passes and (promised.of_people or promised.by_cells or claims.linked):
        raise InvalidParameter(f"passes={passes} must be 0 to tie rows together or to look at a population")
    names = list(dict.fromkeys([*quasi, *sensitive, *claims.linked]))
    person, meant, *codes = fresh_names(names, 2 + len(sensitive))
    asked = table.select(names)
    hidden = suppressed_rows(quasi, list(sensitive), asked.collect_schema(), meant=suppressed is not None)
    if subjects is not None:
        asked = asked.with_columns(pl.Series(person, subjects))
    if suppressed is not None:
        marks = pl.lit(suppressed if suppressed is False else pl.Series(suppressed))
        asked = asked.with_columns(marks.alias(meant))
        hidden &= pl.col(meant)
    none = pl.lit(0).alias("hidden")  # nothing has to be looked at
    counted = asked.select(pl.len(), none if suppressed is False else hidden.sum().alias("hidden"))
    rows, left_out = counted.collect(engine="streaming" if passes else "auto").row(0)
    shown = asked.filter(~hidden) if left_out else asked
    if not passes:
        shown = shown.collect().lazy()
    coded = {
        name: _code(shown, sensitive[name], code, claims.decimal, passes)
        for name, code in zip(sensitive, codes, strict=True)
    }
    whose = None if subjects is None else person
    if whose is not None and passes:
        valued = {promise.column for promise in promised.by_class if promise.column is not None}
        coded = {
            name: known.held_by(_held(shown, name, known, whose)) if name in valued else known
            for name, known in coded.items()
        }
    judged = _JudgedParts()
    for part in _parts(shown, quasi, coded, passes, whose):
        people, behind = _people(part, whose)
        judged.sizes.append(part.sizes)
        judged.people.append(people)
        judged.outcomes.append(_judged(promised.by_class, part, coded, people, behind))
        if population is not None and promised.of_people:
            from mahrem.verify._presence import presence

            judged.present.append(presence(part.rows, part.labels, part.sizes, population, claims, left_out))
        judged.earned.extend(_earned(promise, part, claims, judged.present) for promise in promised.by_cells)
        linked = promised.by_class if promised.tied else ()
        judged.tied.extend(_tied(part, name, linked, coded, behind) for name in claims.linked)
        del part, people  # before the next part is read, or two would be in memory
    hardest = judged.hardest
    return Verdict(
        rows=rows,
        suppressed=left_out,
        sizes=np.concatenate(judged.sizes),
        people=np.concatenate(judged.people),
        outcomes=tuple(judged.merged(promised)),
        trajectories=None if hardest is None else hardest.people,
        joined=tuple(name for name, known in coded.items() if known.values.joined),
    )


@dataclass(frozen=True)
class _JudgedParts:
    """What was found out part by part, and what it comes to."""

    sizes: list[Sizes] = field(default_factory=list)
    people: list[Sizes] = field(default_factory=list)
    outcomes: list[list[Outcome]] = field(default_factory=list)
    present: list[Presence] = field(default_factory=list)  # one: a population is not looked at in passes
    earned: list[Outcome] = field(default_factory=list)
    tied: list[_Tied] = field(default_factory=list)

    @property
    def hardest(self) -> _Tied | None:
        """The pseudonym whose rows the fewest people share."""
        return min(self.tied, key=lambda link: link.fewest, default=None)

    def merged(self, promised: _Promised) -> Iterator[Outcome]:
        """Judge every promise by all parts together."""
        for promise, parts in zip(promised.by_class, zip(*self.outcomes, strict=True), strict=True):
            linked = [link.outcomes[promise] for link in self.tied if promise in link.outcomes]
            yield _merge(promise, [*parts, *linked])
        if promised.by_person:
            from mahrem.verify._presence import judge_presence

            for promise in promised.by_person:
                yield from (judge_presence(promise, each) for each in self.present)
        yield from self.earned
        together = _sizes_alone(np.concatenate(self.people))
        yield from (judge(promise, together) for promise in promised.of_table)
        if self.hardest is not None:
            alone = _sizes_alone(self.hardest.people)
            yield from (judge(promise, alone) for promise in promised.tied)


def _earned(promise: Promise, part: _Part, claims: Claims, present: Sequence[Presence]) -> Outcome:
    """Judge what all classes earn, by what each shows."""
    from mahrem.verify._profit import judge_profit

    first = np.zeros(len(part.sizes), np.int64)
    first[part.labels] = np.arange(len(part.labels))
    shown = part.rows.select(claims.quasi)[first]
    return judge_profit(promise, shown, part.sizes, claims, present[-1] if promise.model.of_people else None)


def _judged(
    promises: Sequence[Promise],
    part: _Part,
    coded: Mapping[str, _Coded],
    people: Sizes,
    behind: Codes | None,
) -> list[Outcome]:
    """Judge promises, those of one column by counts that are taken once, columns side by side."""

    def judge_column(column: str | None) -> dict[Promise, Outcome]:
        counts = list(_counts(column, part, coded, people, behind))
        return {promise: judge(promise, *counts) for promise in promises if promise.column == column}

    columns = dict.fromkeys(promise.column for promise in promises)
    by_promise: dict[Promise, Outcome] = {}
    for outcomes in in_parallel(judge_column, columns, rows=part.rows.height):
        by_promise |= outcomes
    return [by_promise[promise] for promise in promises]


def _refuse_untied(tied: Sequence[Promise], linked: Sequence[str]) -> None:
    if tied and not linked:
        raise InvalidParameter("linked=() must name what ties rows together to check trajectory-k-anonymity")


def _code(shown: pl.LazyFrame, column: Column, code: str, decimal: str | None, passes: int) -> _Coded:
    name = column.name
    counted = shown.group_by(name).agg(pl.len().alias(code)).collect(engine="streaming" if passes else "auto")
    counted = counted.with_columns(pl.col(pl.Categorical).cast(pl.String))
    values = encode_sensitive(counted[name], column, decimal=decimal)
    times = np.zeros(values.size, np.int64)
    np.add.at(times, values.codes, counted[code].to_numpy())  # two spellings may be one number
    first = np.zeros(values.size, np.int64)
    first[values.codes] = np.arange(len(values.codes))
    return _Coded(pl.DataFrame({name: counted[name], code: values.codes}), code, times, values, first)


def _held(shown: pl.LazyFrame, name: str, known: _Coded, person: str) -> Holdings:
    """Say who shows which values of a column in the whole table, of which parts show only some rows."""
    from mahrem.models.people import holdings_of

    rows = shown.select(name, person).collect(engine="streaming")
    codes = _look_up(rows, {name: known}, name).to_numpy()
    return holdings_of(np.zeros(len(codes), np.int64), rows[person].to_numpy(), codes, 1, known.values.size)


def _parts(
    shown: pl.LazyFrame, quasi: Sequence[str], coded: Mapping[str, _Coded], passes: int, person: str | None
) -> Iterator[_Part]:
    """Give the table part by part; all rows of a class lie in one part."""
    kinds = shown.collect_schema()
    if passes and not all(isinstance(kinds[name], pl.Categorical) for name in quasi):
        yield from _hashed_parts(shown, quasi, coded, passes, [] if person is None else [person])
        return
    # Classes are told apart by the numbers of their texts; any hash spreads them over the parts.
    place = pl.struct(pl.col(name).to_physical() for name in quasi).hash() % max(1, passes)
    for number in range(max(1, passes)):
        rows = shown.filter(place == number).collect(engine="streaming") if passes else shown.collect()
        codes = in_parallel(partial(_look_up, rows, coded), coded, rows=rows.height)
        yield _Part(rows.with_columns(codes), *published_classes(rows, quasi))


def _hashed_parts(
    shown: pl.LazyFrame, quasi: Sequence[str], coded: Mapping[str, _Coded], passes: int, also: Sequence[str]
) -> Iterator[_Part]:
    """Give a table that may be read again part by part, and of each row only hashes and codes."""
    from mahrem.verify._hashed import class_hashes, hashed_parts

    kinds = shown.collect_schema()
    for name, known in coded.items():
        lookup = known.lookup.lazy().with_columns(pl.col(name).cast(kinds[name]))  # it has texts
        shown = shown.join(lookup, on=name, how="left", nulls_equal=True)
    # Text would keep whole chunks of the file alive; numbers do not.
    keys = fresh_names([*quasi, *coded, *also, *(known.code for known in coded.values())], 2)
    numbers = shown.select(*class_hashes(quasi, keys), *(known.code for known in coded.values()), *also)
    for part in hashed_parts(numbers, keys, passes):
        yield _Part(*part)


def _look_up(rows: pl.DataFrame, coded: Mapping[str, _Coded], name: str) -> pl.Series:
    column, known = rows.select(name), coded[name]
    if not isinstance(column.schema[name], TEXTS):
        return _joined(column, name, known.lookup, known.code)
    texts = as_categories(column[name])  # each is looked up once
    own = texts.unique()
    numbers, places = own.to_physical(), texts.to_physical()
    last = int(cast("int | None", numbers.max()) or 0) + 1  # the place of missing cells
    codes = np.zeros(last + 1, np.int32)
    lookup = known.lookup.with_columns(pl.col(name).cast(pl.String))  # it may have categories of its own
    codes[numbers.fill_null(last).to_numpy()] = _joined(
        own.cast(pl.String).to_frame(), name, lookup, known.code
    ).to_numpy()
    return pl.Series(known.code, codes[places.fill_null(last).to_numpy()])


def _joined(column: pl.DataFrame, name: str, lookup: pl.DataFrame, code: str) -> pl.Series:
    return column.join(lookup, on=name, how="left", nulls_equal=True, maintain_order="left")[code]


def _people(part: _Part, person: str | None) -> tuple[Sizes, Codes | None]:
    """Give how many people each class has, and who they are; rows, where nobody says who is who."""
    if person is None:
        return part.sizes, None
    behind = part.rows[person].to_numpy()
    return people_per_class(part.labels, behind, len(part.sizes)), behind


def _counts(
    column: str | None, part: _Part, coded: Mapping[str, _Coded], people: Sizes, behind: Codes | None
) -> Iterator[Counts]:
    """Count what classes show, in every reading of the column."""
    if column is None:
        yield _sizes_alone(people)
        return
    classes = len(part.sizes)
    for known in coded[column].read(part.rows[coded[column].code].to_numpy()):
        size = len(known.shares)
        if behind is not None:
            from mahrem.models import people_counts
            from mahrem.models.people import PeopleHoldings, holdings_of

            table = known.held or holdings_of(np.zeros_like(part.labels), behind, known.codes, 1, size)
            held = PeopleHoldings(holdings_of(part.labels, behind, known.codes, classes, size), table)
            yield replace(people_counts(held, people, known.ancestors), missing=known.missing)
            continue
        counts = counts_of(part.labels, known.codes, classes, size, ancestors=known.ancestors)
        yield replace(counts, table=known.shares, sizes=people, missing=known.missing)


def _sizes_alone(sizes: Sizes) -> Counts:
    nobody = np.empty(0, np.int64)
    return Counts(sizes, nobody, nobody, nobody, np.empty(0))


@dataclass(frozen=True)
class _Tied:
    """What a column that ties rows together makes of the promises."""

    people: Sizes  # behind each trajectory
    outcomes: Mapping[Promise, Outcome]  # of promises about values, among the people of each trajectory

    @property
    def fewest(self) -> float:
        return float(self.people.min()) if len(self.people) else np.inf


def _tied(
    part: _Part, name: str, promises: Sequence[Promise], coded: Mapping[str, _Coded], behind: Codes | None
) -> _Tied:
    """Judge trajectories as classes of people."""
    from mahrem.verify._trajectories import trajectories

    text = part.rows[name].cast(pl.String)
    shown = text.set(text == SUPPRESSED, None)
    links = (shown.rank("dense").cast(pl.Int64) - 1).fill_null(-1).to_numpy()
    labels = trajectories(part.labels, links)
    tied, whose = labels >= 0, links if behind is None else behind
    classes = int(labels.max(initial=-1)) + 1
    people = people_per_class(labels[tied], whose[tied], classes)
    tied_part = _Part(part.rows, labels, people)
    by_column = {
        column: list(_counts(column, tied_part, coded, people, np.where(tied, whose, -1)))
        for column in {promise.column for promise in promises if promise.column is not None}
    }
    return _Tied(
        people,
        {promise: judge(promise, *by_column[promise.column]) for promise in promises if promise.column},
    )


def _merge(promise: Promise, parts: Sequence[Outcome]) -> Outcome:
    """Put together what the passes found about one promise."""
    reached = [part.reached for part in parts if part.reached is not None]
    worst = (min if promise.model.rising else max)(reached, default=None)
    return replace(
        parts[0],
        reached=worst,
        holds=all(part.holds for part in parts),
        violating_classes=sum(part.violating_classes for part in parts),
        violating_rows=sum(part.violating_rows for part in parts),
    )
