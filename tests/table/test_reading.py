from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from mahrem.errors import ColumnNotFound, InvalidInput, InvalidParameter
from mahrem.table import Reading, Source, open_source


def csv(folder: Path, content: bytes, name: str = "table.csv", **how: object) -> Source:
    path = folder / name
    path.write_bytes(content)
    return open_source(path, Reading(**how))


def cells(source: Source) -> list[tuple[str | None, ...]]:
    return source.take(source.columns).rows()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"a,b\n1,2\n3,4\n", [("1", "2"), ("3", "4")]),
        (b"a,b\r\n1,2\r\n3,4\r\n", [("1", "2"), ("3", "4")]),
        (b"a,b\r1,2\r3,4\r", [("1", "2"), ("3", "4")]),
        (b"a,b\n1,2\n3,4", [("1", "2"), ("3", "4")]),
        (b"\xef\xbb\xbfa,b\n1,2\n", [("1", "2")]),
        (b'\xef\xbb\xbf"a","b"\n"1","2"\n', [("1", "2")]),
        ("a,b\n1,ğ\n".encode("utf-16"), [("1", "ğ")]),
        ("a,b\n1,ğ\n".encode("utf-32"), [("1", "ğ")]),
        (b"\n\r\na,b\n1,2\n", [("1", "2")]),
        (b"a,b\n007,1.50\n", [("007", "1.50")]),
        (b"a,b\n,\n1,\n", [(None, None), ("1", None)]),
        (b'a,b\n"",2\n', [(None, "2")]),
        (b'a,b\n"x""y","p\nq,r"\n1,2\n', [('x"y', "p\nq,r"), ("1", "2")]),
        (b'a,b\r\n"x","y"\r\n"z",w\r\n', [("x", "y"), ("z", "w")]),
        (b"a,b\n1,2\n\n3,4\n\n\n", [("1", "2"), ("3", "4")]),
        (b"a,b\r\n\r\n1,2\r\n\r\n,\r\n", [("1", "2"), (None, None)]),
        (b"a,b\n1,2\n\r", [("1", "2")]),
        (b"a\n1\n\n3\n", [("1",), (None,), ("3",)]),
        (b"a,b\n", []),
        (b"a,b", []),
        (b"a;b\n1,5;2\n", [("1,5", "2")]),
        (b"a\tb\n1,5\t2\n", [("1,5", "2")]),
        (b"a|b\n1|2\n", [("1", "2")]),
        (b'"x,y";b\n1;2\n', [("1", "2")]),
        (b"name, given;b\nx;2\n", [("x", "2")]),
        (b" a,b \n 1,2 \n", [(" 1", "2 ")]),
        (b'row,b\n1,2\n\n3,"4"\n', [("1", "2"), ("3", "4")]),
    ],
)
def test_csv_of_every_sort_is_read_as_it_is_written(
    tmp_path: Path, content: bytes, expected: list[tuple[str | None, ...]]
) -> None:
    source = csv(tmp_path, content)
    assert cells(source) == expected
    assert source.rows == len(expected)
    assert source.textual
    assert source.scan(source.columns).collect().rows() == expected


def test_header_names_keep_quotes_newlines_and_blanks(tmp_path: Path) -> None:
    assert csv(tmp_path, b'"a\nb","c""d", e \n1,2,3\n').columns == ("a\nb", 'c"d', " e ")


def test_columns_come_in_the_order_asked_for(tmp_path: Path) -> None:
    source = csv(tmp_path, b"a,b,c\n1,2,3\n")
    assert source.take(["c", "a"]).rows() == [("3", "1")]
    assert source.scan(["c", "a"]).collect().columns == ["c", "a"]


def test_an_unknown_column_is_named_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(ColumnNotFound, match="did you mean age"):
        csv(tmp_path, b"age,b\n1,2\n").take(["agee"])


