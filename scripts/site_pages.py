"""Pages of the site that are made from the code: a hook of mkdocs (mkdocs.yml), and checks of the others.

``reference/python.md`` lists every public name, ``things.md`` every entry, ``commands.md`` every verb with
its options, ``results.md`` exit codes, the keys of ``report.json`` with their schema and of what verbs print,
``settings.md`` every setting of every verb.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import typing
from collections.abc import Iterator, Mapping
from typing import Any

from figures import faults, sources_of
from gallery import example_pages
from site_json import json_schema, keys_of, printed_by_verbs

import mahrem
from mahrem import errors
from mahrem.attacks import ATTACKS
from mahrem.cli._app import build_app
from mahrem.dp import LedgerSettings
from mahrem.dp.queries import QUERIES, QuerySettings
from mahrem.entries import Entries, Entry
from mahrem.federated.weights import AGGREGATIONS
from mahrem.learning.synthesis import SYNTHESISERS, SynthesisSettings
from mahrem.learning.training import TrainingSettings
from mahrem.metrics import METRICS
from mahrem.models import MODELS
from mahrem.partition import METHODS
from mahrem.perturbation import PERTURBATIONS
from mahrem.pipeline.comparing import Sweep
from mahrem.pipeline.masking import (
    GeneralisationSettings,
    PerturbationSettings,
    RiskSettings,
    SuppressionSettings,
)
from mahrem.release.decisions import release_settings
from mahrem.report import Report
from mahrem.settings import Setting, settings_of
from mahrem.table import FORMATS
from mahrem.web import ServeSettings
from mahrem.words import explain_entry, explain_setting, load_catalogue

# A list of entries: its heading, where its words stand, and the entry point that adds to it.
THINGS: Mapping[str, tuple[Entries[Any], str | None, str]] = {
    "Methods": (METHODS, "page.choice.method", "mahrem.methods"),
    "Privacy models": (MODELS, "model", "mahrem.models"),
    "Figures of utility": (METRICS, "utility", "mahrem.metrics"),
    "File formats": (FORMATS, "format", "mahrem.formats"),
    "Questions": (QUERIES, "query", "mahrem.queries"),
    "Attacks": (ATTACKS, "attack", "mahrem.attacks"),
    "Perturbations": (PERTURBATIONS, None, "mahrem.perturbations"),
    "Synthesisers": (SYNTHESISERS, None, "mahrem.synthesisers"),
    "Aggregation rules": (AGGREGATIONS, None, "mahrem.aggregations"),
}
# Verbs with settings of their own, by the words that explain these.
SPECS: Mapping[str, type] = {
    "compare": Sweep,
    "suppress": SuppressionSettings,
    "perturb": PerturbationSettings,
    "generalize": GeneralisationSettings,
    "risk": RiskSettings,
    "ledger": LedgerSettings,
    "query": QuerySettings,
    "train": TrainingSettings,
    "synthesize": SynthesisSettings,
    "serve": ServeSettings,
}
ROOMS = (
    "dp",
    "dp.queries",
    "learning.rules",
    "learning.private",
    "learning.synthesis",
    "models",
    "partition",
    "metrics",
)


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are made to those that are written (called by mkdocs)."""
    from mkdocs.structure.files import File

    for name, text in made_pages().items():
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    schema = json.dumps(json_schema(Report, "report.json"), indent=2)
    files.append(File.generated(config, "reference/report.schema.json", content=schema))
    for name, text in example_pages().items():
        files.append(File.generated(config, f"gallery/{name}", content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: object) -> str:
    """Say where a page's figures come from, and build none with figures of no source (called by mkdocs)."""
    from mkdocs.exceptions import PluginError

    if page.file.src_uri.startswith(("reference/", "gallery/")):
        return markdown
    name = f"docs/{page.file.src_uri}"
    found = faults(name, markdown)
    if found:
        raise PluginError("; ".join(found))
    return markdown + sources_of(name, markdown)


def made_pages() -> dict[str, str]:
    """Give the pages of the reference that are made from the code, by name."""
    return {
        "python": python(),
        "things": things(),
        "commands": commands(),
        "results": results(),
        "settings": settings(),
    }


def python() -> str:
    """List what ``import mahrem`` gives, and what lives in its rooms."""
    lines = ["# Python", "", "`import mahrem as mh`; everything is loaded when it is first used.", ""]
    lines += [f"::: mahrem.{name}\n" for name in mahrem.__all__]
    for room in ROOMS:
        lines += [
            f"## mahrem.{room}",
            "",
            f"::: mahrem.{room}",
            "    options:",
            "      show_root_heading: false",
        ]
        lines += ["      members: false", ""]
    return "\n".join(lines)


def things() -> str:
    """List every entry: what a person says, what it is, where it lives."""
    catalogue = load_catalogue("en")
    lines = [
        "# Things by name",
        "",
        "Each is one entry; other distributions add to the lists through entry points",
        "",
    ]
    for heading, (entries, words, point) in THINGS.items():
        lines += [
            f"## {heading}",
            "",
            f"Entry point `{point}`.",
            "",
            "| name | what it is | lives in |",
            "|---|---|---|",
        ]
        for name, entry in entries.items():
            title, sentence = (entry.name, "") if words is None else explain_entry(catalogue, words, entry)
            if (title, sentence) == (entry.name, ""):
                title, sentence = _documented(entry)
            means = ". ".join(part.strip(" .") for part in (title, sentence) if part and part != name) or "–"
            lines.append(f"| `{name}` | {_in_cell(means)} | `{entry.home}` |")
        lines.append("")
    return "\n".join(lines)


def settings() -> str:
    """Write the page that lists every setting."""
    catalogue = load_catalogue("en")
    pages = ["# Settings", "", "## Of a release", ""]
    pages += [
        "In Python each is a keyword of",
        "`mh.anonymize`, in a policy file a key (`mahrem policies --template` prints one with all of them),",
        "on the command line an option, on the page a field.",
    ]
    groups: dict[str, list[Setting]] = {}
    for known in release_settings().values():
        groups.setdefault(known.group, []).append(known)
    for group, members in groups.items():
        pages += ["", f"### {catalogue['setting_group'][group]}", ""]
        pages += ["| key | option | what it says | on Spark | published |", "|---|---|---|---|---|"]
        for known in members:
            option = "" if known.hidden else f"`{known.spelling.replace(' ', '`, `')}`"
            means = explain_setting(catalogue, "release", known).replace("|", r"\|")
            spark, public = ("yes" if fact else "no" for fact in (known.on_spark, not known.private))
            pages.append(f"| `{known.name}` | {option} | {means} | {spark} | {public} |")
    for verb, spec in SPECS.items():
        pages += ["", f"## Of {verb}", ""]
        pages += [
            "Roles of columns and how a table is read are settings of a release." if verb != "serve" else "",
            "",
        ]
        pages += ["| key | option | what it says |", "|---|---|---|"]
        for known in settings_of(spec).values():
            option = "" if known.hidden else f"`{known.spelling.replace(' ', '`, `')}`"
            means = _in_cell(explain_setting(catalogue, verb, known))
            pages.append(f"| `{known.name}` | {option} | {means} |")
    return "\n".join(pages) + "\n"


def _documented(entry: Entry) -> tuple[str, str]:
    """Give the first sentence of a thing that says of itself what it is."""
    return entry.name, (inspect.getdoc(entry.load()) or "").split("\n\n", 1)[0]


def commands() -> str:
    """List every verb of the command line with its options, as its help says."""
    import typer

    lines = ["# Commands", "", "What `mahrem VERB --help` says, in one page.", ""]
    lines += _verbs(typer.main.get_command(build_app()), "mahrem")
    return "\n".join(lines)


def _verbs(command: Any, path: str) -> Iterator[str]:
    context = command.context_class(command, info_name=path)
    inner = {name: command.get_command(context, name) for name in _listed(command, context)}
    if not inner:
        yield f"## {path}"
        yield ""
        yield _without_markup(command.help or "")
        yield ""
        options = [known for known in command.get_params(context) if not getattr(known, "hidden", False)]
        yield from ("| option | meaning |", "|---|---|")
        for known in options:
            means = _without_markup(getattr(known, "help", "") or "")
            names = "`, `".join((*known.opts, *known.secondary_opts))
            yield f"| `{names}` | {_in_cell(means)} |"
        yield ""
    for name, verb in inner.items():
        if verb is not None and not verb.hidden:
            yield from _verbs(verb, f"{path} {name}")


def _listed(command: Any, context: Any) -> list[str]:
    return list(command.list_commands(context)) if hasattr(command, "list_commands") else []


def results() -> str:
    """List exit codes, the keys of ``report.json`` and those of what verbs print."""
    lines = [
        "# Exit codes and JSON",
        "",
        "## Exit codes",
        "",
        "| code | means | raised as |",
        "|---|---|---|",
    ]
    lines.append("| 0 | done, and verified | |")
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass)]
    ours = [kind for kind in kinds if issubclass(kind, errors.MahremError) and kind is not errors.MahremError]
    for kind in sorted(ours, key=lambda kind: (kind.exit_code, kind.__name__)):
        first = (inspect.getdoc(kind) or "").split("\n", 1)[0]
        lines.append(f"| {kind.exit_code} | {_in_cell(first)} | `{kind.__name__}` |")
    lines += [
        "",
        "## report.json",
        "",
        "A key that may be missing is not written while there is nothing to say.",
        "[report.schema.json](report.schema.json) says the same as a JSON Schema.",
        "",
    ]
    seen: set[type] = set()
    lines += _schema(Report, seen)
    lines += ["## What verbs print", "", "`mahrem VERB … --json`, as printed of a small table; names of", ""]
    lines[-2] += " columns, models and methods are those of that table. Of a list, its first entry is shown."
    for verb, content in printed_by_verbs().items():
        lines += [f"### mahrem {verb}", "", "| key | type |", "|---|---|"]
        lines += [f"| `{key}` | {kind} |" for key, kind in keys_of(content)]
        lines.append("")
    return "\n".join(lines) + "\n"


def _schema(kind: type, seen: set[type]) -> Iterator[str]:
    """Give the fields of a dataclass of figures, then those of the dataclasses in it."""
    seen.add(kind)
    yield from (f"### {kind.__name__}", "", (inspect.getdoc(kind) or "").split("\n\n", 1)[0], "")
    yield from ("| key | type | may be missing |", "|---|---|---|")
    hints = typing.get_type_hints(kind)
    inner: list[type] = []
    for known in dataclasses.fields(kind):
        told = str(known.type).replace("|", r"\|")
        optional = known.default is None and "always" not in known.metadata
        yield f"| `{known.name}` | `{told}` | {'yes' if optional else 'no'} |"
        inner += [part for part in _parts(hints[known.name]) if dataclasses.is_dataclass(part)]
    yield ""
    for part in inner:
        if part not in seen and part.__module__.startswith("mahrem.report"):
            yield from _schema(part, seen)


def _parts(hint: Any) -> Iterator[type]:
    if isinstance(hint, type):
        yield hint
    for argument in typing.get_args(hint):
        yield from _parts(argument)


def _without_markup(text: str) -> str:
    return re.sub(r"\[/?[a-z ]+\]", "", text).replace("\b", "")


def _in_cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|").replace("<", "&lt;")
