"""Figures of pages come from records of runs (``docs/figures``): fills them in, says which have no source.

A figure is a number that was measured: in the prose of README and docs one with a point or a unit, and what
stands in the cells of a measured table. A comment names where figures come from,
``<!-- figures: RECORD/PLACE -->``: on a line of its own before a table, within prose behind the figures it
speaks of. Numbers that were not measured (settings, definitions, what others print) are listed in
``docs/figures/given.json`` with what they are.

Usage:
    python scripts/figures.py                     write the figures of the records into the pages
    python scripts/figures.py --run RECORD        run the record's command again and keep what it prints
    python scripts/figures.py --output FILE RECORD     the same from what the command has printed
    python scripts/figures.py --output FILE --addresses     list the numbers of an output by address
    python scripts/figures.py --new PLACE --command COMMAND RECORD     give a new marked place its record
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from figure_binding import bound
from figure_records import FOLDER, ROOT, Record, Shown, printed_in, today

MARK = re.compile(r"<!-- figures: ([\w.-]+)/([\w.-]+) -->")
_UNIT = (
    r"(?:%|percent|s|ms|µs|min|h|seconds?|minutes?|hours?|kB|MB|GB|TB|MiB|GiB|bytes"
    r"|times|points|x|×(?!\s?\d))(?![\w-])"
)
_NUMBER = r"(?:(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+)"
# No part of a word, a version or another number; with its sign.
_ALONE = r"(?<![\w.,#/§^·])(?<!\w[-−])(?:(?<![^\s(|/])[-−+])?"
_AFTER = r"(?![\d⁰¹²³⁴-⁹^]|\.\d|,\d|-\w|·10)"
_MEASURED = re.compile(
    rf"(?P<figure>{_ALONE}{_NUMBER})(?=\s?{_UNIT}|\s?(?:to|and|or|–|against|±|/)\s[-−+]?{_NUMBER}\s?{_UNIT})"
    rf"|(?P<decimal>{_ALONE}(?:\d[\d,]*\.\d+|\.\d+)){_AFTER}(?!\w)"
)
_IN_CELL = re.compile(rf"{_ALONE}{_NUMBER}{_AFTER}")
# Not measured wherever it stands: code, links, what is set (k = 5), chapters, papers, 95 % intervals.
_NEVER = re.compile(
    r"`+[^`]*`+|\]\([^)]*\)|<!--.*?-->|[\w)δε]\s?[=<>≤≥]\s?[\d.,]+(?:e[-−]?\d+)?(?:\s?%)?|95 %"
    rf"|ε (?:= )?{_NUMBER}(?:(?:,| and| or| to) {_NUMBER})*"
    r"|\b(?:[Tt]ables?|[Cc]hapters?|[Ss]ections?|arXiv|version)\s[\d.]+(?:(?:,| and| to)\s\d+\.\d+)*"
)
_EXACT = re.compile(rf"\d*\.\d|\d\s?{_UNIT}")
_SETTINGS = {
    "k",
    "n",
    "rows",
    "columns",
    "clients",
    "cells",
    "bound",
}  # heads of columns that name a row, too
_FEW = 3  # so many cells with exact figures may stand in a table of words


@dataclass(frozen=True)
class Figure:
    """A figure on a page: where it stands, what it is called, and which record it is from."""

    start: int
    end: int
    name: str
    mark: tuple[str, str] | None
    line: int


@dataclass(frozen=True)
class _Block:
    start: int
    text: str
    mark: tuple[str, str] | None = None  # of a table: what stands before it


def figures_of(text: str, given: Mapping[str, str] | None = None) -> Iterator[Figure]:
    """Give the measured figures of a page in order; ``given`` are phrases whose numbers were not measured."""
    for block in _blocks(text):
        found = _of_table(block) if block.text.startswith("|") else _of_prose(block, given or {})
        for start, end, name, mark in found:
            yield Figure(
                block.start + start,
                block.start + end,
                name,
                mark,
                text.count("\n", 0, block.start + start) + 1,
            )


def _blocks(text: str) -> Iterator[_Block]:
    """Cut a page into tables, paragraphs and items of lists; code and headings are left out."""
    place, kept, start, mark, shown = 0, "", 0, None, False
    for line in [*text.splitlines(keepends=True), ""]:
        fence = line.lstrip().startswith(("```", "~~~"))
        table = line.startswith("|")
        begins = (
            fence
            or shown
            or not line.strip()
            or line.startswith(("#", "<!--"))
            or table != kept.startswith("|")
        )
        if kept and (begins or re.match(r"\s*(?:[-*]|\d+\.)\s", line)):
            yield _Block(start, kept, mark if kept.startswith("|") else None)
            kept, mark = "", None
        own = MARK.fullmatch(line.strip())
        if own and not shown and line.startswith("<!--"):
            mark = (own[1], own[2])
        elif fence or shown or line.startswith(("#", "<!--")):
            shown ^= fence
        elif line.strip():
            start = start if kept else place
            kept += line
        place += len(line)


def _cells(row: str) -> Iterator[tuple[int, str]]:
    start = 1
    for end in re.finditer(r"(?<!\\)\|", row[1:]):
        yield start, row[start : end.start() + 1]
        start = end.end() + 1


def _of_table(block: _Block) -> Iterator[tuple[int, int, str, tuple[str, str] | None]]:
    """Give the figures of a table's cells, if it is measured or says so; the first column names its rows."""
    rows = block.text.splitlines(keepends=True)
    if len(rows) < 3 or (block.mark is None and not _is_measured(rows[2:])):
        return
    heads = [cell.strip(" *") for _, cell in _cells(rows[0])]
    place, above = len(rows[0]) + len(rows[1]), ""
    for row in rows[2:]:
        cells = list(_cells(row))
        above = cells[0][1].strip(" *") or above
        named = [head in _SETTINGS for head in heads[1:]]
        row_name = ", ".join(
            [above, *(cell.strip() for (_, cell), own in zip(cells[1:], named, strict=False) if own)]
        )
        for head, own, (start, cell) in zip(heads[1:], named, cells[1:], strict=False):
            for match in () if own else _IN_CELL.finditer(_hidden(cell)):
                at = place + start
                yield at + match.start(), at + match.end(), f"{row_name} | {head}", block.mark
        place += len(row)


