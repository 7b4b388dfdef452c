"""Kinds of content: what each is to a person, and where its detector lives. A new kind is one entry here."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from mahrem.entries import Entries, Entry

if TYPE_CHECKING:
    from mahrem.contents._distinct import DistinctCells
    from mahrem.contents._findings import ContentFinding

Detector: TypeAlias = "Callable[[DistinctCells], ContentFinding | None]"


@dataclass(frozen=True, kw_only=True)
class ContentKind(Entry):
    """A kind of content: its detector takes distinct values and tells whether they are of the kind."""

    role: Literal["identifier", "quasi", "sensitive"]  # what a column of it suggests
    group: Literal["mark", "number", "phone", "shape", "code", "date", "name", "place", "text", "record"]
    publishable: bool = False  # as it is
    wordy: bool = False  # values without a digit may be of it, although those of its group have one
    signs: str = ""  # one of these is in every value of the kind; none named: any will do

    def can_hold(self, signs: Collection[str]) -> bool:
        """Tell whether values written with these signs can be of the kind."""
        return not self.signs or any(sign in signs for sign in self.signs)

    @property
    def words_code(self) -> str:
        """Where the catalogues name it."""
        return f"content.kind.{self.name}"

    def load(self) -> Detector:
        """Import the detector."""
        return cast("Detector", super().load())


def _number(name: str, attribute: str) -> ContentKind:
    return ContentKind(
        name=name, home=f"mahrem.contents._numbers:{attribute}", role="identifier", group="number"
    )


def _mark(name: str, home: str, signs: str) -> ContentKind:
    return ContentKind(
        name=name, home=f"mahrem.contents.{home}", role="identifier", group="mark", signs=signs
    )


_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


CONTENTS: Entries[ContentKind] = Entries(
    "mahrem.contents",
    ContentKind,
    (
        _mark("email", "_shapes:EMAIL", "@[({"),
        _mark("url", "_shapes:URL", ".:@"),
        _mark("uuid", "_shapes:UUID", "0123456789"),
        _mark("mac", "_shapes:MAC", ":-."),
        _mark("ip", "_shapes:IP", ":."),
        _number("iban", "IBAN"),
        _number("tckn", "TCKN"),
        _number("steuer-id", "STEUER_ID"),
        _number("svnr", "SVNR"),
        _number("nhs", "NHS"),
        _number("ssn", "SSN"),
        _number("nino", "NINO"),
        _number("vkn", "VKN"),
        _number("card", "CARD"),
        _number("imei", "IMEI"),
        _number("bsn", "BSN"),
        _number("pesel", "PESEL"),
        _number("nir", "NIR"),
        _number("aadhaar", "AADHAAR"),
        _number("ahv", "AHV"),
        _number("at-vnr", "AT_VNR"),
        _number("be-nn", "BE_NN"),
        _number("cpf", "CPF"),
        _number("sin", "SIN"),
        _number("ric", "RIC"),
        _number("codice-fiscale", "CODICE"),
        _number("dni", "DNI"),
        _number("personnummer", "PERSONNUMMER"),
        _number("fodselsnummer", "FODSELSNUMMER"),
        _number("cnp", "CNP"),
        _number("egn", "EGN"),
        _number("pps", "PPS"),
        _number("hetu", "HETU"),
        _number("cpr", "CPR"),
        _number("rodne-cislo", "RODNE_CISLO"),
        _number("isikukood", "ISIKUKOOD"),
        _number("oib", "OIB"),
        _number("amka", "AMKA"),
        _number("nif-pt", "NIF_PT"),
        _number("za-id", "ZA_ID"),
        _number("rrn", "RRN"),
        _number("jmbg", "JMBG"),
        _number("vat", "VAT"),
        _number("lei", "LEI"),
        _number("isin", "ISIN"),
        ContentKind(
            name="document",
            home="mahrem.contents._shapes:DOCUMENT",
            role="identifier",
            group="mark",
            signs="<",
        ),
        ContentKind(name="phone", home="mahrem.contents._phones:PHONE", role="identifier", group="phone"),
        ContentKind(
            name="vin",
            home="mahrem.contents._shapes:VEHICLE",
            role="identifier",
            group="shape",
            signs=_LETTERS,
        ),
        ContentKind(
            name="plate",
            home="mahrem.contents._shapes:PLATE",
            role="identifier",
            group="shape",
            signs=_LETTERS,
        ),
        ContentKind(name="name", home="mahrem.contents._people:NAME", role="identifier", group="name"),
        ContentKind(
            name="address",
            home="mahrem.contents._places:ADDRESSES",
            role="identifier",
            group="place",
            signs=" .:#",
        ),
        ContentKind(
            name="coordinates",
            home="mahrem.contents._places:COORDINATES",
            role="quasi",
            group="shape",
            wordy=True,
            signs=f",;|/ °(+.{_LETTERS}",
        ),
        ContentKind(name="birth-date", home="mahrem.contents._dates:BIRTH", role="quasi", group="date"),
        ContentKind(name="date", home="mahrem.contents._dates:EVENT", role="quasi", group="date"),
        ContentKind(name="postcode", home="mahrem.contents._places:POSTCODE", role="quasi", group="place"),
        ContentKind(
            name="icd10",
            home="mahrem.contents._texts:DIAGNOSIS",
            role="sensitive",
            group="code",
            publishable=True,
        ),
        ContentKind(
            name="atc",
            home="mahrem.contents._texts:DRUG",
            role="sensitive",
            group="code",
            publishable=True,
            signs="ABCDGHJLMNPRSV",
        ),
        ContentKind(
            name="loinc",
            home="mahrem.contents._texts:TEST",
            role="sensitive",
            group="code",
            publishable=True,
            signs="-",
        ),
        ContentKind(name="text", home="mahrem.contents._texts:TEXT", role="identifier", group="text"),
        ContentKind(
            name="record",
            home="mahrem.contents._texts:RECORD",
            role="identifier",
            group="record",
            wordy=True,
        ),
    ),
)
