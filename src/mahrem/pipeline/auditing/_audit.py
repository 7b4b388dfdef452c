"""What does this file already promise?"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

import numpy as np
import polars as pl

from mahrem import check
from mahrem.contents import TableSketch
from mahrem.drafts import RISK_THRESHOLD, accepted_columns, people_behind, risk_of, subjects_of, tied_rows
from mahrem.errors import InvalidInput, InvalidParameter, Tampered, in_our_words, spelled
from mahrem.metrics import class_size_bins, published_loss
from mahrem.models import KAnonymity, Promise
from mahrem.pipeline.auditing._taken import Intake, Taken
from mahrem.release import decided, find_doubts
from mahrem.release.decisions import (
    GivenPolicy,
    Policy,
    column_of,
    hierarchies_of,
    own_pseudonyms,
    policy_from,
    reading_beside,
    reading_of,
    reading_of_release,
)
from mahrem.release.folders import OwnClaims, check_signature, find_data, named_folder, read_own_claims
from mahrem.report import JudgedTable, ReportRisk, verdict_of, warnings_of
from mahrem.table import Column, Missing, Role, Source, is_spark_frame, open_source
from mahrem.table.columns import assign_roles
from mahrem.threads import in_parallel, meanwhile
from mahrem.types import Mask
from mahrem.verify import SUPPRESSED, Claims, Verdict, verify
from mahrem.words import Note, Progress, in_silence

if TYPE_CHECKING:
    from mahrem.release.decisions import ReleaseKeywords

_COUNTED = 1 << 20  # cells at a time


class Audit(JudgedTable):
    """What a table promises and what it still is good for."""


@in_our_words
def audit(
    source: object,
    *,
    policy: GivenPolicy = None,
    threshold: float = RISK_THRESHOLD,
    public_key: str | Path | None = None,
    progress: Progress | None = None,
    **settings: Unpack[ReleaseKeywords],
) -> Audit:
    """Check promises on any table: a release, a file of another tool, or raw data.

    Rows that show the same in every quasi-identifier make a class. Roles are needed only for the columns
    named. A release folder is first compared with its hashes, its policy with its report, and brings its own
    policy; a signature in it is checked. Spellings of one sensitive value count once, and a cell without a
    value is none.

    Args:
        source: A release folder, or anything :func:`mahrem.anonymize` takes.
        policy: As for :func:`mahrem.anonymize`.
        threshold: A row is at risk when its risk is above this.
        public_key: File of the key that a release folder must be signed with.
        progress: Called with the name of each stage as it begins.
        **settings: As for :func:`mahrem.anonymize`; without a promise the k reached is reported. With a
            ``population`` or a ``fraction`` the risk from people who do not know who is in the table is said.
            With ``memory`` a larger file is held as numbers of its texts, or read several times where these
            do not fit, one part of its classes each time; the program itself needs about 360 MB. CSV in UTF-8
            and Parquet are read in slices; of other files polars may take more.

    Guarantees:
        - The verdict depends on the published table alone.
        - Counts of violating classes and rows are given, never what they show.

    Raises:
        Tampered: If a release folder contradicts its hashes, its report or its signature.
        InvalidInput: If the table shows no row at all.
    """
    began = time.perf_counter()
    asked = _asked(source, policy, settings, public_key)
    _refuse_unfit(asked)
    check.between(0, 1, threshold=threshold)
    if asked.policy.engine == "spark" or is_spark_frame(asked.table):
        report = _on_spark(asked, threshold, progress)
    else:
        report = _on_one_machine(source, asked, threshold, progress or in_silence)
    return Audit(report={**report, "seconds": round(time.perf_counter() - began, 3)})


def _refuse_unfit(asked: _Asked) -> None:
    """Refuse what an audit cannot answer, before anything is read."""
    policy = asked.policy
    if not policy.quasi:
        if isinstance(asked.table, str | os.PathLike) and policy.engine != "spark":
            # A mistyped name is the likelier mistake: it is said first.
            open_source(asked.table, reading_of(policy))
        raise InvalidParameter(
            f"quasi=() names no column; say which columns others may know: {spelled('quasi', ['a', 'b'])}"
        )
    if policy.missing is not Missing.CATEGORY:
        raise InvalidParameter(f"missing={str(policy.missing)!r}: an audit takes a table as it is")
    assign_roles(
        list(dict.fromkeys([*policy.quasi, *policy.sensitive])),
        quasi=policy.quasi,
        sensitive=tuple(policy.sensitive),
    )
    if policy.population is not None and policy.fraction is not None:
        raise InvalidParameter("population and fraction: give at most one of them")


def _on_one_machine(source: object, asked: _Asked, threshold: float, step: Progress) -> dict[str, object]:
    opened = open_source(
        asked.table, (reading_of if asked.claims is None else reading_of_release)(asked.policy)
    )
    policy = decided(asked.policy, opened)
    quasi = list(policy.quasi)
    check.columns_exist([*quasi, *policy.sensitive, *policy.hierarchy], opened.columns)
    step(Note("stage.verifying"))
    linked = _linked(source, policy, opened.columns)
    names = list(dict.fromkeys([*quasi, *policy.sensitive, *linked]))
    subjects = subjects_of(opened, policy) if policy.subject in opened.columns else None
    intake = Intake(opened, names, policy, restores=asked.spreadsheets)
    at_once = subjects is not None or policy.population is not None or bool(linked)
    taken = intake.whole() if at_once else intake.sparingly()
    table = taken.table
    everyone = None if policy.population is None else open_source(policy.population, reading_beside(policy))
    claims = Claims(
        quasi=quasi,
        promises=policy.promises() or (Promise(KAnonymity(1), None),),
        sensitive=_sensitive(policy, taken),
        linked=linked,
        decimal=policy.decimal,
        trees=hierarchies_of(policy, quasi),
    )
    beside = 0 if taken.numbered is None else opened.rows  # what does not fit is read for one thing at a time

    def look_beside() -> list[Note]:
        return list(_doubts(taken.sketch(), policy))

    with meanwhile(look_beside, rows=beside) as doubts:
        verdict = verify(
            table,
            claims,
            subjects=subjects,
            suppressed=_all_rows(table) if asked.hides else None,
            population=None if everyone is None else everyone.take(quasi),
            passes=taken.passes,
        )
        _refuse_silence(verdict, asked.claims, opened.label)
        step(Note("stage.measuring"))
        report = _report(verdict, policy, opened.label, _tallies(taken, quasi))
        report["risk"] = _risk(verdict, policy, table, everyone, threshold).as_dict()
        report |= verdict_of(
            holds=verdict.holds, doubts=[*tied_rows(verdict.trajectories, policy), *doubts()]
        )
    if policy.subject is not None and subjects is None:
        report |= warnings_of([*verdict.notes, Note("warning.published")])
    if asked.signature is not None:
        report["signature"] = asked.signature
    return report


def _on_spark(asked: _Asked, threshold: float, progress: Progress | None) -> dict[str, object]:
    from mahrem.spark import audit_on_spark

    policy = asked.policy
    verdict, label, sketch = audit_on_spark(
        asked.table, policy, hides=asked.hides, restores=asked.spreadsheets, progress=progress
    )
    _refuse_silence(verdict, asked.claims, label)
    hidden = pl.DataFrame({"cell": [SUPPRESSED], "rows": [verdict.suppressed]})
    tallies = {name: pl.concat([tally, hidden]) for name, tally in verdict.tallies.items()}
    risk = risk_of(verdict.people, threshold=threshold, fraction=policy.fraction)
    signed = {} if asked.signature is None else {"signature": asked.signature}
    report = _report(verdict, policy, label, tallies)
    report |= verdict_of(holds=verdict.holds, doubts=list(_doubts(sketch, policy)))
    return {**report, "risk": risk.as_dict(), "engine": {"name": "spark"}, **signed}


@dataclass(frozen=True)
class _Asked:
    """What is looked at and what is asked of it; a release of ours also says things of itself."""

    table: object
    policy: Policy
    claims: OwnClaims | None = None
    signature: Mapping[str, Any] | None = None

    @property
    def hides(self) -> bool:
        """Rows that show nothing were meant to."""
        return self.claims is not None and self.claims.hides

    @property
    def spreadsheets(self) -> bool:
        """Apostrophes before formulas are ours; in any other file they are what a reader sees."""
        return self.claims is not None and self.claims.spreadsheets


def _asked(
    source: object, policy: GivenPolicy, settings: Mapping[str, object], public_key: str | Path | None
) -> _Asked:
    folder = named_folder(source)
    if folder is None:
        if public_key is not None:
            raise InvalidParameter("public_key is for release folders: a file alone carries no signature")
        return _Asked(source, policy_from(policy, settings, bounded=True))
    claims = read_own_claims(folder)
    signature = check_signature(folder, public_key)
    known = {key: value for key, value in settings.items() if value is not None}
    if claims is None and policy is None and not known.get("quasi"):
        raise InvalidParameter(
            f"release={folder.resolve().name!r} promises no k: what synthetic rows, or perturbed ones, "
            f"promise instead is in report.json; "
            f"name columns with {spelled('quasi')} to look at its classes all the same, "
            f"or attack it"
        )
    own = claims.settings if claims is not None and policy is None else {}
    asked = policy_from(policy, {**own, **known}, bounded=True)
    for name in claims.counted if claims is not None and own else ():
        if getattr(asked, name) is not None and asked.population is None:
            raise InvalidParameter(
                f"{name} was counted in a population; say it again: {spelled('population', 'FILE')}"
            )
    return _Asked(find_data(folder), asked, claims, signature)


def _linked(source: object, policy: Policy, columns: Sequence[str]) -> tuple[str, ...]:
    """Give the columns that tie rows together: a release's pseudonyms, and the subject where it is asked."""
    folder = named_folder(source)
    named = own_pseudonyms(folder / "policy.toml") if folder is not None else ()
    asked = (policy.subject,) if policy.trajectory_k is not None and policy.subject is not None else ()
    linked = tuple(dict.fromkeys(name for name in (*named, *asked) if name in columns))
    if policy.trajectory_k is not None and not linked:
        raise InvalidParameter(
            f"trajectory_k={policy.trajectory_k} speaks of rows that are tied together; name the column that "
            f"ties them: {spelled('subject', 'COL')}"
        )
    return linked


