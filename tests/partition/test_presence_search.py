"""Full-domain search beside a population, and with suppressed rows that keep sensitive values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import Infeasible
from mahrem.models import (
    BasicLikeness,
    DeltaPresence,
    DistinctDiversity,
    EqualCloseness,
    KAnonymity,
    PrivacyModel,
    ShownPresence,
)
from mahrem.models.populations import PopulationKMap
from mahrem.partition import METHODS, Levels, Partition, build_method
from mahrem.partition.lattice import OBJECTIVES
from mahrem.table import Hierarchy
from slow_lattice import SlowSearch, Table, tables

OPTIMAL = ("incognito", "ola", "flash", "mingen")
FULL_DOMAIN = [name for name, method in METHODS.items() if method.full_domain]
limits = st.sampled_from([0.0, 0.1, 0.3, 0.6, 1.0])
losses = st.sampled_from([name for name in OBJECTIVES if not OBJECTIVES[name].needs])
presences = st.sampled_from(
    [
        (KAnonymity(1), DeltaPresence(0, 0.5)),
        (KAnonymity(2), DeltaPresence(0, 0.7)),
        (DeltaPresence(0.2, 0.8),),
        (DeltaPresence(0.4, 0.6), KAnonymity(2)),
        (ShownPresence(0.3, 0.7),),
        (KAnonymity(2), ShownPresence(0.2, 0.6)),
        (KAnonymity(1), EqualCloseness(0.4), DeltaPresence(0.1, 0.7)),
        (PopulationKMap(4),),
        (KAnonymity(2), PopulationKMap(7)),
    ]
)
closeness = st.sampled_from(
    [
        (KAnonymity(2), EqualCloseness(0.3)),
        (KAnonymity(1), BasicLikeness(0.8)),
        (KAnonymity(2), DistinctDiversity(2)),
        (KAnonymity(3),),
    ]
)


def loss_of(
    name: str, table: Table, said: tuple[PrivacyModel, ...], limit: float, loss: str, *, keeps: bool = False
) -> float:
    method = build_method(name, hierarchies=table.trees, suppression_limit=limit, options={"loss": loss})
    try:
        how = method(table.points, table.admits(*said, keeps_sensitive=keeps)).how
    except Infeasible:
        return math.inf
    assert isinstance(how, Levels)
    return how.loss


@settings(deadline=None, max_examples=80)
@given(tables(population=True), presences, limits, losses)
def test_beside_a_population_the_loss_of_the_table_is_the_least_there_is(
    table: Table, said: tuple[PrivacyModel, ...], limit: float, loss: str
) -> None:
    wanted = SlowSearch(table, said, limit, loss).best()
    found = [loss_of(name, table, said, limit, loss) for name in OPTIMAL]
    assert found == pytest.approx([wanted] * len(OPTIMAL))


@settings(deadline=None, max_examples=60)
@given(tables(), closeness, limits, losses)
def test_where_suppressed_rows_keep_values_the_least_loss_is_found(
    table: Table, said: tuple[PrivacyModel, ...], limit: float, loss: str
) -> None:
    wanted = SlowSearch(table, said, limit, loss, keeps=True).best()
    found = [loss_of(name, table, said, limit, loss, keeps=True) for name in OPTIMAL]
    assert found == pytest.approx([wanted] * len(OPTIMAL))


@settings(deadline=None, max_examples=80)
@given(tables(population=True), presences, limits, st.sampled_from(FULL_DOMAIN))
def test_shown_classes_and_the_rest_keep_presence(
    table: Table, said: tuple[PrivacyModel, ...], limit: float, name: str
) -> None:
    try:
        found = build_method(name, hierarchies=table.trees, suppression_limit=limit)(
            table.points, table.admits(*said)
        )
    except Infeasible:
        return
    check_presence(table, found, said, limit)


def check_presence(table: Table, found: Partition, said: tuple[PrivacyModel, ...], limit: float) -> None:
    labels, inside = found.labels, table.inside
    assert (labels[inside] < 0).sum() <= limit * inside.sum() + 1e-9
    model = next(model for model in said if model.of_members)
    if isinstance(model, PopulationKMap):
        for label in np.unique(labels):
            assert (labels == label).sum() >= model.k or not inside[labels == label].any()
        return
    assert isinstance(model, DeltaPresence)
    for label in range(found.classes):
        assert model.low <= inside[labels == label].mean() <= model.high
        assert inside[labels == label].any()  # nothing else is a class of the table
    if (labels < 0).any():
        share = inside[labels < 0].mean()
        assert share <= model.high
        assert isinstance(model, ShownPresence) or share >= model.low


@settings(deadline=None, max_examples=40)
@given(tables(), closeness, limits, st.sampled_from(FULL_DOMAIN))
def test_suppressed_rows_that_keep_values_are_a_class_that_stands(
    table: Table, said: tuple[PrivacyModel, ...], limit: float, name: str
) -> None:
    method = build_method(name, hierarchies=table.trees, suppression_limit=limit)
    try:
        labels = method(table.points, table.admits(*said, keeps_sensitive=True)).labels
    except Infeasible:
        return
    classes = [np.flatnonzero(labels == label).tolist() for label in np.unique(labels)]
    assert all(SlowSearch(table, said).stands(classes, classes))


FOUR = Hierarchy.from_rows([["a", "x"], ["b", "x"], ["c", "y"], ["d", "y"]])


@pytest.mark.parametrize("name", FULL_DOMAIN)
def test_the_population_is_in_no_loss(name: str) -> None:
    """Many people beside the table have one value: counted, they would make the second column dear."""
    leaves = np.array([[0, 0], [1, 0], [2, 0], [3, 0], *[[0, 1]] * 20, *[[1, 1]] * 20])
    members = np.arange(len(leaves)) < 4
    table = Table((FOUR, FOUR), leaves, np.zeros(len(leaves), np.int64), members)
    said = (KAnonymity(2), DeltaPresence(0, 1))
    found = build_method(name, hierarchies=table.trees, options={"loss": "dm"})(
        table.points, table.admits(*said)
    )
    assert isinstance(found.how, Levels)
    assert found.how.loss == sum((found.labels[:4] == label).sum() ** 2 for label in range(found.classes))
    assert found.classes == len(set(found.labels[:4].tolist()))


def test_people_nobody_may_know_to_be_absent_refuse_a_node() -> None:
    leaves = np.array([[0], [0], [0], [0], [2], [2]])
    table = Table((FOUR,), leaves, np.zeros(6, np.int64), np.array([True, True, False, False, False, False]))
    strict = build_method("flash", hierarchies=table.trees)(
        table.points, table.admits(DeltaPresence(0.3, 0.6))
    )
    assert strict.how is not None
    assert strict.how.levels == (2,)
    loose = build_method("flash", hierarchies=table.trees)(
        table.points, table.admits(ShownPresence(0.3, 0.6))
    )
    assert loose.how is not None
    assert loose.how.levels == (0,)
    assert loose.labels.tolist() == [0, 0, 0, 0, -1, -1]


def test_a_good_class_is_given_up_so_that_the_suppressed_are_not_all_present() -> None:
    """Both people of the value d are in the table: suppressed alone, everybody would know that they are."""
    leaves = np.array([[0]] * 20 + [[1]] * 8 + [[3]] * 2)
    members = np.array(([True] * 5 + [False] * 15) + ([True] * 2 + [False] * 6) + [True] * 2)
    table = Table((FOUR,), leaves, np.zeros(len(leaves), np.int64), members)
    method = build_method("mingen", hierarchies=table.trees, suppression_limit=0.5)
    found = method(table.points, table.admits(DeltaPresence(0, 0.45)))
    assert found.how is not None
    assert found.how.levels == (0,)
    assert found.labels.tolist() == [0] * 20 + [-1] * 10  # 4 of 10


def test_a_refused_class_comes_back_when_the_table_has_changed() -> None:
    """The value of class c keeps b too far from the table; without c, b is close to what is shown."""
    leaves = np.repeat([0, 1, 2], [20, 8, 8])[:, None]
    disease = np.array([0, 1] * 10 + [0, 0, 0, 1] * 2 + [2] * 8)
    table = Table((FOUR,), leaves, disease)
    method = build_method("mingen", hierarchies=table.trees, suppression_limit=0.5)
    found = method(table.points, table.admits(KAnonymity(2), EqualCloseness(0.3)))
    assert found.labels.tolist() == [0] * 20 + [1] * 8 + [-1] * 8
