"""What every synthesiser is told about the table to make: columns, kinds, gaps, rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from mahrem import check
from mahrem.dp import Facts
from mahrem.errors import InvalidParameter
from mahrem.learning.synthesis._declare_domain import FINE, declare_domain
from mahrem.learning.synthesis._forbidden_rows import Never
from mahrem.learning.synthesis._settings import SchemaSettings
from mahrem.learning.synthesis._synthetic_constraints import (
    Constraint,
    SumOf,
    parse_constraint,
    refuse_constraints,
)
from mahrem.learning.synthesis._synthetic_domain import DeclaredDomain
from mahrem.learning.synthesis._synthetic_keys import Unique


@dataclass(frozen=True, kw_only=True)
class SyntheticSchema(SchemaSettings):
    """The declared schema of a synthetic table, beside the public facts of a ledger.

    Args:
        columns: Which columns, in this order; by default every column the ledger knows, and ``dates``.
        missing: Columns that may be empty. Elsewhere an empty or undeclared cell counts as the facts say, or
            its row is left out.
        kinds: ``whole`` or ``number``; by default whole where both bounds are whole numbers.
        dates: First and last day of columns of dates: ``{"born": ("1920-01-01", "2020-12-31")}``.
        cells: Into how many cells a number's range is cut, or the edges between them.
        constraints: ``"a <= b"``, ``"total = a + b"``, ``"never sex=m and pregnant=yes"``, ``"unique id"``.

    Example:
        >>> SyntheticSchema(constraints=("first <= last",)).rules[0].high
        'last'
    """

    @classmethod
    def of(cls, settings: SchemaSettings) -> SyntheticSchema:
        """Take what settings say about columns."""
        return cls(**{entry.name: getattr(settings, entry.name) for entry in fields(SchemaSettings)})

    @property
    def rules(self) -> tuple[Constraint, ...]:
        """The constraints, read."""
        return tuple(parse_constraint(text) for text in self.constraints)

    @property
    def totals(self) -> tuple[str, ...]:
        """Columns that are added up from others."""
        return tuple(one.total for one in self.rules if isinstance(one, SumOf))

    @property
    def keys(self) -> tuple[Unique, ...]:
        """Columns that no two rows agree on."""
        return tuple(one for one in self.rules if isinstance(one, Unique))

    @property
    def without_model(self) -> tuple[str, ...]:
        """Columns that need no model: totals, and keys that are made up."""
        return (*self.totals, *(one.columns[0] for one in self.keys if one.alone))

    def domain(self, facts: Facts, columns: Sequence[str], *, fine: int = FINE) -> DeclaredDomain:
        """Put the domain together for a table with these columns; refuses what does not fit.

        Args:
            facts: What is public.
            columns: What the table calls its columns.
            fine: Cells of a number whose ``cells`` nobody said.
        """
        known = [name for name in columns if name in facts.columns or name in self.dates]
        wanted = list(self.columns or known)
        check.columns_exist([*wanted, *self.dates, *facts.columns], columns)
        if not wanted:
            raise InvalidParameter(
                "columns=(): no column has public bounds or declared values; declare them with the ledger"
            )
        domain = declare_domain(
            facts,
            wanted,
            missing=self.missing,
            kinds=self.kinds,
            dates=self.dates,
            cells=self.cells,
            fine=fine,
        )
        for one in self.rules:
            if isinstance(one, Never | Unique):
                one.refuse(domain)
        refuse_constraints(self.rules, domain)
        if set(self.without_model) >= set(wanted):
            raise InvalidParameter("constraints leave no column that is neither a total nor a key")
        return domain

    def refuse_given(self, domain: DeclaredDomain, given: Mapping[str, object]) -> None:
        """Refuse conditions that no row of the declared domain could meet and keep every rule.

        Args:
            domain: What :meth:`domain` gave.
            given: Conditions, by column.
        """
        within = {}
        for name, condition in given.items():
            if name in self.totals:
                raise InvalidParameter(f"given={name!r} is a total; put the condition on its parts")
            if name in self.without_model:
                raise InvalidParameter(f"given={name!r} is a key that is made up; it meets no condition")
            met, narrowed = domain[name].admitted(condition)
            if not met.any():
                raise InvalidParameter(f"given={name!r}: nothing that is declared for this column meets it")
            if narrowed is not None:
                within[name] = narrowed
        refuse_constraints(self.rules, domain.narrowed(within))

    def as_dict(self) -> dict[str, Any]:
        """Give what is not the default as plain data."""
        plain = {
            "columns": list(self.columns),
            "missing": list(self.missing),
            "kinds": dict(self.kinds),
            "dates": {name: list(days) for name, days in self.dates.items()},
            "cells": {
                name: cells if isinstance(cells, int) else list(cells) for name, cells in self.cells.items()
            },
            "constraints": list(self.constraints),
        }
        return {name: value for name, value in plain.items() if value}
