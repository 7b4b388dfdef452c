"""Private steps: sample, clip, sum, add noise, divide by a public constant, descend. The plan says how."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mahrem.dp import Relation, listened, noised
from mahrem.dp.noise import GlobalSensitivity
from mahrem.errors import InvalidInput, InvalidParameter, MahremError
from mahrem.learning.private._secret_stream import SecretStream
from mahrem.learning.private.steps._descent import Augmentation, Compute, Descent, choose_device
from mahrem.learning.private.steps._example_gradients import ClippedSums, torch_of
from mahrem.learning.private.steps._mixing import make_up, refuse_mixing
from mahrem.learning.private.steps._plan import TrainingPlan
from mahrem.types import Integers

if TYPE_CHECKING:
    from torch import Tensor, nn

TRIED = 8  # made-up examples
LATTICE = 1 << 20  # what a neighbour test sees: sums in units of clip / LATTICE


@dataclass(frozen=True)
class StepExamples:
    """What is trained on.

    Attributes:
        inputs: ``(n, ...)`` tensor.
        targets: ``(n, ...)`` tensor.
        units: ``(n,)`` whose row it is; None protects single rows.
    """

    inputs: Tensor
    targets: Tensor
    units: Integers | None = None

    def __post_init__(self) -> None:
        rows = {len(part) for part in (self.inputs, self.targets, self.units) if part is not None}
        if len(rows) != 1:
            raise InvalidInput(
                f"inputs={len(self.inputs)}, targets={len(self.targets)}: every row needs both"
            )


class PrivateSteps:
    """A private training that can be taken step by step, stopped and taken up again.

    Args:
        model: The network; it is trained in place.
        plan: Sampler, clipping, noise and cost.
        losses: Takes outputs and targets and gives one loss per example.
        examples: Inputs, targets and whose they are.
        stream: Where batches and noise come from.
        descent: What is done with noisy gradients.
        compute: Where, and how many examples at a time.
        augmentation: In which forms every example is shown; one, as it is, by default.

    Guarantees:
        - Between neighbours the sum of a step moves by at most the plan's clip (twice that under
          ``replace``), whatever the rows hold; an empty batch takes a step of noise like any other.
        - Nothing but the noisy sums of ``plan.steps`` steps depends on the data.

    References:
        Abadi et al.: Deep learning with differential privacy, 2016.
    """

    def __init__(
        self,
        model: nn.Module,
        plan: TrainingPlan,
        losses: Callable[[Any, Any], Tensor],
        examples: StepExamples,
        *,
        stream: SecretStream,
        descent: Descent | None = None,
        compute: Compute | None = None,
        augmentation: Augmentation | None = None,
    ) -> None:
        inputs, targets = examples.inputs, examples.targets
        self.augmentation = augmentation or Augmentation()
        self.augmentation.refuse(tuple(inputs.shape[1:]))
        self.plan, self.stream, self.descent = plan, stream, descent or Descent()
        where = compute or Compute()
        self.microbatch, self.device = where.microbatch, choose_device(where.device)
        self.model = model.to(self.device).train()
        self.sums = self._tried(losses, inputs, targets)
        self.parameters: list[Any] = self.sums.parameters
        self.optimiser = self.descent.optimiser_of(self.parameters)
        self.average = [one.detach().clone() for one in self.parameters] if self.descent.average else None
        self.inputs, self.targets = inputs.to(self.device), targets.to(self.device)
        self.unit_of_row, self.units = limited_units(examples.units, len(inputs), plan.rows_per_person)
        self.step = 0

    def _tried(self, losses: Callable[[Any, Any], Tensor], inputs: Tensor, targets: Tensor) -> ClippedSums:
        """Make the sums, and try the model out on made-up examples: nobody pays for one that cannot run."""
        torch = torch_of()
        blank = torch.zeros((TRIED, *targets.shape[1:]), dtype=targets.dtype, device=self.device)
        example = inputs.new_zeros((1, *inputs.shape[1:]), device=self.device)

        def of_outputs(outputs: Any) -> Any:
            return losses(outputs, blank[:1].expand(len(outputs), *blank.shape[1:]))

        try:
            refuse_mixing(self.model, example, of_outputs)
            norm = "l2" if self.plan.noise == "gaussian" else "l1"
            sums = ClippedSums(self.model, losses, norm=norm)
            sums.try_out(make_up(example, TRIED), blank)
        except MahremError:
            raise
        except (RuntimeError, ValueError, IndexError, TypeError) as error:
            first = str(error).strip().splitlines()[0] if str(error) else type(error).__name__
            raise InvalidParameter(
                f"model: it cannot be trained privately on rows of shape {tuple(inputs.shape[1:])}: {first}"
            ) from error
        return sums

    def run(self, after: Callable[[PrivateSteps], None] | None = None) -> nn.Module:
        """Take all steps that are left; ``after`` is called after each."""
        torch = torch_of()
        devices = [self.device] if self.device.type == "cuda" else []
        with torch.random.fork_rng(devices=devices):
            while self.step < self.plan.steps:
                torch.manual_seed(
                    self.stream.torch_seed("torch", self.step)
                )  # dropout repeats after a restart
                self.take()
                if after is not None:
                    after(self)
        return self.finish()

    def take(self) -> None:
        """Take one step."""
        if self.step >= self.plan.steps:
            raise InvalidParameter(f"steps={self.plan.steps} are planned and paid for; all were taken")
        gradient = self.noisy_gradient()
        place = 0
        for one in self.parameters:
            size = one.numel()
            one.grad = gradient[place : place + size].view(one.shape).to(one.dtype)
            place += size
        for group in self.optimiser.param_groups:
            group["lr"] = self.descent.rate_at(self.step, self.plan.steps)
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        self.step += 1
        if self.average is not None:
            keep = min(self.descent.average, (1 + self.step) / (10 + self.step))
            for kept, one in zip(self.average, self.parameters, strict=True):
                kept.lerp_(one.detach(), 1 - keep)

    def noisy_gradient(self) -> Tensor:
        """Give the noisy mean gradient of the next batch, all parameters in one vector."""
        torch = torch_of()
        rows = self._batch()
        total = [torch.zeros_like(one, dtype=torch.float64) for one in self.parameters]
        copies = self.augmentation.copies
        size = max(1, self.microbatch // copies)
        for start in range(0, len(rows), size):
            some = rows[start : start + size]
            shown = self.augmentation(self.inputs[some])
            targets = self.targets[some].repeat_interleave(copies, 0)
            parts = self.sums(shown, targets, self.plan.row_clip, copies)
            for whole, part in zip(total, parts, strict=True):
                whole.add_(part)
        flat = torch.cat([one.flatten() for one in total])
        return self._noised(flat) / self.plan.divisor

    def finish(self) -> nn.Module:
        """Give the trained model: the averaged weights, where they were asked for."""
        torch = torch_of()
        if self.average is not None:
            with torch.no_grad():
                for kept, one in zip(self.average, self.parameters, strict=True):
                    one.copy_(kept)
        self.sums.close()
        return self.model.eval()

    def state(self) -> dict[str, Any]:
        """Give what is needed to go on later."""
        return {
            "step": self.step,
            "weights": [one.detach().cpu() for one in self.parameters],
            "optimiser": self.optimiser.state_dict(),
            "average": None if self.average is None else [one.cpu() for one in self.average],
        }

    def load(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        torch = torch_of()
        with torch.no_grad():
            for one, kept in zip(self.parameters, state["weights"], strict=True):
                one.copy_(kept)
        self.optimiser.load_state_dict(state["optimiser"])
        if state["average"] is not None:
            self.average = [one.to(self.device) for one in state["average"]]
        self.step = int(state["step"])

    def _batch(self) -> Any:
        torch = torch_of()
        chosen = self.plan.sample(self.stream, self.step, self.units)
        if self.unit_of_row is not None:
            inside = np.zeros(self.units + 1, dtype=bool)  # the last place is for rows beyond the limit
            inside[chosen] = True
            chosen = np.flatnonzero(inside[self.unit_of_row])
        return torch.from_numpy(chosen).to(self.device)

    def _noised(self, total: Tensor) -> Tensor:
        torch = torch_of()

        def draw() -> Any:
            noise = self.plan.draw_noise(self.stream, self.step, len(total))
            return total + torch.from_numpy(noise).to(self.device)

        if not listened():
            plain: Tensor = draw()
            return plain
        steps = torch.round(total * (LATTICE / self.plan.clip)).long().tolist()
        reach = _reach(self.plan, len(steps))
        heard: Tensor = noised(f"training-{self.plan.noise}", steps, reach, self.plan.event, draw)
        return heard


def limited_units(units: Integers | None, rows: int, most: int) -> tuple[Integers | None, int]:
    """Number the units; rows of a unit beyond the limit belong to none (the number after the last)."""
    if units is None:
        return None, rows
    _, codes = np.unique(units, return_inverse=True)
    count = int(codes.max()) + 1 if rows else 0
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(count))
    rank = np.empty(rows, dtype=np.int64)
    rank[order] = np.arange(rows) - starts[codes[order]]
    return np.where(rank < most, codes, count), count


def _reach(plan: TrainingPlan, entries: int) -> GlobalSensitivity:
    """Say how far a sum may move between neighbours, in steps of the lattice (rounding included)."""
    whole = plan.moves * LATTICE
    length = whole + math.sqrt(entries)
    l1 = whole + entries if plan.noise == "laplace" else math.ceil(length * math.sqrt(entries))
    return GlobalSensitivity(
        relation=Relation(plan.relation),
        l1=l1,
        l2_squared=math.ceil(length**2),
        linf=whole + 1,
        single=False,
    )
