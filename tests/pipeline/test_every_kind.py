"""Every kind of value, at its extremes, by every family of methods, in every format: right, or refused."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars import selectors

import mahrem as mh
from awkward_columns import KINDS, awkward_column
from cell_oracle import Column
from mahrem.errors import Infeasible, InvalidInput, InvalidParameter
from mahrem.table.cells.formulas import restore_cells

pytestmark = pytest.mark.filterwarnings("ignore::mahrem.errors.PrivacyWarning")

METHODS = ("mondrian", "canon", "mosaic", "mdav", "kanonymeans", "flash", "datafly")
FORMATS = ("csv", "tsv", "parquet", "arrow", "xlsx")
REFUSED = (InvalidInput, InvalidParameter, Infeasible)  # anything else would be a fault
SEPARATORS = {"csv": ",", "tsv": "\t"}


PICKS = st.lists(st.none() | st.integers(0, 99), min_size=6, max_size=10)


@st.composite
def releases(draw: st.DrawFn) -> tuple[list[int | None], list[int], dict[str, Any], str]:
    """Rows of the column, another one, and how they are released."""
    rows = draw(st.integers(6, 12))
    picks = draw(st.lists(st.none() | st.integers(0, 99), min_size=rows, max_size=rows))
    groups = draw(st.lists(st.integers(0, 2), min_size=rows, max_size=rows))
    role = draw(st.sampled_from(("quasi", "quasi", "alone", "sensitive", "insensitive")))
    method = draw(st.sampled_from(METHODS))
    said: dict[str, Any] = {
        "method": method,
        "format": draw(st.sampled_from(FORMATS)),
        "bounds": draw(st.sampled_from(("grid", "exact"))),
        "html": draw(st.booleans()),
        "missing": draw(st.sampled_from(("category", "suppress"))),
        "k": 2,
        "seed": 1,
        "shuffle": False,
    }
    if method in {"flash", "datafly"}:
        said["suppression_limit"] = 0.5
    return picks, groups, said, role


ROLES = {
    "quasi": {"quasi": ["q", "g"], "sensitive": "s"},
    "alone": {"quasi": ["q"]},
    "sensitive": {"quasi": ["g"], "sensitive": "q"},
    "insensitive": {"quasi": ["g"], "insensitive": ["q"], "sensitive": "s"},
}
COLUMNS = {"alone": ["q"], "sensitive": ["q", "g"]}


@pytest.mark.parametrize("kind", KINDS)
@given(made=releases())
@settings(max_examples=5)
def test_every_value_is_inside_its_cell_in_every_file_or_the_column_is_refused(
    kind: str, made: tuple[list[int | None], list[int], dict[str, Any], str], tmp_path_factory: Any
) -> None:
    picks, groups, said, role = made
    column = awkward_column(kind, picks)
    illnesses = pl.Series("s", [("flu", "gout")[place % 2] for place in range(len(picks))])
    frame = pl.DataFrame([column, pl.Series("g", groups), illnesses]).select(
        COLUMNS.get(role, ["q", "g", "s"])
    )
    folder = tmp_path_factory.mktemp("kind") / "release"
    try:
        mh.anonymize(frame, output=folder, **ROLES[role], **said)
    except REFUSED as error:
        refused = str(error)
    else:
        refused = None
    if refused is not None:
        assert in_our_words(refused), refused
        assert list(folder.parent.iterdir()) == []
        return
    assert mh.audit(folder).holds
    shown = published(folder / f"data.{said['format']}", said["format"])
    assert shown.height == frame.height
    if role in {"quasi", "alone"}:
        values = Column(column)
        cells = shown["q"].cast(pl.String).to_list()
        assert [cell for row, cell in enumerate(cells) if not values.inside(cell, row)] == []
    else:
        seen = (shown["g"] != "*").fill_null(value=True)  # rows that show nothing say nothing here either
        assert told_alike(column.filter(seen), shown["q"].filter(seen), said["format"])


def in_our_words(message: str) -> bool:
    """Say whether a refusal is a sentence of ours; a library's own error would be its name and no more."""
    return "Error" not in message and len(message) > 20


def published(path: Path, form: str) -> pl.DataFrame:
    """Read what was published as others would, and see that all readers of text read the same."""
    if form == "parquet":
        return pl.read_parquet(path)
    if form == "arrow":
        return pl.read_ipc(path.read_bytes())
    if form == "xlsx":
        import fastexcel

        book = fastexcel.read_excel(path)
        found = book.load_sheet(0, dtypes="string").to_polars()
        typed = book.load_sheet(0).to_polars()  # as text its reader rounds numbers
        found = found.with_columns(typed.select(selectors.float().cast(pl.String)))
    else:
        found = _read_alike(path, SEPARATORS[form])
    return restore_cells(found.lazy()).collect()


def _read_alike(path: Path, separator: str) -> pl.DataFrame:
    with path.open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file, delimiter=separator)
    by_polars = pl.read_csv(path, separator=separator, infer_schema=False)
    by_pandas = pd.read_csv(path, sep=separator, dtype=str, keep_default_na=False)
    by_duckdb = duckdb.read_csv(
        str(path), sep=separator, header=True, all_varchar=True, quotechar='"', escapechar='"'
    )
    assert len(pd.read_csv(path, sep=separator, low_memory=False)) == len(rows)
    readings = {
        "polars": [[cell or "" for cell in row] for row in by_polars.rows()],
        "pandas": by_pandas.to_numpy().tolist(),
        "duckdb": [[cell or "" for cell in row] for row in by_duckdb.fetchall()],
    }
    assert {reader: found for reader, found in readings.items() if found != rows} == {}
    assert list(by_pandas.columns) == head == by_polars.columns
    return pl.DataFrame(
        {name: pl.Series([row[place] for row in rows], dtype=pl.String) for place, name in enumerate(head)}
    )


