"""What do the guides' small tables say? Losses of methods and cut rules, cost of jitter and minimality-safe.

Demo patients (``compare``, ``people``), and Adult (``cuts``, ``jitter``, ``minimality``), for which
MAHREM_DATA names a folder with adult_train.csv.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import polars as pl
from _points import adult_frame
from _timing import print_json

import mahrem as mh
from mahrem.errors import PrivacyWarning

METHODS = ("mosaic", "ona*", "mdav+", "u-mondrian", "mondrian", "u-canon")
NUMBERS = ("age", "fnlwgt", "capital-gain", "capital-loss", "hours-per-week")
WORDS = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country")
PROMISES: Mapping[str, Mapping[str, Any]] = {
    "l = 3": {"l": 3},
    "entropy l = 3": {"l": 3, "l_kind": "entropy"},
    "t = 0.4": {"t": 0.4},
    "t = 0.2": {"t": 0.2},
}

Row = dict[str, Any]


def compare(subject: str | None = None) -> Iterator[Row]:
    found = mh.compare(
        mh.demo_patients(2000),
        quasi=["age", "sex", "zip", "admission"],
        sensitive="diagnosis",
        rest="drop",
        subject=subject,
        l=2,
        methods=list(METHODS),
        ks=[2, 5, 10, 20, 50],
    )
    for row in found.rows:
        yield {"method": row["method"], "k": row["k"], "gcp": row["gcp"]}


def released(columns: tuple[str, ...], **settings: Any) -> Mapping[str, Any]:
    table = adult_frame()
    assert table is not None
    numbers = [pl.col(name).cast(pl.Int64) for name in columns if name in NUMBERS]
    release = mh.anonymize(
        table.with_columns(numbers),
        quasi=list(columns),
        k=settings.pop("k", 5),
        rest="drop",
        method="mondrian",
        html=False,
        accept={"*": "a public benchmark"},
        **settings,
    )
    return release.report


def cuts() -> Iterator[Row]:
    for cut in ("median", "middle", "gap"):
        for k in (5, 10, 20, 30, 40, 50):
            utility = released(NUMBERS, k=k, bounds="exact", options={"cut": cut})["utility"]
            yield {"cut": cut, "k": k, "gcp_sum": utility["gcp_sum"]}


def jitter() -> Iterator[Row]:
    yield {"draws": "none", "gcp": released(NUMBERS)["utility"]["gcp"]}
    losses = [released(NUMBERS, jitter=0.1, seed=seed)["utility"]["gcp"] for seed in range(1, 6)]
    yield {"draws": "the least of five", "gcp": min(losses)}
    yield {"draws": "the most of five", "gcp": max(losses)}


def minimality() -> Iterator[Row]:
    for promise, models in PROMISES.items():
        usual, safe = (
            released(WORDS, sensitive="occupation", minimality_safe=safe, **models)["utility"]
            for safe in (False, True)
        )
        yield {"promise": promise, "classes": "as usual", "number": usual["classes"], "gcp": usual["gcp"]}
        more = 100 * (safe["gcp"] / usual["gcp"] - 1)
        row = {"promise": promise, "classes": "without values", "number": safe["classes"], "gcp": safe["gcp"]}
        yield {**row, "more, %": more}


CASES: Mapping[str, Callable[[], Iterator[Row]]] = {
    "compare": compare,
    "people": lambda: compare("patient_id"),
    "cuts": cuts,
    "jitter": jitter,
    "minimality": minimality,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--cases", default=",".join(CASES), help="which of " + ", ".join(CASES))
    asked = parser.parse_args()
    warnings.simplefilter("ignore", PrivacyWarning)
    rows = [{"case": case, **row} for case in asked.cases.split(",") for row in CASES[case]()]
    if asked.json:
        print_json(rows)
    else:
        for row in rows:
            print(*row.values())


if __name__ == "__main__":
    main()
