from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.dp import Ledger, Relation
from mahrem.dp.accounting import Gaussian, Repeated, epsilon_of, gaussian_epsilon, gaussian_multiplier
from mahrem.errors import BudgetExceeded, InvalidInput, InvalidParameter
from mahrem.federated.networks import Network
from mahrem.federated.networks._private_training import clipped_gradients, train_privately
from mahrem.federated.networks._stack import LayerStack, cross_entropy_slope
from mahrem.federated.runs import RunSettings, WeightsTask
from mahrem.federated.runs._learning import LearningRun
from mahrem.federated.weights import (
    LearningPlan,
    Perturbation,
    Protections,
    SharedModel,
    learn_together,
    propose_schema,
)
from mahrem.federated.wire import LocalGrid, Message
from mahrem.learning.private import TrainingPlan, new_stream
from silo_learning import accuracy, learnt, people, silos

NOISY = Protections(clip=0.5, noise=8.0)
PLAN = LearningPlan(model="logistic", rounds=4, rate=0.1, protections=NOISY)
BY_ROW = Protections(unit="row", clip=1.0, epsilon=4.0, delta=1e-5, rows=200)


def pair(plan: LearningPlan, **more: Any) -> dict[str, Any]:
    made = silos(plan, {"a": people(seed=1), "b": people(seed=2)})
    return {name: replace(silo, **more) for name, silo in made.items()}


def run(made: dict[str, Any], plan: LearningPlan) -> Any:
    grid = LocalGrid({name: silo.for_grid() for name, silo in made.items()})
    return learn_together(grid, propose_schema(people(), "class"), plan)


def question(silo: Any, number: int = 1) -> Message:
    size = silo.plan.network().size(silo.schema.encoder.width, 2)
    return Message("train", "r", number, {"weights": np.zeros(size, np.float32), "round": number})


@settings(max_examples=25, deadline=None)
@given(st.floats(0.05, 8), st.sampled_from([1e-5, 1e-8]))
def test_the_exact_epsilon_undoes_the_exact_noise(epsilon: float, delta: float) -> None:
    assert gaussian_epsilon(gaussian_multiplier(epsilon, delta), delta) == pytest.approx(epsilon, rel=1e-6)


def test_rounds_cost_what_distributions_say_they_cost_together() -> None:
    noise = PLAN.perturbation()
    assert noise is not None
    assert noise.event(4) == Gaussian(2.0)  # 8 clips of noise, moved by 2, four times
    slow = epsilon_of(Repeated(Gaussian(4.0), 4), 1e-6, Relation.ADD_REMOVE)
    assert noise.epsilon() == pytest.approx(slow, rel=1e-3)


@pytest.mark.parametrize("unit", ["client", "row"])
def test_noise_is_found_for_a_promise(unit: Any) -> None:
    said = replace(BY_ROW, unit=unit, rows=200 if unit == "row" else None)
    noise = replace(PLAN, protections=said).perturbation()
    assert noise is not None
    assert 0.98 * 4.0 < noise.epsilon() <= 4.0 * (1 + 1e-9)
    assert noise.as_dict()["unit"] == unit


def test_an_update_is_clipped_and_its_noise_has_the_promised_spread() -> None:
    noise = Perturbation(unit="client", clip=2.0, noise=3.0, delta=1e-6, rounds=1, adders=4)
    still = replace(noise, noise=1e-12)
    long = np.full(20_000, 5.0)
    assert np.linalg.norm(still.update(long, new_stream(), 1)) == pytest.approx(2.0)
    drawn = noise.update(np.zeros(20_000), new_stream(seed=1), 1)
    # of 20,000 numbers the deviation is off by 0.5 % as often as not; seeded, so it never fails by chance
    assert drawn.std() == pytest.approx(3.0 * 2.0 / 2, rel=0.02)
    assert not np.allclose(drawn, noise.update(np.zeros(20_000), new_stream(seed=1), 2))


@pytest.mark.parametrize(
    ("protections", "spread"),
    # of rows: seven steps of rate 0.1 in a round, with 8 clips of noise on the sum over 32 rows
    [(NOISY, 8 * 0.5), (replace(BY_ROW, epsilon=None, noise=8.0), 0.1 * 8 / 32 * np.sqrt(7))],
)
def test_asking_twice_for_a_round_or_for_another_gives_other_noise_each_time(
    protections: Protections, spread: float
) -> None:
    silo = pair(replace(PLAN, protections=protections))["a"]
    given = [silo.answer(question(silo, number)).body["weights"].astype(np.float64) for number in (1, 1, 2)]
    for one, other in combinations(given, 2):
        # the same weights to begin with: what is left is, but for a little, the difference of two draws of
        # 30 numbers; off by so much once in 10^7 runs
        assert (one - other).std() == pytest.approx(spread * np.sqrt(2), rel=0.75)


