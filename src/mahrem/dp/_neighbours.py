"""Neighbour tests for anybody's pipeline: record it on one table, replay it on a neighbour, compare.

On the neighbour every mechanism gives out what it gave on the table. A private pipeline then has no way to
know which table it has: it must ask for the same things, its values before noise may differ by no more than
was claimed, a ledger must have been told of every mechanism, and what it gives back or warns of must be the
same. This
finds the faults of glue code (bounds, counts or groups read off the data, a sum that was not clipped, noise
that nobody paid for) at once and without statistics.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np

from mahrem.dp._relation import Relation
from mahrem.dp._sensitivity import GlobalSensitivity, SmoothSensitivity
from mahrem.dp._tape import Step, Tape, listening
from mahrem.dp.accounting import Composed, Event, Repeated, Spend, composed_cost, pure_epsilon

PURE = {"discrete-laplace", "laplace", "exponential", "permute-and-flip"}  # losses of these add up


class NotPrivate(AssertionError):
    """A pipeline told two neighbouring tables apart by other means than noise."""


@dataclass(frozen=True)
class NeighbourEvidence:
    """What a neighbour test saw.

    Attributes:
        moved: For every use of a mechanism, by how much (L1) the values before noise moved.
        claimed: By how much they were allowed to.
        spends: What was paid for.
    """

    moved: tuple[float, ...]
    claimed: tuple[float, ...]
    spends: tuple[Spend, ...]

    def epsilon(self, delta: float = 0.0, relation: Relation = Relation.ADD_REMOVE) -> float:
        """Say what the pipeline paid in all."""
        return composed_cost(self.spends, delta, relation).epsilon


def assert_dp(
    pipeline: Callable[[Any], Any],
    table: object,
    neighbour: object,
    *,
    same: Callable[[Any, Any], bool] | None = None,
) -> NeighbourEvidence:
    """Check that a pipeline tells two neighbouring tables apart by noise only.

    Args:
        pipeline: Takes a table and gives back what would be published; it uses the mechanisms, queries and
            ledgers of this package (inside it, :meth:`~mahrem.dp.Ledger.temporary`).
        table: A table.
        neighbour: A neighbour of it under the relation claimed.
        same: Says whether two results are equal; by default frames, arrays, mappings and lists are compared
            by value.

    Raises:
        NotPrivate: With the step at which the two runs part.

    Guarantees:
        - Silence proves nothing beyond these two tables; an error is always a fault (or tables that are no
          neighbours).

    References:
        Cebere, Erb, Desfontaines, Bellet, Fitzsimons, PETS 2026 (arXiv 2602.17454).

    Example:
        >>> import polars as pl
        >>> from mahrem.dp import Ledger
        >>> from mahrem.dp.queries import answer_query
        >>> def mean_age(table):
        ...     facts = {"age": {"lower": 0, "upper": 100}}
        ...     ledger = Ledger.temporary(epsilon=1, columns=facts)
        ...     return answer_query(table, "mean(age)", ledger=ledger, epsilon=1).rows
        >>> people = pl.DataFrame({"age": [30, 40, 50, 1000]})
        >>> assert_dp(mean_age, people, people[:3]).epsilon()
        1.0
    """
    with listening(Tape()) as first, _overhearing() as warnings_of_table:
        result = pipeline(table)
    with listening(Tape(replay=first.steps)) as second, _overhearing() as warnings_of_other:
        other = pipeline(neighbour)
    if warnings_of_table != warnings_of_other:
        raise NotPrivate(
            f"a warning depends on the data: {' / '.join(sorted(warnings_of_table ^ warnings_of_other))}"
        )
    if first.spends != second.spends:
        raise NotPrivate("what was paid for depends on the data")
    _refuse_unpaid(first)
    if len(first.steps) != len(second.steps):
        raise NotPrivate(
            f"{len(first.steps)} mechanisms were used on the table and {len(second.steps)} on its neighbour"
        )
    moved = [
        _compare(number, before, after)
        for number, (before, after) in enumerate(zip(first.steps, second.steps, strict=True), start=1)
    ]
    _refuse_overuse(first, moved)
    if not (same or _same)(result, other):
        raise NotPrivate(
            "the result differs although every mechanism gave out the same: something else was published"
        )
    claimed = tuple(_allowed(step) for step in first.steps)
    return NeighbourEvidence(tuple(moved), claimed, tuple(first.spends))


@contextmanager
def _overhearing() -> Iterator[set[str]]:
    """Keep what is warned of; it is still said."""
    texts: set[str] = set()
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        yield texts
    for warning in heard:
        texts.add(f"{warning.category.__name__}: {warning.message}")
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


def _refuse_unpaid(tape: Tape) -> None:
    """Refuse a mechanism that costs something else than the ledger was told; without a ledger, none is."""
    if not tape.spends:
        return
    known = {event for spend in tape.spends for event in _parts(spend.event)}
    for number, step in enumerate(tape.steps, start=1):
        if step.event is not None and step.event not in known:
            raise NotPrivate(f"step {number} ({step.mechanism}): nobody paid for what it costs")


def _refuse_overuse(tape: Tape, moved: Sequence[float]) -> None:
    """Refuse mechanisms that gave away more on these two tables than was paid, such as one used twice."""
    used = []
    for step, change in zip(tape.steps, moved, strict=True):
        alone = None if step.event is None else pure_epsilon(step.event)
        if step.mechanism not in PURE or alone is None:
            return  # what noise of another kind gives away is no plain sum
        used.append(alone * change / _allowed(step))
    paid = math.fsum(spend.epsilon for spend in tape.spends)
    if tape.spends and math.fsum(used) > paid * (1 + 1e-9):
        raise NotPrivate(f"epsilon={paid:g} was paid, but the mechanisms gave away {math.fsum(used):g}")


def _parts(event: Event) -> Iterator[Event]:
    match event:
        case Composed(events):
            for part in events:
                yield from _parts(part)
        case Repeated(inner, _):
            yield from _parts(inner)
    yield event


def _allowed(step: Step) -> float:
    reach = step.sensitivity
    if isinstance(reach, GlobalSensitivity):
        return float(reach.l1)
    return float(reach.value if isinstance(reach, SmoothSensitivity) else reach or 0.0)


def _compare(number: int, before: Step, after: Step) -> float:
    where = f"step {number} ({before.mechanism})"
    if (before.mechanism, before.event, len(before.values)) != (
        after.mechanism,
        after.event,
        len(after.values),
    ):
        raise NotPrivate(f"{where}: mechanism, noise or number of values depend on the data")
    change = [abs(a - b) for a, b in zip(before.values, after.values, strict=True)]
    if isinstance(before.sensitivity, SmoothSensitivity) or isinstance(after.sensitivity, SmoothSensitivity):
        _compare_smooth(where, before.sensitivity, after.sensitivity, change)
        return float(sum(change))
    if before.sensitivity != after.sensitivity:
        raise NotPrivate(f"{where}: the claimed sensitivity depends on the data")
    if before.sensitivity is None:
        raise NotPrivate(f"{where}: no sensitivity is claimed; give the mechanism one")
    if not isinstance(before.sensitivity, GlobalSensitivity):
        if max(change) > before.sensitivity * (1 + 1e-12):
            raise NotPrivate(f"{where}: the value moved by more than {before.sensitivity:g} as claimed")
        return float(max(change))
    if before.mechanism in {"exponential", "permute-and-flip"}:
        return _compare_scores(where, before.sensitivity, change)
    return _compare_totals(where, before.sensitivity, change)


def _compare_scores(where: str, reach: GlobalSensitivity, change: Sequence[float]) -> float:
    most = max(change, default=0)
    if most > reach.linf:
        raise NotPrivate(f"{where}: a score moved by {most}, more than {reach.linf} as claimed")
    return float(most)


def _compare_totals(where: str, reach: GlobalSensitivity, change: Sequence[float]) -> float:
    moved = {
        "L1": sum(change),
        "squared L2": sum(part**2 for part in change),
        "largest": max(change, default=0),
    }
    claimed = {"L1": reach.l1, "squared L2": reach.l2_squared, "largest": reach.linf}
    for name, most in claimed.items():
        if moved[name] > most:
            raise NotPrivate(f"{where}: values moved by {moved[name]} ({name}), more than {most} as claimed")
    if reach.single and sum(part > 0 for part in change) > 1:
        raise NotPrivate(f"{where}: several values moved where one was claimed")
    return float(moved["L1"])


def _compare_smooth(where: str, before: object, after: object, change: Sequence[float]) -> None:
    if (
        not isinstance(before, SmoothSensitivity)
        or not isinstance(after, SmoothSensitivity)
        or before.beta != after.beta
    ):
        raise NotPrivate(f"{where}: the kind of sensitivity depends on the data")
    if max(change) > min(before.value, after.value):
        raise NotPrivate(f"{where}: the value moved by more than its smooth sensitivity")
    if abs(np.log(before.value / after.value)) > before.beta * (1 + 1e-9):
        raise NotPrivate(f"{where}: the smooth sensitivity is not smooth")


def _same(left: Any, right: Any) -> bool:  # noqa: PLR0911 - one line per kind
    if type(left) is not type(right):
        return False
    if isinstance(left, Mapping):
        return set(left) == set(right) and all(_same(left[key], right[key]) for key in left)
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(_same(a, b) for a, b in zip(left, right, strict=True))
    if isinstance(left, np.ndarray):
        return left.dtype == right.dtype and bool(
            np.array_equal(left, right, equal_nan=left.dtype.kind == "f")
        )
    if hasattr(left, "equals"):
        return bool(left.equals(right))
    if is_dataclass(left):
        return all(_same(getattr(left, f.name), getattr(right, f.name)) for f in fields(left) if f.compare)
    return bool(left == right or (left != left and right != right))  # noqa: PLR0124 - NaN is equal to NaN here
