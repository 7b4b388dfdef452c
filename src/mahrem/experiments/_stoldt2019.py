"""Stoldt (2019): microaggregation by clustering on seven sets; information loss L in percent.

The talk prints ratios and no table of losses; our losses stand alone, the ratios beside its claims. SimU and
SimC are made (see ``_sets``): the talk's own files are not public. ``kanonymeans*`` evolves centres alone,
as published; ``kanonymeans* (ours)`` is what mahrem runs by default and improves every grouping as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np

from mahrem.experiments._measure import partition_by_size
from mahrem.experiments._row import Row, TableRun, published_rows
from mahrem.experiments._sets import MADE, PUBLIC, microdata
from mahrem.metrics import information_loss
from mahrem.partition import build_method
from mahrem.types import Floats

SETS = (*PUBLIC, *MADE)
PRINTED, BEST = "kanonymeans*", "kanonymeans* (ours)"
ALGORITHMS = ("mdav+", "mdav", "v-mdav", "mdav*", "ona*", "kanonymeans", PRINTED, BEST)
SEED = 1  # of single runs
SECONDS = 60.0  # at most, for one run of kAnonyMeans*
BIN = 0.02  # width of a bar of the histogram, in percent of loss


@dataclass(frozen=True)
class _Effort:
    """How much is run: all of it, or just enough to see that it runs."""

    ks: tuple[int, ...] = (3, 5, 10, 20)
    over: tuple[int, ...] = (3, 4, 5, 7, 10, 15, 20, 30)
    evaluations: int = 24  # inside one run of kAnonyMeans*, which also ends after SECONDS
    over_evaluations: int = 8
    cheaper: int = 8  # one evaluation as published costs about an eighth of ours: it gets as many more
    pool: int = 1000  # runs of the histogram
    repetitions: int = 50  # the same for both, or their ranges do not compare
    numbers: tuple[int, ...] = (10, 20, 50, 100)  # of runs, or of evaluations

    def of(self, method: str, evaluations: int) -> int:
        """Give the evaluations of a method: about the same time for both ways to evolve."""
        return {BEST: evaluations, PRINTED: self.cheaper * evaluations}.get(method, 0)


_FULL = _Effort()
_QUICK = _Effort((10,), (10, 20), 2, 2, 2, 20, 3, (5, 10))


def rows_of(run: TableRun) -> Iterator[Row]:
    """Give the rows of a table."""
    makers = {
        "losses": _losses,
        "ratios": _ratios,
        "histogram": _histogram,
        "over-k": _over_k,
        "runs": _runs,
    }
    return makers[run.table](run, _QUICK if run.quick else _FULL)


def _losses(run: TableRun, effort: _Effort) -> Iterator[Row]:
    yield from _each(run, SETS, effort.ks, lambda method: effort.of(method, effort.evaluations))


def _over_k(run: TableRun, effort: _Effort) -> Iterator[Row]:
    sets = ("EIA", "SimC")
    yield from _each(run, sets, effort.over, lambda method: effort.of(method, effort.over_evaluations))


def _each(
    run: TableRun, sets: Sequence[str], ks: Sequence[int], evaluations: Callable[[str], int]
) -> Iterator[Row]:
    for dataset, k, method in product(sets, ks, ALGORITHMS):
        run.step(f"{run.table}, {dataset}, k={k}, {method}")
        yield run.place(dataset, k=k).row(method, "loss", _loss(dataset, k, method, evaluations(method)))


def _ratios(run: TableRun, effort: _Effort) -> Iterator[Row]:
    run.step("ratios")
    claims = {row["against"]: float(row["ratio"]) for row in published_rows("stoldt2019_claims")}
    pairs = [
        (method, against) for method in (PRINTED, BEST) for against in (*claims, "mdav", "v-mdav", "ona*")
    ]
    for method, against in (*pairs, (BEST, PRINTED)):
        ratios = {
            dataset: [
                _loss(dataset, k, method, effort.of(method, effort.evaluations))
                / _loss(dataset, k, against, effort.of(against, effort.evaluations))
                for k in effort.ks
            ]
            for dataset in SETS
        }
        every = float(np.mean([ratio for of_set in ratios.values() for ratio in of_set]))
        public = float(np.mean([ratio for name in PUBLIC for ratio in ratios[name]]))
        yield run.place("all seven", against=against).row(method, "ratio", every, claims.get(against))
        note = "without the two that are made"
        yield run.place("five public", against=against).row(method, "ratio", public, note=note)
        for dataset, of_set in ratios.items():
            worse = [k for k, ratio in zip(effort.ks, of_set, strict=True) if ratio > 1]
            note = f"loses at k={', '.join(map(str, worse))}" if worse else ""
            place = run.place(dataset, against=against)
            yield place.row(method, "ratio", float(np.mean(of_set)), note=note)


def _histogram(run: TableRun, effort: _Effort) -> Iterator[Row]:
    run.step(f"histogram, {effort.pool} runs")
    losses = _pool("Census", 3, effort.pool)
    place = run.place("Census", k=3, runs=effort.pool)
    for metric, value in (
        ("smallest", losses.min()),
        ("mean", losses.mean()),
        ("largest", losses.max()),
        ("deviation", losses.std(ddof=1)),
    ):
        yield place.row("kanonymeans", metric, float(value))
    for method in ("mdav+", "mdav*"):
        yield place.row(method, "loss", _loss("Census", 3, method, 0))
    bins, counts = np.unique(np.floor(losses / BIN).astype(np.int64), return_counts=True)
    for number in range(int(bins[0]), int(bins[-1]) + 1):
        count = int(counts[bins == number].sum())
        yield place.at(**{"from": round(number * BIN, 6)}).row("kanonymeans", "runs_in_bin", count)


def _runs(run: TableRun, effort: _Effort) -> Iterator[Row]:
    """Give the smallest and largest best loss of repetitions, over the number of runs each may take."""
    pool = _pool("Census", 3, effort.pool)
    rng = np.random.default_rng(SEED)
    for number in effort.numbers:
        run.step(f"runs, {number} of them")
        place = run.place("Census", k=3, runs=number)
        best = [float(rng.choice(pool, number, replace=False).min()) for _ in range(effort.repetitions)]
        evolved = [_loss("Census", 3, PRINTED, number, seed) for seed in range(effort.repetitions)]
        for method, losses in (("kanonymeans", best), (PRINTED, evolved)):
            note = f"best of {number} from the pool of {effort.pool} runs" if method == "kanonymeans" else ""
            repeated = place.at(repetitions=len(losses))
            yield repeated.row(method, "smallest", min(losses), note=note)
            yield repeated.row(method, "largest", max(losses), note=note)
        for method in ("mdav+", "mdav*"):
            yield place.row(method, "loss", _loss("Census", 3, method, 0))


@cache
def _loss(dataset: str, k: int, method: str, evaluations: int, seed: int = SEED) -> float:
    """Give the information loss of one run in percent."""
    points = microdata(dataset)
    name = PRINTED if method == BEST else method
    options: dict[str, float] = {}
    if name == PRINTED:
        options = {"evaluations": evaluations, "seconds": SECONDS, "refine": method == BEST, "anytime": False}
    partition = partition_by_size(build_method(name, seed=seed, options=options), points, k)
    return 100 * information_loss(points, partition.labels)


@cache
def _pool(dataset: str, k: int, runs: int) -> Floats:
    return np.array([_loss(dataset, k, "kanonymeans", 0, seed) for seed in range(runs)])
