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
from mahrem.models import MODELS
from mahrem.partition import METHODS
from mahrem.release.decisions import release_settings

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from site_json import VERBS  # noqa: E402
from site_versions import publish  # noqa: E402

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
    assert all(f"<code>{name}</code>" in things for name in MODELS)
    settings = (site / "reference" / "settings.html").read_text("utf-8")
    assert all(f"<code>{name}</code>" in settings for name in release_settings())
    assert all(f">Of {verb}<" in settings for verb in ("compare", "suppress", "risk", "train", "serve"))
    results = (site / "reference" / "results.html").read_text("utf-8")
    assert all(f">mahrem {verb}<" in results for verb in VERBS)
    assert all(word in results for word in ("Infeasible", "BudgetExceeded", "promises", "verdict"))


def test_a_report_is_what_its_schema_says_and_another_is_not(site: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((site / "reference" / "report.schema.json").read_text("utf-8"))
    rows = mahrem.demo_patients(60).select("age", "sex", "diagnosis")
    report = mahrem.anonymize(rows, quasi=["age", "sex"], sensitive="diagnosis", k=3, html=False).report
    content = json.loads(json.dumps(report))
    jsonschema.validate(content, schema)
    for wrong in ({"promises": "none"}, {"holds": "yes"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**content, **wrong}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({key: value for key, value in content.items() if key != "promises"}, schema)


def test_the_gallery_has_pictures_and_a_notebook_of_every_example(site: Path) -> None:
    examples = sorted((ROOT / "examples").glob("plot_*.py"))
    pictures = 0
    for path in examples:
        name = path.stem.removeprefix("plot_")
        notebook = json.loads((site / "gallery" / f"{name}.ipynb").read_text("utf-8"))
        cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        assert cells
        if name != "spark":  # a cluster; its page says so
            assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
            assert any(cell["outputs"] for cell in cells)
        page = (site / "gallery" / f"{name}.html").read_text("utf-8")
        pictures += '<div class="shown picture"><svg' in page
    assert len(examples) >= 10
    assert pictures >= 6


def test_versions_of_the_site_lie_beside_each_other(tmp_path: Path) -> None:
    built, pages = tmp_path / "built", tmp_path / "pages"
    built.mkdir()
    pages.mkdir()
    for name in ("v0.2.0", "latest", "v0.10.0", "latest"):
        (built / "index.html").write_text(name, encoding="utf-8")
        publish(built, pages, name)
    listed = json.loads((pages / "versions.json").read_text("utf-8"))
    assert [one["version"] for one in listed] == ["latest", "0.10.0", "0.2.0"]
    assert (pages / "0.2.0" / "index.html").read_text("utf-8") == "v0.2.0"
    assert "url=latest/" in (pages / "index.html").read_text("utf-8")
    with pytest.raises(ValueError, match="no version"):
        publish(built, pages, "../elsewhere")


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
