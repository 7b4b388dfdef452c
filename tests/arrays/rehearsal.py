"""Every kernel called once or more on tiny arrays, through the functions that call it in the house."""

from __future__ import annotations

import numpy as np
import polars as pl

from mahrem.arrays.averaging import (
    INNER,
    Balls,
    Vantage,
    extended_groups,
    groups_from_centres,
    groups_from_labels,
    grow_balls,
    improve,
    lloyd,
    mdav_groups,
    mdav_plus_groups,
    polish,
    spread_centres,
    squared_error,
)
from mahrem.arrays.counting import (
    ComparedClasses,
    Heights,
    Lift,
    Tables,
    add_cells,
    add_within_budgets,
    cell_penalties,
    class_figures,
    count_cells,
    count_tables,
    nearest_finer,
    number_different,
    number_equal,
    possible_classes,
    redraw_cells,
    regroup,
    round_weights,
    stand_together,
    sweep_tables,
    values_by_class,
)
from mahrem.arrays.cutting import (
    SIDES,
    Asked,
    CutTree,
    Forest,
    Rounds,
    Tally,
    branch_out,
    class_extremes,
    descend,
    group_nearest,
    grow,
    join_least,
    merge_refused,
    tally,
    triplets,
)
from mahrem.arrays.growing import (
    RANGE,
    SET,
    SURPLUS,
    TREE,
    CellCosts,
    Promises,
    Thoroughness,
    class_costs,
    grow_under_promises,
    repair_round,
)
from mahrem.arrays.mining import (
    apriori_sets,
    count_sets,
    cover_first,
    cover_marked,
    eclat_sets,
    fp_growth_sets,
    outdone_sets,
    pack_bits,
)
from mahrem.arrays.sketching import LeastTexts, RecordHashes, hash_texts, hashes_and_shapes, shuffled
from mahrem.arrays.tiling import (
    Effort,
    lay_mosaic,
    local_outlier_factors,
    merge_in_tiles,
    normals_first,
    plant,
    rows_by_label,
    swap_rows,
)
from mahrem.arrays.weaving import Strand, unravel, unravel_all, weave
from mahrem.types import Points


def rehearse() -> None:
    shuffled(3)
    read_only = np.frombuffer(bytes(16), np.uint8)  # as texts are handed over
    hash_texts(read_only, np.array([0, 16]), read_only.view(np.uint64))
    least = LeastTexts(overall=9000, each=1)  # more than there are slots at first
    least.add(*hashes_and_shapes(pl.Series(["a 1", "b@c", None, *map(str, range(9000))])))
    least.chosen()
    content = np.frombuffer('"a, ""b""",1\n,Straße\r\n'.encode(), np.uint8)
    records = RecordHashes(content, ord(","), 2)
    assert sum(len(block.begins) for block in records.blocks(0, len(content))) == 2
    assert records.count(0, len(content)) == 2
    for content in (read_only, read_only.copy()):
        weave([Strand(content, np.array([0, 16]), np.zeros(2, np.int64))])
        (cells,) = unravel(np.frombuffer(b'"a,""b",1\n,2\n', np.uint8), 0, ord(","), [0], 2) or ()
        cells.texts()
        unravel_all(np.frombuffer(b"1,flu\n2,flu\n", np.uint8), 0, ord(","), 2)
    words = np.array([7, 9, 7, 7, 7, 9, 9, 9], np.uint64)
    for writeable in (True, False):
        words.flags.writeable = writeable
        number_different(words)
    points = np.arange(24.0).reshape(12, 2)
    rows = np.arange(12, dtype=np.int32)
    columns = (rows % 3, (rows % 3).astype(np.int8))
    for writeable in (True, False):  # data frames hand out arrays that may only be read: another signature
        for array in (points, *columns):
            array.flags.writeable = writeable
        for strict in (True, False):
            split = grow(points, 2, strict=strict)
            with Rounds(points, 2, strict=strict) as rounds:
                while len((proposed := rounds.propose())[0]):
                    rounds.decide(np.ones(len(proposed[1]) - 1, np.bool_))
                rounds.result()
        class_extremes(points[:, 0].copy(), split.labels, split.classes)
        class_extremes(points.ravel()[:12], split.labels, split.classes)
        for codes in columns:
            triplets(codes, rows, np.array([0, 6, 12]), 3)
        _outliers(points)
        _balls(points)
    _trees()
    _cells()
    _rules()
    _lattice()
    _trees_of_cuts(np.array(points))
    _microaggregation(np.array(points))
    _mosaic(np.array(points))
    _population()
    _repair(np.array(points))


