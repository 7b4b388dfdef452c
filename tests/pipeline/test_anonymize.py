from __future__ import annotations

import json
import os
from datetime import date
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mahrem as mh
from mahrem.errors import ColumnNotFound, Infeasible, InvalidInput, InvalidParameter, PrivacyWarning
from mahrem.table import Exact, Members, MissingCell, Prefix, Range, Suppressed, read_cell
from oracle import classes, levels
from strategies import tables

QUASI = ["age", "born", "town", "zip"]
PROMISES = {
    "k": {},
    "distinct": {"l": 2},
    "entropy": {"l": 1.5, "l_kind": "entropy"},
    "recursive": {"l": 2, "l_kind": "recursive", "c": 4.0},
    "equal": {"t": 0.4},
    "kl": {"t": 0.9, "t_kind": "kl"},
    "ordered": {"t": 0.4, "t_kind": "ordered"},
    "alpha": {"alpha": 0.9},
    "beta": {"beta": 3.0},
    "enhanced": {"beta": 3.0, "beta_kind": "enhanced"},
    "delta": {"delta_disclosure": 2.0},
}


def inside(value: object, text: str | None) -> bool:
    """Say whether a published cell holds an original value, by reading the text alone."""
    value = None if value == "" else value  # an empty cell is a missing one
    match read_cell(text):
        case Suppressed():
            return True
        case MissingCell():
            return value is None
        case Members(members):
            return value in members
        case Prefix(beginning):
            return isinstance(value, str) and value.startswith(beginning)
        case Range(low, high):
            if isinstance(value, date):
                return date.fromisoformat(low) <= value <= date.fromisoformat(high)
            return isinstance(value, float) and float(low) <= value <= float(high)
        case Exact(exact):
            if isinstance(value, float):
                return float(exact) == value
            return (value.isoformat() if isinstance(value, date) else value) == exact


def anonymize_or_none(frame: pl.DataFrame, **said: object) -> mh.Release | None:
    try:
        return mh.anonymize(
            frame,
            quasi=QUASI,
            sensitive="illness",
            rest="insensitive",
            kind={"zip": "code"},
            accept={"*": "made up"},
            html=False,
            **said,
        )
    except Infeasible:
        return None


@pytest.mark.parametrize("strategy", ["strict", "relaxed"])
@pytest.mark.parametrize("promise", PROMISES)
@settings(deadline=None, max_examples=12, suppress_health_check=[HealthCheck.too_slow])
@given(frame=tables(), k=st.integers(1, 4), bounds=st.sampled_from(["grid", "exact"]))
def test_no_row_is_lost_and_every_value_lies_in_its_cell(
    promise: str, strategy: str, frame: pl.DataFrame, k: int, bounds: str
) -> None:
    release = anonymize_or_none(frame, k=k, strategy=strategy, bounds=bounds, **PROMISES[promise])
    if release is None:
        return
    table = release.table
    assert table.height == frame.height
    assert table.columns == frame.columns
    assert table.select("illness", "note").equals(frame.select("illness", "note"))
    for name in QUASI:
        for value, cell in zip(frame[name], table[name], strict=True):
            assert inside(value, cell)
    reached = levels(table, QUASI, "illness")
    assert reached["k"] >= k
    match promise:
        case "distinct":
            assert reached["distinct"] >= 2
        case "entropy":
            assert reached["entropy"] >= 1.5 - 1e-9
        case "equal" | "alpha" | "beta" | "kl" | "delta":
            (limit,) = (value for value in PROMISES[promise].values() if not isinstance(value, str))
            assert reached[promise] <= limit + 1e-9


@settings(deadline=None, max_examples=25)
@given(frame=tables(), k=st.integers(1, 4), random=st.randoms(use_true_random=False))
def test_strict_classes_depend_neither_on_row_order_nor_on_column_names(
    frame: pl.DataFrame, k: int, random: object
) -> None:
    order = list(range(frame.height))
    random.shuffle(order)  # type: ignore[attr-defined]
    straight = anonymize_or_none(frame, k=k)
    shuffled = anonymize_or_none(frame[order], k=k)
    assert (straight is None) == (shuffled is None)
    if straight is None or shuffled is None:
        return
    assert straight.table[order].equals(shuffled.table)
    names = {name: f"{name}_x" for name in frame.columns}
    renamed = mh.anonymize(
        frame.rename(names),
        quasi=[names[n] for n in QUASI],
        sensitive=names["illness"],
        rest="insensitive",
        kind={names["zip"]: "code"},
        accept={"*": "made up"},
        k=k,
        html=False,
    )
    assert renamed.table.rename({new: old for old, new in names.items()}).equals(straight.table)


