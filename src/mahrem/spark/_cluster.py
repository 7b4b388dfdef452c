"""Run on a Spark cluster: cut there until a part fits a worker, then finish it there with our own kernels."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.partition import UtilityAware
from mahrem.release.decisions import Policy
from mahrem.spark._errors import translate_errors
from mahrem.spark._judge import Judge
from mahrem.spark._parts import finish_parts
from mahrem.spark._plan import CutPlan, plan_cuts
from mahrem.spark._points import PackedRows
from mahrem.spark._session import address_of, is_connected, start, stop
from mahrem.spark._source import refuse_absent
from mahrem.spark._strata import strata_of
from mahrem.spark._task import LabelledTable, Task
from mahrem.table import is_spark_frame
from mahrem.types import Floats

_LEAST_PART = 500_000  # rows that one worker finishes before a pass over the table would be done
_LARGEST_PART = 160 << 20  # bytes, eight a cell, that one worker takes at a time


@dataclass
class Spark:
    """A cluster, or the cores of this machine as one.

    Args:
        master: As Spark writes it; ``sc://host:port`` for Spark Connect. Not used with ``session``.
        session: A session that somebody else has started and will stop.
        memory: Of the driver and of every executor that we start; None for what ``spark-defaults.conf`` says,
            or 2 GB.
        part: Rows that one worker finishes at a time; None to choose by the number of cores.
        settings: Spark's own settings, as pairs.
        wait: Seconds until a master or its workers must have answered.

    Guarantees:
        - Strict Mondrian that cuts at medians gives the same classes as on one machine, whatever the layout
          of the rows; above one part other cuts, and hierarchies, keep the promises with other classes.
        - Other methods keep the same promises; their classes do not cross the parts of the table.
        - Class numbers are unique over the table and come from the cuts, so that work done twice gives the
          same numbers.
        - No row is collected to the driver.
    """

    master: str = "local[*]"
    session: Any = field(default=None, repr=False, compare=False)
    memory: str | None = None
    part: int | None = None
    settings: tuple[tuple[str, str], ...] = ()
    wait: float = 60.0
    _ours: bool = field(default=False, init=False, repr=False, compare=False)  # we have started the session

    def __post_init__(self) -> None:
        if self.part is not None:
            check.at_least(1, part=check.whole(part=self.part))

    def __enter__(self) -> Self:
        if self.session is None:
            settings = dict(self.settings)
            self.session = start(self.master, memory=self.memory, settings=settings, wait=self.wait)
            self._ours = True
        return self

    def __exit__(self, *_: object) -> None:
        if self._ours:
            stop(self.session)
            self.session, self._ours = None, False

    def partition(self, frame: Any, task: Task) -> LabelledTable:
        """Sort the rows of a Spark DataFrame into classes, and rewrite their cells if the task says so.

        The frame must give the same rows each time it is read; persist it if it is costly to compute.

        Raises:
            Infeasible: If the table may not stand as one class.
            InvalidParameter: If a method does not run on a cluster.
        """
        if isinstance(task.method, UtilityAware):
            from mahrem.spark._publish import recode_classes
            from mahrem.spark._rounds import in_rounds

            labelled = in_rounds(self, frame, task, task.method)
            if not task.recodings:
                return labelled
            rows, largest = int(labelled.plans[0].sizes.sum()), self.target(0, task.columns(frame))
            return replace(labelled, frame=recode_classes(labelled.frame, task, rows, largest))
        points = self.packed(frame, task)
        try:
            judge, sizes, roots = self.strata(points, task)
            plan_ = self.plan(points, judge, sizes, roots, task.columns(frame))
        except BaseException:
            points.let_go()
            raise
        return LabelledTable(finish_parts(frame, task, judge, plan_, points), (plan_,), kept=(points.frame,))

    @staticmethod
    def packed(frame: Any, task: Task) -> PackedRows:
        """Pack what the cuts depend on; let go of it at the end."""
        return PackedRows.of(frame, task.quasi, Judge(task.promises).columns)

    @staticmethod
    def strata(
        points: PackedRows, task: Task, shares: tuple[Floats, ...] = ()
    ) -> tuple[Judge, list[int], dict[bytes, int]]:
        """Count rows by their pattern of missing values and merge patterns that may not stand.

        ``shares`` of sensitive values are those of the table, unless it is only a part of another one.
        """
        return strata_of(points.glance, Judge(task.promises), shares)

    def plan(
        self, points: PackedRows, judge: Judge, sizes: list[int], roots: dict[bytes, int], columns: int
    ) -> CutPlan:
        """Cut the table until every part fits a worker, with all of its columns."""
        target, cores = self.target(sum(sizes), columns), self.cores
        edges = points.glance.edges()
        return plan_cuts(
            lambda survey: points.ask(survey, cores), edges, judge, target=target, sizes=sizes, roots=roots
        )

    def target(self, rows: int, columns: int) -> int:
        """Give how many rows one worker takes: fewer of a wide table."""
        if self.part is not None:
            return self.part
        most = max(_LEAST_PART, _LARGEST_PART // (8 * max(1, columns)))
        return int(np.clip(-(-rows // self.cores), _LEAST_PART, most))

    @property
    def cores(self) -> int:
        """How many tasks run at a time, as far as is known."""
        if is_connected(self.session):
            return int(self.session.conf.get("spark.default.parallelism", "8"))
        return int(self.session.sparkContext.defaultParallelism)


@contextmanager
def open_cluster(source: object, policy: Policy, *, stays: bool = False) -> Iterator[Spark]:
    """Give the cluster of a frame, or of the running session, or start one and stop it afterwards.

    Args:
        source: A Spark DataFrame brings its own session.
        policy: Names the master.
        stays: Leave a session that was started running if all went well: a frame of it is handed out.
    """
    refuse_absent(source, policy)
    with translate_errors(), ExitStack() as stack:
        if is_spark_frame(source):
            engine = Spark(session=source.sparkSession)  # type: ignore[attr-defined]
        else:
            engine = Spark(master=policy.master or "local[*]", session=_running(policy.master))
        yield stack.enter_context(engine)
        if stays:
            stack.pop_all()


def _running(master: str | None) -> Any:
    """Give the session that this process already has, if it is the one that is asked for."""
    try:
        from pyspark import SparkContext
        from pyspark.sql import SparkSession
    except ImportError:
        return None
    session = SparkSession.getActiveSession()
    if session is None and SparkContext._active_spark_context is not None:  # noqa: SLF001 - no other way to ask
        session = SparkSession.builder.getOrCreate()  # another thread has started it, and will stop it
    if session is None or master is None:
        return session
    connected = is_connected(session)
    if master.startswith("sc://") != connected or (not connected and session.sparkContext.master != master):
        raise InvalidParameter(
            f"master={address_of(master)!r}: a session with another master is running; stop it first"
        )
    return session
