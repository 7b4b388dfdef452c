"""Early stopping: right answers on rows that clients keep back, as one sum whose parts nobody sees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mahrem.federated.sums import LARGEST_ROWS
from mahrem.federated.weights._model import SharedModel
from mahrem.federated.weights._rounds import LearningRounds
from mahrem.federated.wire import Message
from mahrem.types import Floats, Integers

STEP = 1 << 20  # apart from the numbers of rounds: a sum has a number of its own


@dataclass
class ValidationRounds:
    """Asks clients, after each round, how many of the rows they keep back the new weights are right about.

    Only the two sums over all clients are told: right answers, and rows.

    Args:
        rounds: The run.
        patience: Rounds without a better share before it ends.
    """

    rounds: LearningRounds
    patience: int
    best: float = -1.0
    since: int = 0
    kept: SharedModel | None = field(default=None, repr=False)

    def measure(self, number: int, weights: Floats, nodes: Sequence[str]) -> float:
        """Give the share of right answers of all clients together."""
        question = Message("validate", self.rounds.run, number + STEP, {"weights": weights, "round": number})

        def fault(total: Integers) -> str | None:
            fits = len(total) == 2 and 0 <= total[0] <= total[1] <= LARGEST_ROWS * len(nodes) and total[1] > 0
            return None if fits else "counts of right answers that cannot be"

        total = self.rounds.adder(self.rounds.grid, nodes, question, fault).total
        share = float(total[0] / total[1])
        self.since = 0 if share > self.best else self.since + 1
        return share

    def stop(self) -> bool:
        """Say whether it is time to end; the best weights are then those of the run."""
        model, share = self.rounds.result.model, self.rounds.result.validated or 0.0
        if share > self.best:
            self.best, self.kept = share, model
        if self.since < self.patience or self.kept is None:
            return False
        self.rounds.result.model = self.kept
        return True