def told_alike(column: pl.Series, shown: pl.Series, form: str) -> bool:
    """Say whether a column that is published as it is says the same in every row."""
    if form in {"parquet", "arrow"} and shown.dtype != pl.String:
        return shown.equals(column, null_equal=True) or shown.cast(pl.String).equals(
            column.cast(pl.String), null_equal=True
        )
    values = Column(column)
    if column.dtype == pl.String:
        return [cell or "" for cell in shown] == [value or "" for value in column]
    if column.dtype == pl.Time:
        return [cell or "" for cell in shown] == ["" if time is None else time.isoformat() for time in column]
    return all(
        values.inside(cell, row) or _as_float(cell) == _as_float(values.held[row])
        for row, cell in enumerate(shown)
    )


def _as_float(value: Any) -> str:
    """Infinite and undefined numbers have many spellings."""
    try:
        return str(float(value))
    except (TypeError, ValueError):
        return repr(value)


@pytest.mark.parametrize("kind", KINDS)
@given(picks=PICKS, method=st.sampled_from(METHODS))
@settings(max_examples=2)
def test_a_recipe_is_applied_to_every_kind_or_refused(
    kind: str, picks: list[int | None], method: str, tmp_path_factory: Any
) -> None:
    column = awkward_column(kind, picks)
    folder = tmp_path_factory.mktemp("recipe") / "release"
    limit = {"suppression_limit": 0.5} if method in {"flash", "datafly"} else {}
    try:
        mh.anonymize(
            column.to_frame(), output=folder, quasi=["q"], k=2, seed=1, method=method, html=False, **limit
        )
        if not (folder / "release.recipe").exists():
            return
        again = mh.apply(folder, column.to_frame()).table
    except REFUSED:
        return
    values = Column(column)
    assert [row for row, cell in enumerate(again["q"].cast(pl.String)) if not values.inside(cell, row)] == []


@pytest.mark.parametrize("kind", KINDS)
@given(
    picks=PICKS,
    role=st.sampled_from(tuple(ROLES)),
)
@settings(max_examples=2)
def test_a_database_holds_every_kind_or_refuses_it(
    kind: str, picks: list[int | None], role: str, tmp_path_factory: Any
) -> None:
    column = awkward_column(kind, picks)
    groups = pl.Series("g", [place % 2 for place in range(len(picks))])
    illnesses = pl.Series("s", [("flu", "gout")[place % 2] for place in range(len(picks))])
    frame = pl.DataFrame([column, groups, illnesses]).select(COLUMNS.get(role, ["q", "g", "s"]))
    target = tmp_path_factory.mktemp("database") / "people.duckdb"
    try:
        release = mh.anonymize(frame, k=2, seed=1, shuffle=False, **ROLES[role])
        release.write(str(target), "published")
    except REFUSED:
        return
    with duckdb.connect(str(target), read_only=True) as connection:
        shown = connection.sql("SELECT q FROM published").pl()["q"]
    assert len(shown) == frame.height
    if role in {"quasi", "alone"}:
        values = Column(column)
        assert [row for row, cell in enumerate(shown.cast(pl.String)) if not values.inside(cell, row)] == []


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"int128", "arrays", "structs"}))  # pandas has none
@given(picks=PICKS, cells=st.sampled_from(("text", "pairs", "midpoint")))
@settings(max_examples=2)
def test_a_frame_of_pandas_is_released_in_every_form_or_refused(
    kind: str, picks: list[int | None], cells: str, tmp_path_factory: Any
) -> None:
    groups = pl.Series("g", [place % 2 for place in range(len(picks))])
    frame = pl.DataFrame([awkward_column(kind, picks), groups]).to_pandas()
    folder = tmp_path_factory.mktemp("pandas") / "release"
    try:
        release = mh.anonymize(frame, output=folder, quasi=["q", "g"], k=2, seed=1, cells=cells)
    except REFUSED:
        return
    assert len(release.table) == len(frame)
    assert mh.audit(folder).holds


@pytest.mark.parametrize("words", [["x", None, "y", None], [None, None, "x", "x"], [" ", "x", "\t", None]])
def test_a_table_of_one_column_keeps_its_empty_rows_for_every_reader(
    tmp_path: Path, words: list[str | None]
) -> None:
    mh.anonymize(pl.DataFrame({"q": words}), output=tmp_path / "r", quasi=["q"], k=2, shuffle=False)
    assert _read_alike(tmp_path / "r" / "data.csv", ",").height == 4
    assert mh.audit(tmp_path / "r").holds


def test_cells_of_the_first_years_begin_with_the_first_year() -> None:
    days = awkward_column("days of the first years", range(8))
    for method in ("flash", "mondrian"):
        limit = {"suppression_limit": 0.5} if method == "flash" else {}
        shown = mh.anonymize(days.to_frame(), quasi=["q"], k=2, method=method, **limit).table["q"]
        assert not shown.str.contains("0000-").any()


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("nanoseconds", "have nanoseconds"),
        ("days beyond the calendar", "before the year 1 or after 9999"),
        ("fine decimals", "more than 15 digits"),
        ("lists", "holds List values"),
        ("infinite", "not finite"),
    ],
)
def test_what_cells_cannot_show_is_refused_by_name(kind: str, why: str) -> None:
    with pytest.raises((InvalidInput, InvalidParameter), match=f"column='q'.*{why}"):
        mh.anonymize(awkward_column(kind, range(8)).to_frame(), quasi=["q"], k=2)
