from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from mahrem.cli._app import _run

Runs = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    monkeypatch.chdir(tmp_path)
    rows = {"sky": ["blue", "grey"] * 40, "day": ["1", "2", "3", "4"] * 20, "class": ["dry", "wet"] * 40}
    pl.DataFrame(rows).write_csv("days.csv")

    def runs(*arguments: object) -> tuple[int, str, str]:
        code = _run(["federate", *(str(argument) for argument in arguments)])
        said = capsys.readouterr()
        return code, said.out, said.err

    return runs


def test_a_simulation_prints_progress_aside_and_one_document(run: Runs) -> None:
    code, out, err = run("simulate", "days.csv", "--target", "class", "-o", "run", "--json")
    assert code == 0
    said = json.loads(out)
    assert said["equals_central"] is True
    assert said["folder"] == "run"
    assert err.startswith("round 1: frequent, 3 of 3 clients")
    assert Path("run/model.txt").read_text().splitlines()[0].startswith("  1. if sky = ")
    code, out, err = run("simulate", "days.csv", "--target", "class", "-o", "run")
    assert code == 2
    assert "--force" in err
    code, out, err = run("simulate", "days.csv", "--target", "class", "-o", "run", "--force", "-q")
    assert code == 0
    assert not err
    assert "equals CBA on all rows  yes" in out
    code, out, _ = run("simulate", "days.csv", "--target", "class", "-o", "by", "--by", "day", "-q", "--json")
    assert code == 0
    assert json.loads(out)["clients"] == ["client-1", "client-2", "client-3", "client-4"]


def test_silos_that_anonymise_first_learn_weights_or_trees(run: Runs) -> None:
    usual = ["simulate", "days.csv", "--target", "class", "-o", "run", "--rounds", "2", "--force"]
    code, out, err = run(*usual, "--model", "boosting", "--anonymize", "k=2", "--anonymize", "client-2:k=4")
    assert code == 0
    assert "3 of 3 silos, every promise holds" in out
    assert err.startswith("round 1: prepare, 3 of 3 clients")
    code, out, _ = run(
        *usual, "--model", "mlp", "--sum", "masked", "--anonymize", "k=2", "--qi", "day", "--json"
    )
    assert code == 0
    assert json.loads(out)["silos"]["client-1"]["promises"][0]["wanted"] == 2


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (["--anonymize", "k=3"], 2),
        (["--model", "forest"], 2),
        (["--model", "mlp", "--anonymize", "k"], 2),
        (["--model", "mlp", "--anonymize", "kk=3"], 2),
        (["--model", "mlp", "--anonymize", "nobody:k=3"], 2),
        (["--model", "mlp", "--qi", "sky"], 2),
        (["--model", "mlp", "--anonymize", "k=3", "--qi", "cloud"], 2),
        (["--model", "mlp", "--anonymize", "k=500"], 3),
        (["--model", "mlp", "--aggregate", "krum", "--sum", "masked"], 2),
        (["--model", "logistic", "--aggregate", "krum"], 3),
        (["--model", "logistic", "--sum", "homomorphic"], 2),
        (["--model", "mlp", "--fraction", "0"], 2),
        (["--model", "mlp", "--split", "dirichlet", "--alpha", "-1"], 2),
    ],
)
def test_learning_that_cannot_be_is_refused(run: Runs, said: list[str], code: int) -> None:
    found, _, err = run("simulate", "days.csv", "--target", "class", "-o", "run", "--rounds", "1", *said)
    assert found == code, err


def test_a_federation_is_made_from_keys_and_says_what_goes_where(run: Runs) -> None:
    for name in ("north", "south"):
        code, out, _ = run("key", name)
        assert code == 0
        assert f"{name}.key: keep it here" in out
    made = ["init", "study", "--target", "class", "--like", "days.csv", "--client", "north=north.pub"]
    code, out, _ = run(*made, "--client", "south=south.pub")
    assert code == 0
    assert "fingerprint" in out
    assert not Path("study/clients").exists()  # no private key of a client was made here
    code, out, _ = run("init", "two", "--target", "class", "--columns", "sky,day", "--json", *pairs("a", "b"))
    assert code == 0
    assert json.loads(out)["keys"] == {"a": "two/clients/a.key", "b": "two/clients/b.key"}
    assert run("renew", "two")[0] == 0


