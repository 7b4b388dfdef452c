"""What was done to each column, and why."""

from __future__ import annotations

from dataclasses import dataclass

from mahrem.report._report import Report, ReportColumn
from mahrem.report._section import Section
from mahrem.words import Catalogue

__all__ = ["SECTION"]


@dataclass(frozen=True, kw_only=True)
class ColumnRow:
    """One column in words."""

    name: str
    role: str
    why: str
    done: str
    cells: str
    loss: str


@dataclass(frozen=True)
class ColumnsView:
    """All columns."""

    rows: tuple[ColumnRow, ...]


def draw(report: Report, words: Catalogue) -> ColumnsView | None:
    """Say of each column what it is and what became of it."""
    removed, kept = (
        {
            name: ReportColumn(role=role)
            for name in report.settings.get(role, ())
            if name not in report.columns
        }
        for role in ("identifier", "insensitive")
    )
    columns = {**removed, **report.columns, **kept}
    return ColumnsView(tuple(_row(*column, report, words) for column in columns.items())) if columns else None


def _row(name: str, column: ReportColumn, report: Report, words: Catalogue) -> ColumnRow:
    role = column.role or ""
    return ColumnRow(
        name=name,
        role=words["role"].get(role, role),
        why=words["why"].get(role, ""),
        done=_done(name, column, report, words),
        cells=_cells(column, report.rows, words),
        loss=words.percent(column.gcp) if column.gcp is not None else "",
    )


def _done(name: str, column: ReportColumn, report: Report, words: Catalogue) -> str:
    usual = {"identifier": "removed", "quasi": "generalised"}.get(column.role or "", "untouched")
    done = column.recoding or usual
    if name in report.settings.get("pseudonym", ()):
        done = "pseudonym"
    elif done == "intervals" and column.kind == "date":
        done = "dates"
    if column.generalised_cells == 0 and column.suppressed_cells == 0:
        done = "untouched"
    return str(words["done"].get(done, done))


def _cells(column: ReportColumn, rows: int | None, words: Catalogue) -> str:
    generalised, suppressed = column.generalised_cells, column.suppressed_cells
    if not rows or generalised is None or suppressed is None or not (generalised or suppressed):
        return ""
    return words.say("done.cells", generalised=generalised / rows, suppressed=suppressed / rows)


SECTION = Section(name="columns", place=20, draw=draw, part="columns")
