"""One record changes no type, no spelling and no refusal for the others, whatever a table comes from."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from mahrem.dp import assert_dp
from odd_neighbours import QUESTIONS, SOURCES, asks, draw_pair, made


@pytest.mark.parametrize("source", SOURCES)
def test_neighbours_from_every_source_are_told_apart_by_noise_only(source: str, tmp_path: Path) -> None:
    random, tried = Random(f"neighbours {source}"), 0
    for _ in range(12):
        pair = draw_pair(random)
        tables = [
            made(people, source, tmp_path / name) for name, people in (("1", pair.first), ("2", pair.second))
        ]
        if any(table is None for table in tables):
            continue
        for question in random.sample(QUESTIONS, 3):
            assert_dp(asks(question, pair.relation), *tables)
            tried += 1
    assert tried > 12
