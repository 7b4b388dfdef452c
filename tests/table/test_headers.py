"""Which row names the columns: headers, title rows above them, and files that have none."""

from __future__ import annotations

import gzip
import random
import re
from pathlib import Path

import pytest

from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.table import Reading, Source, open_source


def opened(folder: Path, text: str, written: str = "utf-8", **how: object) -> Source:
    path = folder / "table.csv"
    path.write_bytes(text.encode(written))
    return open_source(path, Reading(**how))


def people(rows: int, seed: int = 5) -> list[list[str]]:
    rng = random.Random(seed)
    first = ["Ayşe", "Mehmet", "Zeynep", "Ali", "Elif", "Can"]
    last = ["Yildiz", "Kaya", "Demir", "Çelik", "Şahin"]
    return [
        [
            rng.choice(first),
            rng.choice(last),
            str(rng.randint(18, 90)),
            f"{rng.randint(1, 81):02}{rng.randint(100, 999)}",
            f"{rng.randint(1, 28)}.{rng.randint(1, 12)}.{rng.randint(1940, 2005)}",
            f"{rng.choice(first).lower()}{rng.randint(1, 99)}@example.org",
            rng.choice(["flu", "asthma", "cancer"]),
        ]
        for _ in range(rows)
    ]


def table(rows: list[list[str]], mark: str = ",") -> str:
    return "".join(mark.join(row) + "\n" for row in rows)


HEADERLESS = {
    "people": table(people(40)),
    "people with semicolons": table(people(40), ";"),
    "one row of people": table(people(1)),
    "two rows of people": table(people(2)),
    "numbers": "34,6100,1\n51,34000,0\n27,6100,1\n44,35000,1\n",
    "a repeated value": "4,6100,4\n51,34000,0\n27,6100,1\n",
    "one column of numbers": "34\n51\n27\n33\n",
    "one column of words": "Ankara\nIzmir\nAnkara\nBursa\nIzmir\n",
    "one column of years": "1985\n1990\n1985\n2001\n",
    "words that come again": "Ayşe,Ankara\nAli,İzmir\nCan,Ankara\nElif,Bursa\nAyşe,İzmir\n",
    "codes": "P001,A\nP002,B\nP003,A\nP004,B\nP005,A\nP006,C\n",
    "e-mails": "ayse@example.org,x\nali@example.com,y\ncan@mail.example.net,x\n",
    "a missing first value": "NA,06100,flu\n51,34000,asthma\n27,06100,flu\n44,35000,asthma\n",
    "an empty first value": ",06100,flu\n51,34000,asthma\n27,06100,flu\n44,35000,asthma\n",
    "two flags": "0,1\n1,1\n0,0\n1,0\n0,1\n",
    "thousands": '"1.234,56";12/31/2020\n"2.345,10";1/2/2019\n',
    "dates alone": "31.12.2020\n1.2.2019\n5.6.2018\n",
    "quoted": '"34","6100","f"\n"51","34000","m"\n"27","6100","f"\n"44","35000","f"\n',
    "phones": "+90 555 123 45 67;f\n+90 532 999 11 22;m\n+90 544 333 22 11;f\n+90 501 222 33 44;m\n",
}
HEADED = {
    "plain": "age,zip,sex\n34,6100,f\n51,34000,m\n",
    "years over counts": "region,2019,2020\nnorth,512,634\nsouth,91,12\n",
    "years alone over counts": "2019,2020,2021\n512,634,77\n91,12,8\n",
    "one year over counts": "city,2020\nAnkara,512\nBursa,91\nAnkara,77\n",
    "running numbers": "0,1,2,3\n5,7,1,9\n8,6,4,2\n3,3,1,0\n",
    "two running numbers": "0,1\n5.5,7.1\n8.2,6.3\n",
    "counted names": "q1,q2,q3\nA1,B2,A1\nB2,A1,C3\n",
    "wavelengths": "400,410,420,430\n0.12,0.33,0.41,0.2\n0.14,0.3,0.4,0.22\n",
    "months as names": "ward,2020-01-01,2020-02-01\nA,5,7\nB,6,1\n",
    "words alone": "name,city\nAyşe,Ankara\nAli,İzmir\nCan,Bursa\n",
    "Turkish": "Yaş;Posta Kodu;Teşhis\n34;06100;grip\n51;34000;öksürük\n",
    "header alone": "age,zip,disease\n",
    "years in a header alone": "region,2019,2020\n",
    "one column": "age\n34\n51\n",
    "one column of words": "city\nAnkara\nIzmir\nAnkara\n",
    "quoted": '"age","zip"\n"34","6100"\n',
    "a repeated header": "age,sex\n34,f\nage,sex\n51,m\n27,f\n",
    "an id": "patient_id,age\nP001,34\nP002,51\n",
    "a number among names": "name,1,2\nAyşe,512,17\nAli,91,12\n",
    "missing values": "age,zip\n,\nNA,06100\n34,\n",
}


