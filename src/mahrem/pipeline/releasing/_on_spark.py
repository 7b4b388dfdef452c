"""Anonymise a distributed table: the same policy, the same promises, the same release folder."""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from mahrem.errors import in_our_words
from mahrem.pipeline.releasing._release import Destination, Release, refuse_doubts, write_words
from mahrem.pipeline.releasing._spark_report import described, report_of
from mahrem.release.decisions import Policy
from mahrem.release.folders import find_data, record_run, staged_release
from mahrem.spark import (
    ClusterDraft,
    check_on_spark,
    count_jobs,
    open_cluster,
    prepare_on_spark,
    refuse_on_spark,
    watch_tasks,
    write_on_spark,
)
from mahrem.table import FORMATS, Hierarchy
from mahrem.words import Note, Progress


@dataclass(frozen=True, kw_only=True)
class ClusterRelease(Release):
    """A verified release that a cluster made.

    ``table`` is a Spark DataFrame if one came in or nothing was written; else what the folder holds, as a
    lazy polars frame. A release folder is written while the release is made, where ``output`` says; for
    other places Spark has writers of its own: ``release.table.write``.
    """

    _verified: Any = field(repr=False, default=None)
    _trees: dict[str, Hierarchy] = field(repr=False, default_factory=dict)

    @cached_property
    def table(self) -> Any:
        """The published table, as it was verified."""
        if self._verified is not None:
            return self._verified
        data = find_data(self.folder or Path())
        parts = sorted(data.glob("part-*"))
        if data.name == "data.parquet":
            return pl.scan_parquet(parts, glob=False)
        mark = "\t" if data.name == "data.tsv" else ","
        return pl.scan_csv(parts, glob=False, infer_schema=False, separator=mark)

    @property
    def hierarchies(self) -> dict[str, Hierarchy]:
        """The trees whose nodes columns show; they list real values."""
        return dict(self._trees)


def anonymize_on_spark(source: object, policy: Policy, destination: Destination) -> ClusterRelease:
    """Anonymise a distributed table and verify what comes out, without a row reaching the driver.

    Guarantees:
        - As :func:`mahrem.anonymize`: nothing is handed out or gets its name before its promises were
          checked, on the files where there are any.
        - Rows come in an order that says nothing of the one they had.
    """
    refuse_on_spark(policy)
    output = destination.output
    destination.step(Note("stage.spark"))
    # Outermost: what failed is removed when no task runs any more that could write once again.
    stage: AbstractContextManager[Path | None]
    stage = nullcontext() if output is None else staged_release(output, force=destination.force)
    with (
        stage as folder,
        open_cluster(source, policy, stays=output is None) as engine,
        ExitStack() as cleanup,
    ):
        step = cleanup.enter_context(watch_tasks(engine.session, destination.progress))
        step(Note("stage.reading"))
        count = cleanup.enter_context(count_jobs(engine.session))
        draft = prepare_on_spark(engine, source, policy, cleanup)
        step(Note("stage.cutting"))
        labelled = engine.partition(draft.encoded.frame, draft.task)
        cleanup.callback(labelled.let_go)
        draft = replace(draft, plans=labelled.plans)
        table = draft.table(labelled, text=folder is not None and FORMATS[policy.format].spreadsheets)
        if folder is None:
            table = table.persist()
            step(Note("stage.verifying"))
            try:
                verdict = check_on_spark(draft, table)
                report = report_of(replace(draft, jobs=count()), verdict, seconds=destination.seconds)
                refuse_doubts(report, strict=destination.strict)
            except BaseException:
                table.unpersist()
                raise
            return ClusterRelease(report=report.as_dict(), _verified=table, _trees=draft.hierarchies)
        step(Note("stage.files"))
        files = write_on_spark(table, folder, policy.format)
        labelled.let_go()  # the check reads the files, and needs the room
        step(Note("stage.verifying"))
        verdict = check_on_spark(draft, files)
        report = report_of(replace(draft, jobs=count()), verdict, seconds=destination.seconds)
        refuse_doubts(report, strict=destination.strict)
        write_words(folder, draft.policy, report, html=destination.html)
    _record(draft, output or Path(), verdict.classes)
    return ClusterRelease(report=report.as_dict(), folder=output, _trees=draft.hierarchies)


@in_our_words
def explain(source: object, policy: Policy, *, progress: Progress | None) -> dict[str, Any]:
    """Cut the table as far as the cluster does, and say what the workers would then have to do."""
    refuse_on_spark(policy)
    with open_cluster(source, policy) as engine, ExitStack() as cleanup:
        step = cleanup.enter_context(watch_tasks(engine.session, progress))
        step(Note("stage.reading"))
        count = cleanup.enter_context(count_jobs(engine.session))
        draft = prepare_on_spark(engine, source, policy, cleanup)
        step(Note("stage.cutting"))
        points = engine.packed(draft.encoded.frame, draft.task)
        cleanup.callback(points.let_go)
        judge, sizes, roots = engine.strata(points, draft.task)
        plan = engine.plan(points, judge, sizes, roots, draft.task.columns(draft.encoded.frame))
        how = described((plan,), count())
        return {**how, "method": draft.method, "rows": int(plan.sizes.sum()), "cores": engine.cores}


def _record(draft: ClusterDraft, output: Path, classes: int) -> None:
    policy = draft.policy
    about = {"input": draft.label, "seed": policy.seed, "policy": policy.public(), "classes": classes}
    record_run(output, None, about)  # nobody reads all of a cluster's table once more
