from __future__ import annotations

import re
import stat
from datetime import date
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import InvalidParameter, OutputFailed
from mahrem.table import Reading, open_source, written_formats
from mahrem.table.cells.formulas import neutralise_formulas, restore_formulas
from mahrem.table.reading import CONTROL
from mahrem.table.writing import exported_names, write_table

LETTERS = st.sampled_from(list("ab09'\"=+-@,;|\t\r\n .ğ€😀\ufeff\x1f")) | st.characters(
    exclude_characters="\0", exclude_categories=("Cs",)
)
TEXT = st.text(LETTERS, max_size=6)
PATTERN = re.compile(r"^(\*|\^.*\$)$", re.DOTALL)  # such names are refused: they read as patterns
NAMES = st.lists(
    st.text(LETTERS, min_size=1, max_size=5).filter(
        lambda name: not (CONTROL.search(name) or PATTERN.search(name))
    ),
    min_size=1,
    max_size=4,
    unique=True,
)


@st.composite
def tables(draw: st.DrawFn) -> pl.DataFrame:
    names = draw(NAMES)
    rows = draw(st.integers(0, 6))
    column = st.lists(st.none() | TEXT, min_size=rows, max_size=rows)
    return pl.DataFrame([pl.Series(name, draw(column), dtype=pl.String) for name in names])


@settings(max_examples=200, deadline=None)
@given(tables(), st.sampled_from(["csv", "tsv"]))
def test_any_text_comes_back_as_it_was(frame: pl.DataFrame, form: str) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"data.{form}"
        write_table(frame, path, form)
        source = open_source(path, Reading(delimiter="\t" if form == "tsv" else ",", header=True))
        assert list(source.columns) == exported_names(frame.columns, form)
        back = restore_formulas(source.take(source.columns))
        assert source.rows == frame.height
    empty_is_missing = frame.with_columns(pl.when(pl.all() != "").then(pl.all()))
    assert back.columns == frame.columns
    assert back.rows() == empty_is_missing.rows()


@settings(max_examples=100, deadline=None)
@given(tables())
def test_neutralising_formulas_can_be_undone(frame: pl.DataFrame) -> None:
    assert restore_formulas(neutralise_formulas(frame)).equals(frame)


def slowly_neutralised(cell: str) -> str:
    number = re.fullmatch(r"[+-][0-9.,]+([eE][+-]?[0-9]+)?", cell)
    return f"'{cell}" if re.match(r"'*[=+\-@\t\r]", cell) and not number else cell


@settings(max_examples=300, deadline=None)
@given(st.lists(st.text(st.sampled_from("+-=@'09.,eE\t\r\nx "), max_size=7), min_size=1, max_size=30))
def test_what_runs_is_told_from_plain_numbers_as_the_slow_rule_says(cells: list[str]) -> None:
    expected = [slowly_neutralised(cell) for cell in cells]
    assert neutralise_formulas(pl.DataFrame({"a": cells}))["a"].to_list() == expected
    names = list(dict.fromkeys(cells))
    assert exported_names(names, "csv") == [slowly_neutralised(name) for name in names]


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("=1+1", "'=1+1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("-2+3", "'-2+3"),
        ("\t=1", "'\t=1"),
        ("\r=1", "'\r=1"),
        ("'=1", "''=1"),
        ("-", "'-"),
        ("-5", "-5"),
        ("+3.2e4", "+3.2e4"),
        ("-1,5", "-1,5"),
        ("-.5E-3", "-.5E-3"),
        ("-1e5-2", "'-1e5-2"),
        ("'til", "'til"),
        ("a=b", "a=b"),
        ("[-5, 3]", "[-5, 3]"),
        ("<=50K", "<=50K"),
        (None, None),
    ],
)
def test_formulas_are_disarmed_and_numbers_are_not(cell: str | None, written: str | None) -> None:
    assert neutralise_formulas(pl.DataFrame({"a": [cell]}))["a"].to_list() == [written]


def test_headers_and_categories_are_disarmed_too() -> None:
    frame = pl.DataFrame({"=a": pl.Series(["=x", "y"], dtype=pl.Categorical)})
    assert neutralise_formulas(frame).to_dict(as_series=False) == {"'=a": ["'=x", "y"]}
    assert exported_names(["=a", "b", "-5"], "csv") == ["'=a", "b", "-5"]
    assert exported_names(["=a"], "parquet") == ["=a"]


def test_every_format_is_written_privately_and_read_back(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1, -2], "b": ["x", None], "c": [date(2020, 1, 2), None]})
    for form in written_formats():
        path = tmp_path / f"data.{form}"
        write_table(frame, path, form)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        back = open_source(path).take(["a", "b", "c"])
        assert back["b"].to_list() == ["x", None]
        assert [str(cell) for cell in back["c"]] == ["2020-01-02", "None"]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        f"data.{form}" for form in written_formats()
    )


def test_numbers_in_a_csv_are_plain(tmp_path: Path) -> None:
    write_table(pl.DataFrame({"a": [-1, 2], "b": [0.1, None]}), tmp_path / "t.csv", "csv")
    assert (tmp_path / "t.csv").read_bytes() == b"a,b\n-1,0.1\n2,\n"


def test_a_failed_write_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("old", encoding="utf-8")
    with pytest.raises(InvalidParameter, match="NUL"):
        write_table(pl.DataFrame({"a": ["x\0y"]}), path, "csv")
    with pytest.raises(InvalidParameter, match="column='l' holds List"):
        write_table(pl.DataFrame({"l": [[1]]}), path, "csv")
    with pytest.raises(InvalidParameter, match="format="):
        write_table(pl.DataFrame({"a": [1]}), path, "ods")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="without columns"):
        write_table(pl.DataFrame(), path, "csv")
    assert [one.name for one in tmp_path.iterdir()] == ["t.csv"]
    assert path.read_text(encoding="utf-8") == "old"


def test_a_folder_that_is_not_there_is_an_output_failure(tmp_path: Path) -> None:
    with pytest.raises(OutputFailed, match="No such file"):
        write_table(pl.DataFrame({"a": [1]}), tmp_path / "nowhere" / "t.csv", "csv")


@pytest.mark.parametrize("form", written_formats())
def test_a_full_disk_is_an_output_failure_and_leaves_nothing(tmp_path: Path, form: str) -> None:
    import resource
    import signal

    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    frame = pl.DataFrame({"a": pl.Series(range(200_000)).hash(seed=1)})
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
        with pytest.raises(OutputFailed) as caught:
            write_table(frame, tmp_path / "t", form)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    assert caught.value.exit_code == 74
    assert list(tmp_path.iterdir()) == []
