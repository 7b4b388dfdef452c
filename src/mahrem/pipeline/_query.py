"""Private answers: a question and a ledger in, noisy figures with error bars out."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

from mahrem.dp import Answer, Ledger, Query, answer_query, foretell_query
from mahrem.pipeline._reading import ReadingSettings, reading_from
from mahrem.table import hold

__all__ = ["query"]


def query(
    source: object,
    question: str | Query,
    *,
    ledger: str | Path | Ledger,
    epsilon: float,
    delta: float = 0.0,
    mechanism: str | None = None,
    confidence: float = 0.95,
    plan: bool = False,
    **reading: Unpack[ReadingSettings],
) -> Answer:
    """Answer a question about a table with differential privacy.

    Args:
        source: A frame, a file or a database: the one the ledger was made for.
        question: For example ``"mean(cost) by sex where age >= 18"``, or a query object of ``mahrem.dp``.
        ledger: The ledger that pays, or its path.
        epsilon: What the answer may cost.
        delta: The same, for Gaussian noise.
        mechanism: ``laplace`` or ``gaussian``; by default ``gaussian`` where a delta is given.
        confidence: How likely each error bar holds.
        plan: Only say how far off the answer would be and whether it fits; nothing is spent.
        **reading: How the source is read: every name of :class:`~mahrem.pipeline.ReadingSettings`.

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
    how = reading_from(reading)
    book = Ledger.of(ledger)
    if plan:
        return foretell_query(
            question, ledger=book, epsilon=epsilon, delta=delta, mechanism=mechanism, confidence=confidence
        )
    return answer_query(
        hold(source),
        question,
        ledger=book,
        epsilon=epsilon,
        delta=delta,
        mechanism=mechanism,
        confidence=confidence,
        reading=how,
    )
