"""Figures in pages say where they come from: a line ``<!-- figures: COMMAND -->`` before each measured table.

A table is measured if several of its cells are nothing but figures. Its source is a script of this repository
or a command of mahrem that prints them again; what follows the name are its arguments. The site is not built
while a table has no source, or one that is not there.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from mahrem.experiments import PAPERS

ROOT = Path(__file__).parent.parent
SOURCE = re.compile(r"^<!-- figures: (.+) -->$")
UNKNOWN = "none: "  # and why; tests/test_figures.py counts them
MOST_EXACT = 3  # so many cells with exact figures may stand in a table of words
# A figure with a point or a unit, alone in its cell or with others; counts alone are often settings.
_UNIT = r"(?:\s?(?:%|s|ms|min|h|kB|MB|GB|MiB|GiB|x|×|times))?"
_NUMBER = rf"[-−+±<>~≈≤≥*]*\s?\d*[.,]?\d+(?:[.,]\d+)*{_UNIT}[*]*"
_CELL = re.compile(rf"{_NUMBER}(?:\s?(?:/|\\\||\||,|;|±|to|and|of|–|…|→|\(|\))*\s?{_NUMBER})*\)?")
_EXACT = re.compile(r"\d*[.,]\d|\d\s?(?:%|s|ms|min|h|kB|MB|GB|MiB|GiB|x|×)(?!\w)")


class Table(NamedTuple):
    """A table with measured figures, and what it says of their source."""

    line: int
    head: str
    source: str | None


def measured_tables(text: str) -> Iterator[Table]:
    """Give the tables of a page that hold measured figures."""
    lines, place, source, shown = text.splitlines(), 0, None, False
    while place < len(lines):
        line = lines[place]
        shown ^= line.startswith("```")
        found = SOURCE.match(line)
        if found:
            source = found[1]
        elif line.startswith("|") and not shown:
            end = next((at for at in range(place, len(lines)) if not lines[at].startswith("|")), len(lines))
            if _figures(lines[place + 2 : end]) > MOST_EXACT:
                yield Table(place + 1, line, source)
            place, source = end, None
            continue
        elif line.strip():
            source = None  # it speaks of the table right after it
        place += 1


def _figures(rows: list[str]) -> int:
    cells = (
        cell.strip().strip("*") for row in rows for cell in re.split(r"(?<!\\)\|", row.strip().strip("|"))
    )
    return sum(bool(_EXACT.search(cell) and _CELL.fullmatch(cell)) for cell in cells)


def fault_of(source: str) -> str | None:
    """Say what is wrong with a source; None if all that it names is there."""
    if source.startswith(UNKNOWN):
        return None
    found = (_fault_of_command(*shlex.split(command)) for command in source.split("; "))
    return next((fault for fault in found if fault is not None), None)


def _fault_of_command(program: str, *given: str) -> str | None:
    if program == "mahrem":
        return _fault_of_paper(*given)
    if not program.startswith(("benchmarks/", "scripts/", "tests/")) or not (ROOT / program).is_file():
        return f"there is no such file: {program}"
    text = (ROOT / program).read_text("utf-8")
    return next(
        (f"{program} has no {word}" for word in given if word.startswith("--") and word not in text), None
    )


def _fault_of_paper(verb: str, paper: str, *given: str) -> str | None:
    if verb != "reproduce" or paper not in PAPERS:
        return f"mahrem {verb} {paper} prints no table of a page"
    tables = [value for option, value in pairwise(given) if option == "--table"]
    return next((f"{paper} has no table {name}" for name in tables if name not in PAPERS[paper].tables), None)


def faults(name: str, text: str) -> list[str]:
    """List what the figures of a page lack."""
    found = []
    for table in measured_tables(text):
        fault = "no source of its figures is named" if table.source is None else fault_of(table.source)
        if fault is not None:
            found.append(f"{name}:{table.line}: {fault} ({table.head[:60]})")
    return found


def pages() -> list[Path]:
    """Give the pages that people read."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
