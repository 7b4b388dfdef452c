"""Pictures of a report as SVG text, drawn by Vega-Lite without a browser: no script, no font, no address.

Colours are CSS variables with a fallback, so that one picture follows a light and a dark page.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mahrem.report._catalogue import Catalogue

__all__ = ["before_and_after", "class_sizes", "loss_per_column", "risk"]

BEFORE = "var(--before, #a9a49a)"
AFTER = "var(--after, #2f7f79)"
INK = "var(--ink, currentColor)"
QUIET = "var(--quiet, #77726a)"
CARD = "var(--card, transparent)"
LINE = "var(--line, #88888833)"
WIDTH = 300
DASH = "\N{EN DASH}"


def class_sizes(bins: Sequence[Mapping[str, Any]], catalogue: Catalogue) -> str:
    """Draw how many rows live in classes of each size."""
    values = [{"size": _span(entry), "rows": entry["rows"], "classes": entry["classes"]} for entry in bins]
    encoding = {
        "x": _names("size", catalogue["axis"]["class_size"], angle=-45 if len(values) > 9 else 0),
        "y": _amount("rows", catalogue["axis"]["rows"]),
    }
    bars = {"mark": {"type": "bar", "color": AFTER}, "encoding": encoding}
    return _draw(
        {"height": 170, "data": {"values": values}, **bars}, catalogue["picture"]["sizes_title"], catalogue
    )


def loss_per_column(losses: Mapping[str, float], catalogue: Catalogue) -> str:
    """Draw how much of each quasi-identifier's precision was given up."""
    values = [
        {"column": name, "loss": loss, "text": catalogue.percent(loss)} for name, loss in losses.items()
    ]
    names = _names("column", None)
    names["axis"].update({"labelLimit": 110, "labelFontSize": 12, "labelColor": INK})
    both = {"y": names, "x": _share("loss", catalogue)}
    layers = [
        {
            "mark": {"type": "bar", "color": AFTER, "height": {"band": 0.62}},
            "encoding": both,
        },
        {
            "mark": {"type": "text", "align": "left", "dx": 4, "color": INK, "fontSize": 11},
            "encoding": {**both, "text": {"field": "text"}},
        },
    ]
    spec = {"width": 190, "height": {"step": 30}, "data": {"values": values}, "layer": layers}
    return _draw(spec, catalogue["picture"]["loss_title"], catalogue)


def before_and_after(name: str, distribution: Mapping[str, Any], catalogue: Catalogue) -> str:
    """Draw one quasi-identifier's counts: grey before, coloured line after."""
    title = catalogue["picture"]["column_title"].format(column=name)
    drawn = _word_bars if distribution["kind"] == "words" else _steps
    return _draw(drawn(distribution, catalogue), title, catalogue)


def risk(levels: Mapping[str, tuple[float, float]], catalogue: Catalogue) -> str:
    """Draw re-identification risk before and after; ``levels`` gives both for each label."""
    sides = (catalogue["word"]["before"], catalogue["word"]["after"])
    values = [
        {"measure": label, "side": side, "risk": value, "text": catalogue.percent(value)}
        for label, pair in levels.items()
        for side, value in zip(sides, pair, strict=True)
    ]
    down = _names("measure", None)
    down["axis"].update({"labelLimit": 130, "labelFontSize": 12, "labelColor": INK})
    encoding = {
        "y": {**down, "scale": {"paddingInner": 0.35}},
        "yOffset": {"field": "side", "sort": list(sides)},
        "x": _share("risk", catalogue),
    }
    colour = {"color": {"field": "side", "scale": _scale(sides), "legend": None}}
    layers = [
        {"mark": {"type": "bar"}, "encoding": {**encoding, **colour}},
        {
            "mark": {"type": "text", "align": "left", "dx": 4, "color": INK, "fontSize": 11},
            "encoding": {**encoding, "text": {"field": "text"}},
        },
    ]
    spec = {"width": 150, "height": {"step": 18}, "data": {"values": values}, "layer": layers}
    return _draw(spec, catalogue["picture"]["risk_title"], catalogue)


def _steps(distribution: Mapping[str, Any], catalogue: Catalogue) -> dict[str, Any]:
    edges = distribution["edges"]
    dates = distribution["kind"] == "date"
    pairs = zip(edges[:-1], edges[1:], distribution["before"], distribution["after"], strict=True)
    values = [
        {"from": low, "to": high, "before": before, "after": after} for low, high, before, after in pairs
    ]
    # The line needs a start and an end on the ground, else it hangs in the air.
    corners = [{"at": edges[0], "count": 0.0}]
    for value in values:
        corners += [
            {"at": value["from"], "count": value["after"]},
            {"at": value["to"], "count": value["after"]},
        ]
    corners.append({"at": edges[-1], "count": 0.0})
    kind = (
        {"type": "temporal", "scale": {"type": "utc", "nice": False}} if dates else {"type": "quantitative"}
    )
    scale = {} if dates else {"scale": {"domain": [edges[0], edges[-1]], "nice": False, "zero": False}}
    axis = {"title": None, "grid": False, "tickCount": 5, **({"format": "%Y-%m"} if dates else {})}
    across = {**kind, **scale, "axis": axis}
    up = _amount("before", catalogue["axis"]["rows"])
    return {
        "height": 130,
        "layer": [
            {
                "data": {"values": values},
                "mark": {"type": "rect", "color": BEFORE, "stroke": CARD, "strokeWidth": 1},
                "encoding": {
                    "x": {"field": "from", **across},
                    "x2": {"field": "to"},
                    "y": up,
                    "y2": {"datum": 0},
                },
            },
            {
                "data": {"values": corners},
                "mark": {"type": "line", "color": AFTER, "strokeWidth": 2, "strokeJoin": "round"},
                "encoding": {
                    "x": {"field": "at", **across},
                    "y": {**up, "field": "count"},
                    "order": {"value": 1},
                },
            },
        ],
    }


