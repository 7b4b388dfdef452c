"""Pairs and triplets: one record is in one group at most, shared weights are clipped as one, it learns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from gradients_by_hand import clipped_by_hand  # noqa: E402 - after the extra was found
from mahrem.dp import Ledger, NotPrivate, assert_dp  # noqa: E402
from mahrem.errors import BudgetExceeded, InvalidInput, InvalidParameter  # noqa: E402
from mahrem.learning.private import PlainSiamese, PrivateSiamese, nearest_others, new_stream  # noqa: E402
from mahrem.learning.private.networks._slots import Slots  # noqa: E402
from mahrem.learning.private.steps import ClippedSums, Descent  # noqa: E402

torch.set_num_threads(1)
CLASSES = 3


def rows(count: int, seed: int = 0) -> tuple[Any, Any]:
    """Twelve numbers of which two say the class."""
    points = np.random.default_rng(seed).normal(size=(count, 12)).astype(np.float32)
    return points, (points[:, 0] > 0).astype(int) + (points[:, 1] > 0)


def model(**said: Any) -> PrivateSiamese:
    settings = {
        "options": {"hidden": (8,)},
        "classes": range(CLASSES),
        "code": 4,
        "noise_multiplier": 1.0,
        "delta": 1e-5,
        "batch": 30,
        "epochs": 2,
        "device": "cpu",
        "seed": 1,
    }
    return PrivateSiamese(**settings | said)


def book(**said: Any) -> Ledger:
    return Ledger.temporary(**{"epsilon": 20.0, "delta": 1e-5, "rows": 60, **said})


def groups(slots: Slots, labels: Any, chance: Any) -> set[tuple[int, ...]]:
    found = slots(np.asarray(labels, dtype=np.int64), np.asarray(chance))
    return {tuple(one) for one in found.tolist()}


@given(data=st.data(), kind=st.sampled_from(["pairs", "triplets"]), batch=st.sampled_from([1.0, 6.0, 40.0]))
@settings(max_examples=50, deadline=None)
def test_a_record_more_adds_or_takes_away_one_group_and_changes_no_other(
    data: st.DataObject, kind: str, batch: float
) -> None:
    draw = st.tuples(st.integers(0, CLASSES - 1), st.floats(0, 1, exclude_max=True))
    labels, chance = zip(*data.draw(st.lists(draw, min_size=1, max_size=40)), strict=True)
    slots = Slots(kind, CLASSES, batch)
    with_it, without = groups(slots, labels, chance), groups(slots, labels[:-1], chance[:-1])
    assert len(with_it ^ without) <= 1
    used = [record for one in with_it for record in one]
    assert len(used) == len(set(used))
    if kind == "triplets":
        assert all(labels[a] == labels[b] != labels[c] for a, b, c in with_it)


@pytest.mark.parametrize(("kind", "share"), [("pairs", 0.1839), ("triplets", 0.0401)])
def test_as_many_groups_come_about_as_chance_allows(kind: str, share: float) -> None:
    # Slots that hold exactly what they need: Poisson, e^-1/2 pairs and 8/27 e^-2 triplets a record (a seed).
    draws = np.random.default_rng(5)
    found = Slots(kind, 4, 20_000.0)(draws.integers(4, size=20_000), draws.random(20_000))
    assert len(found) / 20_000 == pytest.approx(share, rel=0.05)


def test_half_of_the_records_look_for_their_own_class() -> None:
    draws = np.random.default_rng(6)
    labels = draws.integers(10, size=20_000)
    found = labels[Slots("pairs", 10, 20_000.0)(labels, draws.random(20_000))]
    assert np.mean(found[:, 0] == found[:, 1]) == pytest.approx(0.55, abs=0.03)


@pytest.mark.parametrize("kind", ["pairs", "triplets"])
@pytest.mark.parametrize("clip", [0.05, 1000.0])
def test_weights_that_are_used_several_times_are_clipped_as_one(kind: str, clip: float) -> None:
    wanted = model(kind=kind)
    network = wanted._module((12,), new_stream(1))
    size = 2 if kind == "pairs" else 3
    points = torch.randn(7, size, 12, generator=torch.Generator().manual_seed(2))
    labels = torch.tensor([[0, place % 2, 1][:size] for place in range(7)])
    by_hand = clipped_by_hand(network, wanted._losses, points, labels, clip)
    sums = ClippedSums(network, wanted._losses)
    found = sums(points, labels, clip)
    theirs = ClippedSums(network, wanted._losses, engine="opacus")
    others = theirs(points, labels, clip)
    theirs.close()
    assert sums.engine == "ours"
    for one, two, three in zip(by_hand, found, others, strict=True):
        assert torch.allclose(one, two, rtol=1e-3, atol=1e-4)
        assert torch.allclose(one, three, rtol=1e-3, atol=1e-4)


def trained(points: Any, labels: Any, ledger: Ledger, **said: Any) -> list[float]:
    fitted = model(**said).fit(points, labels, ledger=ledger)
    return [float(value) for one in fitted.model_.parameters() for value in one.detach().flatten()]


@pytest.mark.parametrize("kind", ["pairs", "triplets"])
def test_a_record_more_moves_a_step_by_no_more_than_the_clip(kind: str) -> None:
    points, labels = rows(60)

    def pipeline(count: int) -> list[float]:
        return trained(
            points[:count], labels[:count], book(), kind=kind, batch=50, epochs=12, noise_multiplier=2.0
        )

    seen = assert_dp(pipeline, 60, 59)
    assert max(seen.moved) > 0
    points[59] = np.nan
    assert_dp(pipeline, 60, 59)


def test_a_record_exchanged_moves_a_step_by_no_more_than_twice_the_clip() -> None:
    points, labels = rows(60)
    other, classes = points.copy(), labels.copy()
    other[59], classes[59] = 50.0, (labels[59] + 1) % CLASSES

    def pipeline(changed: bool) -> list[float]:  # noqa: FBT001 - a neighbour or not
        chosen = (other, classes) if changed else (points, labels)
        return trained(*chosen, book(relation="replace"), batch=50)

    assert max(assert_dp(pipeline, False, True).moved) > 0


def test_a_person_is_in_a_step_with_one_row() -> None:
    points, labels = rows(60)
    people = np.arange(60) // 6

    def pipeline(count: int) -> list[float]:
        ledger = book(rows=10, subject="who", rows_per_person=6)
        fitted = model(batch=8).fit(points[:count], labels[:count], ledger=ledger, units=people[:count])
        assert "a person, with one of its rows," in fitted.guarantee_
        return [float(value) for one in fitted.model_.parameters() for value in one.detach().flatten()]

    assert_dp(pipeline, 60, 54)


def test_pairs_that_use_a_record_twice_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def chained(_: Slots, labels: Any, __: Any) -> Any:
        places = np.arange(len(labels))
        return np.stack([places, np.roll(places, 1)], axis=1)

    monkeypatch.setattr(Slots, "__call__", chained)
    points, labels = rows(60)
    with pytest.raises(NotPrivate, match="more than"):
        assert_dp(lambda count: trained(points[:count], labels[:count], book(), batch=60, clip=1e-3), 60, 59)


@pytest.mark.parametrize(("kind", "gain"), [("pairs", 0.1), ("triplets", 0.05)])
def test_rows_of_one_class_come_to_lie_together(kind: str, gain: float) -> None:
    # Fixed seeds. A record is in a triplet far more rarely than in a pair, so they learn less.
    points, labels = rows(6000)
    tested, truth = rows(800, seed=1)
    fast = Descent(learning_rate=0.05, optimiser="adam", average=0.9)
    chosen = model(kind=kind, epsilon=8, noise_multiplier=None, batch=2000, epochs=25, descent=fast)
    ledger = book(rows=6000)
    fitted = chosen.fit(points, labels, ledger=ledger)
    assert ledger.spent().epsilon == pytest.approx(fitted.cost_[0])
    assert fitted.cost_[0] <= 8
    raw = np.mean(truth[nearest_others(tested.astype(float))] == truth)
    assert fitted.score(tested, truth, openly=True) > raw + gain
    codes = fitted.transform(tested)
    assert np.allclose(np.linalg.norm(codes, axis=1), 1.0, atol=1e-3)
    same = fitted.distances(tested[:400], tested[400:])
    equal = truth[:400] == truth[400:]
    assert same[equal].mean() < same[~equal].mean()


def test_a_training_with_another_loss_does_not_go_on_from_a_checkpoint(tmp_path: Path) -> None:
    points, labels = rows(60)
    ledger = book()
    first = model(checkpoint=tmp_path / "run").fit(points, labels, ledger=ledger)
    spent = ledger.spent().epsilon
    with pytest.raises(InvalidParameter, match="other settings"):
        model(checkpoint=tmp_path / "run", margin=0.5).fit(points, labels, ledger=ledger)
    again = model(checkpoint=tmp_path / "run").fit(points, labels, ledger=ledger)
    assert ledger.spent().epsilon == spent
    assert again.transform(points).tolist() == first.transform(points).tolist()


@pytest.mark.parametrize("kind", ["pairs", "triplets"])
def test_without_noise_it_learns_more(kind: str) -> None:
    points, labels = rows(2000)
    tested, truth = rows(500, seed=1)
    plain = PlainSiamese(kind=kind, options={"hidden": (16,)}, code=4, batch=1500, steps=300)
    plain.fit(points, labels)
    assert plain.score(tested, truth) > 0.85  # fixed seeds
    with pytest.raises(InvalidInput, match="one label"):
        plain.fit(points, labels[:3])


def test_the_nearest_other_row_is_found_across_blocks() -> None:
    points = np.random.default_rng(3).normal(size=(700, 3))
    gaps = np.linalg.norm(points[:, None] - points[None], axis=2) + np.diag(np.full(700, np.inf))
    assert nearest_others(points).tolist() == gaps.argmin(axis=1).tolist()


def test_what_cannot_work_is_refused_and_nothing_is_spent() -> None:
    points, labels = rows(60)
    ledger = book()
    for said, words in (
        ({"kind": "quartets"}, "kind"),
        ({"margin": 0.0}, "margin"),
        ({"code": 0}, "code"),
        ({"classes": (1,)}, "at least two"),
    ):
        with pytest.raises(InvalidParameter, match=words):
            model(**said).fit(points, labels, ledger=ledger)
    with pytest.raises(InvalidInput, match="one label"):
        model().fit(points, labels[:5], ledger=ledger)
    with pytest.raises(BudgetExceeded):
        model().fit(points, labels, ledger=book(epsilon=0.1))
    with pytest.raises(InvalidParameter, match="not fitted"):
        model().transform(points)
    with pytest.raises(InvalidInput, match="at least two"):
        nearest_others(np.zeros((1, 2)))
    assert ledger.spent().epsilon == 0
