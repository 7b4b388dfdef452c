from __future__ import annotations

from pathlib import Path

import pytest

from mahrem.experiments import reproduce


@pytest.mark.data
@pytest.mark.usefixtures("benchmark_data")
def test_the_federated_tables_stand_beside_the_print(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAHREM_STATE", str(tmp_path))
    rows = reproduce("saleh", ["7.1", "7.2", "silos"], quick=True)
    printed = {
        (row.table, row.metric): row.published for row in rows if row.method == "fedavg" and row.published
    }
    assert printed[("7.1", "accuracy")] == 0.85
    assert printed[("7.2", "f1")] == 0.621
    losses = {
        (row.setting["silo"], row.metric): row.published
        for row in rows
        if row.table == "7.2" and "silo" in row.setting and row.method == "learnt groups"
    }
    assert [losses[(silo, "loss_cells_percent")] for silo in (1, 2, 3)] == [6.13, 5.97, 6.3]
    assert all(losses[(silo, "loss_percent")] is None for silo in (1, 2, 3))
    risk = {row.method: row.ours for row in rows if row.metric == "highest_risk"}
    assert risk["central, original"] == risk["federated, original"] == 1
    for way in ("central, anonymised", "federated, anonymised"):
        assert (risk[way] or 1.0) <= 1 / 3 + 1e-4
