"""Columns whose content is known, as offices of many countries keep them: a third maker, beside ours and Faker's.

Names come from registers of none of our lists' countries alone: compound, hyphenated, transliterated, with
initials and titles. Telephone numbers are those that each country's plan knows, in the forms people write them
at home; numbers of people are drawn until python-stdnum takes them. Files keep them with holes, with dirt, in
capitals, in several ways of writing at once, padded, spaced and dashed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date, timedelta
from importlib import import_module
from random import Random

import phonenumbers
import polars as pl

from labelled_columns import LabelledColumn

Maker = Callable[[Random], str]

GIVEN = {
    "tr": "Şükriye Tarık Hüsniye Berkcan Asuman Çağla Yiğit İlkay Nurettin Güler Perihan Ege Rüzgar Defne Kerem Eylül Toprak Mahmut Zübeyde Abdülkadir Hayriye Duygu Ozan Işıl Ufuk Gökhan Sevim Cihan Naciye Alperen",
    "de": "Wilfried Gertrud Annegret Hartmut Liesel Lennart Fritzi Ottilie Jannik Mechthild Korbinian Thorben Swantje Hannelore Gisbert Roswitha Silke Torsten Edeltraud Volker Heike Burkhard Leonie Malte Frauke Detlef Elfriede Ansgar Wiebke Reinhold",
    "en": "Alistair Blythe Callum Deirdre Eleanor Fergus Gwendolyn Hamish Imogen Jarvis Keziah Lorraine Mortimer Nigel Oonagh Percival Quentin Rosalind Siobhan Tristan Una Verity Wilfred Yvette Zachary Tamsin Barnaby Cordelia Rupert Philippa",
    "world": "Nguyen Xiaoming Priya Oluwaseun Chukwuemeka Svetlana Dmitriy Fatoumata Jae-won Hiroshi Mohammed Guadalupe Joao Zbigniew Ekaterina Abdulrahman Lakshmi Thandiwe Bjørn Aoife Giuseppe Marie-Claire Anne-Sophie Jean-Luc María José Yusuf Ibrahim Khadija Rajesh Olena",
}
FAMILY = {
    "tr": "Karahan Büyükçelik Sarıtaş Topçuoğlu Akıncı Bayraktar Özgür Ünlü İpek Tunçel Gündoğdu Küçük Çiftçi Eroğlu Kılıçdaroğlu Sezgin Alkan Dursun Toprak Işıksoy Uysal Yavuz Taşdemir Ergün Canpolat Keskin Güneş Ateş Vural Bulut",
    "de": "Brinkmann Dünnwald Eichhorn Feldkamp Göbel Hülsmann Ihde Jürgens Kleinschmidt Löffler Mühlhausen Niemeyer Oehler Pfannenstiel Rautenberg Schönfeld Tiedemann Uhlig Vollmer Wüstenhagen Zimmer von-Stein Abel Petersen Sommerfeld Lüdke Kowalski Nowak Hansen Böttcher",
    "en": "Ackroyd Beauchamp Cholmondeley Dunwoody Entwistle Fotheringham Gallacher Hathersage Inglethorpe Kilbride Lockwood McAllister Netherfield O'Sullivan Pemberton Ravenscroft Stubbs Thistlethwaite Underwood Venables Wainwright Yardley Fitzgerald Huxley Merriweather Blackwood Prescott Hargreaves Bickerstaff Rowntree",
    "world": "Van-Minh Zhang Venkataraman Adeyemi Okonkwo Ivanova Petrov Diallo Kim Tanaka Al-Hashimi Hernández Ferreira Wojciechowski Kuznetsova Bin-Saud Krishnamurthy Mbeki Haugen Murphy Esposito Lefèvre Dubois García-López Ramírez Rossi Hassan Traoré Sharma Shevchenko",
}
TITLES = ("Dr.", "Prof. Dr.", "Herr", "Frau", "Mr", "Mrs", "Ms", "Sayın", "Av.", "Dipl.-Ing.")


def words(text: str) -> list[str]:
    return text.split()


def fold(text: str) -> str:
    """Write as people do who have no such letters."""
    return (
        text.replace("ß", "ss").replace("ä", "ae").replace("ö", "oe").replace("ü", "ue").replace("ı", "i").replace("ş", "s")
        .replace("ğ", "g").replace("ç", "c").replace("İ", "I").replace("Ş", "S").replace("Ç", "C").replace("Ü", "Ue").replace("Ö", "Oe")
    )  # fmt: skip


def name(land: str, form: str) -> Maker:
    given, family = words(GIVEN[land]), words(FAMILY[land])

    def draw(chance: Random) -> str:
        parts = {
            "g": chance.choice(given), "h": chance.choice(given), "f": chance.choice(family), "s": chance.choice(family),
            "i": chance.choice(given)[0] + ".", "m": chance.choice("ABCDEFGHJKLMNPRST") + ".", "t": chance.choice(TITLES),
        }  # fmt: skip
        return form.format(**parts)

    return draw


def plain_letters(maker: Maker) -> Maker:
    return lambda chance: fold(maker(chance))


LANDS = ("TR", "DE", "GB", "US", "FR", "IT", "ES", "NL", "PL", "SE", "AT", "CH", "BE", "PT", "BR", "IN", "DK", "CZ", "GR", "RO", "NO", "FI", "IE", "AU", "UA")  # fmt: skip


def phone(land: str, how: str, *, of_a_town: bool = False) -> Maker:
    kinds = (phonenumbers.PhoneNumberType.MOBILE, phonenumbers.PhoneNumberType.FIXED_LINE)
    forms = {
        "national": phonenumbers.PhoneNumberFormat.NATIONAL,
        "international": phonenumbers.PhoneNumberFormat.INTERNATIONAL,
        "e164": phonenumbers.PhoneNumberFormat.E164,
        "dashes": phonenumbers.PhoneNumberFormat.NATIONAL,
        "zeros": phonenumbers.PhoneNumberFormat.E164,
        "digits": phonenumbers.PhoneNumberFormat.NATIONAL,
    }

    def draw(chance: Random) -> str:
        example = phonenumbers.example_number_for_type(land, chance.choice(kinds))
        text = str(example.national_number)
        while True:
            kept = len(text) - chance.randint(5, 6) if of_a_town else 2
            tried = phonenumbers.PhoneNumber(
                country_code=example.country_code,
                national_number=int(text[:kept] + "".join(chance.choice("0123456789") for _ in text[kept:])),
                italian_leading_zero=example.italian_leading_zero,
            )
            if phonenumbers.is_valid_number(tried):
                break
        told = phonenumbers.format_number(tried, forms[how])
        if how == "dashes":
            told = told.replace(" ", "-")
        if how == "zeros":
            told = told.replace("+", "00")
        if how == "digits":
            told = "".join(sign for sign in told if sign.isdigit())
        return told

    return draw


def valid(module: str, make: Maker) -> Maker:
    """Draw until python-stdnum takes it."""
    accepts = import_module(f"stdnum.{module}").is_valid

    def draw(chance: Random) -> str:
        while True:
            text = make(chance)
            if accepts(text):
                return text

    return draw


def shape(pattern: str) -> Maker:
    """Fill digits (#), digits but zero (%) and letters (?) into a pattern."""

    def draw(chance: Random) -> str:
        made = {"#": "0123456789", "%": "123456789", "?": "ABCDEFGHJKLMNPRSTUVWXYZ"}
        return "".join(chance.choice(made[sign]) if sign in made else sign for sign in pattern)

    return draw


def spaced(make: Maker, sizes: tuple[int, ...], by: str = " ") -> Maker:
    def draw(chance: Random) -> str:
        text, parts, at = make(chance), [], 0
        for size in sizes:
            parts.append(text[at : at + size])
            at += size
        return by.join(part for part in [*parts, text[at:]] if part)

    return draw


def born(chance: Random) -> date:
    return date(1928, 1, 1) + timedelta(days=chance.randint(0, 33_000))


def happened(chance: Random) -> date:
    return date(2016, 1, 1) + timedelta(days=chance.randint(0, 3_400))


MONTHS = {
    "en": words("January February March April May June July August September October November December"),
    "de": words("Januar Februar März April Mai Juni Juli August September Oktober November Dezember"),
    "tr": words("Ocak Şubat Mart Nisan Mayıs Haziran Temmuz Ağustos Eylül Ekim Kasım Aralık"),
}
SHORT = {
    "en": words("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"),
    "de": words("Jan. Feb. Mrz. Apr. Mai Jun. Jul. Aug. Sep. Okt. Nov. Dez."),
    "tr": words("Oca Şub Mar Nis May Haz Tem Ağu Eyl Eki Kas Ara"),
}
DAYS = (
    "{d:02}.{m:02}.{y}", "{d}.{m}.{y}", "{y}-{m:02}-{d:02}", "{m:02}/{d:02}/{y}", "{m}/{d}/{y}", "{d:02}/{m:02}/{y}", "{d:02}-{m:02}-{y}", "{y}/{m}/{d}",
    "{y}{m:02}{d:02}", "{d:02}.{m:02}.{s:02}", "{d} {en} {y}", "{en} {d}, {y}", "{d}. {de} {y}", "{d} {tr} {y}", "{d:02}-{sen}-{y}", "{d:02} {str} {y}",
    "{d}. {sde} {y}", "{y}-{m:02}-{d:02} {H:02}:{M:02}:{S:02}", "{y}-{m:02}-{d:02}T{H:02}:{M:02}:{S:02}.{S:03}Z", "{m}/{d}/{y} {h}:{M:02} PM", "{d:02}{sen}{y}",
)  # fmt: skip


def day(form: str, when: Callable[[Random], date]) -> Maker:
    def draw(chance: Random) -> str:
        one = when(chance)
        return form.format(
            d=one.day, m=one.month, y=one.year, s=one.year % 100, H=chance.randint(0, 23), h=chance.randint(1, 12),
            M=chance.randint(0, 59), S=chance.randint(0, 59),
            **{land: months[one.month - 1] for land, months in MONTHS.items()},
            **{f"s{land}": months[one.month - 1] for land, months in SHORT.items()},
        )  # fmt: skip

    return draw


STREETS = {
    "tr": [
        "Menekşe",
        "Şehit Onbaşı",
        "Gül",
        "Fatih Sultan",
        "Kızılay",
        "Çınar",
        "1453.",
        "İstiklal",
        "Sakarya",
        "Papatya",
    ],
    "de": ["Ulmen", "Goethe", "Mozart", "Kirch", "Bahnhof", "Amsel", "Rosen", "Linden", "Mühlen", "Schul"],
    "en": [
        "Hawthorn",
        "Kingsway",
        "Maple",
        "Victoria",
        "Old Mill",
        "Station",
        "Queens",
        "Church",
        "Birch",
        "Washington",
    ],
    "fr": [
        "de la Paix",
        "Victor Hugo",
        "du Moulin",
        "des Lilas",
        "de la République",
        "Jean Jaurès",
        "du Général Leclerc",
        "des Écoles",
        "Pasteur",
        "du Bac",
    ],
}
TOWNS = {
    "tr": ["Çankaya/Ankara", "Kadıköy/İstanbul", "Konak İzmir", "Nilüfer/BURSA", "Seyhan - Adana"],
    "de": ["Bielefeld", "Görlitz", "Bad Homburg", "Köln", "Mühlheim a. d. Ruhr"],
    "en": ["Leeds", "Stoke-on-Trent", "Bristol", "Portland, OR", "Hartford CT"],
    "fr": ["Rennes", "Lyon", "Clermont-Ferrand", "Nice", "Le Mans"],
}


def address(land: str, form: str) -> Maker:
    kinds = {
        "tr": ["Sok.", "Sokak", "Cad.", "Caddesi", "Sk.", "Bulvarı"], "de": ["straße", "str.", "weg", "allee", "platz", "gasse"],
        "en": ["Road", "St", "Avenue", "Lane", "Close", "Drive", "Blvd", "Rd."], "fr": ["rue", "avenue", "bd", "allée", "impasse", "place"],
    }[land]  # fmt: skip

    def draw(chance: Random) -> str:
        return form.format(
            s=chance.choice(STREETS[land]), k=chance.choice(kinds), n=chance.randint(1, 240), u=chance.randint(1, 30), t=chance.choice(TOWNS[land]),
            z=f"{chance.randint(1000, 98999):05d}", q=chance.choice(STREETS[land]),
        )  # fmt: skip

    return draw


def valid_vin(chance: Random) -> str:
    weights = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
    values = {**{str(d): d for d in range(10)}, **dict(zip("ABCDEFGH", range(1, 9), strict=True)), **dict(zip("JKLMN", range(1, 6), strict=True)), "P": 7, "R": 9, **dict(zip("STUVWXYZ", range(2, 10), strict=True))}  # fmt: skip
    signs = [chance.choice("ABCDEFGHJKLMNPRSTUVWXYZ0123456789") for _ in range(13)] + [
        chance.choice("0123456789") for _ in range(4)
    ]
    signs[8] = "0"
    rest = sum(weight * values[sign] for weight, sign in zip(weights, signs, strict=True)) % 11
    signs[8] = "X" if rest == 10 else str(rest)
    return "".join(signs)


MAKERS: dict[str, list[Maker]] = {
    "email": [
        lambda c: f"{fold(c.choice(words(GIVEN['de']))).lower()}.{fold(c.choice(words(FAMILY['de']))).lower()}{c.randint(1, 99)}@{c.choice(['web.de', 'gmx.net', 't-online.de', 'posteo.de'])}",
        lambda c: f"{c.choice('abcdefgh')}{fold(c.choice(words(FAMILY['tr']))).lower()}@{c.choice(['saglik.gov.tr', 'metu.edu.tr', 'hotmail.com', 'yandex.com.tr'])}",
        lambda c: f"{c.choice(words(GIVEN['en']))}_{c.randint(1950, 2005)}@{c.choice(['btinternet.com', 'nhs.net', 'ox.ac.uk', 'aol.com'])}",
        lambda c: f"mailto:{c.choice('klmnop')}{c.randint(100, 99999)}@mail.example.{c.choice(['io', 'fr', 'museum'])}",
    ],
    "phone": [phone(land, how) for land in LANDS for how in ("national", "international")]
    + [phone(land, "national", of_a_town=True) for land in LANDS]
    + [phone(land, how) for land in ("TR", "DE", "GB", "US", "FR", "ES") for how in ("dashes", "zeros", "e164")]
    + [phone(land, "digits") for land in ("TR", "DE", "GB", "FR")],
    "ip": [lambda c: ".".join(str(c.randint(1, 254)) for _ in range(4)), lambda c: f"10.{c.randint(0, 3)}.{c.randint(0, 255)}.{c.randint(1, 254)}",
           lambda c: f"2001:db8:{c.randint(0, 65535):x}::{c.randint(1, 65535):x}", lambda c: f"{c.randint(11, 223)}.{c.randint(0, 255)}.{c.randint(0, 255)}.{c.randint(0, 255)}/32"],
    "url": [lambda c: f"https://www.{c.choice(['facebook.com', 'linkedin.com/in', 'x.com'])}/{c.choice(words(GIVEN['en'])).lower()}{c.randint(1, 999)}",
            lambda c: f"www.{fold(c.choice(words(FAMILY['de']))).lower()}-{c.randint(1, 99)}.de/kontakt", lambda c: f"http://intranet.local:8080/p?id={c.randint(1, 10**6)}"],
    "iban": [valid("iban", lambda c, land=land, size=size: f"{land}{c.randint(2, 98):02d}" + "".join(c.choice("0123456789") for _ in range(size)))  # type: ignore[misc]
             for land, size in (("DE", 18), ("TR", 22), ("AT", 16))],
    "tckn": [valid("tr.tckimlik", shape("%##########")), spaced(valid("tr.tckimlik", shape("%##########")), (3, 3, 3)), lambda c: "TR" + valid("tr.tckimlik", shape("%##########"))(c)],
    "vkn": [valid("tr.vkn", shape("%#########")), spaced(valid("tr.vkn", shape("##########")), (3, 3))],
    "steuer-id": [valid("de.idnr", shape("%##########")), spaced(valid("de.idnr", shape("%##########")), (2, 3, 3))],
    "nhs": [valid("gb.nhs", shape("%#########")), spaced(valid("gb.nhs", shape("%#########")), (3, 3)), spaced(valid("gb.nhs", shape("%#########")), (3, 3), "-")],
    "ssn": [valid("us.ssn", shape("###-##-####")), spaced(valid("us.ssn", shape("#########")), (3, 2))],
    "card": [valid("luhn", shape("4###############")), spaced(valid("luhn", shape("53##############")), (4, 4, 4)), spaced(valid("luhn", shape("37#############")), (4, 6), "-")],
    "bsn": [valid("nl.bsn", shape("#########")), spaced(valid("nl.bsn", shape("#########")), (4, 2), ".")],
    "pesel": [valid("pl.pesel", lambda c: f"{born(c):%y%m%d}" + shape("#####")(c))],
    "nir": [spaced(valid("fr.nir", lambda c: f"{c.choice('12')}{born(c):%y%m}{c.randint(1, 95):02d}" + shape("########")(c)), (1, 2, 2, 2, 3, 3))],
    "dni": [valid("es.dni", shape("########?")), spaced(valid("es.dni", shape("########?")), (8,), "-")],
    "cpf": [spaced(valid("br.cpf", shape("###########")), (3, 3, 3), "."), valid("br.cpf", shape("###########"))],
    "ahv": [spaced(valid("ch.ssn", shape("756##########")), (3, 4, 4), ".")],
    "at-vnr": [spaced(valid("at.vnr", lambda c: shape("%###")(c) + f"{born(c):%d%m%y}"), (4,))],
    "imei": [spaced(valid("imei", shape("86#############")), (2, 6, 6), "-")],
    "vin": [valid_vin],
    "uuid": [lambda c: "".join(c.choice("0123456789abcdef") for _ in range(32)), lambda c: "{" + "-".join("".join(c.choice("0123456789ABCDEF") for _ in range(n)) for n in (8, 4, 4, 4, 12)) + "}"],
    "mac": [lambda c: "-".join(f"{c.randint(0, 255):02X}" for _ in range(6))],
    "name": [
        *(name(land, form) for land in ("tr", "de", "en", "world") for form in ("{g} {f}", "{f}, {g}", "{g} {h} {f}", "{f} {g}", "{g} {m} {f}")),
        *(name(land, "{g} {f}-{s}") for land in ("tr", "de", "en")),
        *(name(land, "{i} {f}") for land in ("de", "en")),
        *(name(land, "{t} {g} {f}") for land in ("tr", "de", "en")),
        *(name(land, "{g}") for land in ("tr", "de", "en")),
        *(name(land, "{f}") for land in ("tr", "de", "en")),
        *(plain_letters(name(land, "{g} {f}")) for land in ("tr", "de")),
        *(name(land, "{f}, {g} {m}") for land in ("en", "world")),
    ],
    "address": [
        *(address("tr", form) for form in ("{s} Mah. {q} {k} No:{n} D:{u} {t}", "{s} {k} No: {n}/{u}", "{q} mahallesi {s} {k} {n}", "{s} {k} {n} {t}")),
        *(address("de", form) for form in ("{s}{k} {n}", "{s}{k} {n}a, {z} {t}", "{z} {t}, {s}{k} {n}", "{s}{k} {n}-{u}")),
        *(address("en", form) for form in ("{n} {s} {k}", "Flat {u}, {n} {s} {k}", "{n} {s} {k}, {t}", "{n} {s} {k} Apt {u}, {t} {z}")),
        *(address("fr", form) for form in ("{n} {k} {s}", "{n} bis, {k} {s}", "{n} {k} {s}, {z} {t}", "{n} {k} {s} {z} {t}")),
    ],
    "birth-date": [day(form, born) for form in DAYS],
    "date": [day(form, happened) for form in DAYS],
    "text": [
        lambda c: " ".join(c.choice(words("hasta dün gece şiddetli karın ağrısı ile acile geldi tansiyonu yüksek ilaç kullanmıyor eşi aradı kontrol önerildi sigara içiyor babası kalp krizi")) for _ in range(c.randint(4, 20))),
        lambda c: " ".join(c.choice(words("Pat. klagt über Schwindel seit gestern Abend keine Vorerkrankungen bekannt Ehefrau berichtet dass er gestürzt sei Blutdruck normal bitte Rückruf Montag")) for _ in range(c.randint(4, 20))) + ".",
        lambda c: " ".join(c.choice(words("customer rang to complain about the delivery said his neighbour took it will call back tomorrow wants refund spoke with manager very upset")) for _ in range(c.randint(3, 25))),
        lambda c: f"{c.choice(['Thanks', 'Hello', 'Merhaba'])}, {' '.join(c.choice(words('my son moved away last year and since then the pension office never answered any letters')) for _ in range(c.randint(5, 12)))}!",
    ],
}  # fmt: skip


def one_of(text: str) -> Maker:
    options = text.split("|")
    return lambda c: c.choice(options)


RECORD, NOTHING = frozenset({"record"}), frozenset[str]()
DATED = frozenset({"date", "birth-date"})
HARMLESS: list[tuple[Maker, frozenset[str]]] = [
    (lambda c: f"{c.randint(4_500_000_000, 4_509_999_999)}", RECORD), (lambda c: f"PO-{c.randint(2019, 2025)}-{c.randint(1, 9999):04d}", RECORD), (lambda c: f"{c.randint(700000, 799999)}", RECORD | {"postcode"}),
    (lambda c: f"{c.lognormvariate(3, 1):.2f}", NOTHING), (lambda c: f"{c.lognormvariate(6, 1):,.2f} €", NOTHING), (lambda c: f"₺{c.lognormvariate(6, 1):.2f}".replace(".", ","), NOTHING), (lambda c: f"{c.choice([9, 19, 49, 99])}.{c.choice(['90', '95', '99'])}", NOTHING),
    (shape("?#-###-?"), RECORD), (shape("ART.##.###"), RECORD), (shape("##-####"), RECORD), (shape("?????-##"), RECORD), (lambda c: f"{c.choice(['XS', 'S', 'M', 'L', 'XL'])}-{c.choice(['BLK', 'RED', 'NVY'])}-{c.randint(10, 99)}", RECORD),
    (lambda c: f"{c.randint(1_650_000_000, 1_700_000_000)}.{c.randint(0, 999):03d}", RECORD | DATED), (lambda c: f"{c.randint(0, 86399)}", RECORD | {"postcode"}), (lambda c: f"{c.randint(0, 23):02d}:{c.randint(0, 59):02d}:{c.randint(0, 59):02d}.{c.randint(0, 999):03d}", RECORD),
    (lambda c: f"{c.gauss(5.4, 0.8):.1f}", NOTHING), (lambda c: f"{c.gauss(140, 4):.0f}", NOTHING), (lambda c: f"{c.gauss(1.0, 0.3):.3f} mg/dl", NOTHING), (lambda c: f"{c.choice(['<', '>', ''])}{c.randint(1, 400)} U/L", NOTHING), (lambda c: f"{c.gauss(12, 2):.1f}".replace(".", ","), NOTHING),
    (lambda c: f"{c.choice('ABCDEFGHIJKLMNOPQRSTZ')}{c.randint(0, 99):02d}.{c.randint(0, 9)}", RECORD | {"icd10"}), (lambda c: f"{c.choice(['A', 'B', 'C', 'D', 'G', 'J', 'L', 'M', 'N', 'R'])}{c.choice(['01', '02', '03', '05'])}{c.choice('ABC')}{c.choice('ABC')}{c.randint(1, 20):02d}", RECORD | {"atc", "icd10"}),
    (one_of("Ankara|İstanbul|İzmir|Konya|Kayseri|Mersin|Diyarbakır|Samsun|Van|Ordu|Rize"), NOTHING), (one_of("Hamburg|München|Köln|Bonn|Kiel|Erfurt|Halle|Jena|Essen|Siegen|Worms"), NOTHING), (one_of("Leeds|York|Bath|Derby|Lincoln|Chester|Preston|Carlisle|Hereford|Durham"), NOTHING), (one_of("Paris|Lyon|Nice|Brest|Dijon|Reims|Tours|Nancy|Orléans|Limoges"), NOTHING),
    (one_of("I fully agree with this|I agree to some extent|no opinion either way|I rather disagree|I disagree completely"), NOTHING), (one_of("Sehr gut|Gut|Befriedigend|Ausreichend|Mangelhaft"), NOTHING), (one_of("Çok memnunum|Memnunum|Kararsızım|Memnun değilim|Hiç memnun değilim"), NOTHING),
    (lambda c: f"{c.randint(1, 12)}.{c.randint(0, 40)}.{c.randint(0, 200)}", RECORD), (lambda c: f"{c.randint(1, 4)}.{c.randint(0, 9)}.{c.randint(0, 9)}.{c.randint(0, 9)}", RECORD), (lambda c: f"build {c.randint(1000, 9999)}", RECORD),
    (shape("%#########"), RECORD), (shape("%###############"), RECORD), (shape("%########"), RECORD), (shape("%##########"), RECORD), (shape("########?"), RECORD), (shape("%############"), RECORD), (shape("%#############"), RECORD), (shape("0#########"), RECORD),
    (one_of("Rose|Lily|Jasmine|Iris|Violet|Daisy|Heather|Ivy|Poppy|Olive"), NOTHING), (one_of("Golden retriever|Border collie|German shepherd|Jack Russell|Great Dane|Saint Bernard|Boxer"), NOTHING), (one_of("Alzheimer disease|Parkinson disease|Addison disease|Cushing syndrome|Meniere disease|Graves disease|Hashimoto thyroiditis|Bell palsy"), NOTHING),
    (one_of("nurse|teacher|software engineer|bus driver|shop assistant|farmer|baker|lawyer|civil servant|electrician|retired"), NOTHING), (one_of("Siemens|Bosch|Philips|GE Healthcare|Dräger|Medtronic|Fresenius"), NOTHING), (one_of("Amoxicillin 500mg caps|Ibuprofen 400 mg|Lisinopril 10mg tab|Omeprazole 20 mg|Salbutamol inhaler|Atorvastatin 40 mg|Metoprolol succ. 47,5"), NOTHING),
    (one_of("ABB|Hematology|Radiology|Emergency room|Outpatient clinic|Operating theatre 3|Maternity ward"), NOTHING), (lambda c: f"{c.randint(1, 5)}/{c.randint(5, 5)}", NOTHING), (lambda c: f"{c.randint(60, 180)}x{c.randint(40, 120)} cm", NOTHING), (lambda c: f"{c.gauss(36.8, 0.4):.1f}°C", NOTHING),
    (lambda c: f"{c.randint(1, 8)}{c.choice('ABC')}", NOTHING), (lambda c: f"{c.choice(['N', 'S'])}{c.randint(1, 9)}-{c.randint(100, 130)}", RECORD), (lambda c: str(c.randint(18, 95)), NOTHING), (lambda c: str(c.randint(1940, 2008)), frozenset({"birth-date"})), (lambda c: f"{c.uniform(0, 1):.3f}", NOTHING),
    (lambda c: f"Q{c.randint(1, 4)} {c.randint(2018, 2024)}", NOTHING), (lambda c: f"{c.choice(MONTHS['en'])} {c.randint(2018, 2024)}", DATED), (lambda c: f"{c.choice(MONTHS['tr'])}", NOTHING), (lambda c: f"KW {c.randint(1, 52)}", NOTHING), (one_of("A1|A2|B1|B2|C1|C2"), NOTHING), (one_of("0+|A+|B-|AB+|0-|A-"), NOTHING),
    (lambda c: f"{c.randint(1, 30)} mg/kg", NOTHING), (lambda c: f"{c.randint(1, 28)} days", NOTHING), (lambda c: f"{c.randint(0, 11)} yrs {c.randint(0, 11)} mos", NOTHING), (lambda c: f"{c.gauss(-2, 3):.2e}", NOTHING), (lambda c: f"{c.randint(20, 90)}%", NOTHING),
    (lambda c: f"#{c.randint(0, 0xFFFFFF):06x}", RECORD), (lambda c: f"IMG_{c.randint(1, 9999):04d}.JPG", RECORD), (lambda c: f"/data/run{c.randint(1, 40)}/out.csv", RECORD), (lambda c: f"SN{c.randint(10**7, 10**8 - 1)}", RECORD),
    (lambda c: f"{c.choice('BCDEFG')}{c.choice('aeiou')}{c.choice('klmnr')}{c.choice('aeiou')}x {c.choice(['Pro', 'Max', 'Lite', 'Plus'])} {c.randint(1, 9)}", NOTHING), (one_of("Mercedes-Benz A 180|VW Golf|Fiat Egea|Renault Clio|Ford Focus|Toyota Corolla|Opel Astra|BMW 320d"), NOTHING),
    (one_of("married|single|divorced|widowed|separated"), NOTHING), (one_of("Turkish|German|British|Syrian|Polish|Italian|Indian"), NOTHING), (one_of("Sunni|Alevi|Catholic|Protestant|none|Jewish|other"), NOTHING), (one_of("TR|DE|GB|US|FR|IT|NL"), NOTHING),
    (shape("4###############"), RECORD),
]  # fmt: skip


ALSO = {
    "birth-date": {"date"}, "date": {"birth-date"}, "text": {"email", "phone", "name"}, "email": {"name"}, "card": {"record"}, "address": {"text", "name"},
    "uuid": {"record"}, "mac": {"record"}, "url": {"record"}, "imei": {"record"}, "ip": {"record"}, "name": {"text"},
}  # fmt: skip
LOOSE = frozenset({"name", "address", "text", "birth-date", "date"})
STRICT = frozenset(MAKERS) - LOOSE - {"uuid", "mac"}
DIRT = ("-", "n/a", "??", "bilinmiyor", "s. Akte", "REFUSED", ".", "none given", "0", "x", "tbd")
KEPT = ("plain", "holes", "dirt", "upper", "mixed", "padded")


def kept(make: list[Maker], place: int, how: str, rows: int, chance: Random) -> list[str | None]:
    """Draw cells, and leave them as files have them."""
    makers = [make[place], make[(place + 1) % len(make)]] if how == "mixed" else [make[place]]
    cells = [chance.choice(makers)(chance) for _ in range(rows)]
    if how == "holes":
        return [None if chance.random() < 0.3 else cell for cell in cells]
    if how == "dirt":
        return [chance.choice(DIRT) if chance.random() < 0.05 else cell for cell in cells]
    if how == "upper":
        return [cell.upper() for cell in cells]
    if how == "padded":
        return [cell.ljust(30) if chance.random() < 0.7 else f"  {cell}" for cell in cells]
    return list(cells)


def office_columns(seed: int, sizes: tuple[int, ...] = (30, 400)) -> Iterator[LabelledColumn]:
    """Give columns of every kind, and of nothing that is somebody's."""
    chance = Random(seed)
    for rows in sizes:
        for kind, makers in MAKERS.items():
            for place in range(len(makers)):
                how = chance.choice(KEPT)
                if how == "upper" and kind in {"url", "text"}:
                    how = "plain"
                values = pl.Series("x", kept(makers, place, how, rows, chance), dtype=pl.String)
                yield LabelledColumn(
                    kind, values, frozenset(ALSO.get(kind, ())), f"{kind} {place} {how} {rows}"
                )
        for place, (maker, allowed) in enumerate(HARMLESS):
            how = chance.choice(("plain", "holes", "dirt", "upper", "padded"))
            values = pl.Series("x", kept([maker], 0, how, rows, chance), dtype=pl.String)
            yield LabelledColumn(None, values, allowed, f"harmless {place} {how} {rows}")