@settings(deadline=None, max_examples=20)
@given(frame=tables(), missing=st.sampled_from(["category", "suppress", "drop", "drop-any"]))
def test_each_missing_policy_does_what_it_says(frame: pl.DataFrame, missing: str) -> None:
    gaps = frame.select(pl.any_horizontal(pl.col([*QUASI, "illness"]).is_null()))[:, 0]
    any_gaps = frame.select(pl.any_horizontal(pl.all().is_null() | (pl.col("note") == "")))[:, 0]
    any_gaps = any_gaps | gaps | (frame["town"] == "").fill_null(value=False)
    gaps = gaps | (frame["town"] == "").fill_null(value=False)
    try:
        release = mh.anonymize(
            frame,
            quasi=QUASI,
            sensitive="illness",
            rest="insensitive",
            k=2,
            missing=missing,
            accept={"*": "made up"},
            html=False,
        )
    except (Infeasible, InvalidInput):
        return
    table, report = release.table, release.report
    match missing:
        case "category":
            assert table.height == frame.height
        case "suppress":
            assert report["utility"]["suppressed"] == gaps.sum()
            hidden = table.filter(gaps)
            assert (hidden.select(pl.all_horizontal(pl.col([*QUASI, "illness"]) == "*"))[:, 0]).all()
        case "drop":
            assert table.height == frame.height - gaps.sum()
            crowds = int(gaps.sum()) // 3 * 3  # nobody can be subtracted out
            assert report["dropped"] == (crowds or None)
        case "drop-any":
            assert table.height == frame.height - any_gaps.sum()


def test_a_tighter_promise_never_gives_more_classes() -> None:
    patients = mh.demo_patients(800)
    found = []
    for l in (1, 2, 3, 4):  # noqa: E741 - the literature's name
        release = mh.anonymize(
            patients, quasi=["age", "zip"], sensitive="diagnosis", rest="drop", k=3, l=l, html=False
        )
        found.append(release.report["utility"]["classes"])
    assert found == sorted(found, reverse=True)


def test_k_counts_people_when_a_subject_is_named() -> None:
    frame = pl.DataFrame({"age": [20.0] * 6 + [40.0] * 6, "person": [1, 1, 1, 2, 2, 2, 3, 4, 5, 6, 7, 8]})
    rows = mh.anonymize(frame, quasi="age", rest="drop", k=3, bounds="exact", html=False)
    assert rows.report["utility"]["classes"] == 2
    people = mh.anonymize(frame, quasi="age", rest="drop", subject="person", k=3, bounds="exact", html=False)
    assert people.report["utility"]["classes"] == 1
    assert people.table.columns == ["age"]
    assert any("people" in text for text in people.report["warnings"])
    with pytest.raises(Infeasible) as caught:
        mh.anonymize(frame, quasi="age", rest="drop", subject="person", k=9, html=False)
    assert caught.value.reached == 8


def test_several_sensitive_columns_each_keep_their_own_promise() -> None:
    patients = mh.demo_patients(1500)
    release = mh.anonymize(
        patients,
        quasi=["age", "zip"],
        sensitive=["diagnosis:l=3", "insurance:t=0.3"],
        rest="drop",
        k=4,
        html=False,
    )
    assert [(p["model"], p["column"]) for p in release.report["promises"]] == [
        ("k-anonymity", None),
        ("distinct-l-diversity", "diagnosis"),
        ("t-closeness-equal", "insurance"),
    ]
    assert levels(release.table, ["age", "zip"], "diagnosis")["distinct"] >= 3
    assert levels(release.table, ["age", "zip"], "insurance")["equal"] <= 0.3 + 1e-9


