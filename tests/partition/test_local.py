"""Local recoding: what a full-domain method would suppress is lifted by itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import Infeasible
from mahrem.models import DistinctDiversity, EntropyDiversity, EqualCloseness, KAnonymity, PrivacyModel
from mahrem.partition import Flash, LocalRecoding, Partition
from slow_lattice import SlowSearch, Table, tables

models = st.sampled_from(
    [
        (KAnonymity(2),),
        (KAnonymity(4),),
        (KAnonymity(2), DistinctDiversity(2)),
        (KAnonymity(1), EntropyDiversity(1.6)),
        (KAnonymity(2), EqualCloseness(0.4)),
    ]
)


def slow_lost(table: Table, partition: Partition) -> float:
    """Cells by the lowest node over a class, in plain Python."""
    lost = float((partition.labels < 0).sum() * len(table.trees))
    for label in range(partition.classes):
        rows = np.flatnonzero(partition.labels == label)
        for column, tree in enumerate(table.trees):
            leaves = set(table.leaves[rows, column].tolist())
            if leaves == {-1}:
                continue
            level = next(
                (
                    each
                    for each in range(tree.levels)
                    if -1 not in leaves and len({int(tree.nodes[each, leaf]) for leaf in leaves}) == 1
                ),
                tree.levels - 1,
            )
            under = int((tree.nodes[level] == tree.nodes[level, max(leaves)]).sum())
            share = 1.0 if level == tree.levels - 1 else under / tree.leaves if under > 1 else 0.0
            lost += share * len(rows)
    return lost


@settings(deadline=None, max_examples=80)
@given(tables(), models, st.sampled_from([0.0, 0.1, 0.3, 0.6]))
def test_classes_stand_few_are_suppressed_and_no_more_is_lost(
    table: Table, said: tuple[PrivacyModel, ...], limit: float
) -> None:
    method = Flash(hierarchies=table.trees, suppression_limit=limit)
    admits = table.admits(*said)
    try:
        alone = method(table.points, admits)
    except Infeasible:
        with pytest.raises(Infeasible):
            LocalRecoding(method)(table.points, admits)
        return
    found = LocalRecoding(method)(table.points, admits)
    labels = found.labels
    assert (labels < 0).sum() <= limit * len(labels) + 1e-9
    assert set(labels[labels >= 0].tolist()) == set(range(found.classes))
    classes = [np.flatnonzero(labels == label).tolist() for label in range(found.classes)]
    assert SlowSearch(table, said).left(classes) == classes
    assert slow_lost(table, found) <= slow_lost(table, alone) + 1e-9
