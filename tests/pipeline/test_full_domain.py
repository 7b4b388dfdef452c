"""Full-domain methods from a table to an audited release."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mahrem as mh
from mahrem.drafts import draft, prepare
from mahrem.errors import Infeasible, InvalidParameter, PrivacyWarning
from mahrem.metrics import cell_losses
from mahrem.partition import METHODS, Levels
from mahrem.recode import Nodes
from mahrem.release.decisions import Policy
from mahrem.table import Axis, Hierarchy, Leaves
from strategies import tables

QUASI = ["age", "sex", "zip"]
ROLES = {"quasi": QUASI, "sensitive": "diagnosis", "insensitive": ["insurance"], "rest": "drop"}
PROMISES = {
    "k": {},
    "distinct": {"l": 2},
    "entropy": {"l": 1.5, "l_kind": "entropy"},
    "recursive": {"l": 2, "l_kind": "recursive", "c": 4.0},
    "equal": {"t": 0.4},
    "ordered": {"t": 0.4, "t_kind": "ordered"},
    "beta": {"beta": 3.0},
    "delta": {"delta_disclosure": 2.0},
}


@pytest.fixture(scope="module")
def patients() -> pl.DataFrame:
    return mh.demo_patients(600)


@pytest.mark.parametrize("method", [name for name, method in METHODS.items() if method.full_domain])
def test_a_written_release_with_suppressed_rows_audits_true(
    method: str, patients: pl.DataFrame, tmp_path: Path
) -> None:
    folder = tmp_path / "release"
    said = {"method": method, "k": 4, "suppression_limit": 0.02, "shuffle": False, **ROLES}
    report = mh.anonymize(patients, output=folder, **said).report
    hidden = report["utility"]["suppressed"]
    assert hidden <= 12
    assert mh.audit(folder).holds
    written = pl.read_csv(folder / "data.csv", infer_schema=False)
    nothing = written.filter(pl.all_horizontal(pl.all() == "*"))
    assert nothing.height == hidden
    assert written.filter(pl.all_horizontal(pl.col(QUASI) == "*")).height == hidden, "nor half of them"


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_fewer_than_k_suppressed_rows_do_not_break_the_audit_of_a_table_without_secrets(
    ending: str, tmp_path: Path
) -> None:
    table = pl.DataFrame({"age": [20] * 6 + [30] * 6 + [77] * 2, "sex": ["m"] * 14})
    said = {"method": "flash", "k": 5, "suppression_limit": 0.2, "quasi": ["age", "sex"]}
    release = mh.anonymize(table, output=tmp_path / "release", format=ending, **said)
    assert release.report["utility"]["suppressed"] == 2
    found = mh.audit(tmp_path / "release")
    assert found.holds
    assert found.report["promises"][0]["reached"] == 6


def test_flash_uses_the_suppression_it_is_given(patients: pl.DataFrame) -> None:
    strict = mh.anonymize(patients, method="flash", k=5, **ROLES).report["utility"]
    free = mh.anonymize(patients, method="flash", k=5, suppression_limit=0.05, **ROLES).report["utility"]
    assert strict["suppressed"] == 0, "none unless allowed"
    assert 0 < free["suppressed"] <= 30
    assert free["gcp"] < strict["gcp"]


@pytest.mark.filterwarnings("ignore:.*composition")  # the same people on purpose
@pytest.mark.parametrize("promise", [{"l": 2}, {"t": 0.3}, {"l": 1.8, "l_kind": "entropy"}], ids=str)
@pytest.mark.parametrize("limit", [0.0, 0.1])
def test_datafly_and_flash_keep_diversity_and_closeness(
    promise: dict[str, object], limit: float, patients: pl.DataFrame, tmp_path: Path
) -> None:
    for method in ("datafly", "flash"):
        folder = tmp_path / f"{method}{limit}"
        release = mh.anonymize(
            patients,
            output=folder,
            method=method,
            k=3,
            suppression_limit=limit,
            options={"seconds": 30},
            **promise,
            **ROLES,
        )
        assert release.report["holds"]
        assert release.report["utility"]["suppressed"] <= limit * patients.height
        assert mh.audit(folder).holds


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    frame=tables(most=25),
    promise=st.sampled_from(sorted(PROMISES)),
    limit=st.sampled_from([0.0, 0.2, 0.5]),
    method=st.sampled_from(["datafly", "top-down", "flash"]),
)
def test_awkward_tables_are_released_or_refused(
    frame: pl.DataFrame, promise: str, limit: float, method: str
) -> None:
    said = {"quasi": ["age", "born", "zip"], "sensitive": "illness", "insensitive": ["note", "town"]}
    try:
        release = mh.anonymize(
            frame,
            method=method,
            k=2,
            suppression_limit=limit,
            kind={"age": "numeric", "born": "date", "zip": "code"},
            options={"seconds": 20},
            **PROMISES[promise],
            **said,
        )
    except Infeasible:
        return
    assert release.report["holds"]
    assert release.report["utility"]["suppressed"] <= limit * frame.height + 1e-9


def test_the_loss_of_the_search_is_the_gcp_of_the_report(patients: pl.DataFrame) -> None:
    trees = mh.anonymize(patients, method="flash", k=4, **ROLES).hierarchies  # given, they are the domain
    for limit in (0.0, 0.03):
        policy = Policy.of(
            {"method": "flash", "k": 4, "suppression_limit": limit, "hierarchy": trees, **ROLES}
        )
        how = draft(prepare(patients, policy), policy).partition.how
        report = mh.anonymize(patients, policy=policy).report
        assert isinstance(how, Levels)
        assert how.loss == pytest.approx(report["utility"]["gcp"])


def test_dm_as_loss_is_the_dm_of_the_report(patients: pl.DataFrame) -> None:
    policy = Policy.of(
        {"method": "flash", "k": 4, "suppression_limit": 0.03, "options": {"loss": "dm"}, **ROLES}
    )
    how = draft(prepare(patients, policy), policy).partition.how
    assert isinstance(how, Levels)
    assert how.loss == mh.anonymize(patients, policy=policy).report["utility"]["dm"]


def test_missing_values_and_refused_classes_share_one_limit(patients: pl.DataFrame) -> None:
    table = patients.with_columns(
        zip=pl.when(pl.int_range(pl.len()) % 60 == 0).then(None).otherwise(pl.col("zip"))
    )
    said = {"method": "flash", "k": 4, "missing": "suppress", **ROLES}
    report = mh.anonymize(table, suppression_limit=0.05, **said).report
    named = [*ROLES["quasi"], *([ROLES["sensitive"]] if "sensitive" in ROLES else [])]
    gaps = int(table.select(pl.any_horizontal(pl.col(named).is_null()))[:, 0].sum())
    assert report["missing"]["suppressed"] == gaps // 4 * 4
    assert gaps <= report["utility"]["suppressed"] <= 30
    exact = mh.anonymize(table, suppression_limit=gaps / 600, **said).report
    assert exact["utility"]["suppressed"] == gaps


def test_drop_any_needs_no_column_beside_those_that_have_a_role() -> None:
    table = pl.DataFrame({"age": [1, 1, None, 2, 2], "ill": ["a", "b", "a", "b", "a"]})
    release = mh.anonymize(
        table, quasi=["age"], sensitive="ill", k=2, method="flash", missing="drop-any", html=False
    )
    assert release.report["rows"] == 4
    assert release.report["dropped"] is None  # one person's row: not counted out


def test_missing_values_are_shown_empty_below_the_root() -> None:
    tree = Hierarchy.from_rows([["cold", "lung"], ["flu", "lung"], ["gout", "joint"]])
    table = pl.DataFrame({"illness": ["cold", "flu", None, None, "gout", "gout"]})
    release = mh.anonymize(table, method="flash", k=2, quasi="illness", hierarchy={"illness": tree})
    assert release.table["illness"].to_list() == ["lung", "lung", None, None, "joint", "joint"]


def test_pseudonyms_and_other_columns_of_suppressed_rows_show_nothing(patients: pl.DataFrame) -> None:
    with pytest.warns(PrivacyWarning, match="one person"):
        release = mh.anonymize(
            patients,
            method="flash",
            k=5,
            suppression_limit=0.05,
            quasi=QUASI,
            sensitive="diagnosis",
            insensitive=["insurance", "height_cm"],
            pseudonym={"patient_id": b"0" * 32},
            rest="drop",
        )
    frame = release.table
    hidden = frame.filter(pl.col("insurance") == "*")
    assert hidden.height == release.report["utility"]["suppressed"] > 0
    assert set(hidden["patient_id"].to_list()) == {"*"}
    assert hidden["height_cm"].null_count() == hidden.height
    assert set(hidden["age"].to_list()) == {"*"}


def test_k_may_count_people(patients: pl.DataFrame) -> None:
    report = mh.anonymize(
        patients, method="flash", k=5, suppression_limit=0.05, subject="patient_id", **ROLES
    ).report
    assert report["holds"]
    assert report["risk"]["highest"] <= 1 / 5


def test_presence_in_a_population_is_bounded() -> None:
    rng = np.random.default_rng(3)
    everyone = pl.DataFrame({"age": rng.integers(20, 60, 400), "sex": rng.choice(["f", "m"], 400)})
    members = everyone.head(120)
    said = {"bounds": "exact", "population": everyone, "suppression_limit": 0.5, "quasi": ["age", "sex"]}
    report = mh.anonymize(members, method="flash", k=3, delta_presence=(0.0, 0.6), **said).report
    assert report["holds"]
    assert report["utility"]["suppressed"] <= 60
    assert all(promise["holds"] for promise in report["promises"])


def test_compare_sweeps_full_domain_methods_by_name(patients: pl.DataFrame) -> None:
    said = {"suppression_limit": 0.05, **ROLES}
    found = mh.compare(patients, methods=["flash", "datafly", "mondrian"], ks=[3, 6], **said)
    assert [row["holds"] for row in found.rows] == [True] * 6
    loss = {(row["method"], row["k"]): row["gcp"] for row in found.rows}
    assert loss["flash", 3] <= loss["datafly", 3]
    assert loss["flash", 3] <= loss["flash", 6]
    assert any(row["suppressed"] for row in found.rows)


def test_an_unreachable_k_says_what_was_reached(patients: pl.DataFrame) -> None:
    with pytest.raises(Infeasible, match="600"):
        mh.anonymize(patients, method="flash", k=601, suppression_limit=0.5, **ROLES)


def test_every_column_is_shown_at_one_level(patients: pl.DataFrame) -> None:
    tree = Hierarchy.from_rows(
        [[str(age), f"{age // 10}x", "old" if age > 49 else "young"] for age in range(130)]
    )
    release = mh.anonymize(patients, method="flash", k=20, hierarchy={"age": tree}, **ROLES)
    shown = set(release.table["age"].drop_nulls().to_list())
    assert any(shown <= set(names) for names in tree.labels)


def test_a_level_that_does_not_fit_its_classes_is_refused() -> None:
    tree = Hierarchy.from_rows([["cold", "lung"], ["flu", "lung"], ["gout", "joint"]])
    axis = Axis("illness", np.array([0.0, 1.0, 2.0, np.nan]), Leaves(tree))
    labels = np.array([0, 0, 1, 2])
    assert Nodes(level=1)(axis, labels, 3).text.to_list() == ["lung", "joint", None]
    assert Nodes(level=2)(axis, labels, 3).text.to_list() == ["*", "*", "*"]
    assert cell_losses(Nodes(level=2)(axis, labels, 3)).ncp.tolist() == [1.0, 1.0, 1.0]
    for level in (0, 3, -1):
        with pytest.raises(InvalidParameter, match="level="):
            Nodes(level=level)(axis, labels, 3)


def test_a_release_made_with_a_private_hierarchy_is_not_remade_without_it(
    patients: pl.DataFrame, tmp_path: Path
) -> None:
    sexes = sorted(patients["sex"].drop_nulls().unique().to_list())
    tree = Hierarchy.from_rows([[sex, "anyone"] for sex in sexes])
    first = tmp_path / "first"
    mh.anonymize(patients, k=5, hierarchy={"sex": tree}, output=first, **ROLES)
    with pytest.raises(InvalidParameter, match="hierarchy of sex: give it again"):
        mh.anonymize(patients, policy=first / "policy.toml")
    again = mh.anonymize(patients, policy=first / "policy.toml", hierarchy={"sex": tree})
    assert again.report["holds"]
