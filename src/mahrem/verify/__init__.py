"""The independent verifier: what does a published table really promise?

It knows the privacy models and the grammar of published cells and nothing of how a release was made; an
import contract keeps it so. Every release passes through here before it gets its final name, and
``mahrem audit`` is the same check on any file.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.verify._cell_bounds import CellBounds as CellBounds
    from mahrem.verify._cell_bounds import cells_out_of_bounds as cells_out_of_bounds
    from mahrem.verify._classes import SUPPRESSED as SUPPRESSED
    from mahrem.verify._classes import people_per_class as people_per_class
    from mahrem.verify._classes import published_classes as published_classes
    from mahrem.verify._coarse import Coarseness as Coarseness
    from mahrem.verify._coarse import rows_too_fine as rows_too_fine
    from mahrem.verify._matching import matching_rows as matching_rows
    from mahrem.verify._shifted import rows_badly_shifted as rows_badly_shifted
    from mahrem.verify._synthetic import SchemaVerdict as SchemaVerdict
    from mahrem.verify._synthetic import verify_schema as verify_schema
    from mahrem.verify._trajectories import trajectories as trajectories
    from mahrem.verify._verify import Claims as Claims
    from mahrem.verify._verify import Verdict as Verdict
    from mahrem.verify._verify import verify as verify
else:
    __getattr__, __dir__, __all__ = offered(__name__)
