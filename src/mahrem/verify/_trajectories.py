"""Rows that a published column ties together: what all rows of one person show is their trajectory."""

from __future__ import annotations

import numpy as np

from mahrem.types import Codes, Integers, Labels


def trajectories(labels: Labels, links: Codes | Integers) -> Labels:
    """Number rows by the trajectory they belong to: the classes of all rows that are tied together.

    Whoever knows what quasi-identifiers somebody had in every row finds the trajectory, and its people.

    Args:
        labels: ``(n,)`` class of each row; -1 shows nothing and is tied to nothing.
        links: ``(n,)`` what ties rows together, such as a pseudonym; -1 is tied to nothing.

    Guarantees:
        - Two links share a trajectory exactly when they have the same number of rows in every class.
        - Where every link has one row, rows share a trajectory exactly when they share a class.
        - Rows that are tied to nothing get -1; the others ``0 .. c-1``, and none is empty.

    Example:
        >>> labels, names = np.array([0, 0, 1, 0, 1, 0]), np.array([7, 8, 8, 9, 9, 5])
        >>> trajectories(labels, names)  # 8 and 9 were in both classes
        array([0, 1, 1, 1, 1, 0])
    """
    rows = np.flatnonzero((labels >= 0) & (links >= 0))
    rows = rows[np.lexsort((labels[rows], links[rows]))]
    shown, tied = labels[rows].astype(np.int64), links[rows]
    first = np.flatnonzero(np.append(True, tied[1:] != tied[:-1])) if len(rows) else rows
    lengths = np.diff(np.append(first, len(rows)))
    classes = int(shown.max(initial=-1)) + 1
    state, known = np.zeros(len(first), np.int64), 1
    for step in range(int(lengths.max(initial=0))):  # links that show the same so far share a state
        alive = np.flatnonzero(lengths > step)
        met, number = np.unique(state[alive] * classes + shown[first[alive] + step], return_inverse=True)
        state[alive] = known + number
        known += len(met)
    numbered = np.full(len(labels), -1, np.int64)
    numbered[rows] = np.repeat(np.unique(state, return_inverse=True)[1], lengths)
    return numbered
