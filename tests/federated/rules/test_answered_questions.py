"""What rows answered is remembered on their owner's disk: starting a client again gives no further path."""

from __future__ import annotations

import itertools
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import InvalidInput, OutputFailed
from mahrem.federated.rules import (
    AgreedClient,
    AnsweredQuestions,
    RulesPlan,
    RulesSchema,
    RulesSilo,
    learn_exact,
)
from mahrem.federated.wire import LocalGrid, Message

COLUMNS = ("a", "b", "c")
PLAN = RulesPlan(sum="plain", support=0.1, confidence=0.4, least_clients=1)
KEY = bytes(range(32))


def table(rows: int = 150, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    cells = {name: rng.integers(0, 3, rows) for name in COLUMNS}
    wrong = rng.random(rows) < 0.2
    frame = pl.DataFrame({**cells, "y": (cells["a"] + cells["b"] + wrong) % 2})
    return frame.select(pl.concat_str(pl.lit(f"{name}-"), name).alias(name) for name in frame.columns)


def started(folder: Path, plan: RulesPlan = PLAN, key: bytes = KEY, **more: bool) -> AgreedClient:
    """Start a client, as if nothing were known but what is on disk."""
    schema = RulesSchema(columns=COLUMNS, target="y")
    answered = AnsweredQuestions(folder, key, "f1", **more)
    return AgreedClient(plan, schema, RulesSilo(table(), "y", least_count=plan.least_count), 0, answered)


class Restarting:
    """A client that is started again before every question, and keeps what it was asked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.heard: list[Message] = []

    def answer(self, message: Message) -> Message:
        self.heard.append(message)
        return started(self.folder).answer(message)


def honest(folder: Path) -> list[Message]:
    client = Restarting(folder)
    learn_exact(LocalGrid({"north": client}), COLUMNS, PLAN)
    return [question for question in client.heard if question.kind != "frequent"]


def other_items(question: Message) -> Message:
    """Ask for the same counts by other classes, which is another path."""
    return Message(question.kind, "other", 1, {**question.body, "classes": ["y-0"]})


def test_a_run_goes_on_though_its_client_starts_again_before_every_question(tmp_path: Path) -> None:
    plain = RulesSilo(table(), "y")
    expected = learn_exact(LocalGrid({"north": plain}), COLUMNS, PLAN).model
    for _ in range(2):  # and again, as often as one likes
        grid = LocalGrid({"north": Restarting(tmp_path / "rows")})
        assert learn_exact(grid, COLUMNS, PLAN).model == expected


def test_after_a_start_other_questions_are_refused_until_the_owner_agrees_to_them(tmp_path: Path) -> None:
    first, *_ = honest(tmp_path / "rows")
    with pytest.raises(InvalidInput, match="another question came next") as refused:
        started(tmp_path / "rows").answer(other_items(first))
    assert "despite='asked'" not in str(refused.value)  # told to the owner alone
    assert "despite='asked'" in str(refused.value.__cause__)
    agreed = started(tmp_path / "rows", agreed=True)
    agreed.answer(other_items(first))
    third = replace(first, body={**first.body, "classes": ["y-1"]})
    with pytest.raises(InvalidInput, match="another question came next"):
        agreed.answer(third)  # one more, not any
    again = started(tmp_path / "rows")
    again.answer(other_items(first))
    with pytest.raises(InvalidInput, match="another question came next"):
        again.answer(third)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(1, 40), min_size=4, max_size=5), st.integers(0, 2**32 - 1), st.integers(2, 7))
def test_a_server_that_waits_for_starts_gets_no_more_lists_than_one_that_does_not(
    people: list[int], seed: int, least: int
) -> None:
    """Each start was one list of rules more, of any cells: rounded counts of all unions give each exactly."""
    rng = np.random.default_rng(seed)
    ill = [int(rng.integers(0, many + 1)) for many in people]
    rows = [(f"t{n}", "yes" if k < ill[n] else "no") for n, many in enumerate(people) for k in range(many)]
    frame = pl.DataFrame(rows, schema=["town", "y"], orient="row")
    schema, plan = RulesSchema(columns=("town",), target="y"), replace(PLAN, longest=1)
    towns = len(people)
    base = {"columns": ["town"], "classes": ["no", "yes"], "places": [0] * towns}
    base["cells"] = [f"t{n}" for n in range(towns)]
    with tempfile.TemporaryDirectory() as folder:

        def start() -> AgreedClient:
            answered = AnsweredQuestions(Path(folder) / "rows", KEY)
            return AgreedClient(plan, schema, RulesSilo(frame, "y", least_count=least), 0, answered)

        told = 0
        for left_out in itertools.chain.from_iterable(
            itertools.combinations(range(towns), size) for size in range(towns)
        ):
            client, rest = start(), [n for n in range(towns) if n not in left_out]
            zeros = np.zeros(len(rest), np.int64)
            client.numbers("counts", {**base, "sets": np.arange(towns)[:, None]})
            with suppress(InvalidInput):
                client.numbers(
                    "cover", {**base, "left": np.array(rest)[:, None], "right": zeros, "sure": zeros}
                )
                told += 1
        assert told == 1  # the first list of rules, and no other


def test_two_processes_that_answer_for_the_same_rows_answer_one_path_together(tmp_path: Path) -> None:
    one, two = started(tmp_path / "rows"), started(tmp_path / "rows")
    first, *_ = honest(tmp_path / "elsewhere")
    one.answer(first)
    two.answer(first)
    with pytest.raises(InvalidInput, match="another question came next"):
        two.answer(other_items(first))


def test_files_are_their_owners_alone_and_show_no_cell(tmp_path: Path) -> None:
    honest(tmp_path / "state" / "rows")
    files = sorted((tmp_path / "state" / "rows").iterdir())
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert stat.S_IMODE((tmp_path / "state" / "rows").stat().st_mode) == 0o700
    content = b"".join(path.read_bytes() for path in files)
    assert not any(f"{name}-{value}".encode() in content for name in (*COLUMNS, "y") for value in range(3))


def changed(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))


def exchanged(path: Path) -> None:
    other = next(each for each in sorted(path.parent.glob("*.step")) if each != path)
    here, there = path.read_bytes(), other.read_bytes()
    path.write_bytes(there)
    other.write_bytes(here)


def made_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGE: dict[str, Callable[[Path], object]] = {
    "a bit": changed,
    "its end": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "all of it": lambda path: path.write_bytes(b""),
    "its place": exchanged,
    "its kind": made_a_folder,
    "its being there": lambda path: path.unlink(),
    "its name": lambda path: path.rename(path.with_name("999999.step")),
}


def damaged(folder: Path, what: str) -> Iterator[None]:
    """Do each damage to each file for which something comes after it."""
    honest(folder / "whole" / "rows")
    steps = sorted((folder / "whole" / "rows").glob("*.step"))
    for place in range(len(steps) - 1):
        copy = folder / str(place) / "rows"
        copy.mkdir(parents=True)
        for step in steps:
            (copy / step.name).write_bytes(step.read_bytes())
        DAMAGE[what](copy / steps[place].name)
        with pytest.raises(InvalidInput, match="bring it back as it was"):
            started(copy)
        yield


@pytest.mark.parametrize("what", DAMAGE)
def test_a_client_that_cannot_read_what_was_answered_does_not_begin(what: str, tmp_path: Path) -> None:
    assert sum(1 for _ in damaged(tmp_path, what)) >= 2


def test_without_the_key_of_before_nothing_is_answered(tmp_path: Path) -> None:
    honest(tmp_path / "rows")
    with pytest.raises(InvalidInput, match="bring it back as it was"):
        started(tmp_path / "rows", key=bytes(32))


def test_steps_of_other_rows_are_no_steps_of_these(tmp_path: Path) -> None:
    honest(tmp_path / "rows")
    (tmp_path / "rows").rename(tmp_path / "others")
    with pytest.raises(InvalidInput, match="bring it back as it was"):
        started(tmp_path / "others")


def test_nothing_is_answered_that_cannot_be_written_down(tmp_path: Path) -> None:
    first, second, *_ = honest(tmp_path / "elsewhere")
    client = started(tmp_path / "rows")
    client.answer(first)
    (tmp_path / "rows" / "000001.step").mkdir()  # the name of the next is taken
    with pytest.raises((OutputFailed, InvalidInput)):
        client.answer(second)
    (tmp_path / "rows" / "000001.step").rmdir()
    (tmp_path / "file").write_text("")
    with pytest.raises((OutputFailed, InvalidInput)):
        started(tmp_path / "file" / "rows").answer(first)


def test_a_question_that_was_lost_with_its_answer_is_answered_when_it_is_asked_again(tmp_path: Path) -> None:
    """Killed after it was written down and before it was sent, a client gives the same numbers."""
    first, *_ = honest(tmp_path / "elsewhere")
    before = started(tmp_path / "rows").answer(first)
    after = started(tmp_path / "rows").answer(first)
    assert before.body["numbers"].tolist() == after.body["numbers"].tolist()


def test_another_federation_over_the_same_rows_is_known_as_one(tmp_path: Path) -> None:
    honest(tmp_path / "rows")
    assert not AnsweredQuestions(tmp_path / "rows", KEY, "f1").asked_by_others()
    assert AnsweredQuestions(tmp_path / "rows", KEY, "f2").asked_by_others()


@pytest.mark.parametrize("remembering", [False, True])
def test_federations_that_ask_at_every_support_what_is_frequent_do_not_read_counts(
    tmp_path: Path, *, remembering: bool
) -> None:
    """Which cells reach a support leaves in the clear, also under masks; all supports are a count each."""
    rows, joined = table(100), 0
    schema = RulesSchema(columns=COLUMNS, target="y")
    read: dict[tuple[str, str], float] = {}
    for hundredth in range(1, 100):
        plan = replace(PLAN, support=hundredth / 100, least_count=5)
        answered = AnsweredQuestions(tmp_path / "rows", KEY, f"federation of {hundredth}")
        if answered.asked_by_others():
            continue  # what a client finds before it joins another federation, so that it stays away
        joined += 1
        kept = answered if remembering else None
        client = AgreedClient(plan, schema, RulesSilo(rows, "y", least_count=5), 0, kept)
        body = {"columns": list(COLUMNS), "support": plan.support, "longest": 1}
        asked = Message("frequent", "run", 1, {**body, "by_rule": False, "most": None})
        told = client.answer(asked).body
        for place, cell in zip(told["places"].tolist(), told["cells"], strict=True):
            read[COLUMNS[place], cell] = hundredth
    counts = {(name, cell): many for name in COLUMNS for cell, many in rows[name].value_counts().rows()}
    assert (joined, read == counts) == ((1, False) if remembering else (99, True))
