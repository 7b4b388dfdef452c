"""Losses of nodes that ARX's own tests state for Adult, with its hierarchies.

Figures: github.com/arx-deidentifier/arx, src/test/org/deidentifier/arx/test, TestUtilityMetrics2 and
TestAnonymizationProfitability; groups of values: data/adult_hierarchy_*.csv there. Every node is looked at as
if all rows might be suppressed: theirs are worked out whether a node holds or not.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import mahrem as mh
from mahrem.table import Hierarchy

COLUMNS = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "income"]
GROUPS = {
    "marital-status": {
        "present": "Married-civ-spouse Married-AF-spouse",
        "absent": "Divorced Never-married Separated Widowed Married-spouse-absent",
    },
    "native-country": {
        "North America": "United-States Puerto-Rico Canada Outlying-US(Guam-USVI-etc) Cuba Honduras "
        "Jamaica Mexico Dominican-Republic Haiti Guatemala El-Salvador",
        "Asia": "Cambodia India Japan China Iran Philippines Vietnam Laos Taiwan Thailand Hong",
        "Europa": "England",  # as it is spelled there: a group of its own
        "Europe": "Germany Greece Italy Poland Portugal Ireland France Hungary Scotland Yugoslavia "
        "Holand-Netherlands",
        "Africa": "South",
        "South America": "Ecuador Columbia Nicaragua Trinadad&Tobago Peru",
    },
    "workclass": {
        "private": "Private Self-emp-not-inc Self-emp-inc",
        "state": "Federal-gov Local-gov State-gov",
        "none": "Without-pay Never-worked",
    },
    "occupation": {
        "technical": "Tech-support Craft-repair Prof-specialty Machine-op-inspct",
        "other": "Other-service Adm-clerical Farming-fishing Transport-moving Priv-house-serv "
        "Protective-serv Armed-Forces",
        "not": "Sales Exec-managerial Handlers-cleaners",
    },
    "sex": {"*": "Male Female"},
    "race": {"*": "White Asian-Pac-Islander Amer-Indian-Eskimo Other Black"},
    "income": {"*": "<=50K >50K"},
}
SCHOOLS = {
    "undergraduate/higher": "Bachelors Some-college",
    "high/secondary": "11th HS-grad 9th 7th-8th 12th 10th",
    "professional/higher": "Prof-school Assoc-acdm Assoc-voc",
    "graduate/higher": "Masters Doctorate",
    "primary/primary": "1st-4th 5th-6th Preschool",
}
FIVE: dict[str, Any] = {"k": 5}
CLOSE: dict[str, Any] = {"t": 0.2, "t_kind": "hierarchical", "suppressed": "keep-sensitive"}
DIVERSE: dict[str, Any] = {"l": 5, "l_kind": "recursive", "c": 4.0}
STATED: list[tuple[str, dict[str, Any], dict[str, float]]] = [
    (
        "aecs",
        FIVE,
        {
            "00000000": 29.113899613899616,
            "03100110": 53.76470588235294,
            "12120201": 93.96261682242991,
            "11113221": 1005.4,
            "14103121": 942.5625,
            "00002120": 30.37462235649547,
        },
    ),
    ("aecs", DIVERSE, {"00000000": 62.4472049689441, "01110101": 75.59398496240601, "10113121": 157.09375}),
    (
        "aecs",
        {**FIVE, **CLOSE},
        {
            "00000000": 1774.235294117647,
            "00101001": 701.4418604651163,
            "14020221": 1774.235294117647,
            "01000201": 1206.48,
            "11101011": 569.0943396226415,
            "12023200": 1508.1,
            "04021210": 2742.0,
        },
    ),
    ("aecs", CLOSE, {"12110111": 887.1176470588235, "01023021": 914.0, "04112221": 7540.5}),
    (
        "nu-entropy",
        FIVE,
        {
            "00000000": 268778.22471939825,
            "01010211": 199996.96695661292,
            "02122000": 253206.5135958653,
            "01010101": 206871.187629197,
        },
    ),
    (
        "nu-entropy",
        DIVERSE,
        {"00000000": 335625.27531107684, "01023101": 280220.9832036824, "04011120": 305046.81978387875},
    ),
    ("nu-entropy", CLOSE, {"00110120": 427484.87811209384}),
    ("nu-entropy*", FIVE, {"02102221": 267294.8596833069, "14101121": 338257.19469914096}),
    ("dm", FIVE, {"00000000": 463536157, "00103200": 110335369, "12022100": 55896618}),
    ("dm", {**FIVE, **CLOSE}, {"13010100": 667520294, "04120020": 637878686}),
    ("dm*", DIVERSE, {"00000000": 485542, "02011020": 11562268, "14002200": 45032754}),
    (
        "precision",
        DIVERSE,
        {"00000000": 0.6652741860619322, "01110001": 0.566024716530734, "04001120": 0.4203302168291227},
    ),
    ("precision*", FIVE, {"04111101": 0.5416666666666667, "13101220": 0.6354166666666667}),
    ("height", FIVE, {"04111101": 9, "14123221": 16}),
    (
        "loss",  # theirs lists columns, to ten places: added up here
        FIVE,
        {
            "00000000": 8 * 0.5090179696,
            "03111100": 1 + 0.454827266 + 0.3009233472 + 0.2220594647 + 0.221488407 + 3 * 0.0372985876,
            "14101221": 6 + 0.1899012001 + 6.63086e-5,
            "03023221": 5 + 0.1924014362 + 2 * 5.967774e-4,
        },
    ),
]


def tree(column: str) -> Hierarchy:
    if column == "age":
        ages = [[str(age), *(str((age - 1) // wide) for wide in (5, 10, 20)), "*"] for age in range(1, 101)]
        return Hierarchy.from_rows(ages)
    if column == "education":
        schools = [[value, *name.split("/"), "*"] for name, held in SCHOOLS.items() for value in held.split()]
        return Hierarchy.from_rows(schools)
    rows = [[value, group] for group, held in GROUPS[column].items() for value in held.split()]
    return Hierarchy.from_rows([row if row[-1] == "*" else [*row, "*"] for row in rows])


@pytest.fixture(scope="module")
def adults(benchmark_data: Path) -> pl.DataFrame:
    raw = pl.read_csv(benchmark_data / "adult_train.csv", infer_schema=False)
    whole = raw.filter(~pl.any_horizontal(pl.all().str.strip_chars() == "?"))
    assert whole.height == 30162
    return whole.select(*COLUMNS, "occupation").with_columns(pl.all().str.strip_chars())


def opened(adults: pl.DataFrame, loss: str, promise: dict[str, Any], limit: float = 1.0) -> Any:
    about = {"sensitive": "occupation"} if "l" in promise or "t" in promise else {}
    columns = [*COLUMNS, *(["occupation"] if "t" in promise else [])]
    return mh.lattice(
        adults,
        quasi=COLUMNS,
        hierarchy={column: tree(column) for column in columns},
        suppression_limit=limit,
        options={"loss": loss, **({"aggregate": "sum"} if loss == "loss" else {})},
        rest="drop",
        accept={"*": "public"},
        **promise,
        **about,
    )


@pytest.mark.parametrize(
    ("loss", "promise", "stated"), STATED, ids=lambda said: said if isinstance(said, str) else ""
)
def test_nodes_lose_what_arx_says(
    loss: str, promise: dict[str, Any], stated: dict[str, float], adults: pl.DataFrame
) -> None:
    found = opened(adults, loss, promise)
    for levels, figure in stated.items():
        lost = found.node([int(level) for level in levels]).loss
        assert lost == pytest.approx(figure, rel=1e-9, abs=2e-9 if loss == "loss" else 0), levels


def test_rows_as_they_are_pay_where_arx_says_so(adults: pl.DataFrame) -> None:
    promise = {"profitability": (1200, 300, 1200, 2)}
    best = opened(adults, "nu-entropy", promise, limit=0.0).best()
    assert (best.height, best.loss) == (0, 0)


@pytest.mark.parametrize(
    ("promise", "levels", "figure"),
    [
        ({**FIVE, **CLOSE}, "14103221", 4308.857142857143),
        ({**FIVE, **CLOSE}, "14122121", 3770.25),
        (CLOSE, "04122221", 7540.5),
    ],
)
def test_where_arx_shows_more_it_asks_nothing_of_suppressed_rows(
    promise: dict[str, Any], levels: str, figure: float, adults: pl.DataFrame
) -> None:
    """Suppressed rows keep their sensitive values: as a class they break t, so that others must join them."""
    found = opened(adults, "aecs", promise)
    search, node = found._search, tuple(map(int, levels))
    grouped = search.lattice.classes(node)
    labels = search.lattice.labels(grouped)
    broken = np.zeros(len(grouped.sizes), np.bool_)
    for each in found._prepared.promises:
        broken |= found._broken(each, labels, grouped)
    refused = int(grouped.sizes[broken].sum())
    assert search.lattice.rows / (np.count_nonzero(~broken) + 1) == pytest.approx(figure, rel=1e-9)
    rest = np.where(broken, 0, -1)[labels]  # all suppressed rows as one class
    alone = replace(grouped, sizes=np.array([refused]))
    assert any(found._broken(each, rest, alone).any() for each in found._prepared.promises)
    verdict = found.node(node)
    assert verdict.holds
    assert verdict.suppressed > refused
