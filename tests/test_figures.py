"""Measured figures in pages say what prints them, and that is there."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from figures import UNKNOWN, fault_of, faults, measured_tables, pages  # noqa: E402

# Tables whose figures nothing prints any more, by page. Entries only ever leave this list.
UNKNOWN_SOURCES = {
    "docs/guide/attack.md": 1,
    "docs/guide/compare.md": 2,
    "docs/guide/federated-learning.md": 1,
    "docs/theory/attacks-on-federations.md": 1,
    "docs/theory/minimality.md": 1,
}
TABLE = "| k | loss |\n|---|---|\n| 2 | 0.25 |\n| 5 | 12 % |\n| 9 | 3.5 s |\n| 12 | 1.2 / 3.4 |\n"


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_every_measured_figure_says_what_prints_it(page: Path) -> None:
    name = page.relative_to(ROOT).as_posix()
    assert faults(name, page.read_text("utf-8")) == []


def test_few_figures_have_no_source_and_none_is_added() -> None:
    unknown: dict[str, int] = {}
    known = 0
    for page in pages():
        for table in measured_tables(page.read_text("utf-8")):
            if (table.source or "").startswith(UNKNOWN):
                name = page.relative_to(ROOT).as_posix()
                unknown[name] = unknown.get(name, 0) + 1
            else:
                known += 1
    assert unknown == UNKNOWN_SOURCES
    assert known >= 60


def test_a_table_without_a_source_is_found_and_one_with_a_source_passes() -> None:
    assert len(faults("page", TABLE)) == 1
    assert faults("page", f"<!-- figures: benchmarks/bench_start.py -->\n\n{TABLE}") == []
    between = f"<!-- figures: benchmarks/bench_start.py -->\n\nOther words.\n\n{TABLE}"
    assert len(faults("page", between)) == 1  # it speaks of the table right after it
    assert faults("page", f"```\n{TABLE}```\n") == []
    assert faults("page", TABLE.replace(" s |", " words |")) == []


@pytest.mark.parametrize(
    ("source", "wrong"),
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
def test_a_source_must_be_there(source: str, wrong: bool) -> None:  # noqa: FBT001
    assert (fault_of(source) is not None) == wrong
