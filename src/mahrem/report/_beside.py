"""Pictures that lay two figures side by side: bars of shares, and dots on a line from -1 to 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.report._axes import Plot, written
from mahrem.report._chart import AFTER, BEFORE, INK, QUIET
from mahrem.report._pictures import share_ticks
from mahrem.report._scales import Bands, Scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mahrem.report._report import ReportRelation
    from mahrem.words import Catalogue

__all__ = ["correlations", "shares"]

WIDTH = 270
RADIUS = 5.4
SHORT = 46  # characters of a label that fit


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
    plot = Plot(WIDTH, bands.length)
    across = Scale(0, 1, 0, WIDTH)
    plot.below(share_ticks(across, catalogue), grid=True)
    high = bands.width / 2 if two else bands.width
    for place, (_, pair) in enumerate(rows):
        for side, (share, text) in enumerate(pair):
            # One alone stands where the second would.
            top = bands.begin(place) + (side + 2 - len(pair) if two else 0) * high
            colour = AFTER if side + 2 - len(pair) else BEFORE
            end = across(share or 0.0)
            plot.drawing.bar((0, top), (end, top + high), colour)
            plot.drawing.text(end + 4, top + high / 2, text, colour=INK)
    _label(plot, [label if len(label) <= SHORT else f"{label[: SHORT - 1]}…" for label, _ in rows], bands)
    return plot.drawing.svg(title)


def correlations(pairs: Sequence[ReportRelation], title: str, catalogue: Catalogue) -> str:
    """Draw each pair of columns as two dots from -1 to 1, joined by a line."""
    bands = Bands(len(pairs), 36, inner=0.5, outer=0.5)
    plot = Plot(WIDTH, bands.length)
    across = Scale(-1, 1, 0, WIDTH)
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
        plot.drawing.text(0, bands.begin(place) - 9, label, size=12, colour=INK, limit=WIDTH + 20)