def _trees() -> None:
    two, shares = np.array([2]), np.array([0.0, 0.0, 1.0, 1.0])
    branches = branch_out(Forest(np.array([0]), two, two.copy(), np.array([0, 1, 0, 0]), shares))
    grow(np.array([[0.0], [0.0], [1.0], [1.0]]), 2, branches=branches)


def _population() -> None:
    values, sizes = np.zeros((2, 4), np.uint8), np.array([2, 2])
    tables = Tables(np.array([[0, 1]]), np.array([[2, 1]]), np.array([0, 4]))
    redraw_cells(values, sizes, tables, np.zeros(4), np.arange(2), np.full((2, 4), 0.6))
    weights, known = np.ones(4), Heights(np.ones(4), np.ones(4), np.zeros(4), np.ones(1))
    count_tables(values, weights, tables, np.zeros(4))
    sweep_tables(values, weights, tables, known, np.zeros(1, np.int64), 0.5, 1.0)
    rows, times = np.zeros((4, 2), np.int64), np.zeros(4, np.int64)
    round_weights(rows, np.full(4, 0.5), tables, np.arange(4), np.zeros(4), times)


def _cells() -> None:
    bins, cell = np.zeros((2, 1), np.uint8), np.zeros((1, 64), np.int64)
    add_cells(bins, cell, np.array([0, -1]), np.ones((2, 2)), np.ones(2), np.zeros((1, 4)))
    count_cells(bins, cell, np.zeros(2, np.int64))


def _rules() -> None:
    codes, target = np.array([[0, 2], [1, 2], [0, 3]], np.int32), np.array([0, 1, 0])
    places = np.array([0, 0, 1, 1], np.int32)
    table = pack_bits(codes, 4, target, 2)
    sets, counts = eclat_sets(table, places, 1, 2)
    apriori_sets(table, places, 1, 2)
    fp_growth_sets(codes, target, table, 1, 2)
    count_sets(table, sets)
    right = counts.argmax(axis=1).astype(np.int32)
    outdone_sets(sets, right, np.arange(len(sets)), 2)
    cover_first(table, sets, right)
    cover_marked(table, sets, right)


def _lattice() -> None:
    keys, counts, word = np.arange(6, dtype=np.uint64)[:, None], np.ones(6, np.int64), np.zeros(1, np.int64)
    first = word.astype(np.uint64)
    lift = Lift(word, first, first + np.uint64(7), first, np.zeros(8, np.uint64))
    keys, counts, _ = regroup(keys, counts, lift)
    chosen = counts > 1
    cell_penalties(keys, counts, chosen, lift, np.zeros(8))
    class_figures(counts, chosen)
    nearest_finer(np.zeros((1, 1), np.int64), counts[:1].copy(), 1, word)
    two, starts = np.arange(2), np.arange(3)
    compared = ComparedClasses(two + 1, starts, two, two + 1, np.ones(2), 2, 0.4, 1.0)
    stand_together(compared, np.ones(2, np.bool_), 0)
    possible_classes(compared, np.ones(2, np.bool_), 1, 1e-6)
    values_by_class(two.astype(np.int32), two.astype(np.uint64), two + 1, np.ones(2, np.bool_), 2)
    rows = np.arange(3, dtype=np.int32)
    number_equal(np.zeros((3, 2), np.int32), rows, np.ones(2, np.bool_), np.zeros(3, np.int64))


def _outliers(points: Points) -> None:
    labels = np.repeat(np.arange(4), 3)
    labels[-1] = -1
    rows, offsets = rows_by_label(labels, 4)
    local_outlier_factors(points, rows, offsets, 2)
    normals_first(points, rows, offsets, 2, rule=0, neighbours=1)
    low, high = np.zeros((2, 4, 2))
    join_least(points, np.array([11], np.int32), low, high, labels)
    four, one_tile = np.arange(4), (np.zeros(4, np.int64), *rows_by_label(np.zeros(4, np.int64), 1))
    refused, sizes = np.ones(4, np.bool_), np.full(4, 3)
    merge_refused(four, *one_tile, refused, low, high, sizes, False, four.copy())
    group_nearest(points.copy(), 2, labels.copy())
    swap_rows(points, labels, 4)


