"""Published tables again: recipe, published figure, ours.

Published figures are data files beside the code, with their source named; each paper is a module that says
with which data and settings its tables are made again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.experiments._reproduce import PAPERS, Paper, reproduce
    from mahrem.experiments._row import Row
    from mahrem.experiments._write import write_csv, write_rows
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = ["PAPERS", "Paper", "Row", "reproduce", "write_csv", "write_rows"]
