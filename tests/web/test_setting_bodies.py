"""Settings as requests and forms say them: whatever is sent is read, or refused in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import MahremError
from mahrem.learning.synthesis import SynthesisSettings
from mahrem.learning.training import TrainingSettings
from mahrem.settings import Setting, read_setting, settings_of
from mahrem.web.bodies._fields import read_field
from mahrem.web.bodies._masking_bodies import WISHES, settings_of_mask
from mahrem.web.bodies.spending import SPENDING, only_typed, settings_of_spending

SPECS: Mapping[str, Mapping[str, Setting]] = {
    **{verb: settings_of_mask(verb) for verb in WISHES},
    **{verb: settings_of_spending(verb) for verb in SPENDING},
}
SENT = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
TYPED = st.text(max_size=20) | st.from_regex(r"\A[a-z]{1,3}=[a-z0-9.:,]{1,8}(\n[a-z]=[0-9]{1,2})?\Z")


def outcome(known: Setting, read: Callable[[], object]) -> str:
    """Read something; a refusal names the setting, as calls or as options do."""
    try:
        return repr(read())  # as text: what is no number is not itself
    except MahremError as error:
        said = str(error)
    typed = known.option.strip("-").replace("-", "_")
    assert known.name in said or typed in said
    return said


@pytest.mark.parametrize("verb", SPECS)
@settings(max_examples=150, deadline=None)
@given(value=SENT)
def test_what_a_request_says_of_a_setting_is_read_or_refused_by_its_name(verb: str, value: object) -> None:
    for known in SPECS[verb].values():
        read = partial(read_setting, known, value)
        assert outcome(known, read) == outcome(known, read)


@pytest.mark.parametrize("verb", SPECS)
@settings(max_examples=150, deadline=None)
@given(text=TYPED)
def test_what_a_form_says_of_a_setting_is_read_or_refused_by_its_name(verb: str, text: str) -> None:
    def typed(known: Setting) -> object:
        return read_setting(known, read_field(known, text))

    for known in SPECS[verb].values():
        assert outcome(known, partial(typed, known)) == outcome(known, partial(typed, known))


def test_lines_of_a_form_mean_what_repeated_options_mean() -> None:
    typed = {
        "kinds": ("age=whole\ncost=number", {"age": "whole", "cost": "number"}),
        "dates": ("born=1920-01-01:2020-12-31", {"born": ("1920-01-01", "2020-12-31")}),
        "cells": ("age=10\ncost=0,10,100", {"age": 10, "cost": [0.0, 10.0, 100.0]}),
        "constraints": ("a <= b\nnever sex=m and ill=yes", ["a <= b", "never sex=m and ill=yes"]),
        "options": ("width=2\nhidden=64,32", {"width": 2, "hidden": [64, 32]}),
        "given": ("sex=f\nage=18:65", {"sex": "f", "age": (18, 65)}),
        "columns": ('age, "income, net"', ["age", "income, net"]),
    }
    known = settings_of_spending("synthesize")
    assert {name: read_field(known[name], text) for name, (text, _) in typed.items()} == {
        name: wanted for name, (_, wanted) in typed.items()
    }
    search = read_field(settings_of_spending("train")["search"], "learning_rate=0.1,0.3\nhidden=64x32,16")
    assert search == {"learning_rate": [0.1, 0.3], "hidden": [[64, 32], [16]]}


def test_the_command_line_alone_takes_files_of_this_machine_and_what_is_not_paid_for() -> None:
    assert only_typed("synthesize") == ("quality", "holdout")
    assert only_typed("train") == ("warm_start", "device", "checkpoint", "evaluate_openly")
    for verb, spec in (("synthesize", SynthesisSettings), ("train", TrainingSettings)):
        assert {*settings_of(spec)} == {*only_typed(verb), *settings_of_spending(verb)} - (
            {"epsilon", "delta"} - {*settings_of(spec)}
        )