@pytest.mark.parametrize("encoding", ["cp1254", "iso-8859-9"])
def test_other_encodings_are_read_when_said(tmp_path: Path, encoding: str) -> None:
    content = "şehir,b\nİğneada,2\n".encode(encoding)
    assert cells(csv(tmp_path, content, encoding=encoding)) == [("İğneada", "2")]


def test_bytes_that_are_not_utf8_are_refused_by_line_without_being_shown(tmp_path: Path) -> None:
    content = b"a,b\n" + b"x,y\n" * 200_000 + b"secret,\xfe\xff\n"
    with pytest.raises(InvalidInput, match=r"line 200002 is not UTF-8.*encoding=") as caught:
        csv(tmp_path, content)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_a_header_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    for header, likely in (("şehir,b", "cp1254"), ("Straße,Größe (€)", "cp1252")):
        with pytest.raises(InvalidInput, match=f"header is not UTF-8.*encoding='{likely}'"):
            csv(tmp_path, f"{header}\n1,2\n".encode(likely))


def test_a_wrong_encoding_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="is not written in encoding"):
        csv(tmp_path, "a,b\nş,2\n".encode(), encoding="utf-16")


def test_a_character_cut_by_a_chunk_border_is_read(tmp_path: Path) -> None:
    for shift in range(4):
        content = b"a" * shift + b"\n" + "ğ€😀\n".encode() * 60_000
        content = b"b" + content if not shift else content
        assert csv(tmp_path, content).rows == 60_000


