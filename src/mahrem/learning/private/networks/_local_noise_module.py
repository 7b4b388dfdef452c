"""The PyTorch module of :class:`~mahrem.learning.private.LocalNoise`; imported when one is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from mahrem.learning.private._secret_stream import new_stream

if TYPE_CHECKING:
    from mahrem.learning.private.networks._local_noise import LocalNoise


class LocalNoiseModule(torch.nn.Module):
    """Clips each record's activation and adds noise, in training and in evaluation alike."""

    def __init__(self, settings: LocalNoise) -> None:
        super().__init__()
        self.settings = settings
        self.passes = 0  # calls so far, for whoever pays

    def clipped(self, given: torch.Tensor) -> torch.Tensor:
        """Scale each record down to the clip norm; one that is not finite becomes zero."""
        flat = given.flatten(start_dim=1)
        sound = torch.isfinite(flat).all(dim=1, keepdim=True)
        flat = torch.where(sound, flat, torch.zeros_like(flat))
        order = 1 if self.settings.noise == "laplace" else 2
        norm = torch.linalg.vector_norm(flat.double(), ord=order, dim=1, keepdim=True)
        factor = (self.settings.clip * (1 - 1e-6) / norm.clamp_min(1e-300)).clamp_max(1.0)
        clipped: torch.Tensor = (flat * factor.to(flat.dtype)).reshape(given.shape)
        return clipped

    def forward(self, given: torch.Tensor) -> torch.Tensor:
        """Give noisy activations."""
        settings = self.settings
        stream = new_stream()  # for each call: copies and forked workers must not share their noise
        draw = stream.laplaces if settings.noise == "laplace" else stream.normals
        noise = draw("local", self.passes, given.numel()) * settings.scale
        self.passes += 1
        return self.clipped(given) + torch.from_numpy(noise).to(given).reshape(given.shape)
