"""A fitted model of marginals: what it says of itself, and rows drawn from it, under conditions too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.learning._clique_tree import CliqueTree
from mahrem.learning._coarse_groups import CoarseGroups
from mahrem.learning._marginal_plan import MarginalPlan
from mahrem.learning._synthetic_constraints import Constraint, keep_constraints
from mahrem.learning._synthetic_domain import DeclaredDomain
from mahrem.learning._tree_sampling import spread_draw, tree_sample
from mahrem.types import Floats

if TYPE_CHECKING:
    from mahrem.learning._marginals import Marginals

__all__ = ["BATCH", "Given", "MarginalsFit"]

BATCH = 1 << 16
Given: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class MarginalsFit:
    """A fitted synthesiser: a noisy model that can be sampled as often as one likes.

    Attributes:
        domain: What may be published.
        rows_: How many rows the table had, as far as that is public or was counted with noise.
    """

    settings: Marginals
    domain: DeclaredDomain
    plan: MarginalPlan = field(repr=False)
    rows_: int
    promise: str = field(repr=False)
    modelled: tuple[str, ...] = field(repr=False)
    groups: Sequence[CoarseGroups] = field(repr=False)
    tree: CliqueTree = field(repr=False)
    potentials: tuple[Floats, ...] = field(repr=False)

    @property
    def cost_(self) -> tuple[float, float]:
        """Epsilon and delta that were paid."""
        return self.plan.epsilon, self.plan.delta

    @property
    def guarantee_(self) -> str:
        """The promise in words."""
        return self.promise

    @property
    def rules(self) -> tuple[Constraint, ...]:
        """Rules every row keeps."""
        return self.settings.schema.rules

    @cached_property
    def marginals(self) -> list[Floats]:
        """The distribution over every clique."""
        return self.tree.marginals(self.potentials)

    def describe(self) -> dict[str, Any]:
        """Say what the model is made of: columns, groups and cliques; all of it is private already."""
        names = self.modelled
        return {
            "groups": {name: made.size for name, made in zip(names, self.groups, strict=True)},
            "cliques": [[names[column] for column in clique.columns] for clique in self.tree.cliques],
            "deviation": {
                "columns": self.plan.one_way.scale,
                "cliques": None if self.plan.clique is None else self.plan.clique.scale,
            },
        }

    def sample(
        self, rows: int | None = None, *, seed: int | None = None, given: Given | None = None
    ) -> pl.DataFrame:
        """Draw a synthetic table.

        Args:
            rows: How many rows; by default as many as the table seems to have had.
            seed: Repeats a draw; without it the system's generator seeds it.
            given: Conditions: ``{"sex": "f", "age": (18, 65), "ward": ["a", "b"]}``.

        Guarantees:
            - Every value lies in the declared domain, every row keeps every constraint and condition.
            - Rows are in random order.
        """
        return pl.concat(self.batches(rows, seed=seed, given=given))

    def batches(
        self, rows: int | None = None, *, seed: int | None = None, given: Given | None = None
    ) -> Iterator[pl.DataFrame]:
        """Draw a synthetic table part by part, so that memory does not grow with it."""
        count = self.rows_ if rows is None else int(check.at_least(1, rows=check.whole(rows=rows)))
        rng = np.random.default_rng(seed)
        allowed = _Allowed.of(self, given or {})
        while count > 0:
            part = min(count, BATCH)
            drawn, _ = keep_constraints(
                lambda size: self._rows(size, rng, allowed), part, self.rules, self.domain
            )
            yield drawn
            count -= part

    def _rows(self, rows: int, rng: np.random.Generator, allowed: _Allowed) -> pl.DataFrame:
        coarse = tree_sample(self.tree, allowed.conditionals, rows, rng)
        found: dict[str, pl.Series] = {}
        for place, name in enumerate(self.modelled):
            cells = allowed.cells[place]
            drawn = spread_draw(cells, coarse[:, place], rng)
            found[name] = self.domain[name].draw(drawn, rng, allowed.within.get(name))
        for name in self.domain.names:
            if name not in found:  # a total: added up later
                found[name] = pl.Series(name, np.zeros(rows)).cast(self.domain[name].dtype)
        return pl.DataFrame([found[name] for name in self.domain.names])


@dataclass(frozen=True)
class _Allowed:
    """The model under conditions: distributions of groups, of cells inside groups, and narrower ranges."""

    conditionals: list[Floats] = field(repr=False)
    cells: list[Floats] = field(repr=False)  # (groups, cells) for each column
    within: Mapping[str, tuple[float, float]]

    @classmethod
    def of(cls, fitted: MarginalsFit, given: Given) -> _Allowed:
        unknown = [name for name in given if name not in fitted.modelled]
        if unknown:
            raise InvalidParameter(f"given={unknown[0]!r} is not a column of the model")
        potentials = list(fitted.potentials)
        cells, within = [], {}
        for place, name in enumerate(fitted.modelled):
            made = fitted.groups[place]
            table = np.zeros((made.size, len(made.group)))
            table[made.group, np.arange(len(made.group))] = made.share
            if name in given:
                overlap, narrowed = fitted.domain[name].admitted(given[name])
                if narrowed is not None:
                    within[name] = narrowed
                table = table * overlap
                kept = table.sum(axis=1)
                if not kept.any():
                    raise InvalidParameter(f"given={name!r}: the model knows no such rows")
                home = fitted.tree.home((place,))
                axis = fitted.tree.cliques[home].columns.index(place)
                shape = [1] * potentials[home].ndim
                shape[axis] = made.size
                with np.errstate(divide="ignore"):
                    potentials[home] = potentials[home] + np.maximum(np.log(kept), -1e200).reshape(shape)
                table = np.where(kept[:, None] > 0, table / np.where(kept > 0, kept, 1)[:, None], 1.0)
            cells.append(table / table.sum(axis=1, keepdims=True))
        tables = fitted.tree.marginals(potentials)
        return cls(fitted.tree.conditionals(tables), cells, within)
