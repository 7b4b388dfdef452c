"""Pictures of a report as SVG text: sizes, losses, risk, columns before and after, shares side by side."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from mahrem.report._axes import Plot, Tick, written
from mahrem.report._chart import AFTER, BEFORE, CARD, INK, QUIET, Lettering
from mahrem.report._scales import Bands, Scale, as_moment, finite, moment_ticks, nice, ticks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mahrem.report._report import ReportRelation
    from mahrem.words import Catalogue

WIDTH = 300
ACROSS = 270  # of pictures with labels above their bars
RADIUS = 5.4
SHORT = 46  # characters of a label that fit
WIDEST = 64  # one bar alone does not fill the picture
DASH = "\N{EN DASH}"
SIDES = (BEFORE, AFTER)


def class_sizes(bins: Sequence[Mapping[str, Any]], catalogue: Catalogue) -> str:
    """Draw how many rows live in classes of each size."""
    plot = Plot(WIDTH, 170)
    bands = Bands(len(bins), WIDTH / max(len(bins), 1), inner=0.1, outer=0.05)
    up = _upwards(plot, [entry["rows"] for entry in bins], catalogue)
    names = [Tick(bands.middle(place), _span(entry)) for place, entry in enumerate(bins)]
    plot.below(names, title=catalogue.say("axis.class_size"), turn=True)
    half = min(bands.width, WIDEST) / 2
    for tick, entry in zip(names, bins, strict=True):
        plot.drawing.bar((tick.at - half, up(0)), (tick.at + half, up(entry["rows"])), AFTER)
    return plot.drawing.svg(catalogue.say("picture.sizes_title"))


def loss_per_column(losses: Mapping[str, float], catalogue: Catalogue) -> str:
    """Draw how much of each quasi-identifier's precision was given up."""
    bands = Bands(len(losses), 28, inner=0.4, outer=0.2)
    plot = Plot(190, bands.length)
    across = Scale(0, 1, 0, plot.width)
    plot.below(_share_ticks(across, catalogue), grid=True)
    plot.names([Tick(bands.middle(place), name) for place, name in enumerate(losses)], limit=120, size=12)
    for place, loss in enumerate(losses.values()):
        end, top = across(loss), bands.begin(place)
        plot.drawing.bar((0, top), (end, top + bands.width), AFTER)
        plot.drawing.text(end + 4, bands.middle(place), catalogue.percent(loss), Lettering(colour=INK))
    return plot.drawing.svg(catalogue.say("picture.loss_title"))


def before_and_after(name: str, distribution: Mapping[str, object], catalogue: Catalogue) -> str:
    """Draw one quasi-identifier's counts: grey before, coloured line after."""
    title = catalogue.say("picture.column_title", column=name)
    drawn = _word_bars if distribution["kind"] == "words" else _steps
    return drawn(distribution, catalogue).drawing.svg(title)


def risk(levels: Mapping[str, tuple[float, float]], catalogue: Catalogue) -> str:
    """Draw re-identification risk before and after; ``levels`` gives both for each label."""
    bands = Bands(len(levels), 46, inner=0.35, outer=0.1)
    plot = Plot(150, bands.length)
    across = Scale(0, 1, 0, plot.width)
    plot.below(_share_ticks(across, catalogue), grid=True)
    plot.names([Tick(bands.middle(place), label) for place, label in enumerate(levels)], limit=150, size=12)
    half = bands.width / 2
    for place, pair in enumerate(levels.values()):
        for side, (value, colour) in enumerate(zip(pair, SIDES, strict=True)):
            top = bands.begin(place) + side * half
            plot.drawing.bar((0, top), (across(value), top + half), colour)
            plot.drawing.text(
                across(value) + 4, top + half / 2, catalogue.percent(value), Lettering(colour=INK)
            )
    return plot.drawing.svg(catalogue.say("picture.risk_title"))


def _share_ticks(scale: Scale, catalogue: Catalogue) -> list[Tick]:
    """Write nothing, a half and everything on an axis of shares."""
    return [Tick(scale(share), catalogue.percent(share)) for share in (0.0, 0.5, 1.0)]


def _steps(distribution: Mapping[str, Any], catalogue: Catalogue) -> Plot:
    plot = Plot(WIDTH, 130)
    before, after = distribution["before"], distribution["after"]
    up = _upwards(plot, [*before, *after], catalogue)
    places = _places(plot, distribution, catalogue)
    for left, right, count in zip(places, places[1:], before, strict=False):
        plot.drawing.bar((left, up(0)), (right, up(count)), BEFORE, edge=CARD)
    # The line needs a start and an end on the ground, else it hangs in the air.
    corners = [(places[0], up(0))]
    for left, right, count in zip(places, places[1:], after, strict=False):
        corners += [(left, up(count)), (right, up(count))]
    plot.drawing.line([*corners, (places[-1], up(0))], AFTER, width=2)
    return plot


