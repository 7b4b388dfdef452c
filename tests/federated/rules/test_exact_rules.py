from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.arrays.mining import cover_first, eclat_sets, pack_bits
from mahrem.errors import Infeasible, InvalidInput
from mahrem.federated.rules import (
    ExactSettings,
    RulesCrowd,
    RulesResult,
    RulesSilo,
    cover_counts,
    cover_together,
    learn_exact,
)
from mahrem.federated.rules._candidates import Outlook, next_levels
from mahrem.federated.runs import split_rows
from mahrem.federated.sums import MaskedSum, SumTerms, hide_client
from mahrem.federated.wire import LocalGrid, Message
from mahrem.learning.rules import CbaSettings, RuleList, as_cells, cba, class_rules


def people(rows: int, seed: int, columns: int = 4, classes: int = 3) -> pl.DataFrame:
    """Rows of words with a class that leans on them."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 3, (rows, columns))
    lean = (values[:, 0] + values[:, -1]) % classes
    target = np.where(rng.random(rows) < 0.3, rng.integers(0, classes, rows), lean)
    words = {f"c{place}": [f"v{value}" for value in values[:, place]] for place in range(columns)}
    schema = dict.fromkeys([*words, "class"], pl.String)
    return pl.DataFrame({**words, "class": [f"k{label}" for label in target]}, schema=schema)


def grid_of(frame: pl.DataFrame, parts: list[np.ndarray], **options: Any) -> LocalGrid:
    return LocalGrid({f"client{n:02d}": RulesSilo(frame[part], **options) for n, part in enumerate(parts)})


def columns_of(frame: pl.DataFrame) -> list[str]:
    return [name for name in frame.columns if name != "class"]


CHOSEN = CbaSettings(support=0.05, confidence=0.4)
LOOSE = ExactSettings(cba=CHOSEN)


def central(frame: pl.DataFrame, chosen: CbaSettings = CHOSEN) -> RuleList:
    return cba(as_cells(frame.drop("class")), frame["class"], chosen)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([1, 7, 30, 90]),
    st.integers(1, 20),
    st.sampled_from(["iid", "by class", "by column"]),
    st.sampled_from(["levels", "partition"]),
    st.builds(
        CbaSettings,
        support=st.sampled_from([0.05, 0.2, 0.34]),
        confidence=st.sampled_from([0.2, 0.5, 0.9]),
        longest=st.sampled_from([None, 1, 2]),
        support_of=st.sampled_from(["left", "rule"]),
        prune=st.booleans(),
        cut=st.sampled_from(["least", "shortest"]),
    ),
)
def test_exact_du_cba_is_central_cba_rule_for_rule(
    seed: int, rows: int, clients: int, split: str, candidates: Any, chosen: CbaSettings
) -> None:
    frame = people(rows, seed)
    skew = {"iid": None, "by class": frame["class"], "by column": frame["c0"]}[split]
    grid = grid_of(frame, split_rows(rows, clients, seed=seed, skew=skew))
    learnt = learn_exact(grid, columns_of(frame), ExactSettings(cba=chosen, candidates=candidates))
    assert learnt.exact
    assert len(learnt.nodes) == clients
    assert learnt.model == central(frame, chosen)


def outcome(grid: LocalGrid, columns: list[str], chosen: ExactSettings) -> Any:
    try:
        return learn_exact(grid, columns, chosen)
    except Infeasible as error:
        return str(error)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([0, 1, 7, 30, 300]),
    st.integers(1, 9),
    st.integers(1, 3),
    st.sampled_from(["left", "rule"]),
)
def test_clients_of_one_process_that_answer_in_one_message_teach_the_same(
    seed: int, rows: int, clients: int, least: int, support_of: Any
) -> None:
    frame = people(rows, seed)
    frames = {f"c{place}": frame[part] for place, part in enumerate(split_rows(rows, clients, seed=seed))}
    chosen = ExactSettings(cba=replace(CHOSEN, support_of=support_of))
    together = LocalGrid(RulesCrowd.of(frames, "class", least))
    alone = LocalGrid({name: RulesSilo(part, "class", least_count=least) for name, part in frames.items()})
    columns = columns_of(frame)
    assert outcome(together, columns, chosen) == outcome(alone, columns, chosen)
    assert together.traffic.rounds == alone.traffic.rounds
    assert set(together.traffic.sent) == set(alone.traffic.sent)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([1, 7, 30, 90]),
    st.integers(1, 9),
    st.integers(1, 3),
    st.sampled_from([0.05, 0.2, 0.5]),
    st.booleans(),
)
def test_clients_that_are_counted_together_say_what_each_would_say_alone(
    seed: int, rows: int, clients: int, least: int, support: float, by_rule: Any
) -> None:
    frame = people(rows, seed)
    nobody = pl.when(pl.int_range(pl.len()) % 11 == 10).then(None).otherwise(pl.col("class")).alias("class")
    frame = frame.with_columns(nobody)
    frames = {f"c{place}": frame[part] for place, part in enumerate(split_rows(rows, clients, seed=seed))}
    together = RulesCrowd.of(frames, "class", least)
    alone = {name: RulesSilo(part, "class", least_count=least) for name, part in frames.items()}
    rng = np.random.default_rng(seed)
    columns, classes = columns_of(frame), frame["class"].drop_nulls().unique().sort().to_list()[:2]
    pairs = sorted({(p, c) for p, name in enumerate(columns) for c in frame[name].drop_nulls().to_list()})
    named = {
        "columns": columns,
        "classes": classes,
        "places": [place for place, _ in pairs],
        "cells": [cell for _, cell in pairs],
    }
    sets = np.sort(rng.integers(-1, len(pairs), (6, 2)), axis=1)[:, ::-1]
    sets = sets[np.lexsort(sets.T[::-1])]
    cover = {"left": sets, "right": rng.integers(0, max(1, len(classes)), 6), "sure": rng.integers(0, 2, 6)}
    frequent = {"columns": columns, "support": support, "longest": 1, "by_rule": by_rule, "most": 3}
    questions = [Message("frequent", "r", 1, frequent), Message("counts", "r", 2, {**named, "sets": sets})]
    questions += [Message("cover", "r", 3, {**named, **cover})] if classes else []
    for question in [*questions, *questions[::-1]]:
        for name in frames:
            one, other = together[name].answer(question).body, alone[name].answer(question).body
            assert {key: np.asarray(held).tolist() for key, held in one.items()} == {
                key: np.asarray(held).tolist() for key, held in other.items()
            }


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 120), st.integers(1, 5))
def test_rounds_of_counts_find_what_walking_down_any_ranking_keeps(
    seed: int, rows: int, clients: int
) -> None:
    rng = np.random.default_rng(seed)
    codes = (rng.integers(0, 3, (rows, 4)) + 3 * np.arange(4)).astype(np.int32)
    target = rng.integers(0, 3, rows)
    whole = pack_bits(codes, 12, target, 3)
    ranked = class_rules(
        *eclat_sets(whole, np.repeat(np.arange(4), 3).astype(np.int32), 1, 3), confidence=0.0
    )
    ranked = ranked.chosen(rng.permutation(len(ranked)))  # any order, any class: long chains of doubt
    ranked = replace(ranked, right=rng.integers(0, 3, len(ranked)).astype(np.int32))
    parts = [pack_bits(codes[part], 12, target[part], 3) for part in split_rows(rows, clients)]

    def ask(left: Any, right: Any, sure: Any) -> Any:
        return np.sum([cover_counts(part, np.arange(3), left, right, sure > 0, 3) for part in parts], axis=0)

    kept, covered = cover_together(ask, ranked, 3)
    slow = cover_first(whole, ranked.left, ranked.right)
    assert np.array_equal(kept, slow[0])
    assert np.array_equal(covered, slow[1])


def test_masked_sums_give_the_same_model() -> None:
    frame = people(120, 5)
    parts = split_rows(120, 6)
    silos = {f"client{n}": RulesSilo(frame[part]) for n, part in enumerate(parts)}
    grid = LocalGrid({name: hide_client(name, silo, SumTerms()) for name, silo in silos.items()})
    learnt = learn_exact(grid, columns_of(frame), LOOSE, adder=MaskedSum())
    assert len(learnt.model) > 3
    assert learnt.model == central(frame)
    with pytest.raises(Infeasible, match="refused"):
        learn_exact(grid, columns_of(frame))  # counts in the clear are not given away


@pytest.mark.parametrize("kind", ["frequent", "counts", "cover"])
def test_a_client_that_is_lost_leaves_the_exact_model_of_the_others(kind: str) -> None:
    frame = people(100, 8)
    parts = split_rows(100, 5)
    grid = grid_of(frame, parts)

    def lost(node: str, message: Message) -> bool:
        return node == "client03" and message.kind == kind

    grid.lost = lost
    learnt = learn_exact(grid, columns_of(frame), ExactSettings(cba=CHOSEN, least_clients=4))
    assert learnt.left_out == {"client03": "no answer in time"}
    rest = np.concatenate([part for number, part in enumerate(parts) if number != 3])
    assert learnt.exact
    assert learnt.model == central(frame[rest])
    with pytest.raises(Infeasible, match="clients=4: at least 5"):
        learn_exact(grid, columns_of(frame), ExactSettings(cba=CHOSEN, least_clients=5))


def test_a_loss_after_hidden_counts_stops_unless_asked_to_count_again() -> None:
    frame = people(100, 8)
    parts = split_rows(100, 6)

    def made(*, recount: bool) -> LocalGrid:
        silos = {f"client{n}": RulesSilo(frame[part]) for n, part in enumerate(parts)}
        return LocalGrid(
            {name: hide_client(name, silo, SumTerms(recount=recount)) for name, silo in silos.items()}, lost
        )

    def lost(node: str, message: Message) -> bool:
        return node == "client5" and message.kind == "sum-masked" and message.body["kind"] == "cover"

    for clients_agree, match in ((True, "allow it with recount=True"), (False, "unless recount was agreed")):
        with pytest.raises(Infeasible, match=match):
            learn_exact(made(recount=clients_agree), columns_of(frame), LOOSE, adder=MaskedSum())
    learnt = learn_exact(
        made(recount=True), columns_of(frame), ExactSettings(cba=CHOSEN, recount=True), adder=MaskedSum()
    )
    assert learnt.model == central(frame[np.concatenate(parts[:5])])


@dataclass
class Forger:
    """A client that changes its answers before they leave."""

    silo: RulesSilo
    change: Callable[[Message], Message]

    def answer(self, message: Message) -> Message:
        return self.change(self.silo.answer(message))


def with_forger(change: Callable[[Message], Message]) -> tuple[RulesResult, RuleList]:
    frame = people(90, 2)
    parts = split_rows(90, 3)
    grid = grid_of(frame, parts)
    clients = {**grid.clients, "client02": Forger(RulesSilo(frame[parts[2]]), change)}
    learnt = learn_exact(LocalGrid(clients), columns_of(frame), LOOSE)
    return learnt, central(frame[np.concatenate(parts[:2])])


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda n: np.where(np.arange(n.size) == n.size - 1, 10**6, n), "more rows than the table"),
        (lambda n: n - 10**6, "below 0"),
        (lambda n: n[:-1], "asked for"),
        (lambda n: np.full(n.size, 2**62), "more rows than there are people"),  # sums would go round 64 bits
        (lambda n: n.astype(np.float32), "no whole numbers"),
        (lambda n: np.full(n.size, np.nan, np.float32), "no whole numbers"),
        (lambda n: n[:, None], "no whole numbers"),
    ],
)
def test_forged_counts_are_refused_and_the_others_go_on(
    change: Callable[[np.ndarray], np.ndarray], reason: str
) -> None:
    def forged(reply: Message) -> Message:
        return reply if reply.kind != "counts" else reply.reply(numbers=change(reply.body["numbers"]))

    learnt, model = with_forger(forged)
    assert reason in learnt.left_out["client02"]
    assert learnt.model == model


def test_a_replayed_answer_is_refused() -> None:
    kept: list[Message] = []

    def replayed(reply: Message) -> Message:
        if reply.kind == "cover":
            kept.append(reply)
        return kept[0] if kept else reply  # from the second question on the first answer again

    learnt, model = with_forger(replayed)
    assert learnt.left_out == {"client02": "an answer to another run or round"}
    assert learnt.model == model


def test_nonsense_in_the_first_answer_is_refused() -> None:
    def nonsense(reply: Message) -> Message:
        return reply if reply.kind != "frequent" else reply.reply(**{**reply.body, "sets": np.array([[99]])})

    learnt, model = with_forger(nonsense)
    assert learnt.left_out == {"client02": "frequent sets that cannot be read"}
    assert learnt.model == model


@pytest.mark.parametrize("together", [False, True])
def test_rows_of_a_class_that_was_not_agreed_on_are_left_out_and_that_is_said(together: Any) -> None:
    frame = people(200, 4)
    frames = {f"c{place}": frame[part] for place, part in enumerate(split_rows(200, 3))}
    alone = {name: RulesSilo(part) for name, part in frames.items()}
    grid = LocalGrid(RulesCrowd.of(frames, "class") if together else alone)
    learnt = learn_exact(grid, columns_of(frame), LOOSE, classes=["k0", "k1"])
    assert learnt.model.classes == ("k0", "k1")
    assert learnt.why == ("rows of classes that were not agreed on are left out",)
    assert learnt.model.rows == frame.filter(pl.col("class") != "k2").height


def test_another_schema_is_refused_and_an_empty_table_and_one_class_are_survived() -> None:
    frame = people(80, 4)
    clients = {
        "good": RulesSilo(frame),
        "other": RulesSilo(frame.rename({"c0": "d0"})),
        "without": RulesSilo(frame.drop("class")),
        "empty": RulesSilo(frame[:0]),
        "single": RulesSilo(frame.filter(pl.col("class") == "k1")),
    }
    learnt = learn_exact(LocalGrid(clients), columns_of(frame), LOOSE)
    assert sorted(learnt.left_out) == ["other", "without"]
    assert "columns" in learnt.left_out["other"]
    pooled = pl.concat([frame, frame.filter(pl.col("class") == "k1")])
    assert learnt.model == central(pooled)


def test_columns_in_another_order_do_not_matter() -> None:
    frame = people(60, 9)
    clients = {"a": RulesSilo(frame[:30]), "b": RulesSilo(frame[30:].select(reversed(frame.columns)))}
    assert learn_exact(LocalGrid(clients), columns_of(frame), LOOSE).model == central(frame)


def test_no_rows_at_all_is_said() -> None:
    with pytest.raises(Infeasible, match="row"):
        learn_exact(LocalGrid({"a": RulesSilo(people(0, 1))}), ["c0", "c1", "c2", "c3"])
    with pytest.raises(Infeasible, match="clients=0"):
        learn_exact(LocalGrid({}), ["c0"])


def test_caps_and_least_counts_say_that_the_model_is_not_exact() -> None:
    frame = people(200, 6)
    parts = split_rows(200, 4)
    capped = learn_exact(
        grid_of(frame, parts), columns_of(frame), ExactSettings(cba=CHOSEN, candidates="partition", most=3)
    )
    assert not capped.exact
    assert "left out" in capped.why[0]
    shy = learn_exact(grid_of(frame, parts, least_count=5), columns_of(frame), ExactSettings(least_count=5))
    assert not shy.exact
    assert shy.why == ("counts are sent in multiples of 5, rounded down",)
    unsaid = learn_exact(grid_of(frame, parts, least_count=5), columns_of(frame))
    assert unsaid.why == shy.why  # the clients say it themselves


def test_no_count_of_fewer_people_than_allowed_leaves_a_client() -> None:
    frame = people(150, 7)
    grid = grid_of(frame, split_rows(150, 3), least_count=6)
    seen: list[np.ndarray] = []
    send = grid.send

    def watched(messages: Any) -> Any:
        replies = send(messages)
        seen.extend(reply.body["numbers"] for reply in replies.values() if "numbers" in reply.body)
        return replies

    grid.send = watched  # type: ignore[method-assign]
    learn_exact(grid, columns_of(frame), ExactSettings(least_count=6, cba=CHOSEN))
    numbers = np.concatenate(seen)
    assert (numbers > 0).any()
    assert not (numbers % 6).any()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(20, 120), st.integers(2, 9))
def test_no_difference_of_nested_counts_speaks_of_one_person(seed: int, rows: int, least: int) -> None:
    """A set, the same set with one cell more, all values of a column: whatever is added and subtracted."""
    frame = people(rows, seed)
    silo = RulesSilo(frame, "class", least_count=least)
    columns = columns_of(frame)
    pairs = sorted({(place, cell) for place, name in enumerate(columns) for cell in frame[name].to_list()})
    rng = np.random.default_rng(seed)
    sets = [[int(rng.integers(len(pairs))), -1, -1] for _ in range(20)]
    sets += [[one, *rng.integers(-1, len(pairs), 2).tolist()] for one, *_ in sets]
    body = {
        "columns": columns,
        "classes": ["k0", "k1", "k2"],
        "places": [place for place, _ in pairs],
        "cells": [cell for _, cell in pairs],
    }
    counts = silo.numbers("counts", {**body, "sets": np.array(sets, np.int32)})
    told = rng.integers(-3, 4, (50, len(counts))) @ counts  # what any server can make of them
    assert not (told % least).any()
    exact = RulesSilo(frame, "class").numbers("counts", {**body, "sets": np.array(sets, np.int32)})
    assert (counts <= exact).all()
    assert (exact - counts < least).all()


def test_a_question_that_cannot_be_read_is_refused() -> None:
    silo = RulesSilo(people(10, 1))
    for kind, body in (("rows", {}), ("counts", {}), ("counts", {"columns": ["c0", "c1", "c2", "c3"]})):
        with pytest.raises(InvalidInput):
            silo.answer(Message(kind, "run", 1, body))


@pytest.mark.data
@pytest.mark.parametrize("name", ["car_evaluation", "nursery"])
def test_the_published_sets_need_few_rounds(benchmark_data: Path, name: str) -> None:
    frame = pl.read_csv(benchmark_data / f"{name}.csv", infer_schema_length=0)
    grid = grid_of(frame, split_rows(frame.height, 32))
    learnt = learn_exact(grid, columns_of(frame))
    assert learnt.model == central(frame, CbaSettings())
    assert learnt.rounds["cover"] <= 4
    assert learnt.rounds["counts"] == 2


def test_sets_that_can_hardly_be_frequent_are_not_counted_ahead() -> None:
    """What is counted for nothing tells of people; what is counted later costs a round and no more."""
    place = np.repeat(np.arange(4), 3).astype(np.int32)
    thirds = Outlook(place, np.full(12, 1 / 3), 0.2, 4)
    single = np.arange(12, dtype=np.int32)[:, None]
    pairs = next_levels(single, thirds)
    assert pairs.shape == (54, 2)
    assert next_levels(pairs[:30], thirds).shape[1] > 2  # pairs are frequent: cells go together
    assert next_levels(single, replace(thirds, support=0.01)).shape[1] == 4


@pytest.mark.parametrize("candidates", ["levels", "partition"])
def test_columns_in_another_order_do_not_matter_for_larger_sets_either(candidates: Any) -> None:
    frame = people(60, 9)
    clients = {"a": RulesSilo(frame[:30]), "b": RulesSilo(frame[30:].select(reversed(frame.columns)))}
    learnt = learn_exact(
        LocalGrid(clients), columns_of(frame), ExactSettings(cba=CHOSEN, candidates=candidates)
    )
    assert learnt.model == central(frame)


def forged_frequent(**changes: Any) -> Callable[[Message], Message]:
    def change(reply: Message) -> Message:
        if reply.kind != "frequent":
            return reply
        body = {name: value for name, value in {**reply.body, **changes}.items() if value is not ...}
        return reply.reply(**body)

    return change


@pytest.mark.parametrize(
    "changes",
    [
        {"sets": np.array([[0, 5]])},  # longer than asked: all single items would be lost
        {"sets": np.array([[-1]])},  # no item at all
        {"sets": np.array([[0, 0]])},
        {"cut": "many"},
        {"least": ...},
        {"classes": ...},
        {"places": np.array([99])},
        {"sets": np.array([[0.0]], np.float32)},
        {"sets": np.array([[np.nan]], np.float32)},
    ],
)
def test_first_answers_that_are_incomplete_or_impossible_are_refused(changes: dict[str, Any]) -> None:
    learnt, model = with_forger(forged_frequent(**changes))
    assert learnt.left_out == {"client02": "frequent sets that cannot be read"}
    assert learnt.model == model


def test_rules_that_cover_more_rows_than_there_are_are_refused() -> None:
    def forged(reply: Message) -> Message:
        return reply if reply.kind != "cover" else reply.reply(numbers=reply.body["numbers"] + 1000)

    learnt, model = with_forger(forged)
    assert "more rows than all tables" in learnt.left_out["client02"]
    assert learnt.model == model


def test_covered_rows_that_go_round_64_bits_are_refused() -> None:
    def forged(reply: Message) -> Message:
        return reply if reply.kind != "cover" else reply.reply(numbers=reply.body["numbers"] + 2**62)

    learnt, model = with_forger(forged)
    assert "more rows than there are people" in learnt.left_out["client02"]
    assert learnt.model == model


def test_counts_that_contradict_each_other_end_the_run() -> None:
    """A client that always says "possible" and never "sure" would keep the others counting for ever."""
    ranked = class_rules(np.array([[0], [1]], np.int32), np.array([[3, 1], [2, 1]]), confidence=0.5)
    with pytest.raises(InvalidInput, match="contradict"):
        cover_together(lambda left, *_: np.array([1] * len(left) + [0] * (2 * len(left) + 2)), ranked, 2)
