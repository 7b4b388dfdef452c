"""What was published, looked at as others would: audits of promises, attacks on releases and models.

An audit needs the published table alone, an attack the source too. It knows how a release, a model and a
synthetic table lie in their folders, and no other room of ``pipeline`` uses it.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.pipeline.auditing._attack import attack as attack
    from mahrem.pipeline.auditing._attack_model import attack_model as attack_model
    from mahrem.pipeline.auditing._attack_synthetic import attack_synthetic as attack_synthetic
    from mahrem.pipeline.auditing._attacked_model import is_model as is_model
    from mahrem.pipeline.auditing._audit import Audit as Audit
    from mahrem.pipeline.auditing._audit import audit as audit
else:
    __getattr__, __dir__, __all__ = offered(__name__)
