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
from mahrem.errors import InvalidInput, InvalidParameter, spelled
from mahrem.table.cells.zones import named_zone, zone_of_offset
from mahrem.table.reading._reading import ColumnSource, Reading, Source, arrange
from mahrem.table.reading._spelling import LOOKED_AT, may_be_respelled

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    import pandas as pd

    from mahrem.table.reading._slices import Slices
    from mahrem.table.reading._spelling import PlainTexts
    from mahrem.types import Mask

WIDEST = 38  # digits of a decimal that polars reads


def open_frame(frame: object, reading: Reading) -> Source | None:
    """Take a frame as a source; None if it is none that we know."""
    import narwhals as nw

    from mahrem.table.reading._arrow import ArrowSource, arrow_table

    native = nw.to_native(frame, pass_through=True)
    if isinstance(native, pl.DataFrame):
        return PolarsSource.held(native, "polars frame", reading)
    if isinstance(native, pl.LazyFrame):
        return _open_lazy(native, reading)
    if nw.dependencies.is_pandas_dataframe(native):
        return PandasSource(native, reading)
    if nw.dependencies.is_pyarrow_table(native):
        return ArrowSource(native, reading)
    table = arrow_table(native)
    return None if table is None else ArrowSource(table, reading, label=f"{type(native).__name__} (Arrow)")


def is_spark_frame(source: object) -> bool:
    """Say whether something is a Spark DataFrame, without loading Spark."""
    kind = type(source)
    return kind.__module__.startswith("pyspark.sql") and kind.__name__ == "DataFrame"


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
    from mahrem.table.reading._arrow import arrow_table

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
    shown = known.is_in(series.unique().drop_nulls().cast(pl.String).implode())
    return series if shown.all() else series.cast(pl.String).cast(pl.Enum(known.filter(shown)))


def _in_named_zone(column: pd.Series) -> pd.Series:
    """Give moments whose zone is a mere offset a zone with a name, which polars needs; instants stay."""
    zone = getattr(column.dtype, "tz", None)
    away = None if zone is None else zone.utcoffset(None)  # None too for zones with a name
    return column.dt.tz_convert(zone_of_offset(int(away.total_seconds()))) if away else column


def _mixes_zones(column: pd.Series) -> bool:
    """Say whether Python objects have a time zone in some rows only: pandas would take the others for UTC."""
    return len({value.tzinfo is None for value in column.dropna() if isinstance(value, datetime)}) > 1


def _texts_by_cell(column: pd.Series) -> pl.Series:
    """Write objects of any kinds as text, each by itself: the kind they have in common, one can change."""
    from mahrem.table.cells.alone import texts_of_objects

    if column.dtype.name == "category":
        texts = texts_of_objects(column.cat.categories)
        places = pl.Series(column.cat.codes.to_numpy(), dtype=pl.Int64)
        return texts.gather(places.set(places < 0, None))
    return texts_of_objects(column)


def _without_ghosts(column: pd.Series) -> pd.Series:
    """The same for pandas, where a frame that was filtered keeps the categories of those who are gone."""
    return column.cat.remove_unused_categories() if column.dtype.name == "category" else column


def _open_lazy(frame: pl.LazyFrame, reading: Reading) -> Source:
    label = "polars lazy frame"
    try:
        names = frame.collect_schema().names()
    except pl.exceptions.PolarsError as error:
        raise InvalidInput(f"{label}: its query cannot be planned ({type(error).__name__})") from None
    return PolarsSource.asked_once(frame, label, reading, names)


def texts_of(coded: pl.Series) -> pl.Series:
    """Give the different texts of a column of categories, by their numbers; those of others among them."""
    assert isinstance(coded.dtype, pl.Categorical)  # noqa: S101 - who calls knows
    return coded.dtype.categories.to_series().alias(coded.name)


