from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judges import AtLeast
from mahrem.arrays import cutting, tiling
from mahrem.errors import InvalidParameter
from mahrem.models import DistinctDiversity, KAnonymity
from mahrem.partition import Admission, Mondrian, Partition, build_method
from mahrem.partition.cutting._mondrian import CUTS
from mahrem.table import Values
from mahrem.types import Labels, Points

OTHERS = pytest.mark.parametrize("cut", [name for name in CUTS if name != "median"])


@st.composite
def tables(draw: st.DrawFn) -> tuple[Points, int]:
    k = draw(st.integers(1, 5))
    rows, columns = draw(st.integers(k, 300)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    match draw(st.sampled_from(["smooth", "coarse", "tailed", "signed"])):
        case "smooth":
            points = rng.random((rows, columns))
        case "coarse":
            points = rng.integers(-2, 3, (rows, columns)) / 2
        case "tailed":
            points = np.round(rng.pareto(0.7, (rows, columns)), 1)
        case _:
            points = np.round(rng.normal(size=(rows, columns)), 1)
    return points, k


def first_cut(values: list[float], k: int, cut: str) -> list[bool] | None:
    """Which values go left by the rule, tried cut by cut; None where the rule has none that leaves k."""
    ordered, n = sorted(values), len(values)
    fewest = max(k, -(-n // 8))
    if cut == "gap":
        gaps = [
            (ordered[i] - ordered[i - 1], -i)
            for i in range(fewest, n - fewest + 1)
            if ordered[i] > ordered[i - 1]
        ]
        limit = ordered[-max(gaps)[1] - 1] if gaps else None
    else:
        limit = ordered[0] / 2 + ordered[-1] / 2
        if sum(value <= limit for value in values) < fewest:
            limit = ordered[fewest - 1]
        elif sum(value > limit for value in values) < fewest:
            limit = max((value for value in values if value < ordered[n - fewest]), default=None)
    if limit is None:
        return None
    left = [value <= limit for value in values]
    return left if k <= sum(left) <= n - k else None


def by_hand(points: Points, k: int, cut: str) -> Labels:
    labels, stack, classes = np.full(len(points), -1), [np.arange(len(points))], 0
    while stack:
        rows = stack.pop()
        widths = np.ptp(points[rows], axis=0)
        for column in np.argsort(-widths, kind="stable"):
            values = points[rows, column]
            middle = np.sort(values)[(len(rows) - 1) // 2]
            told = first_cut(values.tolist(), k, cut) if widths[column] > 0 else None
            tries = [np.array(told)] if told else []
            tries += [s for s in (values <= middle, values < middle) if k <= s.sum() <= len(rows) - k]
            if tries and widths[column] > 0:
                stack += [rows[tries[0]], rows[~tries[0]]]
                break
        else:
            labels[rows] = classes
            classes += 1
    return labels


def same_classes(one: Labels, other: Labels) -> bool:
    return len(np.unique(np.stack([one, other]), axis=1).T) == len(np.unique(one)) == len(np.unique(other))


@OTHERS
@given(table=tables())
@settings(max_examples=50, deadline=None)
def test_a_rule_gives_the_classes_of_the_slow_one(cut: str, table: tuple[Points, int]) -> None:
    points, k = table
    partition = Mondrian(cut=cut)(points, AtLeast(k))
    assert partition.sizes.min() >= k
    assert same_classes(partition.labels, by_hand(points, k, cut))


@OTHERS
@given(table=tables())
@settings(max_examples=30, deadline=None)
def test_the_general_path_gives_what_the_kernel_gives(cut: str, table: tuple[Points, int]) -> None:
    points, k = table
    kernel = Mondrian(cut=cut)(points, AtLeast(k))
    general = Mondrian(cut=cut)(points, AtLeast(k, plain=False))
    assert (kernel.labels == general.labels).all()
    assert kernel.how is not None
    assert general.how is not None
    for name in ("column", "value", "below", "depth"):
        assert (getattr(kernel.how, name) == getattr(general.how, name)).all()


@OTHERS
@given(table=tables(), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_equal_rows_stay_together_and_their_order_is_not_seen(
    cut: str, table: tuple[Points, int], seed: int
) -> None:
    points, k = table
    labels = Mondrian(cut=cut)(points, AtLeast(k)).labels
    _, same = np.unique(points, axis=0, return_inverse=True)
    assert len(np.unique(np.stack([same, labels]), axis=1).T) == same.max() + 1
    order = np.random.default_rng(seed).permutation(len(points))
    assert (Mondrian(cut=cut)(points[order], AtLeast(k)).labels == labels[order]).all()


@OTHERS
@given(table=tables())
@settings(max_examples=30, deadline=None)
def test_the_cuts_lead_every_row_to_its_class(cut: str, table: tuple[Points, int]) -> None:
    points, k = table
    partition = Mondrian(cut=cut)(points, AtLeast(k))
    cuts = partition.how
    assert cuts is not None
    for point, label in zip(points, partition.labels, strict=True):
        first, last = 0, partition.classes - 1
        while first < last:
            at = first + int(np.argmin(cuts.depth[first:last]))
            value, limit = point[cuts.column[at]], cuts.value[at]
            goes_left = value < limit if cuts.below[at] else value <= limit
            first, last = (first, at) if goes_left else (at + 1, last)
        assert first == label


@pytest.mark.parametrize(
    ("values", "left"),
    [
        ([0.0, 0.1, 0.2, 0.51, 0.9, 0.95, 1.0], {"median": 4, "middle": 3, "gap": 4}),
        ([0.0, 0.1, 0.2, 0.6, 0.7, 0.8, 1.0], {"median": 4, "middle": 3, "gap": 3}),
        ([0.0, 0.1, 0.2, 0.3, 0.35, 0.4, 1.0], {"median": 4, "middle": 4, "gap": 3}),  # 0.5 leaves one row
    ],
)
def test_the_rules_cut_where_they_say(values: list[float], left: dict[str, int]) -> None:
    points = np.array(values)[:, None]
    assert {cut: int(Mondrian(cut=cut)(points, AtLeast(3)).sizes[0]) for cut in CUTS} == left


def test_where_a_rule_finds_nothing_the_median_decides() -> None:
    points = np.array([[0.0]] * 30 + [[1.0]] * 3)  # three rows are less than an eighth
    for cut in CUTS:
        assert Mondrian(cut=cut)(points, AtLeast(3)).sizes.tolist() == [30, 3]


@OTHERS
def test_a_long_tail_does_not_make_a_deep_tree(cut: str) -> None:
    points = np.random.default_rng(3).pareto(0.5, (20_000, 2))
    cuts = Mondrian(cut=cut)(points, AtLeast(5)).how
    assert cuts is not None
    assert cuts.depth.max() <= np.log(20_000 / 10) / np.log(8 / 7) + 1


@OTHERS
def test_threads_do_not_change_anything(cut: str) -> None:
    points = np.round(np.random.default_rng(5).random((60_000, 3)), 3)
    for admits in (AtLeast(7), AtLeast(7, plain=False)):
        once = Mondrian(cut=cut)(points, admits, threads=1).labels
        assert (Mondrian(cut=cut)(points, admits, threads=3).labels == once).all()


@OTHERS
def test_every_class_keeps_every_promise(cut: str) -> None:
    rng = np.random.default_rng(2)
    points = rng.pareto(1.5, (3000, 3))
    disease = Values("disease", rng.integers(0, 4, 3000).astype(np.int32), 4)
    admits = Admission(((KAnonymity(4), None), (DistinctDiversity(3), disease)), rows=3000)
    partition = Mondrian(cut=cut)(points, admits)
    assert partition.classes > 100
    assert admits(*tiling.rows_by_label(partition.labels, partition.classes)).all()


@OTHERS
def test_relaxed_knows_only_the_median(cut: str) -> None:
    with pytest.raises(InvalidParameter, match=f"cut='{cut}' needs strict=True"):
        Mondrian(strict=False, cut=cut)
    with pytest.raises(InvalidParameter, match="needs strict=True"):
        Mondrian(strict=False, cut=cut)(np.zeros((4, 1)), AtLeast(2))


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="must be one of median, middle, gap"):
        Mondrian(cut="mean")


def test_the_rule_reaches_mondrian_and_its_u_model_by_name() -> None:
    assert build_method("mondrian", options={"cut": "gap"}) == Mondrian(cut="gap")
    u_model = build_method("u-mondrian", options={"cut": "middle"})
    assert u_model.partitioner == Mondrian(cut="middle")  # type: ignore[attr-defined]


def loss(points: Points, partition: Partition) -> float:
    widths = np.zeros(partition.classes)
    for column in points.T:
        low, high, _ = cutting.class_extremes(column, partition.labels, partition.classes)
        widths += high - low
    return float((partition.sizes * widths).sum())


@pytest.mark.data
def test_both_rules_lose_less_than_the_median_on_adult(benchmark_data: Path) -> None:
    names = ["age", "fnlwgt", "capital-gain", "capital-loss", "hours-per-week"]
    with (benchmark_data / "adult_train.csv").open(encoding="utf-8") as file:
        kept = [row for row in csv.DictReader(file) if "?" not in row.values()]
    points = np.array([[float(row[name]) for name in names] for row in kept])
    points = (points - points.min(axis=0)) / np.ptp(points, axis=0)
    for k, middle, gap in [(5, 2035, 2005), (20, 5060, 5410), (50, 8350, 9105)]:
        median = loss(points, Mondrian()(points, AtLeast(k)))
        assert loss(points, Mondrian(cut="middle")(points, AtLeast(k))) < min(middle, median)
        assert loss(points, Mondrian(cut="gap")(points, AtLeast(k))) < min(gap, median)
