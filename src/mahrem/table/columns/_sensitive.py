"""Sensitive columns as codes: one for each value that a reader tells apart."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mahrem.table._schema import Column, Kind
from mahrem.table.cells import as_text, read_ranges, with_point
from mahrem.table.columns._axis import Moments, Numbers, Values
from mahrem.table.columns._encode import moment_places, number_places, ordinal_places, sorted_places
from mahrem.types import Codes, Integers, Mask, Positions

if TYPE_CHECKING:
    from mahrem.table.hierarchies import Hierarchy


_UNSEEN = r"[\p{Default_Ignorable_Code_Point}\p{Cf}]|[\p{Cc}--\s]"  # zero-width, soft hyphens, bidi marks
_BLANK = r"[\s\x{2800}]+"  # the braille blank looks like one
_QUOTE = r"[\x{27}\x{22}\x{60}\x{B4}\x{2018}-\x{201F}\x{2032}\x{2033}\x{AB}\x{BB}\x{2039}\x{203A}]"
_AROUND = rf"^(?:{_QUOTE}|[\s(\[{{])+|(?:{_QUOTE}|[\s.,;:!?)\]}}])+$"
_DASH = r"[\p{Pd}\x{2212}]"
_SLASH = r"[\x{2044}\x{2215}]"  # of fractions: a half sign has one inside
_DOTTED_I = r"i\x{307}+"  # what a capital I with a dot becomes in small letters
_NUMBER = r"^[+-]?[0-9]+(?:\.[0-9]+)?$"
# After folding: signs that say nothing (one + or - may be a finding), and words for it.
# Signs inside words that people write or leave out; a minus before a number is none of them.
_SIGN = r"(?:\s*[\-_/.,]\s+|\s+|[\-_/.,])"
_INSIDE = rf"(\p{{L}}){_SIGN}([\p{{L}}\p{{N}}])", rf"(\p{{N}}){_SIGN}(\p{{L}})"  # 1.5 is not 15
_CODE = r"^(\p{L}\p{N}{2})\.(\p{N}+\p{L}?)$"  # of diseases: J45.0 is J450
_BEHIND = r"([\p{L}\p{N}])\s+([+\-]+)$"
_FIGURES = r"^[\p{N}\s+\-_/.,]*$"  # 1-2, 1.2 and 12 are different figures
_BETWEEN = r"(\p{N})\s*([\-_/.,])\s*(\p{N})"  # 1 - 2 is 1-2
_CLOCK = (
    r"^(\d{1,2}:\d{2}:\d{2})\.0+$",
    r"^0?(\d{1,2}:\d{2})(?::00)?$",
    r"^0(\d:\d{2}:)",
)  # 09:30:00 is 9:30
_NO_VALUE = r"^(?:[[\p{P}\s\x{2217}]--[\-]]*|--+|#?n/?a|<n/?a>|nan|null|\\n)$"

# Small letters and digits of other scripts, and the Latin ones they are taken for; micro is not milli.
_ALIKE = dict(
    zip(
        "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢȷавекмнорстухіјѕһԁԛԝѵαβεζηικνορςτυχı٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹",
        "abcdefghijklmnoprstuvwyzjabekmhopctyxijshdqwvabezhikvop\u03c3tyxi01234567890123456789",
        strict=True,
    )
)
# Words for yes and no, and words that say as little as an empty cell, without blanks and accents.
_SAME = {
    **dict.fromkeys(("true", "yes", "on", "ja", "wahr", "evet", "dogru", "y", "t"), "1"),
    **dict.fromkeys(("false", "no", "off", "nein", "falsch", "hayir", "yanlis", "n", "f"), "0"),
}
_UNKNOWN = (
    *("unknown", "unk", "missing", "notknown", "notavailable", "notstated", "notrecorded", "undisclosed"),
    *("none", "nk", "na"),
    *(
        "unbekannt",
        "fehlend",
        "keineangabe",
        "ka",
        "nichtbekannt",
        "bilinmiyor",
        "bilinmeyen",
        "belirtilmemis",
    ),
)


_NOTHING = rf"^(?:{'|'.join(_UNKNOWN)})+$"  # one after the other, too: unknown/missing
# Letters that have no accent to leave out, and what is written where they are not at hand.
_STROKED = {"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ŧ": "t", "æ": "ae", "œ": "oe"}


def encode_sensitive(series: pl.Series, column: Column, *, decimal: str | None = None) -> Values:
    """Number the values of a sensitive column in the column's own order; no value is the last one.

    Spellings that a reader takes for one value get one code (:func:`fold_spellings`), and what shows no
    value (missing, empty, stars) is missing.

    Args:
        series: The column, typed or as text; null is missing.
        column: Its kind, and its order or hierarchy where it has one.
        decimal: The sign before a number's fraction in text, where it is not a point.

    Guarantees:
        - Codes are ``0 .. size-1``; every code occurs (of ordinals: every declared value has one).
        - Codes ascend with the number, the date, the declared order, the tree, or the text; published ranges
          with their ends.
        - Two spellings of one value never have two codes.
        - Where two values may be one to a reader (:func:`fold_alike`), ``alike`` says so.

    Example:
        >>> from mahrem.table import Role
        >>> cost = Column(name="cost", role=Role.SENSITIVE, kind=Kind.NUMERIC)
        >>> encode_sensitive(pl.Series("cost", [10, None, 9]), cost).codes.tolist()
        [1, 2, 0]
        >>> disease = Column(name="disease", role=Role.SENSITIVE, kind=Kind.CATEGORICAL)
        >>> encode_sensitive(pl.Series("disease", ["flu", "HIV", "hiv ", "*"]), disease).codes.tolist()
        [1, 0, 0, 2]
    """
    if column.hierarchy is not None:
        leaves = column.hierarchy.codes(_without_stars(as_text(series)))
        return _sensitive_leaves(column.name, leaves, column.hierarchy)
    if column.kind is Kind.ORDINAL:
        return _sensitive_ordinals(series, column)
    if not column.words and (ranges := _sensitive_ranges(series, column.name, decimal)) is not None:
        return ranges
    if column.kind in (Kind.CATEGORICAL, Kind.CODE):
        labels, places = sorted_places(as_text(series))
        return _sensitive_words(column, places, labels)
    shown = _without_stars(series)
    if column.kind is Kind.NUMERIC:
        return _sensitive_ranks(column.name, *number_places(shown, column.name, decimal))
    return _sensitive_ranks(column.name, *moment_places(shown, column.name))


def _sensitive_ranges(series: pl.Series, name: str, decimal: str | None) -> Values | None:
    """Number numbers or dates that were made coarser by their ends; None where a cell is something else."""
    text = series.cast(pl.String) if isinstance(series.dtype, pl.Categorical | pl.Enum) else series
    if text.dtype != pl.String or not text.str.starts_with("[").any():
        return None
    labels, places = sorted_places(_without_stars(text))
    low, high = read_ranges(with_point(labels, decimal))
    if np.isnan(low).any():
        return None
    ends, number = np.unique(np.column_stack([low, high]), axis=0, return_inverse=True)
    missing = np.isnan(places)
    codes = number.reshape(-1)[np.where(missing, 0, places).astype(np.int64)].astype(np.int32)
    return _with_missing(name, codes, len(ends), missing, joined=len(ends) < len(labels))


def _with_missing(name: str, codes: Codes, size: int, missing: Mask, *, joined: bool = False) -> Values:
    """Give cells without a value the last code."""
    codes[missing] = size
    any_missing = bool(missing.any())
    return Values(name, codes, size + any_missing, missing=any_missing, joined=joined)


def _without_stars(series: pl.Series) -> pl.Series:
    """Take out what is no number and no date because it shows nothing."""
    text = series.cast(pl.String) if isinstance(series.dtype, pl.Categorical | pl.Enum) else series
    if text.dtype != pl.String:
        return series
    return text.set(is_no_value(text), None)


def _sensitive_words(column: Column, places: Positions, labels: pl.Series) -> Values:
    """Number words in the order of the first spelling of each."""
    number, forms, joined = _folded(labels, numbers=not column.words)
    codes = np.append(number, -1)[np.where(np.isnan(places), -1, places).astype(np.int64)]
    values = _with_missing(column.name, codes.astype(np.int32), len(forms), codes < 0, joined=joined)
    return _with_alike(values, forms)


def _with_alike(values: Values, forms: pl.Series) -> Values:
    """Number values once more as they may be read: some as one, some as none."""
    alike = fold_alike(forms)
    first = alike.rank("dense").cast(pl.Int64) - 1
    if alike.null_count() == 0 and alike.n_unique() == len(forms):
        return values
    numbers = first.fill_null(-1).to_numpy()
    return replace(values, alike=np.append(numbers, -1) if values.missing else numbers, joined=True)


def _sensitive_ordinals(series: pl.Series, column: Column) -> Values:
    """Number words by the place of their declared spelling."""
    order = fold_spellings(pl.Series(column.order or (), dtype=pl.String))
    text = as_text(series)
    labels, places = sorted_places(text)
    folded = fold_spellings(labels)
    known = replace(column, order=tuple(order.drop_nulls().to_list()) or None)
    by_label, domain = ordinal_places(folded, known)
    codes = np.append(by_label, np.nan)[np.where(np.isnan(places), -1, places).astype(np.int64)]
    missing = np.isnan(codes)
    joined = folded.drop_nulls().n_unique() < len(folded.drop_nulls())
    return _with_missing(
        column.name, np.where(missing, 0, codes).astype(np.int32), len(domain.labels), missing, joined=joined
    )


def _folded(labels: pl.Series, *, numbers: bool = True) -> tuple[Integers, pl.Series, bool]:
    """Number distinct spellings, -1 for no value; equal ones share the place of the first. Forms, too."""
    folded = fold_spellings(labels, numbers=numbers)
    first = pl.DataFrame({"form": folded, "place": np.arange(len(labels))}).select(
        pl.when(pl.col("form").is_not_null()).then(pl.col("place").min().over("form"))
    )
    rank = first.to_series().rank("dense").cast(pl.Int64).fill_null(0).to_numpy() - 1
    forms = folded.drop_nulls().unique(maintain_order=True)
    return rank, forms, len(forms) < len(folded) - folded.null_count()


def _sensitive_ranks(name: str, positions: Positions, domain: Numbers | Moments) -> Values:
    """Number distinct positions from the lowest up."""
    missing = np.isnan(positions)
    width = domain.high - domain.low
    if (isinstance(domain, Moments) or domain.whole) and width <= 4 * len(positions):
        # counting beats sorting
        steps = np.where(missing, 0, positions - domain.low).astype(np.int64)
        seen = np.zeros(int(width) + 1, np.int64)
        seen[steps[~missing]] = 1
        return _with_missing(name, (np.cumsum(seen) - 1)[steps].astype(np.int32), int(seen.sum()), missing)
    distinct, inverse = np.unique(positions, return_inverse=True)  # all NaN are one, and the last
    return _with_missing(name, inverse.astype(np.int32), len(distinct) - bool(missing.any()), missing)


def _sensitive_leaves(name: str, leaves: Integers, hierarchy: Hierarchy) -> Values:
    """Number the leaves that occur in the order of the tree; missing gets its own branch below the root."""
    present, inverse = np.unique(leaves, return_inverse=True)
    known = present[present >= 0]
    number, forms, joined = _folded(pl.Series(hierarchy.labels[0], dtype=pl.String).gather(known))
    first = np.zeros(len(forms), np.int64)
    counted = number >= 0
    first[number[counted][::-1]] = known[counted][::-1]  # the first spelling of each is written last
    codes = np.append(number, -1)[np.where(leaves < 0, -1, inverse - (len(present) - len(known)))]
    values = _with_missing(name, codes.astype(np.int32), len(forms), codes < 0, joined=joined)
    ancestors = hierarchy.nodes[:, first]
    if values.missing:
        branch = np.array([len(level) for level in hierarchy.labels], np.int64)  # a node nobody else has
        branch[-1] = 0  # the root is everyone's
        ancestors = np.column_stack([ancestors, branch])
    return _with_alike(replace(values, ancestors=ancestors), forms)


def fold_alike(forms: pl.Series) -> pl.Series:
    """Give folded spellings (:func:`fold_spellings`) the form that a reader may take them for.

    Accents, strokes through letters, blanks and signs inside words, blanks before a last sign and around
    signs between figures, seconds that are nought, and the point of a code (``j45.0``) are left out; yes and
    no are 1 and 0 in any words; words that say that nothing is known are null. Two values of one form may
    still be two: ``schwül`` is not ``schwul``.

    Guarantees:
        - Signs before or behind (``hiv+``, ``-5``) and those between figures (``stage 1.5``) stay.

    Example:
        >>> fold_alike(pl.Series(["café", "cafe", "type 1", "type1", "true"])).to_list()
        ['cafe', 'cafe', 'type1', 'type1', '1']
        >>> fold_alike(pl.Series(["unknown", "stage 1.5", "hiv -"])).to_list()
        [None, 'stage1.5', 'hiv-']
    """
    bare = pl.col("form").str.normalize("NFKD").str.replace_all(r"\p{M}", "").str.replace_many(_STROKED)
    whole = bare.str.replace(_BEHIND, "${1}${2}").str.replace(_CODE, "${1}${2}")
    for inside in 2 * _INSIDE:  # signs may be near
        whole = whole.str.replace_all(inside, "${1}${2}")
    for clock in _CLOCK:
        whole = whole.str.replace(clock, "${1}")
    figures = bare
    for _ in range(2):
        figures = figures.str.replace_all(_BETWEEN, "${1}${2}${3}")
    plain = pl.when(bare.str.contains(_FIGURES)).then(figures).otherwise(whole)
    table = forms.to_frame("form").select(plain.alias("form"))
    meant = pl.col("form").replace(_SAME)
    return table.select(pl.when(~meant.str.contains(_NOTHING)).then(meant).alias(forms.name)).to_series()


def fold_spellings(text: pl.Series, *, numbers: bool = True) -> pl.Series:
    r"""Give each spelling the form in which it is compared; null where it is no value at all.

    Folded are: compatible characters (full width, ligatures, NFC and NFD), capitals (with and without the
    Turkish dot), white space, what cannot be seen, dashes, slashes, quotes and brackets around, dots behind,
    small capitals, Cyrillic and Greek letters that look like Latin ones, and zeros that change no number.
    Words that only mean the same, and what may be the same (:func:`fold_alike`), stay apart. Only different
    spellings should come here: a table has far fewer of them than rows.

    Args:
        text: Different spellings.
        numbers: Whether equal numbers are one value; not where somebody said that they are words.

    Guarantees:
        - The same spelling always gets the same form, whatever else is in the column.
        - Stars, blanks, brackets around nothing, other marks alone (but one ``+`` or ``-``), and words for
          nothing (``NA``, ``null``, ``\\N``) are null.

    Example:
        >>> fold_spellings(pl.Series(["hiv", "HIV ", "h\u200biv", "01.50", "*", " "])).to_list()
        ['hiv', 'hiv', 'hiv', '1.5', None, None]
    """
    cells = pl.col("cell")
    plain = cells.str.normalize("NFKC").str.replace_all(_UNSEEN, "").str.replace_all(_BLANK, " ")
    # Through capitals: ß is SS there, and the last sigma is like the others.
    small = plain.str.to_lowercase().str.to_uppercase().str.to_lowercase().str.normalize("NFKC")
    alike = small.str.replace_many(_ALIKE).str.replace_all(_DOTTED_I, "i").str.normalize("NFKC")
    dashed = alike.str.replace_all(_DASH, "-").str.replace_all(_SLASH, "/")
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
