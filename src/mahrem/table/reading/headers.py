"""Which row names the columns? Title rows above it are found, and a first row of data is found out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from mahrem.errors import InvalidInput, InvalidParameter, spelled, spelled_together

Record = Sequence[str]

MOST_TITLES = 20  # rows above a header that are looked at
LOOKED_AT = 200  # cells of a column whose kind is looked at
WIDEST = 200  # columns that are looked at
NEARLY_ALL = 0.8  # of the cells of a column: some are misspelt
FEW = 12  # values of a column of categories
YEARS = (1900, 2100)

_MISSING = frozenset(
    (
        *("na", "n/a", "#n/a", "nan", "null", "none", "nil", "?", "-", "--", ".", "*", "unknown", "missing"),
        *("yok", "bilinmiyor", "unbekannt", "k.a."),
    )
)
_NUMBER = re.compile(
    r"[+\-\u2212]?\s*[$€£₺]?\s*[.,]?\d[\d.,'\u2019 \u00a0\u202f]*(?:[eE][+-]?\d+)?\s*[%$€£₺]?"
)
_DATE = re.compile(r"\d{1,4}([-./])\d{1,2}\1\d{1,4}(?:[T ,].*)?")
_COUNTED = re.compile(r"(.*?[^\W\d]_?|[^\W\d]*)[ _.-]?(\d+)")  # q1, var_2, X3
_NAME = re.compile(r"[^\W\d][\w .()/%-]*")


@dataclass(frozen=True)
class Header:
    """What was found out about the first rows of a table.

    Attributes:
        titles: Rows above the header, or above the first row of data.
        score: Below 0: the row names columns. Above 0: it is data. 0: nothing tells.
    """

    titles: int
    score: int


def find_header(records: Sequence[Record]) -> Header:
    """Find the row that names the columns among the first records of a table.

    A row is data if its cells are what the cells below are: numbers above numbers, dates above dates, a value
    that occurs again, a code of the same form. It is a header where its cells differ in that from all below.
    Several columns decide together: years or running numbers above figures are names.

    Guarantees:
        - A row is passed over only if it is far from full, and the full row below names columns or is data.
    """
    first = _first_full(records)
    if first:
        score = header_score(records[first], records[first + 1 :])
        if score:
            return Header(first, score)
    return Header(0, header_score(records[0], records[1:]) if records else 0)


def header_score(first: Record, rest: Sequence[Record]) -> int:
    """Say how much a row looks like the rows below it: above 0 it is data, below 0 it names columns."""
    cells = [cell.strip() for cell in first[:WIDEST]]
    alone = len(first) == 1  # else a row that is the same in all cells may be the header once more
    below = [row for row in rest if len(row) == len(first) and (alone or list(row) != list(first))]
    columns = [
        [cell for cell in map(str.strip, column) if cell and cell.lower() not in _MISSING]
        for column in islice(zip(*below, strict=True), len(cells))
    ] or [[] for _ in cells]
    named = _running(cells, columns)
    return sum(
        0 if _is_missing(cell) else -1 if place in named else _vote(cell, columns[place])
        for place, cell in enumerate(cells)
    )


def refuse_headerless(label: str, columns: int, above: int = 0) -> InvalidInput:
    """Make the error for a table whose first row, below lines above, is data; it shows none of it."""
    some = [f"NAME{place}" for place in range(1, min(columns, 3) + 1)]
    names = some if columns < 4 else [*some, "…"]
    skipped: dict[str, object] = {"skip_rows": above} if above else {}
    return InvalidInput(
        f"{label}: its first row{' below a title' if above else ''} looks like data, not like names of "
        f"columns; name them: {spelled_together({**skipped, 'header': False, 'names': names})} "
        f"({columns} names); or say {spelled_together({**skipped, 'header': True})} if it is one after all"
    )


def given_names(
    names: Sequence[str], *, header: bool | None, score: int, columns: int, label: str
) -> tuple[str, ...] | None:
    """Name columns as somebody said, or by their places without a header; None: as the header says."""
    if names and len(names) != columns:
        raise InvalidParameter(f"names: {len(names)} were given, and {label} has {columns} columns")
    if names and header is None and score == 0:
        raise InvalidParameter(
            f"names: nothing tells whether the first row of {label} is a header; say "
            f"{spelled('header', True)} if it is, else {spelled('header', False)}"
        )
    if names:
        return tuple(names)
    return tuple(f"column_{place}" for place in range(1, columns + 1)) if header is False else None


def _first_full(records: Sequence[Record]) -> int:
    """Give the place of the first row as wide as most and not far from full; 0 if a ragged one comes."""
    widths = Counter(len(row) for row in records if any(cell.strip() for cell in row))
    if not widths:
        return 0
    width, times = widths.most_common(1)[0]
    if width < 2 or (times < 2 and len(records) > 2):
        return 0
    for place, row in enumerate(records[: MOST_TITLES + 1]):
        filled = sum(bool(cell.strip()) for cell in row)
        if len(row) == width and 2 * filled > width:
            return place if place + 1 < len(records) else 0
        if filled > max(1, width // 2) or (filled and len(row) == width == 2):
            return 0  # it is ragged, or a header with a name too few
    return 0


def _is_missing(cell: str) -> bool:
    return not cell or cell.lower() in _MISSING


def _kind(cell: str) -> str:
    if _DATE.fullmatch(cell):
        return "date"
    return "number" if _NUMBER.fullmatch(cell) else "text"


def _vote(cell: str, below: Sequence[str]) -> int:
    """Say of one column how much its first cell looks like the others."""
    kind = _kind(cell)
    if not below:
        return 2 if kind != "text" or "@" in cell else -1 if _NAME.fullmatch(cell) else 0
    looked = below[:LOOKED_AT]
    most, times = Counter(map(_kind, looked)).most_common(1)[0]
    if most != "text" and times >= NEARLY_ALL * len(looked):
        return 2 if kind == most else -2 if kind == "text" else -1
    if cell in below:
        return 2
    if sum(map(_is_marked, looked)) >= NEARLY_ALL * len(looked):
        alike = _form(cell) in set(map(_form, looked))
        return -2 if not _is_marked(cell) else 2 if alike else 0
    return -1 if _is_named_otherwise(cell, below) else 0


def _is_named_otherwise(cell: str, below: Sequence[str]) -> bool:
    """Say whether a word is none of a few categories, or a small one above capital ones."""
    distinct = len(set(below))
    capital = sum(other[:1].isupper() for other in below)
    few = distinct <= FEW and len(below) >= 3 * distinct
    return few or (cell[:1].islower() and capital >= NEARLY_ALL * len(below))


def _is_marked(cell: str) -> bool:
    """Say whether a text is a code, an address or a number of some sort rather than a word."""
    return "@" in cell or any(sign.isdigit() for sign in cell)


def _form(cell: str) -> str:
    """Give the form of a code: runs of digits and of letters, and the signs between them."""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "9", cell))


def _running(cells: Sequence[str], columns: Sequence[Sequence[str]]) -> set[int]:
    """Give the places of names that are counted: years, running numbers, q1 q2 q3."""
    whole = {place: int(cell) for place, cell in enumerate(cells) if re.fullmatch(r"\d{1,9}", cell)}
    prefixes = Counter(match[1] for cell in cells if (match := _COUNTED.fullmatch(cell)) and match[1])
    named = {
        place
        for place, cell in enumerate(cells)
        if (match := _COUNTED.fullmatch(cell))
        and prefixes[match[1]] > 1
        and match[1]
        and len(set(cells)) == len(cells)
        and cell not in columns[place]
    }
    numbers = list(whole.values())
    if not numbers or len(set(numbers)) < len(numbers):
        return named
    again = sum(cells[place] in columns[place] for place in whole)
    if 2 * again >= len(whole):
        return named
    if all(YEARS[0] <= number <= YEARS[1] for number in numbers):
        others = [cell for place in whole for cell in columns[place][:LOOKED_AT]]
        years = sum(bool(re.fullmatch(r"(?:19|20)\d\d", cell)) for cell in others)
        if others and 2 * years < len(others):
            return named | set(whole)
        return named if others else named | set(whole)
    steps = {after - before for before, after in pairwise(numbers)}
    counted = len(steps) == 1 and (len(numbers) > 2 or numbers in ([0, 1], [1, 2]))
    return named | set(whole) if counted else named
