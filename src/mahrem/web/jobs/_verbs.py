"""What a job does: one verb of the pipeline each, called as the command line calls it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from mahrem import check
from mahrem.errors import InvalidInput
from mahrem.release.decisions import reading_from
from mahrem.release.folders import mark_release
from mahrem.web._errors import Refused
from mahrem.web._orders import JobOrder, Json
from mahrem.web.bodies import USUAL_K, settings_of_step
from mahrem.web.jobs._beside import make_beside
from mahrem.web.jobs._drawn import draw
from mahrem.web.jobs._masking import MASKING_JOBS, plain_settings
from mahrem.web.jobs._spending import SPENDING_JOBS
from mahrem.words import Note, Progress

if TYPE_CHECKING:
    from mahrem.pipeline import Inspection
    from mahrem.release.decisions import Policy
    from mahrem.table import Reading, Source


def perform(order: JobOrder, progress: Progress) -> Json:
    """Do what an order says; gives what goes into ``result.json``."""
    return VERBS[order.verb](order, progress)


def _inspect(order: JobOrder, progress: Progress) -> Json:
    from mahrem.pipeline import inspect
    from mahrem.table import open_source

    progress(Note("stage.reading"))
    opened = open_source(order.table, _plain_reading(order))
    sizes = {"columns": len(opened.columns), "rows": opened.rows}
    most = {"columns": order.limits.columns, "rows": order.limits.rows}
    for what, count in sizes.items():
        if count > most[what]:
            raise Refused(413, f"too_many_{what}", count=count, most=most[what])
    if opened.rows == 0:
        raise InvalidInput("the table has column names but no rows; a table to anonymise has some")
    progress(Note("stage.columns"))
    inspection = inspect(order.table, **order.reading)
    return _with_portraits(inspection, opened)


def _with_portraits(inspection: Inspection, opened: Source) -> Json:
    """Draw the columns that do not name people."""
    from mahrem.pipeline import portray
    from mahrem.release.decisions import policy_from, reading_of
    from mahrem.table import Role

    drawn = [facts.name for facts in inspection.columns if facts.suggested_role is not Role.IDENTIFIER]
    decimal = reading_of(policy_from(None, inspection.reading)).decimal
    table = opened.take(list(dict.fromkeys([*drawn, *([inspection.subject] if inspection.subject else [])])))
    portraits = portray(table, drawn, floor=USUAL_K, subject=inspection.subject, decimal=decimal)
    facts = inspection.as_dict()
    facts["columns"] = [{**one, "portrait": portraits.get(one["name"])} for one in facts["columns"]]
    return facts


def _plain_reading(order: JobOrder) -> Reading:
    return reading_from(plain_settings(order))


def _anonymize(order: JobOrder, progress: Progress) -> Json:
    from mahrem.pipeline import anonymize
    from mahrem.report import Report

    release = anonymize(
        order.table,
        output=order.place / "release",
        target=order.arguments.get("target"),
        progress=progress,
        **order.settings,
    )
    mark_release(order.place / "release", "draft")  # until somebody hands it out: tries of one table are many
    draw(order.place, Report.read(release.report))
    return {"report": release.report}


def _compare(order: JobOrder, progress: Progress) -> Json:
    from mahrem.pipeline import compare
    from mahrem.report import comparison_advice

    settings = {key: value for key, value in order.settings.items() if key != "method"}
    sweep = compare(
        order.table,
        output=order.place / "comparison",
        progress=progress,
        **{**settings, **order.arguments},
    )
    comparison = sweep.as_dict()
    return {**comparison, "advice": list(comparison_advice(comparison))}


def _audit(order: JobOrder, progress: Progress) -> Json:
    from mahrem.pipeline import audit
    from mahrem.release.decisions import release_settings
    from mahrem.report import Report

    known = release_settings()
    kept = {
        key: value
        for key, value in order.settings.items()
        if key in _AUDITED or known[key].group in {"promises", "reading", "database"}
    }
    audited = audit(
        order.table,
        threshold=order.arguments.get("threshold", 0.2),
        memory=order.limits.memory // 2,
        progress=progress,
        **kept,
    )
    draw(order.place, Report.read(audited.report))
    return {"report": audited.report}


_AUDITED = (
    "quasi",
    "sensitive",
    "hierarchy",
    "bounds",
    "cells",
    "strategy",
)  # and all that is promised and read


def _attack(order: JobOrder, progress: Progress) -> Json:
    from mahrem.pipeline import attack
    from mahrem.report import Report, ReportColumn, ReportTeam

    release = order.beside("job", order.arguments["release"]) / "release"
    trials = order.arguments.get("trials", 1000)
    attacked = attack(release, original=order.table, trials=trials, progress=progress)
    columns = {name: ReportColumn(role="quasi") for name in attacked.report["quasi"]}
    draw(order.place, Report(columns=columns, red_team=ReportTeam.read(attacked.report)))
    return {"report": attacked.report, "release": order.arguments["release"]}


def _estimate(order: JobOrder, progress: Progress) -> Json:
    from mahrem.pipeline import dry_run

    return {"report": dry_run(order.table, progress=progress, **order.settings).report}


def _hierarchy(order: JobOrder, progress: Progress) -> Json:
    from mahrem.pipeline import check_hierarchy, make_hierarchy

    progress(Note("stage.grouping"))
    tree = make_hierarchy(order.table, **order.arguments, **order.settings)
    tree.write(order.beside("hierarchy").with_suffix(".csv"))
    return {"facts": asdict(check_hierarchy(tree))}


def _ledger(order: JobOrder, progress: Progress) -> Json:
    from mahrem.dp import Ledger

    progress(Note("stage.budget"))
    reading = _plain_reading(order)
    ledger = Ledger.create(order.beside("ledger"), order.table, reading=reading, **order.arguments)
    return {"sheet": ledger.data_sheet()}


def _query(order: JobOrder, progress: Progress) -> Json:
    from mahrem.pipeline import query

    progress(Note("stage.answering"))
    arguments = {**order.arguments, **plain_settings(order)}
    ledger = order.beside("ledger", arguments.pop("ledger"))
    return query(order.table, arguments.pop("question"), ledger=ledger, **arguments).as_dict()


def _trial(order: JobOrder, progress: Progress) -> Json:
    from mahrem.pipeline import Explorer

    progress(Note("stage.reading"))
    explorer = Explorer(order.table, most=None, **order.reading)
    progress(Note("stage.trying", {"size": explorer.rows, "rows": explorer.rows}))
    return {"trial": explorer.attempt(**order.request.settings).as_dict()}


def _policy(order: JobOrder, progress: Progress) -> Json:
    """Say what a policy does with each column, and decide about those that it only describes."""
    from mahrem.pipeline import column_decisions
    from mahrem.release import decided
    from mahrem.release.decisions import policy_from, reading_of, roles_of
    from mahrem.table import open_source

    progress(Note("stage.columns"))
    ready, given = order.arguments["ready"] or None, order.arguments["settings"]
    alone = policy_from(ready, given)
    _refuse_other_reading(alone, policy_from(None, order.reading))
    settings = {**given, **order.reading, "region": alone.region or order.reading.get("region")}
    policy = policy_from(ready, settings)
    source = open_source(order.table, reading_of(policy))
    whole = decided(policy, source)
    check.columns_exist(whole.named(), source.columns)
    if whole.quasi:  # what is said of columns acts on them, as in a release
        roles_of(source.columns, replace(whole, rest=whole.rest or "drop"))
    lines = column_decisions(order.table, policy=ready, **settings)
    kept = {name: value for name, value in given.items() if name in settings_of_step("promises")}
    return {
        "ready": order.arguments["ready"],
        "source": order.request.source,
        "decided": {**kept, **whole.public()},
        "speaks": bool(whole.named() or whole.rest),
        "columns": [
            {"name": name, "becomes": becomes.as_dict(), "why": why.as_dict()} for name, becomes, why in lines
        ],
    }


def _refuse_other_reading(policy: Policy, page: Policy) -> None:
    """Refuse a policy that reads the table in another way; a region changes no row, so it is taken."""
    known = settings_of_step("reading")
    others = [
        name
        for name in known
        if name != "region" and getattr(policy, name) not in (known[name].default, (), getattr(page, name))
    ]
    if others:
        raise Refused(422, "policy_reads_otherwise", names=", ".join(others))


VERBS: Mapping[str, Callable[[JobOrder, Progress], Json]] = {
    "inspect": _inspect,
    "anonymize": _anonymize,
    "compare": _compare,
    "audit": _audit,
    "attack": _attack,
    "estimate": _estimate,
    "hierarchy": _hierarchy,
    "ledger": _ledger,
    "query": _query,
    "trial": _trial,
    "policy": _policy,
    "beside": make_beside,
    **MASKING_JOBS,
    **SPENDING_JOBS,
}
