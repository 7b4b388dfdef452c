"""A synthetic twin of a table, with differential privacy: what it is good for, and what not."""

# %% Fictional patients, and a ledger that knows their columns.
import tempfile
from pathlib import Path

import polars as pl

import mahrem as mh

folder = Path(tempfile.mkdtemp(prefix="mahrem-example-"))
patients = mh.demo_patients(3_000).select("age", "sex", "smoker", "cost")
patients.write_csv(folder / "patients.csv")
ledger = mh.Ledger.create(
    folder / "patients.ledger", folder / "patients.csv", epsilon=2, delta=1e-5, rows=3_000,
    columns={
        "age": {"lower": 0, "upper": 99},
        "cost": {"lower": 0, "upper": 20_000},
        "sex": {"categories": ["female", "male"]},
        "smoker": {"categories": ["no", "yes"]},
    },
)  # fmt: skip

# %% Rows of nobody, as many as we like; they cost nothing more.
twin = mh.synthesize(folder / "patients.csv", ledger=ledger, epsilon=1, delta=1e-6, target="smoker")
print(twin.table.head(3))

# %% Good for what many people share: means, shares, what goes with what.
for name, table in {"real": patients, "synthetic": twin.table}.items():
    smokers = table.group_by("sex").agg(smokers=(pl.col("smoker") == "yes").mean().round(2)).sort("sex")
    print(name, smokers.rows())

# %% Not for what few share: nobody in particular is in it, and what is rare drowns in noise.
for name, table in {"real": patients, "synthetic": twin.table}.items():
    print(name, "people above 95:", table.filter(pl.col("age").cast(pl.Float64) > 95).height)

# %% Ages, real and synthetic, in steps of ten years.
from mahrem.report import grouped_svg

bars = []
for name, table in {"real": patients, "synthetic": twin.table}.items():
    tens = (table["age"].cast(pl.Float64) // 10 * 10).cast(pl.Int64).value_counts().sort("age")
    bars += [
        {"panel": "age", "name": f"{ten} to {ten + 9}", "series": name, "value": count}
        for ten, count in tens.rows()
    ]
grouped_svg(bars, title="Ages of real and of synthetic people", amount="people")
