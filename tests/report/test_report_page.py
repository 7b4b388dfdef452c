from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from mahrem.errors import InvalidParameter
from mahrem.metrics import class_size_bins
from mahrem.report import Report, render_html, to_json
from mahrem.words import LANGUAGES

HOSTILE = '<script>alert("1")</script>&\'\\u0022];'


def draw(content: dict[str, Any], language: str = "en") -> str:
    return render_html(Report.read(content), language)


def report(**changes: Any) -> dict[str, Any]:
    words = {"kind": "words", "labels": ["a", HOSTILE, None], "before": [9, 8, 7], "after": [8.5, 8.5, 7.0]}
    numbers = {"kind": "numeric", "edges": [0, 10, 20], "before": [12, 12], "after": [10.0, 14.0]}
    dates = {
        "kind": "date",
        "edges": ["2022-01-01", "2022-02-01", "2022-03-01"],
        "before": [12, 12],
        "after": [0, 24],
    }
    rest = {"unknown": [0, 6], "hidden": [0, 0], "floor": 5}
    quasi = {"role": "quasi", "gcp": 0.25, "iloss": 3.5, "generalised_cells": 20, "suppressed_cells": 2}
    content = {
        "mahrem": "0.1.0",
        "created": "2025-01-31",
        "source": f"{HOSTILE}.csv",
        "rows": 24,
        "rows_in": 30,
        "dropped": 6,
        "method": "mondrian",
        "settings": {
            "k": 5,
            "strategy": "strict",
            "weights": {HOSTILE: 2},
            "quasi": ["age"],
            "shuffle": True,
        },
        "holds": True,
        "promises": [
            {"model": "k-anonymity", "column": None, "wanted": 5, "reached": 6, "holds": True},
            {"model": "distinct-l-diversity", "column": HOSTILE, "wanted": 2, "reached": 3, "holds": True},
        ],
        "utility": {"classes": 4, "dm": 1234567, "mean_class_size": 6.0, "gcp": 0.123456, "iloss": None},
        "columns": {
            "id": {"role": "identifier", "kind": "code"},
            "age": {**quasi, "kind": "numeric", "recoding": "intervals", "distribution": {**numbers, **rest}},
            "day": {**quasi, "kind": "date", "recoding": "intervals", "distribution": {**dates, **rest}},
            HOSTILE: {**quasi, "kind": "categorical", "recoding": "sets", "distribution": {**words, **rest}},
            "illness": {"role": "sensitive", "kind": "categorical"},
        },
        "risk": {
            "highest": 0.2,
            "average": 0.16,
            "share_at_risk": 0.0,
            "threshold": 0.2,
            "before": {"highest": 1.0, "average": 0.9, "share_at_risk": 0.95, "threshold": 0.2},
        },
        "class_sizes": class_size_bins(np.array([5, 6, 6, 7])),
        "missing": {"policy": "drop", "dropped": 6, "suppressed": 0},
        "seconds": 0.25,
        "warnings": [HOSTILE],
    }
    return {**content, **changes}