@pytest.mark.parametrize(
    ("content", "line", "found"),
    [
        (b"a,b,c\n1,2,3\n1,2\n", 3, 2),
        (b"a,b,c\n1,2,3,4\n", 2, 4),
        (b"a,b,c\n1,2,3\n\n\nx\n", 5, 1),
        (b'a,b,c\n"1\n\n",2,3\n1,2', 5, 2),
        (b"a,b,c\n1,2,3\n   \n", 3, 1),
        (b"a,b,c\r\n1,2\r\n", 2, 2),
        (b"a,b,c\r1,2,3\r1,2\r", 3, 2),
        (b"a,b,c\n" + b"1,2,3\n" * 100_000 + b"1,2\n" + b"1,2,3\n" * 9, 100_002, 2),
        (b"a,b,c\n" + b'"1\n1",2,3\n' * 50_000 + b"1,2\n" + b"1,2,3\n" * 9, 100_002, 2),
    ],
)
def test_the_first_ragged_line_is_named_with_counts(
    tmp_path: Path, content: bytes, line: int, found: int
) -> None:
    with pytest.raises(InvalidInput, match=rf"line {line} has {found} cells, the header has 3"):
        csv(tmp_path, content, delimiter=",")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'a,b\n1,2\n3,"4\n5,6\n', "quote opened on line 3"),
        (b'a,b\n"1,2\n"3",4\n', "quote opened on line 2"),
        (b'a,b\n"1"x,2\n', "quote opened on line 2"),
        (b'a,b\n1,2\n5" pipe,3\n', "line 3 has a quote inside"),
        (b'a,b\n1, "2"\n', "line 2 has a quote inside"),
        (b"a,b\n1,\x002\n", "binary"),
        (b"a,b\n" + b"1,2\n" * 100_000 + b"1,\0\n", "line 100002 holds a NUL.*binary"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "binary"),
        (bytes(range(1, 32)) * 9, "binary"),
        (b"", "empty"),
        (b"\n\n\r\n", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (b"a,a\n1,2\n", "columns 1 and 2 have the same name"),
        (b",a\n0,2\n", "column 1 has an empty name; is it a row index"),
        (b'"a,b\n1,2\n', "quote in the header is not closed"),
        (b"PK\x03\x04....", "ZIP"),
        (b"SQLite format 3\0....", "SQLite"),
        (b"\x1f\x8bnonsense", "packed with gzip, but broken"),
    ],
)
def test_what_is_no_table_is_refused_with_a_reason(tmp_path: Path, content: bytes, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        csv(tmp_path, content)


def test_no_cell_is_ever_in_a_message(tmp_path: Path) -> None:
    for content in (b"a,b\nSECRET\n", b'a,b\nSEC"RET,1\n', b'a,b\n"SECRET,1\n', b"a,b\nSECRET\xff,1\n"):
        with pytest.raises(InvalidInput) as caught:
            csv(tmp_path, content)
        assert "SECRET" not in str(caught.value)


def test_quotes_at_chunk_borders_are_followed(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    kinds = np.array(['"a,""b""\n"', '"x"', "plain", '""', '"\r\n"', "ğ"])
    texts = ['a,"b\n', "x", "plain", None, "\r\n", "ğ"]
    picks = rng.integers(0, len(kinds), (150_000, 2))
    content = "p,q\n" + "".join(f"{one},{two}\n" for one, two in kinds[picks].tolist())
    source = csv(tmp_path, content.replace('a,""b""', 'a,""b').encode())
    assert source.rows == len(picks)
    expected = [(texts[one], texts[two]) for one, two in picks.tolist()]
    assert cells(source) == expected


def test_tokens_for_missing_values_are_missing_but_stay_in_the_rebuilt_table(tmp_path: Path) -> None:
    source = csv(tmp_path, b"a,b\n?,1\nx,NA\n", null=("?", "NA"))
    assert cells(source) == [(None, "1"), ("x", None)]
    assert source.scan(["a", "b"]).collect().rows() == [(None, "1"), ("x", None)]
    assert source.rebuild({}).rows() == [("?", "1"), ("x", "NA")]


def test_rebuilding_replaces_in_place_drops_and_filters(tmp_path: Path) -> None:
    source = csv(tmp_path, b"id,age,zip\n1,31,007\n2,32,008\n3,33,009\n")
    pair = [pl.Series("age_min", [30, 30]), pl.Series("age_max", [35, 35])]
    table = source.rebuild({"age": pair}, {"id"}, np.array([True, False, True]))
    assert table.columns == ["age_min", "age_max", "zip"]
    assert table.rows() == [(30, 35, "007"), (30, 35, "009")]


def test_a_rebuild_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    source = csv(tmp_path, b"a,b\n1,2\n3,4\n")
    with pytest.raises(InvalidParameter, match="has 1 rows; the table keeps 2"):
        source.rebuild({"a": [pl.Series("a", [1])]})
    with pytest.raises(InvalidParameter, match="one boolean for each"):
        source.rebuild({}, (), np.array([True]))
    with pytest.raises(InvalidParameter, match="twice"):
        source.rebuild({"a": [pl.Series("b", [1, 2])]})
    with pytest.raises(InvalidParameter, match="both replaced and dropped"):
        source.rebuild({"a": [pl.Series("a", [1, 2])]}, ["a"])
    with pytest.raises(ColumnNotFound):
        source.rebuild({}, ["c"])


def test_ten_thousand_columns_are_read(tmp_path: Path) -> None:
    names = [f"c{place}" for place in range(10_000)]
    row = ",".join(map(str, range(10_000)))
    source = csv(tmp_path, f"{','.join(names)}\n{row}\n{row}\n".encode())
    assert len(source.columns) == 10_000
    assert source.take(["c9999", "c3"]).rows() == [("9999", "3")] * 2
    assert source.rebuild({}, ["c0"]).shape == (2, 9_999)


def test_packed_files_are_read(tmp_path: Path) -> None:
    content = b"a,b\n1,2\n"
    assert cells(csv(tmp_path, gzip.compress(content), "table.csv.gz")) == [("1", "2")]
    with pa.output_stream(tmp_path / "t.csv.zst", compression="zstd") as stream:
        stream.write(content)
    assert cells(open_source(tmp_path / "t.csv.zst")) == [("1", "2")]


def test_a_tsv_file_is_parted_by_tabs_alone(tmp_path: Path) -> None:
    assert cells(csv(tmp_path, b"a\n[1, 2]\n", "table.tsv")) == [("[1, 2]",)]
    assert cells(csv(tmp_path, b"a,x\tb,y\n1,1\t2,2\n", "table.tsv")) == [("1,1", "2,2")]


def test_strange_file_names_are_taken_literally(tmp_path: Path) -> None:
    assert cells(csv(tmp_path, b"a,b\n1,2\n", "t[1]*?.csv")) == [("1", "2")]
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "t[1]*.parquet")
    assert open_source(tmp_path / "t[1]*.parquet").rows == 1


def test_paths_that_lead_nowhere_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"'nothing.csv' does not exist"):
        open_source(tmp_path / "nothing.csv")
    with pytest.raises(InvalidInput, match="is a folder"):
        open_source(str(tmp_path))
    with pytest.raises(InvalidInput, match="unknown kind"):
        open_source("https://user:geheim@example.org/t.csv")
    with pytest.raises(InvalidInput, match="NUL"):
        open_source("a\0b")


