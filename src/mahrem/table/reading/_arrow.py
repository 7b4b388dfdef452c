"""Tables that speak Arrow: pyarrow's own, and every object that hands its rows over as an Arrow stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast
from weakref import WeakSet

import numpy as np
import polars as pl

from mahrem.errors import InvalidInput
from mahrem.table.cells.alone import texts_of_objects
from mahrem.table.cells.zones import named_zone
from mahrem.table.reading._reading import ColumnSource, Reading, arrange

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import duckdb
    import pyarrow as pa

    from mahrem.types import Mask

_READ: WeakSet[Any] = WeakSet()  # streams that were read to their end: asked again they would look empty


def arrow_table(given: object) -> pa.Table | None:
    """Read whatever hands its rows over by the Arrow protocol; None if it does not know it.

    Guarantees:
        - A stream that can be read only once is refused the second time, never taken for an empty table.
    """
    is_stream = hasattr(given, "__arrow_c_stream__")
    if isinstance(given, type) or not (is_stream or hasattr(given, "__arrow_c_array__")):
        return None
    import pyarrow as pa

    what = f"{type(given).__module__}.{type(given).__qualname__}"
    if isinstance(given, pa.RecordBatchReader):
        if given in _READ:
            raise InvalidInput(
                f"source of type {what} was read before and is empty now; "
                f"read it into a table first: reader.read_all()"
            )
        _READ.add(given)
    try:
        if type(given).__name__ == "DuckDBPyRelation":
            from mahrem.table.reading._databases import readable

            given = readable(cast("duckdb.DuckDBPyRelation", given), what)
        if is_stream:
            return pa.RecordBatchReader.from_stream(given).read_all()
        return pa.Table.from_batches([pa.record_batch(given)])
    except Exception as error:  # noqa: BLE001 - it is somebody else's object, and its words may hold cells
        raise InvalidInput(
            f"source of type {what} gives no table by the Arrow protocol ({type(error).__name__}); "
            f"it needs named columns and must be open"
        ) from None


class ArrowSource(ColumnSource):
    """A pyarrow table."""

    def __init__(self, table: pa.Table, reading: Reading, *, label: str = "pyarrow table") -> None:
        super().__init__(label, reading, table.column_names)
        self._table = table

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self._table.num_rows)

    def read(self, names: Sequence[str]) -> list[pl.Series]:
        """Convert exactly these columns."""
        return [self._convert(name) for name in names]

    def rebuild(
        self, replace: Mapping[str, Sequence[pl.Series]], drop: Collection[str] = (), keep: Mask | None = None
    ) -> Any:
        """Make a pyarrow table with the same fields; what was noted beside them may be about anybody."""
        import pyarrow as pa

        table = self._table
        replace = self.respelled(replace, drop, keep)
        parts = arrange(self.columns, table.num_rows, replace, drop, keep)
        gone = keep is not None and not keep.all()
        everybody = np.ones(table.num_rows, np.bool_)
        columns, fields = [], []
        for part in parts:
            if isinstance(part, pl.Series):
                column, field = part.to_arrow(), pa.field(part.name, pa.null())
            else:
                column, field = table.column(part), table.schema.field(part)
            if isinstance(part, str) and (gone or pa.types.is_dictionary(column.type)):
                column = _kept(column, keep if gone else everybody)
            columns.append(column)
            fields.append(field.remove_metadata().with_type(column.type))
        return pa.Table.from_arrays(columns, schema=pa.schema(fields))

    def _convert(self, name: str) -> pl.Series:
        import pyarrow as pa

        column = self._table.column(name)
        if pa.types.is_decimal256(column.type):  # polars has none
            column = column.cast(pa.string())
        try:
            return pl.Series(name, pl.from_arrow(named_zone(column)))
        except (pa.ArrowException, pl.exceptions.PolarsError, TypeError, ValueError, NotImplementedError):
            if self.reading.by_cell:
                return texts_of_objects(column.to_pylist()).alias(name)
            raise InvalidInput(
                f"column={name!r} of the {self.label} (type {column.type}) cannot be used; "
                f"turn it into text, numbers or dates first"
            ) from None


def _kept(column: pa.ChunkedArray, keep: Mask | None) -> pa.ChunkedArray:
    """Leave rows out; a dictionary lets go of what no row shows, for it may be the value of a dropped one."""
    import pyarrow as pa

    coded = pa.types.is_dictionary(column.type)
    try:
        kept = column.filter(pa.array(keep))
        return kept.cast(column.type.value_type).dictionary_encode().cast(column.type) if coded else kept
    except pa.ArrowNotImplementedError:  # pyarrow cannot choose among views of text; polars can
        series = pl.Series(pl.from_arrow(column)).filter(pl.Series(keep))
        text = series.cast(pl.String) if coded else series
        kept = text.to_arrow(compat_level=pl.CompatLevel.oldest())
        return pa.chunked_array([kept.dictionary_encode() if coded else kept])
