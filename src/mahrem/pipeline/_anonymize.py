"""The main job: a table in, a verified release out."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, Unpack

import tomli_w

from mahrem import check
from mahrem.engines import in_parallel, is_spark_frame
from mahrem.errors import InvalidParameter, spelled
from mahrem.pipeline._draft import Draft, draft
from mahrem.pipeline._prepare import prepare
from mahrem.pipeline._publish import checked_database, checked_file, checked_frame
from mahrem.pipeline._reading import reading_of
from mahrem.pipeline._recipe import RECIPE, recipe_of
from mahrem.pipeline._released_people import remember_people
from mahrem.pipeline._summary import summarise
from mahrem.release import (
    Policy,
    Settings,
    earlier_seconds,
    input_fingerprint,
    keep_record,
    read_policy,
    staged_release,
)
from mahrem.report import to_json
from mahrem.table import Hierarchy, Leaves, fits_excel, open_source
from mahrem.verify import Verdict
from mahrem.words import LANGUAGES

__all__ = ["Progress", "Release", "anonymize", "policy_from", "publish"]

_WORTH_SAYING = 3.0  # seconds
Progress = Callable[[str], None]  # called with the name of each stage as it begins


@dataclass(frozen=True, kw_only=True)
class Release:
    """A verified release: the table, and everything that is said about it.

    ``table`` is the same kind of frame that came in (polars for files and databases, a pyarrow table for
    record batches, readers, DuckDB relations and other Arrow streams), with the same rows in the same order.
    ``report`` is what ``report.json`` says. :meth:`save` writes a release folder.
    """

    report: Mapping[str, Any] = field(repr=False)
    folder: Path | None = None
    _draft: Draft = field(repr=False)
    _given: object = field(repr=False)
    _verified: Any = field(repr=False, default=None)
    _target: str | None = None

    @cached_property
    def table(self) -> Any:
        """The published table; after writing a file it is only put together when somebody asks."""
        return self._draft.table() if self._verified is None else self._verified

    @property
    def holds(self) -> bool:
        """Always true: a table that does not keep its promise is never handed out."""
        return bool(self.report["holds"])

    @property
    def hierarchies(self) -> dict[str, Hierarchy]:
        """The trees whose nodes columns show, given, made or learnt; they list real values."""
        axes = self._draft.prepared.axes
        return {axis.name: axis.domain.hierarchy for axis in axes if isinstance(axis.domain, Leaves)}

    def save(self, folder: str | Path, *, force: bool = False, html: bool = True) -> Release:
        """Write a release folder; the file is read back and verified before the folder gets its name."""
        return _save(
            self._draft,
            Path(folder),
            self._given,
            None,
            force=force,
            html=html,
            target=self._target,
            began=time.perf_counter(),
        )

    def write(self, target: str, table: str, *, replace: bool = False) -> None:
        """Write the published table into a database (DuckDB file or PostgreSQL URI), in one transaction.

        Rows are shuffled as in a file, and what the database then holds is verified again.
        """
        checked_database(self._draft, target, table, replace=replace)


def policy_from(
    policy: str | Path | Mapping[str, Any] | Policy | None,
    settings: Mapping[str, Any],
    *,
    whole: bool = False,
) -> Policy:
    """Put a policy (file, mapping or object) and settings together; settings win.

    With ``whole`` the private files a release was made with must be named again.
    """
    beside = settings if whole else None
    given = read_policy(policy, beside=beside) if isinstance(policy, str | Path) else policy
    return Policy.of(settings, over=given)


def anonymize(
    source: object,
    *,
    policy: str | Path | Mapping[str, Any] | Policy | None = None,
    output: str | Path | None = None,
    to: str | None = None,
    to_table: str = "anonymised",
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
        to: Also write the published table into this database, before the folder gets its name.
        to_table: Its name there.
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
    said = policy_from(policy, settings, whole=True)
    predicted = None if target is None else check.column_name(target=target)
    if not said.promises():
        raise InvalidParameter("k=None: no promise was asked for; say at least k")
    step = progress or (lambda _: None)
    check.one_of(LANGUAGES, language=said.language)
    if said.engine == "spark" or is_spark_frame(source):
        if to is not None or target is not None:
            raise InvalidParameter(
                f"to and target are for engine='local'; leave out {spelled('engine', 'spark')}"
            )
        from mahrem.pipeline._on_spark import anonymize_on_spark

        return anonymize_on_spark(
            source, said, output=output, force=force, html=html, progress=progress, began=began
        )
    if output is not None:
        _keys_stay_outside(said, Path(output))
    step("reading")
    opened = open_source(source, reading_of(said))
    said = said.for_columns(opened.columns)
    prepared = prepare(opened, said)
    if output is not None and said.format == "xlsx":
        fits_excel(prepared.rows)  # before the work, not after it
    step(_stage(prepared.rows, said))
    made = draft(prepared, said)
    if output is not None:
        database = None if to is None else (to, to_table)
        return _save(
            made,
            Path(output),
            source,
            database,
            force=force,
            html=html,
            target=predicted,
            began=began,
            progress=step,
        )
    step("verifying")
    table = made.table()
    verdict = checked_frame(made, table)
    report = summarise(made, verdict, seconds=time.perf_counter() - began, pictures=html, target=predicted)
    release = Release(report=report, _draft=made, _given=source, _verified=table, _target=predicted)
    if to is not None:
        release.write(to, to_table, replace=force)
    return release


def _stage(rows: int, policy: Policy) -> str:
    """Name the long stage, and how long runs like this one took."""
    expected = earlier_seconds(policy.method, rows, len(policy.quasi))
    if expected is None or expected < _WORTH_SAYING:
        return "anonymising"
    return f"anonymising {rows:,} rows, by earlier runs about {expected:.0f} s in all"


def publish(
    made: Draft,
    given: object,
    output: str | Path | None,
    *,
    force: bool,
    html: bool,
    began: float,
    progress: Progress = lambda _: None,
) -> Release:
    """Verify a draft, in memory or as a release folder, and only then hand it out."""
    if output is not None:
        return _save(
            made,
            Path(output),
            given,
            None,
            force=force,
            html=html,
            target=None,
            began=began,
            progress=progress,
        )
    progress("verifying")
    table = made.table()
    verdict = checked_frame(made, table)
    report = summarise(made, verdict, seconds=time.perf_counter() - began, pictures=html)
    return Release(report=report, _draft=made, _given=given, _verified=table)


def _save(
    made: Draft,
    output: Path,
    given: object,
    database: tuple[str, str] | None,
    *,
    force: bool,
    html: bool,
    target: str | None,
    began: float,
    progress: Progress = lambda _: None,
) -> Release:
    _keys_stay_outside(made.policy, output)
    with staged_release(output, force=force) as folder:
        progress("writing and verifying")
        verdict = checked_file(made, folder)
        progress("reporting")
        report = summarise(made, verdict, seconds=time.perf_counter() - began, pictures=html, target=target)
        _write_words(folder, made, report, html=html)
        if database is not None:
            progress("writing to the database")
            checked_database(made, *database, replace=force)
    seconds = time.perf_counter() - began
    kept: list[Callable[[], None]] = [
        lambda: _keep_record(made, verdict, output, given, seconds),
        lambda: remember_people(made, output),
    ]
    in_parallel(lambda keep: keep(), kept)  # both read all of the source once more
    return Release(report=report, folder=output, _draft=made, _given=given, _target=target)


def _write_words(folder: Path, made: Draft, report: Mapping[str, Any], *, html: bool) -> None:
    told = {name: sorted(getattr(made.policy, name)) for name in ("hierarchy", "pseudonym")}
    about = {"version": version("mahrem"), **{name: columns for name, columns in told.items() if columns}}
    policy = {"mahrem": about, **made.policy.public()}
    (folder / "policy.toml").write_text(tomli_w.dumps(policy), encoding="utf-8")
    recipe = recipe_of(made)
    if recipe is not None:
        (folder / RECIPE).write_text(recipe.text(), encoding="utf-8")
    (folder / "report.json").write_text(to_json(report), encoding="utf-8")
    if html:
        from mahrem.report import render_html

        (folder / "report.html").write_text(render_html(report, made.policy.language), encoding="utf-8")


def _keep_record(made: Draft, verdict: Verdict, target: Path, given: object, seconds: float) -> None:
    file = Path(given) if isinstance(given, str | Path) else None
    record = {
        "mahrem": version("mahrem"),
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "release": str(target.absolute()),
        "input": made.prepared.source.label,
        "input_fingerprint": input_fingerprint(file) if file is not None and file.is_file() else None,
        "seed": made.policy.seed,
        "policy": made.policy.public(),
        "classes": len(verdict.sizes),
        "rows": verdict.rows,
        "seconds": round(seconds, 3),
    }
    keep_record(record)


def _keys_stay_outside(policy: Policy, target: Path) -> None:
    """A key beside the pseudonyms it made would undo them."""
    for name, said in policy.pseudonym.items():
        if isinstance(said, str | Path) and target.resolve() in Path(said).resolve().parents:
            raise InvalidParameter(f"pseudonym.{name}: the key file must lie outside the release folder")
