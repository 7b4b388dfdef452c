"""A dbt model: the anonymised table is one more model, and a run that cannot keep its promise fails."""

# %% In a project this is `models/patients_published.py`. dbt calls it with its own object, of which
# `dbt.ref` gives the table of another model, and with the session of the warehouse, here DuckDB.
from typing import Any

import mahrem as mh


def model(dbt: Any, session: Any) -> Any:  # noqa: ARG001 - dbt gives both
    """Publish the patients so that five of them share every age and sex, with three diagnoses at least."""
    release = mh.anonymize(
        dbt.ref("patients"),
        quasi=["age", "sex"],
        sensitive="diagnosis",
        rest="drop",
        k=5,
        l=3,
        html=False,
    )
    return release.table  # an Arrow table, which dbt writes back


# %% Outside of dbt the same function runs on any DuckDB session: `ref` is its table of that name.
from types import SimpleNamespace

import duckdb

session = duckdb.connect()
session.register("patients", mh.demo_patients(600).select("age", "sex", "zip", "diagnosis").to_arrow())
published = model(SimpleNamespace(ref=session.table), session)
session.register("patients_published", published)
print(
    session.sql("select age, sex, count(*) as people from patients_published group by all order by 3 limit 4")
)

# %% What dbt would write is checked once more from the outside, as a test of the project would.
print("holds:", mh.audit(published, quasi=["age", "sex"], sensitive="diagnosis", k=5, l=3).holds)
