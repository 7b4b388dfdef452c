"""Tables on a Spark cluster: read, cut, finished by the same kernels, written and checked where rows lie.

It takes a policy and gives a draft, a labelled table, files and a verdict; what is said about them is the
pipeline's business. Nothing of Spark is loaded before a session is started or a frame of it comes in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.spark._audit import audit_on_spark
    from mahrem.spark._cluster import Spark, open_cluster
    from mahrem.spark._draft import ClusterDraft, check_on_spark
    from mahrem.spark._encode import number_domains
    from mahrem.spark._files import write_on_spark
    from mahrem.spark._frame import PlacedColumn
    from mahrem.spark._glance import GlanceTaker, TableGlance
    from mahrem.spark._judge import CodedColumn, Judge, promised_columns
    from mahrem.spark._plan import CutPlan, plan_cuts
    from mahrem.spark._prepare import prepare_on_spark, refuse_on_spark
    from mahrem.spark._publish import class_figures
    from mahrem.spark._strata import strata_of
    from mahrem.spark._tally import PassCount, Piece, Survey
    from mahrem.spark._task import LabelledTable, Task
    from mahrem.spark._verify import ClusterVerdict, verify_on_spark
    from mahrem.spark._watch import count_jobs, watch_tasks
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "ClusterDraft",
    "ClusterVerdict",
    "CodedColumn",
    "CutPlan",
    "GlanceTaker",
    "Judge",
    "LabelledTable",
    "PassCount",
    "Piece",
    "PlacedColumn",
    "Spark",
    "Survey",
    "TableGlance",
    "Task",
    "audit_on_spark",
    "check_on_spark",
    "class_figures",
    "count_jobs",
    "number_domains",
    "open_cluster",
    "plan_cuts",
    "prepare_on_spark",
    "promised_columns",
    "refuse_on_spark",
    "strata_of",
    "verify_on_spark",
    "watch_tasks",
    "write_on_spark",
]
