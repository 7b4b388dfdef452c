from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np
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


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("de", ("Größe", "gleicht CBA auf allen Zeilen", "Bytes hinauf, hinab", "Ordner")),
        ("tr", ("ölçü", "larla CBA'ya eşit", "gelen, giden bayt", "klasör")),
    ],
)
def test_tables_of_results_are_told_in_the_readers_language(
    run: Runs, language: str, said: tuple[str, ...]
) -> None:
    usual = ["simulate", "days.csv", "--target", "class", "-q", "--language", language]
    code, out, _ = run(*usual, "-o", "rules")
    assert code == 0
    assert all(part in out for part in said)
    code, learnt, _ = run(*usual, "-o", "weights", "--model", "logistic", "--rounds", "1", "--clients", "2")
    assert code == 0
    code, shaped, _ = run(*usual, "-o", "shape", "--shape", "split", "--rounds", "1", "--clients", "2")
    assert code == 0
    for text in (out, learnt, shaped):
        assert not {"clients", "rounds", "seconds", "rows", "folder", "accuracy"} & set(text.split())


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


def test_lists_of_rules_may_be_cut_short_and_splits_may_be_uneven(run: Runs) -> None:
    rows = {"sky": list("abcdefgh") * 20, "class": (["dry", "wet"] * 4 + ["wet", "dry"] + ["wet"] * 6) * 10}
    pl.DataFrame(rows).write_csv("odd.csv")
    usual = ["simulate", "odd.csv", "--target", "class", "--how", "one-shot", "--support", "0.01", "-q"]
    rules = {}
    for cut in ("least", "shortest"):
        code, out, _ = run(*usual, "--cut", cut, "-o", cut, "--json")
        assert code == 0
        said = json.loads(out)
        assert said["plan"]["cut"] == cut
        rules[cut] = said["rules"]
    assert rules["shortest"] < rules["least"]
    made = ["init", "study", "--target", "class", "--columns", "sky", "--cut", "shortest", *pairs("a", "b")]
    assert run(*made)[0] == 0
    assert tomllib.loads(Path("study/federation.toml").read_text())["learning"]["cut"] == "shortest"
    uneven = [*usual, "--split", "dirichlet", "-o", "uneven", "--alpha"]
    assert run(*uneven, "0.1")[0] == 0
    code, _, err = run(*uneven, "-1", "--force")
    assert code == 2
    assert "alpha=-1" in err


def test_silos_that_anonymise_first_learn_weights_or_trees(run: Runs) -> None:
    usual = ["simulate", "days.csv", "--target", "class", "-o", "run", "--rounds", "2", "--force"]
    code, out, err = run(*usual, "--model", "boosting", "--anonymize", "k=2", "--anonymize", "client-2:k=4")
    assert code == 0
    assert "3 of 3 silos, every promise holds" in out
    told = err.splitlines()
    assert told[0].startswith("prepare, 3 of 3 clients")
    assert [line.split(", accuracy")[0] for line in told[1:]] == [
        "round 1 of 2: 3 clients",
        "round 2 of 2: 3 clients",
    ]
    by_round = json.loads(Path("run/summary.json").read_text())["bytes"]["by_round"]
    assert told[2].endswith(f", {by_round['2']['up']:,} bytes up, {by_round['2']['down']:,} down")
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
        (["--model", "logistic", "--sum", "homomorphic", "--aggregate", "median"], 2),
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


def test_clients_make_the_keys_of_homomorphic_sums_themselves(
    run: Runs, missing_part: Callable[[str], None]
) -> None:
    code, out, err = run("key", "sums", "--sums", "weights")
    if "TenSEAL" in err or "mahrem[he]" in err:
        missing_part("TenSEAL is not installed")
    assert code == 0
    assert "the server must not have it" in out
    assert Path("sums.secret").stat().st_mode & 0o077 == 0
    assert run("schema", "days.csv", "--target", "class", "-o", "schema.toml")[0] == 0
    made = [
        "init",
        "study",
        "--model",
        "mlp",
        "--schema",
        "schema.toml",
        "--sum",
        "homomorphic",
        *pairs("a", "b"),
    ]
    code, out, _ = run(*made, "--sum-public", "sums.public", "--json")
    assert code == 0
    assert json.loads(out)["sum_secret"] is None
    assert not list(Path("study").rglob("*.secret"))
    assert run("key", "sums", "--sums", "weights")[0] == 2  # never written over
    assert run("key", "other", "--sums", "words")[0] == 2
    assert run("key", "counts", "--sums", "counts")[0] == 0
    code, _, err = run(*made[:1], "two", *made[2:], "--sum-public", "counts.public")
    assert code == 2
    assert "another kind of sums" in err


