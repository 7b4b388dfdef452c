"""The budget of a synthesiser of marginals, split before the data is touched."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations

from mahrem import check
from mahrem.dp import Relation, Unit
from mahrem.dp.accounting import (
    Approximate,
    Composed,
    DiscreteGaussian,
    Event,
    Repeated,
    epsilon_of,
    gaussian_multiplier,
    rho_for,
)
from mahrem.dp.noise import (
    GlobalSensitivity,
    IntegerNoise,
    RangedExponential,
    bounded_range_epsilon,
    global_sensitivity,
)
from mahrem.errors import Infeasible, InvalidParameter
from mahrem.learning.synthesis._clique_growth import SCALE
from mahrem.learning.synthesis._declare_domain import FINE

ONE_WAY, SCARCE_ONE_WAY = 0.1, 0.25  # share of the whole for columns; more where counts hardly stand out
SCARCE = 1_500  # rows over deviation of a single count at which that share is half way between
TREE = 0.3  # share of the rest for the tree where rounds follow, if counts stand out well
FEW = 80  # rows over deviation of a single count, for each column, at which that share is half way to all
NO_ROUNDS = 90  # the same, below which the tree has all: noise would hide what a round could find
SELECTION = 0.1  # share of a part for choosing what is counted
FEWEST_ROUNDS = 3
FEWER = 0.7  # times as many tables in each round as in the one before, so the last are counted best
PER_COLUMN = 4_000  # rows over deviation of a single count that are worth another table a column
MOST_TABLES = 30  # a column
USUAL = 75  # cells of two columns: in smaller tables counts stand out sooner
SHARP, FINEST = 1_000, 2_048  # rows over deviation of a cell from which there may be as many cells; at most
CLASS = 400  # rows of a class of the target, in deviations, from which cells are counted by classes
VISIBLE = 3.0  # a cell is seen if its count is so many deviations of the noise
ASSUMED_ROWS = 10_000  # where nobody says how many there are
LARGEST, LEAST = 100.0, 1e-30  # epsilon, delta
UNIT = 1 << 20  # scores of rounds are whole numbers of this part of a row
_SHRINK = 0.9995
_TRIES = 40


@dataclass(frozen=True, kw_only=True)
class RoundPlan:
    """A round: so many tables are selected and counted, then the model learns them.

    Attributes:
        tables: How many.
        selection: Picks one; its scores are in units of ``1 / UNIT`` rows.
        noise: On the counts of a table.
    """

    tables: int
    selection: RangedExponential = field(repr=False)
    noise: IntegerNoise


@dataclass(frozen=True, kw_only=True)
class MarginalPlan:
    """Every mechanism of a run and what all of them cost together.

    Attributes:
        one_way: Noise on the counts of each column.
        selection: Picks a clique; its scores are in units of ``1 / SCALE`` rows.
        clique: Noise on the counts of a clique.
        rounds: Tables that are counted beside the tree.
        event: What the run costs.
    """

    epsilon: float
    delta: float
    columns: int
    one_way: IntegerNoise
    selection: RangedExponential | None = field(default=None, repr=False)
    clique: IntegerNoise | None = None
    rounds: tuple[RoundPlan, ...] = ()
    event: Event = field(repr=False)

    @property
    def tables(self) -> int:
        """How many tables are counted beside the tree."""
        return sum(one.tables for one in self.rounds)


@dataclass(frozen=True)
class MarginalBudget:
    """What all marginals of a run may cost together, and under which notion of neighbours.

    Attributes:
        epsilon: The budget; ``delta`` the same.
        relation: Which tables are neighbours.
        unit: Whose presence is hidden.
    """

    epsilon: float
    delta: float
    relation: Relation
    unit: Unit

    @property
    def exact(self) -> bool:
        """Whether mechanisms are composed by their privacy loss: one row of a person is used."""
        return self.unit.rows == 1

    @property
    def everything(self) -> Event:
        """All that is paid for, as one event."""
        return Approximate(self.epsilon, self.delta)

    @property
    def reach(self) -> GlobalSensitivity:
        """How far counts of one marginal move between neighbours."""
        return global_sensitivity(0, 1, self.relation, self.unit, grouped=True, optional=True)


@lru_cache(maxsize=64)  # public numbers alone; splitting takes seconds
def plan_marginals(
    budget: MarginalBudget,
    *,
    columns: int,
    rows: int | None = None,
    rounds: int = 6,
    weight: int = 1,
    alone: bool = False,
    cells: float = USUAL,
) -> MarginalPlan:
    """Split a budget: counts of every column, a tree of cliques, then rounds that count what is farthest off.

    Where one row of a person is used, noise and selections are composed by their privacy loss distributions;
    else by zero-concentrated differential privacy, which holds for several rows too.

    Args:
        budget: What it may cost.
        columns: How many columns there are.
        rows: How many rows there are, if that is public.
        rounds: How many rounds follow the tree.
        weight: How many times a score of a round may count.
        alone: Columns alone are counted, and what goes together is not.
        cells: Of a table of two columns, as a rule; public.

    Guarantees:
        - All mechanisms together are ``(epsilon, delta)``-DP under the budget's relation and unit.
    """
    epsilon, delta = budget.epsilon, budget.delta
    refuse_budget(epsilon, delta)
    if budget.exact:
        whole = 1 / gaussian_multiplier(epsilon, delta)
    else:
        whole = math.sqrt(2 * rho_for(epsilon, delta))
    clear = (rows or ASSUMED_ROWS) * whole
    together = clear * max(1.0, math.sqrt(USUAL / cells))
    worth = columns > 2 and not alone and together >= NO_ROUNDS * columns
    tables = _tables(together, columns, rounds if worth else 0)
    split = _Split(
        budget=budget,
        columns=columns,
        tables=tables,
        weight=weight,
        alone=alone,
        clear=clear,
        together=together,
    )
    for _ in range(_TRIES):
        plan = split.at(whole)
        spent = epsilon_of(plan.event, delta, budget.relation) if budget.exact else epsilon
        if spent <= epsilon:
            return plan
        whole *= _SHRINK * epsilon / spent
    raise InvalidParameter(f"epsilon={epsilon:g}, delta={delta:g} cannot be split; take a larger delta")


def fine_cells(deviation: float, rows: int | None) -> int:
    """Say into how many cells a number is cut: the better counts stand out, the more.

    Args:
        deviation: Of the noise on a cell.
        rows: How many rows there are, if that is public.
    """
    seen = (rows or ASSUMED_ROWS) / deviation
    return FINE if seen < SHARP else int(min(seen, FINEST))


def tells_classes(deviation: float, rows: int | None, classes: int) -> bool:
    """Say whether cells of columns may be counted for each class of the target: noise grows with them."""
    return (rows or ASSUMED_ROWS) >= CLASS * classes * deviation


def cells_of_pairs(sizes: Sequence[int]) -> float:
    """Give how many cells a table of two columns has in the mean.

    Example:
        >>> cells_of_pairs([2, 3, 4])
        8.666666666666666
    """
    pairs = [first * second for first, second in combinations(sizes, 2)]
    return sum(pairs) / len(pairs) if pairs else USUAL


def _one_way_share(clear: float) -> float:
    """Give the share of single columns by how clearly counts stand out: rows over the deviation of one."""
    return ONE_WAY + (SCARCE_ONE_WAY - ONE_WAY) / (1 + clear / SCARCE)


def _tree_share(clear: float, columns: int) -> float:
    """Give the share of the tree in what is left: its tables are as many as the columns."""
    return TREE + (1 - TREE) / (1 + math.pow(clear / columns / FEW, 1.5))


def _tables(clear: float, columns: int, rounds: int) -> tuple[int, ...]:
    """Say from public numbers how many tables each round counts: the more, the better counts stand out."""
    if not rounds:
        return ()
    wanted = min(clear / PER_COLUMN, MOST_TABLES) * columns
    shares = [FEWER**number for number in range(min(rounds, max(FEWEST_ROUNDS, math.ceil(wanted))))]
    return tuple(max(1, math.ceil(wanted * one / sum(shares))) for one in shares)


@dataclass(frozen=True, kw_only=True)
class _Split:
    """Splits Gaussian noise: squares of multipliers' inverses add up."""

    budget: MarginalBudget
    columns: int
    tables: tuple[int, ...]
    weight: int
    alone: bool
    clear: float  # rows over the deviation of a single count
    together: float  # the same for tables of several columns, by their size

    def at(self, whole: float) -> MarginalPlan:
        """Make the plan in which everything together is Gaussian noise of multiplier ``1 / whole``."""
        cliques, square = 0 if self.alone else self.columns - 1, whole**2
        first = _one_way_share(self.clear) if cliques else 1.0
        one_way = self._noise(square * first, self.columns)
        events = [self._paid(one_way, self.columns)]
        selection = clique = None
        rounds = []
        if cliques:
            rest = square * (1 - first)
            part = rest * _tree_share(self.together, self.columns) if self.tables else rest
            selection = self._selection(part * SELECTION, cliques, 2 * SCALE)
            clique = self._noise(part * (1 - SELECTION), cliques)
            events += [Repeated(selection.event, cliques), self._paid(clique, cliques)]
            each = (rest - part) / max(1, len(self.tables))
            for tables in self.tables:
                round_plan = RoundPlan(
                    tables=tables,
                    selection=self._selection(each * SELECTION, tables, self.weight * UNIT),
                    noise=self._noise(each * (1 - SELECTION), tables),
                )
                rounds.append(round_plan)
                events += [Repeated(round_plan.selection.event, tables), self._paid(round_plan.noise, tables)]
        return MarginalPlan(
            epsilon=self.budget.epsilon,
            delta=self.budget.delta,
            columns=self.columns,
            one_way=one_way,
            selection=selection,
            clique=clique,
            rounds=tuple(rounds),
            event=Composed(tuple(events)) if self.budget.exact else self.budget.everything,
        )

    def _noise(self, square: float, times: int) -> IntegerNoise:
        sigma = math.nextafter(math.sqrt(self.budget.reach.l2_squared * times / square), math.inf)
        return count_noise(sigma, self.budget.reach, self.budget.everything, exact=self.budget.exact)

    def _paid(self, noise: IntegerNoise, times: int) -> Event:
        return count_event(noise.scale, self.budget.reach, times)

    def _selection(self, square: float, times: int, moved: int) -> RangedExponential:
        each = math.sqrt(square / times)
        moved *= self.budget.unit.rows * (1 if self.budget.relation is Relation.ADD_REMOVE else 2)
        scores = GlobalSensitivity(
            relation=self.budget.relation, l1=moved, l2_squared=moved**2, linf=moved, single=False
        )
        if self.budget.exact:
            return RangedExponential(epsilon=bounded_range_epsilon(1 / each), sensitivity=scores)
        return WholeExponential(epsilon=2 * each, sensitivity=scores, whole=self.budget.everything)


