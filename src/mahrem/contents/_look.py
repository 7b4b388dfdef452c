"""Look into a table: what every column holds, and what columns tell about each other."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Literal

import numpy as np
import polars as pl

from mahrem.check import one_of
from mahrem.contents._distinct import UNCOUNTED, DistinctCells, count_distinct, surprise
from mahrem.contents._entries import CONTENTS, ContentKind
from mahrem.contents._findings import ContentFinding, Contents
from mahrem.contents._places import coordinate_pairs
from mahrem.contents._relations import find_households, find_relations, find_several_rows
from mahrem.words import Note

Depth = Literal["sample", "all"]
SAMPLE = 3000  # rows
THREADS = min(4, os.cpu_count() or 1)
MAINLY = 0.5  # share from which a column is of a kind, and weaker explanations are left out
# The first explains more than the next: a valid account number is not also a record number.
GROUPS = ("mark", "number", "date", "shape", "phone", "code", "place", "name", "text", "record")
# Content that a single cell gives away: looked for in every row where all are asked for.
RARE = ("email", "url", "iban", "ip", "uuid", "mac", "ssn")
TELLTALE = (  # without one of these marks a cell is none of them
    r"@|://|www\.|[0-9A-Fa-f]:[0-9A-Fa-f:]|[0-9]\.[0-9]+\.[0-9]+\.[0-9]|[A-Z]{2}[0-9]{2} ?[A-Z0-9]{4}|"
    r"-[0-9a-f]{4}-|[0-9a-f]{32}|"
    r"[0-9]{3}-[0-9][0-9]-[0-9]{4}"
)
HOMES = {"tckn": "TR", "vkn": "TR", "steuer-id": "DE", "svnr": "DE", "nhs": "GB", "ssn": "US"}


def look_into(
    frame: pl.DataFrame,
    *,
    depth: Depth = "sample",
    closely: Collection[str] | None = None,
    toward: Collection[str] = (),
    region: str | None = None,
) -> Contents:
    """Say what each column of a table really holds, by its values.

    Args:
        frame: The table; text, numbers and dates, as sources give them.
        depth: ``sample`` looks at some thousand rows; ``all`` also at every row for what one cell gives away.
        closely: Columns that ``all`` is about; every column if None. Of the others a sample is enough.
        toward: Columns whose copies and functions are always looked for, however wide the table is.
        region: Two letters of the country whose national telephone numbers are meant; all known ones if None.

    Guarantees:
        - Nothing that is given back holds a cell of the table.
        - Names of columns do not matter.
        - Neither order nor doubling of rows changes a share, as long as every row is looked at.

    Example:
        >>> table = pl.DataFrame({"x": ["ada@example.org", "bob@example.com"], "y": [1, 2]})
        >>> [finding.kind for finding in look_into(table).of("x")]
        ['email']
    """
    one_of(("sample", "all"), depth=depth)
    sample = _sample(frame)
    whole = sample is frame
    shares = {} if whole else _distinct_shares(frame)
    close = set() if whole or depth == "sample" else {*(frame.columns if closely is None else closely)}
    telling = _telling(frame.select(name for name in frame.columns if name in close))

    def look(name: str) -> tuple[tuple[ContentFinding, ...], tuple[int, int]]:
        cells = count_distinct(sample[name], region=region, distinct_share=shares.get(name))
        wanted = closely is None or name in closely or not cells.numeric  # dates are related to others
        found = look_into_column(cells) if wanted else ()
        if name in telling or (name in close and _by_cell(found)):
            found = _in_all_rows(frame[name], found, cells)
        rows = cells.present if whole else frame.height - frame[name].null_count()
        return found, (round(cells.unique * rows), rows)

    with ThreadPoolExecutor(THREADS) as pool:  # polars works without the interpreter's lock
        looked = dict(zip(frame.columns, pool.map(look, frame.columns), strict=True))
    columns = {name: found for name, (found, _) in looked.items()}
    present = {name: counts for name, (_, counts) in looked.items()}
    for pair in coordinate_pairs(sample):
        for name in pair:
            finding = ContentFinding("coordinates", 1.0, 0.8, Note("content.reason.pair", {"share": 1.0}))
            columns[name] = (
                finding,
                *(one for one in columns[name] if one.kind not in {"record", "postcode"}),
            )
    return Contents(
        columns,
        find_relations(sample, columns, toward),
        find_several_rows(frame, columns, present),
        find_households(frame, columns),
        depth,
        frame.height if depth == "all" else sample.height,
        region or _region(columns),
    )


def look_into_column(cells: DistinctCells) -> tuple[ContentFinding, ...]:
    """Say what distinct values hold, the weightiest first; weaker explanations are left out."""
    if not len(cells.texts):
        return ()
    found: list[tuple[ContentKind, ContentFinding]] = []
    for kind in _askable(cells):
        finding = kind.load()(cells)
        if finding is not None:
            found.append((kind, finding))
    return _settled(found)


def _askable(cells: DistinctCells) -> list[ContentKind]:
    """Leave out kinds that no value can be of: patterns cost more than a glance at the characters."""
    signs = set("".join(cells.texts.to_list()))
    digits = any(sign.isdigit() for sign in signs)
    letters = not cells.numeric and bool(cells.texts.str.contains(r"\p{L}{2}").any())
    long = digits and bool(cells.compact.str.contains(r"^[A-Z]{0,6}\d[A-Z0-9]{6,}$").any())
    without: set[str] = set()
    if not digits:
        without |= {"number", "shape", "date", "phone", "code", "record"}
    if not long:
        without |= {"number"}
    if not letters:
        without |= {"name", "text"}
    if cells.numeric:
        without |= {"code"}
    asked = [kind for kind in CONTENTS.values() if kind.group not in without]
    return [kind for kind in asked if kind.can_hold(signs)]


def _settled(found: Sequence[tuple[ContentKind, ContentFinding]]) -> tuple[ContentFinding, ...]:
    """Keep the best number, and of groups the first that explains most of the column."""
    numbers = [finding for kind, finding in found if kind.group == "number"]
    best = max(numbers, key=_strength, default=None)
    kept: list[ContentFinding] = []
    explained = False
    for group in GROUPS:
        for kind, finding in found:
            if kind.group != group or (group == "number" and finding is not best):
                continue
            if not explained:
                kept.append(finding)
        explained = explained or any(
            finding.share >= MAINLY and finding.reason.code != "content.reason.within" for finding in kept
        )
    return tuple(sorted(kept, key=lambda finding: -finding.share * finding.confidence))


def _strength(finding: ContentFinding) -> float:
    right, shaped, chance = (float(str(finding.reason.values[key])) for key in ("right", "shaped", "chance"))
    return surprise(int(right), int(shaped), chance)


def _sample(frame: pl.DataFrame) -> pl.DataFrame:
    if frame.height <= SAMPLE:
        return frame
    rows = np.sort(np.random.default_rng(0).choice(frame.height, SAMPLE, replace=False))
    return frame[rows]


def _distinct_shares(frame: pl.DataFrame) -> Mapping[str, float]:
    """Give about how many distinct values there are per row, for every column."""
    countable = [name for name, kind in frame.schema.items() if not isinstance(kind, UNCOUNTED)]
    counts = frame.lazy().select(pl.col(countable).drop_nulls().approx_n_unique()).collect()
    return {
        name: min(1.0, counts[name].item() / max(1, frame.height - frame[name].null_count()))
        for name in countable
    }


def _by_cell(found: Sequence[ContentFinding]) -> bool:
    """Tell whether a column holds what single cells give away."""
    return any(CONTENTS[finding.kind].group in {"mark", "number"} for finding in found)


def _telling(frame: pl.DataFrame) -> set[str]:
    """Name the columns of text in which any cell has a telltale mark."""
    texts = [name for name, kind in frame.schema.items() if kind == pl.String]
    if not texts:
        return set()
    marks = frame.lazy().select(pl.col(texts).str.contains(TELLTALE).any()).collect().row(0)
    return {name for name, mark in zip(texts, marks, strict=True) if mark}


def _in_all_rows(
    column: pl.Series, found: Sequence[ContentFinding], sample: DistinctCells
) -> tuple[ContentFinding, ...]:
    """Look at every row for kinds that one cell gives away; what is a matter of the whole column stays."""
    seen = {finding.kind for finding in found if CONTENTS[finding.kind].group in {"mark", "number"}}
    if seen:
        cells = count_distinct(column, region=sample.region)
    else:
        there = column.len() - column.null_count()
        cells = replace(count_distinct(column.filter(column.str.contains(TELLTALE))), whole=there)
    asked = [CONTENTS[name] for name in CONTENTS if name in (seen or RARE)]
    measured = [(kind, finding) for kind in asked if (finding := kind.load()(cells)) is not None]
    kept = {finding.kind for _, finding in measured}
    return _settled([*measured, *((CONTENTS[one.kind], one) for one in found if one.kind not in kept)])


def _region(columns: Mapping[str, Sequence[ContentFinding]]) -> str | None:
    """Guess the country from numbers that only one country gives out."""
    homes = [HOMES[one.kind] for found in columns.values() for one in found if one.kind in HOMES]
    return max(set(homes), key=homes.count) if homes else None
