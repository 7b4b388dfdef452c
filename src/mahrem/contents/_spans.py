"""Identifiers inside texts that people wrote: found by their writing and by lists, and taken out.

Whoever redacts wants nothing left, so patterns are looser here than those that tell what a column is: any
number long enough to be somebody's goes. What no pattern and no list knows stays.
"""

from __future__ import annotations

import polars as pl

from mahrem.contents._dates import MONTHS
from mahrem.contents._distinct import ascii_digits, fold
from mahrem.contents._people import FAMILY_LIKE, name_lists
from mahrem.contents._phones import WITHIN as PHONE
from mahrem.contents._shapes import MAIL

# Months are listed in plain letters; people write them with their marks.
_MARKED = str.maketrans(
    {"a": "[aä]", "c": "[cç]", "e": "[eé]", "g": "[gğ]", "i": "[iıİ]", "o": "[oö]", "s": "[sş]", "u": "[uüû]"}
)
_MONTH = "(?:" + "|".join(word.translate(_MARKED) for word in sorted(MONTHS, key=len, reverse=True)) + ")"
_LETTERS = r"\p{L}[\p{L}'’\-]*"
_TURKISH_STREET = (
    rf"(?:(?:{_LETTERS}|\d+\.) ){{1,3}}"
    r"(?:(?:Sokak|Sokağı|Cadde|Caddesi|Mahalle|Mahallesi|Bulvarı|Sitesi|Apartmanı)\b|"
    r"(?:Sok|Sk|Cad|Cd|Mah|Mh|Blv|Apt)\b\.?)"
)
_GERMAN_STREET = (
    rf"(?:(?:Am|An der|Im|Auf dem|Zum|Zur|Unter den) (?:{_LETTERS} ?){{1,3}}|(?:{_LETTERS} )?"
    r"[\p{L}\-]*(?:straße|strasse|str\.|weg|allee|platz|gasse|ring|damm|ufer|chaussee|Straße|Str\.|Platz|Allee|Weg))"
)
_ENGLISH_STREET = (
    r"(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Court|Ct|Boulevard|Blvd|Way|Close|Crescent|Terrace|Square|Sq|"
    r"Gardens|Grove|Mews|Place|Pl)\b\.?"
)

_DATE = (
    r"\b[0-9]{4}[\-./][0-9]{1,2}[\-./][0-9]{1,2}\b|\b[0-9]{1,2}[./\-][0-9]{1,2}[./\-][0-9]{2,4}\b|"
    rf"(?i)\b[0-9]{{1,2}}(?:st|nd|rd|th|\.)? ?(?:of )?{_MONTH}\.?,?(?: '?[0-9]{{2,4}})?\b|"
    rf"(?i)\b{_MONTH}\.? [0-9]{{1,2}}(?:st|nd|rd|th)?(?:, ?| )[0-9]{{4}}\b"
)
_ADDRESS = (
    rf"{_TURKISH_STREET}(?:[ ,]*(?:{_TURKISH_STREET}))?"
    r"(?:[ ,]*(?:No|Kat|D|Daire)?[ .:]*[0-9]+[a-zA-Z]?(?:/[0-9]+)?)+|"
    rf"\b{_GERMAN_STREET} ?[0-9]{{1,4}} ?[a-z]?\b|"
    r"\b(?:(?:Flat|Apt|Unit) [0-9]+,? )?[0-9]{1,5}[a-z]? "
    rf"(?:[\p{{L}}0-9'.]+ ){{1,4}}?{_ENGLISH_STREET}(?: Apt [0-9]+)?"
)
_PLATE = (
    r"\b(?:0[1-9]|[1-7][0-9]|8[01])[ \-]?[A-PR-VYZ]{1,3}[ \-]?[0-9]{2,5}\b|"
    r"\b[A-Z]{2}[0-9]{2} ?[A-Z]{3}\b"
)

# In this order: what is taken out by one pattern is not there for the next.
PATTERNS: tuple[tuple[str, str], ...] = (
    ("url", r"(?i)\b(?:https?|ftp)://[^\s<>\"]+|\bwww\.[a-z0-9\-]+\.[^\s<>\"]+"),
    ("email", rf"(?:mailto:)?{MAIL}"),
    ("uuid", r"(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"),
    ("mac", r"(?i)\b[0-9a-f]{2}(?:[:\-][0-9a-f]{2}){5}\b"),
    ("iban", r"\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b"),
    ("ip", r"\b[0-9]{1,3}(?:\.[0-9]{1,3}){3}\b|(?i)\b(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}\b"),
    ("date", _DATE),
    ("address", _ADDRESS),
    ("phone", PHONE),
    ("plate", _PLATE),
    ("id", r"\b[A-Z]{0,4}[\-#/]?[0-9](?:[ \-./]?[0-9]){5,}[A-Z]?[0-9]{0,4}\b|\b[A-HJ-NPR-Z0-9]{12,}\b"),
)
KINDS = (*(kind for kind, _ in PATTERNS), "name")


