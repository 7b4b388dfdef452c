"""What a ledger promises: private answers, and rows that were made up."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mahrem.report._report import Report
from mahrem.report.sections import FactsView, Section, ValueRow
from mahrem.words import Catalogue


@dataclass(frozen=True, kw_only=True)
class BudgetView:
    """The data sheet of a ledger in words."""

    intro: str
    rows: tuple[ValueRow, ...]
    public: tuple[ValueRow, ...]
    curve: tuple[tuple[str, str], ...]  # delta, epsilon
    notes: tuple[str, ...]


def draw_budget(report: Report, words: Catalogue) -> BudgetView:
    """Lay out the data sheet of a ledger."""
    sheet = report.privacy_ledger or {}
    rule = sheet.get("composition", "pld") if sheet["total"]["delta"] else "sum"
    made_up = "_synthetic" if report.synthesis else ""  # such a release was itself paid for
    spent, delta = sheet["spent"]["epsilon"], sheet["total"]["delta"]
    notes = [words.say("budget.adaptive")] if rule == "pld" else []
    notes.append(words.say(f"budget.alone{made_up}"))
    if spent is not None and math.isfinite(spent):
        between = words.say(f"budget.between_{_relation(sheet)}")
        sure = {"between": between, "sure": 1 / (1 + math.exp(-spent)), "delta": _small(delta, words)}
        notes.insert(0, words.say("budget.mostly_sure" if delta else "budget.sure", **sure))
    curve = sheet["curve"].items() if sheet["events"] else ()
    return BudgetView(
        intro=words.say(f"budget.intro{made_up}"),
        rows=tuple(
            ValueRow(
                name=words.say(f"budget.{key}", 0),
                meaning=words.say(f"budget.{key}", 1, rule=rule),
                value=value,
            )
            for key, value in _figures(sheet, words)
        ),
        public=tuple(
            ValueRow(name=name, value=_known(known, words))
            for name, known in sheet["public"]["columns"].items()
        ),
        curve=tuple((_small(float(delta), words), words.number(epsilon, 4)) for delta, epsilon in curve),
        notes=tuple(notes),
    )


def _relation(sheet: Mapping[str, Any]) -> str:
    return str(sheet["relation"].replace("-", "_"))


def _figures(sheet: Mapping[str, Any], words: Catalogue) -> Iterator[tuple[str, str]]:
    unit, delta = sheet["unit"], sheet["total"]["delta"]

    def cost(epsilon: float | None) -> str:
        return f"ε = {words.number(epsilon, 4)}" + (f", δ = {_small(delta, words)}" if delta else "")

    yield "relation", words.say(f"budget.relation_{_relation(sheet)}")
    person = words.say("budget.unit_person", rows=unit["rows_per_person"])
    yield "unit", words.say("budget.unit_row") if unit["subject"] is None else person
    yield "total", cost(sheet["total"]["epsilon"])
    yield "spent", cost(sheet["spent"]["epsilon"])
    yield "left", f"ε = {words.number(sheet['remaining']['epsilon'], 4)}"
    for key in ("pld", "basic", "rdp"):
        if sheet["spent"][key] is not None:
            yield key, f"ε = {words.number(sheet['spent'][key], 4)}"
    yield "events", words.number(sheet["events"])
    if sheet["mechanisms"]:
        yield "mechanisms", ", ".join(sheet["mechanisms"])
    if sheet["public"]["rows"] is not None:
        yield "rows", words.number(sheet["public"]["rows"])
    yield "since", sheet["since"]
    yield "seal", sheet["seal"][:16]


def _known(known: Mapping[str, Any], words: Catalogue) -> str:
    parts = []
    if known["lower"] is not None:
        origin = "found" if known["origin"] == "found" else "declared"
        parts.append(words.say(f"budget.{origin}", lower=known["lower"], upper=known["upper"]))
    if known["missing"] is not None:
        parts.append(words.say("budget.missing", value=known["missing"]))
    if known["categories"] is not None:
        parts.append(words.say("budget.categories", values=len(known["categories"])))
    return "; ".join(parts)


def _small(delta: float, words: Catalogue) -> str:
    """Write a delta; decimals of a small one are powers of ten."""
    return f"{delta:g}".replace(".", words.say("format.decimal"))


def draw_synthetic(report: Report, words: Catalogue) -> FactsView:
    """Lay out what is public about the model."""
    return FactsView(
        intro=words.say("synthetic.intro"),
        rows=tuple(
            ValueRow(name=words.say(f"synthetic.{key}"), value=value)
            for key, value in _synthetic_facts(report.synthesis or {}, words)
        ),
        notes=(words.say("synthetic.not_measured"),),
    )


def _synthetic_facts(synthesis: Mapping[str, Any], words: Catalogue) -> Iterator[tuple[str, str]]:
    yield "guarantee", synthesis["guarantee"]
    model = synthesis.get("model", {})
    together = [clique for clique in model.get("cliques", ()) if len(clique) > 1]
    if together:
        yield "cliques", "; ".join(" \N{MULTIPLICATION SIGN} ".join(clique) for clique in together)
    if model.get("groups"):
        sizes = (f"{name}: {words.number(size)}" for name, size in model["groups"].items())
        yield "groups", ", ".join(sizes)
    noise = model.get("deviation")
    if noise and noise.get("cliques") is not None:
        yield (
            "deviation",
            words.say("synthetic.deviation_value", columns=noise["columns"], cliques=noise["cliques"]),
        )
    for key in ("rules", "left_out"):
        if synthesis.get(key):
            yield key, ", ".join(synthesis[key])


SECTIONS = (
    Section(
        name="budget",
        place=110,
        draw=draw_budget,
        needs=("privacy_ledger",),
        part="budget",
        synthetic_heading=True,
    ),
    Section(name="synthetic", place=100, draw=draw_synthetic, needs=("synthesis",), part="facts"),
)
