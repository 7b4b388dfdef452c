"""How long does looking into a table take, against polars reading the same table from CSV?

1e6 rows and 20 columns: e-mails, telephone numbers, identity numbers, names, addresses, dates, notes, codes,
amounts and categories. ``look_into`` is what a release does before it publishes; ``inspect`` also opens,
checks and reads the file. Repeats are interleaved and the shortest counts.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from _timing import Figure, interleaved, print_json

from mahrem import inspect
from mahrem.contents import look_into


def table(rows: int, seed: int = 1) -> pl.DataFrame:
    """Make a table of people with the content that tables of people have, under names that say nothing."""
    rng = np.random.default_rng(seed)
    given = pl.Series(
        ["Ayşe", "Hans", "Mary", "Emre", "Sabine", "Oliver", "Zeynep", "Jürgen", "Grace", "Murat"]
    )
    family = pl.Series(
        ["Yılmaz", "Müller", "Smith", "Kaya", "Schneider", "Jones", "Demir", "Fischer", "Brown"]
    )
    streets = pl.Series(["Hauptstraße", "Lindenallee", "Bahnhofstr.", "Goetheweg", "Kirchgasse"])
    words = pl.Series(
        ["called", "about", "pain", "in", "the", "left", "knee", "since", "Monday", "again", "worried"]
    )

    def chosen(values: pl.Series) -> pl.Series:
        return values.gather(rng.integers(0, len(values), rows))

    def numbers(low: int, high: int) -> pl.Series:
        return pl.Series(rng.integers(low, high, rows))

    def joined(pattern: str, *parts: pl.Series) -> pl.Series:
        return pl.select(pl.format(pattern, *(pl.lit(part) for part in parts))).to_series()

    first, last = chosen(given), chosen(family)
    note = joined("{} {} {} {} {} {}", *(chosen(words) for _ in range(6)))
    columns = [
        joined("{}.{}{}@example.org", first.str.to_lowercase(), last.str.to_lowercase(), numbers(1, 9999)),
        joined("+90 53{} {} {}", numbers(0, 10), numbers(200, 999), numbers(1000, 9999)),
        numbers(10**10, 10**11).cast(pl.String),
        joined("{} {}", first, last),
        joined("{} {}", chosen(streets), numbers(1, 300)),
        pl.Series(np.datetime64("1930-01-01") + rng.integers(0, 28_000, rows)).cast(pl.String),
        pl.Series(np.datetime64("2022-01-01") + rng.integers(0, 900, rows)).cast(pl.String),
        note,
        pl.Series(np.arange(rows)).cast(pl.String),
        numbers(10_000, 99_999).cast(pl.String),
        numbers(0, 100).cast(pl.String),
        pl.Series(np.round(rng.gamma(2, 800, rows), 2)).cast(pl.String),
        joined("{}.{}.{}.{}", *(numbers(1, 255) for _ in range(4))),
        joined("P-{}", numbers(0, 10**6)),
        *(chosen(pl.Series(["female", "male", "diverse"])) for _ in range(3)),
        chosen(pl.Series(["I10", "E11.9", "J45.0", "F32.1", "M54.5", "K21.0"])),
        numbers(0, 2).cast(pl.String),
        numbers(100, 220).cast(pl.String),
    ]
    return pl.DataFrame({f"c{place}": column for place, column in enumerate(columns)})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print rows as JSON")
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    frame = table(int(arguments.rows))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        frame.write_csv(path)
        best = interleaved(
            {
                "read": lambda: pl.read_csv(path, infer_schema=False),
                "look_into": lambda: look_into(frame),
                "inspect": lambda: inspect(path),
            },
            arguments.repeats,
        )
    rows = [
        Figure(
            case=f"{verb}, {frame.width} columns",
            n=frame.height,
            seconds=round(best[verb], 4),
            baseline="polars read_csv of the same table, all as text",
            baseline_seconds=round(best["read"], 4),
            ratio=round(best[verb] / best["read"], 3),
        )
        for verb in ("look_into", "inspect")
    ]
    if arguments.json:
        print_json(rows)
        return
    for row in rows:
        print(f"{row['case']:<40} n={row['n']:,} {row['seconds']} s {row['ratio']}x {row['baseline']}")


if __name__ == "__main__":
    main()
