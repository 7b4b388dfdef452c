"""Tables that a cluster reads: CSV, Parquet, tables of its catalogue, any Spark DataFrame."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mahrem.errors import InvalidInput
from mahrem.release import Policy
from mahrem.table._formulas import DISARMED

__all__ = ["ClusterTable", "is_spark_frame", "open_on_spark", "read_csv", "restored"]

_MARKS = ",;\t|"
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


@dataclass(frozen=True)
class ClusterTable:
    """A table that lies on a cluster."""

    frame: Any = field(repr=False)
    label: str  # for messages: no value of the data, no password
    costly: bool  # reading it again and again costs more than keeping it


def is_spark_frame(source: object) -> bool:
    """Say whether something is a Spark DataFrame, without loading Spark."""
    kind = type(source)
    return kind.__module__.startswith("pyspark.sql") and kind.__name__ == "DataFrame"


def open_on_spark(session: Any, source: object, policy: Policy) -> ClusterTable:
    """Open a Spark DataFrame, a file or folder of parts, or a table of the cluster's catalogue.

    Raises:
        InvalidInput: If it is not there, is no table, or its parts do not have the same columns.
    """
    if is_spark_frame(source):
        return ClusterTable(source, "Spark DataFrame", costly=True)
    if policy.query is not None:
        return ClusterTable(_tried(lambda: session.sql(policy.query), "query"), "query", costly=True)
    if policy.table is not None:
        return ClusterTable(_tried(lambda: session.table(policy.table), "table"), "table", costly=False)
    if not isinstance(source, str | os.PathLike):
        raise InvalidInput(
            f"source of type {type(source).__qualname__}: engine='spark' reads Spark DataFrames, CSV and "
            "Parquet; leave out engine='spark' for frames that lie in this process"
        )
    text = os.fspath(source)
    path = None if _URI.match(text) else Path(text)
    if path is not None and not path.exists():
        if re.fullmatch(r"\w+(\.\w+){0,2}", text) and session.catalog.tableExists(text):
            return ClusterTable(session.table(text), f"table {text!r}", costly=False)
        raise InvalidInput(f"file={path.name!r} does not exist")
    name = text.rstrip("/").rsplit("/", 1)[-1]
    place = text if path is None else path.absolute().as_uri() if " " not in text else str(path.absolute())
    if _is_parquet(path, name):
        frame = _tried(lambda: session.read.parquet(place), f"Parquet file {name!r}")
        _same_columns(path, frame.columns, name)
        return ClusterTable(frame, f"Parquet file {name!r}", costly=False)
    if name.lower().endswith((".csv", ".tsv", ".txt")) or (path is not None and path.is_file()):
        mark = policy.delimiter or _mark(session, place, name, policy.encoding)
        frame = read_csv(session, place, mark, policy.encoding)
        return ClusterTable(_tried(lambda: frame, f"CSV file {name!r}"), f"CSV file {name!r}", costly=True)
    raise InvalidInput(f"source={name!r}: engine='spark' reads CSV and Parquet, by their endings")


def read_csv(
    session: Any, path: str, mark: str, encoding: str | None = None, *, several_lines: bool = False
) -> Any:
    """Read a CSV as text; a record with too few or too many fields is an error, never a row of nulls."""
    return (
        session.read.option("header", value=True)
        .option("sep", mark)
        .option("quote", '"')
        .option("escape", '"')
        .option("encoding", encoding or "UTF-8")
        .option("mode", "FAILFAST")
        .option("multiLine", several_lines)
        .option("ignoreLeadingWhiteSpace", value=False)
        .option("ignoreTrailingWhiteSpace", value=False)
        .option("inferSchema", value=False)
        .csv(path)
    )


def restored(frame: Any) -> Any:
    """Take the apostrophe off text that was disarmed because a spreadsheet would have run it."""
    from pyspark.sql import functions

    from mahrem.engines._spark_frame import column

    kinds = dict(frame.dtypes)
    return frame.select(
        *(
            functions.when(column(name).rlike(DISARMED), functions.substring(column(name), 2, 2**31 - 1))
            .otherwise(column(name))
            .alias(name)
            if kinds[name] == "string"
            else column(name)
            for name in frame.columns
        )
    )


def _is_parquet(path: Path | None, name: str) -> bool:
    if path is not None and path.is_dir():
        return any(path.glob("*.parquet"))
    if path is not None:
        with path.open("rb") as file:
            return file.read(4) == b"PAR1"
    return name.lower().endswith(".parquet") or "." not in name


def _mark(session: Any, path: str, name: str, encoding: str | None) -> str:
    """Find out what separates fields, from the header."""
    reader = session.read.option("encoding", encoding or "UTF-8")
    lines = _tried(lambda: reader.text(path).take(1), f"CSV file {name!r}")
    if not lines:
        raise InvalidInput(f"CSV file {name!r} is empty")
    return max(_MARKS, key=lines[0][0].count)


def _same_columns(path: Path | None, columns: Sequence[str], name: str) -> None:
    """Spark would read a column that a part lacks as missing values, without a word."""
    if path is None or not path.is_dir():
        return
    from pyarrow.parquet import read_schema

    for part in sorted(path.glob("*.parquet")):
        other = set(read_schema(part).names)
        lost = [column for column in columns if column not in other] or sorted(other - set(columns))
        if lost:
            raise InvalidInput(
                f"source={name!r}: not all of its parts have column={lost[0]!r}; write it anew with the same "
                "columns in every part"
            )


def _tried(work: Any, what: str) -> Any:
    """Say in our words that Spark could not read something: its own words may hold data."""
    try:
        return work()
    except Exception as error:  # noqa: BLE001 - whatever Spark may raise
        raise InvalidInput(
            f"{what} cannot be read by Spark ({type(error).__name__}); do all workers see it, is it whole?"
        ) from None