def _is_measured(rows: list[str]) -> bool:
    cells = [cell for row in rows for _, cell in list(_cells(row))[1:]]
    bare = [
        cell for cell in map(_hidden, cells) if _IN_CELL.search(cell) and not re.search(r"[^\W\d_]{3}", cell)
    ]
    return sum(bool(_EXACT.search(cell)) for cell in bare) > _FEW or (
        len(bare) > 2 * _FEW and 2 * len(bare) > len(cells)
    )


def _hidden(text: str) -> str:
    """Blank what holds no measured figure."""
    return _NEVER.sub(lambda found: " " * len(found[0]), text)


def _of_prose(
    block: _Block, given: Mapping[str, str]
) -> Iterator[tuple[int, int, str, tuple[str, str] | None]]:
    text = block.text.replace("\n", " ")
    marks = [(found.end(), (found[1], found[2])) for found in MARK.finditer(text)]
    for phrase in given:
        text = text.replace(phrase, re.sub(r"\d", "_", phrase))
    for found in _MEASURED.finditer(_hidden(text)):
        mark = next((mark for end, mark in marks if end > found.end()), None)
        group = "figure" if found["figure"] else "decimal"
        before = re.findall(r"[^\W\d_]+", _hidden(text[: found.start()]))
        yield found.start(group), found.end(group), " ".join(before[-6:]), mark


@cache
def records() -> Mapping[str, Record]:
    """Read every record."""
    return {path.stem: Record.read(path) for path in sorted(FOLDER.glob("*.json")) if path.stem != "given"}


@cache
def given_numbers() -> Mapping[str, Mapping[str, str]]:
    """Read what numbers of pages are that were not measured: phrase by page."""
    found: Mapping[str, Mapping[str, str]] = json.loads((FOLDER / "given.json").read_text("utf-8"))
    return found


def places_of(name: str, text: str) -> dict[tuple[str, str], list[Figure]]:
    """Give the marked figures of a page by the place in a record."""
    places: dict[tuple[str, str], list[Figure]] = {}
    for figure in figures_of(text, given_numbers().get(name)):
        if figure.mark is not None:
            places.setdefault(figure.mark, []).append(figure)
    return places


def filled(name: str, text: str) -> str:
    """Write the figures of the records into a page."""
    changes = []
    for (record, place), figures in places_of(name, text).items():
        shown = records()[record].places[place]
        changes += [(figure, one.shown) for figure, one in zip(figures, shown, strict=True)]
    for figure, new in sorted(changes, key=lambda change: -change[0].start):
        text = text[: figure.start] + new + text[figure.end :]
    return text


def faults(name: str, text: str) -> list[str]:
    """List what the figures of a page lack."""
    given = given_numbers().get(name, {})
    found = [
        f"{name}:{figure.line}: {text[figure.start : figure.end]!r} has no source ({figure.name})"
        for figure in figures_of(text, given)
        if figure.mark is None
    ]
    flat = text.replace("\n", " ")
    found += [
        f"{name}: given.json has {phrase!r}, the page has not" for phrase in given if phrase not in flat
    ]
    marks = {(mark[1], mark[2]) for mark in MARK.finditer(text)}
    places = places_of(name, text)
    found += [f"{name}: {'/'.join(mark)} marks no figure" for mark in marks - places.keys()]
    for (record, place), figures in places.items():
        known = records()[record].places.get(place) if record in records() else None
        if known is None:
            found.append(f"{name}:{figures[0].line}: there is no record {record}/{place}")
            continue
        found += _differences(name, text, figures, known)
    return found


