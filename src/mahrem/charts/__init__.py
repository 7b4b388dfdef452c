"""Pictures of results for notebooks, as Altair charts: what a report says already, drawn.

Each function takes figures as JSON has them and gives a Vega-Lite drawing as plain data; :func:`as_chart`
makes it a chart of Altair, which is loaded then and never before. A picture shows no figure that the report
does not have, and no cell.
"""

from __future__ import annotations

from mahrem.charts._attacks import draw_attacks
from mahrem.charts._budget import draw_budget
from mahrem.charts._frame import Drawing, as_chart
from mahrem.charts._models import draw_model
from mahrem.charts._releases import draw_class_sizes, draw_comparison

__all__ = [
    "Drawing",
    "as_chart",
    "draw_attacks",
    "draw_budget",
    "draw_class_sizes",
    "draw_comparison",
    "draw_model",
]
