"""Dates move by one secret number of days for each person: intervals stay, and nobody is told how far."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

import mahrem as mh
from mahrem.errors import GuaranteeBroken, InvalidParameter
from mahrem.verify import rows_badly_shifted

pytestmark = pytest.mark.filterwarnings("ignore::mahrem.errors.PrivacyWarning")

KEY = b"a key of thirty-two random bytes"


def visits(rows: int = 120) -> pl.DataFrame:
    random = Random(4)
    people = [f"p{random.randint(0, 40)}" for _ in range(rows)]
    born = {name: dt.date(1940 + number, 3, 7) for number, name in enumerate(sorted(set(people)))}
    came = [dt.date(2023, 1, 1) + dt.timedelta(days=random.randint(0, 400)) for _ in range(rows)]
    return pl.DataFrame(
        {
            "person": people,
            "sex": [random.choice("fm") for _ in range(rows)],
            "born": [born[name] for name in people],
            "came": came,
            "left": [day + dt.timedelta(days=random.randint(0, 20)) for day in came],
        }
    )


SAID: dict[str, Any] = {
    "quasi": ["sex"],
    "insensitive": ["born", "came", "left"],
    "subject": "person",
    "k": 3,
    "shuffle": False,
}


def moved(table: Any = None, **said: Any) -> Any:
    return mh.anonymize(visits() if table is None else table, **{"shift_dates": KEY, **SAID, **said})


def test_intervals_of_a_person_stay_and_no_date_does() -> None:
    table, shown = visits(), moved().table
    for name in ("born", "came", "left"):
        assert shown[name].dtype == pl.Date
    by = {name: (shown[name] - table[name]).dt.total_days() for name in ("born", "came", "left")}
    assert by["born"].equals(by["came"].rename("born"))
    assert by["born"].equals(by["left"].rename("born"))
    days = (
        pl.DataFrame({"person": table["person"], "by": by["came"]})
        .group_by("person")
        .agg(pl.col("by").unique())
    )
    assert days["by"].list.len().max() == 1
    assert by["came"].abs().is_between(1, 182).all()
    assert by["came"].n_unique() > 20


def test_the_same_key_moves_alike_in_every_table_and_another_otherwise() -> None:
    first, again = moved().table, moved(visits().sample(fraction=1.0, shuffle=True, seed=1)).table
    assert first.sort(pl.all()).equals(again.sort(pl.all()))
    assert not first.equals(moved(shift_dates=b"another key of thirty-two bytes!").table)
    assert (moved(shift_days=3).table["came"] - visits()["came"]).dt.total_days().abs().max() <= 3


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_text_and_moments_move_and_the_file_is_checked(form: str, tmp_path: Path) -> None:
    table = visits().with_columns(
        pl.col("came").dt.strftime("%d.%m.%Y"), pl.col("left").cast(pl.Datetime("ms")).dt.offset_by("5h")
    )
    shown = moved(table, output=tmp_path / "out", format=form).table
    came = shown["came"].str.to_date("%Y-%m-%d")
    assert (
        (came - visits()["came"])
        .dt.total_days()
        .equals((shown["born"] - visits()["born"]).dt.total_days().rename("came"))
    )
    assert shown["left"].dt.hour().unique().to_list() == [5]


def test_moved_dates_are_made_coarser_afterwards_and_as_quasi_identifiers(tmp_path: Path) -> None:
    release = moved(grid={"left": "month"}, quasi=["sex", "came"], insensitive=["born", "left"])
    assert release.table["left"].str.starts_with("[").all()
    folder = tmp_path / "out"
    moved(output=folder, quasi=["sex", "came"], insensitive=["born", "left"])
    again = mh.apply(folder, visits(), shift_dates=KEY)
    assert again.report["utility"]["suppressed"] < visits().height
    with pytest.raises(InvalidParameter, match="shift_dates"):
        mh.apply(folder, visits())


def test_no_offset_and_no_key_lies_beside_the_table(tmp_path: Path) -> None:
    key = tmp_path / "key"
    from mahrem.table.columns import make_key

    held = make_key(key)
    moved(shift_dates=key, output=tmp_path / "out")
    for path in (tmp_path / "out").iterdir():
        assert held not in path.read_bytes()
        assert held.hex() not in path.read_text(encoding="utf-8", errors="replace")
    report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    assert report["settings"]["shift_days"] == 182
    assert "shift_dates" not in report["settings"]
    assert any(note["code"] == "warning.shifted" for note in report["notes"])
    with pytest.raises(InvalidParameter, match="outside"):
        moved(shift_dates=tmp_path / "out" / "key", output=tmp_path / "out", force=True)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"subject": None}, "subject"),
        ({"shift_dates": b"short"}, "16"),
        ({"shift_dates": None, "shift_days": 30}, "shift_dates"),
        ({"insensitive": [], "identifier": ["born", "came", "left"]}, "nothing"),
        ({"shift_days": 0}, "shift_days"),
    ],
)
def test_what_cannot_be_moved_is_refused(said: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidParameter, match=why):
        moved(**{"rest": "drop", **said})


def test_dates_that_moved_otherwise_are_never_handed_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from mahrem.drafts import _moved_dates

    monkeypatch.setattr(
        _moved_dates, "offsets", lambda people, *_: pl.arange(1, len(people) + 1, eager=True).to_numpy()
    )
    with pytest.raises(GuaranteeBroken, match="each person"):
        moved()


def test_the_verifier_finds_every_wrong_date() -> None:
    table, shown = visits(), moved().table
    dates = ["born", "came", "left"]
    assert rows_badly_shifted(table.select(dates), shown.select(dates), table["person"], 182) == 0
    still = shown.with_columns(came=table["came"])
    assert rows_badly_shifted(table.select(dates), still.select(dates), table["person"], 182) > table.height
    lost = shown.with_columns(came=pl.when(pl.int_range(pl.len()) == 3).then(None).otherwise("came"))
    assert rows_badly_shifted(table.select(dates), lost.select(dates), table["person"], 182) == 1
