"""Buyuktanir (2022): accuracy, bytes and time over the number of clients, as pictures and as a text table."""

from __future__ import annotations

from collections.abc import Sequence

from mahrem.experiments._row import FlatRow
from mahrem.report import lines_svg

_EXACT = "exact du-cba (ours)"
_PRINTED = {"cba": "cba, printed", "du-cba": "du-cba, printed"}
_COSTS = (
    (
        "bytes",
        "bytes_from_clients",
        "Bytes from all clients together: models, counts, and the rows as CSV",
        "bytes",
        _EXACT,
    ),
    ("times", "seconds", "Time to a model after each arriving client", "seconds", "du-cba"),
)
_HEAD = ("printed du-CBA", "du-CBA, all", "du-CBA, senders", "exact", "central", "printed CBA")


def ducba_pictures(rows: Sequence[FlatRow]) -> dict[str, str]:
    """Draw and write what the rows allow; each row is flat, its settings beside its figures."""
    drawn: dict[str, str] = {}
    for table, about in (("3.2", "support of the rule"), ("left", "support of the left side")):
        judged = [row for row in rows if row["table"] == table and row["metric"] == "accuracy"]
        judged = [row for row in judged if row["ours"] is not None]
        if judged:
            printed = [
                {**row, "method": _PRINTED[row["method"]], "ours": row["published"]}
                for row in judged
                if row["method"] in _PRINTED
            ]
            drawn[f"accuracy-{table}.svg"] = lines_svg(
                [*printed, *judged],
                across="clients",
                title=f"Accuracy over the number of clients, {about}",
                names=("clients", "accuracy"),
                best=_EXACT,
            )
    for name, metric, title, unit, best in _COSTS:
        spent = [row for row in rows if row["metric"] == metric]
        if spent:
            names = ("clients", unit)
            drawn[f"{name}.svg"] = lines_svg(
                spent, across="clients", title=title, names=names, best=best, ratios=True
            )
    tables = {f"{name}.md": ducba_table(rows, name) for name in ("3.2", "left")}
    return drawn | {name: text for name, text in tables.items() if text}


def ducba_table(rows: Sequence[FlatRow], table: str = "3.2") -> str:
    """Write accuracies as a table in Markdown: printed, one-shot, exact, central."""
    held = {
        (row["dataset"], row["clients"], row["method"]): row
        for row in rows
        if row["table"] == table and row["metric"] == "accuracy" and row["ours"] is not None
    }
    spread = {
        (row["dataset"], row["clients"], row["method"]): row["ours"]
        for row in rows
        if row["table"] == table and row["metric"] == "accuracy_std"
    }
    cells = list(dict.fromkeys((dataset, clients) for dataset, clients, _ in held))
    lines = [f"| set, clients | {' | '.join(_HEAD)} |", "|---" * (len(_HEAD) + 1) + "|"]
    for dataset, clients in cells:
        ours = [
            _figure(held[dataset, clients, method]["ours"], spread.get((dataset, clients, method)))
            for method in ("du-cba", "du-cba, senders", _EXACT, "cba")
        ]
        printed = [f"{held[dataset, clients, method]['published']:.2f}" for method in ("du-cba", "cba")]
        lines.append(f"| {dataset}, {clients} | {' | '.join([printed[0], *ours, printed[1]])} |")
    return "\n".join(lines) + "\n" if cells else ""


def _figure(value: float, spread: float | None) -> str:
    return f"{value:.3f}" if spread is None else f"{value:.3f} ({spread:.3f})"
