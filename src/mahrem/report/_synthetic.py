"""The section of a report about made-up rows: the model they come from, and what it does not say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mahrem.words import Catalogue

__all__ = ["synthetic"]


def synthetic(report: Mapping[str, Any], catalogue: Catalogue) -> dict[str, Any]:
    """Lay out ``report["synthesis"]`` in words of the language."""
    made = report["synthesis"]
    texts = catalogue["synthetic"]
    return {
        "promise": texts["promise"],
        "intro": texts["intro"],
        "facts": [{"name": texts[key], "value": value} for key, value in _facts(made, catalogue)],
        "notes": [texts["not_measured"]],
        "limits_intro": texts["limits_intro"],
        "limits": texts["limits"],
    }


def _facts(made: Mapping[str, Any], catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    yield "guarantee", made["guarantee"]
    model = made.get("model", {})
    together = [clique for clique in model.get("cliques", ()) if len(clique) > 1]
    if together:
        yield "cliques", "; ".join(" \N{MULTIPLICATION SIGN} ".join(clique) for clique in together)
    if model.get("groups"):
        sizes = (f"{name}: {catalogue.number(size)}" for name, size in model["groups"].items())
        yield "groups", ", ".join(sizes)
    noise = model.get("deviation")
    if noise and noise.get("cliques") is not None:
        shown = {key: catalogue.number(value, 2) for key, value in noise.items()}
        yield "deviation", catalogue["synthetic"]["deviation_value"].format(**shown)
    for key in ("rules", "left_out"):
        if made.get(key):
            yield key, ", ".join(made[key])
