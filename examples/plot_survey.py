"""A survey with sampling weights: how easily could somebody be found, and which cells must be hidden?"""

# %% Fictional answers; every person stands for some hundred others.
import polars as pl

import mahrem as mh

answers = mh.demo_patients(800).select(
    "age", "sex", "insurance", region=pl.col("zip").str.head(2), weight=100.0 + pl.int_range(pl.len()) % 50
)

# %% Records that are rare here, and how rare they are likely to be outside.
risk = mh.risk(answers, quasi=["age", "sex", "region", "insurance"], weight="weight")
print(f"expected to be found: {risk.individual.expected:.2f} of {answers.height} people")

# %% Instead of widening every cell, hide as few as can be found: three people share whatever is left.
hidden = mh.suppress(
    answers, k=3, quasi=["age", "sex", "region", "insurance"], rest="drop", weights={"age": 2.0}
)
stars = sum(
    (hidden.table[name].cast(pl.String) == "*").sum() for name in ("age", "sex", "region", "insurance")
)
print(f"{stars} of {4 * answers.height} cells hidden")

# %% Age was worth twice as much as the others, so that fewer ages are hidden.
from mahrem.report import grouped_svg

columns = ("age", "sex", "region", "insurance")
grouped_svg(
    [
        {
            "panel": "hidden",
            "name": name,
            "series": "cells",
            "value": int((hidden.table[name].cast(pl.String) == "*").sum()),
        }
        for name in columns
    ],
    title="Hidden cells of each column",
    amount="cells",
)
