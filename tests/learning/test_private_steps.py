"""Private steps: what moves between neighbours, what an empty batch does, what a restart repeats."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from mahrem.dp import NotPrivate, assert_dp  # noqa: E402 - after the extra was found
from mahrem.errors import InvalidInput, InvalidParameter  # noqa: E402
from mahrem.learning.private import Augmentation, TrainingPlan, new_stream  # noqa: E402
from mahrem.learning.private.steps import Compute, Descent, PrivateSteps, StepExamples  # noqa: E402

torch.set_num_threads(1)
nn = torch.nn


def losses(outputs: Any, targets: Any) -> Any:
    return nn.functional.cross_entropy(outputs, targets, reduction="none")


def plan(**said: Any) -> TrainingPlan:
    return TrainingPlan.make(
        **{"rows": 40, "batch": 10, "steps": 4, "noise_multiplier": 1.0, "delta": 1e-3, **said}
    )


def table(rows: int = 40) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(1)
    return np.hstack([rng.normal(size=(rows, 3)), rng.integers(0, 2, (rows, 1))])


def steps(
    rows: np.ndarray[Any, Any], said: TrainingPlan, *, seed: int | None = 1, units: Any = None, **more: Any
) -> PrivateSteps:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    inputs, targets = (
        torch.tensor(rows[:, :3], dtype=torch.float32),
        torch.tensor(rows[:, 3], dtype=torch.long),
    )
    examples = StepExamples(inputs, targets, units)
    compute = Compute(device="cpu", microbatch=more.pop("microbatch", 256))
    return PrivateSteps(model, said, losses, examples, stream=new_stream(seed), compute=compute, **more)


def weights(trained: Any) -> list[float]:
    return [float(value) for one in trained.parameters() for value in one.detach().flatten()]


@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
def test_neighbours_move_a_step_by_no_more_than_the_clip(noise: str) -> None:
    said = plan(noise=noise, delta=0.0 if noise == "laplace" else 1e-3, batch=30)

    def trainer(rows: np.ndarray[Any, Any]) -> list[float]:
        return weights(steps(rows, said).run())

    whole = table()
    seen = assert_dp(trainer, whole, whole[:-1])
    assert len(seen.moved) == said.steps
    assert max(seen.moved) > 0
    wild = whole.copy()
    wild[-1] = [1e30, -1e30, float("nan"), 1]
    assert_dp(trainer, wild, whole[:-1])


def test_exchanging_a_row_moves_a_step_by_twice_the_clip_at_most() -> None:
    whole, other = table(), table()
    other[5] = [50.0, -50.0, 9.0, 1 - whole[5, 3]]
    said = plan(relation="replace", batch=40)
    assert_dp(lambda rows: weights(steps(rows, said).run()), whole, other)


def test_a_trainer_that_divides_by_the_number_of_rows_it_sees_is_caught() -> None:
    whole = table()

    def wrong(rows: np.ndarray[Any, Any]) -> list[float]:
        return weights(steps(rows, plan(rows=len(rows), batch=10)).run())

    with pytest.raises(NotPrivate):
        assert_dp(wrong, whole, whole[:-1])


def test_all_rows_of_a_person_move_a_step_by_no_more_than_the_clip() -> None:
    whole = table()
    people = np.repeat(np.arange(10), 4)
    said = plan(rows=10, batch=8, rows_per_person=2)

    def trainer(keep: slice) -> list[float]:
        return weights(steps(whole[keep], said, units=people[keep]).run())

    seen = assert_dp(trainer, slice(None), slice(0, 36))
    assert max(seen.moved) > 0


def test_rows_of_a_person_beyond_the_limit_are_left_out() -> None:
    whole, people = table(), np.repeat(np.arange(10), 4)
    said = plan(rows=10, batch=10, rows_per_person=2)
    kept = np.tile([True, True, False, False], 10)
    one = weights(steps(whole, said, units=people).run())
    two = weights(steps(whole[kept], said, units=people[kept]).run())
    assert one == pytest.approx(two, abs=1e-6)


def test_an_empty_table_takes_every_step_with_noise_of_the_right_size() -> None:
    """The mean square of 26 x 200 fixed draws; five standard errors."""
    said = plan(steps=200, clip=0.5, batch=10)
    run = steps(table(0), said)
    drawn = []
    for _ in range(200):
        drawn.append(run.noisy_gradient().numpy())
        run.take()
    values = np.concatenate(drawn) * said.divisor / said.noise_scale
    assert abs(np.mean(values**2) - 1) < 5 * np.sqrt(2 / values.size)


def test_the_sum_is_divided_by_the_public_batch_whatever_the_table_holds() -> None:
    whole = table()
    said = plan(rows=1000, batch=1000, noise_multiplier=1e-9, clip=1e3, delta=1e-6)
    small = steps(whole[:20], said).noisy_gradient()
    again = steps(np.vstack([whole[:20]] * 2), said).noisy_gradient()
    assert torch.allclose(2 * small, again, rtol=1e-4)


def test_microbatches_change_nothing_but_memory() -> None:
    whole, said = table(), plan(batch=40)
    assert weights(steps(whole, said, microbatch=3).run()) == pytest.approx(
        weights(steps(whole, said).run()), abs=1e-6
    )


def test_steps_beyond_the_plan_are_refused() -> None:
    run = steps(table(), plan(steps=1))
    run.take()
    with pytest.raises(InvalidParameter, match="paid for"):
        run.take()


def test_a_state_goes_on_exactly_where_it_stood() -> None:
    whole, said = table(), plan(steps=6)
    descent = Descent(learning_rate=0.3, momentum=0.9, average=0.9)
    straight = weights(steps(whole, said, descent=descent).run())
    first = steps(whole, said, descent=descent)
    for _ in range(3):
        first.take()
    second = steps(whole, said, descent=descent)
    second.load(first.state())
    assert weights(second.run()) == straight


def test_two_runs_draw_different_noise() -> None:
    whole, said = table(), plan()
    assert weights(steps(whole, said, seed=None).run()) != weights(steps(whole, said, seed=None).run())


def test_rows_and_targets_must_belong_together() -> None:
    with pytest.raises(InvalidInput):
        StepExamples(torch.zeros(3, 2), torch.zeros(2))


@pytest.mark.parametrize(
    "said", [{"learning_rate": 0}, {"optimiser": "newton"}, {"schedule": "odd"}, {"average": 2}]
)
def test_settings_of_the_descent_are_checked(said: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        Descent(**said)


def images(rows: np.ndarray[Any, Any], said: TrainingPlan, augmentation: Augmentation) -> PrivateSteps:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Tanh(), nn.Flatten(), nn.Linear(8, 2))
    inputs = torch.tensor(rows[:, :16], dtype=torch.float32).view(-1, 1, 4, 4)
    examples = StepExamples(inputs, torch.tensor(rows[:, 16], dtype=torch.long))
    compute = Compute(device="cpu", microbatch=16)
    stream = new_stream(1)
    return PrivateSteps(
        model, said, losses, examples, stream=stream, compute=compute, augmentation=augmentation
    )


def test_an_example_in_many_forms_moves_a_step_by_one_clip() -> None:
    said = plan(batch=40, steps=3)
    rng = np.random.default_rng(1)
    whole = np.hstack([rng.normal(size=(40, 16)), rng.integers(0, 2, (40, 1))])
    whole[-1, :16] *= 1e4
    shown = Augmentation(copies=4, shift=1, flip=True)
    seen = assert_dp(lambda rows: weights(images(rows, said, shown).run()), whole, whole[:-1])
    assert max(seen.moved) > 0


def test_copies_are_shifted_images_and_nothing_else_is_touched() -> None:
    torch.manual_seed(1)
    picture = torch.arange(2 * 3 * 5 * 6, dtype=torch.float32).view(2, 3, 5, 6)
    same = Augmentation(copies=2)(picture)
    assert torch.equal(same, picture.repeat_interleave(2, 0))
    moved = Augmentation(copies=50, shift=1)(picture).unflatten(0, (2, 50))
    padded = nn.functional.pad(picture, (1, 1, 1, 1), mode="replicate")
    views = [padded[:, :, down : down + 5, right : right + 6] for down in range(3) for right in range(3)]
    for example in range(2):
        found = {
            next(place for place, view in enumerate(views) if torch.equal(view[example], one))
            for one in moved[example]
        }
        assert len(found) > 5
    with pytest.raises(InvalidParameter, match="only images"):
        steps(table(), plan(), augmentation=Augmentation(shift=1))
    for wrong in ({"copies": 0}, {"shift": -1}):
        with pytest.raises(InvalidParameter):
            Augmentation(**wrong)
