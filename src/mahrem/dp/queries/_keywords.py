"""Keywords of settings, made by scripts/keywords.py."""

from __future__ import annotations

from typing import Literal, TypedDict


class QueryKeywords(TypedDict, total=False):
    """How a question is answered.

    Attributes:
        delta: The same, for Gaussian noise.
        mechanism: laplace, gaussian; by default gaussian where a delta is given, else laplace.
        confidence: How likely each error bar holds; default 0.95.
    """

    delta: float
    mechanism: Literal["laplace", "gaussian"] | None
    confidence: float
