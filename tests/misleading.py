"""A table with a column of every kind that identifies, under names that say nothing or something else."""

from __future__ import annotations

import random
from datetime import date, timedelta

import polars as pl

_FIRST = (
    "James Mary John Patricia Robert Jennifer Michael Linda Ahmet Ayşe Mehmet Fatma Hans Petra Klaus Ursula"
)
_LAST = "Smith Johnson Williams Brown Jones Şahin Kaya Demir Müller Schmidt Schneider Fischer"
_TEXT = (
    "patient reports pain after the fall and was seen by a doctor with severe cough since last week "
    "no fever asked to return for control next month"
)
_ICD = ("E11.9", "I10", "J45.0", "K21.9", "M54.5", "F32.1", "N39.0", "C50.9", "G43.1", "L40.0")

# Columns that must never be published as they are, by what they hold.
IDENTIFYING = {
    "c1": "email",
    "v3": "ssn",
    "x": "phone",
    "colour": "tckn",
    "weather": "nhs",
    "q7": "iban",
    "mood": "ip",
    "size": "url",
    "taste": "name",
    "smell": "address",
    "height": "text",
    "k9": "record",
}
KNOWN_TO_OTHERS = {"unit": "birth-date", "step": "date", "b": "coordinates"}


def misleading_table(rows: int = 300, seed: int = 5) -> pl.DataFrame:
    """Make people whose columns say nothing of what they hold."""
    rng = random.Random(seed)
    first, last, words = _FIRST.split(), _LAST.split(), _TEXT.split()

    def day(begin: date, days: int) -> str:
        return (begin + timedelta(rng.randrange(days))).isoformat()

    def person() -> dict[str, object]:
        return {
            "c1": f"{rng.choice(first).lower()}.{rng.randint(1, 9999)}@example.org",
            "v3": f"{rng.randint(100, 665):03d}-{rng.randint(10, 99)}-{rng.randint(1000, 9999)}",
            "x": f"+1 212 {rng.randint(200, 999)} {rng.randint(1000, 9999)}",
            "colour": _turkish_identity(rng),
            "weather": _nhs(rng),
            "q7": _iban(rng),
            "mood": f"192.168.{rng.randint(0, 255)}.{rng.randint(1, 254)}",
            "size": f"https://example.org/u/{rng.randint(1, 99999)}",
            "taste": f"{rng.choice(first)} {rng.choice(last)}",
            "smell": f"{rng.randint(1, 200)} {rng.choice(['Main', 'Oak', 'Park', 'Elm'])} Street",
            "height": " ".join(rng.choices(words, k=rng.randint(6, 14))),
            "unit": day(date(1925, 1, 1), 33_000),
            "step": day(date(2023, 1, 1), 700),
            "code": rng.choice(_ICD),
            "b": f"{rng.randint(25, 48)}.{rng.randint(10000, 99999)}, "
            f"-{rng.randint(70, 120)}.{rng.randint(10000, 99999)}",
            "age": rng.randint(0, 99),
            "flag": rng.choice("AB"),
        }

    numbers = rng.sample(range(10**6), rows)
    return pl.DataFrame([person() for _ in range(rows)]).with_columns(
        k9=pl.Series([f"P{number:06d}" for number in numbers])
    )


def _turkish_identity(rng: random.Random) -> str:
    digits = [rng.randint(1, 9), *(rng.randint(0, 9) for _ in range(8))]
    digits.append((sum(digits[0:9:2]) * 7 - sum(digits[1:8:2])) % 10)
    return "".join(map(str, [*digits, sum(digits) % 10]))


def _nhs(rng: random.Random) -> str:
    while True:
        digits = [rng.randint(0, 9) for _ in range(9)]
        check = (11 - sum(digit * (10 - place) for place, digit in enumerate(digits)) % 11) % 11
        if check < 10:
            return "".join(map(str, digits)) + str(check)


def _iban(rng: random.Random) -> str:
    account = "".join(str(rng.randint(0, 9)) for _ in range(18))
    return f"DE{98 - int(account + '131400') % 97:02d}{account}"
