"""Sums of encrypted weights (CKKS): real numbers, told to about five digits behind the point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mahrem.errors import InvalidInput
from mahrem.federated.sums._fixed_point import from_fixed, to_fixed
from mahrem.federated.sums._scheme import SharedDraws, need_tenseal, sized, written_keys
from mahrem.types import Floats, Integers

DEGREE = 8192  # of the ring; 160 bits of modulus are below the 218 that give 128 bits of security
MODULI = (60, 40, 60)
SCALE = 2.0**40  # a sum is off by about 1e-8
HELD = DEGREE // 2 - 1  # numbers in one ciphertext, beside its check
LARGEST = 2.0**36  # of one number of a client
MOST_CLIENTS = 1 << 12  # of one sum, which stays far below the modulus
REACH = 2.0**28  # of what hides a check: a server's guess is right once in 10^12
CLOSE = 1e-4  # a right check is off by less, however many numbers are added up
TOLD = 2.0**-16  # steps of all numbers: what a sum is off its step by would say something about the key
STRAY = 0.125  # of a step; a sum of such numbers is off by thousands of times less


@dataclass(frozen=True)
class WeightsScheme:
    """Numbers in fixed point as reals (CKKS), with one check in every ciphertext.

    The check of a client is the sum of its numbers, each times a secret factor, plus a secret number of its
    own. Checks add up as numbers do, so those of a sum fit it, and fit nothing else that the server, which
    knows neither factors nor numbers, could hand over: not one client's part, not a part twice, not a
    difference. A client that finds another check opens nothing, then or later in the run: each answer tells a
    bit about the factors, and forty would tell one.

    The error of a CKKS sum gives the key away to those who see enough of it. Nobody does: clients encrypt
    multiples of 2^-16, so that a sum is one, and what is told is rounded to it. That takes no noise.

    Guarantees:
        - What is told is a function of the clients' numbers alone, as with an exact scheme: the error of
          encryption changes no bit of it, and a sum whose error is so large that it might stays closed.

    References:
        Cheon, Kim, Kim, Song: Homomorphic encryption for arithmetic of approximate numbers, 2017.
        Agrawal, Boneh: Homomorphic MACs, 2009 (the check). Li, Micciancio: On the security of homomorphic
        encryption on approximate numbers, 2021 (why the error is never told).
    """

    most_clients: ClassVar[int] = MOST_CLIENTS

    @staticmethod
    def make_keys() -> tuple[bytes, bytes]:
        """Make a pair of keys: the clients' secret one, and the server's, which can add and not read.

        All clients share the secret key.
        """
        tenseal = need_tenseal()
        context = tenseal.context(tenseal.SCHEME_TYPE.CKKS, DEGREE, coeff_mod_bit_sizes=list(MODULI))
        context.global_scale = SCALE
        return written_keys(context)

    def vector(self, tenseal: Any, context: Any, numbers: Sequence[float]) -> Any:
        """See :class:`SumScheme`."""
        return tenseal.ckks_vector(context, numbers)

    def read(self, tenseal: Any, context: Any, part: bytes) -> Any:
        """See :class:`SumScheme`."""
        return tenseal.ckks_vector_from(context, part)

    def closed(self, numbers: Integers, drawn: SharedDraws, name: str) -> list[list[float]]:
        """See :class:`SumScheme`.

        Raises:
            InvalidInput: If a number does not fit.
        """
        values = np.rint(from_fixed(numbers) / TOLD) * TOLD
        if np.abs(values).max(initial=0.0) > LARGEST:
            raise InvalidInput(f"a number does not fit into encrypted sums: at most {LARGEST:g}")
        parts = _cut(values)
        checks = _checks(parts, drawn) + _hidden(drawn, name, len(parts))
        return [[*part.tolist(), float(check)] for part, check in zip(parts, checks, strict=True)]

    def opened(
        self, parts: Sequence[Sequence[float]], drawn: SharedDraws, names: Sequence[str], length: int
    ) -> Integers:
        """See :class:`SumScheme`.

        Raises:
            InvalidInput: If it is not the sum over the named clients.
        """
        if not sized(self, length, [len(part) for part in parts]):
            raise InvalidInput("what is to be opened has another length than the sum")
        values = [np.array(part[:-1]) for part in parts]
        wanted = _checks(values, drawn)
        for name in names:
            wanted += _hidden(drawn, name, len(parts))
        allowed = CLOSE + 1e-12 * np.array([np.abs(part).sum() for part in values])  # digits of a double
        right = np.abs(wanted - [part[-1] for part in parts]) <= allowed
        most = max((np.abs(part).max() for part in values), default=0.0)  # huge numbers would allow any check
        if not (right.all() and most <= 1.01 * LARGEST * len(names)):
            raise InvalidInput(
                f"clients={len(names)}: what is to be opened is not their sum, so it stays closed"
            )
        steps = np.concatenate(values) / TOLD
        whole = np.rint(steps)
        if np.abs(steps - whole).max(initial=0.0) > STRAY:
            raise InvalidInput(
                f"clients={len(names)}: the sum is off its steps by more than encryption should add; it "
                "stays closed, for its last digits would tell about the key"
            )
        return to_fixed(whole * TOLD, np.inf)

    def sizes(self, length: int) -> list[int]:
        """See :class:`SumScheme`."""
        return [min(HELD, length - at) + 1 for at in range(0, length, HELD)]


def _cut(values: Floats) -> list[Floats]:
    return [values[at : at + HELD] for at in range(0, len(values), HELD)]


def _units(drawn: SharedDraws, name: str, count: int) -> Floats:
    """Give numbers from 0 to 1 that only clients know."""
    return (drawn.words(name, count) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _checks(parts: Sequence[Floats], drawn: SharedDraws) -> Floats:
    factors = _cut(1 + _units(drawn, "", sum(len(part) for part in parts)))  # no client has an empty name
    return np.array([part @ factor for part, factor in zip(parts, factors, strict=True)])


def _hidden(drawn: SharedDraws, name: str, count: int) -> Floats:
    return REACH * (2 * _units(drawn, name, count) - 1)
