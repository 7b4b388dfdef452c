"""The verb train: from a table and a ledger to a model folder that can be read again."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

torch = pytest.importorskip("torch")

import ill_patients  # noqa: E402 - after the extra was found
import mahrem as mh  # noqa: E402
from mahrem.dp import assert_dp  # noqa: E402
from mahrem.errors import BudgetExceeded, InvalidParameter, Tampered  # noqa: E402

torch.set_num_threads(1)
ROWS = 1500
FACTS: dict[str, dict[str, Any]] = {
    **ill_patients.FACTS,
    "cost": {"lower": 0, "upper": 1000, "missing": 0},
}
FAST: dict[str, Any] = {"epochs": 3, "batch": 300, "learning_rate": 2.0, "device": "cpu"}


def table() -> pl.DataFrame:
    secret = np.random.default_rng(4).integers(0, 10**9, ROWS)
    return ill_patients.ill_patients(ROWS).with_columns(secret=secret)


def book(**said: Any) -> mh.Ledger:
    return ill_patients.book(**{"rows": ROWS, "columns": FACTS, **said})


def test_a_model_is_trained_kept_and_read_again(tmp_path: Path) -> None:
    ledger = book()
    told: list[str] = []
    found = mh.train(
        table(), ledger=ledger, target="ill", epsilon=4, output=tmp_path / "m", progress=told.append, **FAST
    )
    assert found.epsilon <= 4
    assert ledger.spent().epsilon == pytest.approx(found.epsilon, rel=1e-6)
    assert "epsilon so far" in told[-1]
    again = mh.load_model(tmp_path / "m")
    assert again.predict(table()).tolist() == found.predict(table()).tolist()
    assert np.mean(again.predict(table()) == table()["ill"].to_numpy()) > 0.75
    assert again.guarantee == found.guarantee
    papers = [
        json.loads((tmp_path / "m" / f"{name}.json").read_text()) for name in ("plan", "sheet", "report")
    ]
    assert not {"seconds", "rows"} & set(papers[-1])  # how long it took tells how many there were
    everything = "".join(path.read_text(errors="replace") for path in (tmp_path / "m").iterdir())
    assert not any(str(value) in everything for value in table()["secret"].head(200))


def test_a_folder_that_was_changed_is_refused(tmp_path: Path) -> None:
    mh.train(table(), ledger=book(), target="ill", model="logistic", epsilon=2, output=tmp_path / "m", **FAST)
    plan = tmp_path / "m" / "plan.json"
    plan.write_text(plan.read_text().replace("yes", "no!"))
    with pytest.raises(Tampered):
        mh.load_model(tmp_path / "m")


@pytest.mark.parametrize(
    ("model", "how", "target"),
    [
        ("logistic", "objective", "ill"),
        ("svm", "objective", "ill"),
        ("logistic", "output", "ill"),
        ("logistic", "functional", "ill"),
        ("linear", "functional", "cost"),
    ],
)
def test_noise_can_go_elsewhere_than_on_gradients(tmp_path: Path, model: str, how: str, target: str) -> None:
    found = mh.train(
        table(), ledger=book(), target=target, model=model, how=how, epsilon=3, output=tmp_path / "m"
    )
    again = mh.load_model(tmp_path / "m")
    assert again.predict(table()).tolist() == found.predict(table()).tolist()
    assert found.as_dict()["epsilon"] == 3


def test_a_number_and_the_rows_themselves_can_be_learnt(tmp_path: Path) -> None:
    cost = mh.train(table(), ledger=book(), target="cost", features=["age"], epsilon=3, hidden=[4], **FAST)
    assert cost.predict(table()).max() <= 1000
    rows = mh.train(table(), ledger=book(), model="autoencoder", epsilon=3, output=tmp_path / "m", **FAST)
    assert mh.load_model(tmp_path / "m").predict(table()).shape == (ROWS, 6)
    assert rows.target is None


def test_a_model_draws_what_was_measured_and_says_if_that_was_open(
    missing_part: Callable[[str], None],
) -> None:
    if find_spec("altair") is None:
        missing_part("no altair: pip install 'mahrem[charts]'")
    measured: dict[str, Any] = {"target": "ill", "model": "logistic", "how": "output", "holdout": 0.3}
    openly = mh.train(table(), ledger=book(), epsilon=3, evaluate_openly=True, **measured)
    paid = mh.train(table(), ledger=book(), epsilon=3, evaluate_epsilon=2.0, **measured)
    assert "do not publish" in json.dumps(openly.plot().to_dict())
    assert "do not publish" not in json.dumps(paid.plot().to_dict())


def test_figures_on_kept_away_rows_are_paid_for_or_marked_and_stay_here(tmp_path: Path) -> None:
    ledger = book()
    private = mh.train(
        table(), ledger=ledger, target="ill", epsilon=3, holdout=0.3, evaluate_epsilon=2.0, **FAST
    )
    assert private.metrics is not None
    assert private.metrics["private"]
    assert 0.6 < private.metrics["value"] <= 1
    assert len(ledger.history()) == 2
    assert private.as_dict()["plan"]["rows"] == round(0.7 * ROWS)
    openly = mh.train(
        table(), ledger=book(), target="ill", epsilon=3, holdout=0.3, evaluate_openly=True, **FAST
    )
    assert openly.metrics is not None
    assert not openly.metrics["private"]
    assert "NOT private" in openly.metrics["note"]
    for name, made in (("private", private), ("openly", openly)):
        written = json.loads((made.save(tmp_path / name) / "report.json").read_text(encoding="utf-8"))
        assert ("metrics" in written) == (name == "private")


def test_what_does_not_fit_is_refused_with_its_measuring() -> None:
    ledger = book(epsilon=3)
    with pytest.raises(BudgetExceeded):
        mh.train(table(), ledger=ledger, target="ill", epsilon=2.9, holdout=0.2, evaluate_epsilon=0.5, **FAST)
    assert ledger.history() == []


def test_a_training_that_took_all_can_still_be_taken_up_again(tmp_path: Path) -> None:
    ledger, path = book(epsilon=2.0), tmp_path / "run"

    def stop(said: str) -> None:
        if said.startswith("step 8"):
            raise KeyboardInterrupt

    given = {
        "ledger": ledger,
        "target": "ill",
        "model": "logistic",
        "epsilon": 2.0,
        "checkpoint": path,
        **FAST,
    }
    with pytest.raises(KeyboardInterrupt):
        mh.train(table(), progress=stop, **given)
    assert path.exists()
    found = mh.train(table(), **given)
    assert found.fitted
    assert len(ledger.history()) == 1
    assert not path.exists()


def test_an_occupied_folder_is_refused_before_anything_is_paid(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "mine.txt").write_text("keep")
    ledger = book()
    for force in (False, True):
        with pytest.raises(InvalidParameter, match="exists"):
            mh.train(
                table(), ledger=ledger, target="ill", epsilon=1, output=tmp_path / "m", force=force, **FAST
            )
    assert ledger.history() == []


def test_a_plan_spends_nothing() -> None:
    ledger = book(epsilon=1)
    found = mh.train(table(), ledger=ledger, target="ill", epsilon=0.5, plan=True, **FAST)
    assert found.fits
    assert not found.fitted
    assert not mh.train(table(), ledger=ledger, target="ill", epsilon=2, plan=True, **FAST).fits
    assert ledger.history() == []
    with pytest.raises(InvalidParameter, match="planned"):
        found.predict(table())


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"target": None}, "target"),
        ({"target": "secret"}, "declared"),
        ({"features": ["secret"]}, "declared"),
        ({"features": ["ill"]}, "among the features"),
        ({"model": "crystal ball"}, "model"),
        ({"how": "prayer"}, "how"),
        ({"model": "logistic", "how": "objective", "epochs": 3}, "epochs"),
        ({"model": "logistic", "hidden": [3]}, "hidden"),
        ({"epsilon": 0}, "epsilon"),
        ({"delta": 1.0}, "delta"),
        ({"holdout": 0.2}, "evaluate"),
        ({"evaluate_epsilon": 1.0}, "holdout"),
        ({"poisson": False}, "accept_no_amplification"),
        ({"shape": [7, 7]}, "shape"),
        ({"rounds": 5}, "rounds"),
        ({"repeats": 5}, "search"),
        ({"search": {}}, "search"),
        ({"search": {"epochs": [1, 2]}}, "epochs"),
        ({"search": {"clip": ["wide"]}}, "clip"),
        ({"search": {"clip": [1, 2]}, "audit": True}, "audit"),
        ({"search": {"clip": [1, 2]}, "model": "logistic", "how": "objective"}, "clip"),
        ({"model": "boosting", "warm_start": "t.csv"}, "warm_start"),
        ({"shift": 1}, "images"),
    ],
)
def test_wishes_that_cannot_be_are_refused(said: dict[str, Any], words: str) -> None:
    ledger = book()
    with pytest.raises(InvalidParameter, match=words):
        mh.train(table(), **{"ledger": ledger, "target": "ill", "epsilon": 1.0, **said})
    assert ledger.history() == []


def test_another_table_than_the_ledgers_is_refused(tmp_path: Path) -> None:
    table().write_csv(tmp_path / "a.csv")
    table().head(100).write_csv(tmp_path / "b.csv")
    ledger = mh.Ledger.create(
        tmp_path / "L", tmp_path / "a.csv", epsilon=5, delta=1e-5, rows=ROWS, columns=FACTS
    )
    with pytest.raises(mh.MahremError, match="other data"):
        mh.train(tmp_path / "b.csv", ledger=ledger, target="ill", epsilon=1, **FAST)


@pytest.mark.parametrize(
    ("model", "search"),
    [
        ("logistic", {"learning_rate": [1e-6, 2.0]}),
        ("boosting", {"learning_rate": [1e-6, 0.3], "rounds": [40]}),
    ],
)
def test_settings_are_chosen_and_the_choice_is_paid_for(
    tmp_path: Path, model: str, search: dict[str, Any]
) -> None:
    ledger = book()
    own = {name: value for name, value in FAST.items() if name != "learning_rate"}
    asked: dict[str, Any] = {"ledger": ledger, "target": "ill", "model": model, "search": search}
    asked |= {"epsilon": 4, "repeats": 3, **(own if model == "logistic" else {})}
    planned = mh.train(table(), **asked, plan=True)
    assert planned.fits
    assert "choice among 2" in planned.guarantee
    assert planned.as_dict()["plan"]["settings"] == 2
    assert ledger.history() == []
    found = mh.train(table(), **asked, output=tmp_path / "m", holdout=0.2, evaluate_epsilon=0.5)
    assert found.epsilon == planned.epsilon == 4
    assert len(ledger.history()) == 2  # the search, and what was measured
    assert found.chosen is not None
    assert set(found.chosen) == set(search)
    kept = json.loads((tmp_path / "m" / "report.json").read_text())
    assert kept["chosen"] == found.chosen
    assert mh.load_model(tmp_path / "m").predict(table()).tolist() == found.predict(table()).tolist()
    assert not mh.train(table(), **{**asked, "epsilon": 9}, plan=True).fits


def test_a_network_starts_from_a_public_table_but_never_from_the_private_one(tmp_path: Path) -> None:
    table().write_csv(tmp_path / "private.csv")
    table().tail(ROWS // 2).write_csv(tmp_path / "public.csv")  # as if somebody had published it
    ledger = mh.Ledger.create(
        tmp_path / "L", tmp_path / "private.csv", epsilon=5, delta=1e-5, rows=ROWS, columns=FACTS
    )
    asked: dict[str, Any] = {"ledger": ledger, "target": "ill", "features": ["age", "sex"], "epsilon": 0.5}
    asked |= {**FAST, "epochs": 0.5, "learning_rate": 1e-3}  # next to nothing is learnt privately
    started = mh.train(tmp_path / "private.csv", **asked, warm_start=tmp_path / "public.csv", average=0.9)
    right = np.mean(started.predict(table()) == table()["ill"].to_numpy())
    assert right > 0.7
    spent = ledger.spent().epsilon
    (tmp_path / "link.csv").symlink_to(tmp_path / "private.csv")
    (tmp_path / "hard.csv").hardlink_to(tmp_path / "private.csv")
    (tmp_path / "inner").mkdir()
    names = ("private.csv", "link.csv", "hard.csv", "inner/../private.csv")
    for same in (tmp_path / name for name in names):
        with pytest.raises(InvalidParameter, match="very table"):
            mh.train(tmp_path / "private.csv", **asked, warm_start=same)
    assert ledger.spent().epsilon == spent
    with pytest.raises(InvalidParameter, match="very table"):
        whole = table()
        mh.train(whole, **{**asked, "ledger": book()}, warm_start=whole)


def test_no_row_decides_whether_a_warm_start_is_refused() -> None:
    guess = table()  # whoever guesses the table is not told that the guess is right
    for private in (guess.clone(), guess.head(ROWS - 1), guess.head(5)):
        asked = {"ledger": book(), "target": "ill", "features": ["age", "sex"], "epsilon": 0.5, **FAST}
        assert mh.train(private, **asked, warm_start=guess).predict(guess) is not None


def test_the_whole_verb_passes_a_neighbour_test(monkeypatch: pytest.MonkeyPatch) -> None:
    from mahrem.learning.private import new_stream
    from mahrem.learning.training import _fit

    monkeypatch.setattr(_fit, "new_stream", lambda: new_stream(4))

    def pipeline(rows: pl.DataFrame) -> list[float]:
        found = mh.train(
            rows,
            ledger=book(),
            target="ill",
            model="logistic",
            epsilon=3,
            holdout=0.2,
            evaluate_epsilon=0.5,
            **{**FAST, "epochs": 1},
        )
        assert found.metrics is not None
        weights = [
            float(value) for one in found.estimator.model_.parameters() for value in one.detach().flatten()
        ]
        return [*weights, found.metrics["value"]]

    whole = table()
    odd = whole.with_columns(
        age=pl.when(pl.int_range(pl.len()) == ROWS - 1).then(None).otherwise(pl.col("age"))
    )
    assert_dp(pipeline, whole, whole.head(ROWS - 1))
    assert_dp(pipeline, odd, whole.head(ROWS - 1))

    def boosted(rows: pl.DataFrame) -> dict[str, Any]:
        found = mh.train(rows, ledger=book(), target="ill", model="boosting", epsilon=3, rounds=9)
        return {**found.estimator.trees_.arrays(), "plan": found.as_dict()["plan"]}

    seen = assert_dp(boosted, whole, whole.head(ROWS - 1))
    assert max(seen.moved) > 0
    assert_dp(boosted, odd, whole.head(ROWS - 1))


def test_target_and_person_belong_to_the_features_row_whatever_order_a_database_answers_in(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A source that gives rows in another order every time it is asked."""
    from mahrem.learning.private import PublicInputs
    from mahrem.learning.private.inputs import read_rows
    from mahrem.table import open_source

    rng = np.random.default_rng(1)
    whole = pl.DataFrame({"age": rng.permutation(100)}).with_columns(
        cost=pl.col("age") * 10,
        who=pl.format("p{}", pl.col("age") // 2),
        **{f"other{place}": pl.lit(place) for place in range(9)},  # of few columns all are read at once
    )
    whole.write_parquet(tmp_path / "t.parquet")
    source: Any = open_source(tmp_path / "t.parquet")
    read = type(source).read

    def shuffled(self: Any, names: Any) -> Any:
        if any(name not in self._held for name in names):
            self._lazy = whole.sample(fraction=1, shuffle=True, seed=int(rng.integers(1 << 30))).lazy()
        return read(self, names)

    monkeypatch.setattr(type(source), "read", shuffled)
    inputs = PublicInputs(facts=book().facts, features=("age",))
    twice: Any = open_source(tmp_path / "t.parquet")
    assert not twice.take(["age"])["age"].equals(twice.take(["cost"])["cost"] // 10)
    rows, target, units = read_rows(source, inputs, "cost", "who")
    assert target is not None
    assert units is not None
    age = (rows[:, 0] + 1) / 2 * 100
    assert target * 100 == pytest.approx(age, abs=1e-4)
    people = {(unit, round(one) // 2) for unit, one in zip(units.tolist(), age.tolist(), strict=True)}
    assert len(people) == len(set(units.tolist())) == 50
