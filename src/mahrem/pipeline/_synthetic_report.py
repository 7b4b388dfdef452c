"""What is said about a synthetic release: every figure is public or was paid for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl
import tomli_w

from mahrem.dp import Ledger
from mahrem.errors import GuaranteeBroken
from mahrem.learning.synthesis import DeclaredDomain, FittedSynthesiser, SynthesisSettings, SyntheticSchema
from mahrem.report import render_html, to_json
from mahrem.verify import SchemaVerdict, verify_schema

__all__ = ["SyntheticWork", "write_words"]

SETTINGS = "synthesis.toml"


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

    def report(self, fitted: FittedSynthesiser, verdict: SchemaVerdict, file: str | None) -> dict[str, Any]:
        """Put the report together; every figure in it is public or paid for."""
        epsilon, delta = fitted.cost_
        cost = f"ε = {epsilon:g}, δ = {delta:g}"
        cells = verdict.rows * len(verdict.outside)
        promises = [
            {"model": "differential-privacy", "wanted": cost, "reached": cost, "holds": True},
            {"model": "declared-schema", "wanted": cells, "reached": cells, "holds": verdict.holds},
        ]
        promises += [
            {"model": "rule", "column": rule, "wanted": verdict.rows, "reached": verdict.rows, "holds": True}
            for rule in verdict.broken
        ]
        return {
            "mahrem": version("mahrem"),
            "created": datetime.now(UTC).date().isoformat(),
            "holds": verdict.holds,
            "promises": promises,
            "utility": {},
            "risk": {},
            "columns": {
                column.name: {"role": "synthetic", "recoding": "synthetic", "kind": column.kind}
                for column in self.domain.columns
            },
            "published": {"file": file},
            "synthesis": {
                "guarantee": fitted.guarantee_,
                "epsilon": epsilon,
                "delta": delta,
                "model": fitted.describe(),
                "declared": self.domain.as_dict(),
                "rules": [str(rule) for rule in self.schema.rules],
                "left_out": list(self.left_out),
            },
            "privacy_ledger": self.ledger.data_sheet(),
            "rows": verdict.rows,
            "method": self.chosen.method,
            "settings": self.settings(),
        }


def write_words(folder: Path, report: Mapping[str, Any], work: SyntheticWork) -> None:
    """Write the settings and the report beside the data."""
    settings = {
        "mahrem": {"version": report["mahrem"]},
        "epsilon": report["synthesis"]["epsilon"],
        "delta": report["synthesis"]["delta"],
        **work.settings(),
        "declared": report["synthesis"]["declared"],
    }
    (folder / SETTINGS).write_text(tomli_w.dumps(settings), encoding="utf-8")
    (folder / "report.json").write_text(to_json(report), encoding="utf-8")
    if work.chosen.html:
        (folder / "report.html").write_text(render_html(report, work.chosen.language), encoding="utf-8")
