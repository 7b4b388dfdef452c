"""The site builds without a warning, its reference is made of the code, and the project's files parse."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import mahrem
from mahrem.partition import METHODS

ROOT = Path(__file__).parent.parent
FETCHED = re.compile(r'<(?:script|img|link)[^>]+(?:src|href)="(https?:[^"]+)"')


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_every_page_is_there_and_none_fetches_from_elsewhere(site: Path) -> None:
    written = {page.relative_to(ROOT / "docs").with_suffix(".html") for page in (ROOT / "docs").rglob("*.md")}
    built = {page.relative_to(site) for page in site.rglob("*.html")}
    assert written <= built
    for page in site.rglob("*.html"):
        fetched = re.findall(
            r'<(?:script|img|link)[^>]+(?:src|href)="(https?:[^"]+)"', page.read_text("utf-8")
        )
        own = ("https://raw.githubusercontent.com/mahrem/", "https://github.com/mahrem/")
        assert [url for url in fetched if not url.startswith(own)] == []


def test_the_reference_lists_what_there_is(site: Path) -> None:
    python = (site / "reference" / "python.html").read_text("utf-8")
    assert all(f'id="mahrem.{name}"' in python for name in mahrem.__all__)
    things = (site / "reference" / "things.html").read_text("utf-8")
    assert all(f"<code>{name}</code>" in things for name in METHODS)
    commands = (site / "reference" / "commands.html").read_text("utf-8")
    assert "mahrem federate join" in commands
    results = (site / "reference" / "results.html").read_text("utf-8")
    assert all(word in results for word in ("Infeasible", "BudgetExceeded", "promises", "verdict"))


def test_workflows_and_other_files_of_the_project_parse() -> None:
    files = [*ROOT.glob(".github/**/*.yml"), ROOT / "compose.yaml", ROOT / ".pre-commit-config.yaml"]
    assert len(files) >= 9
    for path in (*files, ROOT / "CITATION.cff"):
        assert isinstance(yaml.safe_load(path.read_text("utf-8")), dict), path
    json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text("utf-8"))


def test_one_version_is_told_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))["version"]
    assert project == citation
    assert f"## {project} " in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_the_image_runs_as_somebody_without_rights_and_copies_what_is_there() -> None:
    lines = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ").splitlines()
    users = [line.split()[1] for line in lines if line.startswith("USER ")]
    assert users
    assert users[-1] not in {"root", "0"}
    for line in lines:
        if line.startswith("COPY ") and "--from=" not in line:
            assert all((ROOT / name).exists() for name in line.split()[1:-1]), line
    kept = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert kept[0] == "*"  # nothing gets in by accident
