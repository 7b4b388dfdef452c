"""Synthetic releases: a table and a ledger in, a verified folder of made-up rows out."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import polars as pl

from mahrem import check
from mahrem.dp import Ledger
from mahrem.learning import (
    FittedSynthesiser,
    SyntheticQuality,
    SyntheticSchema,
    make_synthesiser,
    refuse_overlap,
    synthetic_quality,
)
from mahrem.pipeline._publish import read_back
from mahrem.pipeline._quality import QualityRequest, write_quality
from mahrem.pipeline._synthetic_report import SyntheticWork, write_words
from mahrem.release import input_fingerprint, keep_record, staged_release
from mahrem.report import LANGUAGES
from mahrem.table import (
    SPREADSHEETS,
    Format,
    Reading,
    open_source,
    restore_formulas,
    restored_cells,
    write_parts,
)

if TYPE_CHECKING:
    from mahrem.learning import DeclaredDomain

__all__ = ["SyntheticRelease", "synthesize"]


@dataclass(frozen=True, kw_only=True)
class SyntheticRelease:
    """A synthetic table that was checked against its schema, and everything that may be said about it.

    Attributes:
        report: What ``report.json`` says; all of it may be published.
        fitted: The private model; sample from it as often as you like.
        folder: Where the release lies; None if nothing was written.
        quality: Figures against the real table, if asked for. They read real rows: not private.
        seconds: How long it took; not in the report, for time depends on the data.
    """

    report: Mapping[str, Any] = field(repr=False)
    fitted: FittedSynthesiser = field(repr=False)
    folder: Path | None = None
    quality: SyntheticQuality | None = field(repr=False, default=None)
    seconds: float = 0.0
    _table: pl.DataFrame | None = field(repr=False, default=None)

    @property
    def table(self) -> pl.DataFrame:
        """The synthetic table; read from its folder if it was written."""
        if self._table is not None:
            return self._table
        assert self.folder is not None  # noqa: S101 - one of both is always there
        return _published(self.folder / str(self.report["published"]["file"]))

    @property
    def holds(self) -> bool:
        """Always true: a table that breaks its schema is never handed out."""
        return bool(self.report["holds"])


def synthesize(
    source: object,
    *,
    ledger: str | Path | Ledger,
    epsilon: float,
    delta: float,
    method: str = "marginals",
    target: str | None = None,
    rows: int | None = None,
    output: str | Path | None = None,
    columns: Sequence[str] = (),
    missing: Sequence[str] = (),
    kinds: Mapping[str, str] | None = None,
    dates: Mapping[str, tuple[str, str]] | None = None,
    cells: Mapping[str, int | Sequence[float]] | None = None,
    constraints: Sequence[str] = (),
    given: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
    format: Format = "csv",  # noqa: A002 - the option's name
    language: str = "en",
    force: bool = False,
    html: bool = True,
    quality: bool | str | Path = False,
    holdout: object | None = None,
    progress: Callable[[str], None] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: Literal[".", ","] | None = None,
    null: Sequence[str] = (),
    table: str | None = None,
    sql: str | None = None,
) -> SyntheticRelease:
    """Make a synthetic table with differential privacy.

    Args:
        source: A frame, a file or a database: the one the ledger was made for.
        ledger: The ledger that pays and knows the schema (bounds, declared values), or its path.
        epsilon: What it may cost.
        delta: The same; far below 1/rows.
        method: How: a key of :data:`~mahrem.learning.SYNTHESISERS`.
        target: A column to predict: what goes with it is kept best.
        rows: How many rows to make; by default as many as there seem to be.
        output: Write a release folder there; without it the table is only checked in memory.
        columns: Which columns; by default every one the ledger knows.
        missing: Columns that may be empty; elsewhere such rows count as the ledger says, or are left out.
        kinds: ``whole`` or ``number`` for columns of numbers.
        dates: First and last day of columns of dates.
        cells: Into how many cells a number is cut, or the edges between them.
        constraints: Rules every row keeps: ``"a <= b"``, ``"total = a + b"``.
        given: Conditions every row meets: ``{"sex": "f", "age": (18, 65)}``.
        options: Settings of the method's own.
        format: Of the data file.
        language: Of the report.
        force: Replace an earlier release under ``output``.
        html: Draw ``report.html``.
        quality: Measure the table against the real one: True, or a private folder for the figures. They read
            real rows and are not private, so they never lie in the release.
        holdout: Real rows the synthesiser does not see, for those figures.
        progress: Called with the name of each stage as it begins.
        delimiter: Field separator of a CSV file.
        encoding: Encoding of a CSV file.
        decimal: Decimal sign of numbers in text.
        null: Texts that mean missing.
        table: Which table of a database.
        sql: What to ask a database instead of a table.

    Guarantees:
        - ``(epsilon, delta)``-DP under the ledger's relation and unit; the spend is on disk before a value is
          looked at, and what cannot work is refused before it.
        - Every published value lies in the declared domain and every row keeps every constraint, checked on
          the written file by code that does not know how it was made.
        - Rows are in random order; no seed is kept.

    Example:
        >>> import mahrem as mh
        >>> patients = mh.demo_patients(2000)
        >>> facts = {"age": {"lower": 0, "upper": 110}, "sex": {"categories": ["female", "male", "other"]}}
        >>> ledger = mh.Ledger.temporary(epsilon=1, delta=1e-6, columns=facts, rows=2000)
        >>> made = synthesize(patients, ledger=ledger, epsilon=1, delta=1e-6, rows=100)
        >>> made.table.shape, made.holds
        ((100, 2), True)
    """
    began = time.perf_counter()
    step = progress or (lambda _: None)
    book = ledger if isinstance(ledger, Ledger) else Ledger.open(ledger)
    reading = Reading(
        delimiter=delimiter, encoding=encoding, decimal=decimal, null=null, table=table, query=sql
    )
    schema = SyntheticSchema(
        columns=tuple(columns),
        missing=tuple(missing),
        kinds=dict(kinds or {}),
        dates={name: (first, last) for name, (first, last) in (dates or {}).items()},
        cells=dict(cells or {}),
        constraints=tuple(constraints),
    )
    check.one_of(get_args(Format), format=format)
    check.one_of(LANGUAGES, language=language)
    if rows is not None:
        check.at_least(1, rows=check.whole(rows=rows))
    made = make_synthesiser(
        method, epsilon=epsilon, delta=delta, target=target, schema=schema, **(options or {})
    )
    step("reading")
    names = [name for name in open_source(source, reading).columns if name != book.unit.subject]
    domain = schema.domain(book.facts, names)
    for name, said in (given or {}).items():
        domain[name].admitted(said)
    request = QualityRequest.of(quality, holdout, target, output)
    if request.holdout is not None:
        refuse_overlap(_frame(source, reading), request.holdout, domain)
    left_out = [name for name in names if name not in domain.names]
    work = SyntheticWork(book, schema, domain, method, target, dict(given or {}), language, left_out)
    if output is None:
        step("fitting")
        fitted = made.fit(source, ledger=book, reading=reading)
        step("sampling and checking")
        drawn = fitted.sample(rows, given=given)
        verdict = work.checked(drawn.lazy(), drawn.height)
        report = work.report(fitted, verdict, None)
        measured = _measured(request, source, reading, drawn, domain, step)
        seconds = time.perf_counter() - began
        return SyntheticRelease(report=report, fitted=fitted, quality=measured, seconds=seconds, _table=drawn)
    target_folder = Path(output)
    with staged_release(target_folder, force=force) as folder:
        step("fitting")
        fitted = made.fit(source, ledger=book, reading=reading)
        step("sampling, writing and checking")
        path = folder / f"data.{format}"
        count = write_parts(fitted.batches(rows, given=given), path, format)
        published = read_back(path, domain.names, format)
        if format in SPREADSHEETS:
            published = published.with_columns(restored_cells(published.collect_schema()))
        verdict = work.checked(published, count)
        report = work.report(fitted, verdict, path.name)
        write_words(folder, report, work, html=html)
    measured = None
    if request.wanted:
        drawn = _published(target_folder / path.name)
        measured = _measured(request, source, reading, drawn, domain, step)
    seconds = time.perf_counter() - began
    _keep_record(source, target_folder, report, seconds)
    return SyntheticRelease(
        report=report, fitted=fitted, folder=target_folder, quality=measured, seconds=seconds
    )


def _published(path: Path) -> pl.DataFrame:
    """Read the data file of a release as its readers do, with text as it was before it was disarmed."""
    found = _frame(path, Reading())
    return restore_formulas(found) if path.suffix[1:] in SPREADSHEETS else found


def _frame(source: object, reading: Reading) -> pl.DataFrame:
    opened = open_source(source, reading)
    return opened.take(opened.columns)


def _measured(
    request: QualityRequest,
    source: object,
    reading: Reading,
    drawn: pl.DataFrame,
    domain: DeclaredDomain,
    step: Callable[[str], None],
) -> SyntheticQuality | None:
    if not request.wanted:
        return None
    step("measuring against the real table")
    predicts = request.target is not None and domain[request.target].kind == "category"
    found = synthetic_quality(
        _frame(source, reading),
        drawn,
        domain,
        holdout=request.holdout,
        target=request.target if predicts else None,
    )
    if request.folder is not None:
        write_quality(found, request.folder)
    return found


def _keep_record(source: object, output: Path, report: Mapping[str, Any], seconds: float) -> None:
    file = Path(source) if isinstance(source, str | Path) else None
    keep_record(
        {
            "mahrem": report["mahrem"],
            "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "release": str(output.absolute()),
            "input": None if file is None else file.name,
            "input_fingerprint": input_fingerprint(file) if file is not None and file.is_file() else None,
            "synthesis": report["settings"],
            "rows": report["rows"],
            "seconds": round(seconds, 3),
        }
    )
