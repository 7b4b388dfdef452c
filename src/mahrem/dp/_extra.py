"""The two libraries this room stands on, loaded when they are first used."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

from mahrem.check import extra


@cache
def opendp() -> Any:
    """Load the parts of OpenDP that draw noise; its prelude would pull in far more."""
    try:
        from opendp import domains, measurements, measures, metrics
        from opendp.mod import enable_features
    except ImportError:
        raise extra("dp", needed_for="private answers") from None
    enable_features("contrib")
    return SimpleNamespace(domains=domains, measurements=measurements, measures=measures, metrics=metrics)


@cache
def accounting() -> Any:
    """Load dp-accounting: PLD and RDP accountants, and privacy loss distributions."""
    try:
        import dp_accounting
        from dp_accounting import pld, rdp
        from dp_accounting.pld import privacy_loss_distribution
    except ImportError:
        raise extra("dp", needed_for="a privacy ledger") from None
    return SimpleNamespace(
        events=dp_accounting,
        relations=dp_accounting.NeighboringRelation,
        pld=pld,
        rdp=rdp,
        distributions=privacy_loss_distribution,
        parameters=pld.common.DifferentialPrivacyParameters,
    )
