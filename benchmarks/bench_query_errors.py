"""How far off are quantiles and histograms, ours and OpenDP's best with the same epsilon?

Made-up incomes with a long tail, declared from 0 to 100,000. Quantiles: mean distance in rank, as a share of
the rows; OpenDP's ``make_private_quantile`` gets the even points that ours looks at. Histograms: mean
distance of a count; OpenDP's ``make_count_by_categories`` with its Laplace noise on whole numbers.
``python benchmarks/bench_query_errors.py --runs 200``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
import opendp.prelude as opendp
import polars as pl

from mahrem.dp import Ledger
from mahrem.dp.queries import answer_query
from mahrem.types import Floats

UPPER, POINTS, BINS = 100_000.0, 4097, 20
SIZES, EPSILONS, SHARES = (1_000, 20_000), (0.05, 0.5), (0.1, 0.5, 0.99)


class Options(argparse.Namespace):
    """What the command line says."""

    runs: int


def ask(table: pl.DataFrame, question: str, epsilon: float) -> list[float]:
    ledger = Ledger.temporary(epsilon=epsilon, columns={"x": {"lower": 0, "upper": UPPER}})
    return [float(row["value"]) for row in answer_query(table, question, ledger=ledger, epsilon=epsilon).rows]


def their_quantile(values: Floats, share: float, epsilon: float) -> Callable[[], float]:
    opendp.enable_features("contrib")
    space = (opendp.vector_domain(opendp.atom_domain(T=float, nan=False)), opendp.symmetric_distance())
    points = np.linspace(0, UPPER, POINTS).tolist()

    def made(scale: float) -> Any:
        return opendp.m.make_private_quantile(
            *space, opendp.max_divergence(), candidates=points, alpha=share, scale=scale
        )

    measure = made(opendp.binary_search(lambda scale: made(scale).map(1) <= epsilon, (1e-6, 1e7)))
    held = values.tolist()
    return lambda: float(measure(held))


def their_histogram(codes: list[int], epsilon: float) -> Callable[[], Floats]:
    opendp.enable_features("contrib")
    space = (opendp.vector_domain(opendp.atom_domain(T=int)), opendp.symmetric_distance())
    counts = opendp.t.make_count_by_categories(*space, categories=list(range(BINS)), null_category=False)
    measure = counts >> opendp.m.then_laplace(scale=1 / epsilon)
    return lambda: np.asarray(measure(codes), dtype=np.float64)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    runs = parser.parse_args(namespace=Options()).runs
    print("question, rows, epsilon: ours | OpenDP, ratio")
    for rows in SIZES:
        values = np.minimum(np.random.default_rng(1).lognormal(9.5, 0.8, rows), UPPER)
        table, ranked = pl.DataFrame({"x": values}), np.sort(values)
        codes = np.minimum(values / UPPER * BINS, BINS - 1).astype(np.int64)
        counts = np.bincount(codes, minlength=BINS)

        def rank_error(found: float, share: float, ranked: Floats = ranked) -> float:
            low, high = (np.searchsorted(ranked, found, side) / len(ranked) for side in ("left", "right"))
            return float(max(low - share, share - high, 0.0))

        for epsilon in EPSILONS:
            for share in SHARES:
                theirs = their_quantile(values, share, epsilon)
                asked = f"quantile(x, {share})"
                errors = [
                    [rank_error(ask(table, asked, epsilon)[0], share), rank_error(theirs(), share)]
                    for _ in range(runs)
                ]
                show(f"quantile {share:g}", rows, epsilon, *np.mean(errors, axis=0))
            shown = their_histogram(codes.tolist(), epsilon)
            ours = [np.abs(ask(table, f"histogram(x, {BINS})", epsilon) - counts).mean() for _ in range(runs)]
            show(
                f"histogram, {BINS} bins",
                rows,
                epsilon,
                np.mean(ours),
                np.mean([np.abs(shown() - counts).mean() for _ in range(runs)]),
            )


def show(question: str, rows: int, epsilon: float, ours: float, theirs: float) -> None:
    print(
        f"{question}, {rows}, {epsilon:g}: {ours:.5f} | {theirs:.5f}, {ours / max(theirs, 1e-12):.2f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
