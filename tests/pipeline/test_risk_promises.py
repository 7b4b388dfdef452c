"""Promises about risk, from a policy to an audited release, by methods that cut and methods that lift."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import mahrem as mh
from mahrem.errors import Infeasible, InvalidParameter

ROLES = {"quasi": ["age", "sex", "zip"], "sensitive": "diagnosis", "rest": "drop"}
PROMISES: dict[str, dict[str, object]] = {
    "k-map": {"k_map": 20, "fraction": 0.2},
    "journalist-risk": {"journalist_risk": 0.05, "fraction": 0.2},
    "no-attack": {"no_attack": [30.0, 4.0]},
    "average-risk": {"average_risk": 0.06},
    "marketer-risk": {"marketer_risk": 0.02, "fraction": 0.3},
    "population-uniqueness": {"population_uniqueness": 0.02, "fraction": 0.1},
    "grassberger-l-diversity": {"l": 2.5, "l_kind": "grassberger", "k": 3},
}


@pytest.fixture(scope="module")
def patients() -> pl.DataFrame:
    return mh.demo_patients(500)


@pytest.mark.filterwarnings("ignore:.*composition")
@pytest.mark.parametrize("method", ["mondrian", "flash"])
@pytest.mark.parametrize("name", sorted(PROMISES))
def test_what_is_promised_of_risk_holds_and_audits_true(
    name: str, method: str, patients: pl.DataFrame, tmp_path: Path
) -> None:
    release = mh.anonymize(patients, output=tmp_path / "release", method=method, **PROMISES[name], **ROLES)
    told = {promise["model"]: promise for promise in release.report["promises"]}
    assert told[name]["holds"]
    found = mh.audit(tmp_path / "release")
    assert found.holds
    again = {promise["model"]: promise for promise in found.report["promises"]}
    assert again[name]["reached"] == pytest.approx(told[name]["reached"])


def test_an_audit_of_raw_rows_says_that_they_break_it(patients: pl.DataFrame) -> None:
    for name in ("average-risk", "population-uniqueness", "no-attack"):
        found = mh.audit(patients, quasi=["age", "sex", "zip"], **PROMISES[name])
        assert not found.holds, name


def test_the_lattice_judges_promises_about_all_classes(patients: pl.DataFrame) -> None:
    found = mh.lattice(patients, k=2, average_risk=0.02, **ROLES)
    for node in found:
        if node.holds:
            assert node.classes is not None
            assert node.classes / (500 - node.suppressed) <= 0.02 + 1e-12
        assert node.holds == (not found.why(node.levels))
    assert found.best().holds
    plain = mh.lattice(patients, k=2, **ROLES)
    assert len(plain.holding()) > len(found.holding())


def test_what_cannot_be_reached_or_was_not_said_whole_is_refused(patients: pl.DataFrame) -> None:
    with pytest.raises(Infeasible, match="average-risk"):
        mh.anonymize(patients, average_risk=0.001, **ROLES)
    with pytest.raises(InvalidParameter, match="fraction"):
        mh.anonymize(patients, k_map=5, **ROLES)
    with pytest.raises(InvalidParameter, match="spark"):
        mh.anonymize(patients, average_risk=0.1, engine="spark", **ROLES)


@pytest.mark.parametrize("seed", [0, 2, 6, 12, 13, 18])
@pytest.mark.filterwarnings("ignore")
def test_classes_that_look_alike_keep_together_what_each_keeps(seed: int) -> None:
    """Hiding a column lets classes look alike, and not every model admits the union of what it admits."""
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(8, 40))
    table = pl.DataFrame(
        {
            "age": rng.integers(20, 26, rows),
            "zip": rng.integers(0, 6, rows),
            "ill": rng.choice(["flu", "gout", "none"], rows, p=[0.6, 0.3, 0.1]),
        }
    )
    try:
        release = mh.anonymize(
            table,
            quasi=["age", "zip"],
            sensitive={"ill": {"l": 2, "l_kind": "grassberger"}},
            k=1,
            suppress=["zip"],
            method="v-mdav",
            accept={"*": "invented"},
        )
    except Infeasible:
        return
    assert release.report["holds"]
