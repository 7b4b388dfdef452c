"""Pictures of results: words of a language, colours for any page, and no figure that no report has."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import mahrem as mh
from mahrem.charts import (
    Drawing,
    draw_attacks,
    draw_budget,
    draw_class_sizes,
    draw_comparison,
    draw_model,
)
from mahrem.dp.accounting import Pure
from mahrem.errors import InvalidParameter
from mahrem.words import LANGUAGES

MARKED = "MARKED"
PAGES = ("#ffffff", "#111111")  # a light and a dark notebook
MODEL = {
    "model": "logistic",
    "metrics": {"metric": "accuracy", "value": 0.8125, "error": 0.03125, "private": True},
    "audit": {"claimed": 2.0, "epsilon": 0.25, "ceiling": 4.5},
}


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    ages = [20 + place % 37 for place in range(160)]
    rows = pl.DataFrame({"age": ages, "d": [f"{MARKED}-{place % 5}" for place in range(160)]})
    asked: dict[str, Any] = {"quasi": ["age"], "sensitive": "d", "k": 3}
    release = mh.anonymize(rows, **asked, html=False)
    ledger = mh.Ledger.temporary(epsilon=1.0)
    for _ in range(3):
        ledger.spend(Pure(0.125), what="count()")
    return {
        "release": release,
        "audit": mh.audit(release.table, **asked),
        "attack": mh.attack(release.table, original=rows, **asked),
        "comparison": mh.compare(rows, **asked, ks=[2, 5], methods=["mondrian", "mosaic"]),
        "ledger": ledger,
    }


def drawings(results: Mapping[str, Any], language: str = "en") -> dict[str, Drawing]:
    ledger = results["ledger"]
    return {
        "release": draw_class_sizes(results["release"].report, language),
        "audit": draw_class_sizes(results["audit"].report, language),
        "attack": draw_attacks(results["attack"].report, language),
        "comparison": draw_comparison(results["comparison"].as_dict(), language),
        "ledger": draw_budget(ledger._spent_by(), ledger.epsilon, ledger.gain().curve, language),
        "model": draw_model(MODEL, language),
    }


def inside(value: object) -> Iterator[object]:
    """Give everything that nested data hold."""
    yield value
    if isinstance(value, Mapping):
        for entry in value.values():
            yield from inside(entry)
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from inside(entry)


def numbers(value: object) -> set[float]:
    return {float(one) for one in inside(value) if isinstance(one, int | float) and not isinstance(one, bool)}


def data(drawing: Drawing) -> list[object]:
    return [part["data"] for part in inside(drawing) if isinstance(part, Mapping) and "data" in part]


def test_a_picture_shows_no_figure_that_the_report_does_not_have(results: dict[str, Any]) -> None:
    reports = {
        "release": results["release"].report,
        "audit": results["audit"].report,
        "attack": results["attack"].report,
        "comparison": results["comparison"].as_dict(),
    }
    drawn = drawings(results)
    for name, report in reports.items():
        assert numbers(data(drawn[name])) <= numbers(json.loads(json.dumps(report, default=float))), name
    assert MARKED not in json.dumps(drawn)


def test_a_ledger_is_drawn_up_to_what_is_spent_now(results: dict[str, Any]) -> None:
    ledger = results["ledger"]
    spent = ledger._spent_by()
    assert [cost for _, cost in spent] == pytest.approx([0, 0.125, 0.25, 0.375])
    assert spent[-1] == (ledger.history()[-1]["time"], ledger.spent().epsilon)
    many = mh.Ledger.temporary(epsilon=1.0)
    for _ in range(97):
        many.spend(Pure(0.01), what="count()")
    drawn = [cost for _, cost in many._spent_by()]
    assert len(drawn) == 41
    assert drawn == sorted(drawn)
    assert drawn[-1] == pytest.approx(0.97)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_picture_has_a_title_and_words_on_its_axes(results: dict[str, Any], language: str) -> None:
    for name, drawing in drawings(results, language).items():
        assert drawing["title"]["text"], name
        axes = [
            part["axis"]["title"]
            for part in inside(drawing)
            if isinstance(part, Mapping) and part.get("type") in {"quantitative", "temporal", "ordinal"}
            if "axis" in part
        ]
        assert axes, name
        assert all(axes), name
        if language != "en" and name != "model":  # whose title is its name
            assert drawing["title"] != drawings(results)[name]["title"]


def contrast(first: str, second: str) -> float:
    """As WCAG has it."""

    def bright(colour: str) -> float:
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        red, green, blue = (
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted((bright(first), bright(second)))
    return (high + 0.05) / (low + 0.05)


def test_every_colour_is_readable_on_light_and_on_dark(results: dict[str, Any]) -> None:
    for name, drawing in drawings(results).items():
        assert drawing["background"] == "transparent"
        colours = set(re.findall(r'"(#[0-9a-f]{6})"', json.dumps(drawing)))
        letters = {
            drawing["config"][part][key]
            for part in ("axis", "legend")
            for key in ("labelColor", "titleColor")
        }
        for page in PAGES:
            assert min(contrast(colour, page) for colour in colours) >= 3, name
            assert min(contrast(colour, page) for colour in letters) >= 4, name


def test_every_attack_has_a_line_of_its_own(results: dict[str, Any]) -> None:
    tried = [finding for finding in results["attack"].findings if finding.rate is not None]
    points = draw_attacks(results["attack"].report)["data"]["values"]
    assert len({point["attack"] for point in points}) == len(tried) > 3


def test_what_was_measured_openly_says_so() -> None:
    openly = {**MODEL, "metrics": {**MODEL["metrics"], "private": False}}  # type: ignore[dict-item]
    assert "do not publish" in json.dumps(draw_model(openly))
    assert "do not publish" not in json.dumps(draw_model(MODEL))


def test_nothing_is_not_drawn() -> None:
    for draw in (
        lambda: draw_class_sizes({}),
        lambda: draw_attacks({"findings": []}),
        lambda: draw_comparison({"results": []}),
        lambda: draw_model({"model": "logistic"}),
    ):
        with pytest.raises(InvalidParameter, match="nothing to draw"):
            draw()


@pytest.mark.parametrize("language", LANGUAGES)
def test_altair_takes_every_picture(
    results: dict[str, Any], language: str, missing_part: Callable[[str], None]
) -> None:
    if find_spec("altair") is None:
        missing_part("no altair: pip install 'mahrem[charts]'")
    for name, result in results.items():
        chart = result.plot(language=language).to_dict()  # Altair checks it against Vega-Lite's schema
        assert chart["title"] == drawings(results, language)[name]["title"]


WITHOUT = """
import sys
sys.modules["altair"] = None
import mahrem as mh
from mahrem.errors import MissingExtra
ledger = mh.Ledger.temporary(epsilon=1.0)
try:
    ledger.plot()
except MissingExtra as missing:
    print(missing)
"""


def test_without_altair_plot_says_how_to_get_it() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True)
    assert done.stdout == "extra='charts' is needed for plot(); get it with: pip install 'mahrem[charts]'\n"


def test_only_plot_loads_altair(tmp_path: Path) -> None:
    code = """
import sys
import mahrem as mh
rows = mh.demo_patients(100)
release = mh.anonymize(rows, quasi=["age"], sensitive="diagnosis", rest="drop", k=5, html=False)
release._repr_html_()
print([name for name in ("altair", "mahrem.charts") if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
