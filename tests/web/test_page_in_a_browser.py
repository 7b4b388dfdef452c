"""The page as people meet it: a real browser, a keyboard, a narrow screen, another language, a bad file."""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from chromium import chromium
from mahrem.release.decisions import READY_POLICIES, about_policy
from mahrem.words import load_catalogue
from web_server import Server, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

pytestmark = pytest.mark.browser
SLOW = 60_000  # milliseconds; the machine may be busy
PUBLIC = {"sex": {"categories": ["female", "male"]}, "age": {"lower": 0, "upper": 110}}
MODEL = {"target": "sex", "model": "logistic", "how": "output", "holdout": 0.2, "evaluate_epsilon": 0.2}
OTHER = ("suppress", "perturb", "generalize", "risk", "lattice")
STEPS = (
    *(
        "columns",
        "promises",
        "explore",
        "run",
        "result",
        "compare",
        "audit",
        "queries",
        "synthesize",
        "train",
        "history",
        "hierarchies/4",
    ),
    *("other", *(f"other/{verb}" for verb in OTHER)),
)


class Person:
    """Somebody who has come in, and everything the browser said or asked for on the way."""

    def __init__(self, browser: Browser, server: Server, cookies: list[Any], **traits: Any) -> None:
        self.home = server.home
        self.context: BrowserContext = browser.new_context(accept_downloads=True, **traits)
        self.context.add_cookies(cookies)
        self.context.set_default_timeout(SLOW)
        self.said: list[str] = []
        self.asked: list[str] = []
        self.context.on("request", lambda request: self.asked.append(request.url))

    def page(self, path: str) -> Page:
        """Open a page in a tab of its own."""
        page = self.context.new_page()
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.goto(self.home + path)
        return page

    def leave(self) -> None:
        """Close the browser's window; nothing may have gone elsewhere, nothing may have been blocked."""
        self.context.close()
        assert [url for url in self.asked if not url.startswith((self.home, "blob:" + self.home))] == []
        assert [text for text in self.said if "status of 4" not in text] == []


@pytest.fixture(scope="module")
def browser(missing_part: Callable[[str], None]) -> Iterator[Browser]:
    with chromium(missing_part) as started:
        yield started


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Server]:
    assert browser.is_connected()
    with serving(tmp_path_factory.mktemp("page"), "--demo", "--max-upload", "1MB") as running:
        yield running


@pytest.fixture(scope="module")
def cookies(browser: Browser, demo: Server) -> list[Any]:
    context = browser.new_context()
    page = context.new_page()
    page.goto(demo.start)
    page.wait_for_url("**/projects")
    known = context.cookies()
    context.close()
    return list(known)


@pytest.fixture
def person(browser: Browser, demo: Server, cookies: list[Any]) -> Iterator[Person]:
    somebody = Person(browser, demo, cookies, viewport={"width": 1200, "height": 900})
    yield somebody
    somebody.leave()


@pytest.fixture(scope="module")
def full(demo: Server) -> str:
    """A project in which every page has something to show."""
    project = demo.project()
    jobs = [
        demo.begin(project, what, body)
        for what, body in (
            ("run/anonymize", None),
            ("run/audit", None),
            ("compare", {"methods": ["mondrian", "canon"], "ks": [3, 10]}),
            ("hierarchies/4/make", {"prefix": [3, 1]}),
            ("ledger", {"epsilon": 3, "delta": 1e-5, "rows": 2000, "composition": "sum", "columns": PUBLIC}),
        )
    ]
    assert [demo.wait(job)["state"] for job in jobs] == ["done"] * len(jobs)
    assert demo.run(project, "queries", {"question": "count() by sex", "epsilon": 0.2})["state"] == "done"
    for verb, wish in (("synthesize", {"rows": 50}), ("train", MODEL)):
        cost = {"epsilon": 0.5, "delta": 1e-6}
        assert demo.run(project, f"{verb}/plan", {**cost, **wish})["state"] == "done"
        assert demo.run(project, verb, {**cost, **wish})["state"] == "done"
    return project


def reach(page: Page, words: str, presses: int = 150) -> None:
    """Press Tab until something with these words is in focus."""
    told = """() => { const e = document.activeElement;
        return [e.tagName, e.getAttribute("aria-label") || e.innerText || e.value || ""]; }"""
    for _ in range(presses):
        page.keyboard.press("Tab")
        kind, text = page.evaluate(told)
        if words in text and kind.upper() in {"A", "BUTTON", "SUMMARY", "INPUT", "SELECT"}:
            return
    raise AssertionError(f"Tab never reached: {words}")


