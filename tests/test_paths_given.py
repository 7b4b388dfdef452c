"""What is given for a path and is none is refused by its name, before any table is blamed for it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator

import pandas as pd
import pytest

import mahrem as mh
from mahrem import federated
from mahrem.errors import InvalidParameter

NO_PATHS = (pd.DataFrame({"age": [1]}), 5, b"folder", ["folder"])


def verbs() -> Iterator[tuple[str, Callable[..., object]]]:
    """Give every public function and class method that people call."""
    for room in (mh, federated):
        for name in room.__all__:
            offered = getattr(room, name)
            if inspect.isfunction(offered):
                yield name, offered
    for name in ("create", "open", "of"):
        yield f"Ledger.{name}", getattr(mh.Ledger, name)


def paths_taken() -> Iterator[tuple[str, Callable[..., object], str]]:
    """Give the parameters that take a path, or a path and an object of ours."""
    for name, verb in verbs():
        guarded = hasattr(verb, "__wrapped__")
        for parameter in inspect.signature(verb).parameters.values():
            kinds = str(parameter.annotation).split(" | ")
            if guarded and "Path" in kinds and all(kind.isidentifier() for kind in kinds):
                yield name, verb, parameter.name


TAKEN = list(paths_taken())


def test_most_verbs_take_a_path() -> None:
    assert len(TAKEN) >= 20


@pytest.mark.parametrize(
    ("verb", "path"), [entry[1:] for entry in TAKEN], ids=[f"{name}-{path}" for name, _, path in TAKEN]
)
def test_what_is_no_path_is_refused_by_name(verb: Callable[..., object], path: str) -> None:
    required = [
        parameter.name
        for parameter in inspect.signature(verb).parameters.values()
        if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD
    ]
    for value in NO_PATHS:
        # Nothing else is looked at before: other arguments are paths, whatever they should be.
        given = {**dict.fromkeys(required, "no-such-path"), path: value}
        with pytest.raises(InvalidParameter, match=rf"^{path} must be a path.*not {type(value).__name__}$"):
            verb(**given)


def test_places_count_as_names_do() -> None:
    with pytest.raises(InvalidParameter, match=r"^recipe must be a path, not DataFrame$"):
        mh.apply(NO_PATHS[0], "release")  # type: ignore[arg-type]
