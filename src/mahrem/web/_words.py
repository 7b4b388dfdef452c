"""What may be promised, as fields of a form; the words are in the catalogues."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["PROMISES", "ROLES", "PromiseField"]


@dataclass(frozen=True)
class PromiseField:
    """A promise and the figures it may have."""

    key: str
    low: float
    high: float
    step: float


PROMISES: tuple[PromiseField, ...] = (
    PromiseField("k", 1, 10**6, 1),
    PromiseField("l", 1, 10**6, 0.1),
    PromiseField("t", 0, 1, 0.01),
    PromiseField("alpha", 0, 1, 0.01),
    PromiseField("beta", 0, 10**6, 0.1),
    PromiseField("delta_disclosure", 0, 10**6, 0.1),
)
ROLES = ("quasi", "sensitive", "identifier", "insensitive", "drop")
