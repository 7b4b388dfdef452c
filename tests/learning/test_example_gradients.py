"""Clipped sums against a loop over examples."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402 - after the extra was found
from hypothesis import strategies as st  # noqa: E402

from gradients_by_hand import clipped_by_hand  # noqa: E402
from mahrem.errors import InvalidParameter  # noqa: E402
from mahrem.learning.private.steps import ClippedSums, refuse_mixing  # noqa: E402

torch.set_num_threads(1)
nn = torch.nn


def losses(outputs: Any, targets: Any) -> Any:
    return nn.functional.cross_entropy(outputs, targets, reduction="none")


def series() -> Any:
    layers = pytest.importorskip("opacus.layers")

    class Reader(nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.read, self.answer = layers.DPLSTM(3, 5, batch_first=True), nn.Linear(5, 4)

        def forward(self, rows: Any) -> Any:
            return self.answer(self.read(rows)[0][:, -1])

    return Reader()


def tied() -> Any:
    class Tied(nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.turn, self.answer = nn.Linear(5, 5), nn.Linear(5, 4)

        def forward(self, rows: Any) -> Any:
            return self.answer(self.turn(torch.tanh(self.turn(rows))))

    return Tied()


MODELS: dict[str, tuple[Callable[[], Any], tuple[int, ...], str]] = {
    "dense": (lambda: nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 4, bias=False)), (5,), "ours"),
    "wide": (
        lambda: nn.Sequential(
            nn.Linear(5, 40), nn.Tanh(), nn.Linear(40, 40), nn.Flatten(), nn.Linear(120, 4)
        ),
        (3, 5),
        "ours",
    ),
    "images": (
        lambda: nn.Sequential(
            nn.Conv2d(1, 4, 3, 2, padding=1, dilation=2),
            nn.GroupNorm(2, 4),
            nn.Tanh(),
            nn.Conv2d(4, 3, 3, padding="same"),
            nn.Flatten(),
            nn.Linear(75, 4),
            nn.LayerNorm(4),
        ),
        (1, 11, 11),
        "ours",
    ),
    "signals": (
        lambda: nn.Sequential(nn.Conv1d(2, 3, 3), nn.Flatten(), nn.Linear(18, 4)),
        (2, 8),
        "ours",
    ),
    "series": (series, (4, 3), "ours"),
    "tied": (tied, (5,), "ours"),
    "grouped": (
        lambda: nn.Sequential(nn.Conv2d(2, 4, 3, groups=2), nn.Flatten(), nn.Linear(36, 4)),
        (2, 5, 5),
        "opacus",
    ),
}


@pytest.mark.parametrize("name", list(MODELS))
@pytest.mark.parametrize("norm", ["l2", "l1"])
def test_sums_equal_the_loop_over_examples(name: str, norm: str) -> None:
    make, shape, engine = MODELS[name]
    torch.manual_seed(1)
    model, inputs, targets = make(), torch.randn(6, *shape), torch.randint(0, 4, (6,))
    for clip in (0.3, 1000.0):
        wanted = clipped_by_hand(model, losses, inputs, targets, clip, norm)
        sums = ClippedSums(model, losses, norm=norm)
        assert sums.engine == engine
        found = sums(inputs, targets, clip)
        sums.close()
        for one, two in zip(wanted, found, strict=True):
            assert torch.allclose(one, two, rtol=1e-3, atol=1e-4)


def test_opacus_and_ours_agree() -> None:
    torch.manual_seed(2)
    make, shape, _ = MODELS["images"]
    model, inputs, targets = make(), torch.randn(5, *shape), torch.randint(0, 4, (5,))
    ours = ClippedSums(model, losses, engine="ours")(inputs, targets, 0.5)
    theirs = ClippedSums(model, losses, engine="opacus")
    for one, two in zip(ours, theirs(inputs, targets, 0.5), strict=True):
        assert torch.allclose(one, two, atol=1e-5)
    theirs.close()


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10**6), scale=st.sampled_from([1e-3, 1.0, 1e6]), norm=st.sampled_from(["l1", "l2"])
)
def test_one_example_never_moves_the_sum_by_more_than_the_clip(seed: int, scale: float, norm: str) -> None:
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 4))
    sums = ClippedSums(model, losses, norm=norm)
    found = sums(torch.randn(1, 3) * scale, torch.randint(0, 4, (1,)), 0.25)
    flat = torch.cat([one.flatten() for one in found]).double()
    assert float(flat.norm() if norm == "l2" else flat.abs().sum()) <= 0.25


@pytest.mark.parametrize("engine", ["ours", "opacus"])
@pytest.mark.parametrize("poison", [float("nan"), float("inf"), 1e38])
def test_a_record_that_is_not_finite_changes_nothing_but_its_own_part(engine: str, poison: float) -> None:
    torch.manual_seed(3)
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Tanh(), nn.Flatten(), nn.Linear(32, 4))
    inputs, targets = torch.randn(5, 1, 6, 6), torch.randint(0, 4, (5,))
    sums = ClippedSums(model, losses, engine=engine)
    kept = [0, 1, 3, 4]
    wanted = sums(inputs[kept], targets[kept], 1.0)
    inputs[2, 0, 2, 2] = poison
    found = sums(inputs, targets, 1.0)
    sums.close()
    largest = max(float((one - two).abs().max()) for one, two in zip(wanted, found, strict=True))
    assert all(bool(torch.isfinite(one).all()) for one in found)
    assert largest < 1e-5 or poison == 1e38  # a huge but finite record has a clipped part of its own
    flat = torch.cat([(one - two).flatten() for one, two in zip(wanted, found, strict=True)])
    assert float(flat.norm()) <= 1.0001


def test_the_same_record_makes_every_weight_of_opacus_nan() -> None:
    opacus = pytest.importorskip("opacus")
    from opacus.optimizers import DPOptimizer

    torch.manual_seed(3)
    model = opacus.GradSampleModule(nn.Linear(3, 2))
    step = DPOptimizer(
        torch.optim.SGD(model.parameters(), lr=0.1),
        noise_multiplier=1.0,
        max_grad_norm=1.0,
        expected_batch_size=4,
    )
    inputs = torch.randn(4, 3)
    inputs[1, 1] = float("nan")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        losses(model(inputs), torch.zeros(4, dtype=torch.long)).mean().backward()
        step.step()
    assert bool(torch.isnan(model._module.weight).any())


def test_an_empty_batch_sums_to_zero() -> None:
    model = nn.Linear(3, 2)
    found = ClippedSums(model, losses)(torch.zeros(0, 3), torch.zeros(0, dtype=torch.long), 1.0)
    assert all(float(one.abs().sum()) == 0 for one in found)


@pytest.mark.parametrize(
    "layer", [nn.BatchNorm1d(4), nn.InstanceNorm1d(4, track_running_stats=True), nn.LSTM(4, 4)]
)
def test_layers_that_mix_examples_or_hide_them_are_refused(layer: Any) -> None:
    with pytest.raises(InvalidParameter, match=type(layer).__name__):
        refuse_mixing(nn.Sequential(nn.Linear(4, 4), layer))


def test_a_model_of_ones_own_that_mixes_examples_is_found_out() -> None:
    class Centred(nn.Module):  # type: ignore[name-defined, misc]
        def forward(self, rows: Any) -> Any:
            return rows - rows.mean(dim=0)

    model = nn.Sequential(nn.Linear(4, 4), Centred())
    with pytest.raises(InvalidParameter, match="others of its batch"):
        refuse_mixing(model, torch.zeros(1, 4))
    refuse_mixing(nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5)), torch.zeros(1, 4))


class Gate(nn.Module):  # type: ignore[name-defined, misc]
    """Of zeros nothing is seen of the others; of anything else it is."""

    def forward(self, rows: Any) -> Any:
        return rows * rows.mean(dim=0)


class Shared(nn.Module):  # type: ignore[name-defined, misc]
    """Divides by the number of examples in the batch."""

    def forward(self, rows: Any) -> Any:
        return rows / len(rows)


class Remembers(nn.Module):  # type: ignore[name-defined, misc]
    """Keeps the largest value it has seen, without noise."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("largest", torch.zeros(()))

    def forward(self, rows: Any) -> Any:
        self.largest.copy_(torch.maximum(self.largest, rows.max()))
        return rows


