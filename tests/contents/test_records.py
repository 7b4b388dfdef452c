"""A file sketched where it lies: the same as after reading it, or left to who reads with more care."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from random import Random

import numpy as np
import polars as pl
import pytest

from mahrem.contents import TableSketch, sketch_records, sketch_table
from mahrem.errors import InvalidInput
from mahrem.table import Reading, open_source
from mahrem.table.formats._text import _count
from mahrem.table.reading import _csv, open_records
from mahrem.types import Integers

CELLS = (
    "", "a", "Ş", "12", "a b", "ada@example.org", "Bahnhofstraße 12", "x" * 12, "y" * 13, "z" * 127,
    "w1 " * 60, "€ 1.200,50", "2020-01-31", "a,b", 'say "no"', "two\nlines", "\U0001f600", '"', " lead",
    "tail ",
)  # fmt: skip


def written(random: Random, rows: int, width: int) -> bytes:
    """Write a table as some program would."""
    out = io.StringIO(newline="")
    always = random.random() < 0.3
    writer = csv.writer(
        out,
        lineterminator=random.choice(["\n", "\r\n"]),
        quoting=csv.QUOTE_ALL if always else csv.QUOTE_MINIMAL,
    )
    writer.writerow([f"column{place}" for place in range(width)])
    plain = random.random() < 0.4
    cells = [cell for cell in CELLS if not plain or not set(cell) & set(',"\n')]
    for _ in range(rows):
        writer.writerow([random.choice(cells) for _ in range(width)])
    content = out.getvalue().encode()
    return content.rstrip(b"\r\n") if random.random() < 0.3 else content


def told(sketch: TableSketch) -> list[object]:
    """Give all that a sketch says, whichever of equal rows it names."""
    columns = [
        [name, one.rows, one.values.to_list()]
        + [getattr(one, part).tolist() for part in ("hashes", "shapes", "counts", "written", "more")]
        for name, one in sketch.columns.items()
    ]
    return [columns, sketch.sample.rows(), sketch.counts.tolist(), sketch.hashes.tolist(), sketch.rows]


def read_with_care(path: Path, monkeypatch: pytest.MonkeyPatch) -> pl.DataFrame | None:
    """Read a table by a walk over all its bytes; None where it is refused."""
    with monkeypatch.context() as patch:
        patch.setattr(_csv, "_records", lambda *_: None)
        try:
            source = open_source(path, Reading(header=True, delimiter=","))
            return source.take(list(source.columns))
        except InvalidInput:
            return None


def as_it_lies(path: Path, frame: pl.DataFrame | None) -> TableSketch | None:
    """Sketch a file where it lies; None where it is left to others, or refused for its header."""
    try:
        records = open_records(path, Reading(header=True, delimiter=","))
    except InvalidInput:
        return None
    if records is None:
        return None
    counted, sketched = _count(records), sketch_records(records)
    assert counted is None or (frame is not None and counted == frame.height)
    return None if sketched is None else sketched.table


@pytest.mark.parametrize("seed", range(40))
def test_a_file_says_where_it_lies_what_it_says_when_read(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(seed)
    path = tmp_path / "table.csv"
    path.write_bytes(written(random, random.choice([1, 7, 300]), random.choice([2, 3, 9])))
    frame = read_with_care(path, monkeypatch)
    sketch = as_it_lies(path, frame)
    assert frame is not None
    assert sketch is not None
    assert told(sketch) == told(sketch_table(frame))
    for name in frame.columns[:2]:
        some = sketch.columns[name].values.head(3).alias(name).to_frame()
        assert (
            sketch.having([name], some).rows()
            == frame.filter(pl.col(name).is_in(some[name].implode())).rows()
        )


@pytest.mark.parametrize("seed", range(150))
def test_a_damaged_file_is_never_read_otherwise(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(seed)
    content = bytearray(written(random, 12, 3))
    first = content.index(b"\n") + 1
    for _ in range(random.choice([1, 1, 2, 3])):
        place = random.randrange(first, len(content))
        match random.randrange(3):
            case 0:
                content[place] = random.choice(b'\0\n\r",\x80\xc3\xedxa')
            case 1:
                del content[place]
            case _:
                content.insert(place, random.choice(b'\n\r",\xe2\xffx'))
    path = tmp_path / "table.csv"
    path.write_bytes(bytes(content))
    frame = read_with_care(path, monkeypatch)
    sketch = as_it_lies(path, frame)
    if sketch is not None:
        assert frame is not None
        assert told(sketch) == told(sketch_table(frame))


def test_parts_meet_where_records_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mahrem.arrays.sketching._record_sketch._WORTH_A_PART", 100)
    monkeypatch.setattr("mahrem.arrays.sketching._record_sketch.available_threads", lambda: 5)
    random = Random(3)
    path = tmp_path / "table.csv"
    for _ in range(20):
        path.write_bytes(written(random, 400, 3))
        frame = read_with_care(path, monkeypatch)
        sketch = as_it_lies(path, frame)
        assert frame is not None
        assert sketch is None or told(sketch) == told(sketch_table(frame))


def test_cells_without_quotes_are_looked_at_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mahrem.arrays.sketching._record_sketch._WORTH_A_PART", 100)
    monkeypatch.setattr("mahrem.arrays.sketching._record_sketch.available_threads", lambda: 5)
    rng = np.random.default_rng(1)
    numbers: Integers = rng.integers(0, 10**6, 5000)
    frame = pl.DataFrame({"a": numbers, "b": numbers % 7, "c": [f"P-{one}" for one in numbers]})
    path = tmp_path / "table.csv"
    frame.write_csv(path)
    sketch = as_it_lies(path, frame)
    assert sketch is not None
    assert told(sketch) == told(sketch_table(frame.cast(pl.String)))
