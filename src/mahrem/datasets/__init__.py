"""Tables to work on: fictional patients made on the spot, and public benchmark files.

Benchmark files are found through ``MAHREM_DATA``. Nothing of them is stored here: the catalogue holds facts
(what, how large, where from, which licence), and a file is only handed out after its hash was compared with
the folder's manifest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.datasets._benchmark import (
        Dataset,
        DatasetSource,
        available,
        benchmark_folder,
        catalogue,
        find,
    )
    from mahrem.datasets._invented import are_invented
    from mahrem.datasets._patients import PATIENT_POLICY, patients
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "PATIENT_POLICY",
    "Dataset",
    "DatasetSource",
    "are_invented",
    "available",
    "benchmark_folder",
    "catalogue",
    "find",
    "patients",
]
