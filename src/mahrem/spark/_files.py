"""Files that a cluster writes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from mahrem.errors import GuaranteeBroken, InvalidParameter, OutputFailed
from mahrem.spark._frame import column
from mahrem.spark._source import read_csv, restore_text, spark_path
from mahrem.table.cells.formulas import FORMULA
from mahrem.table.writing import exported_names

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame

TEXT = ("csv", "tsv")  # formats whose cells are text
_WORDS = ("string", "varchar", "char")
_NO_ROOM = ("No space left on device", "Disk quota exceeded", "Permission denied", "Read-only file system")


def write_on_spark(table: DataFrame, folder: Path, form: str) -> Any:
    """Write the parts of the data file into a folder of its name, and give what they say, read anew.

    What goes into CSV must be text already (:func:`as_text`).

    Raises:
        OutputFailed: If Spark cannot write, or workers write to a place that this machine does not see.
    """
    session, place = table.sparkSession, folder / f"data.{form}"
    names = exported_names(table.columns, form)
    text = form in TEXT
    mark = "\t" if form == "tsv" else ","
    shown = table.toDF(*names) if text else table
    writer = shown.write.option("mapreduce.fileoutputcommitter.marksuccessfuljobs", value=False)
    if text:
        written: dict[str, str | bool] = {
            "header": True,
            "sep": mark,
            "escape": '"',
            "nullValue": "",
            "emptyValue": "",
        }
        for option, value in written.items():
            writer = writer.option(option, value)
        for side in ("Leading", "Trailing"):
            writer = writer.option(f"ignore{side}WhiteSpace", value=False)
    try:
        writer.format("csv" if text else form).save(f"file://{place.absolute()}")
    except Exception as error:  # noqa: BLE001 - whatever Spark or a file system may raise
        message = str(error)  # a stranger's words, which may hold cells: only the system's own are repeated
        reason = next((sign for sign in _NO_ROOM if sign in message), type(error).__name__)
        raise OutputFailed(f"the release could not be written ({reason}); nothing was left behind") from None
    for check in place.glob(".*.crc"):
        check.unlink()
    if not any(place.glob("part-*")):
        raise OutputFailed(
            "workers wrote their parts to a place that this machine does not see; output must lie on a file "
            "system that all of them share"
        )
    if not text:
        files = session.read.parquet(spark_path(place))
    else:
        files = read_csv(session, spark_path(place), mark, several_lines=True, names=names)
    if files.columns != names:
        raise GuaranteeBroken("the published files do not have the columns they should have")
    return restore_text(files.toDF(*table.columns)) if text else files


def as_text(table: DataFrame) -> DataFrame:
    """Give every column as the text of a CSV file: words that no spreadsheet runs, moments in UTC."""
    from pyspark.sql import functions

    shown = []
    for name, kind in table.dtypes:
        if kind.startswith(("array", "map", "struct", "binary", "variant")):
            raise InvalidParameter(f"column={name!r} holds {kind} values, which CSV cannot; write Parquet")
        text = column(name).cast("string")
        if kind.startswith(_WORDS):
            armed = functions.concat(functions.lit("'"), text)
            text = functions.when(text.rlike(FORMULA), armed).otherwise(text)
        elif kind == "timestamp":
            text = functions.concat(_moment(_clock_in_utc(name)), functions.lit("Z"))
        elif kind == "timestamp_ntz":
            text = _moment(column(name))
        shown.append(text.alias(name))
    return table.select(*shown)


def _clock_in_utc(name: str) -> SparkColumn:
    """Give what a clock in UTC shows, whatever the zone of the session."""
    from pyspark.sql import functions

    seconds = functions.unix_micros(column(name)).cast("decimal(18,0)") / functions.lit(1_000_000)
    none = functions.lit(0)
    passed = functions.make_dt_interval(none, none, none, seconds.cast("decimal(18,6)"))
    return functions.lit("1970-01-01 00:00:00").cast("timestamp_ntz") + passed


def _moment(clock: SparkColumn) -> SparkColumn:
    from pyspark.sql import functions

    return functions.replace(clock.cast("string"), functions.lit(" "), functions.lit("T"))
