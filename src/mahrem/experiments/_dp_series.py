"""Synthetic days of a household: an LSTM learns its load hour by hour, private and not.

A row is a day of 24 hourly loads within public bounds; what is protected is one day, more or less. Days
before 2010 are learnt from. A forecaster (gradient boosting: the next hour from the twelve before and the
time of day) is trained on made-up days and asked about real days of 2010; beside it stand forecasters trained
on real days, on days of the marginal synthesiser and on days of the same LSTM without noise. Noise has no
seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np
import polars as pl

from mahrem.check import extra
from mahrem.datasets import find
from mahrem.dp import Facts, Ledger, Relation, Unit
from mahrem.experiments._row import Place, Row, TableRun
from mahrem.learning.private import new_stream
from mahrem.learning.synthesis import (
    CellLikelihood,
    CellsAsked,
    GeneratorExamples,
    Recurrent,
    SyntheticSchema,
    make_synthesiser,
)
from mahrem.table import ColumnDeclaration
from mahrem.types import Floats

HOURS = tuple(f"h{hour:02d}" for hour in range(24))
LOWER, UPPER = 0.0, 6.0  # kW over an hour; more counts as 6
EDGES = (0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.3, 1.6, 2.0, 2.5, 3.0, 4.0)
FACTS = {name: ColumnDeclaration(lower=LOWER, upper=UPPER) for name in HOURS}
SCHEMA = SyntheticSchema(kinds=dict.fromkeys(HOURS, "number"), cells=dict.fromkeys(HOURS, EDGES))
EPSILONS = (3.0, 8.0)  # 1 is refused: noise would hide every count of 1,111 days
DELTA, LONGEST = 1e-5, 12
MADE = 2000  # days
TESTED = 2010  # the first year that is not learnt from
OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "lstm": {"hidden": (16,), "rate": 0.25, "steps": 250, "learning_rate": 0.02},
    "marginals": {},
}


def rows_of(run: TableRun) -> Iterator[Row]:
    """Give mean absolute errors in kW, and how the made-up days look."""
    real, later = _days()
    rows, truth = _windows(later)
    place = run.place("household power")
    error = float(np.abs(rows[:, -2] - truth).mean())
    yield place.row("the last hour again", "forecast error", error)
    yield from _figures(place, "real days", real, later)
    for method in ("lstm",) if run.quick else tuple(OPTIONS):
        options = {**OPTIONS[method], "steps": 3} if run.quick else OPTIONS[method]
        for epsilon in EPSILONS[-1:] if run.quick else EPSILONS:
            run.step(f"{method}, epsilon={epsilon:g}")
            ledger = Ledger.temporary(epsilon=epsilon, delta=DELTA, columns=FACTS, rows=len(real))
            synthesiser = make_synthesiser(method, epsilon=epsilon, delta=DELTA, schema=SCHEMA, **options)
            drawn = synthesiser.fit(_frame(real), ledger=ledger).sample(MADE)
            yield from _figures(place.at(epsilon=epsilon), method, drawn.to_numpy(), later)
    run.step("lstm, not private")
    drawn_openly = _open_lstm(real, steps=3 if run.quick else 400)
    yield from _figures(place, "lstm, not private", drawn_openly, later)


@cache
def _days() -> tuple[Floats, Floats]:
    """Give whole days ``(n, 24)`` before 2010, and later ones."""
    frame = pl.read_csv(find("household_power_hourly"), try_parse_dates=True)
    days = (
        frame.group_by(pl.col("datetime").dt.date().alias("day"), maintain_order=True)
        .agg(pl.col("Global_active_power").alias("power"))
        .filter(pl.col("power").list.len() == len(HOURS))
    )
    loads = np.array(days["power"].to_list(), dtype=np.float64)
    early = days["day"].dt.year().to_numpy() < TESTED
    return loads[early], loads[~early]


def _frame(days: Floats) -> pl.DataFrame:
    return pl.DataFrame(days, schema=list(HOURS))


def _open_lstm(days: Floats, *, steps: int) -> Floats:
    """Draw days from the same network, trained on exact counts without noise."""
    domain = SCHEMA.domain(Facts(columns=FACTS), HOURS)
    codes = domain.codes(_frame(days), Unit())
    cells = domain.columns[0].cells
    places = np.eye(cells, dtype=np.float32)[codes]
    network = Recurrent(**{**OPTIONS["lstm"], "steps": steps}, clip=10.0)
    plan = network.plan(len(days), delta=DELTA, relation=Relation.ADD_REMOVE, noise_multiplier=1e-6)
    examples = GeneratorExamples(places.reshape(len(days), -1), np.zeros(0))
    train = network.prepared(examples, CellLikelihood(list(places.mean(axis=0))), plan, new_stream(1))
    draws = np.random.default_rng(1)
    drawn, _ = train().cells(CellsAsked([cells] * len(HOURS), MADE, MADE), draws)
    columns = zip(domain.columns, drawn.T, strict=True)
    return np.stack([column.draw(places, draws).to_numpy() for column, places in columns], axis=1)


def _windows(days: Floats) -> tuple[Floats, Floats]:
    """Give the twelve hours before an hour and which hour it is, and the load of that hour."""
    ends = np.arange(LONGEST, days.shape[1])
    before = np.stack([days[:, end - LONGEST : end] for end in ends], axis=1)
    hours = np.broadcast_to(ends[None, :, None], (*before.shape[:2], 1))
    rows = np.concatenate([before, hours], axis=2).reshape(-1, LONGEST + 1)
    return rows, days[:, LONGEST:].ravel()


def _figures(place: Place, method: str, days: Floats, later: Floats) -> Iterator[Row]:
    try:
        from sklearn.ensemble import HistGradientBoostingRegressor
    except ImportError:
        raise extra("learning", needed_for="forecasts") from None
    rows, truth = _windows(days)
    forecaster = HistGradientBoostingRegressor(loss="absolute_error", random_state=0).fit(rows, truth)
    asked, wanted = _windows(later)
    error = float(np.abs(forecaster.predict(asked) - wanted).mean())
    yield place.row(method, "forecast error", error, note=f"{len(days):,} days")
    means = float(np.abs(days.mean(axis=0) - _days()[0].mean(axis=0)).mean())
    yield place.row(method, "mean of an hour, error", means)
    yield place.row(method, "correlation of neighbouring hours", _neighbours(days))


def _neighbours(days: Floats) -> float:
    return float(np.corrcoef(days[:, :-1].ravel(), days[:, 1:].ravel())[0, 1])
