from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import mahrem as mh
from mahrem.errors import InvalidInput
from mahrem.metrics import published_loss
from mahrem.table import Hierarchy


def tally(cells: list[str | None]) -> pl.DataFrame:
    return (
        pl.DataFrame({"cell": pl.Series(cells, dtype=pl.String)}).group_by("cell").agg(pl.len().alias("rows"))
    )


def measured(cells: list[str | None], **more: object) -> tuple[dict[str, float], dict[str, float]]:
    sizes = np.array([len(cells)])
    utility, columns = published_loss(
        {"x": tally(cells)}, sizes=sizes, rows=len(cells), suppressed=0, k=2, **more
    )
    return utility, columns["x"]


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


TREE = Hierarchy.from_rows(
    [
        ["7", "few", "some"],
        ["8", "few", "some"],
        ["9", "nine", "some"],
        ["[1, 2]", "{odd}"],
        ["E1"],
        ["E1.9", "E1"],
    ]
)


def test_nodes_of_a_hierarchy_are_measured_by_their_leaves() -> None:
    cells = ["few", "some", '"[1, 2]"', "*", None, "7.0", "E1"]
    utility, column = measured(cells, hierarchies={"x": TREE})
    assert utility["gcp_sum"] == pytest.approx(2 / 6 + 3 / 6 + 1 + 2 / 6)
    assert utility["iloss"] == pytest.approx((1 + 2 + 6 + 1) / 6)
    assert (column["generalised_cells"], column["suppressed_cells"]) == (3, 1)


def test_a_cell_that_is_no_node_is_counted_and_not_shown() -> None:
    with pytest.raises(InvalidInput, match=r"hierarchy\.x: 2 different cells are no node") as caught:
        measured(["secret", "secret", "10", "few"], hierarchies={"x": TREE})
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("method", ["mondrian", "mosaic", "flash", "datafly"])
def test_an_audit_with_the_hierarchy_measures_what_its_maker_did(method: str) -> None:
    patients = mh.demo_patients(200).select("age", "height_cm", "diagnosis")
    tree = mh.make_hierarchy(patients, "age", intervals=[5, 10, 20, 40])
    rows = [
        [cell.replace("[", "from ").replace(", ", " to ").strip("]") for cell in row] for row in tree.rows()
    ]
    said = {"quasi": ["age"], "sensitive": "diagnosis", "hierarchy": {"age": Hierarchy.from_rows(rows)}}
    release = mh.anonymize(patients, k=4, method=method, rest="drop", html=False, **said)
    found = mh.audit(release.table, k=4, **said)
    assert found.holds
    for name in ("gcp", "gcp_sum", "iloss", "distortion", "published_classes"):
        assert found.report["utility"][name] == pytest.approx(release.report["utility"][name]), name
    assert 0 < found.report["utility"]["gcp"] < 1
