from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import InvalidParameter
from mahrem.metrics import information_loss, standardised
from mahrem.models import KAnonymity
from mahrem.partition import Admission, Mdav, MdavPlus, MdavStar, VariableMdav
from mahrem.types import Labels, Points
from strategies import points_and_k


def admits(points: Points, k: int) -> Admission:
    return Admission(((KAnonymity(k), None),), rows=len(points))


def classic(points: Points, k: int) -> Labels:
    """Classic MDAV once more, slowly."""
    left, labels, group = np.arange(len(points)), np.full(len(points), -1), 0

    def take(point: Points) -> None:
        nonlocal left, group
        near = np.argsort(((points[left] - point) ** 2).sum(axis=1), kind="stable")[:k]
        labels[left[near]] = group
        group += 1
        left = np.delete(left, near)

    def far_from(point: Points) -> Points:
        return points[left[((points[left] - point) ** 2).sum(axis=1).argmax()]]

    while len(left) >= 3 * k:
        far = far_from(points[left].mean(axis=0))
        take(far)
        take(far_from(far))
    if len(left) >= 2 * k:
        take(far_from(points[left].mean(axis=0)))
    labels[left] = group
    return labels


def plus(points: Points, k: int) -> Labels:
    """MDAV+ once more, slowly."""
    labels, group = np.full(len(points), -1), 0
    apart = ((points - points.mean(axis=0)) ** 2).sum(axis=1)
    while (labels < 0).sum() >= k:
        left = np.flatnonzero(labels < 0)
        far = left[apart[left].argmax()]
        near = np.argsort(((points[left] - points[far]) ** 2).sum(axis=1), kind="stable")[:k]
        labels[left[near]] = group
        group += 1
    centres = np.stack([points[labels == g].mean(axis=0) for g in range(group)])
    for row in np.flatnonzero(labels < 0):
        labels[row] = ((centres - points[row]) ** 2).sum(axis=1).argmin()
    return labels


def extended(points: Points, k: int, gamma: float | None) -> Labels:
    """V-MDAV, or MDAV* without gamma, once more, slowly."""
    labels, group = np.full(len(points), -1), 0
    apart = ((points - points.mean(axis=0)) ** 2).sum(axis=1)
    between = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    while (labels < 0).sum() >= k:
        left = np.flatnonzero(labels < 0)
        far = left[apart[left].argmax()]
        mine = left[np.argsort(between[far, left], kind="stable")[:k]]
        labels[mine] = group
        while len(mine) < 2 * k - 1 and len(left := np.flatnonzero(labels < 0)):
            if gamma is None:
                costs = ((points[left] - points[mine].mean(axis=0)) ** 2).sum(axis=1) * len(mine)
                row, cost = left[costs.argmin()], costs.min() / (len(mine) + 1)
                own = left[np.argsort(between[row, left], kind="stable")[:k]]
                own_cost = ((points[row] - points[own].mean(axis=0)) ** 2).sum() * k / (k - 1)
                joins = len(left) < k or cost < own_cost
            else:
                inner = between[np.ix_(mine, left)].min(axis=0)
                row = left[inner.argmin()]
                others = left[left != row]
                joins = not len(others) or inner.min() ** 0.5 < gamma * between[row, others].min() ** 0.5
            if not joins:
                break
            labels[row] = group
            mine = np.append(mine, row)
        group += 1
    centres = np.stack([points[labels == g].mean(axis=0) for g in range(group)])
    for row in np.flatnonzero(labels < 0):
        labels[row] = ((centres - points[row]) ** 2).sum(axis=1).argmin()
    return labels


@given(points_and_k(least_k=2))
@settings(max_examples=50, deadline=None)
def test_classic_mdav_gives_the_groups_of_the_slow_rule(table: tuple[Points, int]) -> None:
    points, k = table
    partition = Mdav(standardise=False)(points, admits(points, k))
    assert (partition.labels == classic(points, k)).all()
    assert (np.sort(partition.sizes)[:-1] == k).all()
    assert partition.sizes.max() < 2 * k


@given(points_and_k(least_k=2))
@settings(max_examples=50, deadline=None)
def test_mdav_plus_gives_the_groups_of_the_slow_rule(table: tuple[Points, int]) -> None:
    points, k = table
    partition = MdavPlus(standardise=False)(points, admits(points, k))
    assert (partition.labels == plus(points, k)).all()
    assert partition.classes == len(points) // k


@given(points_and_k(least_k=2), st.sampled_from([0.0, 0.2, 1.1, None]))
@settings(max_examples=50, deadline=None)
def test_extended_groups_are_those_of_the_slow_rule(table: tuple[Points, int], gamma: float | None) -> None:
    points, k = table
    points = np.random.default_rng(7).random(points.shape)  # without ties: sums are not added up alike
    if gamma is None:
        partition = MdavStar(standardise=False)(points, admits(points, k))
    else:
        partition = VariableMdav(gamma=gamma, standardise=False)(points, admits(points, k))
    assert (partition.labels == extended(points, k, gamma)).all()


def test_groups_that_are_laid_out_anew_are_those_of_the_slow_rule() -> None:
    points = np.round(np.random.default_rng(5).random((6000, 2)), 2)
    assert (Mdav(standardise=False)(points, admits(points, 40)).labels == classic(points, 40)).all()
    assert (MdavPlus(standardise=False)(points, admits(points, 40)).labels == plus(points, 40)).all()


def test_close_records_extend_a_group() -> None:
    points = np.array([[0.0], [0.02], [0.04], [5.0], [5.01], [9.0], [9.01]])
    for partition in (
        VariableMdav()(points, admits(points, 2)),
        MdavStar()(points, admits(points, 2)),
    ):
        assert len({*partition.labels[:3].tolist()}) == 1
        assert partition.sizes.tolist().count(2) == 2
    assert VariableMdav(gamma=0)(points, admits(points, 2)).classes == 3


def test_a_gamma_below_zero_is_an_error() -> None:
    with pytest.raises(InvalidParameter, match="gamma"):
        VariableMdav(gamma=-1)(np.zeros((4, 1)), admits(np.zeros((4, 1)), 2))


def test_settings_can_be_printed_and_compared() -> None:
    assert repr(Mdav()) == "Mdav(standardise=True)"
    assert MdavPlus(standardise=False) != MdavPlus()
    assert repr(VariableMdav(gamma=1.1)) == "VariableMdav(gamma=1.1, standardise=True)"
    assert MdavStar() == MdavStar(standardise=True)


REFERENCE = {
    "census_casc": (5.6922, 9.0884, 14.1559),
    "tarragona": (16.9326, 22.4619, 33.1929),
    "eia_numeric": (0.4829, 1.6667, 3.8397),
    "cloud1": (2.2186, 4.3142, 7.0539),
    "cloud2": (1.2071, 2.0316, 3.4037),
}


@pytest.mark.data
@pytest.mark.parametrize("name", REFERENCE)
def test_classic_mdav_gives_the_published_losses(name: str, benchmark_data: Path) -> None:
    points = np.loadtxt(benchmark_data / f"{name}.csv", delimiter=",", skiprows=1, ndmin=2)
    for k, published in zip((3, 5, 10), REFERENCE[name], strict=True):
        labels = Mdav()(points, admits(points, k)).labels
        assert 100 * information_loss(standardised(points), labels) == pytest.approx(published, abs=0.001)


@pytest.mark.data
def test_classic_mdav_on_adult_stays_where_it_is(adult: Points) -> None:
    labels = Mdav()(adult, admits(adult, 5)).labels
    assert 100 * information_loss(standardised(adult), labels) == pytest.approx(0.7740, abs=0.001)
