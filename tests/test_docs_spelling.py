"""Pages are spelled as they are spelled elsewhere, and a slip is noticed."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "scripts"))

from spelling import ACCEPTED, COMMON, FREQUENT, known_words, misspelt, pages, words_of

KNOWN = known_words()


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_no_word_looks_misspelt(page: Path) -> None:
    assert misspelt(words_of(page.read_text("utf-8")), KNOWN) == {}


@pytest.mark.parametrize("slip", ["anonmyity", "relase", "suppresed", "hierrarchy", "colunms", "seperate"])
def test_a_slip_is_noticed(slip: str) -> None:
    written = Counter({"anonymity": 9, "release": 9, "suppressed": 9, "hierarchy": 9, "columns": 9, slip: 1})
    assert slip in misspelt(Counter({slip: 1}), written)


def test_code_links_and_sources_of_figures_are_not_words() -> None:
    text = "Rows `colunms` [here](colunms.md)\n<!-- figures: colunms -->\n```\ncolunms\n```\n"
    assert words_of(text) == Counter({"rows": 1, "here": 1})


def test_words_that_were_looked_at_are_still_there() -> None:
    assert {word for word in ACCEPTED if not KNOWN[word]} == set()
    assert {word for word in COMMON if KNOWN[word] >= FREQUENT} == set()
