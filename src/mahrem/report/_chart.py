"""A small drawing board for SVG: marks in pixels, texts with room, panels; no script, no font, no address.

Colours are CSS variables with a fallback, so that one picture follows a light and a dark page.
"""

from __future__ import annotations

import html
import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

BEFORE = "var(--before, #a9a49a)"
AFTER = "var(--after, #2f7f79)"
INK = "var(--ink, currentColor)"
QUIET = "var(--quiet, #77726a)"
CARD = "var(--card, transparent)"
LINE = "var(--line, #88888833)"

Anchor = Literal["start", "middle", "end"]

# Widths of characters as shares of the font size, after a wide font: labels get rather too much room.
_WIDTHS = {
    **dict.fromkeys("ijl|'!.,:; ", 0.32),
    **dict.fromkeys("frtI()[]{}/\\-ıİ", 0.41),
    **dict.fromkeys("mwMW%@\N{HORIZONTAL ELLIPSIS}\N{EM DASH}", 0.97),
}
_BOLD = 1.12  # how much wider bold letters are
_PADDING = (6, 2, 10, 2)  # left, top, right, bottom
# What XML does not allow, not even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def text_width(words: str, size: float) -> float:
    """Estimate the pixels that a text takes in a common font."""
    return size * sum(_share(character) for character in words)


def _share(character: str) -> float:
    known = _WIDTHS.get(character)
    if known is not None:
        return known
    if character.isascii():
        return 0.72 if character.isupper() else 0.62
    if unicodedata.category(character) in {"Mn", "Me", "Cf"}:  # drawn onto the letter before
        return 0.0
    if unicodedata.east_asian_width(character) in {"W", "F"}:
        return 1.0
    return 0.76 if character.isupper() else 0.64


def shorten(words: str, limit: float, size: float) -> str:
    """Cut a text that takes more than ``limit`` pixels, with an ellipsis.

    Example:
        >>> shorten("a long name of a column", 60, 11)
        'a long n…'
    """
    if text_width(words, size) <= limit:
        return words
    room = limit - text_width("…", size)
    for place, character in enumerate(words):
        room -= size * _share(character)
        if room < 0:
            return words[:place].rstrip() + "…"
    return words


def _clean(words: str) -> str:
    """Put a text on one line, without characters that XML does not know."""
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", " ".join(str(words).split()))


