"""A table kept ready in a process of its own: one question a line on stdin, one answer a line on stdout."""

from __future__ import annotations

import json
import sys
import warnings
from functools import cached_property
from typing import TYPE_CHECKING

from mahrem.web._orders import JobOrder, Json
from mahrem.web.jobs._child import end_with_parent, limit, quiet_stdout, refusal_record

if TYPE_CHECKING:
    from mahrem.pipeline import Explorer, GeneralisationLattice


_DRAWN = 600  # nodes of a lattice that are judged for a picture while one waits
_WORK = 3_000_000  # nodes times rows for which that takes a moment


class _Table:
    """The table of an order, opened when it is first asked about."""

    def __init__(self, order: JobOrder) -> None:
        self.order = order

    @cached_property
    def explorer(self) -> Explorer:
        from mahrem.pipeline import Explorer

        return Explorer(self.order.table, **self.order.reading)

    def answer(self, question: Json) -> Json:
        """Answer one question."""
        settings = question["settings"]
        if question["verb"] == "singling":
            others = tuple(question.get("others", ()))
            return {"columns": self.explorer.singling(others=others, **settings)}
        if question["verb"] == "node":
            return self._node(tuple(question["levels"]), settings)
        return self.explorer.attempt(quick=True, **settings).as_dict()

    def _node(self, levels: tuple[int, ...], settings: Json) -> Json:
        """Judge a node with its neighbours; without levels, the best."""
        lattice = self.explorer.lattice(**settings)
        node = lattice.node(levels) if levels else lattice.best()
        return {
            "heights": dict(zip(lattice.columns, lattice.heights, strict=True)),
            "objective": lattice.objective,
            "rows": self.explorer.rows,
            "tried": self.explorer.held,
            "node": node.as_dict(),
            "why": [reason.as_dict() for reason in lattice.why(node.levels)],
            "neighbours": [each.as_dict() for each in lattice.neighbours(node.levels)],
            **_every(lattice, self.explorer.held),
        }


def _every(lattice: GeneralisationLattice, rows: int) -> Json:
    """Judge all nodes where that takes a moment; by sizes alone, so that it is the same every time."""
    if len(lattice) > _DRAWN or len(lattice) * rows > _WORK:
        return {}
    every = [{"levels": [*one.levels.values()], "holds": one.holds, "loss": one.loss} for one in lattice]
    holds = any(one["holds"] for one in every)
    return {"every": every, "best": [*lattice.best().levels.values()] if holds else None}


def main() -> int:
    """Answer until stdin ends."""
    end_with_parent()
    order = JobOrder.from_line(sys.stdin.buffer.readline())
    say = quiet_stdout()
    import polars  # noqa: F401, ICN001 - loaded under a limit that it meets at once, it waits for threads for ever

    limit(order.limits)
    table = _Table(order)
    for line in sys.stdin.buffer:
        question = json.loads(line)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a release says them; a try publishes nothing
                say({"answer": table.answer(question)})
        except BaseException as error:  # noqa: BLE001 - also panics of the readers, which are not Exceptions
            say({"error": refusal_record(error, order)})
    return 0


if __name__ == "__main__":
    sys.exit(main())
