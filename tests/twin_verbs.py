"""What other verbs say of twins: tries, hidden cells, lattices, risks, looks, warnings and refusals."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import pytest

import mahrem as mh
from from_disk import from_disk
from hidden_things import Twins
from mahrem.cli._app import _run
from mahrem.errors import MahremError
from mahrem.pipeline import Explorer

ROLES = ("quasi", "sensitive", "identifier", "insensitive", "rest", "k")
LEVELS = (*ROLES, "l", "top", "bottom", "missing", "suppression_limit")
FACTS_OF_A_RUN = {"seconds", "created"}
Said = tuple[object, object]  # what was published, and what was said beside it


def through_verbs(twins: Twins) -> tuple[str, str | None]:
    """Put both through every verb that fits what is hidden between them."""
    same = 0
    for name, verb in _verbs(twins):
        one, other = (_tried(verb, table) for table in (twins.first, twins.second))
        if _shown(one[0]) != _shown(other[0]):
            continue
        same += 1
        if repr(one[1]) != repr(other[1]):
            return "differs", f"{name}: {_first_apart(repr(one[1]), repr(other[1]))}"
    return ("same", None) if same else ("other table", None)


def _verbs(twins: Twins) -> Iterator[tuple[str, Callable[[pl.DataFrame], Said]]]:
    said = twins.settings
    yield "anonymize", lambda table: _released(table, said)
    if twins.how in {"silent", "identified", "called"}:
        yield "from disk", lambda table: _from_disk(table, said)
    yield "explorer", lambda table: _explored(table, said, twins.how)
    roles = {name: said[name] for name in ROLES}
    yield "suppress", lambda table: _masked(mh.suppress(table, **roles))
    if twins.how == "identified":  # the other kinds change what is changed by chance
        steps = {"age": "noise:share=0.3", "town": "pram:keep=0.8"}
        kept = {**roles, "quasi": ["age", "town"], "steps": steps, "seed": 3}
        kept.pop("k")
        yield "perturb", lambda table: _masked(mh.perturb(table, **kept))
    if twins.how in {"turned", "identified", "beyond"}:  # the others change what the lattice is made of
        yield "lattice", lambda table: _lattice(table, {key: said[key] for key in LEVELS if key in said})
    if twins.how in {"turned", "identified"}:
        yield "risk", lambda table: (None, mh.risk(table, quasi=said["quasi"]))
    if twins.how == "turned":
        yield "inspect", _inspected


def _tried(verb: Callable[[pl.DataFrame], Said], table: pl.DataFrame) -> Said:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            shown, beside = verb(table)
        except MahremError as error:
            return None, _chain(error)
    return shown, (beside, sorted(str(one.message) for one in heard))


def _chain(error: BaseException | None) -> list[str]:
    """Give an error with all that it hangs on, as a traceback would print it."""
    said = []
    while error is not None:
        said.append(f"{type(error).__name__}: {error}")
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return said


def _shown(table: object) -> object:
    return None if table is None else pl.DataFrame(table).sort(pl.all()).rows()


def _released(table: pl.DataFrame, settings: Mapping[str, Any]) -> Said:
    release = mh.anonymize(table, html=False, **settings)
    return release.table, (release, release._repr_html_(), _lasting(release.report))


def _from_disk(table: pl.DataFrame, settings: Mapping[str, Any]) -> Said:
    with TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        patch.setenv("MAHREM_STATE", str(Path(place) / "state"))  # nobody was released before
        source, folder = Path(place) / "table.parquet", Path(place) / "release"
        table.write_parquet(source)
        method = {
            "method": "mondrian",
            "minimality_safe": False,
            "format": "csv",
            "missing": "category",
            "cells": "text",
        }
        release = from_disk(source, folder, 20, **{**settings, **method, "suppression_limit": 0.0})
        return release.table.collect(), _lasting(release.report)


def _explored(table: pl.DataFrame, settings: Mapping[str, Any], how: str) -> Said:
    """Try settings; what would be published decides whether twins are compared."""
    asked = {key: value for key, value in settings.items() if key not in {"format", "null"}}
    reading = {key: settings[key] for key in ("null",) if key in settings}
    release = mh.anonymize(table, html=False, **asked, **reading)
    trial = Explorer(table, **reading).attempt(**asked).as_dict()
    # How many rows a file has is known to whoever gives it; who stood alone before is told in crowds of k,
    # which those who were moved within their cells may tip.
    known = {"rows", "tried", *(["alone"] if how in {"within", "letters", "leaves"} else [])}
    columns = trial["columns"]
    if how in {"letters", "leaves"}:  # what a crowd of k has is told to whoever tries, as it was given
        columns = {name: {**told, "examples": ()} for name, told in columns.items()}
    told_of = {**_lasting(trial), "columns": columns}
    return release.table, {key: value for key, value in told_of.items() if key not in known}


def _masked(release: Any) -> Said:
    return release.table, (release, _lasting(release.report))


def _lattice(table: pl.DataFrame, settings: Mapping[str, Any]) -> Said:
    return None, [str(node) for _, node in zip(range(60), mh.lattice(table, **settings), strict=False)]


def _inspected(table: pl.DataFrame) -> Said:
    said = []
    with TemporaryDirectory() as folder:
        table.write_csv(Path(folder) / "table.csv")
        for form in ((), ("--json",)):
            out, err = io.StringIO(), io.StringIO()
            with redirect_stdout(out), redirect_stderr(err):
                code = _run(["inspect", f"{folder}/table.csv", *form])
            said.append((code, *(text.getvalue().replace(folder, "") for text in (out, err))))
    return None, said


def _lasting(report: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in report.items() if key not in FACTS_OF_A_RUN}


def _first_apart(one: str, other: str) -> str:
    place = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
    return f"{one[max(place - 80, 0) : place + 120]} | {other[max(place - 80, 0) : place + 120]}"
