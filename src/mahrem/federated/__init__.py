"""Learning over tables that stay where they are: rules from many clients, and sums nobody can look into."""

from mahrem.federated._coverage import cover_together
from mahrem.federated._exact import Candidates, ExactSettings, Learnt, learn_exact
from mahrem.federated._grid import Answerer, Grid, LocalGrid, Replies, Traffic
from mahrem.federated._message import Failure, Message, pack_message, unpack_message
from mahrem.federated._silo import Silo, cover_counts, split_rows
from mahrem.federated._sums import Adder, PlainSum, Summed

__all__ = [
    "Adder",
    "Answerer",
    "Candidates",
    "ExactSettings",
    "Failure",
    "Grid",
    "Learnt",
    "LocalGrid",
    "Message",
    "PlainSum",
    "Replies",
    "Silo",
    "Summed",
    "Traffic",
    "cover_counts",
    "cover_together",
    "learn_exact",
    "pack_message",
    "split_rows",
    "unpack_message",
]