class Page(HTMLParser):
    """Collect tags, attributes and text, and check that tags are closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.names: set[str] = set()
        self.open: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.names |= {name for name, _ in attrs}
        if tag not in {"meta", "br"}:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.names |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module", params=LANGUAGES)
def page(request: pytest.FixtureRequest) -> str:
    return draw(report(), request.param)


def test_hostile_names_stay_text(page: str) -> None:
    seen = Page(page)
    assert seen.open == []
    assert "script" not in seen.tags
    assert not any(name.startswith("on") for name in seen.names)
    assert "<script" not in page
    assert HOSTILE in seen.text


def test_the_page_loads_nothing_and_names_no_address(page: str) -> None:
    assert "http:" not in page
    assert "https:" not in page
    assert "url(" not in page
    assert "@import" not in page
    seen = Page(page)
    assert not {"src", "srcset", "xlink:href", "action"} & seen.names
    inside = re.findall(r'href="([^"]*)"', page)  # the contents lead to chapters of this page
    assert inside
    assert all(re.fullmatch(r"#section-[a-z_]+", place) and f'id="{place[1:]}"' in page for place in inside)
    assert not {"link", "script", "iframe", "img", "image", "object", "foreignobject"} & set(seen.tags)
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in page


def test_every_picture_says_in_words_what_it_shows(page: str) -> None:
    pictures = re.findall(r"<svg[^>]*>", page)
    assert len(pictures) == 6
    assert all('role="img"' in picture and "aria-label=" in picture for picture in pictures)
    assert page.count("<title>") == 7


def test_no_brace_of_a_catalogue_is_left_over(page: str) -> None:
    text = Page(re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)).text
    assert not re.search(r"\{[a-z_]+\}", text)


def test_the_verdict_names_the_columns_and_the_smallest_crowd() -> None:
    text = Page(draw(report(columns={"age": {"role": "quasi"}, "sex": {"role": "quasi"}}))).text
    assert "The promise holds." in text
    assert "Every combination of age and sex is shared by at least 6 rows." in text
    assert "Verified on the published file itself" in text


def test_people_are_counted_where_a_subject_was_named() -> None:
    text = Page(draw(report(settings={"subject": "patient"}))).text
    assert "at least 6 people" in text


def test_a_broken_promise_is_said_first_and_counted() -> None:
    broken = {"model": "k-anonymity", "column": None, "wanted": 5, "reached": 1, "holds": False}
    counts = {"violating_classes": 3, "violating_rows": 1200}
    text = Page(draw(report(holds=False, promises=[{**broken, **counts}]))).text
    assert "The promise does not hold." in text
    assert "belong to a single row" in text
    assert "3 groups with 1,200 rows" in text


def test_a_file_without_a_promise_is_not_called_safe() -> None:
    text = Page(draw(report(promises=[]))).text
    assert "No promise was asked for" in text
    assert "The promise holds." not in text
    assert "Verified" not in text


def test_a_page_can_be_drawn_from_next_to_nothing() -> None:
    assert Page(draw({"holds": True})).open == []


def test_a_page_can_be_redrawn_from_its_json() -> None:
    assert draw(json.loads(to_json(report())), "de") == draw(report(), "de")


def test_numbers_are_written_as_the_language_does() -> None:
    assert "1,234,567" in draw(report(), "en")
    assert "1.234.567" in draw(report(), "de")
    assert "%25" in draw(report(), "tr")


def test_a_pseudonym_is_said() -> None:
    text = Page(draw(report(settings={"pseudonym": ["id"]}))).text
    assert "keyed pseudonym" in text


def test_an_identifier_that_left_the_table_is_named_as_removed() -> None:
    text = Page(draw(report(settings={"identifier": ["passport"], "sensitive": {"illness": {}}}))).text
    assert re.search(r"passport\s*names the person\s*removed", text)
    assert "{}" not in text


def test_a_quasi_identifier_nobody_had_to_touch_is_said_to_be_as_it_was() -> None:
    sex = {"role": "quasi", "recoding": "sets", "gcp": 0.0, "generalised_cells": 0, "suppressed_cells": 0}
    text = Page(draw(report(columns={"sex": sex}, settings={"insensitive": ["cost"]}))).text
    assert re.search(r"sex\s*known to others\s*published as it is\s*Others may know it[^.]*\.\s*0 %", text)
    assert re.search(r"cost\s*harmless\s*published as it is", text)


def test_many_columns_are_cut_short() -> None:
    columns = {f"c{place}": {"role": "quasi", "gcp": 0.5} for place in range(300)}
    text = Page(draw(report(columns=columns))).text
    assert "c9 … (300)" in text


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="language"):
        draw(report(), "xx")


def test_json_keeps_order_and_holds_no_number_json_does_not_have() -> None:
    given = {
        "b": np.float64("nan"),
        "a": [np.int64(3), float("-inf"), (1.5,)],
        "ü": {"x": np.array([1, 2])},
        "n": None,
    }
    assert json.loads(to_json(given)) == {"b": None, "a": [3, None, [1.5]], "ü": {"x": [1, 2]}, "n": None}
    assert list(json.loads(to_json(given))) == ["b", "a", "ü", "n"]
    assert "ü" in to_json(given)
