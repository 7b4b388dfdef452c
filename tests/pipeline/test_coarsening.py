"""Columns that are no quasi-identifiers are made coarser one value at a time, or the setting is refused."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mahrem as mh
from awkward_columns import KINDS, awkward_column
from cell_oracle import Column
from mahrem import recode
from mahrem.errors import GuaranteeBroken, Infeasible, InvalidInput, InvalidParameter
from mahrem.table import Exact, Prefix, Range, read_cell
from mahrem.table.cells import as_text
from mahrem.table.cells.formulas import restore_cells

pytestmark = pytest.mark.filterwarnings("ignore::mahrem.errors.PrivacyWarning")

REFUSED = (InvalidInput, InvalidParameter, Infeasible)
ROLES: dict[str, dict[str, Any]] = {
    "sensitive": {"sensitive": ["q"]},
    "insensitive": {"insensitive": ["q"]},
    "rest": {"rest": "insensitive"},
}
SAID: tuple[dict[str, Any], ...] = (
    {"top": {"q": 7}},
    {"bottom": {"q": 0}},
    {"bottom": {"q": -1}, "top": {"q": 100}},
    {"round": {"q": 5}},
    {"round": {"q": 0.25}, "top": {"q": 2}},
    {"grid": {"q": 10}},
    {"grid": {"q": 0.1}, "bottom": {"q": 0.2}},
    {"grid": {"q": "month"}},
    {"grid": {"q": "week"}},
    {"grid": {"q": "hour"}},
    {"prefix": {"q": 2}},
    {"prefix": {"q": 2}, "kind": {"q": "code"}},
)


def table(column: pl.Series) -> pl.DataFrame:
    groups = pl.Series("g", [place % 2 for place in range(len(column))])
    return pl.DataFrame([column.alias("q"), groups])


def too_fine(value: Any, cell: str | None, said: dict[str, Any]) -> str | None:
    """Judge one cell with Python's own numbers and dates; gives what is wrong with it."""
    if value is None or cell is None:
        return None if value is cell else "missing"
    read = read_cell(cell)
    if "prefix" in said:
        text, most = str(value), said["prefix"]["q"]
        if isinstance(read, Prefix):
            right = text.startswith(read.beginning) and len(read.beginning) <= most < len(text) <= read.length
            return None if right else "prefix"
        return None if isinstance(read, Exact) and read.text == text and len(text) <= most else "whole code"
    number = Decimal(str(value))
    ends = (read.low, read.high) if isinstance(read, Range) else (cell, cell)
    low, high = map(Decimal, ends)
    ends_said = {key: Decimal(str(said[key]["q"])) for key in ("top", "bottom") if key in said}
    if "top" in said and number >= ends_said["top"]:
        return None if (low, str(high)) == (ends_said["top"], "Infinity") else "top"
    if "bottom" in said and number <= ends_said["bottom"]:
        return None if (str(low), high) == ("-Infinity", ends_said["bottom"]) else "bottom"
    step = Decimal(str(said.get("round", said.get("grid", {"q": 0}))["q"]))
    if "round" in said:
        return None if low == high and low % step == 0 and abs(number - low) <= step / 2 else "round"
    if "grid" in said:
        right = low <= number <= high and low % step == 0 and high - low in (step, step - 1)
        return None if right else "grid"
    return None if low == high == number else "changed"