def _refuse_silence(verdict: Verdict, claims: OwnClaims | None, label: str) -> None:
    """Refuse a table without a class to judge: of nothing every promise holds."""
    if claims is not None and verdict.rows != claims.rows:
        raise Tampered(
            "the release is not what was released: its report counts other rows than its table has"
        )
    if not len(verdict.sizes) and (claims is None or not verdict.rows):  # ours may hide every row
        raise InvalidInput(f"source={label!r} shows no row: there is nothing to check a promise on")


def _all_rows(table: pl.LazyFrame) -> Mask:
    return np.ones(table.select(pl.len()).collect().item(), np.bool_)


def _sensitive(policy: Policy, taken: Taken) -> dict[str, Column]:
    hierarchies = hierarchies_of(policy)
    columns = {}
    for name in policy.sensitive:
        different = taken.table.select(name).unique().collect(engine="streaming" if taken.passes else "auto")
        values = different.with_columns(pl.col(pl.Categorical).cast(pl.String))[name]
        shown = values.filter(values != SUPPRESSED) if values.dtype == pl.String else values
        columns[name], _ = column_of(policy, shown, Role.SENSITIVE, hierarchies)
    return columns


def _report(
    verdict: Verdict, policy: Policy, label: str, tallies: Mapping[str, pl.DataFrame]
) -> dict[str, object]:
    utility, columns = published_loss(
        tallies,
        sizes=verdict.sizes,
        rows=verdict.rows,
        suppressed=verdict.suppressed,
        k=policy.k or 1,
        weights=policy.weights or None,
        hierarchies=hierarchies_of(policy, policy.quasi),
    )
    return {
        **verdict_of(holds=verdict.holds, doubts=()),
        "promises": [outcome.as_dict() for outcome in verdict.outcomes],
        "utility": utility,
        "columns": {name: {"role": str(Role.QUASI), **figures} for name, figures in columns.items()},
        "risk": {},
        "class_sizes": class_size_bins(verdict.sizes),
        "rows": verdict.rows,
        "source": label,
        "method": None,
        "seconds": 0.0,
        **warnings_of(verdict.notes),
    }


