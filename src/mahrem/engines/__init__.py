"""Where it runs: the same kernels on this machine or inside a cluster's workers.

What needs Spark is loaded when a name is first used, so that nobody else pays for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.engines._local import Local, in_parallel, is_spark_frame
    from mahrem.engines._spark import Labelled, Spark, Task
    from mahrem.engines._spark_frame import Placed, number_domains
    from mahrem.engines._spark_judge import Coded
    from mahrem.engines._spark_plan import Plan
    from mahrem.engines._spark_publish import Figures, class_figures, recoded, scattered
    from mahrem.engines._spark_verify import ClusterVerdict, verify_on_spark
else:
    __getattr__, __dir__ = offered(__name__)

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
    "is_spark_frame",
    "number_domains",
    "recoded",
    "scattered",
    "verify_on_spark",
]