def _trees_of_cuts(points: Points) -> None:
    nodes, none = np.zeros(len(points), np.int64), np.zeros(1, np.int64)
    add_within_budgets(nodes, np.ones((len(points), 2), np.int64), nodes + 2, np.zeros((1, 2), np.int64))
    descend(points, CutTree(none - 1, np.zeros(1), none > 0, none, none), nodes)
    columns = points.shape[1]
    first, width = np.zeros((1, columns), np.int64), np.ones((1, columns), np.int64)
    asked = Asked(none, none, np.zeros(1), np.ones(1), none == 0, first, width)
    sides = (1, SIDES, columns)
    found = Tally(
        np.zeros((1, SIDES), np.int64),
        np.full(sides, np.inf),
        np.full(sides, -np.inf),
        np.zeros((*sides, 1), np.int32),
    )
    tally(points, nodes, asked, np.full((columns, 1), np.inf), found, np.empty(len(points), np.int8))


def _balls(points: Points) -> None:
    scale, category = np.ones(points.shape[1]), np.zeros(points.shape[1], np.bool_)
    vantage = Vantage(0, 3.0, scale, category, far=True, share=0.5, seed=np.uint64(0), minimum=2)
    grow_balls(points, vantage)
    with Balls(points, vantage) as balls:
        while len((proposed := balls.propose())[0]):
            balls.decide(np.ones(len(proposed[1]) - 1, np.bool_))
        balls.result()


def _mosaic(points: Points) -> None:
    labels, classes = lay_mosaic(points, 2, tile=4, rounds=2, effort=Effort(1, swaps=True, reach=2.0))
    low, high, none = points[:classes].copy(), points[:classes].copy(), np.zeros(classes, np.bool_)
    members, starts = rows_by_label(np.zeros(classes, np.int64), 1)
    bare = np.zeros(2, np.int64)
    trees = plant(Forest(bare - 1, bare, bare.copy(), np.empty(0, np.int64), np.empty(0)))
    sizes, target = np.bincount(labels), np.arange(classes)
    merge_in_tiles(members, starts, none, low, high, sizes, target, none.copy(), trees)


def _repair(points: Points) -> None:
    places = np.column_stack([points[:, 0] / 22, np.arange(12) % 3, np.arange(12) % 4])
    price = np.array([[0.0] * 6, [0, 0, 0.6, 1, 1, 1], [0, 0.5, 1, 0.5, 0.5, 0]])
    one, none = np.ones(3), np.zeros((3, 6))
    kinds, values = np.array([RANGE, SET, TREE]), np.array([0, 3, 5])
    costs = CellCosts(kinds, values, one, one * 0, price, none, places, places)
    share, whole = np.full((1, 3), 0.5), np.zeros(1, np.int64)
    codes = (np.arange(12) % 2)[None, :]
    promises = Promises(
        2, np.array([SURPLUS]), whole, np.array([0.5]), whole, whole, share, share, share,
        np.zeros((0, 1), np.int64), np.zeros((0, 1)), codes, np.array([2]), np.arange(12),
    )  # fmt: skip
    labels, classes = grow_under_promises(costs, promises, np.zeros(12, np.int64), 1)
    class_costs(costs, promises, labels, classes)
    centres = np.zeros((classes, 1))
    how = Thoroughness(1, 2.0, blind=False)
    repair_round(costs, promises, labels, classes, centres, tile=12, turn=1, thoroughness=how)


def _microaggregation(points: Points) -> None:
    mdav_groups(points, 2)
    mdav_plus_groups(points, 5)
    for gamma in (None, 1.1):
        extended_groups(points, 2, gamma)
    chosen, labels = np.empty(4, np.int64), np.full(len(points), -1)
    spread_centres(points, np.linspace(0.0, 0.9, 4), chosen)
    columns = np.ascontiguousarray(points[chosen].T)
    lloyd(points, columns, 3, labels)
    groups = groups_from_centres(points, columns, 2, INNER, False, False, 3, labels)
    squared_error(points, labels, groups)
    improve(points, labels, 2, 1, 9)
    polish(points, labels, 2, 1, 1, 0)
    groups_from_labels(points, labels, len(points), 2, INNER, False)
