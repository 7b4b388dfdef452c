"""Is anybody told apart by more than noise? Tables one record apart, from every source, asked every verb.

The record is chosen to change what libraries infer from a column: its type, its categories, the form of its
dates, gaps, infinities. Every private model learns, a search and teachers too. On the neighbour every
mechanism gives out what it gave on the table, so the values before noise are compared exactly.
``python benchmarks/neighbours.py --pairs 5000 --seed 1``; a pair that fails is printed with its number, from
which it can be made again.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from mahrem.dp import assert_dp
from odd_learning import learners, odd_last  # type: ignore[import-not-found]
from odd_neighbours import draw_pair, verbs  # type: ignore[import-not-found]
from odd_silos import READINGS, refuse_more_than_one  # type: ignore[import-not-found]
from odd_sources import SOURCES, Told, made  # type: ignore[import-not-found]


def tried(seed: int, place: int, folder: Path) -> tuple[str, str, str | None] | None:
    """Try one pair: source, verb, and what went wrong; None where nobody could have such a table."""
    random = Random(f"{seed}-{place}")
    pair, source = draw_pair(random), random.choice(list(SOURCES))
    asking, learning = verbs(pair.relation), learners(pair.relation)
    name = random.choice([*asking, *READINGS, *learning])
    pair = odd_last(pair) if name in learning else pair  # batches are drawn by the place of a row
    tables = [made(people, source, folder / name) for name, people in (("1", pair.first), ("2", pair.second))]
    if any(table is None or (name in READINGS and isinstance(table, Told)) for table in tables):
        return None
    try:
        if name in READINGS:  # their noise is added elsewhere: what it is added to is compared
            refuse_more_than_one([READINGS[name](table) for table in tables], pair)
        else:
            assert_dp({**asking, **learning}[name], *tables)
    except Exception as error:  # noqa: BLE001 - a failure that hangs on a record is a finding too
        return source, name, f"{type(error).__name__}: {error}"
    return source, name, None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    began, place, sources, bad = time.monotonic(), 0, Counter[str](), 0
    with tempfile.TemporaryDirectory() as folder:
        while sum(sources.values()) < options.pairs:
            found = tried(options.seed, place, Path(folder))
            if found is not None:
                sources[found[0]] += 1
                if found[2] is not None:
                    bad += 1
                    print(f"pair {place}: {found[0]}, {found[1]}: {found[2]}", flush=True)
                if sum(sources.values()) % 500 == 0:
                    print(
                        f"{sum(sources.values())} pairs, {bad} above, {time.monotonic() - began:.0f} s",
                        flush=True,
                    )
            place += 1
    for source, pairs in sources.most_common():
        print(f"{pairs:6d}  {source}")
    print(f"{sum(sources.values())} pairs, {bad} above the sensitivity, {time.monotonic() - began:.0f} s")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
