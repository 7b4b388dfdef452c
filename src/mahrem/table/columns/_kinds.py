"""What kind of values a column holds, judged by all of them."""

from __future__ import annotations

import polars as pl

from mahrem.errors import InvalidInput, spelled
from mahrem.table._schema import Kind
from mahrem.table.cells import EXACT, look_like_dates, moments_of_text, number_signs, numbers_of_text

_GLANCE = 200  # values that rule out most columns of words
_LEADING_ZERO = r"^[ \t]*0[0-9]+[ \t]*$"  # 06100: a number would lose its first digit
_DATE_LIKE = r"^\s*([0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4})"


def infer_kind(series: pl.Series, *, decimal: str | None = None) -> Kind:
    """Say what the values of a column are, looking at every one of them.

    Args:
        series: A typed column, or text as a file gives it; null is missing.
        decimal: The sign before a number's fraction, where it is not a point.

    Guarantees:
        - Text is numeric only if every value reads as a number and none begins with a zero like ``06100``.
        - Text is a date only if every value is an ISO day or date-time, or a day-first dotted day.
        - Ordinals are never guessed: an order has to be declared.

    Example:
        >>> infer_kind(pl.Series(["06100", "34000"])), infer_kind(pl.Series(["1", " 2.5"]))
        (<Kind.CODE: 'code'>, <Kind.NUMERIC: 'numeric'>)
    """
    return read_kind(series, decimal=decimal)[0]


def read_kind(series: pl.Series, *, decimal: str | None = None) -> tuple[Kind, pl.Series]:
    """Infer the kind of a column and give the column as read on the way, so that nobody reads it twice.

    Text that turns out to be numbers or dates comes back as such, unless that could blur a value.
    """
    kind = series.dtype
    if kind.is_numeric():
        return Kind.NUMERIC, series
    if kind in (pl.Date, pl.Datetime):
        return Kind.DATE, series
    if kind == pl.String:
        return _read_text(series, decimal)
    return Kind.CATEGORICAL, series


def _read_text(text: pl.Series, decimal: str | None) -> tuple[Kind, pl.Series]:
    present = len(text) - text.null_count()
    if present == 0:
        return Kind.CATEGORICAL, text
    probe = text.slice(text.is_not_null().arg_max() or 0, 1)  # one value finds out most columns of words
    if numbers_of_text(probe, decimal=decimal).null_count() == 0:
        numbers = numbers_of_text(text, decimal=decimal)
        if len(numbers) - numbers.null_count() == present and numbers.is_finite().any():
            suspects = text.filter((text < "1") & (text.str.len_bytes() > 1))  # what begins with 0 or a blank
            if suspects.str.contains(_LEADING_ZERO).any():
                return Kind.CODE, text
            return Kind.NUMERIC, numbers if (numbers.abs() < EXACT).all() else text
    if probe.str.contains(_DATE_LIKE).all():
        moments = moments_of_text(text)
        if len(moments) - moments.null_count() == present:
            return Kind.DATE, moments
    return Kind.CATEGORICAL, text


def refuse_lookalikes(series: pl.Series, *, decimal: str | None = None) -> None:
    """Refuse text that is meant as numbers or dates, but that nobody can read without being told how.

    As words, every one of its values would be published as it is.
    """
    if series.dtype != pl.String:
        return
    texts = series.drop_nulls()
    some = texts.head(_GLANCE)
    if not len(some) or not some.str.contains("[0-9]").any():
        return
    name, texts = series.name, texts.unique()
    words = spelled("kind", {name: "categorical"})
    if number_signs(texts, decimal=decimal):
        raise InvalidInput(
            f"column={name!r} holds numbers whose comma or point may stand before thousands or a fraction; "
            f"say which: {spelled('thousands', ',')} or {spelled('decimal', ',')}; {words} if they are words"
        )
    dates = int(look_like_dates(texts).sum())
    if 2 * dates >= len(texts):
        raise InvalidInput(
            f"column={name!r}: {dates} of {len(texts)} different values look like dates, but not all can be "
            f"read, or day and month could change places; say how they are written: "
            f"{spelled('date_format', {name: '%d/%m/%Y'})} (%d day, %m month), "
            f"{spelled('null', 'TOKEN')} for missing values, or {words} if they are words"
        )
