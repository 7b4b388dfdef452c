"""What two releases say beside their tables: of twins, who differ in what is hidden, it must be the same."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import polars as pl

import mahrem as mh
from hidden_things import Twins, draw_table
from mahrem.errors import MahremError

if TYPE_CHECKING:
    from web_server import Server

_STAMPS = re.compile(r'"(?:created|seconds)": [^\n]*')
_OF_ORIGINAL = frozenset({"before", "unique_columns", "created", "seconds"})
_SECONDS = re.compile(r"[\d.,]+ s\b")


def released(table: object, settings: Mapping[str, Any], folder: Path, *, html: bool) -> str | None:
    """Release a table into a folder; gives the refusal's kind where it was refused."""
    try:
        mh.anonymize(table, output=folder, html=html, **settings)
    except MahremError as error:
        return type(error).__name__
    return None


def both_released(twins: Twins, folders: Sequence[Path], *, html: bool) -> tuple[str, str | None]:
    """Release both; says whether they were refused, published other tables or the same, and what is wrong.

    Wrong is what lies beside the same table and differs; where what is hidden has no say, another table too.
    """
    with TemporaryDirectory() as place:
        sources = twins.sources(Path(place))
        refused = [
            released(source, twins.settings, folder, html=html)
            for source, folder in zip(sources, folders, strict=True)
        ]
    if any(refused):
        if refused[0] == refused[1]:
            return "refused", None
        return "one refused", f"refused: {refused}" if twins.publish_the_same else None
    if data_of(folders[0]) != data_of(folders[1]):
        return "other table", "the table itself" if twins.publish_the_same else None
    apart = difference(folders[0], folders[1], twins.how)
    return ("same", None) if apart is None else ("differs", apart)


def told(folder: Path, how: str = "") -> dict[str, str]:
    """Give everything that lies in a release folder beside the data, without stamps of time.

    What pages say of the original beside the release is about crowds of k, wherever they are in their cells:
    of twins who differ there it may differ by a crowd, and is left out. Without pages nothing is.
    """
    said = {}
    crowds = how == "within" and (folder / "report.html").exists()
    for file in sorted(folder.iterdir()):
        if file.name == "SHA256SUMS" or file.name.startswith("data."):
            continue
        if crowds and file.suffix == ".html":
            continue
        text = _without_stamps(file.name, file.read_text(encoding="utf-8"))
        if crowds and file.name == "report.json":
            text = json.dumps(_without(json.loads(file.read_text(encoding="utf-8")), _OF_ORIGINAL))
        said[file.name] = text
    return said


def _without(told_of: object, names: frozenset[str]) -> object:
    """Leave out some keys, however deep they lie."""
    if isinstance(told_of, dict):
        return {name: _without(value, names) for name, value in told_of.items() if name not in names}
    return [_without(value, names) for value in told_of] if isinstance(told_of, list) else told_of


def _without_stamps(name: str, text: str) -> str:
    return _STAMPS.sub("", text) if name.endswith(".json") else _SECONDS.sub("", text)


def data_of(folder: Path) -> bytes:
    """Give the data file of a release."""
    return next(folder.glob("data.*")).read_bytes()


def difference(first: Path, second: Path, how: str = "") -> str | None:
    """Say where two releases of the same table differ beside it; None where they do not.

    Args:
        first: A release.
        second: Another one that publishes the same.
        how: What is hidden between them.
    """
    return _apart(told(first, how), told(second, how))


def _apart(one: Mapping[str, str], other: Mapping[str, str]) -> str | None:
    """Say where texts by name differ."""
    if one.keys() != other.keys():
        return f"files: {sorted(one.keys() ^ other.keys())}"
    for name, text in one.items():
        if text != other[name]:
            lines = zip(text.split("\n"), other[name].split("\n"), strict=False)
            apart = next((pair for pair in lines if pair[0] != pair[1]), ("", ""))
            return f"{name}: {apart[0][:300]} | {apart[1][:300]}"
    return None


def attacked(table: pl.DataFrame, folder: Path, settings: Mapping[str, Any]) -> str | None:
    """Attack a release with its original; gives every figure but time, or the refusal's kind."""
    try:
        found = mh.attack(folder, original=table, trials=50, **_as_released(settings))
    except MahremError as error:
        return type(error).__name__
    return json.dumps({**found.report, "seconds": 0, "source": ""})