def test_under_noise_a_silo_tells_neither_its_rows_nor_figures_of_its_table() -> None:
    found = run(pair(PLAN), PLAN)
    for report in found.reports.values():
        assert set(report) == {"anonymised", "private"}
        assert report["private"]["paid"] is False
    silo = pair(PLAN)["a"]
    assert silo.answer(question(silo)).body["rows"] == 1


@pytest.mark.parametrize("few", [7, 0])
def test_under_noise_a_silo_of_few_rows_takes_part_as_any_other(few: int) -> None:
    made = pair(PLAN)
    policy = {"quasi": ("age", "town"), "k": 50}
    made["c"] = replace(made["a"], name="c", frame=people(few), policy=policy)
    found = run(made, PLAN)
    assert not found.left_out
    assert set(found.reports["c"]) == {"anonymised", "holds", "private"}
    assert "left_out" in made["c"].ready[2]  # the owner finds out


def test_under_noise_a_refusal_does_not_tell_why() -> None:
    made = pair(PLAN)
    made["c"] = replace(made["a"], name="c", frame=people(90).drop("town"))
    told = run(made, PLAN).left_out["c"]
    assert told == "this silo cannot take part; where what it sends is hidden or noisy it tells nobody why"
    with pytest.raises(InvalidInput, match=told) as error:  # also if nobody asked it to prepare
        made["c"].answer(question(made["c"]))
    assert error.value.__cause__ is not None


def test_the_ledger_pays_all_rounds_before_anything_leaves() -> None:
    noise = PLAN.perturbation()
    assert noise is not None
    books = {name: Ledger.temporary(epsilon=20.0, delta=1e-5) for name in "ab"}
    made = {name: replace(silo, ledger=books[name]) for name, silo in pair(PLAN).items()}
    found = run(made, PLAN)
    assert found.reports["a"]["private"]["paid"] is True
    for book in books.values():
        (spend,) = book.history()
        assert spend["epsilon"] == pytest.approx(noise.epsilon())
        assert "4 rounds" in spend["what"]
    made["a"].answer(question(made["a"], 5))  # one more than was paid: it pays first
    assert len(books["a"].history()) == 2


def test_without_a_ledger_no_more_leaves_than_the_promise_is_about() -> None:
    silo = pair(PLAN)["a"]
    for number in range(1, 5):
        silo.answer(question(silo, number))
    with pytest.raises(BudgetExceeded, match=r"rounds=4: .* ledger"):
        silo.answer(question(silo, 4))


def test_a_ledger_pays_for_rounds_that_are_asked_again_and_the_promise_says_so() -> None:
    noise, book = PLAN.perturbation(), Ledger.temporary(epsilon=20.0, delta=1e-5)
    assert noise is not None
    silo = replace(pair(PLAN)["a"], ledger=book)
    said = {"protocol": 1, "agreed": PLAN.fingerprint(silo.schema.fingerprint())}
    silo.answer(Message("prepare", "r", 0, {**said, "rounds": 4}))
    for number in (1, 2):  # the second is lost on the way, and the run goes on after the first
        silo.answer(question(silo, number))
    told = silo.answer(Message("prepare", "s", 0, {**said, "rounds": 3})).body["report"]["private"]
    assert told["rounds"] == 5
    assert told["epsilon"] == pytest.approx(noise.epsilon(5), abs=1e-6)


def test_the_summary_of_a_run_that_went_on_counts_the_round_that_was_lost(tmp_path: Path) -> None:
    def begun() -> LearningRun:
        return WeightsTask(propose_schema(people(), "class"), PLAN).begin(tmp_path / "run", RunSettings())

    def stop(_: str, message: Message) -> bool:
        if message.round == 3:
            raise KeyboardInterrupt
        return False

    with pytest.raises(KeyboardInterrupt):
        begun().learn(LocalGrid(pair(PLAN), lost=stop))
    begun()  # it dies before the first answer
    last, noise = begun(), PLAN.perturbation()
    promise = last.finish(last.learn(LocalGrid(pair(PLAN))))["promise"]
    assert noise is not None
    assert promise["rounds"] == 4 + 2
    assert promise["epsilon"] == pytest.approx(noise.epsilon(6), abs=1e-6)


