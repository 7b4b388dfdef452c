from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mahrem.experiments import Row, reproduce, write_rows
from mahrem.experiments import _buyuktanir2022_runs as runs
from mahrem.experiments._row import published_rows

pytestmark = pytest.mark.data


@pytest.fixture(scope="module")
def found(benchmark_data: Path) -> list[Row]:
    assert benchmark_data.is_dir()
    return reproduce("buyuktanir2022", quick=True)


def test_every_printed_cell_is_in_the_package_and_gives_rows(found: list[Row]) -> None:
    printed = published_rows("buyuktanir2022_ducba")
    assert {(row["dataset"], int(row["clients"])) for row in printed} == {
        (name, clients) for name in runs.SETS for clients in (2, 4, 8, 16, 32, 64, 128)
    }
    for row in printed:
        for metric in runs.METRICS:
            mine = [
                one
                for one in found
                if (one.table, one.dataset, one.metric) == ("3.2", row["dataset"], metric)
                and one.setting == {"clients": int(row["clients"])}
            ]
            assert {one.published for one in mine if one.method == "cba"} == {float(row[f"cba_{metric}"])}
            assert {one.published for one in mine if one.method == "du-cba"} == {
                float(row[f"ducba_{metric}"])
            }


def test_the_exact_model_is_the_central_one_and_left_out_cells_say_so(found: list[Row]) -> None:
    same = [row.ours for row in found if row.metric == "equals_central"]
    assert same == [1.0] * len(same)
    assert len(same) == 8
    assert all(row.note == "left out of a quick run" for row in found if row.ours is None)


def test_models_are_smaller_than_rows_and_the_tables_are_drawn(found: list[Row], tmp_path: Path) -> None:
    sent = {
        row.method: row.ours or 0
        for row in found
        if row.metric == "bytes_from_clients" and row.dataset == "nursery" and row.setting["clients"] == 16
    }
    assert max(sent["du-cba"], sent["exact du-cba (ours)"]) < sent["raw rows"] / 20
    names = {path.name for path in write_rows(found, tmp_path)}
    pictures = {f"buyuktanir2022-{name}.svg" for name in ("accuracy-3.2", "accuracy-left", "bytes", "times")}
    assert pictures <= names
    table = (tmp_path / "buyuktanir2022-3.2.md").read_text(encoding="utf-8")
    assert len(table.splitlines()) == 2 + 4


def test_every_repeat_tests_enough_rows_and_none_that_it_trained_on(benchmark_data: Path) -> None:
    assert benchmark_data.is_dir()
    tested = list(runs.splits("car", 0, runs.TESTED))
    assert sum(len(split.truth) for split in tested) == 1728
    for split in tested:
        assert len(split.truth) + len(split.classes) == 1728
        assert split.train.join(split.test, on=split.train.columns).height == 0  # no row of car comes twice
    parts = runs.parts_of(tested[0], 8)
    assert {len(part.classes) for part in parts} <= {194, 195}


def test_weighted_figures_are_those_of_scikit_learn() -> None:
    from sklearn.metrics import accuracy_score, precision_recall_fscore_support

    rng = np.random.default_rng(0)
    truth, said = rng.integers(0, 4, 300), rng.integers(0, 3, 300)
    found = runs.weighted(truth, said, 4)
    precision, recall, f1, _ = precision_recall_fscore_support(
        truth, said, average="weighted", zero_division=0
    )
    assert found["accuracy"] == pytest.approx(accuracy_score(truth, said))
    assert [found[name] for name in ("precision", "recall", "f1")] == pytest.approx([precision, recall, f1])
