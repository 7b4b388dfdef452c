"""Which texts a pattern is found in: few of them by Python's engine, many by polars'."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import polars as pl

from mahrem.types import Mask

FEW = 150  # texts up to which a call of polars costs more than looking at them
# Both engines read patterns without these alike, and Latin letters but two that are an i to one of them.
_OTHERWISE = re.compile(r"\\[pPzxu]|\[\[|&&|--|~~")
_PLAIN = re.compile(r"[ -~\u00a1-\u00ac\u00ae-\u012f\u0132-\u017e\u0180-\u024f]*")


def contains(texts: pl.Series, pattern: str) -> Mask:
    """Mark the texts that a pattern is found in, whichever engine looks.

    Example:
        >>> contains(pl.Series(["K-12", "12"]), r"^[A-Z]").tolist()
        [True, False]
    """
    engine = _engine(pattern) if len(texts) <= FEW and not texts.null_count() else None
    listed = [] if engine is None else texts.to_list()
    if engine is None or not all(map(_PLAIN.fullmatch, listed)):
        return texts.str.contains(pattern).to_numpy()
    found = engine.search
    return np.fromiter((found(text) is not None for text in listed), np.bool_, len(listed))


@cache
def _engine(pattern: str) -> re.Pattern[str] | None:
    """Give what Python looks with; None where it would read a pattern otherwise, or not at all."""
    if _OTHERWISE.search(pattern):
        return None
    try:
        return re.compile(pattern)
    except re.error:
        return None
