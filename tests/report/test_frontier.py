from __future__ import annotations

import re
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.report import bars_svg, beside_print_svg, frontier_advice, frontier_page, frontier_svg, lines_svg
from mahrem.report._frontier import HEIGHT, LABEL_STEP, _spread
from mahrem.words import LANGUAGES, Note, load_catalogue


def rows(*, losses: dict[str, list[float]], seconds: dict[str, float]) -> list[dict[str, Any]]:
    return [
        {
            "method": method,
            "strategy": None,
            "k": k,
            "seed": None,
            "holds": True,
            "gcp": loss,
            "seconds": seconds[method],
            "note": "",
        }
        for method, found in losses.items()
        for k, loss in zip((2, 5, 10), found, strict=True)
    ]


SIMPLE = rows(
    losses={"mosaic": [0.01, 0.02, 0.04], "mondrian": [0.02, 0.04, 0.08]},
    seconds={"mosaic": 1.0, "mondrian": 0.1},
)


def found(results: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "source": "table",
        "rows": 10,
        "quasi": ["age"],
        "results": results,
        "left_out": {"mdav": "too large"},
    }


def test_the_method_with_the_least_loss_is_advised() -> None:
    first, second = frontier_advice(SIMPLE)
    assert first == "Take mosaic: it loses least."
    assert "mondrian, gives up 4 % (2 times as much)" in second


def test_nearly_as_good_and_much_quicker_is_advised() -> None:
    near = rows(
        losses={"slow": [0.0100, 0.02, 0.04], "quick": [0.0101, 0.0201, 0.0401]},
        seconds={"slow": 100.0, "quick": 0.1},
    )
    assert frontier_advice(near)[0] == "Take quick: slow loses 0.6 % less but takes 1,000 times as long."


def test_a_method_that_wins_elsewhere_is_named() -> None:
    crossing = rows(losses={"a": [0.01, 0.02, 0.09], "b": [0.05, 0.05, 0.05]}, seconds={"a": 1.0, "b": 1.0})
    assert frontier_advice(crossing)[-1] == "Least loss elsewhere: b at k=10."


def test_a_run_that_does_not_hold_is_no_advice() -> None:
    broken = [{**row, "holds": False} for row in SIMPLE]
    assert frontier_advice(broken) == ["Nothing was found: no run kept its promise."]
    assert "Nothing was found" in frontier_page(found(broken))


def test_the_picture_names_every_method_and_stands_alone() -> None:
    picture = frontier_svg(SIMPLE)
    root = ET.fromstring(picture)  # noqa: S314 - our own text
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    texts = {"".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"mosaic", "mondrian"} <= texts
    assert "var(" not in picture
    assert "currentColor" not in picture


def test_the_page_escapes_and_loads_nothing() -> None:
    page = frontier_page({**found(SIMPLE), "source": "<b>x</b>", "quasi": ["<script>"]})
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert not re.search(r"https?://", page)
    assert "mdav: too large" in page


def test_losses_of_zero_and_a_single_k_are_drawn() -> None:
    one = [{**row, "gcp": 0.0, "k": 5} for row in SIMPLE]
    assert frontier_svg(one).startswith("<svg")
    assert "Take" in frontier_page(found(one))


def test_a_comparison_in_which_nothing_held_has_an_empty_picture() -> None:
    assert frontier_svg([{**row, "holds": False} for row in SIMPLE]).startswith("<svg")


def test_a_method_keeps_its_name_whatever_colours_are_called() -> None:
    named = [{**row, "method": "transparent var(--ink, currentColor)"} for row in SIMPLE]
    assert ">transparent var(--ink, currentColor)<" in frontier_svg(named)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0.001, 1), min_size=1, max_size=12))
def test_labels_never_cover_each_other(losses: list[float]) -> None:
    ends = [(str(number), HEIGHT * (1 - loss)) for number, loss in enumerate(losses)]
    places = _spread(ends)
    pixels = sorted(place for _, place in places)
    assert {name for name, _ in places} == {name for name, _ in ends}
    assert all(b - a >= LABEL_STEP - 1e-6 for a, b in pairwise(pixels))
    assert -1e-6 <= pixels[0] <= pixels[-1] <= HEIGHT + 1e-6


@pytest.mark.parametrize("picture", ["beside", "lines", "bars"])
def test_pictures_of_reproduced_tables_are_drawn(picture: str) -> None:
    line = {"dataset": "Census", "method": "mdav", "metric": "loss", "k": 3, "published": 2.0, "ours": 1.0}
    match picture:
        case "beside":
            drawn = beside_print_svg([line, {**line, "published": None}])
        case "lines":
            drawn = lines_svg(
                [line, {**line, "k": 5}], across="k", title="t", names=("k", "loss"), best="mdav"
            )
        case _:
            drawn = bars_svg({0.1: 3, 0.2: 4}, title="t", names=("loss", "runs"))
    picture_drawn = ET.fromstring(drawn)  # noqa: S314 - our own text
    assert picture_drawn.tag.endswith("svg")
    assert len(list(picture_drawn.iter())) > 10


@pytest.mark.parametrize("language", [name for name in LANGUAGES if name != "en"])
def test_the_page_speaks_the_language_that_was_asked_for(language: str) -> None:
    advised = found(SIMPLE) | {"left_out_notes": {"mdav": Note("left_out.lattice").as_dict()}}
    page, english = frontier_page(advised, language), frontier_page(advised)
    assert f'<html lang="{language}">' in page
    words = load_catalogue("en")["comparison"]
    sentences = [text for text in words.values() if isinstance(text, str) and " " in text and "{" not in text]
    assert sentences
    assert [text for text in sentences if text in page] == []
    assert [text for text in sentences if text in english]
    assert str(Note("left_out.lattice")) not in page
