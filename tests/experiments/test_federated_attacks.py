"""Hostile clients on Adult: the small run shows what the large one measures."""

from __future__ import annotations

import pytest

from mahrem.experiments import PAPERS, reproduce
from mahrem.experiments._federated_attacks import ATTACKS
from mahrem.experiments._federated_attacks_runs import DEFENCES


def test_its_tables_can_be_asked_for_and_every_attack_has_one() -> None:
    assert {attack.table for attack in ATTACKS} == {"backdoor", "labels", "free-rider"}
    assert {attack.table for attack in ATTACKS} < set(PAPERS["federated-attacks"].tables)


@pytest.mark.data
@pytest.mark.usefixtures("benchmark_data")
def test_a_back_door_stands_open_without_a_defence_and_is_shut_by_those_that_compare() -> None:
    rows = reproduce("federated-attacks", ["backdoor"], quick=True)
    assert all(row.published is None for row in rows)
    opened = {
        row.method: row.ours
        for row in rows
        if row.metric == "attack_success" and row.setting["attack"] == "model replacement"
    }
    assert opened.keys() == DEFENCES.keys()
    assert (opened["none"] or 0.0) > 0.9
    for defence in ("norm bound", "anomaly scores", "held-out rows", "median", "trimmed mean", "krum"):
        assert (opened[defence] or 0.0) < 0.5, defence
    refused = [row for row in rows if row.metric == "refused" and row.method == "anomaly scores"]
    assert all(row.ours == 1 for row in refused)


@pytest.mark.data
@pytest.mark.usefixtures("benchmark_data")
def test_rows_are_read_off_plain_updates_and_neither_off_sums_of_batches_nor_off_noise() -> None:
    pytest.importorskip("cryptography")
    found = {
        row.method: row.ours
        for row in reproduce("federated-attacks", ["inversion"], quick=True)
        if row.metric == "rows_recovered"
    }
    assert found["plain update of one row"] == 1
    assert found["one row, clipped, without noise"] == 1
    assert found["masked sum of 5 clients, 32 rows each"] == 0
    assert (found["masked sum of 20 clients, one row each"] or 0.0) < 0.1
    assert found["one row, DP noise"] == 0
    assert 0 < (found["masked sum of 5 clients, one row each"] or 0.0) < 1


@pytest.mark.data
@pytest.mark.usefixtures("benchmark_data")
def test_membership_is_asked_of_the_common_model_and_of_one_silo_three_ways() -> None:
    rows = reproduce("federated-attacks", ["membership"], quick=True)
    areas = {(row.method, row.setting["attack"]): row.ours for row in rows if row.metric == "auc"}
    ways = ("original", "anonymised, k=3", "DP, rows, epsilon 8")
    attacks = ("membership by loss", "few shadows", "membership by updates")
    assert areas.keys() == {(way, attack) for way in ways for attack in attacks}
    assert all(0.3 < (area or 0.0) < 0.8 for area in areas.values())
    assert sum(row.metric == "accuracy" for row in rows) == len(ways)
