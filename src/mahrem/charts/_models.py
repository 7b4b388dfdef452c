"""What a private model was measured to do, and what an audit shows of its promise."""

from __future__ import annotations

from collections.abc import Mapping
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
    titled,
    tooltip,
)
from mahrem.words import Catalogue, load_catalogue

_BAND = 40


def draw_model(report: Mapping[str, Any], language: str = "en") -> Drawing:
    """Draw the figure measured on held-out rows with its error, and the audited bound beside the claim.

    Args:
        report: What a trained model says of itself, as JSON has it.
        language: Of the words.
    """
    words = load_catalogue(language)
    metrics, audit = report.get("metrics"), report.get("audit")
    parts = [_measured(metrics, words)] if metrics and metrics["value"] is not None else []
    parts += [_audited(audit, words)] if audit else []
    body = {"vconcat": not_empty("held-out figure and no audit", parts)}
    return framed(str(report["model"]), words, body)


def _measured(metrics: Mapping[str, Any], words: Catalogue) -> Drawing:
    value, off = metrics["value"], metrics.get("error") or 0.0
    name = words.say("quality.accuracy") if metrics["metric"] == "accuracy" else str(metrics["metric"])
    point = {
        "name": name,
        "value": value,
        "low": max(0.0, value - off),
        "high": min(1.0, value + off),
        "told": words.percent(value),
    }
    across = measured("value", share_axis(name, words), scale={"domain": [0, 1]})
    row = {"field": "name", "type": "nominal", "axis": {"title": None}}
    # What was measured without noise is for those who may see the rows anyway.
    under = None if metrics["private"] else words.say("quality.private")
    return {
        "title": titled(words.say("chart.measured"), under),
        "data": {"values": [point]},
        "width": WIDTH,
        "height": {"step": _BAND},
        "layer": [
            {
                "mark": {"type": "bar", "color": FIRST},
                "encoding": {"x": across, "y": row, "tooltip": tooltip(("name", ""), ("told", name))},
            },
            {
                "mark": {"type": "rule", "color": SECOND, "strokeWidth": 2},
                "encoding": {"x": {**across, "field": "low"}, "x2": {"field": "high"}, "y": row},
            },
        ],
    }


def _audited(audit: Mapping[str, Any], words: Catalogue) -> Drawing:
    bounds = {"claimed": audit["claimed"], "shown": audit["epsilon"], "ceiling": audit["ceiling"]}
    points = [
        {"name": words.say(f"chart.audit_{key}"), "epsilon": value, "told": words.number(value, 4)}
        for key, value in bounds.items()
    ]
    return {
        "title": titled(words.say("chart.audited")),
        "data": {"values": points},
        "width": WIDTH,
        "height": {"step": _BAND},
        "mark": {"type": "bar", "color": FIRST},
        "encoding": {
            "x": measured("epsilon", {"title": "ε", "format": "~g"}),
            "y": {"field": "name", "type": "nominal", "sort": None, "axis": {"title": None}},
            "tooltip": tooltip(("name", ""), ("told", "ε")),
        },
    }
