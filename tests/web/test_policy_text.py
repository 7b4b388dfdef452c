"""The text of a policy: whatever is sent, reading it costs little, and what is none is refused in words."""

from __future__ import annotations

import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mahrem.errors import MahremError
from mahrem.web._policy_text import LARGEST_POLICY, read_policy_text

PART = "a." * (LARGEST_POLICY // 2 - 10)
DEEP = {
    "dotted key": f"{PART}a = 1",
    "header": f"[{PART}a]",
    "quoted": '"a".' * 4000 + "a = 1",
    "spaced": "a . " * 4000 + "a = 1",
    "brackets": "k = " + "[" * 9000 + "]" * 9000,
    "tables": "k = " + "{a = " * 3000 + "1" + "}" * 3000,
    "behind a comment with quotes": f'# """\n{PART}a = 1',
    "behind a string": f'k = "\\""\n{PART[:9000]}a = 1',
    "too large": "k = 1\n" * LARGEST_POLICY,
    "never closed": '"""\\' * (LARGEST_POLICY // 4),
    "a long number": "k = " + "9" * 9000,
}


@pytest.mark.parametrize("name", DEEP)
def test_a_text_that_would_cost_more_than_it_is_long_is_refused_before(name: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(MahremError):
            read_policy_text(DEEP[name])
        assert tracemalloc.get_traced_memory()[1] < 5e6
    finally:
        tracemalloc.stop()


def test_policies_as_people_write_them_are_read() -> None:
    text = '''
    k = 5  # a comment with "quotes" and a.b.c.d.e.f.g.h.i.j.k
    quasi = ["age", "a.b.c.d.e.f.g.h.i.j.k"]
    weights.age = 0.5
    bands = {age = [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5]}
    purpose = """e.g. [[[[[[[[[[ for a.b.c.d.e.f.g.h.i.j"""
    [sensitive.illness]
    l = 2
    '''
    assert read_policy_text(text)["bands"]["age"][0] == 0.5


@given(
    st.lists(
        st.sampled_from(
            [
                *".=[]{}\"'#\n\\ ,1a",
                '"""',
                "k",
                "quasi",
                "top",
                "inf",
                "2020-01-01",
                "1e999",
                "12:00:00",
                "policy",
            ]
        ),
        max_size=40,
    ).map("".join)
)
def test_every_text_is_settings_that_json_has_or_refused(text: str) -> None:
    try:
        settings = read_policy_text(text)
    except MahremError:
        return
    assert json.loads(json.dumps(settings, allow_nan=False)) == settings
