"""What would somebody find out from this release?"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import numpy as np
import polars as pl

from mahrem import check
from mahrem.attacks import Finding, RedTeam, disclosed_findings, red_team
from mahrem.attacks.on_releases import ReleaseTarget
from mahrem.contents import content_hashes
from mahrem.errors import InvalidInput, InvalidParameter, either, in_our_words, spelled
from mahrem.matching import Published, read_published
from mahrem.pipeline.auditing._known_people import members_among, people_of, refuse_others
from mahrem.pipeline.modelling import SYNTHESIS
from mahrem.release import RECIPE, decided, read_recipe
from mahrem.release.decisions import (
    COARSENING,
    Policy,
    hierarchies_of,
    own_pseudonyms,
    policy_from,
    read_policy,
    reading_of,
    reading_of_release,
)
from mahrem.release.folders import (
    OwnClaims,
    check_hashes,
    find_data,
    is_release,
    named_folder,
    read_own_claims,
)
from mahrem.table import Hierarchy, open_source
from mahrem.table.cells.formulas import restored_cells
from mahrem.table.columns import as_people, assign_roles
from mahrem.types import Integers
from mahrem.words import Note, Progress

if TYPE_CHECKING:
    from mahrem.release.decisions import ReleaseKeywords


_LEAST = 3  # people a figure stands for where k is smaller


@dataclass(frozen=True)
class _Opened:
    """A published table and what is known about it."""

    published: Published
    policy: Policy


@in_our_words
def attack(
    release: object,
    *,
    original: object | None = None,
    second: object | None = None,
    policy: str | Path | Mapping[str, object] | Policy | None = None,
    trials: int = 1000,
    progress: Progress | None = None,
    **settings: Unpack[ReleaseKeywords],
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
        - Findings hold figures, never a person and never a value; figures depend on the published table
          alone, or are of at least k people and told only where chance cannot explain them.

    Example:
        >>> import mahrem as mh
        >>> patients = mh.demo_patients(200)
        >>> release = mh.anonymize(patients, quasi=["age", "zip"], sensitive="diagnosis", rest="drop", k=5)
        >>> result = mh.attack(release.table, original=patients, quasi=["age", "zip"], sensitive="diagnosis")
        >>> linked = [finding for finding in result.findings if finding.attack == "linkage"]
        >>> max(finding.details["highest"] for finding in linked) <= 1 / 5
        True
    """
    began = time.perf_counter()
    step = progress or (lambda _: None)
    check.at_least(1, trials=check.whole(trials=trials))
    step(Note("stage.reading"))
    population = settings.pop("population", None)
    opened = _open(release, policy, settings)
    published, roles = opened.published, opened.policy
    people = None if original is None else people_of(original, published, roles, "original")
    everyone = None if population is None else people_of(population, published, roles, "population")
    if people is not None:
        refuse_others(published, people)
    if everyone is not None and everyone.count < len(published.labels):
        raise InvalidInput(
            f"population={everyone.count} rows must not be fewer than those of the release, "
            f"{len(published.labels)}: it must hold everybody"
        )
    other = None if second is None else _open_second(opened, second, settings)
    step(Note("stage.attacking"))
    target = ReleaseTarget(
        release=published,
        people=people,
        population=everyone,
        members=None if everyone is None or people is None else members_among(people, everyone),
        second=None if other is None else other.published,
        second_k=None if other is None else other.policy.k,
        k=roles.k,
        l=_diversity(roles),
        trials=trials,
        seed=roles.seed or 0,
    )
    findings = disclosed_findings(red_team(target), max(target.smallest, _LEAST))
    return RedTeam.of(
        release, findings, began=began, about=_about(opened), warnings=_warnings(opened, findings)
    )


def _open(
    release: object, policy: str | Path | Mapping[str, object] | Policy | None, settings: Mapping[str, object]
) -> _Opened:
    folder = named_folder(release)
    given, roles, hierarchies = release, policy_from(policy, settings), dict[str, Hierarchy]()
    claims: OwnClaims | None = None
    if folder is not None:
        if not is_release(folder) and not (folder / "policy.toml").is_file():
            name = folder.resolve().name
            raise InvalidParameter(f"release={name!r} is a folder but not a release; give its data file")
        if not is_release(folder):
            check_hashes(folder)
        claims = read_own_claims(folder)
        given = find_data(folder)
        if (folder / SYNTHESIS).is_file():
            tables = either("attack_synthetic(…, members=…, holdout=…)", "--original and --holdout")
            raise InvalidParameter(
                f"release={folder.resolve().name!r} holds made-up rows: attack it with what they were made "
                f"from and real rows that had no part in it: {tables}"
            )
        if policy is None and claims is not None:
            roles = policy_from(None, {**_own_roles(folder, claims), **_given(settings)})
        if (folder / RECIPE).is_file():
            hierarchies = dict(read_recipe(folder).hierarchies)
    hierarchies |= hierarchies_of(roles)
    source = open_source(given, reading_of(roles) if claims is None else reading_of_release(roles))
    roles = decided(roles, source)
    _refuse_roles(roles, source.columns)
    shown = source.scan(source.columns)
    if claims is not None and claims.spreadsheets:  # elsewhere an apostrophe is what a reader sees
        shown = shown.with_columns(restored_cells(shown.collect_schema()))
    frame = shown.collect()
    order = np.argsort(
        content_hashes(frame), kind="stable"
    )  # how rows stand is one attack's business, and no draw's
    frame = frame[order]
    published = replace(
        read_published(
            frame,
            quasi=roles.quasi,
            sensitive=tuple(roles.sensitive),
            hierarchies=hierarchies,
            people=_whose(frame, roles, folder),
        ),
        stood=order,
    )
    if not published.rows:
        raise InvalidInput("the release shows no row: there is nothing to attack")
    return _Opened(published, roles)


