"""Private boosting: what a record may add in all, exactly; what is learnt; what is paid and refused."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mahrem as mh
from mahrem.arrays.counting import add_within_budgets
from mahrem.dp import Ledger, Relation, Tape, listening
from mahrem.dp.accounting import epsilon_of
from mahrem.errors import BudgetExceeded, InvalidInput, InvalidParameter
from mahrem.learning.private import BoostingPlan, PrivateBoosting, PrivateBoostingRegressor
from mahrem.learning.private.boosting import _private_boosting
from mahrem.learning.private.boosting._plan import FINE

ODD = (math.nan, math.inf, -math.inf, 1e300, -3.0, 0.5)
COLUMNS = {
    "age": {"lower": 0, "upper": 100},
    "ward": {"categories": ["a", "b", "c", "d", "e"]},
    "ill": {"categories": ["no", "yes"]},
    "cost": {"lower": 0, "upper": 1000},
}


def ledger(epsilon: float = 1.0, **said: Any) -> Ledger:
    return Ledger.temporary(**{"epsilon": epsilon, "delta": 1e-6, "rows": 500, **said})


def patients(rows: int = 3000, seed: int = 3) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age, ward = rng.integers(0, 100, rows), rng.choice(list("abcde"), rows)
    risk = (age > 60) | (ward == "c")
    return pl.DataFrame(
        {
            "age": age,
            "ward": ward,
            "ill": np.where(risk ^ (rng.random(rows) < 0.05), "yes", "no"),
            "cost": 300 * risk + 4 * age,
        }
    )


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000))
def test_the_kernel_adds_what_a_row_can_pay_for_and_no_more(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, leaves, parts = rng.integers(0, 30), rng.integers(1, 5), rng.integers(1, 4)
    leaf = rng.integers(0, leaves, rows)
    added = rng.integers(-9, 10, (rows, parts))
    left = rng.integers(0, 200, rows)
    budgets, sums = left.copy(), np.zeros((leaves, parts), dtype=np.int64)
    add_within_budgets(leaf, added, budgets, sums)
    expected = np.zeros_like(sums)
    for row in range(rows):
        cost = sum(int(part) ** 2 for part in added[row])
        if cost <= left[row]:
            left[row] -= cost
            expected[leaf[row]] += added[row]
    assert np.array_equal(sums, expected)
    assert np.array_equal(budgets, left)
    assert (budgets >= 0).all()


def squared_moves(model: Any, table: tuple[Any, Any], neighbour: tuple[Any, Any], relation: str) -> list[int]:
    """Fit on both with the same noisy sums, and say how far each sum moved; all else must be the same."""
    tapes, arrays = [], []
    for rows, labels in (table, neighbour):
        with listening(Tape(replay=tapes[0].steps if tapes else None)) as tape:
            model.fit(rows, labels, ledger=ledger(relation=relation))
        tapes.append(tape)
        arrays.append(model.trees_.arrays())
    assert tapes[0].spends == tapes[1].spends
    assert all(np.array_equal(arrays[0][name], arrays[1][name]) for name in arrays[0])
    moves = []
    for one, two in zip(tapes[0].steps, tapes[1].steps, strict=True):
        change = [abs(int(a) - int(b)) for a, b in zip(one.values, two.values, strict=True)]
        assert one.sensitivity == two.sensitivity == model.plan_.reach
        assert sum(change) <= model.plan_.reach.l1
        assert max(change) <= model.plan_.reach.linf
        moves.append(sum(part**2 for part in change))
        assert moves[-1] <= model.plan_.reach.l2_squared
    return moves


def models(random: np.random.Generator) -> tuple[Any, Any]:
    """Give a model of one of the kinds, and what its labels may be, odd ones among them."""
    shared: dict[str, Any] = {
        "epsilon": 1.0,
        "rounds": int(random.integers(1, 12)),
        "allowance": float(random.choice([1e-4, 0.05, 0.3, 1.0])),
        "widths": (1, 3, 1),
        "seed": 1,
    }
    kind = random.integers(3)
    if kind == 2:
        return PrivateBoostingRegressor(bounds=(0, 2), **shared), [0.0, 1.5, 2, 1e9, -7, "x", None, math.nan]
    classes = ("a", "b") if kind == 0 else (1, 2, 3)
    return PrivateBoosting(classes=classes, **shared), [*classes, "2", 2.0, "what", None, math.nan, [1]]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 100_000), st.sampled_from(["add-remove", "replace"]))
def test_no_record_moves_all_sums_together_by_more_than_its_budget(seed: int, relation: str) -> None:
    random = np.random.default_rng(seed)
    model, targets = models(random)
    rows = random.random((int(random.integers(1, 12)), 5)).astype(object)
    labels = [targets[int(place)] for place in random.integers(0, len(targets), len(rows))]
    odd = rows.copy()
    odd[-1] = [[*ODD, "x", None][int(place)] for place in random.integers(0, len(ODD) + 2, 5)]
    if relation == "replace":
        other = rows.copy(), [*labels[:-1], targets[int(random.integers(len(targets)))]]
    else:
        other = rows[:-1], labels[:-1]
    moved = squared_moves(model, (odd, labels), other, relation)
    assert len(moved) == model.plan_.rounds
    assert sum(moved) <= Relation(relation).moves ** 2 * model.plan_.budget


def test_a_record_that_is_never_learnt_uses_up_its_budget_and_stops() -> None:
    rows = np.zeros((200, 1))
    labels = np.array([0] * 199 + [1])
    model = PrivateBoosting(epsilon=1, classes=(0, 1), rounds=40, allowance=0.2, seed=1)
    moved = squared_moves(model, (rows, labels), (rows[:-1], labels[:-1]), "add-remove")
    assert 0.8 * model.plan_.budget < sum(moved) <= model.plan_.budget
    assert moved[0] > 0
    assert moved[-1] == 0


def test_the_property_fails_where_budgets_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def unbounded(leaves: Any, parts: Any, left: Any, sums: Any) -> None:  # noqa: ARG001 - the fault
        np.add.at(sums, leaves, parts)

    monkeypatch.setattr(_private_boosting, "add_within_budgets", unbounded)
    rows = np.zeros((200, 1))
    labels = np.array([0] * 199 + [1])
    model = PrivateBoosting(epsilon=1, classes=(0, 1), rounds=40, allowance=0.2, seed=1)
    moved = squared_moves(model, (rows, labels), (rows[:-1], labels[:-1]), "add-remove")
    assert sum(moved) > model.plan_.budget


def test_noise_has_the_deviation_that_the_budget_needs() -> None:
    model = PrivateBoosting(epsilon=2, classes=(0, 1), rounds=60, widths=(40,), seed=2)
    with listening(Tape()) as tape:
        model.fit(np.zeros((0, 40)), np.zeros(0), ledger=ledger(2))
    noise = np.concatenate([np.ravel(step.output) for step in tape.steps])
    spread = float(noise.std() / model.plan_.scale)
    assert abs(spread - 1) < 5 / math.sqrt(2 * len(noise))  # five deviations: once in a million
    assert (noise == np.rint(noise)).all()


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_the_noise_is_that_of_one_gaussian_mechanism_for_the_whole_budget(relation: str) -> None:
    plan = BoostingPlan.make(
        epsilon=0.7,
        delta=1e-6,
        rounds=30,
        outputs=1,
        allowance=0.5,
        curvature=0.5,
        relation=Relation(relation),
    )
    length = Relation(relation).moves * math.sqrt(plan.budget)
    assert plan.scale >= plan.noise_multiplier * length
    assert plan.budget <= 0.5 * 30 * FINE**2
    assert epsilon_of(plan.event, 1e-6, Relation(relation)) == pytest.approx(0.7, rel=1e-3)


def test_two_classes_several_classes_and_numbers_are_learnt() -> None:
    rng = np.random.default_rng(1)
    rows = rng.random((4000, 3))
    two = PrivateBoosting(epsilon=2, classes=("n", "y"))
    labels = np.where(rows[:, 0] > 0.4, "y", "n")
    assert two.fit(rows, labels, ledger=ledger(2)).score(rows, labels, openly=True) > 0.95
    three = PrivateBoosting(epsilon=2, classes=(0, 1, 2))
    parts = np.floor(3 * rows[:, 1]).astype(int)
    assert three.fit(rows, parts, ledger=ledger(2)).score(rows, parts, openly=True) > 0.9
    assert three.predict_proba(rows).sum(axis=1) == pytest.approx(1)
    number = PrivateBoostingRegressor(epsilon=2, bounds=(0, 2))
    sums = rows[:, 0] + rows[:, 2]
    assert number.fit(rows, sums, ledger=ledger(2)).score(rows, sums, openly=True) > 0.8


def test_two_columns_that_matter_only_together_are_learnt() -> None:
    rows = np.random.default_rng(1).random((6000, 2))
    labels = ((rows[:, 0] > 0.5) ^ (rows[:, 1] > 0.5)).astype(int)
    model = PrivateBoosting(epsilon=3, classes=(0, 1), rounds=200).fit(rows, labels, ledger=ledger(3))
    assert model.score(rows, labels, openly=True) > 0.8


def test_one_undeclared_label_changes_nothing_for_the_others() -> None:
    rows = np.random.default_rng(1).random((2000, 2))
    labels: list[Any] = (rows[:, 0] > 0.5).astype(int).tolist()
    plain = PrivateBoosting(epsilon=2, classes=(0, 1), seed=1).fit(rows[:-1], labels[:-1], ledger=ledger(2))
    labels[-1] = "x"
    odd = PrivateBoosting(epsilon=2, classes=(0, 1), seed=1).fit(rows, labels, ledger=ledger(2))
    assert np.array_equal(plain.trees_.values, odd.trees_.values)


def test_everything_is_paid_before_a_row_is_read_or_refused_unpaid() -> None:
    rows, labels = np.zeros((9, 2)), np.zeros(9)
    short = ledger(0.5)
    with pytest.raises(BudgetExceeded):
        PrivateBoosting(epsilon=1, classes=(0, 1)).fit(rows, labels, ledger=short)
    assert short.spent().epsilon == 0
    book = ledger(1)
    model = PrivateBoosting(epsilon=1, classes=(0, 1)).fit(rows, labels, ledger=book)
    assert model.cost_ == (1, 1e-6)
    assert book.spent().epsilon == pytest.approx(1, rel=1e-6)
    assert "one row more or less" in model.guarantee_
    seeded = PrivateBoosting(epsilon=1, classes=(0, 1), seed=1).fit(rows, labels, ledger=ledger())
    assert "NOT PRIVATE" in seeded.guarantee_
    people = ledger(subject="who", rows_per_person=3)
    with pytest.raises(InvalidParameter, match="protect single rows"):
        PrivateBoosting(epsilon=1, classes=(0, 1), widths=(1, 1)).plan(people)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"classes": (1,)}, "classes=1"),
        ({"classes": (0, 1), "rounds": 0}, "rounds"),
        ({"classes": (0, 1), "learning_rate": 0}, "learning_rate"),
        ({"classes": (0, 1), "allowance": -1}, "allowance"),
        ({"classes": (0, 1), "widths": (1, 5)}, "add up to 2"),
        ({"classes": (0, 1), "delta": 0.0}, "delta"),
    ],
)
def test_settings_that_cannot_be_are_refused_unpaid(said: dict[str, Any], words: str) -> None:
    book = ledger()
    with pytest.raises(InvalidParameter, match=words):
        PrivateBoosting(epsilon=1, **said).fit(np.zeros((4, 2)), np.zeros(4), ledger=book)
    assert book.spent().epsilon == 0


def test_rows_of_another_shape_are_refused() -> None:
    model = PrivateBoosting(epsilon=1, classes=(0, 1))
    with pytest.raises(InvalidParameter, match="not fitted"):
        model.predict(np.zeros((2, 2)))
    with pytest.raises(InvalidInput, match="one for each row"):
        model.fit(np.zeros((4, 2)), np.zeros(3), ledger=ledger())
    model.fit(np.zeros((4, 2)), np.zeros(4), ledger=ledger())
    with pytest.raises(InvalidInput, match="as fitted"):
        model.predict(np.zeros((2, 3)))
    with pytest.raises(InvalidParameter, match="bounds"):
        PrivateBoostingRegressor(epsilon=1).fit(np.zeros((4, 2)), np.zeros(4), ledger=ledger())


def test_a_table_is_read_by_its_public_facts() -> None:
    table, book = patients(), ledger(columns=COLUMNS)
    model = PrivateBoosting(epsilon=1, target="ill", features=["age", "ward"]).fit(table, ledger=book)
    truth = table["ill"].to_numpy()
    assert np.mean(model.predict(table) == truth) > 0.85
    assert model.classes_ == ("no", "yes")


def test_the_verb_trains_keeps_and_loads_it(tmp_path: Path) -> None:
    table = patients()
    book = Ledger.temporary(epsilon=4, delta=1e-6, rows=3000, columns=COLUMNS)
    asked: dict[str, Any] = {"ledger": book, "model": "boosting", "epsilon": 1}
    planned = mh.train(table, **asked, target="ill", plan=True)
    assert planned.fits
    assert planned.as_dict()["plan"]["rounds"] == 100
    assert book.spent().epsilon == 0
    trained = mh.train(table, **asked, target="ill", rounds=120, learning_rate=0.4, output=tmp_path / "m")
    loaded = mh.load_model(tmp_path / "m")
    assert np.array_equal(loaded.predict_proba(table), trained.predict_proba(table))
    assert np.mean(loaded.predict(table) == table["ill"].to_numpy()) > 0.85
    number = mh.train(
        table,
        **asked,
        target="cost",
        features=["age", "ward"],
        output=tmp_path / "n",
        audit=True,
        canaries=20,
    )
    assert number.audit is not None
    kept = mh.load_model(tmp_path / "n").predict(table)
    assert np.array_equal(kept, number.predict(table))
    assert np.corrcoef(kept, table["cost"].to_numpy())[0, 1] > 0.8
    with pytest.raises(InvalidParameter, match="epochs"):
        mh.train(table, **asked, target="ill", epochs=3)
    with pytest.raises(InvalidParameter, match="rounds"):
        mh.train(table, **{**asked, "model": "logistic"}, target="ill", rounds=3)
