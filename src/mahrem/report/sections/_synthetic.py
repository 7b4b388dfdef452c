"""How made-up rows came about: the model they were drawn from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mahrem.report._report import Report
from mahrem.report._section import FactsView, Section, ValueRow
from mahrem.words import Catalogue

__all__ = ["SECTION"]


def draw(report: Report, words: Catalogue) -> FactsView:
    """Lay out what is public about the model."""
    return FactsView(
        intro=words.say("synthetic.intro"),
        rows=tuple(
            ValueRow(name=words.say(f"synthetic.{key}"), value=value)
            for key, value in _facts(report.synthesis or {}, words)
        ),
        notes=(words.say("synthetic.not_measured"),),
    )


def _facts(synthesis: Mapping[str, Any], words: Catalogue) -> Iterator[tuple[str, str]]:
    yield "guarantee", synthesis["guarantee"]
    model = synthesis.get("model", {})
    together = [clique for clique in model.get("cliques", ()) if len(clique) > 1]
    if together:
        yield "cliques", "; ".join(" \N{MULTIPLICATION SIGN} ".join(clique) for clique in together)
    if model.get("groups"):
        sizes = (f"{name}: {words.number(size)}" for name, size in model["groups"].items())
        yield "groups", ", ".join(sizes)
    noise = model.get("deviation")
    if noise and noise.get("cliques") is not None:
        yield (
            "deviation",
            words.say("synthetic.deviation_value", columns=noise["columns"], cliques=noise["cliques"]),
        )
    for key in ("rules", "left_out"):
        if synthesis.get(key):
            yield key, ", ".join(synthesis[key])


SECTION = Section(name="synthetic", place=100, draw=draw, needs=("synthesis",), part="facts")