@pytest.mark.parametrize("text", HEADERLESS.values(), ids=list(HEADERLESS))
def test_a_file_without_a_header_is_refused_and_no_cell_is_shown(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidInput, match=r"looks like data.*header=False, names=\[.NAME1.") as caught:
        opened(tmp_path, text)
    cells = {cell.strip('"') for line in text.splitlines() for cell in line.replace(";", ",").split(",")}
    shown = str(caught.value).replace(f"({len(text.splitlines()[0])} names)", "")
    assert not {cell for cell in cells if len(cell) > 2 and cell in shown}


@pytest.mark.parametrize("text", HEADED.values(), ids=list(HEADED))
def test_a_header_is_taken_as_one(tmp_path: Path, text: str) -> None:
    source = opened(tmp_path, text)
    first = text.splitlines()[0].replace('"', "")
    assert source.columns == tuple(first.split(";" if ";" in first else ","))
    assert source.rows == len(text.splitlines()) - 1
    assert source.notes == ()


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_random_people_are_never_taken_for_a_header_nor_a_header_for_people(
    tmp_path: Path, seed: int, mark: str
) -> None:
    rng = random.Random(seed)
    rows = people(rng.randint(2, 60), seed)
    kept = rng.sample(range(7), rng.randint(3, 7))
    names = ["ad", "soyad", "yaş", "posta", "doğum", "e-posta", "teşhis"]
    body = [[row[place] for place in kept] for row in rows]
    headed = opened(tmp_path, table([[names[place] for place in kept], *body], mark))
    assert headed.columns == tuple(names[place] for place in kept)
    if {2, 3, 4, 5} & set(kept):
        with pytest.raises(InvalidInput, match="looks like data"):
            opened(tmp_path, table(body, mark))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1254"])
def test_files_without_a_header_are_found_in_every_encoding(tmp_path: Path, encoding: str) -> None:
    how = {"encoding": encoding} if encoding == "cp1254" else {}
    with pytest.raises(InvalidInput, match="looks like data"):
        opened(tmp_path, table(people(20), ";"), encoding, **how)
    text = "yaş;şehir\n34;Muğla\n51;Bartin\n"
    assert opened(tmp_path, text, encoding, **how).columns == ("yaş", "şehir")


def test_columns_without_a_header_are_named_in_their_order(tmp_path: Path) -> None:
    text = "34,06100,flu\n51,34000,asthma\n27,06100,flu\n"
    named = opened(tmp_path, text, header=False, names=["age", "zip", "disease"])
    assert named.columns == ("age", "zip", "disease")
    assert named.rows == 3
    assert named.take(["age", "zip"]).rows() == [("34", "06100"), ("51", "34000"), ("27", "06100")]
    assert named.scan(["disease"]).collect().to_series().to_list() == ["flu", "asthma", "flu"]
    assert opened(tmp_path, text, header=False).columns == ("column_1", "column_2", "column_3")
    assert opened(tmp_path, text, names=["a", "b", "c"]).rows == 3  # the row is clearly data


def test_blank_lines_and_the_last_line_count_for_nothing_without_a_header(tmp_path: Path) -> None:
    named = opened(tmp_path, "\n\n1,2\n\n3,4\n\n5,6", header=False, names=["a", "b"])
    assert named.rows == 3
    assert named.take(["a", "b"]).rows() == [("1", "2"), ("3", "4"), ("5", "6")]


def test_a_header_that_is_said_is_believed(tmp_path: Path) -> None:
    assert opened(tmp_path, "1,2\n3,4\n5,6\n", header=True).columns == ("1", "2")
    renamed = opened(tmp_path, "x,y\n3,4\n5,6\n", header=True, names=["a", "b"])
    assert (renamed.columns, renamed.rows) == (("a", "b"), 2)
    found = opened(tmp_path, "x,y\n3,4\n5,6\n", names=["a", "b"])
    assert (found.columns, found.rows) == (("a", "b"), 2)


def test_names_where_nothing_tells_need_a_word_about_the_header(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="nothing tells whether"):
        opened(tmp_path, "Ali,Kaya\nAyşe,Demir\n", names=["a", "b"])
    with pytest.raises(InvalidParameter, match=r"2 were given.*has 3 columns"):
        opened(tmp_path, "1,2,3\n4,5,6\n", header=False, names=["a", "b"])


