"""Files written part by part are the files written at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from mahrem.errors import InvalidParameter
from mahrem.table.formats._excel import excel_texts
from mahrem.table.writing import write_parts, write_table

WHOLE = pl.DataFrame({"a": [1, 2, None, 4], "b": ["x", "=1+1", None, "a,b"], "c": [0.1, 1e300, None, -2.0]})


@pytest.mark.parametrize("format_", ["csv", "tsv"])
def test_text_is_the_same_byte_by_byte(tmp_path: Path, format_: Any) -> None:
    write_table(WHOLE, tmp_path / "one", format_)
    assert write_parts([WHOLE[:1], WHOLE[1:3], WHOLE[3:]], tmp_path / "two", format_) == 4
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize(("format_", "read"), [("parquet", pl.read_parquet), ("arrow", pl.read_ipc)])
def test_columns_come_back_as_they_were(tmp_path: Path, format_: Any, read: Any) -> None:
    assert write_parts(iter([WHOLE[:2], WHOLE[2:]]), tmp_path / "t", format_) == 4
    assert read(tmp_path / "t").equals(WHOLE)


def test_a_sheet_in_parts_is_the_sheet_at_once(tmp_path: Path) -> None:
    pytest.importorskip("xlsxwriter")
    write_table(WHOLE, tmp_path / "one.xlsx", "xlsx")
    assert write_parts([WHOLE[:2], WHOLE[2:]], tmp_path / "two.xlsx", "xlsx") == 4
    (header, cells), (other_header, other_cells) = (
        excel_texts(tmp_path / name) for name in ("one.xlsx", "two.xlsx")
    )
    assert header == other_header == WHOLE.columns
    assert cells.equals(other_cells)


def test_a_failure_half_way_leaves_nothing_behind(tmp_path: Path) -> None:
    def parts() -> Any:
        yield WHOLE
        raise InvalidParameter("no more")

    for format_ in ("csv", "parquet"):
        with pytest.raises(InvalidParameter):
            write_parts(parts(), tmp_path / "t", format_)
    assert not list(tmp_path.iterdir())
    with pytest.raises(InvalidParameter, match="without columns"):
        write_parts([], tmp_path / "t")


@pytest.mark.parametrize("format_", ["csv", "tsv"])
def test_an_empty_first_part_gives_one_header(tmp_path: Path, format_: Any) -> None:
    write_table(WHOLE, tmp_path / "one", format_)
    assert write_parts([WHOLE[:0], WHOLE[:2], WHOLE[2:]], tmp_path / "two", format_) == 4
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (pl.DataFrame({"a": ["x", "\0"]}), "NUL"),
        (pl.DataFrame({"a\x01": ["x"]}), "control characters"),
        (pl.DataFrame({"a": [[1], [2]]}), "drop it or write Parquet"),
    ],
)
def test_parts_refuse_what_a_table_refuses(tmp_path: Path, frame: pl.DataFrame, reason: str) -> None:
    for write in (lambda place: write_table(frame, place), lambda place: write_parts([frame], place)):
        with pytest.raises(InvalidParameter, match=reason):
            write(tmp_path / "t")
    assert list(tmp_path.iterdir()) == []
