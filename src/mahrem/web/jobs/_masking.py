"""Jobs beside a release: cells hidden, values changed, levels chosen privately, risk, the lattice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from mahrem.release.decisions import ReadingSettings
from mahrem.release.folders import mark_release
from mahrem.web._orders import JobOrder, Json
from mahrem.words import Note, Progress

NODES = "nodes.csv"  # in the folder of the job
_JUDGED = 20_000  # nodes of a lattice that are all judged and listed; of a larger one only the best is found
_SHOWN = 25  # of the nodes that hold


def plain_settings(order: JobOrder) -> Json:
    """Give how rows are read where cells are left as they are written: thousands and dates stay out."""
    known = ReadingSettings.__annotations__
    return {name: value for name, value in order.reading.items() if name in known}


def _publish(order: JobOrder, progress: Progress, *, verb: str) -> Json:
    from mahrem import pipeline

    progress(Note("stage.masking"))
    more: dict[str, Any] = dict(order.arguments)
    if "ledger" in more:
        more["ledger"] = order.beside("ledger", more["ledger"])
    folder = order.place / "release"
    settings = {**plain_settings(order), **order.request.settings, **more}
    release = getattr(pipeline, verb)(order.table, output=folder, **settings)
    mark_release(folder, "draft")  # until somebody hands it out
    return {"report": release.report}


def _risk(order: JobOrder, progress: Progress) -> Json:
    from mahrem.pipeline import risk

    progress(Note("stage.masking"))
    settings = {**plain_settings(order), **order.request.settings, **order.arguments}
    return {"report": risk(order.table, **settings).as_dict()}


def _lattice(order: JobOrder, progress: Progress) -> Json:
    from mahrem.pipeline import lattice

    progress(Note("stage.reading"))
    nodes = lattice(order.table, **lattice_settings(order.settings, order.arguments))
    progress(Note("stage.nodes", {"nodes": len(nodes)}))
    listed = len(nodes) <= _JUDGED
    holding = nodes.holding() if listed else [nodes.best()]
    if listed:
        nodes.write(order.place / NODES)
    return {
        "heights": dict(zip(nodes.columns, nodes.heights, strict=True)),
        "objective": nodes.objective,
        "nodes": len(nodes),
        "rows": nodes.rows,
        "listed": listed,
        "holding": len(holding) if listed else None,
        "best": [verdict.as_dict() for verdict in holding[:_SHOWN]],
        "ringed": [*nodes.best().levels.values()] if holding else None,
    }


def lattice_settings(settings: Mapping[str, Any], asked: Mapping[str, Any]) -> Json:
    """Put what nodes are ranked by among the options of the method."""
    return {**settings, "options": {**(settings.get("options") or {}), **asked}}


MASKING_JOBS: Mapping[str, Callable[[JobOrder, Progress], Json]] = {
    **{verb: partial(_publish, verb=verb) for verb in ("suppress", "perturb", "generalize")},
    "risk": _risk,
    "lattice": _lattice,
}
