"""The same table in other wrappings: what a file holds beside its rows is nobody's to publish."""

from __future__ import annotations

import csv
from pathlib import Path
from random import Random

import duckdb
import polars as pl
import pyarrow as pa
import pyreadstat
import xlsxwriter
from pyarrow import feather, parquet

MARK = "HIDDEN MARK"


def packed(random: Random, table: pl.DataFrame, folder: Path, ending: str) -> Path:
    """Write a table to a file whose wrapping is drawn: layout, statistics, leftovers, words about it."""
    folder.mkdir(parents=True)
    path = folder / f"people.{ending}"
    {
        "csv": _csv,
        "parquet": _parquet,
        "arrow": _arrow,
        "xlsx": _xlsx,
        "sav": _sav,
        "duckdb": _duckdb,
    }[ending](random, table, path)
    return path


def _csv(random: Random, table: pl.DataFrame, path: Path) -> None:
    """Quotes, line ends, a mark in front, another sign between cells, an empty line at the end."""
    with path.open("w", encoding=random.choice(("utf-8", "utf-8-sig")), newline="") as file:
        writer = csv.writer(
            file,
            delimiter=random.choice(",;\t"),
            quoting=random.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL)),
            lineterminator=random.choice(("\n", "\r\n")),
        )
        writer.writerow(table.columns)
        writer.writerows(table.rows())
        file.write(random.choice(("", "\n")))


def _described(random: Random, table: pl.DataFrame) -> pa.Table:
    """Have words about the table and its columns, and rows in parts."""
    frame = table.to_arrow()
    fields = [
        field.with_metadata({"comment": f"{MARK} {random.random()}"}) if random.random() < 0.5 else field
        for field in frame.schema
    ]
    schema = pa.schema(fields, metadata={"pandas": f'{{"{MARK}": {random.random()}}}', "who": MARK})
    described = frame.cast(schema)
    cut = random.randint(0, frame.num_rows)
    return pa.concat_tables([described[:cut], described[cut:]])


def _parquet(random: Random, table: pl.DataFrame, path: Path) -> None:
    parquet.write_table(
        _described(random, table),
        path,
        row_group_size=random.randint(1, 50),
        compression=random.choice(("none", "zstd")),
        use_dictionary=random.random() < 0.5,
        write_statistics=random.random() < 0.5,
    )


def _arrow(random: Random, table: pl.DataFrame, path: Path) -> None:
    feather.write_feather(_described(random, table), str(path), compression=random.choice(("lz4", "zstd")))


def _xlsx(random: Random, table: pl.DataFrame, path: Path) -> None:
    """A title, comments, names of ranges, other formats of cells, and cells far from the table's."""
    book = xlsxwriter.Workbook(str(path))
    book.set_properties({"author": f"{MARK} {random.random()}", "comments": MARK})
    sheet = book.add_worksheet("people")
    day = book.add_format({"num_format": "yyyy-mm-dd"})
    bold = book.add_format({"bold": random.random() < 0.5})
    for place, name in enumerate(table.columns):
        sheet.write(0, place, name, bold)
        for row, cell in enumerate(table[name]):
            if table[name].dtype == pl.Date:
                sheet.write_datetime(row + 1, place, cell, day)
            elif cell is not None:
                sheet.write(row + 1, place, cell, bold)
    if random.random() < 0.5:
        sheet.write_comment(1, 0, f"{MARK} {random.random()}")
    if random.random() < 0.5:
        sheet.set_column(1, 1, random.randint(1, 40))
        book.define_name("somebody", f"=people!$A${random.randint(2, 9)}")
    book.close()


def _sav(random: Random, table: pl.DataFrame, path: Path) -> None:
    """Words behind codes that nobody has, and notes."""
    towns = sorted(table["town"].unique())
    codes = dict(enumerate(towns, 1))
    unused = {90 + place: f"{MARK} {random.random()}" for place in range(random.randint(0, 3))}
    numbers = {town: code for code, town in codes.items()}
    pyreadstat.write_sav(
        table.with_columns(pl.col("town").replace_strict(numbers, return_dtype=pl.Int64)).to_pandas(),
        str(path),
        file_label=f"{MARK} {random.random()}",
        note=[f"{MARK} {random.random()}"],
        variable_value_labels={"town": {**codes, **unused}},
    )


def _duckdb(random: Random, table: pl.DataFrame, path: Path) -> None:
    """Rows that were deleted, and comments."""
    rows = table.to_arrow()  # noqa: F841 - DuckDB finds it by its name
    with duckdb.connect(str(path)) as base:
        base.execute("CREATE TABLE people AS SELECT * FROM rows")
        base.execute("INSERT INTO people SELECT * FROM rows LIMIT ?", [random.randint(0, 9)])
        base.execute("DELETE FROM people WHERE rowid >= ?", [table.height])
        base.execute(f"COMMENT ON TABLE people IS '{MARK} {random.random()}'")
        base.execute(f"COMMENT ON COLUMN people.age IS '{MARK} {random.random()}'")
