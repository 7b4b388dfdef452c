"""Messages between a server and its clients, and what carries, counts and vouches for them.

A message is written to bytes and read again even within one process, so every byte is a real one.
Keys, seals between parties, the log of exchanges and the budget of bytes lie here; certificates and
signatures in ``certificates``. Nothing here knows what is learnt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.federated.wire._byte_budget import ByteBudgetSpent
    from mahrem.federated.wire._client_pool import ClientPool
    from mahrem.federated.wire._exchange_log import (
        LOG_FILES,
        CountedGrid,
        Described,
        ExchangeLog,
        WatchedGrid,
    )
    from mahrem.federated.wire._grid import (
        Answerer,
        Exchange,
        LocalGrid,
        MessageGrid,
        Replies,
        Traffic,
        ask_all,
        ask_together,
        sorted_out,
    )
    from mahrem.federated.wire._keys import KEY, Words, derived, framed, need_cryptography
    from mahrem.federated.wire._message import (
        MOST_BYTES,
        Failure,
        Message,
        digest_message,
        pack_message,
        unpack_message,
    )
    from mahrem.federated.wire._seal import Seal
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "KEY",
    "LOG_FILES",
    "MOST_BYTES",
    "Answerer",
    "ByteBudgetSpent",
    "ClientPool",
    "CountedGrid",
    "Described",
    "Exchange",
    "ExchangeLog",
    "Failure",
    "LocalGrid",
    "Message",
    "MessageGrid",
    "Replies",
    "Seal",
    "Traffic",
    "WatchedGrid",
    "Words",
    "ask_all",
    "ask_together",
    "derived",
    "digest_message",
    "framed",
    "need_cryptography",
    "pack_message",
    "sorted_out",
    "unpack_message",
]
