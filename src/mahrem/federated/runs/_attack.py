"""What would somebody find out from the run folder of a federation?"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from mahrem import check
from mahrem.attacks import Finding, not_done
from mahrem.attacks.on_models import Examples
from mahrem.errors import InvalidInput, InvalidParameter, either, spelled
from mahrem.federated.runs._attack_rules import accuracy_of_rules, members_of_rules, read_rules, target_of
from mahrem.federated.runs._folder import CHECKPOINT, STATE
from mahrem.federated.runs._split import rows_apart
from mahrem.federated.weights import ImitatedNetwork, SharedModel, figures_of
from mahrem.learning.classifiers import DeclaredWords
from mahrem.pipeline import RedTeam, attack_model
from mahrem.table import Reading, open_source
from mahrem.types import Floats
from mahrem.words import Note

ROUNDED = 2e-6  # figures of a run are told to six places
Tables: TypeAlias = tuple[pl.DataFrame, pl.DataFrame]  # of the clients, of nobody


def is_run(folder: object) -> bool:
    """Say whether this is a folder that ``federate simulate`` or ``federate run`` wrote."""
    if not isinstance(folder, str | Path) or not (Path(folder) / STATE).is_file():
        return False
    return any((Path(folder) / name).is_file() for name in (CHECKPOINT, "model.npz", "model.json"))


def attack_run(
    folder: str | Path,
    *,
    members: object | None = None,
    holdout: object | None = None,
    shadows: int = 0,
    reading: Reading | None = None,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> RedTeam:
    """Attack what a federation left in its run folder, and say what cannot be attacked from there.

    Args:
        folder: The run folder, also of a run that did not finish: then its last checkpoint is attacked.
        members: Rows of the clients, or of one of them, as they were before they were anonymised. Of a
            simulation the whole table it shared out, without a hold-out.
        holdout: Rows of the same population that nobody trained on. Of a simulation by default those that it
            kept to judge by, which are found again by its seed.
        shadows: For networks: train so many of the same form and attack with them too.
        reading: How to read the tables.
        seed: Of all draws.
        progress: Called with a sentence now and then.

    Guarantees:
        - Nothing in the folder is changed, and nothing is spent.
        - Findings hold figures, never a person and never a value.

    Raises:
        InvalidInput: If the folder holds no model that can be read, or the tables do not fit it.
        InvalidParameter: If one of the two tables is given without the other and it was no simulation.
    """
    began = time.perf_counter()
    check.at_least(0, shadows=check.whole(shadows=shadows))
    home = Path(folder)
    tables = _tables(home, members, holdout, reading)
    if any((home / name).is_file() for name in (CHECKPOINT, "model.npz")):
        findings, report = _weights(home, tables, shadows=shadows, seed=seed, progress=progress)
    else:
        findings, report = _rules(home, tables, shadows=shadows)
    report |= {"source": home.name, "run": {**_about(home), **report["run"]}}
    report |= {
        "findings": [finding.as_dict() for finding in findings],
        "alarming": sum(finding.alarming for finding in findings),
    }
    report["seconds"] = round(time.perf_counter() - began, 3)
    return RedTeam(report=report, findings=findings)


def _about(home: Path) -> dict[str, Any]:
    """Say how far the run came; a state that cannot be read is no reason not to attack the model."""
    try:
        state = str(json.loads((home / STATE).read_text(encoding="utf-8"))["state"])
    except (OSError, ValueError, KeyError, TypeError):
        state = "unknown"
    try:
        clients = len(json.loads((home / "summary.json").read_text(encoding="utf-8"))["clients"])
    except (OSError, ValueError, KeyError, TypeError):  # a run that did not finish has none
        return {"state": state, "clients": None}
    return {"state": state, "clients": clients}


def _tables(
    home: Path, members: object | None, holdout: object | None, reading: Reading | None
) -> Tables | None:
    """Read rows of the clients and of nobody; a simulation's one table is parted as it was then."""
    if members is None and holdout is None:
        return None
    if members is None:
        raise InvalidParameter(
            f"{spelled('holdout')}: rows of the clients are needed beside it, {_members()}"
        )
    inside = _table(members, reading)
    return (inside, _table(holdout, reading)) if holdout is not None else _parted(home, inside)


def _drawn(home: Path) -> dict[str, Any]:
    """Give what a simulation wrote down about its table; nothing of a run that was none."""
    try:
        drawn = json.loads((home / "summary.json").read_text(encoding="utf-8")).get("simulated")
    except (OSError, ValueError, AttributeError):  # a run that did not finish has none
        return {}
    return drawn if isinstance(drawn, dict) else {}


def _wanting(home: Path) -> Note:
    options = {"members": _members(), "holdout": spelled("holdout")}
    return Note("skipped.simulated_rows" if _drawn(home) else "skipped.run_rows", options)


def _members() -> str:
    return either("members", "--original")


