"""A privacy model asked of a column, and what came of it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mahrem.errors import Infeasible
from mahrem.models._counts import Counts, PrivacyModel, judge_either_way


@dataclass(frozen=True)
class Promise:
    """A privacy model and the column it is about; None where it is about rows alone."""

    model: PrivacyModel
    column: str | None = None


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a table makes of one promise; holds numbers and names only, never a value of the data.

    ``reached`` is the level of the worst class: infinity when no bound would admit it, None when there is no
    class at all.
    """

    model: str
    column: str | None
    wanted: float
    reached: float | None
    holds: bool
    violating_classes: int
    violating_rows: int

    def as_dict(self) -> dict[str, object]:
        """Give what goes into JSON: whole numbers without a point, None for what JSON has no number for."""
        return {
            "model": self.model,
            "wanted": _plain(self.wanted),
            "reached": _plain(self.reached),
            "holds": self.holds,
            "column": self.column,
            "violating_classes": self.violating_classes,
            "violating_rows": self.violating_rows,
        }


def judge(promise: Promise, *readings: Counts) -> Outcome:
    """Judge a promise on all classes; with no class there is nothing to break it.

    Args:
        promise: What is promised.
        *readings: The counts of the same classes, one for each way to read the column: a class keeps the
            promise in all of them, and goes as far as in the worst.

    Example:
        >>> import numpy as np
        >>> from mahrem.models import DistinctDiversity, counts_of
        >>> counts = counts_of(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), classes=2, size=2)
        >>> outcome = judge(Promise(DistinctDiversity(2), "disease"), counts)
        >>> outcome.holds, outcome.reached, outcome.violating_rows
        (False, 1.0, 2)
    """
    model, counts = promise.model, readings[0]
    levels, held = judge_either_way(model, counts)
    worse = np.minimum if model.rising else np.maximum
    for other in readings[1:]:
        others, kept = judge_either_way(model, other)
        levels, held = worse(levels, others), held & kept
    broken = ~held
    worst = None if not len(levels) else float(levels.min() if model.rising else levels.max())
    return Outcome(
        model=model.name,
        column=promise.column,
        wanted=float(model.wanted),
        reached=worst,
        holds=not broken.any(),
        violating_classes=int(np.count_nonzero(broken)),
        violating_rows=int(counts.sizes[broken].sum()),
    )


def refuse_unreachable(promise: Promise, outcome: Outcome, *, of_people: bool = False) -> None:
    """Refuse what not even the whole table as one class keeps: under a monotone model that is its best.

    Args:
        promise: What is promised.
        outcome: What the whole table as one class makes of it.
        of_people: Whether people are counted.

    Raises:
        Infeasible: If it does not hold and nothing else can.
    """
    if outcome.holds or not promise.model.monotone:
        return
    of = f" of {promise.column!r}" if promise.column else ""
    reached = "nothing" if outcome.reached is None else f"{outcome.reached:g}"
    message = (
        f"{promise.model.name}{of}={outcome.wanted:g} cannot be reached: "
        f"the whole table as one class reaches {reached}"
    )
    if of_people and promise.column is not None:
        message += "; whoever has several values counts under the worst of them: ask for less, or "
        message += "publish one row for each person"
    raise Infeasible(message, reached=outcome.reached)


def _plain(number: float | None) -> float | int | None:
    """Make a number fit for JSON."""
    if number is None or not math.isfinite(number):
        return None
    return int(number) if float(number).is_integer() else float(number)