class PolarsSource(ColumnSource):
    """A table polars reads: a file, the answer of a database, or a frame in memory.

    Columns are read when they are first needed and then kept; :meth:`scan` keeps nothing.

    Args:
        lazy: How to read it.
        label: Kind and name for messages.
        reading: How it is read.
        columns: What its columns are called.
        rows: How many there are, if that is known.
        textual: Whether every value came as text.
        slices: The same, slice by slice.
        at_one_look: Reads columns faster, those of few texts as categories; what it leaves is read lazily.
    """

    def __init__(
        self,
        lazy: pl.LazyFrame,
        *,
        label: str,
        reading: Reading,
        columns: Sequence[str],
        rows: int | None = None,
        textual: bool = False,
        slices: Slices | None = None,
        at_one_look: Callable[[], Mapping[str, pl.Series] | None] | None = None,
    ) -> None:
        super().__init__(label, reading, columns)
        self.textual = textual
        self._lazy = lazy
        self._rows = rows
        self._at_once = False
        self._slices = slices
        self._at_one_look = at_one_look
        self._held: dict[str, pl.Series] = {}
        self._coded: dict[str, pl.Series] = {}  # texts as categories

    @classmethod
    def asked_once(
        cls, lazy: pl.LazyFrame, label: str, reading: Reading, names: Sequence[str]
    ) -> PolarsSource:
        """Take a query that may answer in another order when asked again: it is asked once."""
        source = cls(lazy, label=label, reading=reading, columns=names)
        source._at_once = True
        return source

    @classmethod
    def held(cls, frame: pl.DataFrame, label: str, reading: Reading) -> PolarsSource:
        """Take a frame in memory."""
        return cls(frame.lazy(), label=label, reading=reading, columns=frame.columns, rows=frame.height)

    def without_last(self, rows: int) -> PolarsSource:
        """Leave out some rows at the end."""
        left = self.rows - rows
        if left < 1:
            raise InvalidParameter(f"skip_last={rows} must leave a row of {self.label}")
        shorter = PolarsSource(
            self._lazy.head(left),
            label=self.label,
            reading=self.reading,
            columns=self.columns,
            rows=left,
            textual=self.textual,
        )
        shorter.notes = self.notes
        return shorter

    def sliced(self, names: Sequence[str]) -> PolarsSource | None:
        """Give a source of these columns that is scanned with little memory; None if there is none."""
        from mahrem.table.reading._slices import scan_slices

        lazy = None if self._slices is None else scan_slices(self._slices, names)
        if lazy is None:
            return None
        sliced = PolarsSource(
            lazy, label=self.label, reading=self.reading, columns=names, textual=self.textual
        )
        sliced._plain = self._plain
        return sliced

    def batches(self, names: Sequence[str], rows: int, *, untouched: bool = False) -> Iterator[pl.DataFrame]:
        """Read columns some rows at a time, in their order.

        Args:
            names: What to read.
            rows: So many at least, but for the last batch.
            untouched: As :meth:`rebuild` leaves them, tokens for missing values included; else as
                :meth:`take` gives them.

        Raises:
            InvalidParameter: If the source cannot be read so; ``in_batches`` says whether it can.
        """
        if self._slices is None:
            raise InvalidParameter(f"the source is a {self.label}, which cannot be read in parts")
        waiting: list[pl.DataFrame] = []
        for part in self._slices.read(names):
            waiting.append(part)
            if sum(held.height for held in waiting) >= rows:
                yield self._as_asked(pl.concat(waiting), untouched=untouched)
                waiting = []
        if waiting:
            yield self._as_asked(pl.concat(waiting), untouched=untouched)

    def _as_asked(self, frame: pl.DataFrame, *, untouched: bool) -> pl.DataFrame:
        return self.plainly(frame if untouched else self.with_nulls(frame))

    def in_batches(self) -> bool:
        """Say whether :meth:`batches` can read it: a plain file whose columns have simple kinds."""
        return self._slices is not None and self._slices.schema(self.columns) is not None

    def spelled_as(self, plain: Mapping[str, PlainTexts | None]) -> None:
        """Take it from somebody who looked at all cells how columns of text are to be read."""
        self._plain |= plain

    @property
    def rows(self) -> int:
        """How many rows there are; counted without reading where the file says so."""
        if self._rows is None:
            if self._at_once:
                self.read(self.columns)
            held = next(iter((*self._held.values(), *self._coded.values())), None)
            self._rows = (
                len(held) if held is not None else int(self._collect(self._lazy.select(pl.len())).item())
            )
        return self._rows

    def read(self, names: Sequence[str]) -> list[pl.Series]:
        """Read what is not yet held; if that is most of the table, read all of it at once."""
        self._read(names)
        return [
            self._held[name] if name in self._held else self._coded[name].cast(pl.String) for name in names
        ]

    def first_texts(self, name: str) -> pl.Series | None:
        """Give the first cells of a column whose texts are given once each."""
        return self._coded[name].head(LOOKED_AT).cast(pl.String) if name in self._coded else None

    def coded(self, names: Sequence[str]) -> dict[str, pl.Series]:
        """Give columns of text as categories of their own, as :meth:`take` gives them; those that are so."""
        if self.reading.null:
            return {}
        self._read(names)
        return {name: self._plainly_coded(name) for name in names if name in self._coded}

    def _plainly_coded(self, name: str) -> pl.Series:
        coded, plain = self._coded[name], self._plain_texts(name)
        if plain is None:
            return coded
        texts = texts_of(coded).replace(plain.written, plain.read)
        return texts.cast(pl.Categorical(pl.Categories.random())).gather(coded.to_physical()).alias(name)

    def _read(self, names: Sequence[str]) -> None:
        wanted = self._unread(names)
        if wanted and (self._at_once or 2 * len(wanted) >= len(self.columns)):
            self._look_once()
            wanted = self._unread(self.columns)
        if wanted:
            self._held |= {series.name: series for series in self._collect(self._lazy.select(wanted))}

    def _unread(self, names: Sequence[str]) -> list[str]:
        return [name for name in names if name not in self._held and name not in self._coded]

    def _look_once(self) -> None:
        """Read what a faster reader reads, the first time that most of the table is wanted."""
        look, self._at_one_look = self._at_one_look, None
        columns = look() if look is not None and not self._held else None
        for name, column in (columns or {}).items():
            if len(column) != self.rows:
                raise InvalidInput(f"{self.label} cannot be read; is it whole and unchanged?")
            (self._held if column.dtype == pl.String else self._coded)[name] = column

    def scan(self, names: Sequence[str]) -> pl.LazyFrame:
        """Give the same as :meth:`take` lazily."""
        check.columns_exist(names, self.columns)
        return self.plainly(self.with_nulls(self._lazy.select(names)))

    def texts(self, name: str) -> pl.Series | None:
        """Give a column of text whose cells may be spelled otherwise; what is not held is looked at first."""
        if name in self._coded and not self.reading.null:
            return texts_of(self._coded[name])
        if name in self._held or name in self._coded or self._at_once:
            return super().texts(name)
        column = self.with_nulls(self._lazy.select(name))
        if column.collect_schema()[name] != pl.String:
            return None
        some = self._collect(column.head(LOOKED_AT))[name]
        return self._collect(column.unique())[name] if may_be_respelled(some) else None

    def rebuild(
        self, replace: Mapping[str, Sequence[pl.Series]], drop: Collection[str] = (), keep: Mask | None = None
    ) -> Any:
        """Make the table again; columns not named stay as they are, tokens for missing values included."""
        replace = self.respelled(replace, drop, keep)
        parts = arrange(self.columns, self.rows, replace, drop, keep)
        untouched = [part for part in parts if isinstance(part, str)]
        kept = pl.DataFrame(self.read(untouched))
        if keep is not None and untouched and not keep.all():
            kept = kept.filter(pl.Series(keep))
        kept = kept.with_columns(pruned(kept[name]) for name, kind in kept.schema.items() if kind == pl.Enum)
        frame = pl.DataFrame([kept[part] if isinstance(part, str) else part for part in parts])
        return frame.lazy() if self._at_once else frame

    def _collect(self, lazy: pl.LazyFrame) -> pl.DataFrame:
        try:
            return lazy.collect()
        except (pl.exceptions.PolarsError, OSError) as error:
            raise InvalidInput(
                f"{self.label} cannot be read ({type(error).__name__}); is it whole and unchanged?"
            ) from None


