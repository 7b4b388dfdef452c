"""The section about private answers: what a privacy ledger promises, what it has spent, what is public."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mahrem.words import Catalogue

__all__ = ["budget"]


def budget(report: Mapping[str, Any], catalogue: Catalogue) -> dict[str, Any]:
    """Lay out the data sheet of a ledger, ``report["privacy_ledger"]``, in words of the language."""
    sheet = report["privacy_ledger"]
    texts = catalogue["budget"]
    spent = sheet["spent"]["epsilon"]
    rule = sheet.get("composition", "pld") if sheet["total"]["delta"] else "sum"
    fixed = rule == "pld"
    made_up = "_synthetic" if report.get("synthesis") else ""  # such a release was itself paid for
    notes = [*([texts["adaptive"]] if fixed else []), texts[f"alone{made_up}"]]
    if spent is not None and math.isfinite(spent):
        between = texts[f"between_{sheet['relation'].replace('-', '_')}"]
        sure, delta = catalogue.percent(1 / (1 + math.exp(-spent))), sheet["total"]["delta"]
        key = "mostly_sure" if delta else "sure"
        notes.insert(0, texts[key].format(between=between, sure=sure, delta=_small(delta, catalogue)))
    curve = [
        {"delta": _small(float(delta), catalogue), "epsilon": catalogue.number(epsilon, 4)}
        for delta, epsilon in sheet["curve"].items()
    ]
    return {
        "intro": texts[f"intro{made_up}"],
        "rows": [
            {"name": texts[key][0], "meaning": texts[key][1].format(rule=rule), "value": value}
            for key, value in _figures(sheet, catalogue)
        ],
        "public": [
            {"name": name, "value": _known(known, catalogue)}
            for name, known in sheet["public"]["columns"].items()
        ],
        "curve": curve if sheet["events"] else [],
        "notes": notes,
    }


def _figures(sheet: Mapping[str, Any], catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    texts, unit, delta = catalogue["budget"], sheet["unit"], sheet["total"]["delta"]

    def cost(epsilon: float | None) -> str:
        return f"ε = {catalogue.number(epsilon, 4)}" + (f", δ = {_small(delta, catalogue)}" if delta else "")

    yield "relation", texts[f"relation_{sheet['relation'].replace('-', '_')}"]
    person = texts["unit_person"].format(rows=catalogue.number(unit["rows_per_person"]))
    yield "unit", texts["unit_row"] if unit["subject"] is None else person
    yield "total", cost(sheet["total"]["epsilon"])
    yield "spent", cost(sheet["spent"]["epsilon"])
    yield "left", f"ε = {catalogue.number(sheet['remaining']['epsilon'], 4)}"
    for key in ("pld", "basic", "rdp"):
        if sheet["spent"][key] is not None:
            yield key, f"ε = {catalogue.number(sheet['spent'][key], 4)}"
    yield "events", catalogue.number(sheet["events"])
    if sheet["mechanisms"]:
        yield "mechanisms", ", ".join(sheet["mechanisms"])
    if sheet["public"]["rows"] is not None:
        yield "rows", catalogue.number(sheet["public"]["rows"])
    yield "since", sheet["since"]
    yield "seal", sheet["seal"][:16]


def _known(known: Mapping[str, Any], catalogue: Catalogue) -> str:
    texts, parts = catalogue["budget"], []
    if known["lower"] is not None:
        ends = {key: catalogue.number(known[key]) for key in ("lower", "upper")}
        parts.append(texts["found" if known["origin"] == "found" else "declared"].format(**ends))
    if known["missing"] is not None:
        parts.append(texts["missing"].format(value=catalogue.number(known["missing"])))
    if known["categories"] is not None:
        parts.append(texts["categories"].format(values=catalogue.number(len(known["categories"]))))
    return "; ".join(parts)


def _small(delta: float, catalogue: Catalogue) -> str:
    """Write a delta; decimals of a small one are powers of ten."""
    return f"{delta:g}".replace(".", str(catalogue["format"]["decimal"]))
