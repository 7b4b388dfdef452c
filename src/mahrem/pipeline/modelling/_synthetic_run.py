"""One run of a synthesiser: fit, draw, check what is handed out, and measure it where that was asked for."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from mahrem.learning.synthesis import (
    COMPARED_ROWS,
    FittedSynthesiser,
    Synthesiser,
    SyntheticQuality,
    synthetic_quality,
)
from mahrem.pipeline.modelling._quality import QualityRequest, comparable_table, write_quality
from mahrem.pipeline.modelling._synthetic_report import SyntheticWork, write_words
from mahrem.pipeline.releasing import read_back
from mahrem.release.folders import record_run, staged_release
from mahrem.table import FORMATS, Reading, open_source
from mahrem.table.cells.formulas import restore_formulas, restored_cells
from mahrem.table.writing import write_parts
from mahrem.words import Note


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
        return published_table(self.folder / str(self.report["published"]["file"]))

    @property
    def holds(self) -> bool:
        """Always true: a table that breaks its schema is never handed out."""
        return bool(self.report["holds"])


@dataclass(frozen=True)
class SyntheticRun:
    """A run in which nothing is left to refuse: pay, fit and hand out."""

    source: object
    reading: Reading
    synthesiser: Synthesiser
    work: SyntheticWork
    request: QualityRequest
    step: Callable[[str], None]

    def in_memory(self, began: float) -> SyntheticRelease:
        """Hand out a table that was checked in memory."""
        fitted = self._fitted()
        self.step(Note("stage.sampling"))
        drawn = fitted.sample(self._count(fitted), given=self.work.chosen.given)
        verdict = self.work.checked(drawn.lazy(), drawn.height)
        return SyntheticRelease(
            report=self.work.report(fitted, verdict, None).as_dict(),
            fitted=fitted,
            quality=self._measured(drawn) if self.request.wanted else None,
            seconds=time.perf_counter() - began,
            _table=drawn,
        )

    def written(self, output: Path, began: float, *, force: bool) -> SyntheticRelease:
        """Write a release folder; it gets its name only after what lies in it was read back and checked."""
        with staged_release(output, force=force) as folder:
            fitted = self._fitted()
            self.step(Note("stage.sampling_file"))
            form, given = self.work.chosen.format, self.work.chosen.given
            path = folder / f"data.{form}"
            count = write_parts(fitted.batches(self._count(fitted), given=given), path, form)
            published = read_back(path, self.work.domain.names, form)
            if FORMATS[form].spreadsheets:
                published = published.with_columns(restored_cells(published.collect_schema()))
            report = self.work.report(fitted, self.work.checked(published, count), path.name)
            write_words(folder, report, self.work)
        measured = self._measured(published_table(output / path.name)) if self.request.wanted else None
        seconds = time.perf_counter() - began
        content = report.as_dict()
        _keep_record(self.source, output, content, seconds)
        return SyntheticRelease(
            report=content, fitted=fitted, folder=output, quality=measured, seconds=seconds
        )

    def _fitted(self) -> FittedSynthesiser:
        self.step(Note("stage.fitting"))
        return self.synthesiser.fit(self.source, ledger=self.work.ledger, reading=self.reading)

    def _count(self, fitted: FittedSynthesiser) -> int | None:
        """Say how many rows to draw; to be compared there must be some, even where noise saw fewer."""
        if self.work.chosen.rows is None and self.request.wanted:
            return max(fitted.rows_, COMPARED_ROWS)
        return self.work.chosen.rows

    def _measured(self, drawn: pl.DataFrame) -> SyntheticQuality:
        self.step(Note("stage.quality"))
        domain, target = self.work.domain, self.request.target
        predicts = target is not None and domain[target].kind == "category"
        quality = synthetic_quality(
            comparable_table(self.source, self.reading, domain),
            drawn,
            domain,
            holdout=self.request.holdout,
            target=target if predicts else None,
        )
        if self.request.folder is not None:
            write_quality(quality, self.request.folder, self.work.chosen.language)
        return quality


def published_table(path: Path) -> pl.DataFrame:
    """Read the data file of a release as its readers do, with text as it was before it was disarmed."""
    opened = open_source(path, Reading(header=True))
    table = opened.take(opened.columns)
    return restore_formulas(table) if FORMATS[path.suffix[1:]].spreadsheets else table


def _keep_record(source: object, output: Path, report: Mapping[str, object], seconds: float) -> None:
    file = Path(source) if isinstance(source, str | Path) else None
    about = {"input": None if file is None else file.name, "synthesis": report["settings"]}
    record_run(output, source, {**about, "rows": report["rows"], "seconds": round(seconds, 3)})