def _refuse_roles(roles: Policy, columns: Sequence[str]) -> None:
    """Refuse columns that the release does not show, or not in the role that they are said to have."""
    if not roles.quasi:
        raise InvalidParameter(
            f"quasi=() names no column; say which columns others may know: {spelled('quasi', ['a', 'b'])}"
        )
    check.columns_exist(roles.suppress, columns)
    assign_roles(columns, quasi=roles.quasi, sensitive=tuple(roles.sensitive), rest="insensitive")
    for name in roles.suppress:
        if name not in roles.quasi:
            raise InvalidParameter(
                f"suppress={name!r} must be one of the quasi-identifiers that the release shows"
            )


def _whose(frame: pl.DataFrame, roles: Policy, folder: Path | None) -> Integers | None:
    """Number whose row each is, where a column of the release says so: the subject, or a pseudonym."""
    tied = [] if folder is None else own_pseudonyms(folder / "policy.toml")
    named = next((name for name in (roles.subject, *tied) if name in frame.columns), None)
    if named is None:
        return None
    return (as_people(frame[named].cast(pl.String)).rank("dense").cast(pl.Int64).fill_null(0)).to_numpy()


def _given(settings: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in settings.items() if value is not None}


def _own_roles(folder: Path, claims: OwnClaims) -> dict[str, object]:
    """Give the roles and promises a release of ours was made with, under its published names."""
    own = claims.settings
    if own["quasi"] != read_policy(folder / "policy.toml")["quasi"]:
        raise InvalidParameter(
            "this release shows its quasi-identifiers in other columns (cells='pairs'); "
            f"attack a release with {spelled('cells', 'text')}, or name the columns that are ranges with "
            f"{spelled('quasi')}"
        )
    named = ("quasi", "sensitive", "k", "l", "l_kind", "c", "decimal", "subject", "shift_days")
    roles = {key: own[key] for key in named if key in own}
    settings = read_policy(folder / "policy.toml")
    roles |= {
        key: settings[key] for key in ("missing", "null", "suppress") if key in settings
    }  # who shows nothing is not looked for, nor by what shows nothing
    for key in (*COARSENING, "kind"):  # an attacker makes the values of the original as coarse
        # Beyond a top or a bottom nobody is told apart, whatever the role.
        kept = key in {"top", "bottom"}
        named = settings.get(key, {}).items()
        roles[key] = {name: setting for name, setting in named if kept or name not in own["quasi"]}
    if not roles["sensitive"]:
        return {key: value for key, value in roles.items() if key not in {"l", "l_kind", "c"}}
    return roles


def _diversity(policy: Policy) -> int:
    """Give the l that was promised, at least 2: minimality speaks of it."""
    promised = [policy.models.get("l"), *(own.get("l") for own in policy.sensitive.values())]
    return max([2, *(int(least) for least in promised if isinstance(least, int | float))])


def _open_second(first: _Opened, second: object, settings: Mapping[str, object]) -> _Opened:
    """Read a second release; a folder brings its own roles, a file has those of the first."""
    folder = isinstance(second, str | Path) and Path(second).is_dir()
    roles = {} if folder else {"quasi": first.published.quasi, "sensitive": first.published.sensitive}
    return _open(second, None, {**_reading(settings), **roles})


def _reading(settings: Mapping[str, object]) -> dict[str, object]:
    kept = (
        *("hierarchy", "null", "delimiter", "encoding", "decimal", "table", "query"),
        *("thousands", "date_format", "header", "names", "skip_rows", "skip_last"),
    )
    return {key: settings[key] for key in kept if settings.get(key) is not None}


def _about(opened: _Opened) -> dict[str, object]:
    published = opened.published
    return {
        "rows": len(published.labels),
        "shown": published.rows,
        "classes": len(published.sizes),
        "k": opened.policy.k,
        "smallest_class": int(published.sizes.min()),
        "quasi": list(published.quasi),
        "sensitive": list(published.sensitive),
    }


def _warnings(opened: _Opened, findings: Sequence[Finding]) -> tuple[str, ...]:
    published = opened.published
    in_rows = opened.policy.subject is not None and published.people is None
    counted = (str(Note("warning.published")),) if in_rows else ()
    unread = max((finding.unread for finding in findings), default=0)
    if not unread:
        return counted
    rows = f"{unread} of {published.rows} rows have a cell that cannot be read against the original"
    labels = f"{spelled('hierarchy', {'COL': 'FILE'})} explains labels"
    return (*counted, f"{rows}: attacks find less than there may be; {labels}.")
