"""What published classes earn: what their cells lose is read from the table and from hierarchies."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mahrem.errors import InvalidParameter
from mahrem.models import Outcome, Promise
from mahrem.models.populations import Profitability
from mahrem.table import Hierarchy
from mahrem.types import Floats, Integers, Sizes

if TYPE_CHECKING:
    from mahrem.verify._presence import Presence
    from mahrem.verify._verify import Claims


def judge_profit(
    promise: Promise, shown: pl.DataFrame, sizes: Sizes, claims: Claims, present: Presence | None
) -> Outcome:
    """Judge profitability on classes; rows that show ``*`` everywhere are not published, and earn nothing.

    Args:
        promise: What is promised.
        shown: ``(c, quasi)`` what each class shows.
        sizes: ``(c,)`` its rows.
        claims: Says the quasi-identifiers and their hierarchies.
        present: How many people of a population each class fits, where these are counted.

    Raises:
        InvalidParameter: If a hierarchy is lacking: nobody knows then what a cell loses.
    """
    model = promise.model
    if not isinstance(model, Profitability):
        raise InvalidParameter(f"model={model.name!r} is not about what classes earn")
    lacking = [name for name in claims.quasi if name not in claims.trees]
    if lacking:
        raise InvalidParameter(
            f"hierarchy of {lacking[0]!r} must be given to check {model.name}: it says what a cell loses"
        )
    texts = shown.select(pl.col(name).cast(pl.String) for name in claims.quasi)
    starred = texts.select(pl.all_horizontal((pl.all() == "*").fill_null(value=False))).to_series().to_numpy()
    losses = information_losses(texts.filter(pl.Series(~starred)), claims.trees)
    rows = sizes[~starred]
    people = rows if present is None else present.people[:-1]  # the last are those who fit no class
    earned = model.payouts(people, losses)
    poor = ~(earned > model.wanted)
    return Outcome(
        model=model.name,
        column=promise.column,
        wanted=model.wanted,
        reached=float(earned.min()) if len(earned) else None,
        holds=not poor.any(),
        violating_classes=int(np.count_nonzero(poor)),
        violating_rows=int(rows[poor].sum()),
    )


def information_losses(shown: pl.DataFrame, trees: Mapping[str, Hierarchy]) -> Floats:
    """Give the mean of the logarithms of what cells cover: 0 for values as they are, 1 for nothing."""
    most = sum(math.log(trees[name].leaves) for name in shown.columns)
    if not most:
        return np.zeros(shown.height)
    covered = np.sum([np.log(_covered(shown[name], trees[name])) for name in shown.columns], axis=0)
    losses: Floats = np.clip(covered / most, 0.0, 1.0)
    return losses


def _covered(cells: pl.Series, tree: Hierarchy) -> Integers:
    """Count the leaves below what each cell shows; the most, where a label stands at several levels."""
    leaves: Integers = np.ones(len(cells), np.int64)  # a missing value is one of its own
    for level in range(tree.levels):
        labels, counts = tree.cells(level), tree.leaf_counts[level]
        under = cells.replace_strict(labels, pl.Series(counts), default=1, return_dtype=pl.Int64)
        leaves = np.maximum(leaves, under.to_numpy())
    leaves[(cells == "*").fill_null(value=False).to_numpy()] = tree.leaves
    return leaves
