"""A client of exact rules answers one run's questions in their order, whoever asks for what else."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import InvalidInput
from mahrem.federated.rules import AgreedClient, ExactSettings, RulesPlan, RulesSchema, RulesSilo, learn_exact
from mahrem.federated.runs import split_rows
from mahrem.federated.wire import LocalGrid, Message

COLUMNS = ("a", "b", "c")
SCHEMA = RulesSchema(columns=COLUMNS, target="y")
PLAN = RulesPlan(sum="plain", support=0.1, confidence=0.4, least_clients=1)
Change = Callable[[dict[str, Any]], None]


def table(rows: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    cells = {name: [f"{name}{value}" for value in rng.integers(0, 3, rows)] for name in COLUMNS}
    lean = [
        (int(first[1]) + int(second[1])) % 2 for first, second in zip(cells["a"], cells["b"], strict=True)
    ]
    wrong = rng.random(rows) < 0.2
    return pl.DataFrame(
        {**cells, "y": [str(int(label ^ odd)) for label, odd in zip(lean, wrong, strict=True)]}
    )


def client(rows: pl.DataFrame, least: int = 1, lost: int = 0, plan: RulesPlan = PLAN) -> AgreedClient:
    return AgreedClient(plan, SCHEMA, RulesSilo(rows, "y", least_count=least), lost=lost)


@dataclass
class Listening:
    """Keeps what a client was asked."""

    inside: AgreedClient
    heard: list[Message] = field(default_factory=list)
    lost_at: int = 10**9

    def answer(self, message: Message) -> Message:
        if len(self.heard) >= self.lost_at:
            raise InvalidInput("gone")
        self.heard.append(message)
        return self.inside.answer(message)


def parts_of(rows: int, seed: int, clients: int) -> dict[str, pl.DataFrame]:
    frame = table(rows, seed)
    return {f"c{n}": frame[part] for n, part in enumerate(split_rows(rows, clients, seed=seed))}


RUNS = (
    st.integers(0, 2**32 - 1),
    st.sampled_from([3, 40, 150]),
    st.integers(1, 4),
    st.sampled_from([1, 2, 5]),
)


@settings(max_examples=40, deadline=None)
@given(*RUNS)
def test_honest_runs_learn_what_they_would_learn_from_clients_that_answer_anything(
    seed: int, rows: int, clients: int, least: int
) -> None:
    """Once, and again in another run over the same clients."""
    parts = parts_of(rows, seed, clients)
    open_ones = LocalGrid({name: RulesSilo(part, "y", least_count=least) for name, part in parts.items()})
    held = LocalGrid({name: client(part, least) for name, part in parts.items()})

    def learnt(grid: LocalGrid) -> Any:
        try:
            return replace(learn_exact(grid, COLUMNS, PLAN), left_out={})
        except Exception as error:  # noqa: BLE001 - rounded counts of few rows may leave nothing, to both alike
            return str(error)

    expected = learnt(open_ones)
    assert learnt(held) == expected == learnt(held)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6))
def test_a_run_that_lost_a_client_goes_on_with_the_others_as_often_as_was_agreed(seed: int, at: int) -> None:
    parts = parts_of(150, seed, 3)

    def learnt(make: Callable[[pl.DataFrame], Any]) -> Any:
        made = {name: make(part) for name, part in parts.items()}
        made["c0"] = Listening(made["c0"], lost_at=at)
        return learn_exact(LocalGrid(made), COLUMNS, ExactSettings(cba=PLAN.cba)).model

    assert learnt(lambda part: client(part, lost=1)) == learnt(lambda part: RulesSilo(part, "y"))


def questions(rows: pl.DataFrame, least: int = 1) -> list[Message]:
    """Give what an honest run over one client asks."""
    heard = Listening(client(rows, least))
    learn_exact(LocalGrid({"north": heard}), COLUMNS, PLAN)
    return heard.heard


def of_kind(asked: list[Message], kind: str) -> list[Message]:
    return [question for question in asked if question.kind == kind]


HONEST = questions(table(150, 1))
FREQUENT, FIRST, LONGER, RULES = 0, 1, 2, next(n for n, one in enumerate(HONEST) if one.kind == "cover")


def swap(name: str) -> Change:
    def change(body: dict[str, Any]) -> None:
        body[name] = body[name][::-1]

    return change


def put(**values: Any) -> Change:
    return lambda body: body.update(values)


def without(place: int) -> Change:
    def change(body: dict[str, Any]) -> None:
        for name in ("left", "right", "sure"):
            body[name] = np.delete(body[name], place, axis=0)

    return change


# after how many honest questions, which honest question is changed, and how
UNASKED: dict[str, tuple[int, int, Change]] = {
    "another support": (0, FREQUENT, put(support=0.9)),
    "frequent by class": (0, FREQUENT, put(by_rule=True)),
    "the most frequent": (0, FREQUENT, put(most=1)),
    "rules before counts": (1, RULES, put()),
    "pairs before items": (1, LONGER, put()),
    "some items only": (1, FIRST, lambda body: body.update(sets=body["sets"][1:])),
    "one item twice": (
        1,
        FIRST,
        lambda body: body.update(sets=body["sets"][[0, *range(len(body["sets"]) - 1)]]),
    ),
    "items in another order": (1, FIRST, swap("cells")),
    "a class twice": (1, FIRST, put(classes=["0", "0"])),
    "no items": (1, FIRST, lambda body: body.pop("cells")),
    "other items then": (
        2,
        LONGER,
        lambda body: body.update(places=body["places"][1:], cells=body["cells"][1:]),
    ),
    "one class then": (2, LONGER, put(classes=["0"])),
    "an empty set": (2, LONGER, lambda body: body.update(sets=np.full_like(body["sets"], -1))),
    "sets of the same size again": (3, LONGER, lambda body: body.update(sets=body["sets"][1:])),
    "other sets in another run": (RULES, LONGER, lambda body: body.update(sets=body["sets"][1:])),
    "counts after rules": (RULES + 1, LONGER, lambda body: body.update(sets=body["sets"][1:])),
    "a rule that is sure at once": (RULES, RULES, lambda body: body.update(sure=body["sure"] + 1)),
    "a rule twice": (
        RULES,
        RULES,
        lambda body: body.update(left=body["left"][[0, *range(len(body["left"]) - 1)]]),
    ),
    "a class that is none": (RULES, RULES, lambda body: body.update(right=body["right"] + 9)),
    "rules in another order": (RULES + 1, RULES, swap("left")),
    "rules with other classes": (RULES + 1, RULES, lambda body: body.update(right=1 - body["right"])),
    "a list without its first rule": (RULES + 1, RULES, without(0)),
    "a sure rule that is no longer": (RULES + 1, RULES, without(-1)),
    "another whole list": (len(HONEST), RULES, lambda body: (swap("left")(body), swap("right")(body))[0]),
}


@pytest.mark.parametrize("name", UNASKED)
def test_what_an_honest_run_does_not_ask_next_is_refused(name: str) -> None:
    before, place, change = UNASKED[name]
    rows = client(table(150, 1))
    for question in HONEST[:before]:
        rows.answer(question)
    body = dict(HONEST[place].body)
    change(body)
    with pytest.raises(InvalidInput):
        rows.answer(Message(HONEST[place].kind, "run", place, body))
    for question in HONEST:  # nor does it keep the honest run from being answered
        rows.answer(question)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(1, 40), min_size=4, max_size=6), st.integers(0, 2**32 - 1), st.integers(2, 7))
def test_a_server_that_asks_for_every_union_of_cells_gets_one_list_and_what_is_left_of_it(
    people: list[int], seed: int, least: int
) -> None:
    """Counts of all unions, rounded down, pin each count exactly; a run has one nested list of them."""
    rng = np.random.default_rng(seed)
    ill = [int(rng.integers(0, many + 1)) for many in people]
    rows = [(f"t{n}", "yes" if k < ill[n] else "no") for n, many in enumerate(people) for k in range(many)]
    schema = RulesSchema(columns=("town",), target="y")
    frame = pl.DataFrame(rows, schema=["town", "y"], orient="row")
    held = AgreedClient(replace(PLAN, longest=1), schema, RulesSilo(frame, "y", least_count=least))
    towns = len(people)
    base = {"columns": ["town"], "classes": ["no", "yes"], "places": [0] * towns}
    base["cells"] = [f"t{n}" for n in range(towns)]
    held.numbers("counts", {**base, "sets": np.arange(towns)[:, None]})
    answered = 0
    for left_out in itertools.chain.from_iterable(
        itertools.combinations(range(towns), size) for size in range(towns)
    ):
        rest = [n for n in range(towns) if n not in left_out]
        zeros = np.zeros(len(rest), np.int64)
        try:
            held.numbers("cover", {**base, "left": np.array(rest)[:, None], "right": zeros, "sure": zeros})
        except InvalidInput:
            continue
        answered += 1
        for town in left_out:  # they were left out as nobody could be counted in them here
            assert people[town] - ill[town] < least
    assert 1 <= answered <= towns + 1
