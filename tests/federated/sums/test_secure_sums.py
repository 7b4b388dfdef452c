from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from mahrem.errors import Infeasible, InvalidInput, MissingExtra
from mahrem.federated.sums import (
    ClientKeys,
    CountsScheme,
    EncryptedClient,
    EncryptedSum,
    MaskedClient,
    MaskedSum,
)
from mahrem.federated.sums._masks import Masker, keystream, public_of
from mahrem.federated.wire import LocalGrid, Message

QUESTION = Message("counts", "run", 7, {})


def fine(_: Any) -> None:
    return None


def giving(numbers: np.ndarray) -> Callable[[str, Mapping[str, Any]], np.ndarray]:
    return lambda _kind, _body: numbers.copy()


def clients_of(vectors: Mapping[str, np.ndarray]) -> dict[str, Any]:
    return {name: MaskedClient(name, giving(vector)) for name, vector in vectors.items()}


def vectors_of(clients: int, length: int, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {f"c{number:02d}": rng.integers(0, 1000, length) for number in range(clients)}


@settings(max_examples=15, deadline=None)
@given(st.integers(2, 9), st.integers(0, 70), st.integers(0, 2**32 - 1))
def test_the_masked_sum_is_the_sum(clients: int, length: int, seed: int) -> None:
    vectors = vectors_of(clients, length, seed)
    grid = LocalGrid(clients_of(vectors))
    found = MaskedSum()(grid, grid.nodes(), QUESTION, fine)
    assert found.total.tolist() == sum(vectors.values()).tolist()


@pytest.mark.parametrize("kind", ["sum-keys", "sum-masked"])
@pytest.mark.parametrize("clients", [8, 60])
def test_two_are_lost_and_the_sum_of_the_rest_is_exact(kind: str, clients: int) -> None:
    vectors = vectors_of(clients, 50)
    grid = LocalGrid(
        clients_of(vectors), lambda node, message: message.kind == kind and node in {"c01", "c06"}
    )
    found = MaskedSum()(grid, grid.nodes(), QUESTION, fine)
    inside = [name for name in vectors if name not in {"c01", "c06"}]
    assert list(found.nodes) == inside
    assert found.total.tolist() == sum(vectors[name] for name in inside).tolist()
    assert set(found.failures) == {"c01", "c06"}


@pytest.mark.parametrize("kind", ["sum-agree", "sum-reveal"])
def test_one_that_is_lost_after_it_was_named_closes_the_sum_unless_it_answers_again(kind: str) -> None:
    vectors = vectors_of(4, 5)
    asked = 0

    def lost(node: str, message: Message) -> bool:
        nonlocal asked
        asked += node == "c01" and message.kind == kind
        return node == "c01" and message.kind == kind and asked <= answers

    answers = 1
    grid = LocalGrid(clients_of(vectors), lost)
    found = MaskedSum()(grid, grid.nodes(), QUESTION, fine)
    assert found.total.tolist() == sum(vectors.values()).tolist()
    assert not found.failures
    asked, answers = 0, 2
    grid = LocalGrid(clients_of(vectors), lost)
    with pytest.raises(Infeasible, match=r"clients=3 of 4 agreed .*c01: no answer in time"):
        MaskedSum()(grid, grid.nodes(), QUESTION, fine)


def test_too_few_left_is_infeasible() -> None:
    vectors = vectors_of(8, 5)
    grid = LocalGrid(clients_of(vectors), lambda node, message: message.kind == "sum-masked" and node < "c03")
    with pytest.raises(Infeasible, match="clients=5"):
        MaskedSum(least=6)(grid, grid.nodes(), QUESTION, fine)
    lone = LocalGrid(clients_of(vectors_of(1, 5)))
    with pytest.raises(Infeasible, match="clients=1"):
        MaskedSum()(lone, lone.nodes(), QUESTION, fine)


def test_what_one_client_sends_looks_like_noise() -> None:
    """Bytes of masked zeros against the uniform distribution: false alarm in 1 run of a million."""
    grid = LocalGrid(clients_of({name: np.zeros(4000, np.int64) for name in ("a", "b", "c")}))
    sent: list[np.ndarray] = []
    send = grid.send

    def watched(messages: Any) -> Any:
        replies = send(messages)
        sent.extend(reply.body["masked"] for reply in replies.values() if "masked" in reply.body)
        return replies

    grid.send = watched  # type: ignore[method-assign]
    total = MaskedSum()(grid, grid.nodes(), QUESTION, fine).total
    assert not total.any()
    assert len(sent) == 3
    for masked in sent:
        counts = np.bincount(masked.astype("<u8").view(np.uint8), minlength=256)
        expected = counts.sum() / 256
        assert ((counts - expected) ** 2 / expected).sum() < chi2.ppf(1 - 1e-6 / 3, 255)


def started(names: str, context: bytes = b"run/1") -> dict[str, Masker]:
    """Clients that sent their masked numbers."""
    maskers = {name: Masker(name, context) for name in names}
    keys = {name: public_of(masker.key) for name, masker in maskers.items()}
    for masker in maskers.values():
        masker.masked(keys, np.zeros(4, np.int64))
    return maskers


def words_for(name: str, given: Mapping[str, bytes]) -> bytes:
    """What every other client gave for one; ``given`` holds what each gave for all others in order."""
    names = sorted(given)
    places = {by: [other for other in names if other != by].index(name) for by in names if by != name}
    return b"".join(given[by][16 * place : 16 * place + 16] for by, place in places.items())


def test_the_mask_of_a_late_client_is_not_given_away() -> None:
    """Masks shared with it can be taken off, its own mask cannot: its numbers stay noise."""
    maskers, listed = started("abcd"), frozenset("abc")
    given = {name: maskers[name].agree(listed) for name in listed}
    revealed = {name: maskers[name].reveal(words_for(name, given)) for name in listed}
    assert all(len(shared) == 32 for _, shared in revealed.values())  # that with d, and no other
    assert maskers["d"].own not in {part for pair in revealed.values() for part in pair}
    with pytest.raises(InvalidInput, match="not in the list"):
        maskers["d"].agree(listed)
    for name in listed:
        with pytest.raises(InvalidInput, match="another list"):
            maskers[name].agree(frozenset("abcd"))


def test_seeds_stay_closed_unless_all_gave_their_word_for_the_same_list() -> None:
    for told in (frozenset("abc"), frozenset("acd"), frozenset("bcd")):
        maskers = started("abcd")
        given = {name: maskers[name].agree(told if name == "c" else frozenset("abcd")) for name in "abcd"}
        with pytest.raises(InvalidInput, match="same list"):
            maskers["a"].reveal(words_for("a", {**given, "c": given["c"].ljust(48, b"x")}))
        with pytest.raises(InvalidInput, match="same list"):  # nor later, with words that fit
            maskers["a"].reveal(maskers["a"].agree(frozenset("abcd")))


def test_words_of_another_sum_or_question_do_not_count() -> None:
    first, second = started("abc"), started("abc", b"run/2")
    words = {name: masker.agree(frozenset("abc")) for name, masker in first.items()}
    for masker in second.values():
        masker.agree(frozenset("abc"))
    with pytest.raises(InvalidInput, match="same list"):
        second["a"].reveal(words_for("a", words))
    with pytest.raises(InvalidInput, match="same list"):
        Masker("a", b"run/1").reveal(b"")


def test_a_list_of_clients_that_cannot_be_trusted_is_refused() -> None:
    masker, other = Masker("a", b"run/1"), Masker("b", b"run/1")
    mine, theirs = public_of(masker.key), public_of(other.key)
    for keys in (
        {"a": theirs, "b": theirs},
        {"a": mine, "b": mine},
        {"a": mine},
        {"b": theirs},
        {"a": mine, "b": b"short"},
    ):
        with pytest.raises(InvalidInput):
            masker.masked(keys, np.zeros(1, np.int64))
    client = MaskedClient("a", giving(np.zeros(1, np.int64)))
    client.answer(Message("sum-keys", "run", 1, {"sum": 1}))
    with pytest.raises(InvalidInput, match="replayed"):
        client.answer(Message("sum-keys", "run", 1, {"sum": 1}))
    with pytest.raises(InvalidInput, match="not begun"):
        client.answer(Message("sum-reveal", "run", 2, {"sum": 2, "words": b""}))
    with pytest.raises(InvalidInput, match="refused"):
        client.answer(Message("counts", "run", 2, {}))
    for kind in ("sum-keys", "sum-masked", "sum-agree", "sum-reveal"):
        with pytest.raises(InvalidInput):
            client.answer(Message(kind, "run", 1, {"sum": 1, "names": 3, "words": "x"}))
        with pytest.raises(InvalidInput, match="cannot be read"):
            client.answer(Message(kind, "run", 1, {}))


def test_signed_keys_keep_a_server_from_standing_in_between() -> None:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    vectors = vectors_of(3, 4)
    private = {name: Ed25519PrivateKey.generate() for name in vectors}
    public = {name: key.public_key() for name, key in private.items()}

    def verify(name: str, statement: bytes, signature: bytes) -> bool:
        try:
            public[name].verify(signature, statement)
        except (InvalidSignature, KeyError):
            return False
        return True

    def made() -> dict[str, Any]:
        return {
            name: MaskedClient(name, giving(vector), keys=ClientKeys(sign=private[name].sign, verify=verify))
            for name, vector in vectors.items()
        }

    grid = LocalGrid(made())
    assert MaskedSum()(grid, grid.nodes(), QUESTION, fine).total.tolist() == sum(vectors.values()).tolist()
    clients = made()
    clients["c01"].keys = ClientKeys(sign=Ed25519PrivateKey.generate().sign, verify=verify)
    forged = LocalGrid(clients)
    with pytest.raises(Infeasible, match="stands in between"):
        MaskedSum()(forged, forged.nodes(), QUESTION, fine)


def test_a_sum_that_cannot_be_is_refused() -> None:
    grid = LocalGrid(clients_of(vectors_of(3, 4)))
    with pytest.raises(InvalidInput, match="too many"):
        MaskedSum()(grid, grid.nodes(), QUESTION, lambda _: "too many")


def test_seeds_that_share_32_bits_have_different_masks() -> None:
    """The xor of the words of both seeds is the same; a folded seed would give one mask."""
    one, other = bytes(32), bytes([1, 2, 3, 4] * 2 + [0] * 24)
    assert not np.array_equal(keystream(one, 8), keystream(other, 8))


@pytest.fixture(scope="module")
def sum_keys(request: pytest.FixtureRequest) -> tuple[bytes, bytes]:
    try:
        import tenseal  # noqa: F401 - is it there?
    except ImportError:
        request.getfixturevalue("missing_part")("TenSEAL is not installed")
    return CountsScheme.make_keys()


def test_the_encrypted_sum_is_the_sum(sum_keys: tuple[bytes, bytes]) -> None:
    secret, public = sum_keys
    vectors = vectors_of(3, 9000)
    grid = LocalGrid(
        {name: EncryptedClient(name, secret, giving(vector)) for name, vector in vectors.items()}
    )
    grid.lost = lambda node, message: node == "c00" and message.kind == "open-sum"
    found = EncryptedSum(public)(grid, grid.nodes(), QUESTION, fine)
    assert found.total.tolist() == sum(vectors.values()).tolist()
    other, _ = CountsScheme.make_keys()
    grid = LocalGrid({name: EncryptedClient(name, other, giving(vector)) for name, vector in vectors.items()})
    wrong = LocalGrid({**grid.clients, "c01": EncryptedClient("c01", secret, giving(vectors["c01"]))})
    with pytest.raises(Infeasible, match="none of them opened"):
        EncryptedSum(public)(wrong, wrong.nodes(), QUESTION, fine)


def test_an_encrypted_count_that_does_not_fit_is_refused(sum_keys: tuple[bytes, bytes]) -> None:
    grid = LocalGrid({name: EncryptedClient(name, sum_keys[0], giving(np.array([2**40]))) for name in "ab"})
    with pytest.raises(Infeasible):
        EncryptedSum(sum_keys[1])(grid, grid.nodes(), QUESTION, fine)


def test_what_a_server_says_about_the_sum_moves_no_refusal(sum_keys: tuple[bytes, bytes]) -> None:
    """From refusals at bounds of its own choice it could tell a count."""
    client = EncryptedClient("a", sum_keys[0], giving(np.array([12_345])))
    for number, clients in enumerate((1, 2**20, 2**39), start=1):
        asked = Message("encrypted", "run", number, {"kind": QUESTION.kind, "clients": clients})
        assert client.answer(asked).body["length"] == 1


@pytest.mark.parametrize(("module", "extra"), [("cryptography", "federated"), ("tenseal", "he")])
def test_a_missing_extra_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, module: str, extra: str) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.partition(".")[0] == module:
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=extra):
        MaskedSum()(LocalGrid({}), [], QUESTION, fine) if extra == "federated" else CountsScheme.make_keys()
