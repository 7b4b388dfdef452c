"""Findings for people: what was tried, how often it worked, what was not tried and why."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import fill
from typing import Any

import typer

_WIDTH = 100


def print_findings(report: Mapping[str, Any]) -> None:
    """Print what was found about a release, a model, made-up rows or a federation."""
    if "run" in report:
        head, better, page = _run(report), "chance", "attacks-on-federations"
    elif "claimed" in report:
        head, better, page = f"{_claim(report)}; {_rows(report)}", "chance", "attacks-on-models"
    else:
        head, better, page = _release(report), "the baseline", "attacks"
    typer.echo(f"{report['source']}: {head}\n")
    _print_done(report)
    for warning in report.get("warnings", ()):
        typer.echo(fill(f"note: {warning}", _WIDTH))
    typer.echo(f"\n! better than {better} beyond doubt. What each attack measures: docs/theory/{page}.md")


def _release(report: Mapping[str, object]) -> str:
    rows, classes = f"{report['shown']:,} rows", f"{report['classes']:,} classes"
    return f"{rows} in {classes}, the smallest of {report['smallest_class']}"


def _run(report: Mapping[str, Any]) -> str:
    about = report["run"]
    size = f"{about['rules']:,} rules" if about["model"] == "rules" else f"{about['rounds']:,} rounds"
    clients = "" if about["clients"] is None else f", {about['clients']:,} clients"
    rows = f"; {_rows(report)}" if report["members"] else ""
    return f"{about['state']}, {about['model']}, {size}{clients}; {_claim(report)}{rows}"


def _claim(report: Mapping[str, Any]) -> str:
    claim = report["claimed"]
    return "no promise" if claim is None else f"claimed epsilon={claim['epsilon']:.4g}"


def _rows(report: Mapping[str, object]) -> str:
    return f"{report['members']:,} rows it was trained on, {report['holdout']:,} it never saw"


def _print_done(report: Mapping[str, Any]) -> None:
    done = [finding for finding in report["findings"] if finding["skipped"] is None]
    for finding in done:
        low, high = finding["interval"]
        mark = "!" if finding["alarming"] else " "
        typer.echo(
            f"{mark} {_name(finding)}: {_share(finding['rate'])} of {finding['trials']:,}, "
            f"between {_share(low)} and {_share(high)}; baseline {_share(finding['baseline'])}"
        )
        if "area" in finding:
            typer.echo(f"    {_curve(finding)}")
        if "bound" in finding:
            typer.echo(f"    {_audit(finding)}")
        typer.echo(fill(finding["meaning"], _WIDTH, initial_indent="    ", subsequent_indent="    "))
    skipped = [finding for finding in report["findings"] if finding["skipped"] is not None]
    vain = [finding for finding in skipped if finding.get("skipped_note", {}).get("code") == "skipped.chance"]
    if vain:
        names = ", ".join(dict.fromkeys(finding["attack"] for finding in vain))
        typer.echo(fill(f"  {names}: {vain[0]['skipped']}", _WIDTH, subsequent_indent="    "))
    skipped = [finding for finding in skipped if finding not in vain]
    if skipped:
        typer.echo("\nnot tried:" if done else "not tried:")
        for finding in skipped:
            typer.echo(
                fill(
                    f"{finding['attack']}: {finding['skipped']}",
                    _WIDTH,
                    initial_indent="  ",
                    subsequent_indent="    ",
                )
            )


def _name(finding: Mapping[str, Any]) -> str:
    """Name an attack and what tells it from others of its kind."""
    details = finding["details"]
    about = [str(details["column"])] if "column" in details else []
    if "known" in details:
        about.append(f"knowing {details['known']}")
    if details.get("noise"):
        about.append(f"{details['noise']:.0%} of it wrong")
    return str(finding["attack"]) + (f" ({', '.join(about)})" if about else "")


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


def _audit(finding: Mapping[str, Any]) -> str:
    bound, claimed = finding["bound"], finding["claimed"]
    claim = "nothing is claimed" if claimed is None else f"claimed epsilon at most {claimed:.4g}"
    return (
        f"{claim}; audited epsilon at least {bound['epsilon']:.4g} ({bound['confidence']:.0%} sure; "
        f"{bound['canaries']:,} canaries can show {bound['ceiling']:.4g} at most)"
    )


def _share(value: float) -> str:
    return f"{value:.2%}" if 0 < value < 0.1 else f"{value:.1%}"