def test_a_silo_whose_ledger_does_not_cover_the_run_is_left_out_and_spends_nothing() -> None:
    poor = Ledger.temporary(epsilon=0.1, delta=1e-5)
    made = {**pair(PLAN), "c": pair(PLAN)["a"]}
    made["c"] = replace(made["c"], name="c", ledger=poor)
    found = run(made, PLAN)
    assert found.nodes == ("a", "b")
    assert "does not fit" in found.left_out["c"]
    assert poor.history() == []


def test_a_ledger_of_persons_does_not_pay_for_rows() -> None:
    plan = replace(PLAN, protections=BY_ROW)
    with pytest.raises(InvalidParameter, match="person"):
        pair(plan, ledger=Ledger.temporary(epsilon=9.0, delta=1e-5, subject="name"))


def test_a_run_whose_noise_was_found_for_its_rounds_does_not_go_on_for_more() -> None:
    promised = replace(PLAN, protections=Protections(clip=0.5, epsilon=4.0))
    few, many = promised.perturbation(), replace(promised, rounds=8).perturbation()
    assert few is not None
    assert many is not None
    # two rounds of the short run and the six that are left of the long one cost more than was promised
    assert 2 / few.noise**2 + 6 / many.noise**2 == pytest.approx(1.25 * 4 / few.noise**2)
    assert promised.fingerprint("s") != replace(promised, rounds=8).fingerprint("s")
    assert PLAN.fingerprint("s") == replace(PLAN, rounds=8).fingerprint("s")


@pytest.mark.parametrize("protections", [NOISY, BY_ROW])
def test_a_ledger_whose_rows_are_exchanged_pays_what_that_costs(protections: Protections) -> None:
    plan = replace(PLAN, protections=protections)
    noise = plan.perturbation()
    assert noise is not None
    books = {name: Ledger.temporary(epsilon=20.0, delta=1e-4, relation="replace") for name in "ab"}
    made = {name: replace(silo, ledger=books[name]) for name, silo in pair(plan).items()}
    assert run(made, plan).nodes == ("a", "b")
    (spend,) = books["a"].history()
    # whole silos are exchanged for any others; of rows, one goes and another comes, which costs more
    assert spend["epsilon"] == pytest.approx(noise.epsilon(relation=Relation.REPLACE))
    assert (spend["epsilon"] > 1.2 * noise.epsilon()) == (protections is BY_ROW)


def test_the_ledger_is_charged_when_asked_to_prepare_and_no_update_was_made() -> None:
    book = Ledger.temporary(epsilon=20.0, delta=1e-5)
    silo = replace(pair(PLAN)["a"], ledger=book)
    agreed = PLAN.fingerprint(silo.schema.fingerprint())
    silo.answer(Message("prepare", "r", 0, {"protocol": 1, "agreed": agreed, "rounds": 4}))
    assert len(book.history()) == 1
    for number in range(1, 5):
        silo.answer(question(silo, number))
    assert len(book.history()) == 1


def test_rows_that_are_anonymised_first_cannot_be_the_unit() -> None:
    # one row more can move a cut, and with it the cells of many rows
    plan, policy = replace(PLAN, protections=BY_ROW), {"quasi": ("age", "town"), "k": 3}
    with pytest.raises(InvalidParameter, match="cells of others"):
        pair(plan, policy=policy)
    assert run(pair(PLAN, policy=policy), PLAN).reports["a"]["anonymised"] is True


def test_noise_shared_by_a_hidden_sum_is_less_for_each_client_and_enough_in_all() -> None:
    plan = replace(PLAN, sum="masked", least_clients=5)
    alone = replace(plan, protections=NOISY).perturbation()
    shared = replace(plan, protections=replace(NOISY, noise_by="sum")).perturbation()
    assert alone is not None
    assert shared is not None
    assert (alone.adders, shared.adders) == (1, 4)  # the fifth client knows its own
    assert alone.epsilon() == shared.epsilon()


