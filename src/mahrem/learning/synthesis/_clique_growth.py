"""Which columns hang together: cliques grown one by one, selected privately and counted with noise."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from mahrem.learning.synthesis._byte_rows import ByteRows
from mahrem.learning.synthesis._clique_tree import Clique, Measured
from mahrem.types import Floats, Integers

SCALE = 1 << 20  # shares of a column are whole numbers that add up to this: scores are exact integers
_MOST_CANDIDATES = 4_000
_MOST_HELD = 5_000_000  # cells of tables that are kept for later rounds

Select = Callable[[Integers], int]
Count = Callable[[Integers], Sequence[int] | Integers]


@dataclass(frozen=True, kw_only=True)
class Growth:
    """The public rules of growing.

    Attributes:
        sizes: Groups of each column.
        target: The column that every clique holds; None for no such column.
        width: Columns a new column hangs on at most, the target among them.
        most: Cells of a clique at most.
        deviation: Of the noise on counts.
        shares: For each column, its noisy distribution as whole numbers that add up to :data:`SCALE`.
    """

    sizes: tuple[int, ...]
    target: int | None
    width: int
    most: int
    deviation: float
    shares: tuple[Integers, ...] = field(repr=False)


def marginal_counts(codes: Integers, columns: Sequence[int], sizes: Sequence[int]) -> Integers:
    """Count rows over some columns."""
    shape = tuple(sizes[column] for column in columns)
    flat = np.zeros(len(codes), dtype=np.int64)
    for column, size in zip(columns, shape, strict=True):
        flat = flat * size + codes[:, column]
    return np.bincount(flat, minlength=math.prod(shape)).reshape(shape)


def grow_cliques(
    tables: CountedTables, growth: Growth, select: Select, count: Count
) -> tuple[tuple[Clique, ...], list[Measured]]:
    """Grow a tree of cliques over all columns.

    Every round scores how strongly each column that is not in the tree depends on columns of some clique that
    is: the L1 distance of the counts from those of independence, less what noise would make of it. One
    candidate is selected and its table is counted with noise.

    Args:
        tables: Counts of the groups of rows; private.
        growth: The public rules.
        select: Selects the place of a large score privately; a row moves a score by at most ``2 * SCALE``.
        count: Adds noise to counts.

    Guarantees:
        - The data is touched by ``select`` and ``count`` alone, ``d - 1`` times each, whatever it holds.
        - Cliques form a tree in which each adds one column (running intersection holds).

    References:
        McKenna, Miklau, Sheldon: Winning the NIST contest (MST), 2021; McKenna, Mullins, Sheldon, Miklau:
        AIM: an adaptive and iterative mechanism, 2022; Zhang et al.: PrivBayes, 2017 (growing by parents);
        Friedman, Geiger, Goldszmidt: Bayesian network classifiers, 1997 (a tree below the target).

    Example:
        >>> codes = np.array([[0, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1]] * 50)
        >>> even = (np.array([SCALE // 2, SCALE // 2]),) * 3
        >>> rules = Growth(sizes=(2, 2, 2), target=None, width=1, most=99, deviation=1.0, shares=even)
        >>> best, as_it_is = lambda scores: int(np.argmax(scores)), lambda counts: counts  # not private
        >>> grow_cliques(CountedTables(codes, (2, 2, 2)), rules, best, as_it_is)[0][1].columns
        (0, 1)
    """
    columns = len(growth.sizes)
    if columns == 1:
        return (Clique((0,), -1),), []
    cliques: list[Clique] = [] if growth.target is None else [Clique((growth.target,), -1)]
    measured: list[Measured] = []
    for _ in range(columns - 1):
        candidates = list(itertools.islice(_candidates(cliques, growth), _MOST_CANDIDATES))
        tables.count_all([(*above, new) for above, new in candidates])
        scores = np.array([_score(tables, growth, above, new) for above, new in candidates])
        above, new = candidates[select(scores)]
        if not cliques:
            cliques.append(Clique((above[0],), -1))
        parent = next(place for place, one in enumerate(cliques) if set(above) <= set(one.columns))
        cliques.append(Clique((*above, new), parent))
        measured.append(tables.noisy((*above, new), count, growth.deviation))
    return tuple(cliques), measured


@dataclass
class CountedTables:
    """Counts over columns, each made once as long as they fit in memory."""

    codes: Integers
    sizes: tuple[int, ...]
    known: dict[tuple[int, ...], Integers] = field(default_factory=dict)
    held: int = 0  # cells

    def __post_init__(self) -> None:
        self._rows = ByteRows.of(self.codes, self.sizes)

    def count_all(self, sets: Iterable[tuple[int, ...]]) -> None:
        """Count rows over many sets of columns at once, as far as the counts can be kept; private."""
        wanted = []
        for key in dict.fromkeys(tuple(sorted(one)) for one in sets):
            cells = math.prod(self.sizes[column] for column in key)
            if key not in self.known and self.held + cells <= _MOST_HELD:
                wanted.append(key)
                self.held += cells
        self.known.update(zip(wanted, self._counted(wanted), strict=True))

    def counts(self, columns: tuple[int, ...]) -> Integers:
        """Count rows over columns; private."""
        key = tuple(sorted(columns))
        if key not in self.known:
            self.count_all([key])
        counts = self.known[key] if key in self.known else self._counted([key])[0]
        return counts.transpose(tuple(key.index(column) for column in columns))

    def noisy(self, columns: tuple[int, ...], count: Count, deviation: float) -> Measured:
        """Count rows over columns with noise."""
        counts = self.counts(columns)
        noisy = np.asarray(count(counts.ravel()), dtype=np.float64)
        return Measured(columns, noisy.reshape(counts.shape), deviation)

    def _counted(self, sets: Sequence[tuple[int, ...]]) -> list[Integers]:
        weighed = self._rows.counts(sets, np.ones(len(self.codes)))  # whole numbers, exactly
        return [one.astype(np.int64) for one in weighed]


def _candidates(cliques: Sequence[Clique], growth: Growth) -> Iterator[tuple[tuple[int, ...], int]]:
    """List what may hang on what; depends on public things alone. There is always one."""
    if not cliques:
        for first, second in itertools.combinations(range(len(growth.sizes)), 2):
            yield (first,), second
        return
    inside = {column for clique in cliques for column in clique.columns}
    sets = _hooks(cliques, growth)
    shortest = min(len(above) for above in sets)
    for new in range(len(growth.sizes)):
        for above in () if new in inside else sets:
            cells = growth.sizes[new] * math.prod(growth.sizes[column] for column in above)
            if cells <= growth.most or len(above) == shortest:
                yield above, new


def _hooks(cliques: Sequence[Clique], growth: Growth) -> list[tuple[int, ...]]:
    """List the sets of columns that a new one may hang on: parts of a clique, with the target if any."""
    hooks: dict[tuple[int, ...], None] = {}
    fixed = () if growth.target is None else (growth.target,)
    for clique in cliques:
        others = sorted(column for column in clique.columns if column != growth.target)
        for width in range(growth.width - len(fixed) + 1):
            for chosen in itertools.combinations(others, width):
                if fixed or chosen:
                    hooks[(*fixed, *chosen)] = None
    return list(hooks)


def _score(tables: CountedTables, growth: Growth, above: tuple[int, ...], new: int) -> int:
    """Score a candidate exactly, in whole numbers."""
    counts = tables.counts((*above, new))
    alone = counts.sum(axis=-1, keepdims=True)
    apart = int(np.abs(counts * SCALE - alone * growth.shares[new]).sum())
    noise = math.sqrt(2 / math.pi) * growth.deviation * counts.size
    return apart - round(noise * SCALE)


def whole_shares(weight: Floats) -> Integers:
    """Write a distribution as whole numbers that add up to :data:`SCALE`."""
    shares: Integers = np.floor(weight / weight.sum() * SCALE).astype(np.int64)
    shares[int(np.argmax(shares))] += SCALE - int(shares.sum())
    return shares
