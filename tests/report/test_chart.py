from __future__ import annotations

import math
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.report import (
    bars_svg,
    beside_print_svg,
    frontier_svg,
    grouped_svg,
    lines_svg,
)
from mahrem.report._axes import Plot, Tick, draw_legend, written
from mahrem.report._chart import AFTER, Drawing, shorten, standing_alone, text_width, tile
from mahrem.report._pictures import before_and_after, class_sizes, correlations, loss_per_column, risk, shares
from mahrem.report._report import ReportRelation
from mahrem.report._scales import Scale
from mahrem.words import load_catalogue

EN, DE = load_catalogue("en"), load_catalogue("de")
NASTY = [
    "</svg><script>alert(1)</script>",
    "\"'><&amp;",
    "a\x00b\ud800c\x1b",
    "x" * 5000,
    "两" * 90,
    "a\n\tb",
    "",
]
WRONG = [math.nan, math.inf, -math.inf]
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def inside(svg: str) -> ET.Element:
    """Read a picture; every mark must lie within its view box and nothing but marks may be in it."""
    root = ET.fromstring(svg.encode())  # noqa: S314 - our own text
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    for kind, corners in marks(root, 0.0, 0.0):
        for x, y in corners:
            assert -0.01 <= x <= width + 0.01, kind
            assert -0.01 <= y <= height + 0.01, kind
    assert not re.search(r"[\"(, ](?:nan|-?inf)[\"), ]", svg)
    return root


def marks(node: ET.Element, x: float, y: float) -> Iterator[tuple[str, list[tuple[float, float]]]]:
    """Give every mark and its corners, as a reader sees them."""
    kind, said = node.tag.rpartition("}")[2], node.attrib
    assert kind in {"svg", "g", "title", "rect", "path", "circle", "text"}
    assert set(said) <= ALLOWED
    if kind == "g":
        left, top = map(float, NUMBER.findall(said["transform"]))
        x, y = x + left, y + top
    at = {
        name: float(said[name]) for name in ("x", "y", "width", "height", "cx", "cy", "r") if _is(said, name)
    }
    if kind == "rect" and "x" in at:
        yield kind, [(x + at["x"], y + at["y"]), (x + at["x"] + at["width"], y + at["y"] + at["height"])]
    if kind == "circle":
        yield kind, [(x + at["cx"] + side * at["r"], y + at["cy"] + side * at["r"]) for side in (-1, 1)]
    if kind == "text":
        wide = text_width(node.text or "", float(said["font-size"]))
        begin = {"middle": -wide / 2, "end": -wide}.get(said.get("text-anchor", ""), 0.0)
        ends = (0.0,) if "transform" in said else (begin, begin + wide)
        yield kind, [(x + at["x"] + end, y + at["y"]) for end in ends]
    if kind == "path":
        points = [tuple(map(float, pair.split(","))) for pair in said["d"][1:].split("L")]
        yield kind, [(x + px, y + py) for px, py in points]
    for child in node:
        yield from marks(child, x, y)


ALLOWED = {
    *("width", "height", "viewBox", "font-family", "role", "aria-label", "transform", "x", "y", "cx", "cy"),
    *("r", "d", "fill", "stroke", "stroke-width", "stroke-linejoin", "stroke-dasharray", "font-size"),
    *("text-anchor", "font-weight"),
}


def _is(said: dict[str, str], name: str) -> bool:
    return name in said and NUMBER.fullmatch(said[name]) is not None


def texts(root: ET.Element) -> list[str]:
    return [node.text or "" for node in root.iter() if node.tag.endswith("text")]


def counts(kind: str, **said: Any) -> dict[str, Any]:
    return {"kind": kind, "unknown": [0, 0], "hidden": [0, 0], "floor": 5, **said}


def comparison(method: str, losses: Sequence[float]) -> list[dict[str, Any]]:
    row = {"method": method, "strategy": None, "seed": None, "holds": True, "seconds": 1.0, "note": ""}
    return [{**row, "k": k, "gcp": loss} for k, loss in zip((2, 5, 10), losses, strict=False)]


