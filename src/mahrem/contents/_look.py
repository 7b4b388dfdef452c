"""Look into a table: what every column holds, and what columns tell about each other."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from mahrem.contents._combinations import find_combinations
from mahrem.contents._distinct import DistinctCells, contains, count_distinct, surprise
from mahrem.contents._entries import CONTENTS, ContentKind
from mahrem.contents._findings import ContentFinding, Contents, SeveralRows
from mahrem.contents._places import coordinate_pairs
from mahrem.contents._relations import find_households, find_relations, find_several_rows, may_repeat
from mahrem.contents._sketch import ColumnSketch, TableSketch, rows_of, sketch_table
from mahrem.threads import available_threads, in_parallel, meanwhile
from mahrem.types import Mask
from mahrem.words import Note

LOOKED_AT = 1200  # rows of a column with many values that detectors look at
WORTH_THREADS = 3000  # values from which on threads save more than they cost: each builds its own patterns
MAINLY = 0.5  # share from which a column is of a kind, and weaker explanations are left out
# The first explains more than the next: a valid account number is not also a record number.
GROUPS = ("mark", "number", "date", "shape", "phone", "code", "place", "name", "text", "record")
TOGETHER = frozenset({"together", "combined"})  # what more than two columns tell, or two only together
BY_CELL = frozenset({"mark", "number", "phone"})  # content that single cells give away
BY_COLUMN = frozenset({"record", "code"})  # what only a whole column can be
# What stands within something else, or is only spread like it, may be something else as well.
NO_EXPLANATION = frozenset({"content.reason.within", "content.reason.spread"})
SELDOM = 0.05  # share of a column below which a way of writing may be missing among some rows
FEWEST = 5  # different values, hardly one of them shared, that make a part of a column of a kind
HOMES = {"tckn": "TR", "vkn": "TR", "steuer-id": "DE", "svnr": "DE", "nhs": "GB", "ssn": "US"}


def look_into(
    table: pl.DataFrame | TableSketch,
    *,
    closely: Collection[str] | None = None,
    toward: Collection[str] = (),
    region: str | None = None,
) -> Contents:
    """Say what each column of a table really holds, by its values.

    Every row is looked at, and counted by how its cells are written. Detectors then look at some thousand
    rows, and at different values of every way of writing: what only a few cells hold is written otherwise
    than the rest, and is among them.

    Args:
        table: Text, numbers and dates, as sources give them; or a sketch of such a table.
        closely: Columns that it is about; every column if None. Of the others some rows are enough.
        toward: Columns whose copies and functions are always looked for, however wide the table is.
        region: Two letters of the country whose national telephone numbers are meant; all known ones if None.

    Guarantees:
        - Nothing that is given back holds a cell of the table.
        - Names of columns and the order of rows do not matter.
        - A mailbox or web address that stands in a single cell is found.

    Example:
        >>> table = pl.DataFrame({"x": ["ada@example.org", "bob@example.com"], "y": [1, 2]})
        >>> [finding.kind for finding in look_into(table).of("x")]
        ['email']
    """
    sketch = table if isinstance(table, TableSketch) else sketch_table(table)

    columns = _look_at(sketch, list(sketch.columns) if closely is None else closely, region)
    for pair in coordinate_pairs(sketch.sample):
        for name in pair:
            finding = ContentFinding("coordinates", 1.0, 0.8, Note("content.reason.pair", {"share": 1.0}))
            columns[name] = (
                finding,
                *(one for one in columns[name] if one.kind not in {"record", "postcode"}),
            )
    with meanwhile(lambda: find_several_rows(sketch, columns), rows=sketch.rows) as several_rows:
        with meanwhile(lambda: find_combinations(sketch, columns, toward), rows=sketch.rows) as together:
            relations = (*find_relations(sketch, columns, toward), *together())
        return Contents(
            columns,
            relations,
            several_rows(),
            find_households(sketch, columns),
            sketch.rows,
            region or _region(columns),
        )


def relate_to(table: TableSketch, contents: Contents, toward: Collection[str]) -> Contents:
    """Add which columns follow from several of some others, where these became known after the look."""
    before = tuple(one for one in contents.relations if one.how not in TOGETHER)
    return replace(contents, relations=(*before, *find_combinations(table, contents.columns, toward)))


def people_with_several_rows(
    frame: pl.DataFrame, names: Sequence[str], region: str | None = None
) -> tuple[SeveralRows, ...]:
    """Say which of some columns name people of whom some have several rows; nothing else is looked for."""
    sketch = replace(sketch_table(frame.select(names)), rows_with=rows_of(frame))
    asked = [name for name in names if may_repeat(sketch.columns[name])]
    findings = look_into_columns([_cells(sketch, name, region) for name in asked])
    return find_several_rows(sketch, dict(zip(asked, findings, strict=True)))


def _look_at(
    sketch: TableSketch, closely: Collection[str], region: str | None
) -> dict[str, tuple[ContentFinding, ...]]:
    """Say what most cells of every column hold, and of some columns what their odd cells hold too."""
    near = {name for name in sketch.columns if name in closely}
    # Numbers of columns that it is not about tell nothing; dates are related to others.
    asked = [
        name
        for name, column in sketch.columns.items()
        if name in near or not column.values.dtype.is_numeric()
    ]
    odd = [part for name in asked if name in near for part in _odd(name, sketch.columns[name])]
    cells = [
        *(_cells(sketch, name, region) for name in asked),
        *(part.sketch.cells(region) for part in odd),
    ]
    findings = _look_in_threads(cells)
    columns: dict[str, tuple[ContentFinding, ...]] = dict.fromkeys(sketch.columns, ())
    columns |= dict(zip(asked, findings[: len(asked)], strict=True))
    for part, values, odd_findings in zip(odd, cells[len(asked) :], findings[len(asked) :], strict=True):
        columns[part.name] += tuple(part.further(columns[part.name], values, odd_findings))
    return columns


def _look_in_threads(columns: Sequence[DistinctCells]) -> list[tuple[ContentFinding, ...]]:
    """Say what columns hold, on all cores where values are many: polars lets go of the interpreter's lock."""
    threads = available_threads()
    if threads < 2 or sum(len(cells.texts) for cells in columns) < WORTH_THREADS:
        return look_into_columns(columns)
    parts = [columns[first::threads] for first in range(threads)]
    findings_by_thread = in_parallel(look_into_columns, parts)
    return [findings_by_thread[place % threads][place // threads] for place in range(len(columns))]


def _cells(sketch: TableSketch, name: str, region: str | None) -> DistinctCells:
    """Give what most cells of a column hold."""
    column = sketch.columns[name]
    if column.complete:
        return column.cells(region)
    sampled = (column.distinct, column.present)  # rows show values as often as they come
    rows = sketch.sample[name].head(LOOKED_AT)
    return count_distinct(rows, rows=sketch.counts[:LOOKED_AT], region=region, sampled=sampled)


@dataclass(frozen=True)
class _OddPart:
    """Cells of a column that are written otherwise than most of it."""

    name: str
    sketch: ColumnSketch
    mainly: bool  # what most cells are was looked for; a few may hold more
    present: int  # rows of the whole column

    def further(
        self,
        column_findings: Sequence[ContentFinding],
        cells: DistinctCells,
        odd_findings: Sequence[ContentFinding],
    ) -> Iterator[ContentFinding]:
        """Give what these cells hold beyond what is known of the column."""
        known = {finding.kind for finding in column_findings}
        if any(CONTENTS[kind].group == "number" for kind in known):
            known.add("phone")  # which is written like other numbers
        own = len(cells.texts) >= FEWEST and cells.unique >= MAINLY
        for one in odd_findings:
            group = CONTENTS[one.kind].group
            if one.kind in known or group in BY_COLUMN or not (group in BY_CELL or (own and not self.mainly)):
                continue
            share = one.share * self.sketch.present / max(1, self.present)
            yield replace(
                one, share=share, reason=Note(one.reason.code, {**one.reason.values, "share": share})
            )


def _odd(name: str, column: ColumnSketch) -> Iterator[_OddPart]:
    """Part the cells that are written otherwise than most of their column."""
    for shapes in _parts(column):
        part = column.written_so(shapes)
        mainly = part.present >= MAINLY * column.present
        if mainly:
            part = part.written_so(shapes & (part.written < SELDOM * column.present))
        if len(part.hashes):
            yield _OddPart(name, part, mainly, column.present)


def _parts(column: ColumnSketch) -> Iterator[Mask]:
    """Part the ways in which a column is written: by words, digits, and the sign of a mailbox."""
    shapes = np.arange(len(column.written))
    words, signs, digits = np.minimum(shapes // 4 % 4, 2), shapes // 16 % 8, shapes // 128
    coarse = (np.where(digits >= 3, digits, np.minimum(digits, 1)) * 3 + words) * 2 + (signs == 1)
    for one in np.unique(coarse[column.written > 0]):
        yield coarse == one


def look_into_column(cells: DistinctCells) -> tuple[ContentFinding, ...]:
    """Say what distinct values hold, the weightiest first; weaker explanations are left out."""
    return look_into_columns([cells])[0]


def look_into_columns(columns: Sequence[DistinctCells]) -> list[tuple[ContentFinding, ...]]:
    """Say of many columns what :func:`look_into_column` says of one.

    Each detector looks at all of them before the next one does: its patterns are then built once.
    """
    findings: list[list[tuple[ContentKind, ContentFinding]]] = [[] for _ in columns]
    for values in (columns, [cells.unlabelled() for cells in columns]):
        askable = [_askable(cells) if cells is not None and len(cells.texts) else () for cells in values]
        known = [{kind.name for kind, _ in one} for one in findings]
        for kind in CONTENTS.values():
            for place, cells in enumerate(values):
                if cells is None or kind.name not in askable[place] or kind.name in known[place]:
                    continue
                if (finding := kind.load()(cells)) is not None:
                    findings[place].append((kind, finding))
    return [_settled(one) for one in findings]


def _askable(cells: DistinctCells) -> frozenset[str]:
    """Leave out kinds that no value can be of: patterns cost more than a glance at the characters."""
    signs = cells.signs
    digits = any(sign.isdigit() for sign in signs)
    letters = not cells.numeric and cells.letters
    long = digits and bool(contains(cells.compact, r"^[A-Z]{0,6}\d[A-Z0-9]{6,}$").any())
    without: set[str] = set()
    if not digits:
        without |= {"number", "shape", "date", "phone", "code", "record"}
    if not long:
        without |= {"number"}
    if not letters:
        without |= {"name"} if "{" in signs or "[" in signs else {"name", "text"}
    if cells.numeric:
        without |= {"code"}
    asked = [
        kind for kind in CONTENTS.values() if kind.group not in without or (kind.wordy and cells.letters)
    ]
    return frozenset(kind.name for kind in asked if kind.can_hold(signs))


def _settled(findings: Sequence[tuple[ContentKind, ContentFinding]]) -> tuple[ContentFinding, ...]:
    """Keep the best number, and of groups the first that explains most of the column."""
    numbers = [finding for kind, finding in findings if kind.group == "number"]
    best = max(numbers, key=_strength, default=None)
    kept: list[ContentFinding] = []
    explained = False
    for group in GROUPS:
        for kind, finding in findings:
            if kind.group != group or (group == "number" and finding is not best):
                continue
            numbered = group == "phone" and best is not None and best.share >= 0.8 * finding.share
            if not explained and not numbered:
                kept.append(finding)
        explained = explained or any(
            finding.share >= MAINLY and finding.reason.code not in NO_EXPLANATION for finding in kept
        )
    return tuple(sorted(kept, key=lambda finding: -finding.share * finding.confidence))


def _strength(finding: ContentFinding) -> float:
    right, shaped, chance = (float(str(finding.reason.values[key])) for key in ("right", "shaped", "chance"))
    return surprise(int(right), int(shaped), chance)


def _region(columns: Mapping[str, Sequence[ContentFinding]]) -> str | None:
    """Guess the country from numbers that only one country gives out."""
    homes = [HOMES[one.kind] for findings in columns.values() for one in findings if one.kind in HOMES]
    return max(set(homes), key=homes.count) if homes else None