def test_weights_with_dummies_are_written_without_them(run: Runs) -> None:
    from mahrem.federated.flower import Federation
    from mahrem.federated.runs import WeightsTask
    from mahrem.federated.weights import Decoys, SharedModel

    assert run("schema", "days.csv", "--target", "class", "-o", "schema.toml")[0] == 0
    made = ["init", "study", "--model", "logistic", "--schema", "schema.toml", "--dummies", "0.5"]
    assert run(*made, *pairs("a", "b"))[0] == 0
    task = Federation.read(Path("study/federation.toml")).task
    assert isinstance(task, WeightsTask)
    schema, plan = task.schema, task.plan
    decoys = Decoys(key=bytes(range(32)), share=0.5)
    real = np.arange(plan.network().size(schema.encoder.width, 2), dtype=np.float64)
    model = SharedModel(schema=schema, plan=plan, arrays={"disguised": decoys.mix(real)}, rounds=3)
    Path("model.npz").write_bytes(model.to_bytes())
    Path("weights.key").touch(mode=0o600)
    Path("weights.key").write_bytes(bytes(range(32)))
    asked = ["reveal", "model.npz", "study/federation.toml", "--disguise", "weights.key"]
    assert run(*asked, "-o", "open.npz")[0] == 0
    opened = SharedModel.from_bytes(Path("open.npz").read_bytes())
    assert np.array_equal(opened.arrays["weights"], real)
    for more in ([], ["-o", "open.npz"], ["days.csv", "-o", "two.npz"]):
        assert run(*asked, *more)[0] == 2
    code, _, err = run("reveal", "open.npz", *asked[2:], "-o", "again.npz")
    assert code == 2
    assert "another plan" in err


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
        (["--columns", "sky", "--cut", "short"], "least, shortest"),
    ],
)
def test_what_cannot_be_is_said_and_nothing_is_left(run: Runs, arguments: list[str], said: str) -> None:
    code, _, err = run("init", "study", "--target", "class", *pairs("a", "b"), *arguments)
    assert code == 2
    assert said in err
    assert not Path("study").exists()


def test_a_federation_of_weights_is_made_from_a_schema_that_a_public_table_proposes(run: Runs) -> None:
    code, out, _ = run("schema", "days.csv", "--target", "class", "--columns", "sky", "-o", "schema.toml")
    assert code == 0
    assert "1 columns, 2 classes" in out
    code, _, err = run("schema", "days.csv", "--target", "class", "-o", "schema.toml")
    assert code == 2
    assert "new file" in err
    made = ["--schema", "schema.toml", "--model", "mlp", "--rounds", "2", *pairs("a", "b")]
    assert run("init", "study", *made)[0] == 0
    said = tomllib.loads(Path("study/federation.toml").read_text())
    assert said["table"]["columns"] == {"sky": {"values": ["blue", "grey"]}}
    assert (said["learning"]["model"], said["learning"]["sum"]) == ("mlp", "masked")
    code, _, err = run("run", "study", "--resume", "study", "--wait", "0")
    assert code == 2
    assert "no run to go on with" in err
    assert not Path("study/state.json").exists()
    code, _, err = run("run", "study", "--resume", "out", "-o", "other")
    assert code == 2
    assert "output" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--model", "mlp"], "--schema"),
        (["--model", "mlp", "--schema", "none.toml"], "cannot be read"),
        (["--model", "mlp", "--schema", "days.csv"], "no TOML"),
        (["--model", "mlp", "--schema", "schema.toml", "--support", "0.1"], "--support"),
        (["--model", "mlp", "--schema", "schema.toml", "--cut", "shortest"], "--cut"),
        (["--model", "mlp", "--schema", "schema.toml", "--target", "class"], "--target"),
        (["--model", "mlp", "--schema", "schema.toml", "--aggregate", "krum"], "hides"),
        (["--model", "forest", "--schema", "schema.toml"], "boosting"),
        (["--schema", "schema.toml", "--bins", "sky=1"], "--bins"),
        (["--schema", "schema.toml", "--network", "net.py"], "--model own"),
        (["--target", "class", "--columns", "sky", "--rounds", "3"], "--rounds"),
    ],
)
def test_a_federation_that_mixes_rules_and_weights_is_refused(
    run: Runs, arguments: list[str], said: str
) -> None:
    assert run("schema", "days.csv", "--target", "class", "-o", "schema.toml")[0] == 0
    code, _, err = run("init", "study", *pairs("a", "b"), *arguments)
    assert code == 2
    assert said in err
    assert not Path("study").exists()


