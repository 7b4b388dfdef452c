"""Values of a column in the classes of a node: made from those of a finer node, never from rows."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mahrem.arrays import counting
from mahrem.models import Counts
from mahrem.partition.lattice._lattice import Lattice, Tree, lattice_of_trees
from mahrem.table import Values
from mahrem.types import Floats, Mask


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

    def counts(self, levels: tuple[int, ...], chosen: Mask) -> Counts:
        """Count the values in some classes of a node; of the others only how large they are is said."""
        pairs = self.lattice.classes((*levels, 0))
        lift = self.lattice.lift(pairs.levels, (*levels, 1))
        _, sizes, classes = counting.regroup(pairs.keys, pairs.sizes, lift)
        code = self.lattice.codes(pairs, len(levels))
        group, value, count = counting.values_by_class(classes, code, pairs.sizes, chosen, len(self.table))
        return Counts(
            sizes=sizes,
            group=group,
            value=value,
            count=count,
            table=self.table,
            ancestors=self.values.ancestors,
            missing=self.values.missing,
        )
