"""Files of SPSS, Stata and SAS: what is written reads back, and words stand for codes."""

from __future__ import annotations

import io
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path

import polars as pl
import pyreadstat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mahrem as mh
from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.table import FORMATS, Reading, open_source, written_formats
from mahrem.table.cells import as_text
from mahrem.table.writing import write_table

ENDINGS = ("sav", "dta", "xpt")
# Packages keep no blanks at the end of a text, and no text that has nothing else.
TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=40).map(str.strip)
COLUMNS = {
    pl.Int64: st.integers(-(2**63), 2**63 - 1),
    pl.Float64: st.floats(),
    pl.String: TEXTS,
    pl.Date: st.dates(),
    pl.Datetime: st.datetimes(),
    pl.Time: st.times(),
    pl.Boolean: st.booleans(),
    pl.Decimal(20, 3): st.decimals(-(10**9), 10**9, places=3),
}


@st.composite
def tables(draw: st.DrawFn) -> pl.DataFrame:
    rows = draw(st.integers(1, 8))
    kinds = draw(st.lists(st.sampled_from(sorted(COLUMNS, key=str)), min_size=1, max_size=5))
    return pl.DataFrame(
        [
            pl.Series(
                f"c{place}",
                draw(st.lists(COLUMNS[kind] | st.none(), min_size=rows, max_size=rows)),
                dtype=kind,
            )
            for place, kind in enumerate(kinds)
        ]
    )


def shown(column: pl.Series) -> list[str | None]:
    """What a reader of the table sees; nothing and empty text look alike."""
    return [text or None for text in as_text(column)]


@pytest.mark.parametrize("ending", ENDINGS)
@settings(max_examples=60)
@given(table=tables())
def test_what_is_written_reads_back(
    ending: str, table: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("files") / f"data.{ending}"
    write_table(table, path, ending)
    names, cells = FORMATS[ending].load().read_back(path, table.columns)
    back = cells.collect()
    assert names == table.columns
    for name in names:
        numbers = table[name].dtype.is_float() and back[name].dtype.is_numeric()
        if numbers:
            assert back[name].to_list() == table[name].fill_nan(None).to_list()
        else:
            assert shown(back[name]) == shown(
                table[name].fill_nan(None) if table[name].dtype.is_float() else table[name]
            ), name


def labelled(folder: Path) -> Path:
    path = folder / "survey.sav"
    frame = pl.DataFrame(
        {
            "age": [20 + n % 50 for n in range(200)],
            "sex": [1 + n % 2 for n in range(200)],
            "income": [99_998 if n % 40 == 0 else 1_000 + 10 * (n % 90) for n in range(200)],
            "ill": [(1, 2, 3, 9)[n % 4] for n in range(200)],
        }
    )
    pyreadstat.write_sav(
        frame,
        path,
        column_labels={"age": "Age at last birthday", "sex": "Sex of respondent"},
        variable_value_labels={
            "sex": {1: "woman", 2: "man"},
            "income": {99_998: "not told"},
            "ill": {1: "flu", 2: "cold", 3: "none", 9: "refused"},
        },
        missing_ranges={"ill": [9]},
    )
    return path


def test_codes_are_read_as_words_where_every_value_has_one(tmp_path: Path) -> None:
    source = open_source(labelled(tmp_path))
    table = source.take(source.columns)
    assert set(table["sex"]) == {"woman", "man"}
    assert set(table["ill"]) == {"flu", "cold", "none", None}  # declared as missing by the file
    assert table["income"].dtype.is_integer()
    assert [note.code for note in source.notes] == ["warning.words_among_numbers"]
    assert source.labels["age"] == "Age at last birthday"


def test_cell_by_cell_a_word_is_a_word_whatever_the_others_are(tmp_path: Path) -> None:
    source = open_source(labelled(tmp_path), Reading(by_cell=True))
    incomes = source.take(["income"])["income"]
    assert incomes[0] == "not told"
    assert incomes[1] == "1010"


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_release_keeps_words_and_labels(ending: str, tmp_path: Path) -> None:
    mh.anonymize(
        labelled(tmp_path), quasi=["age", "sex"], sensitive="ill", rest="drop", k=5, format=ending,
        null=["99998"], output=tmp_path / "release", html=False,
    )  # fmt: skip
    path = tmp_path / "release" / f"data.{ending}"
    again = open_source(path)
    assert again.labels == {"age": "Age at last birthday", "sex": "Sex of respondent"}
    assert set(again.take(["ill"])["ill"]) <= {"flu", "cold", "none", None}
    assert mh.audit(path, quasi=["age", "sex"], sensitive="ill", k=5).holds
    raw = path.read_bytes()
    assert b"refused" not in raw  # a word that no row shows
    assert b"not told" not in raw


def test_what_a_package_cannot_hold_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="hours per week"):
        write_table(pl.DataFrame({"hours per week": [1]}), tmp_path / "x.sav", "sav")
    with pytest.raises(InvalidParameter, match="column='a' holds List"):
        write_table(pl.DataFrame({"a": [[1]]}), tmp_path / "x.dta", "dta")
    with pytest.raises(InvalidParameter, match="2,045 bytes"):
        write_table(pl.DataFrame({"a": ["x" * 3_000]}), tmp_path / "x.dta", "dta")
    assert not list(tmp_path.iterdir())
    assert "sas7bdat" not in written_formats()


@pytest.mark.parametrize("ending", [*ENDINGS, "sas7bdat"])
def test_a_broken_file_is_refused_without_a_cell(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"x.{ending}"
    good = FORMATS[ending].begins + b"Smith,1234567890\n" * 40
    path.write_bytes(good)
    with pytest.raises(InvalidInput) as caught:
        open_source(path).take(["a"])
    assert "Smith" not in str(caught.value)


def test_days_before_the_calendar_moments_in_zones_and_long_numbers_stay_exact(tmp_path: Path) -> None:
    table = pl.DataFrame(
        {
            "day": [date(1200, 1, 1), date(2020, 2, 29)],
            "moment": pl.Series([datetime(2020, 1, 1, 3, 4, 5, 678), None]),  # noqa: DTZ001 - without a zone
            "clock": [time(3, 4, 5, 678), time(0)],
            "long": [2**60 + 1, 1],
            "exact": [Decimal("0.1"), Decimal("0.2")],
        }
    )
    write_table(table, tmp_path / "x.sav", "sav")
    again = open_source(tmp_path / "x.sav")
    assert again.take(["long"])["long"].to_list() == [str(2**60 + 1), "1"]
    assert again.take(["day"])["day"].to_list() == ["1200-01-01", "2020-02-29"]


def test_a_stream_takes_the_file_as_it_is(tmp_path: Path) -> None:
    stream = io.BytesIO()
    FORMATS["dta"].load().write(pl.DataFrame({"a": [1, 2]}), stream, tmp_path)
    assert stream.getvalue().startswith(b"<stata_dta>")
    assert not list(tmp_path.iterdir())
