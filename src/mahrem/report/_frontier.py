"""The frontier of a comparison: loss over k, loss against time, and which method to take, for a newcomer."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from mahrem.report._advice import Line, best_of, frontier_advice, lines_of, percent, ranked, total
from mahrem.report._catalogue import load_catalogue
from mahrem.report._pictures import AFTER, INK, QUIET, _draw
from mahrem.report._template import load_template

__all__ = ["frontier_page", "frontier_svg", "over_k", "standing_alone"]

WIDTH, HEIGHT, LABEL_STEP = 360, 300, 15


def frontier_svg(rows: Sequence[Mapping[str, Any]]) -> str:
    """Draw loss over k, one line per method, as an SVG file that stands alone.

    Args:
        rows: What :func:`mahrem.compare` found; rows without figures are left out.
    """
    return standing_alone(_over_k(lines_of(rows)))


def frontier_page(found: Mapping[str, Any]) -> str:
    """Draw a comparison as a self-contained page: what to take, two pictures, the figures.

    Args:
        found: The content of ``comparison.json``.

    Guarantees:
        - The page holds no script and no address, and loads nothing.
        - Every text is escaped.
    """
    lines = lines_of(found["results"])
    ks = sorted({k for line in lines for k in line.loss})
    middle = ks[len(ks) // 2] if ks else 0
    return load_template("comparison").render(
        found=found,
        advice=frontier_advice(found["results"]),
        over_k=_over_k(lines) if lines else "",
        over_time=_over_time(lines, middle) if lines else "",
        middle=middle,
        learnt=_learnt(found) if found.get("target") else None,
        ks=ks,
        lines=[(line.name, [percent(line.loss.get(k)) for k in ks], total(line)) for line in ranked(lines)],
        notes=[row for row in found["results"] if row.get("note")],
    )


def _learnt(found: Mapping[str, Any]) -> dict[str, Any]:
    """Say what classifiers reach, for the page."""
    from mahrem.report._accuracy import accuracy_picture, accuracy_table, correlation_sentences

    return {
        "picture": accuracy_picture(found),
        "table": accuracy_table(found),
        "sentences": correlation_sentences(found),
    }


def _over_k(lines: Sequence[Line]) -> str:
    best = best_of(lines).name if lines else ""
    losses = [loss for line in lines for loss in line.loss.values()]
    title = f"Detail given up over k, one line per method; {best} is the one to take"
    return over_k(lines, best, *_loss_axis(losses, "detail given up (GCP)"), title)


def over_k(
    lines: Sequence[Line],
    best: str,
    up: dict[str, Any],
    domain: tuple[float, float, bool],
    title: str,
    beside: Sequence[dict[str, Any]] = (),
) -> str:
    """Draw one line per method over k, names at their ends.

    Args:
        lines: One per method; what they call loss may be any figure.
        best: The one that stands out.
        up: The axis of the figures.
        domain: Its ends, and whether it is logarithmic.
        title: What the picture shows, for those who cannot see it.
        beside: Further layers.
    """
    values = [{"method": line.name, "k": k, "loss": loss} for line in lines for k, loss in line.loss.items()]
    ks = sorted({k for line in lines for k in line.loss})
    across = {
        "field": "k",
        "type": "quantitative",
        "scale": {
            "type": "log" if len(ks) > 2 else "linear",
            "domain": [ks[0], ks[-1]],
            "nice": False,
            "zero": False,
        },
        "axis": {
            "title": "k: at least so many people look alike",
            "values": ks,
            "format": "d",
            "grid": False,
        },
    }
    colour = _colour(lines, best)
    ends = _spread([(line.name, line.loss[max(line.loss)]) for line in lines], domain)
    last = {line.name: line.loss[max(line.loss)] for line in lines}
    labels = [{"method": name, "place": place, "loss": last[name]} for name, place in ends]
    marks = [
        {
            "data": {"values": values},
            "mark": {"type": "line", "point": {"size": 22}},
            "encoding": {
                "x": across,
                "y": {"field": "loss", **up},
                "color": colour,
                "strokeWidth": {
                    "condition": {"test": f"datum.method === {json.dumps(best)}", "value": 3},
                    "value": 1,
                },
            },
        },
        {  # from the end of a line to its name
            "data": {"values": labels},
            "mark": {"type": "rule", "strokeWidth": 0.6, "opacity": 0.7},
            "encoding": {
                "x": {"value": WIDTH + 4},
                "x2": {"value": WIDTH + 20},
                "y": {"field": "loss", **up},
                "y2": {"field": "place"},
                "color": colour,
            },
        },
        {
            "data": {"values": labels},
            "mark": {"type": "text", "align": "left", "dx": 24, "fontSize": 12},
            "encoding": {
                "x": {"value": WIDTH},
                "y": {"field": "place", **up},
                "text": {"field": "method"},
                "color": colour,
            },
        },
    ]
    spec = {"width": WIDTH, "height": HEIGHT, "layer": [*beside, *marks]}
    return _draw(spec, title, load_catalogue("en"))


def _over_time(lines: Sequence[Line], k: int) -> str:
    there = [line for line in lines if k in line.loss]
    best = best_of(lines).name
    up, domain = _loss_axis([line.loss[k] for line in there], "detail given up (GCP)", close=True)
    places = dict(_spread([(line.name, line.loss[k]) for line in there], domain))
    values: list[dict[str, Any]] = [
        {
            "method": line.name,
            "loss": line.loss[k],
            "seconds": max(line.seconds[k], 1e-4),  # a clock that did not move has no place on a log axis
            "place": places[line.name],
        }
        for line in there
    ]
    powers = [10.0**power for power in range(*_powers([value["seconds"] for value in values]))]
    across = {
        "field": "seconds",
        "type": "quantitative",
        "scale": {"type": "log", "domain": [powers[0], powers[-1]]},
        "axis": {
            "title": "seconds",
            "grid": False,
            "values": powers,
            "labelExpr": "format(datum.value, '~g')",
        },
    }
    colour = _colour(lines, best)
    marks = [
        {
            "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
            "encoding": {"x": across, "y": {"field": "loss", **up}, "color": colour},
        },
        {
            "mark": {"type": "text", "align": "left", "dx": 8, "fontSize": 12},
            "encoding": {
                "x": across,
                "y": {"field": "place", **up},
                "text": {"field": "method"},
                "color": colour,
            },
        },
    ]
    spec = {"width": WIDTH, "height": HEIGHT, "data": {"values": values}, "layer": marks}
    return _draw(spec, f"Detail given up against seconds at k={k}", load_catalogue("en"))


def _loss_axis(
    losses: Sequence[float], title: str, *, close: bool = False
) -> tuple[dict[str, Any], tuple[float, float, bool]]:
    """Give the axis of losses, logarithmic where that helps, and its domain; ``close``: no empty room."""
    low, high = min(losses), max(losses)
    log = low > 0 and (close or high / low > 3)
    room = 1.06 if close else 1.15
    low, high = (low / room, high * room) if log else (0.0, high * 1.1 or 1.0)
    axis: dict[str, Any] = {"title": title, "labelExpr": "format(datum.value * 100, '.3~g') + ' %'"}
    if log:
        axis["values"] = _round_values(low, high)
    scale = {"type": "log" if log else "linear", "domain": [low, high], "nice": False}
    return {"type": "quantitative", "scale": scale, "axis": axis}, (low, high, log)


def _powers(amounts: Sequence[float]) -> tuple[int, int]:
    """Give the powers of ten that enclose some amounts, as a range."""
    low, high = math.floor(math.log10(min(amounts))), math.ceil(math.log10(max(amounts)))
    return low, max(high, low + 1) + 1


def _round_values(low: float, high: float) -> list[float]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for digits in ((1, 2, 3, 5), (1, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9)):  # finer where there are too few
        every = [digit * 10.0**power for power in powers for digit in digits]
        found = [value for value in every if low <= value <= high]
        if len(found) >= 3:
            break
    return found


def _spread(ends: Sequence[tuple[str, float]], domain: tuple[float, float, bool]) -> list[tuple[str, float]]:
    """Move labels apart so that none covers another; gives where each stands on the axis."""
    low, high, log = domain
    scale = math.log if log else float
    span = (scale(high) - scale(low)) or 1.0
    wanted = sorted(((HEIGHT * (scale(high) - scale(loss)) / span, name) for name, loss in ends))
    step = min(LABEL_STEP, HEIGHT / max(len(wanted), 1))
    blocks: list[
        list[float]
    ] = []  # sum and number of labels that touch: they move together, around their mean
    for number, (pixel, _) in enumerate(wanted):
        blocks.append([pixel - number * step, 1.0])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] >= blocks[-1][0] / blocks[-1][1]:
            total, count = blocks.pop()
            blocks[-1][0] += total
            blocks[-1][1] += count
    ground = [total / count for total, count in blocks for _ in range(int(count))]
    places = [middle + number * step for number, middle in enumerate(ground)]
    back = [scale(high) - span * place / HEIGHT for place in places]
    return [(name, math.exp(value) if log else value) for (_, name), value in zip(wanted, back, strict=True)]


def _colour(lines: Sequence[Line], best: str) -> dict[str, Any]:
    """The one to take stands out, the quickest is dark, the others are quiet."""
    names = [line.name for line in lines]
    quick = min(lines, key=total).name
    colours = [AFTER if name == best else INK if name == quick else QUIET for name in names]
    return {
        "field": "method",
        "type": "nominal",
        "scale": {"domain": names, "range": colours},
        "legend": None,
    }


def standing_alone(svg: str) -> str:
    """Make an inline picture a file of its own: name space, fixed colours, white ground."""
    fixed = re.sub(r"var\(--[a-z]+, ([^)]+)\)", lambda found: found[1], svg).replace(
        "currentColor", "#26241f"
    )
    fixed = fixed.replace("transparent", "none")
    opening, _, body = fixed.partition(">")
    name = ' xmlns="http://www.w3.org/2000/svg"' if "xmlns=" not in opening else ""
    return f'{opening}{name}><rect width="100%" height="100%" fill="#fff"/>{body}'
