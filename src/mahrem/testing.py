"""What every method keeps, as a check for those who write one, here or in a package of their own.

>>> from mahrem.testing import check_method
>>> check_method("mondrian")
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from mahrem.errors import Infeasible, InvalidParameter
from mahrem.models import DistinctDiversity, KAnonymity
from mahrem.partition import METHODS, Admission, Partition, Partitioner, build_method
from mahrem.table import Values
from mahrem.types import Codes, Points


def check_method(
    name: str, *, options: Mapping[str, object] | None = None, tables: int = 30, seed: int = 0
) -> None:
    """Try a method on small, awkward tables, as scikit-learn's ``check_estimator`` tries an estimator.

    Args:
        name: Of a method of ours, or of one that a distribution offers under ``mahrem.methods``.
        options: Settings of its own, to make it quick.
        tables: How many random tables to try it on.
        seed: Of those tables.

    Raises:
        AssertionError: The first sentence below that does not hold, with the table's shape.

    Guarantees:
        - Every row gets one label, labels are ``0 .. c-1``, and no class is empty.
        - Every class keeps every promise, or the whole table is refused.
        - The same seed gives the same classes.
        - Tables of one value, with more columns than rows, or with rows far apart simply work; a lattice that
          is too large is refused.
        - An unknown setting is refused by its name.
    """
    if name not in METHODS:
        raise InvalidParameter(f"method={name!r} must be one of {', '.join(METHODS)}")

    def build(draws: int = 1) -> Partitioner:
        return build_method(name, seed=draws, options=options)

    for points, k, codes in _tables(tables, seed):
        _keeps(build(), points, k, None)
        _keeps(build(), points, k, codes)
    for points in (np.zeros((500, 3)), np.eye(12), np.random.default_rng(0).random((3, 40))):
        try:
            _keeps(build(), points, 3, None)
        except InvalidParameter as error:
            _must("nodes=" in str(error), "a lattice that is too large is refused by its size", points)
    points = np.random.default_rng(seed).random((300, 3))
    first, second = (build(7)(points, _admission(points, 4, None)).labels for _ in range(2))
    _must(np.array_equal(first, second), "the same seed gives the same classes", points)
    try:
        build_method(name, options={"wings": 2})
    except InvalidParameter as error:
        _must("wings" in str(error), "an unknown setting is refused by its name", points)
    else:
        _must(False, "an unknown setting is refused", points)


def _tables(many: int, seed: int) -> Iterator[tuple[Points, int, Codes]]:
    """Few rows, many ties: what breaks a method."""
    rng = np.random.default_rng(seed)
    for _ in range(many):
        rows, columns = int(rng.integers(1, 41)), int(rng.integers(1, 5))
        codes = rng.integers(0, 3, rows).astype(np.int32)
        yield rng.integers(0, 7, (rows, columns)) / 6, int(rng.integers(1, 6)), codes


def _admission(points: Points, k: int, codes: Codes | None) -> Admission:
    size = (KAnonymity(k), None)
    if codes is None:
        return Admission((size,), len(points))
    return Admission((size, (DistinctDiversity(2), Values("value", codes, 3))), len(points))


def _keeps(method: Partitioner, points: Points, k: int, codes: Codes | None) -> None:
    """Run a method and look at every class."""
    possible = len(points) >= k and (codes is None or len(np.unique(codes)) >= 2)
    try:
        partition = method(points, _admission(points, k, codes))
    except Infeasible:
        _must(not possible, "what can be kept is not refused", points)
        return
    _must(possible, "what cannot be kept is refused", points)
    _is_partition(partition, points)
    sizes = np.bincount(partition.labels, minlength=partition.classes)
    _must(bool((sizes >= k).all()), f"every class has {k} rows", points)
    if codes is not None:
        for label in range(partition.classes):
            several = len(np.unique(codes[partition.labels == label])) >= 2
            _must(several, "every class shows two values", points)


def _is_partition(partition: Partition, points: Points) -> None:
    labels = partition.labels
    _must(labels.shape == (len(points),) and labels.dtype == np.int64, "every row gets one label", points)
    complete = np.array_equal(np.unique(labels), np.arange(partition.classes))
    _must(complete, "labels are 0 .. c-1 and no class is empty", points)


def _must(holds: bool, sentence: str, points: Points) -> None:  # noqa: FBT001 - reads as it is said
    if not holds:
        raise AssertionError(f"{sentence}: not so on a table of {points.shape[0]} x {points.shape[1]}")
