from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import OutputFailed
from mahrem.experiments import PAPERS, Row, write_csv, write_rows
from mahrem.experiments._measure import measure
from mahrem.experiments._sets import microdata


def row(**changes: object) -> Row:
    plain: dict[str, object] = {
        "paper": "canbay2019",
        "table": "4.7",
        "dataset": "adult",
        "setting": {"k": 5},
        "method": "mondrian",
        "metric": "classes",
        "published": 10,
        "ours": 12,
    }
    return Row(**{**plain, **changes})  # type: ignore[arg-type]


def test_a_row_has_the_keys_of_the_contract() -> None:
    keys = ["paper", "table", "dataset", "setting", "method", "metric", "published", "ours", "difference"]
    assert list(row().as_dict()) == keys
    assert row().difference == 2
    assert not row().exact
    assert row(published=10.0, ours=10.01).exact
    assert not row(metric="ratio", published=0.826, ours=0.83).exact
    assert row(published=None).difference is None


def test_rows_come_as_csv_json_and_picture(tmp_path: Path) -> None:
    rows = [row(), row(setting={"k": 10, "round": 2}, published=20, ours=20), row(published=None)]
    written = write_rows(rows, tmp_path / "out")
    assert {path.name for path in written} == {
        "canbay2019.csv",
        "canbay2019.json",
        "canbay2019-published-and-ours.svg",
    }
    with (tmp_path / "out" / "canbay2019.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert [line["k"] for line in lines] == ["5", "10", "5"]
    assert lines[1]["round"] == "2"
    kept = json.loads((tmp_path / "out" / "canbay2019.json").read_text(encoding="utf-8"))
    assert kept == [one.as_dict() for one in rows]


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(OutputFailed):
        write_csv([row()], tmp_path / "file" / "rows.csv")
    with pytest.raises(OutputFailed):
        write_rows([row()], tmp_path / "file" / "rows")


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 30), st.integers(1, 4), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_figures_are_those_of_a_slow_loop(rows: int, columns: int, classes: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points, labels = rng.random((rows, columns)), rng.integers(0, classes, rows)
    groups = [points[labels == label] for label in range(classes) if (labels == label).any()]
    found = measure(points, labels, classes)
    assert found.classes == len(groups)
    assert found.dm == sum(len(group) ** 2 for group in groups)
    assert found.gcp_sum == pytest.approx(sum(len(group) * np.ptp(group, axis=0).sum() for group in groups))


@pytest.mark.parametrize("name", ["SimU", "SimC"])
def test_made_sets_are_the_same_every_time_and_standardised(name: str) -> None:
    made = microdata(name)
    microdata.cache_clear()
    assert np.array_equal(made, microdata(name))
    assert made.shape == (1000, 10)
    assert np.allclose(made.mean(axis=0), 0)
    assert np.allclose(made.std(axis=0, ddof=1), 1)


@pytest.mark.parametrize("name", PAPERS)
def test_every_paper_is_where_its_entry_says_and_its_tables_have_names_of_their_own(name: str) -> None:
    paper = PAPERS[name]
    assert paper.name == name
    assert paper.title
    assert paper.tables
    assert len(paper.tables) == len(set(paper.tables))
    assert callable(paper.load())
    assert paper.draw([]) == {}


def test_listing_papers_loads_no_recipe() -> None:
    code = "import sys; from mahrem.experiments import PAPERS; len(PAPERS); "
    code += "print(*sorted(name for name in sys.modules if name.startswith('mahrem.experiments._')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "mahrem.experiments._reproduce mahrem.experiments._row"


def test_the_guide_lists_the_papers_as_their_entries_do() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "guide" / "reproduce.md").read_text(encoding="utf-8")
    lines = [f"| `{paper.name}` | {paper.title} | {len(paper.tables)} |" for paper in PAPERS.values()]
    assert "\n".join(lines) in guide
