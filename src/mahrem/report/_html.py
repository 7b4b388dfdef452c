"""The report as one page: plain words first, then tables and pictures; nothing is loaded, nothing runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mahrem.report import _pictures, _sections
from mahrem.report._template import load_template
from mahrem.words import NOTHING, Catalogue, load_catalogue

if TYPE_CHECKING:
    from collections.abc import Mapping


__all__ = ["render_html", "summary_parts"]

UTILITY = (
    "classes",
    "published_classes",
    "mean_class_size",
    "c_avg",
    "gcp",
    "gcp_sum",
    "iloss",
    "distortion",
    "dm",
    "suppressed",
)
PICTURES = 24  # a page with more is not read


def render_html(report: Mapping[str, Any], language: str = "en") -> str:
    """Draw a report as a self-contained page.

    Args:
        report: The content of ``report.json``; parts that are not there are left out of the page.
        language: One of :data:`LANGUAGES`.

    Guarantees:
        - The page holds no script and no address, and loads nothing.
        - Every text of the report is escaped.
    """
    catalogue = load_catalogue(language)
    return load_template("report").render(
        **summary_parts(report, language),
        t=catalogue,
        report=report,
        columns=_columns(report, catalogue),
        pictures=_before_and_after(report, catalogue),
        singling=_sections.singling(report, catalogue),
        relations=_sections.relations(report, catalogue),
        learning=_sections.learning(report, catalogue),
        budget=_budget(report, catalogue),
        synthetic=_synthetic(report, catalogue),
        made=_made(report, catalogue),
    )


def _budget(report: Mapping[str, Any], catalogue: Catalogue) -> dict[str, Any]:
    if not report.get("privacy_ledger"):
        return {}
    from mahrem.report._budget import budget

    return budget(report, catalogue)


def _synthetic(report: Mapping[str, Any], catalogue: Catalogue) -> dict[str, Any]:
    if not report.get("synthesis"):
        return dict.fromkeys(("promise", "limits_intro", "limits"))
    from mahrem.report._synthetic import synthetic

    return synthetic(report, catalogue)


def summary_parts(report: Mapping[str, Any], language: str = "en") -> dict[str, Any]:
    """Give what a report says first, in words and pictures of one language, for any page that shows it.

    Args:
        report: The content of ``report.json``, or of an audit.
        language: One of :data:`LANGUAGES`.
    """
    catalogue, quasi = load_catalogue(language), _quasi(report)
    return {
        "verdict": _verdict(report, catalogue),
        "promises": [_promise(promise, catalogue) for promise in report.get("promises", ())],
        "utility": _utility(report, catalogue),
        "overview": _overview(report, catalogue),
        "risk": _sections.risk(report, quasi, catalogue),
        "red_team": _sections.red_team(report, quasi, catalogue),
        "warnings": [_sections.same_in(catalogue, "warning", text) for text in report.get("warnings", ())],
    }


def _quasi(report: Mapping[str, Any]) -> list[str]:
    return [name for name, column in report.get("columns", {}).items() if column.get("role") == "quasi"]


def _verdict(report: Mapping[str, Any], catalogue: Catalogue) -> dict[str, Any]:
    texts, names = catalogue["verdict"], catalogue.names(_quasi(report))
    promises = report.get("promises", ())
    holds = bool(report.get("holds")) and bool(promises)  # a file nobody asked anything of is not a safe one
    crowd = next((promise for promise in promises if promise["model"] == "k-anonymity"), None)
    sentences = []
    if crowd is not None and crowd.get("reached") is not None and names:
        reached = crowd["reached"]
        unit = "people" if report.get("settings", {}).get("subject") else "rows"
        words = {"columns": names, "k": catalogue.number(reached), "unit": catalogue["word"][unit]}
        sentences.append(texts["shared" if reached >= 2 else "alone"].format(**words))
    if report.get("synthesis"):
        sentences.append(catalogue["synthetic"]["lead"])
    if len(promises) > 1:
        kept = sum(bool(promise["holds"]) for promise in promises)
        sentences.append(
            texts["several"].format(kept=catalogue.number(kept), all=catalogue.number(len(promises)))
        )
    counts = {key: catalogue.number(report.get(key)) for key in ("rows", "rows_in", "dropped")}
    facts = [texts["verified"]] if promises else []
    if report.get("rows") is not None and report.get("rows_in") is not None:
        facts.append(texts["rows"].format(**counts))
    if report.get("dropped"):
        facts.append(texts["dropped"].format(**counts))
    return {
        "holds": holds,
        "headline": texts[("kept" if holds else "broken") if promises else "nothing"],
        "lead": " ".join(sentences),
        "facts": facts,
    }


def _promise(promise: Mapping[str, Any], catalogue: Catalogue) -> dict[str, Any]:
    model, column = str(promise["model"]), promise.get("column")
    broken = {
        "classes": catalogue.number(promise.get("violating_classes")),
        "rows": catalogue.number(promise.get("violating_rows")),
    }
    holds = bool(promise["holds"])
    return {
        "model": model,
        "about": catalogue["word"]["about"].format(column=column) if column else "",
        "meaning": catalogue["model"].get(model, ""),
        "wanted": _plain(promise.get("wanted"), catalogue),
        "reached": _plain(promise.get("reached"), catalogue),
        "holds": holds,
        "violations": "" if holds else catalogue["promise"]["violations"].format(**broken),
    }


def _columns(report: Mapping[str, Any], catalogue: Catalogue) -> list[dict[str, Any]]:
    columns, settings = report.get("columns", {}), report.get("settings", {})
    removed, kept = (
        {name: {"role": role} for name in settings.get(role, ()) if name not in columns}
        for role in ("identifier", "insensitive")
    )
    return [
        {
            "name": name,
            "role": catalogue["role"].get(column.get("role"), column.get("role", "")),
            "why": catalogue["why"].get(column.get("role"), ""),
            "done": _done(name, column, report, catalogue),
            "cells": _cells(column, report, catalogue),
            "loss": catalogue.percent(column["gcp"]) if column.get("gcp") is not None else "",
        }
        for name, column in {**removed, **columns, **kept}.items()
    ]


def _done(name: str, column: Mapping[str, Any], report: Mapping[str, Any], catalogue: Catalogue) -> str:
    usual = {"identifier": "removed", "quasi": "generalised"}.get(column.get("role", ""), "untouched")
    done = str(column.get("recoding") or usual)
    if name in report.get("settings", {}).get("pseudonym", ()):
        done = "pseudonym"
    elif done == "intervals" and column.get("kind") == "date":
        done = "dates"
    if column.get("generalised_cells") == 0 and column.get("suppressed_cells") == 0:
        done = "untouched"
    return str(catalogue["done"].get(done, done))


def _cells(column: Mapping[str, Any], report: Mapping[str, Any], catalogue: Catalogue) -> str:
    rows = report.get("rows")
    counts = {key: column.get(f"{key}_cells") for key in ("generalised", "suppressed")}
    if not rows or None in counts.values() or not any(counts.values()):
        return ""
    shares = {key: catalogue.percent(float(count or 0) / rows) for key, count in counts.items()}
    return str(catalogue["done"]["cells"].format(**shares))


def _utility(report: Mapping[str, Any], catalogue: Catalogue) -> list[dict[str, str]]:
    figures = report.get("utility", {})
    return [
        {
            "name": catalogue["utility"][key][0],
            "key": key,
            "value": catalogue.number(figures[key]),
            "meaning": catalogue["utility"][key][1],
        }
        for key in UTILITY
        if figures.get(key) is not None
    ]


def _overview(report: Mapping[str, Any], catalogue: Catalogue) -> list[dict[str, str]]:
    texts = catalogue["picture"]
    drawn = []
    if report.get("class_sizes"):
        drawn.append(("sizes", _pictures.class_sizes(report["class_sizes"], catalogue)))
    losses = {
        name: column["gcp"]
        for name, column in report.get("columns", {}).items()
        if column.get("role") == "quasi" and column.get("gcp") is not None
    }
    if losses:
        losses = dict(sorted(losses.items(), key=lambda item: -item[1])[:PICTURES])
        drawn.append(("loss", _pictures.loss_per_column(losses, catalogue)))
    return [
        {"title": texts[f"{key}_title"], "svg": picture, "caption": texts[f"{key}_caption"]}
        for key, picture in drawn
    ]


def _before_and_after(report: Mapping[str, Any], catalogue: Catalogue) -> dict[str, Any]:
    drawn: list[dict[str, str]] = []
    floor = None
    for name, column in report.get("columns", {}).items():
        counts = column.get("distribution")
        if not counts or len(drawn) == PICTURES:
            continue
        floor = counts.get("floor", floor)
        unknown = [catalogue.number(amount) for amount in counts.get("unknown", (0, 0))]
        drawn.append(
            {
                "title": name,
                "caption": catalogue["picture"]["column_short"].format(column=name),
                "svg": _pictures.before_and_after(name, counts, catalogue),
                "note": catalogue["picture"]["unknown_note"].format(before=unknown[0], after=unknown[1])
                if any(counts.get("unknown", ()))
                else "",
            }
        )
    note = catalogue["picture"]["hidden_note"].format(floor=catalogue.number(floor)) if floor else ""
    return {"figures": drawn, "note": note}


def _made(report: Mapping[str, Any], catalogue: Catalogue) -> list[tuple[str, str]]:
    texts = catalogue["made"]
    chosen = [str(report[name]) for name in ("method", "method_reason") if report.get(name)]
    said = {**report, "method": ": ".join(chosen)}
    facts = [
        (texts[key], str(said[name]))
        for key, name in (
            ("source", "source"),
            ("method", "method"),
            ("created", "created"),
            ("version", "mahrem"),
        )
        if said.get(name)
    ]
    missing = report.get("missing") or {}
    if missing.get("policy"):
        policy = catalogue["missing"].get(missing["policy"], missing["policy"])
        counts = {key: catalogue.number(missing.get(key, 0)) for key in ("dropped", "suppressed")}
        facts.append((texts["missing"], f"{policy}; {catalogue['missing']['counts'].format(**counts)}"))
    if report.get("seconds") is not None:
        facts.append(
            (
                texts["seconds"],
                catalogue["word"]["seconds"].format(number=catalogue.number(report["seconds"], 2)),
            )
        )
    facts += [(str(name), _plain(value, catalogue)) for name, value in report.get("settings", {}).items()]
    return facts


def _plain(value: Any, catalogue: Catalogue) -> str:
    """Write any value of a report for people."""
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return str(catalogue["word"]["true" if value else "false"])
    if isinstance(value, int | float):
        return catalogue.number(value, 4)
    if isinstance(value, list | tuple):
        return ", ".join(_plain(entry, catalogue) for entry in value) or str(catalogue["word"]["nothing"])
    if isinstance(value, dict):
        parts = (
            f"{key}: {_plain(entry, catalogue)}" if entry not in ({}, ()) else str(key)
            for key, entry in value.items()
        )
        return "; ".join(parts) or str(catalogue["word"]["nothing"])
    return str(value)
