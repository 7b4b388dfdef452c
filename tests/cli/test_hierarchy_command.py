from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import mahrem as mh
from mahrem.cli._app import _run
from mahrem.errors import InvalidParameter, PrivacyWarning
from mahrem.pipeline import check_hierarchy, make_hierarchy
from mahrem.table import read_hierarchy
from mahrem.table.hierarchies import LearntGroups

Run = Callable[..., tuple[int, str, str]]
AWKWARD = (
    '\ufeffname;age;born;zip;amount;grade\n"a;b";-3;1994-05-03;06100;1,5;low\n'
    '"say ""hi""";20;31.12.2001;0613;-0,25;mid\n;;;;;\n"{x, y}";7;2000-02-29;34000;10;high\n'
)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.csv").write_text(AWKWARD, encoding="utf-8")

    def runs(*arguments: object) -> tuple[int, str, str]:
        code = _run(["hierarchy", *map(str, arguments)])
        said = capsys.readouterr()
        return code, said.out, said.err

    return runs


@pytest.mark.parametrize(
    ("how", "first"),
    [
        (["-c", "name"], '"a;b";*'),
        (["-c", "age"], "-3;[-5, -1];[-10, -1];[-20, -1];[-40, -1];*"),
        (["-c", "age", "--intervals", "5,10"], "-3;[-5, -1];[-10, -1];*"),
        (["-c", "age", "--cuts", "0,18/18"], "-3;[-inf, -1];[-inf, 17];*"),
        (
            ["-c", "born", "--dates", "year,decade"],
            "1994-05-03;[1994-01-01, 1994-12-31];[1990-01-01, 1999-12-31];*",
        ),
        (["-c", "zip", "--mask", "right"], "06100;0610*;061**;06***;0****;*"),
        (["-c", "zip", "--mask", "left"], "34000;*4000;**000;***00;****0;*"),
        (["-c", "zip", "--prefix", "2,1"], "06100;06***;0****;*"),
        (["-c", "amount", "--decimal", ",", "--intervals", "0.5"], "-0,25;[-0.5, 0.0];*"),
        (["-c", "grade", "--order", "grade=low,mid,high", "--groups", "2"], "low;{low, mid};*"),
        (["-c", "grade", "--order", "grade=low,mid,high"], "low;{low, mid};*"),
    ],
)
def test_every_way_makes_a_hierarchy_that_fits(run: Run, how: list[str], first: str) -> None:
    code, out, err = run("make", "table.csv", *how)
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == first
    assert run("make", "table.csv", *how, "-o", "tree.csv")[0] == 0
    assert Path("tree.csv").read_text(encoding="utf-8") == out
    code, out, _ = run("check", "tree.csv", "--data", "table.csv", "-c", how[1], "--json")
    found = json.loads(out)
    assert (code, found["holds"], found["unknown"], found["missing"], found["misplaced"]) == (
        0,
        True,
        0,
        1,
        0,
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["table.csv", "-c", "age", "--intervals", "5,7"], "must be a multiple of 5"),
        (["table.csv", "-c", "age", "--intervals", "x"], "must be a number"),
        (["table.csv", "-c", "name", "--intervals", "5"], "3 of 3 distinct values are not finite numbers"),
        (["table.csv", "-c", "born", "--dates", "week,month"], "a week can lie in two"),
        (["table.csv", "-c", "zip", "--prefix", "9"], "the longest one has 5 characters"),
        (["table.csv", "-c", "zip", "--prefix", "a"], "must be whole numbers"),
        (["table.csv", "-c", "zip", "--mask", "up"], "must be one of right, left"),
        (["table.csv", "-c", "zip", "--mask", "right", "--prefix", "1"], "different ways"),
        (["table.csv", "-c", "grade", "--groups", "2"], "needs the order"),
        (["table.csv", "-c", "grade", "--kind", "grade=ordinal"], "needs its order"),
        (
            ["table.csv", "-c", "grade", "--groups", "2", "--order", "grade=low,mid"],
            "1 different values are not in",
        ),
        (["table.csv", "-c", "nothing"], "is not in the table"),
        (["table.csv", "-c", "age", "--rho", "5"], "need a target"),
        (["table.csv", "-c", "age", "--auto", "age"], "is the column itself"),
        (["table.csv", "-c", "age", "--auto", "grade", "--rho", "a"], "rho='a' must be a number"),
        (["table.csv", "-c", "age", "--auto", "grade", "--sample", "0"], "at least 1 row"),
        (["nowhere.csv", "-c", "age"], "does not exist"),
        (["empty.csv", "-c", "age"], "has no values"),
    ],
)
def test_what_cannot_be_made_is_refused_with_a_reason(run: Run, arguments: list[str], message: str) -> None:
    Path("empty.csv").write_text("age\n")
    code, out, err = run("make", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert not any(value in err for value in ("a;b", 'hi"', "31.12", "0613"))


def test_a_file_is_not_written_over_unless_told(run: Run) -> None:
    assert run("make", "table.csv", "-c", "age", "-o", "age.csv")[0] == 0
    before = Path("age.csv").read_bytes()
    code, _, err = run("make", "table.csv", "-c", "zip", "-o", "age.csv")
    assert (code, "--force" in err) == (2, True)
    assert Path("age.csv").read_bytes() == before
    code, out, _ = run("make", "table.csv", "-c", "zip", "-o", "age.csv", "--force")
    assert (code, "--hierarchy zip=age.csv" in out) == (0, True)
    assert Path("age.csv").read_bytes() != before
    assert run("make", "table.csv", "-c", "age", "-o", "nowhere/age.csv")[0] == 74


def test_a_tree_is_shown_with_counts_and_cut(run: Run) -> None:
    run("make", "table.csv", "-c", "age", "--intervals", "10", "-o", "age.csv")
    code, out, _ = run("show", "age.csv")
    assert code == 0
    assert [line.strip("│├└─ ") for line in out.splitlines()] == [
        "*  (3)",
        "[-10, -1]  (1)",
        "-3",
        "[0, 9]  (1)",
        "7",
        "[20, 29]  (1)",
        "20",
    ]
    cut = run("show", "age.csv", "--depth", "1", "--width", "2")[1]
    assert [line.strip("│├└─ ") for line in cut.splitlines()] == ["*  (3)", "[-10, -1]", "[0, 9]", "… 1 more"]
    shown = json.loads(run("show", "age.csv", "--json")[1])
    assert shown["tree"]["children"][1] == {
        "label": "[0, 9]",
        "leaves": 1,
        "children": [{"label": "7", "leaves": 1}],
    }


def test_labels_cannot_play_with_the_terminal(run: Run) -> None:
    Path("tree.csv").write_text("[bold]a;\x1b[31mred;*\n", encoding="utf-8")
    out = run("show", "tree.csv")[1]
    assert "\x1b" not in out
    assert "[bold]a" in out


def test_check_counts_what_is_unknown(run: Run) -> None:
    Path("tree.csv").write_text("7;[0, 5];*\n", encoding="utf-8")
    code, out, _ = run("check", "tree.csv", "--data", "table.csv", "--column", "age")
    assert code == 1
    assert "DOES NOT FIT" in out
    assert "2 (2 different)" in out
    assert run("check", "tree.csv", "--quiet")[:2] == (1, "")
    assert run("check", "tree.csv", "--data", "table.csv")[0] == 2
    Path("tree.csv").write_text("a;x;y;*\nb;y;x;*\n", encoding="utf-8")
    assert run("check", "tree.csv")[0] == 2


def test_learning_from_the_table_itself_is_warned_of() -> None:
    table = pl.DataFrame(
        {"town": ["a", "b", "c", "d"], "ill": ["yes", "yes", "no", "no"], "sex": list("mfmf")}
    )
    with pytest.warns(PrivacyWarning, match="learnt from the table itself"):
        tree = make_hierarchy(table, "town", auto="ill", learnt=LearntGroups(rho=(100,)))
    assert tree.labels[1] == ("{a, b}", "{c, d}")
    with pytest.raises(InvalidParameter, match="is a quasi-identifier"):
        make_hierarchy(table, "town", auto="ill", quasi=["ill"])
    public = pl.DataFrame({"town": ["a", "c"], "ill": ["no", "yes"]})
    other = make_hierarchy(table, "town", auto="ill", learn_from=public, learnt=LearntGroups(rho=(100,)))
    assert other.labels[1] == ("{a, b, d}", "c")


def test_a_sample_is_drawn_by_its_seed() -> None:
    table = mh.demo_patients(500)
    with pytest.warns(PrivacyWarning):
        trees = [make_hierarchy(table, "age", auto="sex", sample=60, seed=seed) for seed in (1, 1, 2)]
    assert trees[0] == trees[1] != trees[2]
    assert check_hierarchy(trees[2], table, "age").holds


def test_a_made_hierarchy_is_published_and_audited(run: Run) -> None:
    patients = mh.demo_patients(200)
    patients.write_csv("patients.csv")
    for name, how in {
        "age": "--intervals=10,20,40",
        "zip": "--mask=right",
        "admission": "--dates=quarter,year",
    }.items():
        assert run("make", "patients.csv", "-c", name, how, "-o", f"{name}.csv", "--quiet")[:2] == (0, "")
    quasi = ["age", "zip", "admission"]
    release = mh.anonymize(
        "patients.csv",
        quasi=quasi,
        sensitive="diagnosis",
        rest="drop",
        k=5,
        hierarchy={n: f"{n}.csv" for n in quasi},
    )
    assert release.holds
    for name in quasi:
        tree = read_hierarchy(f"{name}.csv")
        cells = {cell for level in range(tree.levels) for cell in tree.cells(level)}
        assert set(release.table[name]) <= cells
    assert release.table["age"].str.contains(r"^\[\d+, \d+\]$").any()
    assert mh.audit(release.table, quasi=quasi, sensitive="diagnosis", k=5).holds
