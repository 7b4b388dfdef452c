"""``mahrem attack`` with the folder of a model, or with made-up rows and a hold-out."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import fill
from typing import Any

import typer

from mahrem.errors import InvalidParameter

__all__ = ["attack_folder", "print_model"]

_WIDTH = 100
_READING = ("delimiter", "encoding", "decimal", "null", "table", "query")


def attack_folder(
    folder: str,
    *,
    original: str | None,
    holdout: str | None,
    shadows: int,
    settings: Mapping[str, Any],
    progress: Any,
) -> Any:
    """Attack a model folder or made-up rows; what only a release of real rows needs is refused."""
    from mahrem.pipeline import attack_model, attack_synthetic, is_model
    from mahrem.table import Reading

    strange = next((name for name in settings if name not in (*_READING, "seed")), None)
    if strange is not None:
        raise InvalidParameter(f"{strange}: this setting is for releases of real rows, without --holdout")
    if original is None or holdout is None:
        raise InvalidParameter(
            "models and made-up rows are attacked with --original (what they were made from) and "
            "--holdout (rows they never saw)"
        )
    more: dict[str, Any] = {
        "members": original,
        "holdout": holdout,
        "reading": Reading(**{name: settings[name] for name in _READING if name in settings}),
        "seed": settings.get("seed") or 0,
        "progress": progress,
    }
    if is_model(folder):
        return attack_model(folder, shadows=shadows, **more)
    return attack_synthetic(folder, **more)


def print_model(report: Mapping[str, Any]) -> None:
    """Print what was found about a model."""
    claim = report["claimed"]
    said = "no promise" if claim is None else f"claimed epsilon={claim['epsilon']:.4g}"
    typer.echo(
        f"{report['source']}: {said}; {report['members']:,} rows it was trained on, "
        f"{report['holdout']:,} it never saw\n"
    )
    for finding in report["findings"]:
        if finding["skipped"] is not None:
            continue
        low, high = finding["interval"]
        mark = "!" if finding["alarming"] else " "
        column = finding["details"].get("column")
        typer.echo(
            f"{mark} {finding['attack']}{'' if column is None else f' ({column})'}: "
            f"{_share(finding['rate'])} "
            f"of {finding['trials']:,}, between {_share(low)} and {_share(high)}; "
            f"baseline {_share(finding['baseline'])}"
        )
        if "area" in finding:
            typer.echo(f"    {_curve(finding)}")
        typer.echo(fill(finding["meaning"], _WIDTH, initial_indent="    ", subsequent_indent="    "))
    skipped = [finding for finding in report["findings"] if finding["skipped"] is not None]
    if skipped:
        typer.echo("\nnot tried:")
        for finding in skipped:
            typer.echo(f"  {finding['attack']}: {finding['skipped']}")
    typer.echo(
        "\n! better than chance beyond doubt. What each attack measures: docs/theory/attacks-on-models.md"
    )


def _curve(finding: Mapping[str, Any]) -> str:
    details, (low, high) = finding["details"], finding["area_interval"]
    rare, rare_low, rare_high = (details[f"at_0.001{end}"] for end in ("", "_low", "_high"))
    chance = finding["chance"]
    text = (
        f"AUC {finding['area']:.3f}, between {low:.3f} and {high:.3f}; at 0.1% false alarms {_share(rare)}, "
        f"between {_share(rare_low)} and {_share(rare_high)}; chance gives {_share(chance[0])} to "
        f"{_share(chance[1])}"
    )
    return text + (f"; the promise allows {_share(details['promised'])}" if "promised" in details else "")


def _share(value: float) -> str:
    return f"{value:.2%}" if 0 < value < 0.1 else f"{value:.1%}"
