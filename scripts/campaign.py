"""Random awkward tables through every method and model, each release read by a slow oracle.

    python scripts/campaign.py --tables 100000 --seed 1 --seconds 3600

The table of number i is made from the seed alone (``--seed`` + i), so that a run can be divided among
machines and any table be made again. PostgreSQL is started where it is installed; forms of tables that a
machine lacks are passed over and named. It prints how many tables of each method and model were released,
could not be, or were refused. What is wrong is made smaller and printed; the exit code is then 1.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import tempfile
import time
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from case_forms import SERVER
from checked_cases import check_case, shrunk
from postgres_process import postgres_programs, postgres_server
from random_cases import Case, random_case

_EVERY = 60.0  # seconds between two words about how far it is


@dataclass
class Campaign:
    """What came of the tables so far."""

    outcomes: Counter[tuple[str, str, str]] = field(default_factory=Counter)  # method, model, what came of it
    wrong: list[tuple[int, str]] = field(default_factory=list)  # seed, and what is wrong
    tables: int = 0

    def run(self, seeds: range, *, seconds: float, folder: Path, loud: bool = True) -> None:
        """Check the tables of some seeds until the time is over."""
        began = said = time.monotonic()
        for seed in seeds:
            case = random_case(seed)
            outcome, faults = check_case(case, folder)
            self.tables += 1
            self.outcomes[case.settings["method"], case.model, outcome] += 1
            if faults:
                self.wrong.append((seed, faults[0]))
                if loud:
                    show(shrunk(case, folder), folder)
            now = time.monotonic()
            if loud and now - said > _EVERY:
                said = now
                print(f"{self.tables:,} tables, {len(self.wrong)} wrong, {now - began:.0f} s", flush=True)
            if now - began > seconds:
                break

    def totals(self) -> Counter[str]:
        """Count what came of all tables."""
        totals: Counter[str] = Counter()
        for (_, _, outcome), times in self.outcomes.items():
            totals[outcome] += times
        return totals


def show(case: Case, folder: Path) -> None:
    """Print a case that went wrong, small enough to be typed in again."""
    print(f"\nseed {case.seed}: {'; '.join(check_case(case, folder)[1][:3])}")
    print(f"  source={case.source} format={case.format} database={case.database}")
    print(f"  settings={case.settings}\n  trees={case.trees}\n  population={case.population}")
    for row in case.rows:
        print(f"  {row}")
    sys.stdout.flush()


def tabulate(campaign: Campaign) -> None:
    """Print a line for each method: released tables of each model, then what was not released."""
    models = sorted({model for _, model, _ in campaign.outcomes})
    print("| method | " + " | ".join(models) + " | infeasible | refused |")
    print("|---" * (len(models) + 3) + "|")
    for method in sorted({method for method, _, _ in campaign.outcomes}):
        released = [campaign.outcomes[method, model, "released"] for model in models]
        others = [
            sum(campaign.outcomes[method, model, outcome] for model in models)
            for outcome in ("infeasible", "refused")
        ]
        print(f"| {method} | " + " | ".join(map(str, [*released, *others])) + " |")


def main() -> int:
    """Run it from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    began = time.monotonic()
    campaign = Campaign()
    with contextlib.ExitStack() as doors:
        folder = doors.enter_context(tempfile.TemporaryDirectory())
        os.environ["MAHREM_STATE"] = f"{folder}/state"
        programs = postgres_programs()
        if programs is not None:
            os.environ[SERVER] = doors.enter_context(postgres_server(programs))
        seeds = range(asked.seed, asked.seed + asked.tables)
        print(f"seed {asked.seed}, up to {asked.tables:,} tables", flush=True)
        with contextlib.suppress(KeyboardInterrupt):  # what was counted until then is told
            campaign.run(seeds, seconds=asked.seconds, folder=Path(folder) / "case")
    tabulate(campaign)
    took = time.monotonic() - began
    counted = ", ".join(f"{times:,} {outcome}" for outcome, times in campaign.totals().most_common())
    print(f"seed {asked.seed}: {campaign.tables:,} tables in {took:.0f} s: {counted}")
    print(f"{len(campaign.wrong)} wrong")
    return int(bool(campaign.wrong))


if __name__ == "__main__":
    sys.exit(main())