def press(page: Page, words: str) -> None:
    reach(page, words)
    page.keyboard.press("Enter")


def test_a_newcomer_finishes_the_demo_with_a_keyboard_alone(person: Person) -> None:
    page = person.page("/projects")
    press(page, "Continue")
    page.wait_for_url("**/columns")
    page.locator(".column-cards").wait_for()
    press(page, "Go on to promises")
    page.wait_for_url("**/promises")
    press(page, "Go on to the run")
    page.wait_for_url("**/run")
    press(page, "Anonymise now")
    page.wait_for_url("**/result")  # by itself, when it is done
    assert "The promise holds." in page.inner_text(".verdict")
    for heading in ("Risk of re-identification", "How much was lost", "What attackers could still do"):
        assert page.get_by_role("heading", name=heading).is_visible()
    assert page.locator("figure svg").count() >= 4
    reach(page, "Download everything")
    with page.expect_download() as waiting:
        page.keyboard.press("Enter")
    archive = zipfile.ZipFile(io.BytesIO(Path(waiting.value.path()).read_bytes()))
    sums = dict(line.split("  ")[::-1] for line in archive.read("SHA256SUMS").decode().splitlines())
    assert set(sums) == set(archive.namelist()) - {"SHA256SUMS"}
    for name, digest in sums.items():
        assert hashlib.sha256(archive.read(name)).hexdigest() == digest
    report = page.frame_locator("iframe")
    page.locator("iframe").scroll_into_view_if_needed()
    report.locator("h2").first.wait_for()


def test_settings_are_explored_adopted_and_set_side_by_side_with_keys(person: Person, demo: Server) -> None:
    project = demo.project()
    page = person.page(f"/projects/{project}/explore")
    now = page.locator(".now h2")
    now.filter(has_text="k = 5").wait_for()  # tried by itself
    page.get_by_role("slider").first.focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    now.filter(has_text="k = 9").wait_for()
    assert page.locator("#k").input_value() == "9"
    assert page.evaluate("document.activeElement.type") == "range"  # the answer took nobody's place
    assert "All 2,000 rows were tried" in page.inner_text("[data-told]")
    assert page.locator(".scatter .spot").count() >= 2
    page.locator(".candidates summary").press("Enter")
    page.get_by_role("link", name=re.compile("^Set beside.*k = 5")).press("Enter")
    page.get_by_role("heading", name=re.compile("^Beside .*k = 5")).wait_for()
    assert page.get_by_role("row", name=re.compile(r"k 9 5|k-anonymity 9 5")).is_visible()
    page.get_by_role("slider", name="At least so coarse age").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.locator("#at_least-2").input_value() == "2"  # the second of the usual steps
    page.get_by_role("row", name=re.compile(r"^age: .* 2 ")).wait_for()  # set beside the other one
    page.get_by_role("button", name="Go on with this").press("Enter")
    page.wait_for_url("**/run")
    known = demo.client.get(f"/api/v1/projects/{project}").json()
    assert known["promises"]["k"] == 9
    assert str(known["choices"]["columns"]["age"]["at_least"]) in {"2", "2.0"}
    page.goto(f"{person.home}/projects/{project}/columns")
    page.locator("[data-live] p").first.wait_for()  # what columns add to singling out


def test_a_job_is_seen_in_two_tabs_survives_a_reload_and_is_cancelled(person: Person, demo: Server) -> None:
    project = demo.project()
    first, second = (person.page(f"/projects/{project}/compare") for _ in range(2))
    while (ticked := first.get_by_role("checkbox", checked=True)).count():
        ticked.first.uncheck()
    first.get_by_role("checkbox", name="kanonymeans*").check()
    first.get_by_role("button", name="Compare", exact=True).click()
    first.locator("[data-state=running], [data-state=queued]").wait_for()
    second.get_by_role("button", name="Compare", exact=True).click()
    assert "waiting or running" in second.get_by_role("alert").inner_text()
    first.locator("[data-stage]", has_text="run 1 of").wait_for()
    first.reload()
    before = first.inner_text("[data-seconds]")
    first.locator("[data-seconds]").filter(has_not_text=re.compile(f"^{re.escape(before)}$")).wait_for()
    second.get_by_role("button", name="Cancel").click()
    second.get_by_text("Cancelled. Nothing was released.").wait_for()
    first.get_by_text("Cancelled. Nothing was released.").wait_for()  # the other tab sees it, too