def test_a_byte_budget_stops_a_simulation_and_the_same_command_goes_on(run: Runs) -> None:
    usual = ["simulate", "days.csv", "--target", "class", "-o", "run", "--model", "logistic", "--rounds", "5"]
    code, out, _ = run(*usual, "--byte-budget", "3000")
    assert code == 0
    assert "the model so far is kept: byte_budget=3,000" in out
    code, out, err = run(*usual, "--json")
    assert code == 0
    assert "going on after round" in err
    said = json.loads(out)
    assert (said["state"], said["rounds"]) == ("finished", 5)
    code, _, err = run("simulate", "days.csv", "--target", "class", "-o", "rules", "--byte-budget", "3000")
    assert code == 2
    assert "--byte-budget goes with" in err
    code, _, err = run(*usual[:4], "-o", "poor", *usual[6:], "--byte-budget", "100")
    assert code == 3
    assert "byte_budget=100" in err


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
    from mahrem.federated.rules import Disguise
    from mahrem.learning.rules import Rule, RuleList

    made = ["init", "study", "--target", "class", "--columns", "sky,day", "--how", "one-shot"]
    code, _, err = run(*made, *pairs("a", "b"), "--sum", "masked")
    assert code == 2
    assert "not added up" in err
    assert run(*made, *pairs("a", "b"))[0] == 0
    assert 'sum = "plain"' in Path("study/federation.toml").read_text()
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


def test_rules_may_be_agreed_on_by_a_schema_with_values_and_bounds(run: Runs) -> None:
    pl.DataFrame(
        {"sky": ["blue", "grey"] * 40, "hour": list(range(80)), "class": ["dry", "wet"] * 40}
    ).write_csv("hours.csv")
    assert run("schema", "hours.csv", "--target", "class", "-o", "schema.toml")[0] == 0
    code, _, err = run("init", "study", "--schema", "schema.toml", *pairs("a", "b"))
    assert code == 0, err
    table = tomllib.loads(Path("study/federation.toml").read_text())["table"]
    assert table["values"] == {"sky": ["blue", "grey"], "class": ["dry", "wet"]}
    assert len(table["bins"]["hour"]) == 8
    assert run("check", "study/federation.toml", "hours.csv")[0] == 0
    pl.read_csv("hours.csv").with_columns(pl.col("sky").str.to_uppercase()).write_csv("loud.csv")
    code, out, _ = run("check", "study/federation.toml", "loud.csv", "--json")
    assert code == 1
    (fault,) = (found for found in json.loads(out)["findings"] if found["fault"])
    assert (fault["code"], fault["column"], fault["like"]) == ("spelling", "sky", ["blue", "grey"])
    assert "BLUE" not in out
    code, out, _ = run("check", "study/federation.toml", "loud.csv", "--despite", "spelling:sky")
    assert code == 0
    assert "accepted" in out


def test_status_without_a_server_says_so_and_an_own_network_is_agreed_on_by_its_file(
    run: Runs, missing_part: Callable[[str], None]
) -> None:
    Path("net.py").write_text(
        "import torch\n\ndef make(width, classes):\n    return torch.nn.Linear(width, classes)\n"
    )
    assert run("schema", "days.csv", "--target", "class", "-o", "schema.toml")[0] == 0
    made = ["init", "study", "--model", "own", "--network", "net.py", "--schema", "schema.toml"]
    code, _, err = run(*made, "--address", "127.0.0.1:9", *pairs("a", "b"))
    if "mahrem[" in err:
        missing_part("torch is not installed")
    assert code == 0, err
    assert Path("study/network.py").read_text() == Path("net.py").read_text()
    Path("study/network.py").write_text("# another\n" + Path("net.py").read_text())
    code, _, err = run("run", "study", "--wait", "0")
    assert code == 2
    assert "network='network.py' is another file than was agreed on" in err
    code, out, _ = run("status", "study")
    assert code == 1
    assert "not reached" in out
