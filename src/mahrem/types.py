"""Names for the arrays that travel between rooms; the comment says the shape.

Data frames live at the edge (``table``); everything between rooms is one of these or a frozen dataclass.

In the signature of a kernel the names are exact: it is built for these types. There an array has one
dimension unless it is called a matrix or a cube, and may be read only, unless it is called written.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Array = TypeVar("Array")
Matrix = Annotated[Array, 2]  # an array with two dimensions
Cube = Annotated[Array, 3]
Written = Annotated[Array, "written"]  # an array, or a tuple of arrays, that the kernel writes to

Points: TypeAlias = Annotated[
    NDArray[np.float64], 2
]  # (n, d) quasi-identifiers, each column scaled to [0, 1]
Positions: TypeAlias = NDArray[np.float64]  # (n,) one quasi-identifier on its own axis; NaN = missing
Labels: TypeAlias = NDArray[np.int64]  # (n,) class of each row, 0 .. c-1; -1 = suppressed
Codes: TypeAlias = NDArray[np.int32]  # (n,) value of each row as a number, 0 .. m-1
Rows: TypeAlias = NDArray[np.int32]  # (m,) row numbers
Offsets: TypeAlias = NDArray[np.int64]  # (g + 1,) candidate class i holds rows[offsets[i]:offsets[i + 1]]
Sizes: TypeAlias = NDArray[np.int64]  # (c,) rows in each class
Levels: TypeAlias = NDArray[np.float64]  # (c,) how far each class goes under one privacy model
Mask: TypeAlias = NDArray[np.bool_]  # (n,) or (c,) yes or no
Floats: TypeAlias = NDArray[np.float64]  # any shape, said where it is used
Integers: TypeAlias = NDArray[np.int64]  # any shape, said where it is used

__all__ = [
    "Codes",
    "Cube",
    "Floats",
    "Integers",
    "Labels",
    "Levels",
    "Mask",
    "Matrix",
    "Offsets",
    "Points",
    "Positions",
    "Rows",
    "Sizes",
    "Written",
]
