"""Release folders and records: staged files, hashes, signatures, claims, runs and people remembered."""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.release.folders._folder import check_hashes as check_hashes
    from mahrem.release.folders._folder import find_data as find_data
    from mahrem.release.folders._folder import is_release as is_release
    from mahrem.release.folders._folder import named_folder as named_folder
    from mahrem.release.folders._folder import replace_page as replace_page
    from mahrem.release.folders._folder import sha256_of as sha256_of
    from mahrem.release.folders._folder import staged_release as staged_release
    from mahrem.release.folders._own_claims import OwnClaims as OwnClaims
    from mahrem.release.folders._own_claims import read_own_claims as read_own_claims
    from mahrem.release.folders._people import Fingerprints as Fingerprints
    from mahrem.release.folders._people import FingerprintTaker as FingerprintTaker
    from mahrem.release.folders._people import columns_naming_people as columns_naming_people
    from mahrem.release.folders._people import fingerprints_of as fingerprints_of
    from mahrem.release.folders._people import remember_people as remember_people
    from mahrem.release.folders._people import remove_release as remove_release
    from mahrem.release.folders._record import RememberedRelease as RememberedRelease
    from mahrem.release.folders._record import change_state as change_state
    from mahrem.release.folders._record import difference as difference
    from mahrem.release.folders._record import earlier_seconds as earlier_seconds
    from mahrem.release.folders._record import input_fingerprint as input_fingerprint
    from mahrem.release.folders._record import mark_release as mark_release
    from mahrem.release.folders._record import record_run as record_run
    from mahrem.release.folders._record import release_state as release_state
    from mahrem.release.folders._record import remembered_releases as remembered_releases
    from mahrem.release.folders._record import source_of as source_of
    from mahrem.release.folders._signature import Signature as Signature
    from mahrem.release.folders._signature import check_signature as check_signature
    from mahrem.release.folders._signature import is_signed as is_signed
    from mahrem.release.folders._signature import make_signing_key as make_signing_key
    from mahrem.release.folders._signature import sign_release as sign_release
    from mahrem.release.folders._signature import verify_release as verify_release
else:
    __getattr__, __dir__, __all__ = offered(__name__)
