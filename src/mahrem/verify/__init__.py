"""The independent verifier: what does a published table really promise?

It knows the privacy models and the grammar of published cells and nothing of how a release was made; an
import contract keeps it so. Every release passes through here before it gets its final name, and
``mahrem audit`` is the same check on any file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.verify._cell_bounds import CellBounds, cells_out_of_bounds
    from mahrem.verify._classes import SUPPRESSED, people_per_class, published_classes
    from mahrem.verify._coarse import Coarseness, rows_too_fine
    from mahrem.verify._matching import matching_rows
    from mahrem.verify._shifted import rows_badly_shifted
    from mahrem.verify._synthetic import SchemaVerdict, verify_schema
    from mahrem.verify._trajectories import trajectories
    from mahrem.verify._verify import Claims, Verdict, verify
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "SUPPRESSED",
    "CellBounds",
    "Claims",
    "Coarseness",
    "SchemaVerdict",
    "Verdict",
    "cells_out_of_bounds",
    "matching_rows",
    "people_per_class",
    "published_classes",
    "rows_badly_shifted",
    "rows_too_fine",
    "trajectories",
    "verify",
    "verify_schema",
]
