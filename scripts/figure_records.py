"""Records of runs: what a command printed, when, with which version, and which figure of a page it is.

A record is ``docs/figures/NAME.json``: command, day, version and machine of the run, and by place on a page
its figures in order. A figure has its name, what is shown and, where the run's output holds it, what was
printed and at which address. Figures without an address were written on their pages before records were kept;
``written`` says on which day.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import mahrem
from mahrem.experiments import PAPERS

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs" / "figures"
_LONG = 3  # digits that are written without a comma
LOST = "none: "  # begins a command that is no more, and why


@dataclass(frozen=True)
class Shown:
    """A figure as a page shows it, and where the output of the run has it."""

    name: str
    shown: str
    printed: float | None = None
    at: str | None = None
    scale: float = 1.0  # shares are shown in percent, seconds in milliseconds …

    def as_json(self) -> list[object]:
        """Give what a record keeps of it."""
        kept: list[object] = [self.name, self.shown]
        if self.at is not None:
            kept += [self.printed, self.at] if self.scale == 1 else [self.printed, self.at, self.scale]
        return kept


@dataclass
class Record:
    """One run and its figures."""

    command: str
    day: str = ""
    version: str = ""
    machine: str = ""
    written: str = ""
    places: dict[str, list[Shown]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Record:
        """Read a record."""
        kept: dict[str, Any] = json.loads(path.read_text("utf-8"))
        places = {place: [Shown(*one) for one in shown] for place, shown in kept.pop("places").items()}
        return cls(**kept, places=places)

    def write(self, path: Path) -> None:
        """Write it, a figure on each line."""
        facts = {key: getattr(self, key) for key in ("command", "day", "version", "machine", "written")}
        lines = [f' "{key}": {_json(value)},' for key, value in facts.items() if value]
        places = []
        for place, shown in self.places.items():
            figures = ",\n".join(f"   {_json(one.as_json())}" for one in shown)
            places.append(f"  {_json(place)}: [\n{figures}\n  ]")
        path.write_text(
            "\n".join(["{", *lines, ' "places": {', ",\n".join(places), " }", "}", ""]), encoding="utf-8"
        )

    def ran(self, machine: str) -> None:
        """Note that it was run today."""
        self.day = today()
        self.version, self.machine = mahrem.__version__, machine or self.machine

    @property
    def source(self) -> str:
        """Say what printed the figures."""
        return self.command.removeprefix(LOST) if self.command.startswith(LOST) else f"`{self.command}`"

    @property
    def when(self) -> str:
        """Say when the figures were measured."""
        figures = [one for shown in self.places.values() for one in shown]
        ran = sum(one.at is not None for one in figures)
        words = [f"{ran} figures of the run of {self.day}, version {self.version}"] if ran else []
        words += [f"{len(figures) - ran} as written on {self.written}"] if ran < len(figures) else []
        return "; ".join(words) + (f" ({self.machine})" if self.machine else "")


def today() -> str:
    """Give the day as records have it."""
    return datetime.now(UTC).date().isoformat()


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def number_of(shown: str) -> float:
    """Read a figure as a page shows it."""
    return float(shown.replace(",", "").replace("−", "-"))


def as_shown(value: float, like: str) -> str:
    """Write a value as a page shows such a figure: its places behind the point, commas, no leading zero."""
    sign, like = (like[0], like[1:]) if like[0] in "-−+" else ("", like)
    text = f"{abs(value):,.{len(like.partition('.')[2])}f}"
    if "," not in like and len(like.partition(".")[0]) > _LONG:  # a short one does not say
        text = text.replace(",", "")
    if like.startswith("."):
        text = text.removeprefix("0")
    if value < 0 and number_of(text):
        return (sign.replace("+", "") or "−") + text
    return "+" + text if sign == "+" else text


def printed_in(output: str) -> dict[str, float]:
    """Read every number of an output by its address: of a JSON document, of lines of JSON or of a table."""
    try:
        return dict(_numbers(json.loads(output), ""))
    except json.JSONDecodeError:
        pass
    lines = [line for line in output.splitlines() if line.startswith(("{", "["))]
    if lines:
        return dict(_numbers([json.loads(line) for line in lines], ""))
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in output.splitlines()
        if line.startswith("|")
    ]
    head = rows[0] if rows else []
    cells = (
        (f"{row[0]}/{name}", cell) for row in rows[2:] for name, cell in zip(head[1:], row[1:], strict=False)
    )
    return {address: number_of(cell) for address, cell in cells if re.fullmatch(r"-?[\d,]*\.?\d+", cell)}


def _numbers(value: Any, address: str) -> Iterator[tuple[str, float]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _numbers(inner, f"{address}/{key}" if address else str(key))
    elif isinstance(value, list):
        seen: dict[str, int] = {}
        for inner in value:
            label = _label(inner)
            seen[label] = seen.get(label, 0) + 1
            yield from _numbers(inner, f"{address}[{label}]" + (f"#{seen[label]}" if seen[label] > 1 else ""))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield address, float(value)
    elif isinstance(value, str) and address.endswith("/note"):
        numbers = re.findall(r"-?\d+(?:\.\d+)?", value)
        yield from ((f"{address} {at}", float(number)) for at, number in enumerate(numbers, 1))


_SETTINGS = ("n", "k", "l", "t", "rows", "epsilon", "runs", "clients", "groups", "classes_asked")


def _label(row: Any) -> str:
    """Name a row of an output by what it says in words, and by its settings."""
    if not isinstance(row, Mapping):
        return ""
    flat = {**row, **row["setting"]} if isinstance(row.get("setting"), Mapping) else dict(row)
    inside = row.get("setting", {})
    words = [
        str(value) if isinstance(value, str) else f"{key}={value}"
        for key, value in flat.items()
        if (isinstance(value, str) and key != "note")
        or key in inside
        or (key in _SETTINGS and isinstance(value, int | float))
    ]
    return " ".join(words)


def fault_of_command(source: str) -> str | None:
    """Say what is wrong with a record's command; None if all that it names is there."""
    found = (_fault_of_one(*shlex.split(command)) for command in source.split("; "))
    return next((fault for fault in found if fault is not None), None)


def _fault_of_one(program: str, *given: str) -> str | None:
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