class PandasSource(ColumnSource):
    """A pandas frame; columns nobody asks for are never converted."""

    def __init__(self, frame: pd.DataFrame, reading: Reading) -> None:
        if frame.columns.nlevels > 1:
            raise InvalidInput("pandas frame: columns have several levels; flatten them to one")
        super().__init__("pandas frame", reading, frame.columns)
        self._frame = frame
        self._place = {name: place for place, name in enumerate(self.columns)}

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self._frame)

    def read(self, names: Sequence[str]) -> list[pl.Series]:
        """Convert exactly these columns; None, NaN, NaT and NA are null."""
        return [self._convert(name) for name in names]

    def rebuild(
        self, replace: Mapping[str, Sequence[pl.Series]], drop: Collection[str] = (), keep: Mask | None = None
    ) -> Any:
        """Make a pandas frame with the same dtypes; what else hangs on a frame may name people: it stays."""
        import pandas as pd

        frame = self._frame
        replace = self.respelled(replace, drop, keep)
        parts = arrange(self.columns, len(frame), replace, drop, keep)
        if keep is not None:
            frame = frame.iloc[np.flatnonzero(keep)]
        series = [
            _without_ghosts(frame.iloc[:, self._place[part]]) if isinstance(part, str) else part.to_pandas()
            for part in parts
        ]
        if not series:
            return pd.DataFrame(index=pd.RangeIndex(len(frame)))
        rebuilt = pd.concat([column.reset_index(drop=True) for column in series], axis=1)
        rebuilt.columns = self._labels([part if isinstance(part, str) else part.name for part in parts])
        rebuilt.attrs = {}
        return rebuilt

    def _labels(self, names: Sequence[str]) -> pd.Index:
        """Give columns the labels they came with, which need not be text, and nothing that hangs on them."""
        import pandas as pd

        held = self._frame.columns
        if isinstance(held, pd.CategoricalIndex):  # it would list labels of columns that are left out
            held = held.astype(object)
        if all(name in self._place for name in names):
            return held.take([self._place[name] for name in names]).rename(None)
        return pd.Index([held[self._place[name]] if name in self._place else name for name in names])

    def _convert(self, name: str) -> pl.Series:
        import pyarrow as pa

        column = self._frame.iloc[:, self._place[name]]
        alone = column.dtype == object or column.dtype.name.startswith(("category", "decimal256"))
        if self.reading.by_cell and alone:
            return _texts_by_cell(column).alias(name)
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
            if self.reading.by_cell:
                return _texts_by_cell(column).alias(name)
            raise InvalidInput(
                f"column={name!r} of the pandas frame (dtype {column.dtype.name}) mixes kinds of values "
                f"or holds objects; turn it into text, numbers or dates first"
            ) from None


