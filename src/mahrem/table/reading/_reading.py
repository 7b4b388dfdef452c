"""How a table is to be read, and what every source of a table can do."""

from __future__ import annotations

import codecs
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, runtime_checkable

import numpy as np
import polars as pl
from polars.datatypes.classes import NestedType

from mahrem import check
from mahrem.errors import InvalidInput, InvalidParameter, spelled_together
from mahrem.table.reading._spelling import PlainTexts, Spelling, plain_texts
from mahrem.threads import in_parallel

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from mahrem.table.reading._records import TextRecords
    from mahrem.types import Mask
    from mahrem.words import Note

NESTED = (NestedType, pl.Object, pl.Binary, pl.BaseExtension)
CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]|^\ufeff")  # what no name of a column holds


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How to read a source; what is not said is found out.

    Attributes:
        delimiter: The character between the cells of a CSV file; else comma, semicolon, tab or bar.
        encoding: Any that Python knows; else UTF-8, or UTF-16 and UTF-32 when their mark is there.
        decimal: The decimal sign of numbers in text; else found out with the kinds.
        null: Texts that mean a missing value; an empty cell always does.
        query: What to ask a database.
        table: Which table of a database to take, ``name`` or ``schema.name``.
        header: Whether the first row of a file names its columns; else found out, and refused if it does not.
        names: What the columns of a file are called, in order, instead of what its header says.
        skip_rows: Lines above the header that are passed over; else found out.
        skip_last: Rows at the end of a file that are passed over, such as a total of the others.
        spelling: How numbers and dates are written in cells of text; None leaves them as they are.
        by_cell: Whether each cell is read by itself: nothing about a column or a file is found out from its
            rows, so that no record changes how another is read. For everything that is paid from a ledger.
        honoured: Whether what is said of text is refused where a source has none; else it may be for another.

    Example:
        >>> Reading(delimiter=";", decimal=",", null=("?",)).delimiter
        ';'
    """

    delimiter: str | None = None
    encoding: str | None = None
    decimal: Literal[".", ","] | None = None
    null: Sequence[str] = ()
    query: str | None = None
    table: str | None = None
    header: bool | None = None
    names: Sequence[str] = ()
    skip_rows: int | None = None
    skip_last: int | None = None
    spelling: Spelling | None = None
    by_cell: bool = False
    honoured: bool = False

    def __post_init__(self) -> None:
        for listed in ("null", "names"):
            value = getattr(self, listed)
            object.__setattr__(self, listed, (value,) if isinstance(value, str) else tuple(value))
        if self.skip_rows is not None:
            check.at_least(0, skip_rows=check.whole(skip_rows=self.skip_rows))
        if self.skip_last is not None:
            check.at_least(0, skip_last=check.whole(skip_last=self.skip_last))
        mark = self.delimiter
        if mark is not None and (len(mark) != 1 or not mark.isascii() or mark in '"\r\n\0'):
            raise InvalidParameter(
                f"delimiter={mark!r} must be one ASCII character, no quote and no line end"
            )
        if self.decimal is not None:
            check.one_of((".", ","), decimal=self.decimal)
        if self.query is not None and self.table is not None:
            raise InvalidParameter("query and table were both given; say one of them")
        if self.encoding is not None:
            _text_encoding(self.encoding)


def _text_encoding(name: str) -> None:
    """Refuse an encoding that Python does not know or that does not make text."""
    try:
        codecs.lookup(name)
        "".encode(name)
    except (LookupError, ValueError):
        raise InvalidParameter(
            f"encoding={name!r} is not known; examples are utf-8, utf-16, cp1254, latin-1"
        ) from None


@runtime_checkable
class Source(Protocol):
    """A table somebody gave us, wherever it lies."""

    @property
    def label(self) -> str:
        """Kind and name of the source for messages; never a credential."""

    @property
    def reading(self) -> Reading:
        """How the source is read."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, in order."""

    @property
    def rows(self) -> int:
        """How many rows there are; may have to read."""

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was found out about the source that a reader must know."""

    @property
    def labels(self) -> Mapping[str, str]:
        """What columns are called in words, where the source says."""

    @property
    def textual(self) -> bool:
        """Whether every value came as text, so that kinds must be inferred from text."""

    def take(self, names: Sequence[str]) -> pl.DataFrame:
        """Read exactly these columns in this order; missing values are null."""

    def scan(self, names: Sequence[str]) -> pl.LazyFrame:
        """Give the same as :meth:`take` lazily; UTF-8 CSV and Parquet files are then read out of core."""

    def rebuild(
        self, replace: Mapping[str, Sequence[pl.Series]], drop: Collection[str] = (), keep: Mask | None = None
    ) -> Any:
        """Make the table again, of the same kind as it came.

        Args:
            replace: For a column the series that take its place, already of the kept length.
            drop: Columns to leave out.
            keep: Which rows stay; None keeps all.

        Guarantees:
            - Everything not named stays as it was: order, values, dtypes, index.
        """


Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)


class ColumnSource(ABC):
    """What sources share that give a table column by column."""

    textual = False
    notes: tuple[Note, ...] = ()
    labels: Mapping[str, str] = MappingProxyType({})

    def __init__(self, label: str, reading: Reading, columns: Iterable[object]) -> None:
        self.label = label
        self.reading = reading
        self.columns = name_columns(columns, label)
        self._plain: dict[str, PlainTexts | None] = {}

    def __repr__(self) -> str:
        return f"<{self.label}, {len(self.columns)} columns>"

    @abstractmethod
    def read(self, names: Sequence[str]) -> list[pl.Series]:
        """Give columns as they are, in types that polars knows."""

    def take(self, names: Sequence[str]) -> pl.DataFrame:
        """Read exactly these columns in this order; missing values are null."""
        check.columns_exist(names, self.columns)
        return self.plainly(self.with_nulls(pl.DataFrame(self.read(names))))

    def scan(self, names: Sequence[str]) -> pl.LazyFrame:
        """Give the same as :meth:`take` lazily."""
        return self.take(names).lazy()

    def texts(self, name: str) -> pl.Series | None:
        """Give a column of text whose cells may be numbers or dates in another spelling; None if none is."""
        (series,) = self.with_nulls(pl.DataFrame(self.read([name])))
        return series if series.dtype == pl.String else None

    def first_texts(self, name: str) -> pl.Series | None:  # noqa: ARG002 - others have each text once
        """Give the first cells of a column, where :meth:`texts` does not begin with them."""
        return None

    def coded(self, names: Sequence[str]) -> dict[str, pl.Series]:  # noqa: ARG002 - others have some
        """Give columns of text as categories of their own, as :meth:`take` gives them; those that are so.

        Guarantees:
            - As text, each is the column that :meth:`take` gives, and every category is in it.
        """
        return {}

    def plainly(self, frame: Frame) -> Frame:
        """Write numbers and dates as everybody downstream reads them, where the reading says so."""
        if self.reading.spelling is None:
            return frame
        if isinstance(frame, pl.DataFrame):
            self._look_at_texts(frame)
        changed = {name: self._plain_texts(name) for name in frame.collect_schema().names()}
        return frame.with_columns(
            pl.col(name).replace(plain.written, plain.read)
            for name, plain in changed.items()
            if plain is not None
        )

    def respelled(
        self, replace: Mapping[str, Sequence[pl.Series]], drop: Collection[str], keep: Mask | None
    ) -> dict[str, Sequence[pl.Series]]:
        """Add to what a rebuilt table replaces the columns that are spelled otherwise than they came."""
        replaced = dict(replace)
        if self.reading.spelling is None:
            return replaced
        for name in self.columns:
            if name in replaced or name in drop or (plain := self._plain_texts(name)) is None:
                continue
            (series,) = self.read([name])
            kept = series if keep is None else series.filter(pl.Series(keep))
            replaced[name] = [kept.replace(plain.written, plain.read)]
        return replaced

    def _look_at_texts(self, frame: pl.DataFrame) -> None:
        """Look at the columns of a long table all at once: polars lets go of the interpreter's lock."""
        unseen = [name for name in frame.columns if name not in self._plain]
        in_parallel(self._plain_texts, unseen, rows=frame.height)

    def _plain_texts(self, name: str) -> PlainTexts | None:
        if name not in self._plain:
            how = self.reading.spelling
            texts = None if how is None or how.leaves(name) else self.texts(name)
            self._plain[name] = (
                None if texts is None or how is None else plain_texts(texts, how, self.first_texts(name))
            )
        return self._plain[name]

    def with_nulls(self, frame: Frame) -> Frame:
        """Turn empty text and declared tokens into null; tokens that are numbers count among numbers too."""
        null = self.reading.null
        if self.textual and not null:
            return frame  # the reader has turned empty cells into null
        schema = frame.collect_schema()
        if self.reading.by_cell:
            frame = _with_texts(frame, schema)
            schema = frame.collect_schema()
        else:
            _refuse_nested(schema, self.label)
        return frame.select(_clean(pl.col(name), kind, null) for name, kind in schema.items())


