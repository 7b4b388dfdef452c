"""Check a draft on what is really published, and only then let it go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from mahrem.drafts import Draft, compared_with, original_of, write_draft
from mahrem.errors import GuaranteeBroken, Infeasible
from mahrem.release import BY_RECIPE
from mahrem.release.decisions import Policy
from mahrem.release.folders import sha256_of
from mahrem.table import FORMATS, Reading, open_source
from mahrem.table.cells import as_text, write_ranges
from mahrem.table.cells.formulas import restore_cells
from mahrem.table.formats import NumberedCells, NumberedFiles
from mahrem.table.writing import exported_names
from mahrem.threads import meanwhile
from mahrem.types import Mask, Rows
from mahrem.verify import Verdict, verify

_MANY = 10_000  # rows from which on a file is taken apart by a kernel
_UNLIKE = (
    "trajectory-k-anonymity cannot be reached: too few people of the batch show the same in all their "
    "rows, or they share a value; publish one row for each person, or no pseudonym"
)


def checked_frame(draft: Draft, table: object) -> Verdict:
    """Verify a table in memory, in the very frame the caller will get."""
    shown = open_source(table)
    return _check(draft, shown.scan(draft.judged_columns), shown.columns, order=None)


def checked_file(draft: Draft, folder: Path) -> tuple[Verdict, str]:
    """Write the data file, read it back, and verify what it says; gives its hash, too."""
    path = folder / f"data.{draft.policy.format}"
    order = write_draft(draft, path)
    with meanwhile(lambda: sha256_of(path), rows=draft.prepared.rows) as hashed:
        return _check(draft, _read_published(draft, path).lazy(), draft.columns, order), hashed()


def _read_published(draft: Draft, path: Path) -> pl.DataFrame:
    """Read what promises speak of from a published file, once, as somebody who has the file alone.

    Cells of quasi-identifiers come as numbers of the texts they show: text takes more memory.
    """
    policy = draft.policy
    files = FORMATS[policy.format].load()
    if isinstance(files, NumberedFiles) and draft.prepared.rows >= _MANY:
        numbered = files.read_numbered(path, draft.columns, draft.judged_columns)
        if numbered is not None:
            _check_header(numbered[0], draft.columns, policy.format)
            return _of_numbers(draft, numbered[1])
    published = read_back(path, draft.columns, policy.format).select(draft.judged_columns)
    wanted = published.with_columns(
        pl.col(name).cast(pl.Categorical(pl.Categories.random()))
        for name, kind in published.collect_schema().items()
        if kind == pl.String and name in _as_numbers(draft)
    ).collect(engine="streaming")
    if FORMATS[policy.format].spreadsheets:
        wanted = restore_cells(wanted.lazy()).collect()
    return wanted.with_columns(
        _without_tokens(wanted[name], policy)
        for name in draft.prepared.values
        if wanted.schema[name] == pl.String
    )


def _of_numbers(draft: Draft, numbered: Mapping[str, NumberedCells]) -> pl.DataFrame:
    """Make columns of numbered cells: what is done to a text is done once."""
    few, columns = _as_numbers(draft), []
    for name, cells in numbered.items():
        texts = restore_cells(cells.texts.to_frame(name).lazy()).collect().to_series()
        if name in draft.prepared.values:
            texts = _without_tokens(texts, draft.policy)
        if name in few:
            texts = texts.cast(pl.Categorical(pl.Categories.random()))
        columns.append(cells.rows(texts))
    return pl.DataFrame(columns)


def _as_numbers(draft: Draft) -> set[str]:
    """Name the columns whose cells nobody reads as text."""
    prepared, policy = draft.prepared, draft.policy
    others = {*prepared.values, *prepared.rewritten, *draft.shifted, *policy.pseudonym, *policy.redact}
    return {name for name in draft.quasi if name not in others}


def _without_tokens(texts: pl.Series, policy: Policy) -> pl.Series:
    """Take texts that mean a missing value for one."""
    return texts.set(texts.is_in(policy.null), None) if policy.null else texts


def checked_database(draft: Draft, target: str, table: str, *, replace: bool) -> None:
    """Write the published table into a database, read it back, and verify what it says."""
    from mahrem.table.writing import write_database

    shown, order = draft.table_for_file()
    write_database(shown, target, table, replace=replace)
    stored = open_source(target, Reading(table=table, null=draft.policy.null))
    _check(draft, stored.scan(draft.judged_columns), stored.columns, order)


def _check(draft: Draft, table: pl.LazyFrame, columns: Sequence[str], order: Rows | None) -> Verdict:
    prepared = draft.prepared
    subjects, hidden = draft.subjects, draft.hidden
    if order is not None:
        subjects, hidden = None if subjects is None else subjects[order], hidden[order]
    _check_rewritten(draft, table, hidden, order)
    _check_bounds(draft, table, hidden)
    _check_shifted(draft, table, hidden, order)
    _check_redacted(draft, table)
    verdict = verify(
        table, draft.claims, subjects=subjects, suppressed=hidden, population=prepared.population
    )
    if list(columns) != draft.columns:
        raise GuaranteeBroken("the published table does not have the columns it should have")
    if verdict.rows != prepared.rows:
        raise GuaranteeBroken(f"rows={verdict.rows} were published of {prepared.rows}")
    if verdict.suppressed != hidden.sum():
        raise GuaranteeBroken("a row that should show nothing shows something")
    broken = {outcome.model: outcome for outcome in verdict.outcomes if not outcome.holds}
    by_person = next((broken[name] for name in broken if name.startswith("delta-presence")), None)
    if by_person is not None:
        message = (
            "delta-presence cannot be reached: cells of different classes overlap; publish words as sets"
        )
        raise Infeasible(message, reached=by_person.reached)
    if "k-map-population" in broken:
        reached = broken["k-map-population"].reached
        raise Infeasible(
            "k-map cannot be reached: rows that show nothing are of too few people", reached=reached
        )
    if broken and draft.method == BY_RECIPE and draft.policy.trajectory_k is not None:
        # The recipe's classes are given, and each keeps the promises: what tied rows show together does not.
        raise Infeasible(_UNLIKE, reached=next(iter(broken.values())).reached)
    if broken:
        raise GuaranteeBroken(f"the published table does not keep {', '.join(broken)}; please report this")
    return verdict


def _check_rewritten(draft: Draft, table: pl.LazyFrame, hidden: Mask, order: Rows | None) -> None:
    """Compare columns that were made coarser row by row with what they were."""
    prepared, claims = draft.prepared, draft.prepared.rewritten
    if not claims:
        return
    from mahrem.verify import rows_too_fine

    before = compared_with(prepared.source, list(claims)).filter(pl.Series(prepared.keep))
    published = table.select(list(claims)).collect()
    for name, claim in claims.items():
        own = before[name] if order is None else before[name].gather(order)
        wrong = rows_too_fine(own, published[name], claim, hidden=hidden, decimal=draft.policy.decimal)
        if wrong:
            raise GuaranteeBroken(
                f"column={name!r} was not published as coarsely as it should be; please report this"
            )


def _check_shifted(draft: Draft, table: pl.LazyFrame, hidden: Mask, order: Rows | None) -> None:
    """Compare dates that were moved with what they were: one offset for each person, and not too far."""
    prepared, policy = draft.prepared, draft.policy
    names = draft.shifted
    if not names or policy.subject is None or policy.shift_days is None:
        return
    from mahrem.verify import rows_badly_shifted

    before = original_of(prepared.source).take([*names, policy.subject]).filter(pl.Series(prepared.keep))
    before = before if order is None else before[order]
    shown = pl.Series(~hidden)
    wrong = rows_badly_shifted(
        before.select(names).filter(shown),
        table.select(names).collect().filter(shown),
        before[policy.subject].filter(shown),
        policy.shift_days,
    )
    if wrong:
        raise GuaranteeBroken(
            "dates were not moved by one number of days for each person; please report this"
        )


def _check_redacted(draft: Draft, table: pl.LazyFrame) -> None:
    """Look for what can be recognised in texts that were redacted."""
    if not draft.policy.redact:
        return
    from mahrem.contents import redact_texts

    for texts in table.select(draft.policy.redact).collect():
        if not redact_texts(texts.cast(pl.String)).equals(texts.cast(pl.String)):
            raise GuaranteeBroken(
                f"column={texts.name!r} was redacted and still shows somebody; please report this"
            )


def _check_bounds(draft: Draft, table: pl.LazyFrame, hidden: Mask) -> None:
    """Look at every cell of quasi-identifiers that may be no finer, or no coarser, than something."""
    bounds = draft.cell_bounds
    if not bounds:
        return
    from mahrem.verify import cells_out_of_bounds

    published = table.select([shown for name in bounds for shown in draft.shown_as(name)]).collect()
    rows = published.filter(pl.Series(~hidden))
    for name, bound in bounds.items():
        shown = [rows[part] for part in draft.shown_as(name)]
        cells = as_text(shown[0]) if len(shown) == 1 else write_ranges(*shown)
        if cells_out_of_bounds(cells, bound):
            raise GuaranteeBroken(
                f"column={name!r} has a cell that is finer or coarser than it should be; please report this"
            )


def read_back(path: Path, columns: Sequence[str], format: str) -> pl.LazyFrame:  # noqa: A002 - the option's name
    """Read a published file without what opens others' files, and check its header."""
    names, published = FORMATS[format].load().read_back(path, columns)
    _check_header(names, columns, format)
    return published


def _check_header(names: Sequence[str], columns: Sequence[str], format: str) -> None:  # noqa: A002 - the same
    if list(names) != exported_names(columns, format):
        wanted = len(columns)
        raise GuaranteeBroken(f"the file has {len(names)} columns that are not the {wanted} to be published")
