"""What people bring from ARX and sdcMicro that cannot be done is refused with a clear word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import mahrem as mh
from mahrem.errors import Infeasible, InvalidInput, InvalidParameter, MahremError
from mahrem.models import MODELS
from mahrem.partition.lattice import OBJECTIVES
from mahrem.table import Hierarchy

PEOPLE = pl.DataFrame({"age": [20, 20, 30, 30, 30, 40], "sex": ["f", "f", "m", "m", "m", "f"]})
SAID: dict[str, Any] = {"quasi": ["age", "sex"], "accept": {"*": "made up"}}
AGES = Hierarchy.from_rows([["20", "young"], ["30", "old"], ["40", "old"]])


@pytest.mark.parametrize(
    "sets", [{"": 3}, {",": 3}, [" , =3"], {"age": 0}, {"age": -1}, {"town": 2}, ["age"]]
)
def test_key_sets_without_columns_or_k(sets: Any) -> None:
    with pytest.raises(InvalidParameter, match="sets"):
        mh.suppress(PEOPLE, sets=sets, **SAID)


@pytest.mark.parametrize("sets", [{}, []])
def test_no_key_set_at_all(sets: Any) -> None:
    with pytest.raises(InvalidParameter, match="say k, or key sets"):
        mh.suppress(PEOPLE, sets=sets, **SAID)


@pytest.mark.parametrize("weight", [0.0, -1.0, float("nan"), float("inf")])
def test_weights_that_weigh_nothing(weight: float) -> None:
    for method in ("flash", "ola"):
        with pytest.raises(InvalidParameter, match=r"weights\.age"):
            mh.anonymize(PEOPLE, k=2, method=method, weights={"age": weight}, **SAID)
    with pytest.raises(InvalidParameter, match=r"weights\.age"):
        mh.suppress(PEOPLE, k=2, weights={"age": weight}, **SAID)


def test_sampling_weights_of_nobody() -> None:
    for weight in (0.0, -3.0, None):
        table = PEOPLE.with_columns(pl.Series("w", [weight, 1.0, 1.0, 1.0, 1.0, 1.0]))
        with pytest.raises(MahremError, match="weight"):
            mh.risk(table, quasi=["age", "sex"], weight="w")


def test_hierarchies_that_do_not_cover() -> None:
    tree = Hierarchy.from_rows([["20", "young"], ["30", "old"]])
    for verb in (mh.anonymize, mh.lattice):
        with pytest.raises(InvalidInput, match="not in its hierarchy") as caught:
            found = verb(PEOPLE, k=2, method="flash", hierarchy={"age": tree}, **SAID)
            assert found
        assert "40" not in str(caught.value)
    with pytest.raises(MahremError, match="empty"):
        Hierarchy.from_rows([])
    with pytest.raises(MahremError):
        Hierarchy.from_rows([["20", "young"], ["20", "old"]])


def test_combinations_that_cannot_be_reached(tmp_path: Path) -> None:
    for said in (
        {"k": 7},
        {"k": 3, "sensitive": "sex", "quasi": ["age"], "l": 3},
        {"k_map": 9, "population": PEOPLE},
    ):
        with pytest.raises(Infeasible):
            mh.anonymize(PEOPLE, output=tmp_path / "r", **{**SAID, **said})
    assert not (tmp_path / "r").exists()
    found = mh.lattice(PEOPLE, k=2, method="flash", hierarchy={"age": AGES}, **SAID)
    for node in ({"age": 9}, {"age": -1}, {"town": 0}):
        with pytest.raises(MahremError):
            found.node(node)
    with pytest.raises(MahremError, match="k"):
        mh.suppress(PEOPLE, k=7, **SAID)


@pytest.mark.parametrize(
    "matrix", [[[0.9, 0.2], [0.5, 0.5]], [[1.2, -0.2], [0, 1]], [[1.0]], [[1.0, 0.0], [1.0]], "half"]
)
def test_matrices_that_are_not_stochastic(matrix: Any) -> None:
    with pytest.raises(InvalidParameter, match="matrix"):
        mh.perturb(PEOPLE, steps={"sex": {"method": "pram", "matrix": matrix}}, **SAID)


def test_the_page_for_migrants_names_every_measure_and_model() -> None:
    page = (Path(__file__).parents[2] / "docs" / "guide" / "coming-from.md").read_text(encoding="utf-8")
    for entry in OBJECTIVES.values():
        assert not entry.arx or f"`{entry.name}`" in page, entry.name
    beside = {"(alpha,k)-anonymity", "trajectory-k-anonymity"}  # of others, or of ours alone
    for entry in MODELS.values():
        option = {"k": "-k", "l": "--l", "t": "--t"}.get(
            entry.figure.name, "--" + entry.figure.name.replace("_", "-")
        )
        # Risks with a share of the population that ARX only measures stand in the table of risks.
        known = entry.name in beside or "risk" in entry.name or entry.name == "t-closeness-kl"
        assert known or option in page, entry.name
