"""Earth mover's distances of all classes from the table, on triplets: absent values are never visited."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mahrem.errors import InvalidParameter
from mahrem.models._counts import Counts
from mahrem.models._shares import by_class

if TYPE_CHECKING:
    from mahrem.models.people import Holdings, PeopleHoldings
    from mahrem.types import Floats, Integers, Levels


def equal_distance(counts: Counts) -> Levels:
    """Give half the sum of ``|p - q|``; of people, what that is at most however their values are chosen."""
    if counts.held is not None:
        return _people_surplus(counts.held.classes, counts.held.table.table[0])
    # both sides sum to 1, so half of all differences is the sum of what a class has too much
    surplus = np.maximum(counts.shares - counts.table[counts.value], 0.0)
    return by_class(np.add, surplus, counts, empty=np.inf)


def ordered_distance(counts: Counts) -> Levels:
    """Give ``sum |P - Q| / (m - 1)`` over the cumulative shares of ``m`` values in order.

    Of people, at every step the worst choice of values counts: ``P`` from everybody's lowest value and ``Q``
    from everybody's highest, or the other way round. The larger of these two differences is the distance of
    the middles of both plus half of what lies between lowest and highest, so that only sums are needed.
    """
    if counts.held is None:
        return _ordered(counts)
    held, values = counts.held, counts.held.table.size
    middles = replace(_middles(held.classes), table=held.table.middles)
    between = _mean_range(held.classes) + held.table.mean_range
    # A value that nobody shows alone may be none of the table's: it must not make steps look smaller.
    alone, at_all = held.table.table
    certain = values - int(np.count_nonzero((at_all > 0) & (alone == 0)))
    distances = (_ordered(middles) * max(values - 1, 1) + between / 2) / max(certain - 1, 1)
    return np.where(held.classes.people > 0, np.minimum(distances, 1.0), np.inf)


def _middles(held: Holdings) -> Counts:
    """Count every person once at their lowest and once at their highest value."""
    group, low, high = held.ends_of_people()
    keys, count = np.unique(
        np.concatenate([group * held.size + low, group * held.size + high]), return_counts=True
    )
    group, value = np.divmod(keys, max(held.size, 1))
    return Counts(held.people, group, value, count, np.zeros(held.size))


def _mean_range(held: Holdings) -> Levels:
    """Give how many steps lie between people's lowest and highest value, on average in each class."""
    group, low, high = held.ends_of_people()
    steps = np.bincount(group, weights=high - low, minlength=held.groups)
    return steps / np.maximum(held.people, 1)


def _people_surplus(held: Holdings, rare: Floats) -> Levels:
    """Give what a class has too much of all values together, at most.

    Two bounds, and the smaller of them: every value is said of all who show it; or those who show several
    say whatever is too much anyway, and only the others are compared with the table, of which ``rare`` are
    the least shares.
    """
    group, value, most = held.triplets
    people = np.maximum(held.people, 1)
    every = np.maximum(most / people[group] - rare[value], 0.0)
    alone = np.maximum(held.least / people[group] - rare[value], 0.0)
    each = np.bincount(group, weights=every, minlength=held.groups)
    rest = np.bincount(group, weights=alone, minlength=held.groups) + held.several / people
    return np.where(held.people > 0, np.minimum(each, rest), np.inf)


def _ordered(counts: Counts) -> Levels:
    """Walk along the triplets of every class.

    Between two values that a class shows, its cumulative share ``P`` stands still while the table's ``Q``
    rises: the gap is summed from the running sums of ``Q``, split where ``Q`` passes ``P``.
    """
    values = len(counts.table)
    if values < 2 or not len(counts.group):
        return np.where(counts.distinct > 0, 0.0, np.inf)
    cumulative = np.cumsum(counts.table)
    running = np.concatenate(([0.0], np.cumsum(cumulative)))
    running_count = np.cumsum(counts.count)
    before = (np.cumsum(counts.totals) - counts.totals)[counts.group]
    share = (running_count - before) / counts.totals[counts.group]
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
    if counts.held is not None:
        return _people_distance(counts.held, tree)
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


def _people_distance(held: PeopleHoldings, tree: Integers) -> Levels:
    """Give the same of people: at every level what their nodes can be too much, at most."""
    distances = np.where(held.classes.people > 0, 0.0, np.inf)
    for nodes in tree[:-1]:
        distances += _people_surplus(held.classes.under(nodes), held.table.under(nodes).table[0])
    return distances / max(len(tree) - 1, 1)


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
