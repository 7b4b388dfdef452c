"""Publish and learn from personal data without giving anyone away.

>>> import mahrem as mh
>>> patients = mh.demo_patients(300)
>>> release = mh.anonymize(patients, quasi=["age", "zip"], sensitive="diagnosis", rest="drop", k=5, l=2)
>>> release.holds
True

Everything is loaded when it is first used, so that importing mahrem costs next to nothing.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.datasets import demo_patients as demo_patients
    from mahrem.dp import Ledger as Ledger
    from mahrem.errors import Infeasible as Infeasible
    from mahrem.errors import MahremError as MahremError
    from mahrem.errors import PrivacyWarning as PrivacyWarning
    from mahrem.pipeline import Anonymizer as Anonymizer
    from mahrem.pipeline import Audit as Audit
    from mahrem.pipeline import Comparison as Comparison
    from mahrem.pipeline import Inspection as Inspection
    from mahrem.pipeline import Release as Release
    from mahrem.pipeline import TrainedModel as TrainedModel
    from mahrem.pipeline import anonymize as anonymize
    from mahrem.pipeline import apply as apply
    from mahrem.pipeline import attack as attack
    from mahrem.pipeline import attack_model as attack_model
    from mahrem.pipeline import audit as audit
    from mahrem.pipeline import compare as compare
    from mahrem.pipeline import generalize as generalize
    from mahrem.pipeline import inspect as inspect
    from mahrem.pipeline import lattice as lattice
    from mahrem.pipeline import load_model as load_model
    from mahrem.pipeline import make_hierarchy as make_hierarchy
    from mahrem.pipeline import perturb as perturb
    from mahrem.pipeline import query as query
    from mahrem.pipeline import risk as risk
    from mahrem.pipeline import suppress as suppress
    from mahrem.pipeline import synthesize as synthesize
    from mahrem.pipeline import train as train
    from mahrem.release.decisions import Policy as Policy
    from mahrem.release.folders import sign_release as sign_release
    from mahrem.release.folders import verify_release as verify_release

    __version__: str
else:
    _load, _list, __all__ = offered(__name__)

    def __getattr__(name: str) -> object:
        if name == "__version__":
            from mahrem.entries import own_version

            return own_version()
        return _load(name)

    def __dir__() -> list[str]:
        return [*_list(), "__version__"]
