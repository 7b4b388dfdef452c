"""Projects of ARX: a zip archive with XML about columns and models, and hierarchies as CSV."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from mahrem.errors import InvalidInput
from mahrem.release._imported import ImportedPolicy
from mahrem.table import Hierarchy

_MOST = 64 * 2**20  # bytes of one part
_VOCABULARIES = ("1.0", "2.0")
_ROLES = {
    "QUASI_IDENTIFYING_ATTRIBUTE": "quasi",
    "SENSITIVE_ATTRIBUTE": "sensitive",
    "INSENSITIVE_ATTRIBUTE": "insensitive",
    "IDENTIFYING_ATTRIBUTE": "identifier",
}
_NUMBER = r"([0-9]+(?:\.[0-9]+)?(?:[eE]-?[0-9]+)?)"
_ABOUT = r".*attribute '(.+)'"
_K = re.compile(rf"{_NUMBER}-anonymity")
_VALUES = (  # what a criterion about a sensitive column says, and how it is said here
    (re.compile(rf"distinct-{_NUMBER}-diversity{_ABOUT}"), "l", "distinct"),
    (re.compile(rf"(?:shannon-)?entropy-{_NUMBER}-diversity{_ABOUT}"), "l", "entropy"),
    (re.compile(rf"{_NUMBER}-closeness with equal ground-distance{_ABOUT}"), "t", "equal"),
    (re.compile(rf"{_NUMBER}-closeness with hierarchical ground-distance{_ABOUT}"), "t", "hierarchical"),
)


def read_arx_project(path: Path) -> ImportedPolicy:
    """Read roles, models, weights and hierarchies of a project.

    Raises:
        InvalidInput: If it is no project, or of a version whose layout is not known.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return _Project(archive, path.name).policy()
    except zipfile.BadZipFile:
        raise InvalidInput(f"project={path.name!r} is no project of ARX: it is no zip archive") from None


class _Project:
    """An open project."""

    def __init__(self, archive: zipfile.ZipFile, label: str) -> None:
        self._archive = archive
        self._label = label
        self._unread: list[str] = []

    def policy(self) -> ImportedPolicy:
        """Put together what is understood."""
        vocabulary = self._text(self._xml("metadata.xml"), "vocabulary")
        if vocabulary not in _VOCABULARIES:
            version = vocabulary if re.fullmatch(r"[0-9.]{1,8}", vocabulary or "") else "of another kind"
            raise InvalidInput(
                f"project={self._label!r}: its vocabulary is {version}; known are {', '.join(_VOCABULARIES)}"
            )
        config, definition = self._xml("input/config.xml"), self._xml("input/definition.xml")
        roles, trees = self._columns(definition)
        settings: dict[str, Any] = {name: columns for name, columns in roles.items() if columns}
        settings |= self._models(config, roles["sensitive"], trees)
        limit = self._text(config, "relativeMaxOutliers")
        if limit:
            settings["suppression_limit"] = float(limit)
        weights = {
            self._text(entry, "attribute"): float(self._text(entry, "weight") or 0)
            for entry in config.iter("attributeWeight")
        }
        if any(weight != weights[name] for name in weights for weight in weights.values()):
            settings["weights"] = {name: weight for name, weight in weights.items() if name in roles["quasi"]}
        metric = self._text(config, "metric")
        if metric:
            self._unread.append(
                f"the quality measure ({' '.join(metric.split())[:60]}); ours is said by method"
            )
        if trees and set(roles["quasi"]) <= set(trees):
            settings["method"] = "flash"
        return ImportedPolicy(tool="ARX", settings=settings, hierarchies=trees, unread=tuple(self._unread))

    def _columns(self, definition: ET.Element) -> tuple[dict[str, list[str]], dict[str, Hierarchy]]:
        roles: dict[str, list[str]] = {"quasi": [], "sensitive": [], "insensitive": [], "identifier": []}
        trees: dict[str, Hierarchy] = {}
        for entry in definition.iter("assigment"):
            name = self._text(entry, "name")
            role = _ROLES.get(self._text(entry, "type"))
            if role is None:
                self._unread.append(f"the role of column {name!r}; it is left out as an identifier")
            roles[role or "identifier"].append(name)
            if self._text(entry, "ref"):
                tree = self._hierarchy(self._text(entry, "ref"), name)
                if tree is not None and role in {"quasi", "sensitive"}:
                    trees[name] = tree
            for part in ("min", "max"):
                if self._text(entry, part) not in {"", "All"}:
                    self._unread.append(f"the {part}imum level of column {name!r}; say at_least or at_most")
            for part in ("microAggregationFunction", "format"):
                if self._text(entry, part):
                    self._unread.append(f"{part} of column {name!r}")
        return roles, trees

    def _models(
        self, config: ET.Element, sensitive: list[str], trees: Mapping[str, Hierarchy]
    ) -> dict[str, Any]:
        models: dict[str, Any] = {}
        figures: dict[str, dict[str, Any]] = {name: {} for name in sensitive}
        for entry in config.iter("criterion"):
            words = " ".join((entry.text or "").split())
            if match := _K.fullmatch(words):
                models["k"] = max(int(float(match[1])), models.get("k", 0))
                continue
            for pattern, figure, kind in _VALUES:
                match = pattern.fullmatch(words)
                if match and match[2] in figures and (kind != "hierarchical" or match[2] in trees):
                    value = float(match[1])
                    figures[match[2]][figure] = int(value) if value == int(value) else value
                    figures[match[2]][f"{figure}_kind"] = kind
                    break
            else:
                self._unread.append(f"the criterion {words[:80]!r}")
        if figures:
            models["sensitive"] = figures
        return models

    def _hierarchy(self, part: str, name: str) -> Hierarchy | None:
        try:
            text = self._read(f"input/{part}").decode("utf-8-sig", errors="replace")
        except InvalidInput:
            self._unread.append(f"the hierarchy of column {name!r}, which is not in the project")
            return None
        separator = self._text(self._xml("project.xml"), "separator") or ";"
        rows = [row for row in csv.reader(io.StringIO(text), delimiter=separator[:1]) if row]
        try:
            return Hierarchy.from_rows(rows)
        except ValueError:
            self._unread.append(f"the hierarchy of column {name!r}, which is no tree")
            return None

    def _xml(self, part: str) -> ET.Element:
        raw = self._read(part)
        if b"<!DOCTYPE" in raw or b"<!ENTITY" in raw:
            raise InvalidInput(f"project={self._label!r}: {part} declares entities, which no project does")
        try:
            return ET.fromstring(raw)  # noqa: S314 - no entities, and no larger than was allowed
        except ET.ParseError:
            raise InvalidInput(f"project={self._label!r}: {part} is not the XML that a project has") from None

    def _read(self, part: str) -> bytes:
        try:
            with self._archive.open(part) as stream:
                raw = stream.read(_MOST + 1)
        except (KeyError, zipfile.BadZipFile, RuntimeError):
            raise InvalidInput(
                f"project={self._label!r} has no {part}: it is no project of ARX, or of another version"
            ) from None
        if len(raw) > _MOST:
            raise InvalidInput(f"project={self._label!r}: {part} is larger than {_MOST // 2**20} MB")
        return raw

    @staticmethod
    def _text(element: ET.Element, name: str) -> str:
        elements: Iterable[ET.Element] = element.iter(name)
        return next(((one.text or "").strip() for one in elements), "")
