"""What a federation agreed to learn, and how: the same for the server, the clients and a simulation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias, get_args

import polars as pl

from mahrem import check
from mahrem.errors import ColumnNotFound, InvalidInput, InvalidParameter
from mahrem.federated.rules._exact import ExactSettings, RulesResult, learn_exact
from mahrem.federated.rules._one_shot import SumOver, learn_one_shot
from mahrem.federated.sums import Adder, EncryptedSum, MaskedSum, PlainSum
from mahrem.federated.wire import MessageGrid
from mahrem.learning.rules import CbaSettings, Cut, QuantileBins

__all__ = ["How", "RulesPlan", "RulesSchema", "SumKind", "learn_plan"]

How: TypeAlias = Literal["exact", "one-shot"]
SumKind: TypeAlias = Literal["plain", "masked", "homomorphic"]


@dataclass(frozen=True, kw_only=True)
class RulesSchema:
    """The columns all tables share, the one to predict, and where numbers are cut into bins.

    Example:
        >>> schema = RulesSchema(columns=("age", "sex"), target="ill", bins={"age": (40,)})
        >>> frame = pl.DataFrame({"id": [1, 2], "age": ["31", "52"], "sex": ["f", "m"], "ill": ["no", "yes"]})
        >>> schema.cells(frame).rows()
        [('< 40', 'f', 'no'), ('>= 40', 'm', 'yes')]
    """

    columns: tuple[str, ...]
    target: str
    bins: Mapping[str, Sequence[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.columns or len({*self.columns, self.target}) != len(self.columns) + 1:
            raise InvalidParameter(
                f"columns={len(self.columns)}: name each once, at least one, and the target apart"
            )
        check.columns_exist(self.bins, self.columns)
        bins = {name: tuple(check.finite(cut=cut) for cut in cuts) for name, cuts in self.bins.items()}
        for name, cuts in bins.items():
            if list(cuts) != sorted(set(cuts)):
                raise InvalidParameter(f"bins of {name!r} must rise")
        object.__setattr__(self, "bins", bins)

    def cells(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Give the agreed columns of a table with numbers in bins; nothing else of it is used.

        Raises:
            ColumnNotFound: If one is missing.
            InvalidInput: If a column with bins holds something else than numbers.
        """
        for name in (*self.columns, self.target):
            if name not in frame.columns:
                raise ColumnNotFound(name, frame.columns)
        chosen = frame.select(*self.columns, self.target)
        if not self.bins:
            return chosen
        try:
            numbers = chosen.with_columns(pl.col(name).cast(pl.Float64) for name in self.bins)
        except pl.exceptions.PolarsError:
            raise InvalidInput("a column that is cut into bins holds cells that are no numbers") from None
        binned = QuantileBins(columns=tuple(self.bins))
        binned.cuts_ = {
            name: pl.Series(cuts, dtype=pl.Float64).to_numpy() for name, cuts in self.bins.items()
        }
        return binned.transform(numbers)


@dataclass(frozen=True, kw_only=True)
class RulesPlan:
    """How a federation learns.

    - ``how``: ``exact`` (the model of all rows together) or ``one-shot`` (local rules, merged once).
    - ``sum``: how counts are added in ``exact``: ``plain``, ``masked`` or ``homomorphic``; one-shot rules are
      not added up, and it is always ``plain``.
    - ``support``, ``confidence``, ``longest``, ``cut``: of CBA.
    - ``sum_over``: of ``one-shot``; see :class:`MergedRules`.
    - ``least_clients``: fewer and there is no model; a client under masks refuses a sum of fewer, too.
    - ``least_count``: counts of fewer people leave a client as 0; above 1 the model is not exact.
    - ``recount``: see :class:`ExactSettings`.
    """

    how: How = "exact"
    sum: SumKind = "masked"
    support: float = 0.2
    confidence: float = 0.5
    longest: int | None = None
    cut: Cut = "least"
    sum_over: SumOver = "all"
    least_clients: int = 2
    least_count: int = 1
    recount: bool = False

    def __post_init__(self) -> None:
        check.one_of(get_args(How), how=self.how)
        check.one_of(get_args(SumKind), sum=self.sum)
        check.one_of(get_args(SumOver), sum_over=self.sum_over)
        check.at_least(1, least_clients=check.whole(least_clients=self.least_clients))
        check.at_least(1, least_count=check.whole(least_count=self.least_count))
        if self.how == "one-shot":
            object.__setattr__(
                self, "sum", "plain"
            )  # the server sees every client's rules: say so everywhere
        if self.hides and self.least_clients < 2:
            raise InvalidParameter(f"least_clients={self.least_clients}: a sum of one client hides nothing")
        self.cba()

    @property
    def hides(self) -> bool:
        """Whether the server sees sums only."""
        return self.how == "exact" and self.sum != "plain"

    def cba(self) -> CbaSettings:
        """Give the settings of CBA."""
        return CbaSettings(
            support=self.support, confidence=self.confidence, longest=self.longest, cut=self.cut
        )

    def adder(self, public: bytes | None = None) -> Adder:
        """Give what adds the counts; homomorphic sums need the server's public key."""
        if self.sum == "plain":
            return PlainSum()
        if self.sum == "masked":
            return MaskedSum()
        if public is None:
            raise InvalidParameter("sum='homomorphic' needs the public key of the sums")
        return EncryptedSum(public)

    def as_dict(self) -> dict[str, Any]:
        """Give what goes into a file; what is None is left out."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def learn_plan(
    grid: MessageGrid, columns: Sequence[str], plan: RulesPlan, public: bytes | None = None
) -> RulesResult:
    """Learn what was agreed over a grid, in one process or over many.

    Args:
        grid: The clients.
        columns: The columns of all tables, without the target.
        plan: What was agreed.
        public: The server's key of homomorphic sums.
    """
    if plan.how == "one-shot":
        return learn_one_shot(
            grid, columns, plan.cba(), sum_over=plan.sum_over, least_clients=plan.least_clients
        )
    settings = ExactSettings(
        cba=plan.cba(),
        least_clients=plan.least_clients,
        least_count=plan.least_count,
        recount=plan.recount,
    )
    return learn_exact(grid, columns, settings, adder=plan.adder(public))
