"""Pictures of published figures beside ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mahrem.report._axes import Plot, draw_legend, written
from mahrem.report._chart import AFTER, QUIET, Drawing, standing_alone, tile
from mahrem.report._scales import Scale, finite, nice, ratio_ticks, ticks
from mahrem.words import load_catalogue

PANEL = 220
WHOSE = {"published setting": QUIET, "ours": AFTER}
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
        row
        for row in rows
        if (row["published"] or 0) > 0 and (row["ours"] or 0) > 0  # the scale is one of ratios
    ]
    metrics = dict.fromkeys(str(row["metric"]) for row in both)
    drawing = tile(
        [_panel(metric, [row for row in both if str(row["metric"]) == metric]) for metric in metrics]
    )
    draw_legend(drawing, list(WHOSE.items()), round_marks=True)
    return standing_alone(drawing.svg("Published figures against ours"))


def _panel(metric: str, rows: Sequence[Mapping[str, Any]]) -> Drawing:
    amounts = finite(row[side] for row in rows for side in ("published", "ours"))
    low, high = min(amounts, default=1.0) / 1.2, max(amounts, default=1.0) * 1.2
    plot = Plot(PANEL, PANEL)
    across = Scale(low, high, 0, PANEL, ratios=True)
    up = Scale(low, high, PANEL, 0, ratios=True)
    values = ratio_ticks(low, high, least=3, most=6)
    english = load_catalogue("en")
    plot.below(written(values, across, english, _short), title="published", line=True)
    plot.beside(written(values, up, english, _short), title="ours", line=True)
    plot.drawing.line([(0, PANEL), (PANEL, 0)], QUIET, width=0.8, dashes="3 3")
    for row in rows:
        colour = WHOSE["ours" if str(row["method"]).endswith("(ours)") else "published setting"]
        plot.drawing.dot(across(row["published"]), up(row["ours"]), 2.8, colour)
    plot.heading(metric)
    return plot.drawing


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
    methods = list(dict.fromkeys(str(row["method"]) for row in rows))
    rest = iter(OTHERS * (1 + len(methods) // len(OTHERS)))
    colours = {name: AFTER if name == best else next(rest) for name in methods}
    panels = []
    for dataset in dict.fromkeys(str(row["dataset"]) for row in rows):
        lines: dict[str, list[tuple[float, float]]] = {}
        for row in rows:
            if str(row["dataset"]) == dataset and row["ours"] is not None:
                lines.setdefault(str(row["method"]), []).append((row[across], row["ours"]))
        panels.append(_lines(dataset, lines, names, colours, ratios=ratios))
    drawing = tile(panels)
    draw_legend(drawing, list(colours.items()), round_marks=True)
    return standing_alone(drawing.svg(title))


def _lines(
    heading: str,
    lines: Mapping[str, Sequence[tuple[float, float]]],
    names: tuple[str, str],
    colours: Mapping[str, str],
    *,
    ratios: bool,
) -> Drawing:
    plot = Plot(PANEL, 180)
    settings = sorted({at for line in lines.values() for at, _ in line}) or [1]
    across = Scale(settings[0], settings[-1], 0, PANEL, ratios=settings[0] > 0)
    amounts = finite(value for line in lines.values() for _, value in line if value > 0 or not ratios)
    low, high = min(amounts, default=1.0), max(amounts, default=1.0)
    values = ratio_ticks(low, high) if ratios and low < high else nice(low, high)
    ends = (low, high) if ratios and low < high else (values[0], values[-1])
    up = Scale(*ends, plot.height, 0, ratios=ratios)
    english = load_catalogue("en")
    plot.below(written(settings, across, english), title=names[0], line=True)
    plot.beside(
        written(values, up, english, _short if high >= 1e5 else None), title=names[1], grid=True, line=True
    )
    for name, line in lines.items():
        points = [(across(at), up(value)) for at, value in sorted(line)]
        plot.drawing.line(points, colours[name], width=1.6)
        for x, y in points:
            plot.drawing.dot(x, y, 2.4, colours[name])
    plot.heading(heading)
    return plot.drawing


def bars_svg(counts: Mapping[float, int], *, title: str, names: tuple[str, str]) -> str:
    """Draw a histogram; ``counts`` gives the number of each bin by where it begins."""
    begins = sorted(counts)
    step = begins[1] - begins[0] if len(begins) > 1 else 1.0
    plot = Plot(420, 200)
    first, last = (begins[0], begins[-1] + step) if begins else (0.0, 1.0)
    across = Scale(first, last, 0, plot.width)
    amounts = nice(0, max(finite(counts.values()), default=0.0), 4, whole=True)
    up = Scale(amounts[0], amounts[-1], plot.height, 0)
    english = load_catalogue("en")
    plot.below(written(ticks(first, last, 8), across, english), title=names[0], line=True)
    plot.beside(written(amounts, up, english), title=names[1], grid=True, line=True)
    for begin in begins:
        plot.drawing.bar(
            (across(begin), up(0)), (across(begin + step), up(counts[begin])), AFTER, edge="#fff"
        )
    return standing_alone(plot.drawing.svg(title))


def _short(value: float) -> str:
    """Write large figures with the letter of their thousands.

    Example:
        >>> _short(200_000), _short(0.25)
        ('200k', '0.25')
    """
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if size <= abs(value) < 1000 * size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"
