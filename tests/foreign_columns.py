"""Columns whose content is known, made by others than us: people of many countries as Faker invents them.

Neither its names nor its ways of writing come from our lists. Cells are left as files have them: in capitals,
behind a label, with holes, or among nine times as many cells of something else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from random import Random
from typing import Any

import polars as pl
from faker import Faker

from labelled_columns import LabelledColumn

Draw = Callable[[Any, Random], object]  # an inventor of one country, and chance


@cache
def inventor(locale: str) -> Any:
    """Give the inventor of one country's people."""
    return Faker(locale, use_weighting=False)


def of(method: str, *locales: str, **said: Any) -> list[tuple[str, Draw]]:
    """Ask the inventor of each country for the same thing."""
    return [(locale, lambda fake, _: getattr(fake, method)(**said)) for locale in locales]


def grouped(text: str, by: str) -> str:
    """Write four signs at a time."""
    return by.join(text[at : at + 4] for at in range(0, len(text), 4))


def checked(module: str, shape: str) -> tuple[str, Draw]:
    """Try digits of a shape until python-stdnum takes the number."""
    from importlib import import_module

    accepts = import_module(f"stdnum.{module}").is_valid

    def draw(fake: Any, _: Random) -> str:
        while True:
            text: str = fake.bothify(shape, letters="ABCDEFGHJKLMNPRSTUVWXYZ")
            if accepts(text):
                return text

    return "en_US", draw


def day(form: str, births: bool) -> tuple[str, Draw]:  # noqa: FBT001
    """Write days of birth, or of the last ten years."""

    def draw(fake: Any, chance: Random) -> str:
        found = fake.date_of_birth(maximum_age=95) if births else fake.date_between("-9y", "today")
        return str(found.strftime(form)).replace("{h}", f"{chance.randint(0, 23):02d}")

    return "en_US", draw


def written(form: str, **parts: str) -> Draw:
    """Put parts of the same country into a form."""
    return lambda fake, _: form.format(**{name: getattr(fake, method)() for name, method in parts.items()})


def sentence(fake: Any, chance: Random) -> str:
    """Say a few words, with somebody's name now and then."""
    words = fake.sentence(nb_words=chance.randint(5, 18))
    return f"{words} {fake.last_name()}." if chance.random() < 0.2 else words


