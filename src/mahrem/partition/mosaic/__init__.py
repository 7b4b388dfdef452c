"""Mosaic: tiles grown and exchanged until no step lowers the loss, and the repair of any method's classes.

It begins with cuts of another room, moves rows between neighbouring classes under their promises, and stops
at any time with classes that hold. The work is done by kernels of ``arrays.tiling`` and ``arrays.growing``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.partition.mosaic._mosaic import Mosaic
    from mahrem.partition.mosaic._repaired import Repair, Repaired
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "Mosaic",
    "Repair",
    "Repaired",
]
