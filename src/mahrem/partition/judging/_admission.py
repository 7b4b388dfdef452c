"""Privacy models as the judge of candidate classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mahrem.arrays import cutting
from mahrem.models import Counts, KAnonymity, PrivacyModel, holds_either_way, people_counts
from mahrem.partition._partition import Admits
from mahrem.table import Values
from mahrem.threads import in_threads
from mahrem.types import Codes, Floats, Integers, Mask, Offsets, Rows, Sizes

if TYPE_CHECKING:
    from mahrem.models.people import Holdings
    from mahrem.partition.judging._class_promises import Needs

_NONE = np.zeros(0, np.int64)
_BLOCK = 131_072  # rows judged at a time: what a model computes stays in the cache


@dataclass(frozen=True)
class Admission:
    """All promises at once: a candidate class may stand when every one of them holds for it.

    Guarantees:
        - What is admitted keeps every promise.
        - No class with fewer than ``minimum`` rows is admitted.
        - With ``subjects``, sizes and values count people: a person with several rows counts once, under the
          worst of their values, a row without a person not at all. With ``members``, sizes count only the
          rows that will be published.

    Example:
        >>> import numpy as np
        >>> from mahrem.models import DistinctDiversity, KAnonymity
        >>> from mahrem.table import Values
        >>> disease = Values("disease", np.array([0, 1, 0, 0], np.int32), 2)
        >>> admits = Admission(((KAnonymity(2), None), (DistinctDiversity(2), disease)), rows=4)
        >>> admits(np.arange(4, dtype=np.int32), np.array([0, 2, 4]))
        array([ True, False])
    """

    promises: tuple[tuple[PrivacyModel, Values | None], ...]
    rows: int  # of the whole table
    subjects: Codes | None = field(
        default=None, repr=False
    )  # (n,) the person a row is about; -1 = nobody known
    members: Mask | None = field(default=None, repr=False)  # (n,) rows that will be published
    compared: Mask | None = field(default=None, repr=False)  # (n,) rows that make up the table; None = all
    of_table: tuple[PrivacyModel, ...] = ()  # what all published classes keep together, judged by searches
    of_cells: tuple[PrivacyModel, ...] = ()  # what classes keep by what their cells lose, judged likewise
    keeps_sensitive: bool = False  # suppressed rows show their sensitive values, and are a class by that

    @property
    def minimum(self) -> int:
        """The most rows that any of the promises needs."""
        return max((model.least_rows for model, _ in self.promises), default=1)

    @property
    def plain(self) -> bool:
        """True when k-anonymity in rows is all that is promised."""
        counted = self.subjects is None and self.members is None and not self.keeps_sensitive
        return counted and all(isinstance(model, KAnonymity) for model, _ in self.promises)

    @property
    def monotone(self) -> bool:
        """True when a union of admitted classes is admitted."""
        return not self._gathers and all(model.monotone for model, _ in self.promises)

    @property
    def growing(self) -> bool:
        """True when an admitted class stays so whatever joins it: more than :attr:`monotone` says."""
        return not self._gathers and all(model.growing for model, _ in self.promises)

    @property
    def _gathers(self) -> bool:
        """True when a larger class may gather more values of one person, which counts against it."""
        return bool(self._held)

    @property
    def relative(self) -> bool:
        """True when a promise may compare a class with the whole table: then it matters who is in it.

        Where suppressed rows keep their sensitive values, they stay in it.
        """
        compares = any(getattr(model, "compares", True) for model, _ in self.promises)
        return compares and not self.keeps_sensitive

    @property
    def of_absent(self) -> Admission | None:
        """The judge of people who fit no published class, where a promise speaks of them."""
        asked = tuple((model.unshown, values) for model, values in self.promises if model.of_members)
        return replace(self, promises=asked) if asked else None

    @property
    def of_suppressed(self) -> Admission | None:
        """The judge of all suppressed rows as a class, with people around them; None: they show nothing."""
        if not self.keeps_sensitive:
            return self.of_absent
        asked = tuple((model.unshown, values) for model, values in self.promises)
        return replace(self, promises=asked)

    def among(self, shown: Mask) -> Admits:
        """Give the judge for a table of which only some rows are published.

        Shares of the whole table are then those of the rows shown. Whoever reads the release may know the
        values that no longer occur (a declared order) or not: distances must hold either way.

        Args:
            shown: ``(n,)`` the rows that will be published.
        """
        occurring = {key: _occurring(values, shown) for key, values in self._columns.items()}
        if all(met.all() for met in occurring.values()):
            return replace(self, compared=shown)
        last = {key: np.append(np.ones(len(met) - 1, np.bool_), met[-1:]) for key, met in occurring.items()}
        return _Together(tuple(self._without(met, shown) for met in ({}, last, occurring)))

    def _without(self, kept: Mapping[int, Mask], shown: Mask) -> Admission:
        """Take values out of the columns, as if nobody knew of them."""
        less = {key: _only(self._columns[key], met) for key, met in kept.items()}
        promises = tuple(
            (model, values if values is None else less.get(id(values), values))
            for model, values in self.promises
        )
        return replace(self, promises=promises, compared=shown)

    def __call__(self, rows: Rows, offsets: Offsets) -> Mask:
        """Judge candidates; candidate ``i`` holds ``rows[offsets[i]:offsets[i + 1]]``."""
        admitted: Mask = np.empty(len(offsets) - 1, np.bool_)
        _ = (
            self._codes,
            self._tables,
            self._people,
            self._held,
            self._held_by_all,
        )  # made here once, not in several threads

        def run(first: int, last: int) -> None:
            begin, end = offsets[first], offsets[last]
            admitted[first:last] = self._judge(rows[begin:end], offsets[first : last + 1] - begin)

        in_threads(run, np.diff(offsets), parts=1 + len(rows) // self._block)
        return admitted

    def _judge(self, rows: Rows, offsets: Offsets) -> Mask:
        return self._decide(self._tally(rows, offsets), len(offsets) - 1)

    def _tally(self, rows: Rows, offsets: Offsets) -> dict[int, Counts]:
        """Count the column of every promise in candidates; several promises about one count it once."""
        sizes = self._sizes(rows, offsets)
        columns = {id(values): values for _, values in self.promises}
        return {key: self._counts(values, sizes, rows, offsets) for key, values in columns.items()}

    def _decide(self, tally: Mapping[int, Counts], candidates: int) -> Mask:
        admitted: Mask = np.ones(candidates, np.bool_)
        for model, values in self.promises:
            admitted &= holds_either_way(model, tally[id(values)])
        return admitted

    def needs(self, rows: Rows | None = None) -> Needs:
        """Give what a class needs as algebra, for all rows or for some.

        It is uncertain where a model has no algebra, where only some rows are published, and where a person
        has several values, of which the worst counts: classes must then be asked about.
        """
        from mahrem.partition.judging._class_promises import ColumnNeeds, pack_needs

        chosen = slice(None) if rows is None else rows
        least, certain, columns = self.minimum, self.members is None and not self.keeps_sensitive, []
        for key, values in self._columns.items():
            models = [model for model, about in self.promises if about is not None and id(about) == key]
            table, single = self._shares_of(values)
            certain &= single
            for codes, shown, tree in _readings(values, table):
                model_needs = [model.needs(shown, tree) for model in models]
                certain &= all(one is not None for one in model_needs)
                needs = tuple(need for one in model_needs for need in one or ())
                least = max([least, *(int(need.amount) for need in needs if need.kind == "size")])
                rest = tuple(need for need in needs if need.kind != "size")
                columns.append(ColumnNeeds(codes[chosen].astype(np.int64), shown, rest))
        people = None if self._people is None else self._people.codes[chosen].astype(np.int64)
        count = self.rows if rows is None else len(rows)
        return pack_needs(least, columns, count, people, certain=bool(certain))

    def _shares_of(self, values: Values) -> tuple[Floats, bool]:
        """Give the share of each value in the table, and whether nobody has several."""
        held = self._held_by_all.get(id(values))
        if held is None:
            return self._tables[id(values)], self._people is None
        return held.table[1] / max(float(held.table[1].sum()), 1.0), not held.several.any()

    def judges_again(self, rows: Rows, offsets: Offsets) -> Callable[[Mask], Mask]:
        """Count candidates once, to judge them in several tables: give the rows that are shown.

        The answer is that of :meth:`among`. Only if a value no longer occurs are candidates counted anew.
        """
        tally = self._tally(rows, offsets)

        def judge(shown: Mask) -> Mask:
            among = self.among(shown)
            if not isinstance(among, Admission):
                return among(rows, offsets)
            moved = {
                key: replace(counts, table=among._tables.get(key, counts.table))  # noqa: SLF001 - one of us
                for key, counts in tally.items()
            }
            return among._decide(moved, len(offsets) - 1)  # noqa: SLF001

        return judge

    def _counts(self, values: Values | None, sizes: Sizes, rows: Rows, offsets: Offsets) -> Counts:
        if values is None:
            return Counts(sizes=sizes, group=_NONE, value=_NONE, count=_NONE, table=np.zeros(0))
        if id(values) in self._held:
            from mahrem.models.people import PeopleHoldings

            shown = PeopleHoldings(self._holdings(values, rows, offsets), self._held_by_all[id(values)])
            return replace(people_counts(shown, sizes, values.ancestors), missing=values.missing)
        group, value, count = cutting.triplets(self._codes[id(values)], rows, offsets, values.size, threads=1)
        return Counts(
            sizes=sizes,
            group=group,
            value=value,
            count=count,
            table=self._tables[id(values)],
            ancestors=values.ancestors,
            missing=values.missing,
        )

    def _holdings(self, values: Values, rows: Rows, offsets: Offsets) -> Holdings:
        """Say who shows what in candidates: pairs of person and value are numbered in their order."""
        from mahrem.models.people import Holdings

        pairs = self._held[id(values)]
        group, pair, _ = cutting.triplets(pairs.codes, rows, offsets, pairs.size, threads=1)
        return Holdings(
            group.astype(np.int64), pairs.person[pair], pairs.value[pair], len(offsets) - 1, values.size
        )

    def _sizes(self, rows: Rows, offsets: Offsets) -> Sizes:
        if self._people is not None:
            group, _, _ = cutting.triplets(self._people.codes, rows, offsets, self._people.size, threads=1)
            return np.bincount(group, minlength=len(offsets) - 1)
        if self.members is not None:
            running = np.concatenate([[0], np.cumsum(self.members[rows])])
            return np.asarray(running[offsets[1:]] - running[offsets[:-1]], np.int64)
        return np.diff(offsets)

    @cached_property
    def _people(self) -> Values | None:
        if self.subjects is None:
            return None
        codes = self.subjects if self.members is None else np.where(self.members, self.subjects, -1)
        return Values("subject", codes.astype(np.int32, copy=False), int(codes.max(initial=-1)) + 1)

    @cached_property
    def _block(self) -> int:
        """Rows judged at a time; not fewer than there are values, as counting clears a place for each."""
        people = 0 if self._people is None else self._people.size
        pairs = [held.size for held in self._held.values()]
        return max([_BLOCK, people, *pairs, *(values.size for values in self._columns.values())])

    @cached_property
    def _columns(self) -> dict[int, Values]:
        return {id(values): values for _, values in self.promises if values is not None}

    @cached_property
    def _codes(self) -> dict[int, NDArray[np.int8] | Codes]:
        """Codes as small as they can be: looking them up by row is half of the work."""
        small = {key: values.size <= np.iinfo(np.int8).max for key, values in self._columns.items()}
        return {
            key: values.codes.astype(np.int8) if small[key] else values.codes
            for key, values in self._columns.items()
        }

    @cached_property
    def _held(self) -> dict[int, _Pairs]:
        """Pairs of person and value, where people are counted; who is in the table at all is no value."""
        if self._people is None:
            return {}
        people = self._people.codes
        about = {id(values) for model, values in self.promises if not model.of_members}
        return {key: _pairs(values, people) for key, values in self._columns.items() if key in about}

    @cached_property
    def _held_by_all(self) -> dict[int, Holdings]:
        """What people show in the whole table, over the rows that are counted."""
        held = {}
        if self._held:
            from mahrem.models.people import Holdings
        for key, pairs in self._held.items():
            codes = pairs.codes if self.compared is None else pairs.codes[self.compared]
            shown = np.flatnonzero(np.bincount(codes[codes >= 0], minlength=pairs.size))
            nobody = np.zeros(len(shown), np.int64)
            held[key] = Holdings(nobody, pairs.person[shown], pairs.value[shown], 1, self._columns[key].size)
        return held

    @cached_property
    def _tables(self) -> dict[int, Floats]:
        """Share of each value in the whole table, over the rows that are counted."""
        return {key: _shares(values, self.compared) for key, values in self._columns.items()}


@dataclass(frozen=True)
class _Together:
    """Several judges at once: all must agree."""

    judges: tuple[Admission, ...]

    @property
    def minimum(self) -> int:
        return max(judge.minimum for judge in self.judges)

    @property
    def plain(self) -> bool:
        return False

    def __call__(self, rows: Rows, offsets: Offsets) -> Mask:
        admitted: Mask = np.logical_and.reduce([judge(rows, offsets) for judge in self.judges])
        return admitted


@dataclass(frozen=True)
class _Pairs:
    """Pairs of person and value that occur, numbered by person and then by value."""

    codes: Codes = field(repr=False)  # (n,) pair of each row; -1 = not counted
    person: Integers = field(repr=False)  # (pairs,)
    value: Integers = field(repr=False)  # (pairs,)
    size: int


def _pairs(values: Values, people: Codes) -> _Pairs:
    known = (values.codes >= 0) & (people >= 0)
    keys = people[known].astype(np.int64) * max(values.size, 1) + values.codes[known]
    pairs, numbers = np.unique(keys, return_inverse=True)
    codes = np.full(len(people), -1, np.int32)
    codes[known] = numbers
    person, value = np.divmod(pairs, max(values.size, 1))
    return _Pairs(codes, person, value, len(pairs))


def _readings(values: Values, table: Floats) -> list[tuple[Codes, Floats, Integers | None]]:
    """Give codes, shares and tree of a column; where cells show no value, also as if they were not there."""
    readings = [(values.codes, table, values.ancestors)]
    if values.missing:
        rest = table[:-1] / (float(table[:-1].sum()) or 1.0)
        tree = None if values.ancestors is None else values.ancestors[:, :-1]
        readings.append((np.where(values.codes == values.size - 1, -1, values.codes), rest, tree))
    return readings


def _occurring(values: Values, shown: Mask) -> Mask:
    """Say which values occur in the rows shown."""
    codes = values.codes[shown]
    met: Mask = np.bincount(codes[codes >= 0], minlength=values.size) > 0
    return met


def _only(values: Values, kept: Mask) -> Values:
    """Number anew the values that are kept; the others are not counted."""
    numbers = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
    codes = np.where(values.codes >= 0, numbers[values.codes], -1).astype(np.int32)
    ancestors = None if values.ancestors is None else values.ancestors[:, kept]
    missing = values.missing and bool(kept[-1])
    return replace(values, codes=codes, size=int(kept.sum()), ancestors=ancestors, missing=missing)


def _shares(values: Values, compared: Mask | None) -> Floats:
    codes = values.codes if compared is None else values.codes[compared]
    counted = np.bincount(codes[codes >= 0], minlength=values.size)
    shares: Floats = counted / max(1, int(counted.sum()))
    return shares
