"""Bars in groups: the same thing as printed and as it comes out here, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mahrem.report._axes import Plot, Tick, draw_legend, written
from mahrem.report._chart import AFTER, BEFORE, QUIET, standing_alone, tile
from mahrem.report._scales import Bands, Scale, finite, ticks
from mahrem.words import Catalogue, load_catalogue

_WIDTH = 200
_STEP = 9  # height of one bar
_LEAST = 16  # height of a group: a name needs as much
_COLOURS = (BEFORE, AFTER, "#b07d2b", QUIET)


def grouped_svg(
    rows: Sequence[Mapping[str, Any]],
    *,
    title: str,
    amount: str,
    domain: tuple[float, float] | None = None,
    words: Catalogue | None = None,
) -> str:
    """Draw bars in groups, one group for each name and one panel for each part.

    Args:
        rows: Each with ``panel``, ``name``, ``series`` and ``value``.
        title: What the picture shows, in words.
        amount: Title of the axis along the bars.
        domain: From where to where the axis goes; by default from 0 to the longest bar.
        words: How figures are written; English by default.
    """
    series = list(dict.fromkeys(str(row["series"]) for row in rows))
    colours = {name: _COLOURS[place % len(_COLOURS)] for place, name in enumerate(series)}
    low, high = domain or (0.0, 1.05 * max(finite(row["value"] for row in rows), default=1.0) or 1.0)
    across = Scale(low, high, 0, _WIDTH)
    axis = (written(ticks(low, high), across, words or load_catalogue("en")), amount)
    panels = []
    for panel in dict.fromkeys(str(row["panel"]) for row in rows):
        plot = _panel([row for row in rows if str(row["panel"]) == panel], across, axis, colours)
        plot.heading(panel)
        panels.append(plot.drawing)
    drawing = tile(panels)
    draw_legend(drawing, list(colours.items()))
    return standing_alone(drawing.svg(title))


def _panel(
    rows: Sequence[Mapping[str, Any]],
    across: Scale,
    axis: tuple[Sequence[Tick], str],
    colours: Mapping[str, str],
) -> Plot:
    names = list(dict.fromkeys(str(row["name"]) for row in rows))
    series = list(dict.fromkeys(str(row["series"]) for row in rows))
    group = max(_STEP * len(series), _LEAST)
    bands = Bands(len(names), group + 6, inner=6 / (group + 6), outer=3 / (group + 6))
    plot = Plot(_WIDTH, bands.length)
    plot.below(axis[0], title=axis[1], grid=True, line=True)
    plot.drawing.line([(0, 0), (0, plot.height)], QUIET)
    plot.names([Tick(bands.middle(place), name) for place, name in enumerate(names)], limit=130)
    high = bands.width / len(series)
    for row in rows:
        top = bands.begin(names.index(str(row["name"]))) + series.index(str(row["series"])) * high
        for value in finite([row["value"]]):
            plot.drawing.bar((0, top), (across(value), top + high), colours[str(row["series"])])
    return plot
