"""``mahrem docs``: every page of the site's folder, without a network."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md")}
Run = Callable[..., tuple[int, str, str]]


def test_all_pages_are_listed_with_their_titles(run: Run) -> None:
    code, out, _ = run("docs", "--json")
    assert code == 0
    listed = json.loads(out)
    assert set(listed) == PAGES
    assert all(listed.values())
    assert all(f"  {name} " in run("docs")[1] for name in PAGES)


def test_the_wheel_carries_every_page() -> None:
    project = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))
    build = project["tool"]["hatch"]["build"]["targets"]
    carried = build["wheel"]["force-include"]
    kept = {name for name in PAGES if f"docs/{name}.md" in carried or f"docs/{Path(name).parent}" in carried}
    assert kept == PAGES
    assert "/docs" in build["sdist"]["include"]  # from which wheels are built


@pytest.mark.parametrize("asked", ["audit", "guide/audit", "audit.md", "guide/audit.md"])
def test_a_page_is_printed_as_it_is_written(run: Run, asked: str) -> None:
    assert run("docs", asked)[1] == (DOCS / "guide" / "audit.md").read_text(encoding="utf-8")
    assert json.loads(run("docs", asked, "--json")[1])["page"] == "guide/audit"


def test_words_are_found_in_any_order_and_case(run: Run) -> None:
    code, out, _ = run("docs", "--search", "REFUSED key", "--json")
    places = json.loads(out)
    assert code == 0
    assert places
    for place in places:
        assert place["page"] in PAGES
        assert "refused" in place["line"].lower()
        assert "key" in place["line"].lower()
    assert run("docs", "--search", "no page has these words qqqq")[0] == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("audti",), "guide/audit?"),
        (("qqqq",), "lists all"),
        (("../../etc/passwd",), "is no page"),
        (("audit", "--search", "k"), "leave the page out"),
        (("--search", " "), "say a word"),
    ],
)
def test_what_is_no_page_is_refused_with_a_way_out(run: Run, words: tuple[str, ...], says: str) -> None:
    code, _, err = run("docs", *words)
    assert code == 2
    assert says in err
