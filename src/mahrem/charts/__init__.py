"""Pictures of results for notebooks, as Altair charts: what a report says already, drawn.

Each function takes figures as JSON has them and gives a Vega-Lite drawing as plain data; :func:`as_chart`
makes it a chart of Altair, which is loaded then and never before. A picture shows no figure that the report
does not have, and no cell.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.charts._attacks import draw_attacks as draw_attacks
    from mahrem.charts._budget import draw_budget as draw_budget
    from mahrem.charts._frame import Drawing as Drawing
    from mahrem.charts._frame import as_chart as as_chart
    from mahrem.charts._models import draw_model as draw_model
    from mahrem.charts._releases import draw_class_sizes as draw_class_sizes
    from mahrem.charts._releases import draw_comparison as draw_comparison
else:
    __getattr__, __dir__, __all__ = offered(__name__)
