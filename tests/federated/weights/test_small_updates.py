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

from mahrem.errors import InvalidInput
from mahrem.federated.runs import WeightsSimulation, simulate
from mahrem.federated.weights import Compression, HostileClient, LearningPlan, Protections
from mahrem.federated.weights._compression import Feedback
from mahrem.federated.wire import Message, pack_message, unpack_message
from silo_learning import accuracy, learnt, people

PLAN = LearningPlan(model="logistic", rounds=6, rate=0.1)
numbers = arrays(np.float64, st.integers(1, 40), elements=st.floats(-5, 5, width=32))
ways = st.builds(
    Compression, bits=st.none() | st.integers(2, 16), share=st.none() | st.sampled_from([0.05, 0.5, 1.0])
)


def sent(body: dict[str, Any]) -> dict[str, Any]:
    return dict(unpack_message(pack_message(Message("train", "r", 1, body))).body)


@settings(max_examples=50, deadline=None)
@given(numbers, ways, st.integers(0, 9))
def test_what_is_read_is_what_the_sender_restores_and_is_near(
    update: Any, way: Compression, seed: int
) -> None:
    body = way.pack(update, np.random.default_rng(seed))
    found = way.restore(sent(body), len(update))
    assert np.array_equal(found, way.restore(body, len(update)))
    step = np.abs(update).max() * (0 if way.bits is None else 1 / (2 ** (way.bits - 1) - 1))
    kept = len(update) if way.share is None else max(1, round(way.share * len(update)))
    largest = np.sort(np.abs(update))[::-1]
    allowed = step + 1e-6 + (largest[kept] if kept < len(update) else 0)
    assert np.abs(found - update).max() <= allowed
    assert np.count_nonzero(found) <= kept


def test_few_bits_lose_nothing_on_average() -> None:
    update = np.linspace(-1, 1, 9)
    rng = np.random.default_rng(3)
    way = Compression(bits=2)
    mean = np.mean([way.restore(way.pack(update, rng), 9) for _ in range(4000)], axis=0)
    # a number is off by at most 1 with deviation 1/2: five deviations of the mean, 1e-6 of false alarm each
    assert np.abs(mean - update).max() < 5 * 0.5 / np.sqrt(4000)


@settings(max_examples=30, deadline=None)
@given(st.lists(arrays(np.float64, 12, elements=st.floats(-5, 5, width=32)), min_size=1, max_size=6), ways)
def test_what_was_not_sent_is_owed(updates: list[Any], way: Compression) -> None:
    rng = np.random.default_rng(0)
    feedback = Feedback(way)
    arrived = sum(way.restore(feedback.pack(update, rng), 12) for update in updates)
    assert np.allclose(arrived + feedback.owed, sum(updates), atol=1e-5)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"values": np.ones(3, np.float32)},
        {"values": np.ones(2, np.float32), "gaps": np.array([0, 9])},
        {"values": np.ones(2, np.float32), "gaps": np.array([3, -2])},
        {"values": np.ones(2, np.float32), "gaps": np.array([0.5, 1.0])},
        {"values": np.ones(2, np.int64), "gaps": np.array([0, 1])},
        {"values": np.ones((1, 2), np.float32), "gaps": np.array([0, 1])},
        {"values": "none", "gaps": "none"},
        {"values": np.ones(4, np.float32), "gaps": np.full(4, (1 << 62) - 1)},  # their sum wraps
    ],
)
def test_an_update_that_cannot_be_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        Compression(share=0.5).restore(body, 4)
    with pytest.raises(InvalidInput):
        Compression(bits=8).restore({"levels": np.ones(4, np.int64), "step": "wide", **body}, 4)


@pytest.mark.parametrize("step", [pytest.param(10**400, id="huge"), float("inf"), float("nan")])
def test_a_step_that_is_no_number_is_refused(step: float) -> None:
    with pytest.raises(InvalidInput):
        Compression(bits=8).restore({"levels": np.ones(4, np.int64), "step": step}, 4)


@pytest.mark.parametrize("switches", [{"quantise": 8}, {"sparse": 0.3}, {"quantise": 6, "sparse": 0.5}])
def test_small_updates_learn_too(switches: dict[str, Any]) -> None:
    found = learnt(replace(PLAN, rounds=10, protections=Protections(**switches)))
    assert accuracy(found.model) > 0.8


def test_a_client_that_sends_a_broken_small_update_is_refused_by_name() -> None:
    plan = replace(PLAN, protections=Protections(quantise=8))

    class Broken(HostileClient):
        def answer(self, message: Message) -> Message:
            said = self.honest.answer(message)
            return said if message.kind != "train" else message.reply(**{**said.body, "step": float("nan")})

    found = learnt(plan, client_2=lambda silo: Broken(silo, lambda given, _: given))
    assert found.nodes == ("client-1", "client-3")
    assert "not numbers" in found.refused["client-2"][1]


def test_small_updates_take_fewer_bytes_and_the_run_folder_says_so(tmp_path: Path) -> None:
    bytes_up = {}
    for name, switches in {"whole": {}, "bits": {"quantise": 8}, "few": {"sparse": 0.05}}.items():
        plan = LearningPlan(rounds=2, hidden=(32, 32), protections=Protections(**switches))
        simulate(people(), "class", tmp_path / name, WeightsSimulation(plan=plan))
        said = json.loads((tmp_path / name / "summary.json").read_text(encoding="utf-8"))
        bytes_up[name] = said["bytes"]["up"]
        assert said["bytes"]["by_round"]["1"]["up"] > 0
    assert bytes_up["bits"] < 0.4 * bytes_up["whole"]
    assert bytes_up["few"] < 0.2 * bytes_up["whole"]
