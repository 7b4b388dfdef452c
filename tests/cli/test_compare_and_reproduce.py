from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import mahrem as mh
from mahrem.cli._app import _run
from mahrem.cli._options import shared_rows
from mahrem.partition import METHODS

Run = Callable[..., tuple[int, str, str]]
ROLES = ["--qi", "age,sex,zip", "--sensitive", "diagnosis", "--rest", "drop"]


@pytest.fixture
def patients(tmp_path: Path) -> Path:
    path = tmp_path / "patients.csv"
    mh.demo_patients(300).write_csv(path)
    return path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("MAHREM_STATE", str(tmp_path / "state"))

    def runs(*arguments: object) -> tuple[int, str, str]:
        try:
            code = _run([str(argument) for argument in arguments])
        except SystemExit as exit_:
            code = int(exit_.code or 0)
        said = capsys.readouterr()
        return code, said.out, said.err

    return runs


def test_compare_prints_a_table_and_says_what_to_take(run: Run, patients: Path, tmp_path: Path) -> None:
    code, out, err = run(
        "compare", patients, *ROLES, "--methods", "mondrian", "--ks", "2,5", "-o", tmp_path / "out"
    )
    assert (code, err) == (0, "")
    assert "Take mondrian" in out
    assert "comparison.html" in out
    assert (tmp_path / "out" / "frontier.svg").is_file()


def test_compare_prints_one_json_document(run: Run, patients: Path) -> None:
    code, out, _ = run("compare", patients, *ROLES, "--methods", "mondrian", "--ks", "2,5", "--json")
    found = json.loads(out)
    assert code == 0
    assert [row["k"] for row in found["results"]] == [2, 5]
    assert {"method", "strategy", "seed", "gcp", "gcp_sum", "highest_risk", "average_risk", "holds"} <= set(
        found["results"][0]
    )


@pytest.mark.parametrize(
    "wrong",
    [
        ["--ks", "2,x"],
        ["--ks", "0"],
        ["--methods", "nobody"],
        ["--methods", ","],
        ["--seeds", "0"],
        ["--seeds", "9999999"],
    ],
)
def test_compare_refuses_a_wrong_option_with_2(run: Run, patients: Path, wrong: list[str]) -> None:
    code, out, err = run("compare", patients, *ROLES, *wrong)
    assert code == 2
    assert out == ""
    assert err


def test_the_help_names_every_method_and_auto() -> None:
    (method,) = shared_rows("method")
    assert method.means is not None
    assert {*METHODS, "auto"} == set(method.means.split(";")[0].split(", "))


def test_help_does_not_load_the_kernels() -> None:
    probe = "import sys; from mahrem.cli._app import _run; _run(['compare', '--help']);"
    probe += "print('mahrem.arrays._kernel' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("False")


def test_anonymize_says_which_method_auto_chose(run: Run, patients: Path, tmp_path: Path) -> None:
    code, out, _ = run(
        *("anonymize", patients, *ROLES, "-k", 5, "--method", "auto", "--option", "seconds=0"),
        *("-o", tmp_path / "out", "--json"),
    )
    assert code == 0
    assert json.loads(out)["method"] == "mondrian"
    assert "allowed" in json.loads(out)["method_reason"]
    assert "quickest" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


@pytest.mark.data
def test_reproduce_prints_published_and_ours(
    run: Run, benchmark_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert benchmark_data.is_dir()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))  # what needs Spark is then said, not run
    files = ("--csv", tmp_path / "rows.csv", "-o", tmp_path / "out")
    code, out, err = run("reproduce", "canbay2019", "--table", "4.15", "--table", "7.6", "--quick", *files)
    assert (code, err) == (0, "")
    assert "223,054" in out
    assert "Spark" in out
    assert (tmp_path / "rows.csv").is_file()
    assert (tmp_path / "out" / "canbay2019-published-and-ours.svg").is_file()


def test_reproduce_prints_one_json_list(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    code, out, _ = run("reproduce", "canbay2019", "--table", "7.6", "--json")
    assert code == 0
    assert {
        "paper",
        "table",
        "dataset",
        "setting",
        "method",
        "metric",
        "published",
        "ours",
        "difference",
    } <= set(json.loads(out)[0])


@pytest.mark.parametrize("wrong", [["nobody"], ["canbay2019", "--table", "9.9"]])
def test_reproduce_refuses_what_it_does_not_know_with_2(run: Run, wrong: list[str]) -> None:
    code, out, err = run("reproduce", *wrong)
    assert (code, out) == (2, "")
    assert "must be one of" in err
