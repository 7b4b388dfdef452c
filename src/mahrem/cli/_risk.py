"""``mahrem risk``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer

from mahrem.cli._options import (
    JSON,
    QUIET,
    SOURCE,
    SOURCE_ROWS,
    VerbSettings,
    shared_rows,
    speaks,
    spec_panels,
)
from mahrem.cli._print import print_json, print_table


def _speaks_risk(verb: Callable[..., None]) -> Callable[..., None]:
    from mahrem.pipeline.masking import RiskSettings

    panels = spec_panels(RiskSettings, "risk")
    return speaks(verb, {**panels, "Table": (*shared_rows("quasi"), *SOURCE_ROWS)})


@_speaks_risk
def risk(
    source: SOURCE,
    *,
    json: JSON = False,
    quiet: QUIET = False,
    settings: VerbSettings,
) -> None:
    """Measure the risk of a table as it is: individual, global, of households, special uniques.

    The figures are about the table itself: they are not for publication.

    mahrem risk survey.csv --qi age,sex,region --weight weight --household household
    """
    from mahrem.pipeline import risk as verb

    result = verb(source, **settings)
    figures = result.as_dict()
    if json:
        print_json(figures)
        return
    if quiet:
        return
    suda = figures.pop("suda")
    contributions = suda.pop("contributions")
    rows = [(name, _write_figure(value)) for name, value in _flat(figures) if name != "columns"]
    rows += [(f"suda: {name}", _write_figure(value)) for name, value in suda.items()]
    rows += [(f"suda: {name} contributes (%)", f"{value:.1f}") for name, value in contributions.items()]
    print_table(("figure", "value"), rows)
    typer.echo("\nnot for publication: these figures are about the table itself")


def _flat(figures: dict[str, object]) -> list[tuple[str, Any]]:
    flat: list[tuple[str, Any]] = []
    for name, value in figures.items():
        if isinstance(value, dict):
            flat += [(f"{name}: {inner}", inside) for inner, inside in value.items()]
        else:
            flat.append((name, value))
    return flat


def _write_figure(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else f"{value}"
