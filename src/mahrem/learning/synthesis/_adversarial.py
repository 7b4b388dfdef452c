"""A conditional generative adversarial network whose discriminator is trained with differential privacy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from mahrem import check
from mahrem.learning.private import SecretStream, TrainingPlan
from mahrem.learning.private.steps import PrivateSteps, choose_device, torch_of
from mahrem.learning.synthesis._drawings import CodedDrawing
from mahrem.learning.synthesis._generators import (
    Generator,
    GeneratorExamples,
    dense,
    layer_sizes,
    maker,
    normals,
)
from mahrem.learning.synthesis._likelihoods import Likelihood


@dataclass(frozen=True, kw_only=True)
class Adversarial(Generator):
    """A generator that learns from a discriminator, which tells real rows from made-up ones.

    Every real row is judged together with one made-up row of the same label: one backward pass gives the
    gradient of the pair, which is clipped as a whole, so that a person moves the sum by at most the clip. The
    generator never sees a row: it follows the noisy discriminator, which is post-processing.

    Args:
        judge: Sizes of the layers inside the discriminator.
        turns: Noisy steps of the discriminator for each step of the generator.
        drawn_rows: Rows the generator makes for a step of its own.
        generator_rate: Its learning rate.

    References:
        Goodfellow et al.: Generative adversarial nets, 2014. Bie, Kamath, Zhang: Private GANs, revisited,
        2023 (more steps of the discriminator for each one of the generator).
    """

    code: int = 16
    rate: float = 0.05
    steps: int = 1000
    learning_rate: float = 0.004
    average: float = 0.98
    judge: int | Sequence[int] = (32,)
    turns: int = 5
    drawn_rows: int = 512
    generator_rate: float = 0.004

    name: ClassVar[str] = "gan"

    def __post_init__(self) -> None:
        super().__post_init__()
        check.at_least(1, turns=check.whole(turns=self.turns))
        check.at_least(1, drawn_rows=check.whole(drawn_rows=self.drawn_rows))
        check.above_zero(generator_rate=self.generator_rate)
        layer_sizes(judge=self.judge)

    def prepared(
        self, examples: GeneratorExamples, likelihood: Likelihood, plan: TrainingPlan, stream: SecretStream
    ) -> Callable[[], CodedDrawing]:
        torch = torch_of()
        labels = len(examples.shares)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(stream.torch_seed("start"))
            follower = _Follower(self, likelihood, examples)
            pairs = _pairs(self, likelihood, labels, follower)
        follower.to(choose_device(self.device))
        targets = torch.zeros(len(examples.rows), 1)
        steps = self.private_steps(pairs, _pair_losses, examples, targets, plan, stream)

        def train() -> CodedDrawing:
            steps.run(follower.follow)
            return CodedDrawing(follower.finished(), self.code, labels)

        return train


def _pair_losses(scores: Any, blank: Any) -> Any:  # noqa: ARG001 - first is real, second made up
    softplus = torch_of().nn.functional.softplus
    return softplus(-scores[:, 0]) + softplus(scores[:, 1])


def _pairs(settings: Adversarial, likelihood: Likelihood, labels: int, follower: _Follower) -> Any:
    """Make the discriminator of pairs: a real row and one that the generator makes up for it."""
    torch = torch_of()
    width = likelihood.width

    class Pairs(torch.nn.Module):  # type: ignore[misc, name-defined]
        """Scores of the real row and of the made-up one."""

        def __init__(self) -> None:
            super().__init__()
            sizes = [width, *layer_sizes(judge=settings.judge), max(1, labels)]
            self.layers = dense(sizes, lambda: torch.nn.LeakyReLU(0.2))

        def judge(self, rows: Any) -> Any:
            """Score rows: every label has a score of its own."""
            scores = self.layers(rows[:, :width])
            return (scores * rows[:, width:]).sum(1) if labels else scores[:, 0]

        def forward(self, rows: Any) -> Any:
            with torch.no_grad():
                other = follower.rows(rows[:, width:], noisy=self.training)
            return torch.stack([self.judge(rows), self.judge(other)], dim=1)

    return Pairs()


class _Follower:
    """The generator and its own optimiser; not part of what is trained privately."""

    def __init__(self, settings: Adversarial, likelihood: Likelihood, examples: GeneratorExamples) -> None:
        torch = torch_of()
        self.settings, self.likelihood = settings, likelihood
        labels = len(examples.shares)
        sizes = [settings.code + labels, *layer_sizes(hidden=settings.hidden), likelihood.width]
        self.network = maker(sizes, torch.nn.ReLU, likelihood.start())
        self.shares = torch.from_numpy(examples.shares.astype("float32"))
        self.kept = [one.detach().clone() for one in self.network.parameters()]

    def to(self, device: Any) -> None:
        torch = torch_of()
        self.network.to(device)
        self.shares = self.shares.to(device)
        self.kept = [one.to(device) for one in self.kept]
        self.optimiser = torch.optim.Adam(
            self.network.parameters(), lr=self.settings.generator_rate, betas=(0.5, 0.999)
        )

    def rows(self, labels: Any, *, noisy: bool) -> Any:
        """Make one row for each label, with the label beside it."""
        torch = torch_of()
        code = self.settings.code
        drawn = torch.full((len(labels), code + self.likelihood.draws), 0.5, device=labels.device)
        if noisy:
            drawn = torch.rand_like(drawn)
        outputs = self.network(torch.cat([normals(drawn[:, :code]), labels], dim=1))
        return torch.cat([self.likelihood.drawn(outputs, drawn[:, code:]), labels], dim=1)

    def follow(self, steps: PrivateSteps) -> None:
        """Take a step towards what the discriminator takes for real, when it is the generator's turn."""
        if steps.step % self.settings.turns:
            return
        torch = torch_of()
        torch.manual_seed(steps.stream.torch_seed("turn", steps.step))  # whatever the batch has used up
        count, width = self.settings.drawn_rows, len(self.shares)
        labels = torch.zeros(count, width, device=self.shares.device)
        if width:
            labels[torch.arange(count), torch.multinomial(self.shares, count, replacement=True)] = 1
        parameters = list(self.network.parameters())
        judge: Any = steps.model.judge
        loss = torch.nn.functional.softplus(-judge(self.rows(labels, noisy=True))).mean()
        for one, slope in zip(parameters, torch.autograd.grad(loss, parameters), strict=True):
            one.grad = slope
        self.optimiser.step()
        turn = steps.step // self.settings.turns
        keep = min(self.settings.average, (1 + turn) / (10 + turn))
        for kept, one in zip(self.kept, parameters, strict=True):
            kept.lerp_(one.detach(), 1 - keep)

    def finished(self) -> Any:
        """Give the generator with averaged weights."""
        torch = torch_of()
        with torch.no_grad():
            for kept, one in zip(self.kept, self.network.parameters(), strict=True):
                one.copy_(kept)
        return self.network.cpu().eval()
