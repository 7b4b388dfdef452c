from __future__ import annotations

import itertools
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem import arrays
from mahrem.arrays import cutting
from mahrem.threads import in_threads


@given(
    lengths=st.lists(st.integers(0, 12), min_size=1, max_size=30),
    size=st.sampled_from([1, 2, 7, 100, 5000]),
    small=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=60, deadline=None)
def test_triplets_are_what_counting_by_hand_gives(
    lengths: list[int],
    size: int,
    small: bool,  # noqa: FBT001
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    rows = rng.permutation(int(offsets[-1]) + 3)[: offsets[-1]].astype(np.int32)
    codes = rng.integers(-1, size, int(offsets[-1]) + 3).astype(np.int8 if small and size < 128 else np.int32)
    group, value, count = cutting.triplets(codes, rows, offsets, size)
    expected = []
    for number, (start, stop) in enumerate(itertools.pairwise(offsets)):
        met = Counter(codes[rows[start:stop]].tolist())
        expected += [(number, code, met[code]) for code in sorted(met) if code >= 0]
    assert list(zip(group.tolist(), value.tolist(), count.tolist(), strict=True)) == expected


@pytest.mark.parametrize("size", [10, 3000, 1_000_000])
def test_triplets_do_not_depend_on_threads(size: int) -> None:
    rng = np.random.default_rng(3)
    codes = rng.integers(-1, size, 50_000).astype(np.int32)
    rows = rng.permutation(50_000).astype(np.int32)
    offsets = np.concatenate([[0], np.sort(rng.integers(0, 50_001, 700)), [50_000]])
    once = cutting.triplets(codes, rows, offsets, size, threads=1)
    for threads in (2, 5):
        again = cutting.triplets(codes, rows, offsets, size, threads=threads)
        assert all((a == b).all() for a, b in zip(once, again, strict=True))
    assert once[2].sum() == (codes >= 0).sum()


def test_arrays_that_may_only_be_read_or_lie_apart_do_as_well() -> None:
    codes = np.array([1, 9, 0, 9, 1, 9], np.int32)[::2]
    positions, labels = np.array([3.0, 1.0, 2.0]), np.zeros(3, np.int64)
    for array in (codes, positions, labels):
        array.flags.writeable = False
    _, value, count = cutting.triplets(codes, np.arange(3, dtype=np.int32), np.array([0, 3]), 2)
    assert (value.tolist(), count.tolist()) == ([0, 1], [1, 2])
    low, high, _ = cutting.class_extremes(positions, labels, 1)
    assert (low[0], high[0]) == (1.0, 3.0)
    assert cutting.grow(np.broadcast_to(positions[:, None], (3, 2)), 1).classes == 3


@given(st.lists(st.integers(0, 9), max_size=40), st.integers(1, 12))
@settings(max_examples=100, deadline=None)
def test_work_in_threads_visits_every_piece_once(sizes: list[int], parts: int) -> None:
    visits = np.zeros(len(sizes), np.int64)

    def visit(first: int, last: int) -> None:
        assert first < last
        visits[first:last] += 1

    in_threads(visit, np.array(sizes, np.int64), parts, threads=3)
    assert (visits == 1).all()


def test_an_error_in_a_thread_comes_out() -> None:
    def fail(first: int, last: int) -> None:
        if first < 6 <= last:
            raise ValueError("six")

    with pytest.raises(ValueError, match="six"):
        in_threads(fail, np.ones(9, np.int64), 9, threads=3)


def test_triplets_of_nothing_are_nothing() -> None:
    none = np.zeros(0, np.int32)
    group, value, count = cutting.triplets(none, none, np.zeros(1, np.int64), 4)
    assert len(group) == len(value) == len(count) == 0


@given(
    st.lists(
        st.tuples(st.floats(-9, 9) | st.just(np.nan), st.integers(-1, 4)),
        max_size=40,
    )
)
@settings(max_examples=60, deadline=None)
def test_class_extremes_are_those_of_each_class_alone(rows: list[tuple[float, int]]) -> None:
    positions = np.array([position for position, _ in rows], np.float64)
    labels = np.array([label for _, label in rows], np.int64)
    low, high, missing = cutting.class_extremes(positions, labels, 5)
    for group in range(5):
        inside = [position for position, label in rows if label == group]
        known = [position for position in inside if not np.isnan(position)]
        assert low[group] == min(known, default=np.inf)
        assert high[group] == max(known, default=-np.inf)
        assert missing[group] == len(inside) - len(known)


def test_importing_the_partition_room_loads_no_kernel() -> None:
    code = "import sys, mahrem.partition; print('mahrem.arrays._kernel' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_every_public_name_can_be_had() -> None:
    for name in arrays.__all__:
        assert getattr(arrays, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = arrays.nothing
