"""Anonymise a distributed table: the same policy, the same promises, the same release folder."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl
import tomli_w

from mahrem.engines import Plan, Spark, is_spark_frame, scattered
from mahrem.engines._spark_errors import in_our_words
from mahrem.engines._spark_frame import column
from mahrem.engines._spark_session import shown
from mahrem.errors import InvalidParameter
from mahrem.pipeline._anonymize import Release
from mahrem.pipeline._spark_files import TEXT, as_text, checked, written
from mahrem.pipeline._spark_prepare import Work, prepared_on_spark, refuse_on_spark
from mahrem.pipeline._spark_report import Made, described, report_of
from mahrem.pipeline._spark_source import refuse_absent
from mahrem.pipeline._spark_watch import jobs_counted, watched
from mahrem.release import Policy, find_data, keep_record, staged_release
from mahrem.report import render_html, to_json
from mahrem.table import Hierarchy

__all__ = ["ClusterRelease", "anonymize_on_spark", "cluster", "explain"]


@dataclass(frozen=True, kw_only=True)
class ClusterRelease(Release):
    """A verified release that a cluster made.

    ``table`` is a Spark DataFrame if one came in or nothing was written; else what the folder holds, as a
    lazy polars frame.
    """

    _draft: Any = field(repr=False, default=None)
    _trees: dict[str, Hierarchy] = field(repr=False, default_factory=dict)

    @cached_property
    def table(self) -> Any:
        """The published table, as it was verified."""
        if self._verified is not None:
            return self._verified
        folder = self.folder or Path()
        data = find_data(folder)
        parts = sorted(data.glob("part-*"))
        if data.name == "data.parquet":
            return pl.scan_parquet(parts, glob=False)
        mark = "\t" if data.name == "data.tsv" else ","
        return pl.scan_csv(parts, glob=False, infer_schema=False, separator=mark)

    @property
    def hierarchies(self) -> dict[str, Hierarchy]:
        """The trees whose nodes columns show; they list real values."""
        return dict(self._trees)

    def save(self, folder: str | Path, *, force: bool = False, html: bool = True) -> Release:  # noqa: ARG002 - as others
        """Refuse: a cluster writes a release folder while it makes the release."""
        raise InvalidParameter(
            "a release of a cluster is written where it is made; give output= to anonymize"
        )

    def write(self, target: str, table: str, *, replace: bool = False) -> None:  # noqa: ARG002 - as others
        """Refuse: Spark has its own writers for databases."""
        raise InvalidParameter("write release.table with Spark's own writers: .write.jdbc, .saveAsTable")


@contextmanager
def cluster(source: object, policy: Policy, *, stays: bool = False) -> Iterator[Spark]:
    """Give the cluster of a frame, or of the running session, or start one and stop it afterwards.

    Args:
        source: A Spark DataFrame brings its own session.
        policy: Names the master.
        stays: Leave a session that was started running if all went well: a frame of it is handed out.
    """
    refuse_absent(source, policy)
    with in_our_words(), ExitStack() as stack:
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
    connected = type(session).__module__.startswith("pyspark.sql.connect")
    if master.startswith("sc://") != connected or (not connected and session.sparkContext.master != master):
        raise InvalidParameter(
            f"master={shown(master)!r}: a session with another master is running; stop it first"
        )
    return session


def anonymize_on_spark(
    source: object,
    policy: Policy,
    *,
    output: str | Path | None,
    force: bool,
    html: bool,
    progress: Callable[[str], None] | None,
    began: float,
) -> ClusterRelease:
    """Anonymise a distributed table and verify what comes out, without a row reaching the driver.

    Guarantees:
        - As :func:`mahrem.anonymize`: nothing is handed out or gets its name before its promises were
          checked, on the files where there are any.
        - Rows come in an order that says nothing of the one they had.
    """
    refuse_on_spark(policy)
    if output is not None and "://" in str(output):
        raise InvalidParameter(
            "output must be a folder that this machine and the workers share; for other places take "
            "release.table and write it with Spark"
        )
    if progress is not None:
        progress("starting Spark")
    place = Path(output or "")
    # Outermost: what failed is removed when no task runs any more that could write once again.
    stage: AbstractContextManager[Path | None]
    stage = nullcontext() if output is None else staged_release(place, force=force)
    with stage as folder, cluster(source, policy, stays=output is None) as engine, ExitStack() as cleanup:
        step = cleanup.enter_context(watched(engine.session, progress))
        step("reading")
        count = cleanup.enter_context(jobs_counted(engine.session))
        work = prepared_on_spark(engine, source, policy, cleanup)
        step("cutting")
        made = engine.partition(work.encoded.frame, work.task)
        cleanup.callback(made.let_go)
        table = _published(made.frame, work, text=folder is not None and policy.format in TEXT)
        rows = work.encoded.rows + work.made.suppressed

        def known() -> Made:
            return replace(work.made, plans=made.plans, jobs=count(), rows_in=rows + work.made.dropped)

        if folder is None:
            table = table.persist()
            step("verifying")
            try:
                verdict = checked(table, work.made, rows=rows)
            except BaseException:
                table.unpersist()
                raise
            report = report_of(known(), verdict, seconds=time.perf_counter() - began)
            return ClusterRelease(report=report, _given=source, _verified=table, _trees=work.trees)
        step("writing")
        files = written(table, folder, work.made.policy.format)
        made.let_go()  # the check reads the files, and needs the room
        step("verifying")
        verdict = checked(files, work.made, rows=rows)
        report = report_of(known(), verdict, seconds=time.perf_counter() - began)
        _write_words(folder, work.made.policy, report, html=html)
    _record(work, place, verdict.classes)
    return ClusterRelease(report=report, folder=place, _given=source, _trees=work.trees)


def explain(source: object, policy: Policy, *, progress: Callable[[str], None] | None) -> dict[str, Any]:
    """Cut the table as far as the cluster does, and say what the workers would then have to do."""
    refuse_on_spark(policy)
    with cluster(source, policy) as engine, ExitStack() as cleanup:
        step = cleanup.enter_context(watched(engine.session, progress))
        step("reading")
        count = cleanup.enter_context(jobs_counted(engine.session))
        work = prepared_on_spark(engine, source, policy, cleanup)
        step("cutting")
        points = engine.packed(work.encoded.frame, work.task)
        cleanup.callback(points.let_go)
        judge, sizes, roots = engine.strata(points, work.task)
        plan: Plan = engine.plan(points, judge, sizes, roots, work.task.columns(work.encoded.frame))
        told = described((plan,), count())
        return {**told, "method": work.made.method, "rows": int(plan.sizes.sum()), "cores": engine.cores}


def _published(frame: Any, work: Work, *, text: bool) -> Any:
    """Put published columns into their order, and rows that show nothing beside the others."""
    names = [name for name in work.made.source_columns if name not in work.made.leave_out]
    where = work.rows.published
    # What is written beside a column (comments, values of a model's categories) is not for others.
    table = frame.select(*(column(where.get(name, name)).alias(name, metadata={}) for name in names))
    table = as_text(table) if text else table
    if work.made.policy.suppress:  # the part a row lies in would tell what its stars hide
        table = scattered(table)
    if work.rows.hidden is None:
        return table
    from pyspark.sql import functions

    kinds = {one.name: one.dataType for one in table.schema.fields}
    stars = [
        functions.lit("*" if kinds[name].simpleString() == "string" else None).cast(kinds[name]).alias(name)
        for name in names
    ]
    return table.unionByName(scattered(work.rows.hidden.select(*stars)))


def _write_words(folder: Path, policy: Policy, report: dict[str, Any], *, html: bool) -> None:
    about = {
        "version": version("mahrem"),
        **({"hierarchy": sorted(policy.hierarchy)} if policy.hierarchy else {}),
    }
    (folder / "policy.toml").write_text(tomli_w.dumps({"mahrem": about, **policy.public()}), encoding="utf-8")
    (folder / "report.json").write_text(to_json(report), encoding="utf-8")
    if html:
        (folder / "report.html").write_text(render_html(report, policy.language), encoding="utf-8")


def _record(work: Work, output: Path, classes: int) -> None:
    policy = work.made.policy
    keep_record(
        {
            "mahrem": version("mahrem"),
            "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "release": str(output.absolute()),
            "input": work.label,
            "input_fingerprint": None,
            "seed": policy.seed,
            "policy": policy.public(),
            "classes": classes,
        }
    )
