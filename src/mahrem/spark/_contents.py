"""What columns of a distributed table hold: workers sketch their rows, and sketches add up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import polars as pl

from mahrem.contents import TableSketch, merge_sketches, sketch_table
from mahrem.release.decisions import Policy
from mahrem.spark._frame import column
from mahrem.spark._rows import clean_on_spark

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

_AT_ONCE = 250_000  # rows that a worker sketches at a time
_FOLDED = 8  # sketches that are added up as they come


def sketch_on_spark(frame: DataFrame, names: Sequence[str], policy: Policy) -> TableSketch:
    """Look at every row of some columns where it lies; only different values of some rows come to the driver.

    Guarantees:
        - It is the sketch that one machine makes of the same rows, however they are spread.
    """
    kinds = dict(frame.dtypes)
    asked = frame.select(
        *(
            clean_on_spark(name, kinds[name], policy.null).alias(f"c{place}")
            for place, name in enumerate(names)
        )
    )
    parts = [_sketched(asked.limit(0).toArrow())]
    for row in asked.mapInArrow(_sketch_rows, "blob binary").toLocalIterator():
        parts.append(TableSketch.unpack(bytes(row["blob"])))
        parts = [merge_sketches(parts)] if len(parts) > _FOLDED else parts
    whole = merge_sketches(parts)
    short = {f"c{place}": name for place, name in enumerate(names)}
    back = {name: own for own, name in short.items()}

    def rows_with(wanted: Sequence[str], values: pl.DataFrame) -> pl.DataFrame:
        rows = asked
        if len(wanted) == 1:
            rows = rows.where(column(back[wanted[0]]).isin(values[wanted[0]].to_list()))
        else:
            listed = frame.sparkSession.createDataFrame(values.rename(back).to_arrow())
            rows = rows.join(listed, on=[back[name] for name in wanted], how="left_semi")
        return pl.DataFrame(pl.from_arrow(rows.toArrow())).rename(short)

    return TableSketch(
        {short[own]: sketch for own, sketch in whole.columns.items()},
        whole.sample.rename(short),
        whole.counts,
        whole.hashes,
        whole.rows,
        rows_with,
    )


def _sketched(table: pa.Table) -> TableSketch:
    return sketch_table(pl.DataFrame(pl.from_arrow(table)))


def _sketch_rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Sketch the rows of one worker."""
    import pyarrow as pa

    sketch: TableSketch | None = None
    waiting: list[pa.RecordBatch] = []

    def added() -> TableSketch:
        more = _sketched(pa.Table.from_batches(waiting))
        return more if sketch is None else merge_sketches([sketch, more])

    rows = 0
    for batch in batches:
        waiting.append(batch)
        rows += batch.num_rows
        if rows >= _AT_ONCE:
            sketch, waiting, rows = added(), [], 0
    if waiting:
        sketch = added()
    if sketch is not None:
        yield pa.RecordBatch.from_pydict({"blob": pa.array([sketch.pack()], pa.binary())})