def test_the_same_name_twice_is_refused_by_places(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="columns 1 and 3 have the same name") as caught:
        opened(tmp_path, "Kaya,x,Kaya\n1,2,3\n")
    assert "Kaya" not in str(caught.value)


TITLED = {
    "a title": "Patients of 2020\nage,zip,sex\n34,6100,f\n51,34000,m\n",
    "a title and a blank line": "Patients of 2020\n\nage,zip,sex\n34,6100,f\n51,34000,m\n",
    "a padded title": "Patients of 2020,,\n,,\nage,zip,sex\n34,6100,f\n51,34000,m\n",
    "a title with a comma before semicolons": "Patients, ward 3\n\nage;zip;sex\n34;6100;f\n51;34000;m\n",
    "blank lines above": "\n\nPatients\nage,zip,sex\n34,6100,f\n51,34000,m\n",
    "a quoted title": '"Patients, all ""wards"""\nage,zip,sex\n34,6100,f\n51,34000,m\n',
    "several": "Hospital\nStand: 01.02.2020\n\n\nage;zip;sex\n34;6100;f\n51;34000;m\n",
}


@pytest.mark.parametrize("text", TITLED.values(), ids=list(TITLED))
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_title_rows_are_passed_over_and_said(tmp_path: Path, text: str, end: str) -> None:
    source = opened(tmp_path, text.replace("\n", end))
    assert source.columns == ("age", "zip", "sex")
    assert source.take(source.columns).rows() == [("34", "6100", "f"), ("51", "34000", "m")]
    assert [note.code for note in source.notes] == ["warning.title_rows"]


def test_lines_above_the_header_can_be_said(tmp_path: Path) -> None:
    text = 'Ward "3\n\nage,zip\n34,6100\n'
    assert opened(tmp_path, text, skip_rows=2).columns == ("age", "zip")
    with pytest.raises(InvalidParameter, match="skip_rows=9 must leave a line"):
        opened(tmp_path, text, skip_rows=9)
    below = opened(tmp_path, "title\n34,6100\n51,34000\n", skip_rows=1, header=False, names=["age", "zip"])
    assert below.rows == 2


@pytest.mark.parametrize(
    "text",
    [
        "comment\nhello, world\ngood, bye\nso, long\n",  # one column of text, not a title
        "a,b\n1,2,3\n4,5,6\n",
        "a,b,c\n1,2,3\n4,5\n",
    ],
)
def test_ragged_lines_stay_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidInput, match=r"has \d cells, the header has \d.*skip_rows"):
        opened(tmp_path, text)


@pytest.mark.parametrize("name", ["table.csv.gz", "table.tsv.gz", "TABLE.TSV.GZ"])
def test_packed_files_are_read_and_judged_like_others(tmp_path: Path, name: str) -> None:
    mark = "\t" if "tsv" in name.lower() else ","
    path = tmp_path / name
    path.write_bytes(gzip.compress(table([["age", "no, te"], ["34", "x"], ["51", "y"]], mark).encode())
                     if mark == "\t" else gzip.compress(b"age,note\n34,x\n51,y\n"))  # fmt: skip
    source = open_source(path)
    assert (source.columns[0], source.rows) == ("age", 2)
    path.write_bytes(gzip.compress(table(people(20), mark).encode()))
    with pytest.raises(InvalidInput, match="looks like data"):
        open_source(path)


@pytest.mark.parametrize(
    "titles", ["Export of 2024\n", "title\n", "Clinic\nas of: 3 January, secret\n\n", "\n\nList\n\n"]
)
def test_the_way_named_below_a_title_without_a_header_is_the_way(tmp_path: Path, titles: str) -> None:
    rows = people(60)
    text = titles + "".join(",".join(row) + "\n" for row in rows)
    with pytest.raises(InvalidInput, match=r"first row below a title looks like data") as refused:
        opened(tmp_path, text)
    lines = int(re.search(r"skip_rows=(\d+)", str(refused.value))[1])  # type: ignore[index]
    names = [f"c{place}" for place in range(len(rows[0]))]
    source = opened(tmp_path, text, skip_rows=lines, header=False, names=tuple(names))
    assert source.take(names).height == len(rows)


def test_a_ragged_line_near_the_top_says_how_many_lines_stand_above_it(tmp_path: Path) -> None:
    text = "a title\nanother, with a comma\n\n" + "".join(f"{word},red,x y\n" for word in "abcdefgh")
    with pytest.raises(InvalidInput, match=r"skip_rows=3"):
        opened(tmp_path, text, skip_rows=1)
