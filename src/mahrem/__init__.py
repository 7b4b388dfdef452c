"""Publish and learn from personal data without giving anyone away.

>>> import mahrem as mh
>>> patients = mh.demo_patients(300)
>>> release = mh.anonymize(patients, quasi=["age", "zip"], sensitive="diagnosis", rest="drop", k=5, l=2)
>>> release.holds
True

Everything is loaded when it is first used, so that importing mahrem costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.datasets import patients as demo_patients
    from mahrem.dp import Ledger
    from mahrem.errors import Infeasible, MahremError, PrivacyWarning
    from mahrem.pipeline import (
        Anonymizer,
        Audit,
        Comparison,
        Inspection,
        Release,
        TrainedModel,
        anonymize,
        apply,
        attack,
        attack_model,
        audit,
        compare,
        generalize,
        inspect,
        lattice,
        load_model,
        make_hierarchy,
        perturb,
        query,
        risk,
        suppress,
        synthesize,
        train,
    )
    from mahrem.release.decisions import Policy
    from mahrem.release.folders import sign_release, verify_release

__all__ = [
    "Anonymizer",
    "Audit",
    "Comparison",
    "Infeasible",
    "Inspection",
    "Ledger",
    "MahremError",
    "Policy",
    "PrivacyWarning",
    "Release",
    "TrainedModel",
    "anonymize",
    "apply",
    "attack",
    "attack_model",
    "audit",
    "compare",
    "demo_patients",
    "generalize",
    "inspect",
    "lattice",
    "load_model",
    "make_hierarchy",
    "perturb",
    "query",
    "risk",
    "sign_release",
    "suppress",
    "synthesize",
    "train",
    "verify_release",
]


_load, _list = offered(__name__)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from mahrem.entries import own_version

        return own_version()
    return _load(name)


def __dir__() -> list[str]:
    return [*_list(), "__version__"]
