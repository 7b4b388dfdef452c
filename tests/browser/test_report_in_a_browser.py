from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import mahrem as mh
from chromium import chromium
from mahrem.pipeline import redraw

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser(missing_part: Callable[[str], None]) -> Iterator[Browser]:
    """A real Chromium."""
    with chromium(missing_part) as started:
        yield started


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of fictional patients with every section but learning."""
    folder = tmp_path_factory.mktemp("browser") / "release"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MAHREM_STATE", str(folder.parent / "state"))  # nothing was released before
        mh.anonymize(
            mh.demo_patients(600),
            quasi=["age", "sex", "zip", "height_cm", "weight_kg", "admission"],
            sensitive="diagnosis",
            insensitive="insurance",
            rest="drop",
            k=5,
            fraction=0.1,
            output=folder,
        )
    return folder


class Seen:
    """A page and everything it said or asked for."""

    def __init__(self, browser: Browser, path: Path, width: int, scheme: Any) -> None:
        self.context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.page: Page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri())


@pytest.fixture(
    params=[
        ("en", 1000, "light"),
        ("en", 400, "dark"),
        ("tr", 400, "light"),
        ("tr", 1000, "dark"),
        ("de", 400, "light"),
    ],
    ids=lambda case: "-".join(map(str, case)),
)
def seen(
    request: pytest.FixtureRequest, browser: Browser, release: Path, tmp_path: Path
) -> Iterator[tuple[Seen, str, str]]:
    language, width, scheme = request.param
    page = redraw(release, language=language, output=tmp_path / "report.html")
    looked = Seen(browser, page, width, scheme)
    yield looked, language, scheme
    looked.context.close()


def test_the_page_is_quiet_asks_for_nothing_and_fits(seen: tuple[Seen, str, str]) -> None:
    looked, language, _ = seen
    assert looked.said == []
    assert [url for url in looked.asked if not url.startswith("file:")] == []
    assert len(looked.asked) == 1, "only the page itself"
    assert looked.page.evaluate("document.documentElement.lang") == language
    assert looked.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert looked.page.locator("section").count() >= 9
    pictures = looked.page.locator("figure svg")
    assert pictures.count() >= 8
    for place in range(pictures.count()):
        box = pictures.nth(place).bounding_box()
        assert box is not None
        assert box["width"] > 100
        assert box["x"] + box["width"] <= looked.page.evaluate("window.innerWidth")


def _contrast(first: list[float], second: list[float]) -> float:
    def light(colour: list[float]) -> float:
        parts = [
            c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in (x / 255 for x in colour)
        ]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    low, high = sorted((light(first), light(second)))
    return (high + 0.05) / (low + 0.05)


def test_words_and_pictures_can_be_read_on_their_ground(seen: tuple[Seen, str, str]) -> None:
    looked, _, scheme = seen
    read = """([selector, property]) => {
        const colour = getComputedStyle(document.querySelector(selector))[property];
        return colour.match(/[0-9.]+/g).slice(0, 3).map(Number);
    }"""
    paper = looked.page.evaluate(read, ["body", "backgroundColor"])
    assert (sum(paper) < 200) == (scheme == "dark")
    assert _contrast(looked.page.evaluate(read, ["body", "color"]), paper) > 7
    card = looked.page.evaluate(read, ["figure", "backgroundColor"])
    assert _contrast(looked.page.evaluate(read, ["figure svg text", "fill"]), card) > 4.5
    assert _contrast(looked.page.evaluate(read, ["figcaption", "color"]), card) > 4.5


def test_it_prints(browser: Browser, release: Path) -> None:
    looked = Seen(browser, release / "report.html", 800, "dark")
    looked.page.emulate_media(media="print")
    ground = looked.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == "rgb(255, 255, 255)", "paper is white also for those who read in the dark"
    assert looked.page.pdf(format="A4", print_background=True).startswith(b"%PDF")
    looked.context.close()


def test_a_pdf_is_tagged_speaks_a_language_and_has_one_page_first(release: Path, tmp_path: Path) -> None:
    content = redraw(release, language="tr", output=tmp_path / "report.pdf").read_bytes()
    assert content.startswith(b"%PDF-")
    assert b"/StructTreeRoot" in content
    assert b"/Lang (tr)" in content
    assert b"/MarkInfo" in content
    assert b"/Outlines" in content
    assert b"841.9" in content.split(b"/MediaBox", 1)[1][:40]  # A4


def test_without_a_browser_a_pdf_is_refused_with_a_way_out(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(mh.errors.MissingExtra, match="print it"):
        redraw(release, output=tmp_path / "report.pdf")
    assert list(tmp_path.iterdir()) == []
