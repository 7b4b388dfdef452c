"""Write what is made from specs of settings and is kept in the tree: keywords for type checkers, and docs.

A test compares every file with what this script would write.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from mahrem.dp import LedgerSettings
from mahrem.dp.queries import QuerySettings
from mahrem.learning.synthesis import SynthesisSettings
from mahrem.learning.training import TrainingSettings
from mahrem.models import model_settings
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
from mahrem.settings import Setting, keyword_list, name_list, settings_of, typed_as
from mahrem.table import written_formats
from mahrem.words import describe_settings

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "mahrem"
IMPORTS = {
    "collections.abc": ("Hashable", "Mapping", "Sequence"),
    "pathlib": ("Path",),
    "typing": ("Any", "Literal", "TypedDict"),
    "mahrem.partition": ("MethodName",),
    "mahrem.table": ("ColumnDeclaration", "FormatName"),
    "mahrem.words": ("LanguageName",),
}


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
    if home != "typing":
        imports.append(f"from {home} import {over}")
    ours = sorted(line for line in imports if line.startswith("from mahrem"))
    others = [line for line in imports if line not in ours]
    imports = [*others, "", *ours] if ours else others
    first = f'"""Keywords of settings, made by scripts/{Path(__file__).name}."""'
    future = "from __future__ import annotations"
    return "\n".join([first, "", future, "", *imports, "", "", "\n\n".join(bodies)])


def described(first: str, settings: Mapping[str, Setting], words: str) -> str:
    """Give a docstring that says of every setting what it means."""
    return "\n".join(
        [first, "", "    Attributes:", *describe_settings(words, settings, indent=8, kept=True), "    "]
    )


def with_names(home: Path, listed: str, names: Iterable[str]) -> tuple[Path, str]:
    """Give a module of entries with the names of all of them, for type checkers."""
    line = name_list(listed, names)
    pattern = rf"^{listed} = Literal\[.*?\]$"
    return home, re.sub(
        pattern, line, home.read_text(encoding="utf-8"), count=1, flags=re.DOTALL | re.MULTILINE
    )


def with_figures(home: Path) -> tuple[Path, str]:
    """Give the module of privacy models with the settings that ask for those of sensitive columns."""
    says = "Figures of privacy models of sensitive columns."
    head, _, _ = home.read_text(encoding="utf-8").partition("class ModelKeywords(")
    return home, head + keyword_list("ModelKeywords", model_settings(), says=says)


def files() -> dict[Path, str]:
    """Give every file this script writes, with what it must hold."""
    specs: Mapping[str, tuple[type, str, str]] = {
        "learning/training": (TrainingSettings, "train", "How to learn from a table privately."),
        "learning/synthesis": (SynthesisSettings, "synthesize", "How a synthetic table is made."),
        "dp/queries": (QuerySettings, "query", "How a question is answered."),
        "dp": (LedgerSettings, "ledger", "The promise a ledger counts by, and what is public."),
    }
    about = "What may be said about a release; ``help(mahrem.anonymize)`` says what each means."
    figures = model_settings()
    own = {name: known for name, known in release_settings().items() if name not in figures}
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
            "ReleaseKeywords", own, about, "ModelKeywords", "mahrem.models"
        ),
        **dict(
            (
                with_figures(SOURCE / "models" / "_entries.py"),
                with_names(
                    SOURCE / "partition" / "_entries.py", "MethodName", release_settings()["method"].choices()
                ),
                with_names(SOURCE / "table" / "_formats.py", "FormatName", written_formats()),
            )
        ),
    }


if __name__ == "__main__":
    for path, content in files().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, encoding="utf-8")
