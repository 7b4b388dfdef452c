"""Two runs over different clients: what the difference would tell is refused until owners agree to it."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mahrem.errors import Infeasible, InvalidInput
from mahrem.federated.sums import ClientKeys, MaskedClient, MaskedSum, SumHistory, SumTerms
from mahrem.federated.wire import LocalGrid, Message

ILL = frozenset({"ill"})


def summed(folder: Path, names: str, run: str, **more: Any) -> Any:
    """Add up counts of clients that remember earlier runs, each in a file of its own."""
    clients = {
        name: MaskedClient(
            name,
            lambda *_, name=name: np.array([ord(name)]),
            plan=SumTerms(least_clients=2),
            keys=ClientKeys(
                history=SumHistory(
                    path=folder / f"{name}.jsonl",
                    client=f"key of {name}",
                    **{"about": frozenset({"ill"}), **more},
                )
            ),
        )
        for name in names
    }
    return MaskedSum()(LocalGrid(clients), list(names), Message("counts", run, 1), lambda _: None)


def test_a_run_without_one_hospital_cannot_be_subtracted_from_one_with_it(tmp_path: Path) -> None:
    """Three clients where two are enough: the counts of the third once came out exactly."""
    assert summed(tmp_path, "abc", "monday").total.tolist() == [ord("a") + ord("b") + ord("c")]
    with pytest.raises(Infeasible, match="has to agree to these members"):
        summed(tmp_path, "ab", "tuesday")
    with pytest.raises(Infeasible, match="has to agree"):
        summed(tmp_path, "abd", "tuesday")
    assert summed(tmp_path, "abc", "wednesday").total.size == 1


def test_all_who_are_left_must_agree_to_fewer_members(tmp_path: Path) -> None:
    summed(tmp_path, "abc", "monday", agreed=None)
    agreed = frozenset("ab")
    assert summed(tmp_path, "ab", "tuesday", agreed=agreed).nodes == ("a", "b")
    with pytest.raises(Infeasible, match="has to agree"):
        summed(tmp_path, "abc", "wednesday", agreed=agreed)
    with pytest.raises(Infeasible, match="has to agree"):
        summed(tmp_path, "abc", "wednesday")


def test_the_owner_alone_is_told_what_subtraction_would_show(tmp_path: Path) -> None:
    known = SumHistory(path=tmp_path / "sums", client="key", about=ILL, held="70 rows", federation="f1")
    known.admit("monday", frozenset("abc"))
    with pytest.raises(InvalidInput) as refused:
        known.admit("tuesday", frozenset("ab"))
    assert "70 rows" not in str(refused.value)
    told = str(refused.value.__cause__)
    for part in ("70 rows", "f1", "over a, b, c", "rows of c alone", "members='a,b'"):
        assert part in told


def test_the_same_table_is_known_again_under_another_key_and_other_questions_are_not_mixed_up(
    tmp_path: Path,
) -> None:
    path, three, two = tmp_path / "sums", frozenset("abc"), frozenset("ab")
    SumHistory(path=path, client="old", table="t", about=ILL).admit("run", three)
    with pytest.raises(InvalidInput):
        SumHistory(path=path, client="new", table="t", about=ILL).admit("run", two)
    SumHistory(path=path, client="new", table="t", about=frozenset({"age"})).admit("run", two)
    SumHistory(path=path, client="new", table="other", about=ILL).admit("run", two)
    SumHistory(path=path, client="newer", about=ILL).admit("run", two)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_what_cannot_be_read_cannot_be_held_against_a_new_run(tmp_path: Path) -> None:
    path = tmp_path / "sums"
    for text in ("no json\n", '{"client": 1}\n', "[]\n"):
        path.write_text(text)
        with pytest.raises(InvalidInput, match="mend it"):
            SumHistory(path=path, client="key").admit("run", frozenset("ab"))


def test_counts_that_share_a_column_can_be_subtracted_whatever_the_class_is_called(tmp_path: Path) -> None:
    """A server that makes what was a column the class, and the class a column, asks for the same counts."""
    path, three, two = tmp_path / "sums", frozenset("abc"), frozenset("ab")
    SumHistory(path=path, client="k", about=frozenset({"age", "ill"})).admit("run", three)
    with pytest.raises(InvalidInput, match="has to agree"):
        SumHistory(path=path, client="k", about=frozenset({"sex", "age"})).admit("run", two)
    SumHistory(path=path, client="k", about=frozenset({"sex"})).admit("run", two)
