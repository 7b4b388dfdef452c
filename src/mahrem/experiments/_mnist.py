"""MNIST as arrays, and what its experiments share."""

from __future__ import annotations

import gzip
from functools import cache
from typing import Any

import numpy as np

from mahrem.datasets import find
from mahrem.types import Floats

__all__ = ["DELTA", "MIDDLE", "ROWS", "SPREAD", "mnist"]

ROWS, DELTA = 60_000, 1e-5
MIDDLE, SPREAD = 0.1307, 0.3081  # of the pixels, as everybody knows them


@cache
def mnist() -> tuple[Floats, Any, Floats, Any]:
    """Read images ``(n, 1, 28, 28)`` and labels for training and testing."""
    read: list[Any] = []
    for part in ("train", "test"):
        pixels = _numbers(f"mnist_{part}_images", 16).reshape(-1, 1, 28, 28)
        read += [((pixels / np.float32(255) - MIDDLE) / SPREAD).astype(np.float32)]
        read += [_numbers(f"mnist_{part}_labels", 8).astype(np.int64)]
    return read[0], read[1], read[2], read[3]


def _numbers(name: str, head: int) -> Any:
    with gzip.open(find(name)) as file:
        return np.frombuffer(file.read(), dtype=np.uint8, offset=head)
