"""Files as people have them, from the command line."""

from __future__ import annotations

import random
import shlex
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import mahrem as mh
from mahrem.cli._app import _run

Printed = pytest.CaptureFixture[str]


def people(rows: int = 60) -> list[list[str]]:
    rng = random.Random(3)
    return [
        [
            str(rng.randint(18, 90)),
            f"{rng.randint(10**5, 10**7) / 100:,.2f}".translate(str.maketrans(",.", ".,")),
            f"{rng.randint(1, 12)}/{rng.randint(13, 28)}/{rng.randint(1950, 2005)}",
            rng.choice(["grip", "astma"]),
        ]
        for _ in range(rows)
    ]


def written(folder: Path, first: str = "") -> Path:
    path = folder / "people.csv"
    path.write_text(first + "".join(";".join(row) + "\n" for row in people()), encoding="utf-8")
    return path


@pytest.mark.parametrize("verb", ["inspect", "anonymize", "audit", "compare"])
def test_no_verb_shows_a_cell_of_a_file_without_a_header(tmp_path: Path, verb: str, capsys: Printed) -> None:
    path = written(tmp_path)
    out = ["-o", str(tmp_path / "r")] if verb in {"anonymize", "compare"} else []
    assert _run([verb, str(path), *([] if verb == "inspect" else ["--qi", "a", "-k", "2", *out])]) == 2
    printed = "".join(capsys.readouterr())
    assert "--no-header --names NAME1,NAME2,NAME3,… (4 names)" in printed
    assert not [cell for row in people() for cell in row if len(cell) > 2 and cell in printed]


def test_columns_are_named_and_read_as_what_they_are(tmp_path: Path) -> None:
    path, out = written(tmp_path), tmp_path / "r"
    named = ["--no-header", "--names", 'yaş,"Gelir (TL), net",doğum,teşhis']
    roles = [
        "--qi",
        'yaş,"Gelir (TL), net",doğum',
        "--sensitive",
        "teşhis",
        "-k",
        "4",
        "-o",
        str(out),
        "--no-html",
    ]
    assert _run(["anonymize", str(path), *named, *roles]) == 0
    data = pl.read_csv(out / "data.csv", infer_schema=False)
    assert data.height == 60
    assert data["Gelir (TL), net"].str.contains(r"^\[\d+, \d+\]$").all()
    assert data["doğum"].str.contains(r"^\[\d{4}-\d\d-\d\d, ").all()
    assert _run(["audit", str(out)]) == 0


HEADER = 'yaş;"Gelir (TL), net";doğum;"  Diagnose "\n'


def test_the_hint_for_a_name_with_a_comma_is_what_works(tmp_path: Path, capsys: Printed) -> None:
    path, out = written(tmp_path, HEADER), tmp_path / "r"
    roles = ["--sensitive", "Diagnose", "--rest", "drop", "-k", "4", "-o", str(out), "--no-html"]
    assert _run(["anonymize", str(path), "--qi", "yaş,Gelir (TL), net", *roles]) == 2
    assert """did you mean '"Gelir (TL), net"'?""" in capsys.readouterr().err
    assert _run(["anonymize", str(path), "--qi", 'yaş,"Gelir (TL), net"', *roles]) == 0
    assert pl.read_csv(out / "data.csv").columns == ["yaş", "Gelir (TL), net", "  Diagnose "]


def test_titles_are_said_and_dates_that_could_be_two_are_asked_for(tmp_path: Path, capsys: Printed) -> None:
    path = written(tmp_path, "Hasta listesi\n\n" + HEADER)
    said = ["--qi", "yaş,doğum", "--sensitive", '"  Diagnose "', "--rest", "drop", "-k", "4", "--no-html"]
    assert _run(["anonymize", str(path), *said, "-o", str(tmp_path / "r")]) == 0
    assert "taken for a title" in capsys.readouterr().out
    doubtful = tmp_path / "doubtful.csv"
    rows = "".join(f"{20 + place % 20};{1 + place % 12}/{1 + place % 11}/2001;x\n" for place in range(40))
    doubtful.write_text("age;born;ill\n" + rows)
    said = ["--qi", "age,born", "--sensitive", "ill", "-k", "4", "--no-html", "-o", str(tmp_path / "d")]
    assert _run(["anonymize", str(doubtful), *said]) == 2
    assert "--date-format born=%d/%m/%Y" in capsys.readouterr().err
    assert _run(["anonymize", str(doubtful), *said, "--date-format", "born=%m/%d/%Y"]) == 0
    assert _run(["anonymize", str(doubtful), *said, "--date-format", "%d/%m/%Y", "--force"]) == 0


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ('k = 5\n[kind]\nyaş = "numeric"\n', '"yaş"'),
        ('kind = { posta kodu = "code" }\n', '"posta kodu"'),
        ("[sensitive.teşhis]\nl = 2\n", '"teşhis"'),
    ],
)
def test_a_policy_with_a_bare_name_says_how_it_is_written(
    tmp_path: Path, text: str, hint: str, capsys: Printed
) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(text, encoding="utf-8")
    assert _run(["inspect", str(written(tmp_path, HEADER)), "--policy", str(policy)]) == 2
    assert f"stand in quotes: {hint}" in capsys.readouterr().err


