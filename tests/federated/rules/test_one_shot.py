from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.dp import Ledger
from mahrem.errors import BudgetExceeded, Infeasible, InvalidInput, InvalidParameter
from mahrem.federated.rules import (
    Disguise,
    MergedRules,
    RulesSchema,
    RulesSilo,
    discrete_laplace,
    learn_one_shot,
    perturb_rules,
)
from mahrem.federated.runs import split_rows
from mahrem.federated.wire import LocalGrid, Message
from mahrem.learning.rules import CbaSettings, Rule, RuleList, as_cells, cba

BLUE, GREY = (("sky", "blue"),), (("sky", "grey"),)


def part(rows: int, *rules: Rule, default: str = "wet") -> RuleList:
    return RuleList(("sky",), ("dry", "wet"), rules, default, rows)


def weather(rows: int, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    sky, wind = rng.integers(0, 3, rows), rng.integers(0, 2, rows)
    wet = np.where(rng.random(rows) < 0.2, rng.integers(0, 2, rows), sky == 0)
    return pl.DataFrame(
        {"sky": [f"s{v}" for v in sky], "wind": [f"w{v}" for v in wind], "class": [f"k{int(v)}" for v in wet]}
    )


def grid_of(frame: pl.DataFrame, clients: int) -> LocalGrid:
    return LocalGrid(
        {f"c{n}": RulesSilo(frame[rows]) for n, rows in enumerate(split_rows(frame.height, clients))}
    )


def test_support_and_confidence_are_those_of_the_formulas() -> None:
    merged = (
        MergedRules().add(part(10, Rule(BLUE, "dry", 0.5, 1.0))).add(part(30, Rule(BLUE, "dry", 0.1, 0.5)))
    )
    (rule,) = merged.rules().rules
    assert rule.support == pytest.approx((5 + 3) / 40)
    assert rule.confidence == pytest.approx((5 + 3) / (5 / 1.0 + 3 / 0.5))


def test_both_readings_of_the_sum_of_rows() -> None:
    for sum_over, rows in (("all", 40), ("senders", 10)):
        merged = MergedRules(sum_over=sum_over).add(part(10, Rule(BLUE, "dry", 0.5, 1.0))).add(part(30))  # type: ignore[arg-type]
        assert merged.rules().rules[0].support == pytest.approx(5 / rows)


def test_of_two_classes_the_larger_support_stays_and_of_equal_ones_the_first() -> None:
    merged = (
        MergedRules().add(part(10, Rule(BLUE, "dry", 0.2, 1.0))).add(part(10, Rule(BLUE, "wet", 0.4, 0.6)))
    )
    assert [rule.right for rule in merged.rules().rules] == ["wet"]
    tied = MergedRules().add(part(10, Rule(BLUE, "wet", 0.2, 0.9))).add(part(10, Rule(BLUE, "dry", 0.2, 1.0)))
    assert [rule.right for rule in tied.rules().rules] == ["wet"]


def test_rules_come_by_confidence_support_and_arrival() -> None:
    first, second, third = (Rule((("sky", cell),), "dry", 0.1, 0.8) for cell in ("c", "b", "a"))
    better, larger = Rule(BLUE, "dry", 0.1, 0.9), Rule(GREY, "dry", 0.2, 0.8)
    found = MergedRules().add(part(10, first, second, third, better, larger)).rules().rules
    assert [rule.left[0][1] for rule in found] == ["blue", "grey", "c", "b", "a"]


def test_the_default_stands_for_most_rows() -> None:
    merged = MergedRules().add(part(10, default="dry")).add(part(12)).add(part(3, default="dry"))
    assert merged.rules().default == "dry"


def test_one_client_alone_gives_its_own_rules() -> None:
    frame = weather(200)
    learnt = learn_one_shot(grid_of(frame, 1), ["sky", "wind"])
    own = cba(as_cells(frame.drop("class")), frame["class"], CbaSettings())
    assert [(rule.left, rule.right) for rule in learnt.model.rules] == [(r.left, r.right) for r in own.rules]
    assert learnt.model.default == own.default
    assert not learnt.exact


def test_new_clients_and_new_data_are_merged_as_if_they_had_been_there() -> None:
    frame = weather(300, 1)
    whole = learn_one_shot(grid_of(frame, 6), ["sky", "wind"]).model
    clients = grid_of(frame, 6).clients
    state = MergedRules()
    learn_one_shot(LocalGrid({n: clients[n] for n in ("c0", "c1", "c2", "c3")}), ["sky", "wind"], into=state)
    state = MergedRules.from_json(state.to_json())  # kept over night
    later = learn_one_shot(
        LocalGrid({n: clients[n] for n in ("c4", "c5")}), ["sky", "wind"], into=state
    ).model
    assert [(rule.left, rule.right) for rule in later.rules] == [(r.left, r.right) for r in whole.rules]
    assert np.allclose([rule.support for rule in later.rules], [rule.support for rule in whole.rules])


def test_forged_rules_and_other_schemas_are_refused_and_the_others_go_on() -> None:
    frame = weather(100)

    class Forger:
        def answer(self, message: Message) -> Message:
            forged = RuleList(("sky", "wind"), ("k0",), (Rule(BLUE, "k0", 3.0, 1.0),), "k0", 10)
            return message.reply(rules=forged.to_json().encode())

    class Nonsense:
        def answer(self, message: Message) -> Message:
            return message.reply(rules=b"\xff\xfe")

    clients = {
        "good": RulesSilo(frame),
        "forger": Forger(),
        "nonsense": Nonsense(),
        "other": RulesSilo(frame.drop("wind")),
    }
    learnt = learn_one_shot(LocalGrid(clients), ["sky", "wind"])  # type: ignore[arg-type]
    assert learnt.nodes == ("good",)
    assert set(learnt.left_out) == {"forger", "nonsense", "other"}
    assert "more rows than there are" in learnt.left_out["forger"]
    with pytest.raises(Infeasible, match="at least 2"):
        learn_one_shot(LocalGrid(clients), ["sky", "wind"], least_clients=2)  # type: ignore[arg-type]
    empty = learn_one_shot(LocalGrid({"a": RulesSilo(frame), "b": RulesSilo(frame[:0])}), ["sky", "wind"])
    assert set(empty.left_out) == {"b"}
    with pytest.raises(InvalidInput):
        MergedRules.from_json("{}")
    with pytest.raises(Infeasible):
        MergedRules().rules()


def test_dummies_change_nothing_and_cannot_be_read() -> None:
    frame = weather(400, 3)
    parts = split_rows(400, 4)
    disguise = Disguise(bytes(range(32)), dummies=3.0, pool=16)
    columns = ["sky", "wind"]
    plain = LocalGrid({f"c{n}": RulesSilo(frame[rows]) for n, rows in enumerate(parts)})
    hidden = LocalGrid(
        {f"c{n}": RulesSilo(frame[rows], protect=disguise.hide) for n, rows in enumerate(parts)}
    )
    merged = learn_one_shot(hidden, columns).model
    expected = learn_one_shot(plain, columns).model
    assert len(merged) > len(expected)
    assert not any(cell.startswith(("s", "w")) for rule in merged.rules for _, cell in rule.left)
    cells = [(name, cell) for name in columns for cell in frame[name].unique().to_list()]
    assert disguise.reveal(merged, cells) == expected


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0, 5), st.binary(min_size=16, max_size=32))
def test_what_is_hidden_comes_back_as_it_was(seed: int, dummies: float, key: bytes) -> None:
    frame = weather(60, seed)
    real = replace(cba(as_cells(frame.drop("class")), frame["class"], CbaSettings(support=0.1)), rest=None)
    real = replace(real, rules=tuple(replace(rule, counts=None) for rule in real.rules))
    disguise = Disguise(key, dummies=dummies, pool=8)
    cells = [(name, cell) for name in ("sky", "wind") for cell in frame[name].unique().to_list()]
    hidden = disguise.hide(real)
    assert disguise.reveal(hidden, cells) == real
    order = [(-rule.confidence, -rule.support) for rule in hidden.rules]
    assert order == sorted(order)  # a dummy does not stand out


