"""How often attacks succeeded, beside chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mahrem.charts._frame import (
    FIRST,
    SECOND,
    WIDTH,
    Drawing,
    framed,
    measured,
    not_empty,
    share_axis,
    tooltip,
)
from mahrem.words import NOTHING, Catalogue, load_catalogue

_BAND = 34  # pixels an attack


def draw_attacks(report: Mapping[str, Any], language: str = "en") -> Drawing:
    """Draw the rate of every attack that was tried, where the true one lies, and what chance reaches.

    Args:
        report: What a red team reports.
        language: Of the words.
    """
    words = load_catalogue(language)
    tried = [one for one in report["findings"] if one["rate"] is not None]
    points = list(_points(not_empty("attack that was tried", tried), words))
    attack, rate, chance = (words.say(f"red_team.{name}") for name in ("attack", "rate", "baseline"))
    by_row = {"field": "attack", "type": "nominal", "sort": None, "axis": {"title": None}}
    across = measured("rate", share_axis(rate, words), scale={"domain": [0, 1]})
    legend = {"field": "what", "type": "nominal", "title": None, "scale": {"range": [FIRST, SECOND]}}
    tips = tooltip(("attack", attack), ("rate_told", rate), ("baseline_told", chance), ("lies_told", "±"))
    between = {"x": {**across, "field": "low"}, "x2": {"field": "high"}, "y": by_row}
    body = {
        "data": {"values": points},
        "width": WIDTH,
        "height": {"step": _BAND},
        "layer": [
            {"mark": {"type": "rule", "color": FIRST, "strokeWidth": 2}, "encoding": between},
            {
                "transform": [{"calculate": _text(rate), "as": "what"}],
                "mark": {"type": "point", "filled": True, "size": 80, "opacity": 1},
                "encoding": {"x": across, "y": by_row, "color": legend, "tooltip": tips},
            },
            {
                "transform": [{"calculate": _text(chance), "as": "what"}],
                "mark": {"type": "tick", "thickness": 3, "opacity": 1},
                "encoding": {
                    "x": {**across, "field": "baseline"},
                    "y": by_row,
                    "color": legend,
                    "tooltip": tips,
                },
            },
        ],
    }
    under = words.say("chart.lies", confidence=tried[0]["confidence"])
    return framed(words.say("picture.red_team_title"), words, body, under=under)


def _text(words: str) -> str:
    """Write a text as an expression of Vega."""
    return "'" + words.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _points(findings: Sequence[Mapping[str, Any]], words: Catalogue) -> Iterator[Drawing]:
    seen: Counter[str] = Counter()
    columns = max((one["details"].get("known", 0) for one in findings), default=0)  # linkage tries them all
    for one in findings:
        name = _name(one, columns, words)
        seen[name] += 1
        low, high = one["interval"] or (one["rate"], one["rate"])
        between = words.say("red_team.interval", low=low, high=high)
        yield {
            "attack": name if seen[name] == 1 else f"{name} ({seen[name]})",  # each has a line of its own
            "rate": one["rate"],
            "low": low,
            "high": high,
            "baseline": one["baseline"],
            "rate_told": words.percent(one["rate"]),
            "baseline_told": words.percent(one["baseline"]),
            "lies_told": between if one["interval"] else NOTHING,
        }


def _name(finding: Mapping[str, Any], columns: int, words: Catalogue) -> str:
    """Say what an attack is called; one without words has its own name."""
    name, details = str(finding["attack"]), finding["details"]
    key = "linkage-noisy" if name == "linkage" and details.get("noise") else name
    if key not in words["attack"]:
        return name
    values = {"column": "", "known": None, **details, "columns": columns}
    return words.say(f"attack.{key}", 0, **values).rstrip(": ")
