"""Does anything beside a published table depend on what the table hides?

Makes pairs of tables that differ only in hidden things (a suppressed row, a dropped one, a value beyond a top
code, an extreme inside its cell, names, the order of rows, columns that show nothing or are left out, how a
file is laid out …), releases both, and compares the folders byte for byte (time stamps aside) whenever the
data files are the same; where what is hidden may have no say at all, the data files must be. ``python
benchmarks/non_interference.py --pairs 20000 --seed 1``; a pair that differs is printed with its number, from
which it can be made again. With ``--by verbs``, ``compare``, ``page`` or ``spark`` pairs go through tries,
hidden cells, lattices and looks, the comparison of methods, the page's API, or a cluster.
"""

from __future__ import annotations

import argparse
import atexit
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from hidden_things import Twins, draw_twins  # type: ignore[import-not-found]
from twins import (  # type: ignore[import-not-found]
    attacked,
    both_released,
    compared,
    informed_apart,
    on_cluster,
    through_page,
)

BY = ("release", "verbs", "compare", "page", "spark")


def tried(number: tuple[int, int, float, float, str]) -> tuple[str, str, str | None]:
    """Try one pair: what was hidden, what came of it, and where the folders differ."""
    warnings.simplefilter("ignore")
    seed, place, pages, attacks, by = number
    informed = 0.1  # the share of pairs that are attacked with a population and a second release as well
    random = Random(f"{seed}-{place}")
    twins = draw_twins(random)
    if by != "release":
        what, apart = elsewhere(by)(twins)
        return twins.how, what, apart
    html = random.random() < pages
    folder = Path(tempfile.mkdtemp())
    # Every release reads what earlier ones of such columns left: thousands of pairs would slow down.
    os.environ["MAHREM_STATE"] = str(folder / "state")
    try:
        first, second = folder / "first", folder / "second"
        what, apart = both_released(twins, (first, second), html=html)
        if what != "same":
            return twins.how, what if apart is None else "differs", apart
        both = ((twins.first, first), (twins.second, second))
        if random.random() < attacks:
            figures = [attacked(table, where, twins.settings) for table, where in both]
            if figures[0] != figures[1]:
                apart = "figures of attacks"
        if apart is None and random.random() < informed:
            apart = informed_apart(twins, first, second)
        return twins.how, "same" if apart is None else "differs", apart
    finally:
        shutil.rmtree(folder)


@cache
def elsewhere(by: str) -> Callable[[Twins], tuple[str, str | None]]:
    """Give what tries pairs through another door; it is opened once for each process."""
    if by == "verbs":
        from twin_verbs import through_verbs  # type: ignore[import-not-found]

        return lambda twins: through_verbs(twins)  # noqa: PLW0108 - typed here
    if by == "compare":
        return lambda twins: compared(twins)  # noqa: PLW0108 - typed here
    doors = ExitStack()
    atexit.register(doors.close)
    if by == "page":
        from web_server import serving  # type: ignore[import-not-found]

        server = doors.enter_context(serving(Path(tempfile.mkdtemp())))
        return lambda twins: through_page(twins, server)
    from mahrem.spark._session import start, stop

    session = start("local[2]", memory="1g", settings={"spark.sql.shuffle.partitions": "2"}, wait=180)
    doors.callback(stop, session)
    return lambda twins: on_cluster(twins, session)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pages", type=float, default=0.25, help="share of pairs with report.html")
    parser.add_argument("--attacks", type=float, default=0.3, help="share of pairs that are attacked")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--by", choices=BY, default="release")
    options = parser.parse_args()
    began = time.monotonic()
    seen: Counter[tuple[str, str]] = Counter()
    numbers = (
        (options.seed, place, options.pages, options.attacks, options.by) for place in range(options.pairs)
    )
    with get_context("spawn").Pool(options.workers) as pool:
        few = options.by != "release"
        for place, (how, what, apart) in enumerate(pool.imap(tried, numbers, chunksize=1 if few else 20)):
            seen[how, what] += 1
            if apart is not None:
                print(f"pair {place}: {how}: {apart}", flush=True)  # a run that is killed has told it
            if (place + 1) % (20 if few else 1000) == 0:
                told = Counter(what for (_, what), count in seen.items() for _ in range(count))
                print(f"{place + 1} pairs, {dict(told)}, {time.monotonic() - began:.0f} s", file=sys.stderr)
    for (how, what), count in sorted(seen.items()):
        print(f"{how:12} {what:12} {count:7,}")
    same, differs = (sum(n for (_, what), n in seen.items() if what == kind) for kind in ("same", "differs"))
    print(
        f"seed {options.seed}: {options.pairs:,} pairs, {same + differs:,} published the same table, "
        f"{differs} of them differ beside it, {time.monotonic() - began:.0f} s"
    )


if __name__ == "__main__":
    main()
