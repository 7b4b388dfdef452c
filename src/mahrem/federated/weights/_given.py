"""What a server may hand a client to learn from: the agreed beginning, rounds in order, steps that can be."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mahrem.errors import InvalidInput
from mahrem.federated.weights._model import SharedModel
from mahrem.federated.weights._plan import LearningPlan
from mahrem.federated.weights._schema import SharedSchema
from mahrem.types import Floats

NEAR = 1e-3  # networks begin the same everywhere, but for rounding
REACH = {"average": 1.0, "momentum": 10.0}  # how far the server's step goes, in lengths of the mean update


@dataclass
class GivenWeights:
    """Holds a server to the weights that a run can have, as far as one client can tell.

    Weights of the server's own making can single a row out: a unit that answers to one person alone sends
    that person's cells back, also within a sum over many clients. So a run begins where everybody agreed it
    does, goes forward, and moves no further than updates that were clipped can have moved it. That makes
    traps dearer and does not end them: a unit of small weights answers to one row as well as one of large
    weights, and small ones are near. Only noise hides that row, so a client of real processes takes part
    without noise only where its owner agreed to it (``noiseless``).

    Args:
        schema: What was agreed on.
        plan: What is learnt.

    Guarantees:
        - The weights of the first round are those that the plan's seed gives.
        - No round beyond the agreed ones is answered, and within a run none twice with different weights.
        - Right answers are counted once a round, for the weights that the next one begins with.
        - With ``clip``, plain averaging and no noise, weights lie no further from the beginning than that
          many rounds can carry them.
        - Under noise no two agreed values are one: a record that changes a type moves no other's place.
    """

    schema: SharedSchema
    plan: LearningPlan
    _last: tuple[int, Floats] | None = field(default=None, repr=False)
    _start: Floats | None = field(default=None, repr=False)
    _judged: tuple[int, Floats] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.plan.private:
            self.schema.refuse_one_value_twice()

    def begin(self) -> None:
        """A run begins, or goes on: what was given before is another's."""
        self._last = self._judged = None

    def judge(self, number: int, weights: Floats) -> None:
        """Take the weights that a round ended in, of which right answers are to be counted.

        Counts for weights of the server's choice would tell, by their differences, the class of one person.

        Raises:
            InvalidInput: If this round was not trained here last, or was judged by others already.
        """
        if self._last is None or number != self._last[0]:
            raise InvalidInput(f"round={number} is refused: it is not the one that was trained here last")
        if self._judged is not None and self._judged[0] == number:
            if not np.array_equal(weights, self._judged[1]):
                raise InvalidInput(f"round={number} is refused: it was judged already, by other weights")
            return
        self._judged = number, np.array(weights)

    def accept(self, number: int, weights: Floats) -> None:
        """Take the weights of a round, and remember them.

        Raises:
            InvalidInput: If no run that was agreed on has them.
        """
        if not 1 <= number <= self.plan.rounds:
            raise InvalidInput(f"round={number} is refused: rounds={self.plan.rounds} were agreed")
        far = float(np.linalg.norm(np.asarray(weights, np.float64) - self._begun()))
        if number == 1 and far > NEAR:
            raise InvalidInput("round=1 is refused: a run begins with the agreed weights, not with others")
        if number > 1:
            self._refuse_order(number, weights)
            self._refuse_unjudged(number, weights)
        reach = self._reach()
        if reach is not None and far > reach * (number - 1) + NEAR:
            raise InvalidInput(
                f"round={number} is refused: no updates of the agreed clip lead to the weights it begins with"
            )
        self._last = number, np.array(weights)

    def _refuse_order(self, number: int, weights: Floats) -> None:
        if self._last is None or number > self._last[0]:
            return
        if number < self._last[0] or not np.array_equal(weights, self._last[1]):
            raise InvalidInput(
                f"round={number} is refused: this run has come to round {self._last[0]} here; a run goes "
                "forward, and begins anew by asking everybody to prepare"
            )

    def _refuse_unjudged(self, number: int, weights: Floats) -> None:
        judged = self._judged
        if judged is None or judged[0] != number - 1:
            return
        if not np.array_equal(weights[: len(judged[1])], judged[1]):  # control variates may lie behind them
            raise InvalidInput(
                f"round={number} is refused: other weights than these were judged after the last round"
            )

    def _begun(self) -> Floats:
        if self._start is None:
            arrays = SharedModel.fresh(self.schema, self.plan).arrays
            self._start = np.concatenate([np.asarray(part, np.float64).ravel() for part in arrays.values()])
        return self._start

    def _reach(self) -> float | None:
        """Say how far a round can move common weights; None where nothing bounds it."""
        plan, protections = self.plan, self.plan.protections
        bounded = plan.rule.name == "mean" and plan.server in REACH and not plan.scaffold
        if protections.clip is None or protections.dummies or not bounded:
            return None
        rate = 1.0 if plan.server == "average" else plan.server_speed
        return rate * REACH[plan.server] * protections.clip
