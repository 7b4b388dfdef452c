"""``mahrem train`` from the outside."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

torch = pytest.importorskip("torch")

from mahrem.cli._app import _run  # noqa: E402 - after the extra was found
from mahrem.dp import Ledger  # noqa: E402

torch.set_num_threads(1)


def test_a_person_trains_a_model_until_the_budget_is_gone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(1)
    age = rng.integers(0, 100, 800)
    pl.DataFrame({"age": age, "ill": np.where(age > 50, "yes", "no")}).write_csv(tmp_path / "t.csv")
    ledger = str(tmp_path / "L")
    columns = {"age": {"lower": 0, "upper": 100}, "ill": {"categories": ["no", "yes"]}}
    Ledger.create(ledger, tmp_path / "t.csv", epsilon=3, delta=1e-5, rows=800, columns=columns)
    asked = ["train", str(tmp_path / "t.csv"), "--ledger", ledger, "--target", "ill", "--device", "cpu"]
    asked += ["--model", "logistic", "--epsilon", "2", "--epochs", "2", "--batch", "200"]
    folder = str(tmp_path / "m")
    code = _run([*asked, "--holdout", "0.2", "--evaluate-epsilon", "0.5", "-o", folder, "--json"])
    said = capsys.readouterr()
    assert code == 0, said.err
    found = json.loads(said.out)
    assert found["epsilon"] <= 2
    assert found["metrics"]["private"]
    assert (tmp_path / "m" / "model.npz").is_file()
    assert _run(asked) == 5
    assert "nothing was computed" in capsys.readouterr().err
    assert _run([*asked, "--plan"]) == 5
    assert "DOES NOT FIT" in capsys.readouterr().out
    assert _run([*asked, "--hidden", "a,b"]) == 2
    capsys.readouterr()
    assert _run([*asked, "--target", "il"]) == 2  # the last one counts
    assert "did you mean ill?" in capsys.readouterr().err


def test_a_person_searches_settings_of_boosted_trees(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    age = np.random.default_rng(1).integers(0, 100, 800)
    pl.DataFrame({"age": age, "ill": np.where(age > 50, "yes", "no")}).write_csv(tmp_path / "t.csv")
    ledger = str(tmp_path / "L")
    columns = {"age": {"lower": 0, "upper": 100}, "ill": {"categories": ["no", "yes"]}}
    Ledger.create(ledger, tmp_path / "t.csv", epsilon=3, delta=1e-5, rows=800, columns=columns)
    asked = ["train", str(tmp_path / "t.csv"), "--ledger", ledger, "--target", "ill", "--epsilon", "2"]
    asked += ["--model", "boosting"]
    search = ["--search", "learning_rate=0.1,0.3", "--search", "rounds=20,30", "--repeats", "2"]
    assert _run([*asked, *search, "--plan"]) == 0
    said = capsys.readouterr().out
    assert "4 settings, about 2 trainings" in said
    assert "a plan that fits" in said
    assert _run([*asked, *search]) == 0
    assert "chosen" in capsys.readouterr().out
    assert _run([*asked, *search]) == 5  # both together cost more than there is
    assert _run([*asked, "--search", "depth=3"]) == 2
    assert _run([*asked, "--search", "rounds"]) == 2
    assert _run([*asked, "--epochs", "3"]) == 2
    assert "networks" in capsys.readouterr().err