def pairs(*names: str) -> list[str]:
    return [part for name in names for part in ("--client", name)]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--columns", "sky", "--like", "days.csv"], "--columns"),
        ([], "--columns"),
        (["--columns", "sky", "--bins", "sky"], "age=25,40"),
        (["--columns", "sky", "--bins", "sky=a"], "age=25,40"),
        (["--columns", "sky", "--client", "a"], "twice"),
        (["--columns", "sky", "--client", "a/b"], "letters"),
        (["--columns", "sky", "--client", "c=missing.pub"], "cannot be read"),
        (["--columns", "sky", "--sum", "magic"], "plain, masked, homomorphic"),
        (["--columns", "sky", "--days", "-1"], "days"),
        (["--columns", "sky", "--least-clients", "9"], "fewer"),
        (["--columns", "sky", "--address", "here"], "HOST:PORT"),
    ],
)
def test_what_cannot_be_is_said_and_nothing_is_left(run: Runs, arguments: list[str], said: str) -> None:
    code, _, err = run("init", "study", "--target", "class", *pairs("a", "b"), *arguments)
    assert code == 2
    assert said in err
    assert not Path("study").exists()


def test_folders_and_files_that_are_none_are_refused(run: Runs) -> None:
    for arguments in (
        ["server", "nowhere"],
        ["run", "nowhere"],
        ["renew", "nowhere"],
        ["client", "none.toml", "days.csv", "--key", "none.key"],
        ["simulate", "none.csv", "--target", "class", "-o", "run"],
        ["simulate", "days.csv", "--target", "klass", "-o", "run"],
    ):
        code, _, err = run(*arguments)
        assert code == 2, arguments
        assert err.startswith("mahrem: ")
    assert not Path("nowhere").exists()
    assert not Path("run").exists()


def test_a_run_without_a_server_fails_with_its_state(run: Runs) -> None:
    assert run("init", "study", "--target", "class", "--columns", "sky", *pairs("a", "b"))[0] == 0
    code, _, err = run("run", "study", "-o", "out", "--wait", "0")
    assert code == 74
    assert "cannot be reached" in err
    assert json.loads(Path("out/state.json").read_text())["state"] == "failed"


def test_a_model_with_dummies_is_printed_without_them(run: Runs) -> None:
    from mahrem.federated import Disguise
    from mahrem.learning import Rule, RuleList

    made = ["init", "study", "--target", "class", "--columns", "sky,day", "--how", "one-shot"]
    assert run(*made, *pairs("a", "b"))[0] == 0
    Path("rules.key").touch(mode=0o600)
    Path("rules.key").write_bytes(bytes(range(32)))
    real = RuleList(("sky", "day"), ("dry", "wet"), (Rule((("sky", "blue"),), "dry", 0.5, 1.0),), "wet", 80)
    Path("model.json").write_text(Disguise(bytes(range(32)), 3.0).hide(real).to_json())
    asked = ["reveal", "model.json", "study/federation.toml", "days.csv", "--disguise", "rules.key"]
    code, out, _ = run(*asked, "--json")
    assert code == 0
    assert RuleList.from_json(out) == real
    assert run(*asked)[1] == f"{real}\n"
    Path("rules.key").write_bytes(bytes(32))  # another key knows none of the tokens
    assert run(*asked)[1].strip() == "else wet"
    Path("model.json").write_text("{}")
    assert run(*asked)[0] == 2
    code, _, err = run(
        "client",
        "study/federation.toml",
        "days.csv",
        "--key",
        "study/clients/a.key",
        "--disguise",
        "nowhere.key",
    )
    assert code == 2
    assert "nowhere.key" in err