@pytest.mark.parametrize(("layer", "words"), [(Gate, "others"), (Shared, "others"), (Remembers, "buffer")])
def test_hidden_ways_from_one_example_to_another_are_found_out(layer: Any, words: str) -> None:
    model = nn.Sequential(layer(), nn.Linear(4, 4))
    with pytest.raises(InvalidParameter, match=words):
        refuse_mixing(model, torch.zeros(1, 4))
    if layer is Remembers:
        assert float(model[0].largest) == 0


def test_places_that_cancel_out_do_not_carry_a_gradient_past_the_clip() -> None:
    """Two places of a series with nearly opposite gradients: rounding of the parts hides their sum."""
    model = nn.Sequential(nn.Linear(40, 40, bias=False))

    def difference(outputs: Any, targets: Any) -> Any:
        return (outputs[:, 0] - (1 + targets[:, None]) * outputs[:, 1]).sum(1) * 1e4

    sums = ClippedSums(model, difference)
    for seed in range(20):
        torch.manual_seed(seed)
        row = torch.randn(1, 1, 40)
        found = sums(row.repeat(1, 2, 1), torch.tensor([3e-4 * torch.rand(()).item()]), 1.0)[0]
        assert float(found.double().norm()) <= 1.0


class Doubled(nn.Linear):  # type: ignore[name-defined, misc]
    """A child of a known layer that computes something else."""

    def forward(self, rows: Any) -> Any:
        return 2 * super().forward(rows)


