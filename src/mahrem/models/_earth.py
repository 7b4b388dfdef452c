"""Earth mover's distances of all classes from the table, on triplets: absent values are never visited."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mahrem.errors import InvalidParameter
from mahrem.models._shares import by_class

if TYPE_CHECKING:
    from mahrem.models._counts import Counts
    from mahrem.types import Integers, Levels


def ordered_distance(counts: Counts) -> Levels:
    """Give ``sum |P - Q| / (m - 1)`` over the cumulative shares of ``m`` values in order.

    Between two values that a class shows, its cumulative share ``P`` stands still while the table's ``Q``
    rises: the gap is summed from the running sums of ``Q``, split where ``Q`` passes ``P``.
    """
    values = len(counts.table)
    if values < 2 or not len(counts.group):
        return np.where(counts.distinct > 0, 0.0, np.inf)
    cumulative = np.cumsum(counts.table)
    running = np.concatenate(([0.0], np.cumsum(cumulative)))
    seen = np.cumsum(counts.count)
    before = (np.cumsum(counts.totals) - counts.totals)[counts.group]
    share = (seen - before) / counts.totals[counts.group]
    here = counts.value
    beyond = np.append(here[1:], values)
    beyond[counts.ends[counts.distinct > 0] - 1] = values
    passed = np.clip(np.searchsorted(cumulative, share), here, beyond)
    gaps = running[here] + running[beyond] - 2.0 * running[passed]
    gaps += share * (2 * passed - here - beyond)
    distances = by_class(np.add, gaps, counts, empty=np.inf)
    distances[counts.distinct > 0] += running[here[counts.starts]]  # below its first value a class has P = 0
    return np.maximum(distances, 0.0) / (values - 1)


def hierarchical_distance(counts: Counts) -> Levels:
    """Give the mean over the levels below the root of what a class has too much at that level.

    Li et al. charge each node its height times the smaller of its children's surplus and lack. A node's own
    surplus is what its children could not settle among themselves, so the charges of one height are the
    surplus one level down less the surplus there; summed over all heights only the surpluses stay.
    """
    tree = _checked(counts)
    height = len(tree) - 1
    group, value, count = _in_tree_order(counts, tree)
    share = count / counts.totals[group]
    distances = np.where(counts.distinct > 0, 0.0, np.inf)
    for nodes in tree[:-1]:
        node = nodes[value]
        new = np.ones(len(group), dtype=np.bool_)
        new[1:] = (group[1:] != group[:-1]) | (node[1:] != node[:-1])
        first = np.flatnonzero(new)
        if len(first) < len(group):
            share, group, value, node = np.add.reduceat(share, first), group[first], value[first], node[first]
        surplus = np.maximum(share - np.bincount(nodes, weights=counts.table)[node], 0.0)
        distances += np.bincount(group, weights=surplus, minlength=counts.groups)
    return distances / max(height, 1)


def _checked(counts: Counts) -> Integers:
    """Give the levels of the hierarchy, the values themselves at the bottom and one root on top."""
    tree = counts.ancestors
    if tree is None:
        raise InvalidParameter(
            "t_kind='hierarchical' needs a hierarchy of the column; give one or choose t_kind='equal'"
        )
    values = len(counts.table)
    if tree.ndim != 2 or not len(tree) or tree.shape[1] != values:
        raise InvalidParameter(f"ancestors={tree.shape} must be levels times {values} values")
    if values and (tree[-1] != tree[-1, 0]).any():
        raise InvalidParameter("ancestors must end in one root over all values")
    if values and np.bincount(tree[0]).max() > 1:
        return np.vstack((np.arange(values), tree))
    return tree


def _in_tree_order(counts: Counts, tree: Integers) -> tuple[Integers, Integers, Integers]:
    """Give the triplets sorted so that values under one node are neighbours."""
    if all(_neighbours(nodes) for nodes in tree):
        return counts.group, counts.value, counts.count
    place = np.empty(len(counts.table), dtype=np.int64)
    place[np.lexsort(tuple(tree))] = np.arange(len(place))
    # classes are in order already: a merge sort is several times quicker
    keys = counts.group.astype(np.int64, copy=False) * len(place) + place[counts.value]
    order = np.argsort(keys, kind="stable")
    return counts.group, counts.value[order], counts.count[order]


def _neighbours(nodes: Integers) -> bool:
    """Say whether values under one node follow each other."""
    runs = np.count_nonzero(nodes[1:] != nodes[:-1]) + 1
    return bool(runs == np.count_nonzero(np.bincount(nodes)))
