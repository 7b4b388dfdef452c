import zipfile
from datetime import date, datetime
from pathlib import Path

import fastexcel
import polars as pl
import pytest
import xlsxwriter
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import mahrem as mh
from mahrem.errors import InvalidInput, InvalidParameter, MissingExtra
from mahrem.table import Reading, open_source
from mahrem.table.cells.formulas import restore_formulas
from mahrem.table.formats import _excel_writer as _excel
from mahrem.table.formats._excel import excel_texts
from mahrem.table.writing import write_table

CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
RISKY = ["=cmd()", "+cmd|' /C calc'!A0", "-1+1", "@SUM(A1)", "\t=1", "'=x", "http://a.b", "fine"]


def sheet(path: Path, *sheets: list[tuple[object, ...]]) -> Path:
    """Make a file as a spreadsheet program would, dates and all."""
    workbook = xlsxwriter.Workbook(path, {"default_date_format": "yyyy-mm-dd"})
    for rows in sheets:
        made = workbook.add_worksheet()
        for row, values in enumerate(rows):
            made.write_row(row, 0, values)
    workbook.close()
    return path


def people(rows: int) -> pl.DataFrame:
    return mh.demo_patients(rows).with_columns(
        note=pl.Series(RISKY).gather(pl.int_range(rows, eager=True) % len(RISKY)),
        cost=pl.int_range(rows, eager=True) - 3,
    )


def test_text_that_would_run_is_text_with_an_apostrophe(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    write_table(pl.DataFrame({"=note": RISKY, "number": [-5, 0, 1, 2, 3, 4, 5, 6]}), path, "xlsx")
    with zipfile.ZipFile(path) as parts:
        content = parts.read("xl/worksheets/sheet1.xml").decode()
    assert "<f>" not in content  # no formula
    assert "hyperlink" not in content
    assert "<v>-5</v>" in content  # a number, as it was
    shown = fastexcel.read_excel(path).load_sheet(0).to_polars()
    assert shown.columns == ["'=note", "number"]
    assert shown["'=note"].to_list() == [
        *("'" + cell for cell in RISKY[:6]),
        "http://a.b",
        "fine",
    ]
    assert restore_formulas(shown)["=note"].to_list() == RISKY
    assert path.stat().st_mode & 0o777 == 0o600


@settings(max_examples=40, deadline=None)
@given(
    cells=st.lists(st.none() | CELLS, min_size=1, max_size=8),
    numbers=st.lists(st.none() | st.floats(-1e12, 1e12), min_size=8, max_size=8),
)
def test_what_was_written_reads_back(
    tmp_path_factory: pytest.TempPathFactory, cells: list[str | None], numbers: list[float | None]
) -> None:
    path = tmp_path_factory.mktemp("sheets") / "t.xlsx"
    frame = pl.DataFrame(
        {"text": cells, "number": numbers[: len(cells)]}, schema={"text": pl.String, "number": pl.Float64}
    )
    write_table(frame, path, "xlsx")
    names, texts = excel_texts(path)
    assert names == ["text", "number"]
    read = restore_formulas(texts.rename(dict(zip(texts.columns, names, strict=True))))
    assert read["text"].to_list() == [cell or None for cell in cells]  # empty text is missing, as in CSV
    assert_frame_equal(read.select(pl.col("number").cast(pl.Float64)), frame.select("number"), rel_tol=1e-14)


@pytest.mark.parametrize(
    ("cells", "kept"),
    [
        (["12", "-3.5", None], pl.Float64),
        (["007", "8", None], pl.String),
        (["1.50", "2", None], pl.String),
        (["1234567890123456", "1", None], pl.String),
        (["1e5", "1", None], pl.String),
        (["-0", "1", None], pl.String),
        (["*", "1", None], pl.String),
    ],
)
def test_text_becomes_a_number_only_if_nothing_is_lost(cells: list[str | None], kept: type) -> None:
    assert _excel._cells(pl.Series("a", cells)).dtype == kept


def test_kinds_that_sheets_lack_are_written_as_in_a_csv(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "day": [date(2024, 2, 29), None],
            "at": [datetime(2024, 2, 29, 12, 30), None],  # noqa: DTZ001 - a table without a zone
            "yes": [True, False],
            "big": [2**60, 1],
            "odd": [float("nan"), 1.5],
        }
    )
    write_table(frame, tmp_path / "t.xlsx", "xlsx")
    write_table(frame, tmp_path / "t.csv", "csv")
    _, texts = excel_texts(tmp_path / "t.xlsx")
    assert texts.rows() == pl.read_csv(tmp_path / "t.csv", infer_schema=False).rows()


def test_numbers_and_days_of_a_spreadsheet_are_such(tmp_path: Path) -> None:
    rows: list[tuple[object, ...]] = [("age", "weight", "born", "code"), (30, 70.5, date(1994, 1, 2), "007")]
    read = open_source(sheet(tmp_path / "t.xlsx", [*rows, (41, 80, date(1983, 5, 6), 12)]))
    frame = read.take(read.columns)
    assert frame.dtypes == [pl.Int64, pl.Float64, pl.Date, pl.String]
    assert frame.rows()[1] == (41, 80.0, date(1983, 5, 6), "12")
    assert read.rows == 2


def test_one_of_several_sheets_is_named(tmp_path: Path) -> None:
    path = sheet(tmp_path / "t.xlsx", [("a",), (1,)], [("b",), (2,)])
    assert open_source(path, Reading(table="Sheet2")).columns == ("b",)
    with pytest.raises(InvalidInput, match="2 sheets; say which with table: Sheet1, Sheet2"):
        open_source(path)
    with pytest.raises(InvalidInput, match="no sheet table='Sheet3'"):
        open_source(path, Reading(table="Sheet3"))


