"""What several columns tell together: numbers of rows in two parts, columns reckoned from several others."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
import polars as pl

from mahrem.contents._findings import ColumnRelation, ContentFinding
from mahrem.contents._relations import as_numbers, value_codes
from mahrem.contents._sketch import ColumnSketch, TableSketch
from mahrem.types import Floats, Integers

ROWS = 1500  # looked at
KNOWN = 8  # columns that others may be reckoned from, in pairs
COLUMNS = 400  # that are asked about
FEWEST = 30  # rows
ROOMY = 4.0  # times as many pairs as rows: chance makes most rows differ then
SOME = 12  # values whose rows are all looked at
BY_CHANCE = 0.9  # of the rows may differ, where nearly all do
MIXED = 0.85  # of the pairs that chance would make
SURPRISING = 20.0  # -log of the chance that rows agree without a reason
PARTS, DIGITS = 3, 8  # columns in a row, and digits in all of them, that are a number taken apart
WIDEST = 5  # digits of a part: longer ones are recognised alone
EVEN = 0.3  # of the rows may have the same digit in one place: measures begin low, or all alike
TURNS = 5  # different digits in every place, each in one row of twenty
UNEXPLAINED = 0.002  # of the variance: rounding leaves so much


def find_combinations(
    table: TableSketch, findings: Mapping[str, Sequence[ContentFinding]], toward: Collection[str] = ()
) -> tuple[ColumnRelation, ...]:
    """Find pairs of columns that number rows together, and columns that follow from several of ``toward``.

    Guarantees:
        - Two columns that chance alone lets differ in every row are no number in two parts.
    """
    others = [name for name in table.columns if name not in toward][:COLUMNS]
    known = [name for name in table.columns if name in toward][:KNOWN]
    sample = table.sample.head(ROWS)
    return (
        *_keys(table, others),
        *_taken_apart(sample.select(others)),
        *_functions(sample, findings, others, known),
    )


def _keys(table: TableSketch, names: Sequence[str]) -> Iterator[ColumnRelation]:
    """Name pairs that differ in every row although there are hardly more of them than rows."""
    if table.rows < FEWEST:
        return
    least = [
        name for name in names if table.columns[name].complete and table.columns[name].present == table.rows
    ]
    for first, second in combinations(sorted(least, key=lambda name: table.columns[name].distinct), 2):
        few, many = table.columns[first].distinct, table.columns[second].distinct
        if few >= 3 and 2 * many <= table.rows and table.rows <= few * many * 1.02 <= ROOMY * table.rows:
            rows = table.having([first], table.columns[first].values.head(SOME).alias(first).to_frame())
            if _number_rows(rows, first, second, table.columns[second]):
                yield ColumnRelation(second, first, "together", 1.0)


def _number_rows(rows: pl.DataFrame, first: str, second: str, column: ColumnSketch) -> bool:
    """Tell whether rows of one value differ in the other column more than chance would let them."""
    sizes = rows.group_by(first).len("rows of it")["rows of it"].to_numpy()
    if rows.height < FEWEST or rows.select(first, second).n_unique() < 0.99 * rows.height:
        return False
    shares = column.counts / column.counts.sum()
    expected = sum(float((1 - (1 - shares) ** size).sum()) for size in sizes)
    return expected <= BY_CHANCE * rows.height


def _taken_apart(sample: pl.DataFrame) -> Iterator[ColumnRelation]:
    """Name neighbouring columns that are one long number in parts: digits take turns in every place."""
    if sample.height < FEWEST:
        return
    run: list[str] = []
    widths = [(name, _even_digits(sample[name])) for name in sample.columns]
    for name, width in (*widths, ("", 0)):
        if width:
            run.append(name)
            continue
        parts, run = run, []
        if len(parts) < PARTS or sum(wide for one, wide in widths if one in parts) < DIGITS:
            continue
        if sample.select(parts).n_unique() >= 0.99 * sample.height:
            yield from (ColumnRelation(part, parts[0], "together", 1.0) for part in parts[1:])


def _even_digits(column: pl.Series) -> int:
    """Give the width of codes of which every place takes turns among digits; 0 for anything else."""
    if column.dtype != pl.String and not column.dtype.is_integer():
        return 0
    texts = column.cast(pl.String).drop_nulls()
    if len(texts) < max(FEWEST, 0.9 * len(column)):
        return 0
    wide = int(texts.str.len_bytes().max())  # type: ignore[arg-type]
    if not 2 <= wide <= WIDEST or not bool(texts.str.contains("^[0-9]+$").all()):
        return 0
    signs = np.frombuffer("".join(texts.str.zfill(wide)).encode(), np.uint8).reshape(-1, wide) - ord("0")
    shares = np.array([np.bincount(place, minlength=10) for place in signs.T]) / len(texts)
    turns = (shares >= 1 / 20).sum(axis=1)
    return wide if bool((turns >= TURNS).all() and (shares <= EVEN).all()) else 0


def _functions(
    sample: pl.DataFrame,
    findings: Mapping[str, Sequence[ContentFinding]],
    names: Sequence[str],
    known: Sequence[str],
) -> Iterator[ColumnRelation]:
    """Name columns that two others settle, or that are a weighted sum or product of several numbers."""
    if len(known) < 2 or sample.height < FEWEST:
        return
    codes = {name: value_codes(sample[name]) for name in (*names, *known)}
    pairs = [(first, _neighbours(codes[first], codes[second])) for first, second in combinations(known, 2)]
    numbers = [as_numbers(sample[name], findings.get(name, ())) for name in known]
    measured = {name: column for name, column in zip(known, numbers, strict=True) if column is not None}
    for name in names:
        of = next((first for first, near in pairs if _agree(codes[name], *near)), None)
        if of is None and len(measured) >= 2:
            of = _reckoned(as_numbers(sample[name], findings.get(name, ())), measured)
        if of is not None:
            yield ColumnRelation(name, of, "combined", 1.0)


def _neighbours(first: Integers, second: Integers) -> tuple[Integers, Integers]:
    """Give places of rows that are alike in both columns, next to each other in their order.

    Where fewer pairs are there than chance would make, rows are alike for another reason: they are of one
    person. Then none are given.
    """
    pair = np.where((first < 0) | (second < 0), -1, first * (second.max(initial=0) + 1) + second)
    order = np.argsort(pair, kind="stable")
    alike = (pair[order][1:] == pair[order][:-1]) & (pair[order][1:] >= 0)
    known = pair[pair >= 0]
    if len(known) - int(alike.sum()) < MIXED * _pairs_by_chance(first[pair >= 0], second[pair >= 0]):
        return order[:0], order[:0]
    return order[:-1][alike], order[1:][alike]


def _pairs_by_chance(first: Integers, second: Integers) -> float:
    """Give how many pairs of values chance makes; values that come equally often are reckoned together."""
    (often, many), (other, others) = (
        np.unique(np.bincount(codes), return_counts=True) for codes in (first, second)
    )
    met = 1 - np.exp(-np.outer(often, other) / max(1, len(first)))
    return float(many @ met @ others)


def _agree(codes: Integers, one: Integers, other: Integers) -> bool:
    """Tell whether rows agree in a column wherever they should, and would not by chance."""
    if not len(one) or bool((codes[one] != codes[other]).any()):
        return False
    shares = np.bincount(codes[codes >= 0]) / max(1, len(codes))
    alike = min(1.0, max(float((shares**2).sum()), 1e-9))
    return -len(one) * float(np.log(alike)) >= SURPRISING


def _reckoned(values: Floats | None, measured: Mapping[str, Floats]) -> str | None:
    """Name the column that a sum or a product of several depends on most; None where it is no such thing."""
    if values is None:
        return None
    table = np.column_stack([values, *measured.values()])
    table = table[np.isfinite(table).all(axis=1)]
    for turned in (table, np.log(table) if (table > 0).all() else None):
        if turned is None or len(turned) < max(FEWEST, 4 * turned.shape[1]):
            continue
        spread = turned.std(axis=0)
        if not spread.all():
            continue
        scaled = (turned - turned.mean(axis=0)) / spread
        weights, *_ = np.linalg.lstsq(scaled[:, 1:], scaled[:, 0], rcond=None)
        if ((scaled[:, 0] - scaled[:, 1:] @ weights) ** 2).mean() <= UNEXPLAINED:
            return list(measured)[int(np.abs(weights).argmax())]
    return None