def redact_texts(texts: pl.Series) -> pl.Series:
    """Replace what tells who somebody is by its kind: ``[email]``, ``[phone]``, ``[name]``.

    Incomplete by its nature: names that no list knows, nicknames, and what only somebody who knows the person
    understands stay.

    Args:
        texts: Texts; null stays null.

    Guarantees:
        - Redacting again changes nothing.
        - No mailbox, web address and no number of seven digits or more is left.

    Example:
        >>> redact_texts(pl.Series(["Emine Demir called from 0532 123 45 67, a@b.org"])).to_list()
        ['[name] called from [phone], [email]']
    """
    distinct = texts.drop_nulls().unique()
    if not len(distinct):
        return texts
    shown = distinct
    for kind, pattern in PATTERNS:
        shown = shown.str.replace_all(ascii_digits(pattern), f"[{kind}]")
    shown = _without_names(shown)
    return texts.replace_strict(distinct, shown, default=None, return_dtype=pl.String).alias(texts.name)


def _without_names(texts: pl.Series) -> pl.Series:
    """Take out names: listed words with a capital, and words with a capital beside them or behind a title."""
    parts = (
        pl.DataFrame({"text": texts})
        .with_row_index("row")
        .with_columns(
            pl.col("text").str.extract_all(r"\[[a-z]+\]|\p{L}[\p{L}'’\-]*|[^\p{L}\[]+|\[").alias("part")
        )
        .explode("part", empty_as_null=True)
        .select("row", pl.col("part").fill_null(""))
    )
    judged = parts.join(_judged_words(parts["part"].unique()), on="part", how="left", maintain_order="left")

    def beside(what: str, step: int) -> pl.Expr:
        """The word before or behind, with nothing but blanks, a point or a hyphen between."""
        near = pl.col("part").shift(step // 2).over("row").str.contains(r"^[ .\-]+$").fill_null(value=False)
        return near & pl.col(what).shift(step).over("row").fill_null(value=False)

    sure = (pl.col("capital") & pl.col("listed") & ~pl.col("word")) | (
        pl.col("listed")
        & (beside("listed", 2) | beside("listed", -2))
        & (pl.col("capital") | ~pl.col("word"))
    )
    judged = judged.with_columns(sure=sure.fill_null(value=False))
    reached = pl.col("capital") & ~pl.col("title")
    for _ in range(2):  # a second given name and a surname
        near = beside("sure", 2) | beside("sure", -2) | beside("title", 2)
        judged = judged.with_columns(sure=(pl.col("sure") | (reached & near)).fill_null(value=False))
    replaced = pl.when("sure").then(pl.lit("[name]")).otherwise("part")
    whole = judged.group_by("row", maintain_order=True).agg(replaced.alias("part").str.join(""))
    return whole["part"].str.replace_all(r"\[name\](?:[ .\-]+\[name\])+", "[name]")


def _judged_words(parts: pl.Series) -> pl.DataFrame:
    """Say of every different word whether it is listed as a name, a title, or as something else as well."""
    given, family, titles, words = name_lists()
    plain = fold(parts).str.replace(r"['’](?:n?[iıuü]n|[yn]?[aeiıuü]|d[ae]n?|s)$", "")
    folded = pl.DataFrame({"part": parts, "folded": plain})
    lettered = pl.col("part").str.contains(r"^\p{L}")
    known = pl.col("folded").is_in(given.implode()) | pl.col("folded").is_in(family.implode())
    return folded.select(
        "part",
        capital=lettered & pl.col("part").str.contains(r"^\p{Lu}"),
        listed=lettered
        & (known | pl.col("folded").str.contains(FAMILY_LIKE))
        & (pl.col("part").str.len_chars() > 1),
        title=lettered & pl.col("folded").is_in(titles.implode()) & pl.col("part").str.contains(r"^\p{Lu}"),
        # An ending alone proves nothing: a husband is an Ehemann.
        word=pl.col("folded").is_in(words.implode()) | ~known,
    )
