"""The main job: a table in, a verified release out."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, Unpack

from mahrem import check
from mahrem.drafts import Prepared, draft, prepare, prepared_at_gate
from mahrem.errors import InvalidParameter, in_our_words, spelled
from mahrem.files import StageFolder
from mahrem.partition import METHODS
from mahrem.pipeline.releasing._release import Destination, Release, publish, refuse_keys_inside
from mahrem.release import decided
from mahrem.release.decisions import GivenPolicy, Policy, policy_from, reading_of, release_settings
from mahrem.release.folders import earlier_seconds
from mahrem.table import Source, is_spark_frame, open_source, refuse_too_large
from mahrem.table.reading import PolarsSource
from mahrem.words import Note, Progress, describe_settings

if TYPE_CHECKING:
    from mahrem.release.decisions import ReleaseKeywords
    from mahrem.spilled import MemoryBound

_ALWAYS_FITS = 1_000_000  # cells; the least bound on memory leaves room for them

_WORTH_SAYING = 3.0  # seconds
_SOON = 3.0  # the same
Verb = TypeVar("Verb", bound=Callable[..., object])


def _lists_settings(verb: Verb) -> Verb:
    """Have ``help`` list the settings of a release, whoever adds to them; editors read their keywords."""
    if verb.__doc__ is not None:
        lines = "\n".join(describe_settings("release", release_settings(), indent=8))
        rest = "\n    Guarantees:"
        verb.__doc__ = verb.__doc__.replace(rest, f"\n    Settings:\n{lines}\n{rest}", 1)
    return verb


@in_our_words
@_lists_settings
def anonymize(
    source: object,
    *,
    policy: GivenPolicy = None,
    output: str | Path | None = None,
    to: str | tuple[str, str] | None = None,
    force: bool = False,
    strict: bool = False,
    html: bool = True,
    target: Hashable | None = None,
    progress: Progress | None = None,
    **settings: Unpack[ReleaseKeywords],
) -> Release:
    """Anonymise a table and verify what comes out.

    Args:
        source: A pandas, polars or pyarrow frame; a DuckDB relation or any other object that hands its rows
            over by the Arrow protocol (``__arrow_c_stream__``); a CSV, Parquet, Arrow, XLSX or DuckDB file; a
            PostgreSQL URI; a Spark DataFrame, or with ``engine="spark"`` whatever Spark reads.
        policy: A policy file, a mapping or a :class:`~mahrem.Policy`; settings win over it.
        output: Write a release folder there; without it the table is only verified in memory.
        to: Also write the published table into this database, before the folder gets its name; as
            ``anonymised``, or with ``(database, table)`` under another name.
        force: Replace an earlier release under ``output`` and an earlier table of ``to``.
        strict: Refuse a release that holds with doubts: what was accepted, what the red team found.
        html: Draw ``report.html``; without it the report is brief: no figures of the original, no red team.
        target: A column to predict: the report then says what is left for learning.
        progress: Called with the name of each stage as it begins.
        **settings: Roles, promises, method, cells: ``help(mahrem.anonymize)`` lists them all.

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
    policy = policy_from(policy, settings, whole=True, bounded=True)
    if not policy.promises():
        raise InvalidParameter("k=None: no promise was asked for; say at least k")
    destination = Destination(
        output=None if output is None else Path(output),
        database=(to, "anonymised") if isinstance(to, str) else to,
        force=force,
        strict=strict,
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
        from mahrem.pipeline.releasing._on_spark import anonymize_on_spark

        return anonymize_on_spark(source, policy, destination)
    refuse_keys_inside(policy, output)
    destination.step(Note("stage.reading"))
    with ExitStack() as landing:
        landed = _landed(source, policy, destination, landing)
        opened = landed or open_source(source, reading_of(policy))
        bound = _bound(opened, policy, destination)
        if bound is not None and isinstance(opened, PolarsSource):
            from mahrem.pipeline.releasing._spilled import anonymize_spilled, decided_in_batches

            decided_policy = decided_in_batches(policy, opened, bound)
            return anonymize_spilled(source, opened, decided_policy, destination, bound)
    if landed is not None:  # it fits after all, and its file is gone
        opened = open_source(source, reading_of(policy))
    policy = replace(decided(policy, opened), memory=None)  # it fits
    with _prepared(opened, policy) as prepared:
        if output is not None:
            refuse_too_large(policy.format, prepared.rows)  # before the work, not after it
        destination.step(_stage(prepared.rows, policy))
        drafted = draft(prepared, policy)
    return publish(drafted, source, destination)


def _prepared(opened: Source, policy: Policy) -> AbstractContextManager[Prepared]:
    """Prepare a table; if rows are sorted soon, it passes the gate meanwhile: nobody waits for a refusal."""
    known = METHODS.get(policy.method)
    if known is not None and known.seconds(opened.rows) < _SOON:
        return prepared_at_gate(opened, policy)
    return nullcontext(prepare(opened, policy))


def _landed(source: object, policy: Policy, destination: Destination, landing: ExitStack) -> Source | None:
    """Bring the table of a database to disk where a bound on memory is to be kept; None for all else."""
    if policy.memory is None or destination.output is None:
        return None
    from mahrem.spilled import on_disk
    from mahrem.table.reading import land_database

    reading = reading_of(policy)
    with on_disk(destination.output):
        beside = destination.output.absolute().parent
        folder = landing.enter_context(StageFolder(beside, "spill")).path
        path = land_database(source, reading, folder)
    return None if path is None else open_source(path, replace(reading, query=None, table=None))


def _bound(opened: Source, policy: Policy, destination: Destination) -> MemoryBound | None:
    """Give the bound on memory under which a table must be worked on from disk; None where it fits.

    What was asked for is kept or refused; by default, what cannot be done from disk is done in memory.
    """
    if policy.memory is None and not (isinstance(opened, PolarsSource) and opened.in_batches()):
        return None
    columns = len(opened.columns)
    if policy.memory is None and opened.rows * columns < _ALWAYS_FITS:
        return None
    from mahrem.spilled import needed_in_memory, usual_bound

    needed, most = needed_in_memory(opened.rows, columns), policy.memory or usual_bound()
    if needed <= most:
        return None
    from mahrem.spilled import MemoryBound, why_not_by_passes, why_not_out_of_core

    bound = MemoryBound(
        most,
        opened.rows,
        columns,
        len(policy.quasi),
        len(policy.sensitive),
        people=policy.subject is not None,
        valued=len({promise.column for promise in policy.promises()} - {None}),
        repaired=bool(policy.repair) or policy.method == "mosaic",
    )
    reason = why_not_out_of_core(policy, opened)
    if destination.output is None:
        reason = f"a release that does not fit is written, not held: say {spelled('output', 'FOLDER')}"
    elif destination.database is not None or destination.target is not None:
        reason = "to and target need the whole table in memory: leave them out"
    whole = why_not_by_passes(policy)
    if reason is None and whole is not None and bound.numbers > most:
        reason, needed = f"{whole}, of which numbers alone must fit", bound.numbers
    refused = bound.too_small()
    if reason is not None:
        refused = (
            f"memory={most}: in memory this takes about {needed / 10**9:.1f} GB, and {reason}; or "
            f"give it that much ({spelled('memory', f'{-(-needed // 10**9)}GB')})"
        )
    if refused is None:
        return bound
    if policy.memory is None:
        values = {"needed": needed / 10**9, "most": most / 10**9, "why": reason or refused}
        destination.step(Note("stage.beyond_memory", values))
        return None
    raise InvalidParameter(refused)


def _stage(rows: int, policy: Policy) -> Note:
    """Name the long stage, and how long runs like this one took."""
    expected = earlier_seconds(policy.method, rows, len(policy.quasi))
    if expected is None or expected < _WORTH_SAYING:
        return Note("stage.anonymising")
    return Note("stage.anonymising_rows", {"rows": rows, "seconds": expected})
