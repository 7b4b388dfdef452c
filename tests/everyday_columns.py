"""Columns that people really have beside quasi-identifiers: those that tell of nobody, and those that do.

Each maker draws the value of one row. What is drawn from is fixed per column, as wards and articles are.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Sequence
from random import Random

import polars as pl

from hidden_columns import digits, drawn, somewhere, word

Maker = Callable[[Random], object]
CAPITALS = "ABCDEFGHJKLMNPRSTUVWXYZ"


def often(values: Sequence[object], bend: float = 1.0) -> Maker:
    """Draw some values far more often than others, as people choose articles, wards and illnesses."""
    weights = [1 / (place + 2) ** bend for place in range(len(values))]
    return lambda random: random.choices(values, weights)[0]


def evenly(*values: object) -> Maker:
    """Draw values alike often."""
    return lambda random: random.choice(values)


def measured(mean: float, spread: float, places: int) -> Maker:
    """Measure something on people."""
    return lambda random: round(random.gauss(mean, spread), places)


def whole(low: int, high: int, step: int = 1) -> Maker:
    """Draw whole numbers in steps."""
    return lambda random: random.randrange(low, high, step)


def money(middle: float, step: int) -> Maker:
    """Draw incomes, rounded."""
    return lambda random: step * round(random.lognormvariate(middle, 0.5) / step)


def luhn(body: str) -> str:
    """Add the check digit of cards and devices."""
    total = 0
    for place, sign in enumerate(reversed(body)):
        value = int(sign) * (2 - place % 2)
        total += value - 9 * (value > 9)
    return f"{body}{-total % 10}"


def coded(count: int, make: Maker) -> list[object]:
    """Give codes of a classification, always the same."""
    random = Random(count)
    return sorted({make(random) for _ in range(count)}, key=str)


ATC = coded(
    120,
    lambda random: (
        f"{random.choice('A02 A10 B01 C03 C07 C09 C10 J01 M01 N02 N05 N06 R03 L04'.split())}"
        f"{drawn(random, 'ABCDEX', 2)}{random.randrange(1, 30):02d}"
    ),
)
LOINC = coded(
    90, lambda random: re.sub(r"(.)$", r"-\1", luhn(str(int(random.lognormvariate(8.6, 1)) % 99_999)))
)
SKUS = coded(150, lambda random: f"SKU-{digits(random, 5)}")
NACE = coded(200, lambda random: f"{random.randrange(1, 99):02d}.{random.randrange(10, 99)}")
ICD = [
    f"{category}.{part}"
    for category in "A09 C50 E11 E78 F32 F41 G43 I10 I25 I48 J06 J45 K21 M54 N39".split()
    for part in range(9)
]
ISCO = coded(180, lambda random: random.randrange(1110, 9630))
CPT = coded(100, lambda random: random.randrange(10_021, 99_500))
PLACES = coded(200, lambda random: word(random).title())
HARMLESS: dict[str, Maker] = {
    "weight, one decimal": measured(75, 15, 1),
    "height in metres": measured(1.72, 0.1, 2),
    "height in centimetres": measured(172, 10, 0),
    "body temperature": measured(36.8, 0.5, 1),
    "blood pressure": measured(125, 18, 0),
    "blood pressure, both": lambda random: f"{random.randrange(100, 170, 5)}/{random.randrange(60, 100, 5)}",
    "body mass index": measured(26, 4, 1),
    "haemoglobin": measured(13.5, 1.6, 1),
    "haemoglobin with a comma": lambda random: f"{random.gauss(13.5, 1.6):.1f}".replace(".", ","),
    "glucose": measured(104, 25, 0),
    "creatinine": measured(0.95, 0.2, 2),
    "cholesterol with a unit": lambda random: f"{random.gauss(190, 30):.0f} mg/dL",
    "oxygen in the blood": lambda random: min(100, round(random.gauss(96, 2))),
    "income, in thousands": money(10.5, 1000),
    "income, in five hundreds": money(10, 500),
    "income in groups": lambda random: f"{1000 * round(random.lognormvariate(10.5, 0.4) / 1000):,}",
    "pay of an hour": lambda random: round(random.lognormvariate(3, 0.3) * 2) / 2,
    "price from a list": often([4.99, 9.99, 12.5, 19.9, 24.95, 49.0, 99.0, 149.9, 199.0, 249.5]),
    "price in euro": often([f"€ {euros}.99" for euros in range(1, 60)]),
    "rent, rounded": money(6.5, 50),
    "drugs, ATC": often(ATC),
    "drugs, ATC, evenly": evenly(*ATC),
    "tests, LOINC": often(LOINC),
    "articles": often(SKUS),
    "articles, evenly": evenly(*SKUS),
    "branches of trade": often(NACE),
    "diagnoses": often(ICD),
    "diagnoses, evenly": evenly(*ICD),
    "jobs as codes": often(ISCO),
    "procedures": often(CPT),
    "200 categories": often(PLACES),
    "200 categories, evenly": evenly(*PLACES),
    "year of admission": whole(2010, 2025),
    "year of a car": lambda random: 2024 - int(random.expovariate(0.15)) % 30,
    "year of building": lambda random: random.choice([1890, 1920, 1955, 1965, 1975, 1985, 1995, 2005, 2015]),
    "month": whole(1, 13),
    "year and month": lambda random: f"{random.randrange(2018, 2025)}-{random.randrange(1, 13):02d}",
    "quarter": lambda random: f"{random.randrange(2018, 2025)}-Q{random.randrange(1, 5)}",
    "week": lambda random: f"2024-W{random.randrange(1, 53):02d}",
    "weekday": evenly("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"),
    "share": lambda random: round(random.betavariate(2, 5), 2),
    "percent": lambda random: f"{random.randrange(0, 101)}%",
    "percent, one decimal": lambda random: round(100 * random.betavariate(2, 5), 1),
    "score of 100": whole(0, 101),
    "rating": whole(1, 6),
    "rating in halves": lambda random: random.randrange(2, 11) / 2,
    "z score": measured(0, 1, 1),
    "bands of ages": evenly("0-9", "10-19", "20-29", "30-39", "40-49", "50-59", "60-69", "70-79", "80+"),
    "bands of costs": evenly("10-100", "50-250", "75-500", "90-999"),
    "bands of incomes": evenly("<1000", "1000-1999", "2000-2999", "3000-4999", ">=5000"),
    "bands with a dash": evenly("0–9", "10–19", "20–29", "30–39", "40–49"),
    "bands in words": evenly("18 to 24", "25 to 34", "35 to 44", "45 to 54", "55 and over"),
    "small counts, hidden": evenly("<5", "5", "6", "7", "8", "9", "10", "11", "12"),
    "Boolean": evenly("true", "false"),
    "yes, no, unknown": evenly("Yes", "No", "Unknown", ""),
    "evet, hayır": evenly("evet", "hayır"),
    "school grades": evenly("A+", "A", "A-", "B+", "B", "B-", "C+", "C", "D", "F"),
    "grade points": lambda random: round(random.uniform(2, 4), 1),
    "stages": evenly("I", "IIa", "IIb", "IIIa", "IIIb", "IV"),
    "stages of tumours": lambda random: f"T{random.randrange(1, 5)}N{random.randrange(0, 4)}M{random.randrange(2)}",
    "minutes": whole(1, 240),
    "hours with a quarter": lambda random: random.randrange(1, 160) / 4,
    "clock, minutes": lambda random: f"{random.randrange(7, 20):02d}:{random.randrange(0, 60, 5):02d}",
    "clock, every minute": lambda random: f"{random.randrange(0, 24):02d}:{random.randrange(60):02d}",
    "duration": lambda random: f"{random.randrange(0, 4)}h {random.randrange(0, 60, 5)}m",
    "days in hospital": lambda random: int(random.expovariate(0.15)),
    "count of visits": lambda random: int(random.expovariate(0.4)),
    "ordinal code": whole(0, 10),
    "codes with zeros": evenly("01", "02", "03", "04", "05", "06", "09"),
    "wards": often([f"Ward {number}" for number in range(1, 40)]),
    "rooms": often([f"{floor}.{room:02d}" for floor in range(1, 6) for room in range(1, 25)]),
    "beds": often([f"B{number:03d}" for number in range(100, 180)]),
    "sensor": measured(21.4, 1.2, 1),
    "sensor, hundredths": measured(1.013, 0.02, 2),
    "humidity": measured(55, 9, 0),
    "wind with a unit": lambda random: f"{random.uniform(0, 15):.1f} m/s",
    "languages": often(["tr", "de", "en", "fr", "es", "it", "pl", "ar", "ru"]),
    "countries": often(["Turkey", "Germany", "France", "Italy", "Spain", "Poland", "Greece", "Austria", "Norway"]),
    "currencies": often(["EUR", "USD", "TRY", "GBP", "CHF", "SEK", "PLN"]),
    "versions": often(["1.0.2", "1.1.0", "1.2.4", "2.0.0", "2.1.3", "2.3.1"]),
    "browsers": often(["Firefox 121", "Chrome 120", "Safari 17", "Edge 119"]),
    "colours": evenly("#ff0000", "#00ff00", "#0000ff", "#ffff00", "#00ffff", "#ff00ff"),
    "blood groups": often(["A+", "0+", "B+", "A-", "0-", "AB+", "B-", "AB-"]),
    "first three digits of a postcode": often([f"{number:03d}" for number in range(100, 180)]),
    "hospital": often(["St. Mary", "City Clinic", "University Hospital", "Charité", "Acıbadem", "Memorial"]),
    "dose": often(["5 mg", "10 mg", "20 mg", "50 mg", "100 mg", "250 mg", "500 mg", "1 g"]),
    "dose with times": often(["1-0-0", "1-0-1", "1-1-1", "0-0-1", "2x1", "3x1"]),
    "answers in words": evenly("strongly agree", "agree", "neither", "disagree", "strongly disagree"),
    "long answers": evenly(
        "I go to work by car every day", "I walk or take a bicycle to work", "I work from home most of the week",
        "I do not work at the moment", "I would rather not say anything about it",
    ),
    "several choices": lambda random: ";".join(sorted(random.sample(["car", "bus", "bike", "walk"], 2))),
    "a constant": evenly("EUR"),
    "hardly ever something": lambda random: "urgent" if random.random() < 0.03 else "normal",
}  # fmt: skip

GIVEN = {
    "arabic": ("محمد", "فاطمة", "أحمد", "عائشة", "خالد", "مريم", "يوسف", "زينب"),
    "family, arabic": ("العلي", "حداد", "النجار", "خوري", "المصري", "منصور", "سليمان"),
    "greek": ("Γιώργος", "Μαρία", "Νίκος", "Ελένη", "Δημήτρης", "Κατερίνα", "Γιάννης"),
    "family, greek": ("Παπαδόπουλος", "Νικολάου", "Γεωργίου", "Δημητρίου", "Αντωνίου", "Ιωάννου"),
    "cyrillic": ("Александр", "Наталья", "Дмитрий", "Елена", "Сергей", "Татьяна", "Алексей"),
    "family, cyrillic": ("Смирнов", "Кузнецова", "Попов", "Волкова", "Соколов", "Морозова"),
    "latin": ("Ayşe", "Mehmet", "Hans", "Sabine", "Mary", "Oliver", "Emine", "John", "Petra", "Linda"),
    "family, latin": ("Kaya", "Demir", "Müller", "Schmidt", "Smith", "Jones", "Öztürk", "Brown", "Fischer"),
}


def named(script: str, pattern: str = "{given} {family}") -> Maker:
    """Write names of people."""

    def make(random: Random) -> str:
        given, family = random.choice(GIVEN[script]), random.choice(GIVEN[f"family, {script}"])
        return pattern.format(given=given, family=family, initial=given[0])

    return make


def moment(random: Random, between: str = "T") -> str:
    """Write a moment to the second."""
    clock = f"{random.randrange(24):02d}:{random.randrange(60):02d}:{random.randrange(60):02d}"
    return f"2023-{random.randrange(1, 13):02d}-{random.randrange(1, 29):02d}{between}{clock}"


def hashed(random: Random) -> str:
    """Hash a number of somebody."""
    return hashlib.sha256(digits(random, 8).encode()).hexdigest()


def mail(random: Random) -> str:
    """Write a mailbox."""
    return f"{word(random)}.{word(random)}{random.randrange(99)}@example.org"


TELLING: dict[str, Maker] = {
    "devices, IMEI": lambda random: luhn(f"35{digits(random, 12)}"),
    "devices, IMEI in groups": lambda random: f"35-{digits(random, 6)}-{digits(random, 6)}-{digits(random, 1)}",
    "SIM cards": lambda random: luhn(f"8990{digits(random, 14)}"),
    "passports, Turkey": lambda random: f"U{digits(random, 8)}",
    "passports, Germany": lambda random: f"C{drawn(random, 'CFGHJKLMNPRTVWXYZ0123456789', 8)}",
    "passports, United States": lambda random: f"{random.randrange(10**8, 10**9)}",
    "passports, India": lambda random: f"{random.choice('JKLMNPRSTZ')}{digits(random, 7)}",
    "identity cards, Italy": lambda random: f"CA{digits(random, 5)}{drawn(random, CAPITALS, 2)}",
    "driving licences, UK": lambda random: f"{drawn(random, CAPITALS, 5)}{digits(random, 6)}{drawn(random, CAPITALS, 2)}9{drawn(random, CAPITALS, 2)}",
    "driving licences, California": lambda random: f"{random.choice('ABCDEFY')}{digits(random, 7)}",
    "medicare": lambda random: f"1{drawn(random, 'ACDEFGHJKMNPQRTUVWXY', 2)}{digits(random, 1)}-{drawn(random, 'ACDEFGH', 2)}{digits(random, 1)}-{drawn(random, 'ACDEFGH', 2)}{digits(random, 2)}",
    "insured, Germany": lambda random: f"{random.choice(CAPITALS)}{digits(random, 9)}",
    "doctors, NPI": lambda random: luhn(f"80840{random.choice('12')}{digits(random, 8)}")[5:],
    "doctors, licence": lambda random: f"MD{digits(random, 6)}",
    "place in a cell": lambda random: "{:.5f},{:.5f}".format(*somewhere(random)),
    "place in a cell, rough": lambda random: "{:.2f}, {:.2f}".format(*somewhere(random)),
    "place in minutes": lambda random: f"{random.randrange(36, 42)}°{random.randrange(60)}'{random.randrange(60)}\"N {random.randrange(27, 44)}°{random.randrange(60)}'{random.randrange(60)}\"E",
    "place as JSON": lambda random: json.dumps({"lat": round(somewhere(random)[0], 5), "lon": round(somewhere(random)[1], 5)}),
    "moments": moment,
    "moments with a blank": lambda random: moment(random, " "),
    "moments of a zone": lambda random: f"{moment(random)}+03:00",
    "moments to the millisecond": lambda random: f"{moment(random)}.{digits(random, 3)}Z",
    "days": lambda random: moment(random)[:10],
    "days of birth": lambda random: f"{random.randrange(1, 29):02d}/{random.randrange(1, 13):02d}/{random.randrange(1940, 2006)}",
    "months of birth": lambda random: f"{random.randrange(1940, 2006)}-{random.randrange(1, 13):02d}",
    "days without separators": lambda random: moment(random)[:10].replace("-", ""),
    "years of birth": whole(1935, 2006),
    "purses, bitcoin": lambda random: f"1{drawn(random, 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789', 33)}",
    "purses, segwit": lambda random: f"bc1q{drawn(random, '023456789acdefghjklmnpqrstuvwxyz', 38)}",
    "purses, ethereum": lambda random: f"0x{drawn(random, '0123456789abcdef', 40)}",
    "handles": lambda random: f"@{word(random)}{word(random)}",
    "handles, mixed": lambda random: f"{word(random)}_{word(random)[:3]}{random.randrange(100)}",
    "handles of a page": lambda random: f"instagram.com/{word(random)}{random.randrange(100)}",
    "names": named("latin"),
    "names, turned": named("latin", "{family}, {initial}."),
    "names, initial first": named("latin", "{initial}. {family}"),
    "names in capitals": lambda random: named("latin")(random).upper(),
    "names in one word": named("latin", "{family}"),
    "given names": named("latin", "{given}"),
    "names, Arabic": named("arabic"),
    "names, Greek": named("greek"),
    "names, Cyrillic": named("cyrillic"),
    "names, Cyrillic, turned": named("cyrillic", "{family} {initial}."),
    "names with titles": named("latin", "Dr. {family}"),
    "mail": mail,
    "mail, (at)": lambda random: mail(random).replace("@", "(at)"),
    "mail, at and dot": lambda random: mail(random).replace("@", " at ").replace(".org", " dot org"),
    "mail, in capitals": lambda random: mail(random).upper(),
    "phones with points": lambda random: f"0{random.choice('57')}32.{digits(random, 3)}.{digits(random, 2)}.{digits(random, 2)}",
    "phones, United States, points": lambda random: f"{random.choice(['212', '415', '305'])}.{random.randrange(200, 999)}.{digits(random, 4)}",
    "phones, international": lambda random: f"+90 53{digits(random, 1)} {digits(random, 3)} {digits(random, 2)} {digits(random, 2)}",
    "phones, last digits hidden": lambda random: f"053{digits(random, 1)} {digits(random, 3)} ** **",
    "hashes": hashed,
    "hashes, short": lambda random: hashed(random)[:10],
    "hashes, base64": lambda random: base64.b64encode(bytes.fromhex(hashed(random))).decode(),
    "base64 of a name": lambda random: base64.b64encode(named("latin")(random).encode()).decode(),
    "JSON": lambda random: json.dumps({"name": named("latin")(random), "id": random.randrange(10**6)}),
    "lists in cells": lambda random: "; ".join(named("latin")(random) for _ in range(random.randrange(2, 4))),
    "lists of mail": lambda random: f"{mail(random)}, {mail(random)}",
    "record numbers": lambda random: f"P{digits(random, 6)}",
    "record numbers of a year": lambda random: f"2023/{digits(random, 5)}",
    "numbers of nine digits": lambda random: random.randrange(10**8, 10**9),
    "licence plates": lambda random: f"{random.randrange(1, 82):02d} {drawn(random, CAPITALS, 2)} {digits(random, 3)}",
    "licence plates, UK": lambda random: f"{drawn(random, CAPITALS, 2)}{random.randrange(10, 75)} {drawn(random, CAPITALS, 3)}",
    "licences of programs": lambda random: "-".join(drawn(random, CAPITALS + "23456789", 5) for _ in range(5)),
    "machines": lambda random: f"10.{random.randrange(256)}.{random.randrange(256)}.{random.randrange(1, 255)}",
    "machines, MAC": lambda random: ":".join(drawn(random, "0123456789abcdef", 2) for _ in range(6)),
    "addresses": lambda random: f"{random.choice(['Lange Straße', 'Hauptstraße', 'Am Markt', 'Gartenweg'])} {random.randrange(1, 150)}",
    "postcodes, Germany": lambda random: f"{random.randrange(1067, 99998):05d}",
    "postcodes, UK": lambda random: f"{drawn(random, 'BEHLMNSW', 1)}{random.randrange(1, 20)} {random.randrange(1, 10)}{drawn(random, 'ABDEFGHJLNPQ', 2)}",
    "postcodes, Poland": lambda random: f"{random.randrange(100):02d}-{random.randrange(1000):03d}",
    "laboratory value, six decimals": lambda random: round(random.gauss(5, 1), 6),
    "salaries to the cent": lambda random: round(random.lognormvariate(8, 0.5), 2),
    "salaries, whole": lambda random: random.randrange(21_000, 240_000),
    "exact ages": lambda random: round(random.uniform(18, 90), 4),
    "steps of a day": whole(800, 24_000),
    "notes": lambda random: " ".join(word(random) for _ in range(random.randrange(5, 14))),
    "cookies": lambda random: f"GA1.2.{digits(random, 9)}.{digits(random, 10)}",
    "advertising ids": lambda random: "-".join(drawn(random, "0123456789ABCDEF", count) for count in (8, 4, 4, 4, 12)),
    "tax numbers with a slash": lambda random: f"{digits(random, 3)}/{digits(random, 4)}/{digits(random, 4)}",
}  # fmt: skip


MADE_COARSER = {what for what in TELLING if what.split()[0].rstrip(",") in {"moments", "days", "postcodes"}}


def telling_table(seed: int, rows: int = 150) -> tuple[pl.DataFrame, dict[str, str]]:
    """Make a table with every column that tells of somebody, and what each holds; names tell nothing of it."""
    chance = Random(seed)
    kinds = {
        f"{chance.choice(('c', 'v', 'x', 'colour', 'score', 'flag', 'level'))}{place}": what
        for place, what in enumerate(chance.sample(sorted(TELLING), len(TELLING)))
    }
    columns = {name: [str(TELLING[what](chance)) for _ in range(rows)] for name, what in kinds.items()}
    columns["age"] = [str(chance.randint(18, 80)) for _ in range(rows)]
    columns["dx"] = [str(chance.choice(ICD)) for _ in range(rows)]
    return pl.DataFrame(columns), kinds
