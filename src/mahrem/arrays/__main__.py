"""Call every kernel once on tiny arrays, so that the cache is warm before many processes want it."""

from __future__ import annotations

import numpy as np

from mahrem.arrays import Rounds, class_extremes, grow, shuffled, triplets


def main() -> None:
    """Compile all kernels into the cache."""
    shuffled(3)
    points = np.arange(24.0).reshape(12, 2)
    rows = np.arange(12, dtype=np.int32)
    columns = (rows % 3, (rows % 3).astype(np.int8))
    for writeable in (True, False):  # data frames hand out arrays that may only be read: another signature
        for array in (points, *columns):
            array.flags.writeable = writeable
        for strict in (True, False):
            split = grow(points, 2, strict=strict)
            with Rounds(points, 2, strict=strict) as rounds:
                while len((proposed := rounds.propose())[0]):
                    rounds.decide(np.ones(len(proposed[1]) - 1, np.bool_))
                rounds.result()
        class_extremes(points[:, 0].copy(), split.labels, split.classes)
        class_extremes(points.ravel()[:12], split.labels, split.classes)
        for codes in columns:
            triplets(codes, rows, np.array([0, 6, 12]), 3)


if __name__ == "__main__":
    main()
