"""Silos that read the tables of ``odd_neighbours``: as clients of a federation with noise read them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from mahrem.dp import Facts, public_cells
from mahrem.federated import LearningPlan, Protections, SharedSchema
from mahrem.federated.rules import RulesPlan, RulesSchema
from mahrem.federated.runs import ClientSettings, RulesTask, TableOwner, WeightsTask
from mahrem.federated.weights import TrainingSilo
from mahrem.learning.classifiers import DeclaredNumbers, DeclaredWords
from mahrem.table import Reading, read_declarations
from odd_neighbours import COLUMNS, DAYS, OddPair

WARD = DeclaredWords(values=("1", "2", "3"))
AGREED: dict[str, DeclaredNumbers | DeclaredWords] = {
    "ward": WARD,
    "cost": DeclaredNumbers(lower=0, upper=1000),
    "stay": DeclaredNumbers(lower=0, upper=30),
    "admitted": DeclaredWords(values=DAYS),
    "group": DeclaredWords(values=("a", "b", "it's")),
}
SCHEMAS = {
    "words": SharedSchema(columns=AGREED, target="smoker", classes=("false", "true")),
    "numbers": SharedSchema(
        columns={name: column for name, column in AGREED.items() if name != "ward"},
        target="ward",
        classes=WARD.values,
    ),
}
BY_ROW = Protections(clip=0.5, noise=1.0, unit="row", rows=40)
BY_CLIENT = Protections(clip=0.5, noise=1.0)
PLAN = LearningPlan(model="logistic", sum="plain", batch=8, rounds=1, least_clients=1, protections=BY_ROW)
Rows = Counter[tuple[object, ...]]


def silo(source: object, schema: SharedSchema, plan: LearningPlan = PLAN, **settings: object) -> TrainingSilo:
    """Join a federation as a client does, and give its silo."""
    owner = TableOwner(name="a", source=source)
    client, _ = WeightsTask(schema, plan).join(owner, ClientSettings(**settings))  # type: ignore[arg-type]
    assert isinstance(client, TrainingSilo)
    return client


def encoded(source: object, schema: SharedSchema) -> Rows:
    rows, labels, _ = silo(source, schema).ready
    assert np.isfinite(rows).all()
    return Counter(map(tuple, np.column_stack([rows, labels]).tolist()))


def rule_rows(source: object) -> Rows:
    """Give the rows behind the rules of a client that adds noise to their counts."""
    schema = RulesSchema(
        columns=("ward", "cost", "stay", "group"), target="smoker", bins={"cost": (12, 99), "stay": (7,)}
    )
    task = RulesTask(schema, RulesPlan(how="one-shot", sum="plain"))
    task.join(TableOwner(name="a", source=source), ClientSettings(epsilon=1.0))
    return Counter(task.read_cells(source, Reading(by_cell=True)).rows())


def training_rows(source: object) -> Rows:
    """Give the rows of a private training, as numbers."""
    facts = Facts(columns=read_declarations(COLUMNS))
    cells = public_cells(source, facts, list(COLUMNS))
    return Counter(map(tuple, np.nan_to_num(np.column_stack(list(cells.values())), nan=-9).tolist()))


def refuse_more_than_one(both: list[Rows], pair: OddPair) -> None:
    """Refuse rows that differ in more than the one record."""
    first, second = both
    gone, come = (first - second).total(), (second - first).total()
    assert come <= 1, pair.what
    assert gone <= (pair.relation == "replace"), pair.what


READINGS: Mapping[str, Callable[[object], Rows]] = {
    "weights of a silo": partial(encoded, schema=SCHEMAS["words"]),
    "classes of a silo": partial(encoded, schema=SCHEMAS["numbers"]),
    "rules of a silo": rule_rows,
    "rows of a training": training_rows,
}
