"""Rows that a published column ties together: what all rows of one person show is their trajectory."""

from __future__ import annotations

import numpy as np

from mahrem.types import Codes, Integers, Labels, Sizes


def trajectory_sizes(
    labels: Labels, links: Codes | Integers, people: Codes | Integers | None = None
) -> Sizes:
    """Count the people behind each published trajectory: the classes of all rows that are tied together.

    Whoever knows what quasi-identifiers somebody had in every row finds the trajectory, and these people.

    Args:
        labels: ``(n,)`` class of each row; -1 shows nothing and is tied to nothing.
        links: ``(n,)`` what ties rows together, such as a pseudonym; -1 is tied to nothing.
        people: ``(n,)`` the person behind each row, where somebody may have several links.

    Guarantees:
        - Two links share a trajectory exactly when they have the same number of rows in every class.
        - Where every link has one row, the sizes are those of the classes, in people.

    Example:
        >>> labels, names = np.array([0, 0, 1, 0, 1, 0]), np.array([7, 8, 8, 9, 9, 5])
        >>> sorted(trajectory_sizes(labels, names).tolist())  # 7 and 5; 8 and 9
        [2, 2]
    """
    known = (labels >= 0) & (links >= 0)
    behind = links if people is None else people
    rows = np.flatnonzero(known)
    rows = rows[np.lexsort((labels[rows], links[rows]))]
    shown, tied = labels[rows].astype(np.int64), links[rows]
    first = np.flatnonzero(np.append(True, tied[1:] != tied[:-1])) if len(rows) else rows
    lengths = np.diff(np.append(first, len(rows)))
    classes = int(shown.max(initial=-1)) + 1
    state, known_states = np.zeros(len(first), np.int64), 1
    for step in range(int(lengths.max(initial=0))):  # links that show the same so far share a state
        alive = np.flatnonzero(lengths > step)
        met, number = np.unique(state[alive] * classes + shown[first[alive] + step], return_inverse=True)
        state[alive] = known_states + number
        known_states += len(met)
    pairs = np.unique(np.stack([np.repeat(state, lengths), behind[rows].astype(np.int64)]), axis=1)
    return np.unique(pairs[0], return_counts=True)[1]
