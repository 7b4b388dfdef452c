"""What a node of the lattice loses, and what every node above it loses at least."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import getitem
from typing import NamedTuple

import numpy as np

from mahrem.arrays import counting
from mahrem.partition._lattice import Grouped, Lattice, codes_at
from mahrem.types import Floats, Mask, Sizes


class NodeFigures(NamedTuple):
    """What a loss needs to know of a node whose classes have been judged: figures only.

    ``penalty`` adds up the penalty of every cell as if no class were refused, ``refused_penalty`` that of
    the cells of refused classes.
    """

    rows: int
    columns: int
    minimum: int  # rows a class must have
    classes: int  # that have rows, refused ones too
    squares: float  # of the sizes of all classes, added up
    kept_classes: int  # that may stand
    kept_squares: float
    refused: int  # rows that will show nothing
    smallest: int  # rows of the smallest class that may stand; 0 without one
    penalty: float
    refused_penalty: float


def node_figures(
    sizes: Sizes,
    admitted: Mask,
    *,
    columns: int,
    minimum: int,
    penalty: float = 0.0,
    refused_penalty: float = 0.0,
) -> NodeFigures:
    """Take the figures of a node from the sizes of its classes and which of them may stand.

    A class without rows (people of a population alone) is not published and counts nowhere.

    Example:
        >>> node = node_figures(np.array([3, 1]), np.array([True, False]), columns=2, minimum=2)
        >>> node.refused, node.squares, node.kept_squares
        (1, 10.0, 9.0)
    """
    some: Mask = sizes > 0
    rows, squares, kept_classes, kept_squares, kept_rows, smallest = counting.class_figures(
        sizes, admitted & some
    )
    return NodeFigures(
        rows=rows,
        columns=columns,
        minimum=minimum,
        classes=int(np.count_nonzero(some)),
        squares=squares,
        kept_classes=kept_classes,
        kept_squares=kept_squares,
        refused=rows - kept_rows,
        smallest=smallest,
        penalty=penalty,
        refused_penalty=refused_penalty,
    )


class Loss(NamedTuple):
    """What a node loses, and a bound that grows on the way up and that no node's loss is below.

    The bound is the loss of the node if no class were refused: refusing a class never costs less.
    """

    value: Callable[[NodeFigures], float]
    bound: Callable[[NodeFigures], float]


def cell_loss(node: NodeFigures) -> float:
    """Give the mean penalty of a cell; every cell of a refused row costs 1. In [0, 1], smaller is better.

    With shares of the domain as penalties it is GCP; with level over height, one minus Sweeney's precision.

    Example:
        >>> sizes, admitted = np.array([3, 1]), np.array([True, False])
        >>> cell_loss(node_figures(sizes, admitted, columns=2, minimum=2, penalty=4.0, refused_penalty=1.0))
        0.625
    """
    shown = node.penalty - node.refused_penalty + node.columns * node.refused
    return shown / max(1, node.rows * node.columns)


def discernibility_loss(node: NodeFigures) -> float:
    """Give DM: a class costs its size squared, a refused row as much as there are rows. Smaller is better.

    Example:
        >>> discernibility_loss(node_figures(np.array([3, 1]), np.array([True, False]), columns=2, minimum=2))
        13.0
    """
    return node.kept_squares + float(node.refused) * node.rows


def class_loss(node: NodeFigures) -> float:
    """Give C_avg: mean class size over the minimum, refused rows being one class more (as in ARX).

    From 1 upwards; smaller is better. Without that class the cheapest release would show nothing at all.

    Example:
        >>> class_loss(node_figures(np.array([3, 1]), np.array([True, False]), columns=2, minimum=2))
        1.0
    """
    classes = node.kept_classes + (node.refused > 0)
    return node.rows / max(1, classes) / max(1, node.minimum)


def _cell_bound(node: NodeFigures) -> float:
    return node.penalty / max(1, node.rows * node.columns)


def _class_bound(node: NodeFigures) -> float:
    return node.rows / max(1, node.classes) / max(1, node.minimum)


LOSSES: Mapping[str, Loss] = {
    "ncp": Loss(cell_loss, _cell_bound),
    "dm": Loss(discernibility_loss, lambda node: node.squares),
    "precision": Loss(cell_loss, _cell_bound),
    "classes": Loss(class_loss, _class_bound),
}


@dataclass(frozen=True)
class Penalties:
    """What cells cost: per column and level over all rows, and for each code a field may hold."""

    totals: tuple[list[float], ...] = field(repr=False)  # per column and level: added up over all rows
    codes: Floats = field(repr=False)
    first: Mapping[tuple[int, int], int] = field(repr=False)  # of (column, level) in ``codes``

    def of_node(self, levels: tuple[int, ...]) -> float:
        """Add up the penalty of all cells of a node."""
        return sum(map(getitem, self.totals, levels))

    def of_classes(self, lattice: Lattice, grouped: Grouped, chosen: Mask) -> float:
        """Add up the penalty of the cells of some classes of a node."""
        if not chosen.any():
            return 0.0
        first = [self.first[column, level] for column, level in enumerate(grouped.levels)]
        lift = counting.Lift(
            lattice.word, lattice.shift, lattice.mask, np.array(first, np.uint64), lattice.delta
        )
        return float(counting.cell_penalties(grouped.keys, grouped.sizes, chosen, lift, self.codes))


def penalties_of(lattice: Lattice, *, by_level: bool) -> Penalties:
    """Prepare what cells cost: their level over the height, or the share of the domain that they cover.

    A missing value that is shown as missing covers nothing.
    """
    totals, blocks, first, length = [], [], {}, 0
    for column, tree in enumerate(lattice.trees):
        leaf = tree.leaf if lattice.members is None else tree.leaf[lattice.members]
        times = np.bincount(leaf + 1, minlength=tree.nodes.shape[1] + 1)
        added = np.empty(tree.levels)
        for level in range(tree.levels):
            held = codes_at(tree, level)
            missing = float(level == tree.levels - 1)
            cost = np.concatenate([[missing], tree.shares[level]])
            if by_level:
                cost = np.full(len(held), level / max(1, tree.levels - 1))
            added[level] = times @ cost
            block = np.zeros(int(held.max()) + 1)
            block[held] = cost
            first[column, level] = length
            blocks.append(block)
            length += len(block)
        totals.append(added.tolist())
    return Penalties(tuple(totals), np.concatenate(blocks) if blocks else np.zeros(1), first)
