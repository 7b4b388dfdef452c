"""Scattering features of images: wavelets that nobody had to learn, so nothing of them is paid for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from mahrem.errors import InvalidParameter
from mahrem.learning.private.steps import torch_of
from mahrem.types import Floats

if TYPE_CHECKING:
    from torch import nn

ANGLES = 8
STRIDE = 4  # two scales: a feature for every four pixels
CHANNELS = 1 + 2 * ANGLES + ANGLES**2  # the mean, both scales, and the coarse one of the fine one


def scattering(shape: Sequence[int], outputs: int, *, groups: int = 27) -> nn.Module:
    """Make a linear model of the scattering features of images of ``(channels, height, width)``.

    Features are fixed functions of an image, normalised within it; only the last layer is trained.

    References:
        Bruna, Mallat: Invariant scattering convolution networks, 2013. Oyallon, Mallat: Deep roto-translation
        scattering for object classification, 2015. Tramer, Boneh: Differentially private learning needs
        better features (or much more data), 2021.
    """
    layers = torch_of().nn
    front = scattering_layer(shape)
    channels = shape[0] * CHANNELS
    width = channels * math.prod(side // STRIDE for side in shape[1:])
    norm = layers.GroupNorm(shape[0] * groups, channels, affine=False)
    layer = layers.Linear(width, outputs)
    layers.init.zeros_(layer.weight)
    layers.init.zeros_(layer.bias)
    network: nn.Module = layers.Sequential(front, norm, layers.Flatten(), layer)
    return network


def scattering_layer(shape: Sequence[int]) -> nn.Module:
    """Make the layer from images to ``(n, channels * 81, height / 4, width / 4)`` features, without weights.

    Example:
        >>> import torch
        >>> scattering_layer((1, 28, 28))(torch.zeros(2, 1, 28, 28)).shape
        torch.Size([2, 81, 7, 7])
    """
    torch = torch_of()
    if len(shape) != 3 or min(shape[1:]) < 2 * STRIDE or any(side % STRIDE for side in shape[1:]):
        raise InvalidParameter(
            f"shape={tuple(shape)} must be channels, height, width, both sides multiples of {STRIDE}"
        )
    height, width = (side + 2 * STRIDE for side in shape[1:])
    fine, coarse, smooth, half = filter_bank(height, width)

    class Scattering(torch.nn.Module):  # type: ignore[misc, name-defined]
        """Moduli of wavelet coefficients, averaged over four pixels."""

        def __init__(self) -> None:
            super().__init__()
            for name, filters in (("fine", fine), ("coarse", coarse)):
                self.register_buffer(name, torch.from_numpy(filters), persistent=False)
            for name, matrix in (("smooth", smooth), ("smooth_half", half)):
                self.register_buffer(name, torch.from_numpy(matrix), persistent=False)

        def forward(self, images: Any) -> Any:
            rows = images.flatten(0, 1)
            padded = torch.nn.functional.pad(rows[:, None], (STRIDE,) * 4, mode="reflect")[:, 0]
            first = torch.fft.fft2(padded)
            edges = torch.fft.ifft2(first[:, None] * self.fine).abs()
            wide = _halved(first[:, None] * self.coarse).abs()
            deep = _halved(torch.fft.fft2(edges)[:, :, None] * self.coarse).abs().flatten(1, 2)
            parts = [
                padded[:, None].flatten(2) @ self.smooth,
                edges.flatten(2) @ self.smooth,
                wide.flatten(2) @ self.smooth_half,
                deep.flatten(2) @ self.smooth_half,
            ]
            sides = [side // STRIDE for side in shape[1:]]
            return torch.cat(parts, 1).reshape(len(images), -1, *sides)

    layer: nn.Module = Scattering()
    return layer


def _halved(spectrum: Any) -> Any:
    """Go back from frequencies to every second pixel: a coarse wavelet needs no more."""
    torch = torch_of()
    height, width = spectrum.shape[-2:]
    folded = spectrum.unflatten(-2, (2, height // 2)).sum(-3).unflatten(-1, (2, width // 2)).sum(-2)
    return torch.fft.ifft2(folded / 4)


@cache
def filter_bank(height: int, width: int) -> tuple[Any, Any, Any, Any]:
    """Give fine and coarse wavelets as spectra, and the averages of whole and halved images as matrices."""
    turns = [math.pi * step / ANGLES for step in range(ANGLES)]
    fine, coarse = (
        np.stack([_spectrum(_morlet(height, width, scale, turn)) for turn in turns]) for scale in (0, 1)
    )
    bell = _bell(height, width, 0.8 * 2, 0.0, 1.0)
    bell /= bell.sum()
    inside = [range(STRIDE, side - STRIDE, STRIDE) for side in (height, width)]
    smooth = np.stack([np.roll(bell, place, (0, 1)) for place in product(*inside)], axis=-1)
    half = smooth[::2, ::2]
    half = half / half.sum((0, 1))
    flat = [one.reshape(-1, one.shape[-1]).astype(np.float32) for one in (smooth, half)]
    return fine, coarse, flat[0], flat[1]


def _spectrum(wavelet: Any) -> Any:
    return np.fft.fft2(wavelet).astype(np.complex64)


def _morlet(height: int, width: int, scale: int, turn: float) -> Any:
    """Make a wave under a bell whose mean is zero."""
    size, slant = 0.8 * 2**scale, 4 / ANGLES
    bell = _bell(height, width, size, turn, slant)
    wave = bell * np.exp(1j * (3 * math.pi / 4 / 2**scale) * _along(height, width, turn)[0])
    wavelet = wave - bell * (wave.sum() / bell.sum())
    return wavelet * slant / (2 * math.pi * size**2)


def _bell(height: int, width: int, size: float, turn: float, slant: float) -> Floats:
    along, across = _along(height, width, turn)
    return np.exp(-(along**2 + (slant * across) ** 2) / (2 * size**2))


def _along(height: int, width: int, turn: float) -> tuple[Floats, Floats]:
    """Give how far each pixel lies along and across a direction, the first pixel in the middle."""
    down = np.fft.fftfreq(height, 1 / height)[:, None]
    right = np.fft.fftfreq(width, 1 / width)[None, :]
    cos, sin = math.cos(turn), math.sin(turn)
    return down * cos + right * sin, right * cos - down * sin
