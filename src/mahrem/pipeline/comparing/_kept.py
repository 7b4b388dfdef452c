"""Runs of a comparison that are kept in its folder, and the files made of them."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mahrem.drafts import Prepared
from mahrem.entries import own_version
from mahrem.errors import InvalidParameter, OutputFailed
from mahrem.files import write_whole
from mahrem.release.decisions import Policy
from mahrem.release.folders import is_release
from mahrem.report import accuracy_svg, frontier_page, frontier_svg, to_json

FILE = "comparison.jsonl"


@dataclass(frozen=True)
class Kept:
    """Rows by what was run; with a folder, every new row is written at once.

    A row counts only for the same table and policy: the key is a hash of the policy, the columns, the
    number of rows and a checksum of the values. The checksum has 16 bits: enough to notice another table,
    far too few to guess this one from.
    """

    path: Path | None
    table: str  # hash of what all rows of one sweep share
    rows: dict[str, dict[str, Any]] = field(default_factory=dict, repr=False)

    @classmethod
    def opened(
        cls, folder: Path | None, prepared: Prepared, policy: Policy, beside: Sequence[Any] = ()
    ) -> Kept:
        """Read what an earlier call left in the folder; ``beside`` is what else a row depends on."""
        table = _fingerprint(prepared, policy, beside)
        if folder is None:
            return cls(None, table)
        if is_release(folder):
            raise InvalidParameter(f"output={folder.name!r} is a release; choose another folder")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputFailed(f"output={folder.name!r} cannot be made: {error.strerror}") from error
        kept = cls(folder / FILE, table)
        if kept.path is not None and kept.path.is_file():
            lines = kept.path.read_text(encoding="utf-8").splitlines()
            kept.rows.update(entry for line in lines if (entry := _read(line)) is not None)
        return kept

    def get(self, case: Mapping[str, Any]) -> dict[str, Any] | None:
        """Give the row of a run that is done."""
        return self.rows.get(self._key(case))

    def add(self, row: dict[str, Any]) -> None:
        """Keep a row that is done."""
        key = self._key(row)
        self.rows[key] = row
        if self.path is None:
            return
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": key, "row": row}) + "\n")
        except OSError as error:
            raise OutputFailed(f"output={self.path.name!r} could not be written: {error.strerror}") from error

    def _key(self, case: Mapping[str, object]) -> str:
        named = json.dumps([self.table, *(case[name] for name in ("method", "strategy", "k", "seed"))])
        return hashlib.sha256(named.encode()).hexdigest()[:24]


def _fingerprint(prepared: Prepared, policy: Policy, beside: Sequence[Any]) -> str:
    public = policy.public()
    for swept in ("k", "method", "strategy", "language", "format", "shuffle"):
        public.pop(swept, None)
    check = 0
    for axis in prepared.axes:
        check = zlib.crc32(axis.positions.tobytes(), check)
    for values in prepared.values.values():
        check = zlib.crc32(values.codes.tobytes(), check)
    if prepared.automatic is not None:  # what groups were learnt from is no part of the public policy
        for axis in (axis for groups in prepared.automatic.axes.values() for axis in groups):
            check = zlib.crc32(axis.positions.tobytes(), check)
    if prepared.subjects is not None:
        check = zlib.crc32(prepared.subjects.tobytes(), check)
    known = [own_version(), public, prepared.rows, list(prepared.source.columns), check & 0xFFFF]
    known += [list(beside)] if beside else []
    return hashlib.sha256(json.dumps(known, default=str, sort_keys=True).encode()).hexdigest()


def _read(line: str) -> tuple[str, dict[str, object]] | None:
    """Read one kept row; a line that was cut off in the middle counts as not done."""
    try:
        entry = json.loads(line)
        return str(entry["key"]), dict(entry["row"])
    except (ValueError, KeyError, TypeError):
        return None


def write_comparison(comparison: Mapping[str, Any], folder: Path, language: str) -> Path:
    """Write the files of a comparison, each at once under its name; page and pictures in a language."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder / "comparison.csv", _csv(_with_original(comparison)))
        _write(folder / "comparison.json", to_json(comparison))
        _write(folder / "frontier.svg", frontier_svg(comparison["results"], language))
        if comparison.get("target"):
            _write(folder / "accuracy.svg", accuracy_svg(comparison, language))
        _write(folder / "comparison.html", frontier_page(comparison, language))
    except OSError as error:
        raise OutputFailed(f"output={folder.name!r} could not be written: {error.strerror}") from error
    return folder


def _with_original(comparison: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Put the figures of the untouched table, where there are any, before the runs."""
    rows: list[dict[str, Any]] = comparison["results"]
    first = comparison.get("original")
    return rows if not first or not rows else [dict.fromkeys(rows[0]) | dict(first), *rows]


def _csv(rows: list[dict[str, object]]) -> str:
    text = io.StringIO()
    if rows:
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return text.getvalue()


def _write(path: Path, text: str) -> None:
    write_whole(path, text, private=False)
