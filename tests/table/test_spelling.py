"""Numbers and dates as people write them, read as what they are or left alone."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.table import EVERY, Kind, Reading, open_source
from mahrem.table.cells import dates_of_format, is_date_format, number_signs, plain_numbers, usual_dates
from mahrem.table.columns import infer_kind, refuse_lookalikes
from mahrem.table.reading import Spelling

GROUPS = {
    "german": (".", ","),
    "english": (",", "."),
    "french": (" ", ","),
    "french, blanks that do not break": ("\u202f", ","),
    "swiss": ("'", "."),
    "swiss, curved": ("\u2019", "."),
}


def taken(cells: list[str | None], **said: object) -> pl.Series:
    frame = pl.DataFrame({"x": pl.Series(cells, dtype=pl.String)})
    return open_source(frame, Reading(spelling=Spelling(**said), decimal=said.get("decimal"))).take(["x"])[
        "x"
    ]


def grouped(number: float, thousands: str, decimal: str) -> str:
    return f"{number:,.2f}".replace(",", "t").replace(".", decimal).replace("t", thousands)


@pytest.mark.parametrize(("thousands", "decimal"), GROUPS.values(), ids=list(GROUPS))
@settings(max_examples=30, deadline=None)
@given(values=st.lists(st.integers(-(10**10), 10**10), min_size=1, max_size=20))
def test_numbers_with_thousands_and_a_fraction_are_read(
    thousands: str, decimal: str, values: list[int]
) -> None:
    numbers = [value / 100 for value in values] + [12345.67]
    cells = [grouped(number, thousands, decimal) for number in numbers]
    assert taken(cells).cast(pl.Float64).to_list() == pytest.approx(numbers)
    said = taken(cells, decimal=decimal)
    assert infer_kind(said, decimal=decimal) is Kind.NUMERIC


@pytest.mark.parametrize(
    ("cells", "said", "read"),
    [
        (["1.234", "2.345"], {}, ["1.234", "2.345"]),  # plain numbers, as always
        (["1.234", "2.345"], {"thousands": "."}, ["1234", "2345"]),
        (["1.234", "950"], {"decimal": ","}, ["1234", "950"]),
        (["1,234", "950"], {}, ["1,234", "950"]),  # either
        (["1,234", "950"], {"decimal": "."}, ["1234", "950"]),
        (["1,234", "950"], {"thousands": ","}, ["1234", "950"]),
        (["1,234", "950"], {"decimal": ","}, ["1,234", "950"]),
        (["1,234,567", "950"], {}, ["1234567", "950"]),
        (["1,5", "2"], {}, ["1.5", "2"]),
        (["0,125", "2,375"], {}, ["0.125", "2.375"]),
        (["1.234,5", "12"], {"decimal": ","}, ["1234,5", "12"]),
        (["-1.234,5", "+12"], {}, ["-1234.5", "+12"]),
        (["12.34", "5"], {"decimal": ","}, ["12.34", "5"]),
        (["1.234,5", "x"], {}, ["1.234,5", "x"]),
        (["552 100 554", "123 456 789"], {}, ["552 100 554", "123 456 789"]),  # codes in groups
        (["123.456.789", "987.654.321"], {}, ["123.456.789", "987.654.321"]),
        (["123.456.789", "987.654.321"], {"thousands": "."}, ["123456789", "987654321"]),
        (["0 123 456", "1 234"], {}, ["0 123 456", "1 234"]),
        (["1 234", None, "12"], {}, ["1234", None, "12"]),
        (["06100", "1.234,5"], {}, ["06100", "1.234,5"]),
        (["192.168.100.1", "10.0.0.1"], {}, ["192.168.100.1", "10.0.0.1"]),
        (["$1,234.50", "$2.00", "-$3.10", "($4.00)"], {}, ["1234.50", "2.00", "-3.10", "-4.00"]),
        (["1.234,56 €", "950,00 €", None], {}, ["1234.56", "950.00", None]),
        (["₺17.000,50", "₺ 900,00"], {}, ["17000.50", "900.00"]),
        (["1.234,56 TL", "99,00 TL"], {"decimal": ","}, ["1234,56", "99,00"]),
        (["CHF 1'234.50", "CHF 99.00"], {}, ["1234.50", "99.00"]),
        (["$5", "$12"], {}, ["5", "12"]),
        (["$5", "€5"], {}, ["$5", "€5"]),  # not one currency
        (["$5", "5"], {}, ["$5", "5"]),
        (["$5$", "$6$"], {}, ["$5$", "$6$"]),
        (["$A1", "$B2"], {}, ["$A1", "$B2"]),
        (["$1,234", "$950"], {}, ["$1,234", "$950"]),  # either
    ],
)
def test_signs_are_taken_out_only_where_all_cells_agree(
    cells: list[str | None], said: dict[str, str], read: list[str | None]
) -> None:
    assert taken(cells, **said).to_list() == read


DAYS = [date(2020, 1, 31) + timedelta(days=step) for step in (0, 3, 50, 331, 400)]
FORMATS = {
    "%m/%d/%Y": True,
    "%d/%m/%Y": True,
    "%d-%m-%Y": True,
    "%m-%d-%Y": True,
    "%Y/%m/%d": True,
    "%Y.%m.%d": True,
    "%m.%d.%Y": True,
    "%d %B %Y": True,
    "%B %d, %Y": True,
    "%d-%b-%Y": True,
    "%d/%m/%y": False,
    "%m%d%Y": False,
}


@pytest.mark.parametrize("form", FORMATS)
def test_dates_are_found_out_where_one_day_above_12_tells_and_read_as_said_always(form: str) -> None:
    cells = [day.strftime(form) for day in DAYS]
    iso = [day.isoformat() for day in DAYS]
    found = taken(cells).to_list()
    assert found == (iso if FORMATS[form] else cells)
    assert taken(cells, date_format={"x": form}).to_list() == iso
    assert taken(cells, date_format={EVERY: form}).to_list() == iso


@pytest.mark.parametrize(
    ("cells", "iso"),
    [
        (["12/31/2020", "1/2/2021"], ["2020-12-31", "2021-01-02"]),
        (["31/12/2020", "1/2/2021"], ["2020-12-31", "2021-02-01"]),
        (["13/1/2020", "1/13/2020"], ["2020-01-13", "2020-01-13"]),  # mixed, but each tells
        (["5/5/2020"], ["2020-05-05"]),
        (["12/31/2020", "2021-01-02", "3.4.2021"], ["2020-12-31", "2021-01-02", "2021-04-03"]),
        (["12/31/2020 11:05 PM", "1/2/2021 12:00 am"], ["2020-12-31T23:05:00", "2021-01-02T00:00:00"]),
        (["31.12.2020 14:30", "1.2.2021 9:05:07"], ["2020-12-31T14:30:00", "2021-02-01T09:05:07"]),
        (["3 Mart 2021", "12 Ağustos 2020"], ["2021-03-03", "2020-08-12"]),
        (["3. März 2021", "12. Dez. 2020"], ["2021-03-03", "2020-12-12"]),
    ],
)
def test_usual_dates_are_read(cells: list[str], iso: list[str]) -> None:
    assert taken(cells).to_list() == iso
    assert infer_kind(taken(cells)) is Kind.DATE


@pytest.mark.parametrize(
    "cells",
    [
        ["1/2/2020", "3/4/2021"],  # which is the day?
        ["13/1/2020", "1/13/2020", "2/3/2020"],
        ["1/2/20", "13/4/21"],  # which century?
        ["30/2/2020", "1/2/2020"],
        ["12/31/2020", "soon"],
        ["1/2/2020", "13.4.2021"],
        ["2020-12-31", "2020-11-01", "unknown"],
    ],
)
def test_dates_that_nobody_can_read_are_refused_and_never_words(cells: list[str]) -> None:
    read = taken(cells)
    assert read.to_list() == cells
    with pytest.raises(InvalidInput, match=r"look like dates.*date_format=\{'x': ") as caught:
        refuse_lookalikes(read)
    assert not [cell for cell in cells if cell in str(caught.value)]


def test_numbers_that_read_both_ways_are_refused_and_plain_words_are_not() -> None:
    with pytest.raises(InvalidInput, match="thousands=',' or decimal=','"):
        refuse_lookalikes(pl.Series("x", ["1,234", "2,345"]))
    for words in (
        ["flu", "hiv"],
        ["A1", "B2"],
        ["552 100 554", "123 456 789"],
        ["10-20", "20-30"],
        ["1/2", "3/4"],
    ):
        refuse_lookalikes(pl.Series("x", words))


def test_cells_that_are_words_stay_as_they_are() -> None:
    cells = ["12/31/2020", "1/2/2021"]
    assert taken(cells, verbatim=frozenset({"x"})).to_list() == cells


def test_without_a_word_about_spelling_nothing_is_found_out() -> None:
    frame = pl.DataFrame({"x": ["1.234,56", "950"]})
    assert open_source(frame).take(["x"])["x"].to_list() == ["1.234,56", "950"]


@pytest.mark.parametrize("form", ["%d", "%d/%m", "dd/mm/yyyy", "%Q/%m/%Y", "", "%d/%m/%Y%"])
def test_a_format_must_say_a_whole_date(form: str) -> None:
    assert not is_date_format(form)
    with pytest.raises(InvalidParameter, match=r"date_format\.x=.*%d/%m/%Y"):
        Spelling(date_format={"x": form})


def test_one_sign_cannot_mean_two_things() -> None:
    with pytest.raises(InvalidParameter, match="are one sign"):
        Spelling(decimal=",", thousands=",")


@pytest.mark.parametrize("kind", ["csv", "polars", "lazy", "pandas", "arrow"])
def test_what_is_read_is_what_is_published_whatever_the_source(tmp_path: Path, kind: str) -> None:
    frame = pl.DataFrame(
        {"pay": ["1.234,56", "950", "NA"], "born": ["12/31/1980", "1/2/1990", ""], "note": ["a", "b", "c"]}
    )
    path = tmp_path / "t.csv"
    frame.write_csv(path)
    makers = {
        "csv": lambda: path,
        "polars": lambda: frame,
        "lazy": frame.lazy,
        "pandas": frame.to_pandas,
        "arrow": frame.to_arrow,
    }
    source = open_source(makers[kind](), Reading(null=("NA",), spelling=Spelling()))
    read = source.take(source.columns)
    assert read["pay"].to_list() == ["1234.56", "950", None]
    assert read["born"].to_list() == ["1980-12-31", "1990-01-02", None]
    assert source.scan(["born"]).collect().to_series().to_list() == ["1980-12-31", "1990-01-02", None]
    again = open_source(source.rebuild({}, ["note"])).take(["pay", "born"])
    assert again["pay"].to_list() == ["1234.56", "950", "NA"]
    assert again["born"].to_list() == ["1980-12-31", "1990-01-02", None]


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.dates(date(1900, 1, 1), date(2100, 1, 1)), min_size=1, max_size=30),
    st.sampled_from(["%m/%d/%Y", "%d/%m/%Y"]),
)
def test_a_date_is_never_read_with_day_and_month_in_the_wrong_places(days: list[date], form: str) -> None:
    cells = pl.Series([day.strftime(form) for day in days])
    read = usual_dates(cells).to_list()
    assert all(found in (None, day.isoformat()) for found, day in zip(read, days, strict=True))
    assert dates_of_format(cells, form).to_list() == [day.isoformat() for day in days]


CURRENCIES = {"dollars": "${}", "euros": "{} €", "lira": "₺{}", "letters": "USD {}", "tight": "{}€"}


@pytest.mark.parametrize("form", CURRENCIES.values(), ids=list(CURRENCIES))
@pytest.mark.parametrize(("thousands", "decimal"), GROUPS.values(), ids=list(GROUPS))
@settings(max_examples=15, deadline=None)
@given(values=st.lists(st.integers(0, 10**10), min_size=1, max_size=20))
def test_amounts_are_read_as_their_numbers(
    form: str, thousands: str, decimal: str, values: list[int]
) -> None:
    numbers = [value / 100 for value in values] + [12345.67]
    cells = [form.format(grouped(number, thousands, decimal)) for number in numbers]
    assert taken(cells).cast(pl.Float64).to_list() == pytest.approx(numbers)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text("0123456789.,' -$€", min_size=1, max_size=9), min_size=1, max_size=5))
def test_one_way_of_reading_is_one_number_for_each_text(cells: list[str]) -> None:
    texts = pl.Series(cells)
    for way in number_signs(texts):
        assert plain_numbers(texts, way, None).cast(pl.Float64).null_count() == 0


def test_a_format_that_was_said_must_fit_every_cell() -> None:
    with pytest.raises(InvalidParameter, match=r"date_format\.x='%d/%m/%Y' must fit all") as caught:
        taken(["31/12/2020", "soon"], date_format={"x": "%d/%m/%Y"})
    assert "soon" not in str(caught.value)
