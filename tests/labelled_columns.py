"""Columns whose content is known: of every kind, dirty as people leave them, and others that only look like it.

Everything is made up here from rules; names and streets stand in lists of their own, which the detectors do not
share on purpose.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta

import numpy as np
import polars as pl

Maker = Callable[[np.random.Generator, int], list[str]]

GIVEN = {
    "tr": "Ahmet Ayşe Zeynep Mehmet Elif Emre Ceren Kaan Şule Gülşen İsmail Oğuzhan Merve Hüseyin Berat Nisa Ecrin Yağız Doruk "
    "Hatice Tuğçe Çağla İrem Barış Ömer Sıla Poyraz Feyza Rümeysa Selçuk Rıfat Macide Müjgan Tülay Serhat Büşra",
    "de": "Hans Ursula Jürgen Sabine Björn Käthe Leonie Finn Maximilian Anneliese Günter Heidrun Lieselotte Torben Malte Jonathan "
    "Svenja Ronja Wolfgang Ingeborg Friedhelm Kevin Chantal Mandy Swantje Ansgar Sören Thorben Zoe Emil Frieda Karl-Heinz Eva-Maria",
    "en": "James Mary Oliver Amelia Noah Isla Harper Jayden Mildred Wayne Tiffany Chad Beatrice Nigel Gwendolyn Rory Tyrone Latoya "
    "Siobhan Hamish Margaret Ethel Cody Brooke Savannah Winston Clive Doreen Priya Olivia George Kimberley Darren",
}
FAMILY = {
    "tr": "Yılmaz Kaya Demir Çelik Öztürk Şahin Kılıçdaroğlu Gökçeoğlu Karamanoğlu Uçar Tekinalp Bozdağ Erdoğmuş Hacıoğlu Saraç "
    "Aydın Doğan Kılıç Aslan Köse Güneş Çakmak Özkan Yıldırım Balta Tosun Uğurlu Şentürk Bahçeci Akgün",
    "de": "Müller Schmidt Weber Schäfer Größmann Öttinger Hinterhuber Brandstätter Krause Lehmann Fuchs Kühn Vogt Zöllner Nußbaum "
    "Oberländer Wagner Bauer Kowalczyk Dietz Freytag Holzapfel Schneider Klein Hoffmann Seiler Thielemann Rademacher",
    "en": "Smith Johnson Brown Featherstone O'Connor MacLeod Abernathy Whitaker Thistlewood Patel Jones Nguyen Okafor Lee Wilson "
    "Blackwood Hathaway Fitzgerald Baxter Ramsbottom Taylor Anderson Clarke Goodwin Kirkpatrick Evans Sinclair",
}
STREETS = {
    "tr": ["Atatürk Caddesi No: {n}", "Gül Sok. {n}/{m}", "Barbaros Mah. Lale Sk. No:{n} D:{m}", "İnönü Bulvarı {n}", "Cumhuriyet Cad. No {n}",
           "Yenişehir Mahallesi 1423. Sokak No:{n}", "Fevzi Çakmak Mh. Çınar Sokağı {n} Kat 3"],
    "de": ["Hauptstraße {n}", "Bahnhofstr. {n}a", "Am Mühlbach {n}", "Lindenallee {n}", "Goetheweg {n}", "Rosa-Luxemburg-Platz {n}", "Kirchgasse {n}",
           "Schillerring {n}", "Berliner Str. {n}", "An der Alten Ziegelei {n}", "Elbchaussee {n}"],
    "en": ["{n} Maple Street", "{n} Oak Ave", "{n} High Street", "{n} Church Rd", "Flat {m}, {n} Victoria Road", "{n} Sunset Blvd Apt {m}", "{n} W 5th St",
           "{n} Station Road", "{n}b Rosewood Close", "{n} Martin Luther King Dr"],
}  # fmt: skip
NOTES = {
    "tr": ["hasta", "dün", "aradı", "ağrıları", "arttı", "ilaç", "verildi", "kontrol", "için", "tekrar", "gelecek", "eşi", "ile", "görüşüldü", "randevu",
           "iptal", "etti", "çok", "yorgun", "uykusuz", "tansiyon", "yüksek", "tahlil", "istendi", "annesi", "Ankara'da", "yaşıyor"],
    "de": ["Patientin", "klagt", "über", "Schmerzen", "im", "Rücken", "seit", "drei", "Wochen", "hat", "angerufen", "und", "den", "Termin", "verschoben",
           "wünscht", "Rückruf", "Ehemann", "arbeitet", "bei", "der", "Post", "Medikation", "angepasst", "keine", "Besserung", "Befund"],
    "en": ["patient", "called", "about", "pain", "in", "left", "knee", "since", "Monday", "was", "told", "to", "come", "back", "next", "week", "wife",
           "works", "at", "the", "mill", "prescribed", "rest", "and", "fluids", "worried", "blood", "pressure", "raised", "again"],
}  # fmt: skip
CATEGORIES = {
    "tr": ["kadın", "erkek", "evli", "bekar", "boşanmış", "lise", "üniversite", "ilkokul", "emekli", "öğretmen", "mühendis", "kırmızı", "mavi", "Ankara",
           "İstanbul", "İzmir", "kardiyoloji", "dahiliye", "acil", "özel oda", "düşük", "orta", "yüksek"],
    "de": ["ledig", "verheiratet", "geschieden", "Abitur", "Hauptschule", "Rentner", "Lehrer", "Bäcker", "rot", "grün", "blau", "Berlin", "Hamburg", "München",
           "Köln", "Innere Medizin", "Chirurgie", "ambulant", "stationär", "niedrig", "mittel", "hoch", "Sonstiges"],
    "en": ["single", "married", "divorced", "high school", "bachelor", "master", "retired", "teacher", "engineer", "red", "green", "blue", "London",
           "Boston", "Chicago", "Cardiology", "Surgery", "emergency", "low", "medium", "high", "other", "Never worked"],
}  # fmt: skip
WORDS_ALSO_NAMES = [
    "Rose",
    "Violet",
    "Lily",
    "Daisy",
    "Iris",
    "Tulip",
    "Orchid",
    "Poppy",
    "Carnation",
    "Peony",
    "Dahlia",
    "Sunflower",
    "Marigold",
]
MONTH_WORDS = {
    "tr": "Ocak Şubat Mart Nisan Mayıs Haziran Temmuz Ağustos Eylül Ekim Kasım Aralık".split(),
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split(),
    "en": "January February March April May June July August September October November December".split(),
}


def pick(rng: np.random.Generator, items: list[str]) -> str:
    return items[int(rng.integers(len(items)))]


def digits(rng: np.random.Generator, count: int, *, first: int = 0) -> str:
    return "".join(str(d) for d in [rng.integers(first, 10), *rng.integers(0, 10, count - 1)])


def language(rng: np.random.Generator) -> str:
    return pick(rng, ["tr", "de", "en"])


# --- content ---------------------------------------------------------------------------------------------------


def tckn(rng: np.random.Generator) -> str:
    d = [int(rng.integers(1, 10)), *(int(x) for x in rng.integers(0, 10, 8))]
    d.append((sum(d[0::2]) * 7 - sum(d[1::2])) % 10)
    d.append(sum(d) % 10)
    return "".join(map(str, d))


def searched(
    shape: Callable[[np.random.Generator], str], module: str
) -> Callable[[np.random.Generator], str]:
    """Try last digits until python-stdnum accepts the number."""

    def make(rng: np.random.Generator) -> str:
        from importlib import import_module

        accepts = import_module(f"stdnum.{module}").is_valid
        while True:
            start = shape(rng)
            for last in "0123456789":
                if accepts(start + last):
                    return start + last

    return make


def idnr_start(rng: np.random.Generator) -> str:
    order = [int(d) for d in rng.permutation(10)]
    order[int(rng.integers(1, 10))] = order[0] or order[1]
    if order[0] == 0:
        order[0], order[1] = order[1], order[0]
    return "".join(map(str, order))


def svnr(rng: np.random.Generator) -> str:
    birth = date(1940, 1, 1) + timedelta(days=int(rng.integers(0, 25_000)))
    area, letter = f"{rng.integers(2, 90):02d}", chr(65 + int(rng.integers(26)))
    start = f"{area}{birth:%d%m%y}{letter}{rng.integers(0, 100):02d}"
    spelt = start[:8] + f"{ord(letter) - 64:02d}" + start[9:]
    weights = (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1)
    products = [int(d) * w for d, w in zip(spelt, weights, strict=True)]
    return start + str(sum(p // 10 + p % 10 for p in products) % 10)


def ssn(rng: np.random.Generator) -> str:
    area = int(rng.integers(1, 900))
    return f"{area + (area == 666):03d}{rng.integers(1, 100):02d}{rng.integers(1, 10_000):04d}"


def iban(rng: np.random.Generator) -> str:
    country, bban = [
        ("DE", digits(rng, 18)), ("TR", "0006" + "10" + digits(rng, 16)), ("GB", "NWBK" + digits(rng, 14)), ("NL", "ABNA" + digits(rng, 10)),
    ][int(rng.integers(4))]  # fmt: skip
    spelt = "".join(str(int(c, 36)) for c in bban + country + "00")
    return f"{country}{98 - int(spelt) % 97:02d}{bban}"


def luhn_last(start: str) -> str:
    from stdnum import luhn

    return start + luhn.calc_check_digit(start)


def card(rng: np.random.Generator) -> str:
    start = pick(rng, ["4", "51", "55", "37", "6011", "5254", "4543", "979201"])
    return luhn_last(start + digits(rng, (14 if start == "37" else 15) - len(start)))


def vin(rng: np.random.Generator) -> str:
    letters = "ABCDEFGHJKLMNPRSTUVWXYZ0123456789"
    body = [letters[i] for i in rng.integers(0, len(letters), 17)]
    body[:3] = pick(rng, ["1FT", "WVW", "JHM", "2T1", "5YJ", "WBA"])
    body[12:] = digits(rng, 5)
    worth = {
        **{str(i): i for i in range(10)},
        **dict(
            zip(
                "ABCDEFGHJKLMNPRSTUVWXYZ",
                (1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 7, 9, 2, 3, 4, 5, 6, 7, 8, 9),
                strict=True,
            )
        ),
    }
    rest = (
        sum(
            worth[c] * w
            for c, w in zip(body, (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2), strict=True)
        )
        % 11
    )
    body[8] = "X" if rest == 10 else str(rest)
    return "".join(body)


def email(rng: np.random.Generator) -> str:
    code = language(rng)
    plain = str.maketrans("çğıöşüÇĞİÖŞÜäßéè'", "cgiosuCGIOSUasee.")
    who = f"{pick(rng, GIVEN[code].split())}{pick(rng, ['.', '_', '', '-'])}{pick(rng, FAMILY[code].split())}".translate(
        plain
    ).lower()
    return f"{who}{pick(rng, ['', digits(rng, 2)])}@{pick(rng, ['gmail.com', 'web.de', 'hotmail.com.tr', 'example.co.uk', 'uni-ulm.de', 'posta.gov.tr'])}"


def phone(form: str) -> Callable[[np.random.Generator], str]:
    def make(rng: np.random.Generator) -> str:
        tr = f"{pick(rng, ['532', '533', '535', '542', '543', '544', '505', '506', '507', '551', '553', '212', '216', '312', '232'])}{digits(rng, 7, first=2)}"
        de = f"{pick(rng, ['151', '152', '160', '170', '171', '172', '175', '176'])}{digits(rng, 8, first=1)}"
        us = f"{pick(rng, ['212', '310', '415', '617', '312', '206', '713', '305'])}{pick(rng, list('23456789'))}{pick(rng, list('02345678'))}{digits(rng, 5)}"
        uk = f"7{pick(rng, ['400', '711', '725', '811', '960', '780', '470', '851'])}{digits(rng, 6)}"
        forms = {
            "+tr": f"+90 {tr[:3]} {tr[3:6]} {tr[6:8]} {tr[8:]}", "0tr": f"0{tr[:3]} {tr[3:6]} {tr[6:8]} {tr[8:]}", "tr": tr,
            "(tr)": f"0({tr[:3]}) {tr[3:6]} {tr[6:]}", "+de": f"+49{de}", "0de": f"0{de[:3]}/{de[3:]}", "00de": f"0049 {de[:3]} {de[3:]}",
            "us": us, "us-": f"{us[:3]}-{us[3:6]}-{us[6:]}", "(us)": f"({us[:3]}) {us[3:6]}-{us[6:]}", "+us": f"+1 {us}", "0uk": f"0{uk[:4]} {uk[4:]}", "uk": uk,
        }  # fmt: skip
        return forms[form]

    return make


def ip(rng: np.random.Generator) -> str:
    if rng.random() < 0.25:
        return (
            ":".join(f"{x:x}" for x in rng.integers(0, 65536, 8))
            if rng.random() < 0.5
            else f"2001:db8::{rng.integers(1, 65536):x}"
        )
    return ".".join(str(x) for x in rng.integers(1, 255, 4))


def url(rng: np.random.Generator) -> str:
    return pick(
        rng,
        [
            "https://www.example.com/p/",
            "http://klinik.de/patient?id=",
            "www.hastane.com.tr/",
            "https://x.org/u/",
        ],
    ) + digits(rng, 5)


def plate(rng: np.random.Generator) -> str:
    letters = "ABCDEFGHJKLMNPRSTUVYZ"
    return f"{rng.integers(1, 82):02d} {''.join(pick(rng, list(letters)) for _ in range(3))} {digits(rng, 3)}"


def german_plate(rng: np.random.Generator) -> str:
    return f"{pick(rng, ['B', 'M', 'HH', 'K', 'F', 'S', 'UL', 'KA', 'FR', 'MTK', 'OS'])}-{''.join(pick(rng, list('ABCDEFGHJK')) for _ in range(2))} {rng.integers(1, 9999)}"


def british_plate(rng: np.random.Generator) -> str:
    return f"{pick(rng, ['AB', 'LK', 'BD', 'YK', 'SM', 'GN'])}{rng.integers(2, 24):02d} {''.join(pick(rng, list('ABCDEFGHJKLMN')) for _ in range(3))}"


def name(kind: str) -> Callable[[np.random.Generator], Callable[[np.random.Generator], str]]:
    def for_column(rng: np.random.Generator) -> Callable[[np.random.Generator], str]:
        code = language(rng)
        given, family = GIVEN[code].split(), FAMILY[code].split()

        def make(rng: np.random.Generator) -> str:
            g, f = pick(rng, given), pick(rng, family)
            return {
                "full": f"{g} {f}",
                "last": f"{f}, {g}",
                "given": g,
                "family": f,
                "upper": f"{g} {f}".upper(),
                "title": f"Dr. {g} {f}",
            }[kind]

        return make

    return for_column


def address(rng: np.random.Generator) -> Callable[[np.random.Generator], str]:
    code = language(rng)
    city = (
        {"tr": ", 06500 Çankaya/Ankara", "de": ", 10115 Berlin", "en": ", Springfield"}[code]
        if rng.random() < 0.5
        else ""
    )
    return lambda rng: pick(rng, STREETS[code]).format(n=rng.integers(1, 300), m=rng.integers(1, 30)) + city


def note(rng: np.random.Generator) -> Callable[[np.random.Generator], str]:
    words = NOTES[language(rng)]
    return lambda rng: (
        " ".join(pick(rng, words) for _ in range(int(rng.integers(3, 25)))).capitalize()
        + pick(rng, [".", "", "!"])
    )


def dated(
    form: str, first: int, last: int
) -> Callable[[np.random.Generator], Callable[[np.random.Generator], str]]:
    def for_column(rng: np.random.Generator) -> Callable[[np.random.Generator], str]:
        code = language(rng)

        def make(rng: np.random.Generator) -> str:
            day = date(first, 1, 1) + timedelta(days=int(rng.integers(0, (last - first) * 365)))
            month = MONTH_WORDS[code][day.month - 1]
            if form == "words":
                return {
                    "tr": f"{day.day} {month} {day.year}",
                    "de": f"{day.day}. {month} {day.year}",
                    "en": f"{month} {day.day}, {day.year}",
                }[code]
            if form == "short":
                return f"{day.day:02d}-{month[:3]}-{day:%y}"
            return day.strftime(form)

        return make

    return for_column


FORMS = ("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%y", "%Y%m%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT09:15:00Z", "words", "short", "%d-%m-%Y")  # fmt: skip
ICD = "A09 B34.9 C50.9 D50.9 E11.9 E78.5 F32.1 G43.9 H25.1 I10 I25.1 I48.9 J06.9 J45.0 K21.0 K29.7 L40.0 M54.5 N39.0 O80 R10.4 S52.5 Z00.0 U07.1 E66.0 F41.1".split()  # fmt: skip


def each(make: Callable[[np.random.Generator], str]) -> Maker:
    return lambda rng, rows: [make(rng) for _ in range(rows)]


def of_column(maker: Callable[[np.random.Generator], Callable[[np.random.Generator], str]]) -> Maker:
    return lambda rng, rows: each(maker(rng))(rng, rows)


def split(
    make: Callable[[np.random.Generator], str], *widths: int, by: str = " "
) -> Callable[[np.random.Generator], str]:
    def spaced(rng: np.random.Generator) -> str:
        text, parts = make(rng), []
        for width in widths:
            parts.append(text[:width])
            text = text[width:]
        return by.join([*parts, text] if text else parts)

    return spaced


steuer_id, vkn = searched(idnr_start, "de.idnr"), searched(lambda rng: digits(rng, 9, first=1), "tr.vkn")
nhs = searched(lambda rng: digits(rng, 9, first=4), "gb.nhs")
CONTENT: dict[str, list[Maker]] = {
    "email": [each(email)],
    "phone": [each(phone(form)) for form in ("+tr", "0tr", "tr", "(tr)", "+de", "0de", "00de", "us", "us-", "(us)", "+us", "0uk", "uk")],
    "ip": [each(ip)],
    "url": [each(url)],
    "mac": [each(lambda rng: pick(rng, [":", "-"]).join(f"{x:02x}" for x in rng.integers(0, 256, 6)))],
    "uuid": [each(lambda rng: str(uuid.UUID(bytes=rng.bytes(16))))],
    "iban": [each(iban), each(split(iban, 4, 4, 4, 4, 4))],
    "tckn": [each(tckn), each(split(tckn, 3, 3, 3))],
    "vkn": [each(vkn)],
    "steuer-id": [each(steuer_id), each(split(steuer_id, 2, 3, 3))],
    "svnr": [each(svnr), each(split(svnr, 2, 6, 1))],
    "nhs": [each(nhs), each(split(nhs, 3, 3))],
    "ssn": [each(split(ssn, 3, 2, by="-"))],
    "card": [each(card), each(split(card, 4, 4, 4)), each(split(card, 4, 4, 4, by="-"))],
    "imei": [each(lambda rng: luhn_last("35" + digits(rng, 12)))],
    "vin": [each(vin)],
    "pesel": [each(searched(lambda rng: f"{rng.integers(40, 99):02d}{rng.integers(1, 13):02d}{rng.integers(1, 29):02d}{digits(rng, 4)}", "pl.pesel"))],
    "plate": [each(plate), each(german_plate), each(british_plate)],
    "coordinates": [each(lambda rng: f"{rng.uniform(36, 42):.5f}, {rng.uniform(26, 45):.5f}")],
    "name": [of_column(name(kind)) for kind in ("full", "last", "given", "family", "upper", "title")],
    "address": [of_column(address)],
    "text": [of_column(note)],
    "birth-date": [of_column(dated(form, 1930, 2008)) for form in FORMS],
    "date": [of_column(dated(form, 2019, 2025)) for form in FORMS],
    "postcode": [each(lambda rng: f"{pick(rng, ['SW', 'M', 'LS', 'EH', 'B'])}{rng.integers(1, 20)} {rng.integers(1, 9)}{pick(rng, list('ABDEFG'))}{pick(rng, list('HJLNP'))}"),
                 lambda rng, rows: [pick(rng, pool) for pool in [[f"{x:05d}" for x in rng.integers(1001, 99_998, max(4, rows // 4))]] for _ in range(rows)]],
    "icd10": [each(lambda rng: pick(rng, ICD))],
    "record": [lambda rng, rows: [str(x) for x in range(1001, 1001 + rows)], lambda rng, rows: [f"P-{x:06d}" for x in rng.permutation(900_000)[:rows]]],
}  # fmt: skip

# --- what only looks like it: the kinds that may be found all the same --------------------------------------------


def counter(start: int, step: int) -> Maker:
    return lambda rng, rows: [str(start + step * place) for place in range(rows)]


NEGATIVES: list[tuple[Maker, frozenset[str]]] = [
    (counter(2_024_000_100, 1), frozenset({"record"})),
    (counter(5_320_000_000, 3), frozenset({"record"})),
    (each(lambda rng: digits(rng, 10, first=1)), frozenset({"record"})),
    (each(lambda rng: digits(rng, 11, first=1)), frozenset({"record"})),
    (each(lambda rng: digits(rng, 9, first=1)), frozenset({"record"})),
    (each(lambda rng: digits(rng, 16, first=1)), frozenset({"record"})),
    (each(lambda rng: digits(rng, 8, first=1)), frozenset({"record"})),
    (each(lambda rng: "ORD-" + digits(rng, 8)), frozenset({"record"})),
    (each(lambda rng: "0" + digits(rng, 9)), frozenset({"record"})),
    (each(lambda rng: f"{rng.gamma(2, 800):.2f}"), frozenset()),
    (each(lambda rng: f"{rng.gamma(2, 800):.2f}".replace(".", ",")), frozenset()),
    (each(lambda rng: f"{rng.normal(100, 15):.5f}"), frozenset({"coordinates"})),
    (each(lambda rng: str(int(rng.gamma(3, 9000)))), frozenset({"record"})),
    (each(lambda rng: str(rng.integers(0, 100))), frozenset({"record"})),
    (each(lambda rng: str(rng.integers(0, 2))), frozenset()),
    (each(lambda rng: ".".join(str(x) for x in rng.integers(0, 12, 4))), frozenset({"record"})),
    (each(lambda rng: f"{rng.integers(0, 24):02d}:{rng.integers(0, 60):02d}"), frozenset({"record"})),
    (each(lambda rng: f"{pick(rng, list('ABCXYZ'))}{digits(rng, 3)}"), frozenset({"record"})),
    (each(lambda rng: f"{pick(rng, list('ABCDEFGHIJKLMNOPQRSTUVWXYZ'))}{digits(rng, 2)}"), frozenset({"record"})),
    (each(lambda rng: f"{pick(rng, ['SKU', 'AX', 'QZ'])}-{digits(rng, 4)}-{pick(rng, list('ABC'))}"), frozenset({"record"})),
    (each(lambda rng: f"{rng.integers(100, 999)}-{rng.integers(1000, 9999)}"), frozenset({"record"})),
    (each(lambda rng: f"{rng.integers(1, 9)} mg {pick(rng, ['Aspirin', 'Ibuprofen', 'Metformin', 'Ramipril'])}"), frozenset()),
    (each(lambda rng: pick(rng, WORDS_ALSO_NAMES)), frozenset()),
    (each(lambda rng: pick(rng, MONTH_WORDS["en"])), frozenset()),
    (each(lambda rng: pick(rng, ["Strongly agree", "Agree somewhat with this", "Neither agree nor disagree", "Disagree", "I do not know"])), frozenset()),
    (each(lambda rng: pick(rng, ["yes", "no", "n/a", "unknown", ""])), frozenset()),
    (each(lambda rng: f"{rng.integers(90, 180)}/{rng.integers(50, 110)}"), frozenset({"record"})),
    (each(lambda rng: f"@{pick(rng, ['ward', 'desk', 'gate'])}{rng.integers(1, 9)}"), frozenset()),
    (each(lambda rng: "".join(pick(rng, list("abcdefghijklmnopqrstuvwxyz")) for _ in range(8))), frozenset({"record"})),
    *[(each(lambda rng, words=words: pick(rng, words)), frozenset[str]()) for words in CATEGORIES.values()],  # type: ignore[misc]
    (each(lambda rng: pick(rng, ["Berlin", "Paris", "Austin", "Sydney", "Victoria", "Florence", "Charlotte", "Madison", "Lincoln", "Jackson", "Ulm", "Bursa", "Adana"])), frozenset()),
    (each(lambda rng: pick(rng, ["Acme GmbH", "Yıldız Tekstil A.Ş.", "Northern Rail Ltd", "Süd Bäckerei KG", "Blue Ocean Inc"])), frozenset()),
]  # fmt: skip
ALLOWED = {"birth-date": {"date"}, "date": {"birth-date"}, "text": {"email", "phone"}}
STRICT = ("email", "phone", "ip", "url", "iban", "tckn", "vkn", "steuer-id", "svnr", "nhs", "ssn", "card", "imei", "vin", "pesel")  # fmt: skip
LOOSE = ("name", "address", "text", "birth-date", "date")


@dataclass(frozen=True)
class LabelledColumn:
    """A column under a name that says nothing, with what it holds."""

    kind: str | None
    cells: pl.Series = field(repr=False)
    allowed: frozenset[str]  # may be found too
    about: str = ""  # how it was made


def dirty(rng: np.random.Generator, cells: list[str]) -> list[str | None]:
    """Leave behind what people leave behind: blanks, quotes, other cases, words for nothing, holes."""

    def one(text: str) -> str | None:
        chance = rng.random()
        if chance < 0.03:
            return None
        if chance < 0.06:
            return pick(rng, ["-", "n/a", "yok", "unbekannt", "?"])
        if chance < 0.12:
            return pick(rng, [f" {text}", f"{text} ", f"\u00a0{text}", f'"{text}"', f"{text}\u200b"])
        return text

    return [one(text) for text in cells]


def labelled_columns(seed: int, sizes: tuple[int, ...] = (5, 40, 400)) -> Iterator[LabelledColumn]:
    """Give columns of every kind and negatives, clean and dirty, of several sizes."""
    rng = np.random.default_rng(seed)
    for rows in sizes:
        for kind, makers in CONTENT.items():
            if kind in {"record", "postcode", "plate"} and rows < 10:
                continue  # too few to know
            for maker in makers:
                cells = maker(rng, rows)
                clean: list[str | None] = list(cells)
                values = pl.Series("x", clean if rng.random() < 0.4 else dirty(rng, cells), dtype=pl.String)
                if rng.random() < 0.3 and all(cell.isdecimal() and len(cell) < 17 for cell in cells):
                    values = pl.Series("x", [int(cell) for cell in cells])
                yield LabelledColumn(kind, values, frozenset(ALLOWED.get(kind, ())))
        for maker, allowed in NEGATIVES:
            cells = maker(rng, rows)
            values = pl.Series("x", dirty(rng, cells), dtype=pl.String)
            if rng.random() < 0.3 and all(cell.isdecimal() and len(cell) < 18 for cell in cells):
                values = pl.Series("x", [int(cell) for cell in cells])
            yield LabelledColumn(None, values, allowed)