def test_a_bad_file_is_refused_in_words_and_a_strange_one_can_be_mended(
    person: Person, tmp_path: Path
) -> None:
    page = person.page("/projects")

    def send(name: str, content: bytes) -> None:
        (tmp_path / name).write_bytes(content)
        page.goto(person.home + "/projects")
        page.set_input_files("input[type=file]", tmp_path / name)
        page.get_by_role("button", name="Open the file").click()

    send("packed.csv", b"PK\x03\x04" + bytes(100))
    assert "packed files are not taken" in page.get_by_role("alert").inner_text()
    send("large.csv", b"a,b\n" + b"1,2\n" * 300_000)
    assert "larger than this server takes" in page.inner_text("[data-said]")  # it was not even sent
    send("latin.csv", "yaş,renk\n31,yeşil\n45,gök\n".encode("iso8859-9"))
    page.get_by_role("alert").wait_for()
    page.get_by_label("Encoding").fill("iso8859-9")
    page.get_by_role("button", name="Read again").click()
    page.get_by_role("heading", name="yaş").wait_for()


def test_cells_are_hidden_values_changed_risk_measured_and_the_lattice_walked(
    person: Person, demo: Server
) -> None:
    project = demo.project()
    columns = demo.client.get(f"/api/v1/projects/{project}").json()["choices"]
    page = person.page(f"/projects/{project}/other")
    page.get_by_role("link", name="Hide cells").press("Enter")
    assert "people have several" in page.get_by_role("alert").inner_text()  # k would count rows
    demo.client.put(f"/api/v1/projects/{project}/columns", json={**columns, "subject": None})
    budget = {"epsilon": 2, "delta": 1e-5}
    jobs = [demo.begin(project, "hierarchies/3/make", {}), demo.begin(project, "ledger", budget)]
    assert [demo.wait(job)["state"] for job in jobs] == ["done", "done"]

    def fill(tab: str, button: str, **typed: str) -> str:
        page.get_by_role("navigation", name="Other ways").get_by_role("link", name=tab).click()
        for label, text in typed.items():
            page.locator(f"#{label}").fill(text)
        page.get_by_role("button", name=button, exact=True).press("Enter")
        page.get_by_role("heading", name="What came of it").wait_for()  # by itself, when it is done
        return page.inner_text("main table")

    steps = "age=noise:share=0.2\nsex=pram:keep=0.9"
    page.reload()
    assert "exact" not in fill("Hide cells", "Hide cells", k="2", sets="age,sex=5")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download everything").press("Enter")
    names = zipfile.ZipFile(Path(waiting.value.path())).namelist()
    assert {"data.csv", "report.json", "policy.toml"} <= set(names)
    assert "still linked" in fill("Change values", "Change values", steps=steps)
    assert "k is not promised" in page.inner_text("main").replace("k-anonymity", "k")
    assert "ε = 1" in fill("Real rows, privately", "Spend and publish", epsilon="1")
    assert "SUDA" in fill("Risk of a survey", "Measure the risk", fraction="0.01")
    page.get_by_role("navigation", name="Other ways").get_by_role("link", name="The lattice").click()
    assert page.locator("tr.best .kept").count() == 1  # the best, judged at once
    drawn = page.locator("[data-lattice]")
    assert drawn.locator("a.best").count() == 1
    here = drawn.locator("a[aria-current]")
    wide = drawn.locator("svg").get_attribute("viewBox")
    here.focus()
    page.keyboard.press("+")
    assert drawn.locator("svg").get_attribute("viewBox") != wide
    page.keyboard.press("0")
    assert drawn.locator("svg").get_attribute("viewBox") == wide
    told = "document.activeElement.dataset.levels.split(',').reduce((a, b) => a + Number(b), 0)"
    height = page.evaluate(told)
    page.keyboard.press("ArrowUp")
    assert page.evaluate(told) == height + 1
    page.keyboard.press("Enter")
    page.wait_for_url("**levels=*")
    page.locator("tr", has=page.locator(".broken-word")).get_by_role("link").first.press("Enter")
    page.get_by_role("heading", name="What some classes break").wait_for()
    assert "at most" in page.inner_text("main")
    page.get_by_role("button", name="Judge every node").press("Enter")
    page.get_by_role("link", name=re.compile("^Download all nodes")).wait_for()