def test_bad_sheets_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="columns 1 and 2 have the same name"):
        open_source(sheet(tmp_path / "twice.xlsx", [("a", "a"), (1, 2)]))
    with pytest.raises(InvalidInput, match="column 2 has an empty name"):
        open_source(sheet(tmp_path / "empty.xlsx", [("a", None), (1, 2)]))
    with pytest.raises(InvalidInput):
        open_source(sheet(tmp_path / "nothing.xlsx", []))
    (tmp_path / "broken.xlsx").write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(InvalidInput, match="cannot be read"):
        open_source(tmp_path / "broken.xlsx")


def test_what_a_sheet_cannot_hold_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    with pytest.raises(
        InvalidParameter, match="holds 1,048,575 rows below its header, and there are 1,048,576"
    ):
        write_table(pl.select(a=pl.int_range(1_048_576)), path, "xlsx")
    with pytest.raises(InvalidParameter, match="more than 32,767 characters"):
        write_table(pl.DataFrame({"a": ["x" * 32_768]}), path, "xlsx")
    with pytest.raises(InvalidParameter, match="16,384 columns"):
        write_table(pl.DataFrame({str(at): [1] for at in range(16_385)}), path, "xlsx")
    with pytest.raises(InvalidParameter, match="1,048,575"):
        mh.anonymize(
            pl.select(a=pl.int_range(1_048_576)), quasi="a", k=2, format="xlsx", output=tmp_path / "r"
        )
    assert not list(tmp_path.iterdir())


def test_a_release_as_xlsx_is_audited_and_read_again(tmp_path: Path) -> None:
    roles = {
        "quasi": ["age", "zip"],
        "sensitive": "diagnosis",
        "insensitive": ["note", "cost"],
        "rest": "drop",
        "accept": {"note": "made up here", "cost": "made up here"},
    }
    made = mh.anonymize(people(400), **roles, k=5, l=2, format="xlsx", output=tmp_path / "r", html=False)
    again = mh.audit(tmp_path / "r")
    assert again.holds
    assert again.report["rows"] == 400
    assert again.report["promises"] == made.report["promises"]
    shown = open_source(tmp_path / "r" / "data.xlsx")
    read = restore_formulas(shown.take(shown.columns))
    assert sorted(read["note"]) == sorted(people(400)["note"])
    assert sorted(read["cost"]) == sorted(people(400)["cost"])


def test_suppressed_rows_and_empty_cells_come_out_as_in_a_csv(tmp_path: Path) -> None:
    some = people(300).with_columns(
        age=pl.when(pl.int_range(pl.len()) % 50 != 0).then("age"),
        diagnosis=pl.when(pl.int_range(pl.len()) % 7 != 0).then("diagnosis"),
    )
    roles = {"quasi": ["age", "zip"], "sensitive": "diagnosis", "rest": "drop", "missing": "suppress", "k": 5}
    made = mh.anonymize(some, **roles, shuffle=False, output=tmp_path / "r", html=False)
    read = pl.read_csv(tmp_path / "r" / "data.csv", infer_schema=False)
    again = mh.anonymize(
        some, **roles, format="xlsx", shuffle=False, output=tmp_path / "r", force=True, html=False
    )
    assert again.report["promises"] == made.report["promises"]
    names, texts = excel_texts(tmp_path / "r" / "data.xlsx")
    assert names == read.columns
    assert texts.rows() == read.rows()


def test_a_spreadsheet_is_anonymised(tmp_path: Path) -> None:
    write_table(mh.demo_patients(200), tmp_path / "in.xlsx", "xlsx")
    made = mh.anonymize(tmp_path / "in.xlsx", quasi=["age", "zip"], sensitive="diagnosis", rest="drop", k=5)
    assert made.holds
    assert made.table.height == 200


def test_without_the_extra_the_message_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = sheet(tmp_path / "t.xlsx", [("a",), (1,)])
    monkeypatch.setitem(__import__("sys").modules, "fastexcel", None)
    monkeypatch.setitem(__import__("sys").modules, "xlsxwriter", None)
    with pytest.raises(MissingExtra, match=r"mahrem\[excel\]"):
        open_source(path)
    with pytest.raises(MissingExtra, match=r"mahrem\[excel\]"):
        write_table(pl.DataFrame({"a": [1]}), tmp_path / "u.xlsx", "xlsx")


def test_titles_and_missing_headers_of_sheets_are_found_out(tmp_path: Path) -> None:
    from xlsxwriter import Workbook

    def sheet(rows: list[list[object]]) -> Path:
        path = tmp_path / "t.xlsx"
        with Workbook(str(path)) as book:
            page = book.add_worksheet()
            for place, row in enumerate(rows):
                page.write_row(place, 0, row)
        return path

    people = [[34, "f", "flu"], [51, "m", "hiv"], [27, "f", "flu"], [40, "m", "flu"]]
    titled = open_source(sheet([["Ward 3"], [], ["age", "sex", "disease"], *people]))
    assert (titled.columns, titled.rows) == (("age", "sex", "disease"), 4)
    assert [note.code for note in titled.notes] == ["warning.title_rows"]
    assert titled.take(["age"])["age"].to_list() == [34, 51, 27, 40]
    with pytest.raises(InvalidInput, match="looks like data"):
        open_source(sheet(people))
    named = open_source(sheet(people), Reading(header=False, names=["age", "sex", "disease"]))
    assert named.take(["age", "sex"]).rows() == [(34, "f"), (51, "m"), (27, "f"), (40, "m")]
    below = open_source(sheet([["Ward 3"], *people]), Reading(header=False, skip_rows=1))
    assert (below.columns, below.rows) == (("column_1", "column_2", "column_3"), 4)
