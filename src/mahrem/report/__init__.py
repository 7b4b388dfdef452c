"""What a release says about itself: ``report.json``, and the same as one self-contained page in plain words.

The page is drawn from the content of ``report.json`` alone, so that it can be redrawn later in any of its
languages. Nothing in it is finer than the promise: small counts are hidden, rare values are not named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.report._accuracy import accuracy_svg, correlation_sentences
    from mahrem.report._advice import comparison_advice, frontier_advice
    from mahrem.report._differences import differences_page
    from mahrem.report._distributions import distribution, rounded, shared_out
    from mahrem.report._federation import federation_page
    from mahrem.report._frontier import frontier_page, frontier_svg
    from mahrem.report._gain import gain_svg
    from mahrem.report._grid import lattice_step, moment_edges, number_edges
    from mahrem.report._grouped import grouped_svg
    from mahrem.report._html import render_html, summary_parts
    from mahrem.report._pdf import print_pdf
    from mahrem.report._quality import quality_page
    from mahrem.report._report import (
        ColumnSet,
        JudgedTable,
        Report,
        ReportColumn,
        ReportFacts,
        ReportFinding,
        ReportLearning,
        ReportMissing,
        ReportPromise,
        ReportRelation,
        ReportRisk,
        ReportSingling,
        ReportTeam,
        stamp,
        to_json,
        verdict_of,
        warnings_of,
    )
    from mahrem.report._reproduced import bars_svg, beside_print_svg, lines_svg
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "ColumnSet",
    "JudgedTable",
    "Report",
    "ReportColumn",
    "ReportFacts",
    "ReportFinding",
    "ReportLearning",
    "ReportMissing",
    "ReportPromise",
    "ReportRelation",
    "ReportRisk",
    "ReportSingling",
    "ReportTeam",
    "accuracy_svg",
    "bars_svg",
    "beside_print_svg",
    "comparison_advice",
    "correlation_sentences",
    "differences_page",
    "distribution",
    "federation_page",
    "frontier_advice",
    "frontier_page",
    "frontier_svg",
    "gain_svg",
    "grouped_svg",
    "lattice_step",
    "lines_svg",
    "moment_edges",
    "number_edges",
    "print_pdf",
    "quality_page",
    "render_html",
    "rounded",
    "shared_out",
    "stamp",
    "summary_parts",
    "to_json",
    "verdict_of",
    "warnings_of",
]