def _doubts(sketch: TableSketch, policy: Policy) -> Iterator[Note]:
    """Say what a table shows beside its classes."""
    yield from accepted_columns(policy)
    for doubt in find_doubts(sketch, policy):
        yield Note("doubt.content", {"column": doubt.column, "why": doubt.why})


def _risk(
    verdict: Verdict, policy: Policy, table: pl.LazyFrame, everyone: Source | None, threshold: float
) -> ReportRisk:
    if everyone is None:
        return risk_of(verdict.least_hidden, threshold=threshold, fraction=policy.fraction)
    quasi = list(policy.quasi)
    population = everyone.take(quasi)
    shown = table.select(quasi).with_columns(pl.col(pl.Categorical).cast(pl.String)).collect()
    sizes, fitting = people_behind(shown, population, hierarchies_of(policy))
    risk = risk_of(sizes, threshold=threshold, population=fitting, everybody=population.height)
    alone = risk_of(verdict.least_hidden, threshold=threshold)
    return replace(
        alone,
        journalist=risk.journalist,
        k_map=risk.k_map,
        marketer=risk.marketer,
        population_uniques=risk.population_uniques,
    )


def _tallies(taken: Taken, names: Sequence[str]) -> dict[str, pl.DataFrame]:
    """Count how often each cell is shown, column by column; all at once where the table is in memory."""
    table, known = taken.table, taken.numbered or {}
    numbered = {name: known[name] for name in names if name in known}
    kinds = table.collect_schema()
    spans = {name for name in names if kinds[name] == pl.Duration}  # the only ones that are not cast
    counted = {
        name: table.select(pl.col(name).dt.to_string() if name in spans else pl.col(name).cast(pl.String))
        .group_by(pl.col(name).alias("cell"))
        .agg(pl.len().alias("rows"))
        for name in names
        if name not in numbered
    }
    if taken.passes:
        tallies = {name: cells.collect(engine="streaming") for name, cells in counted.items()}
    else:
        tallies = dict(zip(counted, pl.collect_all(list(counted.values())), strict=True))
    rows = len(next(iter(numbered.values()), ()))
    tallies |= dict(zip(numbered, in_parallel(_tally, numbered.values(), rows=rows), strict=True))
    return {name: tallies[name] for name in names}


def _tally(column: pl.Series) -> pl.DataFrame:
    """Count how often each category is shown; missing cells are one more."""
    texts = cast("pl.Categorical", column.dtype).categories.to_series()
    last = len(texts)  # the place of missing cells
    rows = np.zeros(last + 1, np.int64)
    for first in range(0, len(column), _COUNTED):
        places = column.slice(first, _COUNTED).to_physical().cast(pl.UInt32).fill_null(last)
        rows += np.bincount(places.to_numpy(), minlength=last + 1)
    there = np.flatnonzero(rows)
    cells = pl.concat([texts, pl.Series([None], dtype=pl.String)]).gather(there)
    return pl.DataFrame({"cell": cells, "rows": rows[there].astype(np.uint32)})
