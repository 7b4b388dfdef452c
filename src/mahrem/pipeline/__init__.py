"""The verbs: what a person does with mahrem. They only arrange what the rooms below know."""

from mahrem.pipeline._anonymize import Release, anonymize
from mahrem.pipeline._audit import Audit, audit
from mahrem.pipeline._compare import Comparison, compare
from mahrem.pipeline._hierarchy import check_hierarchy, make_hierarchy
from mahrem.pipeline._inspect import Inspection, inspect

__all__ = [
    "Audit",
    "Comparison",
    "Inspection",
    "Release",
    "anonymize",
    "audit",
    "check_hierarchy",
    "compare",
    "inspect",
    "make_hierarchy",
]
