"""Generating networks: what one record can move, what is refused unpaid, what conditions and seeds do."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from mahrem.dp import Ledger, assert_dp
from mahrem.dp.accounting import epsilon_of
from mahrem.errors import BudgetExceeded, Infeasible, InvalidInput, InvalidParameter, MissingExtra
from mahrem.learning.private import TrainingPlan, new_stream
from mahrem.learning.synthesis import (
    Adversarial,
    CellLikelihood,
    Generator,
    GeneratorExamples,
    NetworkImages,
    NetworkTables,
    SyntheticSchema,
    Variational,
    make_synthesiser,
)
from mahrem.learning.synthesis._adversarial import _pair_losses
from mahrem.learning.synthesis._drawings import CHUNK
from mahrem.learning.synthesis._drawn_tables import BATCH
from mahrem.learning.synthesis._likelihoods import PixelLikelihood

torch = pytest.importorskip("torch")
pytest.importorskip("dp_accounting")

FACTS: dict[str, Any] = {
    "age": {"lower": 0, "upper": 99},
    "cost": {"lower": 0.0, "upper": 999.5},
    "sex": {"categories": ["f", "m"]},
    "ill": {"categories": ["no", "yes"]},
}
GAPS = SyntheticSchema(missing=("cost",))
DELTA = 1e-6
SMALL: dict[str, Generator] = {
    "vae": Variational(hidden=8, code=2, steps=3),
    "gan": Adversarial(hidden=8, judge=8, code=2, steps=4, turns=2, drawn_rows=32),
}
NEW = pl.DataFrame({"age": [7], "cost": [1e300], "sex": ["divers"], "ill": ["perhaps"]})


def people(rows: int, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 100, rows)
    ill = rng.random(rows) < age / 120
    cost = np.where(ill, 500.0, 50.0) + rng.normal(0, 20, rows)
    return pl.DataFrame(
        {"age": age, "cost": cost, "sex": rng.choice(["f", "m"], rows), "ill": np.where(ill, "yes", "no")}
    )


class Repeated(NetworkTables):
    """Two runs of it draw the same batches and codes: only then can neighbours be compared."""

    def stream(self) -> Any:
        return new_stream(1)


def fitted(table: pl.DataFrame, generator: Generator, *, epsilon: float = 1.0, **more: Any) -> Any:
    book = {name: more.pop(name) for name in ("subject", "rows_per_person", "relation") if name in more}
    ledger = Ledger.temporary(epsilon=epsilon, delta=DELTA, columns=FACTS, rows=1000, **book)
    settings = {"schema": GAPS, "target": "ill", **more}
    return Repeated(epsilon=epsilon, delta=DELTA, generator=generator, **settings).fit(table, ledger=ledger)


def examples(rows: int, width: int = 6, labels: int = 2) -> GeneratorExamples:
    rng = np.random.default_rng(3)
    ones = np.eye(labels, dtype=np.float32)[rng.integers(0, labels, rows)]
    return GeneratorExamples(
        np.concatenate([rng.random((rows, width), dtype=np.float32), ones], axis=1),
        np.full(labels, 1 / labels),
    )


def steps_of(kind: str, clip: float, given: GeneratorExamples) -> Any:
    """Give the private steps of a generator: what sees rows."""
    found: list[Any] = []
    generator = SMALL[kind]

    class Heard(type(generator)):  # type: ignore[misc]
        def private_steps(self, *said: Any) -> Any:
            found.append(super().private_steps(*said))
            return found[0]

    plan = TrainingPlan(rows=40, batch=40, steps=1, clip=clip, noise_multiplier=1.0, delta=DELTA)
    Heard(hidden=8, code=2).prepared(given, PixelLikelihood(6), plan, new_stream(1))
    return found[0]


@pytest.mark.parametrize("kind", SMALL)
@pytest.mark.parametrize("clip", [0.01, 1.0])
def test_a_record_with_its_made_up_partner_moves_the_sum_by_at_most_the_clip(kind: str, clip: float) -> None:
    given = examples(12)
    given.rows[3, 2] = np.inf  # a record that is not finite adds nothing
    steps = steps_of(kind, clip, given)

    def total(rows: list[int]) -> Any:
        torch.manual_seed(5)
        parts = [steps.sums(steps.inputs[[row]], steps.targets[[row]], clip) for row in rows]
        return torch.stack([torch.cat([one.flatten() for one in part]) for part in parts])

    alone = total(list(range(12)))
    sizes = alone.norm(dim=1)
    assert float(sizes.max()) <= clip
    assert float(sizes[3]) == 0
    if clip == 0.01:  # so tight that every record but the broken one is cut
        assert int((sizes > 0.99 * clip).sum()) == 11
    sums = []
    for rows in (12, 11):  # without the last: random codes of the others stay the same
        torch.manual_seed(5)
        parts = steps.sums(steps.inputs[:rows], steps.targets[:rows], clip)
        sums.append(torch.cat([one.flatten() for one in parts]))
    moved = float((sums[0] - sums[1]).norm())
    assert 0 < moved <= clip * (1 + 1e-5)  # sums of twelve, rounded


def test_the_gradient_of_a_pair_is_that_of_real_and_made_up_together() -> None:
    """Peers noise the gradient of the real row and lose that of the made-up one."""
    given = examples(8)
    steps = steps_of("gan", 1e6, given)
    model = steps.model
    torch.manual_seed(2)
    ours = torch.cat([one.flatten() for one in steps.sums(steps.inputs, steps.targets, 1e6)])
    torch.manual_seed(2)
    model.zero_grad()
    _pair_losses(model(steps.inputs), steps.targets).sum().backward()
    whole = torch.cat([one.grad.flatten() for one in steps.parameters])
    assert torch.allclose(ours, whole * (1 - 1e-5), rtol=1e-3, atol=1e-5)
    model.zero_grad()
    torch.nn.functional.softplus(-model.judge(steps.inputs)).sum().backward()
    real = torch.cat([one.grad.flatten() for one in steps.parameters])
    assert float((whole - real).norm()) > 0.1 * float(whole.norm())


def test_the_generator_is_not_among_what_sees_rows() -> None:
    steps = steps_of("gan", 1.0, examples(8))
    assert [tuple(one.shape) for one in steps.parameters] == [(32, 6), (32,), (2, 32), (2,)]


def published(table: pl.DataFrame, kind: str, **more: Any) -> tuple[Any, ...]:
    model = fitted(table, SMALL[kind], **more)
    return model.about.rows, model.describe(), model.guarantee_, model.domain.as_dict()


@pytest.mark.parametrize("kind", SMALL)
def test_one_row_more_is_told_apart_by_noise_only(kind: str) -> None:
    table = people(400)
    more = pl.concat([table, people(1, seed=9)], how="vertical_relaxed")
    evidence = assert_dp(lambda rows: published(rows, kind)[1:], table, more)
    assert len(evidence.moved) == 4 + SMALL[kind].steps
    assert evidence.epsilon(DELTA) <= 1 + 1e-9


def test_all_rows_of_a_person_are_told_apart_by_noise_only() -> None:
    table = people(600).with_columns(who=pl.Series(np.arange(600) // 3))
    less = table.filter(pl.col("who") != 199)  # the last: random codes of the others stay the same
    evidence = assert_dp(
        lambda rows: published(rows, "vae", subject="who", rows_per_person=2, epsilon=8.0)[1:], table, less
    )
    assert evidence.epsilon(DELTA) <= 8 + 1e-9


@pytest.mark.parametrize("kind", SMALL)
def test_a_record_with_a_new_category_changes_nothing_observable(kind: str) -> None:
    """The domain leak test: its row is left out, so shapes, spend and sums before noise stay as they are."""
    table = people(400)
    more = pl.concat([table, NEW], how="vertical_relaxed")
    evidence = assert_dp(lambda rows: published(rows, kind)[1:], table, more)
    assert set(evidence.moved) == {0.0}


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_the_cost_is_the_plans_and_close_to_what_was_asked_for(relation: str) -> None:
    ledger = Ledger.temporary(epsilon=0.7, delta=DELTA, relation=relation, columns=FACTS, rows=5000)
    made = make_synthesiser("vae", epsilon=0.7, delta=DELTA, hidden=8, steps=20)
    model: Any = made.fit(people(500), ledger=ledger)
    assert model.cost_ == (0.7, DELTA)
    assert 0.69 < epsilon_of(model.plan.event, DELTA, ledger.relation) <= 0.7
    assert ledger.spent().epsilon == pytest.approx(0.7, abs=0.01)
    assert model.plan.training.epsilon < 0.7  # the rest paid for the counts


@pytest.mark.parametrize("kind", SMALL)
def test_conditions_hold_in_every_row_and_rules_too(kind: str) -> None:
    schema = SyntheticSchema(missing=("cost",), constraints=("age <= cost",))
    model = fitted(people(2000), SMALL[kind], epsilon=4.0, schema=schema)
    drawn = model.sample(700, seed=2, given={"ill": "yes", "age": (18, 20), "sex": ["f"]})
    assert drawn.height == 700
    assert set(drawn["ill"]) == {"yes"}
    assert set(drawn["sex"]) == {"f"}
    assert drawn["age"].is_between(18, 20).all()
    both = drawn.drop_nulls("cost")
    assert (both["age"] <= both["cost"]).all()
    assert model.sample(50, given={"cost": None})["cost"].null_count() == 50
    with pytest.raises(InvalidParameter, match="not declared"):
        model.sample(5, given={"sex": "x"})


def test_rows_are_drawn_in_parts_and_a_seed_repeats_them(monkeypatch: pytest.MonkeyPatch) -> None:
    model = fitted(people(500), SMALL["vae"])
    assert model.sample(300, seed=3).equals(model.sample(300, seed=3))
    assert not model.sample(300, seed=3).equals(model.sample(300, seed=4))
    seen: list[int] = []
    outputs = type(model.drawing).outputs

    def heard(drawing: Any, labels: Any, rows: int, rng: Any) -> Any:
        seen.append(rows)
        return outputs(drawing, labels, rows, rng)

    monkeypatch.setattr(type(model.drawing), "outputs", heard)
    sizes = [part.height for part in model.batches(BATCH + 5000, seed=1)]
    assert sizes == [BATCH, 5000]
    assert max(seen) == CHUNK


def test_what_goes_together_goes_together_in_the_synthetic_table() -> None:
    """Seedless: over twenty runs the gap between the means was 270 to 420."""
    model = fitted(people(8000), Variational(hidden=16, code=2, steps=120, learning_rate=0.02), epsilon=3.0)
    drawn = model.sample(4000, seed=1)
    by = dict(drawn.group_by("ill").agg(pl.col("cost").mean()).iter_rows())
    assert by["yes"] - by["no"] > 150
    alone = fitted(people(8000), Variational(hidden=16, code=2, steps=120, learning_rate=0.02), target=None)
    assert alone.sample(100).columns == ["age", "cost", "sex", "ill"]


@pytest.mark.parametrize(
    ("settings", "error", "match"),
    [
        ({"epsilon": 2.0}, BudgetExceeded, "does not fit"),
        ({"epsilon": 0.001}, Infeasible, "nothing was spent"),
        ({"delta": 0.0}, InvalidParameter, "needs a delta"),
        ({"target": "height"}, InvalidParameter, "height"),
        ({"device": "nowhere"}, InvalidParameter, "not there"),
        ({"steps": 0}, InvalidParameter, "at least 1"),
        ({"microbatch": 0}, InvalidParameter, "microbatch"),
        ({"schema": SyntheticSchema(columns=("ill",)), "target": "ill"}, InvalidParameter, "beside it"),
        ({"rate": 0.0}, InvalidParameter, "above 0"),
        ({"clip": -1.0}, InvalidParameter, "above 0"),
        ({"hidden": (8, 0)}, InvalidParameter, "at least 1"),
        ({"learning_rate": 0.0}, InvalidParameter, "above 0"),
        ({"groups": 1}, InvalidParameter, "between 2 and 256"),
        ({"colour": "red"}, InvalidParameter, "does not know"),
        ({"schema": SyntheticSchema(columns=("age", "height"))}, KeyError, "height"),
    ],
)
@pytest.mark.parametrize("method", SMALL)
def test_what_cannot_work_is_refused_before_anything_is_spent(
    method: str, settings: dict[str, Any], error: type[Exception], match: str
) -> None:
    ledger = Ledger.temporary(epsilon=1, delta=DELTA, columns=FACTS, rows=500)
    with pytest.raises(error, match=match):
        make_synthesiser(method, **{"epsilon": 1.0, "delta": DELTA, "steps": 2, **settings}).fit(
            people(100), ledger=ledger
        )
    assert ledger.spent().epsilon == 0


def test_a_library_that_is_not_there_is_noticed_before_anything_is_spent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "opacus.layers", None)  # what Python does for a module that is not there
    ledger = Ledger.temporary(epsilon=1, delta=DELTA, columns=FACTS, rows=500)
    with pytest.raises(MissingExtra, match="train"):
        make_synthesiser("lstm", epsilon=1.0, delta=DELTA, steps=2).fit(people(100), ledger=ledger)
    assert ledger.spent().epsilon == 0


def test_cells_begin_with_the_shares_that_are_known() -> None:
    likelihood = CellLikelihood([np.array([0.2, 0.8]), np.array([0.5, 0.5, 0.0])])
    start = likelihood.start()[None].expand(40_000, -1)
    torch.manual_seed(1)
    drawn = likelihood.drawn(start, torch.rand(40_000, likelihood.draws))
    assert drawn.unique().tolist() == [0.0, 1.0]
    assert drawn.mean(0).numpy() == pytest.approx([0.2, 0.8, 0.5, 0.5, 0.0], abs=0.015)  # six deviations
    assert likelihood.losses(start[:1], torch.tensor([[0.0, 1, 1, 0, 0]])).item() == pytest.approx(
        -np.log(0.4), abs=1e-3
    )


class TestImages:
    """Images of declared classes."""

    def fitted(self, images: Any, labels: Any, ledger: Ledger, **more: Any) -> Any:
        said = {"generator": SMALL["vae"], "classes": ("a", "b"), "epsilon": 2.0, **more}
        return NetworkImages(**said).fit(images, labels, ledger=ledger)

    def bars(self, rows: int) -> tuple[Any, Any]:
        """Give images with a bright left half (a) or right half (b)."""
        rng = np.random.default_rng(1)
        labels = np.where(rng.random(rows) < 0.5, "a", "b")
        images = rng.random((rows, 6, 6)) * 0.2
        images[labels == "a", :, :3] += 0.8
        images[labels == "b", :, 3:] += 0.8
        return images, labels

    @pytest.mark.parametrize(
        "generator",
        [
            Variational(hidden=8, code=2, steps=80, learning_rate=0.05),
            Adversarial(hidden=16, judge=16, code=4, steps=150, turns=1, generator_rate=0.01, rate=0.1),
        ],
    )
    def test_each_class_looks_like_itself(self, generator: Generator) -> None:
        ledger = Ledger.temporary(epsilon=8, delta=1e-5, rows=4000)
        made = self.fitted(*self.bars(4000), ledger, generator=generator, epsilon=8.0, seed=1)
        drawn, labels = made.sample(400, seed=1)
        assert labels[:4].tolist() == ["a", "b", "a", "b"]
        assert 0 <= drawn.min() <= drawn.max() <= 1
        left = drawn[:, :, :3].mean(axis=(1, 2)) - drawn[:, :, 3:].mean(axis=(1, 2))
        assert np.mean((left > 0) == (labels == "a")) > 0.9
        assert set(made.sample(50, label="b")[1]) == {"b"}
        assert made.sheet(3, seed=1) == made.sheet(3, seed=1) != made.sheet(3, seed=2)
        assert replace(made, shape=(1, 6, 6)).sheet(3, seed=1) == made.sheet(3, seed=1)  # one channel
        assert made.cost_[0] == pytest.approx(8, rel=0.01)
        assert "NOT PRIVATE" in made.guarantee_  # a seed was given
        with pytest.raises(InvalidParameter, match="declared classes"):
            made.sample(3, label="c")

    def test_one_image_more_is_told_apart_by_noise_only_and_a_new_label_by_nothing(self) -> None:
        images, labels = self.bars(200)
        images[-1, 0, 0] = np.nan

        def run(last: str | None) -> Any:
            """Learn from 199 images, and one more if it has a label."""
            ledger = Ledger.temporary(epsilon=2, delta=1e-5, rows=200)
            said = labels[:-1] if last is None else np.concatenate([labels[:-1], [last]])
            return self.fitted(images[: len(said)], said, ledger, seed=1).guarantee_

        evidence = assert_dp(run, None, "b")
        assert max(evidence.moved) > 0
        silent = assert_dp(run, None, "c")
        assert set(silent.moved) == {0.0}

    @pytest.mark.parametrize(
        ("more", "ledger", "error"),
        [
            ({"labels": ["a"]}, {"rows": 50}, InvalidInput),
            ({}, {}, InvalidParameter),  # nobody says how many images there are
            ({}, {"rows": 50, "subject": "who"}, InvalidParameter),
            ({"epsilon": 9.0}, {"rows": 50}, BudgetExceeded),
            ({"classes": ("a", "a")}, {"rows": 50}, InvalidParameter),
        ],
    )
    def test_what_cannot_work_is_refused_unpaid(
        self, more: dict[str, Any], ledger: dict[str, Any], error: type[Exception]
    ) -> None:
        images, labels = self.bars(50)
        book = Ledger.temporary(epsilon=2, delta=1e-5, **ledger)
        said = dict(more)
        with pytest.raises(error):
            self.fitted(images, said.pop("labels", labels), book, **said)
        assert book.spent().epsilon == 0
