"""A client of a hidden sum holds the server to the number of clients that its plan names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from mahrem.errors import Infeasible
from mahrem.federated.sums import ClientKeys, EncryptedSum, MaskedSum, WeightsScheme
from mahrem.federated.weights import LearningPlan
from mahrem.federated.wire import LocalGrid, Message
from silo_learning import people, silos


@dataclass(frozen=True)
class Way:
    """A hidden sum: its name in a plan, what adds, and the clients' key."""

    sum: Any
    adder: Any
    secret: bytes | None = field(default=None, repr=False)


@pytest.fixture(scope="module", params=["masked", "homomorphic"])
def way(request: pytest.FixtureRequest) -> Way:
    if request.param == "masked":
        return Way("masked", MaskedSum())
    try:
        import tenseal  # noqa: F401 - is it there?
    except ImportError:
        request.getfixturevalue("missing_part")("TenSEAL is not installed")
    secret, public = WeightsScheme.make_keys()
    return Way("homomorphic", EncryptedSum(public, "weights"), secret)


def summed(way: Way, least: int, named: str) -> Any:
    """Let a server name some of three clients whose plan says how many there must be."""
    plan = LearningPlan(model="logistic", rounds=1, rate=0.1, sum=way.sum, least_clients=least)
    made = silos(plan, {name: people(60, seed) for seed, name in enumerate("abc")})
    weights = np.zeros(plan.network().size(made["a"].schema.encoder.width, 2), np.float32)
    grid = LocalGrid({name: silo.for_grid(ClientKeys(secret=way.secret)) for name, silo in made.items()})
    question = Message("train", "run", 1, {"weights": weights, "round": 1})
    return way.adder(grid, list(named), question, lambda _: None)


def test_clients_refuse_a_sum_over_fewer_than_their_plan_names(way: Way) -> None:
    with pytest.raises(Infeasible, match="a sum of fewer than 3 is refused"):
        summed(way, 3, "ab")


@pytest.mark.parametrize(("least", "named"), [(3, "abc"), (2, "ab")])
def test_clients_answer_a_sum_over_as_many_as_their_plan_names(way: Way, least: int, named: str) -> None:
    assert summed(way, least, named).nodes == tuple(named)
