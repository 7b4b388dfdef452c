"""The attacks: names, where each lives, what it needs to be tried. A new attack is one entry here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from mahrem.entries import Entries, Entry

if TYPE_CHECKING:
    from mahrem.attacks._finding import Finding

Kind = Literal["release", "model", "synthetic rows", "federation"]
Telling = Literal["as found", "of a crowd", "beyond doubt"]


class AttackTarget(Protocol):
    """What is attacked, with everything an attack on it may need."""

    @property
    def kind(self) -> Kind:
        """What it is."""

    def lacking(self, needs: Iterable[str]) -> tuple[str, str] | None:
        """Give the first of some needs that is not met, and the reason for people; None if all are."""


class Attack(Protocol):
    """An attack that knows how to try itself on a target."""

    def against(self, target: Any) -> Iterable[Finding]:
        """Try everything this attack has to try."""


@dataclass(frozen=True, kw_only=True)
class AttackEntry(Entry):
    """A way to attack; what it means for people stands under ``attack.<name>`` where a report tells of it.

    Attributes:
        on: What it attacks.
        needs: What must be given besides; who lacks it is told that the attack was not done, and why.
        unasked_without: Needs without which nobody expects it, so that it is left out without a word.
        grave: Share from which what it finds must stand beside "holds"; None: where it beats the promise.
        telling: How much of what it found may be told: all, where it works from what is published; figures of
            at least k people, where it knows a second table; or nothing but what is beyond doubt, where it
            measures how people lie in their cells.
    """

    on: Kind
    needs: tuple[str, ...] = ()
    unasked_without: tuple[str, ...] = ()
    grave: float | None = None
    telling: Telling = "as found"

    def load(self) -> Attack:
        """Import the attack: a class with ``against``."""
        return cast("Attack", super().load())


_DOUBT: Telling = "beyond doubt"
_CROWD: Telling = "of a crowd"
_RELEASES = "mahrem.attacks.on_releases"
_MODELS = "mahrem.attacks.on_models"
_FEDERATIONS = "mahrem.attacks.on_federations"


def _on_release(
    name: str,
    home: str,
    *needs: str,
    unasked_without: tuple[str, ...] = (),
    grave: float | None = None,
    telling: Telling = "as found",
) -> AttackEntry:
    home = f"{_RELEASES}.{home}"
    return AttackEntry(
        name=name,
        home=home,
        on="release",
        needs=needs,
        unasked_without=unasked_without,
        grave=grave,
        telling=telling,
    )


def _on_model(name: str, home: str, *needs: str, unasked_without: tuple[str, ...] = ()) -> AttackEntry:
    home = f"{_MODELS}.{home}"
    return AttackEntry(name=name, home=home, on="model", needs=needs, unasked_without=unasked_without)


def _on_federation(name: str, home: str, *needs: str) -> AttackEntry:
    return AttackEntry(name=name, home=f"{_FEDERATIONS}.{home}", on="federation", needs=needs)


ATTACKS: Entries[AttackEntry] = Entries(
    "mahrem.attacks",
    AttackEntry,
    (
        _on_release("homogeneity", "_homogeneity:Homogeneity", grave=0.1),
        _on_release("skewness", "_skewness:Skewness"),
        _on_release("similarity", "_similarity:Similarity"),
        _on_release("ruled-out", "_background:RuledOut"),
        _on_release("linkage", "_linkage:Linkage", "original"),
        _on_release("singling-out", "_singling_out:SinglingOut", "original", grave=0.5),
        _on_release("order", "_order:Order", "original", telling=_DOUBT),
        _on_release("downcoding", "_downcoding:Downcoding", "original", telling=_DOUBT),
        _on_release("minimality", "_minimality:Minimality", "original", "sensitive", telling=_DOUBT),
        _on_release("company", "_company:Company", "original", "sensitive", telling=_DOUBT),
        _on_release("inference", "_inference:Inference", "original", "sensitive"),
        _on_release("membership", "_membership:Membership", "population", "members", telling=_CROWD),
        _on_release(
            "population-priors",
            "_background:PopulationPriors",
            "original",
            "population",
            unasked_without=("original", "population"),
            telling=_CROWD,
        ),
        _on_release(
            "composition",
            "_composition:Composition",
            "second",
            "original",
            unasked_without=("second",),
            telling=_CROWD,
        ),
        _on_model("membership by loss", "_loss_threshold:LossThreshold"),
        _on_model("lira", "_lira:Lira", "shadows"),
        _on_model("few shadows", "_few_shadows:FewShadows", "shadows", unasked_without=("shadows",)),
        _on_model("attribute inference", "_attribute_inference:AttributeInference", "attributes"),
        _on_model("model inversion", "_model_inversion:ModelInversion"),
        _on_model("one-run audit", "_one_run_audit:OneRunAudit", "canaries"),
        AttackEntry(
            name="synthetic membership",
            home=f"{_MODELS}._synthetic_membership:SyntheticMembership",
            on="synthetic rows",
        ),
        _on_federation("membership by updates", "_update_membership:UpdateMembership", "updates"),
        _on_federation("gradient inversion", "_gradient_inversion:GradientInversion", "updates"),
        _on_federation("misled", "_misled:Misled", "hostile clients"),
    ),
)
