"""What gives people away is not published as it is, whatever it is called, unless somebody accepts it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import mahrem as mh
from everyday_columns import MADE_COARSER, telling_table
from foreign_columns import foreign_table
from mahrem.contents import look_into
from mahrem.drafts import prepared_at_gate
from mahrem.errors import Doubtful, GivesAway, Infeasible, InvalidParameter
from mahrem.release import find_doubts
from mahrem.release.decisions import policy_from
from mahrem.threads import WORTH_THREADS
from misleading import IDENTIFYING, KNOWN_TO_OTHERS, misleading_table
from releases import crowd

TABLE = misleading_table()
PLAIN = {"quasi": "age", "k": 5, "html": False}


@pytest.mark.parametrize("column", [*IDENTIFYING, *KNOWN_TO_OTHERS])
@pytest.mark.parametrize("how", ["insensitive", "rest"])
def test_no_column_that_identifies_is_published_as_it_is(column: str, how: str) -> None:
    said = {"insensitive": column} if how == "insensitive" else {"rest": "insensitive"}
    with pytest.raises(GivesAway) as refused:
        mh.anonymize(TABLE.select("age", column), **PLAIN, **said)
    assert [*refused.value.columns] == [column]
    assert not any(value in str(refused.value) for value in TABLE[column].to_list())
    assert ("no role was declared" in str(refused.value)) is (how == "rest")


@pytest.mark.parametrize("column", [*IDENTIFYING, *KNOWN_TO_OTHERS, "cost", "visitor"])
@pytest.mark.filterwarnings("ignore:pseudonym")  # names may be there twice
def test_every_way_that_a_refusal_names_leads_through(column: str, tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_bytes(bytes(range(32)))
    key.chmod(0o600)
    costs = pl.Series("cost", [n * 7.31 for n in range(TABLE.height)])
    visitors = pl.Series("visitor", [f"P{n // 2 * 37 % 997:04d}" for n in range(TABLE.height)])
    ages = pl.Series("age", [20 + n // 2 * 13 % 40 for n in range(TABLE.height)])
    table = TABLE.with_columns(costs, visitors, ages).select("age", column)
    values = {"redact": column, "quasi": ["age", column], "subject": column}
    values |= {"grid": {column: "year"}, "round": {column: 500}, "pseudonym": {column: str(key)}}
    with pytest.raises(GivesAway) as refused:
        mh.anonymize(table, **PLAIN, insensitive=column)
    named = [way for way in values if f"({way}=" in str(refused.value)]
    assert named or column == "b"  # coordinates: only left out, or with a reason
    for way in named:
        stays = {} if way in {"quasi", "subject", "pseudonym"} else {"insensitive": column}
        assert mh.anonymize(table, **{**PLAIN, **stays, way: values[way]}).report["holds"]


@pytest.mark.parametrize("column", IDENTIFYING)
@pytest.mark.parametrize("role", ["sensitive", "quasi"])
def test_no_other_role_lets_an_identifier_through(column: str, role: str) -> None:
    said = {"quasi": ["age", column]} if role == "quasi" else {"quasi": "age", "sensitive": column}
    with pytest.raises(GivesAway):
        mh.anonymize(TABLE.select("age", column), k=5, html=False, **said)


def test_one_mail_address_in_many_rows_is_enough() -> None:
    notes = pl.Series("note", ["call back", "paid", "waiting", "done"] * 2500)
    notes[6789] = "write to ada@example.org"
    table = pl.DataFrame({"age": [20 + n % 7 for n in range(10_000)], "note": notes})
    with pytest.raises(GivesAway, match="e-mail"):
        mh.anonymize(table, insensitive="note", **PLAIN)


def test_what_tells_a_quasi_identifier_stops_a_release_too() -> None:
    places = pl.Series("place", [f"{10 + n * n % 9}{n % 5}00" for n in range(400)])
    people = crowd(400).with_columns(places, left=100 - pl.col("age"), city=places.str.slice(0, 2))
    for column, of in (("left", "age"), ("city", "place")):
        with pytest.raises(GivesAway, match=of):
            mh.anonymize(people, quasi=["age", "place"], insensitive=column, rest="drop", k=5, html=False)


def test_values_of_ones_own_stop_a_release() -> None:
    people = crowd(400).with_columns(weight=pl.Series([40 + n * 0.173 for n in range(400)]))
    with pytest.raises(GivesAway, match="value of its own"):
        mh.anonymize(people, quasi="age", insensitive="weight", rest="drop", k=5, html=False)


def test_a_reason_lets_a_column_through_and_stands_in_policy_report_and_verdict(tmp_path: Path) -> None:
    release = mh.anonymize(
        TABLE.select("age", "step"),
        quasi="age",
        insensitive="step",
        k=5,
        accept={"step": "days the ward was closed"},
        output=tmp_path / "release",
    )
    assert release.report["holds"] is True
    assert release.report["verdict"] == "holds-but"
    assert "days the ward was closed" in release.report["doubts"][0]["text"]
    assert "days the ward was closed" in (tmp_path / "release" / "policy.toml").read_text(encoding="utf-8")
    page = (tmp_path / "release" / "report.html").read_text(encoding="utf-8")
    assert page.count("days the ward was closed") >= 2
    assert "declared harmless" not in page
    audited = mh.audit(tmp_path / "release")
    assert (audited.holds, audited.report["verdict"]) == (True, "holds-but")


@pytest.mark.parametrize("reason", ["", "  "])
def test_an_acceptance_needs_a_reason(reason: str) -> None:
    with pytest.raises(InvalidParameter, match="needs a reason"):
        mh.anonymize(TABLE, quasi="age", rest="drop", k=5, accept={"c1": reason})


def test_what_is_not_published_cannot_be_accepted() -> None:
    with pytest.raises(InvalidParameter, match=r"accept\.c1"):
        mh.anonymize(TABLE, quasi="age", rest="drop", k=5, accept={"c1": "because"})


def test_strict_publishes_nothing_that_holds_with_doubts(tmp_path: Path) -> None:
    said = {"quasi": "age", "insensitive": "step", "k": 5, "accept": {"step": "closed days"}, "html": False}
    with pytest.raises(Doubtful, match="closed days"):
        mh.anonymize(TABLE.select("age", "step"), **said, strict=True, output=tmp_path / "release")
    assert not (tmp_path / "release").exists()
    clean = mh.anonymize(TABLE.select("age", "flag"), insensitive="flag", **PLAIN, strict=True)
    assert clean.report["verdict"] == "holds"


def test_what_nobody_declared_is_not_called_declared(tmp_path: Path) -> None:
    table = TABLE.select("age", "flag")
    mh.anonymize(table, quasi="age", rest="insensitive", k=5, output=tmp_path / "release")
    page = (tmp_path / "release" / "report.html").read_text(encoding="utf-8")
    assert "Nobody declared what it is" in page
    assert "declared harmless, and" not in page


def test_singling_out_looks_at_all_published_columns() -> None:
    people = crowd(600).with_columns(wage=pl.Series([n % 97 for n in range(600)]))
    rates = []
    for role in ("sensitive", "insensitive"):
        release = mh.anonymize(people, quasi=["age", "zip"], **{role: "wage"}, rest="drop", k=5)
        findings = release.report["red_team"]["findings"]
        rates.append(next(one["rate"] for one in findings if one["attack"] == "singling-out"))
    assert rates[0] == pytest.approx(rates[1], abs=0.1)
    assert rates[0] > 0.5
    assert release.report["verdict"] == "holds-but"


def test_an_audit_says_what_a_table_shows_beside_its_classes() -> None:
    found = mh.audit(TABLE, quasi="flag", k=2)
    told = {doubt["values"]["column"] for doubt in found.report["doubts"]}
    assert {*IDENTIFYING} <= told
    assert found.report["verdict"] == "holds-but"


@pytest.mark.parametrize("how", ["local", "little memory", "spark"])
def test_an_audit_looks_at_every_row(how: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    rows = 6_000 if how == "spark" else 40_000
    notes = pl.Series("note", [("call back", "paid", "waiting")[n % 3] for n in range(rows)])
    notes[rows - 2] = "write to ada@example.org"
    table = pl.DataFrame({"age": [20 + n % 7 for n in range(rows)], "note": notes})
    source: object = table
    if how == "spark":
        source = request.getfixturevalue("spark_session").createDataFrame(table.to_arrow())
    elif how == "little memory":
        source = tmp_path / "table.csv"
        table.write_csv(source)
    said = {"memory": 100_000} if how == "little memory" else {}
    found = mh.audit(source, quasi="age", k=2, **said).report
    assert [doubt["values"]["column"] for doubt in found["doubts"]] == ["note"]
    assert (found["holds"], found["verdict"]) == (True, "holds-but")
    if how == "local":
        accepted = mh.audit(source, quasi="age", k=2, accept={"note": "a test"}).report
        assert [doubt["code"] for doubt in accepted["doubts"]] == ["doubt.accepted"]


def test_the_suggested_roles_pass_the_gate() -> None:
    for table in (TABLE, mh.demo_patients(400), crowd(300)):
        looked = mh.inspect(table)
        roles = looked.roles()
        assert "insensitive" not in roles or not {*IDENTIFYING} & {*roles["insensitive"]}
        shown = [name for name in table.columns if name not in roles.get("identifier", ())]
        assert not find_doubts(table.select(shown), mh.Policy.of(roles))
        mh.anonymize(table, **roles, subject=looked.subject, k=5, html=False)


@pytest.mark.parametrize("policy", ["hipaa-safe-harbor", "kvkk", "gdpr"])
def test_ready_policies_publish_nothing_that_identifies_whatever_it_is_called(
    policy: str, tmp_path: Path
) -> None:
    release = mh.anonymize(TABLE, policy=policy, output=tmp_path / "release", html=False)
    shown = {*release.table.columns}
    assert not shown & {*IDENTIFYING, "b", "flag"}
    assert "code" in shown
    everything = (tmp_path / "release" / "data.csv").read_text(encoding="utf-8")
    for column in IDENTIFYING:
        assert not any(str(value) in everything for value in TABLE[column].unique())
    if policy == "hipaa-safe-harbor":
        assert "unit" not in shown
        assert release.table["step"].str.contains(r"^\[20\d\d-01-01, 20\d\d-12-31\]$").all()


@pytest.mark.parametrize("policy", ["hipaa-safe-harbor", "kvkk", "gdpr"])
def test_ready_policies_publish_nothing_of_any_country_whatever_columns_are_called(
    policy: str, tmp_path: Path
) -> None:
    table, kinds = foreign_table(seed=len(policy))
    said = {"quasi": ["years"], "sensitive": ["answer"], "l": 2}
    release = mh.anonymize(table, policy=policy, **said, output=tmp_path / "release")
    coarse = {"date", "birth-date", "postcode"}
    assert {kinds[name] for name in release.table.columns if name in kinds} <= coarse
    written = "".join(file.read_text(encoding="utf-8") for file in (tmp_path / "release").iterdir())
    for name, kind in kinds.items():
        if kind not in {"date", "birth-date"}:  # the first day of a year may be somebody's as well
            told = [value for value in table[name].unique() if len(value) > 5 and value in written]
            assert not told, (name, kind, len(told))


@pytest.mark.parametrize("policy", ["hipaa-safe-harbor", "kvkk", "gdpr"])
def test_ready_policies_publish_nothing_that_tells_of_somebody_in_any_writing(
    policy: str, tmp_path: Path
) -> None:
    table, kinds = telling_table(seed=len(policy))
    release = mh.anonymize(table, policy=policy, output=tmp_path / "release", html=False)
    assert {kinds[name] for name in release.table.columns if name in kinds} <= MADE_COARSER
    written = "".join(file.read_text(encoding="utf-8") for file in (tmp_path / "release").iterdir())
    for name, what in kinds.items():
        if what not in MADE_COARSER | {"months of birth"}:  # ranges begin with days and months too
            assert not [value for value in table[name].unique() if len(value) > 7 and value in written], what


def test_dates_that_nobody_can_read_are_left_out_by_a_policy_that_wants_years() -> None:
    rows = range(120)
    days = [
        f"{['Mon', 'Tue', 'Wed'][n % 3]} Jan {n % 28 + 1:02d} 09:1{n % 9}:00 20{10 + n % 14}" for n in rows
    ]
    table = pl.DataFrame({"age": [20 + n % 50 for n in rows], "x": days, "sex": [n % 2 for n in rows]})
    assert look_into(table).of("x")[0].kind in {"date", "birth-date"}
    release = mh.anonymize(table, policy="hipaa-safe-harbor", quasi=["age", "sex"], html=False)
    assert release.table.columns == ["age", "sex"]


def test_words_of_ones_own_are_not_listed_in_cells() -> None:
    words = [
        "".join("bcdfglmnprst"[n // 12**at % 12] + "aeiou"[(n + at) % 5] for at in range(3))
        for n in range(80)
    ]
    table = pl.DataFrame({"age": [20 + n % 9 for n in range(80)], "x": words})
    with pytest.raises(GivesAway, match="value of its own"):
        mh.anonymize(table, quasi=["age", "x"], k=4, html=False)


def test_a_policy_is_written_that_a_release_takes(tmp_path: Path) -> None:
    found = mh.inspect(mh.demo_patients(500))
    (tmp_path / "policy.toml").write_text(found.policy(), encoding="utf-8")
    release = mh.anonymize(mh.demo_patients(500), policy=tmp_path / "policy.toml", html=False)
    assert release.report["settings"]["subject"] == "patient_id"
    assert json.dumps(found.as_dict(), default=str)


def test_strict_is_honoured_wherever_a_release_is_made(tmp_path: Path, spark_session: Any) -> None:
    table = TABLE.select("age", "step")
    said = {"quasi": "age", "insensitive": "step", "k": 5, "accept": {"step": "closed days"}, "html": False}
    mh.anonymize(table, **said, output=tmp_path / "release")
    with pytest.raises(Doubtful, match="closed days"):
        mh.apply(tmp_path / "release", table.head(200), html=False, strict=True)
    frame = spark_session.createDataFrame(table.to_arrow())
    for folder in (None, tmp_path / "cluster"):
        with pytest.raises(Doubtful, match="closed days"):
            mh.anonymize(frame, **said, strict=True, output=folder)
    assert not (tmp_path / "cluster").exists()


@pytest.mark.parametrize("policy", ["hipaa-safe-harbor", "kvkk", "gdpr"])
def test_ready_policies_show_beginnings_of_codes_however_long_they_are(policy: str) -> None:
    places = ["94105", "94105-1234", "60601", "60601-0001", "03601", "03602-9999", "10001", "10002-0042"]
    table = TABLE.with_columns(zip=pl.Series([places[row % 8] for row in range(TABLE.height)]))
    shown = mh.anonymize(table, policy=policy, html=False).table["zip"]
    most = 3 if policy == "hipaa-safe-harbor" else 2
    assert shown.str.strip_chars_end("*").str.len_chars().max() <= most
    if policy == "hipaa-safe-harbor":
        assert not shown.str.starts_with("036").any()


@pytest.mark.parametrize("rows", [40, WORTH_THREADS])
def test_the_gate_has_the_first_word_and_lets_nothing_through(rows: int) -> None:
    mails = pl.DataFrame({"age": [20 + n % 50 for n in range(rows)]}).with_columns(
        mail=pl.format("{}@example.org", pl.int_range(rows))
    )
    policy = policy_from(None, {"quasi": "age", "k": 5, "rest": "insensitive"}, whole=True)
    with pytest.raises(GivesAway), prepared_at_gate(mails, policy) as prepared:
        assert prepared.rows == rows  # it can be worked on meanwhile
    with pytest.raises(GivesAway), prepared_at_gate(mails, policy):
        raise Infeasible("no classes")
    with pytest.raises(GivesAway):
        mh.anonymize(mails, **{**PLAIN, "k": rows + 1}, rest="insensitive")
    with pytest.raises(Infeasible), prepared_at_gate(mails.drop("mail"), policy):
        raise Infeasible("no classes")