def test_disguise_refuses_a_short_key() -> None:
    with pytest.raises(InvalidParameter, match="key"):
        Disguise(b"short")


def test_noise_has_the_distribution_it_promises() -> None:
    """Shares of -2 .. 2 in 4,000 draws, each within 6 deviations: false alarm in 1 run of 10^8."""
    scale = Fraction(3, 2)
    drawn = np.array([discrete_laplace(scale) for _ in range(4000)])
    ratio = math.exp(-1 / scale)
    for value in range(-2, 3):
        expected = (1 - ratio) / (1 + ratio) * ratio ** abs(value)
        deviation = math.sqrt(expected * (1 - expected) / len(drawn))
        assert abs(np.mean(drawn == value) - expected) < 6 * deviation


def test_noisy_rules_can_be_merged_and_say_their_epsilon() -> None:
    frame = weather(500, 2)
    rules = cba(as_cells(frame.drop("class")), frame["class"], CbaSettings(support=0.05))
    noisy = perturb_rules(rules, 1.5)
    assert noisy.epsilon == 1.5
    assert noisy.scale == pytest.approx((len(rules) + 1) / 1.5)
    noisy.rules.check()
    MergedRules().add(noisy.rules)
    close = perturb_rules(rules, 1e6).rules
    assert [rule.support for rule in close.rules] == [rule.support for rule in rules.rules]
    for epsilon in (0, -1, math.nan):
        with pytest.raises(InvalidParameter):
            perturb_rules(rules, epsilon)
    with pytest.raises(InvalidParameter, match="counts"):
        perturb_rules(part(10, Rule(BLUE, "dry", 0.5, 1.0)), 1.0)


