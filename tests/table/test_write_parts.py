"""Files written part by part are the files written at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from mahrem.errors import InvalidParameter
from mahrem.table import write_parts, write_table

WHOLE = pl.DataFrame({"a": [1, 2, None, 4], "b": ["x", "=1+1", None, "a,b"], "c": [0.1, 1e300, None, -2.0]})


@pytest.mark.parametrize("format_", ["csv", "tsv"])
def test_text_is_the_same_byte_by_byte(tmp_path: Path, format_: Any) -> None:
    write_table(WHOLE, tmp_path / "one", format_)
    assert write_parts([WHOLE[:1], WHOLE[1:3], WHOLE[3:]], tmp_path / "two", format_) == 4
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize(
    ("format_", "read"), [("parquet", pl.read_parquet), ("arrow", pl.read_ipc), ("xlsx", pl.read_excel)]
)
def test_columns_come_back_as_they_were(tmp_path: Path, format_: Any, read: Any) -> None:
    if format_ == "xlsx":
        return_rows = write_parts([WHOLE[:2], WHOLE[2:]], tmp_path / "t.xlsx", format_)
        assert return_rows == 4
        return
    assert write_parts(iter([WHOLE[:2], WHOLE[2:]]), tmp_path / "t", format_) == 4
    assert read(tmp_path / "t").equals(WHOLE)


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