class Twice(nn.Linear):  # type: ignore[name-defined, misc]
    """Uses its weight past its own rule."""

    def forward(self, rows: Any) -> Any:
        return super().forward(rows) + torch.tanh(rows) @ self.weight.T


@pytest.mark.parametrize(
    "make",
    [
        lambda: nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4), nn.ReLU(inplace=True)),
        lambda: nn.Sequential(Doubled(4, 4)),
        lambda: nn.Sequential(Twice(4, 4)),
    ],
)
def test_a_model_whose_gradients_do_not_add_up_is_refused(make: Callable[[], Any]) -> None:
    torch.manual_seed(1)
    sums = ClippedSums(make(), losses)
    with pytest.raises(InvalidParameter, match="add up"):
        sums.try_out(torch.randn(3, 4), torch.tensor([0, 1, 2]))


@pytest.mark.parametrize("name", list(MODELS))
def test_a_sound_model_is_not_refused_and_left_as_it_was(name: str) -> None:
    make, shape, engine = MODELS[name]
    torch.manual_seed(1)
    model = make()
    before = [one.detach().clone() for one in model.parameters()]
    refuse_mixing(model, torch.zeros(1, *shape))
    sums = ClippedSums(model, losses)
    sums.try_out(torch.randn(2, *shape), torch.tensor([0, 1]))
    sums.close()
    assert sums.engine == engine
    assert all(torch.equal(one, two) for one, two in zip(before, model.parameters(), strict=True))
    assert all(one.grad is None for one in model.parameters())


def test_a_norm_over_groups_of_flat_rows_has_a_rule() -> None:
    torch.manual_seed(1)
    model, inputs = nn.Sequential(nn.Linear(5, 4), nn.GroupNorm(2, 4)), torch.randn(3, 5)
    targets = torch.tensor([0, 1, 2])
    for one, two in zip(
        clipped_by_hand(model, losses, inputs, targets, 0.3),
        ClippedSums(model, losses)(inputs, targets, 0.3),
        strict=True,
    ):
        assert torch.allclose(one, two, rtol=1e-3, atol=1e-4)


def test_weights_of_half_precision_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="half precision"):
        ClippedSums(nn.Linear(3, 2).half(), losses)


def test_coarse_products_are_refused() -> None:
    before = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision("medium")
        with pytest.raises(InvalidParameter, match="highest"):
            ClippedSums(nn.Linear(3, 2), losses)
    finally:
        torch.set_float32_matmul_precision(before)


@pytest.mark.parametrize("name", ["dense", "wide", "images", "signals"])
@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_copies_of_an_example_are_clipped_as_one(name: str, norm: str) -> None:
    torch.manual_seed(4)
    make, shape, _ = MODELS[name]
    model = make()
    rows, targets = 5 * torch.randn(6, *shape), torch.randint(0, 4, (6,))
    sums = ClippedSums(model, losses, norm=norm)
    for clip in (0.01, 1e6):
        found = sums(rows, targets, clip, copies=3)
        expected = [torch.zeros_like(one) for one in model.parameters()]
        for start in (0, 3):
            loss = losses(model(rows[start : start + 3]), targets[start : start + 3]).mean()
            gradients = torch.autograd.grad(loss, list(model.parameters()))
            flat = torch.cat([one.flatten() for one in gradients])
            size = float(flat.norm() if norm == "l2" else flat.abs().sum())
            for whole, part in zip(expected, gradients, strict=True):
                whole.add_(part * min(1.0, clip / size))
        for one, two in zip(found, expected, strict=True):
            assert torch.allclose(one, two, rtol=1e-3, atol=1e-6)


def test_an_example_with_one_copy_that_is_not_finite_adds_nothing() -> None:
    make, shape, _ = MODELS["dense"]
    rows, targets = torch.randn(6, *shape), torch.zeros(6, dtype=torch.long)
    rows[4] = float("nan")
    model = make()
    sums = ClippedSums(model, losses)
    both, first = sums(rows, targets, 0.5, copies=3), sums(rows[:3], targets[:3], 0.5, copies=3)
    assert all(torch.allclose(one, two) for one, two in zip(both, first, strict=True))
