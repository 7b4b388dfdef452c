"""Series by an LSTM: gradients of whole series, neighbours, and made-up series that hang together."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("opacus")

from gradients_by_hand import clipped_by_hand  # noqa: E402 - after the extras were found
from mahrem.dp import Ledger, Relation, assert_dp  # noqa: E402
from mahrem.errors import InvalidParameter  # noqa: E402
from mahrem.learning.private import new_stream  # noqa: E402
from mahrem.learning.private.steps import ClippedSums  # noqa: E402
from mahrem.learning.synthesis import (  # noqa: E402
    CellLikelihood,
    CellsAsked,
    GeneratorExamples,
    Recurrent,
    make_synthesiser,
)
from mahrem.learning.synthesis._likelihoods import PixelLikelihood  # noqa: E402
from mahrem.learning.synthesis._recurrent import _reader, _SeriesDrawing  # noqa: E402

torch.set_num_threads(1)
STEPS, CELLS = 6, 4
SMALL = Recurrent(hidden=(8,), rate=0.5, steps=4, device="cpu")


def walks(count: int, seed: int = 0) -> Any:
    """Series that go up, down or stay by one cell."""
    draws = np.random.default_rng(seed)
    found = np.zeros((count, STEPS), dtype=np.int64)
    found[:, 0] = draws.integers(CELLS, size=count)
    for step in range(1, STEPS):
        moved = found[:, step - 1] + draws.integers(-1, 2, size=count)
        found[:, step] = np.clip(moved, 0, CELLS - 1)
    return found


def ones(series: Any) -> Any:
    return np.eye(CELLS, dtype=np.float32)[series].reshape(len(series), -1)


def even() -> CellLikelihood:
    return CellLikelihood([np.full(CELLS, 1 / CELLS)] * STEPS)


def trained(rows: Any, generator: Recurrent = SMALL, *, public: int = 200, **said: Any) -> Any:
    settings = {"delta": 1e-5, "relation": Relation.ADD_REMOVE, "noise_multiplier": 1.0, **said}
    plan = generator.plan(public, **settings)
    return generator.prepared(GeneratorExamples(rows, np.zeros(0)), even(), plan, new_stream(1))()


def drawn_from(drawing: Any, count: int, kept: dict[int, Any] | None = None) -> Any:
    asked = CellsAsked(even().sizes, count, count, kept=kept or {})
    return drawing.cells(asked, np.random.default_rng(1))[0]


@pytest.mark.parametrize("labels", [0, 2])
def test_gradients_of_whole_series_equal_the_loop(labels: int) -> None:
    likelihood = CellLikelihood(
        [np.full(size, 1 / size) for size in (3, 4, 2)]
    )  # steps need not have equal cells
    torch.manual_seed(1)
    model = _reader(5, likelihood, labels)
    rows = torch.zeros(7, 9 + labels)
    for start, size in ((0, 3), (3, 4), (7, 2), *([(9, 2)] if labels else [])):
        rows[torch.arange(7), start + torch.randint(0, size, (7,))] = 1
    for clip in (0.1, 1000.0):
        sums = ClippedSums(model, likelihood.losses)
        assert sums.engine == "ours"
        by_hand = clipped_by_hand(model, likelihood.losses, rows, rows[:, :9], clip)
        for one, two in zip(by_hand, sums(rows, rows[:, :9], clip), strict=True):
            assert torch.allclose(one, two, rtol=1e-3, atol=1e-4)


def test_a_step_sees_those_before_it_and_no_later_one() -> None:
    torch.manual_seed(2)
    model = _reader(5, even(), 0)
    one = torch.from_numpy(ones(walks(3)))
    other = one.clone()
    place = (STEPS - 2) * CELLS
    other[:, place : place + CELLS] = other[:, place : place + CELLS].roll(1, dims=1)
    with torch.no_grad():
        first, second = model(one), model(other)
    assert torch.equal(first[:, : place + CELLS], second[:, : place + CELLS])
    assert not torch.allclose(first[:, place + CELLS :], second[:, place + CELLS :])


def test_what_is_drawn_step_by_step_has_the_chances_that_are_learnt() -> None:
    # 40,000 draws with a seed: shares are within 0.01 (four deviations) of the chances.
    torch.manual_seed(3)
    model = _reader(5, even(), 0).eval()
    drawn = drawn_from(_SeriesDrawing(model, 0), 40_000)
    chances = model(torch.zeros(1, STEPS * CELLS))[0, :CELLS].softmax(0).detach().numpy()
    assert np.abs(np.bincount(drawn[:, 0], minlength=CELLS) / 40_000 - chances).max() < 0.01
    begun = drawn[drawn[:, 0] == 1]
    after = model(torch.from_numpy(ones(begun[:1])))[0, CELLS : 2 * CELLS].softmax(0).detach().numpy()
    assert np.abs(np.bincount(begun[:, 1], minlength=CELLS) / len(begun) - after).max() < 0.02


@pytest.mark.parametrize("rare", [{0: 3}, {5: 0}, {1: 3, 4: 0}])
def test_series_under_a_condition_are_those_of_the_network_that_meet_it(rare: dict[int, int]) -> None:
    # Seeds are fixed; 200,000 series without a condition leave at least 1,000 that meet it.
    torch.manual_seed(3)
    model = _reader(5, even(), 0).eval()
    model.start[:CELLS] = torch.tensor([1.0, 0.5, 0.0, -3.0])
    model.answer.weight.data *= 4
    drawing = _SeriesDrawing(model, 0)
    free = drawn_from(drawing, 200_000)
    met = free[np.all([free[:, step] == cell for step, cell in rare.items()], axis=0)]
    assert len(met) > 1000
    kept = {step: np.eye(CELLS)[cell] for step, cell in rare.items()}
    found = drawn_from(drawing, 8000, kept)
    for step in range(STEPS):
        shares = [np.bincount(one[:, step], minlength=CELLS) / len(one) for one in (met, found)]
        assert np.abs(shares[0] - shares[1]).max() < 0.05
    assert len(np.unique(found, axis=0)) > 0.7 * len(np.unique(met, axis=0))


def test_conditions_on_every_step_do_not_drown() -> None:
    torch.manual_seed(3)
    model = _reader(5, even(), 0).eval()
    model.answer.weight.data *= 4000  # chances of 1e-300 and less
    kept = {step: np.array([1.0, 0.0, 0.0, 0.0]) for step in range(STEPS)}
    assert not drawn_from(_SeriesDrawing(model, 0), 50, kept).any()


def test_a_series_more_moves_a_step_by_no_more_than_the_clip() -> None:
    rows = ones(walks(200))

    def pipeline(count: int) -> list[float]:
        found = trained(rows[:count])
        return [float(value) for one in found.network.parameters() for value in one.detach().flatten()]

    assert max(assert_dp(pipeline, 200, 199).moved) > 0


def test_made_up_series_hang_together() -> None:
    # Seeds are fixed. Steps that do not hang together move by 1.25 on average, these by 0.5.
    generator = Recurrent(hidden=(16,), rate=0.5, steps=50, learning_rate=0.05, device="cpu")
    found = trained(ones(walks(1000)), generator, public=1000, noise_multiplier=3.0)
    drawn = drawn_from(found, 2000)
    assert np.abs(np.diff(drawn, axis=1)).mean() < 0.9


def table(count: int) -> pl.DataFrame:
    return pl.DataFrame(walks(count), schema=[f"t{step}" for step in range(STEPS)])


def book(**said: Any) -> Ledger:
    facts = {f"t{step}": {"lower": 0, "upper": 3} for step in range(STEPS)}
    return Ledger.temporary(**{"epsilon": 5.0, "delta": 1e-5, "columns": facts, "rows": 2000, **said})


def test_it_is_a_synthesiser_like_the_others() -> None:
    ledger = book()
    made = make_synthesiser("lstm", epsilon=3.0, delta=1e-6, hidden=(8,), steps=5, rate=0.5)
    fitted = made.fit(table(2000), ledger=ledger)
    drawn = fitted.sample(300, seed=1)
    assert drawn.columns == [f"t{step}" for step in range(STEPS)]
    assert drawn.max_horizontal().max() <= 3
    assert fitted.cost_ == (3.0, 1e-6)
    assert fitted.describe()["network"] == "lstm"
    assert fitted.sample(50, given={"t0": (0, 1)})["t0"].max() <= 1
    assert 0 < ledger.spent().epsilon <= 3.0


def test_what_cannot_work_is_refused_before_anything_is_trained() -> None:
    with pytest.raises(InvalidParameter, match="one size"):
        Recurrent(hidden=(8, 8))
    rows = ones(walks(20))
    plan = SMALL.plan(20, delta=1e-5, relation=Relation.ADD_REMOVE, noise_multiplier=1.0)
    with pytest.raises(InvalidParameter, match="not pictures"):
        SMALL.prepared(
            GeneratorExamples(rows, np.zeros(0)), PixelLikelihood(rows.shape[1]), plan, new_stream(1)
        )
