"""A conditional variational autoencoder, trained with differential privacy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from mahrem import check
from mahrem.learning.private import SecretStream, TrainingPlan
from mahrem.learning.private.steps import torch_of
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
class Variational(Generator):
    """A variational autoencoder: an encoder that guesses codes, a decoder that makes rows from them.

    Both see rows while they learn, so the gradients of both are clipped together and noised. Rows are made by
    the decoder alone, from random codes.

    Args:
        weight: How much codes are pulled towards the distribution they are drawn from (1 is the bound on the
            likelihood itself).

    References:
        Kingma, Welling: Auto-encoding variational Bayes, 2014.
    """

    weight: float = 1.0

    name: ClassVar[str] = "vae"

    def __post_init__(self) -> None:
        super().__post_init__()
        check.at_least(0, weight=check.finite(weight=self.weight))

    def prepared(
        self, examples: GeneratorExamples, likelihood: Likelihood, plan: TrainingPlan, stream: SecretStream
    ) -> Callable[[], CodedDrawing]:
        torch = torch_of()
        width, labels = likelihood.width, len(examples.shares)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(stream.torch_seed("start"))
            model = _autoencoder(self, likelihood, labels)

        def losses(outputs: Any, rows: Any) -> Any:
            decoded, middle, spread = outputs.split([width, self.code, self.code], dim=1)
            pull = 0.5 * (spread.exp() + middle.square() - 1 - spread).sum(1)
            return likelihood.losses(decoded, rows) + self.weight * pull

        targets = torch.from_numpy(examples.rows)[:, :width]
        steps = self.private_steps(model, losses, examples, targets, plan, stream)

        def train() -> CodedDrawing:
            return CodedDrawing(steps.run().cpu().decoder, self.code, labels)

        return train


def _autoencoder(settings: Variational, likelihood: Likelihood, labels: int) -> Any:
    torch = torch_of()
    width, code, hidden = likelihood.width, settings.code, layer_sizes(hidden=settings.hidden)

    class Autoencoder(torch.nn.Module):  # type: ignore[misc, name-defined]
        """Outputs, middles and log-variances of codes, side by side."""

        def __init__(self) -> None:
            super().__init__()
            self.encoder = dense([width + labels, *hidden, 2 * code], torch.nn.Tanh)
            sizes = [code + labels, *reversed(hidden), width]
            self.decoder = maker(sizes, torch.nn.Tanh, likelihood.start())

        def forward(self, rows: Any) -> Any:
            middle, spread = self.encoder(rows).split(code, dim=1)
            drawn = torch.rand_like(middle) if self.training else torch.full_like(middle, 0.5)
            codes = middle + normals(drawn) * (0.5 * spread).exp()
            decoded = self.decoder(torch.cat([codes, rows[:, width:]], dim=1))
            return torch.cat([decoded, middle, spread], dim=1)

    return Autoencoder()
