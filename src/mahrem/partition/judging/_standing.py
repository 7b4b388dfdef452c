"""Which classes may stand together, where promises compare a class with the table that is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mahrem.arrays import tiling
from mahrem.partition._partition import Admits
from mahrem.partition.judging._admission import Admission
from mahrem.types import Labels, Mask, Sizes


def admitted_classes(labels: Labels, wanted: Mask, admits: Admits) -> Mask:
    """Ask about some of the classes; the others are refused.

    Args:
        labels: ``(n,)`` class of each row, -1 = none.
        wanted: ``(c,)`` classes to ask about.
        admits: Judges them.
    """
    numbers = np.append(np.where(wanted, np.cumsum(wanted) - 1, -1), -1)  # the last place is label -1
    admitted: Mask = np.zeros(len(wanted), np.bool_)
    admitted[wanted] = admits(*tiling.rows_by_label(numbers[labels], int(wanted.sum())))
    return admitted


def admits_together(labels: Labels, chosen: Mask, admits: Admits) -> bool:
    """Ask about the rows of some classes as one class; one without rows may stand."""
    rows = np.flatnonzero(rows_shown(labels, chosen)).astype(np.int32)
    return not len(rows) or bool(admits(rows, np.array([0, len(rows)], np.int64)).all())


def rows_shown(labels: Labels, shown: Mask) -> Mask:
    """Say which rows lie in the classes that are shown."""
    return np.append(shown, np.False_)[labels]  # the last place is label -1


@dataclass(frozen=True)
class JudgedClasses:
    """Classes that may be shown, counted once and judged in the tables that some of them make."""

    sizes: Sizes  # (c,) rows of each class that count
    wanted: Mask
    judge: Callable[[Mask], Mask]  # of the classes that are left: says of all whether they may stand then
    fewest: int  # with fewer rows there is no need to go on

    @classmethod
    def of(
        cls, labels: Labels, sizes: Sizes, wanted: Mask, admits: Admission, most: int | None
    ) -> JudgedClasses:
        numbers = np.append(np.where(wanted, np.cumsum(wanted) - 1, -1), -1)  # the last place is label -1
        again = admits.judges_again(*tiling.rows_by_label(numbers[labels], int(wanted.sum())))

        def judge(left: Mask) -> Mask:
            admitted: Mask = np.zeros(len(left), np.bool_)
            admitted[wanted] = again(rows_shown(labels, left))
            return admitted

        return cls(sizes, wanted, judge, 0 if most is None else int(sizes.sum()) - most)

    def admitted_among(self, left: Mask) -> Mask:
        """Say which classes are admitted in the table that some of them make."""
        return self.wanted & self.judge(left)

    def rows(self, left: Mask) -> int:
        """Count the rows of some classes."""
        return int(self.sizes[left].sum())

    def thinned(self, left: Mask, *, by_halves: bool = False) -> Mask:
        """Take refused classes away until all that are left stand; by halves, the smallest first.

        What has too few rows is given as it is when that is seen.
        """
        left = left.copy()
        while left.any() and self.rows(left) >= self.fewest:
            refused = np.flatnonzero(left & ~self.admitted_among(left))
            if not len(refused):
                break
            if by_halves:
                refused = refused[np.argsort(self.sizes[refused], kind="stable")]
                refused = refused[: -(-len(refused) // 2)]
            left[refused] = False
        return left

    def grown(self, left: Mask) -> Mask | None:
        """Let in refused classes that the smaller table admits, as many as show more rows in the end."""
        back = np.flatnonzero(self.admitted_among(left) & ~left)
        back = back[np.argsort(-self.sizes[back], kind="stable")]
        while len(back):
            tried = left.copy()
            tried[back] = True
            grown = self.thinned(tried)
            if self.rows(grown) > self.rows(left):
                return grown
            back = back[: len(back) // 2]
        return None


def classes_left(labels: Labels, sizes: Sizes, wanted: Mask, admits: Admission) -> Mask:
    """Suppress classes until all that are left keep the promise in the table that they make.

    What is suppressed is not published, so that the table the rest is compared with changes. Each round takes
    at least one class away, so it ends.

    Guarantees:
        - Every class that is left is admitted among the rows of those that are left.
        - Nothing is left that was not wanted.
    """
    return JudgedClasses.of(labels, sizes, wanted, admits, None).thinned(wanted)


def standing_classes(
    labels: Labels, sizes: Sizes, wanted: Mask, admits: Admission, *, most: int | None = None
) -> Mask:
    """Give classes that keep the promise in the table that they make, and reconsider those refused.

    First all that are wanted are thinned out until the rest stands, once taking away all that is refused in
    each round and once only the smaller half of it; what shows more rows counts. In the smaller table a class
    that was refused may be admitted: all of these are let in and the whole is thinned out again. If that
    shows no more rows than before, only the larger half of them is let in, and so on. Each gain shows more
    rows than before, of which there are finitely many, so it ends.

    Args:
        labels: ``(n,)`` class of each row, -1 = none.
        sizes: ``(c,)`` rows of each class that count.
        wanted: ``(c,)`` classes that may be shown.
        admits: Judges them.
        most: When more rows than these are left out, the caller does not mind whether the rest stands.

    Guarantees:
        - Every class that is left is admitted among the rows of those that are left, unless more than
          ``most`` rows are left out.
        - No fewer rows are shown than without reconsidering.
    """
    return standing(JudgedClasses.of(labels, sizes, wanted, admits, most))


def standing(classes: JudgedClasses) -> Mask:
    """Give classes that stand in the table that they make, as :func:`standing_classes` says."""
    wanted = classes.wanted
    left = classes.thinned(wanted)
    if left.sum() == wanted.sum():
        return left
    left = max(left, classes.thinned(wanted, by_halves=True), key=classes.rows)
    while classes.rows(left) >= classes.fewest and (grown := classes.grown(left)) is not None:
        left = grown
    return left


def with_the_rest(labels: Labels, sizes: Sizes, shown: Mask, admits: Admits, most: int) -> Mask | None:
    """Let classes join what is not shown until that may stand as a class of its own.

    People who fit no class that is shown are told apart from the others by that alone: together they are a
    class, which a promise may speak of. If it may not stand, the smallest classes join it, those with most
    people around them first: one, two, four and so on.

    Args:
        labels: ``(n,)`` class of each row, -1 = none.
        sizes: ``(c,)`` rows of each class that count.
        shown: ``(c,)`` classes that may be shown.
        admits: Judges the rest as one class.
        most: Rows that may be left out.

    Returns:
        Which classes are shown, at least one; None when the rest never stands.

    Guarantees:
        - ``admits`` accepts the rest as one class, or nobody is in it.
        - At most ``most`` rows are in it, and nothing is shown that was not.
    """
    if shown.all():
        return shown
    around = np.bincount(labels[labels >= 0], minlength=len(shown))
    joining = np.flatnonzero(shown)
    joining = joining[np.lexsort((-around[joining], sizes[joining]))]
    left_out = int(sizes[~shown].sum()) + np.concatenate([[0], np.cumsum(sizes[joining])])
    allowed = min(int(np.count_nonzero(left_out <= most)), len(joining)) - 1
    if allowed < 0:
        return None
    steps = sorted({0, allowed, *(1 << step for step in range(allowed.bit_length()) if 1 << step < allowed)})
    turn = np.full(len(shown) + 1, -1)  # the last place is label -1
    turn[:-1][~shown] = 0
    turn[joining[:allowed]] = np.arange(allowed) + 1
    rows, ends = tiling.rows_by_label(turn[labels], allowed + 1)
    lengths = ends[1:][steps]
    tried = np.concatenate([rows[:length] for length in lengths])
    stands = admits(tried, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))
    if not stands.any():
        return None
    left = shown.copy()
    left[joining[: steps[int(stands.argmax())]]] = False
    return left
