"""The report of a run: who took part, what was reached, what protects whom, what the server could learn."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mahrem.errors import InvalidInput, OutputFailed
from mahrem.federated.runs._attack import attack_run
from mahrem.federated.runs._folder import read_run
from mahrem.files import write_whole
from mahrem.report import federation_page
from mahrem.table import Reading

PAGE, PLAIN = "report.html", "report.json"


@dataclass(frozen=True)
class RunReport:
    """A report as it was written: its content, and where the page and the JSON lie."""

    content: Mapping[str, Any] = field(repr=False)
    page: Path
    plain: Path


def report_run(
    folder: str | Path,
    *,
    output: Path | None = None,
    language: str = "en",
    members: object | None = None,
    holdout: object | None = None,
    reading: Reading | None = None,
) -> RunReport:
    """Write the report of a run, as one page without scripts and as JSON beside it.

    Args:
        folder: The run folder.
        output: The page; ``report.html`` in the folder by default.
        language: Of the page.
        members: Rows of the clients, to attack the model with. See :func:`attack_run`.
        holdout: Rows that nobody trained on.
        reading: How to read the tables.

    Guarantees:
        - What is said was in the run folder, which holds no row of anybody; attacks give figures only.

    Raises:
        InvalidInput: If the folder holds no run that ended.
    """
    home = Path(folder)
    run = read_run(home)
    if run is None or not run["summary"]:
        raise InvalidInput(f"folder={home.name!r} holds no run that ended; a report is made of one that did")
    attacked = (
        {}
        if "shape" in run["summary"]
        else attack_run(home, members=members, holdout=holdout, reading=reading).report
    )
    content = describe_run(run, attacked)
    page = output or home / PAGE
    plain = page.with_suffix(".json")
    try:
        write_whole(page, federation_page(content, language), private=False)
        write_whole(plain, json.dumps(content, indent=2, ensure_ascii=False) + "\n", private=False)
    except OSError as error:
        raise OutputFailed(f"output={page.name!r} cannot be written: {error.strerror}") from None
    return RunReport(content, page, plain)


def describe_run(run: Mapping[str, Any], attacked: Mapping[str, Any]) -> dict[str, Any]:
    """Say what there is to say about a run, in codes and figures that any language can tell."""
    summary = run["summary"]
    plan = summary.get("plan", {})
    return {
        "run": Path(str(run["folder"])).name,
        "state": run["state"],
        "why": run["why"],
        "begun": run["begun"],
        "ended": run["changed"],
        "seconds": summary.get("seconds"),
        "exchanges": summary.get("exchanges", run["exchanges"]),
        "bytes": {way: summary.get("bytes", {}).get(way) for way in ("up", "down")},
        "real": "superlink" in summary,  # processes of their own; else one process played all
        "model": _model(summary),
        "members": list(_members(run)),
        "history": run["history"],
        "protections": [{"code": code, **values} for code, values in _protections(summary, plan)],
        "server": [{"code": code, **values} for code, values in _server(summary, plan)],
        "attacks": [_attack(finding) for finding in attacked.get("findings", [])],
        "plan": plan,
    }


def _attack(finding: Mapping[str, Any]) -> dict[str, Any]:
    figures = {
        name: finding.get(name) for name in ("rate", "baseline", "alarming", "skipped", "skipped_note")
    }
    return {"attack": str(finding["attack"]).replace(" ", "-"), **figures}


def _model(summary: Mapping[str, Any]) -> dict[str, Any]:
    figures = dict(summary.get("figures", {}))
    if "rules" in summary:
        figures = {} if summary.get("accuracy") is None else {"accuracy": summary["accuracy"]}
        return {"kind": "rules", "rules": summary["rules"], "exact": summary.get("exact"), "figures": figures}
    kind = summary.get("model", summary.get("shape", "model"))
    tested = summary.get("test_rows", 0)
    return {"kind": kind, "rounds": summary.get("rounds"), "figures": figures, "test_rows": tested}


def _members(run: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    summary = run["summary"]
    inside, left_out = set(summary.get("clients", [])), summary.get("left_out", {})
    silos, checks = summary.get("silos", {}), summary.get("checks", {})
    for name in sorted({*inside, *left_out, *summary.get("members", [])}):
        silo = silos.get(name, {})
        yield {
            "name": name,
            "took_part": name in inside and name not in left_out,
            "why": left_out.get(name),
            "passed": checks.get(name, {}).get("passed"),
            "rows": checks.get(name, {}).get("rows"),
            "anonymised": silo.get("anonymised"),
            "refused": len(summary.get("refused", {}).get(name, {})),
        }


def _protections(summary: Mapping[str, Any], plan: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name what protected the clients, or the model, in this run."""
    switches = plan.get("protections", {})
    if "shape" in summary and "superlink" in summary:
        yield from _shape_protections(plan)
        return
    yield str(plan.get("sum", "plain")), {}
    yield "least", {"clients": plan.get("least_clients", 1)}
    privacy = summary.get("privacy", {})
    if privacy.get("anonymised"):
        yield "anonymised", {"silos": privacy["anonymised"], "all": privacy["silos"]}
    if "promise" in summary:
        promise = summary["promise"]
        yield f"noise_{promise['unit']}", {"epsilon": promise["epsilon"], "delta": promise["delta"]}
    if switches.get("clip") and "promise" not in summary:
        yield "clip", {"clip": switches["clip"]}
    if plan.get("least_count", 1) > 1:
        yield "least_count", {"count": plan["least_count"]}
    if "vetting" in summary:
        yield "vetting", dict(summary["vetting"])
    if plan.get("aggregate", "mean") != "mean":
        yield "robust", {"rule": plan["aggregate"]}
    if switches.get("dummies"):
        yield "dummies", {}


def _shape_protections(plan: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "keys", {}
    if plan.get("model") == "boosting" and plan.get("cell_epsilon"):
        yield "cells", {"epsilon": plan["cell_epsilon"]}
    if plan.get("label_epsilon"):
        yield "labels", {"epsilon": plan["label_epsilon"]}


def _server(summary: Mapping[str, Any], plan: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name what whoever runs the server could learn beyond the model, if it wanted to."""
    hidden, noisy = plan.get("sum", "plain") != "plain", "promise" in summary
    rules, trees = "rules" in summary, plan.get("model") == "boosting"
    if "shape" in summary and "superlink" in summary:
        yield f"shape_{str(summary['shape']).replace('-', '_')}", {}
        return
    yield "model", {}
    if "shape" in summary:
        yield "shape", {}
        return
    if rules and plan.get("how") == "one-shot":
        yield "local_rules", {}
        return
    what = "counts" if rules else "histograms" if trees else "updates"
    yield f"{'sums' if hidden else 'parts'}_{what}", {}
    if rules:
        yield "frequent", {}
    if not hidden and not rules and not trees and not noisy:
        yield "inversion", {}
    if noisy:
        yield "noisy", {"epsilon": summary["promise"]["epsilon"]}
    elif not rules:
        yield "rows", {}
    if hidden:
        yield "collusion" if plan["sum"] == "masked" else "key", {}
        yield "difference", {"clients": plan.get("least_clients", 2)}
