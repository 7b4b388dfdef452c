"""Bars in groups: the same thing as printed and as it comes out here, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mahrem.report._catalogue import load_catalogue
from mahrem.report._frontier import standing_alone
from mahrem.report._pictures import AFTER, BEFORE, INK, QUIET, _draw

__all__ = ["grouped_svg"]

_WIDTH = 200
_STEP = 9  # height of one bar
_COLOURS = (BEFORE, AFTER, "#b07d2b", QUIET)


def grouped_svg(
    rows: Sequence[Mapping[str, Any]], *, title: str, amount: str, domain: tuple[float, float] | None = None
) -> str:
    """Draw bars in groups, one group for each name and one panel for each part.

    Args:
        rows: Each with ``panel``, ``name``, ``series`` and ``value``.
        title: What the picture shows, in words.
        amount: Title of the axis along the bars.
        domain: From where to where the axis goes; by default from 0 to the longest bar.
    """
    series = list(dict.fromkeys(str(row["series"]) for row in rows))
    low, high = domain or (0.0, max((float(row["value"]) for row in rows), default=1.0) * 1.05)
    colours = {"domain": series, "range": list(_COLOURS[: len(series)])}
    panels = []
    for panel in dict.fromkeys(str(row["panel"]) for row in rows):
        values = [
            {"name": row["name"], "series": row["series"], "value": row["value"], "from": low}
            for row in rows
            if row["panel"] == panel
        ]
        panels.append(
            {
                "title": {"text": panel, "color": INK, "fontSize": 12, "anchor": "start"},
                "width": _WIDTH,
                "height": {"step": _STEP},
                "data": {"values": values},
                "mark": {"type": "bar"},
                "encoding": {
                    "y": {
                        "field": "name",
                        "type": "nominal",
                        "sort": None,
                        "axis": {"title": None, "labelColor": INK, "labelLimit": 130, "ticks": False},
                    },
                    "yOffset": {
                        "field": "series",
                        "type": "nominal",
                        "scale": {"domain": list(dict.fromkeys(value["series"] for value in values))},
                    },
                    "x": {
                        "field": "value",
                        "type": "quantitative",
                        "scale": {"domain": [low, high], "nice": False, "zero": False},
                        "axis": {"title": amount, "tickCount": 5, "format": ".2~f"},
                    },
                    "x2": {"field": "from"},
                    "color": {
                        "field": "series",
                        "type": "nominal",
                        "scale": colours,
                        "sort": series,
                        "legend": {"title": None, "orient": "bottom", "labelColor": INK},
                    },
                },
            }
        )
    spec = {"concat": panels, "columns": 3, "spacing": 28, "resolve": {"scale": {"yOffset": "independent"}}}
    return standing_alone(_draw(spec, title, load_catalogue("en")))