def test_a_misspelt_command_is_corrected_once(capsys: Printed) -> None:
    assert _run(["anonimize"]) == 2
    assert capsys.readouterr().err.count("Did you mean") == 1


def test_frames_of_every_kind_are_read() -> None:
    rng = np.random.default_rng(1)
    numbers = pd.DataFrame({0: rng.integers(20, 60, 80), 1: rng.integers(0, 2, 80), 2: ["x", "y"] * 40})
    said = {"quasi": [0, 1], "sensitive": [2], "k": 4}
    assert list(mh.anonymize(numbers, **said).table.columns) == [0, 1, 2]

    class Stream:
        def __init__(self, table: pa.Table) -> None:
            self.table = table

        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return self.table.__arrow_c_stream__(requested_schema)

    frame = pl.DataFrame({"age": numbers[0].to_numpy(), "ill": ["x", "y"] * 40}).to_arrow()
    roles = {"quasi": ["age"], "sensitive": ["ill"], "k": 4}
    for source in (duckdb.from_arrow(frame), Stream(frame)):
        assert mh.anonymize(source, **roles).report["holds"]


def test_what_was_said_about_reading_stands_in_the_policy_that_inspect_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Printed
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MAHREM_STATE", str(tmp_path / "state"))
    rows = "".join(f'"{20 + n % 7}";"{n % 3}";"{"?" if n % 9 == 0 else n % 5}"\n' for n in range(90))
    Path("my file.csv").write_bytes(f'"Yaş, gün";"İlçe";"Şikâyet"\n{rows}'.encode("cp1254"))
    said = ["--encoding", "cp1254", "--null", "?", "--kind", '"Yaş, gün"=numeric', "--kind", "İlçe=code"]
    assert _run(["inspect", "my file.csv", *said, "--policy-out", "my policy.toml"]) == 0
    printed = capsys.readouterr().out.splitlines()
    (command,) = [line for line in printed if line.startswith("mahrem anonymize")]
    assert _run(shlex.split(command)[1:]) == 0
    assert capsys.readouterr().err == ""


def test_what_is_printed_leads_to_a_release_that_holds(tmp_path: Path, capsys: Printed) -> None:
    rng = random.Random(8)
    path, policy, folder = tmp_path / "wide.csv", tmp_path / "policy.toml", tmp_path / "release"
    header = "v1,v2,2021,2022\n"  # names tell nothing, and nothing is known to others by its counts
    path.write_text(
        header
        + "".join(
            f"{rng.choice('mw')},{','.join(str(rng.randint(0, 9)) for _ in range(3))}\n" for _ in range(600)
        )
    )
    assert _run(["inspect", str(path), "--policy-out", str(policy)]) == 0
    assert _run(["anonymize", str(path), "--policy", str(policy), "-o", str(folder), "-q"]) == 0
    text = policy.read_text().replace("quasi", "insensitive", 1) + '\nquasi = ["v1"]\n'
    policy.write_text(text.replace('    "v1"', '    # "v1"'))
    capsys.readouterr()
    assert _run(["anonymize", str(path), "--policy", str(policy), "-o", str(folder), "--force"]) == 0
    told = next(line for line in capsys.readouterr().out.splitlines() if "covered: " in line)
    way = shlex.split(told.partition("covered: ")[2])
    assert (
        _run(
            ["anonymize", str(path), "--policy", str(policy), *way, "-o", str(folder), "--force", "--strict"]
        )
        == 0
    )


def test_a_role_said_beside_a_policy_is_the_role(tmp_path: Path) -> None:
    table = pl.DataFrame({"a": [1, 2] * 20, "b": ["x", "y"] * 20, "c": ["p", "q"] * 20})
    file = tmp_path / "policy.toml"
    file.write_text('quasi = ["a"]\nsensitive = ["b"]\ninsensitive = ["c"]\nk = 5\n')
    for policy in (file, {"quasi": ["a"], "sensitive": ["b"], "insensitive": ["c"], "k": 5}):
        release = mh.anonymize(table, policy=policy, quasi=["a", "b"], identifier=["c"], rest="drop")
        assert list(release.table.columns) == ["a", "b"]
