"""Numbers as people write them: thousands apart, a comma before the fraction, a currency beside them."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from mahrem.table.cells._text import numbers_of_text

# Signs that may stand between thousands, and what counts as each: blanks that do not break, bent apostrophes.
THOUSANDS = {".": r"\.", ",": ",", " ": "[ \u00a0\u202f]", "'": "['\u2019]"}
_SHAPE = r"^\s*[+-]?[0-9][0-9.,'\u2019 \u00a0\u202f]*$"
_DECIMALS = (".", ",")
# A currency on either side of the number, a sign on either side of that; brackets are the bookkeeper's minus.
CURRENCY = r"(?:[$€£¥₺₽₹₩₪₴₿]|US\$|USD|EUR|GBP|CHF|TRY|TL|JPY|Fr\.|kr|zł|Kč)"
_GAP = r"[ \u00a0\u202f]?"
_MONEY = (
    rf"^\s*(\()?([+-]?){_GAP}({CURRENCY})?{_GAP}([+-]?)([0-9](?:[0-9.,'\u2019 \u00a0\u202f]*[0-9])?)"
    rf"(?:,-|\.-)?{_GAP}({CURRENCY})?(\))?\s*$"
)


class NumberSigns(NamedTuple):
    """The signs in the numbers of a column."""

    thousands: str | None
    decimal: str


def number_signs(
    texts: pl.Series, *, decimal: str | None = None, thousands: str | None = None
) -> list[NumberSigns]:
    """Give every way in which all texts read as numbers; none where they read plainly, or not at all.

    Args:
        texts: What is written in a column, without missing cells; each text once is enough.
        decimal: The sign before a fraction, where somebody said it.
        thousands: The sign between thousands, where somebody said it.

    Guarantees:
        - Two ways are given only if they read the same texts as other numbers: ``1,234`` alone.
        - One currency beside all of them is passed over; several are words.
        - Codes in groups of three digits, all of one length (``552 100 554``), are no numbers unless a sign
          was said.

    Example:
        >>> number_signs(pl.Series(["1.234,56", "950"]))
        [NumberSigns(thousands='.', decimal=',')]
        >>> len(number_signs(pl.Series(["1,234"]))), number_signs(pl.Series(["1.234"]))
        (2, [])
    """
    bare = without_currency(texts)
    texts, money = (texts, False) if bare is None else (bare, True)
    if not len(texts) or not texts.str.contains(_SHAPE).all():
        return []
    plain = numbers_of_text(texts, decimal=decimal).null_count() == 0
    if plain and (thousands is None or not texts.str.contains(THOUSANDS[thousands]).any()):
        return [NumberSigns(None, decimal or ".")] if money else []
    ways = [
        NumberSigns(between, before)
        for before in (_DECIMALS if decimal is None else (decimal,))
        for between in ((None, *THOUSANDS) if thousands is None else (thousands,))
        if between != before and _fits(texts, between, before, declared=thousands is not None)
    ]
    return ways if len(ways) < 2 or _differ(texts, ways) else ways[:1]


def without_currency(texts: pl.Series) -> pl.Series | None:
    """Give the numbers of amounts that all name one currency, once each; None where they do not.

    Example:
        >>> without_currency(pl.Series(["$1,234.50", "-$2", "($3.00)"])).to_list()
        ['1,234.50', '-2', '-3.00']
        >>> without_currency(pl.Series(["$5", "€5"])) is without_currency(pl.Series(["5"])) is None
        True
    """
    if not len(texts) or not texts.head(1).str.contains(CURRENCY).all():
        return None  # most columns
    parts = texts.str.extract_groups(_MONEY).struct.unnest()
    opened, sign, before, inner, number, after, closed = (parts[name] for name in parts.columns)
    named = before.fill_null("") + after.fill_null("")
    signs = sign.fill_null("") + inner.fill_null("")
    once = (before.is_null() | after.is_null()) & (signs.str.len_chars() <= 1)
    brackets = opened.is_not_null()
    if not (once & (brackets == closed.is_not_null()) & ~(brackets & (signs != ""))).all():
        return None
    if number.null_count() or named.n_unique() != 1 or named[0] == "":
        return None
    minus = pl.select(pl.when(brackets).then(pl.lit("-")).otherwise(signs)).to_series()
    return (minus + number).alias(texts.name)


def plain_numbers(texts: pl.Series, signs: NumberSigns, decimal: str | None) -> pl.Series:
    """Write numbers without signs between thousands, with the decimal sign that was said, else a point."""
    bare = without_currency(texts)
    lean = texts.str.strip_chars() if bare is None else bare
    if signs.thousands is not None:
        lean = lean.str.replace_all(THOUSANDS[signs.thousands], "")
    return lean.str.replace(signs.decimal, decimal or ".", literal=True)


def _fits(texts: pl.Series, between: str | None, before: str, *, declared: bool) -> bool:
    """Say whether all texts are numbers with these signs, and the signs are needed for it."""
    fraction = rf"(?:{THOUSANDS[before]}[0-9]+)?"
    if between is None:
        whole = r"(?:0|[1-9][0-9]*)"
        return bool(texts.str.contains(rf"^\s*[+-]?{whole}{fraction}\s*$").all())
    group = THOUSANDS[between]
    whole = rf"(?:0|[1-9][0-9]*|[1-9][0-9]{{0,2}}(?:{group}[0-9]{{3}})+)"
    if not texts.str.contains(rf"^\s*[+-]?{whole}{fraction}\s*$").all():
        return False
    grouped = texts.str.contains(rf"[0-9]{group}[0-9]{{3}}")
    return bool(grouped.any()) and (declared or not _is_code(texts, between, group))


def _is_code(texts: pl.Series, between: str, group: str) -> bool:
    """Say whether texts are codes in groups: no fraction, all of one length, and no mere thousands."""
    digits = texts.str.count_matches("[0-9]")
    alike = len(texts) > 1 and digits.n_unique() == 1
    if not alike or texts.str.contains(r"[.,][0-9]{1,2}\s*$").any():
        return False
    return between == " " or bool((texts.str.count_matches(group) > 1).all())


def _differ(texts: pl.Series, ways: list[NumberSigns]) -> bool:
    readings = [plain_numbers(texts, way, None).to_list() for way in ways]
    return any(reading != readings[0] for reading in readings)