def _places(plot: Plot, distribution: Mapping[str, Any], catalogue: Catalogue) -> list[float]:
    """Draw the axis of edges and say where each edge lies."""
    edges = distribution["edges"]
    if distribution["kind"] == "date":
        moments = [as_moment(str(edge)) for edge in edges]
        known = [moment for moment in moments if moment is not None]
        figures = [math.nan if moment is None else moment.days for moment in moments]
    else:
        figures = [float(edge) for edge in edges]
    ends = finite(figures) or [0.0]
    across = Scale(min(ends), max(ends), 0, plot.width)
    if distribution["kind"] == "date":
        marks = [Tick(across(days), words) for days, words in moment_ticks(known)]
    else:
        marks = written(ticks(min(ends), max(ends)), across, catalogue)
    plot.below(marks, line=True)
    return [across(figure) for figure in figures]


def _word_bars(distribution: Mapping[str, Any], catalogue: Catalogue) -> Plot:
    labels, sides = distribution["labels"], (distribution["before"], distribution["after"])
    # Bars are keyed by place: a value that happens to be called "other" stays a bar of its own.
    shown = [
        place for place, label in enumerate(labels) if label is not None or sides[0][place] or sides[1][place]
    ]
    bands = Bands(len(shown), 29, inner=0.25, outer=0.1)
    plot = Plot(210, bands.length)
    amounts = nice(0, max(finite([*sides[0], *sides[1]]), default=0.0), 4, whole=True)
    across = Scale(amounts[0], amounts[-1], 0, plot.width)
    plot.below(written(amounts, across, catalogue), title=catalogue.say("axis.rows"), grid=True)
    names = [catalogue.say("word.other") if labels[place] is None else str(labels[place]) for place in shown]
    plot.names([Tick(bands.middle(row), name) for row, name in enumerate(names)], limit=105)
    half = bands.width / 2
    for row, place in enumerate(shown):
        for side, (counts, colour) in enumerate(zip(sides, SIDES, strict=True)):
            top = bands.begin(row) + side * half
            plot.drawing.bar((0, top), (across(counts[place]), top + half), colour)
    return plot


def _upwards(plot: Plot, counts: Sequence[float], catalogue: Catalogue) -> Scale:
    """Draw the axis of rows on the left and give its scale."""
    amounts = nice(0, max(finite(counts), default=0.0), 4, whole=True)
    up = Scale(amounts[0], amounts[-1], plot.height, 0)
    plot.beside(written(amounts, up, catalogue), title=catalogue.say("axis.rows"), grid=True)
    return up


def _span(entry: Mapping[str, object]) -> str:
    return str(entry["from"]) if entry["from"] == entry["to"] else f"{entry['from']}{DASH}{entry['to']}"


def shares(
    rows: Sequence[tuple[str, Sequence[tuple[float | None, str]]]], title: str, catalogue: Catalogue
) -> str:
    """Draw one or two shares under each label: grey first, then coloured; one alone is coloured.

    Args:
        rows: For each label its shares, each with the text written at its end; a share of None has no bar.
        title: What the picture shows, in words.
        catalogue: The language.
    """
    two = any(len(pair) > 1 for _, pair in rows)
    bands = Bands(len(rows), 50, inner=0.4, outer=0.4) if two else Bands(len(rows), 36, inner=0.5, outer=0.5)
    plot = Plot(ACROSS, bands.length)
    across = Scale(0, 1, 0, ACROSS)
    plot.below(_share_ticks(across, catalogue), grid=True)
    high = bands.width / 2 if two else bands.width
    for place, (_, pair) in enumerate(rows):
        for side, (share, text) in enumerate(pair):
            # One alone stands where the second would.
            top = bands.begin(place) + (side + 2 - len(pair) if two else 0) * high
            colour = AFTER if side + 2 - len(pair) else BEFORE
            end = across(share or 0.0)
            plot.drawing.bar((0, top), (end, top + high), colour)
            plot.drawing.text(end + 4, top + high / 2, text, Lettering(colour=INK))
    _label(plot, [label if len(label) <= SHORT else f"{label[: SHORT - 1]}…" for label, _ in rows], bands)
    return plot.drawing.svg(title)


def correlations(pairs: Sequence[ReportRelation], title: str, catalogue: Catalogue) -> str:
    """Draw each pair of columns as two dots from -1 to 1, joined by a line."""
    bands = Bands(len(pairs), 36, inner=0.5, outer=0.5)
    plot = Plot(ACROSS, bands.length)
    across = Scale(-1, 1, 0, ACROSS)
    plot.below(written((-1, -0.5, 0, 0.5, 1), across, catalogue), grid=True)
    for place, pair in enumerate(pairs):
        middle = bands.middle(place)
        dots = [
            (across(side), colour)
            for side, colour in ((pair.before, BEFORE), (pair.after, AFTER))
            if side is not None
        ]
        plot.drawing.line([(at, middle) for at, _ in dots], QUIET, width=1.5)
        for at, colour in dots:
            plot.drawing.dot(at, middle, RADIUS, colour)
    columns = (pair.columns for pair in pairs)
    names = [catalogue.say("relations.pair", first=first, second=second) for first, second in columns]
    _label(plot, names, bands)
    return plot.drawing.svg(title)


def _label(plot: Plot, labels: Sequence[str], bands: Bands) -> None:
    """Write labels above their bands: at 400 pixels there is no room beside them."""
    for place, label in enumerate(labels):
        plot.drawing.text(0, bands.begin(place) - 9, label, Lettering(size=12, colour=INK), limit=ACROSS + 20)
