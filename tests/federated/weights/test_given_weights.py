"""A server that hands out weights of its own making, to single a person out of a sum over everybody."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import Infeasible, InvalidInput
from mahrem.federated.runs import split_table
from mahrem.federated.sums import MaskedSum, from_fixed
from mahrem.federated.weights import (
    LearningPlan,
    Protections,
    SharedModel,
    TrainingSilo,
    first_layer,
    learn_together,
    propose_schema,
)
from mahrem.federated.weights._given import GivenWeights
from mahrem.federated.wire import LocalGrid, Message
from mahrem.types import Floats
from silo_learning import people

OLDEST = pl.DataFrame({"age": [117], "town": ["elm"], "class": ["no"]})
TABLE = pl.concat([people(300), OLDEST.cast(dict(people(1).schema))])
SCHEMA = propose_schema(TABLE, "class")
PLAN = LearningPlan(rounds=3, hidden=(8,), rate=0.1, batch=1000, sum="masked", least_clients=3)
WIDTH = SCHEMA.encoder.width


def trap() -> Floats:
    """Weights whose first layer answers to people who are older than all but one."""
    weights = np.array(SharedModel.fresh(SCHEMA, PLAN).arrays["weights"])
    rows, _ = SCHEMA.rows(TABLE)
    ages = np.sort(rows[:, 0])
    first = weights[: WIDTH * 8].reshape(8, WIDTH)
    first[:] = 0
    first[:, 0] = 4.0
    weights[WIDTH * 8 : WIDTH * 9] = -2.0 * (ages[-1] + ages[-2])
    return weights


def small_trap() -> Floats:
    """The same in one unit, with weights as small as clipped updates leave them, and the others as agreed."""
    weights = np.array(SharedModel.fresh(SCHEMA, PLAN).arrays["weights"])
    ages = np.sort(SCHEMA.rows(TABLE)[0][:, 0])
    first = weights[: WIDTH * 8].reshape(8, WIDTH)
    offsets = weights[WIDTH * 8 : WIDTH * 9]
    unit = int(np.square(first).sum(axis=1).argmin())  # the one that is nearest to nothing
    first[unit], offsets[unit] = 0, -0.05 * (ages[-1] + ages[-2])
    first[unit, 0] = 0.1
    return weights


def asked(plan: LearningPlan, weights: Floats, number: int) -> Floats:
    """Ask three clients under masks to train; gives what the server reads off the first layer."""
    parts = split_table(TABLE, "class", clients=3)
    clients = {name: TrainingSilo(name, part, SCHEMA, plan).for_grid() for name, part in parts.items()}
    question = Message("train", "run", number, {"weights": weights, "round": number})
    total = MaskedSum(3)(LocalGrid(clients), sorted(clients), question, lambda _: None).total
    after = weights + from_fixed(total[:-1]) / from_fixed(total[-1:])
    slopes, offsets = first_layer(plan.network(), weights, after, WIDTH, 2)
    moved = offsets != 0
    return np.asarray(slopes[moved] / offsets[moved, None])


def test_weights_of_the_servers_making_read_a_person_off_a_masked_sum(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What it would get if clients trained on anything."""
    monkeypatch.setattr(GivenWeights, "accept", lambda *_: None)
    person = SCHEMA.rows(OLDEST)[0][0]
    assert np.abs(asked(PLAN, trap(), 1) - person).max(axis=1).min() < 0.05


def test_a_run_begins_with_the_agreed_weights_and_no_others() -> None:
    with pytest.raises(Infeasible, match="begins with the agreed weights"):
        asked(PLAN, trap(), 1)


@pytest.mark.parametrize("number", [2, 3])
def test_clipped_updates_cannot_have_led_to_a_trap(number: int) -> None:
    plan = replace(PLAN, protections=Protections(clip=1.0))
    with pytest.raises(Infeasible, match="no updates of the agreed clip"):
        asked(plan, trap(), number)


