"""What would somebody find out from this release?"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from mahrem import check
from mahrem.attacks import (
    Composition,
    Finding,
    People,
    PopulationPriors,
    Published,
    not_done,
    read_published,
    red_team,
)
from mahrem.errors import InvalidInput, InvalidParameter, either, spelled
from mahrem.pipeline._known_people import members_among, people_of, refuse_others
from mahrem.pipeline._reading import reading_of
from mahrem.pipeline._recipe import RECIPE, read_recipe
from mahrem.pipeline._red_team import RedTeam, excess, open_label
from mahrem.pipeline._synthetic_report import SETTINGS as SYNTHESIS
from mahrem.release import (
    Policy,
    Settings,
    check_hashes,
    find_data,
    hierarchies_of,
    is_release,
    policy_from,
    read_policy,
)
from mahrem.table import Hierarchy, open_source, restored_cells
from mahrem.words import Note, Progress

__all__ = ["attack"]

_PEOPLE = 2000  # an attack with priors asks about as many as the others


@dataclass(frozen=True)
class _Target:
    """A published table and what is known about it."""

    published: Published
    policy: Policy


def attack(
    release: object,
    *,
    original: object | None = None,
    second: object | None = None,
    policy: str | Path | Mapping[str, Any] | Policy | None = None,
    trials: int = 1000,
    progress: Progress | None = None,
    **settings: Unpack[Settings],
) -> RedTeam:
    """Attack a release before somebody else does.

    A release folder of ours brings its own roles and is first compared with its hashes; any other table needs
    ``quasi`` and, for attacks on values, ``sensitive``.

    Args:
        release: A release folder, or anything :func:`mahrem.anonymize` takes.
        original: The table it was made of; without it only attacks on the release alone are tried.
        second: Another release of the same people, for composition.
        policy: As for :func:`mahrem.anonymize`.
        trials: How many people, rows or claims an attack tries.
        progress: Called with the name of each stage as it begins.
        **settings: As for :func:`mahrem.anonymize`; ``population`` is a table of everybody the people were
            taken from, for membership and priors, and ``seed`` that of all draws.

    Raises:
        Tampered: If a release folder is not what was released.
        InvalidInput: If the original or the population cannot be those of the release.
        InvalidParameter: If no column to attack with is named.

    Guarantees:
        - The same tables and seed give the same findings.
        - Findings hold figures, never a person and never a value.

    Example:
        >>> import mahrem as mh
        >>> patients = mh.demo_patients(200)
        >>> release = mh.anonymize(patients, quasi=["age", "zip"], sensitive="diagnosis", rest="drop", k=5)
        >>> found = mh.attack(release.table, original=patients, quasi=["age", "zip"], sensitive="diagnosis")
        >>> all(one.details["highest"] <= 1 / 5 for one in found.findings if one.attack == "linkage")
        True
    """
    began = time.perf_counter()
    step = progress or (lambda _: None)
    check.at_least(1, trials=check.whole(trials=trials))
    step(Note("stage.reading"))
    population = settings.pop("population", None)
    target = _target(release, policy, settings)
    published, said = target.published, target.policy
    people = None if original is None else people_of(original, published, said, "original")
    everyone = None if population is None else people_of(population, published, said, "population")
    if people is not None:
        refuse_others(published, people)
    if everyone is not None and everyone.count < len(published.labels):
        raise InvalidInput(
            f"population={everyone.count} rows must not be fewer than those of the release, "
            f"{len(published.labels)}: it must hold everybody"
        )
    step(Note("stage.attacking"))
    seed = said.seed or 0
    findings = red_team(
        published,
        people,
        k=said.k,
        l=_diversity(said),
        population=everyone,
        members=None if everyone is None or people is None else members_among(people, everyone),
        trials=trials,
        seed=seed,
    )
    if everyone is not None and people is None:
        findings = tuple(
            one if one.attack != "membership" else not_done("membership", Note("skipped.original"))
            for one in findings
        )
    findings += _priors(target, people, everyone, trials, seed)
    if second is not None:
        step(Note("stage.side_by_side"))
        findings += (_together(target, second, people, settings, trials, seed),)
    report = _report(target, findings, open_label(release), time.perf_counter() - began)
    return RedTeam(report=report, findings=findings)


def _target(
    release: object, policy: str | Path | Mapping[str, Any] | Policy | None, settings: Mapping[str, Any]
) -> _Target:
    folder = Path(release) if isinstance(release, str | Path) and Path(release).is_dir() else None
    given, said, hierarchies = release, policy_from(policy, settings), dict[str, Hierarchy]()
    if folder is not None:
        if not is_release(folder) and not (folder / "policy.toml").is_file():
            name = folder.resolve().name
            raise InvalidParameter(f"release={name!r} is a folder but not a release; give its data file")
        check_hashes(folder)
        given = find_data(folder)
        if (folder / SYNTHESIS).is_file():
            tables = either("attack_synthetic(…, members=…, holdout=…)", "--original and --holdout")
            raise InvalidParameter(
                f"release={folder.resolve().name!r} holds made-up rows: attack it with what they were made "
                f"from and real rows that had no part in it: {tables}"
            )
        if policy is None:
            said = policy_from(None, {**_own_roles(folder), **_given(settings)})
        if (folder / RECIPE).is_file():
            hierarchies = dict(read_recipe(folder).hierarchies)
    hierarchies |= hierarchies_of(said)
    opened = open_source(given, reading_of(said))
    if not said.quasi:
        raise InvalidParameter(
            f"quasi=() names no column; say which columns others may know: {spelled('quasi', ['a', 'b'])}"
        )
    check.columns_exist([*said.quasi, *said.sensitive], opened.columns)
    shown = opened.scan(opened.columns)
    frame = shown.with_columns(restored_cells(shown.collect_schema())).collect()
    published = read_published(
        frame, quasi=said.quasi, sensitive=tuple(said.sensitive), hierarchies=hierarchies
    )
    if not published.rows:
        raise InvalidInput("the release shows no row: there is nothing to attack")
    return _Target(published, said)


def _given(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in settings.items() if value is not None}


def _own_roles(folder: Path) -> dict[str, Any]:
    """Give the roles and promises a release of ours was made with, under its published names."""
    own = read_policy(folder / "policy.toml")
    shown = json.loads((folder / "report.json").read_text(encoding="utf-8"))["published"]
    if shown["quasi"] != list(own["quasi"]):
        raise InvalidParameter(
            "this release shows its quasi-identifiers in other columns (cells='pairs'); "
            f"attack a release with {spelled('cells', 'text')}, or name the columns that are ranges with "
            f"{spelled('quasi')}"
        )
    renamed = dict(zip(own.get("sensitive", {}), shown["sensitive"], strict=True))
    said: dict[str, Any] = {key: own[key] for key in ("k", "l", "l_kind", "c", "decimal") if key in own}
    said["quasi"] = shown["quasi"]
    said["sensitive"] = {renamed[name]: models for name, models in own.get("sensitive", {}).items()}
    if not said["sensitive"]:
        return {key: value for key, value in said.items() if key not in {"l", "l_kind", "c"}}
    return said


def _diversity(policy: Policy) -> int:
    """Give the l that was promised, at least 2: minimality speaks of it."""
    found = [policy.models.get("l"), *(own.get("l") for own in policy.sensitive.values())]
    return max([2, *(int(one) for one in found if isinstance(one, int | float))])


def _priors(
    target: _Target, people: People | None, everyone: People | None, trials: int, seed: int
) -> tuple[Finding, ...]:
    """Attack with what a population with sensitive values tells of each quasi-identifier; keep the worst."""
    if people is None or everyone is None:
        return ()
    found = []
    for column in target.published.sensitive:
        if column not in everyone.frame.columns or column not in people.frame.columns:
            continue
        tried = [
            PopulationPriors(given=name, column=column, trials=min(trials, _PEOPLE), seed=seed)(
                target.published, people, everyone.frame
            )
            for name in target.published.quasi
        ]
        found.append(max(tried, key=excess))
    return tuple(found)


def _together(
    target: _Target,
    second: object,
    people: People | None,
    settings: Mapping[str, Any],
    trials: int,
    seed: int,
) -> Finding:
    """Lay a second release beside the first; a folder brings its own roles, a file has those of the first."""
    folder = isinstance(second, str | Path) and Path(second).is_dir()
    first = target.published
    roles = {} if folder else {"quasi": first.quasi, "sensitive": first.sensitive}
    other = _target(second, None, {**_reading(settings), **roles})
    if people is None:
        return not_done("composition", Note("skipped.original"))
    check.columns_exist(other.published.quasi, people.frame.columns)
    k = min(one.policy.k or int(one.published.sizes.min()) for one in (target, other))
    return Composition(k=k, trials=trials, seed=seed)(first, other.published, people)


def _reading(settings: Mapping[str, Any]) -> dict[str, Any]:
    kept = ("hierarchy", "null", "delimiter", "encoding", "decimal", "table", "query")
    return {key: settings[key] for key in kept if settings.get(key) is not None}


def _report(target: _Target, findings: tuple[Finding, ...], label: str, seconds: float) -> dict[str, Any]:
    published = target.published
    unread = max((finding.unread for finding in findings), default=0)
    warnings = []
    if unread:
        warnings.append(
            f"{unread} of {published.rows} rows have a cell that cannot be read against the original: "
            f"attacks find less than there may be; {spelled('hierarchy', {'COL': 'FILE'})} explains labels."
        )
    return {
        "source": label,
        "rows": len(published.labels),
        "shown": published.rows,
        "classes": len(published.sizes),
        "k": target.policy.k,
        "smallest_class": int(published.sizes.min()),
        "quasi": list(published.quasi),
        "sensitive": list(published.sensitive),
        "findings": [finding.as_dict() for finding in findings],
        "alarming": sum(finding.alarming for finding in findings),
        "seconds": round(seconds, 3),
        "warnings": warnings,
    }
