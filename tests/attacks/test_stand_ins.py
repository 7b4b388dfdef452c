"""People whom a release stands for: anybody of its cells, and so nobody's own place in them."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.attacks import counted_finding, disclosed_findings
from mahrem.attacks.on_releases import Linkage
from mahrem.matching import match, read_published, stand_ins
from mahrem.table import Hierarchy

TREE = Hierarchy.from_rows([["flu", "lung"], ["cold", "lung"], ["gout", "joint"], ["06", "12"]])
NUMBERS = ["[0, 5]", "[5, 10]", "[3, 8]", "7", "*", "[-inf, 4]", "[8, inf]", "[-inf, inf]", None]
WORDS = ["{a, b}", "a", '"*"', "*", "{b, }", None, '"a, b"', "[x"]
CODES = ["061**", "06***", "06100", "34710", "*", None]
NODES = ["flu", "lung", "joint", "*", "12", "strange"]
DAYS = ["[2020-01-01, 2020-03-31]", "2020-02-03", "*", "[2019-01-01, 2020-12-31]"]


@settings(max_examples=80, deadline=None)
@given(
    rows=st.lists(
        st.tuples(*(st.sampled_from(cells) for cells in (NUMBERS, WORDS, CODES, NODES, DAYS))),
        min_size=1,
        max_size=12,
    ),
    seed=st.integers(0, 99),
)
def test_everybody_fits_the_class_they_were_drawn_for(rows: list[tuple[str, ...]], seed: int) -> None:
    names = ["number", "word", "code", "node", "day"]
    shown = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    release = read_published(shown, quasi=names, hierarchies={"node": TREE})
    people = stand_ins(release, seed=seed)
    assert people.count == release.rows
    if release.rows:
        matching = match(release, people)
        own = release.labels[release.labels >= 0]
        assert matching.fits(matching.codes)[np.arange(people.count), own].all()


def test_they_are_drawn_from_the_published_table_alone() -> None:
    shown = pl.DataFrame({"age": ["[20, 40]"] * 3 + ["[30, 50]"] * 3, "ill": list("aabbba")})
    release = read_published(shown, quasi=["age"], sensitive=["ill"])
    first, again = (stand_ins(release, seed=3).frame for _ in range(2))
    assert first.equals(again)
    assert set(first["age"]) <= {"25.0", "35.0", "45.0"}  # as far as other cells tell them apart
    assert first["ill"].to_list() == list("aabbba")


@settings(max_examples=40, deadline=None)
@given(sizes=st.lists(st.integers(3, 9), min_size=1, max_size=6), seed=st.integers(0, 99))
def test_whoever_knows_all_finds_nobody_with_a_chance_above_one_over_k(sizes: list[int], seed: int) -> None:
    cells = [f"[{3 * place}, {3 * place + 7}]" for place, size in enumerate(sizes) for _ in range(size)]
    release = read_published(pl.DataFrame({"age": cells}), quasi=["age"])
    finding = Linkage(seed=seed)(release, stand_ins(release, seed=seed))
    assert finding.details["highest"] <= 1 / min(sizes)


def test_what_may_be_chance_is_not_told_and_the_rest_is_about_crowds() -> None:
    def tell(attack: str, successes: int) -> object:
        (finding,) = disclosed_findings(
            [counted_finding(attack, successes, 100, baseline=0.3, meaning="")], 5
        )
        return finding.rate

    assert tell("downcoding", 33) is None
    assert tell("downcoding", 88) == 0.9
    assert tell("membership", 33) == 0.35
    assert tell("linkage", 33) == 0.33