def test_a_node_is_opened_with_enter_after_the_picture_was_dragged(person: Person, demo: Server) -> None:
    page = person.page(f"/projects/{demo.project()}/other/lattice")
    drawn = page.locator("[data-lattice] svg")
    drawn.scroll_into_view_if_needed()
    page.locator("[data-lattice] a[aria-current]").focus()
    page.keyboard.press("+")
    before, box = drawn.get_attribute("viewBox"), page.locator("a[aria-current] circle").first.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + 45, box["y"] + 45, steps=4)
    page.mouse.up()
    assert drawn.get_attribute("viewBox") != before
    assert "levels=" not in page.url  # a drag opens nothing
    page.locator("[data-lattice] a[aria-current]").focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_url("**levels=*")


def test_a_hierarchy_is_edited_as_a_tree_with_keys(person: Person, demo: Server, full: str) -> None:
    page = person.page(f"/projects/{full}/hierarchies/4")
    tree = page.get_by_role("tree")
    tree.get_by_role("treeitem").first.focus()
    assert page.get_by_role("button", name="New cut").count() == 0  # postcodes are digits, and no numbers
    for key in ("ArrowDown", "Space", "ArrowDown", "Space"):
        page.keyboard.press(key)
    assert tree.locator("[aria-selected=true]").count() == 2
    page.get_by_role("button", name="New group").press("Enter")
    page.keyboard.type("east")
    page.keyboard.press("Enter")
    assert tree.get_by_text("east", exact=True).is_visible()
    page.keyboard.press("F2")
    page.keyboard.type("far east")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Undo").press("Enter")
    assert tree.get_by_text("east", exact=True).is_visible()
    page.get_by_role("button", name="Keep this hierarchy").press("Enter")
    page.wait_for_load_state()
    kept = demo.client.get(f"/api/v1/projects/{full}/hierarchies/4").json()["tree"]
    (east,) = [node for node in kept["children"] if node["label"] == "east"]
    assert len(east["children"]) == 2


def test_cuts_of_numbers_are_moved_with_keys_and_by_dragging_and_values_dragged_into_groups(
    person: Person, demo: Server
) -> None:
    project = demo.project()
    assert demo.run(project, "hierarchies/2/make", {"intervals": [20, 40]})["state"] == "done"
    page = person.page(f"/projects/{project}/hierarchies/2")
    cuts = page.get_by_role("slider")
    before = [int(cut.get_attribute("aria-valuenow") or 0) for cut in cuts.all()]
    cuts.first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert cuts.first.get_attribute("aria-valuenow") == str(before[0] + 2)
    box, track = cuts.last.bounding_box(), page.locator(".cuts").bounding_box()
    assert box is not None
    assert track is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] - track["width"] * 0.1, box["y"] + 10, steps=4)
    page.mouse.up()
    moved = int(cuts.last.get_attribute("aria-valuenow") or 0)
    assert moved < before[-1]
    page.get_by_role("button", name="New cut").press("Enter")
    assert cuts.count() == len(before) + 1
    page.get_by_role("button", name="Undo").press("Enter")
    assert cuts.count() == len(before)
    page.get_by_role("button", name="Keep this hierarchy").press("Enter")
    page.wait_for_load_state()
    kept = demo.client.get(f"/api/v1/projects/{project}/hierarchies/2").json()["tree"]
    ends = [node["label"].strip("[]").split(", ") for node in kept["children"]]
    assert [int(first) for first, _ in ends][1:] == [before[0] + 2, *before[1:-1], moved]
    for (low, high), node in zip(ends, kept["children"], strict=True):
        assert all(int(low) <= int(leaf["label"]) <= int(high) for leaf in node["children"])


def test_cuts_lose_no_value_that_a_group_holds_beside_its_name_and_follow_the_tree(
    person: Person, demo: Server
) -> None:
    project = demo.project()
    place = f"/api/v1/projects/{project}/hierarchies/2"
    assert demo.run(project, "hierarchies/2/make", {"intervals": [20, 40]})["state"] == "done"
    tree = demo.client.get(place).json()["tree"]
    names = ("[0, 9]", "[10, 19]")  # far from what they hold
    tree["children"] = [
        {**node, "label": name} for node, name in zip(tree["children"][:2], names, strict=True)
    ] + tree["children"][2:]
    values = sorted(leaf["label"] for node in tree["children"] for leaf in _leaves(node))
    assert demo.client.put(place, json={"tree": tree}).status_code == 200
    page = person.page(f"/projects/{project}/hierarchies/2")
    cuts = page.get_by_role("slider")
    cuts.first.focus()
    page.keyboard.press("ArrowRight")
    kept = json.loads(page.locator("[data-tree-form] [name=tree]").input_value())
    assert sorted(leaf["label"] for leaf in _leaves(kept)) == values
    page.get_by_role("treeitem").nth(1).click()
    page.get_by_role("button", name="Dissolve group").press("Enter")
    assert cuts.count() == 0  # one of the outer groups is no range any more
    page.get_by_role("button", name="Undo").press("Enter")
    assert cuts.count() > 0