EUROPE = ("fr_FR", "it_IT", "es_ES", "nl_NL", "pl_PL", "sv_SE", "pt_PT", "cs_CZ", "da_DK")
OURS = ("tr_TR", "de_DE", "en_GB", "en_US", "de_AT", "en_CA", "en_AU")
DAYS = (
    "%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%y", "%d %b %Y", "%b %d, %Y", "%A, %d %B %Y", "%Y/%m/%d", "%Y%m%d",
    "%d-%b-%y", "%Y-%m-%dT{h}:05:00+02:00", "%d.%m.%Y {h}:30", "%m-%d-%Y", "%d %m %Y", "%Y.%m.%d", "%a %b %d {h}:11:09 %Y",
)  # fmt: skip
CONTENT: dict[str, list[tuple[str, Draw]]] = {
    "email": [
        *of("email", "tr_TR", "de_DE", "en_GB", "fr_FR", "pl_PL"),
        *of("company_email", "en_US", "it_IT"),
        ("en_US", written("{who} <{mail}>", who="name", mail="email")),
        ("de_DE", lambda fake, _: fake.email().replace("@", "+news@")),
    ],
    "phone": [
        *of("phone_number", *OURS, *EUROPE, "pt_BR", "en_IN", "ja_JP", "ru_RU"),
        *of("basic_phone_number", "en_US"),
        *of("cellphone_number", "pt_BR"),
    ],
    "ip": [*of("ipv4", "en_US"), *of("ipv6", "en_US"), *of("ipv4_private", "en_US"),
           ("en_US", lambda fake, chance: f"{fake.ipv4_public()}:{chance.randint(1, 65000)}")],
    "url": [*of("url", "en_US", "de_DE", "tr_TR"), *of("uri", "fr_FR"), *of("image_url", "en_US"),
            ("en_US", lambda fake, _: f"{fake.domain_name()}/{fake.user_name()}")],
    "mac": of("mac_address", "en_US"),
    "uuid": [*of("uuid4", "en_US"), *of("sha1", "en_US"), *of("md5", "en_US"), *of("sha256", "en_US")],
    "iban": [*of("iban", "de_DE", "tr_TR", "en_GB", "fr_FR", "it_IT", "nl_NL", "pl_PL", "es_ES"),
             ("de_AT", lambda fake, _: grouped(fake.iban(), " "))],
    "card": [*of("credit_card_number", "en_US"), *of("credit_card_number", "en_US", card_type="visa16"),
             ("en_US", lambda fake, _: grouped(fake.credit_card_number("mastercard"), "-"))],
    "tckn": of("ssn", "tr_TR"),
    "vkn": [checked("tr.vkn", "%#########")],
    "steuer-id": [checked("de.idnr", "%##########")],
    "nhs": [checked("gb.nhs", "%#########"), checked("gb.nhs", "%## ### ####")],
    "ssn": of("ssn", "en_US"),
    "nino": [("en_GB", lambda fake, chance: f"{chance.choice('ABCEGHJKLMNPRSTWXY')}{chance.choice('ABCEGHJLMPRSTWXYZ')}{fake.numerify(' ## ## ## ')}{chance.choice('ABCD')}")],
    "dni": of("nif", "es_ES"),
    "codice-fiscale": of("ssn", "it_IT"),
    "nir": of("ssn", "fr_FR"),
    "bsn": of("ssn", "nl_NL"),
    "pesel": of("ssn", "pl_PL"),
    "personnummer": of("ssn", "sv_SE"),
    "fodselsnummer": of("ssn", "no_NO"),
    "cnp": of("ssn", "ro_RO"),
    "cpf": of("cpf", "pt_BR"),
    "sin": of("ssn", "en_CA"),
    "aadhaar": [checked("in_.aadhaar", "%###########")],
    "at-vnr": of("ssn", "de_AT"),
    "be-nn": of("ssn", "nl_BE"),
    "hetu": of("ssn", "fi_FI"),
    "rodne-cislo": of("birth_number", "cs_CZ"),
    "isikukood": of("ssn", "et_EE"),
    "oib": of("ssn", "hr_HR"),
    "amka": of("ssn", "el_GR"),
    "vat": of("vat_id", "de_DE", "it_IT"),
    "vin": of("vin", "en_US"),
    "imei": [checked("imei", "35############%")],
    "plate": of("license_plate", "tr_TR", "de_DE", "en_GB", "fr_FR", "it_IT", "es_ES", "nl_NL", "pl_PL", "sv_SE"),
    "name": [
        *of("name", *OURS, *EUROPE),
        *of("first_name", "tr_TR", "de_DE", "en_GB"),
        *of("last_name", "tr_TR", "de_DE", "en_US"),
        ("en_GB", written("{last}, {first}", last="last_name", first="first_name")),
        ("tr_TR", written("{last} {first}", last="last_name", first="first_name")),
        ("de_DE", written("{title} {last}", title="prefix", last="last_name")),
        ("en_US", lambda fake, chance: f"{fake.first_name()} {chance.choice('ABCDEFGHJKLM')}. {fake.last_name()}"),
    ],
    "address": [
        *of("street_address", *OURS, "fr_FR", "it_IT", "es_ES", "nl_NL", "pl_PL", "sv_SE"),
        *((locale, lambda fake, _: fake.address().replace("\n", ", ")) for locale in ("de_DE", "en_GB", "en_US", "tr_TR", "fr_FR")),
    ],
    "text": [(locale, sentence) for locale in ("en_US", "de_DE", "fr_FR", "pl_PL", "it_IT")],
    "birth-date": [day(form, births=True) for form in DAYS],
    "date": [day(form, births=False) for form in DAYS],
    "postcode": of("postcode", "tr_TR", "de_DE", "en_GB", "en_US", "fr_FR", "nl_NL", "en_CA", "pl_PL", "sv_SE", "pt_PT"),
    "coordinates": [("en_US", written("{a}, {b}", a="latitude", b="longitude")), ("en_US", written("{a} {b}", a="latitude", b="longitude"))],
    "record": [("en_US", lambda fake, _: fake.unique.bothify("MRN-#######")), ("en_US", lambda fake, _: fake.unique.numerify("########"))],
}  # fmt: skip


