"""The illnesses fictional patients may have: how often, at which age, in whom, how long and how dear."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from mahrem.types import Floats


class _Illness(NamedTuple):
    name: str
    code: str  # as in ICD-10
    share: float  # how common at its peak, against the others
    peak: float  # age at which it is most common
    spread: float  # how far around the peak it reaches, in years
    women: float  # how much more common in women
    men: float
    smokers: float  # how much more common in smokers
    youngest: int  # age below which nobody has it
    stay: float  # mean days in hospital beyond the first
    cost: float  # of the treatment
    daily: float  # of every day


_ILLNESSES = (
    _Illness("Hypertension", "I10", 10.0, 66, 16, 1.0, 1.0, 1.2, 18, 2.0, 900, 310),
    _Illness("Type 2 diabetes", "E11.9", 8.0, 62, 15, 0.9, 1.1, 1.1, 14, 3.5, 1500, 330),
    _Illness("Pneumonia", "J18.9", 6.0, 76, 24, 0.9, 1.1, 1.4, 0, 6.0, 2600, 420),
    _Illness("Childbirth", "O80", 26.0, 29, 5.5, 1.0, 0.0, 0.8, 16, 1.6, 2100, 380),
    _Illness("Gastroenteritis", "A09", 5.0, 6, 14, 1.0, 1.0, 1.0, 0, 1.5, 700, 290),
    _Illness("Heart failure", "I50.9", 7.0, 80, 11, 1.0, 1.1, 1.3, 18, 6.5, 4200, 450),
    _Illness("Gallstones", "K80.2", 3.5, 51, 16, 1.7, 0.7, 1.0, 18, 2.5, 3900, 360),
    _Illness("Appendicitis", "K35.8", 4.5, 19, 11, 0.9, 1.1, 1.0, 3, 2.2, 4100, 370),
    _Illness("Osteoarthritis of the knee", "M17.9", 4.5, 70, 10, 1.5, 0.8, 0.9, 18, 5.0, 8800, 340),
    _Illness("Asthma", "J45.9", 4.0, 9, 13, 0.9, 1.1, 1.5, 2, 2.0, 1100, 320),
    _Illness("COPD", "J44.9", 3.0, 69, 11, 0.8, 1.2, 5.0, 18, 5.5, 2900, 400),
    _Illness("Myocardial infarction", "I21.9", 3.2, 67, 13, 0.6, 1.5, 2.2, 18, 4.5, 12500, 780),
    _Illness("Stroke", "I63.9", 3.2, 75, 12, 1.0, 1.1, 1.6, 18, 8.5, 9700, 640),
    _Illness("Depression", "F32.9", 3.0, 38, 18, 1.6, 0.8, 1.5, 12, 16.0, 800, 260),
    _Illness("Urinary tract infection", "N39.0", 2.6, 60, 30, 1.9, 0.6, 1.0, 0, 2.6, 1000, 300),
    _Illness("Tonsillitis", "J35.0", 3.2, 8, 7, 1.0, 1.0, 1.0, 1, 0.8, 1700, 310),
    _Illness("Hip fracture", "S72.0", 2.8, 84, 8, 1.6, 0.8, 1.1, 18, 9.0, 11200, 430),
    _Illness("Breast cancer", "C50.9", 1.8, 60, 13, 2.0, 0.02, 1.1, 18, 4.0, 14500, 520),
    _Illness("Prostate cancer", "C61", 1.6, 69, 9, 0.0, 2.0, 1.0, 18, 4.2, 12800, 510),
    _Illness("Lung cancer", "C34.9", 0.9, 66, 10, 0.7, 1.3, 7.0, 18, 7.0, 16900, 560),
    _Illness("Multiple sclerosis", "G35", 0.5, 36, 11, 1.5, 0.6, 1.4, 18, 4.5, 7600, 410),
    _Illness("HIV disease", "B20", 0.35, 37, 12, 0.5, 1.5, 1.1, 18, 5.5, 6900, 450),
)

NAMES = tuple(illness.name for illness in _ILLNESSES)
CODES = tuple(illness.code for illness in _ILLNESSES)


def chances(oldest: int) -> Floats:
    """Give the chance of each illness for each kind of person; row ``(age * 2 + male) * 2 + smoker``."""
    age = np.arange(oldest + 1)[:, None, None, None]
    peak, spread = _column("peak"), _column("spread")
    bump = np.exp(-0.5 * ((age - peak) / spread) ** 2) + 1e-3  # at an odd age it is rare, not impossible
    sex = np.stack((_column("women"), _column("men")))[:, None, :]
    smoking = np.stack((np.ones_like(peak), _column("smokers")))[None, :, :]
    weights = _column("share") * bump * sex * smoking * (age >= _column("youngest"))
    return np.asarray((weights / weights.sum(axis=-1, keepdims=True)).reshape(-1, len(_ILLNESSES)))


def _column(name: str) -> Floats:
    return np.array([getattr(illness, name) for illness in _ILLNESSES], dtype=np.float64)


MEAN_STAY: Floats = _column("stay")
BASE_COST: Floats = _column("cost")
DAILY_COST: Floats = _column("daily")
