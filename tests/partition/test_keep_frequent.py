from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.models import DistinctDiversity, KAnonymity
from mahrem.partition import Admission, KeepFrequent, Mondrian
from mahrem.table import Values
from mahrem.types import Labels, Points


def plain(rows: int, k: int) -> Admission:
    return Admission(((KAnonymity(k), None),), rows)


def exact_classes(points: Points, labels: Labels) -> set[int]:
    """Classes whose rows are all equal."""
    return {c for c in set(labels.tolist()) if len({tuple(p) for p in points[labels == c].tolist()}) == 1}


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 60), st.integers(1, 3), st.integers(1, 4), st.integers(0, 2**16))
def test_every_class_stands_and_lies_inside_a_class_of_the_partitioner(
    rows: int, columns: int, k: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 3, (rows, columns)) / 2
    codes = rng.integers(0, 3, rows).astype(np.int32)
    wanted = min(2, len(set(codes.tolist())))
    admits = Admission(
        ((KAnonymity(min(k, rows)), None), (DistinctDiversity(wanted), Values("d", codes, 3))), rows
    )
    coarse = Mondrian()(points, admits)
    fine = KeepFrequent(Mondrian())(points, admits)
    assert set(fine.labels.tolist()) == set(range(fine.classes))
    for label in range(fine.classes):
        inside = fine.labels == label
        assert len(set(coarse.labels[inside].tolist())) == 1
        assert inside.sum() >= min(k, rows)
        assert len(set(codes[inside].tolist())) >= wanted


def test_what_occurs_k_times_stays_as_it_is() -> None:
    points = np.array([[0.0], [0.0], [0.0], [0.5], [0.6], [0.7]])
    labels = KeepFrequent(_OneClass())(points, plain(6, 3)).labels
    assert labels.tolist() == [1, 1, 1, 0, 0, 0]


def test_a_rest_that_is_too_small_takes_the_smallest_group_back() -> None:
    points = np.array([[0.0]] * 5 + [[0.5]] * 3 + [[0.9]])
    labels = KeepFrequent(_OneClass())(points, plain(9, 3)).labels
    assert exact_classes(points, labels) == {int(labels[0])}
    assert labels[5:].tolist() == [labels[5]] * 4


def test_under_diversity_a_rest_that_one_group_cannot_help_keeps_the_class_whole() -> None:
    points = np.array([[0.0]] * 2 + [[0.5]] * 2 + [[0.9]])
    codes = np.array([0, 1, 0, 1, 2], np.int32)
    admits = Admission(((KAnonymity(2), None), (DistinctDiversity(2), Values("d", codes, 3))), 5)
    labels = KeepFrequent(_OneClass())(points, admits).labels
    assert np.bincount(labels).tolist() in ([3, 2], [2, 3])


class _OneClass:
    """The table as one class."""

    def __call__(self, points: Points, admits: object) -> object:
        del admits
        from mahrem.partition import Partition

        return Partition(labels=np.zeros(len(points), np.int64), classes=1)
