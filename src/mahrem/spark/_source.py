"""Tables that a cluster reads: CSV, Parquet, tables of its catalogue, any Spark DataFrame."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mahrem.errors import InvalidInput, spelled
from mahrem.release.decisions import Policy
from mahrem.spark._frame import RESERVED, column
from mahrem.table import is_spark_frame
from mahrem.table.cells.formulas import DISARMED
from mahrem.table.reading.headers import header_score

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_MARKS = ",;\t|"
_LOOKED_AT = 200  # lines that tell whether there is a header
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_TABLE = re.compile(r"\w+(\.\w+){0,2}")  # as a catalogue names one
_TEXT = (".csv", ".tsv", ".txt")


@dataclass(frozen=True)
class ClusterTable:
    """A table that lies on a cluster."""

    frame: DataFrame = field(repr=False)
    label: str  # for messages: no value of the data, no password
    costly: bool  # reading it again and again costs more than keeping it


def refuse_absent(source: object, policy: Policy) -> None:
    """Refuse a file that is not there before a cluster is started for it.

    Raises:
        InvalidInput: If it cannot be a table of the catalogue either.
    """
    if policy.query is not None or policy.table is not None or not isinstance(source, str | os.PathLike):
        return
    text = os.fspath(source)
    if _URI.match(text) or Path(text).exists():
        return
    if text.lower().endswith((*_TEXT, ".parquet")) or not _TABLE.fullmatch(text):
        raise InvalidInput(f"file={Path(text).name!r} does not exist")


def open_on_spark(session: SparkSession, source: object, policy: Policy) -> ClusterTable:
    """Open a Spark DataFrame, a file or folder of parts, or a table of the cluster's catalogue.

    Raises:
        InvalidInput: If it is not there, is no table, its parts do not have the same columns, or its columns
            cannot be told apart.
    """
    opened = _opened(session, source, policy)
    _distinct_names(session, opened.frame.columns)
    return opened


def _opened(session: SparkSession, source: Any, policy: Policy) -> ClusterTable:
    if is_spark_frame(source):
        return ClusterTable(source, "Spark DataFrame", costly=True)
    if policy.query is not None:
        return ClusterTable(_tried(lambda: session.sql(policy.query), "query"), "query", costly=True)
    if policy.table is not None:
        return ClusterTable(_tried(lambda: session.table(policy.table), "table"), "table", costly=False)
    if not isinstance(source, str | os.PathLike):
        raise InvalidInput(
            f"source of type {type(source).__qualname__}: engine='spark' reads Spark DataFrames, CSV and "
            f"Parquet; leave out {spelled('engine', 'spark')} for frames that lie in this process"
        )
    text = os.fspath(source)
    path = None if _URI.match(text) else Path(text)
    if path is not None and not path.exists():
        if _TABLE.fullmatch(text) and session.catalog.tableExists(text):
            return ClusterTable(session.table(text), f"table {text!r}", costly=False)
        raise InvalidInput(f"file={path.name!r} does not exist")
    name = text.rstrip("/").rsplit("/", 1)[-1]
    if path is not None and path.is_file() and name.startswith(("_", ".")):
        raise InvalidInput(f"source={name!r}: Spark overlooks names that begin with _ or a dot; rename it")
    place = text if path is None else spark_path(path)
    if _is_parquet(path, name):
        frame = _tried(lambda: session.read.parquet(place), f"Parquet file {name!r}")
        _same_columns(path, frame.columns, name)
        return ClusterTable(frame, f"Parquet file {name!r}", costly=False)
    if name.lower().endswith(_TEXT) or (path is not None and path.is_file()):
        lines = _first_lines(session, place, name, policy.encoding)
        mark = policy.delimiter or max(_MARKS, key=lines[0].count)
        _refuse_headerless(lines, mark, f"CSV file {name!r}")
        parts = path if path is not None and path.is_dir() else None
        names = () if parts is None else _header(parts, mark, policy.encoding)
        frame = _tried(  # parts are not split, so that their cells may hold line breaks
            lambda: read_csv(
                session, place, mark, policy.encoding, several_lines=parts is not None, names=names
            ),
            f"CSV file {name!r}",
        )
        return ClusterTable(frame, f"CSV file {name!r}", costly=True)
    raise InvalidInput(f"source={name!r}: engine='spark' reads CSV and Parquet, by their endings")


def read_csv(
    session: SparkSession,
    path: str,
    mark: str,
    encoding: str | None = None,
    *,
    several_lines: bool = False,
    names: Sequence[str] = (),
) -> Any:
    """Read a CSV as text; a record with too few or too many fields is an error, never a row of nulls.

    Every field is parsed, also where few columns are asked for: Spark would not notice a broken record then.
    With ``names`` the header must say just these.
    """
    from pyspark.sql.types import StringType, StructField, StructType

    reader = session.read
    if names:
        reader = reader.schema(StructType([StructField(name, StringType()) for name in names]))
    return (
        reader.option("header", value=True)
        .option("enforceSchema", value=False)
        .option("columnPruning", value=False)
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


def restore_text(frame: DataFrame) -> DataFrame:
    """Take the apostrophe off text that was disarmed because a spreadsheet would have run it."""
    from pyspark.sql import functions

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


def spark_path(path: Path) -> str:
    """Give a path of this machine as Spark reads it: signs that would stand for several files are escaped."""
    return "file://" + re.sub(r"([\\*?\[\]{}])", r"\\\1", str(path.absolute()))


def _distinct_names(session: SparkSession, names: Sequence[str]) -> None:
    """Refuse columns that Spark takes for one, and those that are named like ours."""
    exact = session.conf.get("spark.sql.caseSensitive", "false") == "true"
    keys: set[str] = set()
    for name in names:
        key = name if exact else name.lower()
        if key in keys:
            raise InvalidInput(
                f"column={name!r} occurs twice, as Spark reads names; give every column a name of its own, "
                "also without regard to capital letters"
            )
        if RESERVED.fullmatch(name):
            raise InvalidInput(f"column={name!r}: engine='spark' uses such names itself; rename the column")
        keys.add(key)


def _is_parquet(path: Path | None, name: str) -> bool:
    if path is not None and path.is_dir():
        return any(path.glob("*.parquet"))
    if path is not None:
        with path.open("rb") as file:
            return file.read(4) == b"PAR1"
    return name.lower().endswith(".parquet") or "." not in name


def _first_lines(session: SparkSession, path: str, name: str, encoding: str | None) -> list[str]:
    """Read the first lines, which show what separates fields and whether there is a header."""
    reader = session.read.option("encoding", encoding or "UTF-8")
    lines = _tried(lambda: reader.text(path).take(_LOOKED_AT), f"CSV file {name!r}")
    if not lines:
        raise InvalidInput(f"CSV file {name!r} is empty")
    return [str(line[0]) for line in lines]


def _refuse_headerless(lines: Sequence[str], mark: str, label: str) -> None:
    """Refuse a first row of data; what it shows would be published as names of columns."""
    first, *rest = (next(csv.reader([line], delimiter=mark), []) for line in lines)
    if header_score(first, rest) > 0:
        raise InvalidInput(
            f"{label}: its first row looks like data, not like names of columns; engine='spark' reads files "
            f"with a header: give it one, or leave out {spelled('engine', 'spark')} and name the columns"
        )


def _header(folder: Path, mark: str, encoding: str | None) -> tuple[str, ...]:
    """Give the header of a folder's first part; nothing where it is no plain text: Spark then looks."""
    for part in sorted(folder.iterdir()):
        if part.is_file() and not part.name.startswith(("_", ".")):
            with (
                suppress(UnicodeDecodeError),
                part.open(encoding=encoding or "utf-8-sig", newline="") as file,
            ):
                return tuple(next(csv.reader(file, delimiter=mark), []))
    return ()


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
