"""A server that draws trees of its own, or looks at cells of one row: what a client of boosting lets out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from mahrem.errors import BudgetExceeded, InvalidInput
from mahrem.federated.sums import from_fixed, to_fixed
from mahrem.federated.weights import LearningPlan, TrainingSilo, propose_schema
from mahrem.federated.weights._booster import cell_sensitivity
from mahrem.federated.weights._boosting import SharedForest
from mahrem.federated.weights._perturbation import growth_of

PLAN = LearningPlan(model="boosting", rounds=10, depth=2, sum="masked", least_clients=3)
EXACT = replace(PLAN, cell_epsilon=0)
HALF, FINE = 2, 64  # bins of two columns that single every person out together


def singled_out(seed: int = 0) -> pl.DataFrame:
    """One person in each cell of two columns, with a class that nothing tells."""
    place = np.arange(HALF * FINE)
    ill = np.random.default_rng(seed).random(len(place)) < 0.5
    side, at = place // FINE, place % FINE
    return pl.DataFrame({"side": side, "at": at, "class": np.where(ill, "yes", "no")})


SCHEMA = propose_schema(singled_out(), "class")
NOBODY = pl.DataFrame({"side": [0], "at": [0], "class": ["no"]})


def silo(plan: LearningPlan, frame: pl.DataFrame | None = None) -> TrainingSilo:
    return TrainingSilo("a", singled_out() if frame is None else frame, SCHEMA, plan)


def first(plan: LearningPlan, **more: Any) -> dict[str, Any]:
    return {"tree": 1, "level": 0, **SharedForest.empty(0, plan.depth).as_body("forest"), **more}


def forged(plan: LearningPlan) -> dict[str, Any]:
    """Sums that make clients cut between the two sides, whatever is true of their rows."""
    growth = growth_of(plan, SCHEMA)
    cells = np.zeros((growth.bins.cells + 1, 2))
    cells[-1] = 0, 4e6
    cells[growth.bins.cell[0, 0]], cells[growth.bins.cell[0, 63]] = (-1e6, 2e6), (1e6, 2e6)
    totals = to_fixed(cells.ravel(), np.inf)
    growing = growth.grown(SharedForest.empty(1, plan.depth), 0, totals)
    assert growing.feature[0, 0] == 0
    return {"tree": 1, "level": 1, "totals": totals, "grown": growing.digest()}


def labels_read(plan: LearningPlan) -> float:
    """Let three silos answer two levels of a tree that the server chose; read classes off single cells."""
    silos = [silo(plan), silo(plan, NOBODY), silo(plan, NOBODY)]
    for one in silos:
        one.numbers("histogram", first(plan))
    total = sum(one.numbers("histogram", forged(plan)) for one in silos)
    bins = growth_of(plan, SCHEMA).bins
    sums = from_fixed(total).reshape(2, bins.cells + 1, 2)
    slopes = sums[:, bins.cell[2], 0]
    slopes[0, 0] -= 1.0  # of the two others, who are known: 0.5 each
    ill = (singled_out()["class"] == "yes").to_numpy().reshape(HALF, FINE)
    return float(((slopes < 0) == ill).mean())


def test_without_noise_forged_sums_single_everybody_out_and_with_it_classes_stay_hidden() -> None:
    """128 people; with noise 7 times what one person moves, 100 right guesses come once in 10^7 runs."""
    assert labels_read(EXACT) == 1.0
    assert labels_read(PLAN) < 100 / 128


def test_the_honest_first_level_shows_no_cell_of_one_row() -> None:
    """64 pairs of people; each cell of exact sums shows one of five values, noise ten times as wide."""
    bins = growth_of(PLAN, SCHEMA).bins
    exact, noisy = (
        from_fixed(silo(plan).numbers("histogram", first(plan))).reshape(bins.cells + 1, 2)[
            bins.cell[2, :FINE], 0
        ]
        for plan in (EXACT, PLAN)
    )
    assert set(exact.tolist()) == {-1.0, 0.0, 1.0}
    assert np.abs(noisy - exact).max() > 3
    assert np.corrcoef(noisy, exact)[0, 1] < 0.75  # by chance once in 10^9 runs


@pytest.mark.parametrize(
    "body",
    [
        first(PLAN, tree=11),
        first(PLAN, tree=0),
        first(PLAN, level=1),
        {"tree": 1, "level": 0},
        {"tree": 1, "level": 1},
        {"tree": 2, "level": 0, "totals": np.zeros(3, np.int64), "grown": b""},
        {"tree": 1, "level": 0, **SharedForest.empty(0, 3).as_body("forest")},
        {"tree": 2, "level": 0, **SharedForest.empty(1, 3).as_body("forest")},
        {"tree": 12, "level": 0, **SharedForest.empty(11, 2).as_body("forest")},
    ],
)
def test_another_question_than_the_first_level_of_an_agreed_tree_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        silo(PLAN).numbers("histogram", body)


def test_each_level_is_answered_once_and_only_as_its_sums_say() -> None:
    for plan in (PLAN, EXACT):
        one, good = silo(plan), forged(plan)
        one.numbers("histogram", first(plan))
        drawn = SharedForest.empty(1, plan.depth)
        drawn.feature[0, 0] = 2
        for bad in (
            {"grown": drawn.digest()},
            {"totals": good["totals"][:-1]},
            {"level": 2},
            {"tree": 2},
            {"level": 0},
        ):
            with pytest.raises(InvalidInput):
                one.numbers("histogram", {**good, **bad})
        one.numbers("histogram", good)
        with pytest.raises(InvalidInput, match="each once"):
            one.numbers("histogram", good)


def test_a_server_that_begins_again_and_again_gets_no_more_than_the_promise() -> None:
    one = silo(PLAN)
    for _ in range(PLAN.rounds):
        one.numbers("histogram", first(PLAN))
    with pytest.raises(BudgetExceeded, match="rounds=10"):
        one.numbers("histogram", first(PLAN))


def test_one_row_moves_the_sums_of_a_level_by_no_more_than_noise_is_made_for() -> None:
    """Rows with missing numbers and sets of words, which lie in more cells than others."""
    frame = pl.DataFrame(
        {
            "age": ["20", None, "[20, 40]", "90"],
            "town": ["{ash, elm}", "ash", "*", "oak"],
            "class": ["no", "yes", "no", "yes"],
        }
    )
    known = pl.DataFrame({"age": [20, 90, 40], "town": ["ash", "elm", "oak"], "class": ["no", "yes", "no"]})
    schema = propose_schema(known, "class")
    most = cell_sensitivity(2, 2)
    for row in range(frame.height):
        one = TrainingSilo("a", frame[row : row + 1], schema, PLAN)
        booster = one._new_booster()
        booster.noise = lambda _, count: np.zeros(count)
        moved = from_fixed(booster.numbers(first(PLAN)))
        assert np.linalg.norm(moved) <= most + 1e-6


def test_trees_of_hidden_sums_have_noise_unless_it_is_said_that_they_have_none() -> None:
    assert LearningPlan(model="boosting", sum="masked").private
    assert not LearningPlan(model="boosting").private
    assert not EXACT.private
    promised = PLAN.perturbation()
    assert promised is not None
    assert promised.epsilon() == pytest.approx(4.0, abs=1e-3)
    assert silo(PLAN)._prepare({"protocol": 1, "agreed": PLAN.fingerprint(SCHEMA.fingerprint())})["report"][
        "private"
    ]["epsilon"] == pytest.approx(4.0, abs=1e-3)


def test_orders_of_rows_do_not_repeat_where_sums_are_hidden() -> None:
    """So that two runs differ by more than the clients that are in only one of them."""
    plan = LearningPlan(model="logistic", rounds=1, sum="masked", rate=0.1)
    weights = np.zeros(plan.network().size(SCHEMA.encoder.width, 2), np.float32)
    fresh = TrainingSilo("a", singled_out(), SCHEMA, plan, fresh=True)
    body = {"weights": weights, "round": 1}
    assert not np.array_equal(fresh.numbers("train", body), fresh.numbers("train", body))
