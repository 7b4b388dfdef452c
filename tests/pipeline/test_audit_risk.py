from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import mahrem as mh
from mahrem.drafts import people_behind, risk_before
from mahrem.errors import InvalidParameter
from mahrem.table.writing import write_database

QUASI = ["age", "workclass", "education", "sex", "hours-per-week"]


def reference(rows: list[tuple[object, ...]], threshold: float) -> dict[str, float]:
    """Every figure by its definition, row by row, in ten lines."""
    sizes = Counter(rows)
    risks = [1 / sizes[row] for row in rows]
    return {
        "highest": max(risks),
        "average": sum(risks) / len(rows),
        "share_at_risk": sum(risk > threshold for risk in risks) / len(rows),
        "unique_share": sum(sizes[row] == 1 for row in rows) / len(rows),
        "marketer": len(sizes) / len(rows),
        "threshold": threshold,
    }


@pytest.fixture(scope="module")
def released(benchmark_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("adult") / "release"
    said = {"quasi": QUASI, "sensitive": "occupation", "rest": "drop", "null": "?"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MAHREM_STATE", str(folder.parent / "state"))  # nothing was released before
        mh.anonymize(benchmark_data / "adult_train.csv", k=5, output=folder, html=False, **said)
    return folder


@pytest.mark.data
@pytest.mark.parametrize("threshold", [0.2, 0.09, 0.05])
def test_adult_has_the_risk_of_the_reference(released: Path, threshold: float) -> None:
    shown = pl.read_csv(released / "data.csv", infer_schema=False)
    wanted = reference(shown.select(QUASI).rows(), threshold)
    found = mh.audit(released, threshold=threshold).report["risk"]
    assert found == pytest.approx(wanted)
    assert found["highest"] <= 0.2


@pytest.mark.data
def test_raw_adult_has_the_risk_of_the_reference(benchmark_data: Path) -> None:
    raw = pl.read_csv(benchmark_data / "adult_train.csv", infer_schema=False)
    found = mh.audit(raw, quasi=QUASI, fraction=0.25).report["risk"]
    wanted = reference(raw.select(QUASI).rows(), 0.2)
    for name in ("highest", "average", "share_at_risk", "unique_share"):
        assert found[name] == pytest.approx(wanted[name])
    alone = found["population_uniques"]
    assert alone["population"] == round(raw.height / 0.25)
    assert alone["sample"] == pytest.approx(wanted["unique_share"])
    assert alone["chosen"] in {"snb", "zayatz"}
    assert found["journalist"]["highest"] < found["highest"]


@pytest.mark.data
def test_adult_against_its_population_is_the_reference(released: Path, benchmark_data: Path) -> None:
    """The population is the source twice over: every class fits at least twice its rows."""
    raw = pl.read_csv(benchmark_data / "adult_train.csv", infer_schema=False, null_values=["?"])
    found = mh.audit(released, population=pl.concat([raw, raw])).report["risk"]
    assert found["k_map"] >= 10
    assert found["journalist"]["highest"] == pytest.approx(1 / found["k_map"])
    assert found["marketer"] <= found["average"] / 2 + 1e-12
    assert found["population_uniques"]["population"] == 2 * raw.height


def test_a_population_is_counted_person_by_person() -> None:
    shown = pl.DataFrame({"age": ["[20, 29]", "[20, 29]", "30", "*"], "sex": ["f", "f", "m", "m"]})
    everyone = pl.DataFrame({"age": [20, 21, 29, 30, 30, 31], "sex": ["f", "f", "f", "m", "m", "m"]})
    sizes, people = people_behind(shown, everyone, {})
    assert dict(zip(sizes.tolist(), people.tolist(), strict=False))[2] == 3
    assert sorted(people.tolist()) == [2, 3, 3]


def test_a_population_smaller_than_the_table_is_refused() -> None:
    table = pl.DataFrame({"age": [1, 1, 2]})
    with pytest.raises(InvalidParameter, match="population"):
        mh.audit(table, quasi="age", population=pl.DataFrame({"age": [1, 2]}))
    with pytest.raises(InvalidParameter, match="fewer people"):
        mh.audit(table, quasi="age", population=pl.DataFrame({"age": [1, 2, 3, 4]}))
    with pytest.raises(InvalidParameter, match="at most one"):
        mh.audit(table, quasi="age", fraction=0.5, population=table)
    with pytest.raises(InvalidParameter, match="fraction"):
        mh.audit(table, quasi="age", fraction=0)


def test_a_share_of_few_rows_is_hidden_and_a_larger_one_is_not() -> None:
    shown = risk_before(np.array([1, 1, *[2] * 49, 100]), floor=5)
    assert shown is not None
    assert shown.unique_share is None  # two people
    assert shown.highest is None
    assert shown.share_at_risk == 0.5
    assert shown.below == pytest.approx(0.025)
    even = risk_before(np.full(50, 4), floor=5)
    assert even is not None
    assert even.unique_share == 0.0
    assert risk_before(np.array([1, 2]), floor=5) is None


def test_little_memory_gives_the_same_risk() -> None:
    rng = np.random.default_rng(3)
    table = pl.DataFrame({"a": rng.integers(0, 20, 2000), "b": rng.integers(0, 20, 2000)})
    free = mh.audit(table, quasi=["a", "b"], fraction=0.2).report["risk"]
    tight = mh.audit(table, quasi=["a", "b"], fraction=0.2, memory=20_000).report["risk"]
    for part in ("journalist", "population_uniques"):
        assert free.pop(part) == pytest.approx(tight.pop(part), nan_ok=True)
    assert free == pytest.approx(tight)


def test_a_query_is_for_the_table_and_not_for_its_population(tmp_path: Path) -> None:
    shown, everyone = pl.DataFrame({"age": [30, 30]}), pl.DataFrame({"age": [30, 30, 30, 40]})
    write_database(shown, str(tmp_path / "shown.duckdb"), "people")
    everyone.write_csv(tmp_path / "everyone.csv")
    found = mh.audit(
        tmp_path / "shown.duckdb",
        query="select age from people",
        quasi="age",
        population=tmp_path / "everyone.csv",
    )
    assert found.report["risk"]["population_uniques"]["population"] == 4
