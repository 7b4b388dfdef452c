"""Federations of real processes over Flower: files and keys, server, clients, and the verbs.

Every message goes through TLS and is signed by a client whose key stands in the federation file. No program
is taken from the server. The extra ``federated`` is needed.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.federated.flower._federation import Federation as Federation
    from mahrem.federated.flower._grid import FlowerGrid as FlowerGrid
    from mahrem.federated.flower._init import NewFederation as NewFederation
    from mahrem.federated.flower._init import init_federation as init_federation
    from mahrem.federated.flower._init import make_key_files as make_key_files
    from mahrem.federated.flower._init import make_sum_key_files as make_sum_key_files
    from mahrem.federated.flower._init import renew_certificate as renew_certificate
    from mahrem.federated.flower._link import Guard as Guard
    from mahrem.federated.flower._link import serve_federation as serve_federation
    from mahrem.federated.flower._node import FlowerNode as FlowerNode
    from mahrem.federated.flower._reveal import reveal_model as reveal_model
    from mahrem.federated.flower._reveal import reveal_weights as reveal_weights
    from mahrem.federated.flower._settings import FederationSettings as FederationSettings
    from mahrem.federated.flower._status import FederationStatus as FederationStatus
    from mahrem.federated.flower._status import MemberStatus as MemberStatus
    from mahrem.federated.flower._status import federation_status as federation_status
    from mahrem.federated.flower._verbs import check_client_table as check_client_table
    from mahrem.federated.flower._verbs import join_federation as join_federation
    from mahrem.federated.flower._verbs import run_federation as run_federation
else:
    __getattr__, __dir__, __all__ = offered(__name__)
