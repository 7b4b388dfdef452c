"""Nodes judged by counts against the same nodes judged by their rows."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.models import (
    BasicLikeness,
    DeltaDisclosure,
    EnhancedLikeness,
    EntropyDiversity,
    EqualCloseness,
    HierarchicalCloseness,
    KAnonymity,
    KLCloseness,
    OrderedCloseness,
    PrivacyModel,
)
from mahrem.partition import Admission
from mahrem.partition.judging._standing import admitted_classes, standing_classes
from mahrem.partition.lattice._lattice import lattice_of
from mahrem.partition.lattice._lattice_judge import NodeJudge
from mahrem.table import Values
from slow_lattice import Table, tables

TREE = np.array([[0, 1, 2], [0, 0, 1], [0, 0, 0]])
models = st.sampled_from(
    [
        (EqualCloseness(0.3),),
        (OrderedCloseness(0.2),),
        (HierarchicalCloseness(0.2),),
        (KLCloseness(0.3),),
        (BasicLikeness(0.5),),
        (EnhancedLikeness(0.8),),
        (DeltaDisclosure(0.9),),
        (EntropyDiversity(1.6),),
        (KAnonymity(2), EqualCloseness(0.3), BasicLikeness(1.0)),
    ]
)


@settings(deadline=None, max_examples=100)
@given(
    tables(),
    models,
    st.integers(0, 12),
    st.booleans(),
    st.booleans(),
    st.data(),
)
def test_counts_show_what_rows_show(
    table: Table,
    said: tuple[PrivacyModel, ...],
    budget: int,
    missing: bool,  # noqa: FBT001
    tree: bool,  # noqa: FBT001
    data: st.DataObject,
) -> None:
    needs_tree = any(isinstance(model, HierarchicalCloseness) for model in said)
    values = Values(
        "disease",
        table.disease.astype(np.int32),
        3,
        ancestors=TREE if tree or needs_tree else None,
        missing=missing,
    )
    promises = tuple((model, None if isinstance(model, KAnonymity) else values) for model in said)
    admits = Admission(promises, rows=len(table.leaves))
    lattice = lattice_of(table.points, table.trees)
    node = tuple(data.draw(st.integers(0, each.levels - 1)) for each in table.trees)
    grouped = lattice.classes(node)
    large = grouped.sizes >= admits.minimum
    relative = budget > 0 and admits.relative
    most = 4 * budget if relative else None
    judge = NodeJudge.of(lattice, admits, budget=budget, relative=relative, most=most)
    assert judge is not None
    found = judge.shown(grouped, large)
    labels = lattice.labels(grouped)
    if relative:
        wanted = standing_classes(labels, grouped.sizes, large, admits, most=most)
    else:
        wanted = admitted_classes(labels, large, admits)
    too_many = grouped.sizes[~wanted].sum() > budget
    if not relative or not too_many:
        assert np.array_equal(found, wanted)
    else:
        assert grouped.sizes[~found].sum() > budget, "a node that fails by rows fails by counts"
