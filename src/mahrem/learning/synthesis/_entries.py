"""The synthesisers of tables: names, where each lives, what is known before it is made."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from mahrem.entries import Entries, Entry

if TYPE_CHECKING:
    from mahrem.learning.synthesis._synthesisers import Synthesiser


@dataclass(frozen=True, kw_only=True)
class SynthesisMethod(Entry):
    """A way to make synthetic tables; each is (epsilon, delta)-private by construction.

    Its home is a synthesiser, or a network (``torch``) that makes the rows of one.

    Attributes:
        torch: It is a network, so it needs the extra ``train``.
        series: A row is one series: its columns are steps of one kind, in their order. Other methods take
            columns of every kind, in any order.
        pure: It can promise a pure epsilon (delta 0).
    """

    torch: bool = False
    series: bool = False
    pure: bool = False

    def make(self, **settings: Any) -> Synthesiser:
        """Make it; settings of a network and its training go to the network."""
        kind = self.load()
        if not self.torch:
            synthesiser: Synthesiser = kind(**settings)
            return synthesiser
        from mahrem.learning.synthesis._network_tables import NetworkTables

        own = {entry.name for entry in fields(kind)} & set(settings)
        others = {name: value for name, value in settings.items() if name not in own}
        return NetworkTables(generator=kind(**{name: settings[name] for name in own}), **others)


_HERE = "mahrem.learning.synthesis"
SYNTHESISERS: Entries[SynthesisMethod] = Entries(
    "mahrem.synthesisers",
    SynthesisMethod,
    (
        SynthesisMethod(name="marginals", home=f"{_HERE}._marginals:Marginals"),
        SynthesisMethod(name="aim", home=f"{_HERE}._graphical:Aim"),
        SynthesisMethod(name="mst", home=f"{_HERE}._graphical:Mst"),
        SynthesisMethod(name="vae", home=f"{_HERE}._variational:Variational", torch=True),
        SynthesisMethod(name="gan", home=f"{_HERE}._adversarial:Adversarial", torch=True),
        SynthesisMethod(name="lstm", home=f"{_HERE}._recurrent:Recurrent", torch=True, series=True),
    ),
)
