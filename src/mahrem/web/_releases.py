"""What was made of a project's table, and what became of it: draft, published, signed, withdrawn, gone."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field

from mahrem.release.folders import (
    change_state,
    difference,
    is_signed,
    make_signing_key,
    release_state,
    remove_release,
    sign_release,
)
from mahrem.report import Report, differences_page
from mahrem.web._errors import Refused, not_found
from mahrem.web._house import House
from mahrem.web._orders import Json
from mahrem.web.bodies import MadeRelease, Project
from mahrem.web.projects import decisions_of, make_private
from mahrem.words import load_catalogue

SIGNING = "signing-key"  # in the state folder, made when it is first needed; its public half ends in .pub
ReleaseState = Literal["draft", "published", "withdrawn"]


class KeptRelease(BaseModel):
    """A release, what it says of itself and what became of it."""

    job: str
    finished: str = Field(serialization_alias="made")
    state: str = Field(description="draft, published or withdrawn")
    current: bool = Field(description="The one that the result shows")
    old: bool = Field(description="Something was decided otherwise since")
    signed: bool
    verdict: str = Field(description="kept, but or broken")
    figures: Json = Field(description="k, method, rows, loss and highest risk, as its report has them")


def list_releases(house: House, project: Project) -> list[KeptRelease]:
    """Give the releases of a project that are still there, the newest first."""
    now = decisions_of(project)
    return [
        _kept(house, project, release, now)
        for release in reversed(project.releases)
        if (_place(house, project, release.job) / "report.json").is_file()
    ]


def _kept(house: House, project: Project, release: MadeRelease, now: str) -> KeptRelease:
    folder = _place(house, project, release.job)
    report = json.loads((folder / "report.json").read_bytes())
    settings = report.get("settings", {})
    return KeptRelease(
        job=release.job,
        finished=release.finished,
        state=release_state(folder),
        current=project.jobs.get("anonymize") == release.job,
        old=release.decided not in {"", now},
        signed=is_signed(folder),
        verdict="broken" if not report["holds"] else "but" if report.get("buts") else "kept",
        figures={
            "k": settings.get("k"),
            "method": report.get("method"),
            "rows": report.get("rows"),
            "loss": report["utility"].get("gcp"),
            "highest": report["risk"].get("highest"),
        },
    )


def release_of(house: House, project: Project, job: str) -> Path:
    """Give the folder of a release; only those of this project have one."""
    if not any(release.job == job for release in project.releases):
        raise not_found("release")
    folder = _place(house, project, job)
    if not folder.is_dir():
        raise not_found("release")
    return folder


def set_state(house: House, project: Project, job: str, state: ReleaseState) -> None:
    """Say that a release is a draft, was handed out, or was withdrawn.

    Raises:
        Refused: If one that was handed out is to be a draft again: others have it.
    """
    folder = release_of(house, project, job)

    def change(now: str) -> str:
        if not folder.is_dir():  # forgotten meanwhile
            raise not_found("release")
        if state == "draft" and now != "draft":
            raise Refused(409, "was_published")
        return state

    change_state(folder, change)


def sign(house: House, project: Project, job: str) -> None:
    """Sign a release with the key of this server."""
    folder, key = release_of(house, project, job), house.settings.state / SIGNING
    with house.starting:
        if not key.exists():
            make_signing_key(key)
            key.with_name(f"{key.name}.pub").chmod(0o600)
    sign_release(folder, key)
    make_private(folder)


def forget_release(house: House, project: Project, job: str) -> Project:
    """Remove a release; one that others have is withdrawn first, so that somebody has thought of them."""
    folder = release_of(house, project, job)

    def remove() -> None:
        shutil.rmtree(folder.parent, ignore_errors=True)

    if not remove_release(folder, ("made", "draft", "withdrawn"), remove):
        raise Refused(409, "withdraw_first")
    attacks = list(_attacks_on(house, project, job))
    for attack in attacks:
        shutil.rmtree(house.store.folder(project.id) / f"job-{attack}", ignore_errors=True)

    def without(now: Project) -> Project:
        gone = {verb for verb, known in now.jobs.items() if known == job or known in attacks}
        return now.model_copy(
            update={
                "releases": [release for release in now.releases if release.job != job],
                "jobs": {verb: known for verb, known in now.jobs.items() if verb not in gone},
                "decided": {verb: known for verb, known in now.decided.items() if verb not in gone},
            }
        )

    return house.store.edit(project.id, without)


def _attacks_on(house: House, project: Project, release: str) -> Iterator[str]:
    """Give the jobs that attacked a release."""
    for path in house.store.folder(project.id).glob("job-*/result.json"):
        with suppress(OSError, ValueError):  # removed meanwhile
            if json.loads(path.read_bytes()).get("release") == release:
                yield path.parent.name.removeprefix("job-")


def drawn_beside(house: House, project: Project, first: str, second: str, language: str) -> str:
    """Draw two releases side by side, as a page of its own."""
    if first == second:
        raise Refused(422, "two_releases")
    folders = [release_of(house, project, job) for job in (first, second)]
    finished = {release.job: release.finished for release in project.releases}
    words = load_catalogue(language)
    reports = [Report.read(json.loads((folder / "report.json").read_bytes())) for folder in folders]
    names = []
    for number, (job, report) in enumerate(zip((first, second), reports, strict=True), start=1):
        moment, k = finished[job].replace("T", " ").removesuffix("Z"), words.number(report.settings.get("k"))
        names.append(f"{number} · {moment} · k = {k}")
    return differences_page(dict(zip(names, reports, strict=True)), difference(*folders), language)


def _place(house: House, project: Project, job: str) -> Path:
    return house.store.folder(project.id) / f"job-{job}" / "release"
