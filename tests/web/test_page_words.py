"""Words, colours and pictures of the page, without a browser."""

from __future__ import annotations

import io
import re
import zipfile
from itertools import pairwise
from pathlib import Path

import pytest
from fastapi.routing import APIRoute
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.web._errors import Refused
from mahrem.web._language import look_of, own_page
from mahrem.web.bodies._fields import form_fields
from mahrem.web.bodies._masking_bodies import WISHES, settings_of_mask
from mahrem.web.bodies._models import ErrorDetail
from mahrem.web.bodies._release_bodies import ROLES, settings_of_column
from mahrem.web.bodies._steps import settings_of_step
from mahrem.web.bodies.spending import SPENDING, only_typed, settings_of_spending
from mahrem.web.pages import PAGE_ROUTERS
from mahrem.web.pages._contexts import Point
from mahrem.web.pages._frontier import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, frontier
from mahrem.web.pages._templates import say_error
from mahrem.web.projects._zip import zip_files
from mahrem.words import LANGUAGES, load_catalogue
from web_server import Server


def test_an_error_is_said_in_the_language_and_what_only_english_has_is_a_detail() -> None:
    error = ErrorDetail(code="infeasible", message="k=50 cannot be reached", hint="take less")
    assert say_error(load_catalogue("en"), error)["message"] == error.message
    german = say_error(load_catalogue("de"), error)
    assert german["message"].startswith("Mit dieser Tabelle")
    assert german["detail"] == error.message
    unknown = ErrorDetail(code="new_one", message="something", hint="")
    assert say_error(load_catalogue("tr"), unknown)["message"] == "something"


def test_an_error_keeps_its_figures_in_every_language() -> None:
    refused = Refused(413, "too_many_rows", count=12_000, most=10_000)
    detail = ErrorDetail(**Refused.read(413, refused.record).record)
    assert "12,000 rows" in say_error(load_catalogue("en"), detail)["message"]
    assert "12.000 Zeilen; höchstens 10.000" in say_error(load_catalogue("de"), detail)["message"]
    assert "12.000 sat" in say_error(load_catalogue("tr"), detail)["message"]


def test_everything_a_form_offers_has_words() -> None:
    words = load_catalogue("en")["page"]
    fields = {**settings_of_step("promises"), **settings_of_step("reading"), **settings_of_column()}
    assert set(fields) <= set(words["setting"])
    assert set(words["promise"]) <= set(fields)
    for verb in WISHES:
        assert set(settings_of_mask(verb)) == set(words["label"][verb])
        fields |= {name: known for name, known in settings_of_mask(verb).items() if known.choices is not None}
    for verb in SPENDING:
        assert set(settings_of_spending(verb)) == set(words["label"][verb])
    assert {name for verb in SPENDING for name in only_typed(verb)} == set(words["paid"]["elsewhere"])
    assert set(ROLES) == set(words["role"])
    for name, choices in words["choice"].items():
        if name not in {"usual", "yes", "no", "kind", "suppress", "pseudonym", "shuffle"}:
            known = fields[name].choices
            assert known is not None
            assert set(choices) <= set(known()), name


@pytest.mark.parametrize("language", ["en", "de", "tr"])
def test_no_form_offers_true_or_false(language: str) -> None:
    settings = [*settings_of_step("promises").values(), *settings_of_step("reading").values()]
    settings += settings_of_column().values()
    offered = {
        words for field in form_fields(settings, {}, load_catalogue(language)) for _, words in field.choices
    }
    assert not offered & {"true", "false", "True", "False"}


@pytest.mark.parametrize(
    ("header", "language"),
    [("", "en"), ("tr-TR,tr;q=0.9,en;q=0.8", "tr"), ("fr,de;q=0.5", "de"), ("zz", "en"), ("en,tr", "en")],
)
def test_a_browser_gets_the_language_it_asks_for(header: str, language: str) -> None:
    assert look_of("GET", "/projects", {"accept-language": header}).language == language
    chosen = {"accept-language": header, "cookie": "mahrem_language=de; mahrem_theme=dark"}
    look = look_of("GET", "/api", chosen)
    assert (look.language, look.theme, look.here) == ("de", "dark", "/api")
    wrong = look_of("GET", "/x", {"cookie": "mahrem_language=<b>; mahrem_theme=pink"})
    assert (wrong.language, wrong.theme) == ("en", "auto")


@pytest.mark.parametrize(
    "address", ["//evil.example", "https://evil.example", "/\\evil.example", "", "/start?token=1", "/a\nb"]
)
def test_one_comes_back_to_pages_of_ours_alone(address: str) -> None:
    assert own_page(address) == "/projects"


def test_after_a_form_one_comes_back_to_the_page_it_was_on() -> None:
    headers = {"referer": "http://127.0.0.1:1/projects/x/columns"}
    assert look_of("POST", "/projects/x/reading", headers).here == "/projects/x/columns"


@st.composite
def sweeps(draw: st.DrawFn) -> list[Point]:
    methods = draw(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=8, unique=True))
    ks = draw(st.lists(st.integers(1, 1000), min_size=1, max_size=6, unique=True))
    loss = st.floats(0, 1, allow_nan=False)
    return [
        Point(
            name=name,
            method=name,
            strategy=None,
            k=k,
            gcp=draw(loss),
            highest_risk=1 / k,
            average_risk=1 / k,
            seconds=0.1,
            holds=draw(st.booleans()),
            on_frontier=False,
            chosen=False,
        )
        for name in methods
        for k in ks
    ]


@settings(max_examples=50, deadline=None)
@given(sweeps())
def test_every_run_that_kept_its_promise_has_a_place_in_the_picture(points: list[Point]) -> None:
    picture = frontier(points, "a")
    kept = [number for number, point in enumerate(points) if point.holds]
    if not kept:
        assert picture is None
        return
    assert picture is not None
    spots = [spot for line in picture.lines for spot in line.spots]
    assert sorted(spot.number for spot in spots) == kept
    for spot in spots:
        assert LEFT - 0.1 <= spot.x <= WIDTH - RIGHT + 0.1
        assert TOP - 0.1 <= spot.y <= HEIGHT - BOTTOM + 0.1
    for one in spots:
        for other in spots:
            assert (one.point.gcp > other.point.gcp) <= (one.y <= other.y + 0.11)
    labels = sorted(line.label_y for line in picture.lines)
    assert all(low + 16.8 <= high for low, high in pairwise(labels))
    assert len(picture.losses) >= 1


def test_an_archive_made_on_the_way_is_a_whole_archive(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_bytes(b"a,b\n" * 500_000)
    (tmp_path / "SHA256SUMS").write_bytes(b"")
    parts = list(zip_files([tmp_path / "data.csv", tmp_path / "SHA256SUMS"]))
    archive = zipfile.ZipFile(io.BytesIO(b"".join(parts)))
    assert archive.testzip() is None
    assert archive.read("data.csv") == b"a,b\n" * 500_000
    assert archive.namelist() == ["data.csv", "SHA256SUMS"]


def test_an_address_that_names_nothing_is_said_to_be_nothing_in_every_language(server: Server) -> None:
    paths = {
        re.sub(r"{[^}]*}", "nowhere", route.path)
        for router in PAGE_ROUTERS
        for route in router.routes
        if isinstance(route, APIRoute) and "GET" in route.methods and "{" in route.path
    }
    assert len(paths) > 10
    for path in sorted(paths):
        for language in LANGUAGES:
            answer = server.client.get(path, headers={"accept-language": language})
            words = load_catalogue(language).say("page.error.http_404", 0)
            assert (answer.status_code, words in answer.text) == (404, True), (path, language)
