"""Frames somebody holds in memory: polars, pandas and pyarrow come in, and the same kind goes out.

What is none of them but speaks Arrow comes in too, and goes out as a pyarrow table.
"""

from __future__ import annotations

import os
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from mahrem import check
from mahrem.errors import InvalidInput, spelled
from mahrem.table.cells import named_zone, zone_of_offset
from mahrem.table.reading._arrow import ArrowSource, arrow_table
from mahrem.table.reading._reading import Reading, Source, arrange, cleaned, name_columns, refuse_nested

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    import pandas as pd

    from mahrem.types import Mask

__all__ = ["PandasSource", "PolarsSource", "as_polars", "hold", "open_frame", "pruned"]


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
    table = arrow_table(native)
    return None if table is None else ArrowSource(table, reading, label=f"{type(native).__name__} (Arrow)")


def hold(given: object) -> object:
    """Give something that can be opened again and again with the same rows in the same order.

    An Arrow stream may be read only once, and a query may answer in another order when asked again: both
    become a table here. Everything else is given back as it is.
    """
    if given is None or isinstance(given, str | os.PathLike):
        return given
    import narwhals as nw

    native = nw.to_native(given, pass_through=True)
    if isinstance(native, pl.LazyFrame):
        return as_polars(native)
    if nw.dependencies.is_into_dataframe(native):
        return given
    table = arrow_table(native)
    return given if table is None else table


def as_polars(frame: object) -> pl.DataFrame:
    """Turn a frame of any library we know into polars, values as they are."""
    import narwhals as nw

    native = nw.to_native(frame, pass_through=True)
    if nw.dependencies.is_pandas_dataframe(native):
        native = native.set_axis([str(label) for label in native.columns], axis=1)  # all that polars knows
        for place in range(native.shape[1]):
            native.isetitem(place, _in_named_zone(native.iloc[:, place]))
    if nw.dependencies.is_pyarrow_table(native):
        native = native.from_arrays([named_zone(column) for column in native.columns], native.column_names)
    held: Any = native if isinstance(native, pl.LazyFrame) else hold(native)
    known = nw.from_native(held)
    try:
        eager = known.collect("polars") if isinstance(known, nw.LazyFrame) else known
        polars: pl.DataFrame = eager.to_polars()
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        raise InvalidInput(
            f"the table has a column that cannot be written ({type(error).__name__}); "
            f"leave it out with {spelled('rest', 'drop')}, or turn it into text, numbers or dates"
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


def _in_named_zone(column: pd.Series) -> pd.Series:
    """Give moments whose zone is a mere offset a zone with a name, which polars needs; instants stay."""
    zone = getattr(column.dtype, "tz", None)
    away = None if zone is None else zone.utcoffset(None)  # None too for zones with a name
    return column.dt.tz_convert(zone_of_offset(int(away.total_seconds()))) if away else column


def _mixes_zones(column: pd.Series) -> bool:
    """Say whether Python objects have a time zone in some rows only: pandas would take the others for UTC."""
    return len({value.tzinfo is None for value in column.dropna() if isinstance(value, datetime)}) > 1


def _without_ghosts(column: pd.Series, keep: Mask | None) -> pd.Series:
    """The same for pandas, where rows were left out."""
    if keep is None or keep.all() or column.dtype.name != "category":
        return column
    return column.cat.remove_unused_categories()


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
        series = [
            _without_ghosts(frame.iloc[:, self._place[part]], keep)
            if isinstance(part, str)
            else part.to_pandas().set_axis(frame.index)
            for part in parts
        ]
        if not series:
            return frame.iloc[:, :0]
        rebuilt = pd.concat(series, axis=1)
        rebuilt.columns = self._labels([part if isinstance(part, str) else part.name for part in parts])
        rebuilt.attrs = dict(frame.attrs)
        return rebuilt

    def _labels(self, names: Sequence[str]) -> pd.Index:
        """Give columns the labels they came with, which need not be text."""
        import pandas as pd

        held = self._frame.columns
        if all(name in self._place for name in names):
            return held.take([self._place[name] for name in names])
        labels = [held[self._place[name]] if name in self._place else name for name in names]
        return pd.Index(labels, name=held.name)

    def _convert(self, name: str) -> pl.Series:
        import pyarrow as pa

        column = self._frame.iloc[:, self._place[name]]
        if column.dtype == object and _mixes_zones(column):
            raise InvalidInput(
                f"column={name!r} of the pandas frame holds date-times with a time zone and some without; "
                f"give all of them one, or none"
            )
        try:
            return pl.Series(name, pl.from_pandas(_in_named_zone(column), nan_to_null=True))
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
