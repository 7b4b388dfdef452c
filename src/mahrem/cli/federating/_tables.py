"""What runs of a federation came to, as tables in a reader's language."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import typer

from mahrem.cli._print import print_table
from mahrem.words import Note, load_catalogue

Figures: TypeAlias = Iterator[tuple[Note, Note | str]]  # what it is, and what it came to


def print_summary(summary: Mapping[str, object], language: str) -> None:
    """Print what was learnt, what it cost, and who is not in it."""
    catalogue = load_catalogue(language)
    if "shape" in summary:
        figures = _shape(summary)
    else:
        figures = _rules(summary) if "rules" in summary else _learning(summary)
    rows = [(catalogue.tell(name), catalogue.tell(value)) for name, value in (*figures, *_cost(summary))]
    head = (Note("federation.figure.figure"), Note("federation.figure.value"))
    print_table(tuple(map(catalogue.tell, head)), rows)
    for line in _remarks(summary):
        typer.echo(catalogue.tell(line))


def _remarks(summary: Mapping[str, Any]) -> Iterator[Note]:
    if summary["state"] == "stopped":
        about = {"rounds": summary["rounds"], "why": summary["why"]}
        yield Note("federation.figure.stopped", about)
    for name, rounds in summary.get("refused", {}).items():
        about = {"name": name, "rounds": len(rounds), "why": next(iter(rounds.values()))}
        yield Note("federation.figure.refused", about)
    for name, why in summary["left_out"].items():
        yield Note("federation.figure.left_out", {"name": name, "why": why})


def _cost(summary: Mapping[str, Any]) -> Figures:
    yield Note("federation.figure.bytes"), f"{summary['bytes']['up']:,}, {summary['bytes']['down']:,}"
    yield Note("federation.figure.seconds"), f"{summary['seconds']:g}"
    if "superlink" in summary:
        yield Note("federation.figure.superlink"), str(summary["superlink"])
    yield Note("federation.figure.folder"), str(summary["folder"])


def _yes(*, true: bool) -> Note:
    return Note("federation.figure.yes") if true else Note("federation.figure.no")


def _clients(summary: Mapping[str, Any]) -> tuple[Note, Note]:
    many = {"clients": len(summary["clients"]), "left_out": len(summary["left_out"])}
    return Note("federation.figure.clients"), Note("federation.figure.clients_value", many)


def _rules(summary: Mapping[str, Any]) -> Figures:
    figures = {"rules": summary["rules"], "rows": summary["rows"]}
    yield Note("federation.figure.rules"), Note("federation.figure.rules_value", figures)
    why = {"why": "; ".join(summary["why_not_exact"])}
    exact = _yes(true=True) if summary["exact"] else Note("federation.figure.no_because", why)
    yield Note("federation.figure.exact"), exact
    yield _clients(summary)
    yield Note("federation.figure.exchanges"), f"{summary['exchanges']}"
    if summary.get("equals_central") is not None:
        yield Note("federation.figure.equals"), _yes(true=bool(summary["equals_central"]))
    if summary.get("accuracy") is not None:
        both = {"accuracy": summary["accuracy"], "central": summary["central_accuracy"]}
        yield Note("federation.figure.kept_accuracy"), Note("federation.figure.kept_accuracy_value", both)


def _learning(summary: Mapping[str, Any]) -> Figures:
    about = {"model": summary["model"], "rounds": summary["rounds"]}
    yield Note("federation.figure.model"), Note("federation.figure.model_value", about)
    yield _clients(summary)
    privacy = summary["privacy"]
    if "promise" not in summary:
        yield Note("federation.figure.rows"), f"{privacy['rows']:,}"
    many = {"many": privacy["anonymised"], "silos": privacy["silos"]}
    kept = "federation.figure.anonymised_value" if many["many"] else "federation.figure.anonymised_none"
    yield Note("federation.figure.anonymised"), Note(kept, many)
    if "promise" in summary:
        promise = summary["promise"]
        spent = {"epsilon": f"{promise['epsilon']:.4g}", "delta": f"{promise['delta']:g}"}
        by_row = promise["unit"] == "row"
        whose = "federation.figure.private_row" if by_row else "federation.figure.private_client"
        yield Note("federation.figure.private"), Note(whose, spent)
    if "vetting" in summary:
        judged = ", ".join(f"{many} {how}" for how, many in summary["vetting"].items())
        yield Note("federation.figure.updates"), judged
    yield from _measured(summary["figures"], summary["test_rows"])


def _measured(figures: Mapping[str, float], rows: int) -> Figures:
    if not figures:
        yield Note("federation.figure.accuracy"), Note("federation.figure.accuracy_unknown")
        return
    judged = {"accuracy": figures["accuracy"], "rows": rows}
    yield Note("federation.figure.accuracy"), Note("federation.figure.accuracy_value", judged)
    shares: Sequence[str] = [f"{figures[name]:.4f}" for name in ("precision", "recall", "f1")]
    yield Note("federation.figure.precision"), ", ".join(shares)


def _shape(summary: Mapping[str, Any]) -> Figures:
    about = {name: summary[name] for name in ("shape", "model", "rounds")}
    yield Note("federation.figure.shape"), Note("federation.figure.shape_value", about)
    yield Note("federation.figure.parties"), f"{len(summary['clients'])}"
    alone = ", ".join(f"{many:,}" for many in summary.get("ids_alone", {}).values())
    if "predicted_rows" in summary:
        asked = {"rows": summary["predicted_rows"], "name": summary["asked_by"], "alone": alone}
        yield Note("federation.figure.predicted"), Note("federation.figure.predicted_value", asked)
        return
    if "aligned_rows" in summary:
        figures = {"rows": summary["aligned_rows"], "alone": alone}
        yield Note("federation.figure.aligned"), Note("federation.figure.aligned_value", figures)
    if "spread" in summary:
        yield Note("federation.figure.spread"), f"{summary['spread']:.2g}"
    if "central" in summary:
        yield from _beside(summary)
    else:
        yield Note("federation.figure.kept_by"), ", ".join(summary["models"])


def _beside(summary: Mapping[str, Any]) -> Figures:
    """Give what a simulation knows: how good it is on rows that it kept, beside one place."""
    figures, central = summary["figures"], summary["central"]
    if summary["shape"] == "transfer":
        whole = {"accuracy": summary["central_all_columns"]["accuracy"]}
        yield Note("federation.figure.all_columns"), Note("federation.figure.all_columns_value", whole)
    judged = {"accuracy": figures["accuracy"], "rows": summary["test_rows"]}
    yield Note("federation.figure.accuracy"), Note("federation.figure.accuracy_value", judged)
    if len(summary["models"]) > 1:
        yield Note("federation.figure.lowest"), f"{summary['lowest_accuracy']:.4f}"
    beside = {"accuracy": central["accuracy"], "difference": f"{summary['difference']:+.4f}"}
    yield Note("federation.figure.one_place"), Note("federation.figure.one_place_value", beside)
    yield Note("federation.figure.f1"), f"{figures['f1']:.4f}, {central['f1']:.4f}"
