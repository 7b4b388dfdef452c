"""The tiles of mosaic: classes grown and repaired inside bounded tiles, rows at the edge first.

Costs here are widths of axes; :mod:`mahrem.arrays.growing` counts published cells under promises.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.arrays.tiling._merge import merge_in_tiles
    from mahrem.arrays.tiling._normals import normals_first, rows_by_label
    from mahrem.arrays.tiling._outliers import local_outlier_factors
    from mahrem.arrays.tiling._swaps import swap_rows
    from mahrem.arrays.tiling._tiles import Effort, class_tiles, lay_mosaic
    from mahrem.arrays.tiling._trees import Trees, branches_of, plant, seated
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "Effort",
    "Trees",
    "branches_of",
    "class_tiles",
    "lay_mosaic",
    "local_outlier_factors",
    "merge_in_tiles",
    "normals_first",
    "plant",
    "rows_by_label",
    "seated",
    "swap_rows",
]