def test_a_file_without_permission_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a\n1\n")
    path.chmod(0)
    me = os.geteuid()
    if me == 0:
        os.seteuid(65534)  # the superuser may read everything
    try:
        with pytest.raises(InvalidInput, match="permission"):
            open_source(path)
    finally:
        os.seteuid(me)


@pytest.mark.parametrize(
    "how",
    [
        {"delimiter": ",,"},
        {"delimiter": '"'},
        {"delimiter": "ğ"},
        {"decimal": ";"},
        {"encoding": "klingon"},
        {"encoding": "hex"},
        {"query": "SELECT 1", "table": "t"},
    ],
)
def test_settings_that_make_no_sense_are_refused(how: dict[str, str]) -> None:
    with pytest.raises(InvalidParameter):
        Reading(**how)  # type: ignore[arg-type]


def test_parquet_and_arrow_keep_their_types(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1, None], "b": ["x", ""], "c": [float("nan"), 1.0], "d": [[1], [2]]})
    frame.write_parquet(tmp_path / "t.parquet")
    frame.write_ipc(tmp_path / "t.feather")
    (tmp_path / "unnamed").write_bytes((tmp_path / "t.parquet").read_bytes())
    for name in ("t.parquet", "t.feather", "unnamed"):
        source = open_source(tmp_path / name, Reading(null=("1",)))
        assert not source.textual
        assert source.rows == 2
        taken = source.take(["b", "a", "c"])
        assert taken["b"].to_list() == ["x", None]
        assert taken["a"].to_list() == [None, None]
        assert taken["c"].is_nan()[0]
        assert taken.schema == source.scan(["b", "a", "c"]).collect_schema()
        with pytest.raises(InvalidInput, match=r"column='d' of .* List"):
            source.take(["d"])
        assert source.rebuild({}, ["a"]).equals(frame.drop("a"))


def test_broken_parquet_and_arrow_files_are_refused(tmp_path: Path) -> None:
    for name in ("t.parquet", "t.arrow"):
        (tmp_path / name).write_bytes(b"PAR1 this is none" if name == "t.parquet" else b"nothing at all")
        with pytest.raises(InvalidInput, match="broken"):
            open_source(tmp_path / name)


def test_queries_are_for_databases_only(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no database"):
        csv(tmp_path, b"a\n1\n", query="SELECT 1")
    with pytest.raises(InvalidInput, match="for databases"):
        open_source(pl.DataFrame({"a": [1]}), Reading(table="t"))


@pytest.mark.data
def test_benchmark_files_are_read(benchmark_data: Path) -> None:
    source = open_source(benchmark_data / "adult_train.csv", Reading(null=("?",)))
    assert source.rows == 32_561
    assert len(source.columns) == 15
    assert source.take(["workclass"])["workclass"].null_count() == 1836
    assert open_source(benchmark_data / "diabetes_130us.csv.gz").rows == 101_766