def one_of(*values: str) -> tuple[str, Draw]:
    """Choose among categories."""
    return "en_US", lambda _, chance: chance.choice(values)


def form(pattern: str) -> tuple[str, Draw]:
    """Fill digits and letters into a pattern."""
    return "en_US", lambda fake, _: fake.bothify(pattern, letters="ABCDEFGHJKLMNPQRSTUVWXYZ")


def amount(low: float, high: float, pattern: str) -> tuple[str, Draw]:
    """Write numbers with a unit."""
    return "en_US", lambda _, chance: pattern.format(chance.uniform(low, high))


RECORD = frozenset({"record"})
NOTHING: frozenset[str] = frozenset()
NEGATIVES: list[tuple[tuple[str, Draw], frozenset[str]]] = [
    (form("SKU-####-??"), RECORD), (form("??###-##"), RECORD), (form("%####"), RECORD | {"postcode"}), (form("LOT#####?"), RECORD),
    (("en_US", lambda fake, _: fake.isbn13()), RECORD), (("en_US", lambda fake, _: fake.isbn10()), RECORD),
    (("en_US", lambda fake, _: fake.ean13()), RECORD), (("en_US", lambda fake, _: fake.ean8()), RECORD),
    (amount(1, 900, "${:,.2f}"), NOTHING), (amount(1, 90000, "{:,.2f} TL"), NOTHING), (amount(1, 9000, "€ {:.2f}"), NOTHING),
    (amount(3, 12, "{:.1f} mmol/L"), NOTHING), (amount(60, 200, "{:.0f} mg/dL"), NOTHING), (amount(35, 41, "{:.1f} °C"), NOTHING),
    (amount(0, 100, "{:.1f} %"), NOTHING), (amount(0.1, 9, "{:.4f}"), NOTHING), (amount(-3, 3, "{:.6f}"), {"coordinates"} | RECORD),
    (amount(0, 300, "<{:.0f}"), NOTHING), (amount(1, 50000, "{:.0f}"), RECORD | {"postcode"}),
    (("en_US", lambda _, c: f"{c.randint(90, 190)}/{c.randint(50, 110)} mmHg"), NOTHING),
    (("en_US", lambda _, c: f"{c.randint(0, 9)}.{c.randint(0, 30)}.{c.randint(0, 40)}"), RECORD),
    (("en_US", lambda _, c: f"v{c.randint(1, 4)}.{c.randint(0, 20)}.{c.randint(0, 9)}-rc{c.randint(1, 3)}"), RECORD),
    (("en_US", lambda _, c: f"{c.randint(1, 4)}-{c.choice('ABCD')}-{c.randint(1, 40):02d}"), RECORD),
    (("en_US", lambda _, c: f"Ward {c.randint(1, 9)}, bed {c.randint(1, 30)}"), NOTHING),
    (("en_US", lambda _, c: f"{c.choice(['East', 'West', 'North'])} wing, room {c.randint(100, 499)}"), NOTHING),
    (("en_US", lambda _, c: f"{c.randint(0, 23):02d}:{c.randint(0, 59):02d}:{c.randint(0, 59):02d}"), RECORD),
    (("en_US", lambda _, c: f"2024-W{c.randint(1, 52):02d}"), NOTHING), (("en_US", lambda _, c: f"{c.randint(2018, 2025)}"), NOTHING),
    (("en_US", lambda _, c: f"{c.randint(2018, 2025)}-{c.randint(1, 12):02d}"), {"date", "birth-date"}),
    (("en_US", lambda _, c: f"{c.choice('ABCDGHJLMNRSV')}{c.randint(1, 16):02d}{c.choice('ABCDGX')}{c.choice('ABCDX')}{c.randint(1, 60):02d}"), RECORD),
    (("en_US", lambda fake, _: fake.hex_color()), RECORD), (("en_US", lambda fake, _: fake.safe_color_name()), NOTHING),
    (("en_US", lambda fake, _: fake.color_name()), NOTHING), (("en_US", lambda fake, _: fake.job()), NOTHING),
    (("de_DE", lambda fake, _: fake.job()), NOTHING), (("en_US", lambda fake, _: fake.country()), NOTHING),
    (("en_US", lambda fake, _: fake.currency_code()), NOTHING), (("en_US", lambda fake, _: fake.language_name()), NOTHING),
    (("tr_TR", lambda fake, _: fake.city()), NOTHING), (one_of("Lyon", "Marseille", "Toulouse", "Nantes", "Saint-Denis", "Le Havre", "Aix-en-Provence", "Brest", "Tours"), NOTHING),
    (("en_US", lambda fake, _: fake.state()), NOTHING), (("en_US", lambda fake, _: fake.mime_type()), NOTHING),
    (("en_US", lambda fake, _: fake.catch_phrase()), {"text"}), (("en_US", lambda fake, _: fake.word()), NOTHING),
    (("de_DE", lambda fake, _: fake.word()), NOTHING), (("en_US", lambda fake, _: fake.day_of_week()), NOTHING),
    (("en_US", lambda fake, _: fake.month_name()), NOTHING), (("en_US", lambda fake, c: f"scan_{c.randint(1, 9999):04d}.dcm"), RECORD),
    (("en_US", lambda fake, c: str(c.randint(0, 10**9))), RECORD), (("en_US", lambda fake, c: str(c.randint(10**9, 10**10))), RECORD),
    (("en_US", lambda fake, c: str(c.randint(10**10, 10**11))), RECORD), (("en_US", lambda fake, c: f"{c.randint(2019, 2025)}-{c.randint(1, 99999):05d}"), RECORD),
    (("en_US", lambda fake, c: f"{c.randint(1000, 99999)}-{c.randint(0, 9)}"), RECORD), (form("####-####-####"), RECORD),
    (("en_US", lambda _, c: str(c.randint(1_600_000_000, 1_760_000_000))), RECORD | {"date"}),
    (one_of("A+", "A-", "B+", "AB+", "0+", "0-"), NOTHING),
    (one_of("Metformin 500 mg", "Ramipril 5 mg", "Aspirin 100 mg 1-0-0", "Insulin glargin 12 IE", "Paracetamol 1 g"), NOTHING),
    (one_of("Hodgkin lymphoma", "Crohn disease", "Parkinson disease", "Graves disease", "Wilson disease", "Down syndrome", "Bell palsy"), NOTHING),
    (one_of("Cardiology", "Ear, nose and throat", "General surgery", "Intensive care", "St. Mary ward", "Day clinic"), NOTHING),
    (one_of("very satisfied", "satisfied", "neither satisfied nor dissatisfied", "not satisfied at all with the care"), NOTHING),
]  # fmt: skip
LABELS = {
    "email": ("E-Mail: {}", "mail={}"), "phone": ("Tel.: {}", "Tel {}", "mobile: {}", "Telefon: {}"), "iban": ("IBAN: {}", "IBAN {}"),
    "tckn": ("TC: {}", "TCKN {}", "T.C. Kimlik No: {}"), "ssn": ("SSN {}",), "nhs": ("NHS No. {}",), "ip": ("IP: {}",), "plate": ("Plaka: {}", "Kfz: {}"),
    "birth-date": ("geb. {}", "DOB: {}", "d.o.b. {}", "* {}"), "name": ("Name: {}", "Patient: {}"), "address": ("Adresse: {}", "Adres: {}"),
    "steuer-id": ("Steuer-ID {}",), "card": ("card no {}",), "postcode": ("PLZ {}",), "vkn": ("VKN: {}",),
}  # fmt: skip
FILLERS = ("none", "see file", "refused", "not asked", "later", "ok", "transferred")
STRICT = frozenset(
    ["email", "phone", "ip", "url", "iban", "card", "tckn", "vkn", "steuer-id", "nhs", "ssn", "dni", "codice-fiscale", "nir", "bsn", "pesel", "personnummer", "fodselsnummer", "cnp", "cpf", "sin", "aadhaar", "at-vnr", "be-nn", "hetu", "rodne-cislo", "isikukood", "oib", "amka", "vat", "vin", "imei"]
)  # fmt: skip
LOOSE = frozenset({"name", "address", "text", "birth-date", "date"})
OTHERWISE = {  # what may be said as well, or as truly
    "birth-date": {"date"}, "date": {"birth-date"}, "text": {"email", "phone", "name"}, "email": {"name"}, "card": {"record"},
    "coordinates": {"record"}, "postcode": {"record"}, "address": {"text", "name"}, "plate": {"record"},
}  # fmt: skip
TREATMENTS = ("plain", "holes", "case", "label", "tenth")


