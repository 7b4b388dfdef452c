"""A language of another distribution, added through the public way alone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import mahrem as mh
from web_server import serving

FORMAT = """
[format]
name = "Español"
decimal = ","
thousands = "."
percent = "{number} %"
and = "{first} y {last}"
"""
WORDS = """
[word]
title = "Informe"
[verdict]
kept = "La promesa se cumple."
[warning]
unplaced = "Algunas filas no caben en ninguna clase."
"""


@pytest.fixture
def theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A distribution as an installer leaves it, on the path of every process."""
    folder = tmp_path / "site"
    facts, package = folder / "their_words-1.0.dist-info", folder / "their_words"
    facts.mkdir(parents=True)
    package.mkdir()
    (package / "__init__.py").write_text(
        "from mahrem.words import Language\nSPANISH = Language(name='es', home='their_words:es.toml')\n"
    )
    (package / "es.toml").write_text(FORMAT + WORDS, encoding="utf-8")
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: their-words\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[mahrem.languages]\nes = their_words:SPANISH\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]))
    return tmp_path


def run(code: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", f"from mahrem.words import *\n{code}"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_language_of_others_is_seen_on_the_command_line_and_in_the_report(theirs: Path) -> None:
    mh.demo_patients(200).write_csv(theirs / "patients.csv")
    command = [sys.executable, "-m", "mahrem", "anonymize", "patients.csv", "--qi", "age,zip", "-k", "4"]
    command += ["--rest", "drop", "--language", "es", "-o", "out"]
    done = subprocess.run(command, cwd=theirs, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    page = (theirs / "out" / "report.html").read_text(encoding="utf-8")
    assert '<html lang="es">' in page
    assert "La promesa se cumple." in page
    assert "age y zip" in page
    assert "What was promised [en]" in page, "what is lacking is English, and marked"
    assert not re.search(
        r"\{[a-z_]+(:[a-z0-9]+)?\}", re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)
    )


def test_a_language_of_others_is_on_the_page(theirs: Path) -> None:
    with serving(theirs / "state") as server:
        assert "es" in server.client.get("/api/v1/about").json()["languages"]
        page = server.client.get("/projects", headers={"accept-language": "es"}).text
        assert '<html lang="es"' in page
        assert "Español" in page


@pytest.mark.parametrize(
    ("texts", "complaint"),
    [
        (FORMAT + '[verdict]\nkpet = "x"\n', "verdict.kpet"),
        (FORMAT + '[warning]\nunplaced = "{lines} filas"\n', "warning.unplaced"),
        (FORMAT + '[utility]\ngcp = "only one"\n', "utility.gcp"),
        (FORMAT + '[utility]\ngcp = ["only one"]\n', "utility.gcp"),
        ('[format]\nname = "Español"\n', "format.decimal"),
    ],
)
def test_a_catalogue_that_does_not_fit_is_refused_with_the_text_that_does_not(
    theirs: Path, texts: str, complaint: str
) -> None:
    (theirs / "site" / "their_words" / "es.toml").write_text(texts, encoding="utf-8")
    done = run("load_catalogue('es')")
    assert "InvalidParameter: mahrem.languages: 'es' " in done.stderr
    assert complaint in done.stderr


def test_ours_cannot_be_replaced(theirs: Path) -> None:
    facts = theirs / "site" / "their_words-1.0.dist-info" / "entry_points.txt"
    facts.write_text("[mahrem.languages]\nde = their_words:SPANISH\n")
    assert run("print(load_catalogue('de').name)").stdout.strip() == "Deutsch"