def _with_texts(frame: Frame, schema: Mapping[str, pl.DataType]) -> Frame:
    """Write objects and bytes as text, each by itself; other cells that are no single values say nothing."""
    nested = {name: kind for name, kind in schema.items() if isinstance(kind, NESTED)}
    if not nested:
        return frame
    return frame.with_columns(
        pl.col(name).map_batches(_texts, return_dtype=pl.String)
        if isinstance(kind, pl.Object | pl.Binary)
        else pl.repeat(None, pl.len(), dtype=pl.String).alias(name)
        for name, kind in nested.items()
    )


def _texts(column: pl.Series) -> pl.Series:
    from mahrem.table.cells.alone import texts_of_objects

    return texts_of_objects(column.to_list())


def _clean(column: pl.Expr, dtype: pl.DataType, null: Sequence[str]) -> pl.Expr:
    if isinstance(dtype, pl.String | pl.Categorical | pl.Enum):
        text = column if isinstance(dtype, pl.String) else column.cast(pl.String)
        present = text != ""
        for token in null:
            present &= text != token
        return pl.when(present).then(column).otherwise(None)
    numbers = number_tokens(null)
    if dtype.is_numeric() and numbers:
        present = pl.lit(True)
        for number in numbers:
            present &= column != number
        return pl.when(present).then(column).otherwise(None)
    return column


