"""From true totals to noisy rows with error bars, and how wide those bars will be."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mahrem.dp._tally import Category, Edges, EvenGrid, Key
from mahrem.dp.queries._estimates import Estimate
from mahrem.dp.queries._plan import Addition, NoisyTerm, QueryPlan, Selection, Smooth
from mahrem.dp.queries._sums import Bounds
from mahrem.types import Integers

SIZES = (100, 1_000, 10_000, 100_000)  # of groups, where an error depends on that
# Bounds stay in the ledger and widen the noise of later answers, so noise alone must hardly ever make one.
_EMPTY_CELL_TAKEN = 1e-6


def noisy_rows(plan: QueryPlan, totals: Integers) -> Iterator[dict[str, Any]]:
    """Add the planned noise to true totals and give one row per group."""
    match plan.work:
        case Addition(parts):
            if isinstance(plan.query, Bounds):
                yield _noisy_bounds(plan, parts[0], totals)
            else:
                yield from _added(plan, plan.work, totals)
        case Selection():
            yield from _selected(plan, plan.work, totals)
        case Smooth(mechanism):
            grid = plan.tally.keys[-1]
            point = mechanism(totals[..., 0].ravel())
            yield {"value": grid.point(point) if isinstance(grid, EvenGrid) else None, "error": None}


def previewed_rows(plan: QueryPlan) -> Iterator[dict[str, Any]]:
    """List error bars without values; of a mean, for several sizes of a group where its size is private."""
    if isinstance(plan.work, Addition):
        parts = plan.work.parts
        errors = [part.error(plan.work.miss(plan.settings.confidence)) for part in parts]
        if len(parts) == 1 and not plan.query.divides:
            yield {"value": None, "error": errors[0]}
            return
        if plan.public_rows is not None:
            worst = [Estimate(0.0, error) for error in errors]
            yield {"value": None, "error": _finish(plan, parts, worst).error}
            return
        for size in SIZES:
            if plan.work.together:  # half each, and fewer rows than there are
                fewer = max(size - 2 * errors[0], 1.0)
                halves = [Estimate(fewer / 2, error) for error in errors]
                yield {"if rows": size, "value": None, "error": _finish(plan, parts, halves).error}
                continue
            worst = [Estimate(_largest(part, size), error) for part, error in zip(parts, errors, strict=True)]
            worst[-1] = Estimate(size - errors[-1], errors[-1])  # the noisy count may lie that low
            yield {"if rows": size, "value": None, "error": _finish(plan, parts, worst).error}
    elif isinstance(plan.work, Selection):
        for level, error in zip(plan.query.levels, _rank_errors(plan, plan.work), strict=True):
            yield {"level": level, "value": None, "error_rows": error}
    else:
        yield {"value": None, "error": None}


def _groups(keys: Sequence[Key]) -> Iterator[tuple[tuple[int, ...], dict[str, object]]]:
    """Give the place of every group and what its rows are called."""
    for place in itertools.product(*(range(key.size) for key in keys)):
        named: dict[str, object] = {}
        for key, number in zip(keys, place, strict=True):
            if isinstance(key, Category):
                named[key.column] = key.categories[number]
            elif isinstance(key, EvenGrid):
                named[f"{key.column} from"], named[f"{key.column} to"] = (
                    key.point(number),
                    key.point(number + 1),
                )
            else:
                named[f"{key.column} group"] = number
        yield place, named


def _added(plan: QueryPlan, work: Addition, totals: Integers) -> Iterator[dict[str, object]]:
    noisy = work.noisy(totals)
    errors = [part.error(work.miss(plan.settings.confidence)) for part in work.parts]
    for cell, (_, named) in enumerate(_groups(plan.tally.keys)):
        sums = [Estimate(values[cell], error) for values, error in zip(noisy, errors, strict=True)]
        figure = _finish(plan, work.parts, sums)
        yield {**named, "value": figure.value, "error": figure.error}


def _finish(plan: QueryPlan, parts: Sequence[NoisyTerm], sums: Sequence[Estimate]) -> Estimate:
    """Turn noisy totals into the figure that was asked for; nothing private is touched any more."""
    term = parts[0].term
    rows = sums[-1] if plan.public_rows is None else Estimate(float(plan.public_rows), 0.0)
    return plan.query.finish(term, sums, rows)


def _selected(plan: QueryPlan, work: Selection, totals: Integers) -> Iterator[dict[str, object]]:
    grid = plan.tally.keys[-1]
    assert isinstance(grid, EvenGrid)  # noqa: S101 - a selection always has one
    errors = _rank_errors(plan, work)
    for place, named in _groups(plan.tally.keys[:-1]):
        counts = totals[place][:, 0]
        chosen = [
            how(_scores(counts, level.numerator, level.denominator))
            for level, how in zip(work.levels, work.mechanisms, strict=True)
        ]
        values = [grid.point(point) for point in sorted(chosen)]
        for row in plan.query.chosen(values, errors):
            yield {**named, **row}


def _scores(counts: Integers, above: int, whole: int) -> list[int]:
    """Score every point of the grid: the best has ``above / whole`` of the values below it."""
    reached = np.cumsum(counts)
    less, more = reached - counts, reached[-1] - reached
    return [-abs(int(score)) for score in (whole - above) * less - above * more]


def _rank_errors(plan: QueryPlan, work: Selection) -> list[float]:
    miss = (1 - plan.settings.confidence) / len(work.levels)
    size = plan.tally.keys[-1].size
    return [
        how.score_width(size, miss) / level.denominator
        for level, how in zip(work.levels, work.mechanisms, strict=True)
    ]


def _noisy_bounds(plan: QueryPlan, part: NoisyTerm, totals: Integers) -> dict[str, object]:
    (key,) = plan.tally.keys
    assert isinstance(key, Edges)  # noqa: S101 - bounds always look at edges
    noisy = part.noise([int(total) for total in totals[..., 0].ravel()])
    heavy = part.noise.half_width(min(1 - plan.settings.confidence, _EMPTY_CELL_TAKEN) / key.size)
    places = [place for place, count in enumerate(noisy) if count > heavy]
    if not places:
        return {"value": None, "lower": None, "upper": None}
    edges = (2 * key.edges[0], *key.edges, 2 * key.edges[-1])
    lower, upper = edges[places[0]], edges[places[-1] + 1]
    return {"value": upper - lower, "lower": lower, "upper": upper}


def _largest(part: NoisyTerm, size: int) -> float:
    return part.term.bounds[1] * part.term.unit * size
