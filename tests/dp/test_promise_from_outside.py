"""The promise as an attacker sees it: many answers about two neighbours, counted.

For a set S of answers, P[S on one] <= exp(epsilon) P[S on the other] must hold. Both are bounded by exact
(Clopper-Pearson) intervals at 1 - 1e-7 each, so a false alarm comes less than once in five million runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from scipy import stats

from mahrem.dp import Ledger
from mahrem.dp.queries import answer_query

ALARM = 1e-7
DRAWS = 500
COLUMNS: dict[str, Any] = {"x": {"lower": 0, "upper": 10}, "g": {"categories": ["a", "b"]}}
MANY = pl.DataFrame({"x": [0.0] * 5 + [10.0] * 5 + [10.0], "g": ["a"] * 11})
LESS = MANY[:10]
OTHER = pl.DataFrame({"x": [0.0] * 5 + [10.0] * 5 + [0.0], "g": ["a"] * 10 + ["b"]})

CASES: list[tuple[str, str, pl.DataFrame, Callable[[Any], bool]]] = [
    ("count()", "add-remove", LESS, lambda rows: rows[0]["value"] >= 11),
    ("count() by g", "replace", OTHER, lambda rows: rows[0]["value"] - rows[1]["value"] >= 10),
    ("sum(x)", "add-remove", LESS, lambda rows: rows[0]["value"] >= 60),
    ("sum(x)", "replace", OTHER, lambda rows: rows[0]["value"] >= 60),
    ("median(x)", "add-remove", LESS, lambda rows: rows[0]["value"] > 9.9),
    ("histogram(x, 2)", "add-remove", LESS, lambda rows: rows[1]["value"] >= 6),
]


def most_likely(epsilon: float, case: tuple[str, str, pl.DataFrame, Callable[[Any], bool]]) -> float:
    """Bound the privacy loss from below: what the counts prove, but for a false alarm."""
    question, relation, neighbour, inside = case
    counts = []
    for table in (MANY, neighbour):
        with pytest.warns(UserWarning, match="next to nothing"):
            ledger = Ledger.temporary(epsilon=1e6, relation=relation, columns=COLUMNS)
        answers = (answer_query(table, question, ledger=ledger, epsilon=epsilon) for _ in range(DRAWS))
        counts.append(sum(inside(answer.rows) for answer in answers))
    here = stats.beta.ppf(ALARM, counts[0], DRAWS - counts[0] + 1) if counts[0] else 0.0
    there = stats.beta.ppf(1 - ALARM, counts[1] + 1, DRAWS - counts[1]) if counts[1] < DRAWS else 1.0
    return math.log(here / there) if here > 0 else -math.inf


@pytest.mark.parametrize("case", CASES, ids=[f"{case[0]} {case[1]}" for case in CASES])
def test_answers_give_away_no_more_than_epsilon(
    case: tuple[str, str, pl.DataFrame, Callable[[Any], bool]],
) -> None:
    assert most_likely(1.0, case) <= 1.0


def test_the_test_sees_answers_that_cost_three_times_as_much() -> None:
    assert most_likely(3.0, CASES[0]) > 1.0