def number_tokens(null: Sequence[str]) -> list[int | float]:
    """Give the tokens for missing values that read as numbers."""
    return [number for token in null if (number := _number(token)) is not None]


def _number(token: str) -> int | float | None:
    try:
        number = float(token)
    except ValueError:
        return None
    return int(token) if token.strip().lstrip("+-").isdecimal() else number


def _refuse_nested(schema: Mapping[str, pl.DataType], label: str) -> None:
    """Refuse columns whose cells are no single values."""
    for name, kind in schema.items():
        if isinstance(kind, NESTED):
            raise InvalidInput(
                f"column={name!r} of {label} holds {kind.base_type()} values; "
                f"only text, numbers, dates and booleans can be used: leave it out or unfold it first"
            )


def name_columns(labels: Iterable[object], label: str, *, header: bool = False) -> tuple[str, ...]:
    """Give the columns their names as text; refuse empty and doubled ones, with the way round a header."""
    given = tuple(labels)
    names = tuple(map(str, given))
    others = spelled_together({"header": True, "names": ["NAME1", "NAME2", "…"]})
    way = f", or give all {len(names)} columns other names: {others}" if header else ""
    if not names:
        raise InvalidInput(f"{label} has no columns")
    seen: set[str] = set()
    for place, name in enumerate(names, start=1):
        if not name:
            raise InvalidInput(
                f"{label}: column {place} has an empty name; is it a row index that was written along? "
                f"Give it a name or leave it out{way}"
            )
        if name in seen:
            alike = dict.fromkeys(repr(name_given) for name_given in given if str(name_given) == name)
            if len(alike) > 1:
                raise InvalidInput(f"{label}: columns {' and '.join(alike)} are one name as text; rename one")
            places = [place for place, other in enumerate(names, start=1) if other == name]
            raise InvalidInput(
                f"{label}: columns {' and '.join(map(str, places[:2]))} have the same name; "
                f"names must differ{way.replace(', or', ':')}"
            )
        if name == "*" or (name.startswith("^") and name.endswith("$")):
            raise InvalidInput(f"{label}: column={name!r} reads as a pattern of names; rename it")
        seen.add(name)
    return names


def arrange(
    columns: Sequence[str],
    rows: int,
    replace: Mapping[str, Sequence[pl.Series]],
    drop: Collection[str],
    keep: Mask | None,
) -> list[str | pl.Series]:
    """Say what stands where in the rebuilt table: a name is a column left untouched."""
    check.columns_exist((*replace, *drop), columns)
    kept = rows
    if keep is not None:
        if keep.dtype != np.bool_ or keep.shape != (rows,):
            raise InvalidParameter(f"keep must hold one boolean for each of the {rows} rows")
        kept = int(np.count_nonzero(keep))
    gone = set(drop)
    if gone & set(replace):
        raise InvalidParameter(f"column={min(gone & set(replace))!r} cannot be both replaced and dropped")
    parts: list[str | pl.Series] = []
    for name in columns:
        if name not in gone:
            parts.extend(replace.get(name, (name,)))
    for part in parts:
        if isinstance(part, pl.Series) and len(part) != kept:
            raise InvalidParameter(f"column={part.name!r} has {len(part)} rows; the table keeps {kept}")
    names = [part if isinstance(part, str) else part.name for part in parts]
    if len(set(names)) != len(names):
        double = next(name for name in names if names.count(name) > 1)
        raise InvalidParameter(f"column={double!r} would be in the table twice; rename the original")
    return parts


@dataclass(frozen=True)
class RecordReading:
    """How the records of a long file are read fast; both give None where they need more care.

    Attributes:
        count: Counts them, and sees that all are as they should be.
        columns: Reads all columns at one look: texts that are there again and again as categories.
    """

    count: Callable[[TextRecords], int | None]
    columns: Callable[[TextRecords], Mapping[str, pl.Series] | None]
