"""The main job: a table in, a verified release out."""

from __future__ import annotations

import time
from collections.abc import Hashable
from pathlib import Path
from typing import Unpack

from mahrem import check
from mahrem.errors import InvalidParameter, spelled
from mahrem.pipeline._draft import draft
from mahrem.pipeline._prepare import prepare
from mahrem.pipeline._reading import reading_of
from mahrem.pipeline._release import Destination, Release, publish, refuse_keys_inside
from mahrem.release import GivenPolicy, Policy, Settings, earlier_seconds, policy_from
from mahrem.spark import is_spark_frame
from mahrem.table import open_source
from mahrem.words import LANGUAGES, Note, Progress

__all__ = ["anonymize"]

_WORTH_SAYING = 3.0  # seconds


def anonymize(
    source: object,
    *,
    policy: GivenPolicy = None,
    output: str | Path | None = None,
    to: str | tuple[str, str] | None = None,
    force: bool = False,
    html: bool = True,
    target: Hashable | None = None,
    progress: Progress | None = None,
    **settings: Unpack[Settings],
) -> Release:
    """Anonymise a table and verify what comes out.

    Args:
        source: A pandas, polars or pyarrow frame; a DuckDB relation or any other object that hands its rows
            over by the Arrow protocol (``__arrow_c_stream__``); a CSV, Parquet, Arrow, XLSX or DuckDB file; a
            PostgreSQL URI; a Spark DataFrame, or with ``engine="spark"`` whatever Spark reads.
        policy: A policy file, a mapping or a :class:`~mahrem.release.Policy`; settings win over it.
        output: Write a release folder there; without it the table is only verified in memory.
        to: Also write the published table into this database, before the folder gets its name; as
            ``anonymised``, or with ``(database, table)`` under another name.
        force: Replace an earlier release under ``output`` and an earlier table of ``to``.
        html: Draw ``report.html``; without it the report is brief: no figures of the original, no red team.
        target: A column to predict: the report then says what is left for learning.
        progress: Called with the name of each stage as it begins.
        **settings: Roles, promises, method, cells: every name of :class:`~mahrem.release.Settings`.

    Guarantees:
        - Every promise was checked on the published table by a verifier that does not know how it was made.
        - No row is lost or doubled; every value lies inside its published cell; other columns are untouched.
        - With ``output``, nothing gets its final name before the written file itself was verified.

    Example:
        >>> import mahrem as mh
        >>> patients = mh.demo_patients(200)
        >>> release = mh.anonymize(patients, quasi=["age", "zip"], sensitive="diagnosis", rest="drop", k=5)
        >>> release.holds, release.table.height
        (True, 200)
    """
    began = time.perf_counter()
    policy = policy_from(policy, settings, whole=True)
    if not policy.promises():
        raise InvalidParameter("k=None: no promise was asked for; say at least k")
    check.one_of(LANGUAGES, language=policy.language)
    destination = Destination(
        output=None if output is None else Path(output),
        database=(to, "anonymised") if isinstance(to, str) else to,
        force=force,
        html=html,
        target=None if target is None else check.column_name(target=target),
        began=began,
        progress=progress,
    )
    if policy.engine == "spark" or is_spark_frame(source):
        if to is not None or target is not None:
            raise InvalidParameter(
                f"to and target are for engine='local'; leave out {spelled('engine', 'spark')}"
            )
        if output is not None and "://" in str(output):
            raise InvalidParameter(
                "output must be a folder that this machine and the workers share; for other places take "
                "release.table and write it with Spark"
            )
        from mahrem.pipeline._on_spark import anonymize_on_spark

        return anonymize_on_spark(source, policy, destination)
    refuse_keys_inside(policy, output)
    destination.step(Note("stage.reading"))
    opened = open_source(source, reading_of(policy))
    policy = policy.for_columns(opened.columns)
    prepared = prepare(opened, policy)
    if output is not None and policy.format == "xlsx":
        from mahrem.table import fits_excel

        fits_excel(prepared.rows)  # before the work, not after it
    destination.step(_stage(prepared.rows, policy))
    return publish(draft(prepared, policy), source, destination)


def _stage(rows: int, policy: Policy) -> Note:
    """Name the long stage, and how long runs like this one took."""
    expected = earlier_seconds(policy.method, rows, len(policy.quasi))
    if expected is None or expected < _WORTH_SAYING:
        return Note("stage.anonymising")
    return Note("stage.anonymising_rows", {"rows": rows, "seconds": expected})
