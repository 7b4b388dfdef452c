from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mahrem.metrics import class_size_bins
from mahrem.recode import Centroids, Nodes, Prefixes
from mahrem.report import distribution
from mahrem.report._distributions import shared_out
from mahrem.table import Axis, Cells, Hierarchy, Leaves, Moments, Numbers, Words


def cells(
    classes: int, low: list | None = None, high: list | None = None, stars: list[int] | None = None
) -> Cells:
    suppressed = np.isin(np.arange(classes), stars or [])
    return Cells(
        text=pl.Series(["*" if star else "shown" for star in suppressed], dtype=pl.String),
        low=None if low is None else pl.Series(low),
        high=None if high is None else pl.Series(high),
        suppressed=suppressed,
    )


def total(found: dict, side: int) -> float:
    return sum(found["before" if side == 0 else "after"]) + found["unknown"][side]


def whole_numbers(values: list[float], labels: list[int], width: int = 10) -> tuple[Axis, np.ndarray, Cells]:
    """Round every class outward to a grid, as a recoding would."""
    positions, marks = np.array(values, dtype=float), np.array(labels, dtype=np.int64)
    low = [float(np.nanmin(positions[marks == i]) // width * width) for i in range(marks.max() + 1)]
    high = [float(np.nanmax(positions[marks == i]) // width * width + width) for i in range(marks.max() + 1)]
    known = positions[~np.isnan(positions)]
    return Axis("age", positions, Numbers(known.min(), known.max(), True)), marks, cells(len(low), low, high)


def test_rows_of_a_class_are_spread_evenly_over_its_published_range() -> None:
    axis = Axis("age", np.array([1.0, 9.0, 12.0, 19.0]), Numbers(1, 19, True))
    found = distribution(axis, np.array([0, 0, 1, 1]), cells(2, [0, 10], [9, 19]), floor=1, bands=True)
    assert found["edges"] == [0.0, 10.0, 20.0]  # the lines on which published ranges begin
    assert found["after"] == [2.0, 2.0]
    assert found["before"] == [2.0, 2.0]


def test_a_range_of_one_number_is_a_point() -> None:
    axis = Axis("height", np.array([1.5, 1.5, 3.0, 3.0]), Numbers(1.5, 3.0, False))
    found = distribution(axis, np.array([0, 0, 1, 1]), cells(2, [1.5, 3.0], [1.5, 3.0]), floor=1)
    assert [count for count in found["after"] if count] == [2.0, 2.0]
    assert sum(found["before"]) == pytest.approx(4.0, abs=0.05 * len(found["before"]))


def test_dates_are_counted_on_the_calendar() -> None:
    days = np.arange(np.datetime64("2022-01-01"), np.datetime64("2024-01-01"))
    positions = days.astype(np.int64).astype(float)
    ends = pl.Series(days[[0, 365]]), pl.Series(days[[364, -1]])
    axis = Axis("day", positions, Moments(positions[0], positions[-1], "D"))
    found = distribution(axis, (np.arange(730) >= 365).astype(np.int64), cells(2, *ends), floor=1)
    assert found["edges"][:2] == ["2022-01-01", "2022-02-01"]
    assert found["edges"][-1] == "2024-01-01"
    assert found["before"][:3] == [31, 28, 31]
    assert found["after"] == pytest.approx(found["before"])
    rounded = distribution(axis, (np.arange(730) >= 365).astype(np.int64), cells(2, *ends), floor=5)
    assert rounded["before"][:3] == [30, 30, 30]


def test_date_times_go_down_to_minutes_and_up_to_decades() -> None:
    start = np.datetime64("2024-03-01T10:02:00", "us").astype(np.int64)
    for span, edge in ((10 * 60, "2024-03-01T10:02"), (36_500 * 86_400, "2020-01-01")):
        ends = [int(start), int(start) + span * 1_000_000]
        axis = Axis("when", np.repeat(np.array(ends, dtype=float), 9), Moments(ends[0], ends[1], "us"))
        low, high = pl.Series(ends[:1]).cast(pl.Datetime("us")), pl.Series(ends[1:]).cast(pl.Datetime("us"))
        found = distribution(axis, np.zeros(18, dtype=np.int64), cells(1, low, high), floor=5)
        assert found["edges"][0] == edge
        assert len(found["before"]) <= 24
        assert total(found, 0) == 20  # two crowds of nine, in multiples of five


def test_a_set_is_spread_over_its_members() -> None:
    axis = Axis("job", np.array([0.0, 1, 1, 2, 2, 2]), Words(("clerk", "nurse", "smith")))
    found = distribution(axis, np.array([0, 0, 0, 1, 1, 1]), cells(2), floor=1)
    assert found["labels"] == ["smith", "nurse", "clerk", None]
    assert found["before"] == [3, 2, 1, 0]
    assert found["after"] == [3.0, 1.5, 1.5, 0.0]


def test_an_ordinal_is_spread_over_what_lies_between() -> None:
    axis = Axis("size", np.array([0.0, 2, 0, 2, 0, 2]), Words(("small", "middle", "large"), ordered=True))
    found = distribution(axis, np.zeros(6, dtype=np.int64), cells(1), floor=1)
    assert dict(zip(found["labels"], found["after"], strict=True)) == {"small": 2.0, "large": 2.0, None: 2.0}


def test_a_star_is_spread_as_the_others_are_and_suppressed_rows_are_unknown() -> None:
    axis = Axis("sex", np.array([0.0, 0, 1, 1, 0, 1, np.nan]), Words(("f", "m")))
    found = distribution(axis, np.array([0, 0, 1, 1, 1, 1, -1]), cells(2, stars=(1,)), floor=1)
    assert dict(zip(found["labels"], found["after"], strict=True)) == {"f": 6.0, None: 0.0}
    assert found["before"] == [3.0, 3.0]  # of "m" nothing is published: it has no name
    assert found["unknown"] == [0, 1]  # what a suppressed row lacks is not told


def test_codes_are_gathered_by_their_beginning() -> None:
    codes = tuple(sorted(f"{region:02d}{place:03d}" for region in (1, 6, 34) for place in range(0, 1000, 50)))
    axis = Axis("zip", np.repeat(np.arange(60.0), 2), Words(codes, prefixes=True))
    labels = np.repeat(np.arange(3), 40)
    found = distribution(axis, labels, Prefixes()(axis, labels, 3), floor=5)
    assert sorted(found["labels"][:-1]) == ["01…", "06…", "34…"]
    assert found["before"] == [40, 40, 40, 0]
    assert found["after"] == [40.0, 40.0, 40.0, 0.0]


def test_leaves_are_gathered_by_a_level_of_their_tree() -> None:
    tree = Hierarchy.from_rows([[f"leaf{i}", f"branch{i // 10}"] for i in range(30)])
    axis = Axis("illness", np.repeat(np.arange(30.0), 2), Leaves(tree))
    labels = np.repeat(np.arange(3), 20)
    found = distribution(axis, labels, Nodes()(axis, labels, 3), floor=5)
    assert sorted(found["labels"][:-1]) == ["branch0", "branch1", "branch2"]
    assert found["before"] == [20, 20, 20, 0]


def test_a_node_is_spread_over_its_leaves_not_over_the_values_of_the_class() -> None:
    tree = Hierarchy.from_rows([[f"leaf{i}", f"branch{i // 2}"] for i in range(4)])
    axis = Axis("illness", np.array([0.0, 0.0, 2.0, 3.0]), Leaves(tree))
    labels = np.array([0, 0, 1, 1])
    found = distribution(axis, labels, Nodes(level=1)(axis, labels, 2), floor=1)
    assert found["labels"] == ["branch0", "branch1", None]  # no cell shows a leaf
    assert found["before"] == [2, 2, 0]
    assert found["after"] == [2.0, 2.0, 0.0]


def test_nothing_published_gives_nothing_to_draw() -> None:
    axis = Axis("age", np.arange(4.0), Numbers(0, 3, True))
    everything = np.zeros(4, dtype=np.int64)
    assert distribution(axis, everything, cells(1, stars=(0,)), floor=1) == {}
    assert (
        distribution(
            Axis("a", axis.positions, Words(tuple("abcd"))), everything, cells(1, stars=(0,)), floor=1
        )
        == {}
    )


def test_an_extreme_of_a_suppressed_row_does_not_move_the_edges() -> None:
    axis = Axis("cost", np.array([*range(20), 1e9]), Numbers(0, 1e9, True))
    labels = np.array([*[0] * 20, -1])
    found = distribution(axis, labels, cells(1, [0], [20]), floor=1)
    assert found["edges"][-1] <= 30
    assert found == distribution(axis, labels, cells(1, [0], [20]), floor=1)
    nearer = Axis("cost", np.array([*range(20), 3.0]), Numbers(0, 19, True))
    assert found == distribution(nearer, labels, cells(1, [0], [20]), floor=1)


@settings(max_examples=80, deadline=None)
@given(
    data=st.lists(st.tuples(st.integers(0, 120), st.integers(0, 4), st.booleans()), min_size=8, max_size=120),
    floor=st.integers(1, 8),
)
def test_numbers_keep_their_mass_show_no_small_count_and_no_extreme(
    data: list[tuple[int, int, bool]], floor: int
) -> None:
    order = np.unique([label for _, label, _ in data], return_inverse=True)[1]
    values = [float(value) for value, _, _ in data]
    axis, labels, shown = whole_numbers(values, order.tolist())
    gone = np.array([hide for _, _, hide in data])
    labels = np.where(gone, -1, labels)
    found = distribution(axis, labels, shown, floor=floor)
    assume(found)
    assert total(found, 0) == pytest.approx(len(data) - gone.sum(), abs=floor * len(found["before"]) / 2 + 2)
    assert total(found, 1) == pytest.approx(len(data), abs=0.05 * 26)
    step = found["edges"][1] - found["edges"][0]
    assert step % 10 == 0  # whole steps of the published grid
    kept = np.array(values)[~gone]
    for first, last, run in runs(found):  # every run of equal bins is a crowd
        inside = ((kept >= first) & (kept < last)).sum()
        assert inside >= floor
        assert run == pytest.approx(inside, abs=(floor / 2 + 0.06) * (last - first) / step)


def runs(found: dict) -> list[tuple[float, float, float]]:
    """Give neighbouring bins that show the same as one: from, to, and what they hold together."""
    merged: list[list[float]] = []
    for first, last, count in zip(found["edges"], found["edges"][1:], found["before"], strict=False):
        if merged and merged[-1][3] == count:
            merged[-1][1] = last
            merged[-1][2] += count
        else:
            merged.append([first, last, count, count])
    return [(first, last, total) for first, last, total, _ in merged]


@settings(max_examples=80, deadline=None)
@given(
    data=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 3)), min_size=5, max_size=150),
    floor=st.integers(2, 8),
    kind=st.sampled_from([{}, {"ordered": True}, {"prefixes": True}]),
)
def test_words_keep_their_mass_and_rare_ones_are_never_named(
    data: list[tuple[int, int]], floor: int, kind: dict[str, bool]
) -> None:
    names = tuple(f"w{place:02d}" for place in range(31))
    values = np.array([value for value, _ in data], dtype=float)
    labels = np.unique([label for _, label in data], return_inverse=True)[1]
    axis = Axis("word", values, Words(names, **kind))
    classes = labels.max() + 1
    shown = Prefixes()(axis, labels, classes) if kind.get("prefixes") else cells(classes)
    found = distribution(axis, labels, shown, floor=floor)
    assume(found)
    assert total(found, 0) == pytest.approx(len(data), abs=floor * 7)
    assert total(found, 1) == pytest.approx(len(data), abs=0.05 * 15)
    assert all(count % floor == 0 for count in found["before"])
    assert len(found["labels"]) <= 13
    for label in found["labels"][:-1]:
        begin = label.rstrip("…")
        assert sum(names[int(value)].startswith(begin) for value in values) >= floor


@settings(max_examples=60, deadline=None)
@given(
    data=st.lists(st.tuples(st.integers(0, 15), st.integers(0, 3)), min_size=6, max_size=80),
    how=st.sampled_from(["codes", "leaves", "commonest"]),
    least=st.integers(0, 2),
    starred=st.integers(0, 3),
)
def test_no_name_says_more_than_the_published_cells(
    data: list[tuple[int, int]], how: str, least: int, starred: int
) -> None:
    names = tuple(f"{place // 8}{place // 4 % 2}{place % 4}" for place in range(16))
    tree = Hierarchy.from_rows([[name, name[:2] + "*", name[:1] + "**"] for name in names])
    labels = np.unique([label for _, label in data], return_inverse=True)[1]
    domain = Leaves(tree) if how == "leaves" else Words(names, prefixes=how == "codes")
    axis = Axis("word", np.array([value for value, _ in data], dtype=float), domain)
    recoding = {"codes": Prefixes(most=3 - least), "leaves": Nodes(least=least), "commonest": Centroids()}[
        how
    ]
    shown = recoding(axis, labels, labels.max() + 1)
    stars = shown.suppressed | (np.arange(len(shown.suppressed)) == starred)
    text = shown.text.set(pl.Series(stars), "*")
    found = distribution(axis, labels, replace(shown, text=text, suppressed=stars), floor=1)
    told = [cell.rstrip("*") for cell in text if cell is not None]
    for name in found.get("labels", [None])[:-1]:
        assert any(cell.startswith(name.rstrip("…*")) for cell in told if cell), (name, told)


@settings(max_examples=100, deadline=None)
@given(counts=st.lists(st.integers(0, 40), min_size=1, max_size=30), floor=st.integers(1, 10))
def test_neighbours_share_until_they_are_a_crowd(counts: list[int], floor: int) -> None:
    amounts = np.array(counts, dtype=float)
    shared = shared_out(amounts, floor)
    assert shared.sum() == pytest.approx(amounts.sum(), abs=floor / 2 * len(counts))
    place = 0
    while place < len(counts):  # cut into the shortest runs whose shares add up to what they hold
        end = next(
            end
            for end in range(place + 1, len(counts) + 1)
            if np.isclose(shared[place:end].sum(), floor * np.rint(amounts[place:end].sum() / floor))
            and (amounts[place:end].sum() >= floor or end == len(counts))
        )
        place = end


@settings(max_examples=80, deadline=None)
@given(sizes=st.lists(st.one_of(st.integers(1, 30), st.integers(1, 10**7)), max_size=60))
def test_class_size_bins_count_every_class_once(sizes: list[int]) -> None:
    bins = class_size_bins(np.array(sizes, dtype=np.int64))
    assert len(bins) <= 24
    assert sum(entry["classes"] for entry in bins) == len(sizes)
    assert sum(entry["rows"] for entry in bins) == sum(sizes)
    for entry in bins:
        inside = [size for size in sizes if entry["from"] <= size <= entry["to"]]
        assert (len(inside), sum(inside)) == (entry["classes"], entry["rows"])


def test_many_classes_and_rows_are_counted_without_a_loop_over_them() -> None:
    rows, classes = 300_000, 50_000
    positions = np.arange(rows, dtype=float)
    labels = np.repeat(np.arange(classes), rows // classes)
    low, high = positions[:: rows // classes], positions[rows // classes - 1 :: rows // classes]
    axis = Axis("n", positions, Numbers(0, rows - 1, True))
    found = distribution(axis, labels, cells(classes, list(low), list(high)), floor=5)
    assert found["after"] == pytest.approx(found["before"])
