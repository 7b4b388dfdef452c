"""Crowds that rows hide in, and what methods give up for the risk that is left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mahrem.charts._frame import (
    FIRST,
    HEIGHT,
    MANY,
    WIDTH,
    Drawing,
    framed,
    measured,
    not_empty,
    share_axis,
    tooltip,
)
from mahrem.words import load_catalogue

_DASH = "\N{EN DASH}"


def draw_class_sizes(report: Mapping[str, Any], language: str = "en") -> Drawing:
    """Draw how many rows live in classes of each size.

    Args:
        report: What ``report.json`` says of a release, or an audit of a table.
        language: Of the words.

    Example:
        >>> sizes = [{"from": 5, "to": 5, "classes": 2, "rows": 10}]
        >>> draw_class_sizes({"class_sizes": sizes})["data"]["values"][0]["size"]
        '5'
    """
    words = load_catalogue(language)
    bins = [
        {"size": _span(one["from"], one["to"]), "rows": one["rows"], "told": words.number(one["rows"])}
        for one in not_empty("class sizes", report.get("class_sizes"))
    ]
    size, rows = words.say("axis.class_size"), words.say("axis.rows")
    body = {
        "data": {"values": bins},
        "mark": {"type": "bar", "color": FIRST},
        "width": WIDTH,
        "height": HEIGHT,
        "encoding": {
            "x": {
                "field": "size",
                "type": "ordinal",
                "sort": None,
                "axis": {"title": size, "labelAngle": -45},
            },
            "y": measured("rows", {"title": rows, "format": ",~r"}),
            "tooltip": tooltip(("size", size), ("told", rows)),
        },
    }
    return framed(words.say("picture.sizes_title"), words, body)


def _span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}{_DASH}{last}"


def draw_comparison(comparison: Mapping[str, Any], language: str = "en") -> Drawing:
    """Draw the average risk of every run that kept its promise against the detail it gave up.

    Args:
        comparison: What ``comparison.json`` says.
        language: Of the words.
    """
    words = load_catalogue(language)
    runs = [
        {
            "method": row["method"],
            "k": str(row["k"]),
            "loss": row["gcp"],
            "risk": row["average_risk"],
            "loss_told": words.percent(row["gcp"]),
            "risk_told": words.percent(row["average_risk"]),
        }
        for row in comparison["results"]
        if row["holds"] and row["gcp"] is not None and row["average_risk"] is not None
    ]
    loss, risk = words.say("comparison.loss.gcp"), words.say("risk.average", 0)
    method = {"field": "method", "type": "nominal", "title": words.say("chart.method")}
    body = {
        "data": {"values": not_empty("run that kept its promise", runs)},
        "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
        "width": WIDTH,
        "height": HEIGHT,
        "encoding": {
            "x": measured("loss", share_axis(loss, words)),
            "y": measured("risk", share_axis(risk, words)),
            "color": {**method, "scale": {"range": list(MANY)}},
            "shape": method,
            "tooltip": tooltip(
                ("method", words.say("chart.method")), ("k", "k"), ("loss_told", loss), ("risk_told", risk)
            ),
        },
    }
    return framed(words.say("chart.risk_loss"), words, body, under=words.say("chart.risk_loss_under"))
