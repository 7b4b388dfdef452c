"""What a server could do within the letter of a plan, and whom it could make up: a client stays away."""

from __future__ import annotations

import secrets
import stat
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from federation_processes import load_flower
from mahrem.errors import InvalidInput, OutputFailed
from mahrem.federated.flower import Federation, init_federation, join_federation, make_key_files
from mahrem.federated.flower._memory import TableMemory
from mahrem.federated.rules import RulesPlan, RulesSchema, RulesSilo
from mahrem.federated.runs import ClientSettings, RulesTask, WeightsTask
from mahrem.federated.weights import LearningPlan, Protections, propose_schema
from silo_learning import people

NAMES = ("east", "north", "south")
TABLE = people(200)
RULES = RulesSchema(columns=("age", "town"), target="class", bins={"age": (40,)})
SCHEMA = propose_schema(TABLE, "class")
COUNTS = RulesPlan(least_count=5)
NOISY = LearningPlan(model="logistic", rounds=2, sum="plain", protections=Protections(clip=1.0, epsilon=2.0))


@pytest.fixture
def base(tmp_path: Path, missing_part: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> Path:
    load_flower(missing_part)
    monkeypatch.setenv("MAHREM_STATE", str(tmp_path / "state"))
    TABLE.write_csv(tmp_path / "table.csv")
    return tmp_path


def made(base: Path, plan: RulesPlan | LearningPlan, name: str = "study") -> Path:
    """Make a federation with the same keys whenever it is called."""
    task = RulesTask(RULES, plan) if isinstance(plan, RulesPlan) else WeightsTask(SCHEMA, plan)
    keys = base / "keys"
    known = {one: keys / f"{one}.pub" if keys.exists() else None for one in NAMES}
    init_federation(base / name, task, known)
    if not keys.exists():
        (base / name / "clients").rename(keys)
    return base / name / "federation.toml"


def join(base: Path, file: Path, confirm: Any = None, **settings: Any) -> None:
    """Join as North, up to the server, which is not there."""
    chosen = ClientSettings(patience=0.01, **settings)
    with pytest.raises(OutputFailed, match="not reached"):
        join_federation(file, base / "table.csv", base / "keys" / "north.key", chosen, confirm=confirm)


def refused(base: Path, file: Path, why: str, **settings: Any) -> None:
    chosen = ClientSettings(patience=0.01, **settings)
    with pytest.raises(InvalidInput, match=why):
        join_federation(file, base / "table.csv", base / "keys" / "north.key", chosen)


def keys_of(base: Path, *names: str) -> tuple[str, ...]:
    return tuple(str(base / "keys" / f"{name}.pub") for name in names)


def test_a_sum_with_members_that_the_server_may_have_made_up_is_not_joined(base: Path) -> None:
    """Of three members two puppets: the masked sum of all would be what North alone counts."""
    file = made(base, COUNTS)
    refused(base, file, r"check=2 faults: east: a member whose key.*despite='stranger:east'")
    refused(base, file, r"check=1 faults: south", known=keys_of(base, "east"))
    refused(base, file, r"check=1 faults: south", yes=True)  # who agrees to a plan unseen vouches for nobody
    join(base, file, known=keys_of(base, "south"))  # East's key is remembered
    join(base, file)


def test_one_who_was_shown_all_keys_and_agreed_vouches_for_them(base: Path) -> None:
    shown: list[str] = []

    def agree(words: Sequence[str]) -> bool:
        shown.extend(words)
        return True

    join(base, made(base, COUNTS), agree, review=True)
    assert sum("key" in line and any(name in line for name in NAMES) for line in shown) >= 3
    join(base, made(base, COUNTS, "again"), agree, review=True)


def test_another_key_under_a_known_name_is_a_stranger(base: Path) -> None:
    file = made(base, COUNTS)
    join(base, file, known=keys_of(base, "east", "south"))
    (base / "keys" / "east.pub").unlink()
    (base / "keys" / "east.key").unlink()
    make_key_files(base / "keys" / "east")
    refused(base, made(base, COUNTS, "forged"), "check=1 faults: east: a member whose key")


def test_files_of_keys_that_are_none_are_refused_by_name(base: Path) -> None:
    file = made(base, COUNTS)
    refused(base, file, "known='nobody.pub' cannot be read", known=(str(base / "nobody.pub"),))
    refused(base, file, "key", known=(str(base / "table.csv"),))
    state = base / "state" / "federations" / "known.jsonl"
    state.parent.mkdir(parents=True, exist_ok=True)  # a client that stayed away wrote down why
    state.write_text("broken")
    refused(base, file, "known keys cannot be read; mend it")


@pytest.mark.parametrize(
    "plan",
    [
        LearningPlan(model="logistic", rounds=2),
        LearningPlan(model="mlp", rounds=2, sum="masked", protections=Protections(clip=1.0)),
        LearningPlan(model="boosting", rounds=2, sum="masked", cell_epsilon=0),
    ],
)
def test_what_is_learnt_without_noise_is_joined_by_those_who_agreed_to_that(
    base: Path, plan: LearningPlan
) -> None:
    """The server may send weights that answer to one person from the second round on."""
    file, known = made(base, plan), keys_of(base, "east", "south")
    refused(base, file, "leaves without noise.*despite='noiseless:class'", known=known)
    join(base, file, known=known, despite=("noiseless",))
    join(base, file, known=known, yes=True)
    join(base, file)  # it was agreed to, signed


def test_a_table_that_is_anonymised_first_needs_no_noise(base: Path) -> None:
    file = made(base, LearningPlan(model="logistic", rounds=2))
    join(base, file, policy={"quasi": ["age", "town"], "k": 3})


def test_exact_counts_are_joined_by_those_who_agreed_to_that(base: Path) -> None:
    file, known = made(base, RulesPlan(least_count=1)), keys_of(base, "east", "south")
    refused(base, file, "counts leave as they are.*despite='exact:class'", known=known)
    refused(base, file, "groups of fewer than five.*despite='exact:class'", known=known, least_count=4)
    join(base, file, least_count=5)
    few = made(base, RulesPlan(least_count=4), "few")
    refused(base, few, "groups of fewer than five.*despite='exact:class'")
    refused(base, few, "other multiples than.*despite='regrouped:class'", least_count=6)
    join(base, file, yes=True, despite=("regrouped",))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(1, 24), min_size=2, max_size=5), st.sampled_from(["masked", "plain"]))
