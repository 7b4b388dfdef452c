"""Where it runs: the same kernels on this machine or inside a cluster's workers.

What needs Spark is loaded when a name is first used, so that nobody else pays for it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mahrem.engines._local import Local, in_parallel

if TYPE_CHECKING:
    from mahrem.engines._spark import Labelled, Spark, Task
    from mahrem.engines._spark_frame import Placed, number_domains
    from mahrem.engines._spark_judge import Coded
    from mahrem.engines._spark_plan import Plan
    from mahrem.engines._spark_publish import Figures, class_figures, recoded, scattered
    from mahrem.engines._spark_verify import ClusterVerdict, verify_on_spark

__all__ = [
    "ClusterVerdict",
    "Coded",
    "Figures",
    "Labelled",
    "Local",
    "Placed",
    "Plan",
    "Spark",
    "Task",
    "class_figures",
    "in_parallel",
    "number_domains",
    "recoded",
    "scattered",
    "verify_on_spark",
]

_HOMES = {
    "ClusterVerdict": "_spark_verify",
    "Coded": "_spark_judge",
    "Figures": "_spark_publish",
    "Labelled": "_spark",
    "Placed": "_spark_frame",
    "Plan": "_spark_plan",
    "Spark": "_spark",
    "Task": "_spark",
    "class_figures": "_spark_publish",
    "number_domains": "_spark_frame",
    "recoded": "_spark_publish",
    "scattered": "_spark_publish",
    "verify_on_spark": "_spark_verify",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
