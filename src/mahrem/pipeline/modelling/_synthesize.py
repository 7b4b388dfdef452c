"""Synthetic releases: a table and a ledger in, a verified folder of made-up rows out."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Unpack

from mahrem.check import extra
from mahrem.dp import Ledger
from mahrem.errors import InvalidParameter, in_our_words
from mahrem.files import refuse_short_key
from mahrem.learning.synthesis import (
    SynthesisKeywords,
    SynthesisSettings,
    SyntheticSchema,
    make_synthesiser,
    refuse_overlap,
)
from mahrem.pipeline.modelling._quality import QualityRequest, comparable_table
from mahrem.pipeline.modelling._synthetic_report import SyntheticWork
from mahrem.pipeline.modelling._synthetic_run import SyntheticRelease, SyntheticRun
from mahrem.release.decisions import ReadingSettings, reading_from
from mahrem.settings import read_settings, settings_of
from mahrem.table import hold, open_source, refuse_too_large
from mahrem.words import Note


class SynthesizeKeywords(SynthesisKeywords, ReadingSettings, total=False):
    """How to make the table, and how the source is read."""


@in_our_words
def synthesize(
    source: object,
    *,
    ledger: str | Path | Ledger,
    epsilon: float,
    delta: float,
    output: str | Path | None = None,
    force: bool = False,
    progress: Callable[[str], None] | None = None,
    **settings: Unpack[SynthesizeKeywords],
) -> SyntheticRelease:
    """Make a synthetic table with differential privacy.

    Args:
        source: A frame, a file or a database: the one the ledger was made for.
        ledger: The ledger that pays and knows the schema (bounds, declared values), or its path.
        epsilon: What it may cost.
        delta: The same; far below 1/rows.
        output: Write a release folder there; without it the table is only checked in memory.
        force: Replace an earlier release under ``output``.
        progress: Called with the name of each stage as it begins.
        **settings: How to make the table, every name of
            :class:`~mahrem.learning.synthesis.SynthesisKeywords`; how the source is read, every name of
            :class:`~mahrem.release.decisions.ReadingSettings`.

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
    book, known = Ledger.of(ledger), settings_of(SynthesisSettings)
    reading = reading_from({name: value for name, value in settings.items() if name not in known})
    own = read_settings(known, {name: value for name, value in settings.items() if name in known})
    chosen = SynthesisSettings(epsilon=epsilon, delta=delta, **own)
    schema = SyntheticSchema.of(chosen)
    synthesiser = make_synthesiser(
        chosen.method,
        epsilon=epsilon,
        delta=delta,
        target=chosen.target,
        schema=schema,
        **chosen.options,
    )
    step = progress or (lambda _: None)
    step(Note("stage.reading"))
    source = hold(source)
    reading = book.facts.read_as(reading)
    opened = open_source(source, reading)
    columns = [name for name in opened.columns if name != book.unit.subject]
    work = SyntheticWork.of(book, chosen, schema, columns)
    request = QualityRequest.of(
        chosen.quality, chosen.holdout, chosen.target, output, reading=reading, domain=work.domain
    )
    request.refuse_few(chosen.rows, opened.rows if request.wanted else None)
    if request.holdout is not None:
        refuse_overlap(comparable_table(source, reading, work.domain), request.holdout, work.domain)
    if output is not None:
        refuse_short_key()  # before anybody pays
    if output is not None and chosen.format == "xlsx":
        counted = book.facts.rows if book.unit.subject is None else None  # else it counts people
        _refuse_sheet(counted if chosen.rows is None else chosen.rows, len(work.domain.columns))
    run = SyntheticRun(source, reading, synthesiser, work, request, step)
    with book.cost_told():
        return run.in_memory(began) if output is None else run.written(Path(output), began, force=force)


def _refuse_sheet(rows: int | None, columns: int) -> None:
    """Refuse an XLSX file that could not be written; nobody pays for it."""
    if find_spec("xlsxwriter") is None:
        raise extra("excel", needed_for="writing XLSX")
    if rows is None:
        raise InvalidParameter(
            "format='xlsx' holds 1,048,575 rows, and how many the table has is private: "
            "say rows, or write CSV or Parquet"
        )
    refuse_too_large("xlsx", rows, columns)
