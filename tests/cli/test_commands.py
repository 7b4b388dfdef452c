from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import mahrem as mh
from mahrem.cli._app import _run
from mahrem.release.decisions import release_settings
from mahrem.words import explain_setting, load_catalogue

ADULT = [
    "--qi",
    "age,fnlwgt,capital-gain,capital-loss,hours-per-week",
    "--sensitive",
    "income",
    "--rest",
    "insensitive",
]
ADULT += ["--null", "?", "--missing", "drop-any", "--bounds", "exact", "--no-html"]


@pytest.fixture
def patients(tmp_path: Path) -> Path:
    path = tmp_path / "patients.csv"
    mh.demo_patients(400).write_csv(path)
    return path


@pytest.fixture
def run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, str, str]]:
    monkeypatch.setenv("MAHREM_STATE", str(tmp_path / "state"))

    def runs(*arguments: object) -> tuple[int, str, str]:
        try:
            code = _run([str(argument) for argument in arguments])
        except SystemExit as exit_:
            code = int(exit_.code or 0)
        said = capsys.readouterr()
        return code, said.out, said.err

    return runs


ROLES = ["--qi", "age,sex,zip", "--sensitive", "diagnosis", "--rest", "drop"]


def test_demo_makes_a_release_that_audits_true(
    run: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    code, out, _ = run("demo", "-o", tmp_path / "demo", "--rows", 500)
    assert code == 0
    assert "report.html" in out
    assert run("audit", tmp_path / "demo")[0] == 0
    assert run("demo", "-o", tmp_path / "demo")[0] == 2, "an existing release is not overwritten"
    assert run("demo", "-o", tmp_path / "demo", "--force", "--rows", 500)[0] == 0


def test_demo_also_writes_the_admissions_themselves(
    run: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    table, folder = tmp_path / "patients.csv", tmp_path / "demo"
    code, out, _ = run("demo", "-o", folder, "--rows", 500, "--table", table, "--no-html")
    assert code == 0
    assert str(table) in out
    assert pl.read_csv(table, schema=mh.demo_patients(500).schema).equals(mh.demo_patients(500))
    assert run("anonymize", table, *ROLES, "-k", 5, "-l", 2, "-o", tmp_path / "out", "--no-html")[0] == 0


def test_demo_writes_over_a_table_only_if_told_to(
    run: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    table, folder = tmp_path / "patients.csv", tmp_path / "demo"
    few = ("demo", "-o", folder, "--rows", 100, "--no-html", "--table", table)
    table.write_text("mine", encoding="utf-8")
    code, _, err = run(*few)
    assert code == 2
    assert "--force" in err
    assert table.read_text(encoding="utf-8") == "mine"
    assert not folder.exists(), "refused before anything was made"
    assert run(*few, "--force")[0] == 0
    assert pl.read_csv(table).height == 100
    table.unlink()
    assert run(*few)[0] == 2, "an existing release is not overwritten"
    assert not table.exists(), "both are written, or neither"


@pytest.mark.parametrize("place", ["demo/patients.csv", "demo", ".", "nowhere/patients.csv"])
def test_demo_refuses_a_table_where_none_can_lie(
    run: Callable[..., tuple[int, str, str]], tmp_path: Path, place: str
) -> None:
    code, _, err = run("demo", "-o", tmp_path / "demo", "--rows", 100, "--table", tmp_path / place)
    assert code == 2
    assert "table" in err
    assert not list(tmp_path.iterdir())


def test_anonymize_prints_one_json_document(
    run: Callable[..., tuple[int, str, str]], patients: Path, tmp_path: Path
) -> None:
    code, out, err = run("anonymize", patients, *ROLES, "-k", 5, "-l", 2, "-o", tmp_path / "out", "--json")
    report = json.loads(out)
    assert (code, err) == (0, "")
    assert report["holds"] is True
    assert {"holds", "promises", "utility", "columns", "risk", "rows", "seconds", "method"} <= set(report)
    keys = {
        "classes",
        "dm",
        "mean_class_size",
        "c_avg",
        "gcp",
        "gcp_sum",
        "iloss",
        "distortion",
        "suppressed",
    }
    assert keys <= set(report["utility"])
    assert {"model", "wanted", "reached", "holds"} <= set(report["promises"][0])


def test_audit_exits_1_after_one_cell_is_changed_by_hand(
    run: Callable[..., tuple[int, str, str]], patients: Path, tmp_path: Path
) -> None:
    run("anonymize", patients, *ROLES, "-k", 5, "-o", tmp_path / "out", "--quiet")
    data = tmp_path / "out" / "data.csv"
    roles = ["--qi", "age,sex,zip", "--sensitive", "diagnosis", "-k", 5]
    code, out, _ = run("audit", data, *roles, "--json")
    assert code == 0
    assert json.loads(out)["promises"][0]["reached"] >= 5
    frame = pl.read_csv(data, infer_schema=False)
    changed = frame.with_columns(
        age=pl.when(pl.int_range(pl.len()) == 7).then(pl.lit("[3, 4]")).otherwise("age")
    )
    changed.write_csv(data)
    code, out, _ = run("audit", data, *roles)
    assert code == 1
    assert "DOES NOT HOLD" in out
    assert "[3, 4]" not in out
    assert run("audit", tmp_path / "out")[0] == 4, "the folder's hashes say that it was tampered with"


def test_a_policy_file_says_what_options_say_and_options_win(
    run: Callable[..., tuple[int, str, str]], patients: Path, tmp_path: Path
) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('quasi = ["age", "sex", "zip"]\nsensitive = ["diagnosis"]\nrest = "drop"\nk = 5\n')
    code, out, _ = run("anonymize", patients, "--policy", policy, "-k", 9, "-o", tmp_path / "out", "--json")
    assert code == 0
    assert json.loads(out)["promises"][0]["wanted"] == 9
    policy.write_text("quazi = []\n")
    code, _, err = run("anonymize", patients, "--policy", policy, "-o", tmp_path / "other")
    assert code == 2
    assert "quazi" in err


def test_inspect_suggests_roles_and_shows_no_value(
    run: Callable[..., tuple[int, str, str]], patients: Path
) -> None:
    code, out, _ = run("inspect", patients, "--json")
    assert code == 0
    found = {column["name"]: column for column in json.loads(out)["columns"]}
    assert found["name"]["suggested_role"] == "identifier"
    assert found["age"]["suggested_role"] == "quasi"
    assert found["zip"]["suggested_role"] == "quasi"
    assert found["zip"]["kind"] == "code"
    assert found["diagnosis"]["suggested_role"] == "sensitive"
    frame = pl.read_csv(patients, infer_schema=False)
    assert not any(value in out for value in frame["name"].drop_nulls())


def test_inspect_says_which_figures_are_estimates(
    run: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    table = pl.DataFrame(
        {"few": [row % 7 for row in range(4000)], "many": [f"{row}.5" for row in range(4000)]}
    )
    table.write_csv(tmp_path / "table.csv")
    _, out, _ = run("inspect", tmp_path / "table.csv")
    lines = {line.split()[0]: line for line in out.splitlines() if line}
    assert "~" in lines["many"]
    assert "~" not in lines["few"]
    assert "~ is estimated. Every row was looked at" in out


def test_data_lists_benchmark_sets_without_having_them(
    run: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MAHREM_DATA", raising=False)
    code, out, _ = run("data", "--json")
    assert code == 0
    assert any(entry["name"] == "adult_train" and entry["path"] is None for entry in json.loads(out))


@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        (["--qi", "aeg", "--rest", "drop", "-k", "5"], 2, "age"),
        (["--qi", "age", "-k", "5"], 2, "rest"),
        (["--qi", "age", "--rest", "drop", "-k", "0"], 2, "k=0"),
        (["--qi", "age", "--rest", "drop", "-k", "abc"], 2, "abc"),
        (["--qi", "age", "--rest", "drop", "-k", "100000"], 3, "400"),
        (["--qi", "age", "--sensitive", "sex", "--rest", "drop", "-k", "2", "-l", "9"], 3, "l-diversity"),
        (["--qi", "age", "--rest", "drop"], 2, "k"),
        (["--qi", "sex", "--kind", "sex=numeric", "--rest", "drop", "-k", "2"], 2, "sex"),
        (["--qi", "age", "--rest", "drop", "-k", "2", "--kind", "age"], 2, "NAME=VALUE"),
        (["--qi", "age", "--rest", "drop", "-k", "2", "--no-such-option"], 2, "No such option"),
        (["--qi", "age", "--rest", "drop", "-k", "2", "--language", "xx"], 2, "language"),
    ],
)
def test_bad_requests_end_with_the_code_of_the_contract(
    run: Callable[..., tuple[int, str, str]],
    patients: Path,
    tmp_path: Path,
    arguments: list[str],
    code: int,
    word: str,
) -> None:
    found, out, err = run("anonymize", patients, *arguments, "-o", tmp_path / "out")
    assert found == code
    assert word in err
    assert "Traceback" not in out + err
    assert not (tmp_path / "out").exists()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"a,b\n1,2\n3\n",
        b"a,a\n1,2\n",
        b"\x00\x01\x02PNG",
        b"age,x\n1,inf\ninf,2\n",
        b"age\n\xff\xfe\xfa\n",
    ],
    ids=["empty", "ragged", "duplicate header", "binary", "infinite", "encoding"],
)
def test_bad_files_end_with_2_and_write_nothing(
    run: Callable[..., tuple[int, str, str]], tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    code, out, err = run(
        "anonymize",
        path,
        "--qi",
        "age" if b"age" in content else "a",
        "--rest",
        "drop",
        "-k",
        1,
        "-o",
        tmp_path / "out",
    )
    assert code == 2, err
    assert "Traceback" not in out + err
    assert not (tmp_path / "out").exists()


def test_a_missing_file_is_named_in_the_error(
    run: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    for more in (("--qi", "a", "-k", 2), ()):
        code, _, err = run("audit", tmp_path / "nowhere.csv", *more)
        assert code == 2
        assert "nowhere.csv" in err


def test_ctrl_c_half_way_leaves_nothing_behind(tmp_path: Path) -> None:
    mh.demo_patients(300_000).write_csv(tmp_path / "patients.csv")
    environment = {**os.environ, "MAHREM_STATE": str(tmp_path / "state")}
    command = [
        sys.executable,
        "-m",
        "mahrem",
        "anonymize",
        tmp_path / "patients.csv",
        *ROLES,
        "-k",
        "5",
        "-o",
        tmp_path / "out" / "release",
    ]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while (
        not list((tmp_path / "out").glob(".mahrem-stage-*/new/data.csv"))
        and process.poll() is None
        and time.monotonic() < deadline
    ):
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert not (tmp_path / "out").exists()


def test_ctrl_c_within_a_string_that_runs_keeps_the_exit_code(tmp_path: Path) -> None:
    # Python marks a KeyboardInterrupt that leaves such a string, and ends itself by the signal later.
    (tmp_path / "pressed.py").write_text(
        "import signal, sys\n"
        "from mahrem.cli import main\n"
        "class Pressed:\n"
        "    def write(self, text): exec('signal.raise_signal(signal.SIGINT)', globals())\n"
        "    def flush(self): pass\n"
        "sys.stdout = Pressed()\n"
        "main(['--version'])\n"
    )
    done = subprocess.run([sys.executable, "-m", "pressed"], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 130
    assert b"interrupted" in done.stderr


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path) -> None:
    # A file size limit fails the write half way, as a full disk does.
    mh.demo_patients(20_000).write_csv(tmp_path / "patients.csv")
    environment = {**os.environ, "MAHREM_STATE": str(tmp_path / "state")}
    command = " ".join(
        [
            "ulimit -f 300;",
            "trap '' XFSZ;",
            sys.executable,
            "-m",
            "mahrem",
            "anonymize",
            str(tmp_path / "patients.csv"),
            *ROLES,
        ]
    )
    command += f" -k 5 --no-html -o {tmp_path / 'out' / 'release'}"
    done = subprocess.run(
        ["bash", "-c", command], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 74, done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_reader_who_stops_early_does_not_change_the_verdict(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a\n1\n2\n")
    for k, code in ((1, 0), (2, 1)):
        audit = f"{sys.executable} -m mahrem audit {tmp_path / 't.csv'} --qi a -k {k} --json"
        command = f"{audit} | true; echo ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == str(code), done.stderr
        assert "Traceback" not in done.stderr


def test_a_table_of_which_nothing_was_asked_is_not_said_to_hold(
    run: Callable[..., tuple[int, str, str]], patients: Path
) -> None:
    code, out, _ = run("audit", patients, "--qi", "age,zip")
    assert (code, out.splitlines()[0]) == (0, "no promise was asked for; ask for one: -k 5")
    code, out, _ = run("audit", patients, "--qi", "age,zip", "-k", 5)
    assert (code, out.splitlines()[0]) == (1, "DOES NOT HOLD")


def test_help_answers_without_loading_what_is_heavy() -> None:
    probe = """
import sys
from mahrem.cli._app import _run
from mahrem.release.decisions import release_settings
from mahrem.words import explain_setting, load_catalogue
_run(["--help"])
print([name for name in ("mahrem.arrays._kernel", "polars", "pyarrow", "pandas") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("[]")
    assert "anonymize" in done.stdout


def test_help_shows_every_sentence_whole(run: Callable[..., tuple[int, str, str]]) -> None:
    _, out, _ = run("anonymize", "--help")
    printed = "".join(line.strip("│ ").split("  ")[-1].replace(" ", "") for line in out.splitlines())
    for known in release_settings().values():
        if not known.hidden:
            assert explain_setting(load_catalogue("en"), "release", known).replace(" ", "") in printed


@pytest.mark.data
@pytest.mark.parametrize(
    ("k", "classes", "dm"),
    [
        (5, 4096, 223054),
        (10, 2048, 444618),
        (20, 1024, 888678),
        (30, 512, 1776890),
        (40, 512, 1776890),
        (50, 512, 1776890),
    ],
)
def test_relaxed_mondrian_on_adult_equals_the_print(
    run: Callable[..., tuple[int, str, str]],
    benchmark_data: Path,
    tmp_path: Path,
    k: int,
    classes: int,
    dm: int,
) -> None:
    source = benchmark_data / "adult_train.csv"
    code, out, _ = run(
        "anonymize",
        source,
        *ADULT,
        "-k",
        k,
        "--method",
        "mondrian",
        "--strategy",
        "relaxed",
        "-o",
        tmp_path / "out",
        "--json",
    )
    report = json.loads(out)
    assert code == 0
    assert report["rows"] == 30162
    assert (report["utility"]["classes"], report["utility"]["dm"]) == (classes, dm)
    assert run("audit", tmp_path / "out" / "data.csv", *ADULT[:4], "-k", k)[0] == 0


@pytest.mark.data
def test_strict_mondrian_on_adult_loses_at_most_2300(
    run: Callable[..., tuple[int, str, str]], benchmark_data: Path, tmp_path: Path
) -> None:
    code, out, _ = run(
        "anonymize", benchmark_data / "adult_train.csv", *ADULT, "-k", 5, "-o", tmp_path / "out", "--json"
    )
    assert code == 0
    assert json.loads(out)["utility"]["gcp_sum"] <= 2300
