"""What does this file already promise?"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

import polars as pl

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.metrics import published_loss
from mahrem.models import KAnonymity, Promise
from mahrem.pipeline._anonymize import Progress, policy_from
from mahrem.pipeline._prepare import column_of, reading_of
from mahrem.pipeline._summary import promises_of, risk_of
from mahrem.release import Policy, Settings, check_hashes, find_data, is_release, read_policy
from mahrem.report import class_size_bins
from mahrem.table import Column, Role, Source, open_source, read_hierarchy
from mahrem.verify import Verdict, verify

__all__ = ["Audit", "audit"]

_BYTES_A_CELL = 40  # text in memory while it is grouped
_BYTES_A_ROW = 120  # hashes and codes in memory while they are grouped
_READER = 300 * 2**20  # what polars' streaming reader takes for itself


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
        progress: Called with the name of each stage as it begins.
        **settings: As for :func:`mahrem.anonymize`; without a promise the k reached is reported.

    Guarantees:
        - The verdict depends on the published table alone.
        - Counts of violating classes and rows are given, never what they show.
    """
    began = time.perf_counter()
    step = progress or (lambda _: None)
    given, said = _release_or_file(source, policy, settings)
    opened = open_source(given, reading_of(said))
    if not said.quasi:
        raise InvalidParameter("quasi=() names no column; say which columns others may know: --qi a,b,c")
    quasi = list(said.quasi)
    check.columns_exist([*quasi, *said.sensitive], opened.columns)
    step("verifying")
    table = opened.scan([*quasi, *said.sensitive])
    passes = _passes(table, said, memory)
    population = (
        None if said.population is None else open_source(said.population, reading_of(said)).take(quasi)
    )
    verdict = verify(
        table,
        quasi=quasi,
        promises=said.promises() or (Promise(KAnonymity(1), None),),
        sensitive=_sensitive(said, table),
        population=population,
        passes=passes,
    )
    step("measuring")
    return Audit(report=_report(verdict, said, opened, table, time.perf_counter() - began))


def _release_or_file(
    source: object, policy: str | Path | Mapping[str, Any] | Policy | None, settings: Mapping[str, Any]
) -> tuple[object, Policy]:
    folder = Path(source) if isinstance(source, str | Path) and Path(source).is_dir() else None
    if folder is None:
        return source, policy_from(policy, settings)
    if not is_release(folder):
        raise InvalidParameter(
            f"source={folder.name!r} is a folder but not a release: it lacks hashes or a report"
        )
    check_hashes(folder)
    own = read_policy(folder / "policy.toml")
    for name in ("hierarchy", "pseudonym", "delta_presence", "decimal", "delimiter", "encoding", "subject"):
        own.pop(name, None)  # these speak of the input, not of the published file
    quasi = own.pop("quasi", [])
    columns = open_source(find_data(folder)).columns
    own["quasi"] = [
        shown for name in quasi for shown in (name, f"{name}_min", f"{name}_max") if shown in columns
    ]
    for key in ("kind", "grid", "weights", "suppress", "identifier", "insensitive"):
        own.pop(key, None)
    return find_data(folder), policy_from(policy_from(own, {}) if policy is None else policy, settings)


def _passes(table: pl.LazyFrame, policy: Policy, memory: int | None) -> int:
    """Say how often to read a table: 0 takes it into memory, which needs about 40 bytes a cell."""
    if policy.delta_presence is not None:
        return 0  # cells of different classes are compared: they must all be there
    if memory is None:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    check.at_least(1, memory=memory)
    rows = table.select(pl.len()).collect(engine="streaming").item()
    if rows * len(table.collect_schema()) * _BYTES_A_CELL <= memory:
        return 0
    return max(1, -(-rows * _BYTES_A_ROW // max(memory - _READER, memory // 4)))


def _sensitive(policy: Policy, table: pl.LazyFrame) -> dict[str, Column]:
    hierarchies = {name: read_hierarchy(Path(said)) for name, said in policy.hierarchy.items()}
    found = {}
    for name in policy.sensitive:
        values = table.select(name).unique().collect(engine="streaming")[name]
        shown = values.filter(values != "*") if values.dtype == pl.String else values
        found[name], _ = column_of(policy, shown, Role.SENSITIVE, hierarchies)
    return found


def _report(
    verdict: Verdict, policy: Policy, opened: Source, table: pl.LazyFrame, seconds: float
) -> dict[str, Any]:
    utility, columns = published_loss(
        {name: _tally(table, name) for name in policy.quasi},
        sizes=verdict.sizes,
        rows=verdict.rows,
        suppressed=verdict.suppressed,
        k=policy.k or 1,
        weights=policy.weights or None,
    )
    warnings = []
    if policy.subject is not None:
        warnings.append("subject: a published file shows rows, not people; k is counted over rows here.")
    return {
        "holds": verdict.holds,
        "promises": promises_of(verdict.outcomes),
        "utility": utility.as_dict(),
        "columns": columns,
        "risk": risk_of(verdict.sizes),
        "class_sizes": class_size_bins(verdict.sizes),
        "rows": verdict.rows,
        "source": opened.label,
        "method": None,
        "seconds": round(seconds, 3),
        "warnings": warnings,
    }


def _tally(table: pl.LazyFrame, name: str) -> pl.DataFrame:
    """Count how often each cell is shown in one column."""
    cell = pl.col(name).cast(pl.String).alias("cell")
    return table.select(cell).group_by("cell").agg(pl.len().alias("rows")).collect(engine="streaming")