def treated(cells: list[str], how: str, kind: str | None, chance: Random) -> list[str | None]:
    """Leave cells as files have them."""
    if how == "holes":
        return [
            None if chance.random() < 0.3 else f" {cell} " if chance.random() < 0.3 else cell
            for cell in cells
        ]
    if how == "case":
        turn = chance.choice((str.upper, str.lower))
        return [turn(cell) for cell in cells]
    if how == "label":
        label = chance.choice(LABELS.get(kind or "", ("{}",)))
        return [label.format(cell) for cell in cells]
    if how == "tenth":
        return [cell if chance.random() < 0.1 else chance.choice(FILLERS) for cell in cells]
    return list(cells)


def foreign_columns(
    seed: int, sizes: tuple[int, ...] = (30, 300), treatments: tuple[str, ...] = TREATMENTS
) -> Iterator[LabelledColumn]:
    """Give columns of every kind, and of nothing that is somebody's."""
    chance = Random(seed)
    Faker.seed(seed)
    for rows in sizes:
        for kind, draws in CONTENT.items():
            for locale, draw in draws:
                how = chance.choice(treatments)
                if how == "case" and kind in {"uuid", "url"}:
                    how = "plain"
                if how == "tenth" and (
                    rows < 100 or kind in {"record", "postcode", "plate", "text", "coordinates"}
                ):
                    how = "plain"  # too few to know
                fake = inventor(locale)
                fake.unique.clear()
                cells = [str(draw(fake, chance)) for _ in range(rows)]
                values = pl.Series("x", treated(cells, how, kind, chance), dtype=pl.String)
                yield LabelledColumn(kind, values, frozenset(OTHERWISE.get(kind, ())))
        for (locale, draw), allowed in NEGATIVES:
            how = chance.choice(("plain", "holes", "case", "tenth"))
            cells = [str(draw(inventor(locale), chance)) for _ in range(rows)]
            values = pl.Series("x", treated(cells, how, None, chance), dtype=pl.String)
            yield LabelledColumn(None, values, frozenset(allowed))


