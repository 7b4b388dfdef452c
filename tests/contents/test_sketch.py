"""A sketch looks at every row, and neither order nor parts change what it keeps."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.arrays.counting import _different
from mahrem.arrays.sketching import NO_TEXT, hashes_and_shapes
from mahrem.contents import TableSketch, look_into, merge_sketches, sketch_table
from mahrem.contents import _sketch as sketching
from mahrem.release import find_doubts
from mahrem.release.decisions import Policy

CELLS = st.one_of(
    st.none(),
    st.sampled_from(["a", "B 2", "10", "1,5", "x@y.org", "2020-01-31", "12:30", "call back on Monday"]),
    st.text(max_size=6),
)


def same(one: TableSketch, other: TableSketch) -> bool:
    """Tell whether two sketches hold the same, whichever of equal rows was kept."""
    columns = all(
        mine.values.equals(theirs.values)
        and all(
            np.array_equal(getattr(mine, part), getattr(theirs, part))
            for part in ("hashes", "shapes", "counts", "written", "more")
        )
        and (mine.distinct, mine.present) == (theirs.distinct, theirs.present)
        for mine, theirs in zip(one.columns.values(), other.columns.values(), strict=True)
    )
    rows = one.sample.equals(other.sample) and np.array_equal(one.counts, other.counts)
    return columns and rows and one.rows == other.rows


@given(
    st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=60),
    st.integers(1, 5),
    st.randoms(use_true_random=False),
)
@settings(max_examples=60)
def test_parts_in_any_order_add_up_to_the_whole(
    rows: list[tuple[str, str]], parts: int, random: object
) -> None:
    with pytest.MonkeyPatch.context() as few:  # so that not everything is kept
        few.setattr(sketching, "VALUES", 6)
        few.setattr(sketching, "OF_EACH", 2)
        few.setattr(sketching, "ROWS", 9)
        frame = pl.DataFrame(rows, schema={"x": pl.String, "y": pl.String}, orient="row")
        whole = sketch_table(frame)
        shuffled = frame.sample(fraction=1, shuffle=True, seed=random.randrange(99))  # type: ignore[attr-defined]
        spread = [sketch_table(shuffled[start::parts]) for start in range(parts)]
        assert same(merge_sketches([TableSketch.unpack(part.pack()) for part in spread]), whole)


@given(st.lists(st.tuples(CELLS, st.none() | st.integers(-20, 40)), min_size=8, max_size=60))
@settings(max_examples=60)
def test_a_look_at_different_values_gives_what_a_look_at_every_cell_does(
    rows: list[tuple[str | None, int | None]],
) -> None:
    frame = pl.DataFrame(rows, schema={"x": pl.String, "y": pl.Int64}, orient="row")
    with pytest.MonkeyPatch.context() as few:
        few.setattr(sketching, "VALUES", 6)
        few.setattr(sketching, "OF_EACH", 2)
        by_cell = sketch_table(frame)
        few.setattr(sketching, "AT_ONCE", 8)  # so few rows are enough, and so small a range
        categories = frame["x"].cast(pl.Categorical(pl.Categories.random()))
        assert same(sketch_table(frame, {"x": categories}), by_cell)
        told_of_as_text = sketch_table(frame.with_columns(categories), texts=["x"])
        assert same(told_of_as_text, by_cell)
        wanted = by_cell.sample.select("x", "y").head(3)
        for names in (["x"], ["x", "y"]):
            asked = wanted.select(names)
            assert told_of_as_text.having(names, asked).equals(by_cell.having(names, asked))


@given(st.lists(st.none() | st.sampled_from([0.0, -0.0, 1.5, 2.0, float("nan"), float("inf")]), min_size=5))
@settings(max_examples=60)
def test_fractions_that_are_shared_are_looked_at_once(fractions: list[float | None]) -> None:
    frame = pl.DataFrame({"x": pl.Series(fractions, dtype=pl.Float64)})
    by_cell = sketch_table(frame)
    with pytest.MonkeyPatch.context() as few:
        few.setattr(sketching, "AT_ONCE", 4)
        few.setattr(_different, "_SHARED", 1)
        assert sketching._numbers_of(frame["x"]) is not None
        assert same(sketch_table(frame), by_cell)


def test_what_is_kept_does_not_keep_the_rest_in_memory() -> None:
    texts = pl.Series("x", [f"a text that is not within its view: {row}" for row in range(20_000)])
    merged = merge_sketches([sketch_table(part) for part in texts.to_frame().iter_slices(5_000)])
    for kept in (merged.sample["x"], merged.columns["x"].values):
        stored = kept.to_arrow(compat_level=pl.CompatLevel.newest())
        assert len(kept) < 4_000
        assert sum(part.size for part in stored.buffers() if part is not None) < 100 * len(kept)


@given(st.lists(CELLS, min_size=1, max_size=200))
@settings(max_examples=60)
def test_a_sketch_of_few_values_is_exact(cells: list[str | None]) -> None:
    column = pl.Series("x", cells, dtype=pl.String)
    sketch = sketch_table(column.to_frame()).columns["x"]
    counted = column.drop_nulls().value_counts(name="rows")
    assert dict(zip(sketch.values, sketch.counts.tolist(), strict=True)) == dict(counted.iter_rows())
    assert (sketch.distinct, sketch.present, sketch.complete) == (
        len(counted),
        int(counted["rows"].sum()),
        True,
    )
    alone = counted.filter(pl.col("rows") < 2)["rows"].sum() / max(1, sketch.present)
    assert sketch.rarely_shared(2) == pytest.approx(alone)


def test_many_values_are_counted_about_right() -> None:
    rows = np.random.default_rng(5).integers(0, 40_000, 200_000)
    column = pl.Series("x", rows).cast(pl.String)
    sketch = sketch_table(column.to_frame()).columns["x"]
    assert sketch.distinct == pytest.approx(column.n_unique(), rel=0.2)
    counts = column.value_counts(name="rows")["rows"]
    assert sketch.rarely_shared(3) == pytest.approx(counts.filter(counts < 3).sum() / len(column), abs=0.05)
    assert sketch.weights.sum() == pytest.approx(len(column))


RARE = {
    "email": ["ada@example.org"],
    "tckn": ["10000000146", "19191919190", "12345678950", "98765432150", "11111111110"],
    "iban": ["DE89 3704 0044 0532 0130 00", "GB29NWBK60161331926819", "TR330006100519786457841326"],
    "phone": [f"+90 532 {n:03d} 45 {n % 90 + 10}" for n in range(200, 240)],
    "text": [
        f"{who} {did} because of {what} since {when}"
        for who in ("the mother", "his old neighbour", "she")
        for did in ("came again", "called", "was seen late at night")
        for what, when in (("a swollen knee", "Monday"), ("pain in the left shoulder", "last winter"))
    ],
    "url": ["https://example.org/p/7"],
    "name": [f"{a} {b}" for a in ("Ayşe", "Hans", "Mary") for b in ("Kaya", "Müller", "Smith")],
}


@pytest.mark.parametrize("kind", RARE)
def test_what_few_cells_hold_is_found_among_many(kind: str) -> None:
    rows = 60_000
    usual = [f"W{n % 9000:04d}" for n in range(rows)]
    for place, value in enumerate(RARE[kind]):
        usual[rows - 7 * place - 1] = value
    found = look_into(pl.DataFrame({"x": usual}))
    assert kind in {finding.kind for finding in found.of("x")}
    shown = find_doubts(
        pl.DataFrame({"q": [n % 50 for n in range(rows)], "x": usual}), Policy.of({"quasi": ["q"]})
    )
    assert [doubt.column for doubt in shown] == ["x"]


@given(
    st.lists(st.one_of(CELLS, st.text(min_size=10, max_size=30)), min_size=2, max_size=40), st.integers(0, 1)
)
def test_a_text_has_one_hash_and_shape_wherever_it_lies(cells: list[str | None], first: int) -> None:
    column = pl.Series(cells, dtype=pl.String)
    parts = pl.concat([column[:1], column[1:]], rechunk=False)
    hashes, shapes = hashes_and_shapes(parts[first:])
    for place, cell in enumerate(cells[first:]):
        alone = hashes_and_shapes(pl.Series([cell], dtype=pl.String))
        assert (hashes[place], shapes[place]) == (alone[0][0], alone[1][0])
        digits = sum(sign in "0123456789" for sign in cell or "")
        many = sum(digits > step for step in (0, 4, 6, 8, 10, 12, 16))
        assert shapes[place] == NO_TEXT if cell is None else shapes[place] // 128 == many
    assert len(set(hashes.tolist())) == len(set(cells[first:]))