@dataclass(frozen=True, kw_only=True)
class WholeExponential(RangedExponential):
    """An exponential mechanism that is paid for together with everything else of a run."""

    whole: Event

    @property
    def event(self) -> Event:
        """What the run costs."""
        return self.whole


def count_event(sigma: float, reach: GlobalSensitivity, times: int) -> Event:
    """Say what counts of one row cost: it moves one entry, or two where it is exchanged for another."""
    return Repeated(DiscreteGaussian(sigma, 1), times * reach.l2_squared)


def count_noise(sigma: float, reach: GlobalSensitivity, everything: Event, *, exact: bool) -> IntegerNoise:
    """Make noise on counts; its event is its own where that is exact, else that of everything."""
    event = DiscreteGaussian(sigma, 1) if exact else everything
    return IntegerNoise(kind="gaussian", scale=sigma, sensitivity=reach, event=event)


def refuse_budget(epsilon: float, delta: float) -> None:
    """Refuse an epsilon or delta that noise on many marginals cannot be made for."""
    if not 0 < check.finite(epsilon=epsilon) <= LARGEST:
        raise InvalidParameter(f"epsilon={epsilon!r} must be above 0 and at most {LARGEST:g}")
    if not LEAST <= check.finite(delta=delta) < 1:
        raise InvalidParameter(
            f"delta={delta!r}: noise on many marginals needs a delta above 0 (at least {LEAST:g}) and far "
            f"below 1/rows: 1e-6, say"
        )


