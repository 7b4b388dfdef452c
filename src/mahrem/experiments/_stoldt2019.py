"""Stoldt (2019): microaggregation by clustering on seven sets; information loss L in percent.

The talk prints ratios and no table of losses; our losses stand alone, the ratios beside its claims. SimU and
SimC are made (see ``_sets``): the talk's own files are not public. ``kanonymeans*`` evolves centres alone,
as published; ``kanonymeans* (ours)`` is what mahrem runs by default and improves every grouping as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from mahrem.experiments._measure import partitioned
from mahrem.experiments._row import Row, published_rows
from mahrem.experiments._sets import MADE, PUBLIC, microdata
from mahrem.metrics import information_loss
from mahrem.partition import build_method

__all__ = ["TABLES", "rows_of"]

PAPER = "stoldt2019"
_row = partial(Row.rounded, PAPER)
TABLES = ("losses", "ratios", "histogram", "over-k", "runs")
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


def rows_of(tables: Sequence[str], *, quick: bool, step: Callable[[str], None]) -> Iterator[Row]:
    """Give the rows of some tables."""
    effort = _QUICK if quick else _FULL
    made: Mapping[str, Callable[[_Effort, Callable[[str], None]], Iterator[Row]]] = {
        "losses": _losses,
        "ratios": _ratios,
        "histogram": _histogram,
        "over-k": _over_k,
        "runs": _runs,
    }
    for table in tables:
        yield from made[table](effort, step)


def _losses(effort: _Effort, step: Callable[[str], None]) -> Iterator[Row]:
    for dataset in SETS:
        for k in effort.ks:
            for method in ALGORITHMS:
                step(f"losses, {dataset}, k={k}, {method}")
                yield _row(
                    "losses",
                    dataset,
                    {"k": k},
                    method,
                    "loss",
                    _loss(dataset, k, method, effort.of(method, effort.evaluations)),
                )


def _ratios(effort: _Effort, step: Callable[[str], None]) -> Iterator[Row]:
    step("ratios")
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
        said = {"against": against}
        every = float(np.mean([ratio for found in ratios.values() for ratio in found]))
        public = float(np.mean([ratio for name in PUBLIC for ratio in ratios[name]]))
        yield _row("ratios", "all seven", said, method, "ratio", every, claims.get(against))
        yield _row(
            "ratios", "five public", said, method, "ratio", public, note="without the two that are made"
        )
        for dataset, found in ratios.items():
            worse = [k for k, ratio in zip(effort.ks, found, strict=True) if ratio > 1]
            note = f"loses at k={', '.join(map(str, worse))}" if worse else ""
            yield _row("ratios", dataset, said, method, "ratio", float(np.mean(found)), note=note)


def _histogram(effort: _Effort, step: Callable[[str], None]) -> Iterator[Row]:
    step(f"histogram, {effort.pool} runs")
    losses = _pool("Census", 3, effort.pool)
    said = {"k": 3, "runs": effort.pool}
    for metric, value in (
        ("smallest", losses.min()),
        ("mean", losses.mean()),
        ("largest", losses.max()),
        ("deviation", losses.std(ddof=1)),
    ):
        yield _row("histogram", "Census", said, "kanonymeans", metric, float(value))
    for method in ("mdav+", "mdav*"):
        yield _row("histogram", "Census", said, method, "loss", _loss("Census", 3, method, 0))
    bins, counts = np.unique(np.floor(losses / BIN).astype(np.int64), return_counts=True)
    for place in range(int(bins[0]), int(bins[-1]) + 1):
        count = int(counts[bins == place].sum())
        yield _row(
            "histogram",
            "Census",
            {**said, "from": round(place * BIN, 6)},
            "kanonymeans",
            "runs_in_bin",
            count,
        )


def _over_k(effort: _Effort, step: Callable[[str], None]) -> Iterator[Row]:
    for dataset in ("EIA", "SimC"):
        for k in effort.over:
            for method in ALGORITHMS:
                step(f"over-k, {dataset}, k={k}, {method}")
                loss = _loss(dataset, k, method, effort.of(method, effort.over_evaluations))
                yield _row("over-k", dataset, {"k": k}, method, "loss", loss)


def _runs(effort: _Effort, step: Callable[[str], None]) -> Iterator[Row]:
    """Give the smallest and largest best loss of repetitions, over the number of runs each may take."""
    pool = _pool("Census", 3, effort.pool)
    rng = np.random.default_rng(SEED)
    for number in effort.numbers:
        step(f"runs, {number} of them")
        best = [float(rng.choice(pool, number, replace=False).min()) for _ in range(effort.repetitions)]
        evolved = [_loss("Census", 3, PRINTED, number, seed) for seed in range(effort.repetitions)]
        for method, found in (("kanonymeans", best), (PRINTED, evolved)):
            said = {"k": 3, "runs": number, "repetitions": len(found)}
            note = f"best of {number} from the pool of {effort.pool} runs" if method == "kanonymeans" else ""
            yield _row("runs", "Census", said, method, "smallest", min(found), note=note)
            yield _row("runs", "Census", said, method, "largest", max(found), note=note)
        for method in ("mdav+", "mdav*"):
            yield _row(
                "runs", "Census", {"k": 3, "runs": number}, method, "loss", _loss("Census", 3, method, 0)
            )


@cache
def _loss(dataset: str, k: int, method: str, evaluations: int, seed: int = SEED) -> float:
    """Give the information loss of one run in percent."""
    points = microdata(dataset)
    name = PRINTED if method == BEST else method
    options: dict[str, Any] = {}
    if name == PRINTED:
        options = {"evaluations": evaluations, "seconds": SECONDS, "refine": method == BEST, "anytime": False}
    partition = partitioned(build_method(name, seed=seed, options=options), points, k)
    return 100 * information_loss(points, partition.labels)


@cache
def _pool(dataset: str, k: int, runs: int) -> Any:
    return np.array([_loss(dataset, k, "kanonymeans", 0, seed) for seed in range(runs)])
