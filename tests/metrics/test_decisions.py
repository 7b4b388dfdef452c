from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mahrem.errors import InvalidParameter
from mahrem.metrics._decisions import decide_by_dm, decide_by_gcp, decide_by_mean_class_size

RULES = {"dm": decide_by_dm, "mean_class_size": decide_by_mean_class_size, "gcp_sum": decide_by_gcp}
FIGURES = st.floats(0, 1e12)


@pytest.mark.parametrize("name", RULES)
@given(managed=FIGURES, unmanaged=FIGURES)
def test_the_smaller_figure_wins_and_a_draw_is_no_win(name: str, managed: float, unmanaged: float) -> None:
    rule = RULES[name]
    assert rule({name: managed}, {name: unmanaged}) == int(managed < unmanaged)
    assert rule({name: managed}, {name: managed}) == 0


def test_three_classes_of_three_beat_five_and_four() -> None:
    assert decide_by_dm({"dm": 3 * 9}, {"dm": 25 + 16}) == 1
    assert decide_by_mean_class_size({"mean_class_size": 9 / 3}, {"mean_class_size": 9 / 2}) == 1


@pytest.mark.parametrize("name", RULES)
def test_a_missing_figure_is_named(name: str) -> None:
    with pytest.raises(InvalidParameter, match=rf"unmanaged\.{name}"):
        RULES[name]({name: 1.0}, {})
