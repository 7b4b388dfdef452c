"""Siamese and triplet networks with differential privacy: rows that belong together come to lie together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from mahrem import check
from mahrem.dp import Ledger
from mahrem.learning.private._secret_stream import SecretStream
from mahrem.learning.private.networks._embedding import Embedding, group_losses, shared_network
from mahrem.learning.private.networks._private_networks import LabelledNetwork
from mahrem.learning.private.networks._slots import Slots
from mahrem.learning.private.steps import (
    Checkpoint,
    ClippedSums,
    PrivateSteps,
    StepExamples,
    TrainingPlan,
    torch_of,
)


@dataclass(kw_only=True)
class PrivateSiamese(LabelledNetwork, Embedding):
    """A network that puts rows of one class near each other, trained on pairs or triplets.

    The same weights are used for every row of a pair. What is clipped is the gradient of a whole pair; what
    is protected is a record (a person, where the ledger protects people): in each step it falls into one slot
    at most (:class:`Slots`), a person with one of its rows.

    Args:
        kind: ``pairs`` (contrastive loss) or ``triplets``.
        code: Numbers in an embedding.
        margin: Pairs of two classes should lie this far apart; embeddings have length 1.

    Guarantees:
        - ``(epsilon, delta)``-DP for records, not for pairs, under the ledger's relation: a record more or
          less moves the sum of a step by at most one clipped gradient.
        - All steps are paid for before the first. A row that is not finite adds nothing, nor does its pair.
        - The embedding of a row is *not* private by itself: it is a function of it.

    References:
        Hadsell, Chopra, LeCun: Dimensionality reduction by learning an invariant mapping, 2006. Schroff,
        Kalenichenko, Philbin: FaceNet, 2015.

    Example:
        >>> rng = np.random.default_rng(1)
        >>> X = rng.normal(size=(600, 2)).astype(np.float32)
        >>> ledger = Ledger.temporary(epsilon=2, delta=1e-6, rows=600)
        >>> model = PrivateSiamese(classes=(0, 1), code=2, noise_multiplier=2.5, epochs=4, batch=100)
        >>> model.fit(X, (X[:, 0] > 0).astype(int), ledger=ledger).transform(X).shape
        (600, 2)
        >>> "one pair at most" in model.guarantee_
        True
    """

    kind: str = "pairs"
    code: int = 16
    margin: float = 1.0

    _estimator_type = "transformer"

    def _open_score(self, X: Any, y: Any) -> float:
        return self.nearest_alike(X, y)

    def _more_words(self, ledger: Ledger) -> str:
        who = "a record" if ledger.unit.subject is None else "a person, with one of its rows,"
        one = self.kind[:-1]
        people = "" if ledger.unit.subject is None else " One row above is one person with all rows."
        return (
            f"{people} Protects {who.removesuffix(',')}, not a {one}: in each step {who} falls into one slot "
            f"at most and so into one {one} at most; its coming or going adds or takes away one {one} at "
            f"most, whose gradient is clipped as a whole."
        )

    def plan(self, ledger: Ledger) -> TrainingPlan:
        """Make the plan; a person is in a step with one row, so that row may use the whole clip."""
        return replace(super().plan(ledger), rows_per_person=1)

    def _width(self, shape: Sequence[int]) -> int:  # noqa: ARG002 - the settings say it
        return int(check.at_least(1, code=check.whole(code=self.code)))

    def _module(self, shape: Sequence[int], stream: SecretStream) -> object:
        return shared_network(super()._module(shape, stream))

    def _step_maker(self, plan: TrainingPlan) -> Callable[..., PrivateSteps]:
        return partial(_GroupSteps, slots=Slots(self.kind, len(self.classes_), plan.batch))

    def _checkpoint(self, shape: Sequence[int], module: object) -> Checkpoint | None:
        checkpoint = super()._checkpoint(shape, module)
        if checkpoint is None:
            return None
        return replace(
            checkpoint, settings={**checkpoint.settings, "groups": [self.kind, self.code, self.margin]}
        )

    def _losses(self, outputs: object, targets: object) -> object:
        return group_losses(self.kind, self.margin)(outputs, targets)


class _GroupSteps(PrivateSteps):
    """Private steps whose examples are groups of rows, drawn anew for each step."""

    def __init__(
        self,
        model: Any,
        plan: TrainingPlan,
        losses: Any,
        examples: StepExamples,
        *,
        slots: Slots,
        **more: Any,
    ) -> None:
        self.slots = slots
        super().__init__(model, plan, losses, examples, **more)
        units = examples.units
        self._labels = self.targets.cpu().numpy()
        numbers = np.arange(len(self._labels)) if units is None else np.unique(units, return_inverse=True)[1]
        self._rows = np.argsort(numbers, kind="stable")  # rows of a person side by side
        self._first = np.searchsorted(numbers[self._rows], np.arange(self.units))
        self._count = np.bincount(numbers, minlength=self.units)

    def _tried(self, losses: Any, inputs: Any, targets: Any) -> ClippedSums:
        groups = inputs.new_zeros((0, self.slots.size, *inputs.shape[1:]))
        return super()._tried(losses, groups, targets.new_zeros((0, self.slots.size)))

    def _batch(self) -> object:
        chosen = self.plan.sample(self.stream, self.step, self.units)
        chance, which = (
            self.stream.uniforms(purpose, self.step, self.units)[chosen] for purpose in ("slots", "rows")
        )
        rows = self._rows[self._first[chosen] + np.floor(which * self._count[chosen]).astype(np.int64)]
        return torch_of().from_numpy(rows[self.slots(self._labels[rows], chance)]).to(self.device)

    def finish(self) -> Any:
        """Give the network that embeds one row."""
        whole: Any = super().finish()
        return whole.network
