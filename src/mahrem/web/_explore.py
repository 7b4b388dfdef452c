"""Exploring: settings are tried at once on a table that is kept ready, and on every row in the background."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.datastructures import FormData

from mahrem import check
from mahrem.web._errors import Refused
from mahrem.web._forms import read_own, read_promises, read_some
from mahrem.web._house import House
from mahrem.web._orders import JobRequest, Json
from mahrem.web.bodies import Columns, Job, Project, ReleasePromises
from mahrem.web.jobs import lattice_settings
from mahrem.web.projects import (
    Candidate,
    check_choices,
    decisions_of,
    mark_of,
    mask_settings_of,
    needs_source,
    needs_table,
    settings_of,
)

EXPLORED = ("at_least", "at_most", "weights")  # of a quasi-identifier


def wished(project: Project, form: FormData) -> Project:
    """Give a project as a form would have it; nothing is kept."""
    promises = read_promises(project, form)
    choices = read_own(project.model_copy(update={"choices": read_some(project, form, EXPLORED)}), form)
    return project.model_copy(update={"promises": promises, "choices": choices})


def as_candidate(project: Project, candidate: Candidate) -> Project:
    """Give a project with the settings of a candidate; nothing is kept."""
    return project.model_copy(update={"promises": candidate.promises, "choices": candidate.choices})


def try_at_once(house: House, project: Project) -> Candidate:
    """Try what a project has decided, on as many rows as a moment allows."""
    choices, promises = project.choices or Columns(columns={}), project.promises or ReleasePromises()
    trial = ask(house, project, "attempt")
    return house.candidates.add(project.id, decisions_of(project), choices, promises, trial)


def ask(house: House, project: Project, verb: str, **more: Any) -> Json:
    """Ask about the table of a project as it is decided."""
    choices, promises = project.choices or Columns(columns={}), project.promises or ReleasePromises()
    check_choices(project, choices, promises)
    settings = settings_of(project, house.store.folder(project.id), house.settings)
    _same_table(house, project)
    house.store.update(project.id)  # whoever explores uses the raw data
    return house.runner.warm.ask(project, {"verb": verb, "settings": settings, **more})


def judge_node(
    house: House, project: Project, levels: tuple[int, ...], asked: Mapping[str, Any] | None = None
) -> Json:
    """Judge a node of the lattice of a project's table, with its neighbours; without levels the best."""
    folder = house.store.folder(project.id)
    settings = mask_settings_of(project, "lattice", folder, house.settings)
    _same_table(house, project)
    house.store.update(project.id)
    question = {"settings": lattice_settings(settings, asked or {}), "levels": levels}
    return house.runner.warm.ask(project, {"verb": "node", **question})


def try_every_row(house: House, project: Project, known: str) -> Job:
    """Try a candidate on every row, in the background; a try of another one is stopped."""
    candidate = house.candidates.get(project.id, known)
    with house.starting:
        for job in house.queue.active(project.id):
            if job.verb == "trial":
                house.runner.cancel(job.id)
        _same_table(house, project)
        after = as_candidate(project, candidate)
        request = JobRequest(
            arguments={"candidate": known},
            settings=settings_of(after, house.store.folder(project.id), house.settings),
            source=needs_source(project).seen,
            decided=candidate.decided,
        )
        job = house.runner.submit(project.id, "trial", request)
    house.candidates.change(project.id, known, job=job.id)
    return job


def look_deeper(house: House, project: Project, first: str, second: str, target: str = "") -> Job:
    """Make two candidates on every row, in the background: distributions, correlations, attacks, accuracy."""
    if first == second:
        raise Refused(422, "two_candidates")
    names = [column["name"] for column in needs_table(project)["columns"]]
    if target:
        check.columns_exist([target], names)
    folder = house.store.folder(project.id)
    sides = {
        known: settings_of(
            as_candidate(project, house.candidates.get(project.id, known)), folder, house.settings
        )
        for known in (first, second)
    }
    return house.start(project, "beside", {"sides": sides, "target": target})


def _same_table(house: House, project: Project) -> None:
    source = needs_source(project)
    if source.seen and source.seen != mark_of(source, house.settings):
        raise Refused(409, "another_table")
