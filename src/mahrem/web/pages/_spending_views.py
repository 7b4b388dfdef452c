"""From a project to the pages of verbs that a budget pays; nothing here changes anything."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from mahrem.web._house import House
from mahrem.web._language import LOOK
from mahrem.web._orders import Json
from mahrem.web.api import read_ledger
from mahrem.web.bodies import ErrorDetail, FormField, Job, Project, form_fields
from mahrem.web.bodies.spending import only_typed, settings_of_spending
from mahrem.web.pages._spending_contexts import ErrorLine, SpendingPlan, SpendPage
from mahrem.web.pages._views import result_of_verb, shell_of
from mahrem.words import Catalogue, Note, load_catalogue

# What is asked first; the rest stands under headings.
_FIRST: Mapping[str, tuple[str, ...]] = {
    "synthesize": ("epsilon", "delta", "method", "target", "rows"),
    "train": ("epsilon", "target", "model", "how", "holdout", "evaluate_epsilon"),
}
Figures = Iterator[tuple[str, str]]


def spend_page(
    house: House,
    project: Project,
    verb: str,
    typed: Mapping[str, str] | None = None,
    message: ErrorDetail | None = None,
) -> SpendPage:
    """Show one verb; ``typed`` is what a form said that was refused."""
    texts = load_catalogue(LOOK.get().language)
    ledger = read_ledger(house, project) if "ledger" in project.jobs else None
    planned = result_of_verb(house, project, f"plan_{verb}")
    result = result_of_verb(house, project, verb)
    report = None if result is None else result["report"]
    values = typed if typed is not None else (planned or {}).get("typed") or None
    fields = [] if ledger is None else _fields(verb, values, ledger["sheet"], texts)
    return SpendPage(
        shell=replace(shell_of(project, "queries", message), title=verb),
        verb=verb,
        sheet=None if ledger is None else ledger["sheet"],
        gain=None if ledger is None else ledger["gain"],
        columns=[column["name"] for column in (project.profile or {"columns": []})["columns"]],
        ledger_job=_unless_done(house, project, "ledger"),
        seen=0 if ledger is None else len(ledger["history"]),
        first=[field for field in fields if field.setting in _FIRST[verb]],
        more=_under_headings(verb, fields, texts),
        elsewhere=[(name, texts.say(f"page.paid.elsewhere.{name}")) for name in only_typed(verb)],
        plan_job=_unless_done(house, project, f"plan_{verb}"),
        plan=_plan(project.jobs[f"plan_{verb}"], verb, planned["plan"], texts)
        if planned is not None and ledger is not None and _is_current(planned["plan"], ledger["sheet"])
        else None,
        job=house.queue.last(project.id, verb),
        figures=[] if report is None else list(_FIGURES[verb](report, texts)),
        notes=[] if result is None else _notes(verb, result, texts),
        guarantee="" if report is None else (report.get("synthesis") or report)["guarantee"],
        files=[] if report is None else [path.name for path in house.release_files(project, verb)],
        reported=report is not None and _is_reported(house, project, verb),
    )


def _unless_done(house: House, project: Project, verb: str) -> Job | None:
    job = house.queue.last(project.id, verb)
    return None if job is None or job.state == "done" else job


def _is_current(plan: Json, sheet: Json) -> bool:
    """Say whether nothing was spent since a plan was made."""
    return math.isclose(plan["remaining"]["epsilon"], sheet["remaining"]["epsilon"], abs_tol=1e-9)


def _is_reported(house: House, project: Project, verb: str) -> bool:
    return any(path.name == "report.html" for path in house.release_files(project, verb))


def _fields(verb: str, typed: Mapping[str, str] | None, sheet: Json, texts: Catalogue) -> list[FormField]:
    settings = settings_of_spending(verb)
    usual = {name: known.default for name, known in settings.items() if known.default not in ((), {})}
    usual |= {"epsilon": min(1.0, sheet["remaining"]["epsilon"])}
    if "language" in settings:
        usual["language"] = LOOK.get().language
    declared = tuple(sheet["public"]["columns"])
    values = usual if typed is None else typed
    fields = form_fields(settings.values(), values, texts, words=verb, more_choices={"target": declared})
    none = ("", texts.say("page.masked.none"))
    return [
        replace(field, choices=[none, *field.choices[1:]]) if field.setting == "target" else field
        for field in fields
    ]


def _under_headings(verb: str, fields: list[FormField], texts: Catalogue) -> Mapping[str, list[FormField]]:
    groups: dict[str, list[FormField]] = {}
    for field in fields:
        if field.setting not in _FIRST[verb]:
            group = settings_of_spending(verb)[field.setting].group
            groups.setdefault(texts.say(f"setting_group.{group}"), []).append(field)
    return groups


def _plan(job: str, verb: str, plan: Json, texts: Catalogue) -> SpendingPlan:
    unit = "rows" if verb == "synthesize" else "score"
    known = [one for one in plan["errors"] if one["error"] is not None]
    most = max((one["error"] for one in known), default=1.0) or 1.0
    asked = plan["epsilon"] if verb == "synthesize" else plan["score_epsilon"]
    about = f"page.paid.error_{unit}" if plan["errors"] else f"page.paid.unknown_{unit}"
    return SpendingPlan(
        job=job,
        epsilon=texts.number(plan["epsilon"] + (plan.get("score_epsilon") or 0.0), 4),
        fits=plan["fits"],
        figures=list(_PLANS[verb](plan, texts)),
        about=texts.say(about, confidence=texts.percent(plan["confidence"])),
        errors=[
            ErrorLine(
                epsilon=texts.number(one["epsilon"], 4),
                error=_error(one, unit, texts),
                share=1.0 if one["error"] is None else one["error"] / most,
                asked=one["epsilon"] == asked,
            )
            for one in plan["errors"]
        ],
    )


def _error(one: Json, unit: str, texts: Catalogue) -> str:
    if one["error"] is None:
        return texts.say("page.paid.hidden")
    if unit == "score":
        return texts.percent(one["error"])
    rows = texts.say("page.paid.off_rows", rows=texts.number(one["error"]))
    return rows if one["share"] is None else f"{rows} ({texts.percent(one['share'])})"


def _synthesis_plan(plan: Json, texts: Catalogue) -> Figures:
    yield texts.say("page.paid.method"), plan["method"]
    yield texts.say("page.paid.columns"), ", ".join(plan["columns"])
    if plan["left_out"]:
        yield texts.say("page.paid.left_out"), ", ".join(plan["left_out"])
    yield texts.say("page.paid.cost"), _cost(plan, texts)
    yield texts.say("page.masked.left"), f"ε = {texts.number(plan['remaining']['epsilon'], 4)}"


def _training_plan(plan: Json, texts: Catalogue) -> Figures:
    yield from _model_figures(plan, texts)
    if plan["score_epsilon"] is not None:
        yield texts.say("page.paid.score_cost"), f"ε = {texts.number(plan['score_epsilon'], 4)}"
    yield texts.say("page.masked.left"), f"ε = {texts.number(plan['remaining']['epsilon'], 4)}"


def _model_figures(report: Json, texts: Catalogue) -> Figures:
    how = "" if report["how"] == "gradients" else f" ({report['how']})"
    yield texts.say("page.paid.model"), report["model"] + how
    if report["target"] is not None:
        yield texts.say("page.paid.target"), report["target"]
    yield texts.say("page.paid.features"), ", ".join(report["features"])
    yield texts.say("page.paid.cost"), _cost(report, texts)
    plan = report["plan"] or {}
    for name in ("steps", "rounds"):
        if name in plan:
            yield texts.say(f"page.paid.{name}"), texts.number(plan[name])
    if "noise_multiplier" in plan:
        yield texts.say("page.paid.noise"), f"{plan['noise']}, {texts.number(plan['noise_multiplier'], 4)}"


def _cost(report: Json, texts: Catalogue) -> str:
    return f"ε = {texts.number(report['epsilon'], 4)}, δ = {report['delta']:g}"


def _synthesis_figures(report: Json, texts: Catalogue) -> Figures:
    yield texts.say("page.paid.rows"), texts.number(report["rows"])
    yield texts.say("page.paid.columns"), ", ".join(report["columns"])
    if report["synthesis"]["left_out"]:
        yield texts.say("page.paid.left_out"), ", ".join(report["synthesis"]["left_out"])
    yield texts.say("page.paid.method"), report["method"]
    yield texts.say("page.masked.spent"), _cost(report["synthesis"], texts)
    left = report["privacy_ledger"]["remaining"]["epsilon"]
    yield texts.say("page.masked.left"), f"ε = {texts.number(left, 4)}"


def _training_figures(report: Json, texts: Catalogue) -> Figures:
    yield from _model_figures(report, texts)
    if report["chosen"]:
        chosen = ", ".join(f"{name}={value}" for name, value in report["chosen"].items())
        yield texts.say("page.paid.chosen"), chosen
    measured = report.get("metrics")
    if measured is not None and measured["value"] is not None:
        seen = f"{texts.percent(measured['value'])} ± {texts.percent(measured['error'])}"
        value = seen if measured["error"] < 1 else texts.say("page.paid.hidden_score")
        yield texts.say(f"page.paid.{measured['metric']}"), value
    if report["audit"] is not None:
        audit = report["audit"]
        yield (
            texts.say("page.paid.audited", sure=texts.percent(audit["confidence"])),
            f"ε ≥ {texts.number(audit['epsilon'], 4)}",
        )
    yield texts.say("page.masked.left"), f"ε = {texts.number(report['remaining']['epsilon'], 4)}"


_PLANS: Mapping[str, Callable[[Json, Catalogue], Figures]] = {
    "synthesize": _synthesis_plan,
    "train": _training_plan,
}
_FIGURES: Mapping[str, Callable[[Json, Catalogue], Figures]] = {
    "synthesize": _synthesis_figures,
    "train": _training_figures,
}


def _notes(verb: str, result: Json, texts: Catalogue) -> list[str]:
    """Give what must be known beside the figures."""
    noted = zip(result["privacy_notes"], result["privacy_warnings"], strict=True)
    own = [texts.tell(Note.read(note, text)) for note, text in noted]
    return [texts.say(f"page.paid.promise_{verb}"), *own]
