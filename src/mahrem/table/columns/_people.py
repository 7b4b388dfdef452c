"""Names of people, as they are compared where people are counted."""

from __future__ import annotations

import polars as pl

from mahrem.table.columns._sensitive import fold_spellings


def as_people(names: pl.Series) -> pl.Series:
    """Give whoever is behind rows the spelling by which people are told apart; null is nobody known.

    Two spellings of one name (``Ann`` and ``ann ``) would count as two people, which promises too much;
    taken for one, two people can only make classes larger.

    Guarantees:
        - Names that are folded alike (:func:`mahrem.table.columns.fold_spellings`) are one person, and so is
          whatever shows no name; text is no number here: ``01`` and ``1`` are two.
        - What a name becomes depends on itself alone: a table may come in parts.
        - Columns that are no text stay as they are.

    Example:
        >>> as_people(pl.Series(["Ann", "ann ", "", "01", "1"])).to_list()
        ['ann', 'ann', None, '01', '1']
    """
    if not isinstance(names.dtype, pl.String | pl.Categorical | pl.Enum):
        return names
    texts = names.cast(pl.String)
    each = texts.drop_nulls().unique()
    folded = fold_spellings(each, numbers=False)
    return texts.replace_strict(each, folded, default=None, return_dtype=pl.String)
