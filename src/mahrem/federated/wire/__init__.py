"""Messages between a server and its clients, and what carries, counts and vouches for them.

A message is written to bytes and read again even within one process, so every byte is a real one.
Keys, seals between parties, the log of exchanges and the budget of bytes lie here; certificates and
signatures in ``certificates``. Nothing here knows what is learnt.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.federated.wire._byte_budget import ByteBudgetSpent as ByteBudgetSpent
    from mahrem.federated.wire._client_pool import ClientPool as ClientPool
    from mahrem.federated.wire._exchange_log import LOG_FILES as LOG_FILES
    from mahrem.federated.wire._exchange_log import CountedGrid as CountedGrid
    from mahrem.federated.wire._exchange_log import Described as Described
    from mahrem.federated.wire._exchange_log import ExchangeLog as ExchangeLog
    from mahrem.federated.wire._exchange_log import WatchedGrid as WatchedGrid
    from mahrem.federated.wire._grid import Answerer as Answerer
    from mahrem.federated.wire._grid import Exchange as Exchange
    from mahrem.federated.wire._grid import LocalGrid as LocalGrid
    from mahrem.federated.wire._grid import MessageGrid as MessageGrid
    from mahrem.federated.wire._grid import Replies as Replies
    from mahrem.federated.wire._grid import Traffic as Traffic
    from mahrem.federated.wire._grid import ask_all as ask_all
    from mahrem.federated.wire._grid import ask_together as ask_together
    from mahrem.federated.wire._grid import sorted_out as sorted_out
    from mahrem.federated.wire._keys import KEY as KEY
    from mahrem.federated.wire._keys import Words as Words
    from mahrem.federated.wire._keys import derived as derived
    from mahrem.federated.wire._keys import framed as framed
    from mahrem.federated.wire._keys import need_cryptography as need_cryptography
    from mahrem.federated.wire._message import LONGEST_NAME as LONGEST_NAME
    from mahrem.federated.wire._message import MOST_BYTES as MOST_BYTES
    from mahrem.federated.wire._message import Failure as Failure
    from mahrem.federated.wire._message import Message as Message
    from mahrem.federated.wire._message import digest_message as digest_message
    from mahrem.federated.wire._message import pack_message as pack_message
    from mahrem.federated.wire._message import unpack_message as unpack_message
    from mahrem.federated.wire._seal import Seal as Seal
else:
    __getattr__, __dir__, __all__ = offered(__name__)
