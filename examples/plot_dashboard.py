"""Figures for a dashboard, with differential privacy: one ledger says what is public and what was spent."""

# %% The table stays where it is; the ledger is made before anybody asks, from what is known without looking.
import tempfile
from pathlib import Path

import mahrem as mh

folder = Path(tempfile.mkdtemp(prefix="mahrem-example-"))
table = folder / "patients.csv"
mh.demo_patients(2_000).write_csv(table)
ledger = mh.Ledger.create(
    folder / "patients.ledger", table, epsilon=2, delta=1e-6,
    columns={
        "cost": {"lower": 0, "upper": 10_000, "missing": 0},
        "sex": {"categories": ["female", "male"]},
        "smoker": {"categories": ["no", "yes"]},
    },
)  # fmt: skip

# %% What a question would cost and how far off its answer may be, before it is asked: this is free.
for row in mh.query(table, "mean(cost) by sex", ledger=ledger, epsilon=0.5, plan=True).rows:
    print(f"of {row['if rows']} rows: off by {row['error']:.1f} at the most, 19 times of 20")

# %% Three tiles of the dashboard. Each answer says how far off it is.
for question in ("count() by smoker", "mean(cost) by sex", "sum(cost)"):
    for row in mh.query(table, question, ledger=ledger, epsilon=0.5).rows:
        group = row.get("smoker", row.get("sex", "all"))
        print(f"{question}, {group}: {row['value']:.0f} ± {row['error']:.0f}")

# %% What is left. A question that does not fit is refused, and nothing is computed.
ledger