def test_noise_is_paid_from_the_ledger_before_it_is_drawn() -> None:
    frame = weather(500, 2)
    rules = cba(as_cells(frame.drop("class")), frame["class"], CbaSettings(support=0.05))
    ledger = Ledger.temporary(epsilon=1.0)
    first = perturb_rules(rules, 0.75, ledger=ledger, what="clinic 1")
    assert first.paid
    assert ledger.remaining().epsilon == pytest.approx(0.25)
    assert ledger.history()[-1]["what"] == "clinic 1"
    with pytest.raises(BudgetExceeded):
        perturb_rules(rules, 0.75, ledger=ledger)
    assert ledger.remaining().epsilon == pytest.approx(0.25)
    with pytest.raises(InvalidParameter, match="counts"):
        perturb_rules(part(10, Rule(BLUE, "dry", 0.5, 1.0)), 0.1, ledger=ledger)
    assert ledger.remaining().epsilon == pytest.approx(0.25)  # what cannot be done costs nothing


def test_a_replaced_row_moves_twice_as_much_and_persons_are_refused() -> None:
    rules = part(10, Rule(BLUE, "dry", 0.5, 1.0, (5, 0)))
    replaced = perturb_rules(rules, 1.0, ledger=Ledger.temporary(epsilon=1.0, relation="replace"))
    assert replaced.scale == 2 * perturb_rules(rules, 1.0, ledger=Ledger.temporary(epsilon=1.0)).scale
    with pytest.raises(InvalidParameter, match="person"):
        perturb_rules(rules, 1.0, ledger=Ledger.temporary(epsilon=1.0, subject="patient", rows_per_person=3))


def test_a_rule_that_comes_twice_does_not_count_twice() -> None:
    twice = part(10, Rule(BLUE, "dry", 0.6, 1.0), Rule(BLUE, "dry", 0.6, 1.0))
    merged = MergedRules().add(part(10, Rule(GREY, "dry", 0.1, 1.0)))
    with pytest.raises(InvalidInput, match="twice"):
        merged.add(twice)
    assert merged.parts == 1
    with pytest.raises(InvalidInput, match="one column twice"):
        merged.add(part(10, Rule((*BLUE, *GREY), "dry", 0.1, 1.0)))
    with pytest.raises(InvalidInput, match="one for each class"):
        merged.add(part(10, Rule(BLUE, "dry", 0.1, 1.0, (1,))))


