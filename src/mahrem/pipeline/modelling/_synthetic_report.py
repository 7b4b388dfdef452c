"""What is said about a synthetic release: every figure is public or was paid for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import tomli_w

from mahrem.disclosed import paid, published
from mahrem.dp import Ledger
from mahrem.errors import GuaranteeBroken
from mahrem.learning.synthesis import DeclaredDomain, FittedSynthesiser, SynthesisSettings, SyntheticSchema
from mahrem.report import Report, ReportColumn, ReportPromise, render_html, stamp, to_json
from mahrem.verify import SchemaVerdict, verify_schema

SYNTHESIS = "synthesis.toml"


@dataclass(frozen=True)
class SyntheticWork:
    """What is public about a run."""

    ledger: Ledger
    chosen: SynthesisSettings
    schema: SyntheticSchema
    domain: DeclaredDomain
    left_out: Sequence[str]

    @classmethod
    def of(
        cls, ledger: Ledger, chosen: SynthesisSettings, schema: SyntheticSchema, columns: Sequence[str]
    ) -> SyntheticWork:
        """Put together what is public about a table with these columns; refuses what does not fit."""
        domain = schema.domain(ledger.facts, columns)
        schema.refuse_given(domain, chosen.given)
        return cls(ledger, chosen, schema, domain, [name for name in columns if name not in domain.names])

    def checked(self, published: pl.LazyFrame, rows: int) -> SchemaVerdict:
        """Check what is published against what was declared."""
        verdict = verify_schema(
            published, self.domain.as_dict(), rows=rows, rules=[str(rule) for rule in self.schema.rules]
        )
        if not verdict.holds:
            outside = sum(verdict.outside.values())
            raise GuaranteeBroken(
                f"the synthetic table breaks its schema: {outside} cells are not declared, "
                f"{sum(verdict.broken.values())} rows break a rule; please report this"
            )
        return verdict

    def settings(self) -> dict[str, Any]:
        """Say how it was made, for people and for the next run."""
        chosen = self.chosen
        target = {"target": chosen.target} if chosen.target else {}
        given = {name: str(value) for name, value in chosen.given.items()}
        return {
            "method": chosen.method,
            **target,
            "language": chosen.language,
            **self.schema.as_dict(),
            **({"given": given} if given else {}),
        }

    def report(self, fitted: FittedSynthesiser, verdict: SchemaVerdict, file: str | None) -> Report:
        """Put the report together; every figure in it is public or paid for."""
        epsilon, delta = fitted.cost_
        cost = f"ε = {epsilon:g}, δ = {delta:g}"
        cells, rows = verdict.rows * len(verdict.outside), verdict.rows
        return Report(
            **stamp(),
            holds=verdict.holds,
            promises=(
                ReportPromise(model="differential-privacy", wanted=cost, reached=cost, holds=True),
                ReportPromise(
                    model="declared-schema",
                    wanted=published(cells),
                    reached=published(cells),
                    holds=verdict.holds,
                ),
                *(
                    ReportPromise(
                        model="rule",
                        column=rule,
                        wanted=published(rows),
                        reached=published(rows),
                        holds=True,
                    )
                    for rule in verdict.broken
                ),
            ),
            columns={
                column.name: ReportColumn(role="synthetic", recoding="synthetic", kind=column.kind)
                for column in self.domain.columns
            },
            published={"file": file},
            synthesis=paid(
                {
                    "guarantee": fitted.guarantee_,
                    "epsilon": epsilon,
                    "delta": delta,
                    "model": fitted.describe(),
                    "declared": self.domain.as_dict(),
                    "rules": [str(rule) for rule in self.schema.rules],
                    "left_out": list(self.left_out),
                }
            ),
            privacy_ledger=paid(self.ledger.data_sheet()),
            rows=published(rows),
            method=self.chosen.method,
            settings=self.settings(),
        )


def write_words(folder: Path, report: Report, work: SyntheticWork) -> None:
    """Write the settings and the report beside the data."""
    synthesis = report.synthesis or {}
    settings = {
        "mahrem": {"version": report.mahrem},
        "epsilon": synthesis["epsilon"],
        "delta": synthesis["delta"],
        **work.settings(),
        "declared": synthesis["declared"],
    }
    (folder / SYNTHESIS).write_text(tomli_w.dumps(settings), encoding="utf-8")
    (folder / "report.json").write_text(to_json(report.as_dict()), encoding="utf-8")
    if work.chosen.html:
        (folder / "report.html").write_text(render_html(report, work.chosen.language), encoding="utf-8")
