"""Synthetic releases: a table and a ledger in, a verified folder of made-up rows out."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Unpack, get_args

from mahrem import check
from mahrem.check import extra
from mahrem.dp import Ledger
from mahrem.errors import InvalidParameter
from mahrem.learning.synthesis import SyntheticSchema, make_synthesiser, refuse_overlap
from mahrem.pipeline._quality import QualityRequest, comparable_table
from mahrem.pipeline._reading import ReadingSettings, reading_from
from mahrem.pipeline._synthetic_report import SyntheticWork
from mahrem.pipeline._synthetic_run import SyntheticRelease, SyntheticRun
from mahrem.table import Format, fits_excel, hold, open_source
from mahrem.words import LANGUAGES

__all__ = ["SyntheticRelease", "synthesize"]


def synthesize(
    source: object,
    *,
    ledger: str | Path | Ledger,
    epsilon: float,
    delta: float,
    method: str = "marginals",
    target: Hashable | None = None,
    rows: int | None = None,
    output: str | Path | None = None,
    columns: Sequence[Hashable] = (),
    missing: Sequence[Hashable] = (),
    kinds: Mapping[Any, str] | None = None,
    dates: Mapping[Any, tuple[str, str]] | None = None,
    cells: Mapping[Any, int | Sequence[float]] | None = None,
    constraints: Sequence[str] = (),
    given: Mapping[Any, Any] | None = None,
    options: Mapping[str, Any] | None = None,
    format: Format = "csv",  # noqa: A002 - the option's name
    language: str = "en",
    force: bool = False,
    html: bool = True,
    quality: bool | str | Path = False,
    holdout: object | None = None,
    progress: Callable[[str], None] | None = None,
    **reading: Unpack[ReadingSettings],
) -> SyntheticRelease:
    """Make a synthetic table with differential privacy.

    Args:
        source: A frame, a file or a database: the one the ledger was made for.
        ledger: The ledger that pays and knows the schema (bounds, declared values), or its path.
        epsilon: What it may cost.
        delta: The same; far below 1/rows.
        method: How: a key of :data:`~mahrem.learning.synthesis.SYNTHESISERS`.
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
        **reading: How the source is read: every name of :class:`~mahrem.pipeline.ReadingSettings`.

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
    how, book = reading_from(reading), Ledger.of(ledger)
    predicted = None if target is None else check.column_name(target=target)
    days = check.by_column(dates or {}, where="dates")
    schema = SyntheticSchema(
        columns=check.column_names(columns=columns),
        missing=check.column_names(missing=missing),
        kinds=check.by_column(kinds or {}, where="kinds"),
        dates={name: (first, last) for name, (first, last) in days.items()},
        cells=check.by_column(cells or {}, where="cells"),
        constraints=tuple(constraints),
    )
    check.one_of(get_args(Format), format=format)
    check.one_of(LANGUAGES, language=language)
    if rows is not None:
        check.at_least(1, rows=check.whole(rows=rows))
    made = make_synthesiser(
        method, epsilon=epsilon, delta=delta, target=predicted, schema=schema, **(options or {})
    )
    step = progress or (lambda _: None)
    step("reading")
    source = hold(source)
    opened = open_source(source, how)
    names = [name for name in opened.columns if name != book.unit.subject]
    conditions = check.by_column(given or {}, where="given")
    work = SyntheticWork.of(book, schema, names, method, predicted, conditions, language)
    request = QualityRequest.of(quality, holdout, predicted, output, reading=how, domain=work.domain)
    request.refuse_few(rows, opened.rows if request.wanted else None)
    if request.holdout is not None:
        refuse_overlap(comparable_table(source, how, work.domain), request.holdout, work.domain)
    if output is not None and format == "xlsx":
        known = book.facts.rows if book.unit.subject is None else None  # else it counts people
        _refuse_sheet(known if rows is None else rows, len(work.domain.columns))
    run = SyntheticRun(source, how, made, work, request, rows, step)
    with book.cost_told():
        if output is None:
            return run.in_memory(began)
        return run.written(Path(output), format, began, force=force, html=html)


def _refuse_sheet(rows: int | None, columns: int) -> None:
    """Refuse an XLSX file that could not be written; nobody pays for it."""
    if find_spec("xlsxwriter") is None:
        raise extra("excel", needed_for="writing XLSX")
    if rows is None:
        raise InvalidParameter(
            "format='xlsx' holds 1,048,575 rows, and how many the table has is private: "
            "say rows, or write CSV or Parquet"
        )
    fits_excel(rows, columns)