def _as_released(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Give what an attacker who holds the original knows of how it was read."""
    return {name: settings[name] for name in ("hierarchy", "null") if name in settings}


def attacked_by_the_informed(twins: Twins, table: pl.DataFrame, folder: Path) -> str:
    """Attack with a second release and a table of everybody, twins too: membership, priors, composition."""
    settings = twins.settings
    names = [*settings["quasi"], *settings["sensitive"]]
    tables = [each.select(names) for each in (twins.first, twins.second, draw_table(Random(7)))]
    if len({str(each.schema) for each in tables}) > 1:
        tables = [each.with_columns(pl.all().cast(pl.String)) for each in tables]
    everyone = pl.concat(tables)
    second = folder.with_name(f"{folder.name}-again")
    try:
        mh.anonymize(
            table, output=second, html=False, **{**settings, "k": settings["k"] + 2, "format": "csv"}
        )
        known = _as_released(settings)
        found = mh.attack(folder, original=table, population=everyone, second=second, trials=50, **known)
    except MahremError as error:
        return type(error).__name__
    told_of = {"seconds": 0, "source": "", "second": data_of(second).decode()}
    return json.dumps({**found.report, **told_of})


def informed_apart(twins: Twins, first: Path, second: Path) -> str | None:
    """Say where figures of informed attacks on twins differ that publish the same twice.

    Where twins differ in a quasi-identifier of somebody shown, one of them is not in the population with it:
    then attackers know other things, and figures may differ.
    """
    if twins.how in {"inside", "within", "letters", "leaves"}:
        return None
    one = attacked_by_the_informed(twins, twins.first, first)
    other = attacked_by_the_informed(twins, twins.second, second)
    if one[:1] != "{" or other[:1] != "{":
        return None if one == other else f"informed attacks: {one[:80]} | {other[:80]}"
    before, after = json.loads(one), json.loads(other)
    if before["second"] != after["second"]:
        return None  # the second releases are others
    figures = zip(before["findings"], after["findings"], strict=True)
    return next((f"informed attacks: {a} | {b}" for a, b in figures if a != b), None)


def applied(table: pl.DataFrame, folder: Path, batch: Path) -> str | None:
    """Publish a batch by the recipe of a release; gives the refusal's kind where it was refused."""
    try:
        mh.apply(folder, table, output=batch, html=False)
    except MahremError as error:
        return type(error).__name__
    return None


def report_of(folder: Path) -> dict[str, Any]:
    """Read the report of a release."""
    found: dict[str, Any] = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return found


def compared(twins: Twins) -> tuple[str, str | None]:
    """Compare methods on both; says what came of it, and which figure differs where both publish the same."""
    asked = {key: value for key, value in twins.settings.items() if key not in {"k", "method", "format"}}
    sweep = {"methods": [twins.settings["method"]], "ks": [twins.settings["k"]]}
    with TemporaryDirectory() as place:
        what, wrong = both_released(twins, [Path(place) / name for name in ("first", "second")], html=False)
    if what != "same":
        return what, wrong
    found = [mh.compare(table, **sweep, **asked).rows for table in (twins.first, twins.second)]
    one, other = ([{**row, "seconds": None} for row in rows] for rows in found)
    figures = (
        f"{name}: {value} | {second[name]}"
        for first, second in zip(one, other, strict=True)
        for name, value in first.items()
        if value != second[name]
    )
    apart = next(figures, None)
    return ("same", None) if apart is None else ("differs", apart)


def through_page(twins: Twins, server: Server) -> tuple[str, str | None]:
    """Release both through the page: files to download and what it says of them, byte for byte."""
    told_of = []
    for table in (twins.first, twins.second):
        project = server.project(table.write_csv().encode())
        place = f"/api/v1/projects/{project}"
        choices = server.client.get(place).json()["choices"]
        for name, column in choices["columns"].items():
            roles = {"illness": "sensitive", "visits": "insensitive"}
            column["role"] = "quasi" if name in twins.settings["quasi"] else roles.get(name, "drop")
        known = ("k", "method", "missing", "seed", "suppression_limit", "cells")
        promises = {key: twins.settings[key] for key in known if key in twins.settings}
        for what, body in (("columns", choices), ("promises", promises)):
            assert server.client.put(f"{place}/{what}", json=body).status_code == 200
        done = server.run(project, "run/anonymize")
        if done["state"] != "done":
            return "refused", None
        archive = ZipFile(BytesIO(server.client.get(f"{place}/release.zip").content))
        said = {name: archive.read(name).decode() for name in archive.namelist() if name != "SHA256SUMS"}
        answer = server.client.get(f"/api/v1/jobs/{done['id']}/result").text
        said["result"] = re.sub(r'"(?:created|seconds)":[^,}]*', "", answer.replace(project, ""))
        told_of.append({name: _without_stamps(name, text) for name, text in said.items()})
    first, second = told_of
    if first.pop("data.csv") != second.pop("data.csv"):
        return "other table", None
    apart = _apart(first, second)
    return ("same", None) if apart is None else ("differs", apart)


def on_cluster(twins: Twins, session: Any) -> tuple[str, str | None]:
    """Release both on Spark: rows of one content in any order, and what lies beside them."""
    elsewhere = {"suppression_limit", "cells"}  # not for clusters, or not for this method
    settings = {key: value for key, value in twins.settings.items() if key not in elsewhere}
    settings |= {"method": "mondrian", "format": "csv"}
    with TemporaryDirectory() as place:
        folders = [Path(place) / name for name in ("first", "second")]
        for table, folder in zip((twins.first, twins.second), folders, strict=True):
            frame = session.createDataFrame(table.to_arrow())
            if released(frame, settings, folder, html=False):
                return "refused", None
        rows = [sorted(pl.read_csv(folder / "data.csv", infer_schema=False).rows()) for folder in folders]
        if rows[0] != rows[1]:
            return "other table", "the table itself" if twins.publish_the_same else None
        apart = difference(*folders, twins.how)
        return ("same", None) if apart is None else ("differs", apart)
