"""A moment in a time zone keeps it: in cells, in files, and when they are read back."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mahrem as mh
from mahrem.errors import InvalidInput
from mahrem.table import Range, open_source, read_cell, read_ranges
from mahrem.table.cells import write_ranges

# With and without summer time, half hours, jumps at midnight, a day left out, clocks that were seconds off.
ZONES = [
    "UTC",
    "Europe/Istanbul",
    "Europe/Berlin",
    "America/St_Johns",
    "America/Sao_Paulo",
    "Asia/Kolkata",
    "Africa/Cairo",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "America/Toronto",
]
STEPS = ["minute", "hour", "day", "week", "month", "quarter", "year"]
EVENTS = [
    dt.datetime(2022, 10, 30, 0, 30, tzinfo=dt.UTC),  # Berlin puts its clocks back
    dt.datetime(2022, 3, 27, 1, 0, tzinfo=dt.UTC),
    dt.datetime(2018, 11, 4, 3, 0, tzinfo=dt.UTC),  # midnight is left out in São Paulo
    dt.datetime(2023, 4, 27, 22, 0, tzinfo=dt.UTC),  # and in Cairo
    dt.datetime(2011, 12, 30, 10, 0, tzinfo=dt.UTC),  # a whole day in Apia
    dt.datetime(1919, 3, 31, 4, 30, tzinfo=dt.UTC),  # 23:30 to 00:30 in Toronto
    dt.datetime(1880, 1, 1, tzinfo=dt.UTC),
]
INSTANTS = st.builds(
    lambda event, minutes, micros: event + dt.timedelta(minutes=minutes, microseconds=micros),
    st.sampled_from(EVENTS),
    st.one_of(st.integers(-180, 180), st.integers(-60_000, 60_000)),
    st.sampled_from([0, 0, 1, 999_999]),
)


def moments(instants: list[dt.datetime], zone: str) -> pl.Series:
    return pl.Series("at", instants, dtype=pl.Datetime("us", "UTC")).dt.convert_time_zone(zone)


def inside(cells: pl.Series, ticks: list[int]) -> bool:
    low, high = read_ranges(cells)
    return bool(np.all((low <= ticks) & (np.array(ticks) <= high)))


@settings(max_examples=80)
@given(st.lists(INSTANTS, min_size=4, max_size=12), st.sampled_from(ZONES), st.sampled_from([*STEPS, None]))
def test_every_instant_lies_in_its_cell_as_it_is_read_back(
    instants: list[dt.datetime], zone: str, step: str | None
) -> None:
    at = moments(instants, zone)
    grid = {} if step is None else {"grid": {"at": step}}
    table = mh.anonymize(at.to_frame(), quasi="at", k=2, html=False, **grid).table
    assert inside(table["at"], at.to_physical().to_list())
    for cell, instant in zip(table["at"], instants, strict=True):
        read = read_cell(cell)
        low, high = (read.low, read.high) if isinstance(read, Range) else (cell, cell)
        assert dt.datetime.fromisoformat(low) <= instant <= dt.datetime.fromisoformat(high)


@settings(max_examples=60)
@given(st.lists(INSTANTS, min_size=2, max_size=8), st.sampled_from(ZONES))
def test_what_is_written_is_read_as_the_same_instants(instants: list[dt.datetime], zone: str) -> None:
    at = moments(sorted(instants), zone)
    low, high = read_ranges(write_ranges(at[:-1], at[1:]))
    ticks = at.to_physical().to_list()
    assert (low.tolist(), high.tolist()) == (ticks[:-1], ticks[1:])


@settings(max_examples=40)
@given(st.lists(INSTANTS, min_size=6, max_size=12), st.sampled_from(ZONES))
def test_levels_of_a_hierarchy_hold_their_instants(instants: list[dt.datetime], zone: str) -> None:
    at = moments(instants, zone)
    table = mh.anonymize(at.to_frame(), quasi="at", k=2, method="flash", html=False).table
    shown = table.filter(pl.col("at") != "*")["at"]
    kept = at.filter(table["at"] != "*")
    assert inside(shown, kept.to_physical().to_list())


BERLIN = moments([EVENTS[0] + dt.timedelta(minutes=10 * step) for step in range(12)], "Europe/Berlin")


@pytest.mark.parametrize("bounds", ["grid", "exact"])
@pytest.mark.parametrize("kind", ["pandas", "polars", "lazy", "pyarrow", "parquet", "duckdb"])
def test_every_source_keeps_its_zone(kind: str, bounds: str, tmp_path: Path) -> None:
    frame = BERLIN.to_frame()
    frame.write_parquet(tmp_path / "data.parquet")
    made: dict[str, Any] = {
        "pandas": frame.to_pandas(),
        "polars": frame,
        "lazy": frame.lazy(),
        "pyarrow": frame.to_arrow(),
        "parquet": tmp_path / "data.parquet",
        "duckdb": open_source(frame.to_arrow().to_reader()).rebuild({}),
    }
    release = mh.anonymize(
        made[kind], quasi="at", k=3, bounds=bounds, output=tmp_path / "release", html=False
    )
    cells = open_source(release.table).take(["at"])["at"]
    assert inside(cells, BERLIN.to_physical().to_list())
    assert cells.str.contains(r"\+0[12]:00\]?$").all()
    assert mh.audit(tmp_path / "release").report["holds"]
    found = mh.attack(tmp_path / "release", original=made[kind])
    assert not any("cannot be read" in said for said in found.report["warnings"])


@pytest.mark.parametrize("cells", ["pairs", "midpoint", "centroid"])
def test_typed_cells_keep_the_zone(cells: str) -> None:
    table = mh.anonymize(BERLIN.to_frame(), quasi="at", k=3, cells=cells, html=False).table
    assert all(kind == pl.Datetime("us", "Europe/Berlin") for kind in table.dtypes)
    if cells == "pairs":
        assert ((table["at_min"] <= BERLIN) & (table["at_max"] >= BERLIN)).all()


@pytest.mark.parametrize(
    ("ending", "shown"),
    [("+03:00", "+03:00"), ("Z", "+00:00"), ("+0530", "+05:30"), (" -05", "-05:00"), ("+01:07", "+00:00")],
)
def test_text_with_an_offset_is_an_instant(ending: str, shown: str, tmp_path: Path) -> None:
    walls = [f"2022-10-{day:02}T{hour:02}:15:00" for day in (1, 2, 3) for hour in (0, 12, 23)]
    path = tmp_path / "data.csv"
    path.write_text("at\n" + "".join(f"{wall}{ending}\n" for wall in walls), encoding="utf-8")
    table = mh.anonymize(path, quasi="at", k=3, html=False).table
    assert table["at"].str.contains(shown, literal=True).all()
    zone = dt.datetime.fromisoformat(
        "2022-10-01T00:00:00" + (ending.strip() if ending != " -05" else "-05:00")
    )
    truth = [dt.datetime.fromisoformat(wall).replace(tzinfo=zone.tzinfo) for wall in walls]
    assert inside(table["at"], [int(one.timestamp()) * 1_000_000 for one in truth])


def test_offsets_that_differ_are_shown_in_utc(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("at\n" + "2022-07-01T12:00:00+02:00\n2022-12-01T12:00:00+01:00\n" * 3, encoding="utf-8")
    cells = mh.anonymize(path, quasi="at", k=3, html=False, bounds="exact").table["at"].unique()
    assert sorted(cells) == ["2022-07-01T10:00:00+00:00", "2022-12-01T11:00:00+00:00"]


def test_an_offset_alone_is_a_zone_of_a_frame_too() -> None:
    zone = dt.timezone(dt.timedelta(hours=5, minutes=30))
    given_at = [dt.datetime(2022, 1, day, 23, tzinfo=zone) for day in (1, 1, 2, 2)]
    typed = pa.array(given_at, pa.timestamp("us", tz="+05:30"))
    frames: list[Any] = [pd.DataFrame({"at": given_at, "b": given_at}), pa.table({"at": typed, "b": typed})]
    for frame in frames:
        release = mh.anonymize(
            frame,
            quasi="at",
            insensitive="b",
            accept={"*": "to tell rows apart"},
            k=2,
            html=False,
            bounds="exact",
        )
        assert set(open_source(release.table).take(["at"])["at"]) == {
            "2022-01-01T23:00:00+05:30",
            "2022-01-02T23:00:00+05:30",
        }
        assert open_source(release.table).rows == 4


MIXED = ["2022-10-01T10:00:00+03:00", "2022-10-01T10:00:00", "2022-10-02T10:00:00Z", "2022-10-03"]


@pytest.mark.parametrize("said", [{}, {"kind": {"at": "date"}}])
def test_moments_with_and_without_a_zone_are_not_mixed(said: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="with a time zone and some without"):
        mh.anonymize(pl.DataFrame({"at": MIXED}), quasi="at", k=2, **said)
    objects = pd.DataFrame({"at": [dt.datetime.fromisoformat(text) for text in MIXED]}, dtype=object)
    with pytest.raises(InvalidInput, match="with a time zone and some without"):
        mh.anonymize(objects, quasi="at", k=2, **said)


def test_mixed_text_may_be_words_if_that_is_said() -> None:
    table = pl.DataFrame({"at": MIXED})
    assert mh.anonymize(table, quasi="at", kind={"at": "categorical"}, k=2, html=False).holds
    assert mh.inspect(table).columns[0].kind == "categorical"


def test_a_population_without_the_zone_is_refused() -> None:
    people = BERLIN.to_frame()
    others = people.with_columns(pl.col("at").dt.replace_time_zone(None, ambiguous="earliest"))
    said: dict[str, Any] = {"quasi": "at", "k": 2, "delta_presence": (0, 1), "bounds": "exact"}
    with pytest.raises(InvalidInput, match="time zone in one table and none in the other"):
        mh.anonymize(people, population=others, **said)
    assert mh.anonymize(people, population=people, html=False, **said).holds


def test_a_batch_without_the_zone_is_not_sorted_into_a_recipe_with_one(tmp_path: Path) -> None:
    people = BERLIN.to_frame()
    mh.anonymize(people, quasi="at", k=3, output=tmp_path / "release", html=False)
    again = mh.apply(tmp_path / "release", people, html=False).table["at"]
    assert inside(again, BERLIN.to_physical().to_list())
    moved = people.with_columns(pl.col("at").dt.convert_time_zone("Asia/Tokyo"))
    assert mh.apply(tmp_path / "release", moved, html=False).table["at"].to_list() == again.to_list()
    bare = people.with_columns(pl.col("at").dt.replace_time_zone(None))
    with pytest.raises((InvalidInput, mh.Infeasible)):
        mh.apply(tmp_path / "release", bare, html=False)


def test_a_spreadsheet_and_a_csv_file_keep_the_zone_of_untouched_columns(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [1, 1, 2, 2], "at": BERLIN[:4]})
    for form in ("csv", "tsv", "xlsx"):
        folder = tmp_path / "release"  # the same people: the earlier one is replaced
        mh.anonymize(
            frame,
            quasi="age",
            insensitive="at",
            accept={"*": "to tell rows apart"},
            k=2,
            output=folder,
            format=form,
            shuffle=False,
            force=True,
            html=False,
        )
        held = open_source(folder / f"data.{form}").take(["at"])["at"]
        low, _ = read_ranges(held)
        assert low.tolist() == frame["at"].to_physical().to_list()


def test_an_hour_that_comes_twice_is_two_hours() -> None:
    first = dt.datetime(2022, 10, 30, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    at = pl.Series("at", [first, first.replace(fold=1)] * 2, dtype=pl.Datetime("us", "Europe/Berlin"))
    cells = mh.anonymize(at.to_frame(), quasi="at", k=2, bounds="exact", html=False).table["at"]
    assert set(cells) == {"2022-10-30T02:30:00+02:00", "2022-10-30T02:30:00+01:00"}