def _leaves(node: dict[str, Any]) -> list[dict[str, Any]]:
    children = node.get("children") or []
    return [leaf for child in children for leaf in _leaves(child)] if children else [node]


def test_a_point_of_the_picture_is_adopted_and_a_promise_given_to_one_column(
    person: Person, demo: Server, full: str
) -> None:
    page = person.page(f"/projects/{full}/compare")
    reach(page, "canon, k = 10")
    page.keyboard.press("Enter")
    assert "canon, k = 10" in page.inner_text("[data-picked]")
    page.keyboard.press("Enter")  # its button has the focus
    page.wait_for_url("**/run")
    page.goto(f"{person.home}/projects/{full}/promises")
    assert page.get_by_label("k-anonymity", exact=True).first.input_value() == "10"
    own = page.locator("details", has_text="Only for cost")
    own.locator("summary").press("Enter")
    own.get_by_label("t-closeness").fill("0.4")
    page.get_by_role("button", name="Go on to the run").press("Enter")
    page.wait_for_url("**/run")
    found = demo.client.get(f"/api/v1/projects/{full}").json()
    assert (found["promises"]["method"], found["promises"]["k"]) == ("canon", 10)
    assert found["choices"]["columns"]["cost"]["promises"] == {"t": 0.4}
    assert found["choices"]["columns"]["diagnosis"]["promises"] == {"l": 3}


def test_the_error_is_shown_before_anything_is_spent(person: Person, demo: Server, full: str) -> None:
    def left() -> float:
        ledger = demo.client.get(f"/api/v1/projects/{full}/ledger").json()
        return float(ledger["sheet"]["remaining"]["epsilon"])

    before = left()
    page = person.page(f"/projects/{full}/queries")
    page.get_by_label("Question").fill("count() by sex")
    page.get_by_label("ε it may cost").fill("0.5")
    page.get_by_label("ε it may cost").press("Enter")  # what is done first costs nothing
    told = page.get_by_role("status").filter(has_text="Nothing was spent.")
    assert "±" in told.inner_text()
    assert left() == before


def test_synthetic_rows_are_planned_confirmed_and_downloaded_with_keys(person: Person, demo: Server) -> None:
    project = demo.project()
    page = person.page(f"/projects/{project}/synthesize")
    page.get_by_label("ε in all").fill("2")
    assert page.get_by_label("δ (0 or very small").input_value() == "0.00001"
    page.get_by_label("Public facts").fill("age=0:110\nsex=female,male")
    page.get_by_role("button", name="Set the budget").press("Enter")
    page.get_by_label("ε it may cost").fill("1")
    page.get_by_label("Rows to make").fill("40")
    page.get_by_role("button", name="What would it give?").press("Enter")
    page.get_by_role("heading", name="The plan").wait_for()
    assert page.locator(".errors tbody tr").count() >= 3
    page.get_by_role("button", name="Spend ε = 1 and begin").press("Enter")
    page.get_by_role("heading", name="What came of it").wait_for()
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download everything").press("Enter")
    archive = zipfile.ZipFile(Path(waiting.value.path()))
    assert archive.read("data.csv").count(b"\n") == 41


def test_language_and_colours_are_switched_in_the_header_and_stay(
    browser: Browser, demo: Server, cookies: list[Any]
) -> None:
    person = Person(browser, demo, cookies, color_scheme="dark", locale="de-DE")
    page = person.page("/projects")
    dark = "getComputedStyle(document.body).backgroundColor === 'rgb(27, 26, 24)'"
    assert page.evaluate("document.documentElement.lang") == "de"  # what the browser asks for
    assert page.evaluate(dark)
    press(page, "TR: Türkçe")
    page.locator("html[lang=tr]").wait_for()
    press(page, "A\u00e7\u0131k renkler")
    page.locator("html[data-theme=light]").wait_for()
    assert not page.evaluate(dark)
    page.goto(f"{person.home}/federated")
    assert page.evaluate("document.documentElement.lang") == "tr"
    assert not page.evaluate(dark)
    person.leave()


