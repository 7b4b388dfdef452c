from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.federated.runs import WeightsSimulation, simulate
from mahrem.federated.weights import (
    Decoys,
    LearningPlan,
    Protections,
    SharedModel,
    WeightsResult,
    learn_together,
    propose_schema,
)
from mahrem.federated.weights._given import GivenWeights
from mahrem.federated.wire import LocalGrid
from silo_learning import people, silos

PLAN = LearningPlan(rounds=3, rate=0.1, hidden=(6,), protections=Protections(dummies=0.5))
BARE = replace(PLAN, protections=Protections())
KEY = Decoys(key=bytes(range(16)), share=0.5)
SCHEMA = propose_schema(people(), "class")


def learnt(plan: LearningPlan, decoys: Decoys | None, start: SharedModel | None = None) -> SharedModel:
    made = silos(BARE, {"a": people(seed=1), "b": people(seed=2), "c": people(seed=3)})
    named = {name: replace(silo, plan=plan, decoys=decoys) for name, silo in made.items()}
    grid = LocalGrid({name: silo.for_grid() for name, silo in named.items()})
    return learn_together(grid, SCHEMA, plan, before=None if start is None else WeightsResult(start)).model


@settings(max_examples=40, deadline=None)
@given(
    arrays(np.float64, (3, 11), elements=st.floats(-9, 9, width=32)),
    st.sampled_from([0.0, 0.3, 1.0, 2.5]),
    st.binary(min_size=16, max_size=32),
)
def test_what_is_opened_is_what_was_mixed_also_on_average(weights: Any, share: float, key: bytes) -> None:
    decoys = Decoys(key=key, share=share)
    mixed = np.stack([decoys.mix(one) for one in weights])
    assert mixed.shape == (3, 11 + round(11 * share))
    assert all(np.array_equal(decoys.open(one, 11), real) for one, real in zip(mixed, weights, strict=True))
    assert np.array_equal(decoys.open(mixed.mean(axis=0), 11), weights.mean(axis=0))
    assert np.array_equal(decoys.open(np.median(mixed, axis=0), 11), np.median(weights, axis=0))


def test_dummies_are_as_large_as_weights_and_move_as_they_do() -> None:
    decoys = Decoys(key=b"k" * 16, share=1.0)
    rng = np.random.default_rng(0)
    before = rng.normal(size=4000)
    moved = 0.01 * rng.normal(size=4000)
    apart = decoys.mix(before + moved) - decoys.mix(before)
    sizes = np.array([decoys.mix(before).std(), apart.std() / 0.01])
    assert sizes == pytest.approx([1.0, 1.0], abs=0.06)  # seeded


def told_apart(figures: Any, dummy: Any) -> float:
    """Give how often the larger of a dummy's and a weight's figure, or the smaller, is the dummy's."""
    ranks = np.argsort(np.argsort(figures))
    many = int(dummy.sum())
    share = (ranks[dummy].sum() - many * (many - 1) / 2) / (many * (len(dummy) - many))
    return float(max(share, 1 - share))


def test_neither_size_nor_movement_tells_dummies_from_trained_weights() -> None:
    network, decoys = BARE.network(), Decoys(key=b"k" * 16, share=1.0)
    rows, labels = SCHEMA.rows(people())
    before = network.start(rows.shape[1], 2, decoys.seed())
    after = network.train(before, rows, labels, 2, seed=0)
    size = len(before)
    places = decoys._order(2 * size) >= size
    first, second = decoys.mix(before), decoys.mix(after)
    # of 90 weights and as many dummies a share is off by 0.04 as often as not; seeded
    assert told_apart(np.abs(second), places) < 0.6
    assert told_apart(np.abs(second - first), places) < 0.65


@pytest.mark.parametrize("more", [{}, {"sum": "masked"}, {"aggregate": "median"}])
def test_dummies_change_nothing_about_the_model(
    more: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(GivenWeights, "accept", lambda *_: None)  # open weights begin where hidden ones do
    plan, bare = replace(PLAN, **more), replace(BARE, **more)
    hidden = learnt(plan, KEY)
    width, classes = SCHEMA.encoder.width, len(SCHEMA.classes)
    begin = {"weights": bare.network().start(width, classes, KEY.seed())}
    open_ = learnt(bare, None, SharedModel(schema=SCHEMA, plan=bare, arrays=begin))
    revealed = hidden.reveal(KEY)
    assert np.allclose(revealed.arrays["weights"], open_.arrays["weights"], atol=1e-5)
    assert np.array_equal(revealed.predict(people(seed=9)), open_.predict(people(seed=9)))


def test_the_server_holds_a_model_that_it_cannot_use() -> None:
    hidden = SharedModel.from_bytes(learnt(PLAN, KEY).to_bytes())
    with pytest.raises(InvalidInput, match="disguised"):
        hidden.predict(people())
    real = hidden.reveal(KEY).arrays["weights"]
    wrong = hidden.reveal(Decoys(key=b"another key of 16", share=0.5)).arrays["weights"]
    assert abs(np.corrcoef(real, wrong)[0, 1]) < 0.5
    start = BARE.network().start(SCHEMA.encoder.width, 2, BARE.seed)  # what the server could have guessed
    assert abs(np.corrcoef(real, start)[0, 1]) < 0.5


def test_a_client_without_the_key_or_with_other_dummies_is_refused() -> None:
    for decoys in (None, replace(KEY, share=1.0)):
        with pytest.raises(InvalidParameter, match="key"):
            learnt(PLAN, decoys)
    with pytest.raises(InvalidParameter, match="16"):
        Decoys(key=b"short")
    with pytest.raises(InvalidInput, match="dummies"):
        KEY.open(np.zeros(5), 4)


@pytest.mark.parametrize("bad", [{"norm_bound": 1.0}, {"anomaly": 3.0}, {"held_out": 0.1}])
def test_defences_that_would_judge_dummies_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter, match="dummies"):
        LearningPlan(protections=Protections(dummies=1.0, **bad))
    with pytest.raises(InvalidParameter, match="krum"):
        LearningPlan(aggregate="krum", protections=Protections(dummies=1.0))


def test_a_simulation_with_dummies_goes_on_and_writes_the_revealed_model(tmp_path: Path) -> None:
    def stop(line: str) -> None:
        if line.startswith("round 2"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate(people(), "class", tmp_path / "run", WeightsSimulation(plan=PLAN), tell=stop)
    simulate(people(), "class", tmp_path / "run", WeightsSimulation(plan=PLAN))
    simulate(people(), "class", tmp_path / "whole", WeightsSimulation(plan=PLAN))
    models = [SharedModel.load(tmp_path / name) for name in ("run", "whole")]
    assert np.allclose(models[0].arrays["weights"], models[1].arrays["weights"], atol=1e-6)
    said = json.loads((tmp_path / "run" / "summary.json").read_text(encoding="utf-8"))
    assert said["figures"]["accuracy"] > 0.6
