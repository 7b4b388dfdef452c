from __future__ import annotations

from pathlib import Path

import pytest
import tomli_w

from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.files import state_folder
from mahrem.models import DistinctDiversity, EqualCloseness, KAnonymity, Promise
from mahrem.release.decisions import Policy, ReleaseKeywords, read_policy
from mahrem.release.folders import record_run
from mahrem.release.folders._record import input_fingerprint


def test_settings_win_over_the_file_and_the_rest_of_it_stays(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(tomli_w.dumps({"quasi": ["age"], "k": 5, "sensitive": ["illness:l=2"], "rest": "drop"}))
    base = Policy.of(read_policy(path))
    policy = Policy.of({"k": 7}, over=base)
    assert (policy.k, policy.quasi, policy.rest) == (7, ("age",), "drop")
    assert policy.promises() == (Promise(KAnonymity(7), None), Promise(DistinctDiversity(2), "illness"))


def test_a_column_may_have_promises_of_its_own() -> None:
    policy = Policy.of(
        {"quasi": "age", "sensitive": {"illness": {"l": 3}, "cost": {"t": 0.2}}, "k": 2, "l": 2}
    )
    assert policy.promises() == (
        Promise(KAnonymity(2), None),
        Promise(DistinctDiversity(3), "illness"),
        Promise(DistinctDiversity(2), "cost"),
        Promise(EqualCloseness(0.2), "cost"),
    )


def test_what_is_public_makes_the_same_policy_again() -> None:
    said = {
        "quasi": ["age", "zip"],
        "sensitive": ["illness:t=0.2"],
        "k": 4,
        "l": 2,
        "kind": {"zip": "code"},
        "missing": "drop",
        "grid": {"age": 5},
        "weights": {"age": 2.0},
        "strategy": "relaxed",
    }
    policy = Policy.of(said)
    assert Policy.of(policy.public()) == policy


def test_seed_and_file_names_are_never_public() -> None:
    policy = Policy.of(
        {
            "quasi": "a",
            "k": 2,
            "seed": 12345,
            "pseudonym": {"id": "/secret/key"},
            "hierarchy": {"a": "/x/h.csv"},
        }
    )
    text = str(policy.public())
    assert "12345" not in text
    assert "secret" not in text
    assert "h.csv" not in text


def test_other_tools_words_for_roles_are_understood() -> None:
    policy = Policy.of(
        {"quasi_ident": ["age"], "keyVars": "zip", "sens_att": "illness", "IDENTIFYING": ["name"]}
    )
    assert (policy.quasi, tuple(policy.sensitive), policy.identifier) == (
        ("age", "zip"),
        ("illness",),
        ("name",),
    )
    by_column = Policy.of({"roles": {"age": "QUASI_IDENTIFYING", "illness": "SENSITIVE"}, "qi": "zip"})
    assert set(by_column.quasi) == {"age", "zip"}
    assert tuple(by_column.sensitive) == ("illness",)
    with pytest.raises(InvalidParameter, match="role='boss'"):
        Policy.of({"roles": {"age": "boss"}})


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ({"quasy": "age"}, "quasy"),
        ({"quasi": "age", "k": 0}, "k=0"),
        ({"quasi": "age", "k": 2.5}, "k=2.5"),
        ({"quasi": "age", "k": True}, "k=True"),
        ({"quasi": "age", "k": 2, "l": 2}, "sensitive"),
        ({"quasi": "age", "sensitive": "x", "t": 2}, "t=2"),
        ({"quasi": "age", "rest": "keep"}, "rest"),
        ({"quasi": "age", "strategy": "loose"}, "strategy"),
        ({"quasi": "age", "missing": "ignore"}, "missing"),
        ({"quasi": "age", "kind": {"age": "number"}}, "kind.age"),
        ({"quasi": "age", "suppression_limit": 1.5}, "suppression_limit"),
        ({"quasi": "age", "delta_presence": "0,1"}, "population"),
        ({"quasi": "age", "delta_presence": "0", "population": "x.csv"}, "two numbers"),
        ({"quasi": "age", "delta_presence": "0,1", "population": "x.csv"}, "bounds"),
        ({"quasi": "age", "sensitive": {"x": {"m": 1}}}, "'m'"),
        ({"quasi": "age", "weights": {"age": -1}}, "weights.age"),
        ({"quasi": "age", "engine": "abacus"}, "engine"),
        ({"quasi": "age", "format": "xls"}, "format"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(said: dict[str, object], word: str) -> None:
    with pytest.raises(InvalidParameter, match=word.replace(".", r"\.")):
        Policy.of(said)


def test_a_policy_that_is_no_toml_or_not_there_is_refused(tmp_path: Path) -> None:
    broken = tmp_path / "policy.toml"
    broken.write_text("k = = 5")
    with pytest.raises(InvalidInput, match="not TOML"):
        read_policy(broken)
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_policy(tmp_path / "nowhere.toml")


def test_every_setting_is_a_field_of_the_policy_or_of_its_models() -> None:
    from dataclasses import fields

    from mahrem.models import model_settings

    fielded = {entry.name for entry in fields(Policy)} - {"models"} | set(model_settings())
    assert set(ReleaseKeywords.__annotations__) - {"roles"} == fielded


def test_the_run_record_is_private_and_its_fingerprint_is_keyed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "table.csv"
    table.write_text("a\n1\n")
    prints = []
    for name in ("one", "two"):
        monkeypatch.setenv("MAHREM_STATE", str(tmp_path / name))
        prints.append(input_fingerprint(table))
        assert input_fingerprint(table) == prints[-1]
        record = record_run(tmp_path / "release", None, {"seed": 1})
        assert record is not None
        assert record.stat().st_mode & 0o077 == 0
        assert (state_folder() / "key").stat().st_mode & 0o077 == 0
    assert prints[0] != prints[1]
