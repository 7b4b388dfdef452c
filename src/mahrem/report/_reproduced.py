"""Pictures of published figures beside ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mahrem.report._catalogue import load_catalogue
from mahrem.report._frontier import standing_alone
from mahrem.report._pictures import AFTER, INK, QUIET, _draw

__all__ = ["bars_svg", "beside_print_svg", "lines_svg"]

PANEL = 220
OTHERS = (
    "#77726a",
    "#b07d2b",
    "#7a5c99",
    "#4c78a8",
    "#a33b2e",
    "#8f9a3a",
    "#c98bb0",
    "#26241f",
    "#a9a49a",
    "#5b8fd1",
    "#d9a441",
)


def beside_print_svg(rows: Sequence[Mapping[str, Any]]) -> str:
    """Draw every published figure against ours, one panel per metric; on the line they are equal.

    Args:
        rows: Each with ``metric``, ``method``, ``published`` and ``ours``; rows without both are left out.
    """
    both = [
        {key: row[key] for key in ("metric", "method", "published", "ours")}
        for row in rows
        if (row["published"] or 0) > 0 and (row["ours"] or 0) > 0  # the scale is one of ratios
    ]
    panels = [_panel(metric, both) for metric in dict.fromkeys(row["metric"] for row in both)]
    spec = {"concat": panels, "columns": 3, "spacing": 28}
    return standing_alone(_draw(spec, "Published figures against ours", load_catalogue("en")))


def _panel(metric: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    values = [
        {**row, "whose": "ours" if str(row["method"]).endswith("(ours)") else "published setting"}
        for row in rows
        if row["metric"] == metric
    ]
    amounts = [float(value[side]) for value in values for side in ("published", "ours")]
    low, high = min(amounts) / 1.2, max(amounts) * 1.2
    scale = {"type": "log", "domain": [low, high], "nice": False}
    axis = {"tickCount": 4, "format": "~s" if high > 10 else ".2~f", "grid": False}
    colours = {"domain": ["published setting", "ours"], "range": [QUIET, AFTER]}
    legend = {"title": None, "orient": "bottom", "labelColor": INK}
    return {
        "title": {"text": metric, "color": INK, "fontSize": 12, "anchor": "start"},
        "width": PANEL,
        "height": PANEL,
        "layer": [
            {
                "data": {"values": [{"at": low}, {"at": high}]},
                "mark": {"type": "line", "color": QUIET, "strokeWidth": 0.8, "strokeDash": [3, 3]},
                "encoding": {
                    "x": {
                        "field": "at",
                        "type": "quantitative",
                        "scale": scale,
                        "axis": {**axis, "title": "published"},
                    },
                    "y": {
                        "field": "at",
                        "type": "quantitative",
                        "scale": scale,
                        "axis": {**axis, "title": "ours"},
                    },
                },
            },
            {
                "data": {"values": values},
                "mark": {"type": "point", "filled": True, "size": 24, "opacity": 0.8},
                "encoding": {
                    "x": {"field": "published", "type": "quantitative", "scale": scale},
                    "y": {"field": "ours", "type": "quantitative", "scale": scale},
                    "color": {"field": "whose", "type": "nominal", "scale": colours, "legend": legend},
                },
            },
        ],
    }


def lines_svg(
    rows: Sequence[Mapping[str, Any]],
    *,
    across: str,
    title: str,
    names: tuple[str, str],
    best: str,
    ratios: bool = False,
) -> str:
    """Draw figures over a setting, one line per method and one panel per data set.

    Args:
        rows: Each with ``dataset``, ``method``, ``ours`` and the setting.
        across: Name of the setting.
        title: What the picture shows, in words.
        names: Titles of the two axes.
        best: The method that stands out.
        ratios: Let equal ratios be equally far apart, where figures grow many times over.
    """
    height = {"type": "log", "nice": False} if ratios else {"zero": False}
    methods = list(dict.fromkeys(str(row["method"]) for row in rows))
    rest = iter(OTHERS * (1 + len(methods) // len(OTHERS)))
    colours = [AFTER if name == best else next(rest) for name in methods]
    legend = {"title": None, "orient": "bottom", "labelColor": INK, "columns": 4}
    panels = []
    for dataset in dict.fromkeys(str(row["dataset"]) for row in rows):
        values = [
            {"at": row[across], "method": row["method"], "ours": row["ours"]}
            for row in rows
            if row["dataset"] == dataset
        ]
        ticks = sorted({value["at"] for value in values})
        panels.append(
            {
                "title": {"text": dataset, "color": INK, "fontSize": 12, "anchor": "start"},
                "width": PANEL,
                "height": 180,
                "data": {"values": values},
                "mark": {"type": "line", "point": {"size": 18}, "strokeWidth": 1.6},
                "encoding": {
                    "x": {
                        "field": "at",
                        "type": "quantitative",
                        "scale": {"type": "log", "domain": [ticks[0], ticks[-1]], "nice": False},
                        "axis": {"title": names[0], "values": ticks, "format": "d", "grid": False},
                    },
                    "y": {
                        "field": "ours",
                        "type": "quantitative",
                        "scale": height,
                        "axis": {"title": names[1], "tickCount": 5, "format": "~g" if ratios else "~f"},
                    },
                    "color": {
                        "field": "method",
                        "type": "nominal",
                        "scale": {"domain": methods, "range": colours},
                        "legend": legend,
                    },
                },
            }
        )
    spec = {"concat": panels, "columns": 3, "spacing": 28}
    return standing_alone(_draw(spec, title, load_catalogue("en")))


def bars_svg(counts: Mapping[float, int], *, title: str, names: tuple[str, str]) -> str:
    """Draw a histogram; ``counts`` gives the number of each bin by where it begins."""
    begins = sorted(counts)
    step = begins[1] - begins[0] if len(begins) > 1 else 1.0
    values = [{"from": begin, "to": begin + step, "count": counts[begin]} for begin in begins]
    spec = {
        "width": 420,
        "height": 200,
        "data": {"values": values},
        "mark": {"type": "rect", "color": AFTER},
        "encoding": {
            "x": {
                "field": "from",
                "type": "quantitative",
                "scale": {"zero": False, "nice": False},
                "axis": {"title": names[0], "grid": False},
            },
            "x2": {"field": "to"},
            "y": {"field": "count", "type": "quantitative", "axis": {"title": names[1], "tickCount": 4}},
            "y2": {"datum": 0},
        },
    }
    return standing_alone(_draw(spec, title, load_catalogue("en")))
