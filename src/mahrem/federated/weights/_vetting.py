"""Vetting: every client's update is judged before it counts, and the verdict is kept with its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.federated.networks import Network, scores_of
from mahrem.federated.weights._anomaly import LEAST_COMPARED, anomaly_scores
from mahrem.federated.weights._average import enough
from mahrem.federated.weights._norm_bound import bound_norms, norms_of
from mahrem.federated.weights._protections import Protections
from mahrem.types import Floats, Integers

if TYPE_CHECKING:
    import polars as pl

    from mahrem.federated.weights._plan import LearningPlan
    from mahrem.federated.weights._schema import SharedSchema

__all__ = ["UpdateVerdict", "Vetting", "error_on"]

Error = Callable[[Floats], float]
LEAST_CHANCE = 1e-12


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
        protections: The switches: ``norm_bound``, ``anomaly``, ``held_out``, ``strikes``.
        error: The error of weights on rows that no client has; with ``held_out``.
        told: Told each verdict as soon as it is there.
    """

    protections: Protections
    error: Error | None = field(default=None, repr=False)
    told: Callable[[UpdateVerdict], None] = field(default=lambda _: None, repr=False)
    verdicts: list[UpdateVerdict] = field(default_factory=list, repr=False)

    @classmethod
    def of(
        cls,
        schema: SharedSchema,
        plan: LearningPlan,
        held_out: pl.DataFrame | None = None,
        told: Callable[[UpdateVerdict], None] | None = None,
    ) -> Self:
        """Give the defences of a plan; with held-out rows where it asks for them.

        Raises:
            InvalidParameter: If there are none.
            InvalidInput: If none of them has an agreed class.
        """
        made = cls(plan.protections, told=told or (lambda _: None))
        if plan.protections.held_out is None:
            return made
        if held_out is None:
            raise InvalidParameter(
                f"held_out={plan.protections.held_out:g} needs held-out rows: a table of the agreed columns "
                "that no client has"
            )
        rows, labels = schema.rows(held_out)
        if len(rows) == 0:
            raise InvalidInput("rows=0: no held-out row has an agreed class")
        made.error = error_on(plan.network(), rows, labels, len(schema.classes))
        return made

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
        names, start = list(weights), np.asarray(given, np.float64)
        updates = np.stack([weights[name] for name in names]).astype(np.float64) - start
        norms = norms_of(updates)
        reasons: list[list[str]] = [[] for _ in names]
        scores = self._scores(updates, reasons)  # before a bound makes long updates look like the others
        bound = self.protections.norm_bound
        if bound is not None:
            updates = bound_norms(updates, bound)
        rises = self._rises(start, updates, reasons)
        kept: dict[str, Floats] = {}
        for place, name in enumerate(names):
            taken = not reasons[place]
            if taken:
                kept[name] = start + updates[place]
                if bound is not None and norms[place] > bound:
                    reasons[place].append(f"shortened to norm_bound={bound:g}")
            self._keep(
                round=number,
                client=name,
                taken=taken,
                why="; ".join(reasons[place]),
                norm=_short(norms[place]),
                score=None if scores is None else _short(scores[place]),
                rise=None if rises is None else _short(rises[place]),
            )
        return kept

    def _keep(self, **said: Any) -> None:
        self.verdicts.append(UpdateVerdict(**said))
        self.told(self.verdicts[-1])

    def _scores(self, updates: Floats, reasons: list[list[str]]) -> Floats | None:
        most = self.protections.anomaly
        if most is None:
            return None
        self.require(len(updates))
        scores = anomaly_scores(updates)
        for place in np.flatnonzero(scores > most):
            reasons[place].append(f"anomaly score {scores[place]:.3g} is above {most:g}")
        return scores

    def _rises(self, given: Floats, updates: Floats, reasons: list[list[str]]) -> Floats | None:
        most = self.protections.held_out
        if most is None or self.error is None:
            return None
        before = self.error(given)
        rises = np.array([self.error(given + update) - before for update in updates])
        for place in np.flatnonzero(~(rises <= most)):
            reasons[place].append(f"it raises the error on held-out rows by {rises[place]:.3g}")
        return rises

    def note(self, number: int, refused: Mapping[str, str]) -> None:
        """Keep why answers of a round were refused before they could be judged."""
        for name, why in refused.items():
            self._keep(round=number, client=name, taken=False, why=why)

    def refused(self, number: int) -> dict[str, str]:
        """Name the clients whose update of a round does not count, with the reason."""
        last = takewhile(lambda one: one.round == number, reversed(self.verdicts))
        return {one.client: one.why for one in last if not one.taken}

    def barred(self) -> dict[str, str]:
        """Name the clients that were refused too often to be asked again."""
        strikes = self.protections.strikes
        if strikes is None:
            return {}
        counts = Counter(one.client for one in self.verdicts if not one.taken)
        last = {one.client: one.why for one in self.verdicts if not one.taken}
        return {
            name: f"refused in {count} rounds, the last time: {last[name]}"
            for name, count in counts.items()
            if count >= strikes
        }

    def require(self, clients: int) -> None:
        """Refuse a number of clients that is too small to compare them."""
        if self.protections.anomaly is not None:
            enough(clients, LEAST_COMPARED, "an anomaly score")


def _short(number: float) -> float:
    return float(f"{float(number):.6g}")


def error_on(network: Network, rows: Floats, labels: Integers, classes: int) -> Error:
    """Give the cross entropy of weights on held-out rows; infinite where it is no number."""

    def error(weights: Floats) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            scores = scores_of(network, np.asarray(weights, np.float32), rows, classes)
        chances = scores[np.arange(len(labels)), labels]
        found = float(-np.log(np.maximum(chances, LEAST_CHANCE)).mean())
        return found if np.isfinite(found) else np.inf

    return error
