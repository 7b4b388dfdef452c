"""What a table made from disk is checked by, and what is said of it: its file, read back in slices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from mahrem.drafts import as_told
from mahrem.errors import GuaranteeBroken
from mahrem.metrics import published_loss
from mahrem.pipeline.releasing._publish import read_back
from mahrem.pipeline.releasing._summary import (
    build_report,
    counted_facts,
    floor_of,
    general_caveats,
    report_columns,
)
from mahrem.recode import Recoding
from mahrem.release.decisions import Policy, hierarchies_of
from mahrem.report import Report
from mahrem.spilled import MemoryBound, SpilledTable
from mahrem.table import FORMATS, Moments, Numbers
from mahrem.table.cells.formulas import restore_cells
from mahrem.table.formats import SlicedFiles
from mahrem.table.reading import PolarsSource
from mahrem.verify import Claims, Verdict, verify
from mahrem.words import Note


@dataclass(frozen=True)
class SpilledDraft:
    """What is known once the table has been read."""

    policy: Policy
    source: PolarsSource
    bound: MemoryBound
    leave_out: tuple[str, ...]
    table: SpilledTable

    @property
    def published(self) -> tuple[str, ...]:
        """Published columns in their order."""
        return tuple(name for name in self.source.columns if name not in self.leave_out)

    @property
    def carried(self) -> tuple[str, ...]:
        """Those that are no quasi-identifiers."""
        return tuple(name for name in self.published if name not in self.policy.quasi)


@dataclass(frozen=True)
class WrittenRows:
    """How rows were sorted into the classes that the file shows."""

    method: str
    notes: tuple[Note, ...]
    recodings: tuple[Recoding, ...]  # one for each quasi-identifier
    people: Path | None = None  # a file of numbers of the people behind rows, in the order of the data file
    claims: Claims | None = None  # where a draft in memory said them


def checked_slices(
    draft: SpilledDraft, rows: WrittenRows, path: Path
) -> tuple[Verdict, dict[str, pl.DataFrame]]:
    """Read the file back in slices, and verify what it says; gives how often each cell is shown, too."""
    policy = draft.policy
    columns = list(draft.published)
    read_back(path, columns, policy.format)  # the header
    files = FORMATS[policy.format].load()
    assert isinstance(files, SlicedFiles)  # noqa: S101 - asked before
    shown = files.read_slices(path, columns)
    if FORMATS[policy.format].spreadsheets:
        shown = restore_cells(shown)
    if policy.null:
        kinds = shown.collect_schema()
        texts = [pl.col(name) for name in policy.sensitive if kinds[name] == pl.String]
        shown = shown.with_columns(pl.when(~text.is_in(policy.null)).then(text).name.keep() for text in texts)
    claims = rows.claims or Claims(
        quasi=list(policy.quasi),
        promises=policy.promises(),
        sensitive={name: draft.table.columns[name] for name in policy.sensitive},
        decimal=policy.decimal,
    )
    people = None if rows.people is None else np.fromfile(rows.people, np.int32)
    if people is not None and len(people) != draft.table.rows:
        raise GuaranteeBroken("the people behind the rows are not as many as these; please report this")
    verdict = verify(shown, claims, subjects=people, suppressed=False, passes=draft.bound.passes)
    if verdict.rows != draft.table.rows:
        raise GuaranteeBroken(f"rows={verdict.rows} were published of {draft.table.rows}")
    broken = [outcome.model for outcome in verdict.outcomes if not outcome.holds]
    if broken:
        raise GuaranteeBroken(f"the published table does not keep {', '.join(broken)}; please report this")
    return verdict, _tallies(shown.select(policy.quasi), draft.bound.batch)


def _tallies(shown: pl.LazyFrame, rows: int) -> dict[str, pl.DataFrame]:
    """Count how often each cell is shown, column by column."""
    counted: dict[str, pl.DataFrame] = {}
    for batch in shown.collect_batches(chunk_size=rows):
        for name in batch.columns:
            cells = batch.select(pl.col(name).cast(pl.String).alias("cell"))
            seen = cells.group_by("cell").agg(pl.len().cast(pl.Int64).alias("rows"))
            known = counted.get(name)
            if known is not None:
                seen = pl.concat([known, seen]).group_by("cell").agg(pl.col("rows").sum())
            counted[name] = seen
    return counted


def report_of(
    draft: SpilledDraft,
    rows: WrittenRows,
    verdict: Verdict,
    tallies: Mapping[str, pl.DataFrame],
    *,
    seconds: float,
) -> Report:
    """Build the report from what the published file shows."""
    policy, table = draft.policy, draft.table
    verdict = as_told(verdict, policy, floor_of(policy))
    utility, per_column = published_loss(
        tallies,
        sizes=verdict.sizes,
        people=verdict.people,
        rows=verdict.rows,
        suppressed=verdict.suppressed,
        k=policy.k or 1,
        weights=policy.weights or None,
        hierarchies=hierarchies_of(policy, policy.quasi),
    )
    named = [
        name for name in draft.source.columns if name not in draft.leave_out or name in policy.identifier
    ]
    numbers = any(isinstance(axis.domain, Numbers | Moments) for axis in table.axes)
    facts = counted_facts(
        policy,
        verdict,
        utility=utility,
        columns=report_columns(policy, named, table.columns, per_column, rows.recodings),
        method=rows.method,
        caveats=[
            Note("warning.spilled"),
            *draft.source.notes,
            *rows.notes,
            *general_caveats(policy, numbers=numbers),
        ],
    )
    return build_report(facts, seconds=seconds)
