"""The budget of a synthesiser of marginals, split before the data is touched."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

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

ONE_WAY, SELECTION = 0.12, 0.08  # shares of the budget; the rest pays for cliques, and for pairs
PAIRS = 0.5  # share of that rest for all pairs of columns, where they can be told from noise
PAIR_CELLS = 64  # about so many has a pair of columns once cells are gathered
STANDS_OUT = 5.0  # deviations of its noise that such a cell must hold on average
VISIBLE = 3.0  # a cell is seen if its count is so many deviations of the noise
ASSUMED_ROWS = 10_000  # where nobody says how many there are
LARGEST, LEAST = 100.0, 1e-30  # epsilon, delta
_SHRINK = 0.998
_TRIES = 40


@dataclass(frozen=True, kw_only=True)
class MarginalPlan:
    """Every mechanism of a run and what all of them cost together.

    Attributes:
        one_way: Noise on the counts of each column.
        selection: Picks a clique; its scores are in units of ``1 / SCALE`` rows.
        clique: Noise on the counts of a clique.
        pair: Noise on the counts of every pair of columns; None where noise would hide them.
        event: What the run costs.
    """

    epsilon: float
    delta: float
    columns: int
    one_way: IntegerNoise
    selection: RangedExponential | None = field(repr=False)
    clique: IntegerNoise | None
    pair: IntegerNoise | None = None
    event: Event = field(repr=False)

    @property
    def pairs(self) -> int:
        """How many pairs of columns there are."""
        return self.columns * (self.columns - 1) // 2


def plan_marginals(
    *, epsilon: float, delta: float, columns: int, relation: Relation, unit: Unit, rows: int | None = None
) -> MarginalPlan:
    """Split a budget: counts of every column, then for each clique one selection and its counts.

    Where one row of a person is used, noise and selections are composed by their privacy loss distributions;
    else by zero-concentrated differential privacy, which holds for several rows too.

    Guarantees:
        - All mechanisms together are ``(epsilon, delta)``-DP under ``relation`` and ``unit``.
    """
    refuse_budget(epsilon, delta)
    reach = global_sensitivity(0, 1, relation, unit, grouped=True, optional=True)
    moved = 2 * SCALE * unit.rows * (1 if relation is Relation.ADD_REMOVE else 2)
    scores = GlobalSensitivity(relation=relation, l1=moved, l2_squared=moved**2, linf=moved, single=False)
    exact = unit.rows == 1
    whole = 1 / gaussian_multiplier(epsilon, delta) if exact else math.sqrt(2 * rho_for(epsilon, delta))
    paired = _pairs_stand_out(whole, columns, reach, rows or ASSUMED_ROWS)
    for _ in range(_TRIES):
        plan = _split(whole, epsilon, delta, columns, reach, scores, exact=exact, paired=paired)
        if not exact or epsilon_of(plan.event, delta, relation) <= epsilon:
            return plan
        whole *= _SHRINK
    raise InvalidParameter(f"epsilon={epsilon:g}, delta={delta:g} cannot be split; take a larger delta")


def _split(
    whole: float,
    epsilon: float,
    delta: float,
    columns: int,
    reach: GlobalSensitivity,
    scores: GlobalSensitivity,
    *,
    exact: bool,
    paired: bool,
) -> MarginalPlan:
    """Split Gaussian noise of multiplier ``1 / whole``: squares of multipliers' inverses add up."""
    cliques = columns - 1
    first = whole if not cliques else whole * math.sqrt(ONE_WAY)
    length = math.sqrt(reach.l2_squared)
    one_way = math.nextafter(length * math.sqrt(columns) / first, math.inf)
    everything: Event = Approximate(epsilon, delta)
    if not cliques:
        event = count_event(one_way, reach, columns) if exact else everything
        noise = count_noise(one_way, reach, everything, exact=exact)
        return MarginalPlan(
            epsilon=epsilon,
            delta=delta,
            columns=columns,
            one_way=noise,
            selection=None,
            clique=None,
            event=event,
        )
    each = whole * math.sqrt(SELECTION / cliques)
    select = bounded_range_epsilon(1 / each) if exact else 2 * each
    picks = RangedExponential(epsilon=select, sensitivity=scores)
    if not exact:
        picks = WholeExponential(epsilon=select, sensitivity=scores, whole=everything)
    rest, pairs = 1 - ONE_WAY - SELECTION, columns * (columns - 1) // 2
    part = rest * (1 - PAIRS) if paired else rest
    clique = math.nextafter(length * math.sqrt(cliques) / (whole * math.sqrt(part)), math.inf)
    pair = math.nextafter(length * math.sqrt(pairs) / (whole * math.sqrt(rest * PAIRS)), math.inf)
    event = everything
    if exact:
        event = Composed(
            (
                count_event(one_way, reach, columns),
                Repeated(picks.event, cliques),
                count_event(clique, reach, cliques),
                *([count_event(pair, reach, pairs)] if paired else []),
            )
        )
    return MarginalPlan(
        epsilon=epsilon,
        delta=delta,
        columns=columns,
        one_way=count_noise(one_way, reach, everything, exact=exact),
        selection=picks,
        clique=count_noise(clique, reach, everything, exact=exact),
        pair=count_noise(pair, reach, everything, exact=exact) if paired else None,
        event=event,
    )


def _pairs_stand_out(whole: float, columns: int, reach: GlobalSensitivity, rows: int) -> bool:
    """Say from public numbers whether counts of all pairs would stand out from their noise."""
    if columns < 3:  # a tree keeps every pair there is
        return False
    pairs = columns * (columns - 1) / 2
    share = (1 - ONE_WAY - SELECTION) * PAIRS
    deviation = math.sqrt(reach.l2_squared * pairs / share) / whole
    return rows / PAIR_CELLS >= STANDS_OUT * deviation


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


def refuse_too_little(
    epsilon: float,
    delta: float,
    *,
    columns: int,
    cells: int,
    rows: int | None,
    relation: Relation,
    unit: Unit,
) -> None:
    """Refuse a budget under which not even the coarsest column could be told from noise; nothing is spent.

    Args:
        epsilon: The budget.
        delta: The same.
        columns: How many columns there are.
        cells: Cells of the column that has fewest.
        rows: How many rows there are, if that is public.
        relation: Which tables are neighbours.
        unit: Whose presence is hidden.
    """
    about = rows or ASSUMED_ROWS

    def enough(budget: float, count: int) -> bool:
        spread = math.sqrt(global_sensitivity(0, 1, relation, unit, grouped=True, optional=True).l2_squared)
        part = 1.0 if count == 1 else ONE_WAY
        deviation = spread * gaussian_multiplier(budget, delta) * math.sqrt(count / part)
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
