"""Fictional patients: every one invented, yet with the dependence and the gaps of a real hospital's list."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from mahrem.check import at_least, whole
from mahrem.datasets._illnesses import BASE_COST, CODES, DAILY_COST, MEAN_STAY, NAMES, chances
from mahrem.datasets._invented import EVERYONE, SURNAMES, WOMEN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from mahrem.types import Floats, Integers, Mask

# What the demo decides about these patients: body measures, habits and codes are not published.
PATIENT_POLICY: Mapping[str, Any] = MappingProxyType(
    {
        "quasi": ["age", "sex", "zip", "admission"],
        "sensitive": {"diagnosis": {"l": 3}, "cost": {}},
        "subject": "patient_id",  # some people come back: k is to count people
        "rest": "drop",
        "k": 5,
        # To the cent, nearly every row's cost would be its own.
        "grid": {"cost": 5000},
        "top": {"cost": 10000},
    }
)

FIRST_DAY = np.datetime64("2022-01-01", "D")
DAYS = 3 * 365
OLDEST = 99
# Share of admitted people per decade of age: the very young and the old are there more often than others.
DECADES = (0.09, 0.06, 0.10, 0.13, 0.12, 0.13, 0.14, 0.13, 0.08, 0.02)
REGIONS = (1, 6, 7, 16, 27, 34, 35, 42, 55, 61)  # the first two digits of the postal code
REGION_SHARES = (0.08, 0.16, 0.07, 0.09, 0.06, 0.27, 0.13, 0.06, 0.04, 0.04)
DISTRICTS = 40
INSURANCE = ("public", "supplementary", "private", "none")
# Middle height (cm) and body-mass index of women and men at these ages; straight lines between.
GROWTH_AGES = (0, 1, 5, 10, 14, 18, 45, 99)
HEIGHTS = ((52, 75, 109, 138, 159, 163, 163, 156), (53, 76, 110, 138, 163, 176, 176, 169))
MASSES = ((14.5, 16.5, 15.5, 17, 20, 22.5, 27, 26), (14.5, 17, 15.5, 17, 19.5, 23, 27.5, 26))


def demo_patients(rows: int = 1000, seed: int = 7) -> pl.DataFrame:
    """Make a list of hospital admissions of people who do not exist, one row for each admission.

    Diagnosis depends on age, sex and smoking, stay and cost on diagnosis and age, postal codes cluster by
    region, and some people come back, often for the same illness. :data:`PATIENT_POLICY` says what
    the demo publishes of them.

    Args:
        rows: How many admissions.
        seed: The same seed and rows give the same table.

    Guarantees:
        - Equal ``rows`` and ``seed`` give equal tables.
        - Name, sex, postal code and insurance of one ``patient_id`` do not change between admissions.
        - Two to four in a hundred values of zip, smoker, height, weight, cost and insurance are missing, and
          bmi with height or weight; nothing else is.

    Example:
        >>> table = demo_patients(5, seed=1)
        >>> table.shape
        (5, 15)
    """
    at_least(1, rows=whole(rows=rows))
    at_least(0, seed=whole(seed=seed))
    rng = np.random.default_rng(seed)
    people = _invent_people(rows, rng)
    owner, first = _share_out(people, rows, rng)
    admission = rng.integers(0, DAYS, rows)
    age = np.clip((admission - people.born[owner]) // 365.25, 0, OLDEST).astype(np.int64)
    illness = _fall_ill(age, people, owner, first, rng)
    elderly = 1.0 + np.maximum(age - 50, 0) / 60.0
    stay = 1 + rng.poisson(rng.gamma(2.0, MEAN_STAY[illness] * elderly / 2.0))
    noise = np.exp(rng.normal(0.0, 0.25, rows))
    cost = (BASE_COST[illness] * (0.8 + 0.2 * elderly) + DAILY_COST[illness] * stay) * noise
    table = pl.DataFrame(
        {
            "patient_id": pl.Series(people.number[owner]),
            "name": _name(people, owner),
            "age": age,
            "sex": _words(("female", "male"), people.male[owner].astype(np.int64)),
            "zip": pl.Series(people.zip[owner]),
            "admission": pl.Series(FIRST_DAY + admission.astype("timedelta64[D]")),
            "diagnosis": _words(NAMES, illness),
            "icd": _words(CODES, illness),
            "stay_days": stay,
            "cost": cost,
            "smoker": _words(("no", "yes"), people.smoker[owner].astype(np.int64)),
            **_measure(age, people.male[owner], people.build[owner], rng),
            "insurance": _words(INSURANCE, people.insurance[owner]),
        }
    )
    return _with_gaps(table, rng).sort("admission", "patient_id", maintain_order=True)


patients = demo_patients  # what it is called among other datasets


@dataclass(frozen=True)
class _People:
    """What stays the same about a person."""

    number: Integers = field(repr=False)  # all arrays: (people,)
    born: Floats = field(repr=False)  # days before (negative) the first day
    male: Mask = field(repr=False)
    zip: Integers = field(repr=False)
    smoker: Mask = field(repr=False)
    insurance: Integers = field(repr=False)
    build: Floats = field(repr=False)  # (people, 2) height and mass, in standard deviations
    given: Integers = field(repr=False)
    surname: Integers = field(repr=False)


def _invent_people(count: int, rng: np.random.Generator) -> _People:
    decade = rng.choice(len(DECADES), count, p=DECADES)
    age = 10.0 * decade + rng.uniform(0.0, 10.0, count)
    male = rng.random(count) < np.interp(
        age, (0, 50, 75, OLDEST), (0.51, 0.5, 0.45, 0.3)
    )  # women live longer
    region = rng.choice(len(REGIONS), count, p=REGION_SHARES)
    # A few districts of a region hold most of its people; every region has its own order of them.
    district = (np.minimum(rng.geometric(0.12, count), DISTRICTS) * 7 + region * 3) % DISTRICTS
    smokes = np.interp(age, (0, 15, 22, 50, 70, OLDEST), (0.0, 0.0, 0.33, 0.34, 0.14, 0.03))
    return _People(
        number=rng.permutation(count) + 1,
        born=DAYS / 2 - age * 365.25,
        male=male,
        zip=np.asarray(REGIONS)[region] * 1000 + district * 20,
        smoker=rng.random(count) < smokes * np.where(male, 1.25, 0.75),
        insurance=_insure(age, region, rng),
        build=rng.normal(size=(count, 2)),
        given=rng.integers(0, len(WOMEN), count),
        surname=rng.integers(0, len(SURNAMES), count),
    )


def _insure(age: Floats, region: Integers, rng: np.random.Generator) -> Integers:
    """Draw an insurance: the old are insured by the state, large cities have more private insurance."""
    city = np.isin(region, (1, 5, 6))
    public = np.where(age >= 65, 0.88, np.where(city, 0.60, 0.72))
    none = np.where((age >= 18) & (age < 65), 0.06, 0.01)
    private = np.where(city, 0.45, 0.3) * (1.0 - public - none)
    steps = np.cumsum(np.column_stack((public, 1.0 - public - private - none, private)), axis=1)
    return np.asarray((rng.random(len(age))[:, None] >= steps).sum(axis=1), dtype=np.int64)


def _share_out(people: _People, rows: int, rng: np.random.Generator) -> tuple[Integers, Mask]:
    """Give every person one admission or more until the rows are used up; say which is the first."""
    often = np.interp(-people.born / 365.25, (0, 30, 60, 85), (0.1, 0.15, 0.35, 0.7))
    visits = 1 + rng.poisson(often)
    owner = np.repeat(np.arange(rows), visits)[:rows]
    return owner, np.diff(owner, prepend=-1) > 0


def _fall_ill(
    age: Integers, people: _People, owner: Integers, first: Mask, rng: np.random.Generator
) -> Integers:
    """Draw an illness for every admission; half of those who come back come back with what they had."""
    steps = np.cumsum(chances(OLDEST), axis=1)
    kind = (age * 2 + people.male[owner]) * 2 + people.smoker[owner]
    ladder = (steps + np.arange(len(steps))[:, None]).ravel()  # one sorted ladder for all kinds of people
    drawn = np.searchsorted(ladder, kind + rng.random(len(age)), side="right") - kind * len(NAMES)
    illness = np.minimum(drawn, len(NAMES) - 1)
    start = np.maximum.accumulate(np.where(first, np.arange(len(first)), 0))
    again = (rng.random(len(age)) < 0.5) & ~first
    return np.asarray(np.where(again, illness[start], illness), dtype=np.int64)


def _measure(age: Integers, male: Mask, build: Floats, rng: np.random.Generator) -> dict[str, Floats]:
    height_middle = np.where(male, *(np.interp(age, GROWTH_AGES, HEIGHTS[sex]) for sex in (1, 0)))
    mass_middle = np.where(male, *(np.interp(age, GROWTH_AGES, MASSES[sex]) for sex in (1, 0)))
    height = np.round(height_middle * (1.0 + 0.04 * np.clip(build[:, 0], -3, 3)))
    mass = mass_middle * np.exp(0.15 * np.clip(build[:, 1], -3, 3) + rng.normal(0.0, 0.02, len(age)))
    weight = np.round(mass * (height / 100.0) ** 2, 1)
    return {"height_cm": height, "weight_kg": weight, "bmi": weight / (height / 100.0) ** 2}


def _words(words: tuple[str, ...], codes: NDArray[np.int64]) -> pl.Series:
    return pl.Series(words).gather(codes)


def _name(people: _People, owner: Integers) -> pl.Series:
    """Join given name and surname; the few hundred names there are are looked up, not built row by row."""
    code = (people.given + people.male * len(WOMEN)) * len(SURNAMES) + people.surname
    return _words(EVERYONE, code[owner])


def _with_gaps(table: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """Write codes as text, round, and lose some values: more where staff would have to ask or to weigh."""
    shares = {
        "zip": 0.02,
        "smoker": 0.04,
        "height_cm": 0.025,
        "weight_kg": 0.03,
        "cost": 0.02,
        "insurance": 0.02,
    }
    kept = {name: pl.Series(rng.random(table.height) >= share) for name, share in shares.items()}
    written = table.with_columns(
        patient_id=pl.lit("P") + pl.col("patient_id").cast(pl.String).str.zfill(7),
        zip=pl.col("zip").cast(pl.String).str.zfill(5),
        height_cm=pl.col("height_cm").cast(pl.Int64),
        cost=pl.col("cost").round(2),
        bmi=pl.when(kept["height_cm"] & kept["weight_kg"]).then(pl.col("bmi").round(1)),
    )
    return written.with_columns(pl.when(keep).then(pl.col(name)).alias(name) for name, keep in kept.items())
