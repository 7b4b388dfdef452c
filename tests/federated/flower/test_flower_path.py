"""The way of a real run, from question to signed answer, with the two ends of the wire in one process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from federation_processes import Wire, load_flower
from mahrem.errors import Infeasible, InvalidInput, InvalidParameter
from mahrem.federated.flower import (
    Federation,
    FederationSettings,
    FlowerGrid,
    FlowerNode,
    init_federation,
    join_federation,
    reveal_model,
)
from mahrem.federated.rules import RulesPlan, RulesResult, RulesSchema, RulesSilo
from mahrem.federated.runs import ClientSettings, RulesTask
from mahrem.federated.runs._rules_task import disguise_rules, perturb_for
from mahrem.federated.sums import ClientKeys, CountsScheme
from mahrem.federated.wire import Message
from mahrem.federated.wire.certificates import read_private_key, sign_bytes
from mahrem.learning.rules import RuleList, cba

NAMES = ("north", "south", "west", "east")
COLUMNS = ("sky", "wind")
PLAN = RulesPlan(sum="plain", support=0.1, confidence=0.4, longest=2)
SCHEMA = RulesSchema(columns=COLUMNS, target="class")
Changes = Mapping[str, Callable[[Any], Any]]


def people(rows: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    sky, wind = rng.integers(0, 3, rows), rng.integers(0, 4, rows)
    wet = (sky + wind + (rng.random(rows) < 0.15)) % 2
    return pl.DataFrame({"sky": sky, "wind": wind, "class": wet}).cast(pl.String)


TABLES = {name: people(60, seed) for seed, name in enumerate(NAMES)}


def central(*tables: pl.DataFrame) -> RuleList:
    whole = pl.concat(tables)
    return cba(whole.drop("class"), whole["class"], PLAN.cba)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory, missing_part: Callable[[str], None]) -> Path:
    load_flower(missing_part)
    folder = tmp_path_factory.mktemp("path") / "study"
    init_federation(
        folder, RulesTask(SCHEMA, PLAN), dict.fromkeys(NAMES), FederationSettings(answer_seconds=0.3)
    )
    return folder


def learnt(
    study: Path,
    plan: RulesPlan = PLAN,
    tables: Mapping[str, pl.DataFrame] = TABLES,
    changes: Changes | None = None,
    *,
    tamper: Any = None,
    protect: Any = None,
    keys: tuple[bytes | None, bytes | None] = (None, None),
) -> RulesResult:
    """Learn what a federation agreed on with some clients changed."""
    federation = replace(Federation.read(study / "federation.toml"), task=RulesTask(SCHEMA, plan))
    nodes = {}
    for name, table in tables.items():
        key = read_private_key(study / "clients" / f"{name}.key")
        own = ClientKeys(
            secret=keys[0],
            sign=lambda statement, key=key: sign_bytes(key, statement),  # type: ignore[misc]
            verify=federation.signed_by,
        )
        silo = RulesSilo(table, target="class", protect=protect)
        answerer = RulesTask(SCHEMA, plan).client(name, silo, own, members=len(tables))
        nodes[name] = FlowerNode(federation, key, (changes or {}).get(name, lambda same: same)(answerer))
        nodes[name]._name = name
    wire = Wire(nodes) if tamper is None else Wire(nodes, tamper)
    return RulesTask(SCHEMA, plan).learn(FlowerGrid(federation, wire, 1, 1), keys[1])


@dataclass
class Forging:
    """Says more of its rows than there are."""

    inside: Any

    def answer(self, message: Message) -> Message:
        said: Message = self.inside.answer(message)
        if message.kind != "counts":
            return said
        numbers = said.body["numbers"].copy()
        numbers[-1] += 10**6
        return message.reply(numbers=numbers)


@pytest.mark.parametrize("how", ["plain", "masked", "homomorphic"])
def test_every_sum_gives_the_central_model(study: Path, how: Any, request: pytest.FixtureRequest) -> None:
    keys: tuple[bytes | None, bytes | None] = (None, None)
    if how == "homomorphic":
        try:
            keys = CountsScheme.make_keys()
        except ImportError:
            request.getfixturevalue("missing_part")("TenSEAL is not installed")
    found = learnt(study, replace(PLAN, sum=how), keys=keys)
    assert found.model == central(*TABLES.values())
    assert found.exact
    assert found.nodes == tuple(sorted(NAMES))


def test_forged_counts_are_left_out_in_the_clear_and_stop_a_run_under_masks(study: Path) -> None:
    found = learnt(study, changes={"west": Forging})
    assert found.left_out == {"west": "a set has more rows than the table"}
    assert found.model == central(*(TABLES[name] for name in NAMES if name != "west"))

    def boasting(client: Any) -> Any:
        honest = client.numbers
        client.numbers = lambda kind, body: honest(kind, body) + (10**6 if kind == "cover" else 0)
        return client

    with pytest.raises(InvalidInput, match="nobody can say who"):
        learnt(study, replace(PLAN, sum="masked"), changes={"west": boasting})


def test_tables_that_are_empty_or_know_one_class_are_survived(study: Path) -> None:
    tables = {
        **TABLES,
        "south": TABLES["south"].clear(),
        "west": TABLES["west"].with_columns(pl.lit("1").alias("class")),
    }
    for sums in ("plain", "masked"):
        found = learnt(study, replace(PLAN, sum=sums), tables)  # type: ignore[arg-type]
        assert found.model == central(*tables.values())
        assert not found.left_out


def test_a_table_of_another_schema_is_left_out(study: Path) -> None:
    tables = {**TABLES, "east": TABLES["east"].rename({"sky": "heaven"})}
    found = learnt(study, tables=tables)
    assert set(found.left_out) == {"east"}
    assert "columns" in found.left_out["east"]
    assert found.model == central(*(TABLES[name] for name in NAMES if name != "east"))


@pytest.mark.parametrize("whose", ["west", "south"])
def test_an_older_answer_or_that_of_another_client_is_left_out(study: Path, whose: str) -> None:
    def replay(wire: Wire, name: str, head: Any) -> Any:
        """Give an older answer in west's place."""
        if name == whose and name not in wire.older:
            wire.older[name] = head
            return head
        if name != "west" or whose not in wire.older:
            return head
        again = type(head)()
        again.CopyFrom(wire.older[whose])
        again.metadata.reply_to_message_id = head.metadata.reply_to_message_id
        return again

    found = learnt(study, tamper=replay)
    assert found.left_out == {"west": "an answer that this client did not sign"}
    assert found.model == central(*(TABLES[name] for name in NAMES if name != "west"))


