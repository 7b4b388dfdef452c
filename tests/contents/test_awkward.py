"""What gives people away does so in any spelling, under a name that says nothing."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from random import Random

import polars as pl
import pytest

import mahrem as mh
from mahrem.contents import look_into
from mahrem.errors import GivesAway

RANDOM = Random(7)
PEOPLE, ROWS_EACH = 60, 8  # so that no value is somebody's own, and content alone must tell
GIVEN = ("Ayşe", "İbrahim", "Zeynep", "Hans", "Sabine", "Jürgen", "Mary", "Oliver", "Emine", "Murat")
FAMILY = ("Kaya", "Demir", "Şahin", "Çelik", "Müller", "Schmidt", "Smith", "Jones", "Öztürk")


def identity_number() -> str:
    """Make a Turkish identity number that is right."""
    digits = [RANDOM.randint(1, 9), *(RANDOM.randint(0, 9) for _ in range(8))]
    digits.append((7 * sum(digits[0::2]) - sum(digits[1::2])) % 10)
    return "".join(map(str, [*digits, sum(digits) % 10]))


def name() -> str:
    """Make a name."""
    return f"{RANDOM.choice(GIVEN)} {RANDOM.choice(FAMILY)}"


def number(low: int, high: int) -> int:
    """Draw a number."""
    return RANDOM.randint(low, high)


def day() -> str:
    """Draw a day and a month in Roman digits."""
    return f"{number(1, 28)}-{RANDOM.choice(['I', 'II', 'IV', 'VII', 'IX', 'XII'])}-{number(1940, 2005)}"


def in_digits_from(first: int) -> Callable[[], str]:
    """Write identity numbers in other digits."""
    table = str.maketrans({str(digit): chr(first + digit) for digit in range(10)})
    return lambda: identity_number().translate(table)


def dotted(text: str) -> str:
    """Put points between groups of digits."""
    return ".".join(text[place : place + 3] for place in range(0, len(text), 3))


def russian() -> str:
    """Make a name in Cyrillic letters."""
    given = RANDOM.choice(("Иван", "Мария", "Пётр", "Ольга"))
    return f"{given} {RANDOM.choice(('Иванов', 'Шевченко', 'Петрова'))}"


def telephone() -> int:
    """Make a mobile number that lost its zero."""
    return int(f"5{RANDOM.choice('345')}{number(0, 9)}{number(1000000, 9999999)}")


def letters(count: int) -> str:
    """Draw capitals."""
    return "".join(RANDOM.choices("ABCDEFGHJKLMNPRSTUVWXYZ", k=count))


def titled() -> str:
    """Make a name that nobody has, behind a title."""
    return f"{RANDOM.choice(('Herr', 'Frau', 'Dr.'))} {letters(1)}{'aeiou'[number(0, 4)]}{letters(3).lower()}"


def place(sign: str, between: str) -> str:
    """Make latitude and longitude in one cell."""
    return f"{number(36, 41)}{sign}{number(10, 99)}{between}{number(26, 44)}{sign}{number(10, 99)}"


AWKWARD: dict[str, tuple[str, Callable[[], object]]] = {
    "floats": ("tckn", lambda: float(identity_number())),
    "dotted": ("tckn", lambda: dotted(identity_number())),
    "wide digits": ("tckn", in_digits_from(0xFF10)),
    "Arabic digits": ("tckn", in_digits_from(0x0660)),
    "capitals": ("name", lambda: name().replace("i", "İ").upper()),
    "Cyrillic": ("name", russian),
    "whole phones": ("phone", telephone),
    "rough places": ("coordinates", lambda: place(".", ", ")),
    "comma places": ("coordinates", lambda: place(",", "; ")),
    "JSON": ("text", lambda: json.dumps({"n": number(1, 9), "of": RANDOM.choice("abcdefghijklmn")})),
    "base64": ("uuid", lambda: base64.b64encode(f"{name()}|{identity_number()}".encode()).decode()),
    "short hashes": ("uuid", lambda: hashlib.sha256(identity_number().encode()).hexdigest()[:16]),
    "hidden mail": ("email", lambda: f"{RANDOM.choice('abc')}{number(1, 999)} [at] example [dot] org"),
    "unseen signs": ("email", lambda: f"a{number(1, 999)}\u200b@example.org"),
    "handles": ("url", lambda: f"@{RANDOM.choice(FAMILY).lower()[:1]}kaya{number(1, 999)}"),
    "Roman months": ("birth-date", day),
    "French plates": ("plate", lambda: f"{letters(2)}-{number(100, 999)}-{letters(2)}"),
    "devices": ("record", lambda: f"{number(10**14, 10**15 - 1)}"),
    "passports": ("record", lambda: f"C{letters(2)}{number(1, 9)}{letters(1)}{number(1000, 9999)}"),
    "charts": ("record", lambda: f"{number(10, 99)}-{number(10_000, 99_999)}"),
    "insured": ("record", lambda: f"{letters(1)}{number(10**8, 10**9 - 1)}"),
    "invented SSN": ("ssn", lambda: f"{number(1, 980):03d}-{number(10, 99)}-{number(1000, 9999)}"),
    "any label": ("phone", lambda: f"reachable at {telephone()}"),
    "label": ("name", lambda: f"Hasta ad: {name()}"),
    "titles": ("name", titled),
    "programs' dates": ("birth-date", lambda: f"Mon Jan {number(1, 28):02d} 09:11:09 {number(1940, 2005)}"),
}  # fmt: skip


def table(made: Callable[[], object]) -> pl.DataFrame:
    """Give everybody several rows in which nothing else stays the same."""
    values = [made() for _ in range(PEOPLE)] * ROWS_EACH
    return pl.DataFrame({"age": [number(20, 60) for _ in values], "x": values})


@pytest.mark.parametrize("what", AWKWARD)
def test_awkward_spellings_are_recognised_and_stopped(what: str) -> None:
    kind, made = AWKWARD[what]
    frame = table(made)
    assert kind in {finding.kind for finding in look_into(frame).of("x")}
    with pytest.raises(GivesAway):
        mh.anonymize(frame, quasi="age", insensitive="x", k=5, html=False)


def test_codes_of_households_are_not_published_where_fewer_than_k_share_one() -> None:
    ages = pl.Series("age", [20 + n * 7 % 40 for n in range(600)])
    for codes in (
        [f"H{n // 3 * 37 % 9973:05d}" for n in range(600)],
        [100_000 + n // 3 * 37 for n in range(600)],
    ):
        frame = pl.DataFrame({"age": ages, "x": codes})
        with pytest.raises(GivesAway, match=r"value of its own|record numbers"):
            mh.anonymize(frame, quasi="age", insensitive="x", k=5, html=False)
        assert mh.inspect(frame).roles().get("insensitive") is None
    shared = pl.DataFrame({"age": ages, "x": [f"H{n % 12:05d}" for n in range(600)]})
    assert mh.anonymize(shared, quasi="age", insensitive="x", k=5, html=False).report["holds"]


@pytest.mark.parametrize(
    "values",
    [
        ["I", "II", "III", "IV"],
        ["1.5, 2.5", "3 - 4", "5 / 6", "none"],
        ["[none]", "[some]", "(a)", "(b)"],
        ["[0, 500]", "[500, 1000]", "[1,000, 1,500]", "[1500, *]"],  # ranges, as cells are published
        ["{flu, cold}", "{asthma}", "{a, b, c}", "*"],
        ["Grade-IIa", "Grade-IIb", "Grade-III", "unknown"],
        ["1234567890123456", "1111222233334444", "5555666677778888", "9999000011112222"],
    ],
)
def test_plain_categories_are_nobody(values: list[str]) -> None:
    frame = pl.DataFrame({"x": values * 50})
    assert not {finding.kind for finding in look_into(frame).of("x")} - {"card", "phone"}
