"""The synthesisers of tables by name; each is loaded when somebody asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Protocol

import polars as pl

from mahrem import check
from mahrem.dp import Facts, Ledger
from mahrem.errors import InvalidParameter
from mahrem.learning.synthesis._synthetic_domain import DeclaredDomain
from mahrem.learning.synthesis._synthetic_schema import SyntheticSchema
from mahrem.table import Reading

if TYPE_CHECKING:
    from mahrem.learning.synthesis._generators import Generator

__all__ = ["SYNTHESISERS", "FittedSynthesiser", "Synthesiser", "make_synthesiser"]


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


def _marginals(**settings: Any) -> Synthesiser:
    from mahrem.learning.synthesis._marginals import Marginals

    return Marginals(**settings)


def _vae(**settings: Any) -> Synthesiser:
    from mahrem.learning.synthesis._variational import Variational

    return _network(Variational, settings)


def _gan(**settings: Any) -> Synthesiser:
    from mahrem.learning.synthesis._adversarial import Adversarial

    return _network(Adversarial, settings)


def _lstm(**settings: Any) -> Synthesiser:
    from mahrem.learning.synthesis._recurrent import Recurrent

    return _network(Recurrent, settings)


def _network(kind: type[Generator], settings: Mapping[str, Any]) -> Synthesiser:
    """Sort settings: those of the network and its training, and those of every synthesiser."""
    from mahrem.learning.synthesis._network_tables import NetworkTables

    own = {entry.name for entry in fields(kind)} & set(settings)
    others = {name: value for name, value in settings.items() if name not in own}
    return NetworkTables(generator=kind(**{name: settings[name] for name in own}), **others)


SYNTHESISERS: Mapping[str, Callable[..., Synthesiser]] = {
    "marginals": _marginals,
    "vae": _vae,
    "gan": _gan,
    "lstm": _lstm,
}


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
    make = SYNTHESISERS[check.one_of(tuple(SYNTHESISERS), method=method)]
    try:
        return make(
            epsilon=epsilon, delta=delta, target=target, schema=schema or SyntheticSchema(), **options
        )
    except TypeError:
        raise InvalidParameter(
            f"options={sorted(options)}: method={method!r} does not know all of them"
        ) from None
