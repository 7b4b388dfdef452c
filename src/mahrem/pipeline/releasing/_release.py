"""Releases that were verified, and how a draft becomes one."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomli_w

from mahrem.drafts import Draft, original_of, recipe_of
from mahrem.entries import own_version
from mahrem.errors import Doubtful, InvalidParameter, spelled
from mahrem.files import refuse_short_key
from mahrem.pipeline.releasing._publish import checked_database, checked_file, checked_frame
from mahrem.pipeline.releasing._summary import summarise
from mahrem.release import RECIPE
from mahrem.release.decisions import Policy
from mahrem.release.folders import (
    fingerprints_of,
    input_fingerprint,
    record_run,
    remember_people,
    staged_release,
)
from mahrem.report import JudgedTable, Report, to_json
from mahrem.table import Leaves
from mahrem.threads import meanwhile
from mahrem.verify import Verdict
from mahrem.words import Note, Progress, in_silence

if TYPE_CHECKING:
    from mahrem.table import Hierarchy


@dataclass(frozen=True, kw_only=True)
class Release(JudgedTable, ABC):
    """A verified release: the table, and everything that is said about it.

    ``report`` is what ``report.json`` says. A release that this machine made is a :class:`LocalRelease` and
    can also be saved and written into a database; what a cluster made lies where the cluster wrote it.
    It always holds: a table that does not keep its promise is never handed out.
    """

    folder: Path | None = None

    @property
    @abstractmethod
    def table(self) -> Any:
        """The published table, as it was verified."""

    @property
    @abstractmethod
    def hierarchies(self) -> dict[str, Hierarchy]:
        """The trees whose nodes columns show, given, made or learnt; they list real values."""


@dataclass(frozen=True, kw_only=True)
class LocalRelease(Release):
    """A verified release that this machine made.

    ``table`` is the same kind of frame that came in (polars for files and databases, a pyarrow table for
    record batches, readers, DuckDB relations and other Arrow streams), with the same rows in the same order.
    :meth:`save` writes a release folder.
    """

    _draft: Draft = field(repr=False)
    _source: object = field(repr=False)
    _verified: Any = field(repr=False, default=None)
    _target: str | None = None

    @cached_property
    def table(self) -> Any:
        """The published table; after writing a file it is only put together when somebody asks."""
        return self._draft.table() if self._verified is None else self._verified

    @property
    def hierarchies(self) -> dict[str, Hierarchy]:
        """The trees whose nodes columns show, given, made or learnt; they list real values."""
        axes = self._draft.prepared.axes
        return {axis.name: axis.domain.hierarchy for axis in axes if isinstance(axis.domain, Leaves)}

    def save(self, folder: str | Path, *, force: bool = False, html: bool = True) -> LocalRelease:
        """Write a release folder; the file is read back and verified before the folder gets its name."""
        refuse_keys_inside(self._draft.policy, folder)
        return publish(
            self._draft,
            self._source,
            Destination(output=Path(folder), force=force, html=html, target=self._target),
        )

    def write(self, target: str, table: str, *, replace: bool = False) -> None:
        """Write the published table into a database (DuckDB file or PostgreSQL URI), in one transaction.

        Rows are shuffled as in a file, and what the database then holds is verified again.
        """
        checked_database(self._draft, target, table, replace=replace)


@dataclass(frozen=True, kw_only=True)
class Destination:
    """Where a draft goes, and what is said about it there."""

    output: Path | None = None  # a release folder; without one the table is only verified in memory
    database: tuple[str, str] | None = None  # an address, and the name of a table there
    strict: bool = False  # refuse what holds with doubts
    force: bool = False  # replace what an earlier release left there
    html: bool = True
    target: str | None = None  # a column to predict
    began: float = field(default_factory=time.perf_counter)
    progress: Progress | None = None

    def __post_init__(self) -> None:
        if self.output is not None:
            refuse_short_key()  # what is remembered of a release is told by it

    @property
    def step(self) -> Progress:
        """What to call with the name of each stage as it begins."""
        return self.progress or in_silence

    @property
    def seconds(self) -> float:
        """How long it has taken so far."""
        return time.perf_counter() - self.began


def publish(draft: Draft, source: object, destination: Destination) -> LocalRelease:
    """Verify a draft, in memory or as a release folder, and only then hand it out."""
    output, database, step = destination.output, destination.database, destination.step
    if output is None:
        step(Note("stage.verifying"))
        table = draft.table()
        report = _report(draft, checked_frame(draft, table), destination)
        if database is not None:
            checked_database(draft, *database, replace=destination.force)
        return LocalRelease(
            report=report.as_dict(),
            _draft=draft,
            _source=source,
            _verified=table,
            _target=destination.target,
        )
    original, rows = original_of(draft.prepared.source), draft.prepared.rows
    with (
        meanwhile(lambda: input_fingerprint(source), rows=rows) as taken,
        meanwhile(lambda: fingerprints_of(draft.policy, original, draft.prepared.keep), rows=rows) as people,
    ):
        report, about = _write_folder(draft, destination, output)
        record_run(output, source, {**about, "input_fingerprint": taken()})
        remember_people(people, output)
    return LocalRelease(
        report=report.as_dict(), folder=output, _draft=draft, _source=source, _target=destination.target
    )


def _write_folder(draft: Draft, destination: Destination, output: Path) -> tuple[Report, dict[str, object]]:
    """Write a release folder and verify it before it gets its name; gives what a record says of it, too."""
    step, database = destination.step, destination.database
    hashed: dict[str, str] = {}
    with staged_release(output, force=destination.force, hashed=hashed) as folder:
        step(Note("stage.writing"))
        with meanwhile(lambda: _recipe_and_losses(draft), rows=draft.prepared.rows) as worked_out:
            verdict, digest = checked_file(draft, folder)
            hashed[f"data.{draft.policy.format}"] = digest
            step(Note("stage.reporting"))
            recipe = worked_out()
        report = replace(_report(draft, verdict, destination), fingerprint=digest)
        write_words(folder, draft.policy, report, html=destination.html)
        if recipe is not None:
            (folder / RECIPE).write_text(recipe, encoding="utf-8")
        if database is not None:
            step(Note("stage.database"))
            checked_database(draft, *database, replace=destination.force)
    return report, {
        "input": draft.prepared.source.label,
        "seed": draft.policy.seed,
        "policy": draft.policy.public(),
        "classes": len(verdict.sizes),
        "rows": verdict.rows,
        "seconds": round(destination.seconds, 3),
    }


def _recipe_and_losses(draft: Draft) -> str | None:
    """Give the text of the recipe, if there is one; what classes lose is known to the draft then, too."""
    _ = draft.losses
    recipe = recipe_of(draft)
    return None if recipe is None else recipe.text()


def _report(draft: Draft, verdict: Verdict, destination: Destination) -> Report:
    seconds, target = destination.seconds, destination.target
    report = summarise(draft, verdict, seconds=seconds, pictures=destination.html, target=target)
    refuse_doubts(report, strict=destination.strict)
    return report


def refuse_doubts(report: Report, *, strict: bool) -> None:
    """Hand nothing out that holds with doubts, where that was asked for."""
    if strict and report.buts:
        raise Doubtful(
            f"strict: the promise holds, but {'; '.join(report.buts)}. Nothing was published; mend it, or "
            f"leave out {spelled('strict', True)}"
        )


def write_words(folder: Path, policy: Policy, report: Report, *, html: bool) -> None:
    """Write the policy and the report beside the data."""
    private = {name: sorted(getattr(policy, name)) for name in ("hierarchy", "pseudonym")}
    about = {"version": own_version(), **{name: columns for name, columns in private.items() if columns}}
    text = tomli_w.dumps({"mahrem": about, **policy.public()})
    (folder / "policy.toml").write_text(text, encoding="utf-8")
    (folder / "report.json").write_text(to_json(report.as_dict()), encoding="utf-8")
    if html:
        from mahrem.report import render_html

        (folder / "report.html").write_text(render_html(report, policy.language), encoding="utf-8")


def refuse_keys_inside(policy: Policy, output: str | Path | None) -> None:
    """Refuse a key beside the pseudonyms it made: it would undo them."""
    if output is None:
        return
    folder = Path(output).resolve()
    keys = {f"pseudonym.{name}": key for name, key in policy.pseudonym.items()}
    for name, key in {**keys, "shift_dates": policy.shift_dates}.items():
        if isinstance(key, str | Path) and folder in Path(key).resolve().parents:
            raise InvalidParameter(f"{name}: the key file must lie outside the release folder")
