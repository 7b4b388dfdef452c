"""How a case is given and what was published of it is read: frames, files, databases.

What is not installed on a machine is passed over and told once: the case is then given as a frame.
"""

from __future__ import annotations

import csv
import math
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import polars as pl

from random_cases import STATISTICS, Case

Rows = list[dict[str, Any]]
SERVER = "MAHREM_CAMPAIGN_POSTGRES"  # names the database of a server that is running
_PARTS = {
    "duckdb": "duckdb",
    "xlsx": "fastexcel",
    "pandas": "pandas",
    **dict.fromkeys(STATISTICS, "pyreadstat"),
}
_told: set[str] = set()


def at_hand(form: str | None) -> bool:
    """Say whether this machine has what a form needs; what it lacks is told once."""
    if form == "postgres":
        there = SERVER in os.environ and find_spec("adbc_driver_postgresql") is not None
    else:
        there = form not in _PARTS or find_spec(_PARTS[form]) is not None
    if not there and form not in _told:
        _told.add(str(form))
        sys.stderr.write(f"passed over, for it is not at hand: {form}\n")
    return there


def as_can_be(case: Case) -> Case:
    """Give the case as this machine can."""
    return replace(
        case,
        source=case.source if at_hand(case.source) else "polars",
        format=case.format if at_hand(case.format) else "csv",
        database=case.database if at_hand(case.database) else None,
    )


def given(case: Case, folder: Path) -> tuple[Any, dict[str, Any]]:
    """Give the table as a verb takes it, and what must be said to read it."""
    frame, source = case.frame, case.source
    if source == "pandas":
        return frame.to_pandas(), {}
    if source == "arrow":
        return frame.to_arrow(), {}
    if source == "categories":
        return frame.with_columns(pl.col(pl.String).cast(pl.Categorical(pl.Categories.random()))), {}
    if source == "csv":
        frame.write_csv(folder / "given.csv")
    elif source == "parquet":
        frame.write_parquet(folder / "given.parquet")
    elif source in STATISTICS:
        _write_statistics(frame, folder / f"given.{source}")
    elif source == "duckdb":
        import duckdb

        with duckdb.connect(folder / "given.duckdb") as database:
            database.execute("CREATE TABLE given AS SELECT * FROM frame")
    elif source == "postgres":
        from adbc_driver_postgresql import dbapi

        with dbapi.connect(os.environ[SERVER]) as connection, connection.cursor() as cursor:
            cursor.execute("DROP TABLE IF EXISTS given")
            cursor.adbc_ingest("given", frame.to_arrow(), mode="create")
            connection.commit()
        return os.environ[SERVER], {"table": "given"}
    else:
        return frame, {}
    return folder / f"given.{source}", {}


def target(case: Case, folder: Path) -> dict[str, Any]:
    """Say into which database the published table goes."""
    if case.database == "duckdb":
        return {"to": (str(folder / "published.duckdb"), "shown")}
    if case.database == "postgres":
        from adbc_driver_postgresql import dbapi

        with dbapi.connect(os.environ[SERVER]) as connection, connection.cursor() as cursor:
            cursor.execute("DROP TABLE IF EXISTS shown")
            connection.commit()
        return {"to": (os.environ[SERVER], "shown")}
    return {}


def published(case: Case, release: Any, folder: Path) -> Iterator[Rows]:
    """Give every form of the published table as rows of text."""
    if case.format is None:
        table = release.table
        yield _rows(table if isinstance(table, pl.DataFrame) else pl.DataFrame(table))
    else:
        yield _read(folder / "release" / f"data.{case.format}", case.format)
    if case.database == "duckdb":
        import duckdb

        with duckdb.connect(folder / "published.duckdb", read_only=True) as database:
            read = database.execute("SELECT * FROM shown")
            yield _fetched([column[0] for column in read.description or ()], read.fetchall())
    if case.database == "postgres":
        from adbc_driver_postgresql import dbapi

        with dbapi.connect(os.environ[SERVER]) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT * FROM shown")
            yield _fetched([column[0] for column in cursor.description or ()], cursor.fetchall())


def _fetched(names: list[str], rows: list[Any]) -> Rows:
    return [{name: _text(value) for name, value in zip(names, row, strict=True)} for row in rows]


def _write_statistics(frame: pl.DataFrame, path: Path) -> None:
    import pyreadstat

    writers = {"sav": pyreadstat.write_sav, "dta": pyreadstat.write_dta, "xpt": pyreadstat.write_xport}
    writers[path.suffix[1:]](frame, str(path))


def _read(path: Path, form: str) -> Rows:
    if form == "parquet":
        return _rows(pl.read_parquet(path))
    if form == "arrow":
        return _rows(pl.read_ipc(path))
    if form in STATISTICS:
        import pyreadstat

        readers = {"sav": pyreadstat.read_sav, "dta": pyreadstat.read_dta, "xpt": pyreadstat.read_xport}
        words = {} if form == "xpt" else {"apply_value_formats": True}
        frame, _ = readers[form](str(path), output_format="polars", **words)
        return [{name: text or None for name, text in row.items()} for row in _rows(frame)]
    if form == "xlsx":
        import fastexcel

        sheet = fastexcel.read_excel(path).load_sheet(0, dtypes="string")
        return [{name: _armed(text) for name, text in row.items()} for row in _rows(sheet.to_polars())]
    with path.open(encoding="utf-8-sig", newline="") as stream:
        read = csv.DictReader(stream, delimiter="\t" if form == "tsv" else ",")
        return [{name: _armed(text or None) for name, text in row.items()} for row in read]


def _armed(text: str | None) -> str | None:
    """Take away the apostrophe that keeps a spreadsheet from running a text."""
    return text[1:] if text and re.match(r"'+[=+\-@\t\r]", text) else text


def _rows(frame: pl.DataFrame) -> Rows:
    return [{name: _text(value) for name, value in row.items()} for row in frame.iter_rows(named=True)]


def _text(value: Any) -> str | None:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    return value.isoformat() if isinstance(value, date) else str(value)
