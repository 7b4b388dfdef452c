"""The majority target of each value: the target most frequent with it, and how frequent that is."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.table.cells import as_text, whole_numbers
from mahrem.types import Floats, Integers


@dataclass(frozen=True)
class Target:
    """Target values as numbers: the most frequent one is 0, of equals the first in their own order."""

    codes: Integers = field(repr=False)  # (n,); -1 = missing
    totals: Integers = field(repr=False)  # (t,) rows with each


@dataclass(frozen=True)
class MajorityTargets:
    """For each value of a column the most frequent target, and its share as a fraction."""

    values: pl.Series = field(repr=False)  # (c,) text, sorted as the column sorts
    rows: Integers = field(repr=False)  # (c,)
    target: Integers = field(repr=False)  # (c,)
    score: Floats = field(repr=False)  # (c,) rows with that target, smoothed
    weight: Floats = field(repr=False)  # (c,) all rows, smoothed

    @property
    def share(self) -> Floats:
        """How frequent the target is, 0 to 1."""
        return self.score / self.weight


def number_target(target: pl.Series) -> Target:
    """Number the values of a target; one value alone cannot tell groups apart.

    Example:
        >>> number_target(pl.Series(["a", "b", None, "b"])).codes.tolist()
        [1, 0, -1, 0]
    """
    texts, codes = _number_values(target)
    if len(texts) < 2:
        raise InvalidInput(
            f"target={target.name!r} has {len(texts)} different values; two are needed to tell groups apart"
        )
    totals = np.bincount(codes[codes >= 0], minlength=len(texts))
    order = np.argsort(-totals, kind="stable")
    rank = np.empty(len(order) + 1, np.int64)
    rank[order] = np.arange(len(order))
    rank[-1] = -1  # where -1 finds it
    return Target(rank[codes], totals[order])


def majority_targets(
    values: pl.Series, target: Target, *, smoothing: float = 0.0, minimum_count: int = 1
) -> MajorityTargets:
    """Find the target most frequent with each value; rows without value or target take no part.

    Args:
        values: The column, typed or as text; blanks around text do not count.
        target: The target, row by row.
        smoothing: Rows added to each value, with the targets of the whole table.
        minimum_count: Below so many rows a value gets what the whole table has.

    Example:
        >>> target = number_target(pl.Series(["x", "y", "x", "x"]))
        >>> found = majority_targets(pl.Series(["a", "a", "b", "a"]), target)
        >>> found.values.to_list(), found.target.tolist(), found.share.round(3).tolist()
        (['a', 'b'], [0, 0], [0.667, 1.0])
    """
    if len(values) != len(target.codes):
        raise InvalidParameter(f"target must have one value for each of the {len(values)} rows")
    texts, codes = _number_values(values)
    everyone = target.totals.sum()
    chances = target.totals / everyone
    taking = (codes >= 0) & (target.codes >= 0)
    if not taking.all():
        codes, goals = codes[taking], target.codes[taking]
    else:
        goals = target.codes
    rows = np.bincount(codes, minlength=len(texts))
    if len(texts) * len(chances) <= 4 * len(codes) + 100_000:
        best, score = _dense(codes, goals, len(texts), smoothing * chances)
    else:
        best, score = _sparse(codes, goals, len(texts), smoothing * chances)
    weight = rows + smoothing
    alone = rows < max(minimum_count, 1)
    return MajorityTargets(
        texts,
        rows,
        np.where(alone, 0, best),
        np.where(alone, target.totals[0], score),
        np.where(alone, everyone, weight),
    )


def _number_values(values: pl.Series) -> tuple[pl.Series, Integers]:
    """Give the different values as text, sorted, and the place of each row's value, -1 where it has none."""
    shown = whole_numbers(values)
    if shown.dtype.is_integer() or shown.dtype.is_float():
        present = shown.drop_nulls().to_numpy()
        if shown.dtype.is_integer() and len(present) and np.ptp(present) <= 4 * len(shown):
            low = int(present.min())
            steps = (shown.cast(pl.Int64) - low).fill_null(-1).to_numpy()
            here = np.bincount(steps + 1)[1:] > 0
            place = np.concatenate([np.cumsum(here) - 1, [-1]])  # -1 finds the last one
            return pl.Series(np.flatnonzero(here) + low).cast(pl.String), place[steps]
        distinct, inverse = np.unique(present, return_inverse=True)
        codes = np.full(len(shown), -1)
        codes[shown.is_not_null().to_numpy()] = inverse
        return pl.Series(distinct).cast(pl.String), codes
    coded = as_text(shown).cast(pl.Categorical(pl.Categories.random()))
    raw = coded.unique().drop_nulls()
    texts = raw.cast(pl.String).str.strip_chars()
    labels = texts.unique().sort()
    place = np.full(int(raw.to_physical().max() or 0) + 2, -1)  # type: ignore[arg-type]
    if len(labels):
        place[raw.to_physical().to_numpy()] = texts.cast(pl.Enum(labels)).to_physical().to_numpy()
    return labels, place[coded.to_physical().fill_null(len(place) - 1).to_numpy()]


def _dense(codes: Integers, goals: Integers, values: int, added: Floats) -> tuple[Integers, Floats]:
    """Count all pairs in a matrix, values by targets; of equals the more frequent target comes first."""
    pairs = np.bincount(codes * len(added) + goals, minlength=values * len(added))
    scores = pairs.reshape(values, len(added)) + added
    best = scores.argmax(axis=1)
    return best, scores[np.arange(values), best]


def _sparse(codes: Integers, goals: Integers, values: int, added: Floats) -> tuple[Integers, Floats]:
    """Count only the pairs there are. Among the others the most frequent target scores highest."""
    pairs, counts = np.unique(codes * len(added) + goals, return_counts=True)
    value, goal = np.divmod(pairs, len(added))
    scores = counts + added[goal]
    order = np.lexsort((goal, -scores, value))
    first = order[np.concatenate([[True], value[order][1:] != value[order][:-1]])] if len(order) else order
    best = np.zeros(values, np.int64)
    score = np.full(values, added[0])
    kept = first[(scores[first] > added[0]) | (goal[first] == 0)]
    best[value[kept]] = goal[kept]
    score[value[kept]] = scores[kept]
    return best, score
