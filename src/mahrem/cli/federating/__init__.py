"""The verbs of ``mahrem federate``: files and plans, runs and standing, results.

Each module parses, calls ``mahrem.federated``, prints. The command line comes in only when one of the verbs
is asked for; options and printing are those of all verbs.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.cli.federating._verbs import federate_verbs as federate_verbs
else:
    __getattr__, __dir__, __all__ = offered(__name__)
