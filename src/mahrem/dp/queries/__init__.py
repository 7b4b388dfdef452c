"""Private questions: what can be asked, as data and as text, and how it is planned, paid for and answered.

``QUERIES`` has one entry per question; grammar, planner, help and the page are made from it. A plan rests on
public facts alone; an answer looks at data only after the ledger has paid.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.dp._tally import Condition
    from mahrem.dp.queries._answer import Answer, answer_query, preview_query
    from mahrem.dp.queries._entries import QUERIES, QueryEntry
    from mahrem.dp.queries._grammar import parse_query
    from mahrem.dp.queries._keywords import QueryKeywords
    from mahrem.dp.queries._plan import QueryPlan
    from mahrem.dp.queries._planning import plan_query
    from mahrem.dp.queries._quantiles import Median, QuantileRange, Quantiles, SmoothMedian
    from mahrem.dp.queries._query import Query
    from mahrem.dp.queries._settings import QuerySettings
    from mahrem.dp.queries._sums import Bounds, Count, Histogram, Mean, Sum, Variance
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "QUERIES",
    "Answer",
    "Bounds",
    "Condition",
    "Count",
    "Histogram",
    "Mean",
    "Median",
    "QuantileRange",
    "Quantiles",
    "Query",
    "QueryEntry",
    "QueryKeywords",
    "QueryPlan",
    "QuerySettings",
    "SmoothMedian",
    "Sum",
    "Variance",
    "answer_query",
    "parse_query",
    "plan_query",
    "preview_query",
]
