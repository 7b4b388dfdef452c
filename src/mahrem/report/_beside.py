"""Pictures that lay two figures side by side: bars of shares, and dots on a line from -1 to 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mahrem.report._pictures import AFTER, BEFORE, INK, LINE, QUIET, _draw, _share

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mahrem.report._catalogue import Catalogue

__all__ = ["correlations", "shares"]

WIDTH = 270


def shares(
    rows: Sequence[tuple[str, Sequence[tuple[float | None, str]]]], title: str, catalogue: Catalogue
) -> str:
    """Draw one or two shares under each label: grey first, then coloured; one alone is coloured.

    Args:
        rows: For each label its shares, each with the text written at its end; a share of None has no bar.
        title: What the picture shows, in words.
        catalogue: The language.
    """
    values = [
        {"place": place, "side": side + 2 - len(pair), "share": share or 0.0, "text": text}
        for place, (_, pair) in enumerate(rows)
        for side, (share, text) in enumerate(pair)
    ]
    labels = [{"place": place, "label": label} for place, (label, _) in enumerate(rows)]
    two = any(len(pair) > 1 for _, pair in rows)
    inner = 0.4 if two else 0.5
    bars = {
        "y": _bands(inner),
        **({"yOffset": {"field": "side", "sort": [0, 1]}} if two else {}),
        "x": _share("share", catalogue),
    }
    colour = {"field": "side", "scale": {"domain": [0, 1], "range": [BEFORE, AFTER]}, "legend": None}
    layers = [
        {
            "data": {"values": values},
            "mark": {"type": "bar"},
            "encoding": {**bars, "color": {**colour, "type": "nominal"}},
        },
        {
            "data": {"values": values},
            "mark": {"type": "text", "align": "left", "dx": 4, "color": INK, "fontSize": 11},
            "encoding": {**bars, "text": {"field": "text"}},
        },
        _labels(labels, inner),
    ]
    return _draw({"width": WIDTH, "height": {"step": 15 if two else 36}, "layer": layers}, title, catalogue)


def correlations(pairs: Sequence[Mapping[str, Any]], title: str, catalogue: Catalogue) -> str:
    """Draw each pair of columns as two dots from -1 to 1, joined by a line."""
    values, ends, labels = [], [], []
    for place, pair in enumerate(pairs):
        first, second = pair["columns"]
        labels.append(
            {"place": place, "label": catalogue["relations"]["pair"].format(first=first, second=second)}
        )
        after = pair["after"]
        ends.append(
            {"place": place, "from": pair["before"], "to": pair["before"] if after is None else after}
        )
        values.append({"place": place, "at": pair["before"], "side": 0})
        if after is not None:
            values.append({"place": place, "at": after, "side": 1})
    ticks = [-1, -0.5, 0, 0.5, 1]
    axis = {
        "title": None,
        "values": ticks,
        "domain": False,
        "ticks": False,
        "labelPadding": 4,
        "gridColor": LINE,
    }
    across = {"type": "quantitative", "scale": {"domain": [-1, 1]}, "axis": axis}
    colour = {"field": "side", "scale": {"domain": [0, 1], "range": [BEFORE, AFTER]}, "legend": None}
    layers = [
        {
            "data": {"values": ends},
            "mark": {"type": "rule", "color": QUIET, "strokeWidth": 1.5},
            "encoding": {"y": _bands(), "x": {"field": "from", **across}, "x2": {"field": "to"}},
        },
        {
            "data": {"values": values},
            "mark": {"type": "circle", "size": 90, "opacity": 1},
            "encoding": {
                "y": _bands(),
                "x": {"field": "at", **across},
                "color": {**colour, "type": "nominal"},
            },
        },
        _labels(labels),
    ]
    return _draw({"width": WIDTH, "height": {"step": 36}, "layer": layers}, title, catalogue)


def _bands(inner: float = 0.5) -> dict[str, Any]:
    """Give every row a band with room for its label above: at 400 pixels there is none beside it."""
    scale = {"paddingInner": inner, "paddingOuter": inner}
    return {"field": "place", "type": "nominal", "sort": None, "axis": None, "scale": scale}


def _labels(labels: Sequence[Mapping[str, Any]], inner: float = 0.5) -> dict[str, Any]:
    return {
        "data": {"values": list(labels)},
        "mark": {
            "type": "text",
            "align": "left",
            "baseline": "bottom",
            "dy": -2,
            "color": INK,
            "fontSize": 12,
            "limit": WIDTH + 20,
        },
        "encoding": {
            "y": {**_bands(inner), "bandPosition": 0},
            "x": {"value": 0},
            "text": {"field": "label"},
        },
    }
