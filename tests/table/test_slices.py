from datetime import date
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import mahrem as mh
from mahrem.errors import InvalidParameter
from mahrem.table import open_source
from mahrem.table.reading import ParquetSlices, PolarsSource, Reading, _slices, scan_sparingly


def table(rows: int) -> pl.DataFrame:
    rng = np.random.default_rng(4)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 60, rows),
            "sex": pl.Series(["f", "m", None, ""]).gather(rng.integers(0, 4, rows)),
            "born": pl.Series([date(1990, 1, 1), date(1991, 2, 3)]).gather(rng.integers(0, 2, rows)),
            "ill": pl.Series(["flu", "gout", "none"]).gather(rng.integers(0, 3, rows)),
        }
    )


@pytest.mark.parametrize("row_group", [100, 100_000])
def test_slices_give_what_the_plain_reader_gives(
    tmp_path: Path, row_group: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_slices, "ROWS", 64)
    table(1000).write_parquet(tmp_path / "t.parquet", row_group_size=row_group)
    source = open_source(tmp_path / "t.parquet")
    names = ["ill", "sex", "born"]
    sliced, plain = scan_sparingly(source, names), source.scan(names)
    assert_frame_equal(sliced.collect(engine="streaming"), plain.collect())
    assert_frame_equal(sliced.head(130).collect(), plain.head(130).collect())
    assert_frame_equal(
        sliced.filter(pl.col("ill") == "flu").collect(), plain.filter(pl.col("ill") == "flu").collect()
    )
    assert sliced.select(pl.len()).collect(engine="streaming").item() == 1000


def test_slices_run_through_all_files_of_a_folder(tmp_path: Path) -> None:
    for part in range(3):
        table(100)[part * 30 : part * 30 + 30].write_parquet(tmp_path / f"part-{part}.parquet")
    source = open_source(tmp_path)
    assert_frame_equal(scan_sparingly(source, ["age"]).collect(), table(90 + 10).head(90).select("age"))


def test_kinds_that_need_the_plain_reader_get_it(tmp_path: Path) -> None:
    frame = table(50).with_columns(pl.col("ill").cast(pl.Categorical))
    frame.write_parquet(tmp_path / "t.parquet")
    assert _slices.scan_slices(ParquetSlices([tmp_path / "t.parquet"]), ["ill"]) is None
    source = open_source(tmp_path / "t.parquet")
    assert_frame_equal(scan_sparingly(source, ["ill"]).collect(), source.scan(["ill"]).collect())
    frames = open_source(frame)
    assert_frame_equal(scan_sparingly(frames, ["age"]).collect(), frame.select("age"))


def test_an_audit_with_little_memory_finds_the_same(tmp_path: Path) -> None:
    table(5000).write_parquet(tmp_path / "t.parquet")
    roles = {"quasi": ["age", "sex", "born"], "sensitive": "ill", "k": 2, "l": 2}
    whole, parts = (mh.audit(tmp_path / "t.parquet", **roles, memory=size).report for size in (10**9, 10**5))
    assert {**whole, "seconds": 0} == {**parts, "seconds": 0}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_text_in_slices_is_what_the_plain_reader_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, newline: str
) -> None:
    monkeypatch.setattr(_slices, "_BLOCK", 97)  # records and quotes are cut everywhere
    cells = ['"two, parts"', '"two\nlines"', '"a ""quoted"" one"', "ş", "", "=1+1", "0"]
    lines = [f"{number},{cells[number % 7]},{cells[number % 5]}" for number in range(300)]
    lines[40:40] = ["", ""]  # blank lines are no records
    text = newline.join(["a title", "no,note,more", *lines]) + newline
    path = tmp_path / "t.csv"
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    source = open_source(path, Reading(skip_rows=1, null=("0",)))
    assert isinstance(source, PolarsSource)
    assert source.in_batches()
    for names in (["no", "note", "more"], ["more", "no"]):
        taken = source.take(names)
        assert taken.height == 300
        batches = list(source.batches(names, 20))
        assert len(batches) > 5
        assert_frame_equal(pl.concat(batches), taken)
        assert_frame_equal(
            pl.concat(source.batches(names, 50, untouched=True)), source.rebuild({}).select(names)
        )
        assert_frame_equal(scan_sparingly(source, names).collect(), taken)


def test_packed_and_foreign_text_is_not_read_in_batches(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("il,n\nMuğla,1\n".encode("cp1254"))
    source = open_source(path, Reading(encoding="cp1254"))
    assert isinstance(source, PolarsSource)
    assert not source.in_batches()
    with pytest.raises(InvalidParameter, match="cannot be read in parts"):
        list(source.batches(["il"], 10))
