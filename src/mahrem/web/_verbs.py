"""What a job does: one verb of the pipeline each, called as the command line calls it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mahrem.errors import InvalidInput
from mahrem.web._drawn import draw
from mahrem.web._errors import Refused

__all__ = ["VERBS", "perform"]

Progress = Callable[[str], None]


def perform(order: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Do what an order says; gives what goes into ``result.json``."""
    return VERBS[order["verb"]](_Order(order), progress)


class _Order:
    """An order with its parts by name."""

    def __init__(self, said: Mapping[str, Any]) -> None:
        self.folder = Path(said["folder"])
        self.source: Mapping[str, Any] = said["source"]
        self.settings: dict[str, Any] = dict(said["request"].get("settings", {}))
        self.arguments: dict[str, Any] = dict(said["request"].get("arguments", {}))
        self.limits: Mapping[str, int] = said["limits"]
        self._answer: Any = None

    @property
    def reading(self) -> dict[str, Any]:
        """How the table is read, by the names of settings."""
        asked = {"table": self.source["sql_table"], "query": self.source["sql"]}
        held = isinstance(self.table(), str)
        return {**self.source["reading"], **({k: v for k, v in asked.items() if v} if held else {})}

    def table(self) -> Any:
        """Give the table; a table or question of a DuckDB file may look at nothing but that file."""
        from mahrem.table import Reading, is_duckdb, is_postgresql, read_alone

        place, sql = self.source["table"], self.source["sql"]
        if is_postgresql(place) or not (sql or is_duckdb(Path(place))):
            return place
        if self._answer is None:
            asked = Reading(query=sql, table=None if sql else self.source["sql_table"])
            self._answer = read_alone(Path(place), asked)
        return self._answer

    def all(self) -> dict[str, Any]:
        """Give settings and ways of reading together."""
        return {**self.reading, **self.settings}


def _inspect(order: _Order, progress: Progress) -> dict[str, Any]:
    from mahrem.pipeline import inspect
    from mahrem.table import Reading, open_source

    progress("reading")
    opened = open_source(order.table(), Reading(**order.reading))
    for found, most, what in (
        (len(opened.columns), order.limits["columns"], "columns"),
        (opened.rows, order.limits["rows"], "rows"),
    ):
        if found > most:
            raise Refused(
                413,
                f"too_many_{what}",
                f"This table has {found:,} {what}; {most:,} at most are taken",
                f"Leave some {what} out, or start the server with a higher --max-{what}.",
            )
    if opened.rows == 0:
        raise InvalidInput("the table has column names but no rows; a table to anonymise has some")
    progress("looking at the columns")
    return inspect(order.table(), **order.reading).as_dict()


def _anonymize(order: _Order, progress: Progress) -> dict[str, Any]:
    from mahrem.pipeline import anonymize

    made = anonymize(
        order.table(),
        output=order.folder / "release",
        target=order.arguments.get("target"),
        progress=progress,
        **order.all(),
    )
    draw(order.folder, made.report)
    return {"report": made.report}


def _compare(order: _Order, progress: Progress) -> dict[str, Any]:
    from mahrem.pipeline import compare
    from mahrem.report import frontier_advice

    settings = {key: value for key, value in order.all().items() if key != "method"}
    found = compare(
        order.table(),
        methods=order.arguments.get("methods"),
        ks=order.arguments.get("ks"),
        budget=order.arguments.get("budget"),
        output=order.folder / "comparison",
        progress=progress,
        **settings,
    )
    return {**found.as_dict(), "advice": list(frontier_advice(found.rows))}


def _audit(order: _Order, progress: Progress) -> dict[str, Any]:
    from mahrem.pipeline import audit

    kept = {key: value for key, value in order.all().items() if key not in _NOT_AUDITED}
    found = audit(
        order.table(),
        threshold=order.arguments.get("threshold", 0.2),
        memory=order.limits["memory"] // 2,
        progress=progress,
        **kept,
    )
    draw(order.folder, found.report)
    return {"report": found.report}


_NOT_AUDITED = frozenset(
    {"identifier", "insensitive", "rest", "missing", "method", "suppression_limit", "format", "subject"}
)


def _attack(order: _Order, progress: Progress) -> dict[str, Any]:
    from mahrem.pipeline import attack

    release = order.folder.parent / f"job-{order.arguments['release']}" / "release"
    found = attack(
        release, original=order.table(), trials=order.arguments.get("trials", 1000), progress=progress
    )
    known = {name: {"role": "quasi"} for name in found.report["quasi"]}
    draw(order.folder, {"columns": known, "red_team": found.report})
    return {"report": found.report}


def _estimate(order: _Order, progress: Progress) -> dict[str, Any]:
    from mahrem.pipeline import dry_run

    return {"report": dry_run(order.table(), progress=progress, **order.all()).report}


def _hierarchy(order: _Order, progress: Progress) -> dict[str, Any]:
    from mahrem.pipeline import check_hierarchy, make_hierarchy

    progress("grouping values")
    ways = order.arguments
    kept = {key: order.settings[key] for key in ("kind", "order") if key in order.settings}
    tree = make_hierarchy(order.table(), ways.pop("column"), **ways, **order.reading, **kept)
    tree.write(order.folder.parent / f"hierarchy-{order.folder.name.removeprefix('job-')}.csv")
    return {"facts": asdict(check_hierarchy(tree))}


def _ledger(order: _Order, progress: Progress) -> dict[str, Any]:
    from mahrem.dp import Ledger
    from mahrem.table import Reading

    progress("fingerprinting the table")
    reading = Reading(**order.reading)
    path = order.folder.parent / f"ledger-{order.folder.name.removeprefix('job-')}"
    made = Ledger.create(path, order.table(), reading=reading, **order.arguments)
    return {"sheet": made.data_sheet()}


def _query(order: _Order, progress: Progress) -> dict[str, Any]:
    from mahrem.pipeline import query

    progress("answering")
    ways = dict(order.arguments)
    ledger = order.folder.parent / f"ledger-{ways.pop('ledger')}"
    return query(order.table(), ways.pop("question"), ledger=ledger, **ways, **order.reading).as_dict()


VERBS: Mapping[str, Callable[[_Order, Progress], dict[str, Any]]] = {
    "inspect": _inspect,
    "anonymize": _anonymize,
    "compare": _compare,
    "audit": _audit,
    "attack": _attack,
    "estimate": _estimate,
    "hierarchy": _hierarchy,
    "ledger": _ledger,
    "query": _query,
}
