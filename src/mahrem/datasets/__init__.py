"""Tables to work on: fictional patients made on the spot, and public benchmark files.

Benchmark files are found through ``MAHREM_DATA``. Nothing of them is stored here: the catalogue holds facts
(what, how large, where from, which licence), and a file is only handed out after its hash was compared with
the folder's manifest.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.datasets._benchmark import Dataset as Dataset
    from mahrem.datasets._benchmark import DatasetSource as DatasetSource
    from mahrem.datasets._benchmark import available as available
    from mahrem.datasets._benchmark import benchmark_folder as benchmark_folder
    from mahrem.datasets._benchmark import catalogue as catalogue
    from mahrem.datasets._benchmark import find as find
    from mahrem.datasets._invented import are_invented as are_invented
    from mahrem.datasets._patients import PATIENT_POLICY as PATIENT_POLICY
    from mahrem.datasets._patients import demo_patients as demo_patients
    from mahrem.datasets._patients import patients as patients
else:
    __getattr__, __dir__, __all__ = offered(__name__)
