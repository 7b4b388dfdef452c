from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import mahrem as mh
from mahrem.metrics import published_loss


def tally(cells: list[str | None]) -> pl.DataFrame:
    return (
        pl.DataFrame({"cell": pl.Series(cells, dtype=pl.String)}).group_by("cell").agg(pl.len().alias("rows"))
    )


def measured(cells: list[str | None], **more: object) -> tuple[dict[str, float], dict[str, float]]:
    sizes = np.array([len(cells)])
    utility, columns = published_loss(
        {"x": tally(cells)}, sizes=sizes, rows=len(cells), suppressed=0, k=2, **more
    )
    return utility.as_dict(), columns["x"]


def test_ranges_are_measured_by_the_span_of_all_cells() -> None:
    utility, column = measured(["[0, 5]", "[0, 5]", "10", "[5, 10]"])
    assert utility["gcp_sum"] == pytest.approx(0.5 * 3)
    assert utility["gcp"] == pytest.approx(1.5 / 4)
    assert column["generalised_cells"] == 3
    assert utility["distortion"] == 3


def test_sets_are_measured_by_the_values_they_hold() -> None:
    utility, _ = measured(["{a, b}", "{a, b}", "c", "d"])
    assert utility["gcp_sum"] == pytest.approx(2 * 2 / 4)
    assert utility["iloss"] == pytest.approx(2 * 1 / 4)


def test_a_star_loses_everything_and_a_missing_value_nothing() -> None:
    utility, column = measured(["*", "*", None])
    assert utility["gcp_sum"] == 2
    assert column["suppressed_cells"] == 2
    assert column["generalised_cells"] == 0


def test_of_a_prefix_the_hidden_letters_count() -> None:
    utility, _ = measured(["061**", "06100"])
    assert utility["gcp_sum"] == pytest.approx(2 / 5)


def test_an_audit_measures_exact_releases_as_their_maker_did() -> None:
    patients = mh.demo_patients(500).select("age", "height_cm", "diagnosis").drop_nulls()
    said = {"quasi": ["age", "height_cm"], "sensitive": "diagnosis"}
    release = mh.anonymize(patients, k=4, bounds="exact", html=False, **said)
    found = mh.audit(release.table, k=4, **said)
    for name, figure in release.report["utility"].items():
        assert found.report["utility"][name] == pytest.approx(figure), name
