"""Fitted models of tables: rows drawn part by part, under conditions and rules, as often as one likes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from mahrem import check
from mahrem.learning.synthesis._coarse_groups import CoarseGroups
from mahrem.learning.synthesis._synthetic_constraints import keep_constraints, refuse_broken
from mahrem.learning.synthesis._synthetic_domain import DeclaredDomain
from mahrem.learning.synthesis._synthetic_keys import KeptKeys
from mahrem.learning.synthesis._synthetic_schema import SyntheticSchema
from mahrem.learning.synthesis._tree_sampling import spread_draw
from mahrem.types import Floats, Integers

BATCH = 1 << 16
Given: TypeAlias = Mapping[str, Any]
DrawGroups: TypeAlias = Callable[[int, np.random.Generator], Integers]


@dataclass(frozen=True, kw_only=True)
class ModelledTable:
    """What is public, or paid for, about a table that has a model.

    Attributes:
        domain: What may be published.
        schema: What was said about it.
        modelled: Columns of the model; totals are not among them.
        groups: Of each modelled column.
        target: The place of the modelled column whose groups are told apart inside those of others.
        rows: How many there were, as far as that is public or was counted with noise.
        epsilon: What was paid.
        delta: The same.
        promise: The same in words.
    """

    domain: DeclaredDomain
    schema: SyntheticSchema
    modelled: tuple[str, ...]
    groups: Sequence[CoarseGroups] = field(repr=False)
    target: int | None = None
    rows: int
    epsilon: float
    delta: float
    promise: str = field(repr=False)


@dataclass(frozen=True)
class GroupConditions:
    """Conditions in terms of groups.

    Attributes:
        cells: For each column, ``(classes, groups, cells)`` chances of cells inside groups; one class where
            they are not told apart.
        kept: For each column with a condition, by its place, the share of each group that meets it.
        within: Narrower ranges of numbers.
    """

    cells: Sequence[Floats] = field(repr=False)
    kept: Mapping[int, Floats]
    within: Mapping[str, tuple[float, float]]

    @classmethod
    def of(cls, table: ModelledTable, given: Given) -> GroupConditions:
        """Read conditions; refuses unknown columns and values, and what nothing declared meets."""
        table.schema.refuse_given(table.domain, given)
        cells, kept, within = [], {}, {}
        for place, (name, groups) in enumerate(zip(table.modelled, table.groups, strict=True)):
            inside = _inside(groups, groups.share)
            if name not in given and groups.by_class is not None:
                cells.append(np.stack([_inside(groups, share) for share in groups.by_class]))
                continue
            if name in given:
                overlap, narrowed = table.domain[name].admitted(given[name])
                if narrowed is not None:
                    within[name] = narrowed
                if not (inside * overlap).any():  # noise has hidden all such cells: none is likelier
                    inside = (np.arange(groups.size)[:, None] == groups.group) / len(groups.group)
                inside = inside * overlap
                kept[place] = meets = inside.sum(axis=1)
                inside = np.where(meets[:, None] > 0, inside / np.where(meets > 0, meets, 1)[:, None], 1.0)
            cells.append((inside / inside.sum(axis=1, keepdims=True))[None])
        return cls(cells, kept, within)


def _inside(groups: CoarseGroups, share: Floats) -> Floats:
    """Give ``(groups, cells)`` chances."""
    chances = np.zeros((groups.size, len(groups.group)))
    chances[groups.group, np.arange(len(groups.group))] = share
    return chances


@dataclass(frozen=True, kw_only=True)
class DrawnTable(ABC):
    """A fitted synthesiser: a noisy model that can be sampled as often as one likes; use one of its kinds."""

    about: ModelledTable

    @property
    def domain(self) -> DeclaredDomain:
        """What may be published."""
        return self.about.domain

    @property
    def rows_(self) -> int:
        """How many rows the table had, as far as that is public or was counted with noise."""
        return self.about.rows

    @property
    def cost_(self) -> tuple[float, float]:
        """Epsilon and delta that were paid."""
        return self.about.epsilon, self.about.delta

    @property
    def guarantee_(self) -> str:
        """The promise in words."""
        return self.about.promise

    def describe(self) -> dict[str, Any]:
        """Say what the model is made of; all of it is private already."""
        pairs = zip(self.about.modelled, self.about.groups, strict=True)
        return {"groups": {name: groups.size for name, groups in pairs}, **self.details()}

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
        admitted = GroupConditions.of(self.about, given or {})
        draw = self.drawer(admitted)
        rules, domain = self.about.schema.rules, self.domain.narrowed(admitted.within)
        keys = KeptKeys(self.about.schema.keys, self.domain, count, rng)

        def drawn(size: int) -> pl.DataFrame:
            return keep_constraints(
                lambda some: self._written(draw(some, rng), rng, admitted), size, rules, domain
            )[0]

        while count > 0:
            part = min(count, BATCH)
            table = keys.keep(drawn(part), drawn)
            refuse_broken(table, rules, domain)
            yield table
            count -= part

    @abstractmethod
    def details(self) -> dict[str, Any]:
        """Say what the model is made of beside groups."""

    @abstractmethod
    def drawer(self, admitted: GroupConditions) -> DrawGroups:
        """Give what draws ``(rows, columns)`` groups under conditions."""

    def _written(self, groups: Integers, rng: np.random.Generator, admitted: GroupConditions) -> pl.DataFrame:
        """Turn groups into values; totals are zero here and added up later."""
        columns: dict[str, pl.Series] = {}
        for place, name in enumerate(self.about.modelled):
            chances, group = admitted.cells[place], groups[:, place]
            if len(chances) > 1 and self.about.target is not None:
                group = groups[:, self.about.target] * chances.shape[1] + group
            drawn = spread_draw(chances.reshape(-1, chances.shape[2]), group, rng)
            columns[name] = self.domain[name].draw(drawn, rng, admitted.within.get(name))
        for name in self.domain.names:
            if name not in columns:
                columns[name] = pl.Series(name, np.zeros(len(groups))).cast(self.domain[name].dtype)
        return pl.DataFrame([columns[name] for name in self.domain.names])
