"""How many cells must be hidden? Local suppression on Adult beside a greedy baseline, and its time.

The baseline is what sdcMicro's users know: until every row is safe, hide the cell of the unsafe rows in the
column where that helps most of them, one column after the other. Processor time, one thread.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations
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


def classes_of(rows: list[int], k: int) -> Iterator[list[tuple[int, ...]]]:
    """Give every way to sort rows into classes of k to 2k - 1: larger ones can be torn apart for nothing."""
    if not rows:
        yield []
        return
    first, rest = rows[0], rows[1:]
    for size in range(k - 1, min(2 * k - 1, len(rows))):
        for others in combinations(rest, size):
            left = [row for row in rest if row not in others]
            yield from ([(first, *others), *more] for more in classes_of(left, k))


def least_exact(codes: Codes, k: int) -> int:
    def lost(own: tuple[int, ...]) -> int:
        return len(own) * int((codes[list(own)] != codes[own[0]]).any(axis=0).sum())

    return min(sum(map(lost, found)) for found in classes_of(list(range(len(codes))), k))


def least_match(codes: Codes, k: int) -> int:
    """Try every set of hidden cells."""
    rows, columns = codes.shape
    masks = np.arange(1 << (rows * columns))
    hidden = ((masks[:, None] >> np.arange(rows * columns)) & 1).astype(np.bool_).reshape(-1, rows, columns)
    alike = np.ones((len(masks), rows, rows), np.bool_)
    for column in range(columns):
        shown = hidden[:, :, column]
        equal = codes[:, column][:, None] == codes[:, column][None, :]
        alike &= equal | shown[:, :, None] | shown[:, None, :]
    safe = (alike.sum(axis=2) >= k).all(axis=1)
    return int(hidden.sum(axis=(1, 2))[safe].min())


def on_small_tables() -> None:
    rng = np.random.default_rng(0)
    for reading, tables, (fewest, most), widest in (("exact", 60, (5, 8), 4), ("match", 40, (4, 6), 3)):
        own, best, equal = 0, 0, 0
        for _ in range(tables):
            k = int(rng.integers(2, 4))
            shape = int(rng.integers(fewest, most + 1)), int(rng.integers(2, widest + 1))
            codes = rng.integers(0, 3, shape).astype(np.int32)
            if reading == "exact":
                found, least_cells = int(strict_cells(codes, k)[0].sum()), least_exact(codes, k)
            else:
                sets = [KeySet(tuple(range(shape[1])), k)]
                found = int(hide_for_sets(codes, sets, np.ones(shape[1]), matching=True).sum())
                least_cells = least_match(codes, k)
            own, best, equal = own + found, best + least_cells, equal + (found == least_cells)
        print(
            f"{tables} tables of {fewest} to {most} rows, {reading}: {own} cells, "
            f"optimum {best}; {equal} equal"
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
    on_small_tables()
    at_a_million()
    on_adult()
