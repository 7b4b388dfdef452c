"""Attacks and audits on Adult: the tables are there, a small run holds what the large one shows."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from mahrem.dp import Ledger
from mahrem.experiments import reproduce
from mahrem.experiments._dp_audit import _Broken, _private, _Size
from mahrem.learning.private import new_stream


def test_the_broken_trainer_claims_as_much_and_draws_no_noise() -> None:
    ledger = Ledger.temporary(epsilon=1, delta=1e-6, rows=600)
    honest = _private(_Size(), 600)
    broken = _Broken(**honest.get_params())
    one, two = honest.plan(ledger), broken.plan(ledger)
    assert one.as_dict() == two.as_dict()
    assert one.draw_noise(new_stream(1), 0, 5).any()
    assert not two.draw_noise(new_stream(1), 0, 5).any()


@pytest.mark.data
@pytest.mark.usefixtures("benchmark_data")
def test_a_small_run_catches_what_is_broken_and_sees_no_domain_leak() -> None:
    # A true claim of 1 with 40 canaries: two bounds above it have a chance below 3e-3.
    found = {
        (row.method, row.metric): row.ours or 0.0
        for row in reproduce("dp-audit", ["claims", "domain"], quick=True)
    }
    assert found["honest", "bounds above the claim"] < 2
    # one of some hundreds is as low as the claim; of three, one is enough
    assert found["noise forgotten", "bounds above the claim"] >= 1
    assert found["marginals", "a row with an undeclared race"] == 0
    assert found["private network", "a row with an undeclared income"] == 0
