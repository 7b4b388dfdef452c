"""Private figures of a model: what one row moves, and models whose answers are no numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mahrem.dp import Ledger, assert_dp
from mahrem.learning.training import HeldOutMeasure
from mahrem.types import Floats


class First:
    """Answers with the first input."""

    def predict(self, rows: Floats) -> Floats:
        return rows[:, 0]


def measured(errors: Floats) -> Any:
    ledger = Ledger.temporary(epsilon=1)
    score = HeldOutMeasure(share=0.5, epsilon=1.0)
    return score(First(), errors[:, None], np.zeros(len(errors)), None, ledger, (0.0, 1.0))["value"]


def test_one_row_moves_a_sum_of_errors_by_one_row() -> None:
    # Half steps: a sum of all of them that is rounded once moves by 1,001 thousandths at some row.
    draws = np.random.default_rng(0)
    for rows in range(5, 60):
        errors = np.round(draws.random(rows) * 2000) / 2000
        assert_dp(measured, errors, np.append(errors, 1.0))


@pytest.mark.parametrize("odd", [np.nan, np.inf, -5.0])
def test_answers_that_are_no_numbers_are_as_wrong_as_can_be(odd: float) -> None:
    assert 0 <= measured(np.full(400, odd)) <= 1
    assert_dp(measured, np.full(40, 0.2), np.append(np.full(40, 0.2), odd))
