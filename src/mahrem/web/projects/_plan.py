"""From what a project holds to what a verb is told."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from mahrem import check
from mahrem.models import model_settings
from mahrem.partition import METHODS
from mahrem.pipeline.masking import SHARED
from mahrem.web._errors import Refused
from mahrem.web._orders import Json
from mahrem.web._settings import ServeSettings
from mahrem.web.bodies import DECLARED, Columns, Project, ReleasePromises, settings_of_column
from mahrem.web.projects._needs import needs_table
from mahrem.web.projects._sources import pick_file

KEY = "pseudonym.key"  # in the folder of a project
OWN_CLUSTER = "local[*]"  # Spark within this machine needs no declaration


def settings_of(project: Project, folder: Path, server: ServeSettings) -> Json:
    """Give the settings of a release, by the names every verb knows; they are judged as a policy is."""
    needs_table(project)
    settings = _settings(project.choices or Columns(columns={}), project.promises or ReleasePromises())
    used = {
        name: file
        for name, file in project.hierarchies.items()
        if name in {*settings["quasi"], *settings["sensitive"]}
    }
    if used:
        settings["hierarchy"] = {name: str(folder / file) for name, file in used.items()}
    if settings.get("pseudonym"):
        settings["pseudonym"] = dict.fromkeys(settings["pseudonym"], str(_key_of(folder)))
    for name in DECLARED & settings.keys():
        place = settings[name]
        settings[name] = str(pick_file(server, place["folder"], place["path"])[0])
    if settings.get("master") is not None:
        check.one_of((OWN_CLUSTER, *server.masters), master=settings["master"])
    if not settings["quasi"]:
        raise Refused(
            409,
            "no_roles",
            "No column is named as something others may know",
            "Give at least one column the role quasi-identifier.",
        )
    return settings


def mask_settings_of(project: Project, verb: str, folder: Path, server: ServeSettings) -> Json:
    """Give what was decided about columns as a verb beside a release takes it; the rest is not said to it.

    The lattice takes what a release takes, under a method that lifts columns.

    Raises:
        Refused: If k is asked for of rows, and people have several.
    """
    settings = settings_of(project, folder, server)
    if verb == "lattice":
        lifts = METHODS[settings["method"]].full_domain if settings["method"] in METHODS else False
        return settings if lifts else {**settings, "method": "flash", "options": {}}
    subject = settings.get("subject")
    if verb == "suppress" and subject is not None:
        columns = {column["name"]: column for column in needs_table(project)["columns"]}
        if columns[subject]["distinct"] < columns[subject]["rows"]:
            raise Refused(409, "rows_not_people", column=subject)
    kept = {name: settings[name] for name in SHARED[verb] if settings.get(name) not in (None, [], {}, "")}
    if "sensitive" in kept:
        kept["sensitive"] = list(kept["sensitive"])
    return {**kept, **({"rest": "drop"} if "rest" in SHARED[verb] else {})}


def decided_elsewhere(project: Project, verb: str) -> list[str]:
    """Name settings of columns that were decided for a release and do nothing under another verb."""
    if verb == "lattice":
        return []
    settings = _settings(project.choices or Columns(columns={}), project.promises or ReleasePromises())
    unused = [name for name in settings_of_column() if name in settings and name not in SHARED[verb]]
    own = {name for promises in settings["sensitive"].values() for name in promises}
    return [*unused, *sorted(own)]


def decisions_of(project: Project) -> str:
    """Give a hash of all that was decided about a table; a result made under another one is old."""
    decided = project.model_copy(
        update={
            "choices": project.choices or Columns(columns={}),
            "promises": project.promises or ReleasePromises(),
        }
    )
    parts = {"source", "reading", "choices", "promises", "hierarchies"}
    return hashlib.sha256(decided.model_dump_json(include=parts).encode()).hexdigest()


def _key_of(folder: Path) -> Path:
    """Give the key of a project's pseudonyms; it is made when it is first needed."""
    from mahrem.files import shared_key

    shared_key(folder / KEY)
    return folder / KEY


def check_choices(project: Project, choices: Columns, promises: ReleasePromises) -> None:
    """Refuse choices that no release could be made with, by the same rules as a policy."""
    from mahrem.release.decisions import Policy

    names = [column["name"] for column in needs_table(project)["columns"]]
    check.columns_exist([*choices.columns, *([choices.subject] if choices.subject else [])], names)
    Policy.of(_settings(choices, promises))


def policy_text(project: Project) -> str:
    """Write what is decided as a policy file: what a release would say of it, and how the file is read."""
    import tomli_w

    from mahrem.release.decisions import Policy

    needs_table(project)
    reading = {
        name: value for name, value in project.reading.model_dump().items() if value not in (None, [], {})
    }
    settings = _settings(project.choices or Columns(columns={}), project.promises or ReleasePromises())
    return tomli_w.dumps(
        Policy.of({**reading, **{k: v for k, v in settings.items() if k not in DECLARED}}).public()
    )


def check_methods(names: Iterable[str]) -> None:
    """Refuse a method nobody knows."""
    for name in names:
        check.one_of(METHODS, method=name)


def _settings(choices: Columns, promises: ReleasePromises) -> Json:
    """Put what was decided about columns and promises into the words of a policy."""
    settings = {key: value for key, value in promises.model_dump().items() if value is not None}
    roles: dict[str, list[str]] = {"quasi": [], "identifier": [], "insensitive": []}
    sensitive: dict[str, Json] = {}
    of_columns: dict[str, Json] = {}
    for name, choice in choices.columns.items():
        if choice.role == "drop":
            continue
        if choice.role == "sensitive":
            sensitive[name] = dict(choice.promises)
        else:
            roles[choice.role].append(name)
        for key in settings_of_column():
            value = getattr(choice, key)
            if value is not None and value is not False:
                of_columns.setdefault(key, {})[name] = value
    known = settings_of_column()
    for key, values in of_columns.items():
        if not known[key].on_page:  # the server keeps the file
            settings[key] = dict.fromkeys(values, KEY)
        else:
            settings[key] = values if known[key].reader.inner is not None else list(values)
    if not sensitive:
        settings = {key: value for key, value in settings.items() if key not in model_settings()}
    return {**settings, **roles, "sensitive": sensitive, "rest": "drop", "subject": choices.subject}
