"""Mosaic: tiles grown and exchanged until no step lowers the loss, and the repair of any method's classes.

It begins with cuts of another room, moves rows between neighbouring classes under their promises, and stops
at any time with classes that hold. The work is done by kernels of ``arrays.tiling`` and ``arrays.growing``.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.partition.mosaic._mosaic import Mosaic as Mosaic
    from mahrem.partition.mosaic._repaired import Repair as Repair
    from mahrem.partition.mosaic._repaired import Repaired as Repaired
else:
    __getattr__, __dir__, __all__ = offered(__name__)
