"""Pictures that lay two figures side by side: bars of shares, and dots on a line from -1 to 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mahrem.report._axes import Plot, written
from mahrem.report._chart import AFTER, BEFORE, INK, QUIET
from mahrem.report._pictures import share_ticks
from mahrem.report._scales import Bands, Scale

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mahrem.words import Catalogue

__all__ = ["correlations", "shares"]

WIDTH = 270
RADIUS = 5.4


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
    _label(plot, [label for label, _ in rows], bands)
    return plot.drawing.svg(title)


def correlations(pairs: Sequence[Mapping[str, Any]], title: str, catalogue: Catalogue) -> str:
    """Draw each pair of columns as two dots from -1 to 1, joined by a line."""
    bands = Bands(len(pairs), 36, inner=0.5, outer=0.5)
    plot = Plot(WIDTH, bands.length)
    across = Scale(-1, 1, 0, WIDTH)
    plot.below(written((-1, -0.5, 0, 0.5, 1), across, catalogue), grid=True)
    for place, pair in enumerate(pairs):
        middle = bands.middle(place)
        found = [
            (across(pair[side]), colour)
            for side, colour in (("before", BEFORE), ("after", AFTER))
            if pair[side] is not None
        ]
        plot.drawing.line([(at, middle) for at, _ in found], QUIET, width=1.5)
        for at, colour in found:
            plot.drawing.dot(at, middle, RADIUS, colour)
    names = [
        catalogue["relations"]["pair"].format(first=first, second=second)
        for first, second in (pair["columns"] for pair in pairs)
    ]
    _label(plot, names, bands)
    return plot.drawing.svg(title)


def _label(plot: Plot, labels: Sequence[str], bands: Bands) -> None:
    """Write labels above their bands: at 400 pixels there is no room beside them."""
    for place, label in enumerate(labels):
        plot.drawing.text(0, bands.begin(place) - 9, label, size=12, colour=INK, limit=WIDTH + 20)
