"""The tiles of mosaic: classes grown and repaired inside bounded tiles, rows at the edge first.

Costs here are widths of axes; :mod:`mahrem.arrays.growing` counts published cells under promises.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.arrays.tiling._merge import merge_in_tiles as merge_in_tiles
    from mahrem.arrays.tiling._normals import normals_first as normals_first
    from mahrem.arrays.tiling._normals import rows_by_label as rows_by_label
    from mahrem.arrays.tiling._outliers import local_outlier_factors as local_outlier_factors
    from mahrem.arrays.tiling._swaps import swap_rows as swap_rows
    from mahrem.arrays.tiling._tiles import Effort as Effort
    from mahrem.arrays.tiling._tiles import class_tiles as class_tiles
    from mahrem.arrays.tiling._tiles import lay_mosaic as lay_mosaic
    from mahrem.arrays.tiling._trees import Trees as Trees
    from mahrem.arrays.tiling._trees import branches_of as branches_of
    from mahrem.arrays.tiling._trees import plant as plant
    from mahrem.arrays.tiling._trees import seated as seated
else:
    __getattr__, __dir__, __all__ = offered(__name__)
