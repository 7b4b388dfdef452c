"""Networks that can be trained privately: no layer lets one example see another."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from mahrem import check
from mahrem.check import extra
from mahrem.errors import InvalidParameter
from mahrem.learning.private.networks._scattering import scattering
from mahrem.learning.private.steps import torch_of
from mahrem.types import Floats

if TYPE_CHECKING:
    from torch import nn

PART = 4096  # rows that a network is asked about at a time


def logistic(shape: Sequence[int], outputs: int) -> nn.Module:
    """Make a linear model: one layer, so its loss is convex."""
    nn = torch_of().nn
    layer = nn.Linear(math.prod(shape), outputs)
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
    return _chain(nn.Flatten(), layer)


def dnn(shape: Sequence[int], outputs: int, *, hidden: Sequence[int] = (64, 32)) -> nn.Module:
    """Make a dense network with tanh, which keeps gradients small under clipping.

    References:
        Papernot, Thakurta, Song, Chien, Erlingsson: Tempered sigmoid activations for deep learning with
        differential privacy, 2021.
    """
    nn = torch_of().nn
    layers: list[Any] = [nn.Flatten()]
    width = math.prod(shape)
    for size in hidden:
        layers += [nn.Linear(width, int(check.at_least(1, hidden=size))), nn.Tanh()]
        width = size
    return _chain(*layers, nn.Linear(width, outputs))


def cnn(
    shape: Sequence[int], outputs: int, *, channels: Sequence[int] = (16, 32), hidden: int = 32
) -> nn.Module:
    """Make the small tanh network for images of ``(channels, height, width)``.

    References:
        Tramer, Boneh: Differentially private learning needs better features (or much more data), 2021.
    """
    torch = torch_of()
    nn = torch.nn
    if len(shape) != 3 or min(shape[1:]) < 16:
        raise InvalidParameter(
            f"shape={tuple(shape)} must be channels, height, width, both sides at least 16"
        )
    features = _chain(
        nn.Conv2d(shape[0], channels[0], 8, stride=2, padding=3),
        nn.Tanh(),
        nn.MaxPool2d(2, 1),
        nn.Conv2d(channels[0], channels[1], 4, stride=2),
        nn.Tanh(),
        nn.MaxPool2d(2, 1),
        nn.Flatten(),
    )
    with torch.no_grad():
        width = features(torch.zeros(1, *shape)).shape[1]
    return _chain(*features, nn.Linear(width, hidden), nn.Tanh(), nn.Linear(hidden, outputs))


def lstm(shape: Sequence[int], outputs: int, *, hidden: int = 32) -> nn.Module:
    """Make a network for series of ``(steps, features)`` that reads them in order (Opacus' DPLSTM)."""
    torch = torch_of()
    if len(shape) != 2:
        raise InvalidParameter(f"shape={tuple(shape)} must be steps, features")
    try:
        from opacus.layers import DPLSTM
    except ImportError:
        raise extra("train", needed_for="private LSTM layers") from None

    class SeriesReader(torch.nn.Module):  # type: ignore[misc, name-defined]
        """Reads a series and answers from its last state."""

        def __init__(self) -> None:
            super().__init__()
            self.series = DPLSTM(shape[1], hidden, batch_first=True)
            self.answer = torch.nn.Linear(hidden, outputs)

        def forward(self, rows: Any) -> Any:
            return self.answer(self.series(rows)[0][:, -1])

    network: nn.Module = SeriesReader()
    return network


def autoencoder(
    shape: Sequence[int], outputs: int | None = None, *, hidden: Sequence[int] = (32,), code: int = 8
) -> nn.Module:
    """Make a network that squeezes rows through ``code`` numbers and writes them out again."""
    nn = torch_of().nn
    width = math.prod(shape)
    sizes = [width, *hidden, int(check.at_least(1, code=code))]
    squeeze: list[Any] = [nn.Flatten()]
    for before, after in pairwise(sizes):
        squeeze += [nn.Linear(before, after), nn.Tanh()]
    unfold: list[Any] = []
    for before, after in pairwise(sizes[:0:-1]):
        unfold += [nn.Linear(before, after), nn.Tanh()]
    return _chain(_chain(*squeeze), _chain(*unfold, nn.Linear(sizes[1], outputs or width)))


NETWORKS: dict[str, Callable[..., Any]] = {
    "scattering": scattering,
    "logistic": logistic,
    "dnn": dnn,
    "cnn": cnn,
    "lstm": lstm,
    "autoencoder": autoencoder,
}


def network_maker(network: str | Callable[..., Any]) -> Callable[..., Any]:
    """Give what makes a network: one of :data:`NETWORKS` by its name, or a function of one's own."""
    return network if callable(network) else NETWORKS[check.one_of(tuple(NETWORKS), network=network)]


def network_outputs(model: Any, rows: Floats) -> Floats:
    """Ask a trained network about ``(n, ...)`` rows, part by part, where it lies."""
    torch = torch_of()
    if not len(rows):
        return np.zeros((0, 1), dtype=np.float32)
    device = next(model.parameters()).device
    with torch.no_grad():
        parts = torch.from_numpy(rows).split(PART)
        return np.concatenate([model(part.to(device)).cpu().numpy() for part in parts])


def _chain(*layers: Any) -> nn.Sequential:
    network: nn.Sequential = torch_of().nn.Sequential(*layers)
    return network
