"""Load forecasting of a household, private and not: the next hour's power from the twelve hours before.

What is protected is a whole day: windows lie within one day, so a day touches its own twelve windows and no
others, and all of them are sampled and clipped together. Trained on the days before 2010, tested on later
ones. Runs have a seed so that they repeat, which real ones must not have.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import polars as pl

from mahrem.datasets import find
from mahrem.dp import Ledger
from mahrem.experiments._row import Row, TableRun
from mahrem.learning.private import NETWORKS, PrivateRegressor
from mahrem.learning.private.steps import Descent
from mahrem.types import Floats, Integers

METRIC = "mean absolute error in kW"
EPSILONS = (1.0, 3.0, 8.0)
DELTA, LONGEST = 1e-5, 12
LOWER, UPPER = 0.0, 6.0  # kW over an hour; more counts as 6
HIDDEN = 16


def rows_of(run: TableRun) -> Iterator[Row]:
    """Give mean absolute errors in kW."""
    epochs = 1 if run.quick else 60
    rows, targets, days, tested, truth = _windows()
    count = int(days.max()) + 1
    place = run.place("household power")
    yield place.row("the last hour again", METRIC, np.abs(tested[:, -1, 0] - truth).mean())
    yield place.row("the mean of the training hours", METRIC, np.abs(targets.mean() - truth).mean())
    run.step("forecast: lstm, not private")
    forecasts = _plain(rows, targets, tested, epochs // 4 + 1)
    yield place.row("lstm, not private", METRIC, np.abs(forecasts - truth).mean())
    for epsilon in EPSILONS:
        run.step(f"forecast: lstm, epsilon={epsilon:g}")
        ledger = Ledger.temporary(
            epsilon=epsilon, delta=DELTA, rows=count, subject="day", rows_per_person=LONGEST
        )
        model = PrivateRegressor(
            network="lstm",
            options={"hidden": HIDDEN},
            lower=LOWER,
            upper=UPPER,
            epsilon=epsilon,
            delta=DELTA,
            batch=256,
            epochs=epochs,
            clip=1.0,
            descent=Descent(learning_rate=0.02, optimiser="adam", average=0.95),
            microbatch=4096,
            device="auto",
            seed=1,
        )
        model.fit(_scaled(rows), targets, ledger=ledger, units=days)
        error = np.abs(model.predict(_scaled(tested)) - truth).mean()
        note = f"a day is protected, delta={DELTA:g}"
        yield place.at(epsilon=epsilon).row("lstm, private", METRIC, error, note=note)


@cache
def _windows() -> tuple[Floats, Floats, Integers, Floats, Floats]:
    """Give windows ``(n, 12, 3)`` of power and hour of day, the next hour's power, and whose day it is."""
    frame = pl.read_csv(find("household_power_hourly"), try_parse_dates=True)
    power = frame["Global_active_power"].to_numpy().astype(np.float64)
    hours = frame["datetime"].dt.hour().to_numpy()
    dates = frame["datetime"].dt.date().to_numpy()
    ends = np.flatnonzero((hours >= LONGEST) & (np.arange(len(hours)) >= LONGEST))
    ends = ends[(dates[ends] == dates[ends - LONGEST]) & (hours[ends] - hours[ends - LONGEST] == LONGEST)]
    places = ends[:, None] - LONGEST + np.arange(LONGEST)
    angle = 2 * np.pi * hours[places] / 24
    rows = np.stack([power[places], np.sin(angle), np.cos(angle)], axis=2)
    _, days = np.unique(dates[ends], return_inverse=True)
    early = dates[ends] < np.datetime64("2010-01-01")
    return rows[early], power[ends][early], days[early].astype(np.int64), rows[~early], power[ends][~early]


def _scaled(rows: Floats) -> Floats:
    scaled = rows.copy()
    scaled[:, :, 0] = 2 * np.clip(rows[:, :, 0], LOWER, UPPER) / UPPER - 1
    return scaled.astype(np.float32)


def _plain(rows: Floats, targets: Floats, tested: Floats, epochs: int) -> Floats:
    """Train the same network without noise or clipping."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        model: Any = NETWORKS["lstm"]((LONGEST, 3), 1, hidden=HIDDEN)
        steps = torch.optim.Adam(model.parameters(), lr=0.01)
        given, wanted = torch.from_numpy(_scaled(rows)), torch.from_numpy(2 * targets / UPPER - 1).float()
        for _ in range(epochs):
            order: Any = torch.randperm(len(given))
            for some in order.split(256):
                steps.zero_grad()
                loss: Any = (model(given[some])[:, 0] - wanted[some]).square().mean()
                loss.backward()
                steps.step()
        with torch.no_grad():
            forecasts = model(torch.from_numpy(_scaled(tested)))[:, 0].numpy()
    return np.asarray((forecasts + 1) * UPPER / 2, dtype=np.float64)
