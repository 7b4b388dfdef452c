"""Is anybody told apart by more than noise? Tables one record apart, from every source, asked every verb.

The record is chosen to change what libraries infer from a column: its type, its categories, the form of its
dates, gaps, infinities. Every private model learns, a search and teachers too. On the neighbour every
mechanism gives out what it gave on the table, so the values before noise are compared exactly.
``python benchmarks/neighbours.py --pairs 5000 --seed 1 --jobs 16``; a pair that fails is printed with its
number, from which it can be made again: ``--from NUMBER --pairs 1``. ``--seconds`` ends a run early; the last
line says from which number the next one goes on.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import sys
import tempfile
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from polars.exceptions import PanicException

from mahrem.dp import assert_dp
from odd_learning import learners, odd_last  # type: ignore[import-not-found]
from odd_neighbours import draw_pair, verbs  # type: ignore[import-not-found]
from odd_silos import READINGS, refuse_more_than_one  # type: ignore[import-not-found]
from odd_sources import SOURCES, Told, made  # type: ignore[import-not-found]


class Tried(NamedTuple):
    """One pair: its number, what was asked of which source, what went wrong, what it took."""

    number: int
    source: str
    verb: str
    wrong: str | None
    seconds: float


def tried(seed: int, number: int) -> Tried | None:
    """Try one pair; None where nobody could have such a table."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _tried_in(Path(folder), seed, number)


def _tried_in(folder: Path, seed: int, number: int) -> Tried | None:
    random, began = Random(f"{seed}-{number}"), time.process_time()
    pair, source = draw_pair(random), random.choice(list(SOURCES))
    asking, learning = verbs(pair.relation), learners(pair.relation)
    name = random.choice([*asking, *READINGS, *learning])
    pair = odd_last(pair) if name in learning else pair  # batches are drawn by the place of a row
    tables = [made(people, source, folder / name) for name, people in (("1", pair.first), ("2", pair.second))]
    if any(table is None or (name in READINGS and isinstance(table, Told)) for table in tables):
        return None
    wrong = None
    try:
        if name in READINGS:  # their noise is added elsewhere: what it is added to is compared
            refuse_more_than_one([READINGS[name](table) for table in tables], pair)
        else:
            assert_dp({**asking, **learning}[name], *tables)
    except (Exception, PanicException) as error:  # noqa: BLE001 - what fails on a record is a finding too
        wrong = f"{type(error).__name__}: {error}"
    return Tried(number, source, name, wrong, time.process_time() - began)


@contextmanager
def _each(seed: int, numbers: Iterable[int], jobs: int) -> Iterator[Iterator[Tried | None]]:
    """Try numbers in their order, in so many processes."""
    if jobs == 1:
        yield map(partial(tried, seed), numbers)
        return
    # Fresh processes: libraries with threads of their own do not outlive a fork.
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        yield pool.imap(partial(tried, seed), numbers)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--pairs", type=int, default=500)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    return parser.parse_args()


def main() -> None:
    options = _asked()
    began, done, next_number = time.monotonic(), list[Tried](), options.first
    # Numbers are handed out as far as may be needed: one in a few is a table that nobody has.
    numbers = itertools.islice(itertools.count(options.first), 4 * options.pairs)
    with _each(options.seed, numbers, options.jobs) as found:
        for next_number, pair in enumerate(found, options.first + 1):  # noqa: B007 - said at the end
            if pair is not None:
                done.append(pair)
                if pair.wrong is not None:
                    print(f"pair {pair.number}: {pair.source}, {pair.verb}: {pair.wrong}", flush=True)
                if len(done) % 500 == 0:
                    print(f"{len(done)} pairs, {time.monotonic() - began:.0f} s", flush=True)
            if len(done) >= options.pairs or time.monotonic() - began > options.seconds:
                break
    _show(done, time.monotonic() - began, f"--seed {options.seed} --from {next_number}")


def _show(done: list[Tried], seconds: float, onward: str) -> None:
    for source, pairs in Counter(pair.source for pair in done).most_common():
        print(f"{pairs:6d}  {source}")
    costly = defaultdict[str, float](float)
    for pair in done:
        costly[pair.verb] += pair.seconds
    for verb in sorted(costly, key=costly.__getitem__, reverse=True)[:5]:
        print(f"{costly[verb]:6.0f}  seconds of a processor: {verb}")
    bad = sum(pair.wrong is not None for pair in done)
    each = sum(costly.values()) / max(1, len(done))
    cost = f"{seconds:.0f} s, {each:.2f} s of a processor each"
    print(f"{len(done)} pairs, {bad} above the sensitivity, {cost}")
    print(f"goes on with {onward}")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
