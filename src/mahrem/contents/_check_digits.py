"""Check digits of many numbers at once: a matrix of symbols in, a mask out.

Every function takes an ``(n, length)`` array of symbol values (digits as 0 .. 9, letters as 10 .. 35) and
answers for all rows. The tests compare each with python-stdnum, value by value.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from mahrem.types import Integers, Mask


def symbols(texts: pl.Series) -> Integers:
    """Give texts of one length, digits and capitals, as a matrix of their values."""
    joined = texts.str.join("").item() if len(texts) else ""
    codes = np.frombuffer((joined or "").encode("ascii"), np.uint8).reshape(len(texts), -1).astype(np.int64)
    return np.where(codes >= 65, codes - 55, codes - 48)


def luhn(digits: Integers) -> Mask:
    """Double every second digit from the right; the sum of all digits must end in 0."""
    doubled = digits.copy()
    doubled[:, -2::-2] *= 2
    doubled[:, -2::-2] -= 9 * (doubled[:, -2::-2] > 9)
    return np.asarray(doubled.sum(1) % 10 == 0)


def card(digits: Integers) -> Mask:
    """Luhn, and a beginning and a length that card companies use."""
    length = digits.shape[1]
    first = digits[:, :4] @ np.array([1000, 100, 10, 1])
    two, three = first // 100, first // 10
    known = (digits[:, 0] == 4) & np.isin(length, (13, 16, 19))
    sixteen = length == 16
    known |= sixteen & (((two >= 51) & (two <= 55)) | ((first >= 2221) & (first <= 2720)) | (first == 9792))
    known |= (length >= 16) & (
        (first == 6011) | (two == 65) | ((three >= 644) & (three <= 649)) | (two == 62) | (two == 35)
    )
    known |= (length == 15) & ((two == 34) | (two == 37))
    known |= (length == 14) & (((three >= 300) & (three <= 305)) | (two == 36) | (two == 38))
    return np.asarray(known & luhn(digits))


def imei(digits: Integers) -> Mask:
    """Luhn, and a beginning that issuers of device numbers use."""
    return luhn(digits) & np.isin(digits[:, 0] * 10 + digits[:, 1], (1, 35, 86, 99, 45, 49, 50, 52, 54, 91))


def tckn(digits: Integers) -> Mask:
    """Turkish identity number."""
    odd, even = digits[:, 0:9:2].sum(1), digits[:, 1:8:2].sum(1)
    tenth = (7 * odd - even) % 10
    last = digits[:, :10].sum(1) % 10
    return np.asarray((digits[:, 0] > 0) & (digits[:, 9] == tenth) & (digits[:, 10] == last))


def vkn(digits: Integers) -> Mask:
    """Turkish tax number."""
    place = np.arange(9, 0, -1)
    shifted = (digits[:, :9] + place) % 10
    powers = (shifted * 2**place) % 9
    powers = np.where((powers == 0) & (shifted > 0), 9, powers)
    return np.asarray((-powers.sum(1)) % 10 == digits[:, 9])


def _mod_11_10(digits: Integers) -> Mask:
    """ISO 7064, hybrid system mod 11, 10."""
    check = np.full(len(digits), 5)
    for column in digits.T:
        check = (np.where(check == 0, 10, check) * 2 % 11 + column) % 10
    return np.asarray(check == 1)


def idnr(digits: Integers) -> Mask:
    """German tax identification number: one digit of the first ten comes two or three times."""
    often = (digits[:, :10, None] == np.arange(10)).sum(1)
    repeated = (often > 1).sum(1) == 1
    return np.asarray(repeated & (often.max(1) <= 3) & (digits[:, 0] > 0) & _mod_11_10(digits))


def svnr(values: Integers) -> Mask:
    """German pension insurance number: area, birthday, a letter, serial and check digit."""
    letter = values[:, 8] - 9  # A is 1
    spelt = np.column_stack([values[:, :8], letter // 10, letter % 10, values[:, 9:11]])
    products = spelt * np.array([2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1])
    day, month = values[:, 2] * 10 + values[:, 3], values[:, 4] * 10 + values[:, 5]
    dated = (day >= 1) & (day <= 31) & (month >= 1) & (month <= 12)
    return np.asarray(dated & ((products // 10 + products % 10).sum(1) % 10 == values[:, 11]))


def nino(values: Integers) -> Mask:
    """National Insurance number of the United Kingdom: no check digit, but letters that are never used."""
    letters = np.array(list("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
    first, second, last = (letters[np.clip(values[:, place] - 10, 0, 25)] for place in (0, 1, 8))
    pair = np.char.add(first, second)
    used = ~np.isin(first, list("DFIQUV")) & ~np.isin(second, list("DFIOQUV"))
    return np.asarray(
        used & ~np.isin(pair, ["BG", "GB", "KN", "NK", "NT", "TN", "ZZ"]) & np.isin(last, list("ABCD"))
    )


def hetu(values: Integers) -> Mask:
    """Finnish identity number: a birthday, a serial and a sign for what is left by 31."""
    width = values.shape[1]
    body = np.concatenate([values[:, :6], values[:, width - 4 : width - 1]], axis=1)
    if width not in (10, 11):
        return np.zeros(len(values), np.bool_)
    day, month = values[:, 0] * 10 + values[:, 1], values[:, 2] * 10 + values[:, 3]
    dated = (day >= 1) & (day <= 31) & (month >= 1) & (month <= 12) & (body.max(1) < 10)
    signs = np.array([int(sign, 36) for sign in "0123456789ABCDEFHJKLMNPRSTUVWXY"])
    return np.asarray(dated & (signs[(body @ 10 ** np.arange(8, -1, -1)) % 31] == values[:, -1]))


def weighted(digits: Integers, weights: tuple[int, ...], modulus: int, rest: int = 0) -> Mask:
    """Sum digits by weights: the remainder must be ``rest``."""
    return np.asarray((digits @ np.array(weights)) % modulus == rest)


def nhs(digits: Integers) -> Mask:
    """Health service number of the United Kingdom."""
    return weighted(digits, tuple(range(10, 0, -1)), 11)


def ssn(digits: Integers) -> Mask:
    """Social security number of the United States: no check digit, but areas that are never used."""
    area = digits[:, :3] @ np.array([100, 10, 1])
    serial = digits[:, 5:] @ np.array([1000, 100, 10, 1])
    used = (area > 0) & (area != 666) & (area < 900)
    whole = digits @ 10 ** np.arange(8, -1, -1)
    advertised = np.isin(whole, (78_051_120, 219_099_999, 457_555_462))  # printed once, held by nobody
    return np.asarray(used & (digits[:, 3:5].sum(1) > 0) & (serial > 0) & ~advertised)


def pesel(digits: Integers) -> Mask:
    """Polish identity number: a birthday and a weighted sum."""
    month = (digits[:, 2] * 10 + digits[:, 3]) % 20
    day = digits[:, 4] * 10 + digits[:, 5]
    dated = (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
    return dated & weighted(digits, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1), 10)


def nir(digits: Integers) -> Mask:
    """French social security number: what is left by 97."""
    number = digits[:, :13] @ 10 ** np.arange(12, -1, -1)
    return np.asarray(97 - number % 97 == digits[:, 13] * 10 + digits[:, 14])


def iban(values: Integers) -> Mask:
    """International account number: moved round and letters spelt out, it leaves 1 by 97."""
    rest = np.zeros(len(values), np.int64)
    for column in np.roll(values, -4, axis=1).T:
        rest = np.where(column > 9, rest * 100 + column, rest * 10 + column) % 97
    return np.asarray(rest == 1)


_DIHEDRAL = np.array(
    [
        [(a + b) % 5 + 5 * (b >= 5) if a < 5 else ((a - b) % 5 + 5 * (b < 5)) for b in range(10)]
        for a in range(10)
    ]
)
_ONCE = (1, 5, 7, 6, 2, 8, 3, 0, 9, 4)


def aadhaar(digits: Integers) -> Mask:
    """Indian identity number: Verhoeff's check in the symmetries of a pentagon."""
    turned = np.arange(10)
    check = np.zeros(len(digits), np.int64)
    for column in digits.T[::-1]:
        check = _DIHEDRAL[check, turned[column]]
        turned = np.array(_ONCE)[turned]
    return np.asarray((check == 0) & (digits[:, 0] > 1))


_VIN_LETTERS = dict(
    zip("ABCDEFGHJKLMNPRSTUVWXYZ", (1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 7, 9, *range(2, 10)), strict=True)
)


def vin(values: Integers) -> Mask:
    """Vehicle identification number as North America and China check it."""
    worth = np.arange(36)
    for letter, number in _VIN_LETTERS.items():
        worth[ord(letter) - 55] = number
    weights = np.array([8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2])
    rest = (worth[values] * weights).sum(1) % 11
    return np.asarray(np.where(rest == 10, 33, rest) == values[:, 8])  # 33 is X