def test_presence_is_kept_against_the_population(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    everyone = pl.DataFrame({"age": rng.integers(18, 80, 600), "sex": rng.choice(["f", "m"], 600)})
    table = everyone.filter(pl.Series(rng.random(600) < 0.4))
    everyone.write_csv(tmp_path / "everyone.csv")
    table.write_csv(tmp_path / "table.csv")
    said = {
        "quasi": ["age", "sex"],
        "rest": "drop",
        "population": tmp_path / "everyone.csv",
        "html": False,
        "k": 2,
        "bounds": "exact",
    }
    release = mh.anonymize(tmp_path / "table.csv", delta_presence=(0.1, 0.6), **said)
    promise = release.report["promises"][-1]
    assert promise["model"] == "delta-presence"
    assert promise["reached"] <= 0.6
    with pytest.raises(Infeasible):
        mh.anonymize(tmp_path / "table.csv", delta_presence=(0.0, 0.2), **said)
    stranger = pl.concat([table, pl.DataFrame({"age": [200], "sex": ["f"]})])
    stranger.write_csv(tmp_path / "table.csv")
    with pytest.raises(InvalidInput, match="lacks 1 of"):
        mh.anonymize(tmp_path / "table.csv", delta_presence=(0.0, 0.9), **said)


def test_a_hierarchy_gives_its_nodes() -> None:
    from mahrem.table import Hierarchy

    tree = Hierarchy.from_rows([("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*"), ("d", "y", "*")])
    frame = pl.DataFrame({"town": ["a", "b", "a", "b", "c", "d", "c", "d"]})
    release = mh.anonymize(frame, quasi="town", k=4, hierarchy={"town": tree}, html=False)
    assert release.table["town"].to_list() == ["x"] * 4 + ["y"] * 4


@pytest.mark.parametrize("cells", ["pairs", "midpoint", "centroid"])
def test_cells_may_be_numbers(cells: str) -> None:
    patients = mh.demo_patients(300)
    release = mh.anonymize(
        patients,
        quasi=["age", "height_cm"],
        sensitive="diagnosis",
        rest="drop",
        missing="drop",
        k=5,
        cells=cells,
        html=False,
    )
    expected = ["age_min", "age_max", "height_cm_min", "height_cm_max"]
    shown = [name for name in release.table.columns if name != "diagnosis"]
    assert shown == (expected if cells == "pairs" else ["age", "height_cm"])
    assert all(release.table[name].dtype.is_numeric() for name in shown)
    assert min(len(rows) for rows in classes(release.table, shown)) >= 5


def test_identifiers_go_and_pseudonyms_stay_the_same_across_tables(tmp_path: Path) -> None:
    patients = mh.demo_patients(100)
    key = tmp_path / "key"
    key.write_bytes(os.urandom(32))
    key.chmod(0o600)
    said = {"quasi": ["age"], "rest": "drop", "k": 2, "pseudonym": {"patient_id": key}, "html": False}
    with pytest.warns(PrivacyWarning, match="ties the rows"):
        first = mh.anonymize(patients, **said).table
    with pytest.warns(PrivacyWarning, match="ties the rows"):
        second = mh.anonymize(patients[::-1], **said).table
    assert first.columns == ["patient_id", "age"]
    assert first["patient_id"].to_list() == second["patient_id"].to_list()[::-1]
    assert not set(first["patient_id"]) & set(patients["patient_id"].cast(pl.String))
    with pytest.raises(InvalidParameter, match="outside"):
        mh.anonymize(
            patients, output=tmp_path / "r", **{**said, "pseudonym": {"patient_id": tmp_path / "r" / "key"}}
        )


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ({"quasi": "aeg"}, ColumnNotFound),
        ({"quasi": "age", "rest": None}, InvalidParameter),
        ({"quasi": "age", "k": 10_000}, Infeasible),
        ({"quasi": "age", "sensitive": "sex", "l": 5}, Infeasible),
        ({"quasi": "sex", "kind": {"sex": "numeric"}}, InvalidInput),
        ({"quasi": "sex", "kind": {"sex": "ordinal"}}, InvalidParameter),
        ({"quasi": "age", "method": "magic"}, InvalidParameter),
        ({"quasi": "age", "missing": "refuse"}, InvalidInput),
        ({"quasi": "age", "missing": "suppress", "suppression_limit": 0.0}, Infeasible),
        ({"quasi": "age", "k": None}, InvalidParameter),
        ({"quasi": "age", "hierarchy": {"agge": "x.csv"}}, ColumnNotFound),
    ],
)
def test_bad_requests_are_refused_without_showing_data(
    said: dict[str, object], error: type[Exception]
) -> None:
    frame = mh.demo_patients(200).with_columns(
        age=pl.when(pl.int_range(pl.len()) == 3).then(None).otherwise("age")
    )
    with pytest.raises(error) as caught:
        mh.anonymize(frame, **{"k": 5, "rest": "drop", **said})
    secrets = {str(value) for name in ("name", "diagnosis") for value in frame[name].drop_nulls()}
    assert not any(secret in str(caught.value) for secret in secrets)


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"a": [1], "b": ["x"]}),
        pl.DataFrame({"a": [1] * 60_000, "b": ["x"] * 60_000}),
        pl.DataFrame({"a": [2.5] * 7, "b": ["x"] * 7}),
    ],
    ids=["one row", "60,000 equal rows", "constant columns"],
)
def test_degenerate_tables_simply_work(frame: pl.DataFrame) -> None:
    release = mh.anonymize(frame, quasi=["a", "b"], k=1)
    assert release.table.height == frame.height
    assert release.report["utility"]["dm"] == frame.height**2


