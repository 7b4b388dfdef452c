"""Long CSV files read at one look, against polars; texts as categories, against the texts themselves."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.arrays.weaving import _unravel
from mahrem.table import Reading, open_source
from mahrem.table.formats import _text
from mahrem.table.reading import PolarsSource, Spelling, TextRecords, _csv, open_csv

CELLS = st.one_of(
    st.sampled_from(
        ["", "12", "1.5", "2024-12-31", "0610", '""', '"a, b"', '"a\nb"', '"say ""hi"""', "ü", " "]
    ),
    st.sampled_from(["x\r", '"x\r"']),
    st.sampled_from(['"1.234,5"', "31.12.2024", "a text that is longer than a view", '"ends\r\nhere"']),
    st.integers(0, 10**9).map(str),
)
TAKEN: list[bool] = []  # whether each file was read at one look
RECORDS = st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=30)


@pytest.fixture(autouse=True)
def _long_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_csv, "BLOCK", 1)
    monkeypatch.setattr(_unravel, "_SLOTS", 2)
    monkeypatch.setattr(_unravel, "_ROWS", 3)
    monkeypatch.setattr(_unravel, "_WORTH_A_PART", 16)
    usual = _text._columns_of

    def looked(records: TextRecords) -> dict[str, pl.Series] | None:
        columns = usual(records)
        TAKEN.append(columns is not None)
        return columns

    TAKEN.clear()
    monkeypatch.setattr(_text, "_columns_of", looked)


def written(records: list[tuple[str, ...]], folder: str, end: str) -> Path:
    path = Path(folder, "table.csv")
    lines = ["first,second,third", *(",".join(record) for record in records)]
    path.write_bytes((end.join(lines) + end).encode())
    return path


@settings(max_examples=80, deadline=None)
@given(RECORDS, st.sampled_from(["\n", "\r\n"]), st.sampled_from([None, Spelling(), Spelling(decimal=",")]))
def test_columns_are_those_that_polars_reads(
    records: list[tuple[str, ...]], end: str, spelling: Spelling | None
) -> None:
    with TemporaryDirectory() as folder:
        path = written(records, folder, end)
        reading = Reading(header=True, delimiter=",", spelling=spelling)
        source, slowly = open_source(path, reading), open_csv(path, reading)
        assert isinstance(source, PolarsSource)
        names = list(source.columns)
        assert source.take(names).equals(slowly.take(names))
        coded = source.coded(names)
        for name, column in coded.items():
            assert column.cast(pl.String).equals(slowly.take([name])[name])
            texts = column.drop_nulls().unique().cast(pl.String)
            assert sorted(texts) == sorted(column.dtype.categories.to_series())
        rebuilt = source.rebuild({}, ())
        assert rebuilt.equals(slowly.rebuild({}, ()))
        assert source.scan(names).collect().equals(slowly.take(names))
    returns = any(cell == "x\r" for record in records for cell in record[:2])
    if returns or not any("\n" in cell for record in records for cell in record):  # where parts may begin
        assert TAKEN[-1:] == [not returns]


def test_a_return_at_the_end_of_a_cell_is_read_as_polars_reads_it(tmp_path: Path) -> None:
    path = written(
        [(str(row), "north\r" if row % 5 else "north", "flu") for row in range(50)], str(tmp_path), "\n"
    )
    source = open_source(path, Reading(header=True, delimiter=","))
    wards = source.take(list(source.columns))["second"]
    assert wards.equals(source.scan(["second"]).collect()["second"])
    assert TAKEN == [False]


def test_texts_that_repeat_come_as_numbers_and_others_as_they_are(tmp_path: Path) -> None:
    path = written([(str(row), "often", str(row % 3)) for row in range(50)], str(tmp_path), "\n")
    source = open_source(path)
    assert isinstance(source, PolarsSource)
    assert set(source.coded(list(source.columns))) == {"second", "third"}
    assert TAKEN == [True]


@pytest.mark.parametrize("part", [16, 1 << 21])
def test_a_line_end_within_quotes_parts_no_record(
    part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_unravel, "_WORTH_A_PART", part)
    path = written([('"a\n' + "b,\n" * 40 + '"', "x", "y")] * 3, str(tmp_path), "\n")
    source = open_source(path)
    assert source.take(list(source.columns))["second"].to_list() == ["x"] * 3
    assert [part > 16] == TAKEN  # a part that begins within quotes is read with more care
