"""What published cells will cost, asked of the recodings themselves: methods lower what the report says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from mahrem.metrics import cell_losses, placed_ends
from mahrem.partition.judging import ColumnCosts
from mahrem.recode import Recoding
from mahrem.release.decisions._columns import recoding_of
from mahrem.release.decisions._policy import Policy
from mahrem.table import Axis, Cells, Leaves, Words
from mahrem.types import Floats


def cell_costs(axes: Iterable[Axis], policy: Policy) -> tuple[ColumnCosts, ...]:
    """Say for every quasi-identifier what the cell of a class costs in ``gcp``, from its rows' values."""
    return tuple(pricing_of(axis, policy, recoding_of(axis, policy, None)).costs(axis) for axis in axes)


def pricing_of(axis: Axis, policy: Policy, recoding: Recoding) -> CellPricing:
    """Give how the cells of a quasi-identifier are priced that are written so."""
    return CellPricing(
        recoding,
        policy.weights.get(axis.name, 1.0),
        silent=axis.name in policy.suppress,
        commonest=policy.cells == "centroid",
    )


@dataclass(frozen=True)
class CellPricing:
    """How the cells of one quasi-identifier are written, and how much they count.

    The recoding is asked about single values, and in trees about neighbours: what it writes for a class
    follows from that, as :class:`~mahrem.partition.ColumnCosts` says.
    """

    recoding: Recoding
    weight: float = 1.0
    silent: bool = False  # nothing is said of it, whatever the classes
    commonest: bool = False  # one value stands for all of a class

    def costs(self, axis: Axis) -> ColumnCosts:
        """Price the cells of an axis, whose positions hold every value and both ends of the table."""
        known = np.unique(axis.positions[~np.isnan(axis.positions)])
        values, weight = replace(axis, positions=known), self.weight
        places = values.scaled()
        if len(known) == 0 or self.silent:
            nothing = np.zeros(len(known))
            high = nothing + (weight if len(known) else 0)
            return ColumnCosts("range", places, weight, low=nothing, high=high)
        match axis.domain:
            case Words(ordered=True):
                steps = float(known[-1] - known[0]) + 1
                at = (known - known[0]) / steps * weight
                return ColumnCosts("range", places, weight, jump=weight / steps, low=at, high=at)
            case Words(prefixes=codes) if not codes or self.commonest:
                return self._of_set(axis, places)
            case Words() | Leaves():
                return self._of_tree(axis, known, places)
            case _:
                low, high = _placed(self.recoding(values, np.arange(len(known)), len(known)))
                return ColumnCosts("range", places, weight, low=low * weight, high=high * weight)

    def _of_tree(self, axis: Axis, known: Floats, places: Floats) -> ColumnCosts:
        """Price values alone, and each beside the one before."""
        many = len(known)
        alone = np.arange(many)
        pairs = replace(axis, positions=np.concatenate([known, known[:-1], known[1:]]))
        both = many + alone[:-1]
        shown = self.recoding(pairs, np.concatenate([alone, both, both]), 2 * many - 1)
        tree = axis.domain.hierarchy if isinstance(axis.domain, Leaves) else None
        ncp = cell_losses(shown, tree).ncp * self.weight
        price = np.concatenate([[0.0], ncp[many:]])
        return ColumnCosts("tree", places, self.weight, price=price, alone=ncp[:many])

    def _of_set(self, axis: Axis, places: Floats) -> ColumnCosts:
        """Price sets by how many values they name; a missing value is one more."""
        words = len(places)
        named = words + bool(np.isnan(axis.positions).any())
        count = np.arange(words + 3)
        price = np.where(count > 1, np.minimum(count / named, 1.0), 0.0) * self.weight
        return ColumnCosts("set", places, self.weight, price=price)


def _placed(cells: Cells) -> tuple[Floats, Floats]:
    shown = cells.behind or cells
    assert shown.low is not None and shown.high is not None  # noqa: S101, PT018 - numbers and dates have ends
    low, high = (
        end.to_physical().cast(float).fill_null(np.nan).to_numpy() for end in (shown.low, shown.high)
    )
    return placed_ends(low, high)
