"""What columns tell about each other: copies, functions, people with several rows, households."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
import polars as pl

from mahrem.contents._dates import years_of
from mahrem.contents._distinct import UNCOUNTED, count_distinct, fold, portion
from mahrem.contents._findings import ColumnRelation, ContentFinding, Household, SeveralRows
from mahrem.contents._sketch import ColumnSketch, TableSketch
from mahrem.types import Floats, Integers, Mask

ROWS = 9000  # looked at, rows that are there often several times
OFTEN = 3  # times
MOST_PAIRS = 20_000  # of columns that are compared
GLANCE = 400  # rows that show at once that most pairs of columns have nothing to do with each other
PEOPLE = 500  # whose rows are looked at
LARGEST = 1e15  # beyond which floats hold no whole numbers
FIT = 0.98  # of the rows where one follows from the other
IDENTIFYING = (
    "tckn",
    "steuer-id",
    "svnr",
    "nhs",
    "ssn",
    "email",
    "phone",
    "record",
    "name",
    "uuid",
    "iban",
    "card",
)


def find_relations(
    table: TableSketch, findings: Mapping[str, Sequence[ContentFinding]], toward: Collection[str] = ()
) -> tuple[ColumnRelation, ...]:
    """Find columns that are copies or functions of others.

    Every column is compared with every other one. Where that would be too many pairs, columns are compared
    with those named in ``toward``, and with others that part the rows exactly as they do.

    Guarantees:
        - A column that follows from another one is named after that one in at most one relation.
    """
    often = np.repeat(np.arange(table.sample.height), np.minimum(table.counts, OFTEN))
    sample = table.sample[often] if len(often) <= ROWS else table.sample
    codes = {name: value_codes(sample[name]) for name in sample.columns}
    numbers = {name: as_numbers(sample[name], findings.get(name, ())) for name in sample.columns}
    usable = [name for name in sample.columns if codes[name].max(initial=-1) >= 1]
    related = (
        _relate(first, second, sample, codes, numbers) for first, second in _pairs(usable, codes, toward)
    )
    return tuple(relation for relation in related if relation is not None)


def _pairs(
    usable: Sequence[str], codes: Mapping[str, Integers], toward: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Name the pairs of columns to compare: all of them, or in a wide table those that are worth it."""
    if len(usable) ** 2 <= 2 * MOST_PAIRS:
        yield from combinations(usable, 2)
        return
    known = [name for name in usable if name in toward][: max(1, MOST_PAIRS // len(usable))]
    for place, first in enumerate(known):
        yield from ((first, second) for second in usable if second not in known[: place + 1])
    alike: dict[bytes, str] = {}
    for name in usable:
        first = alike.setdefault(_parting(codes[name]), name)
        if first != name and not {first, name} & set(known):
            yield first, name


def _parting(codes: Integers) -> bytes:
    """Say how values part the rows, whatever the values are: numbered as they first appear."""
    _, first, where = np.unique(codes, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return hashlib.sha256(rank[where].tobytes() + (codes < 0).tobytes()).digest()


def value_codes(column: pl.Series) -> Integers:
    """Give every value a number; -1 where there is none."""
    if isinstance(column.dtype, UNCOUNTED):
        return np.full(len(column), -1)
    text = column.cast(pl.String, strict=False)
    ranks = text.rank("dense").cast(pl.Int64) - 1
    return ranks.fill_null(-1).to_numpy()


def as_numbers(column: pl.Series, findings: Sequence[ContentFinding]) -> Floats | None:
    """Give a column as numbers, dates in years; nothing where it is neither."""
    if column.dtype.is_numeric():
        return column.cast(pl.Float64).to_numpy()
    if column.dtype == pl.Boolean or isinstance(column.dtype, UNCOUNTED):
        return None
    if any(finding.kind in {"birth-date", "date"} for finding in findings):
        cells = count_distinct(column)
        years = pl.DataFrame({"text": cells.texts, "year": years_of(cells)})
        raw = column.cast(pl.String).str.strip_chars().rename("text").to_frame()
        return (
            raw.join(years, on="text", how="left", maintain_order="left")["year"]
            .to_numpy()
            .astype(np.float64)
        )
    if column.dtype != pl.String:
        return None
    values = column.str.strip_chars().str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
    return values.to_numpy() if values.null_count() <= column.null_count() + 0.1 * len(column) else None


def _relate(
    first: str,
    second: str,
    sample: pl.DataFrame,
    codes: Mapping[str, Integers],
    numbers: Mapping[str, Floats | None],
) -> ColumnRelation | None:
    linear = _linear(numbers[first], numbers[second])
    if not linear and _meet_freely(codes[first][:GLANCE], codes[second][:GLANCE]):
        return None
    both = (codes[first] >= 0) & (codes[second] >= 0)
    a, b = codes[first][both], codes[second][both]
    rows, many_a, many_b = len(a), _many(a), _many(b)
    if rows < 5 or min(many_a, many_b) < 2:
        return None
    pairs = _many(a * (b.max() + 1) + b)
    one_to_one = pairs == many_a == many_b
    relation = None
    if one_to_one and (copied := _copied(sample[first], sample[second], both)):
        relation = ColumnRelation(second, first, copied, 1.0)
    elif linear:
        relation = ColumnRelation(second, first, "linear", linear)
    elif one_to_one and many_a * 2 <= rows and many_a >= 3:
        relation = ColumnRelation(second, first, "one-to-one", 1.0)
    elif _determines(pairs, many_a, many_b, rows):
        relation = ColumnRelation(second, first, "determined", 1.0)
    elif _determines(pairs, many_b, many_a, rows):
        relation = ColumnRelation(first, second, "determined", 1.0)
    return relation


def _meet_freely(first: Integers, second: Integers) -> bool:
    """Tell whether, among a few rows already, no value of either column goes with one of the other alone."""
    both = (first >= 0) & (second >= 0)
    a, b = first[both], second[both]
    pairs = _many(a * (b.max(initial=0) + 1) + b)
    return pairs > _many(a) and pairs > _many(b)


def _many(codes: Integers | Floats) -> int:
    """Count different numbers, by sorting: there are some hundreds or thousands."""
    ordered = np.sort(codes)
    return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + (len(ordered) > 0)


def _copied(first: pl.Series, second: pl.Series, both: Mask) -> str | None:
    a, b = (one.filter(pl.Series(both)).cast(pl.String, strict=False) for one in (first, second))
    if (a == b).all():
        return "copy"
    plain = [fold(one).str.replace_all(r"[^\p{L}\d]", "").str.strip_chars_start("0") for one in (a, b)]
    return "spelling" if (plain[0] == plain[1]).all() else None


def _linear(first: Floats | None, second: Floats | None) -> float:
    """Give the share of rows on one line, where nearly all are; whole years may be one off."""
    if first is None or second is None:
        return 0.0
    known = np.isfinite(first) & np.isfinite(second)
    x, y = first[known], second[known]
    if len(x) < 5 or max(np.abs(x).max(), np.abs(y).max()) > LARGEST:
        return 0.0
    spread_x, spread_y = np.std(x), np.std(y)
    if not spread_x or not spread_y:
        return 0.0
    slope = float(np.mean((x - x.mean()) * (y - y.mean()))) / spread_x**2
    if abs(slope) * spread_x < 0.98 * spread_y or min(_many(x), _many(y)) < 5:
        return 0.0
    away = np.abs(y - slope * x - np.median(y - slope * x))
    on_line = float((away <= 1e-6 * spread_y + 1e-9).mean())
    if on_line < FIT and abs(abs(slope) - 1) <= 0.02 and spread_y >= 5:
        rest = y - np.sign(slope) * x
        on_line = float((np.abs(rest - np.median(rest)) <= 1.05).mean())
    return on_line if on_line >= FIT else 0.0


def _determines(pairs: int, many: int, follows: int, rows: int) -> bool:
    """Tell whether each value of one meets one value of the other only, and often enough to know."""
    return pairs == many and many > follows >= 3 and many * 3 <= rows


def find_several_rows(
    table: TableSketch, findings: Mapping[str, Sequence[ContentFinding]]
) -> tuple[SeveralRows, ...]:
    """Find columns that name people of whom some have several rows.

    A candidate identifies by its content, or is a code with many values; other columns, which vary in the
    table, must not vary within one of its values. All rows of some people are looked at.
    """
    people = []
    for name, column in table.columns.items():
        if not may_repeat(column):
            continue
        distinct, rows = column.distinct, column.present
        known = column.values.head(PEOPLE)
        if not _names_people(known, findings[name], distinct, rows):
            continue
        theirs = table.having([name], known.alias(name).to_frame())
        steady = sum(_steady(theirs, name, other) for other in theirs.columns if other != name)
        if steady:
            people.append(SeveralRows(name, round(rows / distinct, 3), steady))
    return tuple(sorted(people, key=lambda one: -one.steady))


def may_repeat(column: ColumnSketch) -> bool:
    """Tell whether values come about as often as people have rows."""
    return column.distinct >= 5 and 1.05 <= column.present / column.distinct <= 60


def _names_people(known: pl.Series, findings: Sequence[ContentFinding], distinct: int, rows: int) -> bool:
    """Tell whether a column identifies by its content, or holds codes of many."""
    kinds = {finding.kind for finding in findings}
    if kinds & set(IDENTIFYING):
        return True
    if kinds or distinct < 20 or distinct < 0.02 * rows:
        return False
    return holds_codes(known)


def holds_codes(values: pl.Series, *, longest: int = 3) -> bool:
    """Tell whether values are codes that somebody gave out: a few letters and so many digits, or hashes."""
    if not (values.dtype == pl.String or values.dtype.is_integer()):
        return False
    texts = values.cast(pl.String).str.strip_chars()
    given_out = rf"^[\p{{L}}\-_#/]{{0,6}}\d{{{longest},}}[\p{{L}}\d\-]*$"
    codes = texts.str.contains(f"{given_out}|^[0-9a-fA-F]{{8,128}}$")
    return portion(codes) >= 0.95


def _steady(theirs: pl.DataFrame, name: str, other: str) -> bool:
    """Tell whether a column that varies in the table does not vary among rows of one person."""
    if isinstance(theirs[other].dtype, UNCOUNTED):
        return False
    pair = theirs.select(pl.col(name).alias("who"), pl.col(other).alias("what")).drop_nulls()
    if pair.height == 0 or not 2 <= pair["what"].n_unique() <= 0.9 * pair["who"].n_unique() + 2:
        return False
    each = (
        pair.group_by("who").agg(pl.col("what").n_unique(), pl.len().alias("rows")).filter(pl.col("rows") > 1)
    )
    return each.height >= 3 and bool((each["what"] == 1).all())


def find_households(
    table: TableSketch, findings: Mapping[str, Sequence[ContentFinding]]
) -> tuple[Household, ...]:
    """Find columns by which different people share a home: an address, or a family name with a postcode."""
    kinds = {name: {finding.kind for finding in of_column} for name, of_column in findings.items()}
    persons = [
        name
        for name, kind in kinds.items()
        if kind & {"tckn", "ssn", "nhs", "steuer-id", "record", "name", "birth-date"}
    ]
    households = []
    for columns in _homes(kinds):
        other = [name for name in persons if name not in columns]
        crowded = any(table.columns[name].distinct * 60 < table.columns[name].present for name in columns)
        if not other or (len(columns) == 1 and crowded):  # so many rows are a street or a ward
            continue
        asked = table.sample.select(columns).drop_nulls()
        if asked.height < 5:
            continue
        there = table.having(columns, asked.unique())  # all who live with them
        small = there.group_by(columns).len("rows of it").filter(pl.col("rows of it") <= 60)
        near = there.join(small, on=columns, how="semi").select(  # more rows are a street or a ward
            *columns, pl.struct(other).hash().alias("who of it")
        )
        homes = near.group_by(columns).agg(pl.col("who of it").n_unique().alias("people of it"))
        shared = (
            asked.join(homes, on=columns, how="left")["people of it"].is_between(2, 12).fill_null(value=False)
        )
        share = portion(shared)
        if share >= 0.05:
            households.append(Household(tuple(columns), round(share, 4)))
    return tuple(households)


def _homes(kinds: Mapping[str, set[str]]) -> Iterator[list[str]]:
    places = [name for name, kind in kinds.items() if "address" in kind]
    yield from ([name] for name in places)
    if not places:
        codes = [name for name, kind in kinds.items() if "postcode" in kind]
        names = [name for name, kind in kinds.items() if "name" in kind]
        yield from ([name, code] for name in names for code in codes)
