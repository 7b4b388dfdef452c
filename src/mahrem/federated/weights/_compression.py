"""Small updates: fewer bits for each number, or the largest numbers only; what is lost waits for the next."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mahrem.errors import InvalidInput
from mahrem.types import Floats


@dataclass(frozen=True, kw_only=True)
class Compression:
    """How an update travels.

    Args:
        bits: Bits of each number, 2 to 16; None leaves 32.
        share: Share of the numbers that are sent, the largest; None sends all.

    Guarantees:
        - What is read is what :meth:`restore` gives the sender, to the last digit.
        - Numbers that are cut to fewer bits are off by at most one step, and by nothing on average.

    References:
        Alistarh et al.: QSGD, 2017. Stich, Cordonnier, Jaggi: Sparsified SGD with memory, 2018.

    Example:
        >>> small = Compression(share=0.5)
        >>> body = small.pack(np.array([0.1, -2.0, 0.0, 3.0]), np.random.default_rng(0))
        >>> small.restore(body, 4).tolist()
        [0.0, -2.0, 0.0, 3.0]
    """

    bits: int | None = None
    share: float | None = None

    def pack(self, update: Floats, rng: np.random.Generator) -> dict[str, Any]:
        """Give the body of a message with a ``(size,)`` update."""
        values = np.asarray(update, np.float64)
        body: dict[str, object] = {}
        if self.share is not None:
            kept = max(1, round(self.share * len(values)))
            places = np.sort(np.argpartition(-np.abs(values), kept - 1)[:kept])
            body["gaps"] = np.diff(places, prepend=-1) - 1  # small numbers travel in few bytes
            values = values[places]
        if self.bits is None:
            return {**body, "values": values.astype(np.float32)}
        levels = (1 << (self.bits - 1)) - 1
        step = float(np.abs(values).max(initial=0.0)) / levels
        if step > 0:  # up or down by chance, so that nothing is lost on average
            values = np.floor(values / step + rng.random(len(values)))
        return {**body, "levels": np.clip(values, -levels, levels).astype(np.int64), "step": step}

    def restore(self, body: Mapping[str, object], size: int) -> Floats:
        """Read an update of ``size`` numbers.

        Raises:
            InvalidInput: If it is none, or of another size.
        """
        try:
            values = self._values(body)
            if self.share is None:
                places = np.arange(len(values))
            else:
                gaps = np.asarray(body["gaps"])
                if gaps.dtype.kind not in "iu" or gaps.ndim != 1 or (gaps < 0).any():
                    raise InvalidInput("places that cannot be")
                if len(gaps) > size or (gaps >= size).any():  # before they are added: large ones would wrap
                    raise InvalidInput(f"places beyond the agreed {size}")
                places = np.cumsum(gaps.astype(np.int64) + 1) - 1
            whole = np.zeros(size)
            if len(places) != len(values) or (self.share is None and len(values) != size):
                raise InvalidInput(f"numbers={len(values)}: another shape than the agreed {size}")
            if len(places) and places[-1] >= size:
                raise InvalidInput(f"places beyond the agreed {size}")
            whole[places] = values
        except (KeyError, OverflowError, TypeError, ValueError) as error:
            if isinstance(error, InvalidInput):
                raise
            raise InvalidInput("an update that cannot be read") from None
        return whole

    def _values(self, body: Mapping[str, object]) -> Floats:
        held = np.asarray(body["values" if self.bits is None else "levels"])
        if held.ndim != 1 or held.dtype.kind not in ("f" if self.bits is None else "iu"):
            raise InvalidInput("no numbers in the answer")
        step = 1.0 if self.bits is None else body["step"]
        if isinstance(step, bool) or not isinstance(step, int | float):
            raise InvalidInput("no step in the answer")
        if not math.isfinite(step):
            raise InvalidInput("not numbers (NaN or infinite) in the answer")
        return held.astype(np.float64) * float(step)


@dataclass
class Feedback:
    """A client's memory of what it did not send: it is added to its next update."""

    compression: Compression
    owed: Floats | None = field(default=None, repr=False)

    def pack(self, update: Floats, rng: np.random.Generator) -> dict[str, Any]:
        """Pack an update with what was left over, and keep what is left over now."""
        whole = update if self.owed is None else update + self.owed
        body = self.compression.pack(whole, rng)
        self.owed = whole - self.compression.restore(body, len(whole))
        return body