def english_only(language: str) -> list[str]:
    """Sentences of the English catalogue that another language says otherwise."""
    ours, theirs = (load_catalogue(name)["page"] for name in ("en", language))
    return [
        one for one, other in _said_twice(ours, theirs) if one != other and len(one) > 10 and "{" not in one
    ]


def _said_twice(ours: Any, theirs: Any) -> Iterator[tuple[str, str]]:
    """Pair the sentences of two catalogues, however deep they lie."""
    if isinstance(ours, str):
        yield ours, theirs
    elif isinstance(ours, list):
        for one, other in zip(ours, theirs, strict=False):
            yield from _said_twice(one, other)
    else:
        for key, inner in ours.items():
            yield from _said_twice(inner, theirs[key])


@pytest.mark.parametrize(
    ("language", "width", "schemes"),
    [("en", 1280, ("light", "dark")), ("tr", 400, ("dark",)), ("de", 400, ("light",))],
)
def test_every_page_can_be_read_by_everybody(  # one visit a page: light, dark, narrow, in one language
    browser: Browser, demo: Server, cookies: list[Any], full: str, language: str, width: int, schemes: Any
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    chosen = {"name": "mahrem_language", "value": language, "url": demo.home}
    person = Person(browser, demo, [*cookies, chosen], viewport={"width": width, "height": 900})
    page = person.page("/projects")
    foreign = english_only(language) if language != "en" else []
    policies = {about_policy(name) for name in READY_POLICIES}
    paths = ["/projects", "/federated", "/api", "/nowhere", f"/projects/{'0' * 32}/run"]
    for path in [*paths, *(f"/projects/{full}/{step}" for step in STEPS)]:
        page.goto(person.home + path)
        assert page.evaluate("document.documentElement.lang") == language
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), path
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), path
        for scheme in schemes:
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            found = axe.run(page, options={"iframes": False}).response["violations"]
            told = [
                (one["id"], one["impact"], [node["html"][:120] for node in one["nodes"]][:3]) for one in found
            ]
            assert told == [], f"{path} {scheme}"
        shown = page.inner_text("body") if path != "/api" else ""  # routes are described in English alone
        for quoted in page.locator("small[lang=en]").all_inner_texts():  # as policy files open, and marked so
            assert quoted in policies, path
            shown = shown.replace(quoted, "")
        assert [text for text in foreign if text in shown] == [], path
    person.leave()


def test_a_release_is_published_signed_compared_and_withdrawn_with_keys(person: Person, demo: Server) -> None:
    project = demo.project()
    place = f"/api/v1/projects/{project}"
    for k in (5, 7):
        promises = demo.client.get(place).json()["promises"]
        demo.client.put(f"{place}/promises", json={**promises, "k": k})
        assert demo.run(project, "run/anonymize")["state"] == "done"
    page = person.page(f"/projects/{project}/history")
    page.on("dialog", lambda dialog: dialog.accept())
    newest = page.locator(".timeline > li").first
    assert "draft" in newest.inner_text()
    newest.get_by_role("button", name="It is published").press("Enter")
    page.locator(".timeline .state.published").wait_for()
    newest.get_by_role("button", name="Sign").press("Enter")
    newest.get_by_text("signed", exact=True).wait_for()
    with page.context.expect_page() as opened:
        page.get_by_role("button", name="Set side by side").press("Enter")
    beside = opened.value
    beside.get_by_role("heading", name="Two releases side by side").wait_for()
    assert "asked for 7" in beside.inner_text("main")
    newest.get_by_role("button", name="Withdraw").press("Enter")
    page.locator(".timeline .state.withdrawn").wait_for()
    newest.get_by_role("button", name="Forget").press("Enter")
    page.wait_for_function("document.querySelectorAll('.timeline > li').length === 1")
    page.get_by_role("radio", name=re.compile("^gdpr")).press("Space")
    page.get_by_role("button", name="See what it does").first.press("Enter")
    page.get_by_role("heading", name="What gdpr would do").wait_for()
    page.get_by_role("button", name="Decide so").press("Enter")
    page.wait_for_url("**/columns")
    assert demo.client.get(place).json()["promises"]["l"] == 2