def _word_bars(distribution: Mapping[str, Any], catalogue: Catalogue) -> dict[str, Any]:
    sides = (catalogue["word"]["before"], catalogue["word"]["after"])
    # Bars are keyed by place: a value that happens to be called "other" stays a bar of its own.
    names = [catalogue["word"]["other"] if label is None else str(label) for label in distribution["labels"]]
    values = [
        {"place": place, "side": side, "count": count}
        for side, counts in zip(sides, (distribution["before"], distribution["after"]), strict=True)
        for place, count in enumerate(counts)
        if distribution["labels"][place] is not None
        or distribution["before"][place]
        or distribution["after"][place]
    ]
    down = _names("place", None)
    down["axis"].update(
        {"labelExpr": f"{_literal(names)}[datum.value]", "labelLimit": 105, "labelColor": INK}
    )
    encoding = {
        "y": {**down, "scale": {"paddingInner": 0.25}},
        "yOffset": {"field": "side", "sort": list(sides)},
        "x": _amount("count", catalogue["axis"]["rows"]),
        "color": {"field": "side", "scale": _scale(sides), "legend": None},
    }
    small = distribution.get("small", ([], []))
    hidden = [
        {"place": place, "side": side, "count": 0}
        for side, places in zip(sides, small, strict=True)
        for place in places
    ]
    mark = catalogue["picture"]["small"].format(floor=catalogue.number(distribution.get("floor")))
    text = {"type": "text", "align": "left", "dx": 3, "fontSize": 9, "color": QUIET}
    without_colour = {name: channel for name, channel in encoding.items() if name != "color"}
    layers = [
        {"data": {"values": values}, "mark": {"type": "bar"}, "encoding": encoding},
        {
            "data": {"values": hidden},
            "mark": text,
            "encoding": {**without_colour, "text": {"value": mark}},
        },
    ]
    return {"width": 210, "height": {"step": 11}, "layer": layers if hidden else layers[:1]}


def _literal(names: Sequence[str]) -> str:
    """Write names as a list in Vega's expression language; characters by number: none can end the string."""
    return (
        "[" + ",".join('"' + "".join(f"\\u{unit:04x}" for unit in _units(name)) + '"' for name in names) + "]"
    )


def _units(name: str) -> list[int]:
    raw = name.encode("utf-16-le", "surrogatepass")
    return [int.from_bytes(raw[place : place + 2], "little") for place in range(0, len(raw), 2)]


def _span(entry: Mapping[str, Any]) -> str:
    return str(entry["from"]) if entry["from"] == entry["to"] else f"{entry['from']}{DASH}{entry['to']}"


def _names(field: str, title: str | None, *, angle: int = 0) -> dict[str, Any]:
    axis = {"title": title, "labelAngle": angle, "ticks": False, "domain": False, "labelPadding": 6}
    return {"field": field, "type": "nominal", "sort": None, "axis": axis}


def _amount(field: str, title: str | None) -> dict[str, Any]:
    axis = {
        "title": title,
        "format": ",d",
        "tickCount": 4,
        "domain": False,
        "ticks": False,
        "labelPadding": 4,
    }
    return {"field": field, "type": "quantitative", "axis": axis}


def _share(field: str, catalogue: Catalogue) -> dict[str, Any]:
    amount = _amount(field, None)
    marks = _literal([catalogue.percent(share) for share in (0.0, 0.5, 1.0)])
    amount["axis"].update({"values": [0, 0.5, 1], "labelExpr": f"{marks}[datum.value * 2]"})
    return {**amount, "scale": {"domain": [0, 1]}}


def _scale(sides: tuple[str, str]) -> dict[str, Any]:
    return {"domain": list(sides), "range": [BEFORE, AFTER]}


def _draw(spec: dict[str, Any], title: str, catalogue: Catalogue) -> str:
    """Turn a Vega-Lite description into SVG that may stand inside a page."""
    import vl_convert

    config = {
        "font": "system-ui, sans-serif",
        "view": {"stroke": None},
        "axis": {
            "labelColor": QUIET,
            "titleColor": QUIET,
            "titleFontWeight": "normal",
            "gridColor": LINE,
            "domainColor": QUIET,
            "tickColor": QUIET,
            "labelFontSize": 11,
            "titleFontSize": 11,
        },
    }
    whole = {
        "width": WIDTH,
        **spec,
        "background": None,
        "config": config,
        "padding": {"left": 6, "right": 10, "top": 2, "bottom": 2},
    }
    drawn: str = vl_convert.vegalite_to_svg(
        whole, allowed_base_urls=[], format_locale=catalogue.number_format, time_format_locale=None
    )
    return _inline(drawn, title)


def _inline(drawn: str, title: str) -> str:
    """Drop what only a file needs (name spaces, inner labels) and say in words what the picture shows."""
    opening, _, body = drawn.partition(">")
    opening = re.sub(r'\s(?:xmlns(?::xlink)?|class|version)="[^"]*"', "", opening)
    body = re.sub(r'\s(?:aria-[a-z]+|role|class|pointer-events)="[^"]*"', "", body)
    label = html.escape(title, quote=True)
    return f'{opening} role="img" aria-label="{label}"><title>{label}</title>{body}'