def refuse_too_little(budget: MarginalBudget, *, columns: int, cells: int, rows: int | None) -> None:
    """Refuse a budget under which not even the coarsest column could be told from noise; nothing is spent.

    Args:
        budget: What may be spent.
        columns: How many columns there are.
        cells: Cells of the column that has fewest.
        rows: How many rows there are, if that is public.
    """
    about, epsilon = rows or ASSUMED_ROWS, budget.epsilon

    def enough(paid: float, count: int) -> bool:
        spread = math.sqrt(budget.reach.l2_squared)
        single = gaussian_multiplier(paid, budget.delta)
        part = 1.0 if count == 1 else _one_way_share(about / single)
        deviation = spread * single * math.sqrt(count / part)
        return about / cells >= VISIBLE * deviation

    if enough(epsilon, columns):
        return
    needed = epsilon
    while not enough(needed, columns) and needed < 1e3:
        needed *= 1.1
    fewer = next((count for count in range(columns - 1, 0, -1) if enough(epsilon, count)), 0)
    what = f"epsilon of about {needed:.2g} would do" if needed < 1e3 else "no epsilon would do"
    less = f", or {fewer} of the {columns} columns" if fewer else ""
    whence = "" if rows else f" ({ASSUMED_ROWS} rows are assumed: tell the ledger how many there are)"
    raise Infeasible(
        f"epsilon={epsilon:g} is too small for any marginal of {columns} columns and {about} rows{whence}: "
        f"its noise would hide every count; {what}{less}; nothing was spent",
        reached=needed,
    )
