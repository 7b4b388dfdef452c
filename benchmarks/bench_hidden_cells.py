"""How many cells must be hidden? Local suppression on Adult beside a greedy baseline, and its time.

The baseline is what sdcMicro's users know: until every row is safe, hide the cell of the unsafe rows in the
column where that helps most of them, one column after the other. Processor time, one thread.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from mahrem.models import KAnonymity
from mahrem.partition import Admission, LocalSuppression
from mahrem.partition.hiding import KeySet, hide_for_sets
from mahrem.partition.hiding._hidden_cells import as_codes, hidden_cells
from mahrem.types import Codes, Integers, Mask
from mahrem.verify import matching_rows, published_classes

COLUMNS = (
    "age", "sex", "race", "marital-status", "education", "workclass", "occupation", "native-country",
    "relationship", "hours-per-week",
)  # fmt: skip


def codes_of(table: pl.DataFrame) -> Codes:
    return np.column_stack(
        [(table[name].rank("dense") - 1).cast(pl.Int32).to_numpy() for name in table.columns]
    )


def counts(codes: Codes) -> Integers:
    frame = pl.DataFrame({str(place): codes[:, place] for place in range(codes.shape[1])})
    return frame.select(pl.len().over(frame.columns)).to_series().to_numpy().astype(np.int64)


def greedy(codes: Codes, k: int, *, matching: bool) -> Mask:
    """Hide, in all rows that are not safe yet, the next column that makes most of them safe."""
    hidden = np.zeros(codes.shape, np.bool_)
    shown = codes.copy()
    open_rows = np.flatnonzero(counts(codes) < k)
    while len(open_rows):
        left = [place for place in range(codes.shape[1]) if not hidden[open_rows, place].all()]
        if not left:
            break
        best, safe = None, np.zeros(0, np.bool_)
        for place in left:
            tried = shown[open_rows].copy()
            tried[:, place] = -2
            if matching:
                kept = [c for c in range(codes.shape[1]) if c != place and not hidden[open_rows[0], c]]
                found = counts(codes[:, kept])[open_rows] if kept else np.full(len(open_rows), len(codes))
            else:
                found = counts(tried)
            if best is None or (found >= k).sum() > safe.sum():
                best, safe = place, found >= k
        assert best is not None
        hidden[open_rows, best] = True
        shown[open_rows, best] = -2
        open_rows = open_rows[~safe]
    return hidden


def strict_cells(codes: Codes, k: int) -> tuple[Mask, float]:
    points = codes.astype(np.float64)
    began = time.process_time()
    found = LocalSuppression()(points, Admission(((KAnonymity(k), None),), len(points)))
    seconds = time.process_time() - began
    return hidden_cells(as_codes(points), found.labels, found.classes, codes.shape[1])[found.labels], seconds


def least(codes: Codes, hidden: Mask, k: int) -> tuple[int, int]:
    shown = pl.DataFrame(
        {str(c): np.where(hidden[:, c], "*", codes[:, c].astype(str)) for c in range(codes.shape[1])}
    )
    return int(published_classes(shown, shown.columns)[1].min()), int(
        matching_rows(shown, shown.columns, enough=k).min()
    )


def on_adult() -> None:
    table = pl.read_csv(Path(os.environ["MAHREM_DATA"]) / "adult.csv")
    print(
        "columns  k  exact: ours greedy  share | match: ours greedy  share | seconds exact match | verified"
    )
    for width in (5, 8, 10):
        codes = codes_of(table.select(COLUMNS[:width]))
        for k in (3, 5):
            own, seconds = strict_cells(codes, k)
            base = greedy(codes, k, matching=False)
            began = time.process_time()
            loose = hide_for_sets(codes, [KeySet(tuple(range(width)), k)], np.ones(width), matching=True)
            took = time.process_time() - began
            loose_base = greedy(codes, k, matching=True)
            checked = least(codes, own, k)[0] >= k and least(codes, loose, k)[1] >= k
            print(
                f"{width:7} {k:2} {own.sum():11,} {base.sum():6,} {own.mean():.4f} |"
                f" {loose.sum():11,} {loose_base.sum():6,} {loose.mean():.4f} |"
                f" {seconds:12.2f} {took:6.2f} | {checked}"
            )


def at_a_million() -> None:
    rng = np.random.default_rng(0)
    codes = np.column_stack(
        [(rng.zipf(1.5, 1_000_000) - 1).clip(0, most).astype(np.int32) for most in (80, 20, 10, 8, 2)]
    )
    frame = pl.DataFrame({str(place): codes[:, place] for place in range(5)})
    for k in (3, 5):
        loose = partial(hide_for_sets, codes, [KeySet((0, 1, 2, 3, 4), k)], np.ones(5), matching=True)
        rounds = []  # one after the other, so that whatever else runs slows all of them; the least counts
        for _ in range(4):
            hidden, seconds = strict_cells(codes, k)
            group = _timed(lambda: frame.group_by(frame.columns).len())
            rounds.append((group, seconds, _timed(loose)))
        group, seconds, took = np.min(rounds, axis=0)
        print(
            f"1e6 rows, k={k}: exact {seconds:.2f} s, {seconds / group:.1f}x one group-by, "
            f"{hidden.mean():.4f} hidden; match {took:.2f} s, {took / group:.1f}x"
        )


def _timed(run: Callable[[], object]) -> float:
    began = time.process_time()
    run()
    return time.process_time() - began


if __name__ == "__main__":
    on_adult()
    at_a_million()
