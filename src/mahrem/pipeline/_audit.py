"""What does this file already promise?"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import polars as pl

from mahrem import check
from mahrem.engines import is_spark_frame
from mahrem.errors import InvalidParameter, spelled
from mahrem.metrics import published_loss
from mahrem.models import SETTINGS as MODEL_KEYS
from mahrem.models import KAnonymity, Promise
from mahrem.partition import METHODS
from mahrem.pipeline._anonymize import Progress, policy_from
from mahrem.pipeline._prepare import column_of, hierarchy_of, subjects_of
from mahrem.pipeline._reading import reading_beside, reading_of
from mahrem.pipeline._recipe import BY_RECIPE
from mahrem.pipeline._risk import RISK_THRESHOLD, people_behind, risk_of
from mahrem.pipeline._summary import promises_of
from mahrem.release import Policy, Settings, check_hashes, find_data, is_release, read_policy
from mahrem.report import class_size_bins
from mahrem.table import Column, Missing, Role, Source, open_source, restore_cells, scan_sparingly
from mahrem.types import Mask
from mahrem.verify import SUPPRESSED, Verdict, verify

__all__ = ["Audit", "audit"]

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
    policy: str | Path | Mapping[str, Any] | Policy | None = None,
    memory: int | None = None,
    threshold: float = RISK_THRESHOLD,
    progress: Progress | None = None,
    **settings: Unpack[Settings],
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
    step = progress or (lambda _: None)
    given, said = _release_or_file(source, policy, settings)
    if not said.quasi:
        if isinstance(given, str | os.PathLike) and said.engine != "spark":
            open_source(given, reading_of(said))  # a mistyped name is the likelier mistake: it is said first
        raise InvalidParameter(
            f"quasi=() names no column; say which columns others may know: {spelled('quasi', ['a', 'b'])}"
        )
    if said.missing is not Missing.CATEGORY:
        raise InvalidParameter(f"missing={str(said.missing)!r}: an audit takes a table as it is")
    check.between(0, 1, threshold=threshold)
    if said.population is not None and said.fraction is not None:
        raise InvalidParameter("population and fraction: give at most one of them")
    if said.engine == "spark" or is_spark_frame(given):
        from mahrem.pipeline._audit_spark import audit_on_spark

        hides = _suppresses(source)
        found = audit_on_spark(given, said, threshold=threshold, hides=hides, progress=progress)
        return Audit(report={**found, "seconds": round(time.perf_counter() - began, 3)})
    opened = open_source(given, reading_of(said))
    quasi = list(said.quasi)
    check.columns_exist([*quasi, *said.sensitive, *said.hierarchy], opened.columns)
    step("verifying")
    table = opened.scan([*quasi, *said.sensitive])
    subjects = subjects_of(opened, said) if said.subject in opened.columns else None
    passes = 0 if subjects is not None or said.population is not None else _passes(table, said, memory)
    # What fits is read once: what follows looks at it many times.
    table = scan_sparingly(opened, [*quasi, *said.sensitive]) if passes else table.collect().lazy()
    table = restore_cells(table)
    everyone = None if said.population is None else open_source(said.population, reading_beside(said))
    verdict = verify(
        table,
        quasi=quasi,
        promises=said.promises() or (Promise(KAnonymity(1), None),),
        sensitive=_sensitive(said, table, passes),
        subjects=subjects,
        suppressed=_meant_to_be_suppressed(source, table),
        population=None if everyone is None else everyone.take(quasi),
        decimal=said.decimal,
        passes=passes,
    )
    step("measuring")
    counted = subjects is not None
    report = _report(verdict, said, opened, table, passes, people=counted)
    report["risk"] = _risk(verdict, said, table, everyone, threshold)
    report["seconds"] = round(time.perf_counter() - began, 3)
    return Audit(report=report)


def _release_or_file(
    source: object, policy: str | Path | Mapping[str, Any] | Policy | None, settings: Mapping[str, Any]
) -> tuple[object, Policy]:
    folder = _folder(source)
    if folder is None:
        return source, policy_from(policy, settings)
    if not is_release(folder):
        name = folder.resolve().name
        raise InvalidParameter(f"source={name!r} is a folder but not a release: it lacks hashes or a report")
    check_hashes(folder)
    if policy is not None:
        return find_data(folder), policy_from(policy, settings)
    said = {key: value for key, value in settings.items() if value is not None}
    own = _own_policy(folder) if (folder / "policy.toml").is_file() else {}
    if not own and not said.get("quasi"):
        raise InvalidParameter(
            f"release={folder.resolve().name!r} holds synthetic rows: what it promises is in report.json; "
            f"name columns with {spelled('quasi')} to look at its classes all the same, "
            f"or attack it"
        )
    return find_data(folder), policy_from(None, {**own, **said})


def _folder(source: object) -> Path | None:
    return Path(source) if isinstance(source, str | Path) and Path(source).is_dir() else None


def _own_policy(folder: Path) -> dict[str, Any]:
    """Give what a release promises of its own published columns; how its input was read is past."""
    own = read_policy(folder / "policy.toml")
    kept = (*MODEL_KEYS, "k", "delta_presence", "strategy", "bounds", "cells", "order", "subject", "decimal")
    promised = {key: own[key] for key in kept if key in own}
    shown = json.loads((folder / "report.json").read_text(encoding="utf-8"))["published"]
    renamed = dict(zip(own.get("sensitive", {}), shown["sensitive"], strict=True))
    promised["quasi"] = shown["quasi"]
    promised["sensitive"] = {renamed[name]: settings for name, settings in own.get("sensitive", {}).items()}
    for key in ("kind", "order"):
        promised[key] = {renamed[name]: said for name, said in own.get(key, {}).items() if name in renamed}
    return promised


def _meant_to_be_suppressed(source: object, table: pl.LazyFrame) -> Mask | None:
    """In a release of ours that suppressed rows, whatever shows nothing was meant to."""
    if not _suppresses(source):
        return None
    return np.ones(table.select(pl.len()).collect().item(), np.bool_)


def _suppresses(source: object) -> bool:
    """Say whether a source is a release of ours that may hold suppressed rows."""
    folder = _folder(source)
    written = None if folder is None else folder / "policy.toml"
    said = read_policy(written) if written is not None and written.is_file() else {}
    method = METHODS.get(said.get("method", ""))
    by_method = method is not None and method.full_domain and said.get("suppression_limit", 0) > 0
    by_method |= said.get("method") == BY_RECIPE
    return bool(said.get("missing") == "suppress" or by_method)


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
    hierarchies = {name: hierarchy_of(name, said) for name, said in policy.hierarchy.items()}
    found = {}
    for name in policy.sensitive:
        values = table.select(name).unique().collect(engine="streaming" if passes else "auto")[name]
        shown = values.filter(values != SUPPRESSED) if values.dtype == pl.String else values
        found[name], _ = column_of(policy, shown, Role.SENSITIVE, hierarchies)
    return found


def _report(
    verdict: Verdict, policy: Policy, opened: Source, table: pl.LazyFrame, passes: int, *, people: bool
) -> dict[str, Any]:
    utility, columns = published_loss(
        _tallies(table, policy.quasi, passes),
        sizes=verdict.sizes,
        rows=verdict.rows,
        suppressed=verdict.suppressed,
        k=policy.k or 1,
        weights=policy.weights or None,
        hierarchies={
            name: hierarchy_of(name, said) for name, said in policy.hierarchy.items() if name in policy.quasi
        },
    )
    warnings = []
    if policy.subject is not None and not people:
        warnings.append("subject: a published file shows rows, not people; k is counted over rows here.")
    return {
        "holds": verdict.holds,
        "promises": promises_of(verdict.outcomes),
        "utility": utility.as_dict(),
        "columns": columns,
        "risk": {},
        "class_sizes": class_size_bins(verdict.sizes),
        "rows": verdict.rows,
        "source": opened.label,
        "method": None,
        "seconds": 0.0,
        "warnings": warnings,
    }


def _risk(
    verdict: Verdict, policy: Policy, table: pl.LazyFrame, everyone: Source | None, threshold: float
) -> dict[str, Any]:
    if everyone is None:
        return risk_of(verdict.people, threshold=threshold, fraction=policy.fraction)
    quasi = list(policy.quasi)
    hierarchies = {name: hierarchy_of(name, said) for name, said in policy.hierarchy.items()}
    population = everyone.take(quasi)
    sizes, fitting = people_behind(table.select(quasi).collect(), population, hierarchies)
    found = risk_of(sizes, threshold=threshold, population=fitting, everybody=population.height)
    return {**found, **risk_of(verdict.people, threshold=threshold), "marketer": found["marketer"]}


def _tallies(table: pl.LazyFrame, names: Sequence[str], passes: int) -> dict[str, pl.DataFrame]:
    """Count how often each cell is shown, column by column; all at once where the table is in memory."""
    counted = [
        table.select(pl.col(name).cast(pl.String).alias("cell")).group_by("cell").agg(pl.len().alias("rows"))
        for name in names
    ]
    if passes:
        return {name: one.collect(engine="streaming") for name, one in zip(names, counted, strict=True)}
    return dict(zip(names, pl.collect_all(counted), strict=True))
