"""Files that a cluster writes, and the check of what they say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mahrem.engines import ClusterVerdict, verify_on_spark
from mahrem.engines._spark_frame import column
from mahrem.errors import GuaranteeBroken, InvalidParameter, OutputFailed
from mahrem.pipeline._spark_report import Made
from mahrem.pipeline._spark_source import place_of, read_csv, restored
from mahrem.table import exported_names
from mahrem.table._formulas import FORMULA

__all__ = ["checked", "written"]


def written(table: Any, folder: Path, form: str) -> Any:
    """Write the parts of the data file into a folder of its name, and give what they say, read anew.

    Raises:
        OutputFailed: If Spark cannot write, or workers write to a place that this machine does not see.
    """
    session, place = table.sparkSession, folder / f"data.{form}"
    names = exported_names(table.columns, form)  # type: ignore[arg-type]
    text = form in {"csv", "tsv"}
    mark = "\t" if form == "tsv" else ","
    shown = _disarmed(table).toDF(*names) if text else table
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
        reason = type(error).__name__
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
    from pyspark.sql import functions

    policy = made.policy
    promises = policy.promises()
    judged = {promise.column for promise in promises if promise.column is not None}
    published = [name for name in made.source_columns if name not in made.leave_out]
    if list(table.columns) != published:
        raise GuaranteeBroken("the published table does not have the columns it should have")
    kinds = dict(table.dtypes)
    for name in judged:
        if kinds[name] == "string" and policy.null:
            known = functions.when(~column(name).isin(*policy.null), column(name))
            table = table.withColumn(name, known)
    verdict = verify_on_spark(
        table,
        quasi=list(policy.quasi),
        promises=promises,
        sensitive={name: made.columns[name] for name in policy.sensitive if name in judged},
        decimal=policy.decimal,
        hides=made.suppressed > 0,
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


def _disarmed(table: Any) -> Any:
    """Give every column as text that no spreadsheet runs."""
    from pyspark.sql import functions

    shown = []
    for name, kind in table.dtypes:
        if kind.startswith(("array", "map", "struct", "binary")):
            raise InvalidParameter(f"column={name!r} holds {kind} values, which CSV cannot; write Parquet")
        text = column(name)
        if kind == "string":
            armed = functions.concat(functions.lit("'"), text)
            text = functions.when(text.rlike(FORMULA), armed).otherwise(text)
        shown.append(text.alias(name))
    return table.select(*shown)