@pytest.mark.parametrize("name", NASTY, ids=["tag", "quote", "control", "long", "wide", "lines", "empty"])
def test_a_nasty_name_is_escaped_and_stays_inside_every_picture(name: str) -> None:
    row = {"panel": name, "name": name, "series": name, "value": 2.0}
    line = {"dataset": name, "method": name, "metric": name, "k": 3, "published": 2.0, "ours": 1.0}
    words = counts("words", labels=[name, None], before=[9, 5], after=[8, 6], small=[[0], [1]])
    pictures = [
        loss_per_column({name: 0.4}, EN),
        before_and_after(name, words, EN),
        risk({name: (1.0, 0.2)}, EN),
        shares([(name, [(0.4, name), (1.0, "100 %")])], name, EN),
        correlations([ReportRelation.read({"columns": (name, name), "before": -1, "after": 1})], name, EN),
        frontier_svg(comparison(name, [0.1, 0.2, 0.3])),
        grouped_svg([row], title=name, amount=name),
        beside_print_svg([line]),
        lines_svg([line, {**line, "k": 5}], across="k", title=name, names=(name, name), best=name),
        bars_svg({0.1: 3, 0.2: 4}, title=name, names=(name, name)),
    ]
    for picture in pictures:
        inside(picture)
        assert "<script" not in picture
        assert picture.count("<svg") == picture.count("</svg>") == picture.count("<title>") == 1


@pytest.mark.parametrize("wrong", WRONG)
def test_a_figure_that_is_none_is_left_out(wrong: float) -> None:
    words = counts("words", labels=["a", "b"], before=[9, wrong], after=[wrong, 6])
    steps = counts("numeric", edges=[0, 1, 2], before=[wrong, 5], after=[5, wrong])
    line = {"dataset": "d", "method": "m", "metric": "x", "k": 3, "published": wrong, "ours": wrong}
    bar = {"panel": "p", "name": "n", "series": "s", "value": wrong}
    pictures = [
        class_sizes([{"from": 5, "to": 6, "rows": wrong}, {"from": 7, "to": 7, "rows": 7}], EN),
        loss_per_column({"a": wrong, "b": 0.5}, EN),
        before_and_after("x", words, EN),
        before_and_after("x", steps, EN),
        risk({"a": (wrong, 0.2)}, EN),
        shares([("a", [(wrong, "?")])], "t", EN),
        correlations([ReportRelation.read({"columns": ("a", "b"), "before": wrong, "after": 0.5})], "t", EN),
        frontier_svg([*comparison("m", [wrong, 0.1]), *comparison("n", [0.2, wrong])]),
        grouped_svg([bar, {**bar, "name": "o", "value": 1.0}], title="t", amount="a"),
        beside_print_svg([line, {**line, "published": 1.0, "ours": 2.0}]),
        lines_svg([line, {**line, "k": 5, "ours": 2.0}], across="k", title="t", names=("k", "l"), best="m"),
    ]
    for picture in pictures:
        inside(picture)


def test_nothing_gives_an_empty_picture() -> None:
    empty = counts("words", labels=[], before=[], after=[])
    for picture in (
        Drawing().svg("t"),
        class_sizes([], EN),
        loss_per_column({}, EN),
        risk({}, EN),
        shares([], "t", EN),
        correlations([], "t", EN),
        before_and_after("x", empty, EN),
        frontier_svg([]),
        grouped_svg([], title="t", amount="a"),
        beside_print_svg([]),
        lines_svg([], across="k", title="t", names=("k", "l"), best="m"),
        bars_svg({}, title="t", names=("a", "b")),
    ):
        inside(picture)


@pytest.mark.parametrize("kind", ["numeric", "date"])
@pytest.mark.parametrize("amounts", [[0, 0], [1, 0], [10**15, 3]])
def test_one_value_no_value_and_very_many_are_drawn(kind: str, amounts: list[int]) -> None:
    edges = [5, 6, 7] if kind == "numeric" else ["2024-01-01", "2024-01-02", "2024-01-03"]
    inside(before_and_after("x", counts(kind, edges=edges, before=amounts, after=amounts), EN))
    inside(before_and_after("x", counts(kind, edges=edges[:2], before=amounts[:1], after=amounts[:1]), EN))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.floats(0, 1e12), st.floats(0, 1e12)), min_size=1, max_size=24), st.floats(-1e9, 1e9)
)
def test_every_histogram_fits(pairs: list[tuple[float, float]], start: float) -> None:
    before, after = ([pair[side] for pair in pairs] for side in (0, 1))
    edges = [start + place for place in range(len(pairs) + 1)]
    inside(before_and_after("x", counts("numeric", edges=edges, before=before, after=after), DE))
    labels = [str(place) for place in range(len(pairs))]
    inside(before_and_after("x", counts("words", labels=labels, before=before, after=after), DE))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.floats(0, 1e6), min_size=1, max_size=3), min_size=1, max_size=12))
