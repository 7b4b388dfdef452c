"""Files of statistics packages: SPSS, Stata and SAS, with the words that stand for their codes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from types import ModuleType
from typing import BinaryIO, cast

import polars as pl

from mahrem.check import extra
from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.files import StageFolder
from mahrem.table.cells import EXACT, as_text, whole_numbers
from mahrem.table.cells.alone import text_alone
from mahrem.table.reading import NESTED, PolarsSource, Reading, Source
from mahrem.words import Note

_MOST_WORDS = 1_000  # of a column that is written as codes; more are text
_BLOCK = 1 << 20
_CALENDAR = date(1583, 1, 1)  # before it the packages and the ISO calendar count days differently


@dataclass(frozen=True, kw_only=True)
class StatisticsFiles:
    """Files of one package.

    Attributes:
        package: What people call it.
        ending: Of its files; what the library calls them.
        name: What a column may be called.
        name_bytes: How long that may be.
        text_bytes: How long a text may be.
        word_bytes: How long a word that stands for a code may be; None where files hold no words.
        finest: Microseconds that a moment can be told by.
        reach: The least and the largest size of a number that is not zero.
    """

    package: str
    ending: str
    name: str
    name_bytes: int
    text_bytes: int
    word_bytes: int | None
    finest: int
    reach: tuple[float, float]

    def open(self, path: Path, reading: Reading) -> Source:
        """Open a file.

        Guarantees:
            - Values that the file declares as missing are missing.
            - A column in which every value has a word of its own is read as the words; of one in which
              only some have, the numbers count, and a note says so.
            - Read cell by cell, a value that has a word is the word, whatever the others are.
        """
        label = f"{self.package} file {path.name!r}"
        frame, words, labels = self._load(path, label)
        column_words = {name: words[name] for name in frame.columns if name in words}
        if reading.by_cell:
            frame = frame.with_columns(_each_word(frame[name], known) for name, known in column_words.items())
            return self._labelled(PolarsSource.held(frame, label, reading), labels)
        frame = pl.DataFrame([whole_numbers(column) for column in frame.get_columns()])
        worded = {name: _all_words(frame[name], known) for name, known in column_words.items()}
        frame = frame.with_columns(column for column in worded.values() if column is not None)
        source = self._labelled(PolarsSource.held(frame, label, reading), labels)
        left = [
            name
            for name, column in worded.items()
            if column is None and _some_words(frame[name], column_words[name])
        ]
        if left:
            source.notes = (Note("warning.words_among_numbers", {"columns": ", ".join(left)}),)
        return source

    def write(self, frame: pl.DataFrame, stream: BinaryIO, folder: Path) -> None:
        """Write a table; text that few words make up becomes codes with words."""
        self.write_labelled(frame, stream, folder, {})

    def write_labelled(
        self, frame: pl.DataFrame, stream: BinaryIO, folder: Path, labels: Mapping[str, str]
    ) -> None:
        """Write a table whose columns are told in words.

        Guarantees:
            - Reading the file back gives the same numbers, days, moments and texts, blanks at the end of a
              text excepted. What the package cannot hold is written as text.
            - Words are those of the table that is written, in alphabetical order.
        """
        columns: list[pl.Series] = []
        words: dict[str, dict[int | float, str]] = {}
        for column in self.as_held(frame).get_columns():
            kept = column
            known = self._words(kept) if kept.dtype == pl.String else []
            if known:
                codes = {word: code for code, word in enumerate(known, 1)}
                kept = kept.replace_strict(codes, default=None, return_dtype=pl.Int32)
                words[column.name] = {code: word for word, code in codes.items()}
            columns.append(kept.fill_null("") if kept.dtype == pl.String else kept)
        about = {name: text for name, text in labels.items() if name in frame.columns}
        settings: dict[str, object] = {"column_labels": about} if about else {}
        settings |= {"variable_value_labels": words} if words else {}
        with StageFolder(folder) as waiting:  # the library writes to paths alone
            path = waiting.path / f"data.{self.ending}"
            path.touch(mode=0o600)
            self._save(pl.DataFrame(columns), path, settings)
            with path.open("rb") as written:
                while block := written.read(_BLOCK):
                    stream.write(block)

    def as_held(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Give a table as the package holds it: columns with a cell that it cannot hold are text.

        Raises:
            InvalidParameter: If a column has a name or cells that are nothing to the package.
        """
        self._refuse(frame)
        return pl.DataFrame([self._cells(column) for column in frame.get_columns()])

    def write_parts(self, parts: Iterator[pl.DataFrame], stream: BinaryIO, folder: Path) -> int:
        """Hold all parts: codes are given to the words of all of them."""
        whole = pl.concat(parts)
        self.write(whole, stream, folder)
        return whole.height

    def read_back(self, path: Path, columns: Sequence[str]) -> tuple[list[str], pl.LazyFrame]:  # noqa: ARG002 - it names them
        """Read header and cells, words instead of codes."""
        frame, words, _ = self._load(path, f"{self.package} file {path.name!r}")
        texts = frame.with_columns(_each_word(frame[name], known) for name, known in words.items())
        shown = [whole_numbers(_present(column)) for column in texts.get_columns()]
        return frame.columns, pl.DataFrame(shown).lazy()

    def _load(self, path: Path, label: str) -> tuple[pl.DataFrame, _Words, dict[str, str]]:
        """Read cells as they are, the words of codes, and what columns are called in words."""
        read = getattr(_library(f"reading {self.package}"), _READERS[self.ending])
        try:
            frame, about = read(path, output_format="polars")
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it raises may quote a cell
            raise InvalidInput(
                f"{label} is broken or of another kind ({type(error).__name__}); is its ending right?"
            ) from None
        labels = {name: text for name, text in about.column_names_to_labels.items() if text}
        return frame, about.variable_value_labels, labels

    def _save(self, frame: pl.DataFrame, path: Path, settings: Mapping[str, object]) -> None:
        library = _library(f"writing {self.package}")
        try:
            getattr(library, _WRITERS[self.ending])(frame, path, **settings)
            # On a full disk it may say nothing, and leave a file that ends too soon.
            read = getattr(library, _READERS[self.ending])
            written = read(path, usecols=frame.columns[:1], output_format="polars")[0].height
        except library.ReadstatError as error:  # its message may quote a cell
            raise OSError(f"the {self.package} file could not be written ({type(error).__name__})") from None
        if written != frame.height:
            raise OSError(f"the {self.package} file could not be written: no room for all rows")

    @staticmethod
    def _labelled(source: PolarsSource, labels: Mapping[str, str]) -> PolarsSource:
        source.labels = labels
        return source

    def _refuse(self, frame: pl.DataFrame) -> None:
        for name, dtype in frame.schema.items():
            if isinstance(dtype, NESTED) or dtype in (pl.Object, pl.Binary):
                raise InvalidParameter(
                    f"column={name!r} holds {dtype.base_type()} values, which {self.package} cannot; "
                    f"drop it or write Parquet"
                )
            if not re.fullmatch(self.name, name) or len(name.encode()) > self.name_bytes:
                raise InvalidParameter(
                    f"column={name!r} cannot be a name in {self.package}: a letter, then letters, digits and "
                    f"underscores, {self.name_bytes} bytes at the most; rename it or write Parquet"
                )

    def _cells(self, column: pl.Series) -> pl.Series:
        """Give values that the package can hold as they are, all others as text."""
        if column.dtype.is_float():
            column = column.fill_nan(None)
        if not self._holds(column):
            column = as_text(column)
        if column.dtype != pl.String:
            return column.cast(pl.Float64) if column.dtype == pl.Float32 else column
        if int(cast("int | None", column.str.len_bytes().max()) or 0) > self.text_bytes:
            raise InvalidParameter(
                f"column={column.name!r} holds a text of more than {self.text_bytes:,} bytes, which "
                f"{self.package} cannot; drop it or write Parquet"
            )
        return column

    def _holds(self, column: pl.Series) -> bool:
        held = column.drop_nulls()
        if column.dtype.is_integer():
            return bool((held.cast(pl.Float64).abs() <= EXACT).all())
        if column.dtype.is_float():
            return bool(((held == 0) | held.abs().is_between(*self.reach)).all())
        if column.dtype == pl.Date:
            return bool((held >= _CALENDAR).all())
        if isinstance(column.dtype, pl.Datetime):
            zoned = column.dtype.time_zone is not None
            return not zoned and bool(
                ((held.dt.date() >= _CALENDAR) & (held.dt.microsecond() % self.finest == 0)).all()
            )
        if column.dtype == pl.Time:
            return bool((held.dt.nanosecond() == 0).all())
        return column.dtype == pl.String

    def _words(self, column: pl.Series) -> list[str]:
        """Give the words that codes can stand for, or none if there are too many or too long ones."""
        if self.word_bytes is None:
            return []
        words = column.drop_nulls().unique().sort()
        words = words.filter(words != "")
        short = words.len() <= _MOST_WORDS and bool((words.str.len_bytes() <= self.word_bytes).all())
        return words.to_list() if short else []