def open_polars(
    path: Path,
    reading: Reading,
    kind: str,
    scan: Callable[[], pl.LazyFrame],
    *,
    files: Sequence[Path] | None = None,
) -> Source:
    """Open a file that polars reads with its kinds; ``files`` are Parquet files to read slice by slice."""
    label = f"{kind} {path.name!r}"
    try:
        lazy = scan()
        schema = _known_schema(lazy)
        if schema is None:
            return _open_wide(files or [path], label, reading, "feather" if files is None else "parquet")
        rows = int(lazy.select(pl.len()).collect().item())
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InvalidInput(
            f"{label} is broken or of another kind ({type(error).__name__}); is its ending right?"
        ) from None
    from mahrem.table.reading._slices import ParquetSlices

    slices = None if files is None else ParquetSlices(files)
    return PolarsSource(lazy, label=label, reading=reading, columns=schema.names(), rows=rows, slices=slices)


def _known_schema(lazy: pl.LazyFrame) -> pl.Schema | None:
    """Give names and kinds; None where polars does not know a kind, as spans of months and long decimals."""
    try:
        schema = lazy.collect_schema()
    except pl.exceptions.PanicException:
        return None
    wide = any(isinstance(known, pl.Decimal) and known.precision > WIDEST for known in schema.values())
    return None if wide else schema


def _open_wide(files: Sequence[Path], label: str, reading: Reading, kind: str) -> Source:
    """Open files with columns that polars does not read: one long number makes a column of such."""
    from pyarrow import dataset

    from mahrem.table.reading._arrow import ArrowSource

    table = dataset.dataset([str(file) for file in files], format=kind).to_table()
    return ArrowSource(table, reading, label=label)