def test_an_answer_that_flower_cannot_read_is_left_out(study: Path) -> None:
    def broken(_: Wire, name: str, head: Any) -> Any:
        if name == "west":
            head.content.ClearField("items")
        return head

    assert set(learnt(study, tamper=broken).left_out) == {"west"}


def test_one_shot_rules_with_noise_are_paid_for_in_every_run(study: Path, tmp_path: Path) -> None:
    from mahrem.dp import Ledger

    plan = RulesPlan(how="one-shot", sum="plain", support=0.1)
    federation = replace(Federation.read(study / "federation.toml"), task=RulesTask(SCHEMA, plan))
    ledger = tmp_path / "ledger.json"
    Ledger.create(ledger, pl.concat(TABLES.values()), epsilon=2.5)
    noisy = perturb_for(plan, ClientSettings(epsilon=1.0, ledger=ledger), federation.fingerprint())
    tables = {name: TABLES[name] for name in ("north", "south")}
    found = learnt(study, plan, tables, protect=noisy)  # each of the two pays 1
    assert found.nodes == ("north", "south")
    with pytest.raises(Infeasible, match=r"epsilon=1 does not fit: 2 of 2\.5 is spent"):
        learnt(study, plan, tables, protect=noisy)


def test_dummies_among_one_shot_rules_change_nothing_once_they_are_revealed(
    study: Path, tmp_path: Path
) -> None:
    plan = RulesPlan(how="one-shot", sum="plain", support=0.1)
    federation = replace(Federation.read(study / "federation.toml"), task=RulesTask(SCHEMA, plan))
    (tmp_path / "federation.toml").write_text(federation.as_toml())
    (tmp_path / "rules.key").write_bytes(bytes(range(32)))
    (tmp_path / "rules.key").chmod(0o600)
    settings = ClientSettings(disguise=tmp_path / "rules.key", dummies=2.0)
    protect = disguise_rules(plan, settings, None)
    plain, hidden = learnt(study, plan), learnt(study, plan, protect=protect)
    assert len(hidden.model) > 2 * len(plain.model)
    assert all(len(cell) == 20 for rule in hidden.model.rules for _, cell in rule.left)
    (tmp_path / "model.json").write_text(hidden.model.to_json())
    found = reveal_model(
        tmp_path / "federation.toml", tmp_path / "model.json", TABLES["north"], tmp_path / "rules.key"
    )
    assert found == plain.model
    with pytest.raises(InvalidParameter, match="one-shot"):
        disguise_rules(PLAN, settings, None)


def test_a_key_of_sums_that_others_can_read_is_refused(study: Path, tmp_path: Path) -> None:
    federation = replace(
        Federation.read(study / "federation.toml"), task=RulesTask(SCHEMA, replace(PLAN, sum="homomorphic"))
    )
    (tmp_path / "federation.toml").write_text(federation.as_toml())
    (tmp_path / "sum.secret").write_bytes(b"key")
    (tmp_path / "sum.secret").chmod(0o644)
    with pytest.raises(InvalidInput, match="can be read by others"):
        join_federation(
            tmp_path / "federation.toml",
            TABLES["north"],
            study / "clients" / "north.key",
            ClientSettings(sum_secret=tmp_path / "sum.secret"),
        )


def test_a_ledger_of_other_data_pays_for_nothing(study: Path, tmp_path: Path) -> None:
    from mahrem.dp import Ledger

    federation = replace(
        Federation.read(study / "federation.toml"),
        task=RulesTask(SCHEMA, RulesPlan(how="one-shot", sum="plain")),
    )
    (tmp_path / "federation.toml").write_text(federation.as_toml())
    people(60, 7).write_csv(tmp_path / "other.csv")
    TABLES["north"].write_csv(tmp_path / "north.csv")
    Ledger.create(tmp_path / "ledger", tmp_path / "other.csv", epsilon=9)
    with pytest.raises(InvalidInput, match="made for other data"):
        join_federation(
            tmp_path / "federation.toml",
            tmp_path / "north.csv",
            study / "clients" / "north.key",
            ClientSettings(epsilon=1, ledger=tmp_path / "ledger"),
        )
