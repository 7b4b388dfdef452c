"""Values that repeat although chance would hardly let them: each is somebody's own, seen several times.

Who draws numbers or codes from a large space hardly draws one twice. Where values come several times, about
equally often, and fill next to nothing of the space their writing spans, rows that share one belong together.
Categories are none of this: some are far more frequent than others, or they are words.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from mahrem.contents._distinct import contains, portion
from mahrem.types import Floats, Integers

MANY = 20  # different values
ONCE = 1.4  # rows that share a value, on average: fewer repeat nothing
CROWD = 200  # rows that share a value, on average: more are a category
EVENLY = 8.0  # times as often as usual that frequent values may come
FAVOURED = 4.0  # times as many rows as usual have even the third of the most frequent values
FAVOURITES = 0.1  # of the rows have one of these three
SPARSE = 32  # times as many values as there are could have been written
LOOKED_AT = 400  # values whose writing is measured
SIGNS = 32  # of a value
DIGITS = 1.5  # on average, from which on words and digits are a code
EXACT = 2.0**53  # beyond which floats skip whole numbers
# No word is written so: four consonants, a capital that begins no word, digits and letters in turns.
UNSPOKEN = (
    r"[bcdfghjklmnpqrstvwxzBCDFGHJKLMNPQRSTVWXZ]{4}|[a-z][A-Z](?:[^a-z]|$)|[A-Z][a-z][A-Z]|"
    r"[A-Za-z][0-9]+[A-Za-z]|[0-9][A-Za-z]+[0-9]"
)
COARSE = r"^[\[{(<>]"  # a range, a set, an open end: what many share was written so
UNIT = r"^[-+<>≤≥~]? ?[0-9]+(?:[.,][0-9]+)? ?([^0-9]{1,12})$"  # behind a number
AMOUNT = r"^[-+]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d{3})+,\d+|\d+(?:[.,]\d+)?)$"


def repeats_evenly(counts: Floats | Integers, distinct: int, rows: int) -> bool:
    """Tell whether many values are shared by some rows each, and few by far more than others."""
    if len(counts) < MANY or not ONCE * distinct <= rows <= CROWD * distinct:
        return False
    return bool(np.quantile(counts, 0.95) <= EVENLY * np.median(counts)) and not has_favourites(counts)


def has_favourites(counts: Floats | Integers) -> bool:
    """Tell whether rows choose some values far more often than others, as articles and jobs are chosen.

    A sign for nothing, or a few people with very many rows, are no favourites: others must follow them.

    Example:
        >>> has_favourites(600 / np.arange(2, 152)), has_favourites(np.full(150, 4.0))
        (True, False)
    """
    often = np.sort(counts)[::-1]
    if len(often) < MANY:
        return False
    return all(
        left[2] >= FAVOURED * left.mean() and left[:3].sum() >= FAVOURITES * left.sum()
        for left in (often, often[3:])
    )


def are_sparse_codes(texts: pl.Series, distinct: int) -> bool:
    """Tell whether codes fill next to nothing of what their signs could write; words and numbers are none."""
    some = texts.gather_every(max(1, len(texts) // LOOKED_AT))
    units = some.str.extract(UNIT)
    if portion(contains(some, AMOUNT.replace(r"\d", "[0-9]"))) > 0.1 or (
        units.null_count() < 0.1 * len(some) and units.n_unique() <= 3
    ):
        return False
    if portion(contains(some, COARSE)) > 0.5:
        return False
    random = portion(contains(some, UNSPOKEN)) >= 0.5
    digits = float(some.str.count_matches("[0-9]").to_numpy().mean())
    if digits < DIGITS and not random:
        return False
    bits = (
        _bits(some)
        if random
        else _bits(some.str.replace_all(r"[^0-9]", "")) + _entropy(some.str.replace_all("[0-9]", ""))
    )
    return bool(bits >= np.log2(max(2, distinct) * SPARSE))


def are_sparse_numbers(values: pl.Series, distinct: int) -> bool:
    """Tell whether numbers fill next to nothing of their range, in steps that all of them keep to.

    Example:
        >>> cents = pl.Series([1203.17, 2981.04, 1877.93, 4410.58, 2250.31])
        >>> are_sparse_numbers(cents, 5), are_sparse_numbers(pl.Series(range(20, 80)), 60)
        (True, False)
    """
    if not (values.dtype.is_numeric() or values.dtype == pl.String):
        return False
    texts = values.drop_nulls().cast(pl.String).str.strip_chars()
    if not len(texts) or portion(contains(texts, AMOUNT.replace(r"\d", "[0-9]"))) < 0.95:
        return False
    grouped = (
        texts.str.replace_all(r"[.,]([0-9]{3})\b", "$1") if contains(texts, r",[0-9]{3}\b").any() else texts
    )
    plain = grouped.str.replace(",", ".", literal=True)
    numbers = plain.cast(pl.Float64, strict=False).drop_nulls().to_numpy()
    places = _longest(plain.str.extract(r"\.([0-9]+)$").str.strip_chars_end("0"))
    scaled = numbers * 10.0 ** min(places, 6)
    low, high = np.quantile(scaled, (0.05, 0.95))
    if high - low >= EXACT:
        return True
    whole = np.round(scaled).astype(np.int64)
    step = int(np.gcd.reduce(whole - whole.min()))
    return bool(step > 0 and (high - low) / (0.9 * step) >= SPARSE * distinct)


def _bits(texts: pl.Series) -> float:
    """Add up how freely every place of the values is written; shorter ones are without a sign there."""
    places = range(min(SIGNS, _longest(texts)))
    return float(sum(_entropy(texts.str.slice(place, 1)) for place in places))


def _longest(texts: pl.Series) -> int:
    return int(texts.str.len_chars().drop_nulls().to_numpy().max(initial=0))


def _entropy(values: pl.Series) -> float:
    shares = values.value_counts(name="rows")["rows"].to_numpy() / max(1, len(values))
    return float(-(shares * np.log2(shares)).sum())