def test_counts_that_are_rounded_in_several_ways_are_not_put_together(
    base: Path, leasts: list[int], way: str
) -> None:
    """Of what is sent each says no more than one before it did, so that counts stay as wide."""
    file = base / "study" / "federation.toml"
    agreed = Federation.read(file if file.exists() else made(base, COUNTS))
    folder = base / secrets.token_hex(4)
    told: list[int] = []
    for least in leasts:
        plan = RulesPlan(least_count=least, sum=way)
        memory = TableMemory(folder, "north", "table.csv", replace(agreed, task=RulesTask(RULES, plan)))
        if not memory.regrouped(ClientSettings()):
            memory.keep_groups(ClientSettings())
            told.append(least)
    assert told[0] == leasts[0]
    held = {tuple(count // least for least in told) for count in range(200)}
    assert len(held) == len({count // told[0] for count in range(200)})


def test_a_promise_that_is_split_over_several_plans_is_noticed(base: Path) -> None:
    """Ten federations of epsilon 2 over the same rows are one of 20, whatever each of them says."""
    first, second = made(base, NOISY), made(base, NOISY, "second")
    assert Federation.read(first).fingerprint() != Federation.read(second).fingerprint()
    join(base, first)
    refused(base, second, "answered with noise before.*despite='promised:class'")
    refused(base, first, "answered with noise before")  # another start is another whole promise
    join(base, second, despite=("promised",))
    (base / "state" / "federations" / "promises.jsonl").write_text("broken")
    refused(base, second, "earlier promises cannot be read; mend it")


def test_a_sum_of_two_is_joined_by_those_who_agreed_to_that(base: Path) -> None:
    """Of two members each subtracts itself; of three, one who sits at the server and one more do."""
    known = keys_of(base, "east", "south")
    file = made(base, replace(COUNTS, least_clients=2))
    refused(base, file, "two members alone.*despite='pair:class'", known=known)
    join(base, file, known=known, despite=("pair",))
    join(base, made(base, replace(COUNTS, least_clients=3), "three"), known=known)


@pytest.mark.parametrize(
    "plan",
    [
        replace(COUNTS, recount=True, least_clients=3),
        LearningPlan(model="logistic", rounds=2, sum="masked", fraction=0.7, least_clients=3),
    ],
)
def test_a_plan_under_which_nobody_remembers_whom_sums_were_over_needs_agreement(
    base: Path, plan: RulesPlan | LearningPlan
) -> None:
    """A server writes ``recount`` into the plan and drops one hospital in the second half of a run."""
    known = keys_of(base, "east", "south")
    file = made(base, plan)
    settings: dict[str, Any] = {"known": known}
    if isinstance(plan, LearningPlan):
        settings["policy"] = {"quasi": ["age", "town"], "k": 3}  # the table itself needs no noise then
    refused(base, file, "other clients from one round.*despite='recount:class'", **settings)
    join(base, file, despite=("recount",), **settings)


NEW = pl.DataFrame({"age": [41], "town": ["elm"], "class": ["yes"]}).cast(dict(TABLE.schema))


def counted(table: pl.DataFrame, least: int) -> Any:
    """Count every cell by class, as a client answers."""
    silo = RulesSilo(RULES.cells(table), "class", least_count=least)
    named = silo.table.items.pairs()
    places, cells = [place for place, _ in named], [cell for _, cell in named]
    body = {
        "columns": list(silo.table.items.columns),
        "classes": ["no", "yes"],
        "places": places,
        "cells": cells,
    }
    sets = np.arange(len(named))[:, None]
    return named, silo.numbers("counts", {**body, "sets": sets}).reshape(-1, 2)


def test_one_who_joined_between_two_runs_is_not_read_off_their_difference(base: Path) -> None:
    """The same members, plan and keys; a server that knows when somebody was admitted runs again."""
    more = pl.concat([TABLE, NEW])
    named, before = counted(TABLE, 1)
    told = counted(more, 1)[1] - before
    cells = {cell for (_, cell), moved in zip(named, told[1:], strict=True) if moved.any()}
    assert "elm" in cells  # what it would get: the cells of the new one, and the class
    assert told[1:].any(axis=0).tolist() == [False, True]

    file, known = made(base, COUNTS), keys_of(base, "east", "south")
    join(base, file, known=known)
    join(base, file)  # the same table, as often as one likes
    TABLE.sample(fraction=1, shuffle=True, seed=1).write_csv(base / "table.csv")
    join(base, file)  # in another order
    more.write_csv(base / "table.csv")
    refused(base, file, "fewer than twenty people joined.*despite='changed:class'")
    other = made(base, replace(COUNTS, support=0.1), "other")
    refused(base, other, "fewer than twenty people joined")
    TABLE.with_columns(town=pl.col("town").reverse()).head(TABLE.height - 1).vstack(NEW).write_csv(
        base / "table.csv"
    )
    refused(base, file, "fewer than twenty")  # as many rows as before
    pl.concat([TABLE, people(20, 9)]).write_csv(base / "table.csv")
    join(base, file)  # twenty together
    state = base / "state" / "federations"
    kept = [state / "tables.jsonl", *(state / "rows").iterdir()]
    assert {stat.S_IMODE(file.stat().st_mode) for file in kept} == {0o600}
    assert not any(town.encode() in file.read_bytes() for town in TABLE["town"].unique() for file in kept)
    kept[1].write_bytes(b"broken")
    refused(base, file, "earlier tables cannot be read; mend it")
    kept[0].write_text("broken")
    refused(base, file, "earlier tables cannot be read; mend it")


def test_a_schema_that_names_the_values_of_one_person_alone_is_not_joined(base: Path) -> None:
    """Of all towns one is agreed on: what is counted is about those who live there."""
    shrunk = replace(RULES, values={"town": ("elm",)})
    init_federation(base / "shrunk", RulesTask(shrunk, COUNTS), dict.fromkeys(NAMES))
    (base / "shrunk" / "clients").rename(base / "keys")
    refused(
        base,
        base / "shrunk" / "federation.toml",
        "town: cells that were not agreed on",
        known=keys_of(base, "east", "south"),
    )
