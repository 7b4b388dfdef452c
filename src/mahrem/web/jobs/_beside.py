"""Two candidates made in depth: what their reports say, and a few rows of different people on each side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mahrem.web._errors import Refused
from mahrem.web._orders import JobOrder, Json
from mahrem.web.jobs._drawn import draw_beside
from mahrem.web.projects import SHOWS_ROWS
from mahrem.words import Note, Progress

if TYPE_CHECKING:
    import polars as pl

_EXAMPLE_ROWS = 5  # that a candidate would publish, shown beside another one's


def make_beside(order: JobOrder, progress: Progress) -> Json:
    """Make two candidates on every row, as a release would, and keep what their reports say.

    Raises:
        Refused: If the table has too few people to show others on each side.
    """
    from mahrem.pipeline import anonymize
    from mahrem.report import Report

    target, sides = order.arguments["target"] or None, order.arguments["sides"]
    people = _people(order, sides)
    apart = rows_apart(people)
    (order.place / SHOWS_ROWS).touch(mode=0o600)
    reports, rows = {}, {}
    for number, ((known, settings), places) in enumerate(zip(sides.items(), apart, strict=True), start=1):
        progress(Note("stage.candidate", {"number": number, "all": len(sides)}))
        release = anonymize(order.table, target=target, **{**order.reading, **settings})
        reports[known] = Report.read(release.report)
        rows[known] = _shown(release.table, places, people.height)
    draw_beside(order.place, reports)
    return {"sides": list(sides), "target": target, "rows": rows}


def _people(order: JobOrder, sides: Mapping[str, Json]) -> pl.DataFrame:
    """Say whose rows they are, in their order: by each column that a side says it by, else each its own."""
    import polars as pl

    from mahrem.release.decisions import policy_from, reading_of
    from mahrem.table import open_source

    source = open_source(order.table, reading_of(policy_from(None, order.reading)))
    subjects = {settings["subject"] for settings in sides.values() if settings.get("subject")}
    if not subjects:
        return pl.DataFrame({"row": range(source.rows)})
    return source.take(sorted(subjects)).select(pl.all().cast(pl.String).fill_null(""))


def rows_apart(people: pl.DataFrame) -> tuple[list[int], list[int]]:
    """Draw rows for two sides by one permutation of all.

    Args:
        people: Whose rows they are, a column for each way to tell.

    Guarantees:
        - No row of one side is of a person whose row is on the other.

    Raises:
        Refused: If there are too few people for both sides.
    """
    drawn = people.with_row_index("row number").sample(fraction=1, shuffle=True)
    first, rest = drawn.head(_EXAMPLE_ROWS), drawn.slice(_EXAMPLE_ROWS)
    for name in people.columns:
        rest = rest.filter(~rest[name].is_in(first[name].implode()))
    second = rest.head(_EXAMPLE_ROWS)
    if second.height < _EXAMPLE_ROWS:
        raise Refused(422, "too_few_people", most=2 * _EXAMPLE_ROWS)
    return first["row number"].to_list(), second["row number"].to_list()


def _shown(table: Any, places: list[int], rows: int) -> Json:
    """Show some rows as they would be published; none where a cluster has them, or some were left out."""
    import polars as pl

    if not isinstance(table, pl.DataFrame) or table.height != rows:
        return {"columns": [], "rows": []}
    return {"columns": table.columns, "rows": table[places].cast(pl.String).rows()}
