"""Numbers and dates in cells of text, in the one spelling that everybody downstream reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from mahrem import check
from mahrem.errors import InvalidParameter, spelled
from mahrem.table._schema import EVERY
from mahrem.table.cells import (
    CURRENCY,
    THOUSANDS,
    dates_of_format,
    is_date_format,
    moments_of_text,
    number_signs,
    numbers_of_text,
    plain_numbers,
    usual_dates,
)

LOOKED_AT = 200  # cells that rule out most columns
_NUMBER_LIKE = rf"^\s*\(?[+-]?\s?{CURRENCY}?\s?[+-]?[0-9]"
_DATE_LIKE = r"[0-9]{4}|[0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{2}"


@dataclass(frozen=True, kw_only=True)
class Spelling:
    """How numbers and dates are written in cells of text; what is not said is found out.

    Attributes:
        decimal: The sign before a number's fraction.
        thousands: The sign between a number's thousands: point, comma, blank or apostrophe.
        date_format: By column, or for all under ``*``, in the signs of ``strptime``.
        verbatim: Columns whose cells are words or codes whatever they look like.
    """

    decimal: str | None = None
    thousands: str | None = None
    date_format: Mapping[str, str] = field(default_factory=dict)
    verbatim: frozenset[str] = frozenset()

    def leaves(self, name: str) -> bool:
        """Say whether the cells of a column are left as they are, whatever they look like."""
        return name in self.verbatim or name.strip() in self.verbatim

    def format_of(self, name: str) -> str | None:
        """Give the format of a column that was said of it alone."""
        return self.date_format.get(name, self.date_format.get(name.strip()))

    def __post_init__(self) -> None:
        if self.thousands is not None:
            check.one_of(tuple(THOUSANDS), thousands=self.thousands)
            if self.thousands == self.decimal:
                raise InvalidParameter(
                    f"thousands={self.thousands!r} and decimal={self.decimal!r} are one sign; say two"
                )
        for name, form in self.date_format.items():
            if not is_date_format(form):
                where = "date_format" if name == EVERY else f"date_format.{name}"
                raise InvalidParameter(
                    f"{where}={form!r} must say where day, month and year stand, as in %d/%m/%Y or %m-%d-%y"
                )


@dataclass(frozen=True)
class PlainTexts:
    """What is written in a column, each text once, and how it is read: ISO dates, numbers without groups."""

    written: pl.Series = field(repr=False)
    read: pl.Series = field(repr=False)


def may_be_respelled(some: pl.Series) -> bool:
    """Say whether the first cells of a column leave open that all are numbers or dates of some spelling."""
    present = some.drop_nulls()
    if not len(present):
        return True
    return bool(present.str.contains(_NUMBER_LIKE).all() or present.str.contains(_DATE_LIKE).all())


def plain_texts(column: pl.Series, spelling: Spelling, first: pl.Series | None = None) -> PlainTexts | None:
    """Give how the cells of a column are to be read; None where they are plain already, or no such values.

    Args:
        column: Text as it came; null is missing.
        spelling: What was said about it.
        first: The first cells, where the column has each text only once; else its own.

    Guarantees:
        - All cells are read, or none; each as one number or date, the same whatever else the table holds.
        - What could be read in two ways is left as it is, unless somebody said which is meant.
    """
    own_format = spelling.format_of(column.name)
    if own_format is None and not may_be_respelled(column.head(LOOKED_AT) if first is None else first):
        return None
    usual = spelling.date_format.get(EVERY)
    if own_format is None and usual is None and spelling.thousands is None:
        plain = numbers_of_text(column, decimal=spelling.decimal)
        if plain.null_count() == column.null_count():
            return None  # most columns, and the rest costs more
    texts = column.drop_nulls().unique()
    if own_format is not None:
        read = _dates(texts, own_format)
        if read is None and len(texts):
            raise InvalidParameter(
                f"date_format.{column.name}={own_format!r} must fit all of its values, and does not; "
                f"say another one, or {spelled('null', 'TOKEN')} for missing values"
            )
    else:
        read = None if usual is None else _dates(texts, usual)
        read = _dates(texts, None) if read is None else read
        read = _numbers(texts, spelling) if read is None else read
    return None if read is None else PlainTexts(texts, read)


def _numbers(texts: pl.Series, spelling: Spelling) -> pl.Series | None:
    signs = number_signs(texts, decimal=spelling.decimal, thousands=spelling.thousands)
    return plain_numbers(texts, signs[0], spelling.decimal) if len(signs) == 1 else None


def _dates(texts: pl.Series, form: str | None) -> pl.Series | None:
    if not len(texts):
        return None
    if form is None and moments_of_text(texts).null_count() == 0:
        return None
    read = usual_dates(texts) if form is None else dates_of_format(texts, form)
    return None if read.null_count() else read
