"""How much do answers really give away? Public verbs, asked often about two neighbours, and counted.

``python benchmarks/distinguishers.py --jobs 16`` prints for every verb what was promised, what so many runs
prove epsilon to be at least, and how many runs there were; then the same under planted faults, which must be
found. ``--share 0.1`` takes a tenth of the runs (``--share 10`` ten times as many), ``--only mean`` the verbs
of that name, ``--places 0:20`` the
first twenty, ``--names`` lists them.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from distinguishers_of import (  # type: ignore[import-not-found]
    FAULTS,
    Scores,
    Verb,
    asked,
    every_verb,
    lower_bound,
    odd_cell,
)

ALARM = 1e-4  # of each bound
LEAST, FOR_FAULTS = 40, 1000  # runs


def verbs() -> dict[str, Verb]:
    """Give every verb by name, and the same under a planted fault by the name of the fault too."""
    found = {verb.name: verb for verb in every_verb()}
    for fault in FAULTS:
        found[f"planted: {fault}"] = odd_cell() if "type" in fault else asked("count()", [0.0] * 5, [0.0] * 6)
    return found


def drawn(name: str, neighbour: int, runs: int) -> tuple[Scores, float]:
    """Ask about one of two neighbours so often; gives scores, and the seconds of a processor it took."""
    began = time.process_time()
    with warnings.catch_warnings(), ExitStack() as stack:
        warnings.simplefilter("ignore")
        if name.startswith("planted: "):
            stack.enter_context(FAULTS[name.removeprefix("planted: ")]())
        scores = verbs()[name].draw(neighbour, runs)
    return scores, time.process_time() - began


def bounds(names: list[str], share: float, jobs: int) -> Iterator[tuple[str, Verb, float, int, float]]:
    """Give for every verb what runs prove, how many there were and the milliseconds of one."""
    known = verbs()
    with ExitStack() as stack:
        each_of: Callable[..., Iterable[Any]] = itertools.starmap
        if jobs > 1:
            each_of = stack.enter_context(multiprocessing.get_context("spawn").Pool(jobs)).starmap
        for name in names:
            least = FOR_FAULTS if name.startswith("planted") else LEAST
            each = -(-max(least, int(known[name].runs * share)) // jobs)
            parts = [(name, neighbour, each) for neighbour in (0, 1) for _ in range(jobs)]
            found = list(each_of(drawn, parts))
            one, other = (np.concatenate([part for part, _ in half]) for half in (found[:jobs], found[jobs:]))
            cost = sum(seconds for _, seconds in found) / len(one) / 2 * 1e3
            yield name, known[name], lower_bound(one, other, known[name].delta, ALARM), len(one), cost


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--places", default=":", help="some of the verbs by their place, as 0:20")
    parser.add_argument("--names", action="store_true")
    options = parser.parse_args()
    first, last = (int(place) if place else None for place in options.places.split(":"))
    names = [name for name in list(verbs())[first:last] if options.only in name]
    if options.names:
        print("\n".join(names))
        return
    wrong = 0
    print(f"confidence {1 - ALARM:.2%} each\n{'promised':>9} {'at least':>9} {'runs':>7} {'ms a run':>9}")
    for name, verb, bound, runs, cost in bounds(names, options.share, options.jobs):
        wrong += (bound > verb.epsilon) != name.startswith("planted")
        print(f"{verb.epsilon:9.3f} {bound:9.3f} {runs:7d} {cost:9.3f}  {name}", flush=True)
    print(f"{len(names)} verbs and faults, {wrong} wrong")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
