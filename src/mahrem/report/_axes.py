"""Axes, names and legends for a drawing: labels that never cover each other, titles beside them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from mahrem.report._chart import INK, LINE, QUIET, Drawing, Lettering, text_width
from mahrem.report._scales import Scale, decimals

if TYPE_CHECKING:
    from mahrem.words import Catalogue

_SIZE = 11.0  # of labels, in pixels
_APART = 6.0  # between two labels
_MINUS = "\N{MINUS SIGN}"


class Tick(NamedTuple):
    """A place on an axis, in pixels, and what is written there."""

    at: float
    words: str


def written(
    values: Sequence[float],
    scale: Scale,
    catalogue: Catalogue,
    write: Callable[[float], str] | None = None,
) -> list[Tick]:
    """Write round figures in the numbers of a language, each where it lies.

    Args:
        values: The figures, rising.
        scale: Where they lie.
        catalogue: The language.
        write: How to write one; by default with as many places as tell neighbours apart.
    """
    places = decimals(values)
    text_of = write or (lambda value: catalogue.number(value, places))
    return [Tick(scale(value), text_of(value).replace("-", _MINUS)) for value in values]


@dataclass
class Plot:
    """A rectangle in which marks are drawn, from (0, 0) to (``width``, ``height``), with axes around it."""

    width: float
    height: float
    drawing: Drawing = field(default_factory=Drawing)

    def below(
        self,
        ticks: Sequence[Tick],
        *,
        title: str = "",
        grid: bool = False,
        line: bool = False,
        turn: bool = False,
    ) -> None:
        """Draw the axis below.

        Args:
            ticks: Where something is written; what would cover its neighbour is left out.
            title: What the figures are.
            grid: Draw a quiet line upwards at every tick.
            line: Draw the axis itself and a short mark at every label.
            turn: Labels that do not fit side by side may be turned.
        """
        drawing, foot = self.drawing, self.height
        for tick in ticks if grid else ():
            drawing.line([(tick.at, 0), (tick.at, foot)], LINE)
        if line:
            drawing.line([(0, foot), (self.width, foot)], QUIET)
        widest = max((text_width(tick.words, _SIZE) for tick in ticks), default=0.0)
        turned = turn and len(_apart(ticks, widest + _APART)) < len(ticks)
        for tick in _apart(ticks, 1.5 * _SIZE if turned else widest + _APART):
            if line:
                drawing.line([(tick.at, foot), (tick.at, foot + 4)], QUIET)
            if turned:
                drawing.text(
                    tick.at + 3, foot + 10, tick.words, Lettering(anchor="end", angle=-45, size=_SIZE)
                )
            else:
                drawing.text(tick.at, foot + 12, tick.words, Lettering(anchor="middle", size=_SIZE))
        if title:
            under = max(drawing.bottom, foot) + 10
            drawing.text(self.width / 2, under, title, Lettering(anchor="middle", size=_SIZE))

    def beside(
        self, ticks: Sequence[Tick], *, title: str = "", grid: bool = False, line: bool = False
    ) -> None:
        """Draw the axis on the left; the arguments are those of :meth:`below`."""
        drawing = self.drawing
        for tick in ticks if grid else ():
            drawing.line([(0, tick.at), (self.width, tick.at)], LINE)
        if line:
            drawing.line([(0, 0), (0, self.height)], QUIET)
        for tick in _apart(ticks, 1.2 * _SIZE):
            if line:
                drawing.line([(-4, tick.at), (0, tick.at)], QUIET)
            drawing.text(-7 if line else -5, tick.at, tick.words, Lettering(anchor="end", size=_SIZE))
        if title:
            left = min(drawing.left, 0) - 11
            drawing.text(left, self.height / 2, title, Lettering(anchor="middle", angle=-90, size=_SIZE))

    def names(self, ticks: Sequence[Tick], *, limit: float, size: float = _SIZE) -> None:
        """Write names on the left; long ones are cut at ``limit`` pixels."""
        for tick in ticks:
            self.drawing.text(
                -6, tick.at, tick.words, Lettering(anchor="end", size=size, colour=INK), limit=limit
            )

    def heading(self, words: str) -> None:
        """Write what a panel shows above it, from its left end on."""
        left = min(self.drawing.left, 0)
        room = max(self.drawing.right, self.width) - left
        # The same height for panels side by side, unless something rises above its plot.
        top = min(-16, self.drawing.top - 8)
        self.drawing.text(left, top, words, Lettering(size=12, colour=INK, bold=True), limit=room)


def _apart(ticks: Sequence[Tick], room: float) -> list[Tick]:
    """Leave out labels that have no place or would touch the one before."""
    kept: list[Tick] = []
    for tick in ticks:
        if math.isfinite(tick.at) and (not kept or abs(tick.at - kept[-1].at) >= room):
            kept.append(tick)
    return kept


def draw_legend(drawing: Drawing, entries: Sequence[tuple[str, str]], *, round_marks: bool = False) -> None:
    """Say below a drawing what each colour stands for; a line that is full is broken.

    Args:
        drawing: What is explained.
        entries: Names and their colours.
        round_marks: Show a dot instead of a square.
    """
    if drawing.left > drawing.right:
        return
    left, right = drawing.left, drawing.right
    x, y = left, drawing.bottom + 18
    for name, colour in entries:
        wide = 14 + text_width(name, _SIZE)
        if x > left and x + wide > right:
            x, y = left, y + 17
        if round_marks:
            drawing.dot(x + 5, y, 4.5, colour)
        else:
            drawing.bar((x, y - 5), (x + 10, y + 5), colour)
        drawing.text(x + 14, y, name, Lettering(colour=INK, size=_SIZE))
        x += wide + 14
