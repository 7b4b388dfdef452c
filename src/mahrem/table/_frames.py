"""Frames somebody holds in memory: polars, pandas and pyarrow come in, and the same kind goes out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from mahrem import check
from mahrem.errors import InvalidInput
from mahrem.table._reading import Reading, Source, arrange, cleaned, name_columns, refuse_nested

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    import pandas as pd
    import pyarrow as pa

    from mahrem.types import Mask

__all__ = ["ArrowSource", "PandasSource", "PolarsSource", "as_polars", "open_frame", "pruned"]


def open_frame(frame: object, reading: Reading) -> Source | None:
    """Take a frame as a source; None if it is none that we know."""
    import narwhals as nw

    native = nw.to_native(frame, pass_through=True)
    if isinstance(native, pl.DataFrame):
        return PolarsSource(
            native.lazy(),
            label="polars frame",
            reading=reading,
            columns=name_columns(native.columns, "polars frame"),
            rows=native.height,
        )
    if isinstance(native, pl.LazyFrame):
        return _open_lazy(native, reading)
    if nw.dependencies.is_pandas_dataframe(native):
        return PandasSource(native, reading)
    if nw.dependencies.is_pyarrow_table(native):
        return ArrowSource(native, reading)
    return None


def as_polars(frame: object) -> pl.DataFrame:
    """Turn a frame of any library we know into polars, values as they are."""
    import narwhals as nw

    known = nw.from_native(frame)  # type: ignore[call-overload]
    eager = known.collect("polars") if isinstance(known, nw.LazyFrame) else known
    try:
        polars: pl.DataFrame = eager.to_polars()
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        raise InvalidInput(
            f"the table has a column that cannot be written ({type(error).__name__}); "
            f"leave it out with rest='drop', or turn it into text, numbers or dates"
        ) from None
    return polars


def pruned(series: pl.Series) -> pl.Series:
    """Let go of categories that no row shows: a dictionary would publish values of dropped people."""
    if not isinstance(series.dtype, pl.Enum):
        return series
    known = series.dtype.categories
    return series.cast(pl.String).cast(
        pl.Enum(known.filter(known.is_in(series.drop_nulls().cast(pl.String))))
    )


def _without_ghosts(column: pd.Series, keep: Mask | None) -> pd.Series:
    """The same for pandas, where rows were left out."""
    if keep is None or keep.all() or column.dtype.name != "category":
        return column
    return column.cat.remove_unused_categories()


def _fresh_dictionary(column: pa.ChunkedArray, keep: Mask | None) -> pa.ChunkedArray:
    """The same for pyarrow."""
    import pyarrow as pa

    if keep is None or keep.all() or not pa.types.is_dictionary(column.type):
        return column
    return column.cast(column.type.value_type).dictionary_encode().cast(column.type)


def _open_lazy(frame: pl.LazyFrame, reading: Reading) -> Source:
    label = "polars lazy frame"
    try:
        names = frame.collect_schema().names()
    except pl.exceptions.PolarsError as error:
        raise InvalidInput(f"{label}: its query cannot be planned ({type(error).__name__})") from None
    return PolarsSource(
        frame,
        label=label,
        reading=reading,
        columns=name_columns(names, label),
        give=pl.DataFrame.lazy,
        at_once=True,
    )


class PolarsSource:
    """A table polars reads: a file, the answer of a database, or a frame in memory.

    Columns are read when they are first needed and then kept; :meth:`scan` keeps nothing.
    """

    def __init__(
        self,
        lazy: pl.LazyFrame,
        *,
        label: str,
        reading: Reading,
        columns: tuple[str, ...],
        rows: int | None = None,
        textual: bool = False,
        give: Callable[[pl.DataFrame], Any] = lambda frame: frame,
        at_once: bool = False,
        sparing: Callable[[Sequence[str]], pl.LazyFrame | None] | None = None,
    ) -> None:
        self.label = label
        self.reading = reading
        self.columns = columns
        self.textual = textual
        self._lazy = lazy
        self._rows = rows
        self._give = give
        self._at_once = at_once  # a lazy query may answer in another order when asked again
        self._sparing = sparing
        self._read: dict[str, pl.Series] = {}

    def sliced(self, names: Sequence[str]) -> PolarsSource | None:
        """Give a source of these columns that is scanned with little memory; None if there is none."""
        lazy = None if self._sparing is None else self._sparing(names)
        if lazy is None:
            return None
        return PolarsSource(lazy, label=self.label, reading=self.reading, columns=tuple(names))

    def __repr__(self) -> str:
        return f"<{self.label}, {len(self.columns)} columns>"

    @property
    def rows(self) -> int:
        """How many rows there are; counted without reading where the file says so."""
        if self._rows is None:
            if self._at_once:
                self._load(self.columns)
            held = next(iter(self._read.values()), None)
            self._rows = (
                len(held) if held is not None else int(self._collect(self._lazy.select(pl.len())).item())
            )
        return self._rows

    def take(self, names: Sequence[str]) -> pl.DataFrame:
        """Read exactly these columns in this order; missing values are null."""
        check.columns_exist(names, self.columns)
        self._load(names)
        frame = pl.DataFrame([self._read[name] for name in names])
        if self.textual and not self.reading.null:
            return frame  # the reader has turned empty cells into null
        refuse_nested(frame.schema, names, self.label)
        return frame.select(cleaned(frame.schema, names, self.reading.null))

    def scan(self, names: Sequence[str]) -> pl.LazyFrame:
        """Give the same as :meth:`take` lazily."""
        check.columns_exist(names, self.columns)
        if self.textual and not self.reading.null:
            return self._lazy.select(names)
        chosen = self._lazy.select(names)
        schema = chosen.collect_schema()
        refuse_nested(schema, names, self.label)
        return chosen.select(cleaned(schema, names, self.reading.null))

    def rebuild(
        self, replace: Mapping[str, Sequence[pl.Series]], drop: Collection[str] = (), keep: Mask | None = None
    ) -> Any:
        """Make the table again; columns not named stay as they are, tokens for missing values included."""
        parts = arrange(self.columns, self.rows, replace, drop, keep)
        untouched = [part for part in parts if isinstance(part, str)]
        self._load(untouched)
        kept = pl.DataFrame([self._read[name] for name in untouched])
        if keep is not None and untouched and not keep.all():
            kept = kept.filter(pl.Series(keep))
            kept = kept.with_columns(
                pruned(kept[name]) for name, kind in kept.schema.items() if kind == pl.Enum
            )
        return self._give(pl.DataFrame([kept[part] if isinstance(part, str) else part for part in parts]))

    def _load(self, names: Sequence[str]) -> None:
        """Read what is not yet held; if that is most of the table, read all of it at once."""
        wanted = [name for name in names if name not in self._read]
        if not wanted:
            return
        if self._at_once or 2 * len(wanted) >= len(self.columns):
            wanted = [name for name in self.columns if name not in self._read]
        for series in self._collect(self._lazy.select(wanted)):
            self._read[series.name] = series

    def _collect(self, lazy: pl.LazyFrame) -> pl.DataFrame:
        try:
            return lazy.collect()
        except (pl.exceptions.PolarsError, OSError) as error:
            raise InvalidInput(
                f"{self.label} cannot be read ({type(error).__name__}); is it whole and unchanged?"
            ) from None


class PandasSource:
    """A pandas frame; columns nobody asks for are never converted."""

    label = "pandas frame"
    textual = False

    def __init__(self, frame: pd.DataFrame, reading: Reading) -> None:
        if frame.columns.nlevels > 1:
            raise InvalidInput("pandas frame: columns have several levels; flatten them to one")
        self.reading = reading
        self.columns = name_columns(frame.columns, self.label)
        self._frame = frame
        self._place = {name: place for place, name in enumerate(self.columns)}

    def __repr__(self) -> str:
        return f"<{self.label}, {len(self.columns)} columns>"

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self._frame)

    def take(self, names: Sequence[str]) -> pl.DataFrame:
        """Convert exactly these columns; None, NaN, NaT and NA are null."""
        check.columns_exist(names, self.columns)
        frame = pl.DataFrame([self._convert(name) for name in names])
        refuse_nested(frame.schema, names, self.label)
        return frame.select(cleaned(frame.schema, names, self.reading.null))

    def scan(self, names: Sequence[str]) -> pl.LazyFrame:
        """Give the same as :meth:`take` lazily."""
        return self.take(names).lazy()

    def rebuild(
        self, replace: Mapping[str, Sequence[pl.Series]], drop: Collection[str] = (), keep: Mask | None = None
    ) -> Any:
        """Make a pandas frame with the same index, dtypes and attributes."""
        import pandas as pd

        frame = self._frame
        parts = arrange(self.columns, len(frame), replace, drop, keep)
        if keep is not None:
            frame = frame.iloc[np.flatnonzero(keep)]
        series = []
        labels: list[object] = []
        for part in parts:
            if isinstance(part, str):
                series.append(_without_ghosts(frame.iloc[:, self._place[part]], keep))
                labels.append(frame.columns[self._place[part]])
            else:
                series.append(part.to_pandas().set_axis(frame.index))
                labels.append(part.name)
        if not series:
            return frame.iloc[:, :0]
        rebuilt = pd.concat(series, axis=1)
        rebuilt.columns = pd.Index(labels, name=frame.columns.name)
        rebuilt.attrs = dict(frame.attrs)
        return rebuilt

    def _convert(self, name: str) -> pl.Series:
        import pyarrow as pa

        column = self._frame.iloc[:, self._place[name]]
        try:
            return pl.Series(name, pl.from_pandas(column, nan_to_null=True))
        except (
            pa.ArrowException,
            pl.exceptions.PolarsError,
            TypeError,
            ValueError,
            NotImplementedError,
            OverflowError,
        ):
            raise InvalidInput(
                f"column={name!r} of the pandas frame (dtype {column.dtype.name}) mixes kinds of values "
                f"or holds objects; turn it into text, numbers or dates first"
            ) from None


class ArrowSource:
    """A pyarrow table."""

    label = "pyarrow table"
    textual = False

    def __init__(self, table: pa.Table, reading: Reading) -> None:
        self.reading = reading
        self.columns = name_columns(table.column_names, self.label)
        self._table = table

    def __repr__(self) -> str:
        return f"<{self.label}, {len(self.columns)} columns>"

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self._table.num_rows)

    def take(self, names: Sequence[str]) -> pl.DataFrame:
        """Convert exactly these columns."""
        check.columns_exist(names, self.columns)
        frame = pl.DataFrame([self._convert(name) for name in names])
        refuse_nested(frame.schema, names, self.label)
        return frame.select(cleaned(frame.schema, names, self.reading.null))

    def scan(self, names: Sequence[str]) -> pl.LazyFrame:
        """Give the same as :meth:`take` lazily."""
        return self.take(names).lazy()

    def rebuild(
        self, replace: Mapping[str, Sequence[pl.Series]], drop: Collection[str] = (), keep: Mask | None = None
    ) -> Any:
        """Make a pyarrow table with the same fields.

        What pandas noted in the metadata (index, old dtypes) no longer fits and is left out.
        """
        import pyarrow as pa

        table = self._table
        parts = arrange(self.columns, table.num_rows, replace, drop, keep)
        if keep is not None:
            table = table.filter(pa.array(keep))
        columns = [
            _fresh_dictionary(table.column(part), keep) if isinstance(part, str) else part.to_arrow()
            for part in parts
        ]
        fields = [
            table.schema.field(part) if isinstance(part, str) else pa.field(part.name, column.type)
            for part, column in zip(parts, columns, strict=True)
        ]
        metadata = {key: value for key, value in (table.schema.metadata or {}).items() if key != b"pandas"}
        return pa.Table.from_arrays(columns, schema=pa.schema(fields, metadata=metadata or None))

    def _convert(self, name: str) -> pl.Series:
        import pyarrow as pa

        column = self._table.column(name)
        try:
            return pl.Series(name, pl.from_arrow(column))
        except (pa.ArrowException, pl.exceptions.PolarsError, TypeError, ValueError, NotImplementedError):
            raise InvalidInput(
                f"column={name!r} of the pyarrow table (type {column.type}) cannot be used; "
                f"turn it into text, numbers or dates first"
            ) from None