_Words = dict[str, dict[float | str, str]]
_READERS = {"sav": "read_sav", "dta": "read_dta", "xpt": "read_xport", "sas7bdat": "read_sas7bdat"}
_WRITERS = {"sav": "write_sav", "dta": "write_dta", "xpt": "write_xport"}

SPSS = StatisticsFiles(
    package="SPSS",
    ending="sav",
    name=r"[^\W\d_][\w.]*\w|[^\W\d_]",
    name_bytes=64,
    text_bytes=32_767,
    word_bytes=120,
    finest=1_000_000,
    reach=(5e-324, 1e308),
)
STATA = StatisticsFiles(
    package="Stata",
    ending="dta",
    name=r"[A-Za-z_]\w*",
    name_bytes=32,
    text_bytes=2_045,
    word_bytes=32_000,
    finest=1_000,
    reach=(5e-324, 8.9e307),
)
SAS_TRANSPORT = StatisticsFiles(
    package="SAS transport",
    ending="xpt",
    name=r"[A-Za-z_][A-Za-z0-9_]*",
    name_bytes=32,
    text_bytes=32_767,
    word_bytes=None,
    finest=1_000_000,
    reach=(1e-70, 1e70),
)
SAS = replace(SAS_TRANSPORT, package="SAS", ending="sas7bdat")


