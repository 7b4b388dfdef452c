"""Private answers: a question and a ledger in, noisy figures with error bars out."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Unpack

from mahrem.dp import Ledger
from mahrem.dp.queries import Answer, Query, QueryKeywords, QuerySettings, answer_query, preview_query
from mahrem.errors import in_our_words
from mahrem.release.decisions import ReadingSettings, reading_from
from mahrem.settings import settings_of
from mahrem.table import hold


class AskKeywords(QueryKeywords, ReadingSettings, total=False):
    """How a question is answered, and how the source is read."""


@in_our_words
def query(
    source: object,
    question: str | Query,
    *,
    ledger: str | Path | Ledger,
    epsilon: float,
    plan: bool = False,
    **settings: Unpack[AskKeywords],
) -> Answer:
    """Answer a question about a table with differential privacy.

    Args:
        source: A frame, a file or a database: the one the ledger was made for.
        question: For example ``"mean(cost) by sex where age >= 18"``, or a query object of ``mahrem.dp``.
        ledger: The ledger that pays, or its path.
        epsilon: What the answer may cost.
        plan: Only say how far off the answer would be and whether it fits; nothing is spent.
        **settings: How it is answered, every name of :class:`~mahrem.dp.queries.QueryKeywords`; how the
            source is read, every name of :class:`~mahrem.release.decisions.ReadingSettings`.

    Guarantees:
        - ``(epsilon, delta)``-DP under the ledger's relation and unit of privacy.
        - The spend is on disk before a value is looked at; what does not fit is refused.

    Example:
        >>> import mahrem as mh
        >>> patients = mh.demo_patients(300)
        >>> ledger = mh.Ledger.temporary(epsilon=1, columns={"sex": {"categories": ["f", "m"]}})
        >>> answer = query(patients, "count() by sex", ledger=ledger, epsilon=0.5)
        >>> [row["sex"] for row in answer.rows]
        ['f', 'm']
    """
    book, known = Ledger.of(ledger), settings_of(QuerySettings)
    reading = reading_from({name: value for name, value in settings.items() if name not in known})
    asked: Any = {name: value for name, value in settings.items() if name in known}
    if plan:
        return preview_query(question, ledger=book, epsilon=epsilon, **asked)
    return answer_query(hold(source), question, ledger=book, epsilon=epsilon, reading=reading, **asked)
