"""Numbers of people and firms that carry check digits, recognised because too many of them are right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module

import numpy as np
import polars as pl

from mahrem.contents import _check_digits as digits
from mahrem.contents._distinct import MOST_SLOWLY, DistinctCells, ascii_digits, contains, surprise
from mahrem.contents._findings import ContentFinding
from mahrem.types import Integers, Mask

SURPRISING = 10.8  # -log of 2e-5
WITHOUT_FAIL = (
    6.9  # -log of 1e-3, where every value is right: three of three with a check digit of one in ten
)
LEAST_RIGHT = 0.3  # of the values that have the shape
FEW_OTHERS = 0.03  # of the values may be written as something else is
SO_WRITTEN = 0.9  # of the values
OWN_DAYS, MANY_DAYS = 0.5, 60  # days of birth that differ, and people from which on no more must
PILOT = 40  # values that say whether others are asked about
EVEN = 0.6  # a nearly even spread of first digits


@dataclass(frozen=True)
class CheckedNumber:
    """Recognise numbers of one kind.

    A column holds them when more of its distinct values than chance explains are right, so a counter with
    as many digits, of which one in ten is right, is none.

    Guarantees:
        - Only values that the kind's own rule accepts count towards the share.
        - A value that comes often weighs no more for the decision than one that comes once.
    """

    kind: str
    shape: str  # of the value without separators
    chance: float  # that a value of this shape is right by accident
    check: Callable[[Integers], Mask] | None = None  # for all values at once
    module: str = ""  # of python-stdnum: the rule where there is no such check
    width: int = 0  # digits; numbers that lost zeros in front get them back
    written: str = ""  # a way of writing that leaves little doubt
    least_right: float = LEAST_RIGHT
    unlike: str = ""  # what others write that have the same rule
    born: int = 0  # digits in front that are a day of birth: other numbers begin alike, people do not

    def __call__(self, cells: DistinctCells) -> ContentFinding | None:
        """Tell whether and how far a column holds these numbers."""
        compact, shaped = self._shaped(cells)
        candidates = int(shaped.sum())
        possible = surprise(candidates, candidates, self.chance)
        if candidates == 0 or (possible < WITHOUT_FAIL and not self.written):
            return None
        if self.unlike and cells.matches(self.unlike).mean() > FEW_OTHERS:
            return None
        places = np.flatnonzero(shaped)
        if self.check is None and candidates > PILOT and not self._promising(compact, places):
            return None
        if self.check is None and candidates > MOST_SLOWLY:
            places = places[np.linspace(0, candidates - 1, MOST_SLOWLY).astype(int)]
        right = np.zeros(len(shaped), np.bool_)
        right[places] = self.right(compact.gather(places))
        hits, tries = int(right.sum()), len(places)
        least = self.least_right
        if self.written and cells.matches(self.written)[shaped].mean() >= SO_WRITTEN:
            least = min(least, 0.8)  # others invent areas that are not given out
        if hits < least * tries or not self._sure(cells, compact, right, hits, tries):
            return None
        if len(places) < candidates:  # looked at a part of them only
            right = shaped & (hits > 0)
        strength = surprise(hits, tries, self.chance)
        figures = {"right": hits, "shaped": tries, "chance": self.chance}
        return cells.finding(self.kind, right, max(0.6, 1 - np.exp(-strength / 4)), "checked", **figures)

    def _promising(self, compact: pl.Series, places: Integers) -> bool:
        """Tell from a few values whether it is worth while to ask a library about hundreds."""
        some = places[np.linspace(0, len(places) - 1, PILOT).astype(int)]
        return bool(self.right(compact.gather(some)).mean() >= self.least_right / 2)

    def right(self, compact: pl.Series) -> Mask:
        """Mark the values, written without separators, that the rule accepts."""
        if self.check is None:
            accepts = import_module(f"stdnum.{self.module}").is_valid
            return np.array([_accepted(accepts, value) for value in compact], np.bool_)
        lengths = compact.str.len_bytes().to_numpy()
        mask = np.zeros(len(compact), np.bool_)
        for length in np.unique(lengths):
            same = lengths == length
            mask[same] = self.check(digits.symbols(compact.filter(pl.Series(same))))
        return mask

    def _shaped(self, cells: DistinctCells) -> tuple[pl.Series, Mask]:
        """Give values without separators, and which have the shape; kinds of one shape look once."""
        key = f"shaped {self.width} {self.shape}"
        if key not in cells.memory:
            compact = self._padded(cells)
            cells.memory[key] = compact, contains(compact, ascii_digits(self.shape))
        shaped: tuple[pl.Series, Mask] = cells.memory[key]
        return shaped

    def _padded(self, cells: DistinctCells) -> pl.Series:
        """Give zeros back that a number lost, where most values still have all of their digits."""
        compact = cells.compact
        if not self.width:
            return compact
        lengths = compact.str.len_bytes().to_numpy()
        whole = lengths == self.width
        short = (lengths < self.width) & (lengths >= self.width - 2)
        if not short.any() or not whole.any() or cells.share(whole) < 3 * cells.share(short):
            return compact
        numbers = compact.str.contains(r"^\d+$") & pl.Series(short | whole)
        return pl.select(pl.when(numbers).then(compact.str.zfill(self.width)).otherwise(compact)).to_series()

    def _sure(self, cells: DistinctCells, compact: pl.Series, right: Mask, hits: int, tries: int) -> bool:
        if self.born:
            days = compact.filter(pl.Series(right)).str.slice(0, self.born).n_unique()
            if days < OWN_DAYS * min(hits, MANY_DAYS):
                return False
        if self.written and hits >= 0.8 * tries and cells.matches(self.written)[right].mean() >= SO_WRITTEN:
            return True
        if surprise(hits, tries, self.chance) < (WITHOUT_FAIL if hits == tries and tries < 6 else SURPRISING):
            return False
        if self.chance < 0.5:
            return True
        # Nearly every number passes such a rule: then its first digits must not come from a counter either.
        first = compact.filter(pl.Series(right)).str.slice(0, 3)
        return first.n_unique() >= EVEN * min(hits, 300) and first.str.slice(0, 1).n_unique() >= 7


def _accepted(accepts: Callable[[str], bool], value: str) -> bool:
    try:
        return bool(accepts(value))
    except (KeyError, IndexError, TypeError, ValueError):  # a library that stumbles has not said yes
        return False


def _exact(length: int) -> str:
    return rf"^\d{{{length}}}$"


TCKN = CheckedNumber("tckn", r"^[1-9]\d{10}$", 0.01, digits.tckn, "tr.tckimlik")
VKN = CheckedNumber("vkn", _exact(10), 0.1, digits.vkn, "tr.vkn", width=10)
STEUER_ID = CheckedNumber("steuer-id", r"^[1-9]\d{10}$", 0.02, digits.idnr, "de.idnr")
SVNR = CheckedNumber("svnr", r"^\d{8}[A-Z]\d{3}$", 0.01, digits.svnr)
NHS = CheckedNumber(
    "nhs", _exact(10), 0.091, digits.nhs, "gb.nhs", width=10,
    unlike=r"^\d{1,5}-\d{1,7}-\d{1,7}-[\dXx]$|^\d{9}[Xx]$",  # books
)  # fmt: skip
NINO = CheckedNumber("nino", r"^[A-Z]{2}\d{6}[A-Z]$", 0.1, digits.nino)
SSN = CheckedNumber(
    "ssn",
    _exact(9),
    0.89,
    digits.ssn,
    "us.ssn",
    width=9,
    written=r"\b\d{3}[- ]\d{2}[- ]\d{4}\b",
    least_right=0.97,
)
IBAN = CheckedNumber(
    "iban", r"^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$", 0.011, digits.iban, "iban",
    written=r"(?i)\b(?:AD|AE|AL|AT|AZ|BA|BE|BG|BH|BR|CH|CY|CZ|DE|DK|EE|ES|FI|FR|GB|GE|GR|HR|HU|IE|IL|IS|IT|KW|KZ|LB|LI|LT|LU|"
    r"LV|MC|MD|ME|MK|MT|NL|NO|PK|PL|PS|PT|QA|RO|RS|SA|SE|SI|SK|SM|TN|TR|UA|XK) ?\d\d",
)  # fmt: skip
CARD = CheckedNumber("card", r"^[2-69]\d{12,18}$", 0.06, digits.card, "luhn")
IMEI = CheckedNumber("imei", _exact(15), 0.02, digits.imei, "imei", width=15)
VIN = CheckedNumber("vin", r"^[A-HJ-NPR-Z0-9]{9}[A-HJ-NPR-Z0-9]{5}\d{3}$", 0.091, digits.vin)
BSN = CheckedNumber(
    "bsn",
    _exact(9),
    0.091,
    partial(digits.weighted, weights=(9, 8, 7, 6, 5, 4, 3, 2, -1), modulus=11),
    "nl.bsn",
    width=9,
)
PESEL = CheckedNumber("pesel", _exact(11), 0.02, digits.pesel, "pl.pesel", width=11)
NIR = CheckedNumber("nir", r"^[1-478]\d{14}$", 0.011, digits.nir, "fr.nir")
AADHAAR = CheckedNumber("aadhaar", r"^[2-9]\d{11}$", 0.1, digits.aadhaar, "in_.aadhaar")
AHV = CheckedNumber("ahv", r"^756\d{10}$", 0.1, None, "ch.ssn")
AT_VNR = CheckedNumber("at-vnr", r"^[1-9]\d{9}$", 0.09, None, "at.vnr")
BE_NN = CheckedNumber("be-nn", _exact(11), 0.02, None, "be.nn", width=11, born=6)
CPF = CheckedNumber("cpf", _exact(11), 0.01, None, "br.cpf", width=11)
SIN = CheckedNumber("sin", r"^[1-79]\d{8}$", 0.1, None, "ca.sin")
RIC = CheckedNumber("ric", r"^\d{17}[\dX]$", 0.01, None, "cn.ric")
CODICE = CheckedNumber(
    "codice-fiscale", r"^[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]$", 0.04, None, "it.codicefiscale"
)
DNI = CheckedNumber("dni", r"^[\dXYZ]\d{7}[A-Z]$", 0.044, None, "es.nif")
PERSONNUMMER = CheckedNumber("personnummer", r"^(?:\d{2})?\d{10}$", 0.04, None, "se.personnummer")
FODSELSNUMMER = CheckedNumber("fodselsnummer", _exact(11), 0.005, None, "no.fodselsnummer", width=11, born=4)
CNP = CheckedNumber("cnp", r"^[1-9]\d{12}$", 0.02, None, "ro.cnp")
EGN = CheckedNumber("egn", _exact(10), 0.03, None, "bg.egn", width=10, born=6)
PPS = CheckedNumber("pps", r"^\d{7}[A-W][A-IW]?$", 0.044, None, "ie.pps")
HETU = CheckedNumber("hetu", r"^\d{6}[A-Y]?\d{3}[0-9A-Y]$", 0.03, digits.hetu)
CPR = CheckedNumber("cpr", _exact(10), 0.03, None, "dk.cpr", width=10, born=4, least_right=0.9)
RODNE_CISLO = CheckedNumber(
    "rodne-cislo", r"^\d{9,10}$", 0.15, None, "cz.rc", width=10, born=6,
    unlike=r"^[+(]|^\d{3}[ -]\d{2,3}[ -]\d{3,4}$",  # telephones, American numbers
)  # fmt: skip
ISIKUKOOD = CheckedNumber("isikukood", r"^[1-8]\d{10}$", 0.02, None, "ee.ik")
OIB = CheckedNumber("oib", _exact(11), 0.1, None, "hr.oib", width=11)
AMKA = CheckedNumber("amka", _exact(11), 0.03, None, "gr.amka", width=11, born=6)
NIF_PT = CheckedNumber("nif-pt", r"^[1-35689]\d{8}$", 0.1, None, "pt.nif")
ZA_ID = CheckedNumber("za-id", _exact(13), 0.01, None, "za.idnr", width=13)
RRN = CheckedNumber("rrn", _exact(13), 0.02, None, "kr.rrn", width=13)
JMBG = CheckedNumber("jmbg", _exact(13), 0.01, None, "si.emso", width=13)
VAT = CheckedNumber(
    "vat",
    r"^(?:AT|BE|BG|CY|CZ|DE|DK|EE|EL|ES|FI|FR|HR|HU|IE|IT|LT|LU|LV|MT|NL|PL|PT|RO|SE|SI|"
    r"SK)U?[A-Z0-9]{8,12}$",
    0.12, None, "eu.vat",
)  # fmt: skip
LEI = CheckedNumber("lei", r"^[A-Z0-9]{18}\d{2}$", 0.011, None, "lei")
ISIN = CheckedNumber("isin", r"^[A-Z]{2}[A-Z0-9]{9}\d$", 0.1, None, "isin")
