"""What generating networks share: settings, a plan, layers, and draws for free once they are trained."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from mahrem import check
from mahrem.dp import Relation
from mahrem.errors import InvalidParameter
from mahrem.learning.private import SecretStream, TrainingPlan
from mahrem.learning.private.steps import Compute, Descent, PrivateSteps, StepExamples, torch_of
from mahrem.learning.synthesis._drawings import NetworkDrawing
from mahrem.learning.synthesis._likelihoods import TINY, Likelihood
from mahrem.types import Floats, Integers


@dataclass(frozen=True)
class GeneratorExamples:
    """What a generating network learns from.

    Attributes:
        rows: ``(n, width + labels)`` numbers; the label of a row, as ones and zeros, comes last.
        shares: ``(labels,)`` how often each label occurs, as far as that is public; empty without labels.
        units: ``(n,)`` whose row it is; None protects single rows.
    """

    rows: npt.NDArray[np.float32]
    shares: Floats
    units: Integers | None = None


@dataclass(frozen=True, kw_only=True)
class Generator(ABC):
    """A network that learns to make rows, and how it is trained; use one of its kinds.

    Args:
        hidden: Sizes of the layers inside; one number is one layer.
        code: Random numbers a row is made from.
        rate: The chance of a row (a person, where people are protected) to join a batch.
        steps: How many noisy steps.
        clip: Largest norm of one unit's gradient.
        learning_rate: Of Adam.
        average: Gives back a running average of the weights; near 1 it is long, 0 is off.
        device: ``auto``, ``cpu``, ``cuda`` …
        microbatch: So many examples at a time.
    """

    hidden: int | Sequence[int] = (64,)
    code: int = 8
    rate: float = 0.1
    steps: int = 500
    clip: float = 1.0
    learning_rate: float = 0.005
    average: float = 0.99
    device: str = "auto"
    microbatch: int = 1024

    name: ClassVar[str]

    def __post_init__(self) -> None:
        check.at_least(1, code=check.whole(code=self.code))
        check.at_least(1, steps=check.whole(steps=self.steps))
        check.at_least(1, microbatch=check.whole(microbatch=self.microbatch))
        check.above_zero(clip=self.clip)
        layer_sizes(hidden=self.hidden)
        if not 0 < check.finite(rate=self.rate) <= 1:
            raise InvalidParameter(f"rate={self.rate!r} must be above 0 and at most 1")
        self.descent()

    def descent(self) -> Descent:
        """Say how noisy gradients become a model."""
        return Descent(learning_rate=self.learning_rate, optimiser="adam", average=self.average)

    def plan(
        self,
        rows: int,
        *,
        delta: float,
        relation: Relation,
        rows_per_person: int = 1,
        epsilon: float | None = None,
        noise_multiplier: float | None = None,
    ) -> TrainingPlan:
        """Make the plan of the noisy steps, from an epsilon or a noise multiplier."""
        return TrainingPlan.make(
            rows=rows,
            batch=self.rate * rows,
            steps=self.steps,
            clip=self.clip,
            epsilon=epsilon,
            noise_multiplier=noise_multiplier,
            delta=delta,
            relation=relation,
            rows_per_person=rows_per_person,
        )

    @abstractmethod
    def prepared(
        self, examples: GeneratorExamples, likelihood: Likelihood, plan: TrainingPlan, stream: SecretStream
    ) -> Callable[[], NetworkDrawing]:
        """Make the networks and refuse what cannot be trained; what comes back trains them."""

    def private_steps(
        self,
        model: Any,
        losses: Callable[[Any, Any], Any],
        examples: GeneratorExamples,
        targets: Any,
        plan: TrainingPlan,
        stream: SecretStream,
    ) -> PrivateSteps:
        """Give the noisy steps of the network that sees rows."""
        return PrivateSteps(
            model,
            plan,
            losses,
            StepExamples(torch_of().from_numpy(examples.rows), targets, examples.units),
            stream=stream,
            descent=self.descent(),
            compute=Compute(device=self.device, microbatch=self.microbatch),
        )


def layer_sizes(**named: int | Sequence[int]) -> tuple[int, ...]:
    """Read the sizes of layers; one number is one layer."""
    ((name, given),) = named.items()
    sizes = given if isinstance(given, list | tuple) else (given,)
    return tuple(int(check.at_least(1, **{name: check.whole(**{name: one})})) for one in sizes)


def normals(uniforms: Any) -> Any:
    """Turn numbers between 0 and 1 into normal ones.

    Where a batch gets one row more at its end, those of the others stay: a test of neighbours needs that, for
    ``torch.randn`` draws in blocks.
    """
    return math.sqrt(2) * torch_of().erfinv((2 * uniforms - 1).clamp(-1 + TINY, 1 - TINY))


def dense(sizes: Sequence[int], activation: Callable[[], Any]) -> Any:
    """Make dense layers of these sizes with an activation between them."""
    nn = torch_of().nn
    layers: list[Any] = []
    for before, after in pairwise(sizes):
        layers += [nn.Linear(before, after), activation()]
    return nn.Sequential(*layers[:-1])


def maker(sizes: Sequence[int], activation: Callable[[], Any], start: Any) -> Any:
    """Make a network from codes to outputs, with a direct way beside the layers.

    The direct way is linear: what goes with each label, and the main ways rows differ, are learnt first.
    """
    torch = torch_of()

    class Maker(torch.nn.Module):  # type: ignore[misc, name-defined]
        """Layers and a direct way."""

        def __init__(self) -> None:
            super().__init__()
            self.layers = dense(sizes, activation)
            self.direct = torch.nn.Linear(sizes[0], sizes[-1])
            with torch.no_grad():
                self.direct.weight.zero_()
                self.direct.bias.copy_(start)

        def forward(self, codes: Any) -> Any:
            return self.layers(codes) + self.direct(codes)

    return Maker()
