"""Noise in a client's network, and the three places together under one ledger.

Draws without a seed; each test raises a false alarm with probability below 1e-6.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from mahrem.dp import Ledger
from mahrem.dp.accounting import Gaussian, Pure, Repeated, gaussian_multiplier
from mahrem.errors import BudgetExceeded, InvalidParameter
from mahrem.learning.private import LocalNoise, PolynomialLastLayer, PrivateClassifier, frozen_features

torch = pytest.importorskip("torch")


def test_the_noise_is_what_the_formula_says() -> None:
    gaussian = LocalNoise(clip=1.5, epsilon=2.0, delta=1e-6)
    assert gaussian.scale == pytest.approx(
        3.0 * gaussian_multiplier(2.0, 1e-6)
    )  # two records: twice the clip
    assert LocalNoise(clip=1.5, epsilon=2.0, noise="laplace").scale == pytest.approx(1.5)
    assert LocalNoise(clip=1.0, epsilon=2.0, noise="laplace").event() == Pure(2.0)


@pytest.mark.parametrize(("noise", "order"), [("gaussian", 2), ("laplace", 1)])
def test_each_record_is_clipped_by_itself_and_gets_noise(noise: str, order: int) -> None:
    how = LocalNoise(clip=1.0, epsilon=1.0, delta=1e-5 if noise == "gaussian" else 0.0, noise=noise)
    module = how.module()
    given = torch.tensor([[[3.0, 4.0]], [[0.1, 0.0]], [[float("nan"), 1.0]], [[float("inf"), 1.0]]])
    clipped = module.clipped(given)
    assert clipped.shape == given.shape
    assert float(torch.linalg.vector_norm(clipped[0].flatten(), ord=order)) == pytest.approx(1.0, abs=1e-5)
    assert torch.equal(clipped[1], given[1])
    assert not clipped[2:].any()
    many = module(torch.zeros(4000, 1)).numpy().ravel() / how.scale
    assert stats.kstest(many, "norm" if noise == "gaussian" else "laplace").pvalue > 1e-7


def test_gradients_pass_and_every_pass_draws_anew() -> None:
    module = LocalNoise(clip=1.0, epsilon=1.0, noise="laplace").module()
    network = torch.nn.Sequential(torch.nn.Linear(3, 2), module, torch.nn.Linear(2, 1))
    given = torch.ones(5, 3)
    assert not torch.equal(network(given), network(given))
    network(given).sum().backward()
    assert network[0].weight.grad is not None
    network.eval()
    assert not torch.equal(network(given), network(given))
    assert module.passes == 5


def test_passes_add_up_as_the_accountant_says_by_hand() -> None:
    from dp_accounting.pld import privacy_loss_distribution

    how = LocalNoise(clip=1.0, epsilon=0.5, delta=1e-7)
    ledger = Ledger.temporary(epsilon=4, delta=1e-5, relation="replace")
    paid = how.spend(ledger, passes=8)
    one = privacy_loss_distribution.from_gaussian_mechanism(gaussian_multiplier(0.5, 1e-7))
    by_hand = one.self_compose(8).get_epsilon_for_delta(1e-5)
    assert paid == pytest.approx(by_hand, rel=1e-6)
    assert paid == pytest.approx(ledger.spent().epsilon, rel=1e-3)
    assert paid < 8 * 0.5


def test_presence_is_not_hidden_so_add_remove_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="relation='replace'"):
        LocalNoise(clip=1.0, epsilon=1.0, noise="laplace").spend(Ledger.temporary(epsilon=1))


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"clip": 0.0}, "clip"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"delta": 0.0}, "delta"),
        ({"noise": "laplace"}, "delta"),
        ({"noise": "uniform"}, "noise"),
    ],
)
def test_settings_that_promise_nothing_are_refused(said: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        LocalNoise(**{"clip": 1.0, "epsilon": 1.0, "delta": 1e-6, **said})  # type: ignore[arg-type]


def test_three_places_pay_from_one_ledger() -> None:
    """Local noise on the inputs, noisy gradients in hidden layers, a noisy loss in the last layer."""
    rng = np.random.default_rng(1)
    labels = rng.integers(2, size=600)
    inputs = (rng.normal(size=(600, 4)) + 3 * labels[:, None]).astype(np.float32)
    ledger = Ledger.temporary(epsilon=9, delta=1e-5, relation="replace", rows=600)

    place = LocalNoise(clip=4.0, epsilon=3.0, noise="laplace")
    place.spend(ledger, what="inputs sent by clients")
    sent = place.module()(torch.from_numpy(inputs)).numpy()
    assert sent.shape == inputs.shape

    hidden = PrivateClassifier(
        network="dnn", classes=(0, 1), noise_multiplier=2.0, delta=4e-6, batch=100, epochs=1, device="cpu"
    ).fit(inputs, labels, ledger=ledger)
    frozen = torch.nn.Sequential(*list(hidden.model_.children())[:-1])
    features = frozen_features(frozen, inputs)
    last = PolynomialLastLayer(epsilon=2.0, delta=4e-6, classes=(0, 1))
    last.fit(features, labels, ledger=ledger)

    spent = ledger.spent().epsilon
    kinds = [line["event"]["event"] for line in ledger.history() if line["kind"] == "spend"]
    assert kinds[0] == "Pure"
    assert kinds[-1] == "Approximate"
    assert len(kinds) == 3
    assert max(3.0, hidden.cost_[0]) < spent <= 3.0 + hidden.cost_[0] + 2.0 + 1e-9
    with pytest.raises(BudgetExceeded):
        place.spend(ledger, passes=2)


def test_events_are_those_of_the_ledger() -> None:
    ledger = Ledger.temporary(epsilon=9, delta=1e-5, relation="replace")
    how = LocalNoise(clip=1.0, epsilon=1.0, delta=1e-6)
    how.spend(ledger, passes=3)
    (line,) = ledger.history()
    expected = Repeated(Gaussian(how.scale / 2), 3)
    assert line["event"]["of"]["noise_multiplier"] == pytest.approx(expected.event.noise_multiplier)  # type: ignore[union-attr]


def test_copies_of_a_module_do_not_share_their_noise() -> None:
    import copy

    module = LocalNoise(clip=1.0, epsilon=1.0, noise="laplace").module()
    other = copy.deepcopy(module)
    zeros = torch.zeros(2, 3)
    assert not torch.equal(module(zeros), other(zeros))
