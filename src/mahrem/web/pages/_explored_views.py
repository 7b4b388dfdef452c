"""From a project and its candidates to what the explorer shows; nothing here changes anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from mahrem.errors import MahremError
from mahrem.web._errors import Refused, refusal_of
from mahrem.web._explore import as_candidate
from mahrem.web._house import House
from mahrem.web._language import LOOK
from mahrem.web._orders import Json
from mahrem.web.bodies import (
    Columns,
    ErrorDetail,
    Job,
    Project,
    ReleasePromises,
    form_fields,
    settings_of_step,
)
from mahrem.web.jobs import drawn
from mahrem.web.pages._explored_contexts import (
    CandidateLine,
    ColumnResult,
    DeepSide,
    ExploredPage,
    ExplorePage,
    FigureLine,
    Side,
    SizeBar,
)
from mahrem.web.pages._scatter import scatter
from mahrem.web.pages._sliders import ranged, slid_columns, slid_promises
from mahrem.web.pages._templates import plain_words, render, say_error
from mahrem.web.pages._views import result_of_verb, shell_of
from mahrem.web.projects import Candidate, decisions_of, settings_of
from mahrem.words import Catalogue, load_catalogue

_FIGURES = ("loss", "highest", "average", "at_risk", "smallest", "classes", "suppressed", "alone")
_SHARES = frozenset({"loss", "highest", "average", "at_risk", "alone"})


def explore_page(
    house: House,
    project: Project,
    message: ErrorDetail | None = None,
    *,
    candidate: str = "",
    beside: str = "",
) -> ExplorePage:
    """Show the explorer: what may be moved, and what a candidate would give."""
    texts, every = load_catalogue(LOOK.get().language), house.candidates.list(project.id)
    now = decisions_of(project)
    chosen = next(
        (one for one in every if one.id == candidate or (not candidate and one.decided == now)), None
    )
    seen = project if chosen is None else as_candidate(project, chosen)
    problem = None
    try:
        settings_of(seen, house.store.folder(project.id), house.settings)
    except MahremError as error:
        problem = ErrorDetail(**refusal_of(error).record)
    promises = (seen.promises or ReleasePromises()).model_dump()
    known = settings_of_step("promises")
    return ExplorePage(
        shell=shell_of(project, "explore", message),
        problem=problem,
        sliders=[
            ranged(field)
            for field in form_fields([known[name] for name in ("k", "suppression_limit")], promises, texts)
        ],
        method=form_fields([known["method"]], promises, texts),
        sensitive=list(slid_promises(seen, promises, texts)),
        columns=list(slid_columns(seen, texts)),
        explored=explored_page(house, project, chosen.id if chosen else "", beside),
        fresh=chosen is None and problem is None,
    )


def explored_page(
    house: House, project: Project, chosen: str, beside: str = "", problem: ErrorDetail | None = None
) -> ExploredPage:
    """Show what a candidate would give, beside another one if there is one, and all that were tried."""
    texts, every = load_catalogue(LOOK.get().language), house.candidates.list(project.id)
    current = next((one for one in every if one.id == chosen), None)
    other = next((one for one in every if one.id == beside and one.id != chosen), None)
    now, titles = decisions_of(project), {one.id: _title(one, texts) for one in every}
    return ExploredPage(
        project=project.id,
        current=current,
        title="" if current is None else titles[current.id],
        problem=problem,
        extent="" if current is None else _extent(current, texts),
        adopted=current is not None and current.decided == now,
        figures=[] if current is None else list(_figures(current, other, texts)),
        columns=[] if current is None else list(_results(current, other, texts)),
        bars=[] if current is None else _bars(current, texts),
        scatter=scatter(every, chosen, now),
        candidates=[
            CandidateLine(
                candidate=one, title=titles[one.id], adopted=one.decided == now, current=one.id == chosen
            )
            for one in reversed(every)
        ],
        beside=None if other is None else Side(candidate=other, title=titles[other.id]),
        differences=[] if current is None or other is None else list(_differences(current, other, texts)),
        job=_job(house, current),
        deep=[]
        if current is None or other is None
        else _deep(house, project, (current.id, other.id), titles),
        deep_job=None if other is None else _unless_done(house.queue.last(project.id, "beside")),
        targets=[] if current is None else _targets(current),
    )


def _deep(house: House, project: Project, pair: tuple[str, str], titles: Mapping[str, str]) -> list[DeepSide]:
    """Give what was found when these two were made on every row, if they were."""
    tried = result_of_verb(house, project, "beside")
    if tried is None or set(tried["sides"]) != set(pair):
        return []
    parts = drawn(house.result_folder(project, "beside"), LOOK.get().language) or {}
    return [
        DeepSide(title=titles[known], parts=parts[known], **tried["rows"][known])
        for known in pair
        if known in parts
    ]


def _targets(candidate: Candidate) -> list[str]:
    """Name the columns that models may learn: what is published, and not made coarser."""
    choices = candidate.choices.columns.items()
    return [name for name, choice in choices if choice.role in {"sensitive", "insensitive"}]


def _unless_done(job: Job | None) -> Job | None:
    return None if job is None or job.state == "done" else job


def refused_part(house: House, project: Project, error: MahremError, beside: str) -> tuple[int, str]:
    """Give the part of the page that says why settings were not tried, and the status that goes with it."""
    refused = refusal_of(error)
    return refused.status, render(
        explored_page(house, project, "", beside, problem=ErrorDetail(**refused.record))
    )


def singling_words(project: Project, look: Callable[[list[str]], Mapping[str, Any]]) -> dict[str, Json]:
    """Say by number what each published column adds to singling out."""
    texts = load_catalogue(LOOK.get().language)
    chosen = (project.choices or Columns(columns={})).columns
    others = [name for name, choice in chosen.items() if choice.role in {"sensitive", "insensitive"}]
    singling = look(others)["columns"]
    return {
        str(number): {
            "alone": texts.say("page.columns.alone", share=_share(singling[name]["alone"], texts)),
            "adds": texts.say("page.columns.adds", share=_share(singling[name]["adds"], texts)),
            "share": singling[name]["adds"] or 0.0,
        }
        for number, name in enumerate(_names(project))
        if name in singling
    }


def example_words(project: Project, trial: Mapping[str, Any]) -> dict[str, Json]:
    """Give by number what some common values would become."""
    texts = load_catalogue(LOOK.get().language)
    return {
        str(number): {
            "examples": trial["columns"][name]["examples"],
            "loss": texts.say("page.columns.loses", share=texts.percent(trial["columns"][name]["gcp"])),
        }
        for number, name in enumerate(_names(project))
        if name in trial["columns"]
    }


def in_words(error: MahremError) -> str:
    """Say in the language of the page what went wrong."""
    problem = say_error(load_catalogue(LOOK.get().language), ErrorDetail(**refusal_of(error).record))
    return " ".join(part for part in (problem["message"], problem["hint"]) if part)


def _names(project: Project) -> list[str]:
    return [column["name"] for column in (project.profile or {"columns": []})["columns"]]


def _title(candidate: Candidate, texts: Catalogue) -> str:
    """Name a candidate: as somebody called it, or by what it asks for."""
    if candidate.name:
        return candidate.name
    promises = candidate.promises.model_dump()
    parts = [candidate.trial["method"], f"k = {promises['k']}"]
    own = [choice.promises for choice in candidate.choices.columns.values() if choice.role == "sensitive"]
    for figure in ("l", "t"):
        values = {float(one[figure]) for one in [*own, promises] if one.get(figure) is not None}
        parts += [f"{figure} = {', '.join(texts.number(one) for one in sorted(values))}"] if values else []
    return " · ".join(parts)


def _extent(candidate: Candidate, texts: Catalogue) -> str:
    trial = candidate.trial
    code = "page.explore.exact" if candidate.exact else "page.explore.sampled"
    return texts.say(code, tried=trial["tried"], rows=trial["rows"], seconds=trial.get("seconds") or 0.0)


def _share(share: float | None, texts: Catalogue) -> str:
    return texts.say("page.explore.few") if share is None else texts.percent(share)


def _write(key: str, trial: Mapping[str, Any], texts: Catalogue) -> str:
    value = trial.get(key)
    return _share(value, texts) if key in _SHARES else texts.number(value)


def _figures(current: Candidate, other: Candidate | None, texts: Catalogue) -> Iterator[FigureLine]:
    for key in _FIGURES:
        yield FigureLine(
            name=texts.say(f"page.explore.figure.{key}", 0),
            meaning=texts.say(f"page.explore.figure.{key}", 1),
            value=_write(key, current.trial, texts),
            other=None if other is None else _write(key, other.trial, texts),
        )


def _results(current: Candidate, other: Candidate | None, texts: Catalogue) -> Iterator[ColumnResult]:
    beside = {} if other is None else other.trial["columns"]
    for name, one in current.trial["columns"].items():
        yield ColumnResult(
            name=name,
            share=min(1.0, one["gcp"]),
            loss=texts.percent(one["gcp"]),
            other=texts.percent(beside[name]["gcp"]) if name in beside else None,
            examples=one["examples"],
        )


def _bars(candidate: Candidate, texts: Catalogue) -> list[SizeBar]:
    bins = candidate.trial["sizes"]
    most = max((one["rows"] for one in bins), default=0) or 1
    width = 100 / max(len(bins), 1)
    return [
        SizeBar(
            x=round(place * width + width * 0.08, 2),
            width=round(width * 0.84, 2),
            height=round(60 * one["rows"] / most, 2),
            label=_sizes(one),
            words=texts.say("page.explore.bar", sizes=_sizes(one), classes=one["classes"], rows=one["rows"]),
        )
        for place, one in enumerate(bins)
    ]


def _sizes(one: Mapping[str, int]) -> str:
    return str(one["from"]) if one["from"] == one["to"] else f"{one['from']}\N{EN DASH}{one['to']}"


def _differences(current: Candidate, other: Candidate, texts: Catalogue) -> Iterator[tuple[str, str, str]]:
    """Give what two candidates decide otherwise, in words."""
    here, there = current.promises.model_dump(), other.promises.model_dump()
    for key in here:
        if here[key] != there[key]:
            called = texts["page"]["setting"].get(key, key)
            yield called, plain_words(texts, here[key], key), plain_words(texts, there[key], key)
    for name, choice in current.choices.columns.items():
        if name not in other.choices.columns:
            continue
        mine, theirs = choice.model_dump(), other.choices.columns[name].model_dump()
        for key in mine:
            if mine[key] != theirs[key]:
                called = texts["page"]["setting"].get(key, texts.say("page.explore.promised"))
                sides = plain_words(texts, mine[key], key), plain_words(texts, theirs[key], key)
                yield f"{name}: {called}", *sides


def _job(house: House, current: Candidate | None) -> Job | None:
    if current is None or current.job is None:
        return None
    try:
        job = house.queue.get(current.job)
    except Refused:
        return None
    return job if job.state in {"queued", "running", "failed"} else None
