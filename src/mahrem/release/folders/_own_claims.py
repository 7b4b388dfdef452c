"""What a release folder says of itself, and whether its parts say the same."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mahrem.errors import InvalidInput, InvalidParameter, Tampered, shorten
from mahrem.models import COUNTED, MODELS, model_of_risk, model_settings
from mahrem.partition import METHODS
from mahrem.release._recipe import BY_RECIPE, RECIPE
from mahrem.release.decisions import Policy, read_policy
from mahrem.release.folders._folder import DATA_FILES, HASHES, SIGNATURE, check_hashes, is_release
from mahrem.table import EVERY, FORMATS
from mahrem.table.writing import exported_names

POLICY, REPORT, PAGE = "policy.toml", "report.json", "report.html"
_PROMISED = (
    *("k", "delta_presence", "known_absence", "trajectory_k", "strategy", "bounds", "cells", "order"),
    *("subject", "decimal"),
)


@dataclass(frozen=True, kw_only=True)
class OwnClaims:
    """What a release promises of its own published columns, as its policy says and its report confirms.

    Attributes:
        settings: Promises and roles by the names of settings; how the input was read is past.
        rows: Published rows.
        counted: Promises whose people were counted in a table of the population.
        hides: Rows that show nothing were meant to.
        spreadsheets: Text that begins like a formula has an apostrophe before it.
    """

    settings: Mapping[str, Any]
    rows: int
    counted: tuple[str, ...]
    hides: bool
    spreadsheets: bool


def read_own_claims(folder: Path) -> OwnClaims | None:
    """Read what a release promises; None where no k is promised: synthetic rows, changed values.

    Guarantees:
        - Every file is as its hash says, and none is a link to somewhere else.
        - Policy and report agree in every setting, role and promise.

    Raises:
        Tampered: If they do not, or if a file is there that no release has.
        InvalidParameter: If the folder is no release at all.
    """
    if not is_release(folder):
        name = folder.resolve().name
        raise InvalidParameter(f"source={name!r} is a folder but not a release: it lacks hashes or a report")
    check_hashes(folder)
    try:
        report = json.loads((folder / REPORT).read_text(encoding="utf-8"))
        if not (folder / POLICY).is_file():
            if "synthesis" in report or report.get("promises_k") is False:
                return None
            raise _tampered(folder, f"{POLICY} is gone")
        settings = read_policy(folder / POLICY)
        return _claims(folder, settings, report)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        if isinstance(error, InvalidParameter | InvalidInput):
            raise _tampered(folder, f"{POLICY} is not what a release has") from error
        raise _tampered(folder, f"{REPORT} is not what a release has") from None


def _claims(folder: Path, settings: dict[str, Any], report: Mapping[str, Any]) -> OwnClaims:
    reported = report["settings"]
    differing = sorted(key for key in {*settings, *reported} if settings.get(key) != reported.get(key))
    if differing:
        raise _tampered(folder, f"{POLICY} and {REPORT} differ in {shorten(differing)}")
    aside = {
        "delta_presence",
        "known_absence",
        *_counted(settings, report),
        *(["method"] if settings.get("method") == BY_RECIPE else []),
    }  # judged below
    policy = Policy.of({key: value for key, value in settings.items() if key not in aside})
    quasi, sensitive = _published(folder, policy, report)
    _check_roles(folder, policy, report)
    _check_promises(folder, policy, settings, report, sensitive)
    _check_files(folder, policy.format)
    promised = {key: settings[key] for key in (*model_settings(), *_PROMISED) if key in settings}
    promised |= _about_risk(settings)
    promised["quasi"] = quasi
    promised["sensitive"] = {sensitive[name]: figures for name, figures in policy.sensitive.items()}
    accepted = [name for name in policy.accept if name != EVERY]
    shown = dict(zip(accepted, exported_names(accepted, policy.format), strict=True)) | {EVERY: EVERY}
    promised["accept"] = {shown[name]: reason for name, reason in policy.accept.items()}
    for key in ("kind", "order"):
        values = settings.get(key, {})
        promised[key] = {sensitive[name]: value for name, value in values.items() if name in sensitive}
    return OwnClaims(
        settings=promised,
        rows=int(report["rows"]),
        counted=tuple(_counted(settings, report)),
        hides=_hides(settings),
        spreadsheets=FORMATS[policy.format].spreadsheets,
    )


def _counted(settings: Mapping[str, object], report: Mapping[str, Any]) -> dict[str, str]:
    """Give promises that were counted in a table of the population, which is private: model by setting."""
    models = {promise["model"] for promise in report["promises"]}
    return {
        name: model
        for name, model in COUNTED.items()
        if name in settings and "fraction" not in settings and (model in models or name == "k_map")
    }


def _about_risk(settings: Mapping[str, object]) -> dict[str, object]:
    """Give the figures of models about risk, and the share of the population that they speak of."""
    figures = [entry.figure.name for entry in MODELS.values() if entry.fraction]
    asked = {key: settings[key] for key in (*figures, "population_uniqueness_kind") if key in settings}
    return {**asked, "fraction": settings["fraction"]} if asked and "fraction" in settings else asked


def _published(folder: Path, policy: Policy, report: Mapping[str, Any]) -> tuple[list[str], dict[str, str]]:
    """Give the published columns of quasi-identifiers, and the published name of each sensitive one."""
    shown = report["published"]
    quasi = list(shown["quasi"])
    sensitive = exported_names(list(policy.sensitive), policy.format)
    if not _stand_for(quasi, policy) or list(shown["sensitive"]) != sensitive:
        raise _tampered(folder, f"{REPORT} names other published columns than {POLICY}")
    return quasi, dict(zip(policy.sensitive, sensitive, strict=True))


def _stand_for(shown: Sequence[str], policy: Policy) -> bool:
    """Say whether published columns are those of the quasi-identifiers, one or two for each."""
    left = list(shown)
    for name in policy.quasi:
        ends = exported_names([f"{name}_min", f"{name}_max"], policy.format)
        if policy.cells == "pairs" and left[:2] == ends:
            left = left[2:]
        elif left[:1] == exported_names([name], policy.format):
            left = left[1:]
        else:
            return False
    return bool(policy.quasi) and not left


def _check_roles(folder: Path, policy: Policy, report: Mapping[str, Any]) -> None:
    for role, names in (("quasi", policy.quasi), ("sensitive", tuple(policy.sensitive))):
        reported = {name for name, column in report["columns"].items() if column.get("role") == role}
        if reported != set(names):
            raise _tampered(folder, f"{REPORT} and {POLICY} name other {role} columns")


def _check_promises(
    folder: Path,
    policy: Policy,
    settings: Mapping[str, Any],
    report: Mapping[str, Any],
    published: Mapping[str, str],
) -> None:
    """A release says of each promise that it holds; a promise that is gone or weaker was taken away."""
    wanted = [(promise.model.name, promise.column, promise.model.wanted) for promise in policy.promises()]
    presence = settings.get("delta_presence")
    if presence is not None:
        name = "delta-presence-shown" if settings.get("known_absence") == "allowed" else "delta-presence"
        wanted.append((name, None, presence[1]))
    wanted += [
        (name, None, model_of_risk(name, settings[setting]).wanted)
        for setting, name in _counted(settings, report).items()
    ]
    reported = [(promise["model"], promise["column"], promise["wanted"]) for promise in report["promises"]]
    for model, column, figure in wanted:
        names = {column, None if column is None else published.get(column)}
        if not {(model, name, figure) for name in names} & set(reported):
            raise _tampered(folder, f"{REPORT} does not tell what {POLICY} promises: {model}")
    if not wanted:
        raise _tampered(folder, f"{POLICY} promises nothing")
    if report["holds"] is not True or not all(promise["holds"] is True for promise in report["promises"]):
        raise _tampered(folder, f"{REPORT} says of a release that it does not hold")


def _check_files(folder: Path, form: str) -> None:
    """A release has one data file, in the format its policy names, and nothing that is not of a release."""
    known = {POLICY, REPORT, PAGE, RECIPE, HASHES, SIGNATURE, f"data.{form}"}
    strange = sorted(path.name for path in folder.iterdir() if path.name not in known)
    if strange:
        kind = "a second table" if set(strange) & set(DATA_FILES) else "what no release has"
        raise _tampered(folder, f"it holds {kind}: {shorten(strange)}")


def _hides(settings: Mapping[str, Any]) -> bool:
    """Say whether a release may hold suppressed rows."""
    method = METHODS.get(settings.get("method", ""))
    by_method = method is not None and method.full_domain and settings.get("suppression_limit", 0) > 0
    by_method &= settings.get("suppressed", "hidden") == "hidden"  # else such rows show something
    by_method |= settings.get("method") == BY_RECIPE
    return bool(settings.get("missing") == "suppress" or by_method)


def _tampered(folder: Path, what: str) -> Tampered:
    return Tampered(f"release={folder.resolve().name!r} is not what was released: {what}")
