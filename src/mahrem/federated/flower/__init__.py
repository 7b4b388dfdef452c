"""Federations of real processes over Flower: files and keys, server, clients, and the verbs.

Every message goes through TLS and is signed by a client whose key stands in the federation file. No program
is taken from the server. The extra ``federated`` is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.federated.flower._federation import Federation
    from mahrem.federated.flower._grid import FlowerGrid
    from mahrem.federated.flower._init import (
        NewFederation,
        init_federation,
        make_key_files,
        make_sum_key_files,
        renew_certificate,
    )
    from mahrem.federated.flower._link import Guard, serve_federation
    from mahrem.federated.flower._node import FlowerNode
    from mahrem.federated.flower._reveal import reveal_model, reveal_weights
    from mahrem.federated.flower._settings import FederationSettings
    from mahrem.federated.flower._status import FederationStatus, MemberStatus, federation_status
    from mahrem.federated.flower._verbs import check_client_table, join_federation, run_federation
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "Federation",
    "FederationSettings",
    "FederationStatus",
    "FlowerGrid",
    "FlowerNode",
    "Guard",
    "MemberStatus",
    "NewFederation",
    "check_client_table",
    "federation_status",
    "init_federation",
    "join_federation",
    "make_key_files",
    "make_sum_key_files",
    "renew_certificate",
    "reveal_model",
    "reveal_weights",
    "run_federation",
    "serve_federation",
]
