"""Nodes judged by counts against the same nodes judged by their rows."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.arrays import counting
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
    counts_of,
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


@pytest.mark.parametrize("model", [EqualCloseness(0.15), BasicLikeness(0.4), BasicLikeness(1.5)], ids=repr)
@settings(deadline=None, max_examples=30)
@given(st.data())
def test_no_class_that_may_be_shown_in_some_table_is_ruled_out(
    model: PrivacyModel, data: st.DataObject
) -> None:
    """Every choice of classes within the budget is tried: whatever stands in one of them is possible."""
    classes = data.draw(st.integers(2, 7))
    rows = data.draw(
        st.lists(st.tuples(st.integers(0, classes - 1), st.integers(0, 2)), min_size=8, max_size=60)
    )
    labels, codes = np.array(rows, np.int64).T
    labels = np.unique(labels, return_inverse=True)[1]
    counts = counts_of(labels, codes, int(labels.max()) + 1, 3)
    budget = data.draw(st.integers(0, len(rows)))
    allowed = model.allowance()
    assert allowed is not None
    starts = np.append(0, counts.ends)
    compared = counting.ComparedClasses(
        counts.sizes, starts, counts.value, counts.count, counts.shares, 3, *allowed
    )
    every = np.ones(counts.groups, np.bool_)
    possible = counting.possible_classes(compared, every, budget, 1e-6)
    together = counting.stand_together(compared, every, 0)
    for length in range(1, counts.groups + 1):
        for chosen in combinations(range(counts.groups), length):
            inside = np.isin(labels, chosen)
            if len(rows) - inside.sum() > budget:
                continue
            among = np.unique(labels[inside], return_inverse=True)[1]
            if model.holds(counts_of(among, codes[inside], length, 3)).all():
                assert possible[list(chosen)].all()
    if counts.sizes[~together].sum() <= budget:
        assert possible[together].all()


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(0, 200), st.integers(1, 30), st.integers(1, 9))
def test_values_are_counted_in_the_order_of_classes_and_values(
    seed: int, pairs: int, classes: int, values: int
) -> None:
    random = np.random.default_rng(seed)
    keys = random.permutation(classes * (values + 1))[:pairs]  # each class and value at most once
    group, code = np.divmod(keys, values + 1)
    counts, chosen = random.integers(0, 4, len(keys)), random.random(classes) < 0.7
    found = counting.values_by_class(group.astype(np.int32), code.astype(np.uint64), counts, chosen, values)
    wanted = sorted(
        (int(g), int(c) - 1, int(n))
        for g, c, n in zip(group, code, counts, strict=True)
        if c and n and chosen[g]
    )
    assert list(zip(*(part.tolist() for part in found), strict=True)) == wanted
