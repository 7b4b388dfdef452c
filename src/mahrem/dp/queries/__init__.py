"""Private questions: what can be asked, as data and as text, and how it is planned, paid for and answered.

``QUERIES`` has one entry per question; grammar, planner, help and the page are made from it. A plan rests on
public facts alone; an answer looks at data only after the ledger has paid.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.dp._tally import Condition as Condition
    from mahrem.dp.queries._answer import Answer as Answer
    from mahrem.dp.queries._answer import answer_query as answer_query
    from mahrem.dp.queries._answer import preview_query as preview_query
    from mahrem.dp.queries._entries import QUERIES as QUERIES
    from mahrem.dp.queries._entries import QueryEntry as QueryEntry
    from mahrem.dp.queries._grammar import parse_query as parse_query
    from mahrem.dp.queries._keywords import QueryKeywords as QueryKeywords
    from mahrem.dp.queries._plan import QueryPlan as QueryPlan
    from mahrem.dp.queries._planning import plan_query as plan_query
    from mahrem.dp.queries._quantiles import Median as Median
    from mahrem.dp.queries._quantiles import QuantileRange as QuantileRange
    from mahrem.dp.queries._quantiles import Quantiles as Quantiles
    from mahrem.dp.queries._quantiles import SmoothMedian as SmoothMedian
    from mahrem.dp.queries._query import Query as Query
    from mahrem.dp.queries._settings import QuerySettings as QuerySettings
    from mahrem.dp.queries._sums import Bounds as Bounds
    from mahrem.dp.queries._sums import Count as Count
    from mahrem.dp.queries._sums import Histogram as Histogram
    from mahrem.dp.queries._sums import Mean as Mean
    from mahrem.dp.queries._sums import Sum as Sum
    from mahrem.dp.queries._sums import Variance as Variance
else:
    __getattr__, __dir__, __all__ = offered(__name__)
