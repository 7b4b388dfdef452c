"""Files of text put together from pieces that many rows share, and taken apart again."""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.arrays.weaving._unravel import Cells as Cells
    from mahrem.arrays.weaving._unravel import Views as Views
    from mahrem.arrays.weaving._unravel import copy_cells as copy_cells
    from mahrem.arrays.weaving._unravel import unravel as unravel
    from mahrem.arrays.weaving._unravel import unravel_all as unravel_all
    from mahrem.arrays.weaving._weave import Strand as Strand
    from mahrem.arrays.weaving._weave import weave as weave
    from mahrem.arrays.weaving._weave import weave_rows as weave_rows
else:
    __getattr__, __dir__, __all__ = offered(__name__)