@pytest.mark.parametrize(
    "text",
    [
        b"[" * 100_000,
        b'{"columns": [["sky"], 3], "classes": [{}], "rules": [], "default": {}, "rows": 1, "rest": null}',
        b'{"columns": ["sky"], "classes": ["k0"], "rules": [], "default": "k0", "rows": 1, "rest": null}',
        b'{"columns": COLUMNS, "classes": ["k0"], "rules": [], "default": "k0", "rows": true, "rest": null}',
        b'{"columns": COLUMNS, "classes": ["k0"], "rules": [], "default": "k0", "rows": 1, "rest": [1, 2]}',
    ],
)
def test_rules_that_are_no_rules_stop_neither_the_server_nor_the_others(text: bytes) -> None:
    class Forger:
        def answer(self, message: Message) -> Message:
            return message.reply(rules=text.replace(b"COLUMNS", b'["sky", "wind"]'))

    learnt = learn_one_shot(LocalGrid({"good": RulesSilo(weather(100)), "bad": Forger()}), ["sky", "wind"])
    assert learnt.nodes == ("good",)


def test_a_run_without_a_model_leaves_the_merged_rules_as_they_were() -> None:
    state = MergedRules()
    frame = weather(200)
    learn_one_shot(grid_of(frame, 2), ["sky", "wind"], into=state)
    before = state.to_json()
    with pytest.raises(Infeasible):
        learn_one_shot(grid_of(frame, 2), ["sky", "wind"], into=state, least_clients=3)
    assert state.to_json() == before


def test_neither_counts_by_class_nor_few_people_leave_with_the_rules() -> None:
    frame = weather(60, 5)
    settings = CbaSettings(support=0.01, confidence=0.1)
    for least in (1, 6):
        sent = RulesSilo(frame, least_count=least).answer(
            Message("rules", "run", 1, {"columns": ["sky", "wind"], "settings": asdict(settings)})
        )
        rules = RuleList.from_json(sent.body["rules"].decode())
        assert rules.rest is None
        assert all(rule.counts is None for rule in rules.rules)
        right = np.array([rule.support * rules.rows for rule in rules.rules])
        wrong = right / [rule.confidence for rule in rules.rules] - right
        assert right.min().round(6) >= least
        assert not ((wrong.round(6) > 0) & (wrong.round(6) < least)).any()
    with pytest.raises(InvalidInput, match="fewer than 100"):
        RulesSilo(frame, least_count=100).answer(
            Message("rules", "run", 1, {"columns": ["sky", "wind"], "settings": asdict(settings)})
        )


def test_every_real_rule_has_a_dummy_of_its_figures_and_size_beside_it() -> None:
    frame = weather(400, 3)
    real = cba(as_cells(frame.drop("class")), frame["class"], CbaSettings(support=0.05))
    hidden = Disguise(bytes(range(32)), dummies=1.0, pool=64).hide(real)
    looks = Counter((len(rule.left), rule.right, rule.support, rule.confidence) for rule in hidden.rules)
    for rule in real.rules:
        assert looks[len(rule.left), rule.right, rule.support, rule.confidence] >= 2


def test_agreed_values_are_read_alike_whatever_a_column_was_taken_for() -> None:
    schema = RulesSchema(columns=("sex",), target="ill", values={"sex": ("f", "m"), "ill": ("no", "yes")})
    words = pl.DataFrame({"sex": ["f", "m", "x"], "ill": ["no", "yes", "yes"]})
    truths = words.with_columns(pl.col("ill") == "yes")  # as DuckDB has them where no other word is
    assert schema.cells(words).rows() == schema.cells(truths).rows() == words.rows()
