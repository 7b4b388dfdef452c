"""Vetting: every client's update is judged before it counts, and the verdict is kept with its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mahrem.errors import InvalidInput
from mahrem.federated.weights._defence import Defence, JudgedUpdates
from mahrem.federated.weights._held_out import error_on
from mahrem.federated.weights._norm_bound import norms_of
from mahrem.federated.weights._protections import PROTECTIONS, Protections
from mahrem.types import Floats

if TYPE_CHECKING:
    import polars as pl

    from mahrem.federated.weights._plan import LearningPlan
    from mahrem.federated.weights._schema import SharedSchema


@dataclass(frozen=True, kw_only=True)
class UpdateVerdict:
    """What was found about one client's update in one round.

    Attributes:
        round: The round.
        client: Its name.
        taken: Whether the update counts.
        why: Why not, or what was done to it.
        norm: Its length as it came.
        score: How odd it is, see :func:`anomaly_scores`.
        rise: How much it raises the error on held-out rows.
    """

    round: int
    client: str
    taken: bool
    why: str = ""
    norm: float | None = None
    score: float | None = None
    rise: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data."""
        return asdict(self)


@dataclass
class Vetting:
    """Judges the updates of each round by the defences that were switched on.

    Args:
        protections: The switches.
        defences: What judges, in this order.
        vetted: Told each verdict as soon as it is there.
    """

    protections: Protections
    defences: tuple[Defence, ...] = ()
    vetted: Callable[[UpdateVerdict], None] = field(default=lambda _: None, repr=False)
    verdicts: list[UpdateVerdict] = field(default_factory=list, repr=False)

    @classmethod
    def of(
        cls,
        schema: SharedSchema,
        plan: LearningPlan,
        held_out: pl.DataFrame | None = None,
        vetted: Callable[[UpdateVerdict], None] = lambda _: None,
    ) -> Self:
        """Give the defences of a plan; with held-out rows where it asks for them.

        Raises:
            InvalidParameter: If there are none.
            InvalidInput: If none of them has an agreed class.
        """
        error = None
        if held_out is not None and plan.protections.held_out is not None:
            rows, labels = schema.rows(held_out)
            if len(rows) == 0:
                raise InvalidInput("rows=0: no held-out row has an agreed class")
            error = error_on(plan.network(), rows, labels, len(schema.classes))
        defences = tuple(
            PROTECTIONS[name].load()(value, error)
            for name, value in plan.protections.vetting.items()
            if PROTECTIONS[name].by_client
        )
        return cls(plan.protections, defences, vetted)

    def judge(self, number: int, given: Floats, weights: Mapping[str, Floats]) -> dict[str, Floats]:
        """Give the weights that count, shortened where they are too far away.

        Args:
            number: The round.
            given: The weights that all were given.
            weights: What each client sent; of the right shape, finite.

        Raises:
            Infeasible: If there are too few clients to compare.
        """
        if not self.protections.vetting or not weights:
            return dict(weights)
        start = np.asarray(given, np.float64)
        judged = JudgedUpdates(start, np.stack(list(weights.values())).astype(np.float64) - start)
        judged.figures["norm"] = norms_of(judged.updates)
        for defence in self.defences:
            defence.judge(judged)
        kept: dict[str, Floats] = {}
        for place, name in enumerate(weights):
            taken = not judged.reasons[place]
            if taken:
                kept[name] = start + judged.updates[place]
            why = "; ".join(judged.notes[place] if taken else judged.reasons[place])
            figures = {figure: _short(values[place]) for figure, values in judged.figures.items()}
            self._keep(UpdateVerdict(round=number, client=name, taken=taken, why=why, **figures))
        return kept

    def _keep(self, verdict: UpdateVerdict) -> None:
        self.verdicts.append(verdict)
        self.vetted(verdict)

    def note(self, number: int, refused: Mapping[str, str]) -> None:
        """Keep why answers of a round were refused before they could be judged."""
        for name, why in refused.items():
            self._keep(UpdateVerdict(round=number, client=name, taken=False, why=why))

    def refused(self, number: int) -> dict[str, str]:
        """Name the clients whose update of a round does not count, with the reason."""
        last = takewhile(lambda verdict: verdict.round == number, reversed(self.verdicts))
        return {verdict.client: verdict.why for verdict in last if not verdict.taken}

    def barred(self) -> dict[str, str]:
        """Name the clients that were refused too often to be asked again."""
        strikes = self.protections.strikes
        if strikes is None:
            return {}
        refused = [verdict for verdict in self.verdicts if not verdict.taken]
        counts = Counter(verdict.client for verdict in refused)
        last = {verdict.client: verdict.why for verdict in refused}
        return {
            name: f"refused in {count} rounds, the last time: {last[name]}"
            for name, count in counts.items()
            if count >= strikes
        }

    def require(self, clients: int) -> None:
        """Refuse a number of clients that is too small to compare them."""
        for defence in self.defences:
            defence.require(clients)


def _short(number: float) -> float:
    return float(f"{float(number):.6g}")
