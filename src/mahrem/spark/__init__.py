"""Tables on a Spark cluster: read, cut, finished by the same kernels, written and checked where rows lie.

It takes a policy and gives a draft, a labelled table, files and a verdict; what is said about them is the
pipeline's business. Nothing of Spark is loaded before a session is started or a frame of it comes in.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.spark._audit import audit_on_spark as audit_on_spark
    from mahrem.spark._cluster import Spark as Spark
    from mahrem.spark._cluster import open_cluster as open_cluster
    from mahrem.spark._draft import ClusterDraft as ClusterDraft
    from mahrem.spark._draft import check_on_spark as check_on_spark
    from mahrem.spark._encode import number_domains as number_domains
    from mahrem.spark._files import write_on_spark as write_on_spark
    from mahrem.spark._frame import PlacedColumn as PlacedColumn
    from mahrem.spark._glance import GlanceTaker as GlanceTaker
    from mahrem.spark._glance import TableGlance as TableGlance
    from mahrem.spark._judge import CodedColumn as CodedColumn
    from mahrem.spark._judge import Judge as Judge
    from mahrem.spark._judge import promised_columns as promised_columns
    from mahrem.spark._plan import CutPlan as CutPlan
    from mahrem.spark._plan import plan_cuts as plan_cuts
    from mahrem.spark._prepare import prepare_on_spark as prepare_on_spark
    from mahrem.spark._prepare import refuse_on_spark as refuse_on_spark
    from mahrem.spark._publish import class_figures as class_figures
    from mahrem.spark._strata import strata_of as strata_of
    from mahrem.spark._tally import PassCount as PassCount
    from mahrem.spark._tally import Piece as Piece
    from mahrem.spark._tally import Survey as Survey
    from mahrem.spark._task import LabelledTable as LabelledTable
    from mahrem.spark._task import Task as Task
    from mahrem.spark._verify import ClusterVerdict as ClusterVerdict
    from mahrem.spark._watch import count_jobs as count_jobs
    from mahrem.spark._watch import watch_tasks as watch_tasks
else:
    __getattr__, __dir__, __all__ = offered(__name__)
