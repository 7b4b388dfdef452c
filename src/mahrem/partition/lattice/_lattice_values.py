"""Values of a column in the classes of a node: made from those of a finer node, never from rows."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mahrem.arrays import counting
from mahrem.models import Counts
from mahrem.partition.lattice._lattice import Lattice, Tree, lattice_of_trees
from mahrem.table import Values
from mahrem.types import Floats, Integers


@dataclass(frozen=True)
class ValuedLattice:
    """A lattice with the values of one more column as a column that is never lifted.

    Guarantees:
        - Classes come in the order of the plain lattice, with their values in order.
    """

    lattice: Lattice = field(repr=False)
    values: Values = field(repr=False)
    table: Floats = field(repr=False)  # (values,) share of each in the whole table
    valued_rows: int  # rows that have a value

    @classmethod
    def of(cls, lattice: Lattice, values: Values) -> ValuedLattice:
        """Put the values beside the columns of a lattice."""
        leaves = np.arange(max(values.size, 1))
        tree = Tree(
            values.codes.astype(np.int64),
            np.stack([leaves, np.zeros_like(leaves)]),
            np.zeros((2, len(leaves))),
        )
        wider = lattice_of_trees((*lattice.trees, tree), len(values.codes), members=lattice.members)
        codes = values.codes if lattice.members is None else values.codes[lattice.members]
        shown = np.bincount(codes[codes >= 0], minlength=values.size)
        valued_rows = int(shown.sum())
        return cls(wider, values, shown / max(1, valued_rows), valued_rows)

    def counts(self, levels: tuple[int, ...]) -> Counts:
        """Count the values in every class of a node."""
        pairs = self.lattice.classes((*levels, 0))
        lift = self.lattice.lift(pairs.levels, (*levels, 1))
        _, sizes, group = counting.regroup(pairs.keys, pairs.sizes, lift)
        code = self.lattice.codes(pairs, len(levels)).astype(np.int64)
        counted = np.flatnonzero((code > 0) & (pairs.sizes > 0))
        counted = counted[_in_order(group[counted].astype(np.int64), code[counted])]
        return Counts(
            sizes=sizes,
            group=group[counted].astype(np.int64),
            value=code[counted] - 1,
            count=pairs.sizes[counted],
            table=self.table,
            ancestors=self.values.ancestors,
            missing=self.values.missing,
        )


def _in_order(group: Integers, code: Integers) -> Integers:
    """Sort by class, and by value within: numbers of 16 bits are sorted by counting them."""
    if max(int(group.max(initial=0)), int(code.max(initial=0))) >= 1 << 16:
        return np.lexsort((code, group))
    by_value = np.argsort(code.astype(np.uint16), kind="stable")
    return by_value[np.argsort(group[by_value].astype(np.uint16), kind="stable")]