def foreign_table(seed: int, rows: int = 150) -> tuple[pl.DataFrame, dict[str, str]]:
    """Make a table with a column of every kind, of any country, and what each holds; names tell nothing of it.

    Some columns are called what ready policies know as harmless: an age that is an account, a diagnosis that is
    somebody's address. Beside them stand two columns that may be published.
    """
    chance = Random(seed)
    Faker.seed(seed)
    lies = {
        "age": "tckn",
        "sex": "name",
        "diagnosis": "email",
        "zip": "phone",
        "admission": "iban",
        "region": "address",
    }
    columns: dict[str, list[str]] = {}
    kinds: dict[str, str] = {}
    for place, kind in enumerate(chance.sample(sorted(CONTENT), len(CONTENT))):
        locale, draw = chance.choice(CONTENT[kind])
        free = next((name for name, held in lies.items() if held == kind and name not in kinds), None)
        name = free or f"{chance.choice(('v', 'flag', 'score', 'x', 'colour'))}{place}"
        fake = inventor(locale)
        fake.unique.clear()
        columns[name], kinds[name] = [str(draw(fake, chance)) for _ in range(rows)], kind
    columns["years"] = [str(chance.randint(18, 80)) for _ in range(rows)]
    columns["answer"] = [chance.choice(("yes", "no")) for _ in range(rows)]
    return pl.DataFrame(columns), kinds
