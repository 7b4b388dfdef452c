"""Trees over different parties' columns: those of one place, and nobody sees gradients or cells of others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import Infeasible, InvalidInput
from mahrem.federated.shapes import TreeParty, VerticalTreesPlan, learn_vertical_trees
from mahrem.federated.shapes._hidden_products import MOST_WORDS, Dealer, MatrixHolder, VectorHolder
from mahrem.federated.weights import SharedModel, TrainingSilo, learn_together, propose_schema
from mahrem.federated.wire import LocalGrid, Message
from wires import Recorder

KEY = bytes(range(32))
PLAN = VerticalTreesPlan(rounds=3, depth=2, cell_epsilon=0, least_leaf=5)
SEEDS = [bytes([place]) * 32 for place in range(3)]


def people(classes: int = 2, rows: int = 400, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age, hours = rng.integers(18, 90, rows), rng.integers(0, 60, rows)
    job = rng.choice(["nurse", "clerk", "none"], rows)
    mark = age / 2 + hours + 20 * (job == "nurse") + rng.normal(0, 6, rows)
    grade = np.searchsorted(np.quantile(mark, np.arange(1, classes) / classes), mark)
    return pl.DataFrame(
        {"id": np.arange(rows), "age": age, "job": job, "hours": hours, "class": [f"c{x}" for x in grade]}
    )


def parties(
    plan: VerticalTreesPlan, whole: pl.DataFrame, holds: dict[str, tuple[str, ...]], label: str = "bank"
) -> dict[str, TreeParty]:
    schema = propose_schema(whole.drop("id"), "class")
    held = {name: {column: schema.columns[column] for column in columns} for name, columns in holds.items()}
    made = {}
    for number, (name, columns) in enumerate(held.items()):
        target = "class" if name == label else None
        frame = whole.select("id", *columns, *([target] if target else [])).sample(
            fraction=1, shuffle=True, seed=number
        )
        made[name] = TreeParty(
            name, frame, "id", columns, schema.classes, KEY, plan, target=target, held=held
        )
    return made


def in_one_place(plan: VerticalTreesPlan, whole: pl.DataFrame, like: SharedModel) -> SharedModel:
    learning = replace(plan.learning(), least_clients=1)
    silo = TrainingSilo("all", whole, like.schema, learning)
    return learn_together(LocalGrid({"all": silo.for_grid()}), like.schema, learning).model


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 5), st.integers(1, 9), st.integers(1, 4), st.integers(0, 2**32))
def test_a_hidden_product_is_the_product(cells: int, rows: int, width: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.integers(0, 2, (cells, rows)).astype(np.uint8)
    vectors = rng.integers(-(2**40), 2**40, (rows, width))
    holder, asker = MatrixHolder(matrix), VectorHolder(vectors)
    asker.shifted = holder.shift(SEEDS[0])
    answer = holder.product(asker.mask(SEEDS[1]), SEEDS[2])
    dealt = Dealer(cells, rows, SEEDS[0]).deal(SEEDS[1], SEEDS[2], width)
    assert np.array_equal(asker.product(answer, dealt), matrix.astype(np.int64) @ vectors)


@pytest.mark.parametrize(
    ("classes", "holds"),
    [
        (2, {"bank": ("age",), "shop": ("job", "hours")}),
        (3, {"bank": (), "clinic": ("age", "job"), "shop": ("hours",)}),
    ],
)
def test_trees_are_those_of_all_columns_in_one_place(classes: int, holds: dict[str, Any]) -> None:
    whole = people(classes)
    made = parties(PLAN, whole, holds)
    counted: list[int] = []
    found = learn_vertical_trees(LocalGrid(made), PLAN, made["bank"].classes, after=counted.append)
    assert (found.rows, counted) == (400, [1, 2, 3])
    model = made["bank"].model()
    central = in_one_place(PLAN, whole, model)
    for part in ("feature", "cut"):
        assert np.array_equal(model.arrays[f"forest-{part}"], central.arrays[f"forest-{part}"])
    np.testing.assert_allclose(model.scores(whole), central.scores(whole), atol=1e-6)
    assert {int(feature) for feature in model.arrays["forest-feature"].ravel()} - {-1}, "some cut was made"
    with pytest.raises(InvalidInput, match="the one with the labels grows them"):
        made["shop"].model()


def test_a_party_without_labels_sees_even_numbers_instead_of_gradients() -> None:
    made = parties(PLAN, people(), {"bank": ("age",), "shop": ("job", "hours")})
    shop, seen = made["shop"], []
    inner = shop._product

    def product(body: Any, level: int) -> Any:
        shape = (400, PLAN.width(level, 2))
        seen.append(shop._words("gradients", "bank", level, body["masked"], shape))
        return inner(body, level)

    shop._answers["product"] = product
    learn_vertical_trees(LocalGrid(made), PLAN, shop.classes)
    assert len(seen) == PLAN.rounds * PLAN.depth
    bits = np.unpackbits(np.concatenate([words.ravel() for words in seen]).view(np.uint8))
    assert abs(bits.mean() - 0.5) < 6 * 0.5 / np.sqrt(len(bits))  # six deviations: once in 5e8 runs by chance
    mean = np.mean(seen[0].view(np.int64) / 2.0**63)  # of gradients it would be 0 to eleven places
    assert 1e-9 < abs(mean) < 6 / np.sqrt(3 * seen[0].size)


def test_the_coordinator_carries_neither_cells_nor_gradients_in_the_clear() -> None:
    made = parties(PLAN, people(), {"bank": ("age",), "shop": ("job", "hours")})
    recorder = Recorder(LocalGrid(made))
    learn_vertical_trees(recorder, PLAN, made["bank"].classes)
    clear = {
        name for message in recorder.seen for name, held in message.body.items() if hasattr(held, "dtype")
    }
    assert clear == {"places", ":shop"}  # of rows that align, and noise that it drew itself


def test_noise_on_cells_is_that_of_the_promise_and_trees_still_learn() -> None:
    quiet, noisy = PLAN, replace(PLAN, cell_epsilon=8.0)
    columns = propose_schema(people().drop("id"), "class").columns
    assert quiet.deviation(columns, 2) == 0
    assert noisy.deviation(columns, 2) > replace(noisy, cell_epsilon=16.0).deviation(columns, 2)
    assert noisy.deviation(columns, 2) < replace(noisy, rounds=6).deviation(columns, 2)
    whole = people(rows=4000)
    made = parties(noisy, whole, {"bank": ("age",), "shop": ("job", "hours")})
    learn_vertical_trees(LocalGrid(made), noisy, made["bank"].classes)
    right = made["bank"].model().predict(whole) == whole["class"].to_numpy()
    assert right.mean() > 0.6


def test_questions_out_of_turn_and_cuts_of_others_columns_are_refused() -> None:
    made = parties(PLAN, people(), {"bank": ("age",), "shop": ("job", "hours")})
    shop = made["shop"]
    with pytest.raises(InvalidInput, match="did not begin here"):
        shop.answer(Message("product", "run", 0, {}))
    learn_vertical_trees(LocalGrid(made), PLAN, made["bank"].classes)
    run = shop._run
    for kind, level in (("product", 0), ("sides", 5), ("product", 6), ("shift", 0)):
        with pytest.raises(InvalidInput, match="not what comes next"):
            shop.answer(Message(kind, run, level, {"seed": bytes(32)}))


def test_more_cells_than_a_message_holds_are_refused_before_anything_is_sent() -> None:
    with pytest.raises(InvalidInput, match="agree on fewer columns"):
        MatrixHolder(np.broadcast_to(np.uint8(1), (1, MOST_WORDS + 1))).shift(SEEDS[0])


def test_a_party_that_is_lost_ends_the_run_and_is_named() -> None:
    made = parties(PLAN, people(), {"bank": ("age",), "shop": ("job", "hours")})
    grid = LocalGrid(made, lost=lambda node, message: node == "shop" and message.kind == "sides")
    with pytest.raises(Infeasible, match="party='shop' is missing"):
        learn_vertical_trees(grid, PLAN, made["bank"].classes)
