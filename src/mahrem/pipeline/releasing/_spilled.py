"""Anonymise a table that does not fit into memory: the same policy, promises, file and folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import polars as pl

from mahrem.contents import Contents, TableSketch, look_into, merge_sketches, sketch_table
from mahrem.errors import GuaranteeBroken
from mahrem.files import StageFolder
from mahrem.metrics import published_loss
from mahrem.pipeline.releasing._people_seen import NAME, PeopleSeen
from mahrem.pipeline.releasing._publish import read_back
from mahrem.pipeline.releasing._release import Destination, Release, refuse_doubts, write_words
from mahrem.pipeline.releasing._summary import build_report, counted_facts, general_caveats, report_columns
from mahrem.release import refuse_giving_away
from mahrem.release.decisions import Policy, method_of, roles_of
from mahrem.release.folders import (
    columns_naming_people,
    find_data,
    record_run,
    sha256_of,
    staged_release,
)
from mahrem.report import Report
from mahrem.spilled import (
    FrameFiles,
    MemoryBound,
    Pace,
    PartFinisher,
    RowOrder,
    RowStore,
    SpilledTable,
    encode_table,
    finish_parts,
    look_at_texts,
    on_disk,
    plan_parts,
    scatter_rows,
    with_recodings,
)
from mahrem.table import FORMATS, Hierarchy, Moments, Numbers
from mahrem.table.cells.formulas import restore_cells
from mahrem.table.columns import apply_missing
from mahrem.table.formats import SlicedFiles
from mahrem.table.reading import PolarsSource
from mahrem.table.writing import write_parts
from mahrem.verify import Claims, Verdict, verify
from mahrem.words import Note


@dataclass(frozen=True, kw_only=True)
class SpilledRelease(Release):
    """A verified release of a table that did not fit into memory; it lies in its folder."""

    _columns: tuple[str, ...] = field(repr=False, default=())

    @cached_property
    def table(self) -> pl.LazyFrame:
        """The published table, as it was verified, as a lazy polars frame."""
        data = find_data(self.folder or Path())
        return read_back(data, self._columns, data.suffix.removeprefix("."))

    @property
    def hierarchies(self) -> dict[str, Hierarchy]:
        """None: tables that do not fit are cut by order."""
        return {}


@dataclass(frozen=True)
class _Draft:
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


def anonymize_spilled(
    source: object, opened: PolarsSource, policy: Policy, destination: Destination, bound: MemoryBound
) -> SpilledRelease:
    """Anonymise a file within a bound of memory, and verify what comes out.

    Guarantees:
        - As :func:`mahrem.anonymize`; the data file is the one that a run in memory writes.
        - What lies on disk meanwhile nobody else can read; it vanishes at the end, and after a kill with the
          next run beside it.
    """
    output = destination.output
    assert output is not None  # noqa: S101 - asked before
    pace = Pace(opened.rows, destination.step)
    beside = output.absolute().parent
    left = _spills(beside)
    with (
        staged_release(output, force=destination.force) as folder,
        on_disk(output),
        StageFolder(beside, "spill") as stage,
    ):
        if left - _spills(beside):  # swept: nobody held them any more
            destination.step(Note("stage.anew"))
        spill = stage.path
        draft, people = _read(opened, policy, bound, spill, pace)
        _write(draft, spill, folder / f"data.{policy.format}", pace)
        pace.begin(Note("stage.verifying"))
        verdict, tallies = _checked(draft, folder / f"data.{policy.format}")
        destination.step(Note("stage.reporting"))
        report = _report(draft, verdict, tallies, seconds=destination.seconds)
        report = replace(report, fingerprint=sha256_of(folder / f"data.{policy.format}"))
        refuse_doubts(report, strict=destination.strict)
        write_words(folder, draft.policy, report, html=destination.html)
    about = {
        "input": opened.label,
        "seed": policy.seed,
        "policy": draft.policy.public(),
        "classes": len(verdict.sizes),
        "rows": verdict.rows,
        "seconds": round(destination.seconds, 3),
    }
    record_run(output, source, about)
    people.keep(output)
    return SpilledRelease(report=report.as_dict(), folder=output, _columns=draft.published)


def _spills(folder: Path) -> set[Path]:
    return set(folder.glob(".mahrem-spill-*"))


def _read(
    source: PolarsSource, policy: Policy, bound: MemoryBound, spill: Path, pace: Pace
) -> tuple[_Draft, PeopleSeen]:
    """Read all cells: kinds, places and codes go to disk, and what gives people away is refused."""
    pace.begin(Note("stage.spilling"))
    leave_out = roles_of(source.columns, policy)
    published = [name for name in source.columns if name not in leave_out]
    names, by_name = columns_naming_people(policy.subject, policy.identifier, policy.quasi, source.columns)
    wanted = [name for name in source.columns if name in {*published, *names, *policy.identifier, NAME}]
    numbers = look_at_texts(source, published, decimal=policy.decimal, rows=bound.batch, most=bound.distinct)
    source.spelled_as(dict.fromkeys(name for name in wanted if name not in published))
    judged = [*policy.quasi, *policy.sensitive]
    named = [name for name in policy.identifier if name in leave_out]
    people = PeopleSeen(names, by_name=by_name, named=named, alike=judged, rows=bound.rows)

    def batches() -> Iterator[pl.DataFrame]:
        for batch in source.batches(wanted, bound.batch):
            apply_missing(batch.select(judged), policy.missing)  # refuses, where it was told to
            yield batch
            pace.add(batch.height)

    sketched = [*judged, *(name for name in published if name not in judged)]
    table, sketch = encode_table(
        batches(),
        policy,
        RowStore(spill / "rows", len(judged)),
        published=sketched,
        numbers=numbers,
        most=bound.distinct,
        also=people.add,
    )
    refuse_giving_away(sketch, policy, named=(*judged, *policy.insensitive))
    people.warn_of_several_rows(policy)
    table = with_recodings(table, policy, bound.batch)
    return _Draft(policy, source, bound, leave_out, table), people


def _write(draft: _Draft, spill: Path, path: Path, pace: Pace) -> None:
    """Cut, finish part by part, and write rows in their order."""
    policy, table, bound = draft.policy, draft.table, draft.bound
    pace.begin(Note("stage.cutting"))
    plan = plan_parts(table, policy.promises(), bound, pace)
    pace.begin(Note("stage.sorting"))
    carried = draft.carried
    with FrameFiles(spill, "part") as files:
        batches = draft.source.batches(carried or draft.source.columns[:1], bound.batch, untouched=True)
        scatter_rows(
            (batch.select(carried) if carried else batch for batch in batches), table, plan, files, pace
        )
        method = method_of(policy, "mondrian", [axis.domain for axis in table.axes])
        order = RowOrder(spill, table.rows, bound.part_rows)
        pace.begin(Note("stage.finishing"))
        finish_parts(files, PartFinisher(table, plan, method, draft.published), order, carried, bound, pace)
    table.store.path.unlink()
    pace.begin(Note("stage.writing"))
    written = pace.watch(order.rows(draft.published), lambda rows: rows.height)
    write_parts(written, path, policy.format)


def _checked(draft: _Draft, path: Path) -> tuple[Verdict, dict[str, pl.DataFrame]]:
    """Read the file back in slices, and verify what it says."""
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
    claims = Claims(
        quasi=list(policy.quasi),
        promises=policy.promises(),
        sensitive={name: draft.table.columns[name] for name in policy.sensitive},
        decimal=policy.decimal,
    )
    verdict = verify(shown, claims, suppressed=False, passes=draft.bound.passes)
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


def _report(draft: _Draft, verdict: Verdict, tallies: dict[str, pl.DataFrame], *, seconds: float) -> Report:
    """Build the report from what the published file shows."""
    policy, table = draft.policy, draft.table
    utility, per_column = published_loss(
        tallies,
        sizes=verdict.sizes,
        people=verdict.people,
        rows=verdict.rows,
        suppressed=verdict.suppressed,
        k=policy.k or 1,
        weights=policy.weights or None,
    )
    named = [
        name for name in draft.source.columns if name not in draft.leave_out or name in policy.identifier
    ]
    valued = any(outcome.column for outcome in verdict.outcomes)
    numbers = any(isinstance(axis.domain, Numbers | Moments) for axis in table.axes)
    facts = counted_facts(
        policy,
        verdict,
        utility=utility,
        columns=report_columns(policy, named, table.columns, per_column, table.recodings),
        method="mondrian",
        caveats=[
            Note("warning.spilled"),
            *draft.source.notes,
            *([_minimality(policy)] if valued else []),
            *general_caveats(policy, numbers=numbers),
        ],
    )
    return build_report(facts, seconds=seconds)


def _minimality(policy: Policy) -> Note:
    asked = policy.minimality_safe is False
    return Note("warning.classes_by_values" if asked else "warning.classes_untried")


def decided_in_batches(policy: Policy, source: PolarsSource, bound: MemoryBound) -> Policy:
    """Decide about columns that a policy only describes, by all of their cells, some rows at a time."""

    def look() -> tuple[TableSketch, Contents]:
        sketch = sketch_table(pl.DataFrame())
        for number, batch in enumerate(source.batches(source.columns, bound.batch)):
            seen = sketch_table(batch)
            sketch = merge_sketches([sketch, seen]) if number else seen
        return sketch, look_into(sketch, region=policy.region)

    return policy.for_columns(source.columns, look)
