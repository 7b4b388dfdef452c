"""What is taken as public of Adult: the values its code book lists, and bounds.

The table has been known for decades: the bounds of age, education and hours are its true ones, and the clips
of the capital columns were chosen by people who knew that few gain more. Somebody with a table nobody has
seen would guess worse, or pay for bounds.
"""

from __future__ import annotations

from collections.abc import Mapping

from mahrem.table import ColumnDeclaration

ADULT_TARGET = "income"

_BOUNDS = {
    "age": (17, 90),
    "education-num": (1, 16),
    "capital-gain": (0, 20_000),  # coded up to 99,999; clipped, knowing the table
    "capital-loss": (0, 3_000),
    "hours-per-week": (1, 99),
}
_VALUES = {
    "workclass": (
        "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay Never-worked"
    ),
    "marital-status": (
        "Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent Married-AF-spouse"
    ),
    "occupation": (
        "Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty Handlers-cleaners "
        "Machine-op-inspct Adm-clerical Farming-fishing Transport-moving Priv-house-serv Protective-serv "
        "Armed-Forces"
    ),
    "relationship": "Wife Own-child Husband Not-in-family Other-relative Unmarried",
    "race": "White Asian-Pac-Islander Amer-Indian-Eskimo Other Black",
    "sex": "Female Male",
    "native-country": (
        "United-States Cambodia England Puerto-Rico Canada Germany Outlying-US(Guam-USVI-etc) India Japan "
        "Greece South China Cuba Iran Honduras Philippines Italy Poland Jamaica Vietnam Mexico Portugal "
        "Ireland France Dominican-Republic Laos Ecuador Taiwan Haiti Columbia Hungary Guatemala Nicaragua "
        "Scotland Thailand Yugoslavia El-Salvador Trinadad&Tobago Peru Hong Holand-Netherlands"
    ),
    "income": "<=50K >50K",
}
# fnlwgt is a weight of the survey and education repeats education-num: neither is used.
ADULT_FACTS: Mapping[str, ColumnDeclaration] = {
    **{name: ColumnDeclaration(lower=low, upper=high) for name, (low, high) in _BOUNDS.items()},
    **{name: ColumnDeclaration(categories=tuple(text.split())) for name, text in _VALUES.items()},
}
