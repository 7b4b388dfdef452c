"""What does mosaic gain when it knows the hierarchies of columns?

Adult, age as a number and five columns with the trees below. All classes are published with the same cells:
intervals of age, lowest nodes of the trees. ``gcp_sum`` of mosaic with trees, of mosaic that only sees the
order of the leaves, and of strict Mondrian without trees and with them (age cut at its median, or in the
middle); seconds of processor time.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from _points import adult_frame

from mahrem.arrays import cutting
from mahrem.models import KAnonymity
from mahrem.partition import Admission, Mondrian, Mosaic
from mahrem.table import Hierarchy
from mahrem.types import Labels, Points

Branch: TypeAlias = "str | dict[str, Branch]"  # the leaves under a node, or the nodes under it
Row = dict[str, Any]

TREES: dict[str, dict[str, Branch]] = {
    "workclass": {
        "paid": {
            "government": "Federal-gov State-gov Local-gov",
            "private": "Private",
            "own business": "Self-emp-inc Self-emp-not-inc",
        },
        "unpaid": {"none": "Without-pay Never-worked"},
    },
    "education": {
        "school": {
            "primary": {"early": "Preschool 1st-4th", "late": "5th-6th 7th-8th"},
            "secondary": {"begun": "9th 10th 11th 12th", "done": "HS-grad"},
        },
        "higher": {
            "undergraduate": {
                "college": "Some-college Assoc-voc Assoc-acdm",
                "bachelor": "Bachelors",
            },
            "graduate": {"taught": "Masters Prof-school", "research": "Doctorate"},
        },
    },
    "marital-status": {
        "with a spouse": "Married-civ-spouse Married-AF-spouse",
        "alone": {"before": "Never-married", "after": "Divorced Separated Widowed Married-spouse-absent"},
    },
    "occupation": {
        "office": {
            "specialist": "Prof-specialty Exec-managerial Tech-support",
            "clerk": "Adm-clerical Sales",
        },
        "hands": {
            "craft": "Craft-repair Machine-op-inspct Farming-fishing",
            "labour": "Transport-moving Handlers-cleaners",
        },
        "service": {
            "security": "Protective-serv Armed-Forces",
            "care": "Other-service Priv-house-serv",
        },
    },
    "native-country": {
        "America": {
            "North": {
                "States": "United-States Outlying-US(Guam-USVI-etc) Puerto-Rico",
                "neighbours": "Canada Mexico",
            },
            "Latin": {
                "Central": "El-Salvador Guatemala Nicaragua Honduras",
                "South America": "Columbia Ecuador Peru",
                "Caribbean": "Cuba Jamaica Dominican-Republic Haiti Trinadad&Tobago",
            },
        },
        "Europe": {
            "West": {
                "isles": "England Scotland Ireland",
                "continent": "Germany France Italy Portugal Greece Holand-Netherlands",
            },
            "East": {"eastern": "Poland Hungary Yugoslavia"},
        },
        "Asia": {
            "East Asia": {"eastern coast": "China Taiwan Hong Japan South"},
            "South-East": {"mainland": "Vietnam Cambodia Thailand Laos", "islands": "Philippines"},
            "West Asia": {"western": "India Iran"},
        },
    },
}


def paths(branch: Branch, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Give every leaf with its ancestors, bottom-up."""
    if isinstance(branch, str):
        yield from ((leaf, *above) for leaf in branch.split())
        return
    for name, below in branch.items():
        yield from paths(below, (name, *above))


def even(rows: list[tuple[str, ...]]) -> list[list[str]]:
    """Make all paths equally long: a leaf that hangs high repeats its parent."""
    most = max(map(len, rows))
    return [[row[0], *[row[1]] * (most - len(row)), *row[1:]] for row in rows]


def trees_of(*columns: str) -> dict[str, Hierarchy]:
    return {name: Hierarchy.from_rows(even(list(paths(TREES[name])))) for name in columns}


def hierarchies() -> tuple[Hierarchy | None, ...]:
    return (None, *trees_of(*TREES).values())


def adult() -> Points | None:
    frame = adult_frame()
    if frame is None:
        return None
    age = frame["age"].cast(pl.Float64).to_numpy()
    columns = [(age - age.min()) / np.ptp(age)]
    for name, tree in zip(TREES, hierarchies()[1:], strict=True):
        assert tree is not None
        place = {label: i for i, label in enumerate(tree.labels[0])}
        leaves = np.array([place[value] for value in frame[name]], np.float64)
        columns.append(leaves / (tree.leaves - 1))
    return np.ascontiguousarray(np.stack(columns, axis=1))


def gcp_sum(points: Points, labels: Labels, classes: int) -> float:
    """Sum the penalties of all cells: widths of age, shares of nodes."""
    penalties = np.zeros(classes)
    for column, tree in enumerate(hierarchies()):
        low, high, _ = cutting.class_extremes(points[:, column].copy(), labels, classes)
        if tree is None:
            penalties += high - low
            continue
        ends = (np.rint(end * (tree.leaves - 1)).astype(np.int64) for end in (low, high))
        level, node = tree.lowest_common(*ends)
        starts = np.cumsum([0, *map(len, tree.labels)])
        under = np.concatenate(tree.leaf_counts)[starts[level] + node]
        penalties += np.where(under > 1, under / tree.leaves, 0.0)
    return float((np.bincount(labels, minlength=classes) * penalties).sum())


def compare(points: Points, k: int) -> list[Row]:
    admits = Admission(((KAnonymity(k), None),), rows=len(points))
    methods: Mapping[str, Any] = {
        "mosaic with trees": Mosaic(hierarchies=hierarchies()),
        "mosaic without": Mosaic(),
        "strict Mondrian with trees": Mondrian(hierarchies=hierarchies()),
        "strict Mondrian with trees, middle": Mondrian(hierarchies=hierarchies(), cut="middle"),
        "strict Mondrian without": Mondrian(),
    }
    rows = []
    for name, method in methods.items():
        method(points, admits)
        start = time.process_time()
        partition = method(points, admits)
        seconds = time.process_time() - start
        loss = gcp_sum(points, partition.labels, partition.classes)
        rows.append({"k": k, "method": name, "gcp_sum": loss, "classes": partition.classes, "cpu_s": seconds})
    return [{**row, "to_mondrian": row["gcp_sum"] / rows[-1]["gcp_sum"]} for row in rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    points = adult()
    if points is None:
        parser.exit(1, "MAHREM_DATA names no folder with adult_train.csv\n")
    rows = [row for k in (5, 10, 50) for row in compare(points, k)]
    if options.json:
        print(json.dumps(rows, indent=1))
        return
    for row in rows:
        print(
            "  ".join(
                f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={value}"
                for key, value in row.items()
            )
        )


if __name__ == "__main__":
    main()
