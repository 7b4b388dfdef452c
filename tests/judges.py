"""Judges of candidate classes for tests of methods."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mahrem.types import Mask, Offsets, Rows


@dataclass(frozen=True)
class AtLeast:
    """A minimum size; not ``plain``, it takes the general path."""

    minimum: int
    plain: bool = True

    def __call__(self, rows: Rows, offsets: Offsets) -> Mask:
        assert len(rows) == offsets[-1]
        return np.diff(offsets) >= self.minimum
