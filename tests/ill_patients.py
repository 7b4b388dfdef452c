"""A small table to learn from: who is old is ill, and costs more."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

import mahrem as mh

FACTS: dict[str, dict[str, Any]] = {
    "age": {"lower": 0, "upper": 100},
    "sex": {"categories": ["f", "m"]},
    "ill": {"categories": ["no", "yes"]},
    "cost": {"lower": 0, "upper": 1000},
}


def ill_patients(rows: int) -> pl.DataFrame:
    rng = np.random.default_rng(3)
    age = rng.integers(0, 100, rows)
    return pl.DataFrame(
        {
            "age": age,
            "sex": rng.choice(["f", "m"], rows),
            "ill": np.where(age + rng.normal(0, 10, rows) > 50, "yes", "no"),
            "cost": 10.0 * age,
        }
    )


def book(**said: Any) -> mh.Ledger:
    return mh.Ledger.temporary(**{"epsilon": 10.0, "delta": 1e-5, "columns": FACTS, **said})
