"""A policy and single settings, as verbs take them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mahrem.release._policy import Policy, read_policy

GivenPolicy = str | Path | Mapping[str, Any] | Policy | None  # a file, settings by name, or a policy itself


def policy_from(policy: GivenPolicy, settings: Mapping[str, Any], *, whole: bool = False) -> Policy:
    """Put a policy and settings together; settings win.

    With ``whole`` the private files a release was made with must be named again.
    """
    beside = settings if whole else None
    given = read_policy(policy, beside=beside) if isinstance(policy, str | Path) else policy
    return Policy.of(settings, over=given)
