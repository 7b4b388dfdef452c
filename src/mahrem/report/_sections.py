"""Sections of the page that say what could go wrong and what is left: risk, relations, learning, attacks."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from mahrem.report import _beside, _pictures
from mahrem.words import NOTHING, Catalogue, load_catalogue

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["learning", "red_team", "relations", "risk", "same_in", "singling"]

RISKS = ("highest", "average", "share_at_risk", "unique_share", "marketer")
_MODELS = {"gaussian_nb": "naive Bayes"}
SHORT = 46  # characters of a label that fit into a picture


def risk(report: Mapping[str, Any], quasi: Sequence[str], catalogue: Catalogue) -> dict[str, Any]:
    """Lay the figures of risk before and after side by side."""
    after, texts = report.get("risk") or {}, catalogue["risk"]
    keys = [key for key in RISKS if after.get(key) is not None]
    if not keys:
        return {}
    before = after.get("before") or {}
    if "journalist" not in after and "marketer" in keys:
        keys.remove("marketer")  # without a population it is the average again
    threshold = catalogue.percent(after.get("threshold"))
    pairs = {
        texts[key][0]: (before[key], after[key])
        for key in ("highest", "average", "share_at_risk")
        if key in keys and before.get(key) is not None
    }
    rows = [
        {
            "name": texts[key][0],
            "meaning": texts[key][1].format(threshold=threshold),
            "before": _share(before, key, catalogue),
            "after": catalogue.percent(after[key]),
        }
        for key in keys
    ]
    return {
        "intro": texts["intro"].format(columns=catalogue.names(list(quasi))),
        "svg": _pictures.risk(pairs, catalogue) if pairs else "",
        "rows": rows + _population(before, after, catalogue),
        "notes": _risk_notes(report, before, after, catalogue),
    }


def _share(side: Mapping[str, Any], key: str, catalogue: Catalogue) -> str:
    """Write a share; one that was hidden as its upper bound."""
    if side.get(key) is None and key in side and side.get("below") is not None:
        return f"< {catalogue.percent(side['below'])}"
    return catalogue.percent(side.get(key))


def _population(
    before: Mapping[str, Any], after: Mapping[str, Any], catalogue: Catalogue
) -> list[dict[str, str]]:
    texts = catalogue["risk"]
    sides = (before, after)
    rows = []
    if after.get("journalist"):
        figures = [catalogue.percent((side.get("journalist") or {}).get("highest")) for side in sides]
        rows.append(("journalist", figures))
    if after.get("population_uniques"):
        figures = [catalogue.percent((side.get("population_uniques") or {}).get("share")) for side in sides]
        rows.append(("population_share", figures))
    if after.get("k_map") is not None:
        rows.append(("k_map", [catalogue.number(side.get("k_map")) for side in sides]))
    return [
        {"name": texts[key][0], "meaning": texts[key][1], "before": figures[0], "after": figures[1]}
        for key, figures in rows
    ]


def _risk_notes(
    report: Mapping[str, Any], before: Mapping[str, Any], after: Mapping[str, Any], catalogue: Catalogue
) -> list[str]:
    texts, notes = catalogue["risk"], []
    alone = after.get("population_uniques")
    if alone:
        notes.append(texts["estimate"].format(population=catalogue.number(alone.get("population"))))
    if before.get("below") is not None:
        floor = max(int(report.get("settings", {}).get("k") or 1), 3)
        notes.append(texts["hidden"].format(floor=catalogue.number(floor)))
    return notes


def singling(report: Mapping[str, Any], catalogue: Catalogue) -> dict[str, Any]:
    """Say which sets of columns leave people alone in the source."""
    found = (report.get("risk") or {}).get("unique_columns")
    if not found:
        return {}
    texts = catalogue["singling"]
    share = catalogue.percent(found["share"])
    notes = []
    if found.get("sampled"):
        notes.append(texts["sampled"].format(rows=catalogue.number(found["rows"])))
    if not found.get("complete", True):
        notes.append(texts["cut"])
    if not found["sets"]:
        return {"intro": texts["none"].format(share=share), "svg": "", "notes": notes, "caption": ""}
    rows = [
        (_short(catalogue.names(entry["columns"])), [(entry["share"], catalogue.percent(entry["share"]))])
        for entry in found["sets"]
    ]
    title = catalogue["picture"]["singling_title"]
    return {
        "intro": texts["intro"].format(share=share),
        "title": title,
        "svg": _beside.shares(rows, title, catalogue),
        "caption": catalogue["picture"]["singling_caption"],
        "notes": notes,
    }


def relations(report: Mapping[str, Any], catalogue: Catalogue) -> dict[str, Any]:
    """Lay the strongest correlations before and after side by side."""
    pairs = report.get("relations")
    if not pairs:
        return {}
    title = catalogue["picture"]["relations_title"]
    return {
        "intro": catalogue["relations"]["intro"],
        "title": title,
        "svg": _beside.correlations(pairs, title, catalogue),
        "caption": catalogue["picture"]["relations_caption"],
    }


def learning(report: Mapping[str, Any], catalogue: Catalogue) -> dict[str, Any]:
    """Say what a model still learns from the release."""
    found = report.get("learning")
    if not found:
        return {}
    texts, rows, bars = catalogue["learning"], [], []
    for key in ("entropy_loss", "entropy_loss_cells"):
        name, meaning = texts[key]
        rows.append({"name": name, "meaning": meaning, "before": "", "after": catalogue.number(found[key])})
    for model, figures in found.get("scores", {}).items():
        words = _MODELS.get(model, model.replace("_", " "))
        for key, (before, after) in figures.items():
            name, meaning = texts[key]
            write = catalogue.percent if key == "accuracy" else partial(catalogue.number, digits=2)
            both = [write(side) for side in (before, after)]
            rows.append(
                {"name": name, "meaning": meaning.format(model=words), "before": both[0], "after": both[1]}
            )
            if key == "accuracy":
                bars.append((words, [(before, both[0]), (after, both[1])]))
    title = catalogue["picture"]["learning_title"]
    return {
        "intro": texts["intro"].format(target=found["target"]),
        "title": title,
        "svg": _beside.shares(bars, title, catalogue) if bars else "",
        "caption": catalogue["picture"]["learning_caption"],
        "rows": rows,
        "notes": [texts["sampled"].format(rows=catalogue.number(found["rows"]))]
        if found.get("sampled")
        else [],
    }


def red_team(report: Mapping[str, Any], quasi: Sequence[str], catalogue: Catalogue) -> dict[str, Any]:
    """Say what each attack found, in words of the language."""
    found = report.get("red_team")
    if not found or not found.get("findings"):
        return {}
    texts = catalogue["red_team"]
    rows = [_finding(finding, len(quasi), catalogue) for finding in found["findings"]]
    bars = [
        (
            _short(row["name"]),
            [(finding["baseline"], row["baseline"]), (_height(finding), row["rate"])],
        )
        for row, finding in zip(rows, found["findings"], strict=True)
        if finding.get("skipped") is None
    ]
    certain = catalogue.percent(found["findings"][0].get("confidence", 0.95))
    notes = [texts["confidence"].format(confidence=certain)]
    if found.get("sampled"):
        notes.append(texts["sampled"].format(rows=catalogue.number(found["rows"])))
    title = catalogue["picture"]["red_team_title"]
    return {
        "intro": texts["intro"],
        "title": title,
        "svg": _beside.shares(bars, title, catalogue) if bars else "",
        "caption": catalogue["picture"]["red_team_caption"],
        "rows": rows,
        "notes": [*notes, texts["more"]],
    }


def _height(finding: Mapping[str, Any]) -> float | None:
    height: float | None = finding["below"] if finding.get("rate") is None else finding["rate"]
    return height


def _finding(finding: Mapping[str, Any], columns: int, catalogue: Catalogue) -> dict[str, Any]:
    texts, details = catalogue["red_team"], finding.get("details", {})
    noisy = finding["attack"] == "linkage" and details.get("noise")
    key = "linkage-noisy" if noisy else finding["attack"]
    words = {
        "column": details.get("column", ""),
        "known": catalogue.number(details.get("known")),
        "columns": catalogue.number(columns),
        "promised": catalogue.percent(details.get("promised")),
    }
    known = catalogue["attack"].get(key)
    name, meaning = known or (finding["attack"], finding.get("meaning", ""))
    name = name.format(**words).rstrip(": ") if known else name
    if finding.get("skipped") is not None:
        reason = same_in(catalogue, "skipped", finding["skipped"])
        return {
            "name": name,
            "meaning": f"{texts['skipped']}: {reason}",
            "rate": NOTHING,
            "baseline": NOTHING,
            "verdict": texts["skipped"],
            "tone": "quiet",
            "interval": "",
        }
    tone = _tone(finding)
    return {
        "name": name,
        "meaning": meaning.format(**words) if known else meaning,
        "rate": _rate(finding, catalogue),
        "baseline": catalogue.percent(finding["baseline"]),
        "verdict": texts[tone],
        "tone": "look" if tone == "alarming" else "kept",
        "interval": _interval(finding, catalogue),
    }


def _tone(finding: Mapping[str, Any]) -> str:
    """Judge linkage by what was promised, everything else by what is possible without the release."""
    promised = finding.get("details", {}).get("promised")
    interval = finding.get("interval")
    if promised is not None:
        low = interval[0] if interval else 0.0
        return "promised" if low <= promised else "alarming"
    return "alarming" if finding.get("alarming") else "calm"


def _rate(finding: Mapping[str, Any], catalogue: Catalogue) -> str:
    if finding.get("rate") is None:
        return f"< {catalogue.percent(finding.get('below'))}"
    return catalogue.percent(finding["rate"])


def _interval(finding: Mapping[str, Any], catalogue: Catalogue) -> str:
    if not finding.get("interval"):
        return ""
    low, high = (catalogue.percent(end) for end in finding["interval"])
    return str(catalogue["red_team"]["interval"].format(low=low, high=high))


def same_in(catalogue: Catalogue, section: str, english: str) -> str:
    """Say an English sentence of the catalogue in another language; one it does not know stays as it is."""
    for key, text in load_catalogue("en")[section].items():
        if text == english:
            return str(catalogue[section][key])
    return english


def _short(text: str) -> str:
    return text if len(text) <= SHORT else f"{text[: SHORT - 1]}…"
