"""PATE on MNIST: its tables, its features by hand, and a small run that costs what its votes say."""

from __future__ import annotations

import numpy as np
import pytest

from mahrem.dp import Relation
from mahrem.dp.accounting import epsilon_of
from mahrem.experiments import PAPERS, reproduce
from mahrem.experiments._dp_pate import RECIPES, gradient_histograms
from mahrem.experiments._mnist import MIDDLE, SPREAD


def test_its_tables_can_be_asked_for() -> None:
    assert set(RECIPES) == set(PAPERS["dp-pate"].tables)


def test_an_edge_counts_for_its_direction_alone() -> None:
    shade = np.zeros((2, 1, 28, 28), dtype=np.float32)
    shade[1, 0, :, 14:] = 1.0  # from left to right: direction 0
    found = gradient_histograms((shade - MIDDLE) / SPREAD).reshape(2, 6, 6, 4, 9)
    assert np.abs(found[0]).max() < 1e-3
    assert found[1, ..., 0].max() > 0.4
    assert np.abs(found[1, ..., 1:]).max() < 1e-3


@pytest.mark.data
@pytest.mark.usefixtures("benchmark_data")
def test_a_small_run_costs_what_its_votes_say() -> None:
    pytest.importorskip("sklearn")
    accuracy, epsilon = reproduce("dp-pate", ["gnmax"], quick=True)
    said = epsilon_of(RECIPES["gnmax"][0].event(100), 1e-5, Relation.ADD_REMOVE)
    assert epsilon.ours == pytest.approx(said, rel=1e-6)
    assert accuracy.setting == {"teachers": 20, "questions": 100, "answered": 100}
    assert accuracy.ours is not None
