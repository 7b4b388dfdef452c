"""Files that a cluster writes, and the check of what they say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mahrem.engines import ClusterVerdict, verify_on_spark
from mahrem.engines._spark_frame import column
from mahrem.errors import GuaranteeBroken, InvalidParameter, OutputFailed
from mahrem.pipeline._spark_report import Made
from mahrem.pipeline._spark_rows import cleaned_on_spark
from mahrem.pipeline._spark_source import place_of, read_csv, restored
from mahrem.table import exported_names
from mahrem.table.cells import FORMULA

__all__ = ["TEXT", "as_text", "checked", "written"]

TEXT = ("csv", "tsv")  # formats whose cells are text
_WORDS = ("string", "varchar", "char")
_NO_ROOM = ("No space left on device", "Disk quota exceeded", "Permission denied", "Read-only file system")


def written(table: Any, folder: Path, form: str) -> Any:
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
        for option, value in {
            "header": True,
            "sep": mark,
            "escape": '"',
            "nullValue": "",
            "emptyValue": "",
        }.items():
            writer = writer.option(option, value)
        for side in ("Leading", "Trailing"):
            writer = writer.option(f"ignore{side}WhiteSpace", value=False)
    try:
        writer.format("csv" if text else form).save(f"file://{place.absolute()}")
    except Exception as error:  # noqa: BLE001 - whatever Spark or a file system may raise
        told = str(error)  # a stranger's words, which may hold cells: only the system's own are repeated
        reason = next((sign for sign in _NO_ROOM if sign in told), type(error).__name__)
        raise OutputFailed(f"the release could not be written ({reason}); nothing was left behind") from None
    for check in place.glob(".*.crc"):
        check.unlink()
    if not any(place.glob("part-*")):
        raise OutputFailed(
            "workers wrote their parts to a place that this machine does not see; output must lie on a file "
            "system that all of them share"
        )
    if not text:
        files = session.read.parquet(place_of(place))
    else:
        files = read_csv(session, place_of(place), mark, several_lines=True, names=names)
    if files.columns != names:
        raise GuaranteeBroken("the published files do not have the columns they should have")
    return restored(files.toDF(*table.columns)) if text else files


def checked(table: Any, made: Made, *, rows: int) -> ClusterVerdict:
    """Verify a published table on the cluster; raise if it does not say what it should."""
    policy = made.policy
    promises = policy.promises()
    judged = {promise.column for promise in promises if promise.column is not None}
    published = [name for name in made.source_columns if name not in made.leave_out]
    if list(table.columns) != published:
        raise GuaranteeBroken("the published table does not have the columns it should have")
    known = [
        cleaned_on_spark(name, kind, policy.null).alias(name) if name in judged else column(name)
        for name, kind in table.dtypes
    ]
    table = table.select(*known)
    verdict = verify_on_spark(
        table,
        quasi=list(policy.quasi),
        promises=promises,
        sensitive={name: made.columns[name] for name in policy.sensitive if name in judged},
        decimal=policy.decimal,
        hides=made.suppressed > 0,
        nulls_hide=True,
        meant=made.suppressed,
    )
    if verdict.rows != rows:
        raise GuaranteeBroken(f"rows={verdict.rows} were published of {rows}")
    if verdict.suppressed != made.suppressed:
        raise GuaranteeBroken("a row that should show nothing shows something")
    broken = [outcome.model for outcome in verdict.outcomes if not outcome.holds]
    if broken:
        raise GuaranteeBroken(f"the published table does not keep {', '.join(broken)}; please report this")
    return verdict


def as_text(table: Any) -> Any:
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


def _clock_in_utc(name: str) -> Any:
    """Give what a clock in UTC shows, whatever the zone of the session."""
    from pyspark.sql import functions

    seconds = functions.unix_micros(column(name)).cast("decimal(18,0)") / functions.lit(1_000_000)
    none = functions.lit(0)
    passed = functions.make_dt_interval(none, none, none, seconds.cast("decimal(18,6)"))
    return functions.lit("1970-01-01 00:00:00").cast("timestamp_ntz") + passed


def _moment(clock: Any) -> Any:
    from pyspark.sql import functions

    return functions.replace(clock.cast("string"), functions.lit(" "), functions.lit("T"))