@pytest.mark.parametrize("clip", [None, 1.5])
def test_neither_order_nor_clip_keeps_a_small_trap_out_of_later_rounds_and_noise_hides_the_person(
    clip: float | None,
) -> None:
    """Why a client that nobody asked does not join without noise: see ``test_weak_spots.py``."""
    person = SCHEMA.rows(OLDEST)[0][0]
    open_to_it = replace(PLAN, protections=Protections(clip=clip))
    assert np.abs(asked(open_to_it, small_trap(), 2) - person).max(axis=1).min() < 0.05
    noisy = replace(PLAN, protections=Protections(clip=0.1, epsilon=8.0))
    assert np.abs(asked(noisy, small_trap(), 2) - person).max(axis=1).min() > 0.01


def judging(plan: LearningPlan) -> TrainingSilo:
    silo = TrainingSilo("a", TABLE, SCHEMA, plan)
    start = SharedModel.fresh(SCHEMA, plan).arrays["weights"]
    silo.answer(Message("train", "run", 1, {"weights": start, "round": 1}))
    return silo


def judged(silo: TrainingSilo, weights: Floats, number: int = 1) -> list[int]:
    return silo.numbers("validate", {"weights": weights, "round": number}).tolist()


def test_counts_of_right_answers_are_no_questions_about_one_person() -> None:
    """Weights that differ in what they say of one row tell its class, if their counts may be compared."""
    plan = replace(PLAN, sum="plain", early_stop=2, validation=0.5)
    silo = judging(plan)
    weights = SharedModel.fresh(SCHEMA, plan).arrays["weights"]
    right, rows = judged(silo, weights)
    assert right % 5 == rows % 5 == 0
    assert judged(silo, weights) == [right, rows]  # asked again because a client was lost
    with pytest.raises(InvalidInput, match="judged already"):
        judged(silo, trap())
    with pytest.raises(InvalidInput, match="not the one that was trained here last"):
        judged(silo, trap(), 2)
    with pytest.raises(InvalidInput, match="other weights than these were judged"):
        silo.answer(Message("train", "run", 2, {"weights": trap(), "round": 2}))
    silo.answer(Message("train", "run", 2, {"weights": weights, "round": 2}))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(-1, 6), st.integers(0, 2)), max_size=12))
def test_rounds_go_forward_end_where_agreed_and_are_not_asked_again_with_other_weights(
    questions: list[tuple[int, int]],
) -> None:
    held = GivenWeights(SCHEMA, PLAN)
    start = SharedModel.fresh(SCHEMA, PLAN).arrays["weights"]
    taken: list[tuple[int, int]] = []
    for number, which in questions:
        try:
            held.accept(number, start + np.float32(which))
        except InvalidInput:
            continue
        taken.append((number, which))
    assert all(1 <= number <= PLAN.rounds for number, _ in taken)
    assert all(which == 0 for number, which in taken if number == 1)
    for before, after in itertools.pairwise(taken):
        assert after[0] > before[0] or after == before or after[0] == 1


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"protections": Protections(clip=0.05)},
        {"protections": Protections(clip=0.05), "server": "momentum"},
        {"server": "adam", "protections": Protections(clip=0.05)},
        {"scaffold": True, "sum": "plain"},
        {"personal": 1},
        {"fraction": 0.7, "least_clients": 2},
    ],
)
def test_honest_runs_and_those_that_are_run_again_or_go_on_are_answered(more: dict[str, object]) -> None:
    plan = replace(PLAN, **more)  # type: ignore[arg-type]
    parts = split_table(TABLE, "class", clients=3)
    clients = {name: TrainingSilo(name, part, SCHEMA, plan).for_grid() for name, part in parts.items()}
    first = learn_together(LocalGrid(clients), SCHEMA, plan)
    again = learn_together(LocalGrid(clients), SCHEMA, plan)
    assert first.model.rounds == again.model.rounds == plan.rounds
    assert not first.left_out
    assert not again.refused
