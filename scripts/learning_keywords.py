"""Write the keywords of ``train`` and ``synthesize`` for type checkers, from their specs of settings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mahrem.learning.synthesis import SynthesisSettings
from mahrem.learning.training import TrainingSettings
from mahrem.settings import Setting, keyword_list, settings_of
from mahrem.words import load_catalogue

LEARNING = Path(__file__).parent.parent / "src" / "mahrem" / "learning"
TRAINING, SYNTHESIS = LEARNING / "training" / "_keywords.py", LEARNING / "synthesis" / "_keywords.py"
IMPORTS = {
    "collections.abc": ("Hashable", "Mapping", "Sequence"),
    "pathlib": ("Path",),
    "typing": ("Any", "TypedDict"),
}


def keyword_module(name: str, settings: Mapping[str, Setting], docstring: str) -> str:
    """Write a module with one ``TypedDict``: a name, a type and a sentence for every setting."""
    body = keyword_list(name, settings, says=docstring)
    used = {module: [word for word in words if word in body] for module, words in IMPORTS.items()}
    imports = [f"from {module} import {', '.join(words)}" for module, words in used.items() if words]
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
    training, synthesis = settings_of(TrainingSettings), settings_of(SynthesisSettings)
    how = described("How to learn from a table with differential privacy.", training, "train")
    made = described("How a synthetic table is made.", synthesis, "synthesize")
    return {
        TRAINING: keyword_module("TrainingKeywords", training, how),
        SYNTHESIS: keyword_module("SynthesisKeywords", synthesis, made),
    }


if __name__ == "__main__":
    for path, content in modules().items():
        path.write_text(content, encoding="utf-8")
