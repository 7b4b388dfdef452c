"""Check digits of many values at once agree with python-stdnum, value by value."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import polars as pl
import pytest

from labelled_columns import card, iban, nhs, ssn, steuer_id, svnr, tckn, vin, vkn
from mahrem.contents import CONTENTS
from mahrem.contents._numbers import CheckedNumber

NUMBERS = {
    name: detector
    for name in CONTENTS
    if isinstance(detector := CONTENTS[name].load(), CheckedNumber) and detector.check is not None
}
MAKERS = {
    "tckn": tckn, "vkn": vkn, "steuer-id": steuer_id, "nhs": nhs, "ssn": ssn, "iban": iban,
    "card": card, "svnr": svnr,
}  # fmt: skip
LENGTHS = {
    "card": 16,
    "imei": 15,
    "pesel": 11,
    "nir": 15,
    "aadhaar": 12,
    "bsn": 9,
    "nhs": 10,
    "vkn": 10,
    "ssn": 9,
}
LOOSER = {"iban", "pesel", "nir", "aadhaar"}  # stdnum also reads birthdays, places, structures of countries
STRICTER = {"card", "imei"}  # ours also know how such numbers begin


@pytest.mark.parametrize("kind", sorted(name for name, found in NUMBERS.items() if found.module))
def test_many_at_once_agree_with_stdnum_one_by_one(kind: str) -> None:
    rng = np.random.default_rng(7)
    detector = NUMBERS[kind]
    length = LENGTHS.get(kind, 11)
    texts = ["".join(map(str, rng.integers(0, 10, length))) for _ in range(3000)]
    if kind in MAKERS:
        texts = [MAKERS[kind](rng) for _ in range(300)]
        wrong = [text[:-1] + str((int(text[-1]) + 1 + int(rng.integers(9))) % 10) for text in texts]
        texts += wrong
    accepted = import_module(f"stdnum.{detector.module}").is_valid
    values = pl.Series(texts).filter(pl.Series(texts).str.contains(detector.shape))
    ours = detector.right(values)
    theirs = np.array([accepted(value) for value in values])
    if kind in LOOSER:
        assert ours[theirs].all()
    elif kind in STRICTER:
        assert theirs[ours].all()
    else:
        assert (ours == theirs).all()


def test_pension_and_vehicle_numbers_fail_with_another_digit() -> None:
    rng = np.random.default_rng(3)
    for kind, make in (("svnr", svnr), ("vin", vin)):
        right = pl.Series([make(rng) for _ in range(200)])
        detector = NUMBERS.get(kind) or import_module("mahrem.contents._numbers").VIN
        assert detector.right(right).all()
        turned = pl.Series([text[:-1] + str((int(text[-1]) + 1) % 10) for text in right])
        assert not detector.right(turned).any()


def test_the_german_example_of_a_pension_number_is_right() -> None:
    assert NUMBERS["svnr"].right(pl.Series(["65170839J003"])).all()  # printed in the rules