def _pixel(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


@dataclass(frozen=True)
class Lettering:
    """How a text is written.

    Attributes:
        anchor: Which part of it stands at its place.
        size: In pixels.
        colour: Of its letters.
        angle: Degrees by which it is turned around its anchor.
        bold: Heavier letters.
    """

    anchor: Anchor = "start"
    size: float = 11
    colour: str = QUIET
    angle: float = 0
    bold: bool = False


class Drawing:
    """Marks in pixels, to the right and downwards, and the box that holds them all.

    Guarantees:
        - No mark lies outside the box, and the box is what the picture shows.
        - A mark without a place (NaN, infinite) is left out.
        - Every text is escaped.
    """

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.left = self.top = math.inf
        self.right = self.bottom = -math.inf

    def _hold(self, *corners: tuple[float, float]) -> bool:
        """Widen the box; False, and nothing happens, where a corner has no place."""
        if not corners or not all(math.isfinite(x) and math.isfinite(y) for x, y in corners):
            return False
        self.left = min(self.left, *(x for x, _ in corners))
        self.right = max(self.right, *(x for x, _ in corners))
        self.top = min(self.top, *(y for _, y in corners))
        self.bottom = max(self.bottom, *(y for _, y in corners))
        return True

    def bar(
        self, start: tuple[float, float], end: tuple[float, float], colour: str, *, edge: str = ""
    ) -> None:
        """Fill a rectangle between two corners; one without area is not drawn."""
        (x, right), (y, bottom) = (sorted(pair) for pair in zip(start, end, strict=True))
        if not self._hold((x, y), (right, bottom)) or x == right or y == bottom:
            return
        around = f' stroke="{edge}"' if edge else ""
        self.parts.append(
            f'<rect x="{_pixel(x)}" y="{_pixel(y)}" width="{_pixel(right - x)}" '
            f'height="{_pixel(bottom - y)}" fill="{colour}"{around}/>'
        )

    def line(
        self, points: Iterable[tuple[float, float]], colour: str, *, width: float = 1.0, dashes: str = ""
    ) -> None:
        """Join points; those without a place are left out."""
        kept = [(x, y) for x, y in points if math.isfinite(x) and math.isfinite(y)]
        half = width / 2
        if len(kept) < 2:
            return
        self._hold(*((x + side, y + side) for x, y in kept for side in (-half, half)))
        path = "L".join(f"{_pixel(x)},{_pixel(y)}" for x, y in kept)
        style = f' stroke-dasharray="{dashes}"' if dashes else ""
        self.parts.append(
            f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="{_pixel(width)}" '
            f'stroke-linejoin="round"{style}/>'
        )

    def dot(self, x: float, y: float, radius: float, colour: str) -> None:
        """Fill a circle."""
        if self._hold((x - radius, y - radius), (x + radius, y + radius)):
            self.parts.append(
                f'<circle cx="{_pixel(x)}" cy="{_pixel(y)}" r="{_pixel(radius)}" fill="{colour}"/>'
            )

    def text(
        self,
        x: float,
        y: float,
        words: str,
        style: Lettering | None = None,
        *,
        limit: float = math.inf,
    ) -> None:
        """Write a text; ``y`` is its middle, ``limit`` cuts it."""
        style = style or Lettering()
        anchor, size, angle, bold = style.anchor, style.size, style.angle, style.bold
        shown = shorten(_clean(words), limit, size)
        wide = text_width(shown, size) * (_BOLD if bold else 1)
        begin = {"start": 0.0, "middle": -wide / 2, "end": -wide}[anchor]
        turned = math.radians(angle)
        cosine, sine = math.cos(turned), math.sin(turned)
        corners = [
            (x + along * cosine - down * sine, y + along * sine + down * cosine)
            for along in (begin, begin + wide)
            for down in (-0.62 * size, 0.62 * size)
        ]
        if not shown or not self._hold(*corners):
            return
        drawn = f' text-anchor="{anchor}"' if anchor != "start" else ""
        drawn += ' font-weight="bold"' if bold else ""
        drawn += f' transform="rotate({_pixel(angle)} {_pixel(x)} {_pixel(y)})"' if angle else ""
        self.parts.append(
            f'<text x="{_pixel(x)}" y="{_pixel(y + 0.36 * size)}" font-size="{_pixel(size)}" '
            f'fill="{style.colour}"{drawn}>{html.escape(shown)}</text>'
        )

    def put(self, other: Drawing, x: float, y: float) -> None:
        """Lay another drawing into this one, its origin at ``x`` and ``y``."""
        if self._hold((x + other.left, y + other.top), (x + other.right, y + other.bottom)):
            inside = "".join(other.parts)
            self.parts.append(f'<g transform="translate({_pixel(x)} {_pixel(y)})">{inside}</g>')

    def svg(self, title: str) -> str:
        """Give the picture as SVG that may stand inside a page; ``title`` says in words what it shows."""
        empty = self.left > self.right
        left, top, right, bottom = (0, 0, 0, 0) if empty else (self.left, self.top, self.right, self.bottom)
        width = math.ceil(_PADDING[0] + right - left + _PADDING[2])
        height = math.ceil(_PADDING[1] + bottom - top + _PADDING[3])
        label = html.escape(_clean(title), quote=True)
        move = f"translate({_pixel(_PADDING[0] - left)} {_pixel(_PADDING[1] - top)})"
        return (
            f'<svg width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            f'font-family="system-ui, sans-serif" role="img" aria-label="{label}"><title>{label}</title>'
            f'<g transform="{move}">{"".join(self.parts)}</g></svg>'
        )


def tile(panels: Sequence[Drawing], *, columns: int = 3, gap: float = 28) -> Drawing:
    """Lay panels in rows; the origins of a row and of a column are in line."""
    drawing = Drawing()
    shown = [panel for panel in panels if panel.left <= panel.right]
    if not shown:
        return drawing
    stacks = [shown[place::columns] for place in range(min(columns, len(shown)))]
    x = [0.0]
    for before, after in pairwise(stacks):
        x.append(x[-1] + max(one.right for one in before) + gap - min(one.left for one in after))
    rows = [shown[place : place + columns] for place in range(0, len(shown), columns)]
    y = [0.0]
    for before, after in pairwise(rows):
        y.append(y[-1] + max(one.bottom for one in before) + gap - min(one.top for one in after))
    for place, panel in enumerate(shown):
        drawing.put(panel, x[place % columns], y[place // columns])
    return drawing


def standing_alone(svg: str) -> str:
    """Make an inline picture a file of its own: name space, fixed colours, white ground."""
    # Only attributes: a quote in a text is escaped, so that no text can look like one.
    fixed = re.sub(r'="var\(--[a-z]+, ([^)"]+)\)"', lambda match: f'="{match[1]}"', svg)
    fixed = fixed.replace('="currentColor"', '="#26241f"').replace('="transparent"', '="none"')
    opening, _, body = fixed.partition(">")
    return (
        f'{opening} xmlns="http://www.w3.org/2000/svg"><rect width="100%" height="100%" fill="#fff"/>{body}'
    )