@pytest.mark.parametrize("lost", [False, True])
def test_what_a_hidden_sum_shows_has_the_promised_noise_also_without_a_client(*, lost: bool) -> None:
    shared = Protections(clip=0.5, noise=2.0, noise_by="sum")
    plan = LearningPlan(rounds=1, rate=1e-9, sum="masked", least_clients=3, protections=shared)
    made = silos(plan, {name: people(60, seed=seed) for seed, name in enumerate("abcd")})
    schema = propose_schema(people(), "class")

    def leaves(node: str, message: Message) -> bool:
        return lost and node == "d" and message.kind == "sum-masked"

    grid = LocalGrid({name: silo.for_grid() for name, silo in made.items()}, lost=leaves)
    found = learn_together(grid, schema, plan)
    seen = len(found.nodes)
    assert seen == (3 if lost else 4)
    start = SharedModel.fresh(schema, plan).arrays["weights"]
    total = seen * (found.model.arrays["weights"].astype(np.float64) - start)
    # nothing is learnt at this rate, so this is noise; 4,000 numbers: off by 8 % once in 10^12 runs
    assert len(total) > 3_500
    assert total.std() == pytest.approx(2.0 * 0.5 * np.sqrt(seen / 2), rel=0.08)
    without_one = total.std() * np.sqrt((seen - 1) / seen)  # one client knows its own part
    assert without_one > 0.92 * 2.0 * 0.5


def test_a_masked_run_with_noise_is_the_plain_run_with_noise_on_average() -> None:
    still = replace(PLAN, sum="masked", protections=Protections(clip=5.0, noise=1e-9))
    plain = learnt(replace(still, sum="plain", protections=Protections(clip=5.0)), 3)
    masked = learnt(still, 3)
    # silos are of equal size here, so counting them alike changes nothing
    assert np.allclose(plain.model.arrays["weights"], masked.model.arrays["weights"], atol=1e-5)


@pytest.mark.parametrize("hidden", [(), (6, 5)])
def test_clipped_gradients_are_those_of_rows_one_by_one(hidden: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    network, clip = Network(hidden=hidden), 0.7
    rows, right = rng.normal(size=(11, 4)) * 3, np.eye(3)[rng.integers(0, 3, 11)]
    stack = LayerStack(rng.normal(size=network.size(4, 3)), network.shapes(4, 3))
    slow, clipped = np.zeros_like(stack.flat), 0
    for place in range(11):
        stack.back(cross_entropy_slope(stack.forward(rows[place : place + 1]), right[place : place + 1]))
        length = np.linalg.norm(stack.gradient)
        clipped += length > clip
        slow += stack.gradient * min(1, clip / length)
    assert 0 < clipped <= 11
    clipped_gradients(stack, cross_entropy_slope(stack.forward(rows), right) * 11, clip)
    assert np.allclose(stack.gradient, slow)


def test_a_row_whose_gradient_is_no_number_has_no_say() -> None:
    network = Network(hidden=())
    stack = LayerStack(np.ones(network.size(2, 2)), network.shapes(2, 2))
    rows = np.array([[1.0, 2.0], [np.inf, 0.0]])
    with np.errstate(all="ignore"):
        slope = cross_entropy_slope(stack.forward(rows), np.eye(2)) * 2
    clipped_gradients(stack, slope, 1.0)
    assert np.isfinite(stack.gradient).all()
    assert stack.gradient.any()


def test_private_steps_follow_the_plan_to_the_letter() -> None:
    rng = np.random.default_rng(1)
    rows, labels = rng.normal(size=(60, 3)).astype(np.float32), rng.integers(0, 2, 60)
    plan = TrainingPlan(rows=60, batch=20.0, steps=3, clip=0.5, noise_multiplier=1.5, delta=1e-6)
    network, stream = Network(hidden=(), rate=0.2), new_stream(seed=4)
    found = train_privately(network, np.zeros(8), rows, labels, 2, plan, stream, range(3))
    slow = np.zeros(8)
    for step in range(3):
        total = plan.draw_noise(stream, step, 8)
        for row in plan.sample(stream, step, 60):
            stack = LayerStack(slow.copy(), network.shapes(3, 2))
            scores = stack.forward(rows[row : row + 1].astype(float))
            stack.back(cross_entropy_slope(scores, np.eye(2)[labels[row : row + 1]]))
            total = total + stack.gradient * min(1, 0.5 / np.linalg.norm(stack.gradient))
        slow -= 0.2 / 20.0 * total
    assert np.allclose(found, slow, atol=1e-5)


def test_rows_are_hidden_by_noise_inside_the_silo_and_the_model_still_learns() -> None:
    by_row = replace(BY_ROW, epsilon=None, noise=1.0)
    plan = LearningPlan(model="logistic", rounds=10, rate=1.0, batch=100, protections=by_row)
    found = learnt(plan)
    assert found.reports["client-1"]["private"]["unit"] == "row"
    assert accuracy(found.model) > 0.7
    masked = learnt(replace(plan, sum="masked"))
    assert accuracy(masked.model) > 0.7