@pytest.mark.parametrize("kind", KINDS)
@given(
    picks=st.lists(st.none() | st.integers(0, 99), min_size=6, max_size=10),
    said=st.sampled_from(SAID),
    role=st.sampled_from(sorted(ROLES)),
    form=st.sampled_from(("csv", "parquet", "xlsx")),
)
@settings(max_examples=12, deadline=None)
def test_every_kind_at_its_extremes_is_as_coarse_as_said_or_refused(
    kind: str,
    picks: list[int | None],
    said: dict[str, Any],
    role: str,
    form: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    column = awkward_column(kind, picks)
    folder = tmp_path_factory.mktemp("kind") / "release"
    try:
        mh.anonymize(
            table(column),
            output=folder,
            quasi=["g"],
            k=2,
            format=form,
            html=False,
            shuffle=False,
            **ROLES[role],
            **said,
        )
    except REFUSED:
        return
    published = read_table(folder, form)["q"].cast(pl.String).to_list()
    if isinstance(said.get("grid", {}).get("q"), str):  # days and moments
        holds = Column(column)
        assert all(holds.inside(cell, row) for row, cell in enumerate(published))
        return
    values = (as_text(column) if "prefix" in said else column).to_list()
    wrong = [
        too_fine(None if value == "" else value, cell, said)
        for value, cell in zip(values, published, strict=True)
    ]
    assert set(wrong) == {None}, wrong


def read_table(folder: Path, form: str) -> pl.DataFrame:
    path = folder / f"data.{form}"
    if form == "parquet":
        return pl.read_parquet(path)
    if form == "xlsx":
        return restore_cells(mh_read(path).lazy()).collect()
    return restore_cells(pl.read_csv(path, infer_schema=False).lazy()).collect()


def mh_read(path: Path) -> pl.DataFrame:
    from mahrem.table import open_source

    opened = open_source(path)
    return opened.take(opened.columns)


WAGES = pl.DataFrame(
    {
        "id": range(12),
        "age": [20 + place for place in range(12)],
        "wage": [180.0 + 5 * place for place in range(12)],
        "start": [dt.date(2024, 1 + place % 3, 1 + place) for place in range(12)],
        "icd": [f"E1{place % 10}.{place % 3}" for place in range(12)],
    }
)
KEPT: dict[str, Any] = {"quasi": ["age"], "identifier": ["id"], "k": 3, "shuffle": False}


ACCEPTED = {"accept": {"start": "invented", "icd": "invented", "wage": "invented"}}


def released(frame: Any = WAGES, **said: Any) -> Any:
    return mh.anonymize(frame, **{**KEPT, **ACCEPTED, "rest": "insensitive", **said}).table


def test_no_number_above_top_is_shown_whatever_the_role() -> None:
    for role in ({}, {"sensitive": ["wage"]}, {"insensitive": ["wage"]}):
        shown = released(top={"wage": 200}, **role)["wage"].to_list()
        assert shown[:4] == ["180", "185", "190", "195"]
        assert set(shown[4:]) == {"[200, inf]"}


def test_grids_of_numbers_and_dates_are_disjoint_cells() -> None:
    shown = released(WAGES.with_columns(pl.col("wage").cast(pl.Int64)), grid={"wage": 20, "start": "month"})
    assert shown["wage"].unique().sort().to_list() == ["[180, 199]", "[200, 219]", "[220, 239]"]
    assert shown["start"][0] == "[2024-01-01, 2024-01-31]"
    assert released(grid={"start": "year"})["start"].unique().to_list() == ["[2024-01-01, 2024-12-31]"]


def test_codes_show_their_beginning_and_numbers_their_nearest_multiple() -> None:
    shown = released(prefix={"icd": 2}, round={"wage": 50})
    assert shown["icd"].unique().to_list() == ["E1***"]
    assert shown["wage"].unique().sort().to_list() == [200, 250]


def test_promises_count_what_is_published() -> None:
    values = {"wage": {"l": 3}}
    assert released(sensitive=values, grid={"wage": 20})["wage"].n_unique() == 3
    with pytest.raises(Infeasible, match="distinct"):
        released(sensitive=values, grid={"wage": 100})


def test_ordered_closeness_follows_the_ends_of_cells_and_not_their_text() -> None:
    cells = ["[5, 9]", "[10, 19]", "[100, 199]", "[200, inf]"]
    frame = pl.DataFrame({"g": ["a"] * 4 + ["b"] * 4, "v": cells + cells[:2] + cells[:2]})
    numbers = frame.with_columns(v=pl.col("v").replace_strict(cells, [1, 2, 3, 4]))
    reached = [
        mh.audit(each, quasi=["g"], sensitive={"v": {"t": 0.9, "t_kind": "ordered"}}).report["promises"]
        for each in (frame, numbers)
    ]
    assert reached[0] == reached[1]


def test_missing_stays_missing_and_suppressed_rows_show_nothing() -> None:
    frame = WAGES.with_columns(
        wage=pl.when(pl.col("id") == 3).then(None).otherwise("wage"),
        age=pl.when(pl.col("id") == 5).then(None).otherwise("age"),
    )
    shown = released(frame, grid={"wage": 10}, missing="suppress")["wage"].to_list()
    assert (shown[3], shown[5]) == (None, "*")


@pytest.mark.parametrize("kind", ["pandas", "arrow", "lazy", "csv", "duckdb"])
def test_every_source_gives_the_same_cells(kind: str, tmp_path: Path) -> None:
    said = {"grid": {"start": "month"}, "round": {"wage": 10}, "top": {"wage": 230}, "prefix": {"icd": 3}}
    wanted = released(**said).rows()
    if kind == "pandas":
        days = WAGES.to_pandas().assign(start=lambda frame: [moment.date() for moment in frame["start"]])
        shown = pl.from_pandas(released(days, **said)).rows()
    elif kind == "arrow":
        shown = pl.from_arrow(released(WAGES.to_arrow(), **said)).rows()  # type: ignore[union-attr]
    elif kind == "lazy":
        shown = released(WAGES.lazy(), **said).collect().rows()
    elif kind == "csv":
        WAGES.write_csv(tmp_path / "wages.csv")
        shown = released(tmp_path / "wages.csv", **said).rows()
    else:
        frame = WAGES.to_arrow()  # noqa: F841 - DuckDB finds it by its name
        with duckdb.connect(str(tmp_path / "wages.duckdb")) as held:
            held.execute("CREATE TABLE wages AS SELECT * FROM frame")
        shown = released(str(tmp_path / "wages.duckdb"), table="wages", **said).rows()
    assert shown == wanted


def test_a_database_gets_the_coarse_column_too(tmp_path: Path) -> None:
    target = str(tmp_path / "out.duckdb")
    mh.anonymize(WAGES, to=(target, "shown"), top={"wage": 200}, rest="insensitive", **KEPT, **ACCEPTED)
    with duckdb.connect(target) as held:
        assert ("[200, inf]",) in held.execute("SELECT wage FROM shown").fetchall()


def test_decimal_commas_stay_and_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "wages.csv"
    text = WAGES.with_columns((pl.col("wage") + 0.5).cast(pl.String).str.replace(".", ",", literal=True))
    text.write_csv(path, separator=";")
    shown = released(path, delimiter=";", decimal=",", top={"wage": 200}, sensitive=["wage"])[
        "wage"
    ].to_list()
    assert shown[:4] == ["180,5", "185,5", "190,5", "195,5"]
    assert set(shown[4:]) == {"[200, inf]"}
    rounded = released(path, delimiter=";", decimal=",", round={"wage": 0.5}, sensitive=["wage"])["wage"]
    assert rounded.to_list()[:3] == ["180,5", "185,5", "190,5"]


def test_a_recipe_makes_later_rows_as_coarse(tmp_path: Path) -> None:
    said = {"grid": {"wage": 20}, "prefix": {"icd": 2}, "top": {"age": 28}}
    mh.anonymize(
        WAGES, output=tmp_path / "first", rest="insensitive", sensitive=["wage"], **KEPT, **ACCEPTED, **said
    )
    again = mh.apply(tmp_path / "first", WAGES)
    later = mh.apply(tmp_path / "first", WAGES.with_columns(pl.col("wage") + 1))
    assert again.table["wage"][0] == later.table["wage"][0] == "[180, 199]"
    assert later.table["icd"].unique().to_list() == ["E1***"]
    lacking = mh.apply(tmp_path / "first", WAGES.drop("icd"))
    assert "icd" not in lacking.table.columns


def test_an_attacker_with_the_original_compares_cells_with_cells(tmp_path: Path) -> None:
    mh.anonymize(WAGES, output=tmp_path / "out", sensitive=["wage"], grid={"wage": 10}, rest="drop", **KEPT)
    team = mh.attack(tmp_path / "out", original=WAGES)
    (single,) = (found for found in team.findings if found.attack == "singling-out")
    assert single.trials
    assert single.successes > 0  # cells of two people in a class of three differ: each description fits one


def test_what_learning_measures_was_rewritten_once() -> None:
    frame = mh.demo_patients(400)
    release = mh.anonymize(
        frame,
        quasi=["age", "sex"],
        sensitive=["cost"],
        insensitive=["smoker", "bmi"],
        rest="drop",
        k=5,
        grid={"cost": 1000},
        round={"bmi": 1},
        target="smoker",
    )
    assert release.report["learning"]["target"] == "smoker"


def test_a_file_that_shows_more_is_never_handed_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recode, "open_ends", lambda cells, *_, **__: cells)
    with pytest.raises(GuaranteeBroken, match="as coarsely"):
        released(top={"wage": 200})


