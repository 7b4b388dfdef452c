"""Columns that give people away although they look like plain numbers or codes, and others that do not.

Each maker draws one value; whoever uses it gives everybody several rows, so that content alone must tell.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from random import Random

Maker = Callable[[Random], object]

_SIGNS = "0123456789bcdefghjkmnpqrstuvwxyz"
_PLUS = "23456789CFGHJMPQRVWX"
_MIXED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_WORDS = ["apple", "river", "stone", "cloud", "piano", "tiger", "lemon", "chair", "pearl", "brick", "ocean"]

_ARTICLES = [f"A-{1013 + 97 * number % 4001}" for number in range(50)]


def word(random: Random) -> str:
    """Make up a word."""
    return "".join(random.choice("bdfgklmnprst") + random.choice("aeiou") for _ in range(3))


def geohash(latitude: float, longitude: float, signs: int) -> str:
    """Write a place as a geohash: halves of the earth, turn by turn."""
    ends = [[-180.0, 180.0], [-90.0, 90.0]]
    place = (longitude, latitude)
    bits = 0
    for turn in range(5 * signs):
        low, high = ends[turn % 2]
        upper = place[turn % 2] >= (low + high) / 2
        ends[turn % 2][0 if upper else 1] = (low + high) / 2
        bits = bits * 2 + upper
    return "".join(_SIGNS[bits >> (5 * at) & 31] for at in reversed(range(signs)))


def somewhere(random: Random) -> tuple[float, float]:
    """Draw a place in Turkey."""
    return random.uniform(36.5, 41.5), random.uniform(27, 43)


def born(random: Random) -> int:
    """Draw a birthday, in seconds since 1970."""
    day = dt.date(1935, 1, 1) + dt.timedelta(random.randrange(26_000))
    return (day - dt.date(1970, 1, 1)).days * 86_400


def drawn(random: Random, signs: str, count: int) -> str:
    """Draw signs."""
    return "".join(random.choices(signs, k=count))


def digits(random: Random, count: int) -> str:
    """Draw digits."""
    return drawn(random, "0123456789", count)


def machine_read(random: Random) -> str:
    """Write the first line of a passport."""
    name = f"P<TUR{random.choice(['YILMAZ', 'KAYA', 'DEMIR', 'OZTURK'])}<<{drawn(random, 'AEIMNRSTY', 6)}"
    return name.ljust(44, "<")


GIVE_AWAY: dict[str, tuple[str, Maker]] = {
    "geohash, 6": ("coordinates", lambda random: geohash(*somewhere(random), 6)),
    "geohash, 9": ("coordinates", lambda random: geohash(*somewhere(random), 9)),
    "geohash, capitals": ("coordinates", lambda random: geohash(*somewhere(random), 7).upper()),
    "plus code": ("coordinates", lambda random: f"8G{drawn(random, _PLUS, 6)}+{drawn(random, _PLUS, 2)}"),
    "three words": ("coordinates", lambda random: f"///{word(random)}.{word(random)}.{word(random)}"),
    "army grid": ("coordinates", lambda random: f"35T{drawn(random, 'LMNPQ', 2)}{digits(random, 10)}"),
    "UTM": ("coordinates", lambda random: f"35T {600_000 - int(digits(random, 5))} 4{digits(random, 6)}"),
    "seconds of birth": ("birth-date", born),
    "seconds of birth, local": ("birth-date", lambda random: born(random) - 7200),
    "milliseconds of birth": ("birth-date", lambda random: 1000 * born(random)),
    "seconds of visits": ("date", lambda random: 1_600_000_000 + int(digits(random, 8))),
    "milliseconds of visits": ("date", lambda random: f"16{digits(random, 11)}"),
    "machines as numbers": ("record", lambda random: random.randrange(2**28, 2**32)),
    "device": ("record", lambda random: f"7{digits(random, 14)}"),
    "machine readable line": ("document", machine_read),
    "short code": ("record", lambda random: f"E{digits(random, 4)}"),
    "mixed signs": ("record", lambda random: drawn(random, _MIXED, 6)),
    "letters alone": ("record", lambda random: drawn(random, "BCDFGHJKLMNPRSTVWXZ", 8)),
    "short hash": ("record", lambda random: drawn(random, "0123456789abcdef", 6)),
    "encoded": ("record", lambda random: drawn(random, _MIXED, 12)),
    "plate with blanks": (
        "record",
        lambda random: f"{random.choice(['WA', 'KR', 'GD'])} {digits(random, 5)}",
    ),
    "account": ("record", lambda random: f"{digits(random, 2)}-{digits(random, 2)} {digits(random, 8)}"),
    "initials and year": (
        "record",
        lambda random: f"{drawn(random, _PLUS[8:], 2)}{random.randrange(1940, 2005)}",
    ),
    "name on a forum": ("record", lambda random: f"{word(random)}{digits(random, 2)}"),
    "part of an address of a machine": (
        "record",
        lambda random: f"{random.randrange(10, 220)}.{digits(random, 2)}.{digits(random, 2)}.x",
    ),
    "card, hidden but for the end": (
        "record",
        lambda random: f"****{digits(random, 4)} 0{random.randrange(1, 9)}/2{random.randrange(4, 9)}",
    ),
    "variant of a gene": ("record", lambda random: f"chr{random.randrange(1, 22)}:{digits(random, 7)}:A>G"),
    "purse": ("uuid", lambda random: f"0x{drawn(random, '0123456789abcdef', 40)}"),
    "purse in small letters": ("uuid", lambda random: f"bc1q{drawn(random, _SIGNS[2:], 38)}"),
}
OWN_AMOUNTS: dict[str, Maker] = {  # so fine that rows which share one belong together
    "salaries to the cent": lambda random: round(random.lognormvariate(8, 0.5), 2),
    "salaries with a comma": lambda random: f"{random.lognormvariate(8, 0.5):.2f}".replace(".", ","),
    "salaries in groups": lambda random: f"{random.randrange(21_000, 240_000):,}",
    "whole salaries": lambda random: random.randrange(21_000, 240_000),
    "exact ages": lambda random: round(random.uniform(18, 90), 4),
    "days of birth since 1970": lambda random: random.randrange(-12_000, 12_000),
    "latitudes": lambda random: round(random.uniform(36, 42), 6),
    "hashes as numbers": lambda random: random.randrange(-(2**63), 2**63),
}
GIVE_NOTHING: dict[str, Maker] = {
    "articles": lambda random: _ARTICLES[min(int(random.paretovariate(0.5)), 49)],
    "measures": lambda random: round(random.gauss(100, 20), 1),
    "colours": lambda random: random.choice(_WORDS).title() + random.choice(_WORDS).title(),
    "ages": lambda random: random.randrange(18, 90),
    "towns and districts": lambda random: f"{random.choice(_WORDS).title()}-{random.randrange(1, 9)}",
    "amounts": lambda random: 50 * random.randrange(200, 4000),
    "large round amounts": lambda random: 100_000 * random.randrange(5, 900),
    "seconds that something took": lambda random: random.randrange(1, 86_400),
    "days since 1970": lambda random: random.randrange(0, 30),
    "words of a code": lambda random: random.choice(_WORDS),
    "dotted names": lambda random: f"org.example.{random.choice(_WORDS[:9])}",
    "grades": lambda random: f"{random.choice('bcd')}{random.randrange(1, 9)}",
    "wards": lambda random: f"ward{random.randrange(1, 9)}",
    "blood groups": lambda random: random.choice(["A+", "B+", "AB-", "0+", "0-"]),
    "ranges": lambda random: random.choice(["<18", "18-30", "30-50", ">50"]),
    "versions": lambda random: f"{random.randrange(1, 4)}.{random.randrange(0, 9)}.{random.randrange(0, 9)}",
    "drugs": lambda random: random.choice(["N02BE01", "C09AA05", "A10BA02", "J01CA04", "R03AC02", "C07AB02"]),
}
