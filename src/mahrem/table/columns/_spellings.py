"""Spellings of one value: what a reader takes for the same word counts once."""

from __future__ import annotations

import polars as pl

_UNSEEN = r"[\p{Default_Ignorable_Code_Point}\p{Cf}]|[\p{Cc}--\s]"  # zero-width, soft hyphens, bidi marks
_BLANK = r"[\s\x{2800}]+"  # the braille blank looks like one
_QUOTE = r"[\x{27}\x{22}\x{60}\x{B4}\x{2018}-\x{201F}\x{2032}\x{2033}\x{AB}\x{BB}\x{2039}\x{203A}]"
_AROUND = rf"^(?:{_QUOTE}|\s)+|(?:{_QUOTE}|[\s.,;:])+$"
_DASH = r"[\p{Pd}\x{2212}]"
_DOTTED_I = r"i\x{307}+"  # what a capital I with a dot becomes in small letters
_NUMBER = r"^[+-]?[0-9]+(?:\.[0-9]+)?$"
_NO_VALUE = r"^(?:\**|\?+|#?n/?a|nan|null)$"  # after folding

# Small letters and digits of other scripts, and the Latin ones they are taken for; micro is not milli.
_ALIKE = dict(
    zip(
        "авекмнорстухіјѕһԁԛԝѵαβεζηικνορςτυχı٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹",
        "abekmhopctyxijshdqwvabezhikvop\u03c3tyxi01234567890123456789",
        strict=True,
    )
)


def fold_spellings(text: pl.Series, *, numbers: bool = True) -> pl.Series:
    r"""Give each spelling the form in which it is compared; null where it is no value at all.

    Folded are: compatible characters (full width, ligatures, NFC and NFD), capitals (with and without the
    Turkish dot), white space, what cannot be seen, dashes, quotes around and dots behind, Cyrillic and Greek
    letters that look like Latin ones, and zeros that do not change a number. Words that only mean the same
    stay apart. Only different spellings should come here: a table has far fewer of them than rows.

    Args:
        text: Different spellings.
        numbers: Whether equal numbers are one value; not where somebody said that they are words.

    Guarantees:
        - The same spelling always gets the same form, whatever else is in the column.
        - Stars, blanks, quotes around nothing, and words for nothing (``NA``, ``null``, ``?``) are null.

    Example:
        >>> fold_spellings(pl.Series(["hiv", "HIV ", "h\u200biv", "01.50", "*", " "])).to_list()
        ['hiv', 'hiv', 'hiv', '1.5', None, None]
    """
    cells = pl.col("cell")
    plain = cells.str.normalize("NFKC").str.replace_all(_UNSEEN, "").str.replace_all(_BLANK, " ")
    # Through capitals: ß is SS there, and the last sigma is like the others.
    small = plain.str.to_lowercase().str.to_uppercase().str.to_lowercase().str.normalize("NFKC")
    alike = small.str.replace_many(_ALIKE).str.replace_all(_DOTTED_I, "i").str.normalize("NFKC")
    dashed = alike.str.replace_all(_DASH, "-")
    bare = text.to_frame("cell").select(dashed.str.replace_all(_AROUND, "").alias(text.name)).to_series()
    folded = _plain_numbers(bare) if numbers else bare
    return folded.set(folded.str.contains(_NO_VALUE).fill_null(value=False), None)


def is_no_value(text: pl.Series) -> pl.Series:
    """Say of numbers and dates in text which are stars or blanks, row by row."""
    return text.str.contains(r"^[\s*]*$").fill_null(value=True)


def _plain_numbers(text: pl.Series) -> pl.Series:
    """Write numbers without a plus, zeros in front and zeros behind: 01.50 is 1.5."""
    numbers = text.str.contains(_NUMBER).fill_null(value=False)
    if not numbers.any():
        return text
    short = text.str.replace(r"^\+", "").str.replace(r"^(-?)0+([0-9])", "${1}${2}")
    fraction = short.str.contains(".", literal=True).fill_null(value=False)
    short = short.zip_with(~fraction, short.str.strip_chars_end("0").str.strip_chars_end("."))
    return short.zip_with(short != "-0", pl.Series(["0"])).zip_with(numbers, text)
