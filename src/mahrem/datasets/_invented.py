"""Names of people who do not exist: the demo's, and how to know them again."""

from __future__ import annotations

import polars as pl

# Surnames mean "sample" somewhere or come from no register at all: nobody is called this.
WOMEN = (
    "Alba",
    "Bergün",
    "Celeste",
    "Dilra",
    "Elvane",
    "Fiora",
    "Gülperi",
    "Ilvy",
    "Lunara",
    "Mirabel",
    "Neva",
    "Soleyn",
)
MEN = (
    "Ardo",
    "Balin",
    "Corvin",
    "Derin",
    "Evran",
    "Falk",
    "Gordal",
    "Halvar",
    "Jorim",
    "Kuzay",
    "Lorin",
    "Tavish",
)
SURNAMES = (
    "Beispiel", "Deneme", "Ejemplo", "Esempio", "Example", "Exempel", "Kurgu", "Misaloğlu", "Muster",
    "Mustermann", "Nobody", "Numune", "Örnek", "Przykład", "Sample", "Specimen", "Testova", "Voorbeeld",
)  # fmt: skip
EVERYONE = tuple(f"{given} {surname}" for given in (*WOMEN, *MEN) for surname in SURNAMES)


def are_invented(names: pl.Series) -> bool:
    """Say whether everybody in a list has a name that :func:`patients` makes up.

    Example:
        >>> are_invented(pl.Series(EVERYONE[:9])), are_invented(pl.Series(["Jane Roe"]))
        (True, False)
    """
    if names.dtype != pl.String or not len(names):
        return False
    return bool(names.is_in(pl.Series(EVERYONE).implode()).fill_null(value=False).all())
