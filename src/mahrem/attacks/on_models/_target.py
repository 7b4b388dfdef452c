"""A model or synthetic rows under attack, with the rows they were made from and rows they never saw."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from mahrem.attacks.on_models._audited_bound import AuditedBound
from mahrem.attacks.on_models._examples import Examples
from mahrem.errors import spelled
from mahrem.types import Floats, Mask

SOME = 2000  # rows for attacks that ask often

# By name: places among the inputs, and what they are for each value.
Attributes: TypeAlias = Mapping[str, tuple[Sequence[int], Any]]
Cost: TypeAlias = tuple[float, float]  # epsilon and delta


@dataclass(frozen=True, kw_only=True)
class AuditRecords:
    """Records of which each was put into a training by a fair coin of its own, and the coins."""

    examples: Examples
    inside: Mask = field(repr=False)


@dataclass(frozen=True, kw_only=True, eq=False)
class ModelTarget:
    """What attacks on a model are given.

    Attributes:
        model: What gives probabilities.
        classes: In the order of its columns.
        members: Rows it was trained on.
        holdout: Rows it never saw.
        attributes: Which inputs are one attribute; None where that is not known.
        bounds: Between which numbers inputs lie, if that is public.
        cost: What it promises.
        audit: What an audit of its training showed.
        canaries: Records to audit it with now.
        shadows: How many models of its kind to train.
        make: Takes a seed and gives an untrained model of its kind.
        seed: Of all draws.
        progress: Called with a sentence now and then.
    """

    model: Any = field(repr=False)
    classes: tuple[Any, ...]
    members: Examples = field(repr=False)
    holdout: Examples = field(repr=False)
    attributes: Attributes | None = field(default=None, repr=False)
    bounds: tuple[float, float] | None = None
    cost: Cost | None = None
    audit: AuditedBound | None = None
    canaries: AuditRecords | None = None
    shadows: int = 0
    make: Callable[[int], Any] | None = field(default=None, repr=False)
    seed: int = 0
    progress: Callable[[str], None] = field(default=lambda _: None, repr=False)

    @property
    def kind(self) -> Literal["model"]:
        """What it is."""
        return "model"

    @cached_property
    def some(self) -> tuple[Examples, Examples]:
        """Rows for attacks that ask often; the first ones of a sorted table would not be like the rest."""
        members, holdout = (
            examples.take(np.random.default_rng(self.seed).permutation(len(examples))[:SOME])
            for examples in (self.members, self.holdout)
        )
        return members, holdout

    def lacking(self, needs: Iterable[str]) -> tuple[str, str] | None:
        """Give the first of some needs that is not met, and why; None if all are."""
        audited = self.audit is not None or self.canaries is not None
        reasons = {
            "shadows": None if self.shadows else f"no shadow models were asked for: {spelled('shadows', 16)}",
            "attributes": None
            if self.attributes is not None
            else "which inputs are one attribute is known of tables only",
            "canaries": None
            if audited
            else f"no canaries were put into its training ({spelled('audit', True)} of train)",
        }
        return next(((need, reason) for need in needs if (reason := reasons[need]) is not None), None)


@dataclass(frozen=True, kw_only=True, eq=False)
class RowsTarget:
    """What attacks on synthetic rows are given: tables as ``(n, d)`` numbers on one scale.

    Attributes:
        release: The synthetic rows.
        members: The real rows they were made from.
        holdout: Real rows that had no part in it.
        reference: More real rows, of neither.
        cost: What the release promises.
    """

    release: Floats = field(repr=False)
    members: Floats = field(repr=False)
    holdout: Floats = field(repr=False)
    reference: Floats | None = field(default=None, repr=False)
    cost: Cost | None = None

    @property
    def kind(self) -> Literal["synthetic rows"]:
        """What it is."""
        return "synthetic rows"

    def lacking(self, needs: Iterable[str]) -> tuple[str, str] | None:
        """Everything there is, is given."""
        return next(((need, f"no {need} was given") for need in needs), None)
