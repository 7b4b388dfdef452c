"""Check promises on what was published, on the cluster, without any of the rows leaving it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from mahrem.errors import ColumnNotFound, InvalidParameter, spelled
from mahrem.models import Counts, KAnonymity, Outcome, Promise, judge
from mahrem.spark._frame import column, sendable
from mahrem.table import Column, Values, encode_sensitive
from mahrem.types import Floats, Integers, Sizes
from mahrem.verify import Claims, Verdict

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame

_NONE = np.zeros(0, np.int64)
_KINDS = {"bigint": "int64", "double": "float64", "boolean": "bool_", "string": "string"}
_SCHEMA = (
    "promise bigint, reached double, holds boolean, violating_classes bigint, violating_rows bigint, "
    "classes bigint, rows bigint, place bigint, cell string"
)
_SIZES, _CELLS = -1, -2  # rows of a worker's answer that are about no promise


@dataclass(frozen=True, kw_only=True)
class ClusterVerdict(Verdict):
    """What a published table promises, in figures only; sizes of classes are ascending."""

    tallies: Mapping[str, pl.DataFrame] = field(repr=False)  # by quasi-identifier: cell, rows

    @property
    def classes(self) -> int:
        """Classes as published."""
        return len(self.sizes)


@dataclass(frozen=True)
class _KnownValues:
    """The different values of a column in one reading."""

    numbers: Integers  # of each code as it lies in the table
    shares: Floats
    ancestors: Integers | None
    missing: bool
    joined: bool

    @classmethod
    def of(cls, reading: Values, values: Values, times: Integers) -> _KnownValues:
        """Count spellings of a column in one of its readings."""
        numbers, counted = np.zeros(values.size, np.int64), values.codes >= 0
        numbers[values.codes[counted]] = reading.codes[counted]
        shares = np.zeros(reading.size)
        np.add.at(shares, reading.codes[counted], times[counted])
        shares /= max(shares.sum(), 1)
        return cls(numbers, shares, reading.ancestors, reading.missing, reading.joined)


@dataclass(frozen=True)
class _ClassChecker:
    """Judges classes inside a worker: a class is one row with its size and the counts of its values."""

    promises: tuple[Promise, ...]
    coded: Mapping[str, Sequence[_KnownValues]]  # every reading of each column
    quasi: int  # columns of cells

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        named = [entry.split() for entry in _SCHEMA.split(", ")]
        kinds = pa.schema([(name, getattr(pa, _KINDS[kind])()) for name, kind in named])
        for batch in batches:
            if not batch.num_rows:
                continue
            people = batch.column("people").to_numpy().astype(np.int64)
            outcomes = [
                {**vars(judge(promise, *self._counts(batch, people, promise))), "promise": place}
                for place, promise in enumerate(self.promises)
            ]
            known = [name for name in kinds.names if name in outcomes[0]]
            answers = pl.DataFrame(
                {name: pl.Series([outcome[name] for outcome in outcomes]) for name in known}
            )
            for part in (answers, *self._tallies(batch)):
                table = part.to_arrow()
                columns = [
                    table[name].combine_chunks().cast(kind)
                    if name in table.column_names
                    else pa.nulls(table.num_rows, kind)
                    for name, kind in zip(kinds.names, kinds.types, strict=True)
                ]
                yield pa.RecordBatch.from_arrays(columns, schema=kinds)

    def _tallies(self, batch: pa.RecordBatch) -> Iterator[pl.DataFrame]:
        """Count classes by their size, and rows by what they show in each column."""
        frame = pl.DataFrame({name: pl.Series(batch.column(name)) for name in ("size", "people")})
        sizes = frame.group_by(rows="size", place="people").agg(classes=pl.len())
        yield sizes.with_columns(promise=pl.lit(_SIZES))
        for place in range(self.quasi):
            shown = frame.select(cell=pl.Series(batch.column(f"__key{place}")).cast(pl.String), rows="size")
            cells = shown.group_by("cell").agg(pl.col("rows").sum())
            yield cells.with_columns(promise=pl.lit(_CELLS), place=pl.lit(place))

    def _counts(self, batch: pa.RecordBatch, people: Sizes, promise: Promise) -> Iterator[Counts]:
        """Count what classes show, in every reading of the column."""
        if promise.column is None:
            yield Counts(people, _NONE, _NONE, _NONE, np.zeros(0))
            return
        lists = batch.column(f"values_{list(self.coded).index(promise.column)}")
        pairs = lists.flatten()
        group = np.repeat(np.arange(len(people)), lists.value_lengths().to_numpy())
        code, times = (pairs.field(i).to_numpy().astype(np.int64) for i in (0, 1))
        for known in self.coded[promise.column]:
            size = max(len(known.shares), 1)
            keys, where = np.unique(group * size + known.numbers[code], return_inverse=True)
            count = np.zeros(len(keys), np.int64)
            np.add.at(count, where, times)
            yield Counts(
                people,
                *np.divmod(keys, size),
                count,
                known.shares,
                known.ancestors,
                missing=known.missing,
            )


def verify_on_spark(
    table: DataFrame,
    claims: Claims,
    *,
    subject: str | None = None,
    hides: bool = True,
    nulls_hide: bool = False,
    meant: int | None = None,
) -> ClusterVerdict:
    """Check promises on a published Spark DataFrame, the way :func:`mahrem.verify.verify` does.

    Args:
        table: As published; read it from the files.
        claims: What to check; in columns that make a class missing equals missing.
        subject: Column that names the person behind a row; sizes then count people.
        hides: Rows that show nothing in any column of the table are no class.
        nulls_hide: They were meant to: a missing value shows nothing too, where a column is no text. In any
            other file it may just be missing.
        meant: So many of them were; others that show nothing are a class like any other. None = all.

    Guarantees:
        - The verdict does not depend on the layout of the rows, or on how the table was made.
        - Only rows that show ``*`` (or null, where that hides) everywhere are left out and counted.
        - Only counts, cells, and the different values of sensitive columns reach the driver.
    """
    quasi, promises = claims.quasi, claims.promises
    for name in [*quasi, *claims.sensitive, *([] if subject is None else [subject])]:
        if name not in table.columns:
            raise ColumnNotFound(name, table.columns)
    beside = next((promise.model.name for promise in promises if promise.model.of_members), None)
    if beside is not None:
        raise InvalidParameter(
            f"{beside} is checked on one machine only; leave out {spelled('engine', 'spark')}"
        )
    hidden = _hidden(table, nulls_hide=nulls_hide) if hides else None
    nothing = 0 if hidden is None else table.where(hidden).count()
    suppressed = nothing if meant is None else min(nothing, meant)
    shown = table if hidden is None or not suppressed else table.where(~hidden)
    if hidden is not None and 0 < suppressed < nothing:  # all the same: no matter which are taken
        shown = shown.unionByName(table.where(hidden).limit(nothing - suppressed))
    coded, frame = _coded(shown, claims.sensitive, claims.decimal)
    classes = _classes(frame, quasi, list(coded), subject)
    asked = tuple(promises) or (Promise(KAnonymity(1)),)
    answers = pl.DataFrame(classes.mapInArrow(_ClassChecker(asked, coded, len(quasi)), _SCHEMA).toArrow())
    judged = answers.filter(pl.col("promise") >= 0).partition_by("promise", as_dict=True)
    outcomes = tuple(_merged(promise, judged.get((i,), answers.clear())) for i, promise in enumerate(asked))
    sizes = answers.filter(promise=_SIZES)
    cells = answers.filter(promise=_CELLS).group_by("place", "cell").agg(pl.col("rows").sum())
    return ClusterVerdict(
        rows=suppressed + int((sizes["rows"] * sizes["classes"]).sum()),
        suppressed=suppressed,
        sizes=np.sort(np.repeat(sizes["rows"].to_numpy(), sizes["classes"].to_numpy())),
        people=np.sort(np.repeat(sizes["place"].to_numpy(), sizes["classes"].to_numpy())),
        tallies={name: cells.filter(place=place).select("cell", "rows") for place, name in enumerate(quasi)},
        outcomes=outcomes if promises else (),
        joined=tuple(name for name, known in coded.items() if known[0].joined),
    )


def _hidden(table: DataFrame, *, nulls_hide: bool) -> SparkColumn | None:
    """Say which rows show nothing at all; None if no row can."""
    from pyspark.sql import functions

    kinds = dict(table.dtypes)
    if not nulls_hide and any(kind != "string" for kind in kinds.values()):
        return None
    hidden = functions.lit(True)
    for name, kind in kinds.items():
        star = functions.coalesce(column(name) == "*", functions.lit(False))
        hidden &= star if kind == "string" else column(name).isNull()
    return hidden


def _coded(
    shown: DataFrame, sensitive: Mapping[str, Column], decimal: str | None
) -> tuple[dict[str, list[_KnownValues]], Any]:
    """Number the values of every sensitive column as one machine would."""
    from pyspark.sql import functions

    coded, frame = {}, shown
    for place, (name, kind) in enumerate(sensitive.items()):
        counts = shown.groupBy(column(name).alias("value")).count().toArrow()
        distinct = pl.Series(name, pl.from_arrow(counts["value"].combine_chunks()))
        values = encode_sensitive(distinct, kind, decimal=decimal)
        times = counts["count"].to_numpy()
        coded[name] = [_KnownValues.of(reading, values, times) for reading in values.readings]
        lookup = counts.append_column("code", [values.codes]).drop_columns(["count"])
        names = [f"__value{place}", f"__code{place}"]
        known = shown.sparkSession.createDataFrame(sendable(lookup)).toDF(*names)
        known = known.withColumn(names[0], functions.col(names[0]).cast(shown.schema[name].dataType))
        same = column(name).eqNullSafe(functions.col(names[0]))
        frame = frame.join(functions.broadcast(known), same, "left").drop(names[0])
    return coded, frame


def _classes(frame: DataFrame, quasi: Sequence[str], names: Sequence[str], subject: str | None) -> DataFrame:
    """Bring every class into one row: its size, its people, and how often each code occurs."""
    from pyspark.sql import functions

    keys = [column(name).alias(f"__key{place}") for place, name in enumerate(quasi)]
    plain = [f"__key{place}" for place in range(len(quasi))]
    codes = [f"__code{place}" for place in range(len(names))]
    people = [] if subject is None else [column(subject).alias("__person")]
    rows = frame.select(*keys, *codes, *people)
    size = functions.count("*").alias("size")
    if subject is None:
        classes = rows.groupBy(*plain).agg(size).withColumn("people", functions.col("size"))
    else:
        # Rows without a person count as one person: claiming more would promise too much.
        nobody = functions.max(functions.col("__person").isNull().cast("int"))
        classes = rows.groupBy(*plain).agg(
            size, (functions.count_distinct("__person") + nobody).alias("people")
        )
    for place, code in enumerate(codes):
        counted = rows.where(functions.col(code) >= 0).groupBy(*plain, code).count()
        pairs = functions.collect_list(functions.struct(functions.col(code), functions.col("count")))
        listed = counted.groupBy(*plain).agg(pairs.alias(f"values_{place}"))
        other = listed.toDF(*(f"__other{i}" for i in range(len(plain))), f"values_{place}")
        same = [functions.col(key).eqNullSafe(functions.col(f"__other{i}")) for i, key in enumerate(plain)]
        classes = classes.join(other, same, "left").drop(*(f"__other{i}" for i in range(len(plain))))
        empty = functions.array().cast(listed.schema[f"values_{place}"].dataType)
        classes = classes.withColumn(f"values_{place}", functions.coalesce(f"values_{place}", empty))
    return classes


def _merged(promise: Promise, parts: pl.DataFrame) -> Outcome:
    """Put together what workers found about one promise."""
    reached = parts["reached"].drop_nulls().to_list()
    nothing = judge(promise, Counts(_NONE, _NONE, _NONE, _NONE, np.zeros(0)))
    return replace(
        nothing,
        reached=(min if promise.model.rising else max)(reached, default=None),
        holds=bool(parts["holds"].all()),
        violating_classes=int(parts["violating_classes"].sum()),
        violating_rows=int(parts["violating_rows"].sum()),
    )
