"""What does this file already promise?"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import polars as pl

from mahrem import check
from mahrem.drafts import RISK_THRESHOLD, people_behind, risk_of, subjects_of
from mahrem.errors import InvalidParameter, spelled
from mahrem.metrics import published_loss
from mahrem.models import KAnonymity, Promise, model_settings
from mahrem.partition import METHODS
from mahrem.release import (
    BY_RECIPE,
    GivenPolicy,
    Policy,
    check_hashes,
    column_of,
    find_data,
    hierarchies_of,
    is_release,
    named_folder,
    policy_from,
    read_policy,
    reading_beside,
    reading_of,
)
from mahrem.report import ReportRisk, class_size_bins, warnings_of
from mahrem.table import Column, Missing, Role, Source, is_spark_frame, open_source
from mahrem.table.cells import restore_cells
from mahrem.table.reading import scan_sparingly
from mahrem.types import Mask
from mahrem.verify import SUPPRESSED, Claims, Verdict, verify
from mahrem.words import Note, Progress, in_silence

if TYPE_CHECKING:
    from mahrem.release import ReleaseKeywords

_BYTES_A_CELL = 40  # text in memory while it is grouped
_BYTES_A_ROW = 120  # hashes and codes in memory while they are grouped
_READER = 300 * 2**20  # what the program and the reader take for themselves


@dataclass(frozen=True, kw_only=True)
class Audit:
    """What a table promises and what it still is good for."""

    report: Mapping[str, Any]

    @property
    def holds(self) -> bool:
        """True when every promise that was asked for holds."""
        return bool(self.report["holds"])


def audit(
    source: object,
    *,
    policy: GivenPolicy = None,
    memory: int | None = None,
    threshold: float = RISK_THRESHOLD,
    progress: Progress | None = None,
    **settings: Unpack[ReleaseKeywords],
) -> Audit:
    """Check promises on any table: a release, a file of another tool, or raw data.

    Rows that show the same in every quasi-identifier make a class. Roles are needed only for the columns
    named. A release folder is first compared with its hashes and brings its own policy.

    Args:
        source: A release folder, or anything :func:`mahrem.anonymize` takes.
        policy: As for :func:`mahrem.anonymize`.
        memory: Bytes to stay below; a larger file is read several times, one part of its classes each time.
            The program itself needs about 360 MB. Parquet is read in slices; of other files polars may take
            more.
        threshold: A row is at risk when its risk is above this.
        progress: Called with the name of each stage as it begins.
        **settings: As for :func:`mahrem.anonymize`; without a promise the k reached is reported. With a
            ``population`` or a ``fraction`` the risk from people who do not know who is in the table is said.

    Guarantees:
        - The verdict depends on the published table alone.
        - Counts of violating classes and rows are given, never what they show.
    """
    began = time.perf_counter()
    step = progress or in_silence
    given, policy = _release_or_file(source, policy, settings)
    if not policy.quasi:
        if isinstance(given, str | os.PathLike) and policy.engine != "spark":
            open_source(
                given, reading_of(policy)
            )  # a mistyped name is the likelier mistake: it is said first
        raise InvalidParameter(
            f"quasi=() names no column; say which columns others may know: {spelled('quasi', ['a', 'b'])}"
        )
    if policy.missing is not Missing.CATEGORY:
        raise InvalidParameter(f"missing={str(policy.missing)!r}: an audit takes a table as it is")
    check.between(0, 1, threshold=threshold)
    if policy.population is not None and policy.fraction is not None:
        raise InvalidParameter("population and fraction: give at most one of them")
    if policy.engine == "spark" or is_spark_frame(given):
        report = _on_spark(given, policy, threshold, hides=_suppresses(source), progress=progress)
        return Audit(report={**report, "seconds": round(time.perf_counter() - began, 3)})
    opened = open_source(given, reading_of(policy))
    quasi = list(policy.quasi)
    check.columns_exist([*quasi, *policy.sensitive, *policy.hierarchy], opened.columns)
    step(Note("stage.verifying"))
    table = opened.scan([*quasi, *policy.sensitive])
    subjects = subjects_of(opened, policy) if policy.subject in opened.columns else None
    passes = 0 if subjects is not None or policy.population is not None else _passes(table, policy, memory)
    # What fits is read once: what follows looks at it many times.
    table = scan_sparingly(opened, [*quasi, *policy.sensitive]) if passes else table.collect().lazy()
    table = restore_cells(table)
    everyone = None if policy.population is None else open_source(policy.population, reading_beside(policy))
    claims = Claims(
        quasi=quasi,
        promises=policy.promises() or (Promise(KAnonymity(1), None),),
        sensitive=_sensitive(policy, table, passes),
        decimal=policy.decimal,
    )
    verdict = verify(
        table,
        claims,
        subjects=subjects,
        suppressed=_meant_to_be_suppressed(source, table),
        population=None if everyone is None else everyone.take(quasi),
        passes=passes,
    )
    step(Note("stage.measuring"))
    report = _report(verdict, policy, opened.label, _tallies(table, quasi, passes))
    if policy.subject is not None and subjects is None:
        report |= warnings_of([Note("warning.published")])
    report["risk"] = _risk(verdict, policy, table, everyone, threshold).as_dict()
    report["seconds"] = round(time.perf_counter() - began, 3)
    return Audit(report=report)


def _on_spark(
    source: object, policy: Policy, threshold: float, *, hides: bool, progress: Progress | None
) -> dict[str, Any]:
    from mahrem.spark import audit_on_spark

    verdict, label = audit_on_spark(source, policy, hides=hides, progress=progress)
    hidden = pl.DataFrame({"cell": [SUPPRESSED], "rows": [verdict.suppressed]})
    tallies = {name: pl.concat([tally, hidden]) for name, tally in verdict.tallies.items()}
    risk = risk_of(verdict.people, threshold=threshold, fraction=policy.fraction)
    return {**_report(verdict, policy, label, tallies), "risk": risk.as_dict(), "engine": {"name": "spark"}}


def _release_or_file(
    source: object, policy: GivenPolicy, settings: Mapping[str, Any]
) -> tuple[object, Policy]:
    folder = named_folder(source)
    if folder is None:
        return source, policy_from(policy, settings)
    if not is_release(folder):
        name = folder.resolve().name
        raise InvalidParameter(f"source={name!r} is a folder but not a release: it lacks hashes or a report")
    check_hashes(folder)
    if policy is not None:
        return find_data(folder), policy_from(policy, settings)
    known = {key: value for key, value in settings.items() if value is not None}
    own = _own_policy(folder) if (folder / "policy.toml").is_file() else {}
    if not own and not known.get("quasi"):
        raise InvalidParameter(
            f"release={folder.resolve().name!r} holds synthetic rows: what it promises is in report.json; "
            f"name columns with {spelled('quasi')} to look at its classes all the same, "
            f"or attack it"
        )
    return find_data(folder), policy_from(None, {**own, **known})


def _own_policy(folder: Path) -> dict[str, Any]:
    """Give what a release promises of its own published columns; how its input was read is past."""
    own = read_policy(folder / "policy.toml")
    rules = ("k", "delta_presence", "strategy", "bounds", "cells", "order", "subject", "decimal")
    promised = {key: own[key] for key in (*model_settings(), *rules) if key in own}
    shown = json.loads((folder / "report.json").read_text(encoding="utf-8"))["published"]
    renamed = dict(zip(own.get("sensitive", {}), shown["sensitive"], strict=True))
    promised["quasi"] = shown["quasi"]
    promised["sensitive"] = {renamed[name]: settings for name, settings in own.get("sensitive", {}).items()}
    for key in ("kind", "order"):
        values = own.get(key, {})
        promised[key] = {renamed[name]: value for name, value in values.items() if name in renamed}
    return promised


def _meant_to_be_suppressed(source: object, table: pl.LazyFrame) -> Mask | None:
    """In a release of ours that suppressed rows, whatever shows nothing was meant to."""
    if not _suppresses(source):
        return None
    return np.ones(table.select(pl.len()).collect().item(), np.bool_)


def _suppresses(source: object) -> bool:
    """Say whether a source is a release of ours that may hold suppressed rows."""
    folder = named_folder(source)
    written = None if folder is None else folder / "policy.toml"
    own = read_policy(written) if written is not None and written.is_file() else {}
    method = METHODS.get(own.get("method", ""))
    by_method = method is not None and method.full_domain and own.get("suppression_limit", 0) > 0
    by_method |= own.get("method") == BY_RECIPE
    return bool(own.get("missing") == "suppress" or by_method)


def _passes(table: pl.LazyFrame, policy: Policy, memory: int | None) -> int:
    """Say how often to read a table: 0 takes it into memory, which needs about 40 bytes a cell."""
    if policy.delta_presence is not None:
        return 0  # cells of different classes are compared: they must all be there
    if memory is None:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    check.at_least(1, memory=memory)
    rows = int(table.select(pl.len()).collect(engine="streaming").item())
    if rows * len(table.collect_schema()) * _BYTES_A_CELL <= memory:
        return 0
    return max(1, -(-rows * _BYTES_A_ROW // max(memory - _READER, memory // 4)))


def _sensitive(policy: Policy, table: pl.LazyFrame, passes: int) -> dict[str, Column]:
    hierarchies = hierarchies_of(policy)
    columns = {}
    for name in policy.sensitive:
        values = table.select(name).unique().collect(engine="streaming" if passes else "auto")[name]
        shown = values.filter(values != SUPPRESSED) if values.dtype == pl.String else values
        columns[name], _ = column_of(policy, shown, Role.SENSITIVE, hierarchies)
    return columns


def _report(
    verdict: Verdict, policy: Policy, label: str, tallies: Mapping[str, pl.DataFrame]
) -> dict[str, Any]:
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
        "holds": verdict.holds,
        "promises": [outcome.as_dict() for outcome in verdict.outcomes],
        "utility": utility,
        "columns": columns,
        "risk": {},
        "class_sizes": class_size_bins(verdict.sizes),
        "rows": verdict.rows,
        "source": label,
        "method": None,
        "seconds": 0.0,
        **warnings_of([]),
    }


def _risk(
    verdict: Verdict, policy: Policy, table: pl.LazyFrame, everyone: Source | None, threshold: float
) -> ReportRisk:
    if everyone is None:
        return risk_of(verdict.people, threshold=threshold, fraction=policy.fraction)
    quasi = list(policy.quasi)
    population = everyone.take(quasi)
    sizes, fitting = people_behind(table.select(quasi).collect(), population, hierarchies_of(policy))
    risk = risk_of(sizes, threshold=threshold, population=fitting, everybody=population.height)
    alone = risk_of(verdict.people, threshold=threshold)
    return replace(
        alone,
        journalist=risk.journalist,
        k_map=risk.k_map,
        marketer=risk.marketer,
        population_uniques=risk.population_uniques,
    )


def _tallies(table: pl.LazyFrame, names: Sequence[str], passes: int) -> dict[str, pl.DataFrame]:
    """Count how often each cell is shown, column by column; all at once where the table is in memory."""
    counted = [
        table.select(pl.col(name).cast(pl.String).alias("cell")).group_by("cell").agg(pl.len().alias("rows"))
        for name in names
    ]
    if passes:
        return {name: cells.collect(engine="streaming") for name, cells in zip(names, counted, strict=True)}
    return dict(zip(names, pl.collect_all(counted), strict=True))
