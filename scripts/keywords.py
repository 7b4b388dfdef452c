"""Write what is made from specs of settings and is kept in the tree: keywords for type checkers, and docs.

A test compares every file with what this script would write.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path

from mahrem.dp import LedgerSettings
from mahrem.dp.queries import QuerySettings
from mahrem.learning.synthesis import SynthesisSettings
from mahrem.learning.training import TrainingSettings
from mahrem.pipeline.comparing import Sweep
from mahrem.pipeline.masking import (
    GeneralisationSettings,
    PerturbationSettings,
    RiskSettings,
    SuppressionSettings,
    level_settings,
    masking_settings,
)
from mahrem.release.decisions import release_settings
from mahrem.settings import Setting, keyword_list, settings_of, typed_as
from mahrem.words import explain_setting, load_catalogue

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "mahrem"
IMPORTS = {
    "collections.abc": ("Hashable", "Mapping", "Sequence"),
    "pathlib": ("Path",),
    "typing": ("Any", "Literal", "TypedDict"),
    "mahrem.table": ("ColumnDeclaration",),
}
ANONYMIZE = SOURCE / "pipeline" / "releasing" / "_anonymize.py"
WIDTH = 110


def keyword_module(
    name: str, settings: Mapping[str, Setting], docstring: str, over: str = "TypedDict", home: str = "typing"
) -> str:
    """Write a module with one ``TypedDict``: a name, a type and a sentence for every setting."""
    return _module([keyword_list(name, settings, says=docstring, over=over)], settings.values(), over, home)


def masking_keywords() -> str:
    """Write what the verbs take that hide cells, change values, lift columns or measure risk."""
    about = "Roles of columns, how a source is read, what columns are worth: settings of a release."
    lifted = "Hierarchies, how a source is read, what columns are worth: settings of a release."
    verbs: Mapping[str, tuple[type, str]] = {
        "suppress": (SuppressionSettings, "How cells are hidden."),
        "perturb": (PerturbationSettings, "How values are changed."),
        "risk": (RiskSettings, "How the risk of a table is measured."),
    }
    shared = keyword_list("MaskingKeywords", masking_settings(), says=about)
    bodies = [
        keyword_list(
            spec.__name__.replace("Settings", "Keywords"),
            settings_of(spec),
            says=described(first, settings_of(spec), words),
            over="MaskingKeywords",
        )
        for words, (spec, first) in verbs.items()
    ]
    own = settings_of(GeneralisationSettings)
    bodies += [
        keyword_list("LevelKeywords", level_settings(), says=lifted),
        keyword_list(
            "GeneralisationKeywords",
            own,
            says=described("How levels are chosen and rows sampled.", own, "generalize"),
            over="LevelKeywords",
        ),
    ]
    every = [*masking_settings().values(), *level_settings().values(), *own.values()]
    every += [known for spec, _ in verbs.values() for known in settings_of(spec).values()]
    return _module([shared, *bodies], every, "TypedDict", "typing")


def _module(bodies: Iterable[str], settings: Iterable[Setting], over: str, home: str) -> str:
    kinds = "\n".join(typed_as(known) for known in settings)
    used = {
        module: [word for word in words if word == over or re.search(rf"\b{word}\b", kinds)]
        for module, words in IMPORTS.items()
    }
    imports = [f"from {module} import {', '.join(words)}" for module, words in used.items() if words]
    if used["mahrem.table"]:
        imports.insert(-1, "")
    if home != "typing":
        imports += ["", f"from {home} import {over}"]
    first = f'"""Keywords of settings, made by scripts/{Path(__file__).name}."""'
    future = "from __future__ import annotations"
    return "\n".join([first, "", future, "", *imports, "", "", "\n\n".join(bodies)])


def attributes(settings: Mapping[str, Setting], words: str, indent: str) -> Iterable[str]:
    """Give a line or more of a docstring for every setting, in the words of the catalogue."""
    for name, known in settings.items():
        sentence = f"{name}: {explain_setting(load_catalogue('en'), words, known)}"
        yield from textwrap.wrap(
            sentence,
            WIDTH,
            initial_indent=indent,
            subsequent_indent=f"{indent}    ",
            break_long_words=False,
            break_on_hyphens=False,
        )


def described(first: str, settings: Mapping[str, Setting], words: str) -> str:
    """Give a docstring that says of every setting what it means."""
    return "\n".join([first, "", "    Attributes:", *attributes(settings, words, " " * 8), "    "])


def with_settings(text: str) -> str:
    """Give the source of ``anonymize`` with the list of its settings in its docstring."""
    lines = "\n".join(attributes(release_settings(), "release", " " * 8))
    return re.sub(
        r"(\n    Settings:\n).*?\n(\n    Guarantees:)", rf"\1{_literal(lines)}\n\2", text, flags=re.DOTALL
    )


def _literal(text: str) -> str:
    return text.replace("\\", r"\\")


def reference() -> str:
    """Write the page that lists every setting."""
    catalogue = load_catalogue("en")
    pages = ["# Settings of a release", ""]
    pages += [
        "Made from the list of settings by `scripts/keywords.py`. In Python each is a keyword of",
        "`mh.anonymize`, in a policy file a key (`mahrem policies --template` prints one with all of them),",
        "on the command line an option, on the page a field.",
    ]
    groups: dict[str, list[Setting]] = {}
    for known in release_settings().values():
        groups.setdefault(known.group, []).append(known)
    for group, members in groups.items():
        pages += ["", f"## {catalogue['setting_group'][group]}", ""]
        pages += ["| key | option | what it says | on Spark | published |", "|---|---|---|---|---|"]
        for known in members:
            option = "" if known.hidden else f"`{known.spelling.replace(' ', '`, `')}`"
            means = explain_setting(catalogue, "release", known).replace("|", r"\|")
            spark, public = ("yes" if fact else "no" for fact in (known.on_spark, not known.private))
            pages.append(f"| `{known.name}` | {option} | {means} | {spark} | {public} |")
    return "\n".join(pages) + "\n"


def files() -> dict[Path, str]:
    """Give every file this script writes, with what it must hold."""
    specs: Mapping[str, tuple[type, str, str]] = {
        "learning/training": (TrainingSettings, "train", "How to learn from a table privately."),
        "learning/synthesis": (SynthesisSettings, "synthesize", "How a synthetic table is made."),
        "dp/queries": (QuerySettings, "query", "How a question is answered."),
        "dp": (LedgerSettings, "ledger", "The promise a ledger counts by, and what is public."),
    }
    about = "What may be said about a release; ``help(mahrem.anonymize)`` says what each means."
    return {
        **{
            SOURCE / room / "_keywords.py": keyword_module(
                spec.__name__.replace("Settings", "Keywords"),
                settings_of(spec),
                described(first, settings_of(spec), words),
            )
            for room, (spec, words, first) in specs.items()
        },
        SOURCE / "pipeline" / "comparing" / "_sweep_keywords.py": keyword_module(
            "SweepKeywords",
            settings_of(Sweep),
            described(
                "What may be said to a comparison, besides what is said about a release.",
                settings_of(Sweep),
                "compare",
            ),
            "ReleaseKeywords",
            "mahrem.release.decisions",
        ),
        SOURCE / "pipeline" / "masking" / "_keywords.py": masking_keywords(),
        SOURCE / "release" / "decisions" / "_keywords.py": keyword_module(
            "ReleaseKeywords", release_settings(), about
        ),
        ANONYMIZE: with_settings(ANONYMIZE.read_text(encoding="utf-8")),
        ROOT / "docs" / "reference" / "settings.md": reference(),
    }


if __name__ == "__main__":
    for path, content in files().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, encoding="utf-8")
