"""MNIST as arrays, and what its experiments share."""

from __future__ import annotations

import gzip
from functools import cache

import numpy as np
from numpy.typing import NDArray

from mahrem.datasets import find
from mahrem.types import Floats, Integers

ROWS, DELTA = 60_000, 1e-5
MIDDLE, SPREAD = 0.1307, 0.3081  # of the pixels, as everybody knows them


@cache
def mnist() -> tuple[Floats, Integers, Floats, Integers]:
    """Read images ``(n, 1, 28, 28)`` and labels for training and testing."""
    return *_images("train"), *_images("test")


def _images(part: str) -> tuple[Floats, Integers]:
    pixels = _numbers(f"mnist_{part}_images", 16).reshape(-1, 1, 28, 28)
    shades: Floats = ((pixels / np.float32(255) - MIDDLE) / SPREAD).astype(np.float32)
    return shades, _numbers(f"mnist_{part}_labels", 8).astype(np.int64)


def _numbers(name: str, head: int) -> NDArray[np.uint8]:
    with gzip.open(find(name)) as file:
        return np.frombuffer(file.read(), dtype=np.uint8, offset=head)
