"""Content is recognised where it is, and not where something only looks like it."""

from __future__ import annotations

from collections import Counter
from functools import cache
from types import ModuleType

import numpy as np
import polars as pl
import pytest

import foreign_columns
import office_columns
from foreign_columns import foreign_columns as made_by_others
from labelled_columns import CONTENT, LOOSE, STRICT, LabelledColumn, labelled_columns, tckn
from mahrem.contents import CONTENTS, look_into
from mahrem.words import LANGUAGES, load_catalogue


def kinds(*cells: object) -> list[str]:
    return [finding.kind for finding in look_into(pl.DataFrame({"x": list(cells)}, strict=False)).of("x")]


@cache
def measured(by: str) -> tuple[Counter[str], Counter[str], Counter[str], int]:
    columns: Counter[str] = Counter()
    found: Counter[str] = Counter()
    alarms: Counter[str] = Counter()
    makers = {
        "us": lambda: labelled_columns(4, sizes=(5, 60)),
        "others": lambda: made_by_others(4, sizes=(120,)),
        "offices": lambda: office_columns.office_columns(4, sizes=(60,)),
    }
    made: list[LabelledColumn] = list(makers[by]())
    for column in made:
        told = {finding.kind for finding in look_into(pl.DataFrame({"x": column.cells})).of("x")}
        if column.kind:
            columns[column.kind] += 1
            found[column.kind] += column.kind in told
        alarms.update(told - column.allowed - {column.kind or ""})
    return columns, found, alarms, len(made)


@pytest.mark.parametrize("kind", sorted(CONTENT))
def test_columns_of_a_kind_are_recognised_and_others_are_not(kind: str) -> None:
    columns, found, alarms, total = measured("us")
    missed = columns[kind] - found[kind]
    least = 0.95 if kind in STRICT else 0.8  # few columns: one may be missed
    assert missed <= 1 or found[kind] >= least * columns[kind]
    assert alarms[kind] / total <= (0.01 if kind in STRICT else 0.05 if kind in LOOSE else 0.03)


@pytest.mark.parametrize(("by", "maker"), [("others", foreign_columns), ("offices", office_columns)])
def test_what_others_made_is_recognised_as_well(by: str, maker: ModuleType) -> None:
    columns, found, alarms, total = measured(by)
    strict, loose = maker.STRICT, maker.LOOSE
    for kinds, least, most in ((strict, 0.95, 0.01), (loose, 0.85, 0.05)):
        hits, tries = (sum(counted[kind] for kind in kinds) for counted in (found, columns))
        assert hits >= least * tries, {kind: (found[kind], columns[kind]) for kind in kinds}
        assert all(alarms[kind] <= most * total for kind in kinds), alarms


def test_numbers_that_lost_their_zeros_are_still_recognised() -> None:
    rng = np.random.default_rng(1)
    areas = rng.integers(1, 660, 300)
    whole = areas * 1_000_000 + rng.integers(1, 100, 300) * 10_000 + rng.integers(1, 10_000, 300)
    spread = np.where(
        np.arange(300) % 3 == 0, whole % 100_000_000 + 100_000_000 * rng.integers(6, 9, 300), whole
    )
    spread = spread[(spread // 1_000_000 != 666) & (spread // 1_000_000 > 0)]
    assert kinds(*spread.tolist()) == ["ssn"]


def test_a_number_with_a_fraction_behind_it_is_the_number() -> None:
    rng = np.random.default_rng(2)
    assert kinds(*(float(tckn(rng)) for _ in range(20))) == ["tckn"]
    assert kinds(*(f"{tckn(rng)}.0" for _ in range(20))) == ["tckn"]


def test_labels_and_blanks_around_a_value_do_not_hide_it() -> None:
    assert kinds("mailto:ada@example.org", " bob@example.com\u00a0", '"cem@example.net"') == ["email"]
    assert kinds("tel: +90 532 555 12 34", "Tel.: +49 30 1234567", "phone: +1 212 555 2368") == ["phone"]
    assert kinds("IBAN: DE89 3704 0044 0532 0130 00", "TR330006100519786457841326") == ["iban"]


def test_one_address_among_many_words_is_found_with_its_share() -> None:
    frame = pl.DataFrame({"x": ["call again"] * 99 + ["ask ada@example.org first"]})
    (finding,) = look_into(frame).of("x")
    assert (finding.kind, finding.share) == ("email", 0.01)


def test_a_rare_cell_is_found_where_all_rows_are_looked_at() -> None:
    frame = pl.DataFrame({"x": ["nothing"] * 60_000 + ["ada@example.org"], "n": range(60_001)})
    assert [finding.kind for finding in look_into(frame).of("x")] == ["email"]


def test_versions_amounts_and_ages_are_nothing() -> None:
    assert kinds("1.2.3.4", "2.0.1.0", "1.10.0.2", "3.0.0.1") == []
    assert kinds("12.50", "99.95", "1200.00", "7.10", "18.00", "250.00") == []
    assert kinds(34, 51, 28, 77, 19, 45) == []


def test_births_and_events_are_told_apart() -> None:
    births = [f"{1930 + place}-03-{place % 28 + 1:02d}" for place in range(70)]
    events = [f"{place % 28 + 1:02d}.0{place % 9 + 1}.2023" for place in range(70)]
    assert kinds(*births) == ["birth-date"]
    assert kinds(*events) == ["date"]


def test_days_and_months_are_read_in_the_order_that_fits() -> None:
    from mahrem.contents import count_distinct
    from mahrem.contents._dates import years_of

    american = years_of(count_distinct(pl.Series(["12/31/2001", "01/02/2001"])))
    german = years_of(count_distinct(pl.Series(["31.12.2001", "01.02.2001"])))
    assert np.isfinite(american).all()
    assert np.isfinite(german).all()
    assert sorted(np.floor(german * 12) % 12) == [1, 11]
    assert sorted(np.floor(american * 12 + 1e-6) % 12) == [0, 11]


def test_latitude_and_longitude_in_two_columns_are_a_place() -> None:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"u": rng.uniform(36, 42, 50).round(5), "v": rng.uniform(26, 44, 50).round(5)})
    told = look_into(frame)
    assert [told.of(name)[0].kind for name in ("u", "v")] == ["coordinates"] * 2


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_kind_and_reason_has_words(language: str) -> None:
    words = load_catalogue(language)["content"]
    assert set(words["kind"]) == set(CONTENTS)
    listed = "shaped within checked phone named dates years spread pair text counter code"
    assert set(words["reason"]) == set(listed.split())
