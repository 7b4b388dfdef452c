"""What an attacker gains: members found against false alarms, on logarithmic axes, beside guessing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mahrem.report._axes import Plot, Tick, draw_legend
from mahrem.report._chart import AFTER, BEFORE, QUIET, standing_alone
from mahrem.report._scales import Scale

_SIDE = 360.0
_LEAST = 1e-4
_COLOURS = (AFTER, BEFORE)


def gain_svg(curves: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    """Draw the share of members found over the share of false alarms, as an SVG file that stands alone.

    Args:
        curves: By name, points ``(false alarms, found)``.
    """
    along = Scale(_LEAST, 1.0, 0, _SIDE, ratios=True)
    up = Scale(_LEAST, 1.0, _SIDE, 0, ratios=True)
    shares = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
    words = ("0.01%", "0.1%", "1%", "10%", "100%")
    plot = Plot(_SIDE, _SIDE)
    plot.below(
        [Tick(along(share), word) for share, word in zip(shares, words, strict=True)],
        title="false alarms: others taken for members",
        grid=True,
        line=True,
    )
    plot.beside(
        [Tick(up(share), word) for share, word in zip(shares, words, strict=True)],
        title="members found",
        grid=True,
        line=True,
    )
    plot.drawing.line([(along(_LEAST), up(_LEAST)), (along(1.0), up(1.0))], QUIET, width=1.5, dashes="5 4")
    for (_, points), colour in zip(curves.items(), _COLOURS, strict=False):
        shown = [(along(max(x, _LEAST)), up(min(1.0, max(y, _LEAST)))) for x, y in points if x >= _LEAST]
        plot.drawing.line(shown, colour, width=2.5)
    entries = list(zip(curves, _COLOURS, strict=False))
    draw_legend(plot.drawing, [*entries, ("guessing", QUIET)])
    title = "The best attack on one person: members found against false alarms"
    return standing_alone(plot.drawing.svg(title))
