"""What a release says about itself: ``report.json``, and the same as one self-contained page in plain words.

The page is drawn from the content of ``report.json`` alone, so that it can be redrawn later in any of its
languages. Nothing in it is finer than the promise: small counts are hidden, rare values are not named.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.report._accuracy import accuracy_svg as accuracy_svg
    from mahrem.report._accuracy import correlation_sentences as correlation_sentences
    from mahrem.report._advice import comparison_advice as comparison_advice
    from mahrem.report._advice import frontier_advice as frontier_advice
    from mahrem.report._differences import differences_page as differences_page
    from mahrem.report._distributions import distribution as distribution
    from mahrem.report._distributions import rounded as rounded
    from mahrem.report._distributions import shared_out as shared_out
    from mahrem.report._federation import federation_page as federation_page
    from mahrem.report._frontier import frontier_page as frontier_page
    from mahrem.report._frontier import frontier_svg as frontier_svg
    from mahrem.report._gain import gain_svg as gain_svg
    from mahrem.report._grid import lattice_step as lattice_step
    from mahrem.report._grid import moment_edges as moment_edges
    from mahrem.report._grid import number_edges as number_edges
    from mahrem.report._grouped import grouped_svg as grouped_svg
    from mahrem.report._html import render_html as render_html
    from mahrem.report._html import summary_parts as summary_parts
    from mahrem.report._pdf import print_pdf as print_pdf
    from mahrem.report._quality import quality_page as quality_page
    from mahrem.report._report import ColumnSet as ColumnSet
    from mahrem.report._report import JudgedTable as JudgedTable
    from mahrem.report._report import Report as Report
    from mahrem.report._report import ReportColumn as ReportColumn
    from mahrem.report._report import ReportFacts as ReportFacts
    from mahrem.report._report import ReportFinding as ReportFinding
    from mahrem.report._report import ReportLearning as ReportLearning
    from mahrem.report._report import ReportMissing as ReportMissing
    from mahrem.report._report import ReportPromise as ReportPromise
    from mahrem.report._report import ReportRelation as ReportRelation
    from mahrem.report._report import ReportRisk as ReportRisk
    from mahrem.report._report import ReportSingling as ReportSingling
    from mahrem.report._report import ReportTeam as ReportTeam
    from mahrem.report._report import stamp as stamp
    from mahrem.report._report import to_json as to_json
    from mahrem.report._report import verdict_of as verdict_of
    from mahrem.report._report import warnings_of as warnings_of
    from mahrem.report._reproduced import bars_svg as bars_svg
    from mahrem.report._reproduced import beside_print_svg as beside_print_svg
    from mahrem.report._reproduced import lines_svg as lines_svg
else:
    __getattr__, __dir__, __all__ = offered(__name__)
