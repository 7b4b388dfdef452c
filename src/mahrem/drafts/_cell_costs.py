"""What published cells will cost, asked of the recodings themselves: methods lower what the report says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mahrem.drafts._prepare import Prepared
from mahrem.metrics import cell_losses, placed_ends
from mahrem.partition.judging import ColumnCosts
from mahrem.release.decisions import Policy, recoding_of
from mahrem.table import Axis, Cells, Hierarchy, Leaves, Words
from mahrem.types import Floats


def cell_costs(prepared: Prepared, policy: Policy) -> tuple[ColumnCosts, ...]:
    """Say for every quasi-identifier what the cell of a class costs in ``gcp``, from its rows' values.

    Each recoding is asked about single values, and in trees about neighbours: what it writes for a class
    follows from that, as :class:`~mahrem.partition.ColumnCosts` says.
    """
    trees = {name: prepared.columns[name].hierarchy for name in policy.quasi}
    return tuple(
        _column_costs(axis, policy, trees.get(axis.name), policy.weights.get(axis.name, 1.0))
        for axis in prepared.axes
    )


def _column_costs(axis: Axis, policy: Policy, tree: Hierarchy | None, weight: float) -> ColumnCosts:
    recoding = recoding_of(axis, policy, None)
    known = np.unique(axis.positions[~np.isnan(axis.positions)])
    values = replace(axis, positions=known)
    places = values.scaled()
    alone = np.arange(len(known))
    cells = recoding(values, alone, len(known))
    if len(known) == 0 or axis.name in policy.suppress:  # nothing is said of it, whatever the classes
        nothing = np.zeros(len(known))
        return ColumnCosts("range", places, weight, low=nothing, high=nothing + (weight if len(known) else 0))
    match axis.domain:
        case Words(ordered=True):
            steps = float(known[-1] - known[0]) + 1
            at = (known - known[0]) / steps * weight
            return ColumnCosts("range", places, weight, jump=weight / steps, low=at, high=at)
        case Words(prefixes=codes) if not codes or policy.cells == "centroid":  # the commonest, of a set
            return _of_set(axis, places, weight)
        case Words() | Leaves():
            pairs = replace(axis, positions=np.concatenate([known, known[:-1], known[1:]]))
            both = len(known) + alone[:-1]
            shown = recoding(pairs, np.concatenate([alone, both, both]), 2 * len(known) - 1)
            ncp = cell_losses(shown, tree).ncp * weight
            price = np.concatenate([[0.0], ncp[len(known) :]])
            return ColumnCosts("tree", places, weight, price=price, alone=ncp[: len(known)])
        case _:
            low, high = _placed(cells)
            return ColumnCosts("range", places, weight, low=low * weight, high=high * weight)


def _of_set(axis: Axis, places: Floats, weight: float) -> ColumnCosts:
    """Price sets by how many values they name; a missing value is one more."""
    words = len(places)
    named = words + bool(np.isnan(axis.positions).any())
    count = np.arange(words + 3)
    return ColumnCosts(
        "set", places, weight, price=np.where(count > 1, np.minimum(count / named, 1.0), 0.0) * weight
    )


def _placed(cells: Cells) -> tuple[Floats, Floats]:
    shown = cells.behind or cells
    assert shown.low is not None and shown.high is not None  # noqa: S101, PT018 - numbers and dates have ends
    low, high = (
        end.to_physical().cast(float).fill_null(np.nan).to_numpy() for end in (shown.low, shown.high)
    )
    return placed_ends(low, high)
