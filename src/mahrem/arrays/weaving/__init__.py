"""Files of text put together from pieces that many rows share, and taken apart again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.arrays.weaving._unravel import Cells, copy_cells, unravel
    from mahrem.arrays.weaving._weave import Strand, weave
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = ["Cells", "Strand", "copy_cells", "unravel", "weave"]
