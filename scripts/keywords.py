"""Write keywords for type checkers, from the specs of settings of verbs and of ledgers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mahrem.dp import LedgerSettings
from mahrem.dp.queries import QuerySettings
from mahrem.learning.synthesis import SynthesisSettings
from mahrem.learning.training import TrainingSettings
from mahrem.settings import Setting, keyword_list, settings_of
from mahrem.words import load_catalogue

ROOMS = Path(__file__).parent.parent / "src" / "mahrem"
IMPORTS = {
    "collections.abc": ("Hashable", "Mapping", "Sequence"),
    "pathlib": ("Path",),
    "typing": ("Any", "TypedDict"),
    "mahrem.table": ("ColumnDeclaration",),
}


def keyword_module(name: str, settings: Mapping[str, Setting], docstring: str) -> str:
    """Write a module with one ``TypedDict``: a name, a type and a sentence for every setting."""
    body = keyword_list(name, settings, says=docstring)
    used = {module: [word for word in words if word in body] for module, words in IMPORTS.items()}
    imports = [f"from {module} import {', '.join(words)}" for module, words in used.items() if words]
    if used["mahrem.table"]:
        imports.insert(-1, "")
    first = f'"""Keywords of settings, made by scripts/{Path(__file__).name}."""'
    future = "from __future__ import annotations"
    return "\n".join([first, "", future, "", *imports, "", f'__all__ = ["{name}"]', "", "", body])


def described(first: str, settings: Mapping[str, Setting], words: str) -> str:
    """Give a docstring that says of every setting what it means, in the words of the catalogue."""
    means = load_catalogue("en")["setting"][words]
    lines = [first, "", "    Attributes:"]
    for name, known in settings.items():
        choices = ", ".join(known.choices()) if known.choices is not None else ""
        lines.append(f"        {name}: {means[name].format(choices=choices, default=known.default)}")
    return "\n".join([*lines, "    "])


def modules() -> dict[Path, str]:
    """Give every file this script writes, with what it must hold."""
    specs = {
        "learning/training": (
            TrainingSettings,
            "train",
            "How to learn from a table privately.",
        ),
        "learning/synthesis": (SynthesisSettings, "synthesize", "How a synthetic table is made."),
        "dp/queries": (
            QuerySettings,
            "query",
            "How a question is answered.",
        ),
        "dp": (LedgerSettings, "ledger", "The promise a ledger counts by, and what is public."),
    }
    return {
        ROOMS / room / "_keywords.py": keyword_module(
            spec.__name__.replace("Settings", "Keywords"),
            settings_of(spec),
            described(first, settings_of(spec), words),
        )
        for room, (spec, words, first) in specs.items()
    }


if __name__ == "__main__":
    for path, content in modules().items():
        path.write_text(content, encoding="utf-8")
