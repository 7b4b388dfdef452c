"""What a private trainer is given: numbers, labels and rows by public declarations alone.

A cell that does not fit its declaration is missing, whatever the others are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.learning.private.inputs._given_values import (
        given_numbers,
        label_codes,
        length_of,
        shape_of,
        target_numbers,
    )
    from mahrem.learning.private.inputs._public_inputs import (
        PublicInputs,
        declared_features,
        quiet_floats,
        read_rows,
        shaped_rows,
    )
    from mahrem.learning.private.inputs._public_rows import PublicRows, clip_rows, given_rows
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "PublicInputs",
    "PublicRows",
    "clip_rows",
    "declared_features",
    "given_numbers",
    "given_rows",
    "label_codes",
    "length_of",
    "quiet_floats",
    "read_rows",
    "shape_of",
    "shaped_rows",
    "target_numbers",
]