def test_two_thousand_columns_simply_work(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({f"c{number}": rng.integers(0, 9, 20) for number in range(2_000)})
    frame.write_csv(tmp_path / "wide.csv")
    release = mh.anonymize(
        tmp_path / "wide.csv",
        quasi=["c0", "c1"],
        rest="insensitive",
        k=4,
        output=tmp_path / "out",
        html=False,
    )
    assert len(release.table.columns) == 2_000


def test_a_release_folder_holds_what_it_should_and_nothing_private(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAHREM_STATE", str(tmp_path / "state"))
    patients = mh.demo_patients(400)
    patients.write_csv(tmp_path / "patients.csv")
    release = mh.anonymize(
        tmp_path / "patients.csv",
        quasi=["age", "sex", "zip"],
        sensitive="diagnosis",
        rest="drop",
        k=5,
        seed=987654,
        output=tmp_path / "release",
    )
    names = sorted(path.name for path in (tmp_path / "release").iterdir())
    assert names == ["SHA256SUMS", "data.csv", "policy.toml", "release.recipe", "report.html", "report.json"]
    said = "".join((tmp_path / "release" / name).read_text() for name in names if name != "data.csv")
    assert "987654" not in said
    assert str(tmp_path) not in said
    assert not any(str(name) in said for name in patients["name"].drop_nulls())
    records = list((tmp_path / "state" / "runs").iterdir())
    assert json.loads(records[0].read_text())["seed"] == 987654
    assert (
        json.loads((tmp_path / "release" / "report.json").read_text())["utility"] == release.report["utility"]
    )
    published = pl.read_csv(tmp_path / "release" / "data.csv", infer_schema=False)
    assert published.sort(pl.all()).equals(release.table.sort(pl.all()))
    assert not published.equals(release.table), "rows of a file are shuffled"
    assert mh.audit(tmp_path / "release").holds


def test_the_order_of_rows_is_kept_on_request(tmp_path: Path) -> None:
    patients = mh.demo_patients(100)
    release = mh.anonymize(
        patients,
        quasi="age",
        rest="drop",
        k=5,
        shuffle=False,
        output=tmp_path / "r",
        format="parquet",
        html=False,
    )
    assert pl.read_parquet(tmp_path / "r" / "data.parquet").equals(release.table)


@pytest.mark.filterwarnings("ignore:.*names people who have")  # rows are meant here
def test_pandas_and_arrow_come_back_as_they_were() -> None:
    import pandas as pd
    import pyarrow as pa

    patients = mh.demo_patients(120)
    frame = patients.to_pandas()
    frame.index = pd.Index(np.arange(120)[::-1] * 10, name="visit")
    frame["insurance"] = frame["insurance"].astype("category")
    release = mh.anonymize(
        frame,
        quasi=["age", "zip"],
        sensitive="diagnosis",
        identifier=["name", "patient_id"],
        rest="insensitive",
        k=4,
        accept={"*": "a test"},
        html=False,
    )
    assert isinstance(release.table, pd.DataFrame)
    assert release.table.index.equals(pd.RangeIndex(120))
    assert release.table["insurance"].dtype == frame["insurance"].dtype
    pd.testing.assert_series_equal(release.table["cost"], frame["cost"].reset_index(drop=True))
    told = {"quasi": ["age", "zip"], "rest": "insensitive", "k": 4, "accept": {"*": "made up"}, "html": False}
    arrow = mh.anonymize(patients.to_arrow(), **told).table
    assert isinstance(arrow, pa.Table)
    assert arrow.column("cost").equals(patients.to_arrow().column("cost"))
    assert arrow.column("age").to_pylist() == mh.anonymize(patients, **told).table["age"].to_list()