REFUSALS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"top": {"icd": 3}}, "words"),
    ({"grid": {"wage": "month"}}, "number"),
    ({"grid": {"start": 5}}, "month"),
    ({"round": {"start": 5}}, "dates"),
    ({"top": {"start": 5}}, "dates"),
    ({"prefix": {"wage": 2}}, "code"),
    ({"prefix": {"start": 2}}, "code"),
    ({"round": {"icd": 2}}, "words"),
    ({"grid": {"wage": 20}, "top": {"wage": 210}}, "multiple"),
    ({"round": {"wage": 20}, "bottom": {"wage": 190}}, "multiple"),
    ({"grid": {"wage": 20}, "round": {"wage": 20}}, "one of them"),
    ({"prefix": {"icd": 2}, "grid": {"icd": 2}}, "one of them"),
    ({"round": {"wage": 0}}, "above 0"),
    ({"prefix": {"icd": 0}}, "at least 1"),
    ({"top": {"nobody": 1}}, "nobody"),
)


@pytest.mark.parametrize(
    ("said", "why"), REFUSALS, ids=lambda value: str(value) if isinstance(value, dict) else ""
)
def test_what_a_column_cannot_have_is_refused_by_name(said: dict[str, Any], why: str) -> None:
    with pytest.raises((InvalidParameter, KeyError), match=why):
        released(**said)


def test_sparse_codes_are_zeros_before_they_are_cut() -> None:
    frame = WAGES.with_columns(icd=pl.Series(["03601", "34710"] * 6))
    shown = released(frame, sparse={"icd": ["036"]}, prefix={"icd": 3}, kind={"icd": "code"})
    assert shown["icd"].unique().sort().to_list() == ["000**", "347**"]
