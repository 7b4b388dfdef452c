"""What a synthesiser is, before and after it is fitted; made by name when somebody asks for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import polars as pl

from mahrem import check
from mahrem.dp import Facts, Ledger
from mahrem.errors import InvalidParameter
from mahrem.learning.synthesis._entries import SYNTHESISERS
from mahrem.learning.synthesis._synthetic_domain import DeclaredDomain
from mahrem.learning.synthesis._synthetic_schema import SyntheticSchema
from mahrem.table import Reading


class FittedSynthesiser(Protocol):
    """A private model of a table; sampling from it costs nothing."""

    @property
    def domain(self) -> DeclaredDomain:
        """What may be published."""
        ...

    @property
    def rows_(self) -> int:
        """How many rows the table had, as far as that is public or was counted with noise."""
        ...

    @property
    def cost_(self) -> tuple[float, float]:
        """Epsilon and delta that were paid."""
        ...

    @property
    def guarantee_(self) -> str:
        """The promise in words."""
        ...

    def describe(self) -> dict[str, Any]:
        """Say what the model is made of, as plain data that may be published."""
        ...

    def sample(
        self, rows: int | None = None, *, seed: int | None = None, given: Mapping[str, Any] | None = None
    ) -> pl.DataFrame:
        """Draw a synthetic table."""
        ...

    def batches(
        self, rows: int | None = None, *, seed: int | None = None, given: Mapping[str, Any] | None = None
    ) -> Iterator[pl.DataFrame]:
        """Draw one part by part."""
        ...


class Synthesiser(Protocol):
    """Settings of a synthesiser, ready to be fitted."""

    def fit(
        self, table: object, facts: Facts | None = None, *, ledger: Ledger, reading: Reading | None = None
    ) -> FittedSynthesiser:
        """Pay, then fit; refuses before anything is spent."""
        ...


def make_synthesiser(
    method: str,
    *,
    epsilon: float,
    delta: float,
    target: str | None = None,
    schema: SyntheticSchema | None = None,
    **options: Any,
) -> Synthesiser:
    """Make a synthesiser by name.

    Args:
        method: A key of :data:`SYNTHESISERS`.
        epsilon: What the fit may cost.
        delta: The same.
        target: A column to predict.
        schema: Columns, kinds, gaps and rules.
        **options: Settings of the method's own.

    Example:
        >>> make_synthesiser("marginals", epsilon=1.0, delta=1e-6, width=2).width
        2
    """
    entry = SYNTHESISERS[check.one_of(tuple(SYNTHESISERS), method=method)]
    try:
        return entry.make(
            epsilon=epsilon, delta=delta, target=target, schema=schema or SyntheticSchema(), **options
        )
    except TypeError:
        raise InvalidParameter(
            f"options={sorted(options)}: method={method!r} does not know all of them"
        ) from None
