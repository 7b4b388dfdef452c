"""People with several rows: a promise holds however one of their values is chosen for each of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mahrem.errors import InvalidParameter
from mahrem.models import (
    MODELS,
    AlphaK,
    BasicLikeness,
    Counts,
    DeltaDisclosure,
    DistinctDiversity,
    EnhancedLikeness,
    EntropyDiversity,
    EqualCloseness,
    GrassbergerDiversity,
    HierarchicalCloseness,
    KAnonymity,
    KLCloseness,
    OrderedCloseness,
    PrivacyModel,
    RecursiveDiversity,
    TrajectoryAnonymity,
    counts_of,
    people_counts,
)
from mahrem.models.people import PeopleHoldings, holdings_of

VALUES = 4
TREE = np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]])
EVERY: list[PrivacyModel] = [
    KAnonymity(2),
    DistinctDiversity(2),
    EntropyDiversity(1.5),
    GrassbergerDiversity(1.5),
    RecursiveDiversity(2.0, 2),
    RecursiveDiversity(2.0, 3),
    AlphaK(0.6, 2),
    EqualCloseness(0.3),
    OrderedCloseness(0.3),
    HierarchicalCloseness(0.3),
    KLCloseness(0.3),
    BasicLikeness(1.0),
    EnhancedLikeness(1.0),
    DeltaDisclosure(1.0),
]
EXACT = (AlphaK, BasicLikeness, EnhancedLikeness, DeltaDisclosure)  # a level that some choice reaches

Row = tuple[int, int, int]  # class, person, value
rows_of_people = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 3), st.integers(0, VALUES - 1)), min_size=1, max_size=7
)


def counted(rows: list[Row]) -> Counts:
    labels, people, codes = (np.array(column) for column in zip(*rows, strict=True))
    held = holdings_of(labels, people, codes, 2, VALUES)
    table = holdings_of(np.zeros_like(labels), people, codes, 1, VALUES)
    sizes = [len({person for group, person, _ in rows if group == which}) for which in range(2)]
    return people_counts(PeopleHoldings(held, table), np.array(sizes), TREE)


def chosen(rows: list[Row], which: int) -> Iterator[Counts]:
    """Choose one value for every person of a class, and one for every person of the table: slow, obvious."""
    of_class: dict[int, set[int]] = {}
    of_table: dict[int, set[int]] = {}
    for group, person, value in rows:
        of_table.setdefault(person, set()).add(value)
        if group == which:
            of_class.setdefault(person, set()).add(value)
    for here in itertools.product(*of_class.values()):
        counts = counts_of(np.zeros(len(here), np.int64), np.array(here, np.int64), 1, VALUES, TREE)
        for everywhere in itertools.product(*of_table.values()):
            shown = np.bincount(everywhere, minlength=VALUES)
            yield Counts(
                counts.sizes, counts.group, counts.value, counts.count, shown / shown.sum(), counts.ancestors
            )


def test_every_model_of_a_column_is_tried() -> None:
    about = [entry.load() for entry in MODELS.values() if not entry.fraction]
    others = [model for model in about if model.of_table or model.of_members or model.of_cells]
    assert {*about} - {*others} - {type(model) for model in EVERY} == {TrajectoryAnonymity}


@pytest.mark.parametrize("model", EVERY, ids=repr)
@given(rows=rows_of_people)
@example(rows=[(0, 0, 0), (0, 1, 0), (0, 2, 1), (0, 3, 0), (0, 3, 1)])  # odd counts, or even ones
def test_no_choice_of_values_is_worse_than_the_level(model: PrivacyModel, rows: list[Row]) -> None:
    counts = counted(rows)
    levels, holds = model.level(counts), model.holds(counts)
    for which in {group for group, _, _ in rows}:
        choices = list(chosen(rows, which))
        found = np.array([model.level(choice)[0] for choice in choices])
        worst = found.min() if model.rising else found.max()
        assert (levels[which] <= worst + 1e-9) if model.rising else (levels[which] >= worst - 1e-9)
        if holds[which]:
            assert all(model.holds(choice)[0] for choice in choices)
        if isinstance(model, EXACT):
            assert levels[which] == pytest.approx(worst)


@pytest.mark.parametrize("model", EVERY, ids=repr)
@given(rows=rows_of_people)
def test_one_row_for_each_person_counts_as_rows_do(model: PrivacyModel, rows: list[Row]) -> None:
    alone = [(group, number, value) for number, (group, _, value) in enumerate(rows)]
    labels, _, codes = (np.array(column) for column in zip(*alone, strict=True))
    plain = counts_of(labels, codes, 2, VALUES, TREE)
    assert model.level(counted(alone)) == pytest.approx(model.level(plain))
    assert model.holds(counted(alone)).tolist() == model.holds(plain).tolist()


@pytest.mark.parametrize("model", EVERY, ids=repr)
@given(rows=rows_of_people, which=st.integers(0, 6), value=st.integers(0, VALUES - 1))
def test_a_row_more_of_a_person_in_their_class_never_helps(
    model: PrivacyModel, rows: list[Row], which: int, value: int
) -> None:
    group, person, own = rows[which % len(rows)]
    as_was, again, more = (
        counted([*rows, *row]) for row in ([], [(group, person, own)], [(group, person, value)])
    )
    before, after = model.level(as_was), model.level(more)
    assert model.level(again) == pytest.approx(before)
    assert (after <= before + 1e-9).all() if model.rising else (after >= before - 1e-9).all()
    assert not (model.holds(more) & ~model.holds(as_was)).any()


def test_one_more_row_of_one_person_makes_nothing_diverse() -> None:
    hiv, flu = 0, 1
    everybody_has_it = [(0, person, hiv) for person in range(4)]
    padded = [*everybody_has_it, (0, 3, flu), (1, 9, flu), (1, 10, hiv)]
    counts = counted(padded)
    assert DistinctDiversity(2).level(counts).tolist() == [1.0, 2.0]
    assert AlphaK(0.9, 2).level(counts)[0] == 1.0
    assert np.isinf(DeltaDisclosure(5.0).level(counts)[0])  # nobody shows flu alone there
    assert counts.sizes.tolist() == [4, 2]


def test_values_are_counted_until_everybody_is_covered() -> None:
    # five people; the two commonest values are shown by three and two of them: two values may be all there is
    rows = [(0, 0, 0), (0, 1, 0), (0, 2, 0), (0, 3, 1), (0, 4, 1), (0, 4, 2), (0, 3, 3)]
    counts = counted(rows)
    assert DistinctDiversity(2).level(counts)[0] == 2.0
    assert counts.count.tolist() == [3, 2]


def test_people_must_be_as_many_as_rows() -> None:
    two = np.zeros(2, np.int64)
    with pytest.raises(InvalidParameter, match="as many"):
        holdings_of(two, np.zeros(1, np.int64), two, 1, 1)
    with pytest.raises(InvalidParameter, match="above every"):
        holdings_of(two, two, two, 1, 0)
