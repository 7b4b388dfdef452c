from __future__ import annotations

import numpy as np
import pytest

from mahrem.recode import HeapCount, count_heaps, heaped
from mahrem.table import Axis, Domain, Moments, Numbers


def axis(domain: str, seed: int) -> Axis:
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(10, 400))
    known: Domain
    match domain:
        case "whole":
            values = np.where(rng.random(rows) < 0.5, 40.0, rng.integers(0, 90, rows))
            known = Numbers(0, 90, whole=True)
        case "decimals":
            values = rng.normal(0, 50, rows).round(int(rng.integers(0, 4)))
            known = Numbers(float(values.min()), float(values.max()), whole=False)
        case "days":
            values = np.where(rng.random(rows) < 0.3, 7305.0, rng.integers(3000, 15_000, rows))
            known = Moments(3000, 15_000, "D")
        case _:
            values = rng.integers(0, 10**6, rows) * 3600e6
            known = Moments(float(values.min()), float(values.max()), "us")
    return Axis("x", np.where(rng.random(rows) < 0.1, np.nan, values), known)


@pytest.mark.parametrize("domain", ["whole", "decimals", "days", "moments"])
def test_heaps_counted_in_parts_are_those_of_all_rows(domain: str) -> None:
    for seed in range(20):
        whole = axis(domain, seed)
        parts = np.array_split(whole.positions, 1 + seed % 7)
        added = sum((count_heaps(Axis("x", part, whole.domain)) for part in parts), HeapCount())
        assert added == count_heaps(whole)
        assert added.heaped(whole.domain) == heaped(whole)
