"""Anonymise a table that does not fit into memory: the same policy, promises, file and folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from mahrem.contents import Contents, TableSketch, look_into, merge_sketches, sketch_table
from mahrem.drafts import draft as make_draft
from mahrem.errors import InvalidParameter
from mahrem.files import StageFolder
from mahrem.pipeline.releasing._people_seen import NAME, PeopleSeen
from mahrem.pipeline.releasing._publish import read_back
from mahrem.pipeline.releasing._release import Destination, Release, refuse_doubts, write_words
from mahrem.pipeline.releasing._spilled_check import SpilledDraft, WrittenRows, checked_slices, report_of
from mahrem.release import refuse_giving_away
from mahrem.release.decisions import Policy, method_of, roles_of
from mahrem.release.folders import (
    columns_naming_people,
    find_data,
    record_run,
    sha256_of,
    staged_release,
)
from mahrem.spilled import (
    PERSON,
    FrameFiles,
    HashedPeople,
    MemoryBound,
    Pace,
    PartFinisher,
    RowOrder,
    RowStore,
    SortedRows,
    encode_table,
    finish_parts,
    look_at_texts,
    on_disk,
    plan_parts,
    prepared_from,
    scatter_rows,
    why_not_by_passes,
    with_recodings,
)
from mahrem.table import Hierarchy
from mahrem.table.columns import apply_missing
from mahrem.table.reading import PolarsSource
from mahrem.table.writing import write_parts
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
        path = folder / f"data.{policy.format}"
        draft, people = _read(opened, policy, bound, spill, pace)
        rows = _write(draft, spill, path, pace)
        pace.begin(Note("stage.verifying"))
        verdict, tallies = checked_slices(draft, rows, path)
        destination.step(Note("stage.reporting"))
        report = report_of(draft, rows, verdict, tallies, seconds=destination.seconds)
        report = replace(report, fingerprint=sha256_of(path))
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
) -> tuple[SpilledDraft, PeopleSeen]:
    """Read all cells: kinds, places and codes go to disk, and what gives people away is refused."""
    pace.begin(Note("stage.spilling"))
    leave_out = roles_of(source.columns, policy)
    published = [name for name in source.columns if name not in leave_out]
    names, by_name = columns_naming_people(policy.subject, policy.identifier, policy.quasi, source.columns)
    subject = () if policy.subject is None else (policy.subject,)
    needed = {*published, *names, *policy.identifier, *subject, NAME}
    wanted = [name for name in source.columns if name in needed]
    heard = [name for name in dict.fromkeys([*published, *subject]) if name not in policy.suppress]
    numbers = look_at_texts(source, heard, decimal=policy.decimal, rows=bound.batch, most=bound.distinct)
    source.spelled_as(dict.fromkeys(name for name in wanted if name not in heard))
    judged = [*policy.quasi, *policy.sensitive]
    named = [name for name in policy.identifier if name in leave_out]
    people = PeopleSeen(names, by_name=by_name, named=named, alike=judged, rows=bound.rows, policy=policy)

    def batches() -> Iterator[pl.DataFrame]:
        for batch in source.batches(wanted, bound.batch):
            # Refuses, where it was told to.
            apply_missing(policy.silenced(batch.select(judged)), policy.missing)
            yield batch
            pace.add(batch.height)

    sketched = [*judged, *(name for name in published if name not in judged)]
    table, sketch = encode_table(
        batches(),
        policy,
        RowStore(spill / "rows", len(judged) + 2 * len(subject)),
        published=sketched,
        numbers=numbers,
        most=bound.distinct,
        people=HashedPeople().number if subject else None,
        also=people.add,
    )
    refuse_giving_away(sketch, policy, named=(*judged, *policy.insensitive))
    people.warn_of_several_rows()
    return SpilledDraft(policy, source, bound, leave_out, table), people


def _write(draft: SpilledDraft, spill: Path, path: Path, pace: Pace) -> WrittenRows:
    """Sort rows into classes, and write them in their order."""
    order = RowOrder(spill, draft.table.rows, draft.bound.part_rows)
    by_passes = why_not_by_passes(draft.policy) is None
    rows = (_by_passes if by_passes else _from_numbers)(draft, spill, order, pace)
    draft.table.store.path.unlink()
    pace.begin(Note("stage.writing"))
    names = (*draft.published, *([] if rows.people is None else [PERSON]))
    written = pace.watch(order.rows(names), lambda some: some.height)
    write_parts(_without_people(written, rows.people), path, draft.policy.format)
    return rows


def _by_passes(draft: SpilledDraft, spill: Path, order: RowOrder, pace: Pace) -> WrittenRows:
    """Cut by passes over numbers on disk, and finish part by part."""
    policy, bound = draft.policy, draft.bound
    table = with_recodings(draft.table, policy, bound.batch)
    pace.begin(Note("stage.cutting"))
    plan = plan_parts(table, policy.promises(), bound, pace)
    pace.begin(Note("stage.sorting"))
    with FrameFiles(spill, "part") as files:
        scatter_rows(_carried(draft), table, plan, files, pace)
        method = method_of(policy, "mondrian", [axis.domain for axis in table.axes])
        pace.begin(Note("stage.finishing"))
        finisher = PartFinisher(table, plan, method, draft.published)
        finish_parts(files, finisher, order, draft.carried, bound, pace)
    valued = any(promise.column for promise in policy.promises())
    untried = Note(
        "warning.classes_by_values" if policy.minimality_safe is False else "warning.classes_untried"
    )
    return WrittenRows("mondrian", (untried,) if valued else (), table.recodings)


def _from_numbers(draft: SpilledDraft, spill: Path, order: RowOrder, pace: Pace) -> WrittenRows:
    """Let a method see the numbers of all rows at once, as in memory, and write cells from disk."""
    policy = draft.policy
    pace.begin(Note("stage.anonymising"))
    whole = make_draft(prepared_from(draft.table, draft.source, policy, draft.leave_out), policy)
    if whole.hidden.any():
        raise InvalidParameter(f"method={whole.method!r} hides rows, for which all must fit into memory")
    rows, people = SortedRows.of(whole), None if whole.subjects is None else spill / "people"
    written = WrittenRows(
        whole.method, whole.notes, tuple(whole.recodings[name] for name in policy.quasi), people, whole.claims
    )
    del whole  # the places of all rows
    pace.begin(Note("stage.finishing"))
    rows.send(_carried(draft), draft.carried, order, pace)
    return written


def _carried(draft: SpilledDraft) -> Iterator[pl.DataFrame]:
    """Read what stays as it is."""
    names = draft.carried
    batches = draft.source.batches(names or draft.source.columns[:1], draft.bound.batch, untouched=True)
    return (batch.select(names) if names else batch for batch in batches)


def _without_people(batches: Iterator[pl.DataFrame], path: Path | None) -> Iterator[pl.DataFrame]:
    """Give rows without the people behind them, who are kept aside in the same order."""
    if path is None:
        yield from batches
        return
    with path.open("xb") as stream:
        for batch in batches:
            stream.write(batch[PERSON].to_numpy().astype(np.int32).data)
            yield batch.drop(PERSON)


def decided_in_batches(policy: Policy, source: PolarsSource, bound: MemoryBound) -> Policy:
    """Decide about columns that a policy only describes, by all of their cells, some rows at a time."""

    def look() -> tuple[TableSketch, Contents]:
        sketch = sketch_table(pl.DataFrame())
        for number, batch in enumerate(source.batches(source.columns, bound.batch)):
            seen = sketch_table(batch)
            sketch = merge_sketches([sketch, seen]) if number else seen
        return sketch, look_into(sketch, region=policy.region)

    return policy.for_columns(source.columns, look)
