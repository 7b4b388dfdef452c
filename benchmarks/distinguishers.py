"""How much do answers really give away? Public verbs, asked often about two neighbours, and counted.

``python benchmarks/distinguishers.py`` prints for every verb what was promised, what so many runs prove
epsilon to be at least, and how many runs there were; then the same under planted faults, which must be found.
``--share 0.1`` takes a tenth of the runs, ``--only mean`` the verbs of that name.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from distinguishers_of import FAULTS, asked, every_verb, odd_cell  # type: ignore[import-not-found]

ALARM = 1e-4  # of each bound


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    wrong = 0
    print(f"confidence {1 - ALARM:.2%} each\n{'promised':>9} {'at least':>9} {'runs':>7} {'ms a run':>9}")
    for verb in every_verb():
        if options.only not in verb.name:
            continue
        runs, began = max(40, int(verb.runs * options.share)), time.perf_counter()
        bound = verb.bound(runs, ALARM)
        cost = (time.perf_counter() - began) / runs / 2 * 1e3
        wrong += bound > verb.epsilon
        print(f"{verb.epsilon:9.3f} {bound:9.3f} {runs:7d} {cost:9.3f}  {verb.name}", flush=True)
    for fault, planted in FAULTS.items():
        verb = odd_cell() if "type" in fault else asked("count()", [0.0] * 5, [0.0] * 6)
        with planted():
            bound = verb.bound(max(1000, int(verb.runs * options.share)), ALARM)
        wrong += bound <= verb.epsilon
        print(f"{verb.epsilon:9.3f} {bound:9.3f}  planted: {fault}, {verb.name}", flush=True)
    print(f"{wrong} wrong")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
