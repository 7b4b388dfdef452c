"""A client that answers what was agreed and nothing else, whoever asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.federated._grid import Answerer
from mahrem.federated._homomorphic import EncryptedClient
from mahrem.federated._message import Message
from mahrem.federated._plan import Plan, Schema
from mahrem.federated._secure_sum import MaskedClient, MaskedSum
from mahrem.federated._silo import Silo
from mahrem.types import Integers

__all__ = ["Agreed", "agreed_client"]


@dataclass
class Agreed:
    """A table's answers, held to the plan: kinds of questions, columns and the least support.

    A server that asks for more than was agreed (rarer cells, counts in the clear where masks were agreed,
    rules where counts were) is refused, whatever it says about itself.
    """

    plan: Plan
    schema: Schema
    silo: Silo

    def answer(self, message: Message) -> Message:
        """Answer a question about frequent cells or rules, or about counts where they may be seen."""
        self._refuse(message.kind, message.body)
        return self.silo.answer(message)

    def frequent(self, message: Message) -> Message:
        """Answer a question about frequent cells; counts leave hidden only."""
        if message.kind != "frequent":
            raise InvalidInput(f"kind={message.kind!r} is refused: counts leave this client hidden only")
        return self.answer(message)

    def numbers(self, kind: str, body: Mapping[str, Any]) -> Integers:
        """Give counts to be hidden."""
        self._refuse(kind, body)
        return self.silo.numbers(kind, body)

    def _refuse(self, kind: str, body: Mapping[str, Any]) -> None:
        kinds = ("rules",) if self.plan.how == "one-shot" else ("frequent", "counts", "cover")
        if kind not in kinds:
            raise InvalidInput(f"kind={kind!r} is refused: {self.plan.how} was agreed")
        if list(body.get("columns", ())) != list(self.schema.columns):
            raise InvalidInput("the question is about other columns than were agreed")
        asked = body.get("settings", {}) if kind == "rules" else body
        support = asked.get("support", self.plan.support)
        if not isinstance(support, int | float) or support < self.plan.support:
            raise InvalidInput(f"support below the agreed {self.plan.support} is refused")


def agreed_client(
    plan: Plan,
    schema: Schema,
    name: str,
    silo: Silo,
    *,
    secret: bytes | None = None,
    sign: Callable[[bytes], bytes] | None = None,
    verify: Callable[[str, bytes, bytes], bool] | None = None,
) -> Answerer:
    """Make the client that a plan needs.

    Args:
        plan: What was agreed.
        schema: The columns.
        name: Its name in the federation.
        silo: Its table.
        secret: The clients' key of homomorphic sums.
        sign: Signs keys of masked sums with the client's long-term key.
        verify: Says whether a named client signed.
    """
    agreed = Agreed(plan, schema, silo)
    if not plan.hides:
        return agreed
    if plan.sum == "masked":
        return MaskedClient(
            name,
            agreed.numbers,
            agreed.frequent,
            sign,
            verify,
            least_clients=plan.least_clients,
            least_share=MaskedSum.threshold,
        )
    if secret is None:
        raise InvalidParameter("sum='homomorphic' needs the clients' secret key of the sums")
    return EncryptedClient(secret, agreed.numbers, agreed.frequent)
