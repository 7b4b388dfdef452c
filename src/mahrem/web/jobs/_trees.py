"""Trees of hierarchies that are sent: large ones are checked in a process of their own, within limits."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from mahrem.web._errors import Refused
from mahrem.web._orders import Json

AT_ONCE = 2000  # nodes that are checked within the server
_SECONDS = 60.0


def check_tree_of(tree: Json, place: Path | None = None) -> Json:
    """Say how large a tree is and whether its labels are true.

    Args:
        tree: Labels and children, one within the other.
        place: Where it is written if it is a hierarchy; nowhere if None.

    Raises:
        Refused: If it is no tree, or takes too long.
    """
    if _fits(tree, AT_ONCE):
        return work(tree, place)
    order = json.dumps({"tree": tree, "place": None if place is None else str(place)}).encode()
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "mahrem.web.jobs._trees"],
            input=order,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Refused(409, "took_too_long", minutes=_SECONDS / 60) from None
    if not done.stdout:
        raise Refused(409, "out_of_memory")
    answer: Json = json.loads(done.stdout)
    if "error" in answer:
        raise Refused.read(int(answer["status"]), answer["error"])
    return answer


def work(tree: Json, place: Path | None) -> Json:
    """Do it here."""
    from mahrem.pipeline import check_hierarchy
    from mahrem.table.hierarchies import hierarchy_from_nested

    hierarchy = hierarchy_from_nested(tree)
    facts = check_hierarchy(hierarchy)
    if place is not None:
        hierarchy.write(place)
    known = {key: value for key, value in asdict(facts).items() if value is not None}
    return {"holds": facts.holds, **known, "nodes": list(facts.nodes)}


def _fits(tree: Json, most: int) -> bool:
    """Say whether a tree has no more nodes than so many; no more of them are looked at."""
    waiting, seen = [tree], 0
    while waiting and seen <= most:
        children = waiting.pop().get("children", ())
        seen += 1 + len(children)
        waiting.extend(children)
    return seen <= most


def main() -> int:
    """Check the tree on stdin and write what was found to stdout."""
    from mahrem.report import to_json
    from mahrem.web._errors import refusal_of
    from mahrem.web._orders import JobLimits
    from mahrem.web.jobs._child import end_with_parent, limit

    end_with_parent()
    order = json.loads(sys.stdin.buffer.read())
    limit(JobLimits(rows=0, columns=0, memory=2 * 2**30, seconds=_SECONDS))
    try:
        result = work(order["tree"], None if order["place"] is None else Path(order["place"]))
    except BaseException as error:  # noqa: BLE001 - whatever it was, the server has to hear of it
        refused = refusal_of(error)
        result = {"error": refused.record, "status": refused.status}
    sys.stdout.write(to_json(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
