"""Figures of pages come from records of runs, and each says from which."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from figure_binding import bound  # noqa: E402
from figure_records import LOST, Record, Shown, as_shown, fault_of_command, number_of, printed_in  # noqa: E402
from figures import (  # noqa: E402
    MARK,
    faults,
    figures_of,
    filled,
    given_numbers,
    name_of,
    pages,
    places_of,
    records,
)

# Records whose commands are not there any more, with how many figures. Entries only ever leave this list.
NOT_KEPT = {
    "not-kept-attack": 18,
    "not-kept-attacks-on-federations": 14,
    "not-kept-audit-models": 4,
    "not-kept-command-line": 1,
    "not-kept-compare": 2,
    "not-kept-design": 2,
    "not-kept-federated-learning": 5,
    "not-kept-learning": 2,
    "not-kept-minimality": 5,
    "not-kept-mondrian": 83,
    "not-kept-mosaic": 25,
    "not-kept-policy": 5,
    "not-kept-synthesis": 79,
}
TABLE = "| k | loss |\n|---|---|\n| 2 | 0.25 |\n| 5 | 12 % |\n| 9 | 3.5 s |\n| 12 | 1.2 / 3.4 |\n"


def unmarked(text: str) -> list[str]:
    return [text[figure.start : figure.end] for figure in figures_of(text) if figure.mark is None]


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_every_figure_is_the_one_that_its_record_has(page: Path) -> None:
    text = page.read_text("utf-8")
    assert faults(name_of(page), text) == []
    assert filled(name_of(page), text) == text


@pytest.mark.parametrize("name", records())
def test_every_record_says_what_printed_it_and_when(name: str) -> None:
    record = records()[name]
    assert fault_of_command(record.command) is None or name in NOT_KEPT
    figures = [figure for place in record.places.values() for figure in place]
    assert record.day or all(figure.at is None for figure in figures)
    assert record.written or all(figure.at is not None for figure in figures)
    for figure in figures:
        if figure.printed is not None:
            assert as_shown(figure.printed * figure.scale, figure.shown) == figure.shown


def test_every_place_of_a_record_is_on_one_page() -> None:
    marked = [(mark[1], mark[2]) for page in pages() for mark in MARK.finditer(page.read_text("utf-8"))]
    assert sorted(marked) == sorted(
        (name, place) for name, kept in records().items() for place in kept.places
    )


def test_few_figures_are_of_trials_that_are_not_kept_and_none_is_added() -> None:
    lost = {
        name: sum(map(len, record.places.values()))
        for name, record in records().items()
        if record.command.startswith(LOST)
    }
    assert lost == NOT_KEPT


def test_pages_name_nothing_as_given_that_is_not_there() -> None:
    assert given_numbers().keys() <= {name_of(page) for page in pages()}


@pytest.mark.parametrize(
    ("prose", "figures"),
    [
        ("It takes 3.4 s and 20 MB.", ["3.4", "20"]),
        ("Between 4 and 8 % are lost, .85 stay.", ["4", "8", ".85"]),
        ("It is −0.006 here and 1,234.5 there.", ["−0.006", "1,234.5"]),
        ("7 times as fast, 1.5 × as dear", ["7", "1.5"]),
        ("With k = 5, ε = 0.1 and 3, table 4.7, `0.5 s` and 1,000 × 10 rows", []),
        ("In 2019 there were 17 people in 4 groups of version 3.11.2; 95 % intervals.", []),
    ],
)
def test_what_is_measured_is_told_from_what_is_not(prose: str, figures: list[str]) -> None:
    assert unmarked(prose) == figures


def test_a_figure_without_a_source_is_found() -> None:
    assert len(faults("page", TABLE)) == 5
    assert len(faults("page", "It takes 3.4 s.")) == 1
    assert len(faults("page", f"```\n{TABLE}```\n\nIt takes `3.4 s`.")) == 0
    assert len(faults("page", "It takes 3.4 s. <!-- figures: nothing/nowhere -->")) == 1
    assert len(faults("page", "No figure. <!-- figures: nothing/nowhere -->")) == 1


def test_a_mark_speaks_of_the_table_after_it_and_of_the_prose_before_it() -> None:
    prose = "1.5 s. <!-- figures: two/b --> 2.5 s. <!-- figures: two/c -->\n\n3.5 s"
    text = f"<!-- figures: one/a -->\n\n{TABLE}\n{prose}"
    places = places_of("page", text)
    assert [len(places[mark]) for mark in (("one", "a"), ("two", "b"), ("two", "c"))] == [5, 1, 1]
    assert unmarked(text) == ["3.5"]
    assert len(unmarked(f"<!-- figures: one/a -->\n\nOther words.\n\n{TABLE}")) == 5


def test_a_figure_that_was_typed_over_is_found_and_written_back() -> None:
    page = ROOT / "docs" / "guide" / "hidden-cells.md"
    text, name = page.read_text("utf-8"), name_of(page)
    figure = next(figure for figures in places_of(name, text).values() for figure in figures)
    typed = text[: figure.start] + "77" + text[figure.end :]
    assert len(faults(name, typed)) == 1
    assert filled(name, typed) == text


@given(st.floats(-1e6, 1e6), st.sampled_from(["0.1", "1", "1,000", "1.25", ".5", "−0.50", "+1.0", "1,000.5"]))
def test_a_figure_is_shown_to_the_places_of_its_page(value: float, like: str) -> None:
    shown = as_shown(value, like)
    assert abs(number_of(shown) - value) <= 0.5 * 10.0 ** -len(like.partition(".")[2]) + 1e-9
    assert as_shown(number_of(shown), shown) in {shown, shown.lstrip("+")}


def test_outputs_are_read_by_address() -> None:
    rows = [{"case": "csv", "k": 5, "seconds": 1.5}, {"case": "csv", "k": 10, "seconds": 2.5}]
    lines = "\n".join(map(json.dumps, rows))
    for output in (json.dumps(rows), f"words\n{lines}\n"):
        printed = printed_in(output)
        assert printed["[csv k=5]/seconds"] == 1.5
        assert printed["[csv k=10]/seconds"] == 2.5
    assert printed_in("| kind | recall |\n|---|---|\n| name | 0.9 |\n") == {"name/recall": 0.9}


def test_a_figure_is_found_where_value_and_words_agree() -> None:
    printed = {"[csv]/seconds": 1.504, "[parquet]/seconds": 2.0, "[parquet]/ratio": 0.25, "[csv]/ratio": 0.25}
    table = [Shown("csv | seconds", "1.50"), Shown("csv | share", "25"), Shown("share", "25")]
    seconds, ratio, unknown = bound(table, printed)
    assert (seconds.at, seconds.printed) == ("[csv]/seconds", 1.504)
    assert (ratio.at, ratio.scale) == (None, 1.0)  # two digits, and one word alone agrees
    assert bound([Shown("csv | ratio", "25")], printed)[0].at == "[csv]/ratio"
    assert unknown.at is None
    assert bound([seconds], {"[csv]/seconds": 3.0})[0].shown == "3.00"
    with pytest.raises(KeyError):
        bound([seconds], {})


def test_a_figure_that_neighbours_tell_apart_is_found() -> None:
    printed = {
        f"[{table} {method}]/{key}": value
        for table, method, key, value in (
            ("adult", "mondrian", "loss", 1.25),
            ("adult", "mondrian", "classes", 204.0),
            ("housing", "mondrian", "loss", 3.5),
            ("housing", "mondrian", "classes", 204.0),
        )
    }
    table = [Shown("first | lost", "1.25"), Shown("first | count", "204")]
    assert [one.at for one in bound(table, printed)] == ["[adult mondrian]/loss", "[adult mondrian]/classes"]


@given(st.lists(st.floats(0.001, 1000), min_size=1, max_size=8, unique=True), st.data())
def test_what_is_found_has_the_value_that_is_shown(values: list[float], data: st.DataObject) -> None:
    printed = {f"[case {at}]/seconds": value for at, value in enumerate(values)}
    table = [
        Shown(f"case {at} | seconds", as_shown(value, data.draw(st.sampled_from(["0.123", "0.12", "1"]))))
        for at, value in enumerate(values)
    ]
    for one in bound(table, printed):
        assert one.printed is None or as_shown(one.printed * one.scale, one.shown) == one.shown


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    for name, record in list(records().items())[:5]:
        record.write(tmp_path / f"{name}.json")
        assert Record.read(tmp_path / f"{name}.json") == record


@pytest.mark.parametrize(
    ("command", "wrong"),
    [
        ("mahrem reproduce canbay2019 --table 4.7", False),
        ("benchmarks/bench_cba.py --cases exact; scripts/bench_peers.sh", False),
        ("mahrem reproduce canbay2019 --table 99.9", True),
        ("mahrem reproduce nobody", True),
        ("mahrem audit release/", True),
        ("benchmarks/bench_nothing.py", True),
        ("benchmarks/bench_cba.py --never-heard-of", True),
        ("/etc/passwd", True),
    ],
)
def test_a_command_must_be_there(command: str, wrong: bool) -> None:  # noqa: FBT001
    assert (fault_of_command(command) is not None) == wrong
