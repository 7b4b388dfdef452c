"""Synthetic Adult: the tables are there, and made-up rows teach a classifier what real ones do."""

from __future__ import annotations

import pytest

from mahrem.experiments._adult_facts import ADULT_TARGET
from mahrem.experiments._dp_synthesis import SYNTHESIS_FACTS, _files, synthetic_adult
from mahrem.learning.synthesis._synthetic_quality import _learning
from mahrem.learning.synthesis._synthetic_sides import ComparedTable


def test_all_columns_are_declared() -> None:
    assert len(SYNTHESIS_FACTS) == 15


@pytest.mark.data
@pytest.mark.usefixtures("benchmark_data")
def test_made_up_rows_at_epsilon_one_teach_at_least_eighty_percent() -> None:
    """Over many runs the accuracy was 0.83 to 0.84 with a deviation below 0.003: 0.80 is never missed."""
    pytest.importorskip("sklearn")
    _files.cache_clear()
    train, test = _files()
    fitted = synthetic_adult("marginals", 1.0)
    assert fitted.cost_ == (1.0, 1e-6)
    tables = {"real": test, "synthetic": fitted.sample(train.height, seed=1), "holdout": test}
    sides = {name: ComparedTable(fitted.domain, table) for name, table in tables.items()}
    found = _learning(sides, ADULT_TARGET, ["logistic_regression"], 0, 1)["logistic_regression"]
    assert found["synthetic_accuracy"] > 0.80