def _library(needed_for: str) -> ModuleType:
    try:
        import pyreadstat
    except ImportError as error:
        raise extra("survey", needed_for=needed_for) from error
    return pyreadstat


def _present(column: pl.Series) -> pl.Series:
    """Give a column in which empty text is missing, as the packages know no other."""
    return column.set(column == "", None) if column.dtype == pl.String else column


def _each_word(column: pl.Series, words: Mapping[float | str, str]) -> pl.Series:
    """Write each value as its word, or as itself where it has none; others in the column decide nothing."""
    codes = _one_by_one(pl.Series("code", list(words), dtype=column.dtype, strict=False))
    known = dict(zip(codes, words.values(), strict=True))
    return _one_by_one(column).replace(known)


def _one_by_one(column: pl.Series) -> pl.Series:
    return column.to_frame().select(text_alone(column.name, column.dtype)).to_series()


def _all_words(column: pl.Series, words: Mapping[float | str, str]) -> pl.Series | None:
    """Give words instead of codes if every value has one of its own."""
    values = column.drop_nulls().unique()
    if column.dtype == pl.String:
        values = values.filter(values != "")
    known = {_as_key(value): word for value, word in words.items()}
    shown = [known.get(_as_key(value)) for value in values]
    if not shown or None in shown or len(set(shown)) < len(shown):
        return None
    return _each_word(column, words)


def _some_words(column: pl.Series, words: Mapping[float | str, str]) -> bool:
    known = {_as_key(value) for value in words}
    return any(_as_key(value) in known for value in column.drop_nulls().unique())


def _as_key(value: object) -> object:
    return float(value) if isinstance(value, int | float) else value
