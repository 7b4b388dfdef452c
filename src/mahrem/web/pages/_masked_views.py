"""From a project to the pages of verbs beside a release; nothing here changes anything."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from mahrem.errors import MahremError
from mahrem.web._errors import refusal_of
from mahrem.web._explore import judge_node
from mahrem.web._forms import read_levels
from mahrem.web._house import House
from mahrem.web._language import LOOK
from mahrem.web._orders import Json
from mahrem.web.bodies import (
    PUBLISHING,
    WISHES,
    ErrorDetail,
    FormField,
    Project,
    ReleasePromises,
    form_fields,
    label_of,
    settings_of_mask,
)
from mahrem.web.jobs import NODES
from mahrem.web.pages._contexts import Shell
from mahrem.web.pages._lattice_picture import LatticePicture, draw_lattice
from mahrem.web.pages._masked_contexts import LatticePage, MaskedPage, NodeLine, OtherPage
from mahrem.web.pages._views import is_old, result_of_verb, shell_of
from mahrem.web.projects import decided_elsewhere, mask_settings_of
from mahrem.words import Catalogue, Note, load_catalogue

_COLUMNS = frozenset({"weight", "household"})  # settings that name a column
Figures = Iterator[tuple[str, str]]


def other_page(house: House, project: Project, message: ErrorDetail | None = None) -> OtherPage:  # noqa: ARG001
    """Show what else can be made of a table."""
    return OtherPage(shell=shell_of(project, "other", message), verbs=tuple(WISHES))


def masked_page(
    house: House,
    project: Project,
    verb: str,
    typed: Mapping[str, str] | None = None,
    message: ErrorDetail | None = None,
) -> MaskedPage:
    """Show one verb; ``typed`` is what a form said that was refused."""
    texts, result = load_catalogue(LOOK.get().language), result_of_verb(house, project, verb) or {}
    report = result.get("report")
    download = f"/api/v1/projects/{project.id}/made/{verb}.zip"
    ledger = verb == "generalize" and "ledger" in project.jobs
    return MaskedPage(
        shell=_shell(project, verb, message),
        verb=verb,
        verbs=tuple(WISHES),
        fields=_fields(project, verb, typed, texts),
        problem=_problem(house, project, verb),
        unused=[label_of(name, texts) for name in decided_elsewhere(project, verb)],
        seen=len(house.ledger_history(project)) if ledger else None,
        job=house.queue.last(project.id, verb),
        figures=[] if report is None else list(_FIGURES[verb](report, texts)),
        notes=_notes(verb, result, texts),
        old=is_old(project, verb),
        zip_url="" if report is None or verb not in PUBLISHING else download,
    )


def _shell(project: Project, verb: str, message: ErrorDetail | None) -> Shell:
    shell = shell_of(project, "other", message)
    return replace(shell, title=verb)


def _fields(
    project: Project, verb: str, typed: Mapping[str, str] | None, texts: Catalogue
) -> list[FormField]:
    settings = settings_of_mask(verb)
    usual = {name: known.default for name, known in settings.items() if known.default != ()}
    if "k" in settings:
        usual["k"] = (project.promises or ReleasePromises()).k
    columns = tuple(column["name"] for column in (project.profile or {"columns": []})["columns"])
    places = dict.fromkeys(_COLUMNS & settings.keys(), columns)
    values = usual if typed is None else typed
    fields = form_fields(settings.values(), values, texts, words=verb, more_choices=places)
    none = [("", texts.say("page.masked.none"))]
    return [
        replace(field, choices=[*none, *field.choices[1:]]) if field.setting in _COLUMNS else field
        for field in fields
    ]


def _problem(house: House, project: Project, verb: str) -> ErrorDetail | None:
    try:
        mask_settings_of(project, verb, house.store.folder(project.id), house.settings)
        if verb == "generalize":
            house.job_of(project, "ledger")
    except MahremError as error:
        return ErrorDetail(**refusal_of(error).record)
    return None


def _notes(verb: str, result: Json, texts: Catalogue) -> list[str]:
    """Give what must be known beside the figures."""
    if not result:
        return []
    noted = zip(result["privacy_notes"], result["privacy_warnings"], strict=True)
    own = [texts.tell(Note.read(note, text)) for note, text in noted]
    if verb == "perturb":
        own.append(texts.tell(Note("warning.perturbed")))
    return [*own, *([texts.say("page.masked.private")] if verb == "risk" else [])]


def _suppress_figures(report: Json, texts: Catalogue) -> Figures:
    for name, count in report["hidden"].items():
        yield texts.say("page.masked.hidden", column=name), texts.number(count)
    yield texts.say("page.masked.hidden_share"), texts.percent(report["hidden_share"])
    for each in report["sets"]:
        alike = {how: texts.number(count) for how, count in each["fewest"].items()}
        yield (
            texts.say("page.masked.set", columns=", ".join(each["columns"]), k=texts.number(each["k"])),
            texts.say("page.masked.alike", **alike),
        )


def _perturb_figures(report: Json, texts: Catalogue) -> Figures:
    for name, value in report["measures"].items():
        if name == "changed_share":
            for column, share in value.items():
                yield texts.say("page.masked.changed", column=column), texts.percent(share)
        elif name == "too_few_rows":
            yield texts.say("page.masked.measure.too_few_rows"), texts.say("word.yes")
        else:
            yield texts.say(f"page.masked.measure.{name}"), texts.number(value, 4)


def _generalize_figures(report: Json, texts: Catalogue) -> Figures:
    for name, level in report["levels"].items():
        yield texts.say("page.masked.level", column=name), texts.number(level)
    yield texts.say("page.masked.rows"), texts.number(report["rows"])
    yield texts.say("page.masked.least_alike"), texts.number(report["k"])
    yield texts.say("page.masked.sampled"), texts.percent(report["beta"])
    yield texts.say("page.masked.spent"), f"ε = {texts.number(report['epsilon'], 4)}, δ = {report['delta']:g}"
    left = report["privacy_ledger"]["remaining"]["epsilon"]
    yield texts.say("page.masked.left"), f"ε = {texts.number(left, 4)}"


def _risk_figures(report: Json, texts: Catalogue) -> Figures:
    yield texts.say("page.masked.records"), texts.number(report["records"])
    for name, count in report["violates"].items():
        yield texts.say("page.masked.violates", promise=name), texts.number(count)
    yield texts.say("page.masked.expected"), texts.number(report["expected_reidentifications"], 4)
    yield texts.say("page.masked.global"), texts.percent(report["global_risk"])
    yield texts.say("page.masked.highest"), texts.percent(report["highest_risk"])
    yield texts.say("page.masked.above"), texts.number(report["records_above_0.05"])
    if "household_risk" in report:
        yield texts.say("page.masked.household"), texts.number(report["household_risk"]["expected"], 4)
    if "model" in report:
        yield texts.say("page.masked.model"), texts.number(report["model"]["population_uniques"], 4)
    suda = report["suda"]
    yield texts.say("page.masked.suda"), texts.number(suda["records_with_a_score"])
    for name, share in suda["contributions"].items():
        yield texts.say("page.masked.suda_of", column=name), f"{texts.number(share, 1)} %"
    if not suda["complete"]:
        yield texts.say("page.masked.suda_part"), texts.say("word.no")


_FIGURES: Mapping[str, Callable[[Json, Catalogue], Figures]] = {
    "suppress": _suppress_figures,
    "perturb": _perturb_figures,
    "generalize": _generalize_figures,
    "risk": _risk_figures,
}


def lattice_page(
    house: House,
    project: Project,
    levels: str = "",
    loss: str = "",
    message: ErrorDetail | None = None,
) -> LatticePage:
    """Show a node with its neighbours, judged while one waits, and what a look at every node found."""
    texts, result = load_catalogue(LOOK.get().language), result_of_verb(house, project, "lattice")
    problem, judged = _problem(house, project, "lattice"), None
    if problem is None and project.source is not None:
        try:
            columns = len([0 for choice in project.choices.columns.values() if choice.role == "quasi"])  # type: ignore[union-attr]
            judged = judge_node(house, project, read_levels(levels, columns), {"loss": loss} if loss else {})
        except MahremError as error:
            problem = ErrorDetail(**refusal_of(error).record)
    best = [] if result is None else [_line(verdict, texts) for verdict in result["best"]]
    return LatticePage(
        shell=_shell(project, "lattice", message),
        verbs=tuple(WISHES),
        fields=_fields(project, "lattice", {"loss": loss or "ncp"}, texts),
        problem=problem,
        heights=(judged or result or {"heights": {}})["heights"],
        node=None if judged is None else replace(_line(judged["node"], texts), current=True),
        near=[] if judged is None else [_line(verdict, texts) for verdict in judged["neighbours"]],
        why=[] if judged is None else [_reason(reason, texts) for reason in judged["why"]],
        tried="" if judged is None else _tried(judged, texts),
        picture=_picture(house, project, judged, result),
        job=house.queue.last(project.id, "lattice"),
        best=best,
        counted="" if result is None else _counted(result, texts),
        listed=result is not None and result["listed"],
        old=is_old(project, "lattice"),
    )


def _picture(
    house: House, project: Project, judged: Json | None, result: Json | None
) -> LatticePicture | None:
    """Draw every node: as judged while one waits, else as the job found them when it was asked the same."""
    if judged is None:
        return None
    nodes, best = judged.get("every"), judged.get("best")
    if nodes is None and result is not None and _answers(project, result, judged):
        nodes = _listed_nodes(house.result_folder(project, "lattice") / NODES, len(judged["heights"]))
        best = result.get("ringed")
    return None if nodes is None else draw_lattice(nodes, list(judged["node"]["levels"].values()), best)


def _answers(project: Project, result: Json, judged: Json) -> bool:
    """Say whether every node was judged as the one that is looked at: decided so, and ranked by the same."""
    same = result["objective"] == judged["objective"]
    return bool(result["listed"] and same and not is_old(project, "lattice"))


def _listed_nodes(path: Path, columns: int) -> list[Json] | None:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            _, *lines = csv.reader(file)
    except (OSError, ValueError):
        return None
    return [
        {
            "levels": [int(level) for level in line[:columns]],
            "holds": line[columns + 1] == "true",
            "loss": float(line[columns + 2]) if line[columns + 2] else None,
        }
        for line in lines
    ]


def _tried(judged: Json, texts: Catalogue) -> str:
    rows, tried = texts.number(judged["rows"]), texts.number(judged["tried"])
    return texts.say(
        "page.lattice.every_row" if rows == tried else "page.lattice.sample", tried=tried, rows=rows
    )


def _counted(result: Json, texts: Catalogue) -> str:
    nodes = texts.number(result["nodes"])
    if not result["listed"]:
        return texts.say("page.lattice.only_best", nodes=nodes)
    return texts.say("page.lattice.holding", holding=texts.number(result["holding"]), nodes=nodes)


def _reason(reason: Mapping[str, Any], texts: Catalogue) -> tuple[str, str, str, str]:
    name = texts["page"]["model"].get(reason["model"], reason["model"])
    about = f" ({reason['column']})" if reason["column"] else ""
    counts = (texts.number(reason[key]) for key in ("classes_at_most", "rows_at_most"))
    classes, rows = (texts.say("page.lattice.at_most", count=count) for count in counts)
    return name + about, texts.number(reason["wanted"], 4), classes, rows


def _line(verdict: Mapping[str, Any], texts: Catalogue) -> NodeLine:
    def written(value: float | None, digits: int = 0) -> str:
        return "\N{EN DASH}" if value is None else texts.number(value, digits)

    hidden = written(verdict["suppressed"])
    return NodeLine(
        levels=list(verdict["levels"].values()),
        holds=verdict["holds"],
        loss=written(verdict["loss"], 4),
        suppressed=hidden if verdict["holds"] else texts.say("page.lattice.at_most", count=hidden),
        classes=written(verdict["classes"]),
        smallest=written(verdict["smallest"]),
    )
