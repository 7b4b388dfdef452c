"""Who can be read off several results of one table, and what a client remembers to know it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from federation_processes import load_flower
from mahrem.errors import InvalidInput
from mahrem.federated.flower import Federation, init_federation
from mahrem.federated.flower._guard import ClientGuard
from mahrem.federated.flower._learnt_rows import LearntRows, least_told_apart
from mahrem.federated.flower._member import FederationMember
from mahrem.federated.flower._memory import columns_of, cuts_of, table_name
from mahrem.federated.rules import RulesPlan, RulesSchema
from mahrem.federated.runs import AgreedShape, ClientSettings, RulesTask, ShapeTask, WeightsTask
from mahrem.federated.sums import SumHistory
from mahrem.federated.weights import LearningPlan, Protections, propose_schema
from mahrem.federated.wire.certificates import read_private_key
from mahrem.learning.classifiers import DeclaredNumbers
from silo_learning import people

NAMES = ("east", "north", "south")
TABLE = people(200)
NEW = pl.DataFrame({"age": [41], "town": ["elm"], "class": ["yes"]}).cast(TABLE.schema)
RULES = RulesTask(
    RulesSchema(columns=("age", "town"), target="class", bins={"age": (40,)}), RulesPlan(least_count=5)
)
TREES = LearningPlan(model="boosting", rounds=1, depth=1, sum="masked", cell_epsilon=0)
of = LearntRows.of


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAHREM_STATE", str(tmp_path / "state"))


def rows(numbers: Sequence[int]) -> LearntRows:
    return of(pl.DataFrame({"person": numbers}, schema={"person": pl.Int64}))


SHARED = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@SHARED
@given(st.lists(st.sets(st.integers(0, 9)), min_size=2, max_size=5))
def test_groups_are_those_who_are_in_the_same_of_all_tables(tables: list[set[int]]) -> None:
    *before, now = [frozenset(table) for table in tables]
    of_old: dict[Any, set[int]] = {}
    for person in range(10):
        of_old.setdefault(tuple(person in table for table in before), set()).add(person)
    new: list[int] = []
    for pattern, group in of_old.items():
        parts = [group & now, group - now]
        if any(pattern):
            new += [len(part) for part in parts if all(parts)]
        else:
            new.append(len(group & now))
    told = [size for size in new if 0 < size != len(now)]
    together = [
        sorted(person for table in chosen for person in table)
        for size in range(1, len(before) + 1)
        for chosen in itertools.combinations(before, size)
    ]
    found = least_told_apart(rows(sorted(now)), [rows(sorted(table)) for table in before])
    if sorted(now) in together:  # one of them again, or some that share nobody
        assert found is None
    elif told:
        assert found is not None
        assert found <= min(told)  # less where the rows that are left of a combination are fewer


@SHARED
@given(
    st.integers(1, 4),
    st.integers(1, 19),
    st.sampled_from(["join", "leave", "exchange"]),
    st.sampled_from([3, 40, 10**6]),
    st.data(),
)
def test_a_table_that_is_others_put_together_but_for_a_few_is_found_whatever_it_is_made_of(
    months: int, few: int, way: str, different: int, data: st.DataObject
) -> None:
    """Each month, then all of them with one admission more; a year less a month of it; equal rows too."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    parts = [rng.integers(0, different, int(rng.integers(60, 120))) for _ in range(months)]
    many = max(1, few // 2) if way == "exchange" else few
    joined = 10**7 + np.arange(many) if way != "leave" else np.empty(0, np.int64)

    def changed(table: np.ndarray) -> LearntRows:
        return rows([*(table[many:] if way != "join" else table).tolist(), *joined.tolist()])

    whole = np.concatenate(parts)
    cases = [(changed(whole), [rows(part.tolist()) for part in parts])]
    if months > 1:
        rest = np.concatenate(parts[1:])
        cases.append((changed(rest), [rows(whole.tolist()), rows(parts[0].tolist())]))
    for now, before in cases:
        found = least_told_apart(now, before)
        assert found is not None
        assert found < 20


@SHARED
@given(st.integers(0, 2**32 - 1), st.integers(20, 60))
def test_tables_that_grow_by_enough_and_tables_that_were_there_tell_nobody_apart(
    seed: int, many: int
) -> None:
    rng = np.random.default_rng(seed)
    first, more = rng.integers(0, 10**9, 100), rng.integers(10**9, 2 * 10**9, many)
    small, large = rows(first.tolist()), rows([*first.tolist(), *more.tolist()])
    assert least_told_apart(large, [small]) in {None, many}
    assert least_told_apart(large, [small, large]) is None
    assert least_told_apart(rows(rng.permutation(first).tolist()), [small, large]) is None
    assert least_told_apart(small, []) is None


@SHARED
@given(
    st.lists(st.tuples(st.sampled_from(["a", "ab", "", None]), st.sampled_from(["b", "", None])), max_size=9)
)
def test_hashes_come_back_from_disk_and_need_the_key(cells: list[tuple[str | None, str | None]]) -> None:
    frame = pl.DataFrame(cells, schema={"x": pl.String, "y": pl.String}, orient="row")
    made = of(frame)
    back = LearntRows.read(made.to_bytes())
    assert (
        back.digest() == made.digest() == of(frame.reverse()).digest() == of(frame.select("y", "x")).digest()
    )
    assert back.rows == len(cells)
    assert back.names == {"x", "y"}


def test_the_same_table_under_another_key_has_other_hashes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So nobody tries classes or towns until a digest is the one on the disk."""
    mine = of(TABLE)
    monkeypatch.setenv("MAHREM_STATE", str(tmp_path / "other"))
    other = of(TABLE)
    assert mine.digest() != other.digest()
    assert mine.resembles(mine)
    assert not mine.resembles(other)


@pytest.fixture
def base(tmp_path: Path, missing_part: Callable[[str], None]) -> Path:
    load_flower(missing_part)
    init_federation(tmp_path / "study", RULES, dict.fromkeys(NAMES))
    return tmp_path


@dataclass
class House:
    """A client's guard, asked as ``join`` asks it."""

    base: Path
    task: Any = RULES
    key: str = "north"

    def join(self, table: pl.DataFrame, place: str = "table.csv", despite: Sequence[str] = ()) -> list[str]:
        """Give what keeps it out; if nothing, or nothing but what is agreed to, it is remembered."""
        table.write_csv(self.base / place)
        federation = replace(Federation.read(self.base / "study" / "federation.toml"), task=self.task)
        key = read_private_key(self.base / "study" / "clients" / f"{self.key}.key")
        member = FederationMember(federation, key, self.base / place)
        guard, chosen = ClientGuard(member), ClientSettings()
        learnt = guard.learnt_rows(chosen, self.task.check(member.owner(), chosen))
        found = [one.code for one in guard.faults(member.source, chosen, learnt)]
        kept_out = [code for code in found if code in {"changed", "recut", "regrouped", "promised"}]
        if not {*kept_out} - {*despite}:
            guard.keep(member.source, chosen, learnt)
        return kept_out


def test_rows_without_a_class_do_not_hide_who_joined(base: Path) -> None:
    """Nobody learns from them: twenty of them and one who is ill are one."""
    house = House(base)
    assert house.join(TABLE) == []
    blank = people(20, 9).with_columns(pl.lit(None, dtype=pl.String).alias("class"))
    assert house.join(pl.concat([TABLE, blank])) == []
    assert house.join(pl.concat([TABLE, blank, NEW])) == ["changed"]
    agreed = replace(RULES, schema=replace(RULES.schema, values={"class": ("no", "yes")}))
    other = blank.with_columns(pl.lit("maybe").alias("class"))
    assert House(base, agreed).join(pl.concat([TABLE, other, NEW])) == ["changed"]


def test_cells_that_are_exchanged_are_seen_though_each_column_holds_the_same(base: Path) -> None:
    house, classes = House(base), TABLE["class"].to_list()
    assert house.join(TABLE) == []
    ill, well = classes.index("yes"), classes.index("no")
    classes[ill], classes[well] = classes[well], classes[ill]
    assert house.join(TABLE.with_columns(pl.Series("class", classes))) == ["changed"]


def test_months_and_all_of_them_with_one_more_are_seen(base: Path) -> None:
    house, first, second = House(base), people(100, 1), people(150, 2)
    assert house.join(first) == house.join(second) == []
    assert house.join(pl.concat([first, second])) == []
    assert house.join(pl.concat([first, second, NEW])) == ["changed"]


def test_what_was_agreed_to_once_is_not_asked_again(base: Path) -> None:
    house, more = House(base), pl.concat([TABLE, NEW])
    cut = replace(RULES, schema=replace(RULES.schema, bins={"age": (41,)}))
    assert house.join(TABLE) == []
    assert house.join(more, despite=["changed"]) == ["changed"]
    assert house.join(more) == house.join(TABLE) == []
    assert House(base, cut).join(TABLE, despite=["recut"]) == ["recut"]
    assert House(base, cut).join(TABLE) == house.join(TABLE) == []
    assert house.join(pl.concat([more, NEW])) == ["changed"]


def test_a_new_key_and_a_new_name_of_the_file_do_not_make_a_new_table(base: Path) -> None:
    assert House(base).join(TABLE) == []
    assert House(base, key="south").join(pl.concat([TABLE, NEW]), "table-2.csv") == ["changed"]
    assert House(base, key="south").join(people(90, 5), "others.csv") == []


def test_houses_whose_tables_have_few_different_rows_are_not_taken_for_one(base: Path) -> None:
    few = [
        TABLE.select(age=pl.lit(40), town="town", **{"class": "class"}).sample(90, seed=seed)
        for seed in (1, 2)
    ]
    assert House(base).join(few[0]) == []
    assert House(base, key="south").join(few[1], "south.csv") == []


def test_without_the_key_of_before_nothing_can_be_compared_and_nothing_is_joined(base: Path) -> None:
    house = House(base)
    assert house.join(TABLE) == []
    (base / "state" / "key").unlink()
    with pytest.raises(InvalidInput, match="another key of this user"):
        house.join(TABLE)


def test_trees_speak_of_every_column_and_of_where_numbers_are_cut(base: Path) -> None:
    """With class and column exchanged they count the same people in the same cells."""
    sexes = TABLE.with_columns(sex=pl.Series(["f", "m"] * 100))
    more = pl.concat([sexes, NEW.with_columns(sex=pl.lit("f"))])
    by_class, by_sex = (WeightsTask(propose_schema(sexes, target), TREES) for target in ("class", "sex"))
    assert House(base, by_class).join(sexes) == []
    assert House(base, by_sex).join(more) == ["changed"]
    agreed = Federation.read(base / "study" / "federation.toml")
    assert columns_of(replace(agreed, task=by_sex)) == {"age", "town", "class", "sex"}
    bounds = by_class.schema.columns["age"]
    assert isinstance(bounds, DeclaredNumbers)
    moved = replace(
        by_class.schema, columns={**by_class.schema.columns, "age": replace(bounds, lower=bounds.lower - 1)}
    )
    assert House(base, replace(by_class, schema=moved)).join(sexes) == ["recut"]
    private = replace(TREES, cell_epsilon=1.0)
    assert cuts_of(replace(agreed, task=replace(by_class, plan=private))) == {}
    federations = [replace(agreed, task=task) for task in (by_class, by_sex)]
    histories = [
        SumHistory(path=base / "sums.jsonl", client="k", about=columns_of(federation))
        for federation in federations
    ]
    histories[0].admit("one", frozenset(NAMES))
    with pytest.raises(InvalidInput, match="over others before"):
        histories[1].admit("two", frozenset(NAMES[:2]))


def test_members_without_labels_remember_who_they_learnt_with_by_id_too(base: Path) -> None:
    dose = pl.Series(np.random.default_rng(0).integers(1, 90, 200))
    whole = TABLE.with_row_index("nr").with_columns(dose=dose)
    holds = {"north": ("age", "class"), "east": ("town",), "south": ("dose",)}
    shape = AgreedShape(shape="vertical", model="logistic", id="nr", holds=holds)
    task = ShapeTask(propose_schema(whole.drop("nr"), "class"), shape)
    for name, columns in holds.items():
        house, own = House(base, task, name), whole.select("nr", *columns)
        assert house.join(own, f"{name}.csv") == []
        assert house.join(own.reverse(), f"{name}.csv") == []
        other = own.with_columns(nr=pl.when(pl.col("nr") == 7).then(999).otherwise("nr"))
        assert house.join(other, f"{name}.csv") == ["changed"]
        assert house.join(own.head(199), f"{name}.csv") == ["changed"]


def test_noise_covers_what_joined(base: Path) -> None:
    noisy = LearningPlan(model="logistic", rounds=2, protections=Protections(clip=1.0, epsilon=2.0))
    house = House(base, WeightsTask(propose_schema(TABLE, "class"), noisy))
    assert house.join(TABLE) == []
    assert house.join(pl.concat([TABLE, NEW])) == ["promised"]


def test_an_address_names_the_same_table_from_every_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = set()
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        monkeypatch.chdir(tmp_path / folder)
        names.add((table_name("postgresql://h/db?table=patients"), table_name("../table.csv")))
    assert len(names) == 1
