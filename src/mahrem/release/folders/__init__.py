"""Release folders and records: staged files, hashes, signatures, claims, runs and people remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.release.folders._folder import (
        DATA_FILES,
        check_hashes,
        find_data,
        is_release,
        named_folder,
        replace_page,
        sha256_of,
        staged_release,
    )
    from mahrem.release.folders._own_claims import OwnClaims, read_own_claims
    from mahrem.release.folders._people import (
        Fingerprints,
        FingerprintTaker,
        columns_naming_people,
        fingerprints_of,
        remember_people,
        remove_release,
    )
    from mahrem.release.folders._record import (
        RememberedRelease,
        change_state,
        difference,
        earlier_seconds,
        input_fingerprint,
        mark_release,
        record_run,
        release_state,
        remembered_releases,
        source_of,
    )
    from mahrem.release.folders._signature import (
        Signature,
        check_signature,
        is_signed,
        make_signing_key,
        sign_release,
        verify_release,
    )
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "DATA_FILES",
    "FingerprintTaker",
    "Fingerprints",
    "OwnClaims",
    "RememberedRelease",
    "Signature",
    "change_state",
    "check_hashes",
    "check_signature",
    "columns_naming_people",
    "difference",
    "earlier_seconds",
    "find_data",
    "fingerprints_of",
    "input_fingerprint",
    "is_release",
    "is_signed",
    "make_signing_key",
    "mark_release",
    "named_folder",
    "read_own_claims",
    "record_run",
    "release_state",
    "remember_people",
    "remembered_releases",
    "remove_release",
    "replace_page",
    "sha256_of",
    "sign_release",
    "source_of",
    "staged_release",
    "verify_release",
]
