"""Files of text put together from pieces that many rows share, and taken apart again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.arrays.weaving._unravel import Cells, Views, copy_cells, unravel, unravel_all
    from mahrem.arrays.weaving._weave import Strand, weave, weave_rows
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = ["Cells", "Strand", "Views", "copy_cells", "unravel", "unravel_all", "weave", "weave_rows"]