def _parted(home: Path, whole: pl.DataFrame) -> Tables:
    """Part a table as a simulation did; its draw depends on its seed and the number of rows alone."""
    try:
        summary = json.loads((home / "summary.json").read_text(encoding="utf-8"))
        drawn, learnt = summary["simulated"], _rows_learnt(summary)
        target, rows, kept = drawn["target"], drawn["rows"], drawn["test_rows"]
    except (OSError, ValueError, KeyError, TypeError):
        raise InvalidParameter(
            f"{_members()}: rows that nobody trained on are needed beside it, {spelled('holdout')}; only a "
            "simulation of a common model or of rules that finished knows its own"
        ) from None
    if not kept:
        raise InvalidParameter(
            f"{_members()}: this run kept no rows to judge by ({spelled('test', 0)}); "
            f"give {spelled('holdout')} too"
        )
    check.columns_exist([target], whole.columns)
    whole = whole.filter(pl.col(target).is_not_null())  # as it did, before the draw
    inside, outside = rows_apart(whole, kept, drawn["seed"])
    vetting = drawn.get("server_rows", 0)
    inside, _ = rows_apart(inside, vetting, [drawn["seed"], 1])
    fits = whole.height == rows == learnt + kept + vetting
    if not fits or not _judges_alike(home, outside, summary):
        raise InvalidInput(
            f"{_members()} has {whole.height} rows with a class: the clients learnt from {learnt} and {kept} "
            f"were kept, and this is not the table they were taken from, or not all of it was used; give "
            f"rows of the clients and {spelled('holdout')}"
        )
    return inside, outside


def _judges_alike(home: Path, kept: pl.DataFrame, summary: Mapping[str, Any]) -> bool:
    """Say whether the model reaches on these rows what it reached on those that were kept."""
    if "rules" in summary:
        reached = accuracy_of_rules(read_rules(home), summary["simulated"]["target"], kept)
        return abs(reached - float(summary["accuracy"])) < ROUNDED
    shared = SharedModel.load(home)
    rows, labels = shared.schema.rows(kept)
    again = figures_of(labels, shared.scores_of_rows(rows))
    figures = summary["simulated"].get("figures", summary["figures"])  # peers' models may be a mean
    return all(abs(again[name] - figures[name]) < ROUNDED for name in again if name in figures)


def _rows_learnt(summary: Mapping[str, Any]) -> int:
    """Count the rows that clients took part with, before they anonymised."""
    if "rules" in summary:
        return int(summary["rows"])
    drawn = summary["simulated"]
    return int(drawn["rows"] - drawn["test_rows"] if "shape" in summary else drawn["learnt_rows"])


def _table(source: object, reading: Reading | None) -> pl.DataFrame:
    opened = open_source(source, reading)
    return opened.take(opened.columns)


def _weights(
    home: Path,
    tables: Tables | None,
    *,
    shadows: int,
    seed: int,
    progress: Callable[[str], None] | None,
) -> tuple[tuple[Finding, ...], dict[str, Any]]:
    """Attack a network or trees, which take rows as the schema encodes them."""
    shared = SharedModel.load(home)
    plan, cost = shared.plan, shared.cost_
    if shadows and plan.kind.trees:
        raise InvalidParameter(f"shadows={shadows}: they are networks, and this run learnt trees")
    claimed = None if cost is None else {"epsilon": cost[0], "delta": cost[1]}
    report: dict[str, Any] = {"claimed": claimed, "members": 0, "holdout": 0}
    findings: tuple[Finding, ...] = (not_done("membership by loss", _wanting(home)),)
    if tables is not None:
        inside, outside = (Examples(*shared.schema.rows(frame)) for frame in tables)
        done = attack_model(
            shared,
            members=inside,
            holdout=outside,
            shadows=shadows,
            make=lambda number: ImitatedNetwork(shared, number),
            attributes=_attributes(shared),
            seed=seed,
            progress=progress,
        )
        findings, report = done.findings, dict(done.report)
    why = Note("skipped.parts_seen" if plan.sum == "plain" else "skipped.parts_hidden")
    findings += tuple(not_done(name, why) for name in ("membership by updates", "gradient inversion"))
    return findings, {**report, "run": {"model": plan.model, "rounds": shared.rounds, "plan": plan.as_dict()}}


def _attributes(shared: SharedModel) -> dict[str, tuple[range, Floats]]:
    """Give the columns of words: a place for each value, the last one for what is missing."""
    places, start = {}, 0
    for name, column in shared.schema.columns.items():
        if isinstance(column, DeclaredWords) and len(column.values) > 1:
            places[name] = (range(start, start + column.width), np.eye(column.width)[: len(column.values)])
        start += column.width
    return places


def _rules(home: Path, tables: Tables | None, *, shadows: int) -> tuple[tuple[Finding, ...], dict[str, Any]]:
    """Attack a list of rules, which takes cells; numbers are cut where the rules say."""
    model = read_rules(home)
    if shadows:
        raise InvalidParameter(f"shadows={shadows}: they are networks, and this run learnt rules")
    report: dict[str, Any] = {"claimed": None, "run": {"model": "rules", "rules": len(model)}}
    sizes = (0, 0) if tables is None else (tables[0].height, tables[1].height)
    report |= {"members": sizes[0], "holdout": sizes[1]}
    first: Finding = not_done("membership by loss", _wanting(home))
    if tables is not None:
        target = _drawn(home).get("target") or target_of(model, tables[0])
        first = members_of_rules(model, target, *tables)
    others = ("lira", "attribute inference", "model inversion", "gradient inversion")
    return (first, *(not_done(name, Note("skipped.no_gradient")) for name in others)), report
