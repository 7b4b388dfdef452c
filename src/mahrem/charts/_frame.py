"""What all pictures share: colours for light and dark pages, numbers of a language, the way to Altair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from mahrem.check import extra
from mahrem.errors import InvalidParameter
from mahrem.words import Catalogue

if TYPE_CHECKING:
    from altair.typing import ChartType

Drawing: TypeAlias = dict[str, Any]  # Vega-Lite

# The ground stays the page's own, so every colour stands out from white and from black alike.
INK = "#757575"
FIRST, SECOND = "#2f8f86", "#d0622b"
MANY = (FIRST, SECOND, "#7d6fd0", "#b8519b", "#8a7d1f", "#3f86c9", "#c2503f", "#5f8f3a")
GRID = "#80808040"
WIDTH, HEIGHT = 420, 260


def as_chart(drawing: Drawing) -> ChartType:
    """Make a drawing a chart of Altair, which checks it.

    Raises:
        MissingExtra: Altair is not installed.
    """
    try:
        import altair as alt
    except ImportError:
        raise extra("charts", needed_for="plot()") from None
    chart: ChartType = alt.Chart.from_dict(drawing)
    return chart


def framed(title: str, words: Catalogue, body: Drawing, *, under: str | None = None) -> Drawing:
    """Put a title over a drawing, and colours and numbers around it."""
    marks = words["format"]
    numbers = {"decimal": marks["decimal"], "thousands": marks["thousands"]}
    return {
        **body,
        "title": titled(title, under),
        "background": "transparent",
        "padding": 10,
        "config": {
            "axis": {
                "labelColor": INK,
                "titleColor": INK,
                "domainColor": INK,
                "tickColor": INK,
                "gridColor": GRID,
                "labelLimit": 260,
            },
            "legend": {"labelColor": INK, "titleColor": INK, "orient": "bottom", "columns": 4},
            "title": {"color": INK, "subtitleColor": INK, "anchor": "start"},
            "view": {"stroke": None},
            "locale": {"number": {**numbers, "grouping": [3], "currency": ["", ""]}},
        },
    }


def titled(title: str, under: str | None = None) -> Drawing:
    """Give a title, and a line under it where there is one."""
    return {"text": title} | ({"subtitle": under} if under else {})


def share_axis(title: str, words: Catalogue) -> Drawing:
    """Give an axis of shares that are written as the language writes percentages."""
    before, _, after = str(words["format"]["percent"]).partition("{number}")
    written = f"'{before}' + format(100 * datum.value, '.4~g') + '{after}'"
    return {"title": title, "labelExpr": written}


def measured(field: str, axis: Drawing, **more: object) -> Drawing:
    """Encode a number."""
    return {"field": field, "type": "quantitative", "axis": axis, **more}


def tooltip(*names: tuple[str, str]) -> Sequence[Drawing]:
    """Encode what is told of a mark under the pointer: fields that are written out, and their names."""
    return [{"field": field, "type": "nominal", "title": title} for field, title in names]


def not_empty(what: str, figures: Sequence[Any] | None) -> Sequence[Any]:
    """Refuse to draw a picture of nothing."""
    if not figures:
        raise InvalidParameter(f"plot: this result has no {what}, so there is nothing to draw")
    return figures