def _differences(name: str, text: str, figures: list[Figure], known: list[Shown]) -> list[str]:
    if [figure.name for figure in figures] != [one.name for one in known]:
        odd = {one.name for one in known} ^ {figure.name for figure in figures}
        return [f"{name}:{figures[0].line}: the record is of other figures: {sorted(odd)[:4]}"]
    pairs = (
        (figure, text[figure.start : figure.end], one.shown)
        for figure, one in zip(figures, known, strict=True)
    )
    return [
        f"{name}:{figure.line}: {here!r}, the record has {kept!r} ({figure.name})"
        for figure, here, kept in pairs
        if here != kept
    ]


def pages() -> list[Path]:
    """Give the pages that people read."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def name_of(page: Path) -> str:
    """Give the name of a page as ``given.json`` has it."""
    return page.relative_to(ROOT).as_posix()


def sources_of(name: str, text: str) -> str:
    """Say at the end of a page where its figures come from; nothing for a page without figures."""
    up = "../" * (name.removeprefix("docs/").count("/"))
    lines = []
    for record in dict.fromkeys(record for record, _ in places_of(name, text)):
        kept = records()[record]
        lines.append(f"- {kept.source}: {kept.when} ([record]({up}figures/{record}.json))")
    return "\n".join(["", "", "## Sources of the figures", "", *lines, ""]) if lines else ""


def _fill_pages() -> None:
    for page in pages():
        text = page.read_text("utf-8")
        new = filled(name_of(page), text)
        if new != text:
            page.write_text(new, encoding="utf-8")
            print(f"{name_of(page)}: figures written")


def _shown_at(record: str) -> dict[str, tuple[str, list[Figure]]]:
    """Find the places of a record on the pages: text and figures by place."""
    found = {}
    for page in pages():
        text = page.read_text("utf-8")
        for (name, place), figures in places_of(name_of(page), text).items():
            if name == record:
                found[place] = (text, figures)
    return found


def _new(record: str, places: list[str], command: str) -> None:
    path = FOLDER / f"{record}.json"
    kept = Record.read(path) if path.exists() else Record(command=command)
    found = _shown_at(record)
    for place in places or found:
        text, figures = found[place]
        before = {one.name: one for one in kept.places.get(place, [])}
        shown = [Shown(figure.name, text[figure.start : figure.end]) for figure in figures]
        kept.places[place] = [
            before.get(one.name, one) if len(before) == len(shown) else one for one in shown
        ]
        kept.written = today()
    kept.write(path)


def _keep_run(record: str, output: str, machine: str) -> None:
    path = FOLDER / f"{record}.json"
    kept = Record.read(path)
    printed = printed_in(output)
    for shown in kept.places.values():
        shown[:] = bound(shown, printed)
    kept.ran(machine)
    kept.write(path)
    figures = [one for shown in kept.places.values() for one in shown]
    found = sum(one.at is not None for one in figures)
    print(f"{record}: {found} of {len(figures)} figures stand in what was printed")


def _run(command: str) -> str:
    program, *rest = command.split()
    words = (
        [str(Path(sys.executable).with_name(program)), *rest]
        if program == "mahrem"
        else [sys.executable, program, *rest]
    )
    if program == "mahrem" or "--json" in (ROOT / program).read_text("utf-8"):
        words.append("--json")
    return subprocess.run(words, capture_output=True, text=True, check=True, cwd=ROOT).stdout


def _main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("record", nargs="?")
    parser.add_argument("--run", action="store_true")
    parser.add_argument("--output", type=Path, metavar="FILE")
    parser.add_argument("--addresses", action="store_true", help="list what FILE holds, by address")
    parser.add_argument("--machine", default="", help="the machine of the run, in words")
    parser.add_argument("--new", action="append", default=[], metavar="PLACE")
    parser.add_argument("--command", default="")
    asked = parser.parse_args()
    if asked.addresses:
        for address, value in printed_in(asked.output.read_text("utf-8")).items():
            print(f"{address}: {value:g}")
        return
    if asked.record and (asked.new or asked.command):
        _new(asked.record, asked.new, asked.command)
    if asked.record and (asked.run or asked.output):
        output = (
            asked.output.read_text("utf-8")
            if asked.output
            else _run(Record.read(FOLDER / f"{asked.record}.json").command)
        )
        _keep_run(asked.record, output, asked.machine)
        records.cache_clear()
    _fill_pages()


if __name__ == "__main__":
    _main()
