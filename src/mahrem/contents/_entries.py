"""Kinds of content: what each is to a person, and where its detector lives. A new kind is one entry here."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from mahrem.entries import Entries, Entry

if TYPE_CHECKING:
    from mahrem.contents._distinct import DistinctCells
    from mahrem.contents._findings import ContentFinding

Detector: TypeAlias = "Callable[[DistinctCells], ContentFinding | None]"
Role = Literal["identifier", "quasi", "sensitive"]
Group = Literal["mark", "number", "phone", "shape", "code", "date", "name", "place", "text", "record"]


@dataclass(frozen=True, kw_only=True)
class ContentKind(Entry):
    """A kind of content: its detector takes distinct values and tells whether they are of the kind."""

    role: Role  # what a column of it suggests
    group: Group
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


def _kind(
    name: str,
    home: str,
    role: Role,
    group: Group,
    *,
    signs: str = "",
    wordy: bool = False,
    publishable: bool = False,
) -> ContentKind:
    home = f"mahrem.contents.{home}"
    kind = ContentKind(name=name, home=home, role=role, group=group, signs=signs)
    return replace(kind, wordy=wordy, publishable=publishable)


def _number(name: str, attribute: str) -> ContentKind:
    return _kind(name, f"_numbers:{attribute}", "identifier", "number")


def _mark(name: str, home: str, signs: str) -> ContentKind:
    return _kind(name, home, "identifier", "mark", signs=signs)


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
        _mark("document", "_shapes:DOCUMENT", "<"),
        _kind("phone", "_phones:PHONE", "identifier", "phone"),
        _kind("vin", "_shapes:VEHICLE", "identifier", "shape", signs=_LETTERS),
        _kind("plate", "_shapes:PLATE", "identifier", "shape", signs=_LETTERS),
        _kind("name", "_people:NAME", "identifier", "name"),
        _kind("address", "_places:ADDRESSES", "identifier", "place", signs=" .:#"),
        _kind(
            "coordinates", "_places:COORDINATES", "quasi", "shape", wordy=True, signs=f",;|/ °(+.{_LETTERS}"
        ),
        _kind("birth-date", "_dates:BIRTH", "quasi", "date"),
        _kind("date", "_dates:EVENT", "quasi", "date"),
        _kind("postcode", "_places:POSTCODE", "quasi", "place"),
        _kind("icd10", "_texts:DIAGNOSIS", "sensitive", "code", publishable=True),
        _kind("atc", "_texts:DRUG", "sensitive", "code", publishable=True, signs="ABCDGHJLMNPRSV"),
        _kind("loinc", "_texts:TEST", "sensitive", "code", publishable=True, signs="-"),
        _kind("text", "_texts:TEXT", "identifier", "text"),
        _kind("record", "_texts:RECORD", "identifier", "record", wordy=True),
    ),
)
