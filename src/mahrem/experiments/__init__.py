"""Published tables again: recipe, published figure, ours.

Published figures are data files beside the code, with their source named; each paper is a module that says
with which data and settings its tables are made again.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.experiments._reproduce import PAPERS as PAPERS
    from mahrem.experiments._reproduce import Paper as Paper
    from mahrem.experiments._reproduce import reproduce as reproduce
    from mahrem.experiments._row import Row as Row
    from mahrem.experiments._write import write_csv as write_csv
    from mahrem.experiments._write import write_rows as write_rows
else:
    __getattr__, __dir__, __all__ = offered(__name__)
