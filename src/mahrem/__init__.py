"""Publish and learn from personal data without giving anyone away.

>>> import mahrem as mh
>>> patients = mh.demo_patients(300)
>>> release = mh.anonymize(patients, quasi=["age", "zip"], sensitive="diagnosis", rest="drop", k=5, l=2)
>>> release.holds
True

Everything is loaded when it is first used, so that importing mahrem costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mahrem.datasets import patients as demo_patients
    from mahrem.dp import Ledger
    from mahrem.errors import Infeasible, MahremError, PrivacyWarning
    from mahrem.pipeline import (
        Audit,
        Comparison,
        Inspection,
        Release,
        Trained,
        anonymize,
        apply,
        attack,
        attack_model,
        audit,
        compare,
        inspect,
        load_model,
        make_hierarchy,
        query,
        synthesize,
        train,
    )
    from mahrem.release import Policy

__all__ = [
    "Audit",
    "Comparison",
    "Infeasible",
    "Inspection",
    "Ledger",
    "MahremError",
    "Policy",
    "PrivacyWarning",
    "Release",
    "Trained",
    "anonymize",
    "apply",
    "attack",
    "attack_model",
    "audit",
    "compare",
    "demo_patients",
    "inspect",
    "load_model",
    "make_hierarchy",
    "query",
    "synthesize",
    "train",
]

_HOMES = {
    "Audit": "mahrem.pipeline",
    "Comparison": "mahrem.pipeline",
    "Infeasible": "mahrem.errors",
    "Inspection": "mahrem.pipeline",
    "Ledger": "mahrem.dp",
    "MahremError": "mahrem.errors",
    "Policy": "mahrem.release",
    "PrivacyWarning": "mahrem.errors",
    "Release": "mahrem.pipeline",
    "Trained": "mahrem.pipeline",
    "anonymize": "mahrem.pipeline",
    "apply": "mahrem.pipeline",
    "attack": "mahrem.pipeline",
    "attack_model": "mahrem.pipeline",
    "audit": "mahrem.pipeline",
    "compare": "mahrem.pipeline",
    "demo_patients": "mahrem.datasets:patients",
    "inspect": "mahrem.pipeline",
    "load_model": "mahrem.pipeline",
    "make_hierarchy": "mahrem.pipeline",
    "query": "mahrem.pipeline",
    "synthesize": "mahrem.pipeline",
    "train": "mahrem.pipeline",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("mahrem")
    if name not in _HOMES:
        raise AttributeError(f"module 'mahrem' has no attribute {name!r}")
    home, _, inner = _HOMES[name].partition(":")
    value = getattr(import_module(home), inner or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
