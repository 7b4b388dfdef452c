from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mahrem.errors import Infeasible, InvalidInput, InvalidParameter
from mahrem.federated import (
    EncryptedClient,
    EncryptedSum,
    LearningPlan,
    LocalGrid,
    Message,
    Protections,
    WeightsScheme,
    make_sum_keys,
    make_weight_keys,
    training_client,
)
from mahrem.federated._fixed_point import from_fixed, to_fixed
from silo_learning import learnt, people, silos

pytest.importorskip("tenseal")
PLAN = LearningPlan(model="logistic", rounds=2, rate=0.1, sum="homomorphic")
QUESTION = Message("train", "run", 1, {"round": 1})


@pytest.fixture(scope="module")
def keys() -> tuple[bytes, bytes]:
    return make_weight_keys()


def clients(keys: tuple[bytes, bytes], values: dict[str, Any], **more: Any) -> LocalGrid:
    return LocalGrid(
        {
            name: EncryptedClient(
                name, keys[0], lambda *_, one=one: to_fixed(one, np.inf), scheme=WeightsScheme(), **more
            )
            for name, one in values.items()
        }
    )


def added(keys: tuple[bytes, bytes], grid: Any) -> Any:
    return EncryptedSum(keys[1], WeightsScheme())(grid, grid.nodes(), QUESTION, lambda _: None)


@pytest.mark.parametrize("size", [1, 4095, 4096, 9000])
def test_an_encrypted_sum_is_the_sum_to_many_digits(keys: tuple[bytes, bytes], size: int) -> None:
    rng = np.random.default_rng(size)
    values = {name: rng.normal(size=size) * 10.0 ** rng.integers(-4, 6) for name in "abcd"}
    found = added(keys, clients(keys, values))
    assert found.nodes == ("a", "b", "c", "d")
    assert np.abs(from_fixed(found.total) - sum(values.values())).max() < 2.0**-17 + 1e-6
    assert (found.total % 2**8 == 0).all()  # the digits that would tell about the key are not told


def test_the_model_is_that_of_plain_sums(keys: tuple[bytes, bytes]) -> None:
    sealed = {f"client_{at}": lambda silo: training_client(silo, secret=keys[0]) for at in (1, 2, 3)}
    for model in ("logistic", "boosting"):
        plan = replace(PLAN, model=model, depth=2, rate=None)
        hidden = learnt(plan, more={"public": keys[1]}, **sealed)
        plain = learnt(replace(plan, sum="plain"))
        for name, held in plain.model.arrays.items():
            assert np.allclose(held, hidden.model.arrays[name], atol=1e-5)


def test_noise_and_encryption_go_together(keys: tuple[bytes, bytes]) -> None:
    plan = replace(PLAN, protections=Protections(clip=1.0, noise=0.01, noise_by="sum"))
    sealed = {f"client_{at}": lambda silo: training_client(silo, secret=keys[0]) for at in (1, 2, 3)}
    found = learnt(plan, more={"public": keys[1]}, **sealed)
    again = learnt(plan, more={"public": keys[1]}, **sealed)
    assert not np.allclose(found.model.arrays["weights"], again.model.arrays["weights"], atol=1e-5)
    assert all(report["private"]["unit"] == "client" for report in found.reports.values())


class Curious(LocalGrid):
    """A server that hands over something else than the sum to be opened."""

    def __init__(self, grid: LocalGrid, forge: Any) -> None:
        super().__init__(grid.clients)
        self.forge = forge
        self.seen: dict[str, Any] = {}

    def send(self, messages: Any) -> Any:
        if any(message.kind == "open-sum" for message in messages.values()):
            messages = {
                name: replace(message, body={**message.body, **self.forge(self.seen)})
                for name, message in messages.items()
            }
        replies = super().send(messages)
        self.seen |= {name: reply.body for name, reply in replies.items() if hasattr(reply, "body")}
        return replies


def test_a_client_opens_nothing_but_the_sum_of_those_named(keys: tuple[bytes, bytes]) -> None:
    values = {name: np.arange(5.0) + place for place, name in enumerate("abc")}
    forged = {
        "one part": lambda seen: {key: seen["a"][key] for key in ("parts", "sizes", "length")},
        "others named": lambda _: {"names": ["a", "b"]},
        "one named": lambda seen: {**seen["a"], "names": ["a"]},
        "other question": lambda _: {"asked": b"other"},
        "shorter": lambda _: {"length": 3},
    }
    for forge in forged.values():
        with pytest.raises(Infeasible, match="none of them opened"):
            added(keys, Curious(clients(keys, values), forge))
    assert added(keys, Curious(clients(keys, values), lambda _: {})).nodes == ("a", "b", "c")


def test_a_difference_or_a_doubled_part_is_not_opened(keys: tuple[bytes, bytes]) -> None:
    import tenseal

    context = tenseal.context_from(keys[1])
    values = {name: np.arange(5.0) + place for place, name in enumerate("ab")}

    def forge(how: Any) -> Any:
        def made(seen: dict[str, Any]) -> dict[str, Any]:
            one, other = (tenseal.ckks_vector_from(context, seen[name]["parts"]) for name in "ab")
            part = how(one, other).serialize()
            return {"parts": part, "sizes": [len(part)], "length": 5}

        return made

    for how in (lambda a, b: a - b, lambda a, b: a + a + b, lambda a, _: a + a):
        with pytest.raises(Infeasible, match="stays closed"):
            added(keys, Curious(clients(keys, values), forge(how)))
    assert added(keys, Curious(clients(keys, values), forge(lambda a, b: a + b))).nodes == ("a", "b")


def test_a_wrong_key_is_named(keys: tuple[bytes, bytes]) -> None:
    counts = make_sum_keys()
    with pytest.raises(InvalidInput, match="kind of sums"):
        EncryptedSum(counts[1], WeightsScheme())(LocalGrid({}), [], QUESTION, lambda _: None)
    with pytest.raises(InvalidInput, match="public one is needed"):
        EncryptedSum(keys[0], WeightsScheme())(LocalGrid({}), [], QUESTION, lambda _: None)
    other = make_weight_keys()
    mixed = clients(keys, {"a": np.ones(3), "b": np.ones(3)})
    stranger = {**mixed.clients, **clients(other, {"c": np.ones(3)}).clients}
    with pytest.raises(Infeasible, match="none of them opened"):
        added(keys, LocalGrid(stranger))


def test_a_plan_of_encrypted_sums_needs_its_keys() -> None:
    silo = silos(PLAN, {"a": people()})["a"]
    with pytest.raises(InvalidParameter, match="secret key"):
        training_client(silo)
    with pytest.raises(InvalidParameter, match="public key"):
        PLAN.adder()


def test_one_client_alone_and_huge_numbers_are_refused(keys: tuple[bytes, bytes]) -> None:
    with pytest.raises(Infeasible, match="fewer than 2"):
        added(keys, clients(keys, {"a": np.ones(3)}))
    with pytest.raises(Infeasible):
        added(keys, clients(keys, {"a": np.full(3, 1e11), "b": np.full(3, 1e11)}))