def test_every_frontier_fits(losses: list[list[float]]) -> None:
    inside(frontier_svg([row for place, one in enumerate(losses) for row in comparison(f"m{place}", one)]))


def test_bars_are_as_long_as_their_figures() -> None:
    picture = inside(loss_per_column({"a": 0.5, "b": 1.0, "c": 0.0, "d": 7.0}, EN))
    wide = [float(node.attrib["width"]) for node in picture.iter() if node.tag == "rect"]
    assert wide == [95, 190, 190], "nothing has no bar, and none leaves its axis"


def test_numbers_are_written_in_the_language() -> None:
    large = counts("numeric", edges=[0, 0.5, 1], before=[9000, 20], after=[12000, 0])
    assert {"4,000", "0.4"} <= set(texts(inside(before_and_after("x", large, EN))))
    assert {"4.000", "0,4"} <= set(texts(inside(before_and_after("x", large, DE))))
    pair = ReportRelation.read({"columns": ("a", "b"), "before": -1, "after": 1})
    assert "\N{MINUS SIGN}0,5" in texts(inside(correlations([pair], "t", DE)))


def test_a_value_called_other_stays_a_bar_of_its_own() -> None:
    words = counts("words", labels=["other", None], before=[9, 5], after=[8, 6])
    assert texts(inside(before_and_after("x", words, EN))).count("other") == 2


def test_labels_of_an_axis_never_touch() -> None:
    plot = Plot(300, 100)
    plot.below([Tick(3 * place, f"{place * 10**6:,}") for place in range(100)], line=True)
    ends: list[float] = []
    for node in inside(plot.drawing.svg("t")).iter():
        if node.tag == "text":
            half = text_width(node.text or "", 11) / 2
            ends += [float(node.attrib["x"]) - half, float(node.attrib["x"]) + half]
    assert len(ends) >= 6
    assert ends == sorted(ends)


def test_many_long_names_are_turned() -> None:
    bins = [{"from": 1000 * size, "to": 1000 * size + 999, "rows": size} for size in range(9)]
    assert class_sizes(bins, EN).count("rotate(-45") == 9
    assert "rotate(-45" not in class_sizes(bins[:2], EN)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=80), st.floats(20, 200))
def test_what_is_cut_fits(words: str, limit: float) -> None:
    short = shorten(words, limit, 11)
    assert text_width(short, 11) <= limit
    assert short == words or short.endswith("…")


def test_panels_do_not_cover_each_other() -> None:
    panels = []
    for size in (50, 20, 90, 10, 70):
        panel = Drawing()
        panel.bar((-size, -size), (size, size), AFTER)
        panels.append(panel)
    root = inside(tile([*panels, Drawing()], columns=2, gap=5).svg("t"))
    found = [corners for kind, corners in marks(root, 0, 0) if kind == "rect"]
    assert len(found) == 5
    for place, (low, high) in enumerate(found):
        for other_low, other_high in found[place + 1 :]:
            apart = any(
                high[axis] + 4.9 <= other_low[axis] or other_high[axis] + 4.9 <= low[axis] for axis in (0, 1)
            )
            assert apart


def test_a_long_legend_is_broken() -> None:
    drawing = Drawing()
    drawing.bar((0, 0), (200, 50), AFTER)
    draw_legend(drawing, [(f"a method of some length {place}", AFTER) for place in range(6)])
    inside(drawing.svg("t"))
    assert drawing.right <= 210


def test_a_picture_of_its_own_has_fixed_colours_and_a_ground() -> None:
    alone = standing_alone(loss_per_column({"a": 0.5}, EN))
    assert "var(" not in alone
    assert "currentColor" not in alone
    assert alone.count('xmlns="http://www.w3.org/2000/svg"') == 1
    assert "https:" not in alone
    assert '<rect width="100%" height="100%" fill="#fff"/>' in alone


def test_an_axis_is_written_with_the_places_it_needs() -> None:
    scale = Scale(0, 1, 0, 100)
    assert [tick.words for tick in written([0.0, 0.025, 0.05], scale, EN)] == ["0", "0.025", "0.05"]
    assert [tick.at for tick in written([0.0, 0.5], scale, EN)] == [0, 50]


def test_drawing_needs_the_standard_library_alone() -> None:
    heavy = ("numpy", "polars", "jinja2", "vl_convert")
    drawn = "import sys, mahrem.report._pictures, mahrem.report._frontier, mahrem.report._reproduced"
    probe = f"{drawn}; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
