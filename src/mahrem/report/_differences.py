"""Two releases side by side, as one page: verdicts first, then what differs, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mahrem.metrics import METRICS
from mahrem.report._html import VerdictView, draw_front, draw_verdict, load_template
from mahrem.report._report import Report
from mahrem.report.sections import ValueRow, write_value
from mahrem.words import Catalogue, explain_entry, load_catalogue

_ABOUT = ("promises", "figures", "columns", "settings")  # what an officer asks first stands first


@dataclass(frozen=True, kw_only=True)
class _Side:
    name: str
    verdict: VerdictView
    provenance: Sequence[ValueRow]


def differences_page(
    reports: Mapping[str, Report],
    differences: Mapping[str, Mapping[str, Sequence[Any]]],
    language: str = "en",
) -> str:
    """Draw what two releases say of themselves, and where they differ, as a self-contained page.

    Args:
        reports: Two reports, each under the name of its release.
        differences: By part and name the value in the first and in the second, as
            :func:`mahrem.release.difference` gives them.
        language: One of :data:`LANGUAGES`.

    Guarantees:
        - The page holds no script and no address, and loads nothing.
        - Every text is escaped.
    """
    words = load_catalogue(language)
    sides = [
        _Side(name=name, verdict=draw_verdict(report, words), provenance=draw_front(report, words).provenance)
        for name, report in reports.items()
    ]
    tables = [
        (words.say(f"differences.{about}"), list(_rows(about, differences.get(about, {}), words)))
        for about in _ABOUT
    ]
    return load_template("differences").render(t=words, sides=sides, tables=tables)


def _rows(
    about: str, changed: Mapping[str, Sequence[Any]], words: Catalogue
) -> Iterator[tuple[str, list[str]]]:
    for name, values in changed.items():
        share = name.startswith("risk.")
        written = [words.percent(one) if share else _written(about, one, words) for one in values]
        yield _called(about, name, words), written


def _called(about: str, name: str, words: Catalogue) -> str:
    """Call a figure or a setting as the report and the page do."""
    if about == "figures" and name in METRICS:
        return explain_entry(words, "utility", METRICS[name])[0]
    if name.startswith("risk."):
        known = words["risk"].get(name.removeprefix("risk."))
        return str(known[0]) if isinstance(known, list) else name
    if (about, name) == ("figures", "rows"):
        return words.say("front.figure.rows", 0)
    if about == "settings":
        return str(words["page"]["setting"].get(name, name))
    return name


def _written(about: str, value: Any, words: Catalogue) -> str:
    if about == "columns" and value is not None:
        return str(words["role"].get(value, value))
    if about == "promises" and isinstance(value, Mapping):
        wanted, reached = (write_value(value.get(key), words) for key in ("wanted", "reached"))
        return words.say("front.reached", wanted=wanted, reached=reached)
    return write_value(value, words)
